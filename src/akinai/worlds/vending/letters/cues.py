"""Cues: the wording by which a clause asks, orders, offers, takes back, claims, complains or thanks.

They are matched against text in lower case, a section sign for each product's name. Every repetition is bounded."""

import re


def any_of(*patterns: str) -> re.Pattern[str]:
    """Compile a pattern that finds any of these."""
    return re.compile("|".join(patterns))


def phrases(listed: str) -> str:
    """A pattern of whole words and phrases, given with commas between them."""
    return rf"\b(?:{'|'.join(' '.join(phrase.split()) for phrase in listed.split(','))})\b"


_VERBS = (
    "send|ship|deliver|supply|dispatch|rush|prepare|get me|get us|put me down for|"
    "put us down for|process|fulfil|fulfill|"
    "execute|place|arrange|schedule|add|order|reorder|re-order|buy|purchase|enter|book|"
    "proceed|go ahead|invoice|pack|submit|accept|repeat|renew"
)
_CHARGES = "charge|bill|debit|invoice"
_INFORMATION = (
    r"(?: to)?(?: (?:me|us|over|back|along|through|on))?(?: (?:with|to me|to us))?(?: (?:an?|"
    r"the|your|my|our|any|some|more|full|current|latest|"
    r"complete|updated|best|wholesale|price|new|product|detailed|copy of|further|tracking|"
    r"delivery|order|last|most recent|written|"
    r"itemi[sz]ed|formal|short|quick|list of|and|of|unit))*"
    r" (?:quotes?|quotation|prices?|pricing|list|catalog(?:ue)?s?|confirmation|status|"
    r"update|overview|tracking|invoice|receipt|"
    r"information|info|details|reply|response|e-?mail|letter|offer|estimate|terms|when|"
    r"how|what|whether|if|copy|numbers?|"
    r"refund|discount|money|answer|recommendations?|advice|date|time|feedback|samples?|"
    r"brochure|better|receipt|table|assortment|products?|range|selection|goods you)\b"
)
_ADVERBS = (
    r"(?:also |now |then |just |kindly |please |urgently |immediately |again |simply |"
    r"in addition |go ahead and |be so kind as to ){0,3}"
)
_LEAD = (
    r"^(?:\W*(?:yes|ok|okay|sure|great|good|so|and|then|also|now|therefore|instead|secondly|"
    r"second|first|firstly|lastly|finally|thus|hence|nevertheless|still|in the meantime|"
    r"in addition|additionally|meanwhile|as usual|as discussed|as agreed|hi|hello|dear \w+|"
    r"for now|this time|today|\d{1,2}[.)])\b[,:!.]? *){0,3}"
)

