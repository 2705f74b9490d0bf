"""Test classes for authors: subclass one and name the assignor."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from assignment_api.conformance.conform import KINDS, conformance
from assignment_api.conformance.elsewhere import OtherProcess, kafkas_own, made_from, origin_of
from assignment_api.conformance.history import Capabilities
from assignment_api.conformance.levels import LEVELS, Level
from assignment_api.conformance.report import Report
from assignment_api.conformance.subject import InProcessSubject
from assignment_api.conformance.trial import Trial

__all__ = [
    "ConnectAssignorConformance",
    "ConsumerAssignorConformance",
    "ConsumerGroupAssignorConformance",
    "GroupAssignorConformance",
    "ShareGroupAssignorConformance",
    "StreamsAssignorConformance",
]

_PLUGINS = ("assignor_conformance", "assignor_lab.pytest_plugin")
_FOLDER = Path("conformance-failures")


class _Conformance:
    """Tests of levels and quality over one run of the histories.

    Attributes:
        assignor: Class, factory function or installed name.
        capabilities: Limit the histories.
        configs: Its own, for ``configure``.
        histories: Their number; option ``--conformance-histories`` replaces it.
        known: Rule to the reason why a violation is accepted.
        strict_quality: A figure clearly worse than Kafka's fails, not only warns.
    """

    assignor: ClassVar[Any]
    capabilities: ClassVar[Capabilities] = Capabilities()
    configs: ClassVar[Mapping[str, Any]] = {}
    histories: ClassVar[int] = 100
    known: ClassVar[Mapping[str, str]] = {}
    strict_quality: ClassVar[bool] = False
    _kind: ClassVar[str]
    _report: ClassVar[Report | None] = None

    def test_valid(self, request: Any) -> None:
        self._hold(Level.VALID, request)

    def test_complete(self, request: Any) -> None:
        self._hold(Level.COMPLETE, request)

    def test_pure(self, request: Any) -> None:
        self._hold(Level.PURE, request)

    def test_deterministic(self, request: Any) -> None:
        self._hold(Level.DETERMINISTIC, request)

    def test_stable(self, request: Any) -> None:
        self._hold(Level.STABLE, request)

    def test_convergent(self, request: Any) -> None:
        self._hold(Level.CONVERGENT, request)

    def test_bounded(self, request: Any) -> None:
        self._hold(Level.BOUNDED, request)

    def test_quality(self, request: Any) -> None:
        import pytest

        warnings = self._reported(request).warnings
        if warnings and self.strict_quality:
            pytest.fail("\n".join(each.text() for each in warnings), pytrace=False)

    @classmethod
    def report(cls, histories: int | None = None, seed: int = 0, folder: Path | None = None) -> Report:
        """Results of all levels; without ``folder`` no files are written."""
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
                reference=kafkas_own(kind),
            )
        finally:
            if other is not None:
                other.close()

    @classmethod
    def _reported(cls, request: Any) -> Report:
        if "_report" not in cls.__dict__:
            option = request.config.getoption
            folder = Path(option("--conformance-out", None) or _FOLDER)
            cls._report = cls.report(option("--conformance-histories", None), option("--conformance-seed", 0), folder)
            _tell(request.config, cls._report)
        assert cls._report is not None
        return cls._report

    def _hold(self, level: Level, request: Any) -> None:
        import pytest

        result = next(each for each in self._reported(request).levels if each.level is level)
        if result.status in ("failed", "not judged"):
            texts = [failure.text() for failure in result.failures if failure.known is None] or [result.note]
            pytest.fail("\n\n".join([f"{level.value}: {LEVELS[level].asks}", *texts]), pytrace=False)


def _selector(assignor: Any) -> str:
    if isinstance(assignor, str):
        return assignor
    return f"{getattr(assignor, '__module__', '?')}:{getattr(assignor, '__qualname__', '?')}"


def _tell(config: Any, report: Report) -> None:
    plugin = next(filter(None, map(config.pluginmanager.get_plugin, _PLUGINS)), None)
    if plugin is not None:
        plugin.note(config, report.summary())
        for warning in report.warnings:
            plugin.note(config, warning.text())
    target = config.getoption("--conformance-report", None)
    if target:
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(json.dumps(report.document()) + "\n")


class StreamsAssignorConformance(_Conformance):
    """Tests a task assignor of KIP-924."""

    _kind = "streams"


class GroupAssignorConformance(_Conformance):
    """Tests a broker-side assignor of KIP-1071."""

    _kind = "streams-group"


class ConnectAssignorConformance(_Conformance):
    """Tests an assignor of Kafka Connect."""

    _kind = "connect"


class ConsumerAssignorConformance(_Conformance):
    """Tests a client-side assignor of consumer groups."""

    _kind = "consumer"


class ConsumerGroupAssignorConformance(_Conformance):
    """Tests a broker-side assignor of consumer groups (KIP-848)."""

    _kind = "consumer-group"


class ShareGroupAssignorConformance(_Conformance):
    """Tests an assignor of share groups (KIP-932)."""

    _kind = "share-group"
