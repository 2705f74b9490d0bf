"""Effective configuration: precedence of sources, origins of values, and ignored keys."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from assignment_api import ConfigError
from assignment_api.plugins import (
    ConfigFileError,
    ConfigKeyError,
    ConfigValueError,
    EffectiveConfig,
    Layer,
    Pin,
    Policy,
    UntrustedCodeError,
    config_sources,
    discover,
    effective_config,
    select_task_assignor,
)
from assignment_api.plugins.config_files import MAX_BYTES
from assignment_api.plugins.keys import meant_key
from assignment_api.plugins.selection import hides

STANDBYS = "num.standby.replicas"

#: Unread keys of Kafka's Streams, consumer, producer and admin configuration.
_OTHER = """
    acks allow.auto.create.topics allow.os.group.write.access application.id auto.commit.interval.ms
    auto.include.jmx.reporter auto.offset.reset batch.size bootstrap.controllers bootstrap.servers buffer.memory
    buffered.records.per.partition built.in.metrics.version cache.max.bytes.buffering check.crcs
    client.dns.lookup client.id compression.gzip.level compression.lz4.level compression.type
    compression.zstd.level connections.max.idle.ms default.api.timeout.ms default.client.supplier
    default.deserialization.exception.handler default.dsl.store default.key.serde default.list.key.serde.inner
    default.list.key.serde.type default.production.exception.handler default.timestamp.extractor
    default.value.serde delivery.timeout.ms deserialization.exception.handler
    enable.auto.commit enable.idempotence enable.metrics.push ensure.explicit.internal.resource.naming
    errors.dead.letter.queue.topic.name exclude.internal.topics fetch.max.bytes fetch.max.wait.ms
    fetch.min.bytes group.id group.instance.id group.remote.assignor interceptor.classes
    isolation.level key.deserializer key.serializer linger.ms log.summary.interval.ms max.block.ms
    max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.records
    max.request.size max.task.idle.ms metadata.max.idle.ms
    metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters metrics.num.samples
    metrics.recording.level metrics.sample.window.ms partition.assignment.strategy
    partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms partitioner.class
    partitioner.ignore.keys poll.ms processing.exception.handler processor.wrapper.class
    production.exception.handler receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms
    repartition.purge.interval.ms replication.factor request.timeout.ms retries retry.backoff.max.ms
    retry.backoff.ms rocksdb.config.setter sasl.client.callback.handler.class sasl.jaas.config
    sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.service.name
    sasl.login.callback.handler.class sasl.login.class sasl.login.refresh.window.factor sasl.mechanism
    sasl.oauthbearer.token.endpoint.url security.protocol security.providers send.buffer.bytes
    share.acknowledgement.mode socket.connection.setup.timeout.max.ms
    socket.connection.setup.timeout.ms ssl.cipher.suites ssl.enabled.protocols
    ssl.endpoint.identification.algorithm ssl.engine.factory.class ssl.key.password ssl.keystore.location
    ssl.keystore.password ssl.keystore.type ssl.protocol ssl.provider ssl.truststore.location
    ssl.truststore.password state.cleanup.dir.max.age.ms state.dir
    statestore.cache.max.bytes task.timeout.ms transaction.timeout.ms
    transaction.two.phase.commit.enable transactional.id value.deserializer value.serializer window.size.ms
    windowed.inner.class.serde windowstore.changelog.additional.retention.ms consumer.client.rack
    main.consumer.client.rack restore.consumer.group.protocol producer.client.rack topic.retention.ms
    admin.group.protocol global.consumer.client.rack
