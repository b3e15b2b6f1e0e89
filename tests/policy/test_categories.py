"""Categories out of a configuration, and what an agent may read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import Forbidden, Invalid
from recollect.policy.categories import ON_REQUEST, SHIPPED, All, AllBut, Only, Rag, parse

NAMES = st.sampled_from(["profile", "goals", "tasks", "tone", "procedural", "relationship_dynamic", "recipes"])
AGENTS = st.sampled_from(["supervisor", "planner", "stylist", "researcher", "executor", "gardener"])


def test_the_shipped_lists_hold_what_the_sources_say():
    shipped = parse(SHIPPED)
    assert shipped.contexts == {"profile": All(), "event": Rag(30), "activity": Rag(50)}
    assert shipped.allowed("planner") == Only(frozenset({"goals", "tasks", "projects", "procedural"}))
    assert shipped.allowed("supervisor").holds("relationship_dynamic")
    assert shipped.allowed("executor").holds("procedural")


def test_an_agent_without_a_list_has_the_default_one():
    assert parse(SHIPPED).allowed("gardener") == AllBut(frozenset({"relationship_dynamic"}))
    assert parse({"allowlists": {"default": ["tone"]}}).allowed("gardener") == Only(frozenset({"tone"}))
    assert parse({"allowlists": {"planner": ["tone"]}}).allowed("gardener") == AllBut(
        frozenset({"relationship_dynamic"})
    )


def test_a_person_reads_every_category_but_how_something_is_done_on_request():
    assert parse(SHIPPED).granted(None, None) == AllBut(frozenset({"procedural"}))
    assert parse(SHIPPED).granted(None, None, procedures=True) == AllBut()
    assert parse(SHIPPED).granted(None, frozenset({"procedural"})) == Only(frozenset({"procedural"}))
    assert parse(SHIPPED).granted(None, frozenset({"relationship_dynamic"})).holds("relationship_dynamic")


def test_procedural_memory_is_served_to_who_names_it():
    shipped = parse(SHIPPED)
    assert not shipped.granted("gardener", None).holds("procedural")
    assert shipped.granted("gardener", ON_REQUEST).holds("procedural")
    assert shipped.granted("planner", None).holds("procedural")


def test_a_refusal_names_what_was_refused_and_what_is_allowed():
    with pytest.raises(Forbidden, match=r"'stylist' may not read the categories 'goals', 'tasks'.*preferences, style"):
        parse(SHIPPED).granted("stylist", frozenset({"goals", "tasks", "tone"}))
    with pytest.raises(Forbidden, match=r"category 'relationship_dynamic'.*everything but relationship_dynamic"):
        parse(SHIPPED).granted("gardener", frozenset({"relationship_dynamic"}))


@given(AGENTS, st.one_of(st.none(), st.frozensets(NAMES)))
def test_what_is_granted_is_never_more_than_the_allowlist(agent, asked):
    shipped = parse(SHIPPED)
    allowed = shipped.allowed(agent)
    try:
        granted = shipped.granted(agent, asked)
    except Forbidden:
        assert asked is not None
        assert any(not allowed.holds(name) for name in asked)
    else:
        for name in ("profile", "goals", "tasks", "tone", "procedural", "relationship_dynamic", "recipes"):
            assert not granted.holds(name) or allowed.holds(name)


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"category": []}, "no key 'category'"),
        ({"categories": []}, "categories is no mapping"),
        ({"categories": {"extra": []}}, "no group 'extra'"),
        ({"categories": {"custom": "tea"}}, "categories.custom is no list"),
        ({"categories": {"custom": [{"context": "all"}]}}, "the name of an entry of categories.custom is None"),
        ({"categories": {"custom": [{"name": "a"}, {"name": "a"}]}}, "'a' is named twice"),
        ({"categories": {"custom": [{"name": "a", "context": "some"}]}}, "the context 'some'"),
        ({"categories": {"custom": [{"name": "a", "context": "rag", "rag_length": 0}]}}, "rag_length 0"),
        ({"categories": {"custom": [{"name": "a", "context": "rag", "rag_length": True}]}}, "rag_length True"),
        ({"categories": {"custom": [{"name": "a", "context": "all", "rag_length": 3}]}}, "the context all and"),
        ({"categories": {"custom": [{"name": "a", "colour": "red"}]}}, "no key 'colour'"),
        ({"allowlists": {"planner": "goals"}}, "allowlists.planner is no list"),
        ({"allowlists": {"planner": [3]}}, "an entry of allowlists.planner is 3"),
        ({"allowlists": {"planner": [" "]}}, "blank"),
        ({"allowlists": {"planner": ["goals", "-tone"]}}, "leaves out tone"),
    ],
)
def test_a_configuration_that_cannot_be_read_says_what_is_wrong(config, complaint):
    with pytest.raises(Invalid, match=complaint):
        parse(config)


def test_what_a_configuration_leaves_out_is_as_shipped():
    own = parse({"categories": {"custom": [{"name": "recipes", "context": "rag", "rag_length": 2}]}})
    assert own.most("recipes") == 2
    assert own.most("profile") is None
    assert own.allowed("stylist") == parse(SHIPPED).allowed("stylist")
