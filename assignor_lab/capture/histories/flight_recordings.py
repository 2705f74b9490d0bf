"""Folders of ``assignor record`` as recorded decisions, for every kind of group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any, TypeVar

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignment_api.releases import RELEASE_KEY, KafkaRelease, read_release
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.consumer_decisions import consumer_decisions
from assignor_lab.capture.histories.group_logs import GroupLogs, read_group_logs
from assignor_lab.capture.histories.past_files import BROKERS, RACKS, files_beside
from assignor_lab.capture.histories.recorded_events import recorded_events
from assignor_lab.capture.histories.recorded_generations import (
    RecordedGeneration,
    classic_decisions,
    recorded_generations,
)
from assignor_lab.capture.histories.streams_epochs import Epoch, epoch_documents, recorded_epochs
from assignor_lab.capture.histories.subscribed_decisions import subscribed_decisions
from assignor_lab.capture.logs.open_dates import LogDates
from assignor_lab.capture.recorded.connect.answers import connect_rounds
from assignor_lab.capture.recorded.connect.histories import SeenRound, histories
from assignor_lab.capture.recorded.kept_records import SAMPLES, KeptRecords, read_kept_records
from assignor_lab.capture.recorded.sampled_topics import SampledTopics
from assignor_lab.capture.recorded.subscribed_epochs import SubscribedEpoch, subscribed_epochs
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import count, map_of, nullable, one_of, record, text, whole
from assignor_lab.documents.wording import plural
from assignor_lab.model.events import GroupEvent, InstanceGone
from assignor_lab.scenarios.anonymous import NAMES_DECIDE, is_pseudonym
from assignor_lab.scenarios.racks import ANY_TOPIC, Racks, read_racks
from assignor_lab.scenarios.settings import group_settings, with_brokers_release
from assignor_lab.scenarios.with_racks import RackFiller

__all__ = ["recorded_decisions"]

_BROKERS = record(
    {"format": whole(1, 1), "kind": one_of("brokers"), "streams_group_describe": nullable(count)},
    {
        "topics": map_of(text, count),
        "topic_ids": map_of(text, text),
        "settings": map_of(text, count),
        "kafka_release": nullable(text),
    },
)
#: Since then, brokers give their assignor the current tasks, not the old targets.
_FIRST_GIVEN_WHAT_THEY_HAVE = 1
#: A log and a record of one departure differ by less.
_SAME_MS = 1_000
_MAX_BYTES = 64 * 1024 * 1024
_WITH_RACKS = ("streams", "streams-group")


def recorded_decisions(
    file: Path,
    config: Sequence[ConfigLayer] = (),
    topology: Path | None = None,
    on_problem: Callable[[str], None] = lambda _: None,
    beside: Mapping[str, Path] | None = None,
    logs: Sequence[Path] = (),
    zone: tzinfo | None = None,
    racks: Racks | None = None,
    on_event: Callable[[str | None, GroupEvent], None] = lambda _, __: None,
    *,
    brokers_show_targets: bool | None = None,
    optimized: bool | None = None,
    latest_protocol: bool = False,
    on_earlier: Callable[[dict[str, Any]], None] = lambda _: None,
    dates: LogDates | None = None,
) -> Iterator[dict[str, Any]]:
    """A scenario for each decision in a recording; rounds of a Connect group form one history.

    Args:
        config: Layers of ``--config`` and ``-c``, the lowest first.
        beside: ``None``: the files in the recording's folder.
        logs: Of the group's coordinators and instances.
        zone: Of logs without one; ``None``: UTC.
        racks: Racks of ``--racks``, for the topics' partition counts.
        on_event: Receives the events in the records and logs, with their group, before the first decision.
        brokers_show_targets: True if brokers give their assignor the old targets; ``None``: as recorded.
        optimized: True if tables read their source topics back; ``None``: unknown.
        latest_protocol: True if decisions under an earlier protocol of the group are left out.
        on_earlier: Receives these decisions, before the first other one.
        dates: Facts about dates that the logs leave open.
    """
    others = {each.name: each for each in files_beside(file)} if beside is None else beside
    kept = read_kept_records(file, others.get(SAMPLES))
    gone: list[InstanceGone] = []
    for event in recorded_events(kept):
        if isinstance(event, InstanceGone):
            gone.append(event)
        else:
            on_event(kept.group, event)
    around = read_group_logs(logs, zone, on_problem, dates) if logs else None
    for event in () if around is None else around.caused(kept.group):
        on_event(kept.group, event)
    own = read_racks([others[RACKS]]) if RACKS in others else None
    brokers = _brokers(others.get(BROKERS))
    if brokers_show_targets is not None:
        version = 0 if brokers_show_targets else _FIRST_GIVEN_WHAT_THEY_HAVE
        brokers = {**brokers, "streams_group_describe": version, "kafka_release": None}
    topics = {**_partition_counts(racks, own), **brokers.get("topics", {})}
    documents = _decisions(
        file, kept, brokers, config, topology, on_problem, around, topics, gone,
        racks if own is None else own, on_earlier, optimized=optimized, latest_protocol=latest_protocol,
    )  # fmt: skip
    if own is not None:
        filler = RackFiller(own)
        documents = (filler.filled(each) if each["kind"] in _WITH_RACKS else each for each in documents)
    yield from documents


def _decisions(
    file: Path,
    kept: KeptRecords,
    brokers: Mapping[str, Any],
    config: Sequence[ConfigLayer],
    topology: Path | None,
    on_problem: Callable[[str], None],
    around: GroupLogs | None,
    topics: Mapping[str, int],
    gone: Sequence[InstanceGone],
    racks: Racks | None,
    on_earlier: Callable[[dict[str, Any]], None],
    *,
    optimized: bool | None,
    latest_protocol: bool,
) -> Iterator[dict[str, Any]]:
    notes: list[str] = []
    generations = recorded_generations(kept, notes.append)
    epochs, subscribed = recorded_epochs(kept, notes.append), subscribed_epochs(kept, notes.append)
    generations, epochs = _steadied(generations, notes), _steadied(epochs, notes)
    subscribed = _steadied(subscribed, notes)
    for sentence in dict.fromkeys(notes):
        on_problem(sentence)
    if not (generations or epochs or subscribed):
        raise HistoryError(
            f"{file}: none of {plural(len(kept.records), 'record')} of group {kept.group!r:.80} is a decision: "
            "record it while its members are there, or go on with record --resume --follow"
        )
    release = _release(brokers)
    classic = _classic(kept, generations, config, topology, around, topics, racks, release, optimized=optimized)
    streams = _epochs(kept, epochs, gone, brokers, config, topology, around)
    if not (latest_protocol and generations and epochs):
        if generations:
            yield from classic
        if epochs:
            yield from streams
        if subscribed:
            yield from subscribed_decisions(kept.group, subscribed, brokers.get("topic_ids", {}), gone, config)
        return
    is_streams = generations[-1].time_ms <= epochs[-1].time_ms
    count, protocol = (len(generations), "classic") if is_streams else (len(epochs), "streams")
    counted = "decision is" if count == 1 else "decisions are"
    on_problem(
        f"{file}: group {kept.group!r:.80} has changed its protocol: {count} {counted} left out, of its time under "
        f"the {protocol} protocol"
    )
    for document in classic if is_streams else streams:
        on_earlier(document)
    yield from streams if is_streams else classic


def _with_departures(epochs: Sequence[Epoch], gone: Sequence[InstanceGone]) -> list[Epoch]:
    """Departures belong to the decision after them, or to the last one. A logged stop shows more than its record."""
    found: list[Epoch] = []
    left = list(gone)
    for place, epoch in enumerate(epochs):
        is_last = place == len(epochs) - 1
        own = [each for each in left if is_last or each.at.latest_ms <= epoch.time_ms]
        del left[: len(own)]
        logged = epoch.further.get("done", ())
        done = [
            {"time_ms": each.at.latest_ms, "type": "gone", "client": each.instance}
            for each in own
            if not any(
                other["client"] == each.instance and abs(other["time_ms"] - each.at.latest_ms) <= _SAME_MS
                for other in logged
            )
        ]
        found.append(attrs.evolve(epoch, further={**epoch.further, "done": [*logged, *done]}) if done else epoch)
    return found


def _epochs(
    kept: KeptRecords,
    epochs: Sequence[Epoch],
    gone: Sequence[InstanceGone],
    brokers: Mapping[str, Any],
    config: Sequence[ConfigLayer],
    topology: Path | None,
    around: GroupLogs | None,
) -> Iterator[dict[str, Any]]:
    if around is not None:
        epochs = around.filled_epochs(kept.group, epochs)
    epochs = _with_departures(epochs, gone)
    sampled = SampledTopics(kept.samples) if kept.samples else None
    settings = group_settings({key: str(value) for key, value in brokers.get("settings", {}).items()})
    release = _release(brokers)
    if release is not None:
        settings[RELEASE_KEY] = str(release)
    yield from epoch_documents(
        kept.group, epochs, config, topology, sampled, settings, is_given_targets=_is_given_targets(brokers)
    )


def _classic(
    kept: KeptRecords,
    generations: Sequence[RecordedGeneration],
    config: Sequence[ConfigLayer],
    topology: Path | None,
    around: GroupLogs | None,
    topics: Mapping[str, int],
    racks: Racks | None,
    release: KafkaRelease | None,
    *,
    optimized: bool | None,
) -> Iterator[dict[str, Any]]:
    if generations[0].is_connect:
        for document in _connect(generations, around):
            has_pseudonyms = is_pseudonym(kept.group)
            yield {**document, "assumptions": [*document["assumptions"], NAMES_DECIDE]} if has_pseudonyms else document
        return
    if generations[0].consumers is not None:
        decided = consumer_decisions(kept.group, generations, racks, config)
        yield from (document for document, _ in decided)
        return
    decided = classic_decisions(generations, kept.samples, config, topology, topics, optimized=optimized)
    for document in (
        [each for each, _ in decided]
        if around is None
        else around.filled((each, generation.leader) for each, generation in decided)
    ):
        yield with_brokers_release(document, release)


def _partition_counts(*racks: Racks | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in racks:
        for topic, partitions in () if each is None else each.topics.items():
            if topic != ANY_TOPIC:
                found[topic] = max(found.get(topic, 0), len(partitions))
    return found


_Decided = TypeVar("_Decided", RecordedGeneration, Epoch, SubscribedEpoch)


def _steadied(decided: Sequence[_Decided], notes: list[str]) -> list[_Decided]:
    """Ascending times, in the order of the records.

    After a clock ran backwards, or on a slower coordinator, times count on from the latest one.
    """
    found: list[_Decided] = []
    ahead = 0
    for each in decided:
        back = found[-1].time_ms - each.time_ms - ahead if found else 0
        if back > 0:
            ahead += back
            notes.append(
                f"{each.place}: the coordinator's clock has gone back by {back:,} ms: later times count from where it "
                "had stood"
            )
        found.append(each.later(ahead) if ahead else each)
    return found


def _brokers(file: Path | None) -> Mapping[str, Any]:
    if file is None:
        return {}
    found: Mapping[str, Any] = read_document(
        file, parse_json, _BROKERS, max_bytes=_MAX_BYTES, subject="a file of brokers"
    )
    return found


def _release(brokers: Mapping[str, object]) -> KafkaRelease | None:
    """The brokers' release; ``None``: the recording does not show it."""
    shown = brokers.get("kafka_release")
    return read_release(shown) if isinstance(shown, str) else None


def _is_given_targets(brokers: Mapping[str, Any]) -> bool:
    version = brokers.get("streams_group_describe")
    return version is None or version < _FIRST_GIVEN_WHAT_THEY_HAVE


def _connect(generations: Sequence[RecordedGeneration], around: GroupLogs | None) -> Iterator[dict[str, Any]]:
    seen, reasons, numbers = [], {}, {}
    for each in generations:
        for described in connect_rounds([each.message]):
            seen.append(SeenRound(each.place.file, each.place.line or 0, each.time_ms, described))
            numbers[each.place.line or 0] = each.generation
            if around is not None:
                reasons[each.place.line or 0] = around.reason(described.group, each.generation, each.leader)
    for document, rounds in histories(seen):
        logged_reasons = [reasons.get(each.line) for each in rounds]
        source = {**document["source"], "generations": [numbers[each.line] for each in rounds]}
        if any(logged_reasons):
            source["reasons"] = logged_reasons
        yield {**document, "source": source}
