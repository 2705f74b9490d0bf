"""Test classes for authors: subclass one, say which assignor, and pytest runs a test for each level."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assignment_api.conformance.conform import KINDS, conformance
from assignment_api.conformance.elsewhere import OtherProcess, made_from, origin_of
from assignment_api.conformance.history import Capabilities
from assignment_api.conformance.levels import LEVELS, Level
from assignment_api.conformance.report import Report
from assignment_api.conformance.subject import InProcessSubject
from assignment_api.conformance.trial import Trial

__all__ = ["ConnectAssignorConformance", "GroupAssignorConformance", "StreamsAssignorConformance"]

#: Names of the pytest plugin: of its entry point, and of its module where that is named by ``-p``.
_PLUGINS = ("assignor_conformance", "assignor_lab.pytest_plugin")
_FOLDER = Path("conformance-failures")


class _Conformance:
    """A test for each level; the histories are played once for all of them.

    Attributes:
        assignor: The assignor: its class, a function that makes one, or the name under which it is installed.
        capabilities: What it is made for; histories hold nothing else.
        configs: Configuration of its own, as ``configure`` gets it beside Kafka's.
        histories: Histories that are played; option ``--conformance-histories`` replaces it.
        known: Rule to the reason why breaking it is accepted.
    """

    assignor: ClassVar[Any]
    capabilities: ClassVar[Capabilities] = Capabilities()
    configs: ClassVar[Mapping[str, Any]] = {}
    histories: ClassVar[int] = 100
    known: ClassVar[Mapping[str, str]] = {}
    _kind: ClassVar[str]
    _report: ClassVar[Report | None] = None

    def test_valid(self, request: Any) -> None:
        """Every answer is one that Kafka accepts."""
        self._hold(Level.VALID, request)

    def test_complete(self, request: Any) -> None:
        """Every answer places every task once, and copies where they help."""
        self._hold(Level.COMPLETE, request)

    def test_pure(self, request: Any) -> None:
        """The answer depends on what was asked alone."""
        self._hold(Level.PURE, request)

    def test_deterministic(self, request: Any) -> None:
        """Neither the order of the input nor the process changes the answer."""
        self._hold(Level.DETERMINISTIC, request)

    def test_stable(self, request: Any) -> None:
        """An answer that asks for nothing more is given again when nothing changes."""
        self._hold(Level.STABLE, request)

    def test_convergent(self, request: Any) -> None:
        """Whatever happens to a group, it comes to rest."""
        self._hold(Level.CONVERGENT, request)

    def test_bounded(self, request: Any) -> None:
        """The time of an answer grows no faster than it may."""
        self._hold(Level.BOUNDED, request)

    @classmethod
    def report(cls, histories: int | None = None, seed: int = 0, folder: Path | None = None) -> Report:
        """What all levels came to.

        Args:
            histories: Histories that are played; by default the class's own number.
            seed: What they are drawn from.
            folder: Where failures are written; ``None``: nowhere.
        """
        assignor = cls.__dict__.get("assignor", cls.assignor)
        assignor = getattr(assignor, "__func__", assignor)
        kind = KINDS[cls._kind]
        selector = _selector(assignor)
        origin = origin_of(kind.name, selector, assignor)
        other = None if origin is None else OtherProcess(origin)
        factory: Callable[[], Any]
        if isinstance(assignor, str):
            assert origin is not None
            factory = made_from(origin)
        else:
            factory = assignor
        subject = InProcessSubject(
            selector, factory, kind.answering, (lambda: None) if other is None else other.started
        )
        try:
            return conformance(
                Trial(kind, subject, cls.capabilities, cls.configs),
                selector=selector,
                histories=cls.histories if histories is None else histories,
                seed=seed,
                known=cls.known,
                folder=folder,
            )
        finally:
            if other is not None:
                other.close()

    def _hold(self, level: Level, request: Any) -> None:
        import pytest

        cls = type(self)
        if "_report" not in cls.__dict__:
            option = request.config.getoption
            folder = Path(option("--conformance-out", None) or _FOLDER)
            cls._report = cls.report(option("--conformance-histories", None), option("--conformance-seed", 0), folder)
            _tell(request.config, cls._report)
        assert cls._report is not None
        result = next(each for each in cls._report.levels if each.level is level)
        if result.status in ("failed", "not judged"):
            told = [failure.text() for failure in result.failures if failure.known is None] or [result.note]
            pytest.fail("\n\n".join([f"{level.value}: {LEVELS[level].asks}", *told]), pytrace=False)


def _selector(assignor: Any) -> str:
    if isinstance(assignor, str):
        return assignor
    return f"{getattr(assignor, '__module__', '?')}:{getattr(assignor, '__qualname__', '?')}"


def _tell(config: Any, report: Report) -> None:
    """Has the plugin print the summary line, where it is loaded, and writes the report where one is asked for."""
    plugin = next(filter(None, map(config.pluginmanager.get_plugin, _PLUGINS)), None)
    if plugin is not None:
        plugin.note(config, report.summary())
    target = config.getoption("--conformance-report", None)
    if target:
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(json.dumps(report.document()) + "\n")


class StreamsAssignorConformance(_Conformance):
    """Holds a task assignor of KIP-924 to the levels."""

    _kind = "streams"


class GroupAssignorConformance(_Conformance):
    """Holds a broker-side assignor of KIP-1071 to the levels."""

    _kind = "streams-group"


class ConnectAssignorConformance(_Conformance):
    """Holds an assignor of Kafka Connect to the levels."""

    _kind = "connect"
