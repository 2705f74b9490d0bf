"""Levels of one worker's loggers: all workers log through Python's one set of loggers, each by its own levels."""

from __future__ import annotations

import logging
from typing import Any

from assignor_lab.connect.clock import Clock
from assignor_lab.connect.contract import LoggerLevel, NotFoundError

__all__ = ["LoggerLevels", "WorkerLogger"]

#: Names as in Connect to Python's numbers.
_LEVELS = {
    "OFF": 1000,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
    "ALL": 1,
}

_ROOT = "root"
_PARTS = ("herder", "instances", "membership", "storage")
_PACKAGE = "assignor_lab.connect"

#: Loggers that clients may name without being there, at most.
_MOST = 1_000


class LoggerLevels:
    """The levels.

    Args:
        clock: The clock.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._levels: dict[str, LoggerLevel] = {_ROOT: LoggerLevel("INFO", None)}
        self._names = [_ROOT, *(f"{_PACKAGE}.{part}" for part in _PARTS)]

    def all(self) -> dict[str, LoggerLevel]:
        """Every logger, by name."""
        return {name: self._effective(name) for name in sorted({*self._names, *self._levels})}

    def one(self, name: str) -> LoggerLevel:
        """One of them.

        Raises:
            NotFoundError: if there is none of this name.
        """
        if name not in self._names and name not in self._levels:
            raise NotFoundError(f"Logger {name} not found.")
        return self._effective(name)

    def set(self, namespace: str, level: str) -> list[str]:
        """Sets the level of a logger and all below it; which of them had another one before.

        Raises:
            NotFoundError: if there is no such level.
        """
        upper = self.checked(level)
        everything = {*self._names, *self._levels}
        chosen = [name for name in everything if _is_below(name, namespace)]
        if namespace not in chosen and len(self._levels) < _MOST:
            chosen.append(namespace)
        now = self._clock.now_ms()
        changed = sorted(name for name in chosen if self._effective(name).level != upper)
        for name in sorted(chosen):
            self._levels.setdefault(name, self._effective(name))
        for name in changed:
            self._levels[name] = LoggerLevel(upper, now)
        return changed

    @staticmethod
    def checked(level: str) -> str:
        """A level in capitals.

        Raises:
            NotFoundError: if there is none of this name.
        """
        if level.upper() not in _LEVELS:
            raise NotFoundError(f"invalid log level '{level:.80}'.")
        return level.upper()

    def enabled(self, name: str, level: int) -> bool:
        """Whether a logger's messages of a level are wanted."""
        return level >= _LEVELS[self._effective(name).level]

    def _effective(self, name: str) -> LoggerLevel:
        while name not in self._levels:
            name = name.rpartition(".")[0] or _ROOT
        return self._levels[name]


def _is_below(name: str, namespace: str) -> bool:
    return namespace == _ROOT or name == namespace or name.startswith(f"{namespace}.")


class WorkerLogger:
    """A logger of one worker, which says whose message it is.

    Args:
        levels: The worker's levels.
        part: Part of the worker: ``herder``, ``instances``, ``membership``, ``storage``.
        worker_id: Id of the worker.
    """

    def __init__(self, levels: LoggerLevels, part: str, worker_id: str) -> None:
        self._levels, self._name, self._worker_id = levels, f"{_PACKAGE}.{part}", worker_id
        self._logger = logging.getLogger(self._name)

    def log(self, level: int, message: str, *arguments: Any, error: BaseException | None = None) -> None:
        """Says something."""
        if self._levels.enabled(self._name, level):
            self._logger.log(level, f"[{self._worker_id}] {message}", *arguments, exc_info=error)

    def info(self, message: str, *arguments: Any) -> None:
        """Says something of interest."""
        self.log(logging.INFO, message, *arguments)

    def warning(self, message: str, *arguments: Any) -> None:
        """Says something that somebody should look at."""
        self.log(logging.WARNING, message, *arguments)
