"""A Java assignor's input, the handling of its answers, and reasons why one is unavailable; each in one sentence."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import attrs
import pytest
from typer.testing import CliRunner

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.plugins import PluginLoadError
from assignment_api.plugins.selection import config_sources
from assignor_lab.cli.app import build_app
from assignor_lab.groups.streams.assignor_calls import ASKING, invoke
from assignor_lab.runtime.assignor_calls import assignor_for
from assignor_lab.runtime.discovery import Plugins, discovered
from assignor_lab.runtime.invocation import CallFailure, CallOutcome
from assignor_lab.runtime.java import java_assignor
from assignor_lab.scenarios import read_scenarios
from tests.builtin_assignors.golden import GOLDEN
from tests.runtime.java.kafka import KAFKA_4_3, STICKY, compiled

pytestmark = pytest.mark.services


@attrs.frozen
class Named:
    jar: Path
    plugins: Plugins

    def found(self, name: str, jars: str | None = None) -> Any:
        selector = f"java:lab.Bad${name}@{self.jar if jars is None else jars}"
        return self.plugins.registry.task_assignor(selector, may_run_code=True)

    def outcome(
        self, name: str, application: ApplicationMetadata, configs: Mapping[str, Any] | None = None
    ) -> CallOutcome[TaskAssignment]:
        return assignor_for(ASKING, self.found(name), configs or {}, self.plugins.isolation).ask(application)

    def failure(
        self, name: str, application: ApplicationMetadata, configs: Mapping[str, Any] | None = None
    ) -> CallFailure:
        failure = self.outcome(name, application, configs).failure
        assert failure is not None
        return failure

    def refusal(self, name: str, jars: str | None = None) -> str:
        with pytest.raises(PluginLoadError) as raised:
            self.found(name, jars)
        return str(raised.value).removeprefix(f"assignor java:lab.Bad${name}: ")


@pytest.fixture(scope="module")
def named(bad_jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Named]:
    overrides = [f"assignor.java.kafka={KAFKA_4_3}", "assignor.java.config.client.id=mine"]
    config = config_sources(None, overrides, environ={}, start=tmp_path_factory.mktemp("start")).effective()
    plugins = discovered(config, installed=())
    yield Named(bad_jar, plugins)
    plugins.isolation.close()


@pytest.fixture
def application() -> ApplicationMetadata:
    scenario = next(each for each in read_scenarios(GOLDEN / "small.scenarios.jsonl.gz") if each.id == "small-00153")
    made: ApplicationMetadata = scenario.application
    return made


# --- its input ------------------------------------------------------------------------------------


def test_configure_is_given_texts_as_an_application_has_them(named: Named, application: ApplicationMetadata) -> None:
    configs = {
        "num.standby.replicas": 1,
        "rack.aware.assignment.tags": ("zone", "cluster"),
        "internal.task.assignor.class": "none of theirs",
        "assignor.other.key": "none either",
    }
    assert named.failure("Tells", application, configs).message == (
        "configs {client.id=mine, num.standby.replicas=1, rack.aware.assignment.tags=zone,cluster, "
        "task.assignor.class=lab.Bad$Tells}"
    )


def test_the_callback_is_told_of_every_consumer(named: Named, application: ApplicationMetadata) -> None:
    failure = named.failure("Observes", application)
    consumers = sorted(
        consumer for client in application.streams_client_states().values() for consumer in client.consumers
    )
    assert failure.message == f"NONE [{', '.join(consumers)}] [{', '.join(consumers)}]"
    assert failure.traceback.startswith("Bad.java:")
    assert failure.traceback.endswith("in lab.Bad$Observes.onAssignmentComputed")


def test_a_key_of_streams_config_that_is_missing_is_told_with_what_gives_it(
    named: Named, application: ApplicationMetadata
) -> None:
    failure = named.failure("WantsStreamsConfig", application)
    assert failure.type == "ConfigException"
    assert failure.message == (
        'Missing required configuration "application.id" which has no default value: the lab keeps only the keys of a '
        "configuration that concern assignment; give the rest with -c assignor.java.config.application.id=VALUE"
    )


def test_a_deadline_is_as_far_ahead_of_the_states_moment_as_of_the_machines(
    named: Named, application: ApplicationMetadata
) -> None:
    answer = named.outcome("ComesBack", application).answer
    assert answer is not None
    deadlines = {client.followup_rebalance_deadline_ms for client in answer.assignments}
    assert deadlines == {application.current_time_ms() + 600_000}


@pytest.mark.parametrize(
    ("name", "said"),
    [("Returns", "assign() returned null"), ("Invents", "has no client 00000000-0000-0001-0000-000000000001")],
)
def test_an_answer_that_is_none_is_told(named: Named, application: ApplicationMetadata, name: str, said: str) -> None:
    failure = named.failure(name, application)
    assert failure.type == "InvalidAnswerError"
    assert said in failure.message


def test_a_failure_is_the_same_every_time(named: Named, application: ApplicationMetadata) -> None:
    for name in ("Raises", "Recurses"):
        assert named.failure(name, application) == named.failure(name, application)


def test_after_a_jvm_that_ended_there_is_another(named: Named, application: ApplicationMetadata) -> None:
    asked = assignor_for(ASKING, named.found("Exits"), {}, named.plugins.isolation)
    first, second = asked.ask(application), asked.ask(application)
    assert first.failure == second.failure
    assert first.failure is not None
    assert first.failure.type == "ProcessDiedError"


def test_a_debugger_that_has_nothing_to_show_is_told(named: Named) -> None:
    words = ["assign", "--assignor", f"java:lab.Bad$Raises@{named.jar}@{KAFKA_4_3}", "--pdb", "--id", "small-00153"]
    ended = CliRunner().invoke(build_app(), [*words, str(GOLDEN / "small.scenarios.jsonl.gz")])
    assert "no debugger was opened, because this process raised no exception; --traceback shows" in ended.stderr


# --- why it is unavailable ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Missing", "there is no class lab.Bad$Missing on its class path: add the jar that has it"),
        ("IsNone", "lab.Bad$IsNone is no assignor: it has to implement org.apache.kafka.streams.processor"),
        ("Abstract", "lab.Bad$Abstract is an interface or an abstract class: name a class that can be made"),
        ("NeedsAnArgument", "lab.Bad$NeedsAnArgument has no constructor without arguments"),
    ],
)
def test_a_class_that_cannot_be_asked_is_told(named: Named, name: str, said: str) -> None:
    assert named.refusal(name).startswith(said)


def test_an_internal_assignor_of_kafka_is_told(named: Named) -> None:
    internal = "org.apache.kafka.streams.processor.internals.assignment.HighAvailabilityTaskAssignor"
    with pytest.raises(PluginLoadError, match="is an internal assignor of Kafka"):
        named.plugins.registry.task_assignor(f"java:{internal}", may_run_code=True)


def test_a_class_of_a_later_java_is_told(named: Named, tmp_path: Path) -> None:
    later = tmp_path / "later.jar"
    with zipfile.ZipFile(named.jar) as given, zipfile.ZipFile(later, "w") as made:
        for name in given.namelist():
            content = given.read(name)
            # The seventh and eighth byte of a class file are its major version; 70 is Java 26's.
            made.writestr(name, content[:6] + b"\0\x46" + content[8:] if name.endswith(".class") else content)
    said = named.refusal("Good", str(later))
    assert said.startswith("lab.Bad$Good was compiled for Java 26, and ")
    assert said.endswith("name a later one (assignor.java.home), or compile it for this one (--release)")


def test_a_signed_jar_that_was_changed_is_told(named: Named, tmp_path: Path) -> None:
    signed, changed = tmp_path / "signed.jar", tmp_path / "changed.jar"
    shutil.copy(named.jar, signed)
    store = ["-keystore", str(tmp_path / "store"), "-storepass", "changeit"]
    key = ["-genkeypair", "-alias", "author", "-dname", "CN=author", "-keyalg", "EC", "-keypass", "changeit"]
    subprocess.run(["keytool", *store, *key], check=True, capture_output=True)
    subprocess.run(["jarsigner", *store, str(signed), "author"], check=True, capture_output=True)
    assert named.found("Good", str(signed)).name.startswith("java:")
    with zipfile.ZipFile(signed) as given, zipfile.ZipFile(changed, "w") as made:
        for name in given.namelist():
            made.writestr(name, given.read(name) + (b"x" if name == "lab/Bad$Good.class" else b""))
    assert "cannot be loaded with Kafka 4.3.1: java.lang.SecurityException: " in named.refusal("Good", str(changed))


def test_an_assignor_of_a_relocated_kafka_is_told(named: Named, tmp_path: Path) -> None:
    package = tmp_path / "shaded" / "kafka" / "streams" / "processor" / "assignment"
    package.mkdir(parents=True)
    (package / "TaskAssignor.java").write_text(
        "package shaded.kafka.streams.processor.assignment; public interface TaskAssignor {}"
    )
    (tmp_path / "Mine.java").write_text(
        "package lab; public class Mine implements shaded.kafka.streams.processor.assignment.TaskAssignor {}"
    )
    jar = compiled([tmp_path / "Mine.java", package / "TaskAssignor.java"], tmp_path)
    with pytest.raises(PluginLoadError, match=r"of a Kafka that was relocated into its jar, .* without relocating"):
        named.plugins.registry.task_assignor(f"java:lab.Mine@{jar}", may_run_code=True)


def test_a_library_that_is_missing_is_told(named: Named, tmp_path: Path) -> None:
    (tmp_path / "Library.java").write_text("package lib; public class Library {}")
    (tmp_path / "Needing.java").write_text(
        f"package lib; public class Needing extends {STICKY} {{ public lib.Library library() {{ return null; }} }}"
    )
    whole = compiled([tmp_path / "Needing.java", tmp_path / "Library.java"], tmp_path)
    part = tmp_path / "part.jar"
    with zipfile.ZipFile(whole) as given, zipfile.ZipFile(part, "w") as made:
        made.writestr("lib/Needing.class", given.read("lib/Needing.class"))
    with pytest.raises(PluginLoadError, match=r"Needing needs the class lib\.Library, .* add its jar after a colon"):
        named.plugins.registry.task_assignor(f"java:lib.Needing@{part}", may_run_code=True)


# --- in an author's own package -------------------------------------------------------------------


def test_in_a_process_that_is_not_its_own_its_jvm_ends_alone(
    bad_jar: Path, application: ApplicationMetadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSIGNOR__JAVA__KAFKA", str(KAFKA_4_3))
    jars: list[Traversable] = [bad_jar]
    entry = java_assignor("mine", "lab.Bad$Exits", jars)
    found = attrs.make_class("Entry", ["name", "distribution", "create"])("mine", None, entry.factory)
    for _ in range(2):
        failure = invoke(found, application, {}).failure
        assert failure is not None
        assert (failure.type, failure.message) == (
            "JavaEndedError",
            "assignor mine ended its JVM (exit code 3): repair the assignor",
        )


def test_a_package_offers_it_by_an_entry(
    bad_jar: Path, application: ApplicationMetadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    jars: list[Traversable] = [bad_jar]
    entry = java_assignor("mine", "lab.Bad$Good", jars, summary="As good as Kafka's.")
    assert (entry.name, entry.java_classes) == ("mine", ("lab.Bad$Good",))
    found = attrs.make_class("Entry", ["name", "distribution", "create"])("mine", None, entry.factory)
    monkeypatch.setenv("ASSIGNOR__JAVA__KAFKA", str(KAFKA_4_3))
    outcome = invoke(found, application, {})
    sticky = discovered(config_sources(environ={}).effective(), installed=None).registry.task_assignor("sticky@4.3")
    expected = invoke(sticky, application, {})
    assert outcome.answer is not None
    assert expected.answer is not None
    assert str(outcome.answer) == str(expected.answer)

    monkeypatch.delenv("ASSIGNOR__JAVA__KAFKA")
    lost = invoke(found, application, {})
    assert lost.failure is not None
    assert lost.failure.message.startswith("assignor mine: no Kafka is named to run it with")


def test_a_scenario_may_choose_no_class_path_for_it(bad_jar: Path, application: ApplicationMetadata) -> None:
    jars: list[Traversable] = [bad_jar]
    entry = java_assignor("mine", "lab.Bad$Good", jars)
    found = attrs.make_class("Entry", ["name", "distribution", "create"])("mine", None, entry.factory)
    failure = invoke(found, application, {"assignor.mine.kafka": str(KAFKA_4_3)}).failure
    assert failure is not None
    assert "expected a version that the local Maven repository has" in failure.message