IMPERATIVE = re.compile(
    rf"(?:{_LEAD}|\bplease,? |\bkindly |\bgo ahead and |\b(?:grateful|appreciate it|appreciated|"
    r"glad|great|kind|nice|happy|pleased) if you (?:would|could|can) |\b(?:could|would|"
    r"can|will) you (?:please |kindly |also )?|\bjust )"
    rf"{_ADVERBS}(?P<verb>{_VERBS})\b(?!{_INFORMATION})(?! (?:by|us if|me if)\b)"
    r"(?!(?<=order) (?:number |no\.? ?)?#?[0-9]+(?![0-9])(?! ?(?:§|x\b|units|cases|bottles|cans|bags|packs|more|of\b)))"
)
CHARGE = re.compile(
    rf"(?:{_LEAD}|\bplease,? |\bkindly |\band |, )(?:also |then )?(?:you can |you may )?(?:{_CHARGES}|"
    r"put(?= (?:it|them|this|these|everything|all|that)? ?(?:on|to|against)\b))(?: (?:it|"
    r"them|this|these|the (?:total|order|amount|goods|cost)|us|everything|"
    r"all|my|our))?(?: (?:to|on|against))?(?: (?:my|our|the|us|today|account|number))*(?=\W|"
    rf" [a-z]{{1,3}}-?\d|$)"
)
DECLARES = re.compile(
    r"(?:\b(?:i|we)\b|(?:\band|^)(?= ?(?:would like|wish|want|hereby|have decided)))(?:'d|"
    r" would|'ll| will| shall|'re| are|'m| am|'ve| have)?(?: ?\b(?:would|hereby|also|now|"
    r"therefore|thus|happily|just|love|like|want|wish|to|go|ahead|and|"
    r"have|decided|ready|pleased|happy|glad|delighted|writing|proceed|with|accept|your|only|simply|still|additionally|"
    r"terms|an?|the|new|following|my|our|this|please|again|formally|today|able)\b){0,10} "
    r"(?P<verb>order|reorder|re-order|purchase|buy|ordering|buying|purchasing|place|placing|submit|submitting|take)\b"
    r"(?! (?:at (?:once )?when|it into|care|note|into|part|time|place))"
)
WANTS_UNITS = re.compile(
    r"\b(?:i|we)(?:'d| would) (?:like|love) (?:to (?:have|get|receive) |another )?"
    r"(?:[0-9]|an? (?:case|dozen)|one|two|three)"
)
MAY_HAVE = re.compile(
    r"\b(?:can|could|may) (?:i|we) (?:please |also )?(?:get|have) (?:another )?[0-9]{1,5} (?:\w+ (?:of )?)?§"
)
IS_ORDER = any_of(
    r"\bthis is (?:an|our|my|a firm) (?:firm |new )?order\b(?! (?:that|from|we|which|number|no|#|\d))",
    r"\b(?:consider|take|treat|regard) this (?:e-?mail |letter |message |note )?(?:as |to be )?(?:our|my|an|a) "
    r"(?:\w+ )?(?:purchase )?order\b",
    r"\blet(?:'s| us) (?:go with|do|take|get|have) (?!it\b|that\b|business)",
    r"\b(?:i|we)(?:'d| would|'ll| will|'re| are|'m| am)?(?: like to| happy to| going to)? go(?:ing)? (?:with|for) "
    r"(?:another )?[0-9]",
    r"\bhere(?:'s| is) (?:the|our|my) (?:\w+ )?order\b|\border(?:ing)? (?:as follows|the following)\b",
    r"\b(?:will|'ll) be (?:ordering|buying|purchasing)\b.*\b(?:today|now)\b",
    r"\b(?:our|my|the) order (?:is|reads|would be) (?:as follows|the following|this|below)\b",
    r"^\W*order(?: please)?:|\bplease: (?:[0-9]|§)|\bauthori[sz]es? you to (?:charge|bill|debit)\b",
    r"(?:次|下記|以下)の(?:品|商品|もの|通り)[^。.]{0,10}(?:お願い|ください)",
    r"\b[0-9a-z]{1,15} (?:\w+ of )?§(?: for (?:today|tomorrow|[a-z]{3,6}day))?,? please\b",
    r"\b(?:find|see) (?:below |enclosed |attached |here )?(?:is |are )?(?:our|my) (?:\w+ )?order\b",
    r"\bput (?:it|them|this) on (?:account|[a-z]{1,3}-?\d)",
    r"(?:注文|発注|購入)(?:を|の)?(?:いた)?(?:し|致し)ます|(?:注文|発注|購入)(?:を)?させていただきます|(?:注文|発注|購入)(?:を)?(?:し|いたし)?たい(?:です|と思|と存)",
    r"(?:注文|発注)(?:を)?(?:お願い|お受け)|(?:注文|発注)申し上げ|手配(?:を)?(?:お願い|して|くださ)|(?:お送り|送付|発送|お届け|"
    r"配達|納品)(?:して)?(?:くださ|下さ|願|をお願い|お願い|"
    r"いただけますよう|いただきますよう|いただきたく)",
    r"送ってくださ|届けてくださ|(?:units|cases)[^。.]{0,12}(?:ください|下さい|お願い(?:いた)?します|お願い(?:いた)?(?:し|"
    r"致し)ます|お願い申)|お願いいたします(?=\W*$)(?<=cases お願いいたします)",
    r"に請求(?:し|をお願い|して|くださ)",
)
HEADING = any_of(
    r"^\W*(?:re: *)?(?:[a-z]+ )?(?:purchase |new |weekly |re-?stock(?:ing)? |initial |"
    r"first |next |standing |bulk )?(?:re)?order(?:s)?(?: for [a-z ]{1,30}| request| form|"
    r" summary| details| confirmation request| #\d+)?(?: [-:—–] .*)?\W*$",
    r"^\W*(?:purchase |new |weekly |bulk |restocking |first |initial )order\b",
    r"^\W*order[: ]+(?:\d|§|[a-z]+ §)",
    r"^\W*(?:ご?注文|ご?発注)(?:書|のお願い|について|依頼)?\W*$",
)
NO_HEADING = any_of(
    phrases(
        "status, cancel, cancellation, cancelled, question, update, change, delivered, late, missing, delay, received, "
        "claim, where, tracking, confirmation of, quote, follow-up, plan, refund, complaint"
    )
)

