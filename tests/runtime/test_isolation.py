"""A plugin in its own process may do anything: the caller gets a value, and continues."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import attrs
import pytest

from assignment_api import ApplicationMetadata
from assignment_api.plugins import Policy, discover
from assignor_lab.groups.streams.assignor_calls import ASKING, StreamsOutcome, invoke
from assignor_lab.runtime.isolation.descendants import descendants_of
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.plugins import Isolation
from assignor_lab.runtime.isolation.rest import fields_of
from assignor_lab.scenarios import Place, scenario_from_document
from tests.runtime.hostile import TOKEN
from tests.scenarios.documents import streams_document

pytestmark = pytest.mark.slow

LIMITS = Limits(deadline_ms=1_000, memory_mb=192, output_kb=64)


@pytest.fixture
def isolation() -> Iterator[Isolation]:
    opened = Isolation(LIMITS, Policy())
    yield opened
    opened.close()


def application() -> ApplicationMetadata:
    return scenario_from_document(streams_document(), Place("states.jsonl", 1)).application


@attrs.frozen
class Named:
    name: str
    distribution: str | None = None


def asked(isolation: Isolation, name: str) -> StreamsOutcome:
    return isolation.assignor(ASKING, Named(f"tests.runtime.hostile:{name}"), {}).ask(application())


def lingering(token: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if token.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("name", "error_type", "said"),
    [
        ("IgnoresSignals", "DeadlineExceededError", "did not answer within 1 s"),
        ("StopsItself", "DeadlineExceededError", "did not answer within 1 s"),
        ("HangsWhenMade", "DeadlineExceededError", "did not answer within 1 s"),
        ("LeavesDaemonAndDies", "ProcessDiedError", "exit code 5"),
        ("DiesBeforeItsChild", "ProcessDiedError", "exit code 6"),
        ("KillsItsParent", "ProcessDiedError", "closed the connection"),
        ("KillsItsLauncher", "ProcessDiedError", "closed the connection"),
        ("ClosesDescriptors", "ProcessDiedError", "closed the connection"),
        ("WritesGarbage", "AnswerFormatError", "of more than 8,388,608 bytes"),
        ("NestsDeeply", "AnswerFormatError", "sent no valid answer"),
        ("AnswersForEver", "AnswerFormatError", "of more than 8,388,608 bytes"),
        ("SharesMemory", "MemoryLimitError", "needed more than 192 MiB"),
        ("PrintsFromThread", "OutputLimitError", "more than 64 KiB"),
        ("FillsDisk", "OSError", "File too large"),
        ("SwallowsEverything", "AnswerFormatError", "sent no valid answer"),
    ],
)
def test_an_attack_is_one_failure_and_the_next_one_is_served(
    isolation: Isolation, name: str, error_type: str, said: str
) -> None:
    outcome = asked(isolation, name)
    assert outcome.answer is None
    assert outcome.failure is not None
    assert (outcome.failure.type, said in outcome.failure.message) == (error_type, True), outcome.failure
    assert asked(isolation, "Good").answer is not None
    assert asked(isolation, name).failure == outcome.failure


def test_who_is_busy_without_being_asked_is_stopped_until_it_is(
    isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("_WINDOW_SECONDS", 0.2), ("_TOO_MUCH", 0.02)):
        monkeypatch.setattr(f"assignor_lab.runtime.isolation.rest.{name}", seconds)
    found = Named("tests.runtime.hostile:NeverRests")
    process = isolation.process(ASKING, found)
    for _ in range(1_000):
        assert isolation.assignor(ASKING, found, {}).ask(application()).answer is not None
        if process._rest is not None and process._rest[1].is_restless:
            break
        sleep(0.1)
    assert process._rest is not None
    supervisor = process._rest[0].supervisor
    states: list[bytes] = []
    for _ in range(1_000):
        # A signal takes a moment.
        states = [fields_of(pid)[0] for pid in descendants_of(supervisor)]
        if states == [b"T", b"T"]:
            break
        sleep(0.01)
    assert states == [b"T", b"T"]
    assert asked(isolation, "NeverRests").answer is not None


def test_a_forged_answer_is_checked_like_any_other(isolation: Isolation) -> None:
    for _ in range(2):
        outcome = asked(isolation, "ForgesAnswer")
        assert outcome.answer is None


@pytest.mark.parametrize("name", ["LeavesDaemon", "LeavesDaemonAndDies"])
def test_what_a_plugin_starts_ends_with_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    token = f"assignor-hostile-{os.getpid()}"
    monkeypatch.setenv(TOKEN, token)
    isolation = Isolation(attrs.evolve(LIMITS, environment=(TOKEN,)), Policy())
    asked(isolation, name)
    isolation.close()
    assert lingering(token) == []


def test_a_launcher_that_was_stopped_is_given_up_and_the_next_one_is_served(isolation: Isolation) -> None:
    answer = asked(isolation, "StopsItsLauncher").answer
    assert answer is not None
    (launcher,) = answer.remarks
    assert asked(isolation, "Good").answer is not None
    isolation.close()
    assert not Path(f"/proc/{launcher}").exists()


def test_who_loses_the_launcher_through_a_neighbour_is_asked_again(isolation: Isolation) -> None:
    assert asked(isolation, "Good").answer is not None
    assert asked(isolation, "KillsItsLauncher").answer is None
    # Its process ended together with the launcher, and did no harm.
    assert asked(isolation, "Good").answer is not None


def test_a_leak_of_earlier_calls_does_not_decide_a_later_one(isolation: Isolation) -> None:
    assert [asked(isolation, "Leaks").failure for _ in range(8)] == [None] * 8


def test_the_process_is_kept_warm_and_gets_nothing_of_ours(
    isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUD_PASSWORD", "secret")
    first, second = (
        json.loads(outcome.answer.remarks[0])
        for outcome in (asked(isolation, "TellsItsProcess"), asked(isolation, "TellsItsProcess"))
        if outcome.answer is not None
    )
    assert first == second
    assert first["pid"] != os.getpid()
    assert first["folder"] == []
    assert set(first["environment"]) <= {
        *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ"),
        *("PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONPATH"),
    }


def test_a_named_variable_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_SIZE", "small")
    isolation = Isolation(Limits(environment=("MODEL_SIZE",)), Policy())
    outcome = asked(isolation, "TellsItsProcess")
    isolation.close()
    assert outcome.answer is not None
    assert "MODEL_SIZE" in json.loads(outcome.answer.remarks[0])["environment"]


def test_what_is_printed_is_a_message_without_terminal_codes(
    isolation: Isolation, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = asked(isolation, "PrintsALittle")
    assert outcome.answer is not None
    shown = capsys.readouterr()
    assert shown.out == ""
    first, second = shown.err.splitlines()
    whose = first.removesuffix("a little \\x1b[31m to the standard output")
    assert whose.startswith("[assignor ")
    assert whose.endswith(":PrintsALittle] ")
    assert second == f"{whose}and to the standard error"


@pytest.mark.parametrize("name", [found.name for found in discover().task_assignors()])
def test_an_isolated_assignor_answers_as_it_does_in_process(isolation: Isolation, name: str) -> None:
    found = discover().task_assignor(name)
    state = application()
    own = invoke(found, state, {})
    apart = isolation.assignor(ASKING, found, {}).ask(state)
    assert (apart.answer, apart.failure, apart.validation) == (own.answer, own.failure, own.validation)


@pytest.mark.parametrize(
    ("policy", "distribution", "name", "isolated"),
    [
        (Policy(), "assignor-lab", "sticky", False),
        (Policy(), "somebody", "theirs", True),
        (Policy(), None, "module:attribute", True),
        (Policy(trust=("somebody",)), "somebody", "theirs", False),
        (Policy(trust=("theirs",)), "somebody", "theirs", True),
        (Policy(trust=("theirs",)), "theirs", "other", False),
        (Policy(trust=("somebody:theirs",)), "somebody", "theirs", False),
        (Policy(trust=("somebody:theirs",)), "somebody", "other", True),
        (Policy(trust=("somebody:theirs",)), "somebody", "somebody:theirs", False),
        (Policy(trust=("somebody:theirs",)), "else", "else:theirs", True),
        (Policy(trust=("module:attribute",)), None, "module:attribute", False),
        (Policy(trust=("module:other",)), None, "module:attribute", True),
        (Policy(trust=("module", "attribute")), None, "module:attribute", True),
        (Policy(trust=("somebody",)), "somebody", "module:attribute", False),
        (Policy(trust=("module:attribute",)), "somebody", "module:attribute", False),
        (Policy(isolate="all"), "assignor-lab", "sticky", True),
        (Policy(isolate="none"), "somebody", "theirs", False),
    ],
)
def test_the_policy_says_who_runs_apart(policy: Policy, distribution: str | None, name: str, isolated: bool) -> None:
    assert policy.isolates(distribution, name) is isolated
