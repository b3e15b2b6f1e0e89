"""Who may do what: the whole table, and the rules that no table entry may break."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ids import ItemId, RecordId, TenantId
from recollect.domain.item import Fact, Item, Visibility
from recollect.domain.record import Given
from recollect.domain.scope import Principal, Role, Scope, Sight
from recollect.policy.access import (
    Action,
    Allowed,
    Answer,
    Denied,
    may,
    may_act_in,
    may_erase,
    may_erase_user,
    may_read,
    may_write,
    sight,
)
from tests import strategies as some
from tests.strategies import NOON

TENANT = TenantId("ours")

# The principals of the table: each bound to the user ann and the project p1 wherever its role can be bound.
WHO = {
    "agent": Principal(
        tenant=TENANT,
        id="robin",
        role=Role.AGENT,
        agent_id="robin",
        users=frozenset({"ann"}),
        projects=frozenset({"p1"}),
    ),
    "unbound agent": Principal(tenant=TENANT, id="robin", role=Role.AGENT, agent_id="robin"),
    "member": Principal(tenant=TENANT, id="ann", role=Role.MEMBER, projects=frozenset({"p1"})),
    "moderator": Principal(
        tenant=TENANT, id="mo", role=Role.MODERATOR, users=frozenset({"ann"}), projects=frozenset({"p1"})
    ),
    "unbound moderator": Principal(tenant=TENANT, id="mo", role=Role.MODERATOR),
    "admin": Principal(tenant=TENANT, id="ada", role=Role.ADMIN, users=frozenset({"ann"}), projects=frozenset({"p1"})),
    "unbound admin": Principal(tenant=TENANT, id="ada", role=Role.ADMIN),
}


def memory(visibility: Visibility, **names: str) -> Item:
    return Item(
        id=ItemId("m"),
        body=Fact(value="tea"),
        category="taste",
        visibility=visibility,
        origin_at=NOON,
        created_at=NOON,
        updated_at=NOON,
        **names,
    )


WHAT = {
    "system": memory(Visibility.SYSTEM),
    "ann's": memory(Visibility.USER_PRIVATE, user_id="ann"),
    "ann's, kept for robin": memory(Visibility.USER_PRIVATE, user_id="ann", agent_id="robin"),
    "ann's, kept for wren": memory(Visibility.USER_PRIVATE, user_id="ann", agent_id="wren"),
    "ben's": memory(Visibility.USER_PRIVATE, user_id="ben"),
    "p1's": memory(Visibility.PROJECT_SHARED, project_id="p1"),
    "p1's, kept for wren": memory(Visibility.PROJECT_SHARED, project_id="p1", agent_id="wren"),
    "p2's": memory(Visibility.PROJECT_SHARED, project_id="p2"),
    "robin's silo": memory(Visibility.AGENT_SILO, agent_id="robin"),
    "wren's silo": memory(Visibility.AGENT_SILO, agent_id="wren"),
    "ann's, constitutional": replace(memory(Visibility.USER_PRIVATE, user_id="ann"), constitutional=True),
    "wren's silo, about ann": memory(Visibility.AGENT_SILO, agent_id="wren", user_id="ann"),
}

# r: reads, w: writes, e: erases; what is not named is refused.
TABLE = """
                         agent  unbound_agent  member  moderator  unbound_moderator  admin  unbound_admin