NO_ORDER = any_of(
    r"\b(?:not an order|no order yet|do not (?:process|ship anything|send anything)|not (?:yet )?ordering(?! §)|"
    r"not order(?:ing)? yet|without obligation)\b",
    r"\b(?:nothing (?:is|has been) (?:decided|firm|fixed)|no decision|(?:have|has) not (?:yet )?decided|"
    r"haven't decided|undecided)\b",
    r"\b(?:just thinking|thinking aloud|for your information|for information only|want to wait|"
    r"changed (?:our|my) minds?|will not (?:be )?plac)",
    r"\bno need to send\b|\bno (?:further )?shipment is needed\b|\bbefore (?:i|we) (?:place an )?order\b|"
    r"\bdoes not constitute\b|注文ではありません",
)
HYPOTHESIS = any_of(
    r"\b(?:if|unless|suppose|supposing|assuming|in case|provided that|as long as|should (?:our|"
    r"the|your|sales|we|demand))\b",
    r"\b(?:once|as soon as|whenever (?!your|you)|until)\b",
    r"(?:^|, |but |and )when (?:we|i|our|the|sales|demand)\b(?![^?]*\?)",
    r"(?:れば|たら|なら|場合)",
)
IDLE_IF = re.compile(
    r"\b(?:grateful|appreciate it|appreciated|glad|great|kind|nice|happy|pleased) if you (?:would|"
    r"could|can)\b|\bif (?:possible|convenient|you (?:have any|need|please|require|would like)|"
    r"anything (?:is|else)|there (?:is|are) any (?:question|problem|issue)|so|not|any (?:product|"
    r"item|good)|at all possible|(?:it|this|that|they|the order) (?:(?:has|have|is|are)(?: not|n't)? (?:yet )?"
    r"(?:left|shipped|gone|been|too late|still possible|out)|hasn't|isn't)|that (?:is|works)|"
    r"an? (?:product|item) is|applicable|needed|necessary)\b|"
    r"\bonce (?:again|more|a (?:day|week))\b|\bas soon as possible\b|\bat once\b|\buntil (?:now|"
    r"further)\b"
)
FUTURE = re.compile(
    r"^(?!.*\b(?:today|now|hereby|herewith|right away|immediately)\b).*\b(?:i|we)(?:'ll|"
    r" will| shall)\b(?!.{0,20}\btake\b)"
)
PLANS = any_of(
    r"\b(?:plan(?:s|ned|ning)? (?:to|on)|planning|intend|hope to|hoping|might|may (?:need|"
    r"want|order|buy)|consider(?:ing)? (?!this)|thinking (?:of|about)|would have|(?:were|"
    r"was|are|is|am|'re|'m) going to|tentative|expect to|could (?:order|buy|require|need)|"
    r"would (?:buy|order|take|confirm|pay)(?! \$)|we'd (?:order|buy|take|confirm)|i'd (?:order|"
    r"buy|take)|would then|possibly|perhaps|maybe|eventually|soon)\b",
    r"\b(?:next|coming|following) (?:week|month|time|year|quarter|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|summer|winter)\b|\blater\b|\bin the future\b|\bsome day\b|"
    r"\bnot before\b|(?<!for )(?<!by )\btomorrow\b",
    r"予定(?!日)|つもり|かもしれ|検討(?!の結果|した結果|いたしました結果)|見送|考えて|待って|後で|あとで|来週|来月|今度|近いうち|そのうち",
)
NEGATION = re.compile(
    r"\b(?:not|never|unable|no longer|cannot|without(?! (?:any )?(?:change|delay|reserv))|nobody|neither|nor)\b|n't\b|"
    r"ないで|ません|なく"
)
FIRST_NOT = re.compile(r"\b(?:not only|do not hesitate|don't hesitate|not hesitate|why not)\b")
TELLS = re.compile(
    r"\b(?:told|asked|wrote to|said to|write to|instructed) [a-z§ ]{1,40}: |\bi would have to\b|"
    r"\bto order\b.{0,30}\b(?:i|we) (?:would|must|have to)\b|^draft\b|\bdraft, "
)
REPORTS = any_of(
    phrases(
        "expected, demand, projection, projected, estimates, forecasts, sold, sell, sells, selling, sales, "
        "sale, stock, inventory, holds, held, hold, holding, plan, planned, "
        "forecast, bought, left, remaining, remain, storage, slot, slots, usually, typically, yesterday, last week, "
        "last month, last time, competitor, "
        "another supplier, "
        "ago, notes, currently, "
        "spoiled, sent us, counted, restock, capacity, room for, arrived, received, delivered, ordered, charged "
        "us, came, "
        "customers, charges, offers, week, "
        "decided not, instead of, need, needs, our offer, target, elsewhere, we have"
    ),
    r"在庫|売れ|先週|先日|来月|届き|購入しました|残り|昨日",
)

