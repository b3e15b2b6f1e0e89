"""Settings: what is passed comes before the environment, that before the file, that before the defaults."""

from dataclasses import fields
from getpass import getuser
from pathlib import Path

import pytest

from recollect import minds, settings, wiring
from recollect.domain.scope import Role
from recollect.errors import Invalid
from recollect.settings import Settings, load
from recollect.write.message import Message


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of this test's own, and an environment that says nothing."""
    for field in fields(Settings):
        monkeypatch.delenv(f"RECOLLECT_{field.name.upper()}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".recollect"
    place.mkdir()
    return place


def write(home: Path, text: str) -> None:
    (home / "recollect.toml").write_text(text, "utf-8")


def test_without_a_word_it_is_your_own_memory_in_your_home(home):
    assert load() == Settings(
        store=str(home / "memory.db"),
        home=home,
        tenant="default",
        user=getuser(),
        role=Role.ADMIN,
        agent=None,
        patience=60,
        job_cap=2,
        lease=60,
        embedder="local",
        embedder_url="",
        embedder_model="",
        embedder_key="",
        judge="local",
        keeper="local",
        writer="",
        writers={},
        writer_url="",
        writer_key="",
        writer_timeout=60,
        writer_tokens=500_000,
        turn_cap=3,
        day_cap=200,
        categories=None,
        escalation_mode="A",
        escalation_status=409,
        episode_idle=60,
        lock_minutes=60,
        summary_days=7,
        packet_days=30,
        archive_days=30,
        expire_days=90,
        repositories={},
        host="127.0.0.1",
        port=7077,
        head_seconds=10,
        body_seconds=30,
    )


SAMPLES = {
    "store": ("a.db", "b.db", "c.db"),
    "tenant": ("one", "two", "three"),
    "user": ("ann", "ben", "cem"),
    "role": ("member", "moderator", "agent"),
    "agent": ("robin", "wren", "kite"),
    "patience": ("1.5", "2.5", "3.5"),
    "job_cap": ("1", "3", "4"),
    "lease": ("5", "6", "7"),
    "embedder": ("none", "remote", "local"),
    "embedder_url": ("http://a/v1", "http://b/v1", "http://c/v1"),
    "embedder_model": ("small", "large", "huge"),
    "embedder_key": ("k1", "k2", "k3"),
    "judge": ("none", "local", "none"),
    "keeper": ("none", "local", "none"),
    "writer": ("openai:a", "openai:b", "anthropic:c"),
    "writers": tuple(f"extract_facts=openai:{name}" for name in "abc"),
    "writer_url": ("http://a/v1", "http://b/v1", "http://c/v1"),
    "writer_key": ("k1", "k2", "k3"),
    "writer_timeout": ("5", "6", "7"),
    "writer_tokens": ("1000", "2000", "3000"),
    "turn_cap": ("1", "2", "4"),
    "day_cap": ("10", "20", "30"),
    "categories": ("a.yaml", "b.yaml", "c.yaml"),
    "escalation_mode": ("A", "B", "A"),
    "escalation_status": ("409", "428", "409"),
    "episode_idle": ("5", "6", "7"),
    "lock_minutes": ("30", "45", "120"),
    "summary_days": ("1", "2", "3"),
    "packet_days": ("10", "20", "30"),
    "archive_days": ("10", "20", "40"),
    "expire_days": ("50", "60", "70"),
    "repositories": ("p=/a", "p=/b", "q=/c"),
    "host": ("localhost", "0.0.0.0", "::1"),
    "port": ("0", "8000", "9000"),
    "head_seconds": ("1", "2", "3"),
    "body_seconds": ("1", "2", "3"),
}


def test_there_is_a_sample_of_every_setting():
    assert SAMPLES.keys() | {"home"} == {field.name for field in fields(Settings)}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_passed_comes_before_the_environment_and_that_before_the_file(name, home, monkeypatch):
    passed, environment, file = SAMPLES[name]

    def now(overrides: dict[str, str | None] | None = None) -> str:
        value = getattr(load(overrides), name)
        if isinstance(value, dict):
            return ",".join(f"{task}={model}" for task, model in value.items())
        return f"{value:g}" if isinstance(value, float) else str(value)

    write(home, f'{name} = "{file}"')
    assert now() == file
    monkeypatch.setenv(f"RECOLLECT_{name.upper()}", environment)
    assert now() == environment
    assert now({name: passed}) == passed
    assert now({name: None}) == environment, "an argument that was left out is not an argument"


@pytest.mark.parametrize(("name", "value"), [("patience", 2.5), ("job_cap", 3), ("lease", 7)])
def test_numbers_in_the_file_may_be_written_as_numbers(name, value, home):
    write(home, f"{name} = {value}")
    assert getattr(load(), name) == value


def test_models_for_single_tasks_are_a_table_of_the_file(home):
    write(home, '[writers]\nextract_facts = "openai:a"\ncompare_statements = "anthropic:b"')
    assert load().writers == {"extract_facts": "openai:a", "compare_statements": "anthropic:b"}
    assert load({"writers": "extract_facts = openai:c:d ,compare_statements=x"}).writers == {
        "extract_facts": "openai:c:d",
        "compare_statements": "x",
    }


@pytest.mark.parametrize("text", ["writers = 3", "writers = 'a:b'", "[writers]\nextract_facts = 2", "writers='=b'"])
def test_what_is_no_table_of_models_is_refused(text, home):
    write(home, text)
    with pytest.raises(Invalid, match=r"writers cannot be read.*name=value"):
        load()


def test_the_file_is_read_from_the_home_that_is_chosen(tmp_path, monkeypatch):
    for place in ("passed", "environment"):
        (tmp_path / place).mkdir()
        write(tmp_path / place, f'tenant = "{place}"')
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "environment"))
    assert load().tenant == "environment"
    assert load().store == str(tmp_path / "environment" / "memory.db")
    assert load({"home": str(tmp_path / "passed")}).tenant == "passed"