system                   r      r              r       rw         rw                 rwe    rwe
ann's                    rw     rw             rwe     rw         rw                 rwe    rwe
ann's,_kept_for_robin    rw     rw             rwe     rw         rw                 rwe    rwe
ann's,_kept_for_wren     r      r              rwe     rw         rw                 rwe    rwe
ann's,_constitutional    rw     rw             rw      rw         rw                 rwe    rwe
ben's                    -      rw             -       -          rw                 -      rwe
p1's                     rw     rw             rw      rw         rw                 rwe    rwe
p1's,_kept_for_wren      r      r              rw      rw         rw                 rwe    rwe
p2's                     -      rw             -       -          rw                 -      rwe
robin's_silo             rw     rw             -       -          -                  -      e
wren's_silo              -      -              -       -          -                  -      e
wren's_silo,_about_ann   -      -              -       -          -                  -      e
"""


def cells() -> list[tuple[str, str, str]]:
    head, *rows = [line.split() for line in TABLE.strip("\n").splitlines()]
    return [
        (who.replace("_", " "), what.replace("_", " "), rights)
        for what, *granted in rows
        for who, rights in zip(head, granted, strict=True)
    ]


def test_the_table_has_a_cell_for_everyone_and_everything():
    assert {(who, what) for who, what, _ in cells()} == set(product(WHO, WHAT))


@pytest.mark.parametrize(("who", "what", "rights"), cells())
def test_everyone_may_do_what_the_table_says_and_no_more(who, what, rights):
    principal, item = WHO[who], WHAT[what]
    answers: dict[str, Answer] = {
        "r": may_read(principal, item, (), NOON),
        "w": may_write(principal, item),
        "e": may_erase(principal, item),
    }
    assert {right for right, answer in answers.items() if isinstance(answer, Allowed)} == set(rights) - {"-"}
    assert all(answer.why for answer in answers.values() if isinstance(answer, Denied))


ACTIONS = {
    Action.VERIFY: {Role.MODERATOR, Role.ADMIN},
    Action.OVERSEE: {Role.MODERATOR, Role.ADMIN},
    Action.PROMOTE: {Role.MODERATOR, Role.ADMIN},
    Action.COMPRESS: {Role.MODERATOR, Role.ADMIN},
    Action.REMAKE: {Role.ADMIN},
    Action.INSPECT: {Role.MODERATOR, Role.ADMIN},
    Action.ADVANCE: {Role.MODERATOR, Role.ADMIN},
    Action.ROLL_BACK: {Role.ADMIN},
    Action.EXPORT: {Role.ADMIN},
    Action.IMPORT: {Role.ADMIN},
    Action.PROTECT: {Role.ADMIN},
    Action.CONFIGURE: {Role.ADMIN},
}


WITHIN_BOUNDS = {Action.PROMOTE, Action.COMPRESS, Action.INSPECT, Action.ADVANCE, Action.PROTECT}


@pytest.mark.parametrize(("who", "action"), list(product(WHO, Action)))
def test_what_concerns_a_whole_tenant_takes_a_role_and_no_bounds(who, action):
    answer, unbound = may(WHO[who], action), WHO[who].users is None and WHO[who].projects is None
    allowed = WHO[who].role in ACTIONS[action] and (unbound or action in WITHIN_BOUNDS)
    assert isinstance(answer, Allowed) == allowed
    if isinstance(answer, Denied):
        assert action.value in answer.why
        assert WHO[who].id in answer.why


# -- rules over everything that can be built --------------------------------------------------------------


# Few names, so that they often meet.
NAMES = st.sampled_from(["ann", "ben", "robin", "p1"])
REACH = st.none() | st.frozensets(NAMES, max_size=2)


@st.composite
def memories(draw: st.DrawFn, visibility: Visibility | None = None) -> Item:
    names = {name: draw(NAMES) for name in ("user_id", "project_id", "agent_id")}
    seen = visibility or draw(st.sampled_from(Visibility))
    needed = {"user-private": "user_id", "project-shared": "project_id", "agent-silo": "agent_id"}.get(seen)
    return memory(seen, **{name: who for name, who in names.items() if name == needed or draw(st.booleans())})


@st.composite
def principals(draw: st.DrawFn, *roles: Role) -> Principal:
    role = draw(st.sampled_from(roles or tuple(Role)))
    agent = draw(NAMES) if role is Role.AGENT else None
    return Principal(tenant=TENANT, id=draw(NAMES), role=role, agent_id=agent, users=draw(REACH), projects=draw(REACH))


PEOPLE = principals(Role.MEMBER, Role.MODERATOR, Role.ADMIN)
SILOS = memories(Visibility.AGENT_SILO)


def in_sight(seen: Sight, item: Item) -> bool:
    """What the stores' condition on lists and searches says, without SQL."""
    return (
        item.visibility is Visibility.SYSTEM
        or (item.visibility is Visibility.USER_PRIVATE and (seen.users is None or item.user_id in seen.users))
        or (
            item.visibility is Visibility.PROJECT_SHARED and (seen.projects is None or item.project_id in seen.projects)
        )
        or (item.visibility is Visibility.AGENT_SILO and seen.silo is not None and item.agent_id == seen.silo)
    )


@given(principal=principals(), item=memories())
def test_what_is_listed_is_what_may_be_read_without_a_grant(principal, item):
    assert in_sight(sight(principal), item) == isinstance(may_read(principal, item, (), NOON), Allowed)


@given(member=principals(Role.MEMBER), item=memories(Visibility.USER_PRIVATE))
def test_a_member_never_reads_another_users_private_memory(member, item):
    """Whatever its credential says of users."""
    assert isinstance(may_read(member, item, (), NOON), Allowed) == (item.user_id == member.id)
    if item.user_id != member.id:
        assert isinstance(may_write(member, item), Denied)
        assert isinstance(may_erase(member, item), Denied)
        assert isinstance(may_act_in(member, Scope(tenant=member.tenant, user_id=item.user_id)), Denied)


