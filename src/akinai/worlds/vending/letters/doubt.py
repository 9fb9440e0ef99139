"""Words by which a letter can be read in more than one way, so that nothing that it orders is charged.

They are those of whole classes: negation, correction, condition, plan, question, hearsay. None is added for one letter.
"""

import re
from typing import Literal

Doubt = Literal[
    "negated",
    "taken back",
    "corrected",
    "conditional",
    "planned",
    "quoted",
    "heard",
    "bargained",
    "divided",
    "totalled",
    "reported",
]

_WORDS: dict[Doubt, str] = {
    "negated": r"""
        not|never|no(?!\.? ?[#0-9])|none|nothing|neither|nor|without|cannot|\w+n't|ない|なく|なかった|ません|
        不要|無し|なし
    """,
    "taken back": r"""
        cancel\w*|withdr[ae]w\w*|forget|ignore|disregard|drop|remov\w+|delet\w+|undo|stop|skip|void|strike|
        scrap\w*|declin\w+|refus\w+|return\w*|no longer|キャンセル|取り?消|取りやめ|忘れ|破棄|中止|見送|辞退|
        返品|やめ
    """,
    "corrected": r"""
        actually|instead|rather|sorry|oops|wait|correct\w*|scratch|mistak\w+|meant|make (?:that|it)|thoughts?|
        revis\w+|amend\w*|updat\w+|chang\w+|replac\w+|but|except\w*|however|although|though|やはり|やっぱり|
        いや|いえ|訂正|間違|変更|代わり|ではなく|ただし|ですが|ますが|けど|修正
    """,
    "conditional": r"""
        if|unless|whether|provided|assum\w+|suppos\w+|imagine|in case|otherwise|depend\w*|subject to|
        as long as|would|could|might|(?:i|we|you|it|they|this|that) may|may (?:be|have|need|want|well|still)|
        should|until|till|(?<!at )once|as soon as|
        (?:before|after|when\w*) (?:i|we|you|my|our|it|they|he|she|this|that|all|any\w*|approv\w*|\w+ing)|
        hold|keep|paus\w+|postpone\w*|delay\w*|defer\w*|reserv\w+|aside|pending|later|only|or|maybe|perhaps|
        possibl\w+|probabl\w+|
        (?:about|around|approx\w*|roughly|circa|up to|at least|at most|nearly|almost|over|under|between)(?=\.? [0-9])|
        max(?:imum)?|min(?:imum)?|limit\w*|budget\w*|depending|もし|なら|たら|れば|けれ|場合|次第|
        まで(?:は|に)?待|保留|または|もしくは|あるいは|(?<=[本個袋缶枚食])(?:ほど|程度|くらい|ぐらい|前後)|
        約(?=[0-9])|だけ|のみ|上限|予算|から(?:に|後)
    """,
    "planned": r"""
        plan\w*|intend\w*|intention\w*|consider\w*|think\w*|hop(?:e to|ing)|going to|about to|expect to|
        (?:will|'ll|shall) (?:order|need|want|buy|place|send|confirm|decide|let|write|get back)|
        (?:will|to) be (?:approved|confirmed|decided|signed)|next (?:week|month|time|order|year)|tentativ\w*|
        draft\w*|sampl\w*|exampl\w*|templat\w*|test\w*|propos\w+|suggest\w*|ideas?|estimat\w*|forecast\w*|
        pro ?forma|rfq|inquir\w+|enquir\w+|interested|wonder\w*|ask\w*|questions?|approv\w*|authori[sz]\w*|
        sign(?:ed|ature|s|ing)?|review\w*|decid\w*|decision|placeholder|example|下書き|案(?!内)|予定(?!日)|
        検討|見本|サンプル|例|仮|未定|未確定|承認|決裁|決ま|迷|考え|相談|計画|つもり|来週|来月|次回|後日|
        のちほど|改めて|テスト
    """,
    "quoted": r"""
        quot(?:e|es|ation|ations|ing)|price check|見積
    """,
    "heard": r"""
        wrote|writes|sa(?:id|ys)|told|according to|
        (?:my|our|the) (?:partner|colleague|boss|manager|owner|wife|husband|accountant|bank|friend|son|daughter)|
        customer (?:who|asked|wants)|he|she|someone|somebody|friend|と言|と書|そうです|らしい|とのこと
    """,
    "bargained": r"""
        too (?:high|expensive|dear|much)|lower|cheaper|discount\w*|better (?:price|deal)|match\w*|bargain\w*|negotia\w+|
        値引|割引|安く|高すぎ|高い|負けて|交渉
    """,
    "totalled": r"""
        total\w*|altogether|in all|sum|subtotal|合計|合わせて|総計|小計|計
    """,
    "divided": r"""
        (?<![0-9-])[0-9]{1,6}-[0-9]{1,6}(?![0-9-])|[0-9]{1,6} (?:to|or) [0-9]|[0-9][本個袋缶枚食]?[~〜][0-9]|
        split\w*|half|halves|deliveries|shipments|parts?|partial\w*|instal\w+|batch\w*|
        the (?:rest|remainder|others?)|every|each (?:week|day|month|monday|tuesday|wednesday|thursday|friday)|
        weekly|monthly|daily|recurring|standing|subscription|respectively|半分|残り|毎週|毎月|毎日|定期|うち|
        分け
    """,
    "reported": r"""
        ordered|bought|purchased|sold|sells?|selling|sales|received|arrived|came|left|remaining|stock|
        inventory|on hand|yesterday|last (?:week|month|time|order|year)|previous\w*|earlier|already|ago|
        used to|was|were|had|did|been|先週|先月|昨日|前回|受け取り|届きました|届いた|届き|売れ|在庫|残
    """,
}
"""By class, its words; those of totals and reports count beside numbers, or above a list."""
_JAPANESE = re.compile(r"[\u3040-\u9fff]")