def test_a_tilde_in_the_home_is_the_users_own(tmp_path):
    assert load({"home": "~/elsewhere"}).home == tmp_path / "elsewhere"


def test_a_setting_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(
        Invalid, match=r"there is no setting .colour.*agent, archive_days, .*categories.*home, host, job_cap"
    ):
        load({"colour": "red"})


def test_a_file_with_a_setting_that_does_not_exist_is_refused(home):
    write(home, "colour = 'red'")
    with pytest.raises(Invalid, match=r"recollect.toml sets 'colour', which is no setting.*There are: agent"):
        load()


def test_variables_of_others_with_our_prefix_are_left_alone(monkeypatch):
    monkeypatch.setenv("RECOLLECT_COLOUR", "red")
    assert load().tenant == "default"


@pytest.mark.parametrize("text", ["tenant = ", "\ufeffa = b", "[tenant"])
def test_a_file_that_is_not_toml_is_refused_with_its_place(text, home):
    write(home, text)
    with pytest.raises(Invalid, match=r"recollect.toml is not valid TOML.*Correct it or move it away"):
        load()


def test_a_file_that_is_not_text_is_refused_with_its_place(home):
    (home / "recollect.toml").write_bytes(b"tenant = '\xff'")
    with pytest.raises(Invalid, match=r"recollect.toml is not valid TOML"):
        load()


