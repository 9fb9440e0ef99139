"""The words of generated populations, by kind of business and language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["restaurants", "contractors"]
Language = Literal["en", "ja"]

Part = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tongue:
    """The names of people and the formats of lists in one language."""

    people: str
    first: Part
    last: Part
    single: str
    """One unit of an item in a request."""
    between: str
    also: str
    edition: str
    """The name of an item that has the words of another."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one kind of business in one language."""

    item: str
    parts: tuple[Part, Part, Part]
    """An item is one of each; no name of an item is part of another's."""
    amenities: Part
    requests: Part
    house: str
    houses: tuple[Part, Part]
    descriptions: Part
    rates: tuple[int, int, int]
    """Average prices of items in cents: minimum, maximum and step; a cent is taken off."""


def _w(text: str) -> Part:
    return tuple(word.strip() for word in text.split(","))


TONGUES: Mapping[Language, Tongue] = {
    "en": Tongue(
        people="{} {}",
        first=_w("Ada,Bruno,Clara,Dario,Edith,Farid,Greta,Hugo,Ines,Jonas,Kaya,Leon,Mira,Nils,Olga,Pavel,Rosa,Tariq"),
        last=_w(
            "Ashdown,Berger,Castell,Drummond,Eklund,Fenwick,Garland,Hartley,Ivarsen,Juric,Kestrel,Lindqvist,Moreau"
        ),
        single="1 {}",
        between=", ",
        also=" and ",
        edition="{} No. {}",
    ),
    "ja": Tongue(
        people="{1} {0}",
        first=_w("葵,陽斗,芽衣,蓮,空,結衣,海斗,花,紬,律,凪,樹,詩,湊,杏,朔"),
        last=_w("青木,石田,上野,岡部,川島,木村,小池,佐野,柴田,高瀬,土屋,中条,野口,浜田,藤井,森本"),
        single="「{}」を1つ",
        between="、",
        also="と",
        edition="{}その{}",
    ),
}

