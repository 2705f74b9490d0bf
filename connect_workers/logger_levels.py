"""Levels of one worker's loggers: all workers log through Python's one set of loggers, each by its own levels."""

from __future__ import annotations

import logging
from typing import Any

from connect_workers.clock import Clock
from connect_workers.contract import LoggerLevel, NotFoundError

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

#: The root logger has no name; Connect shows it as the first Log4j did.
_ROOT, _SHOWN_ROOT = "", "root"
#: Prefix of our loggers, a fixed part of the REST interface.
_PACKAGE = "assignor_lab.connect"
_CONNECT = "org.apache.kafka.connect"

#: Part of a worker to Connect's logger of the same messages. Either name sets both, so that Connect's names, such as
#: ``org.apache.kafka.connect.runtime``, work here.
_PARTS = {
    "herder": f"{_CONNECT}.runtime.distributed.DistributedHerder",
    "instances": f"{_CONNECT}.runtime.Worker",
    "membership": f"{_CONNECT}.runtime.distributed.WorkerCoordinator",
}
_TWINS = {f"{_PACKAGE}.{part}": name for part, name in _PARTS.items()}
_TWINS |= {theirs: ours for ours, theirs in _TWINS.items()}

#: Loggers that clients may name without being there, at most.
_MOST = 1_000


class LoggerLevels:
    """The levels, kept as Log4j 2 keeps them for Connect 4.3.1: some are set, all other loggers have their parents'."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: Every logger that a request has named.
        self._names = {_ROOT, *_TWINS}
        #: Levels that are set, and when the loggers last changed.
        self._set = {_ROOT: "INFO", **dict.fromkeys(_TWINS, "INFO")}
        self._changed_ms: dict[str, int] = {}

    def all(self) -> dict[str, LoggerLevel]:
        """Every logger that is not switched off, by name."""
        return {_shown(name): self._one(name) for name in sorted(self._names) if self._effective(name) != "OFF"}

    def one(self, name: str) -> LoggerLevel:
        """One of them.

        Raises:
            NotFoundError: if there is none of this name.
        """
        if _known(name) not in self._names:
            raise NotFoundError(f"Logger {name} not found.")
        return self._one(_known(name))

    def set(self, namespace: str, level: str) -> list[str]:
        """Sets the level of a logger and all below it; the logger is made if there is none.

        Returns:
            The loggers whose level is another one now, by name. One that is switched off counts each time that it is
            set, since Connect does not list it before.

        Raises:
            NotFoundError: if there is no such level.
        """
        upper, namespace = self.checked(level), _known(namespace)
        if len(self._names) < _MOST:
            self._names.add(namespace)
        # The beginning of a name is enough, as in Log4j: "a" is a parent of "ab", too.
        below = [name for name in self._names if name.startswith(namespace)]
        before = {each: self._effective(each) for name in below for each in (name, _TWINS.get(name, name))}
        for name in self._names.intersection((namespace, *(name for name in self._set if name.startswith(namespace)))):
            self._set |= {name: upper, _TWINS.get(name, name): upper}
        changed = {name for name, old in before.items() if old == "OFF" or old != self._effective(name)}
        self._changed_ms |= dict.fromkeys(changed, self._clock.now_ms())
        return sorted(map(_shown, changed.intersection(below)))

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
        return level >= _LEVELS[self._effective(name)]

    def _one(self, name: str) -> LoggerLevel:
        return LoggerLevel(self._effective(name), self._changed_ms.get(name))

    def _effective(self, name: str) -> str:
        while name not in self._set:
            name = name.rpartition(".")[0]
        return self._set[name]


def _known(name: str) -> str:
    return _ROOT if name.lower() == _SHOWN_ROOT else name


def _shown(name: str) -> str:
    return _SHOWN_ROOT if name == _ROOT else name


class WorkerLogger:
    """A logger of one worker; its messages carry the worker's id.

    Args:
        levels: The worker's levels.
        part: Part of the worker: ``herder``, ``instances``, ``membership``.
    """

    def __init__(self, levels: LoggerLevels, part: str, worker_id: str) -> None:
        self._levels, self._name, self._worker_id = levels, f"{_PACKAGE}.{part}", worker_id
        self._logger = logging.getLogger(self._name)

    def log(self, level: int, message: str, *arguments: Any, error: BaseException | None = None) -> None:
        if self._levels.enabled(self._name, level):
            self._logger.log(level, f"[{self._worker_id}] {message}", *arguments, exc_info=error)

    def info(self, message: str, *arguments: Any) -> None:
        self.log(logging.INFO, message, *arguments)

    def error(self, message: str, *arguments: Any) -> None:
        self.log(logging.ERROR, message, *arguments)

    def warning(self, message: str, *arguments: Any) -> None:
        self.log(logging.WARNING, message, *arguments)