DURATIONS = ["patience", "lease", "writer_timeout", "episode_idle", "summary_days", "expire_days", "head_seconds"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tenant", "Big Corp", "the setting tenant cannot be 'Big Corp': .*lower-case letters"),
        ("role", "king", "the setting role cannot be 'king'"),
        ("patience", "soon", "the setting patience is 'soon', not a number"),
        ("patience", "0", "patience is '0': it must be above 0"),
        ("patience", "-1", "patience is '-1': it must be above 0"),
        ("lease", "-0.1", "it must be above 0"),
        ("job_cap", "many", "not a number"),
        ("job_cap", "9" * 20, "it is 1,000,000,000 at most"),
        *((name, "1e308", f"the setting {name} is '1e308': it is 700,000 at most") for name in DURATIONS),
    ],
)
def test_a_bad_value_is_refused_by_its_name(name, value, message, monkeypatch):
    monkeypatch.setenv(f"RECOLLECT_{name.upper()}", value)
    with pytest.raises(Invalid, match=message):
        load()
    monkeypatch.delenv(f"RECOLLECT_{name.upper()}")
    with pytest.raises(Invalid, match=message):
        load({name: value})


@pytest.mark.parametrize("name", ["patience", "job_cap", "lease"])
def test_a_zero_in_the_file_is_refused_and_not_taken_for_the_default(name, home):
    write(home, f"{name} = 0")
    with pytest.raises(Invalid, match="it must be above 0"):
        load()


def test_the_longest_durations_have_a_date(home, tmp_path):
    write(home, "\n".join(f"{name} = 700_000" for name in [*DURATIONS, "packet_days", "archive_days"]))
    with wiring.connect(load({"store": str(tmp_path / "m.db"), "embedder": "none"}), create=True) as memory:
        memory.append([Message(text="The ferry leaves at noon.", author="mira")], thread_id="harbour")
        assert memory.compress(dry_run=True).strokes == ()


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_that_is_none_is_refused(value):
    with pytest.raises(Invalid, match="patience"):
        load({"patience": value})


@pytest.mark.parametrize("value", ["0.5", "2.5"])
def test_half_a_job_is_refused(value):
    with pytest.raises(Invalid, match="job_cap"):
        load({"job_cap": value})


def test_an_empty_variable_does_not_hide_the_file(home, monkeypatch):
    write(home, "tenant = 'ours'")
    monkeypatch.setenv("RECOLLECT_TENANT", "")
    assert load().tenant == "ours"


def test_a_user_without_a_name_on_this_machine_is_told_to_give_one(monkeypatch):
    """As in a container that runs under a number of its own."""

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(settings, "getuser", nobody)
    assert load({"user": "ann"}).user == "ann"
    with pytest.raises(Invalid, match="user"):
        load()


@pytest.mark.parametrize(
    ("store", "postgres"),
    [("postgresql://db/x", True), ("postgres://db/x", True), ("/tmp/m.db", False), ("postgres.db", False)],
)
def test_a_store_is_a_file_unless_it_is_the_address_of_a_database(store, postgres):
    assert load({"store": store}).postgres is postgres


def test_a_file_of_categories_in_the_home_is_found_by_itself(home):
    (home / "categories.yaml").write_text("categories: {}", "utf-8")
    assert load().categories == home / "categories.yaml"


def test_an_embedder_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(Invalid, match="There are: local, none, remote"):
        load({"embedder": "magic"})


@pytest.mark.parametrize("port", ["-1", "70000", "many"])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(Invalid, match="port"):
        load({"port": port})


@pytest.mark.parametrize(("text", "says"), [("a: [", "not valid YAML"), ("- a", "holds no settings")])
def test_a_broken_file_of_categories_is_refused_with_its_name(text, says, tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(Invalid, match=f"broken.yaml.*{says}"):
        settings.read_categories(path)


def test_a_file_of_categories_that_is_not_there_is_told_of(tmp_path):
    with pytest.raises(Invalid, match="there is no file"):
        settings.read_categories(tmp_path / "none.yaml")


def test_a_model_for_a_task_that_there_is_not_is_refused(home):
    with pytest.raises(Invalid, match=r"no language model is asked for 'cook'.*extract_facts"):
        minds.chosen(load({"writer": "openai:a", "writers": "cook=openai:b"}))
    with pytest.raises(Invalid, match="Set writer as well"):
        minds.chosen(load({"writers": "extract_facts=openai:b"}))
