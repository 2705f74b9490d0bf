"""Identifiers with Kafka's order and hash; sort many by ``sort_key``, which is quicker."""

from __future__ import annotations

import re
from functools import total_ordering
from typing import Any
from uuid import UUID

import attrs

from assignment_api.errors import (
    IllegalAssignmentStateError,
    ProcessIdFormatError,
    TaskIdFormatError,
)

__all__ = ["HostInfo", "ProcessID", "TaskId", "utf16_key"]

_INT = re.compile(r"[+-]?[0-9]{1,11}\Z")
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


def utf16_key(text: str) -> bytes:
    """As Java's ``String.compareTo``: UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def _name_or_none(name: str | None) -> str | None:
    return name or None


@total_ordering
@attrs.frozen(order=False, eq=False, repr=False)
class TaskId:
    """A task. Source: Kafka's ``TaskId``.

    Order: topology name (UTF-16 code units), sub-topology, partition. All tasks of an application are named, or none.

    Args:
        subtopology: From 0.
        partition: From 0.
        topology_name: Or ``None``, as which an empty name counts.
    """

    subtopology: int
    partition: int
    topology_name: str | None = attrs.field(default=None, converter=_name_or_none)
    _hash: int = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.subtopology, self.partition, self.topology_name)))

    @classmethod
    def parse(cls, text: str) -> TaskId:
        """Reads ``"1_3"`` or ``"name__1_3"``.

        Raises:
            TaskIdFormatError: if the text is neither.
        """
        name, separator, rest = text.partition("__")
        if not separator:
            name, rest = "", text
        subtopology, separator, partition = rest.partition("_")
        if not separator or not _INT.match(subtopology) or not _INT.match(partition):
            raise TaskIdFormatError(
                f"{text!r} is not a task id: expected 'subtopology_partition' or 'topology__subtopology_partition'"
            )
        numbers = int(subtopology), int(partition)
        if not all(_INT_MIN <= number <= _INT_MAX for number in numbers):
            raise TaskIdFormatError(f"{text!r} is not a task id: a number in it is wider than 32 bits")
        return cls(numbers[0], numbers[1], name)

    def sort_key(self) -> tuple[bytes, int, int]:
        """Kafka's order, if all ids are named or all unnamed."""
        name = self.topology_name
        return (b"" if name is None else utf16_key(name), self.subtopology, self.partition)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TaskId):
            return NotImplemented
        return (
            self.subtopology == other.subtopology
            and self.partition == other.partition
            and self.topology_name == other.topology_name
        )

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: object) -> bool:
        """Kafka's ``TaskId.compareTo``.

        Raises:
            IllegalAssignmentStateError: if only one of the two is named.
        """
        if not isinstance(other, TaskId):
            return NotImplemented
        if (self.topology_name is None) != (other.topology_name is None):
            raise IllegalAssignmentStateError(
                f"tasks {self} and {other} cannot be ordered: all tasks of an application are named, or none is"
            )
        return self.sort_key() < other.sort_key()

    def __reduce__(self) -> tuple[Any, ...]:
        # Hashes of texts differ between processes: do not pickle them.
        return (TaskId, (self.subtopology, self.partition, self.topology_name))

    def __str__(self) -> str:
        plain = f"{self.subtopology}_{self.partition}"
        return plain if self.topology_name is None else f"{self.topology_name}__{plain}"

    def __repr__(self) -> str:
        return f"TaskId({str(self)!r})"


def _signed(word: int) -> int:
    return word - (1 << 64) if word >= 1 << 63 else word


@total_ordering
@attrs.frozen(order=False, eq=False, repr=False)
class ProcessID:
    """An instance of an application: a UUID. Kafka's ``ProcessId``, KIP-924's ``ProcessID``.

    Java compares the 64-bit halves as *signed*: ``ffffffff-...`` is before ``00000000-...``.
    """

    id: UUID
    #: Signed.
    most_significant_bits: int = attrs.field(init=False)
    #: Signed.
    least_significant_bits: int = attrs.field(init=False)
    _hash: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        number = self.id.int
        object.__setattr__(self, "most_significant_bits", _signed(number >> 64))
        object.__setattr__(self, "least_significant_bits", _signed(number & ((1 << 64) - 1)))
        object.__setattr__(self, "_hash", hash((self.most_significant_bits, self.least_significant_bits)))

    @classmethod
    def parse(cls, text: str) -> ProcessID:
        """Read a canonical UUID.

        Raises:
            ProcessIdFormatError: if the text is not one.
        """
        if not _UUID.match(text):
            raise ProcessIdFormatError(
                f"{text!r} is not a process id: expected a UUID such as 00000000-0000-0000-0000-000000000001"
            )
        return cls(UUID(text))

    def sort_key(self) -> tuple[int, int]:
        """Key that sorts as Java does."""
        return (self.most_significant_bits, self.least_significant_bits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProcessID):
            return NotImplemented
        return (
            self.least_significant_bits == other.least_significant_bits
            and self.most_significant_bits == other.most_significant_bits
        )

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, ProcessID):
            return NotImplemented
        return self.sort_key() < other.sort_key()

    def __str__(self) -> str:
        return str(self.id)

    def __repr__(self) -> str:
        return f"ProcessID({str(self)!r})"


@attrs.frozen
class HostInfo:
    """Address for interactive queries (``application.server``). Kafka: ``HostInfo``."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
