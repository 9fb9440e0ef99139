"""Vocabulary for parsing letters: words for units, requests and goods, and numbers in words."""

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
ASKING = word_set(
    "please need needs want like order send ship deliver purchase buy require request quote supply provide charge get "
    "take confirm price pricing cost"
)
TELLING = word_set(
    "sold sells selling sales received ordered arrived remaining left yesterday previously used stocked stock inventory"
)
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
