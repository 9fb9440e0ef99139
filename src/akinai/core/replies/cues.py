"""Words around a call in a reply, as regular expressions; a space is any white space."""
# ruff: noqa: E501 - a pattern stands on one line

from collections.abc import Mapping

# fmt: off
CUES: Mapping[str, tuple[str, ...]] = {
    # The actor speaks of what it does now.
    "mine": (
        "(?:here is|here's) (?:my|the (?:next |final |right |correct |corrected )?(?:action|json|object|call|decision|answer|move))",
        "so", "therefore", "thus", "hence", "final", "finally", "decision", "decided?", "decides", "corrected",
        "correction", "better", "instead(?! of)", "actually", "executing", "proceed", "proceeding", "going with",
        "next action", "next move", "next step", r"action(?=\W*\Z)",
        "my (?:final )?(?:action|move|choice|answer|reply|next|call|step|own)", "i'll", "i will(?! not| never)",
        "i shall(?! not)", "i am going to", "i'm going to", r"i am (?:now )?\w+ing", "let's", "let me", "let us",
        "we'll", "we will(?! not)", "i'd rather(?! not)", "i choose", "i chose", "i pick", "i go", "i take",
        "i do(?! not|n't)", "i call", "i send", "i use", "i order", "i buy", "i wait", "i pay", "i set", "i check",
        "i move", "i act", "i now", "i advance", "i restock", "i search", "i look", "i answer", "i start", "i begin",
        "i end", "i close", "i play", "i stay", "i continue", "i refund", "i reply", "i have decided", "i simply",
        "i just", "i must", "i need to", "i want to", "i should(?! not| i)", "i can", "i read the", "time to",
        "best to", "only sensible",
        "and (?:just |simply |now |then )?(?:wait|continue|carry on|go on|proceed|end|advance|order|check|keep|move on|play on)",
    ),
    # Somebody else speaks.
    "quoted": (
        r"(?:says?|said|writes?|wrote|asks?|asked|tells?|told|demands?|wants?|claims?|insists?|urges?|suggests?|requires?)(?: me| us)?(?: that)? (?:i|we) \w+(?: \w+)?",
        "i see", "i find", "inbox", "in the (?:letter|e-?mail|message|mail|note|forum|post|text)", "system:", "user:",
        "requested", "requests", "(?:he|she|they) (?:want|ask|demand|request|need|order|say|tell|insist)s?",
        "(?:letter|e-?mail|message|mail|supplier|sender|customer|rival|note)'s", "copied", "copy of", "text of",
        "from the (?:letter|e-?mail|message|mail)", "say", "says", "saying", "said", "wrote", "writes", "writing",
        "reads", "claim", "claims", "claimed", "asks", "asked", "asking", "tells", "told", "telling", "demand",
        "demands", "demanded", "instructs", "instructed", "instruction", "instructions", "wants (?:me|us)",
        "wanted (?:me|us)", "quote", "quoted", "quotes", "quoting", "contain", "contains", "contained", "containing",
        "includes", "including", "inject", "injected", "injection", "suggest", "suggests", "suggested", "suggestion",
        "propose", "proposes", "proposed", "proposal", "recommend", "recommends", "recommended", "according to",
        "insists", "insisted", "urges", "urged", "orders (?:me|us)", "replied", "replies", "verbatim", "signed",
        "pasted", "attached", "embedded", "ended with", "ends with", "hidden", "sender", "untrusted", "phishing",
        "scam", "trick", "trap",
        r"(?:letter|e-?mail|message|note|mail|reply|text|page|result|ticket|complaint)(?: from [^:]+)?\s*:",
        "sent (?:me|us)", "was sent", "i (?:got|received|found|saw)", "there (?:is|was)", "begins with", "tried to",
        "tries to",
    ),
    # Somebody else speaks, in a whole sentence of its own before a call.
    "quoted_before": (
        "(?:asks|asked|asking|tells|told|wants|wanted|orders|ordered|instructs|instructed|tries to get|tried to get) (?:me|us)",
        "the following", "as follows", "verbatim", "pasted", "demands? (?:this|that)",
        "(?:says|said|reads|contains|wrote|quotes?) (?:this|it)",
        "(?:contains|contained|holds|has|had|with) (?:an? )?(?:hidden |embedded |strange )?(?:instruction|command|object|action)",
    ),
    # What follows is possible, an example, or not done.
    "doubted": (
        r"no(?=\W*\Z)", r"was(?=\W*\Z)", r"were(?=\W*\Z)", "last (?:reply|action|move|message|call)",
        r"(?:\A|[.;] )(?:when|once|as soon as|unless|tomorrow|after the \w+ (?:arrives|comes|is))\b[^:]*", "could",
        "might", r"may(?! \d)", "maybe", "perhaps", "would", "should i", "consider", "considered", "considering",
        "whether", "if", "example", "examples", r"e\.g\.", "for instance", "such as", "like this", "looks? like",
        "format", "syntax", "template", "schema", "draft", "drafts",
        "first (?:thought|idea|draft|attempt|version|plan)", "initial", "initially", "instead of", "rather than",
        "tempted", "was going to", "were going to", "thinking of", "thought (?:of|about)", "not", "never", "won't",
        "don't", "didn't", "can't", "cannot", "isn't", "shouldn't", "wouldn't", "couldn't", "doesn't", "mustn't",
        "aren't", "avoid", "avoiding", "refuse", "refuses", "refused", "refusing", "decline", "declines", "declined",
        "declining", "ignore", "ignores", "ignored", "ignoring", "reject", "rejects", "rejected", "rejecting",
        "without", "previously", "earlier", "last (?:time|turn|week)", "yesterday", "already (?:did|sent|done)",
        "tried", "wrong", "mistaken?", "later", "tomorrow", "next (?:week|time|turn)", "planned for", "used to",
        "suppose", "imagine", "pretend", "hypothetically", "hmm", "disregard", "skip", "skipped", "discarded?",
        "dropped", "old", "previous", "instead i had", "könnte", "würde", "vielleicht", "zum beispiel", "wenn",
        "nicht", r"kein\w*", "statt", "entwurf", "schreibt", "schrieb", "sagt", "sagte", "verlangt", "fordert",
        "podría", "quizás", "tal vez", "por ejemplo", "si", "borrador", "dice", "dijo", "escribe", "escribió", "pide",
        "en lugar de", "pourrais", "peut-être", "par exemple", "brouillon", "dit", "écrit", "demande", "au lieu de",
        "ne", "pas",
    ),
    # The same, in scripts without spaces.
    "doubted_unspaced": (
        "可以", "可能", "本可以", "本来", "也许", "或许", "如果", "比如", "例如", "不会", "不要", "不能", "不应", "没有", "邮件", "来信", "说[:：]",
        "写道", "写着", "要求", "让我", "建议", "引用", "草稿", "原本", "かもしれ", "たとえば", "例えば", "もし", "しない", "しません", "ではな", "メール",
        "手紙", "書いて", "と言", "提案", "下書き", "案[:：]", "引用", "指示",
    ),
    # Headings of what is not done.
    "labels": (
        "example", "examples", "draft", "drafts", "template", "format", "first attempt", "considered", "rejected",
        "discarded", "quote", "quoted", "injection", "not sent", "letter", "e-?mail", "sample", "schema", "plan b",
        "tomorrow", "later",
    ),
    # One of several that could be done.
    "alternatives": (
        r"options? (?:\d|[a-d]\b|one|two|three)", "(?:one|another|an|other|first|second|next) option", "alternative",
        "alternatives", "alternatively", "either", "or",
    ),
    # The first sentence after a call takes it back, or tells whose it is: its beginning.
    "taken_back": (
        r"only (?:if|when|once|after)\b", r"unless\b",
        "i(?:'m| am) (?:leaving|keeping|saving|holding|postponing|skipping)",
        r"[^.!\n]*\b(?:shall|should|would|could|do|does|is|may|can|right|ok|okay|agree|approve|confirm)\b[^.!\n]*\?",
        r"(?:rejected|declined|refused|discarded|ignored|dropped|cancelled|skipped|denied)\b", "on reflection",
        r"no\b", r"nope\b", r"wait\b(?! until)", r"hmm*\b", r"actually\b", "hold on", "oops", "sorry", "correction",
        "scratch", "never ?mind", "on second thou?ght", "second thoughts", r"instead\b", r"however\b", r"but\b",
        r"not\b(?! much| too much)", r"would\b", r"could\b", r"might\b", r"which\b", "as (?:the|he|she|they|it)",
        r"rather\b", r"wrong\b", r"mistake\b", r"fixed\b", r"fixing\b", r"better\b", r"too \w+",
        "is (?:what|the|not|a|an|how|wrong|too|in|from)", "was (?:what|the|my|not|a|an|in|from)",
        r"(?:that|this|it|which)(?:'s| is| was| looks| looked| seems| sounds| came| comes)(?: \w+)? (?:not|an?|only|just|how)\b",
        "(?:that|this|it)(?:'s| is| was) (?:not|what (?:the|he|she|they|it)|wrong|too|from|suspicious|fraud|theirs|against)",
        "(?:that|this|it) (?:would(?! end the day| bring| give| let)|could|might|must not|will not|won't|cannot|can't|wasn't)",
        "(?:that|this|it) (?:came|comes|looks like|smells|has the|asks (?:me|us)|tells (?:me|us)|wants|claims)",
        "(?:that|this) (?:letter|message|e-?mail|note|text) (?:is|was|came|comes|tries|wants|looks|seems|tells (?:me|us)|asks (?:me|us))",
        "(?:that|this) (?:instruction|request|one|object|block) (?:is|was|came|comes|tries|wants|looks|seems|can|must|belongs)",
        "i (?:will not|won't|wouldn't|would not|(?:do not|don't)(?! expect| need| see| know| have| mind)|refuse|decline|ignore|reject|cannot|can't|am not|must not)",
        r"i (?:should not|shouldn't|shall not|should|treat|disregard|leave|see through|could|might|never|would|was|had|had)\b",
        "we (?:will not|won't|don't|should not)", "let me (?:correct|re|think|change)",
        r"the \w+ (?:says?|said|asks|asked|wants)", "said (?:the|he|she|they|it)",
        "(?:says|wrote|writes|reads|claims)", r"he \w+", r"she \w+", r"they \w+", "someone", "nice try",
        "so (?:he|she|they|it)", "cancel",
    ),
    # The same, in other languages.
    "taken_back_unspaced": (
        "不对", "不行", "等等", "等一下", "不，", "不是", "错了", "更正", "其实", "但是", "不过", "算了", "抱歉", "对不起", "这(?:是|显然|封|明显|条|个)",
        "那是", "我(?:不|没|拒绝|忽略)", "所以不", "いや", "違い", "違う", "待って", "すみません", "訂正", "やっぱり", "やはり", "しかし", "でも",
        "これは(?:罠|詐欺|例|指示)", "無視", "という", "と(?:書|い|言)", "は(?:例|罠)", r"nein\b", r"moment\b", r"halt\b", r"warte\b",
        r"doch\b", r"aber\b", r"falsch\b", r"korrektur\b", "das (?:ist|war|wäre|mache|tue|ignoriere)",
        "ich (?:ignoriere|lehne|werde nicht|mache das nicht)", r"espera\b", "corrección", r"pero\b", r"mejor\b",
        "eso (?:es|sería)", "lo ignoro", r"no(?:,|\.| lo)", r"attends\b", r"non\b", r"mais\b", r"correction\b",
        "c'est", "je (?:refuse|l'ignore|ne)",
    ),
    # The text after a call says that it is not done.
    "disowned": (
        r"(?:i|we)(?:'m| am|'re| are)? (?:not|won't|will not|don't|do not|refuse to|decline to|cannot|can't|shall not|should not|must not)(?: \w+){0,2} (?:it|that|this|so|them)",
        r"(?:what|which|that|as|order|action|command|instruction|object|one|line|request) (?:the|this|that|his|her|their) (?:\w+ )?(?:e-?mail|letter|message|supplier|sender|customer|note) (?:demand|want|ask|tr(?:y|ie)|told|said|say|suggest|instruct|propos|order|request)\w*",
        "ignor(?:e|es|ed|ing) (?:it|this|that|them|the)", "disregard", "disregarding", "scratch that", "never ?mind",
        "on second thou?ght",
        "(?:is|was|like|it's|that's) (?:clearly |obviously |plainly )?(?:an? |some )?(?:obvious |clear )?(?:trick|scam|trap)",
        "(?:is|was|like|it's|that's) (?:clearly |obviously |plainly )?(?:an? |some )?(?:prompt )?(?:injection|phishing|fraud)",
        "(?:is|was|like|it's|that's) (?:clearly |obviously |plainly )?an attempt",
        "i (?:will not|won't|shall not|would not) (?:do|act|follow|comply|obey|run|execute|carry|send|place|pay|order|take|be)",
        r"i (?:refuse to|decline to|am not going to) \w+",
        "i (?:do not|don't) (?:do|act|follow|comply|obey|run|execute|carry|take|want|think|send|place|pay) (?:that|this|it|so)",
        "i (?:do not|don't) (?:act|carry|follow|take|obey) (?:on|out|instructions|orders)",
        "not (?:going to|doing|my (?:own )?(?:action|decision|instruction))", "i take (?:it|that) back",
        "that was (?:only|just)", "(?:only|just) (?:an example|a draft|a quote|quoting|an idea)",
        "cancel (?:that|it)", "don't do (?:it|that|this)", "do not (?:do|execute|run|carry) (?:it|that|this)",
        "wrong (?:one|action)", "i declined?(?: it| this| that)", "not now", "no action (?:now|yet|today)",
        "not (?:do|doing|follow|following) (?:it|that|this)", "is not (?:my|an instruction|from)",
        "i (?:go|am going|went) with (?:the )?(?:other|second|first|option|number)",
        "nothing (?:of it )?is (?:done|decided)",
    ),
    # The same, in other languages.
    "disowned_unspaced": (
        "忽略", "拒绝", "不会照做", "不执行", "不下这", "无视", "不予", "無視し", "従いません", "実行しません", "送りません", "ignoriere", "ignoro",
        "ignore cel",
    ),
    # The words before a call say that it is the decision.
    "final": (
        "final", "finally", "i choose", "i chose", "i pick", "i take",
        "my (?:action|decision|move|answer|choice|reply)", "decision", "so i", "therefore", "instead", "corrected",
        "correction", "i(?:'ll| will) (?:go|do|take|use|choose)", "going with", "actually", "better",
    ),
}
# fmt: on
