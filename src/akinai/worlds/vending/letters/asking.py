"""Questions and requests in a clause, by what they ask for."""

import re

from akinai.worlds.vending.letters.cues import any_of
from akinai.worlds.vending.letters.intents import Topic

REQUEST = any_of(
    r"(?:^\W*|\bplease,? |\bkindly |\b(?:could|can|would|will|may) (?:you|i|we) (?:please |"
    r"kindly |also )?|\bbe so kind as to |\bwould you be (?:able|willing) to )"
    r"(?:also )?(?:tell|send|let|share|provide|advise|quote|confirm|give|list|explain|"
    r"inform|check|fill|reply|recommend|suggest|clarify|help|look into|find out|"
    r"e-?mail|update|show|specify|indicate|price|state|outline|describe)\b",
    r"\b(?:i|we)(?:'d| would)? (?:like|love|want|need|wish) (?:to (?:know|get|see|have|"
    r"receive|ask|inquire|enquire|check|learn|request)|an? |the (?:price|pricing|wholesale|"
    r"status|current|latest|cost|list|delivery|following (?:info|prices)|details))",
    r"\b(?:i|we)(?: am|'m| are|'re)? (?:writing regarding|checking|wondering|asking|following up|wonder|"
    r"inquiring|enquiring|request(?:ing)?|interested in|waiting for|still waiting|curious)\b",
    r"\b(?:would be|am|are) (?:very )?interested in\b|\blet (?:me|us) know\b|\bany (?:update|"
    r"news)\b|\bfollowing up on\b|\bquick question\b|\b(?:price|quote|quotation|pricing) (?:request|"
    r"inquiry|enquiry)\b|\brequest for (?:a )?(?:quot|pric)",
    r"\b(?:inquir(?:e|ing)|enquir(?:e|ing)|learn(?: more)?|know more|hear more|find out(?: more)?) "
    r"(?:about|whether|if|what|how)\b|\bwould you mind\b|\breaching out\b|\bchecking (?:in |up )?on\b",
    r"教えて|いただけ(?:ます|ません|ない)|確認したい|知りたい|見積|いかが|伺い|お知らせ|価格表|(?:ください|下さい)",
)
PRICES = any_of(
    r"\b(?:prices?|pricing|price ?lists?|cost|costs|(?<!your )quot(?:e|ation)(?!s)(?! ?(?:#|"
    r"q|no\b|number|[0-9]))|catalog(?:ue)?s?|product (?:list|range)|products? (?:do )?you (?:carry|"
    r"sell|have|offer|stock)|offering|assortment|wholesale rates?|rates|what (?:products|"
    r"goods|items|do you sell)|"
    r"(?:which|what) \w+ (?:do|are) you (?:currently )?(?:sell|carry|stock|offer|have)(?:ing)?|"
    r"(?:do|would|did) you charge)\b",
    r"\bhow much (?:is|are|do|does|would|for)\b|\b(?:do|are) you (?:\w+ )?(?:sell|carry|"
    r"have|stock|offer|selling|carrying|keep)(?:ing)? (?:any )?(?:[0-9]+ )?(?!(?:an? )?(?:bulk|"
    r"discount|credit|news|updates?|question|recommend|idea|experience|minimum|return|any|"
    r"delivery|free))|\bwhich (?:products|goods|items)\b|\b(?:information|"
    r"details) (?:about|on) your\b",
    r"価格|卸値|取り?扱い?(?:って|商品|が)|商品(?:一覧|リスト)|カタログ|いくら(?:です|でしょう)|値段|単価",
)
QUOTE = any_of(
    r"\b(?:quote|quotes|quotation|estimate|price|prices|pricing|cost|how much|total|come to|"
    r"interested in|charge (?:me |us )?for)\b|見積|いくら",
)
TERMS = any_of(
    r"\bdays to pay\b|\bcharged when\b|\b(?:minimum|lead times?|"
    r"how long(?! (?:is the shelf|do(?:es)? .{0,30}(?:keep|last|stay)))|"
    r"(?:free delivery|delivery (?:is )?free)|delivery (?:times?|"
    r"schedule|terms|charge|fee|costs?|"
    r"options)|time of day|terms|freight|shipping (?:cost|fee|charge|time)s?|"
    r"charge for (?:the )?(?:freight|delivery|shipping)|payment|returns\b|"
    r"return (?:policy|unsold|goods|products)|refund policy|"
    r"how quickly|how fast|how soon|weekends?|sundays?|saturdays?|next[- ]day delivery|opening hours|moq|"
    r"(?:offer|give|grant|extend)(?: \w+){0,2} credit)\b",
    r"\b(?:bulk|volume|quantity) (?:discount|pric)\w*|\bdiscounts?\b|\b(?:can|could|do|"
    r"would) you (?:also |still )?deliver\b|\bhow (?:do|can|should) (?:i|we) (?:place|"
    r"order|claim|pay|cancel|return|confirm)\b|\bcan (?:an?|any) order\b|\bwhat happens\b|"
    r"\bhow long are\b|\bvalid\b|\buntil when\b|"
    r"\bif (?:we|i) order(?:ed)? (?:today|now|tomorrow)\b|\bwhat information do you need\b|"
    r"\bif (?:i|we) cancel\b|\bwhen would (?:the goods|it|they) arrive\b|\bdo you accept\b",
    r"最低(?:注文|発注)|納期|割引|配達は|何時|までに|可能ですか|有効|送料|支払|返品|リードタイム|キャンセルは",
)
OWN_ORDER = any_of(
    r"\border (?:number |no\.? ?|#)?#?[0-9]+|\b(?:my|our)(?: \w+){0,3} (?:orders?|shipments?|"
    r"deliver(?:y|ies)|§)|\b(?:the|my|our|those|these) (?:[0-9]+ )?(?:units of |bottles of |"
    r"cases of )?§|\bthe (?:shipment|delivery|goods|order|status)\b|\b(?:my|our) [0-9]+ (?:\w+ of )?§|"
    r"\b(?:open|outstanding|pending) orders\b",
    r"\b(?:has|have|is|are|did|was|were) (?:it|they)\b|\b(?:any|our|my) (?:open|pending|outstanding) orders?\b",
    r"\borders (?:do|have|are|from)\b|\bwhat did (?:we|i) order\b|\b(?:it|they) (?:be|"
    r"been) (?:then )?(?:delivered|shipped)\b|\bit (?:then )?be delivered\b|\bwhen (?:will|"
    r"can|should) (?:it|they)\b|\bwhen (?:will|can|should) (?:we|i) (?:expect|receive|"
    r"get)\b|\bany (?:delay|update)\b|注文(?:番号)?\s?[0-9]|注文した|前回の注文|未納|注文を|配送状況|いつ届|状況",
)
STATE = any_of(
    r"\b(?:where|when|status|pending|overdue|why|what happened|ship|estimated time|look into|track(?:ing)?|"
    r"shipped|dispatched|arriv\w*|delivered|delivery date|"
    r"delivery|on schedule|update|news|outstanding|open orders|receive[d]?|processed|confirmation|"
    r"invoice|copy|left|expected|expect|cancelled|go through|delay|waiting for|checking on|"
    r"checking|check|how many orders|what did (?:we|i) order|what is going on|regarding order|"
    r"following up|going on|overview|(?:on|under)? ?way|eta|hasn't|not arrived)\b",
    r"いつ|状況|届|発送|到着|未納|配送|確認",
)
EXPECTATION = re.compile(
    r"\b(?:hasn't|has not|haven't|have not|didn't|did not|never) (?:yet )?(?:arrived?|"
    r"come|been delivered|received?|got)\b|\b(?:i|we) (?:am|are) (?:still )?waiting for\b|"
    r"\bpromised delivery date has passed\b|\bnothing (?:has )?(?:came|come|arrived)\b|"
    r"\b(?:are|is) not (?:yet )?here\b|\boverdue\b|\bany news\b|"
    r"\b(?:i|we)(?: were| was)? expect(?:ed|ing) (?:a|the|our|my) (?:\w+ )?(?:delivery|order|shipment)\b|"
    r"(?:まだ|未だ).{0,8}(?:届|来).{0,4}(?:ません|ない|おりません)"
)
_FEES = re.compile(
    r"\bcharge (?:for |an? |any )?(?:the )?(?:freight|delivery|shipping|extra)\b.*|"
    r"\b(?:freight|delivery|shipping) (?:charges?|costs?|fees?|prices?)\b.*|\bminimum.{0,30}\bcosts?\b|"
    r"最低.{0,12}いくら|送料.{0,8}いくら"
)
_TERMS_OFFERED = re.compile(r"\bterms (?:do|can|could|would) you (?:offer|have|give)\b.*")
_INCLUDE = re.compile(r"\b(?:include|including|with)\b.{0,60}$")


def topics(low: str, sentence: str, units: bool) -> tuple[Topic, ...]:
    """The topics that a clause asks about; `units` says whether it names goods with quantities."""
    if re.search(r"\bif (?:we|i) (?:were to )?(?:order|place)(?:ed)?\b(?! §)", sentence) and not QUOTE.search(sentence):
        return ("terms",)
    if (
        OWN_ORDER.search(low)
        and STATE.search(low)
        and not re.search(r"\bcan (?:an|any|a) order\b|\b(?:quote|price) (?:for|on)\b", low)
    ):
        return ("order",)
    found: list[Topic] = []
    core = _INCLUDE.sub("", low) if units or QUOTE.search(_INCLUDE.sub("", low)) else low
    if units and QUOTE.search(core) and not re.search(r"\b(?:minimum|discount) (?:apply|order)", core):
        return ("quote",)
    terms = TERMS.search(low) is not None
    low = _TERMS_OFFERED.sub(" ", low)
    if PRICES.search(_FEES.sub(" ", low) if terms else low):
        found.append("prices")
    if terms:
        found.append("terms")
    if units and re.search(r"\binterested in\b|見積", low):
        return ("quote",)
    return tuple(found)
