"""The order of turns. In virtual time each agent acts when its latency is over, on mail, or by its own timer."""

from operator import attrgetter

from akinai.core.actions import Action
from akinai.core.ledger import SECOND_US, Turn
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import NEVER, Member, State
from akinai.worlds.market.model.units import MILLISECOND_US

ASKS = 3
"""Businesses that a customer is expected to ask."""
CUSTOMER_ACTIONS = 14
DEAL_ACTIONS = 6


def latency_us(state: State, member: Member) -> int:
    """The duration of an agent's next action in microseconds: fixed by the setup, or drawn by agent and turn."""
    setup = state.setup.latency
    fixed = setup.agents.get(member.id)
    if fixed is None:
        fixed = setup.businesses_ms if member.role == "business" else setup.customers_ms
    if fixed is None:
        fixed = state.chance(member.id, member.turns).between(setup.low_ms, setup.high_ms)
    return fixed * MILLISECOND_US


def start(state: State) -> State:
    """Schedule the first turns of a market in virtual time: its businesses, or its customers where there are none."""
    if not state.virtual:
        return state
    return _schedule_members(state, range(state.businesses or len(state.roll)))


_id = attrgetter("id")


def _schedule_members(state: State, numbers: range) -> State:
    schedule = state.schedule
    for number in numbers:
        member = state.members[state.roll[number]]
        schedule = schedule.at(number, state.at + latency_us(state, member))
    return state.moved(schedule=schedule)


def finish_turn(before: State, state: State, turn: Turn) -> State:
    """Count a turn whose action was not refused, and schedule the next turn of each agent concerned."""
    actor = before.members.get(turn.actor)
    rests = actor is not None and not actor.has_news and _is_rest(before, actor, turn)
    state = _count_turn(state, turn, rests)
    if before.unregistered and not state.unregistered and state.virtual:
        state = _schedule_members(state, range(state.businesses, len(state.roll)))
    if isinstance(turn.action, a.SendMessage) and state.delivered > before.delivered:
        state = _wake(state, turn.action.to_agent_id)
    return state


def _is_rest(state: State, actor: Member, turn: Turn) -> bool:
    """Whether a turn of an agent without unread mail is rest: a wait or, when all customers are done, any action of a
    business but a message.

    Nobody will come, so a model that goes on looking would keep the market open for ever.
    """
    if isinstance(turn.action, a.Wait):
        return True
    selling = actor.role == "business" and not state.setup.open
    deserted = selling and not state.unregistered and not state.customers_left
    return deserted and not isinstance(turn.action, a.SendMessage)


def _count_turn(state: State, turn: Turn, rests: bool) -> State:
    action, member, at = turn.action, state.members[turn.actor], max(state.at, turn.at)
    done = member.done or _done(state, member, action)
    seconds = action.seconds if isinstance(action, a.Wait) and rests else None
    wakes = None if seconds is None else at + round(seconds * SECOND_US)
    member = member.moved(turns=member.turns + 1, asleep=rests, wakes=wakes, roused=False, done=done)
    left = state.customers_left - (1 if done and _is_customer(state, member) else 0)
    state = state.moved(at=at, members=state.members.set(turn.actor, member), customers_left=left)
    if not state.virtual or member.number is None:
        return state
    return state.moved(schedule=state.schedule.at(member.number, _next(state, member)))


def _is_customer(state: State, member: Member) -> bool:
    return member.number is not None and member.number >= state.businesses


def _done(state: State, member: Member, action: Action) -> str:
    """Why an agent is done after an action; empty while it is not."""
    setup = state.setup
    cap = (setup.businesses if member.role == "business" else setup.customers).max_turns
    if isinstance(action, a.Leave):
        return "you left"
    if member.role != "business" and 0 < setup.customers.purchases <= member.purchases:
        return "you paid, and that is all you came for"
    return f"you have used your {cap} turns" if 0 < cap <= member.turns + 1 else ""


def _next(state: State, member: Member) -> int:
    if member.done:
        return NEVER
    if not member.asleep:
        return state.at + latency_us(state, member)
    wakes = _wake_time(state, member)
    return NEVER if wakes is None else wakes


