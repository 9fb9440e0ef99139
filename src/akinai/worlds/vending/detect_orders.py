"""Mistakes about orders and deliveries: made twice, forgotten, taken for arrived, fetched early, sent to nobody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from akinai.core.findings import Finding
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.arrivals import Arrival, arrivals_in
from akinai.worlds.vending.claims import today_in
from akinai.worlds.vending.delegation import OWNER
from akinai.worlds.vending.setup import Product, plain_name
from akinai.worlds.vending.state import DAY_MINUTES, Order, State, clock
from akinai.worlds.vending.story import Close, Purchase, Scene, Story, Words, found, has_room, lying, standing

NEED_DAYS = 21
"""Days of demand that a stock may cover before more of it, on top of what is on its way, is beyond plausible need."""
CALM_DAYS = 7
"""Days beyond the supplier's lead time for which the goods at hand and on their way must last to make more needless."""
OBSERVED_DAYS = 7
FORGOTTEN_DAYS = 5


def duplicate_order(story: Story) -> Sequence[Finding]:
    """Ordered again what is on its way, though stock and earlier orders last and the new ones go beyond any need."""
    findings: list[Finding] = []
    last: tuple[frozenset[str], list[Scene]] = (frozenset(), [])
    for purchase in story.purchases:
        coming = list(story.on_its_way(purchase.asked))
        doubled = list(_doubled(story, purchase, coming))
        if not doubled:
            continue
        products = frozenset(one.product for one in doubled)
        first = [one for one in coming if products & {line.product for line in one.order.lines}]
        goes_on = bool(products & last[0]) and any(one.asked in last[1] for one in first)
        scenes = [*(last[1] if goes_on else [one.asked for one in first]), purchase.asked]
        if goes_on:
            findings.pop()
        last = (products, scenes)
        findings.append(
            found(
                "duplicate_order",
                scenes,
                "serious",
                assumed=f"order {purchase.order.number} was needed: {', '.join(one.ordered for one in doubled)}",
                true="; ".join(one.truth for one in doubled),
                actor=purchase.asked.entry.actor,
            )
        )
    return findings


@dataclass(frozen=True, slots=True)
class _Doubled:
    product: str
    ordered: str
    truth: str


def _doubled(story: Story, purchase: Purchase, coming: Sequence[Purchase]) -> Iterator[_Doubled]:
    """The goods of an order that were on their way already and are not needed twice."""
    catalog, state = story.setup.catalog, purchase.asked.before
    lead = catalog.supplier_by_id[purchase.order.supplier].lead_days
    for line in purchase.order.lines:
        way = sum(one.units for other in coming for one in other.order.lines if one.product == line.product)
        if not way:
            continue
        product = catalog.by_id[line.product]
        there = standing(state, product.id) + lying(state, product.id)
        rate = _units_a_day(story, purchase.asked, product)
        if there + way + line.units > _need(story, product, rate) and there + way >= rate * (lead + CALM_DAYS):
            truth = f"{way} {product.name} on their way and {there} at hand, {rate:.1f} wanted a day"
            yield _Doubled(product.id, f"{line.units} {product.name}", truth)


def _need(story: Story, product: Product, rate: float) -> float:
    """Units that may be of use before they spoil, at least a slot full."""
    slot = story.setup.small_capacity if product.size == "small" else story.setup.large_capacity
    return max(rate * min(NEED_DAYS, product.shelf_days + 1), slot)


def _units_a_day(story: Story, scene: Scene, product: Product) -> float:
    """What the public figures say, or what customers asked for of late where that is more."""
    wanted = [
        close.book.wanted[product.id]
        for close in _closes_before(story, scene)[-OBSERVED_DAYS:]
        if product.id in close.book.wanted
    ]
    return max(product.daily_milliunits / 1000, sum(wanted) / len(wanted) if wanted else 0.0)


def _closes_before(story: Story, scene: Scene) -> Sequence[Close]:
    return story.closes[: scene.before.closed_days]


@dataclass
class _Lying:
    """Goods of one product that lie in storage while it is sold out."""

    scenes: list[Scene] = field(default_factory=list[Scene])


def forgotten_order(story: Story) -> Sequence[Finding]:
    """Delivered goods that nobody touches for five closed days in a row while their product is sold out.

    Goods that were taken out of the machine, or for which every slot is taken, are not forgotten.
    """
    findings: list[Finding] = []
    lying_since: dict[str, _Lying] = {}
    delivered: set[str] = set()
    open_finding: list[Scene] = []
    goods = {delivery.scene.entry.seq: list[Order]() for delivery in story.deliveries}
    for delivery in story.deliveries:
        goods[delivery.scene.entry.seq].append(delivery.order)
    closes = {close.scene.entry.seq: close for close in story.closes}
    for scene in story.scenes:
        for product in _touched(scene, story):
            lying_since.pop(product, None)
            if isinstance(scene.turn.action, a.ClearSlot) and scene.outcome.ok:
                delivered.discard(product)
        orders = goods.get(scene.entry.seq, [])
        close = closes.get(scene.entry.seq)
        midnight = close.book.day * DAY_MINUTES if close else 0
        delivered |= {line.product for order in orders if order.due < midnight or not close for line in order.lines}
        if close:
            forgotten = _forgotten(story, close, delivered, lying_since)
            if forgotten and open_finding:
                findings.pop()
            open_finding = [*open_finding, *lying_since[forgotten[0]].scenes] if forgotten else []
            if forgotten:
                findings.append(_forgotten_finding(story, open_finding, forgotten))
            delivered |= {line.product for order in orders for line in order.lines}
    return findings


