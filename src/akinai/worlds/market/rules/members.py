"""The members of the market: its population at the begin, registration, and the profiles that others see."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from immutables import Map

from akinai.core.canonical import Json, canonical
from akinai.core.ledger import Genesis, Outcome
from akinai.core.untrusted.spelling import short_repr
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.profiles import Profile, Role, data_of, role_of, view_json, with_menus
from akinai.worlds.market.model.setup import Business, Customer, Population, Setup, read_setup
from akinai.worlds.market.model.state import Member, Schedule, State
from akinai.worlds.market.model.units import midnight
from akinai.worlds.market.populations.generated import CUSTOMERS, PER_CUSTOMER, generate
from akinai.worlds.market.populations.manipulation import manipulated
from akinai.worlds.market.search import Catalogue, Listing

SECRETS: Mapping[str, frozenset[str]] = {
    "business": frozenset({"min_price_factor", "progenitor_customer"}),
    "customer": frozenset({"request", "menu_features", "amenity_features"}),
}
"""Fields of the population's data that the market does not publish; a stranger's profile is public as it is."""
HIDDEN = frozenset({"progenitor_customer"})
"""Fields that even the agent itself does not see: the customer for whom a business was generated."""
PROFILE_BYTES = 65_536


def begin(genesis: Genesis) -> State:
    """The market before anybody registered."""
    setup = read_setup(genesis.setup)
    people = manipulated(population(setup, genesis), setup.manipulation, setup.population.language, setup.treated)
    start = midnight(setup.start_date) if setup.clock == "virtual" else 0
    members = [_of_population(person, number) for number, person in enumerate((*people.businesses, *people.customers))]
    return State(
        setup=setup,
        chance=genesis.chance("latency"),
        begin=start,
        at=start,
        members=Map({member.id: member for member in members}),
        roll=tuple(member.id for member in members),
        businesses=len(people.businesses),
        unregistered=len(people.businesses),
        customers_left=len(people.customers),
        schedule=Schedule.of(len(members)),
        catalogue=Catalogue(),
        boxes=Map(),
        offers=Map(),
        answers=Map(),
        makers=Map(),
        bids=Map(),
        joined=Map(),
    )


def population(setup: Setup, genesis: Genesis) -> Population:
    """The population of the data, or a generated one; an open market generates none unless its counts are set."""
    if setup.data.businesses or setup.data.customers:
        return setup.data
    customers, businesses = setup.customers.count, setup.businesses.count
    if customers is None:
        customers = 0 if setup.open else CUSTOMERS
    if businesses is None:
        businesses = PER_CUSTOMER * customers
    return generate(genesis.chance("population"), customers, businesses, setup.population)


def _of_population(person: Business | Customer, number: int) -> Member:
    role: Role = "business" if isinstance(person, Business) else "customer"
    data = person.model_dump()
    public = {name: value for name, value in data.items() if name not in SECRETS[role]}
    own = {name: value for name, value in data.items() if name not in HIDDEN}
    return Member(person.id, role, _profile(person.id, role, public), data, view_json(own), number)


def _profile(id: str, role: Role, data: Mapping[str, Json]) -> Profile:
    return {"id": id, "metadata": {"type": role}, role: data}


def register(state: State, actor: str, action: a.Register) -> tuple[State, Outcome]:
    """Enter the market, or change a profile in an open one.

    Refused as `wrong_profile` when a profile is missing, is another's, is too large or, in a closed market, is given
    at all.
    """
    existing = state.members.get(actor)
    if action.profile is None:
        if existing is None:
            return state, Outcome.refused("wrong_profile", "You are not in the run's population; give your profile")
        member = existing
    elif not state.setup.open:
        return state, Outcome.refused("wrong_profile", "Your profile is known; register without one")
    elif why := _unfit(actor, action.profile):
        return state, Outcome.refused("wrong_profile", why)
    else:
        member = with_profile(existing, actor, action.profile)
    first = existing is None or not existing.registered
    state = _update_catalogue(state, member.moved(registered=True))
    if first:
        state = state.moved(joined=state.joined.set(len(state.joined), actor))
        if member.number is not None and member.number < state.businesses:
            state = state.moved(unregistered=state.unregistered - 1)
    return state, Outcome("You are registered.", data={"id": actor})


def _unfit(actor: str, profile: Mapping[str, Any]) -> str | None:
    if profile.get("id") != actor or not actor:
        return f"The profile has the id {short_repr(profile.get('id'), 100)}, and you are {actor!r:.100}; give your own"
    if len(actor) > 500 or len(canonical(profile).encode()) > PROFILE_BYTES:
        return f"The profile is larger than {PROFILE_BYTES:,} bytes, or its id than 500 characters; shorten it"
    return None


def with_profile(existing: Member | None, actor: str, profile: Profile) -> Member:
    role, profile = role_of(profile), with_menus(profile)
    data = data_of(profile, role)
    stranger = Member(actor, role, profile, data, view_json(profile))
    return stranger if existing is None else replace(existing, role=role, profile=profile, data=data, own=stranger.own)


def _update_catalogue(state: State, member: Member) -> State:
    """The state with this member, which is in the catalogue exactly when it is a business."""
    if member.role == "business":
        catalogue = state.catalogue.put(Listing(member.id, member.profile))
    else:
        catalogue = state.catalogue.without(member.id)
    return state.moved(members=state.members.set(member.id, member), catalogue=catalogue)


def registered(state: State, offset: int = 0, limit: int | None = None) -> Sequence[Profile]:
    """The profiles of the registered agents, in the order of registration."""
    end = len(state.joined) if limit is None else min(offset + limit, len(state.joined))
    return [state.members[state.joined[number]].profile for number in range(offset, end)]
