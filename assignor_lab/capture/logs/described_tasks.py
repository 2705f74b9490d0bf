"""Tasks of a log with what a description of the topology says about their stores and partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.errors import TopologyTextError
from assignor_lab.capture.logs.topology_text import SubTopologyText

__all__ = ["DescribedTasks"]


@attrs.frozen
class DescribedTasks:
    """Tasks as a topology describes them.

    Args:
        name: The topology file's name, for messages.
        subtopologies: (Name of the topology or ``None``, number) to the sub-topology.
    """

    name: str
    subtopologies: Mapping[tuple[str | None, int], SubTopologyText]

    def documents(
        self,
        tasks: tuple[TaskId, ...],
        logged: frozenset[TaskId],
        group: str | None,
        assumptions: list[str],
        *,
        reuses_sources: bool = False,
    ) -> list[dict[str, Any]]:
        """Tasks in the shape of format 1, in the given order; racks are ``null``.

        Args:
            tasks: All tasks.
            logged: Those that Kafka computed a lag for.
            group: The application id, which is put before the names of internal topics.
            assumptions: Gets a sentence for each thing that the description leaves open.
            reuses_sources: Whether ``topology.optimization`` has tables read their source topics back.

        Raises:
            TopologyTextError: if the description does not fit the tasks.
        """
        if group is None:
            assumptions.append("the application id is not in the log: names of internal topics lack it")
        if logged and reuses_sources:
            assumptions.append(
                "every store of a task with a lag counts as logged: in the topic that it is the table of, as "
                "topology.optimization has it, else in a changelog topic of its own"
            )
        elif logged:
            assumptions.append(
                "every store of a task with a lag counts as logged, in a changelog topic of its own (with "
                "topology.optimization=all, given with --config, the topic of a table is its changelog)"
            )
        if any(len(sub.source_topics) > 1 for sub in self.subtopologies.values()):
            assumptions.append("all source topics of a sub-topology count as having the same number of partitions")
        prefix = "" if group is None else f"{group}-"
        return [self._document(task, prefix, is_logged=task in logged, reuses_sources=reuses_sources) for task in tasks]

    def _document(self, task: TaskId, prefix: str, *, is_logged: bool, reuses_sources: bool) -> dict[str, Any]:
        sub = self.subtopologies.get((task.topology_name, task.subtopology))
        if sub is None:
            raise TopologyTextError(
                self.name,
                None,
                f"no sub-topology for task {task} of the log: is this the description of that application?",
            )
        if is_logged and not sub.stores:
            raise TopologyTextError(
                self.name,
                None,
                f"the log has a lag for task {task}, but sub-topology {task.subtopology} has no store: is this the "
                "description of that application?",
            )
        known = not sub.pattern and bool(sub.source_topics)
        return {
            "id": str(task),
            "stateful": bool(sub.stores),
            "logged": is_logged,
            "stores": list(sub.stores),
            "partitions": (
                _partitions(task, sub, prefix, sub.tables if reuses_sources else {}, is_logged=is_logged)
                if known
                else None
            ),
        }


def _partitions(
    task: TaskId, sub: SubTopologyText, prefix: str, tables: Mapping[str, str], *, is_logged: bool
) -> list[dict[str, Any]]:
    sources = [f"{prefix}{topic}" if topic in sub.internal_topics else topic for topic in sub.source_topics]
    changelogs = [f"{prefix}{store}-changelog" for store in sub.stores if store not in tables] if is_logged else []
    read_back = {f"{prefix}{topic}" if topic in sub.internal_topics else topic for topic in tables.values()}
    return [
        {
            "topic": topic,
            "partition": task.partition,
            "source": is_source,
            "changelog": not is_source or (is_logged and topic in read_back),
            "racks": None,
        }
        for topics, is_source in ((sources, True), (changelogs, False))
        for topic in topics
    ]