WORDS: Mapping[tuple[Kind, Language], Words] = {
    ("restaurants", "en"): Words(
        item="{} {} {}",
        parts=(
            _w(
                "Ginger,Sesame,Miso,Citrus,Smoked,Spicy,Maple,Garlic,Rosemary,Saffron,Pepper,Honey,Basil,Lemongrass,"
                "Mustard,Cumin,Walnut,Plum,Fennel,Tamarind"
            ),
            _w(
                "Tofu,Salmon,Lentil,Mushroom,Chicken,Pumpkin,Prawn,Barley,Spinach,Beef,Chickpea,Aubergine,Trout,Potato,"
                "Duck,Cauliflower,Egg,Squash,Pork,Leek"
            ),
            _w(
                "Stew,Skewers,Bowl,Soup,Salad,Pie,Curry,Dumplings,Noodles,Pancake,Gratin,Tart,Wrap,Toast,Platter,"
                "Risotto,Fritters,Broth,Roast,Sandwich"
            ),
        ),
        amenities=_w(
            "Outdoor Seating,Free Wifi,Live Music,Onsite Parking,Takes Reservations,Late Hours,Step-Free Entrance,"
            "Dogs Welcome,Quiet Room,Takeaway Window"
        ),
        requests=(
            "I would like to order {items} at a place with {needs}.",
            "Please order {items} for me. The place must have this: {needs}.",
            "Tonight it shall be {items}, from one kitchen, and only one with {needs} will do.",
        ),
        house="{} {}",
        houses=(
            _w(
                "Lantern,Harbour,Maple,Crane,Willow,Anchor,Plum,Kettle,Copper,Orchard,Heron,Saddle,Thistle,Windmill,"
                "Granite,Juniper"
            ),
            _w("Kitchen,Table,Canteen,House,Corner,Hearth,Counter,Spoon"),
        ),
        descriptions=(
            "{name} cooks {first} and {second} to order.",
            "A small room and a short menu: {name} is known for {first}.",
            "{name}: {first}, {second} and more, made from what the market had this morning.",
        ),
        rates=(400, 1_650, 50),
    ),
    ("restaurants", "ja"): Words(
        item="{}{}{}",
        parts=(
            _w(
                "生姜風味の,胡麻風味の,味噌仕立ての,柚子香る,炭火焼きの,ぴり辛の,黒酢の,にんにく香る,山椒の,塩麹の,梅肉の,蜂蜜の,"
                "青じその,わさび風味の,からし風味の,カレー風味の,くるみの,酒粕の,昆布だしの,檸檬の"
            ),
            _w(
                "豆腐,鮭,れんこん,椎茸,鶏,かぼちゃ,海老,大麦,ほうれん草,牛,ひよこ豆,茄子,鱒,じゃがいも,鴨,蕪,玉子,ごぼう,豚,長ねぎ"
            ),
            _w(
                "煮込み,串,丼,汁,サラダ,パイ,カレー,餃子,うどん,お好み焼き,グラタン,天ぷら,巻き,トースト,盛り合わせ,雑炊,揚げ,"
                "蒸し,焼き,サンド"
            ),
        ),
        amenities=_w("テラス席,無料Wi-Fi,生演奏,駐車場,予約可,深夜営業,段差なし,犬同伴可,静かな個室,持ち帰り"),
        requests=(
            "{items}注文したいです。{needs}のあるお店でお願いします。",
            "{items}お願いできるお店を探しています。条件は{needs}です。",
            "今夜は{items}、一軒のお店で頼みたいです。{needs}が必要です。",
        ),
        house="{}{}",
        houses=(
            _w("灯,港,楓,鶴,柳,錨,梅,銅,果樹園,鷺,鞍,薊,風車,石,杜松,竹"),
            _w("食堂,亭,屋,庵,茶房,台所,食卓,炉端"),
        ),
        descriptions=(
            "{name}では{first}と{second}を注文ごとに作ります。",
            "小さな店と短い献立。{name}の自慢は{first}です。",
            "{name}。{first}、{second}など、今朝の市場の品で作ります。",
        ),
        rates=(400, 1_650, 50),
    ),
    ("contractors", "en"): Words(
        item="{} {} {}",
        parts=(
            _w(
                "Emergency,Same-Day,Weekend,Budget,Premium,Quiet,Dust-Free,Seasonal,Full,Partial,Certified,Low-Odour,"
                "Overnight,Winter,Heritage,Modern,Accessible,Soundproof,Waterproof,Energy-Saving"
            ),
            _w(
                "Kitchen,Attic,Bathroom,Basement,Garage,Porch,Hallway,Balcony,Cellar,Bedroom,Garden,Roof,Stairwell,"
                "Pantry,Study,Veranda,Laundry,Loft,Workshop,Terrace"
            ),
            _w(
                "Rewiring,Tiling,Painting,Plumbing,Insulation,Flooring,Inspection,Drainage,Carpentry,Plastering,Glazing,"
                "Lighting,Cladding,Ventilation,Demolition,Shelving,Paving,Heating,Cleaning,Sealing"
            ),
        ),
        amenities=_w(
            "Free Estimate,Licensed,Insured,Weekend Visits,Online Booking,Waste Removal,Two-Year Guarantee,"
            "Own Materials,Sign Language,Emergency Line"
        ),
        requests=(
            "I need {items} done by one firm. It must offer this: {needs}.",
            "Please hire somebody for {items}; I insist on {needs}.",
            "For my house I want {items}, all from one contractor with {needs}.",
        ),
        house="{} {}",
        houses=(
            _w(
                "Ridgeway,Plumbline,Northgate,Keystone,Millstone,Oakframe,Steadfast,Brightwater,Ironwood,Fairlead,"
                "Highmoor,Stonebridge,Trueline,Westbank,Larkspur,Cornerpost"
            ),
            _w("Builders,Works,Repairs,Trades,Contracting,Renovation,Crew,Joinery"),
        ),
        descriptions=(
            "{name} does {first} and {second}, and leaves the place swept.",
            "{name} is a family firm; ask for {first}.",
            "{first}, {second} and more: {name} comes when it says it comes.",
        ),
        rates=(8_000, 90_000, 1_000),
    ),
    ("contractors", "ja"): Words(
        item="{}{}{}",
        parts=(
            _w(
                "緊急の,即日の,週末の,格安の,上質な,静音の,無塵の,季節の,全面的な,部分的な,認定済みの,低臭の,夜間の,冬季の,伝統様式の,"
                "現代的な,バリアフリーの,防音の,防水の,省エネの"
            ),
            _w(
                "台所,屋根裏,浴室,地下室,車庫,玄関,廊下,バルコニー,物置,寝室,庭,屋根,階段,食品庫,書斎,縁側,洗濯場,納戸,作業場,テラス"
            ),
            _w(
                "配線工事,タイル工事,塗装,配管工事,断熱工事,床張り,点検,排水工事,大工工事,左官工事,ガラス工事,照明工事,外装工事,"
                "換気工事,解体,棚の設置,舗装,暖房工事,清掃,目地の補修"
            ),
        ),
        amenities=_w(
            "無料見積もり,有資格,保険加入,土日対応,ネット予約,廃材処分,二年保証,材料持ち込み可,手話対応,緊急窓口"
        ),
        requests=(
            "{items}、一つの業者に頼みたいです。{needs}が条件です。",
            "{items}お願いできる業者を探しています。{needs}が必要です。",
            "自宅のために{items}頼みます。{needs}のある業者に限ります。",
        ),
        house="{}{}",
        houses=(
            _w("尾根,鉛直,北門,要石,石臼,樫,堅実,清水,鉄木,案内,高原,石橋,直線,西岸,飛燕,隅柱"),
            _w("建設,工務店,修繕,職人組,工業,改装,組,木工"),
        ),
        descriptions=(
            "{name}は{first}と{second}を承り、掃除までして帰ります。",
            "{name}は家族の会社です。{first}をご用命ください。",
            "{first}、{second}など。{name}は約束の時刻に伺います。",
        ),
        rates=(8_000, 90_000, 1_000),
    ),
}
