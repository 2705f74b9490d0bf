"""The topology of a Streams group."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.group.errors import InvalidGroupError, UnknownSubtopologyError
from assignment_api.streams.ids import utf16_key

__all__ = ["Subtopology", "TopologyDescriber"]


@attrs.frozen
class Subtopology:
    """One sub-topology.

    Args:
        id: Any text.
        num_tasks: Greatest partition count among source topics, repartition topics included.
        is_stateful: It has a changelog topic.

    Raises:
        InvalidGroupError: if the number is negative.
    """

    id: str
    num_tasks: int
    is_stateful: bool

    def __attrs_post_init__(self) -> None:
        if self.num_tasks < 0:
            raise InvalidGroupError(f"sub-topology {self.id!r:.80}: {self.num_tasks} tasks; give a number from 0")


class TopologyDescriber:
    """Read-only sub-topologies with sizes. Kafka: ``TopologyDescriber``.

    Args:
        subtopologies: In any order; of several with one id the last one counts, as in the coordinator.
    """

    __slots__ = ("_by_id",)

    def __init__(self, subtopologies: Iterable[Subtopology]) -> None:
        by_id = {subtopology.id: subtopology for subtopology in subtopologies}
        self._by_id = {key: by_id[key] for key in sorted(by_id, key=utf16_key)}

    def subtopologies(self) -> tuple[str, ...]:
        """Ids as Java sorts texts: ``"10"`` is before ``"2"``."""
        return tuple(self._by_id)

    def max_num_input_partitions(self, subtopology_id: str) -> int:
        """Number of tasks.

        Raises:
            UnknownSubtopologyError: if it is unknown.
        """
        return self._known(subtopology_id).num_tasks

    def is_stateful(self, subtopology_id: str) -> bool:
        """True if tasks log state to changelogs, and can have standbys.

        Raises:
            UnknownSubtopologyError: if it is unknown.
        """
        return self._known(subtopology_id).is_stateful

    def _known(self, subtopology_id: str) -> Subtopology:
        found = self._by_id.get(subtopology_id)
        if found is None:
            raise UnknownSubtopologyError(f"the topology has no sub-topology {subtopology_id!r:.80}")
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopologyDescriber):
            return NotImplemented
        return self._by_id == other._by_id

    def __hash__(self) -> int:
        return hash(tuple(self._by_id))

    def __repr__(self) -> str:
        return f"TopologyDescriber({list(self._by_id.values())!r})"
