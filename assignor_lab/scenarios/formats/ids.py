"""Ids of a document by their text: each is parsed once, for any number of clients."""

from __future__ import annotations

from typing import Any

from assignment_api.errors import ProcessIdFormatError, TaskIdFormatError
from assignment_api.streams import ProcessID, TaskId
from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import Mismatch, described, list_of, text

__all__ = ["ProcessIds", "TaskIds", "refuse_repeated"]

_TEXTS = {str}
#: Most ids that are remembered; a file has few different ones.
_MOST = 200_000


class TaskIds(dict[str, TaskId]):
    """Text to task id; another text is a :class:`Mismatch`."""

    def __missing__(self, text_of_id: str) -> TaskId:
        try:
            task = TaskId.parse(text_of_id)
        except TaskIdFormatError:
            raise Mismatch(
                f'"{printable(text_of_id)}" is no task id: expected "subtopology_partition" such as "1_0", or '
                '"topology__subtopology_partition"'
            ) from None
        if len(self) >= _MOST:
            self.clear()
        self[text_of_id] = task
        return task

    def one(self, value: Any) -> TaskId:
        return self[text(value)]

    def all(self, value: Any) -> list[TaskId]:
        """The check for a list of task ids: in bulk, and one by one only to name the wrong one."""
        if type(value) is not list or not _TEXTS.issuperset(map(type, value)):
            return list_of(self.one)(value)
        try:
            return list(map(self.__getitem__, value))
        except Mismatch:
            return list_of(self.one)(value)


class ProcessIds(dict[str, ProcessID]):
    """Text to process id; another text is a :class:`Mismatch`."""

    def __missing__(self, text_of_id: str) -> ProcessID:
        try:
            process = ProcessID.parse(text_of_id)
        except ProcessIdFormatError:
            raise Mismatch(
                f"{described(text_of_id)} is no process id: expected a UUID such as "
                "00000000-0000-0000-0000-000000000001"
            ) from None
        if len(self) >= _MOST:
            self.clear()
        self[text_of_id] = process
        return process

    def one(self, value: Any) -> ProcessID:
        return self[text(value)]


def refuse_repeated(values: list[Any], subject: str, *container: str, keys: list[str] | None = None) -> None:
    """Refuses equal values in one container; ``subject`` is their noun, ``keys`` their keys if it is an object.

    Raises:
        Mismatch: with the path to the second one.
    """
    if len(set(values)) == len(values):
        return
    first: dict[Any, int] = {}
    for index, value in enumerate(values):
        if value in first:
            step = index if keys is None else keys[index]
            raise Mismatch(f"{subject} {printable(str(value))} occurs twice: remove one of the two", *container, step)
        first[value] = index