CANCEL = any_of(
    r"\bcancel(?:l?ing|lation)?\b(?! (?:fee|polic|terms|charge))|\bwithdraw (?:our|my|"
    r"the|order|quote)|\bcall off\b|\bstop the shipment\b|\bundo (?:my|our|the) order",
    r"\b(?:disregard|void|scrap|revoke|annul|rescind|ignore|call off)\b.{0,20}\b(?:order|quote)\b(?! form)",
    r"\bchanged (?:my|our) minds? about (?:order|quote)|\bdo(?:n't| not) (?:ship|send|deliver) it\b",
    r"\bno longer (?:need|want|require)\b.{0,40}\b(?:order|quote) #?[0-9]|\btake (?:it|them|order #?[0-9]+) off\b",
    r"\bdo(?:n't| not) ship (?:the|my|our) (?:\w+ )?§? ?(?:we|i) ordered\b|\bno longer need order\b|"
    r"\border #?[0-9]+ is (?:no longer|not) (?:needed|required)|\btake back (?:\w+ ){0,3}"
    r"order",
    r"キャンセル|取り消|取消",
)
CANCELLED = re.compile(
    r"\b(?:was|were|been|is|already) cancell?ed\b|\bwhat happens\b|\bwhat if\b|\bcan (?:an|"
    r"a|any) order be\b|\bhow (?:do|can) (?:i|we) cancel\b|(?:キャンセル|取り?消し?)(?:は|が)?(?:可能|"
    r"でき)"
)
CHANGE = any_of(
    r"\b(?:change|amend|modify|(?<!status )(?<!an )(?<!any )update(?! on| about)|revise|"
    r"adjust|correct|alter|edit)\b(?! of (?:plans?|mind|heart)).{0,60}\b(?:orders?|quote|"
    r"q-?\d|quantit|it|\d+ to \d+)\b",
    r"\b(?:increase|decrease|reduce|lower|raise|bring|cut)\b.{0,60}\b(?:to|by|down to|"
    r"up to) (?:a total of )?(?:only |just )?[0-9]+(?![0-9.]* ?(?:%|per ?cent))",
    r"\bbe (?:increased|reduced|changed|raised|lowered|corrected|cut) to\b|\bso (?:that )?it has [0-9]",
    r"\b(?:should|was meant to|is meant to) (?:say|read|be|have said|have been) (?:only )?[0-9]+.{0,40}\bnot\b",
    r"\border #?[0-9]+ ?[-:—]+ ?(?:change|amendment|correction|update)\b|\bin place of (?:the )?[0-9]|\bnew quantity\b",
    r"\b(?:changed|revised|corrected|updated|amended) (?:order )?quantit",
    r"\bmake (?:it|that) [0-9]|\binstead of (?:the )?[0-9]|\brather than [0-9]|\breplace the [0-9]",
    r"\b(?:change|amendment|correction|update) to (?:my |our |the )?(?:order|quote)|\badd [0-9]+ .{0,20}\bto (?:my "
    r"|our )?order\b|\bin order #?\d+: we wrote\b|\bmade a mistake in order\b|\border.{0,20}: only [0-9]",
    r"変更(?:して|をお願い|お願い|いただ|した)|修正(?:して|をお願い|お願い)|訂正(?:して|をお願い|お願い)|増や(?:して|したい)|減ら(?:して|したい)",
)
NO_CHANGE = re.compile(
    r"\b(?:did|has|have|was|were) the (?:change|correction)\b|\bcan (?:an|a|any) order be\b|"
    r"\bchange of plans\b|\bno changes?\b"
)
_LACKING = (
    r"\b(?:was|were) not (?:delivered|included|in the|there|part of)\b|\b(?:contained only|"
    r"only contained|not (?:all )?included|"
    r"lacked|lacking|leaking|less than (?:i|we) (?:ordered|paid))\b"
)
CLAIM = any_of(
    _LACKING,
    r"\b(?:missing|incomplete|discrepanc(?:y|ies)|short(?:age|fall)?|shortages|short-shipped)\b(?! (?:time|"
    r"notice|term|letter|on))",
    r"\b(?:damaged?|broken|crushed|leaking|expired|defective|mouldy|moldy|torn|stale|past (?:its|their))\b|"
    r"\bspoiled (?:when|"
    r"on|already|upon)|\balready spoiled\b|\b(?:wrong|incorrect) (?:goods|items?|products?|"
    r"order|quantit)",
    r"\b(?:claim(?:ing)?|reimburse(?:ment)?|compensat(?:e|ion))\b|\brefund\b(?!.{0,30}\bpolic)|"
    r"\bmoney back\b|\bcredit (?:our|my|us|the) (?:account )?",
    r"\bonly [0-9]+.{0,30}\b(?:arrived|came|delivered|received)\b|\b(?:counted|count|received|"
    r"found|got) (?:only |just |is )?[0-9]+",
    r"\bmix-?up\b|\bripped\b|\byou sent (?:us |me )?§",
    r"\bnot in the (?:box|boxes|delivery|parcel)\b|\bnever arrived\b|\bshould have contained\b|"
    r"\bdid not contain\b|\bgoods are missing\b|\byou sent the wrong\b",
    r"足りま|不足|破損|壊れ|欠品|返金|しか届|間違って届|腐って",
)
CLAIM_ALONE = any_of(
    _LACKING,
    r"\b(?:missing|incomplete|short|shortage|discrepanc(?:y|ies)|damaged|broken|crushed|mix-?up|ripped|torn|"
    r"leaking|wrong (?:goods|items?|products?)|claiming|reimburse|compensate|expired|defective|"
    r"already spoiled|did not contain|should have contained|not in the boxes)\b",
    r"\bonly [0-9]+\b.{0,30}\b(?:arrived|came|delivered|received)\b|\b(?:received|got|"
    r"counted|found|count is) (?:only |just )?[0-9]+.{0,80}|never arrived|足りま|不足|破損|壊れ|"
    r"しか届|欠品",
)
NO_CLAIM = re.compile(
    r"\b(?:thanks|thank you)\b.{0,40}\brefund|\brefund (?:was|has|came|arrived)\b|"
    r"\bno claim\b|\ball complete\b|\bnothing (?:is|was) missing\b|\bhow (?:can|do) (?:i|"
    r"we) claim\b|\brunning short\b|\bshort of (?:cash|money|time)\b|\bin short\b|\bno(?:thing)? missing\b|"
    r"\ball (?:units|goods|items).{0,30}\b(?:there|complete)\b|\bcomplete and\b|\bshort (?:letter|"
    r"note|question)\b|\bconfirmation\b"
)
COMPLAIN = any_of(
    phrases(
        "not pleased, not impressed, let us down, let me down, expected better, expect better, terrible, awful, "
        "bad service, unprofessional, inexcusable, not good enough, tired of, late deliveries, late delivery, sloppy, "
        "losing patience, lost patience, cannot go on, too slow, repeatedly late, complaining"
    ),
    phrases(
        "unacceptable, not acceptable, disappointed, disappointing, unhappy, dissatisfied, not satisfied, not happy, "
        "frustrated, frustrating, frustration, fed up, annoyed, annoying, complaint, complain, unreliable, "
        "poor quality, poor service, upset, ridiculous, appalling, outrageous"
    ),
    r"\b(?:days?|hours?|weeks?) (?:too )?late\b|\blate again\b|\bdelayed (?:again|twice|"
    r"three times|[0-9]+ times)\b|\bquality of .{0,40}\bpoor\b|\blost .{0,30}\bsales\b|"
    r"\bcost us (?:sales|customers)\b|\bkeep delaying\b",
    r"困って|不満|失望|遅すぎ|遺憾|残念|改善してくださ|ひどい",
)
THANK = any_of(
    r"\b(?:thank(?:s| you)|many thanks|grateful|appreciation)\b(?:[^.!?,]{0,30}? )?(?:for|"
    r"to you for)\b(?! (?:your )?(?:continued |kind |valued |ongoing |great )?(?:time|"
    r"consideration|attention|understanding|cooperation|co-operation|help|support|assistance|"
    r"flexibility|business|partnership|patience|prompt (?:service|attention|action)|reading|"
    r"looking|considering))(?! (?:any|an? |the opportunity|this opportunity|bearing))",
    r"(?<!would )(?<!'d )(?<!could )\bappreciate (?:the|your|how) (?:quick|fast|prompt|"
    r"excellent|great|good|swift|speedy|smooth|reliable|timely|delivery|shipment|service|"
    r"reply|response)",
    r"\bmuch appreciated\b(?! if)|\bthanks again\b",
    r"(?<!よろしく)(?:ありがとうございま(?:した|す)|感謝(?:いたし|し|申し)|御礼|お礼)",
)
CLOSING = re.compile(r"\bin advance\b|今後ともありがとう")
THANKS_ALONE = re.compile(r"^\W*(?:thank you|thanks|many thanks)(?: (?:very|so) much| a lot| again)?\W*$")
CAME_WELL = re.compile(
    r"\b(?:arrived|received|delivered|in good condition|complete|came|were there)\b|届きました|受け取り"
)