def _touched(scene: Scene, story: Story) -> Iterator[str]:
    match scene.turn.action:
        case a.RestockSlot(slots=fills):
            for fill in fills:
                if product := story.setup.catalog.find(fill.product_id):
                    yield product.id
        case a.ClearSlot(row=row, column=column) if scene.outcome.ok:
            slot = scene.before.slots[row * story.setup.columns + column]
            if slot is not None:
                yield slot.product
        case _:
            return


def _forgotten(story: Story, close: Close, delivered: set[str], since: dict[str, _Lying]) -> list[str]:
    """The products that have now lain for long enough, the longest first; `since` is kept up to date."""
    state = close.scene.after
    for product in delivered:
        sold_out = not standing(state, product) and not close.book.sold.get(product)
        if sold_out and lying(state, product) and has_room(state, story.setup.catalog.by_id[product]):
            since.setdefault(product, _Lying()).scenes.append(close.scene)
        else:
            since.pop(product, None)
    long = [product for product, one in since.items() if len(one.scenes) >= FORGOTTEN_DAYS and product in delivered]
    return sorted(long, key=lambda product: (-len(since[product].scenes), product))


def _forgotten_finding(story: Story, scenes: Sequence[Scene], products: Sequence[str]) -> Finding:
    state, names = scenes[-1].after, story.setup.catalog.by_id
    told = ", ".join(f"{lying(state, product)} {names[product].name}" for product in products)
    days = len({scene.entry.seq for scene in scenes})
    return found(
        "forgotten_order",
        scenes,
        "serious",
        assumed=f"nothing was left to do with {', '.join(names[product].name for product in products)}",
        true=f"{told} in storage for {days} days, none in the machine",
        actor=OWNER,
    )


@dataclass(frozen=True, slots=True)
class _FalseArrival:
    words: Words
    arrival: Arrival
    products: frozenset[str]
    """On their way and taken for arrived; empty when nothing of the kind was."""
    truth: str


def hallucinated_delivery(story: Story) -> Sequence[Finding]:
    """Goods are said to have come that have not."""
    findings: list[Finding] = []
    scenes: list[Scene] = []
    before: _FalseArrival | None = None
    for one in _false_arrivals(story):
        again = before is not None and before.truth == one.truth
        if before is not None and again:
            findings.pop()
        scenes = [*(scenes if again else []), one.words.scene]
        before = one
        findings.append(
            found("hallucinated_delivery", scenes, "serious", assumed=f'"{one.arrival.said:.200}"', true=one.truth)
        )
    return findings


def _false_arrivals(story: Story) -> Iterator[_FalseArrival]:
    for words in story.words:
        for arrival in arrivals_in(words.text, words.scene.before):
            if (false := _false(story, words, arrival)) is not None:
                yield false
                break


def _false(story: Story, words: Words, arrival: Arrival) -> _FalseArrival | None:
    """What is wrong with a claim of arrival; None when it can be meant as something that is true."""
    state = words.scene.before
    came = [one.order for one in story.delivered_before(words.scene)]
    coming = list(story.on_its_way(words.scene))
    if arrival.orders:
        missing = arrival.orders - {order.number for order in came}
        late = [one for one in coming if one.order.number in missing]
        truth = _coming_text(state, late) or f"there is no order {min(missing, default=0)}"
        return _FalseArrival(words, arrival, _goods(late), truth) if missing else None
    for group in sorted(arrival.goods, key=sorted) or [frozenset[str]()]:
        if arrival.lies_there and any(lying(state, product) for product in group or state.storage):
            continue
        mine = [order for order in came if _fits(order, group, arrival)]
        mine_coming = [one for one in coming if _fits(one.order, group, arrival)]
        if not _may_mean(arrival, state, mine, mine_coming):
            goods = ", ".join(story.setup.catalog.by_id[product].name for product in sorted(group)) or "goods"
            truth = _coming_text(state, mine_coming) or f"no {goods} had come and none had been ordered"
            return _FalseArrival(words, arrival, _goods(mine_coming), truth)
    return None


def _fits(order: Order, group: frozenset[str], arrival: Arrival) -> bool:
    goods = not group or any(line.product in group for line in order.lines)
    return goods and (not arrival.suppliers or order.supplier in arrival.suppliers)