"""
OTHER_KAFKA_KEYS = _OTHER.split()


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def effective(
    folder: Path,
    file: Path | None = None,
    overrides: Sequence[str] = (),
    scenario: dict[str, object] | None = None,
    **environ: str,
) -> EffectiveConfig:
    return effective_config(file, overrides, scenario=scenario, place="s.jsonl:1", environ=environ, start=folder)


# --- layers ---------------------------------------------------------------------------------------


def test_each_source_replaces_the_ones_below_it(tmp_path: Path) -> None:
    write(tmp_path, "assignor.toml", "num.standby.replicas = 1")
    file = write(tmp_path, "app.properties", "num.standby.replicas=4")
    seen = [
        effective_config(environ={}, start=Path("/"))[STANDBYS],
        effective(tmp_path)[STANDBYS],
        effective(tmp_path, ASSIGNOR_NUM_STANDBY_REPLICAS="2")[STANDBYS],
        effective(tmp_path, scenario={STANDBYS: 3}, ASSIGNOR_NUM_STANDBY_REPLICAS="2")[STANDBYS],
        effective(tmp_path, file, scenario={STANDBYS: 3})[STANDBYS],
        effective(tmp_path, file, [f"{STANDBYS}=5"], scenario={STANDBYS: 3})[STANDBYS],
    ]
    assert [int(held.value) for held in seen] == [0, 1, 2, 3, 4, 5]
    assert [held.origin.layer for held in seen] == [layer for layer in Layer if layer is not Layer.PLUGIN]


def test_a_value_knows_its_place(tmp_path: Path) -> None:
    file = write(tmp_path, "app.properties", "# mine\nnum.standby.replicas=4")
    found = effective(tmp_path, file, ["max.warmup.replicas=9"], ASSIGNOR_CLIENT_TAG_ZONE="a")
    assert str(found[STANDBYS].origin) == f"--config {file}:2"
    assert str(found["max.warmup.replicas"].origin) == "-c max.warmup.replicas"
    assert str(found["client.tag.zone"].origin) == "environment variable ASSIGNOR_CLIENT_TAG_ZONE"
    assert str(found["acceptable.recovery.lag"].origin) == "Kafka's default"


def test_a_stray_file_never_changes_what_a_scenario_leaves_out(tmp_path: Path) -> None:
    write(tmp_path, "assignor.toml", "num.standby.replicas = 1")
    found = effective(tmp_path, scenario={}, ASSIGNOR_MAX_WARMUP_REPLICAS="7")
    assert (found[STANDBYS].value, found["max.warmup.replicas"].value) == (0, 2)
    assert str(found[STANDBYS].origin) == "scenario s.jsonl:1 (left out there: Kafka's default)"


def test_only_explicit_sources_replace_a_scenarios_own_values(tmp_path: Path) -> None:
    write(tmp_path, "assignor.toml", "num.standby.replicas = 1\nmax.warmup.replicas = 3")
    sources = config_sources(None, ["num.standby.replicas=2"], environ={}, start=tmp_path)
    assert sources.explicit_values() == {STANDBYS: 2}


def test_of_two_overrides_of_one_key_the_last_counts(tmp_path: Path) -> None:
    assert effective(tmp_path, None, [f"{STANDBYS}=1", f"{STANDBYS}=2"])[STANDBYS].value == "2"


def test_sources_travel_to_other_processes(tmp_path: Path) -> None:
    sources = config_sources(None, ["num.standby.replicas=2"], environ={}, start=tmp_path)
    assert pickle.loads(pickle.dumps(sources)) == sources


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("assignor.toml", "num.standby.replicas = 3"),
        ("assignor.toml", '"num.standby.replicas" = 3'),
        ("assignor.toml", "[num.standby]\nreplicas = 3"),
        ("assignor.toml", "[tool.assignor]\nnum.standby.replicas = 3"),
        ("pyproject.toml", "[tool.other]\nx = 1\n[tool.assignor]\nnum.standby.replicas = 3"),
    ],
)
def test_a_file_is_discovered_from_a_folder_below(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert effective(below)[STANDBYS].value == 3


def test_the_nearest_file_counts_and_others_pyproject_do_not(tmp_path: Path) -> None:
    write(tmp_path, "assignor.toml", "num.standby.replicas = 3")
    below = tmp_path / "below"
    below.mkdir()
    write(below, "pyproject.toml", "[project]\nname = 'x' broken")
    assert effective(below)[STANDBYS].value == 3
    write(below, "assignor.toml", "num.standby.replicas = 4")
    assert effective(below)[STANDBYS].value == 4


@pytest.mark.parametrize("name", ["app.toml", "app.properties"])
def test_nothing_but_assignment_keys_is_kept(tmp_path: Path, name: str) -> None:
    lines = [
        "num.standby.replicas = 1",
        'sasl.jaas.config = "hunter2"',
        'ssl.key.password = "hunter2"',
        'x = "hunter2"',
    ]
    found = effective(tmp_path, write(tmp_path, name, "\n".join(lines)))
    assert "hunter2" not in repr(found)
    assert "ssl.key.password" not in repr(found)


def test_the_keys_of_a_real_application_are_dropped_without_a_word(tmp_path: Path) -> None:
    found = effective(tmp_path, write(tmp_path, "a.properties", "\n".join(f"{key}=1" for key in OTHER_KAFKA_KEYS)))
    assert found.notes == ()
    assert {held.origin.layer for held in found.values()} == {Layer.DEFAULT}


def test_settings_of_time_are_read_and_given_to_no_assignor(tmp_path: Path) -> None:
    file = write(tmp_path, "a.properties", "session.timeout.ms=10000\nprocessing.guarantee=exactly_once_v2")
    found = effective(tmp_path, file, ["session.timeout.ms=20000"])
    assert found["session.timeout.ms"].value == "20000"
    assert found["processing.guarantee"].value == "exactly_once_v2"
    assert not {"session.timeout.ms", "processing.guarantee"} & set(found.values_for("sticky"))


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (("main.consumer.session.timeout.ms=3", "consumer.session.timeout.ms=2", "session.timeout.ms=1"), "3"),
        (("session.timeout.ms=1", "consumer.session.timeout.ms=2"), "2"),
        (("session.timeout.ms=1", "session.timeout.ms=2"), "2"),
    ],
)
def test_a_consumers_own_key_goes_before_the_plain_one(tmp_path: Path, lines: tuple[str, ...], value: str) -> None:
    found = effective(tmp_path, write(tmp_path, "a.properties", "\n".join(lines)))
    assert found["session.timeout.ms"].value == value


def test_a_brokers_default_is_the_groups_setting_unless_the_group_has_its_own(tmp_path: Path) -> None:
    key = "streams.session.timeout.ms"
    broker = effective(tmp_path, write(tmp_path, "b.properties", f"group.{key}=50000"))
    assert broker[key].value == "50000"
    group = effective(tmp_path, write(tmp_path, "g.properties", f"{key}=60000\ngroup.{key}=50000"))
    assert group[key].value == "60000"


@pytest.mark.parametrize("line", ["session.timeout.ms=0", "session.timeout.ms=soon", "processing.guarantee=twice"])
def test_a_wrong_setting_of_time_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigValueError, match=r"a\.properties:1: Invalid value"):
        effective(tmp_path, write(tmp_path, "a.properties", line))


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.toml", b"x = ", r"a\.toml: no valid TOML"),
        ("a.toml", b'password = "hunter2\nnext = 1', r"a\.toml: no valid TOML \(at line 1"),
        ("a.toml", b"x = '\xff'", r"a\.toml: no UTF-8 at byte 5"),
        ("a.toml", b"x = " + b"[" * 100_000, r"a\.toml: no usable TOML|no valid TOML"),
        ("a.toml", b'num.standby.replicas = 1\n"num.standby.replicas" = 2', "there twice"),
        ("a.toml", b"tool.assignor = 3", "must be a table"),
        ("a.properties", b"ok=1\nx=\\u12", r"a\.properties:2: a \\u escape"),
        ("a.properties", b"\0", "zero byte"),
        ("a.properties", b"x" * (MAX_BYTES + 1), "longer than"),
        ("a.jsonl", b"{}", r"expected a file named \*\.toml or \*\.properties"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigFileError, match=complaint) as caught:
        effective(tmp_path / "elsewhere", path)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing.toml", "folder.toml"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    tmp_path.joinpath("folder.toml").mkdir()
    with pytest.raises(ConfigFileError, match="cannot be read"):
        effective(tmp_path, tmp_path / name)


# --- keys and values ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("num.standby.replica", STANDBYS),
        ("num_standby_replicas", STANDBYS),
        ("Num.Standby.Replicas", STANDBYS),
        ("num.standbys.replicas", STANDBYS),
        ("max.warm.up.replicas", "max.warmup.replicas"),
        ("rack.aware.assignment.traffic.cost", "rack.aware.assignment.traffic_cost"),
        ("tasks.assignor.class", "task.assignor.class"),
        ("spring.kafka.streams.properties.num.standby.replicas", STANDBYS),
        ("completely.different", None),
        *((key, None) for key in OTHER_KAFKA_KEYS),
    ],
)
def test_a_near_miss_of_a_key_is_noticed(key: str, meant: str | None) -> None:
    assert meant_key(key) == meant


def test_a_near_miss_in_an_explicit_file_is_refused_with_its_line_and_without_its_value(tmp_path: Path) -> None:
    file = write(tmp_path, "app.properties", "\nnum.standby.replica=hunter2")
    with pytest.raises(
        ConfigKeyError, match=r"properties:2: unknown key .*did you mean 'num\.standby\.replicas'"
    ) as caught:
        effective(tmp_path, file)
    assert "hunter2" not in str(caught.value)


def test_a_key_of_ours_behind_a_frameworks_prefix_is_a_note(tmp_path: Path) -> None:
    file = write(tmp_path, "app.properties", "spring.kafka.streams.properties.num.standby.replicas=2")
    (sentence,) = effective(tmp_path, file).notes
    assert sentence.endswith("did you mean 'num.standby.replicas'?")


def test_a_near_miss_in_a_discovered_file_or_a_variable_is_a_note(tmp_path: Path) -> None:
    write(tmp_path, "assignor.toml", "num.standby.replica = 1")
    notes = effective(tmp_path, ASSIGNOR_MAX_WARMUP_REPLICA="1").notes
    assert ["did you mean" in note for note in notes] == [True, True]


@pytest.mark.parametrize("item", ["bootstrap.servers=x", "num.standby.replica=1", "num.standby.replicas", "=1", ""])
def test_an_override_must_be_an_assignment_key_and_a_value(tmp_path: Path, item: str) -> None:
    with pytest.raises(ConfigKeyError, match=r"^-c: "):
        effective(tmp_path, None, [item])


@pytest.mark.parametrize(
    "item",
    [
        "max.warmup.replicas=0",
        "num.standby.replicas=many",
        "acceptable.recovery.lag=-1",
        "probing.rebalance.interval.ms=59999",
        "rack.aware.assignment.strategy=best",
        "rack.aware.assignment.tags=a,b,c,d,e,f",
        "rack.aware.assignment.traffic_cost=2147483648",
        "task.assignor.class= ",
        "num.stream.threads=0",
        "group.protocol=modern",
        "application.server=nowhere",
        f"client.tag.zone={'x' * 31}",
        f"client.tag.{'x' * 21}=a",
        "assignor.plugins.pin=acme",
    ],
)
def test_a_value_out_of_its_range_is_refused_where_it_was_given(tmp_path: Path, item: str) -> None:
    key, _, value = item.partition("=")
    with pytest.raises(ConfigValueError, match=f"^-c {key}: "):
        effective(tmp_path, None, [item])
    file = write(tmp_path, "app.properties", f"{key}={value}")
    with pytest.raises(ConfigValueError, match=r"app\.properties:1: "):
        effective(tmp_path, file)


def test_a_bad_value_of_a_scenario_is_left_to_its_row(tmp_path: Path) -> None:
    found = effective(tmp_path, scenario={"max.warmup.replicas": 0})
    assert found.problem("max.warmup.replicas") == (
        "Invalid value 0 for configuration max.warmup.replicas: Value must be at least 1"
    )
    assert found.problem(STANDBYS) is None


# --- configuration of plugins -----------------------------------------------------------------------


def test_a_plugin_gets_kafkas_keys_and_its_own_settings(tmp_path: Path) -> None:
    file = write(
        tmp_path, "a.toml", "assignor.mine.depth = 3\nassignor.other.depth = 4\nassignor.plugins.block = ['x']"
    )
    values = effective(tmp_path, file, ASSIGNOR__MINE__WIDTH="5").values_for("mine")
    assert {key: value for key, value in values.items() if key.startswith("assignor.")} == {
        "assignor.mine.depth": 3,
        "assignor.mine.width": "5",
    }
    assert values[STANDBYS] == 0


def test_a_secret_setting_is_handed_over_and_not_shown(tmp_path: Path) -> None:
    found = effective(tmp_path, None, ["assignor.mine.api_token=hunter2"])
    assert found.values_for("mine")["assignor.mine.api_token"] == "hunter2"
    assert found.shown("assignor.mine.api_token") == "(hidden)"


@pytest.mark.parametrize(
    ("key", "show", "hidden"),
    [
        ("assignor.mine.pin", [], True),
        ("assignor.mine.pin", ["assignor.plugins.show=mine"], False),
        ("assignor.my-plugin.pin", ["assignor.plugins.show=My_Plugin"], False),
        ("assignor.mine.pin", ["assignor.plugins.show=other,assignor.mine.pin"], False),
        ("assignor.mine.pin", ["assignor.plugins.show=assignor.mine.other"], True),
        ("assignor.mine.api_token", ["assignor.plugins.show=mine"], True),
        ("assignor.static.pins", [], False),
        ("assignor.sticky.password", [], True),
        ("assignor.java.kafka", [], False),
        ("assignor.java.config.license", [], True),
        ("num.standby.replicas", [], False),
    ],
)
def test_results_leave_out_settings_of_plugins(tmp_path: Path, key: str, show: list[str], hidden: bool) -> None:
    assert hides(effective(tmp_path, None, [f"{key}=1", *show]), key, "1") is hidden


def test_the_policy_comes_from_configuration(tmp_path: Path) -> None:
    file = write(tmp_path, "a.properties", "assignor.plugins.allow=a, b\nassignor.plugins.pin=a==1.0")
    found = effective(tmp_path, file, ASSIGNOR_PLUGINS_BLOCK="c")
    assert found.policy() == Policy(("a", "b"), ("c",), (Pin("a", "1.0"),))


def test_a_scenario_cannot_change_the_policy(tmp_path: Path) -> None:
    assert effective(tmp_path, scenario={"assignor.plugins.block": "sticky"}).policy() == Policy()


# --- selection ------------------------------------------------------------------------------------

INTERNAL = "org.apache.kafka.streams.processor.internals.assignment"
CODE = "builtin_assignors.sticky:StickyTaskAssignor"


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ([], "high_availability"),
        (["task.assignor.class=sticky"], "sticky"),
        (["task.assignor.class=assignor-lab:sticky"], "sticky"),
        ([f"internal.task.assignor.class={INTERNAL}.LegacyStickyTaskAssignor"], "legacy_sticky"),
        (["internal.task.assignor.class=FallbackPriorTaskAssignor", "task.assignor.class=sticky"], "sticky"),
        ([f"task.assignor.class={CODE}"], CODE),
    ],
)
def test_the_configuration_selects_the_assignor(tmp_path: Path, overrides: list[str], name: str) -> None:
    assert select_task_assignor(discover(), effective(tmp_path, None, overrides)).name == name


@pytest.mark.slow
def test_a_discovered_file_the_environment_and_a_scenario_may_not_name_code(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    write(tmp_path, "assignor.toml", f'task.assignor.class = "{CODE}"')
    for found in (
        effective(tmp_path),
        effective(empty, ASSIGNOR_TASK_ASSIGNOR_CLASS=CODE),
        effective(empty, scenario={"task.assignor.class": CODE}),
    ):
        with pytest.raises(UntrustedCodeError, match=r"^task\.assignor\.class \("):
            select_task_assignor(discover(), found)


@pytest.mark.slow
def test_an_explicit_file_may_name_code(tmp_path: Path) -> None:
    file = write(tmp_path, "app.properties", f"task.assignor.class={CODE}")
    assert select_task_assignor(discover(), effective(tmp_path, file)).name == CODE


def test_errors_of_values_are_kafkas(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        effective(tmp_path, None, ["max.warmup.replicas=0"])
    assert caught.value.java_type == "ConfigException"