@given(principal=principals(), item=SILOS)
def test_nobody_but_the_agent_reads_a_silo_without_a_grant(principal, item):
    own = principal.agent_id == item.agent_id
    assert isinstance(may_read(principal, item, (), NOON), Allowed) == own
    assert isinstance(may_write(principal, item), Allowed) == own


def grant(principal: Principal, item: Item, **other: object) -> Given:
    return replace(
        Given(
            id=RecordId("g"),
            agent_id=item.agent_id or "",
            asked_by=principal.id,
            purpose="repair",
            asked_at=NOON - timedelta(hours=2),
            given_by="robin",
            given_at=NOON - timedelta(hours=1),
            until=NOON + timedelta(microseconds=1),
        ),
        **other,
    )


@given(person=PEOPLE, item=SILOS)
def test_a_grant_in_force_opens_the_silo_and_is_named(person, item):
    given_ = grant(person, item)
    assert may_read(person, item, [given_], NOON) == Allowed(given_)


@given(person=PEOPLE, item=SILOS)
def test_a_grant_that_has_run_out_opens_nothing(person, item):
    assert isinstance(may_read(person, item, [grant(person, item, until=NOON)], NOON), Denied)


@given(person=PEOPLE, item=SILOS)
def test_a_grant_opens_one_silo_to_one_person(person, item):
    for other in ({"agent_id": f"{item.agent_id}!"}, {"asked_by": f"{person.id}!"}):
        assert isinstance(may_read(person, item, [grant(person, item, **other)], NOON), Denied)


@given(person=PEOPLE, item=SILOS)
def test_among_many_grants_the_one_that_fits_is_found(person, item):
    fits = grant(person, item)
    others = [replace(fits, until=NOON), replace(fits, asked_by=f"{person.id}!")]
    assert may_read(person, item, [*others, fits], NOON) == Allowed(fits)


@given(person=PEOPLE, item=SILOS)
def test_a_grant_is_for_reading_alone(person, item):
    assert isinstance(may_write(person, item), Denied)


@given(agent=principals(Role.AGENT), item=SILOS)
def test_a_grant_opens_no_silo_to_another_agent(agent, item):
    answer = may_read(agent, item, [grant(agent, item)], NOON)
    assert isinstance(answer, Allowed) == (agent.agent_id == item.agent_id)


@given(principal=principals(), item=memories())
def test_nobody_writes_what_they_may_not_read(principal, item):
    if isinstance(may_write(principal, item), Allowed):
        assert isinstance(may_read(principal, item, (), NOON), Allowed)


@given(agent=principals(Role.AGENT), item=memories())
def test_an_agent_never_erases(agent, item):
    assert isinstance(may_erase(agent, item), Denied)


@given(person=PEOPLE, item=memories())
def test_what_is_erased_is_within_the_bounds_of_who_erases_or_about_them(person, item):
    if isinstance(may_erase(person, item), Allowed) and (person.users is not None or person.projects is not None):
        assert item.user_id == person.id or in_sight(sight(person), item)


@given(principal=principals(), user=NAMES)
def test_all_of_a_user_is_erased_by_an_admin_without_bounds_or_by_that_person(principal, user):
    person = principal.role is not Role.AGENT and principal.id == user
    admin = principal.role is Role.ADMIN and principal.users is None and principal.projects is None
    assert isinstance(may_erase_user(principal, user), Allowed) == (admin or person)


@given(agent=principals(Role.AGENT), item=memories())
def test_an_agent_does_not_write_what_is_kept_for_another(agent, item):
    if item.agent_id not in (None, agent.agent_id):
        assert isinstance(may_write(agent, item), Denied)


@given(principal=some.principals(), scope=some.scopes())
def test_a_credential_of_one_tenant_acts_in_no_other(principal, scope):
    if scope.tenant != principal.tenant:
        assert may_act_in(principal, scope) == Denied("the credential is for another tenant")


@given(data=st.data(), principal=principals())
def test_one_acts_only_for_users_projects_and_agents_within_reach(data, principal):
    names = {name: data.draw(st.none() | NAMES) for name in ("user_id", "project_id", "agent_id")}
    scope = Scope(tenant=TENANT, **names)
    seen = sight(principal)
    within = (
        (scope.user_id is None or seen.users is None or scope.user_id in seen.users)
        and (scope.project_id is None or seen.projects is None or scope.project_id in seen.projects)
        and (principal.role is not Role.AGENT or scope.agent_id in (None, principal.agent_id))
    )
    assert isinstance(may_act_in(principal, scope), Allowed) == within


@given(principal=some.principals())
def test_a_scope_that_names_nobody_is_within_reach(principal):
    assert may_act_in(principal, Scope(tenant=principal.tenant)) == Allowed()