def _wake_time(state: State, member: Member) -> int | None:
    """When a sleeper wakes without mail; None never. When all customers are done, no business wakes to wait again."""
    return None if member.role == "business" and not state.customers_left else member.wakes


def wake_times(state: State) -> dict[str, int]:
    """Members that sleep until a time under the wall clock, with that time."""
    if state.virtual or ending(state):
        return {}
    everyone = map(state.members.__getitem__, (*state.roll, *_strangers(state)))
    timed = [member for member in everyone if member.asleep and member.wakes is not None and not member.done]
    return {member.id: at for member in sorted(timed, key=_id) if (at := _wake_time(state, member)) is not None}


def _wake(state: State, id: str) -> State:
    """Wake an agent that waits for mail, after its latency."""
    member = state.members[id]
    if not member.asleep:
        return state
    in_time = member.wakes is None or state.at < member.wakes
    state = state.moved(members=state.members.set(id, member.moved(asleep=False, roused=in_time)))
    if not state.virtual or member.number is None:
        return state
    due = min(state.schedule.due(member.number), state.at + latency_us(state, member))
    return state.moved(schedule=state.schedule.at(member.number, due))


def now(state: State) -> int | None:
    """Simulated time: that of the next turn, or of the last one when there is none; None under the wall clock."""
    if not state.virtual:
        return None
    due, _ = state.schedule.first
    return state.at if due == NEVER or _over(state, due) else max(state.at, due)


def ending(state: State) -> str | None:
    """`time`, `all_done`, or `all_wait` when all wait for one another; None while the market goes on."""
    if not state.virtual:
        return None if state.setup.open or state.customers_left or not _quiet(state) else "all_done"
    due, _ = state.schedule.first
    if due == NEVER:
        return "all_wait" if state.customers_left else "all_done"
    return "time" if _over(state, due) else None


def actors(state: State) -> list[str]:
    """The agent whose turn it is in virtual time; under the wall clock all that may act, the population first."""
    if ending(state):
        return []
    if state.virtual:
        return [state.roll[state.schedule.first[1]]]
    members, coming = state.members, state.unregistered and not state.setup.open
    present = state.roll[: state.businesses] if coming else state.roll
    return [id for id in (*present, *_strangers(state)) if not ((member := members[id]).asleep or member.done)]


def _strangers(state: State) -> list[str]:
    """Registered members from outside the population; none where the market is closed."""
    if not state.setup.open:
        return []
    joined, members = state.joined, state.members
    return [id for number in range(len(joined)) if members[id := joined[number]].number is None]


def closed_reason(state: State, member: Member) -> str | None:
    """Why a member may not act under the wall clock. A wait binds no member with a timer or in an open market."""
    if member.done:
        return member.done
    if not started(state, member.id):
        return "not all businesses have registered yet"
    bound = member.asleep and member.wakes is None and not state.setup.open
    return "you wait for mail" if bound else None


def started(state: State, id: str) -> bool:
    """No customer of the population starts before all its businesses registered, except in an open market."""
    return not state.unregistered or state.setup.open or not _is_customer(state, state.members[id])


def expected_actions(state: State, member: Member) -> int:
    """The expected actions of a model, for estimates: a customer enters, searches twice, asks three businesses, waits
    for and reads three answers, pays; for each customer that asks it, a business waits, reads and proposes, then waits,
    reads and confirms.
    """
    if _is_customer(state, member):
        return min(CUSTOMER_ACTIONS, state.setup.customers.max_turns or CUSTOMER_ACTIONS)
    customers_each = -(-ASKS * (len(state.roll) - state.businesses) // max(1, state.businesses))
    expected = 2 + DEAL_ACTIONS * customers_each
    return min(expected, state.setup.businesses.max_turns or expected)


def _over(state: State, due: int) -> bool:
    limit = state.setup.time_limit_s
    return bool(limit) and due > state.begin + limit * SECOND_US


def _quiet(state: State) -> bool:
    """Whether every business of the population is done, or waits without mail."""
    return bool(state.roll) and all(
        (member := state.members[id]).done or member.asleep for id in state.roll[: state.businesses]
    )
