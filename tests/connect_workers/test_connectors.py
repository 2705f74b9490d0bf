"""The lab's own connectors in a cluster, and the check of configurations."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from assignment_api.connectors import ConfigDef, ConfigKey, ConfigType, ConnectorConfigError, at_least
from assignment_api.plugins import discover
from connect_workers.contract import BadRequestError, Validation
from connect_workers.plugins.connector_plugins import ConnectorPlugins, UnknownConnectorClassError
from connect_workers.plugins.topic_patterns import pattern_problem, topic_matcher
from tests.connect_workers.live import PLUGINS, cluster, leader, put, states, until
from tests.plugins.installing import installed_in, write_distribution

SOURCE, SINK = "FileStreamSource", "org.apache.kafka.connect.file.FileStreamSinkConnector"


@pytest.mark.slow
def test_lines_of_a_file_reach_another_one_once_and_in_order(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            incoming, outgoing = made.logs.data.file("in"), made.logs.data.file("sub/out")
            incoming.write_bytes("a\nb é\r\nhalf".encode())
            await put(made, "source", SOURCE, topic="lines", file="in")
            await put(made, "sink", SINK, topics="lines", file="sub/out", tasks__max="2")
            await until(lambda: outgoing.is_file() and outgoing.read_text().splitlines() == ["a", "b é"])
            with incoming.open("a") as file:
                file.write(" and the rest\n")
            await until(lambda: outgoing.read_text().splitlines() == ["a", "b é", "half and the rest"])
            await made.roll_worker("w0")
            await made.until_calm()
            with incoming.open("a") as file:
                file.write("last\n")
            await until(lambda: outgoing.read_text().splitlines()[-1] == "last")
            assert outgoing.read_text().splitlines() == ["a", "b é", "half and the rest", "last"]

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["../../outside", "/etc/hostname", "link/outside"])
def test_a_path_out_of_the_directory_fails_the_connector(tmp_path: Path, path: str) -> None:
    async def scenario() -> str:
        async with cluster(tmp_path / "data") as made:
            (made.logs.data.files / "link").symlink_to(tmp_path)
            await put(made, "sink", SINK, topics="t", file=path)
            await until(lambda: states(made, "sink")[:1] == ["FAILED"])
            return leader(made).connector_status("sink").connector.trace or ""

    assert "PathNotAllowedError" in asyncio.run(scenario())
    assert not (tmp_path / "outside").exists()


def test_a_link_that_appears_later_is_not_followed(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with cluster(tmp_path / "data") as made:
            secret = tmp_path / "secret"
            secret.write_text("secret\n")
            await put(made, "source", SOURCE, topic="lines", file="in")
            await until(lambda: states(made, "source") == ["RUNNING", "RUNNING"])
            made.logs.data.file("in").symlink_to(secret)
            await until(lambda: states(made, "source")[1:] == ["FAILED"])
            assert made.logs.topics.ends() == {}
            return leader(made).connector_status("source").tasks[0].trace or ""

    assert "PathNotAllowedError" in asyncio.run(scenario())


def test_a_generator_counts_without_gaps_over_restarts(tmp_path: Path) -> None:
    async def run(records: int) -> None:
        async with cluster(tmp_path) as made:
            await put(made, "gen", "generator", topic="t", records__per__second="500", records__max=str(records))
            await until(lambda: made.logs.topics.ends().get(("t", 0), 0) >= records)

    for records in (20, 45):
        asyncio.run(run(records))

    async def look() -> list[int]:
        async with cluster(tmp_path) as made:
            return [record.value["n"] for record in made.logs.topics.partition("t", 0).read(0)]

    assert asyncio.run(look()) == list(range(45))


def test_failures_on_demand(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cluster(tmp_path) as made:
            await put(made, "start", "failing", topic="t", fail__task__on__start="true")
            await until(lambda: states(made, "start") == ["RUNNING", "FAILED"])
            await put(made, "later", "failing", topic="u", fail__after__records="3", records__per__second="500")
            await until(lambda: states(made, "later") == ["RUNNING", "FAILED"])
            assert made.logs.topics.ends() == {("u", 0): 3}
            await put(made, "connector", "failing", topic="t", fail__connector__on__start="true")
            await until(lambda: states(made, "connector") == ["FAILED"])
            starts = made.workers["w0"].herder.loop.instances
            assert (starts.task_starts.failed, starts.connector_starts.failed) == (1, 1)

    asyncio.run(scenario())


# --- configurations -----------------------------------------------------------------------------------


def errors(validation: Validation) -> dict[str, list[str]]:
    return {each["value"]["name"]: each["value"]["errors"] for each in validation.configs if each["value"]["errors"]}


def test_a_configuration_is_checked_in_kafkas_words() -> None:
    config = {
        "name": "v", "connector.class": "generator", "tasks.max": "0", "generators": "x", "records.per.second": "1e400",
        "value.converter": "nobody.Knows", "transforms": "a,b", "errors.tolerance": "some",
        "tasks.max.enforce": "maybe",
    }  # fmt: skip
    validation = PLUGINS.validate(config)
    assert errors(validation) == {
        "tasks.max": ["Invalid value 0 for configuration tasks.max: Value must be at least 1"],
        "tasks.max.enforce": [
            "Invalid value maybe for configuration tasks.max.enforce: Expected value to be either true or false"
        ],
        "value.converter": [
            "Invalid value nobody.Knows for configuration value.converter: Class nobody.Knows could not be found."
        ],
        "transforms": [
            "Invalid value a,b for configuration transforms: Transformations do not exist on these workers"
        ],
        "errors.tolerance": [
            "Invalid value some for configuration errors.tolerance: String must be one of (case insensitive): none, all"
        ],
        "topic": ['Missing required configuration "topic" which has no default value.'],
        "generators": [
            "Invalid value x for configuration generators: Not a number of type INT",
            "Invalid value null for configuration generators: Value must be non-null",
        ],
        "records.per.second": [
            "Invalid value inf for configuration records.per.second: Value must be from 0.001 to 1000000"
        ],
    }  # fmt: skip
    assert validation.error_count == 9


def test_a_good_configuration_has_no_errors_and_shows_every_key() -> None:
    validation = PLUGINS.validate({"name": "v", "connector.class": SINK, "topics": "a,b", "file": "x"})
    assert validation.error_count == 0
    assert validation.name == SINK
    shown = [each["definition"]["name"] for each in validation.configs]
    assert shown[:3] == ["name", "connector.class", "connector.plugin.version"]
    assert shown[-1] == "file"
    assert set(validation.configs[0]["definition"]) == {
        "name", "type", "required", "default_value", "importance", "documentation", "group", "order_in_group", "width",
        "display_name", "dependents",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("topics", "regex", "problem"),
    [
        (None, None, "Must configure one of"),
        ("a", "b", "mutually exclusive"),
        (None, "(a+)+b", "repeated groups"),
        (None, "(", "not an expression"),
        (None, ".*.*.*.*x", "more than 3 repeats"),
        (None, r"(a)\1", "references to groups"),
        (None, "a?" * 60 + "a" * 60, "optional parts"),
        (None, "(a|a)" * 60 + "b", "optional parts"),
    ],
)
def test_a_sink_reads_a_list_or_an_expression_that_is_cheap(
    topics: str | None, regex: str | None, problem: str
) -> None:
    config = {"name": "v", "connector.class": "collecting", "topics": topics, "topics.regex": regex}
    found = errors(PLUGINS.validate({key: value for key, value in config.items() if value is not None}))
    assert any(problem in error for each in found.values() for error in each)


def test_an_expression_means_whole_names() -> None:
    matches = topic_matcher({"topics.regex": "a.*|b"})
    assert [matches(name) for name in ("a", "ax", "b", "bx", "xa")] == [True, True, True, False, False]
    assert pattern_problem("|".join(f"orders-{number}(-eu|-us)?" for number in range(20))) is None
    assert not topic_matcher({"topics.regex": "(a+)+"})("a")
    assert pattern_problem("x" * 501) is not None


def test_only_registered_classes_can_be_configured() -> None:
    for name in ("os.system", "tests.connect_workers.live:TrackedSource", "", "Generator"):
        with pytest.raises(UnknownConnectorClassError, match="Failed to find any class"):
            PLUGINS.validate({"name": "v", "connector.class": name})
    with pytest.raises(BadRequestError, match="contains no connector type"):
        PLUGINS.validate({"name": "v"})


def test_installed_connectors_are_found_by_kafkas_names_too() -> None:
    plugins = ConnectorPlugins.from_registry(discover())
    listed = [plugin.class_name for plugin in plugins.listed(connectors_only=True)]
    assert listed[:2] == [
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "org.apache.kafka.connect.file.FileStreamSinkConnector",
    ]
    for name in ("FileStreamSink", "FileStreamSinkConnector", "file_sink", SINK):
        assert plugins.kind(name).type == "sink"
    assert {plugin.type for plugin in plugins.listed(connectors_only=False)} == {
        "source", "sink", "converter", "header_converter"
    }  # fmt: skip


@pytest.mark.parametrize("text", ["1_000", "٣", "1.5", "", " ", "0x10", "9" * 5_000, "-2147483649"])
def test_a_number_is_what_java_takes_for_one(text: str) -> None:
    definition = ConfigDef([ConfigKey("n", ConfigType.INT, "A number.", check=at_least(0))])
    with pytest.raises(ConnectorConfigError, match="Not a number of type INT"):
        definition.parse({"n": text})
    assert definition.parse({"n": " 17 "}) == {"n": 17}


def test_a_password_is_never_shown() -> None:
    definition = ConfigDef([ConfigKey("p", ConfigType.PASSWORD, "Secret.", check=lambda _: "is wrong")])
    (value,) = definition.checked({"p": "hunter2"})
    assert "hunter2" not in json.dumps(value.errors)


def test_no_log_line_shows_what_a_configuration_holds(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = "correct horse battery staple"

    async def scenario() -> None:
        async with cluster(tmp_path, 2) as made:
            await put(made, "a", "failing", topic="t", password=secret, fail__task__on__start="true")
            await until(lambda: states(made, "a") == ["RUNNING", "FAILED"])
            await put(made, "a", "failing", topic="t", password=secret, fail__connector__on__start="true")
            await until(lambda: states(made, "a")[:1] == ["FAILED"])
            with pytest.raises(BadRequestError):
                await put(made, "a", "failing", password=secret)
            await leader(made).delete_connector("a")
            await made.until_calm()

    with caplog.at_level("DEBUG"):
        asyncio.run(scenario())
    assert "a-0 has failed" in caplog.text
    assert secret not in caplog.text


# --- connectors of others -----------------------------------------------------------------------------

PORTER = """
    from assignment_api.connectors import ConfigDef, SourceConnector, SourceTask
    from assignment_api.plugins import ConnectorPlugin, hookimpl


    class PorterTask(SourceTask):
        def poll(self):
            self.context.wait(0.1)
            return ()


    class PorterConnector(SourceConnector):
        task_class = PorterTask

        @classmethod
        def config_def(cls):
            return ConfigDef([])

        def task_configs(self, max_tasks):
            return [{}]


    def missing():
        raise ImportError("a library is missing")


    @hookimpl
    def assignor_lab_connectors():
        return [
            ConnectorPlugin("porter", lambda: PorterConnector, ("com.example.PorterConnector",)),
            ConnectorPlugin("broken", missing),
            ConnectorPlugin("no_connector", lambda: dict),
            ConnectorPlugin("thief", lambda: PorterConnector, ("org.apache.kafka.connect.file.Thief",)),
        ]
"""


def test_a_distributions_connector_runs_and_a_broken_one_costs_nobody_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "installed"
    folder.mkdir()
    write_distribution(folder, "porter", {"porter": PORTER}, {"porter": "porter"})
    monkeypatch.syspath_prepend(str(folder))
    plugins = ConnectorPlugins.from_registry(discover(installed=installed_in(folder)))
    listed = [plugin.class_name for plugin in plugins.listed(connectors_only=True)]
    assert listed[-1] == "com.example.PorterConnector"
    assert len(listed) == 5
    assert "a library is missing" in caplog.text
    assert "neither a SourceConnector nor a SinkConnector" in caplog.text
    assert "only assignor-lab may stand for it" in caplog.text

    async def scenario() -> None:
        async with cluster(tmp_path / "data", plugins=plugins) as made:
            await put(made, "mine", "Porter")
            await until(lambda: states(made, "mine") == ["RUNNING", "RUNNING"])
            status = leader(made).connector_status("mine")
            # The REST interface leaves out empty values.
            assert [status.connector.version, status.tasks[0].version] == ["undefined", "undefined"]

    asyncio.run(scenario())
