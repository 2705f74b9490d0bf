"""Lags of a client as two lists, of which clients may share the tasks."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView

from assignment_api.streams.ids import TaskId

__all__ = ["ListedLags", "listed"]


class ListedLags(Mapping[TaskId, int]):
    """Read-only; a look-up builds its dict."""

    __slots__ = ("_by_task", "lags", "tasks")

    def __init__(self, tasks: tuple[TaskId, ...], lags: tuple[int, ...]) -> None:
        self.tasks = tasks
        self.lags = lags
        self._by_task: dict[TaskId, int] | None = None

    def _dict(self) -> dict[TaskId, int]:
        if self._by_task is None:
            self._by_task = dict(zip(self.tasks, self.lags, strict=True))
        return self._by_task

    def __getitem__(self, task: TaskId) -> int:
        return self._dict()[task]

    def __contains__(self, task: object) -> bool:
        return task in self._dict()

    def __iter__(self) -> Iterator[TaskId]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def keys(self) -> KeysView[TaskId]:
        """The tasks."""
        return self._dict().keys()

    def values(self) -> ValuesView[int]:
        """The lags."""
        return self._dict().values()

    def items(self) -> ItemsView[TaskId, int]:
        """Tasks with lags."""
        return self._dict().items()

    def __repr__(self) -> str:
        return f"ListedLags({self._dict()!r})"


def listed(lags: Mapping[TaskId, int]) -> tuple[tuple[TaskId, ...], tuple[int, ...]]:
    """In the order of ``lags``."""
    if type(lags) is ListedLags:
        return lags.tasks, lags.lags
    return tuple(lags), tuple(lags.values())