CONFIRM = any_of(
    r"\b(?:confirm|accept|approve|proceed with|go ahead with|agree to|confirmation of|"
    r"take up|going with|choose)(?:ed|ing|s)?:? +"
    r"(?:(?:the|your|our|my|this|purchase|order|for|of|on|with|number|terms|conditions|per|no\.?|under|"
    r"based|everything|in) ){0,4}(?:q[- ]?|quot(?:e|ation) (?:number |no\.? ?|id ?)?(?:#|"
    r"q)?[- ]?)#?[0-9]{1,9}\b",
    r"\bproceed (?:on (?:that|this) basis|as (?:quoted|offered|proposed))\b|"
    r"\b(?:q-?\d+|quote \d+): (?:accepted|approved|confirmed|ok)\b",
    r"\b(?:q-?\d+|quote \d+)\b.{0,40}\b(?:looks? (?:good|fine|great)|work(?:s)? for us|"
    r"is (?:accepted|approved|confirmed|fine))\b",
    r"\b(?:like|want|wish|ready|happy|glad|pleased) to (?:go ahead|proceed|move forward|move ahead)"
    r"(?: with (?:it|this|that|(?:the|your|this) (?:quote|quotation|offer)))?\W*$",
    r"見積[^。.]{0,12}(?:で|にて)[^。.]{0,6}お願い",
    r"(?:見積[^。.]{0,12}|q-?\d[^。.]{0,14})(?:を|で)?(?:確定|承認|承諾|了承|発注|注文)",
)
GO_AHEAD = re.compile(r"\b(?:go ahead|proceed)\b")
BARE_CONFIRM = re.compile(
    r"^\W*(?:(?:i|we|yes|ok|okay|hereby)\W+){0,3}(?:confirm|accept)(?:ed)?(?: (?:the|your|my|our|"
    r"this|it|that))?(?: (?:quote|quotation|offer|order|purchase))?(?:, (?:so )?(?:please )?(?:go ahead|proceed))?\W*$"
    r"|^\W*(?:(?:yes|ok|okay|great|good)\W+)?(?:please )?(?:go ahead|proceed)"
    r"(?: with (?:it|this|that|(?:the|your|this) (?:quote|quotation|offer)))?\W*$"
)
NO_CONFIRM = re.compile(
    r"\bplease,? (?:re)?confirm\b|\bstill valid\b|\bbefore\b|\breview|\bdeclin|\btomorrow\b|"
    r"\bwill (?:confirm|accept|approve)\b|検討(?!の結果)|断り|いつまで|有効"
)

