"""Decisions of plain consumer groups under the classic protocol, from their coordinator's records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.histories.recorded_generations import RecordedGeneration, settings_of
from assignor_lab.capture.recorded.consumer_members import ConsumerAnswer
from assignor_lab.capture.recorded.consumer_states import TopicFacts, consumer_document
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scenarios.settings import given_settings

__all__ = ["consumer_decisions"]


def consumer_decisions(
    group: str,
    generations: Sequence[RecordedGeneration],
    racks: Racks | None = None,
    config: Iterable[ConfigLayer] = (),
) -> Iterator[tuple[dict[str, Any], RecordedGeneration]]:
    """A scenario for each generation.

    The leader's input has the number of partitions at its time, which is that of the assigned and reported ones: the
    cluster's own number is of the end of the recording.
    """
    shown = [each for each in generations if each.consumers is not None]
    given = given_settings(config)
    facts = TopicFacts(racks={} if racks is None else racks.topics)
    rejoined: Sequence[tuple[int, str]] = ()
    before: ConsumerAnswer | None = None
    for place, each in enumerate(shown):
        assert each.consumers is not None
        # Rejoins belong to the decision after them, or to the last one.
        rejoined = (*rejoined, *each.rejoined) if place == len(shown) - 1 else rejoined
        notes: list[str] = []
        settings = {**settings_of(each.timeouts, notes), **given}
        document = consumer_document(
            each.consumers,
            f"{group}-generation-{each.generation}",
            _source(group, each, rejoined),
            facts,
            settings,
            notes,
            before,
        )
        rejoined, before = each.rejoined, each.consumers
        yield document, each


def _source(group: str, each: RecordedGeneration, rejoined: Sequence[tuple[int, str]]) -> Mapping[str, Any]:
    done = [{"time_ms": at, "type": "rejoined", "client": client} for at, client in rejoined]
    return {
        "file": each.place.file,
        "line": each.place.line,
        "time_ms": each.time_ms,
        "group": group,
        "generation": each.generation,
        **({"done": done} if done else {}),
    }