def _pattern(words: str) -> re.Pattern[str]:
    """A pattern of whole words; Japanese ones have no spaces between them."""
    parts = re.split(r"\|(?![^(]*\))", re.sub(r"\n *", "", words))
    latin = "|".join(part for part in parts if not _JAPANESE.search(part))
    return re.compile("|".join([rf"(?<![\w'])(?:{latin})(?![\w'])", *filter(_JAPANESE.search, parts)]))


_PATTERNS: dict[Doubt, re.Pattern[str]] = {doubt: _pattern(words) for doubt, words in _WORDS.items()}
_SENTENCE = re.compile(r"(?<=[.!?。！？])(?:\s+|(?<=[。！？]))|\n")
_ASK_POLITELY = (
    r"(?:could|can|would|will) (?:you|someone)(?: please| kindly| also)*"
    r" (?:send|ship|deliver|supply|provide|arrange|dispatch|process|place|charge|bill|put|book|get|bring|prepare)\b"
    r"|(?:could|can|may|might) (?:i|we)(?: please| also| kindly)* (?:get|have|order|buy|place|request|purchase)\b"
)
_REQUEST = re.compile(rf"(?:.{{0,40}}[,!:] )?(?:please |kindly )?(?:{_ASK_POLITELY})")
"""A request in the form of a question."""
_POLITE = re.compile(
    rf"{_ASK_POLITELY}|\b(?:i|we)(?:'d| would) (?:like|love|appreciate|be (?:grateful|glad|happy))\b"
    r"|\bwould (?:like|appreciate)\b|as soon as (?:possible|you can)|if (?:at all )?possible"
    r"|(?<!only )if you can(?=\W*$)"
    r"|\bquot(?:e|ing) (?:our|my|this|the) (?:reference|order number|po number|purchase order)"
    r"|(?:いただけ|頂け|もらえ|お願いでき)(?:れば|ましたら|ますと|たら)(?=幸い|助か|嬉し|うれし|ありがた|と存じ|と思)"
    r"|(?:いただけ|頂け|もらえ|お願いでき)(?:ますか|ますでしょうか|ないでしょうか|ませんか)|申し訳(?:あり|ござい)ません"
)
"""Polite words that say nothing else."""
_COURTESY = re.compile(
    r"(?:please |kindly |also |and |could you |can you |thanks?,? )*"
    r"(?:(?:re)?confirm|let (?:me|us) know|advise|notify|inform|acknowledge|reply|keep (?:me|us) (?:posted|informed)"
    r"|send (?:me|us) (?:an? |the |your )?(?:order )?(?:confirmation|invoice|receipt)"
    r"|(?:if|should) (?:you (?:have|need|require)|there (?:are|is|be)) any|if any (?:item|product|of th)|feel free)\b"
    r"[^0-9]*|[^0-9]*(?:ご連絡|お知らせ|ご返信|ご返答|ご確認|ご教示)"
    r"を?(?:ください|下さい|いただけ|頂け|お願い|の程|のほど)[^0-9]*"
)
"""A sentence that only wants to be told about the order."""
_LONGEST = 300
"""Characters of such a sentence, at most."""
_NO_COURTESY = re.compile(
    r"\b(?:before|first|until|till|unless|only|then|not|instead|whether|approv\w*|price is|quote)\b|n't"
    r"|前に|まで|後に|承認|検討|待"
)
_QUOTED = re.compile(r"\"[^\"\n{}:]{1,200} [^\"\n{}:]{1,200}\"|「[^」]{4,200}」|『[^』]{4,200}』|^>", re.MULTILINE)
"""Words in quotation marks, and lines of an earlier letter."""
_OTHER_PAYER = re.compile(
    r"\b(?:bill|charge|invoice)(?: (?:it|this|that|them|everything|all))?(?: to| on)? "
    r"(?:(?:my|our|his|her|their|the) (?:\w+ )?(?:brother|sister|friend|partner|neighbou?r|shop|kiosk|landlord)\b"
    r"|(?<=to )(?!the |my |our |us\b|me\b|account|card)\w+\b)"
    r"|(?<!\bi )(?<!\bwe )\b(?:pays?|will pay|is paying) for (?:it|this|that|them|everything)\b"
)
"""Somebody else who is to pay."""
_DAY = re.compile(
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)(?:s?day|nesday|rsday|urday)?s?\b|[月火水木金土日]曜|today|tomorrow|明日|本日|今日"
)
_ASKS = re.compile(r"\?|(?:ですか|ますか|ましたか|ませんか|でしょうか)$")
_ASKS_POLITELY_JA = re.compile(
    r"(?:いただけ|頂け|もらえ|お願いでき|お願い出来)ま(?:すか|すでしょうか|せんか|せんでしょうか)\W*$"
)


def _is_courtesy(sentence: str) -> bool:
    short = len(sentence) <= _LONGEST
    return short and _COURTESY.fullmatch(sentence) is not None and not _NO_COURTESY.search(sentence)


def doubts(text: str, without: frozenset[Doubt] = frozenset()) -> bool:
    """Whether words of a text, in lower case, make it doubtful; those of some classes may be left out."""
    if _QUOTED.search(text) or _OTHER_PAYER.search(text):
        return True
    days: set[str] = set()
    for sentence in map(str.strip, _SENTENCE.split(text)):
        if not sentence or _is_courtesy(sentence):
            continue
        if _ASKS.search(sentence) and not (_REQUEST.match(sentence) or _ASKS_POLITELY_JA.search(sentence)):
            return True
        plain = _POLITE.sub(" ", sentence)
        days.update(_DAY.findall(plain))
        counts = re.search("[0-9]|[:：]$", plain) is not None
        for doubt, pattern in _PATTERNS.items():
            if doubt not in without and (counts or doubt not in ("totalled", "reported")) and pattern.search(plain):
                return True
    return len(days) > 1