BARGAIN = any_of(
    r"\b(?:counter-?(?:offer|proposal)|go (?:any |a bit |a little )?lower|negotiat\w*|bargain|"
    r"best price|lowest price|better (?:price|"
    r"deal|offer|rate|terms)|lower (?:the |your )?price|lower price|lower (?:the |your )?prices|"
    r"reduce the price|reducing the price|"
    r"price reduction|favou?rable pricing|meet in the middle|do better|beat (?:that|this|"
    r"it)|match (?:that|this|their|the|it|or)|come down|cheaper\?|work for us at|final offer|"
    r"our offer|my offer|(?<!your )proposal|"
    r"propose (?:the following |these |a |new )?(?:\w+ )?prices?|no margin|(?<!your )flexibility|"
    r"flexible|room to move|what (?:i|"
    r"we) can afford|waive|go down to)\b",
    r"\bwhat (?:kind of |sort of )?discount (?:could|can|would) you (?:offer|give|do)\b",
    r"\bbest price\b|\broom for\b.{0,20}\b(?:price|negotiation)",
    r"値引|安く|お安|値下げ|割り?引き?(?:して|いて)|同じ価格|まけて|(?:セント|ドル)に|交渉",
)
PRICE_OFFER = any_of(
    r"\b(?:would|could|can|will) (?:you|we) (?:please )?(?:accept|consider|agree|do|offer|"
    r"give|sell|make|take)\b|\bhow about\b|\b(?:we|i)(?: can| could| would|'d| will|"
    r"'ll| are|'re| am|'m)?(?: be)?(?: happy| able| like| willing|"
    r" prepared| ready)?(?: to)? (?:pay|"
    r"offer|propose|go to|(?:buy|do|order|take)\b.{1,60}\b(?:at|for) [$0-9])|\bwould .{0,40}\b(?:be possible|"
    r"be acceptable|"
    r"work)\b|\btarget price\b|\bif you (?:can|could|agree|accept)\b|\bclose[r]? to\b|"
    r"\bdo we have a deal\b|\bacceptable\b|\bif (?:you|the price)\b",
    r"(?<!your )\b(?:offer|propose|suggest|afford|go up to|willing to go)\b|\bopen to\b",
    r"いただけませんか|いただけない|いただければ|くだされば|できませんか|できません",
)
DECLINES = re.compile(
    r"\b(?:cannot|can't|not|unable to|have to decline to) (?:able to )?(?:accept|agree to|take up|go with) your\b|"
    r"\bdeclin(?:e|ing) your\b|\b(?:respectfully|must|have to) decline\b"
)
NO_BARGAIN = re.compile(
    r"\bdo you offer\b|\bdiscounts? available\b|\bany (?:bulk )?discounts?\b|\bbulk discounts? (?:apply|"
    r"from)|\bwould the\b|\bfound a better offer\b|\bincluding the\b"
)
HOLDING_LINE = re.compile(r"\b(?:slots?|row|week|in stock|left|sold)\b")
PERCENT_OFF = re.compile(
    r"\b[0-9]{1,2} ?(?:%|per ?cent)(?: \w+){0,2} (?:discount|off|less|reduction|lower)|"
    r"\bdiscount of [0-9]|\bextra .{0,12}discount\b|\bspecial discount\b"
)
PLEADS = re.compile(
    r"\b(?:could|can|would|ask(?:ing)?|request|give|please|in return|need|want|hope|expect|"
    r"deserve|grant|how about|propose|hoping|wondering)\b"
)
IDLE = re.compile(r"\b(?:just thinking|thinking aloud|for your information|for information only)\b")
NEEDS_LIST = re.compile(r"\b(?:need|require|following|as follows|below)\b.*:\W*$")

