"""Test class for authors of metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from assignment_api.conformance.conform import KINDS
from assignment_api.conformance.elsewhere import kafkas_own, made_from, origin_of
from assignment_api.conformance.history import Capabilities, History, document_of, history_text
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.search import drawn_histories
from assignment_api.conformance.subject import InProcessSubject
from assignment_api.conformance.watching import watched_call
from assignment_api.plugins import MetricPlugin, discover

__all__ = ["MetricConformance"]

#: The order of a sum may cause it.
_ROUNDING = 1e-9


class MetricConformance:
    """Subclass, and name the metric: all tests share one run of histories.

    Attributes:
        metric: The metric, or its installed name.
        assignor: Class, factory function or installed name; ``None``: Kafka's own.
        unknown_if: Documented reason for ``None``; empty: each answer has a figure.
    """

    metric: ClassVar[MetricPlugin | str]
    assignor: ClassVar[Any] = None
    unknown_if: ClassVar[str] = ""
    histories: ClassVar[int] = 50
    _found: ClassVar[Mapping[str, str] | None] = None

    def test_it_names_unit_direction_and_meaning(self) -> None:
        """Reports show all three."""
        self._hold("described")

    def test_figures_are_finite_numbers(self) -> None:
        """A metric raises nothing, and returns no NaN."""
        self._hold("finite")

    def test_figures_are_unknown_only_for_the_documented_reason(self) -> None:
        """None is allowed if ``unknown_if`` has a reason."""
        self._hold("unknown")

    def test_equal_inputs_have_equal_figures(self) -> None:
        """Clock, randomness and order of members change no figure."""
        self._hold("deterministic")

    def test_the_input_is_untouched(self) -> None:
        """Other metrics get the same objects."""
        self._hold("untouched")

    @classmethod
    def faults(cls, histories: int | None = None) -> dict[str, str]:
        """Violated rule to the finding in the smallest history."""
        metric = cls.metric if isinstance(cls.metric, MetricPlugin) else discover().metric(cls.metric).plugin
        kind = KINDS[metric.kind]
        subject = _subject(kind, cls.assignor)
        smallest: dict[str, tuple[History, str]] = {}
        for history in drawn_histories(kind, Capabilities(), cls.histories if histories is None else histories):
            for state, answer in _answers(kind, subject, history):
                for rule, found in _faults(kind, metric, state, answer, cls.unknown_if):
                    if rule not in smallest or history.size() < smallest[rule][0].size():
                        smallest[rule] = history, found
        faults = {
            rule: f"metric {metric.name}: {found}; history: {history_text(document_of(history))}"
            for rule, (history, found) in smallest.items()
        }
        missing = [name for name in ("unit", "summary") if not getattr(metric, name).strip()]
        return {"described": f"metric {metric.name} has no {' and no '.join(missing)}"} | faults if missing else faults

    def _hold(self, rule: str) -> None:
        import pytest

        cls = type(self)
        if "_found" not in cls.__dict__:
            cls._found = cls.faults()
        if cls._found is not None and rule in cls._found:
            pytest.fail(cls._found[rule], pytrace=False)


def _subject(kind: Kind[Any], assignor: Any) -> InProcessSubject[Any]:
    if assignor is None:
        own = kafkas_own(kind)
        assert own is not None, "the built-ins are not installed: name an assignor"
        return own
    factory = assignor
    if isinstance(assignor, str):
        origin = origin_of(kind.name, assignor, assignor)
        assert origin is not None
        factory = made_from(origin)
    return InProcessSubject("the measured assignor", factory, kind.answering)


def _answers(kind: Kind[Any], subject: InProcessSubject[Any], history: History) -> Iterator[tuple[Any, Any]]:
    """Up to the assignor's first failure."""
    world, leader = kind.world(history, Capabilities()), subject.leader()
    configs = world.configs()
    for event in (None, *history.events):
        if event is not None:
            world.happens(event)
        state = world.state()
        reply = leader.ask(state, configs)
        if reply.raised is not None or any(rule == "accepted" for rule, _ in kind.troubles(state, reply.answer)):
            return
        yield state, reply.answer
        world.carry_out(state, reply.answer)


@attrs.frozen
class _Measured:
    metric: MetricPlugin
    answer: Any

    def assign(self, *parts: Any) -> object:
        return self.metric.compute(*parts, self.answer)


def _faults(
    kind: Kind[Any], metric: MetricPlugin, state: Any, answer: Any, unknown_if: str
) -> Iterator[tuple[str, str]]:
    measured, answering = _Measured(metric, answer), kind.answering
    shown = answering.shown(state)
    before = answering.fingerprint(shown), kind.placement(state, answer)
    seen: list[tuple[str, str]] = []
    try:
        figure = answering.call(measured, shown)
        again = watched_call(lambda: answering.call(measured, answering.shown(state)), seen)
        turned = answering.call(measured, kind.turned(state))
    except Exception as error:  # noqa: BLE001 - a metric may raise anything
        yield "finite", f"it raises {type(error).__name__}: {error!s:.200}"
        return
    if (answering.fingerprint(shown), kind.placement(state, answer)) != before:
        yield "untouched", "it changes its input"
        return
    for _, sentence in seen:
        yield "deterministic", sentence
    if figure is None:
        if not unknown_if:
            yield "unknown", "it is None, and unknown_if of the test class names no reason for that"
    elif isinstance(figure, bool) or not isinstance(figure, (int, float)) or not math.isfinite(figure):
        yield "finite", f"it is {figure!r:.80}, and no finite number"
        return
    for how, other in (("measured again", again), ("with the members in another order", turned)):
        if not _is_equal(figure, other):
            yield "deterministic", f"it is {figure!r:.40}, and {how} {other!r:.40}"


def _is_equal(figure: object, other: object) -> bool:
    if isinstance(figure, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(figure, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return figure is other
