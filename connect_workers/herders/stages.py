"""The stage of a herder, for the error of a request that waits too long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from connect_workers.clock import Clock
from connect_workers.contract import WorkerStage

__all__ = ["Stages"]


class Stages:
    """The present stage, or the last one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stack: list[WorkerStage] = []
        self.current = WorkerStage("starting up", clock.now_ms())

    @contextmanager
    def of(self, description: str) -> Iterator[None]:
        """The herder does this now; stages may be inside one another."""
        stage = WorkerStage(description, self._clock.now_ms())
        self._stack.append(stage)
        self.current = stage
        try:
            yield
        finally:
            self._stack.pop()
            done = attrs.evolve(stage, completed_ms=self._clock.now_ms())
            self.current = self._stack[-1] if self._stack else done