QUOTED_PRICE = re.compile(
    r"\b(?:at|for) (?:the|your) (?:quoted|list|listed|usual|current|regular) prices?\b|"
    r"\bquoted prices?\b"
)
OBJECT = re.compile(
    r"§|\b(?:orders?|following|above|below|items?|goods|products|these|them|it|this|"
    r"everything|same|shipment)\b|:\W*$|\bto\b|"
    r"\bahead\b|\bproceed\b|[0-9]"
)
KEEPS = re.compile(
    r"\b(?:do not|don't|not) (?:want|wish|need|going|plan) to (?:cancel|withdraw)|\b(?:will not|won't|never) cancel"
)
WANTS_CONFIRMATION = re.compile(r"\bplease,? (?:re)?confirm\b|\bstill valid\b")
CAN_YOU = re.compile(r"\b(?:can|could|would|will) you\b")
MONEY = re.compile(r"[$＄][0-9]|[0-9] ?(?:cents?\b|セント)")
BEST_PRICE = re.compile(r"\bbest price\b")
FOR_QUANTITY = re.compile(r"^(?!.*\bis that\b).*(?:[0-9]+ (?:units of )?§|quantity|quote)")
SUMS = re.compile(r"\b(?:total|budget|costs?|estimated|balance|cash|funds|revenue)\b")
POLITE = re.compile(r"\bplease\b|\bkindly\b|\bput (?:me|us) down\b|ください|下さい|いただけ|教えて")
PLANS_JA = re.compile(r"予定|つもり|検討(?!の結果)|見送|待って|後で|あとで|来週|来月|今度|近いうち|そのうち")
NEGATION_JA = re.compile(r"ないで|ません|なく")
NOT_NOW = re.compile(r"\bnot\b.{0,20}\b(?:yet|before|until|now)\b")
NOT_GOODS_JA = re.compile(r"見積|価格|カタログ|連絡|確認|返金|キャンセル|取り消|値引|教えて|変更|返信|割引")
ORDERS_JA = re.compile(r"注文|発注")
ORDERED = re.compile(r"\b(?:i|we) ordered\b|\b(?:i|we)(?: were| was)? expect")
ASKS_MORE = re.compile(r":\W*$|\b(?:recommend|suggest|explain|fill|help|following)\b")
REPORTS_LIST = re.compile(r"\b(?:sold|received|plan|stock|missing|ordered)\b")
PRICE_LIST = re.compile(r"price list|catalog|価格表")
THAT_QUANTITY = re.compile(r"\b(?:that|this|such an?|these|those) (?:quantity|quantities|amounts?|volume|numbers)\b")
ALSO_ASKS = re.compile(r"\b(?:question|(?:do|does|is|are) your|have you (?:ever|got))\b")
FORM = re.compile(r"\bfill|\btable\b")
PRICES = re.compile(r"\b(?:quote|quotation|prices|pricing)\b(?<!quoted prices)(?<!list prices)")
ASKS_PRICE = re.compile(
    r"\bhow much\b|\bwhat (?:is|are|does|do|would)\b|\bcorrect\b|\bright\b|\bcharged\b|"
    r"\bwhy\b|\bdiscount\b|\btotal\b"
)
