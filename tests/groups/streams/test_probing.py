"""The findings of a probe about an assignor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assignment_api import TaskAssignment
from assignment_api.plugins import Policy, discover
from assignor_lab.groups.streams.assignor_calls import ASKING, invoke
from assignor_lab.groups.streams.probing import Probe, Prober
from assignor_lab.runtime import CallFailure, CallOutcome
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.plugins import Isolation
from tests.runtime.test_isolation import Named, application

pytestmark = pytest.mark.slow

FINDINGS = ("deterministic", "same_hash_seed", "same_order", "pure")
LIMITS = Limits(deadline_ms=2_000, memory_mb=192)


@pytest.fixture(scope="module")
def isolation() -> Iterator[Isolation]:
    opened = Isolation(LIMITS, Policy())
    yield opened
    opened.close()


@pytest.fixture
def prober() -> Prober:
    return Prober(LIMITS)


def probed(prober: Prober, isolation: Isolation, selector: str, distribution: str | None = None) -> Probe | None:
    state = application()
    outcome = isolation.assignor(ASKING, Named(selector, distribution), {}).ask(state)
    return prober.probe(selector, distribution, state, {}, outcome)


def unmet(probe: Probe | None) -> set[str]:
    assert probe is not None
    return {name for name in FINDINGS if not getattr(probe, name)}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tests.groups.streams.fickle:BySortedOrder", set()),
        ("tests.runtime.hostile:Good", {"same_order"}),
        ("tests.groups.streams.fickle:ByChance", set(FINDINGS)),
        ("tests.groups.streams.fickle:ByHashSeed", {"same_hash_seed", "same_order"}),
        ("tests.groups.streams.fickle:Counts", {"same_order", "pure"}),
        ("tests.scoring.assignors:Raises", set()),
        ("tests.scoring.assignors:Mutates", {"pure"}),
    ],
)
def test_what_an_answer_depends_on_is_found(
    prober: Prober, isolation: Isolation, selector: str, expected: set[str]
) -> None:
    assert unmet(probed(prober, isolation, selector)) == expected


@pytest.mark.parametrize("name", ["high_availability", "sticky", "rack_aware", "static"])
def test_the_built_ins_depend_on_their_input_alone(prober: Prober, name: str) -> None:
    found, state = discover().task_assignor(name), application()
    probe = prober.probe(name, found.distribution, state, {}, invoke(found, state, {}))
    assert unmet(probe) <= {"same_order"}  # the order of clients is part of the input to Kafka's own


def test_the_peak_of_memory_is_that_of_the_call(prober: Prober, isolation: Isolation) -> None:
    probe = probed(prober, isolation, "tests.groups.streams.fickle:NeedsMemory")
    assert probe is not None
    assert probe.peak_memory_bytes is not None
    assert 10_000_000 <= probe.peak_memory_bytes < 11_000_000


@pytest.mark.parametrize("name", ["KillsItsLauncher", "LeavesDaemonAndDies", "WritesGarbage"])
def test_without_an_answer_nothing_is_found(prober: Prober, name: str) -> None:
    outcome = CallOutcome[TaskAssignment](CallFailure("ProcessDiedError", None, "it died"))
    assert prober.probe(f"tests.runtime.hostile:{name}", None, application(), {}, outcome) is None
