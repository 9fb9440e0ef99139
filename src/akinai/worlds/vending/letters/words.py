"""Vocabulary for parsing letters: words for units, requests and goods, and patterns of numbers that are no quantity."""

NAME = "\ue000"
"""Replaces a product's name while a text is split into tokens."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())


UNITS = word_set(
    "unit units piece pieces pc pcs pce bottle bottles btl btls can cans packet packets pkt pkts pack packs bag bags "
    "bar bars cup cups item items serving servings portion portions ea count ct"
)
CASES = word_set("case cases box boxes carton cartons ctn ctns crate crates tray trays cs")
"""Containers that hold as many units as the supplier's case of that product."""
UNCLEAR_UNITS = word_set("pallet pallets dozen dozens half multipack bundle")
"""Containers of no fixed size."""
LABELS = word_set("quantity quantities qty amount amounts count units unit number needed required requested wanted")
ADJECTIVES = word_set(
    "more additional extra fresh cold chilled cool assorted standard regular individual single whole new full small "
    "large big good best great cheap of the your our my any some those these such product products item items sku id "
    "name following please pls thanks thank kindly about approximately approx around roughly only just exactly is are "
    "be each"
)
"""Words that may come between a number and a name without changing either."""
TRANSPARENT = UNITS | CASES | LABELS | ADJECTIVES
PARTICLES = word_set(
    "for to in on by at as from with if into via asap today tomorrow next this that will would should can could may "
    "or per a an i we you it they delivered shipped sent paid when once until within before after altogether apiece so"
)
"""Words that may follow a quantity: "water x 50 for the new machine"."""
JOINING = word_set("and plus also then")
ASKING = word_set(
    "please need needs want like order send ship deliver purchase buy require request quote supply provide charge get "
    "take confirm price pricing cost"
)
TELLING = word_set(
    "sold sells selling sales received ordered arrived remaining left yesterday previously used stocked stock inventory"
)
SUPPOSING = word_set("instead otherwise unavailable alternatively out")
"""Words that, in a sentence with "if", ask for a substitute."""
TOTALS = word_set("total totals totalling totaling altogether subtotal sum")
NO_GOODS = (
    TOTALS
    | TELLING
    | LABELS
    | UNITS
    | CASES
    | UNCLEAR_UNITS
    | PARTICLES
    | word_set(
        "order orders delivery deliver address account zip phone tel fax date day days week weeks month months hour "
        "hours minute minutes year years budget minimum maximum price prices cost discount slot slots row rows column "
        "columns machine machines customer customers people person persons employee employees product products line "
        "lines dollar dollars cent cents percent location locations time times business lead step quote quotes invoice "
        "reference email street suite floor room building supplier suppliers type types kind kinds different variety "
        "varieties sizes everything something anything stock version page letter letters small large am pm usd store "
        "stores visits trips"
    )
)
"""Words that name nothing that could be sold: "12 slots", "Delivery: 3"."""
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = _COUNTED.split()[1:10]
NUMBER_WORDS = {
    **{word: number for number, word in enumerate(_COUNTED.split())},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), 2)},
    **{f"{ten}-{unit}": 10 * n + m for n, ten in enumerate(_TENS.split(), 2) for m, unit in enumerate(_ONES, 1)},
    **{"a": 1, "an": 1},
}
NUMBER_IN_TWO_WORDS = rf"(?:{_TENS.replace(' ', '|')})[- ](?:{'|'.join(_ONES)})\b"
NUMBER_IN_MORE_WORDS = (
    r"(?:[a-z]{1,9}[ -])?(?:hundred|thousand)(?:[ ]and)?(?:[ ][a-z]{3,9}(?:-[a-z]{3,5})?)?"
    r"(?=[ ](?:units?|cases?|bottles?)\b)"
)
"""Numbers that are recognised but not parsed."""