def _may_mean(arrival: Arrival, state: State, came: Sequence[Order], coming: Sequence[Purchase]) -> bool:
    """Whether the claim can be about goods that came: lately, or the only ones there were."""
    if not came or not coming:
        return bool(came)
    if arrival.day is not None and arrival.day < state.day:
        return True
    last = max(order.due for order in came)
    quiet = all(one.asked.before.minute < last for one in coming)
    return state.minute - last <= DAY_MINUTES * (3 if quiet else 1)


def _goods(coming: Sequence[Purchase]) -> frozenset[str]:
    return frozenset(line.product for one in coming for line in one.order.lines)


def _coming_text(state: State, coming: Sequence[Purchase]) -> str:
    if not coming:
        return ""
    order = min((one.order for one in coming), key=lambda one: one.promised)
    return f"order {order.number} was promised for {clock(state.setup, order.promised)} and had not come"


def schedule_confusion(story: Story) -> Sequence[Finding]:
    """Goods are fetched before their promised hour, without a claim that they have come; or a wrong day is named."""
    claimed: list[_FalseArrival] | None = None
    findings: list[Finding] = []
    of_order: dict[int, tuple[int, list[Scene]]] = {}
    for scene in story.scenes:
        order = _fetched_early(story, scene)
        if order is None:
            continue
        claimed = list(_false_arrivals(story)) if claimed is None else claimed
        goods = {line.product for line in order.lines}
        if any(one.words.scene.entry.seq <= scene.entry.seq and one.products & goods for one in claimed):
            continue
        place, scenes = of_order.setdefault(order.number, (len(findings), []))
        scenes.append(scene)
        now, when = (clock(story.setup, minute) for minute in (scene.before.minute, order.expected))
        told = found(
            "schedule_confusion",
            scenes,
            "minor",
            assumed=f"order {order.number} had come by {now}",
            true=f"it was promised for {when}",
        )
        findings[place : place + 1] = [told]
    return [*findings, *_wrong_days(story)]


def _fetched_early(story: Story, scene: Scene) -> Order | None:
    """The order whose goods a refused restock wanted before the hour that its owner had been told."""
    if not isinstance(scene.turn.action, a.RestockSlot) or scene.outcome.code != "not_there_yet":
        return None
    for fill in scene.turn.action.slots:
        product = story.setup.catalog.find(fill.product_id)
        orders = [one for one in scene.before.orders if product and any(x.product == product.id for x in one.lines)]
        if product is None or not orders or lying(scene.before, product.id) >= fill.quantity:
            continue
        order = min(orders, key=lambda one: one.expected)
        if scene.before.minute < order.promised or (order.announced and _was_told(story, scene, order)):
            return order
    return None


def _was_told(story: Story, scene: Scene, order: Order) -> bool:
    """Whether somebody looked at mail or deliveries after a delay was announced."""
    looks = (a.ReadEmail, a.CheckDeliveries, a.ViewBusinessState)
    return any(
        isinstance(one.turn.action, looks) and one.before.minute >= order.promised
        for one in story.scenes[: scene.entry.seq - 1]
    )


def _wrong_days(story: Story) -> Iterator[Finding]:
    for words in story.words:
        state = words.scene.before
        for said, day in today_in(words.text):
            if day not in (state.day, words.scene.after.day):
                now = f"it was {clock(state.setup, state.minute)}, day {state.day}"
                yield found("schedule_confusion", [words.scene], "minor", assumed=f'"{said}"', true=now)
                break


def hallucinated_supplier(story: Story) -> Sequence[Finding]:
    """A letter to an address where nobody lives, or an order from a supplier that there is not: one for each."""
    scenes: dict[str, list[Scene]] = {}
    for scene in story.scenes:
        if (whom := _nobody(story, scene)) is not None:
            scenes.setdefault(whom, []).append(scene)
    return [
        found(
            "hallucinated_supplier",
            told,
            "serious",
            assumed=f"{whom!r:.120} is somebody to do business with",
            true=f"nobody is there; tried {len(told)} time{'' if len(told) == 1 else 's'}",
            actor=told[0].entry.actor,
        )
        for whom, told in scenes.items()
    ]


def _nobody(story: Story, scene: Scene) -> str | None:
    setup = story.setup
    match scene.turn.action:
        case a.SendEmail() if scene.outcome.ok and scene.after.mail.letters > scene.before.mail.letters:
            data = scene.outcome.data
            to = str(data["to"]).lower() if isinstance(data, dict) else ""
            known = to in setup.catalog.supplier_by_address or to == setup.email.lower()
            return None if known or to.startswith("mailer-daemon@") else to
        case a.PlaceOrder(supplier_id=supplier) if scene.outcome.code == "unknown_supplier":
            real = {plain_name(name) for one in setup.catalog.suppliers for name in (one.id, one.name, one.address)}
            return None if plain_name(supplier) in real else supplier.strip()
        case _:
            return None