_N = "[0-9]{1,9}"
_DECIMAL = rf"{_N}(?:[.,]{_N}){{0,3}}"
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:,?[ ](?:19|20)[0-9]{2}\b)?"
_UNIT = "(?:units?|pieces?|pcs|bottles?|cans?|bags?|packets?|count|ct)"
_STREET = (
    "(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Way|Court|Place|Square|Highway|Hwy|Parkway|Pkwy)"
)
_MEASURE = r"(?:ml|cl|l|lit(?:er|re)s?|(?:fl\.?[ ]?)?oz|ounces?|g|grams?|kg|lbs?|pounds?|cm|mm)\b"
_BEFORE_A_NUMBER = (
    r"(?:no|nr|number|num|account|acct|invoice|po|p\.o\.|ref|reference|phone|tel|telephone|mobile|cell|fax|zip|zipcode|"
    r"postcode|id|q)"
)

# Every repetition is bounded, so that a search costs linear time on any text.
NO_QUANTITY = "|".join(
    (
        # streets, also those that bear the name of a product
        rf"(?-i:[0-9]{{1,6}}[A-Z]?(?:[ ](?:[A-Z][A-Za-z.'-]{{0,30}}|{NAME})){{1,3}}[ ]{_STREET})\b",
        rf"(?-i:{NAME}[ ]{_STREET})\b|{NAME}[ ](?:street|avenue|ave|road|rd|boulevard|blvd)\b",
        # dates
        rf"{_MONTH}\.?[ ][0-9]{{1,2}}(?:st|nd|rd|th)?\b{_YEAR}",
        rf"[0-9]{{1,2}}(?:st|nd|rd|th)?[ ](?:of[ ])?{_MONTH}\b{_YEAR}",
        # telephone numbers and zip codes
        r"\(?[0-9]{3}\)?[ .-]{1,2}[0-9]{3}[ .-][0-9]{4}(?![0-9])",
        r"\+[0-9]{1,3}(?:[ .-]\(?[0-9]{2,5}\)?){2,5}|\+[0-9]{8,15}(?![0-9])",
        r"[0-9]{3}-[0-9]{4}(?![0-9-])|[0-9]{5}-[0-9]{4}(?![0-9-])|(?-i:\b[A-Z]{2}[ ][0-9]{5}\b)",
        # dates in figures, times, fractions
        rf"{_N}(?:[-/:.]{_N}){{2,6}}|{_N}[/:]{_N}",
        # money and per cent
        rf"(?:[$€£¥]|usd\b|us\$)[ ]?-?{_DECIMAL}",
        rf"{_DECIMAL}[ ]?(?:[%¢€]|(?:usd|dollars?|cents?|bucks|percent|per[ ]cent|pct)\b)",
        # how many sell in a day
        rf"{_N}[ ]?{_UNIT}?[ ](?:a|per|each|every)[ ](?:day|week|month|hour)\b|{_N}[ ]{_UNIT}[ ](?:daily|weekly)\b",
        # how large a case or a bottle is
        rf"{_N}[ -]?{_UNIT}?[ ]?(?:per|/|to[ ]an?)[ ]?(?:case|box|carton|pack|tray)\b",
        rf"{_N}(?:\.[0-9]{{1,3}})?[ -]?{_MEASURE}",
        # ordinals and hours
        r"[0-9]{1,4}(?:st|nd|rd|th)\b|[0-9]{1,2}[ ]?(?:am|pm|a\.m\.|p\.m\.|o'clock)(?![^\W_])",
        # numbers that are names: order #42, account 20418, quote no. 3, AV-20418
        r"(?:\#|№)[ ]?[0-9]+",
        rf"\b{_BEFORE_A_NUMBER}[ ]?(?:number|no|code|\#|is)?[ ]?[.:#-]{{0,2}}[ ]?[0-9]+",
        r"\bquot(?:e|ation)[ ](?:number|no\.?|\#)[ ]?[0-9]+",
        r"\b(?:suite|ste|apt|room|floor|box|slot|row|column|page|version|letter)[ ]\#?[0-9]+",
        r"[^\W\d_]{1,30}-[0-9][^\W_]*",
    )
)
"""Numbers that are no quantities in any context."""
