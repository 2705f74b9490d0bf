"""A history as a playable episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.edges.episodes import PastEpisode, RecordedDowntime, episode_document, missing_topics
from assignor_lab.capture.edges.happened import Happened
from assignor_lab.capture.edges.moments import CLASSIC, STREAMS, DecisionMoment
from assignor_lab.capture.errors import OneDecisionError
from assignor_lab.capture.histories.changed_tasks import changed_tasks
from assignor_lab.capture.histories.changelogs import SeenChangelogs, seen_changelogs
from assignor_lab.capture.histories.history import DecisionHistory
from assignor_lab.capture.histories.learned_timings import learned_timings
from assignor_lab.capture.histories.memory_stores import subtopologies_in_memory
from assignor_lab.capture.histories.presence import RecordedPresence, prepared_ms, seen_presence
from assignor_lab.capture.histories.repeated_decisions import repeated_decisions
from assignor_lab.capture.histories.settings import settings_of_decisions
from assignor_lab.documents.wording import plural
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.history import RECORDED, GroupHistory, GroupName
from assignor_lab.model.moment import Moment
from assignor_lab.model.unowned import MemberOwnership, unowned_by_decisions, unowned_by_members
from assignor_lab.scenarios.settings import Settings, without_effect
from assignor_lab.simulation.streams.formats.timings import with_settings
from assignor_lab.simulation.streams.seen_waits import SeenWaits
from assignor_lab.simulation.streams.timings import TIMING_KEYS, StreamsTimings, timings_of_settings

__all__ = ["history_episode"]

#: An episode continues for this time after the last decision.
_AFTERWARDS_MS = 15_000
_MOST_GAPS = 8
#: Waits of a kind that plays draw from: the last ones.
_MOST_WAITS = 1_000
#: A decision that no member received is repeated within this time.
_AT_ONCE_MS = 10_000


def history_episode(
    history: DecisionHistory, timings: Mapping[str, int] | None = None, settings: Settings | None = None
) -> dict[str, Any]:
    """The episode behind a history, as a ``streams-episode`` document.

    Its events are joins, leaves and losses. Kafka's decisions are under ``recorded``, which no simulation reads.

    Args:
        timings: Durations that replace those of settings.
        settings: Replace those of the decisions; missing ones have Kafka's defaults.
    """
    moments = history.moments
    of_decisions, changed = settings_of_decisions(moment.input.settings for moment in moments)
    known_settings = {**of_decisions, **(settings or {})}
    given = {**timings_of_settings(known_settings), **(timings or {})}
    if len(moments) < 2:
        raise OneDecisionError(
            f"{history.place}: one decision of group {history.group!r:.80} alone is a state and no history: give more "
            "of its logs or records, or score it"
        )
    begins_empty = not moments[0].input.has_owners
    learned = learned_timings(history, given, begins_empty=begins_empty)
    given = {**given, **{name: each.value for name, each in learned.items()}}
    past_timings = {name: each.past_ms for name, each in learned.items() if each.past_ms is not None}
    known = StreamsTimings.from_mapping(given)
    # Ends of changelogs need only the start time.
    changelogs = seen_changelogs(moments, moments[0].time_ms)
    presence = seen_presence(moments, history.protocol, known, changelogs, begins_empty=begins_empty)
    first_ms = moments[0].time_ms
    if begins_empty and presence.happened:
        first_ms = min(first_ms, presence.happened[0].time_ms)
    in_memory = subtopologies_in_memory(moments, known.state_cleanup_delay_ms)
    changelogs = seen_changelogs(moments, first_ms).in_memory(in_memory)
    made = _Made(history, presence, changelogs, known, first_ms, begins_empty, past_timings)
    if past_timings:
        in_plays = attrs.evolve(known, **past_timings)
        later = seen_presence(moments, history.protocol, in_plays, changelogs, begins_empty=begins_empty)
        made = attrs.evolve(made, presences=(presence, later))
    stated = made.assumptions(given)
    assumptions = [sentence for key, sentence in changed.items() if key not in (settings or {})]
    if history.protocol == STREAMS:
        assumptions += [each for each in without_effect(settings or {}) if each not in stated]
    assumptions += [each.sentence for each in learned.values()]
    return with_settings(episode_document(made.episode([*assumptions, *stated], given)), known_settings, given)


@attrs.frozen
class _Made:
    history: DecisionHistory
    presence: RecordedPresence
    changelogs: SeenChangelogs
    timings: StreamsTimings
    first_ms: int
    begins_empty: bool
    past_timings: Mapping[str, int]
    #: Under the bounds of learned timings.
    presences: tuple[RecordedPresence, ...] = ()

    def episode(self, assumptions: Sequence[str], given: Mapping[str, int]) -> PastEpisode:
        moments = self.history.moments
        ends = (each.time_ms if each.within_ms is None else each.within_ms[1] for each in self.presence.happened)
        last_ms = max([moments[-1].time_ms, *ends])
        until_ms = min([last_ms + _AFTERWARDS_MS, *(at for at in self._last_stops() if at > last_ms)])
        past = PastEpisode(
            self.history.group,
            self.history.protocol,
            moments,
            self.presence.names,
            [prepared_ms(moments, place, self.history.protocol, self.timings) for place in range(len(moments))],
            self._happened(),
            self.changelogs.by_task,
            self._downtime(until_ms),
            self.first_ms,
            until_ms,
            given,
            assumptions,
            self._waits(),
            self.past_timings,
            begins_empty=self.begins_empty,
        )
        return attrs.evolve(past, happened=self._with_repeated(past))

    def _last_stops(self) -> list[int]:
        """Logged stops after the last decision. The log of a stopped leader shows no later decision."""
        last = self.history.moments[-1]
        latest = {each.client: each for each in sorted(last.noted, key=lambda each: each.time_ms)}
        return [each.time_ms for each in latest.values() if each.type == "stop"]

    def _waits(self) -> SeenWaits:
        clients = {each.client_id for moment in self.history.moments for each in moment.participants.values()}
        found: dict[str, list[int]] = {each.name: [] for each in attrs.fields(SeenWaits)}
        for moment in self.history.moments:
            for each in moment.input.waits:
                if each.client in clients:
                    found[each.type].append(min(each.ms, self.timings.max_poll_interval_ms))
        return SeenWaits(**{kind: tuple(waits[-_MOST_WAITS:]) for kind, waits in found.items()})

    def _with_repeated(self, past: PastEpisode) -> list[Happened]:
        """With the rebalances of the leader alone. A play of missing topics has that of the first decision itself."""
        if past.protocol != CLASSIC:
            return list(past.happened)
        first = 2 if missing_topics(past) else 1
        repeated = repeated_decisions(past.moments, past.happened, self.timings.heartbeat_interval_ms, first)
        return sorted([*past.happened, *repeated], key=lambda each: each.time_ms)

    def _happened(self) -> list[Happened]:
        """At equal times changes of tasks come first."""
        happened = self.presence.happened
        changes = changed_tasks(
            self.history.moments, happened, self.history.protocol, self.timings, self.first_ms,
            begins_empty=self.begins_empty,
        )  # fmt: skip
        return sorted([*changes, *happened], key=lambda each: each.time_ms)

    def _downtime(self, until_ms: int) -> RecordedDowntime | None:
        """``None`` if a streams group's source has no current assignments."""
        if self.history.protocol == STREAMS:
            held = self._held()
            if not held:
                return None
            found = unowned_by_members(self._past(self.presence, until_ms), held)
            return RecordedDowntime({task: found[task] for task in sorted(found, key=_task_order)})
        first = self.history.moments[0].input.previous_owners
        names = self.presence.names
        owners = {
            task: names[process] for task, process in ({} if self.begins_empty else first).items() if process in names
        }
        restored = self._restored_ms()

        def downtime(presence: RecordedPresence) -> dict[str, list[tuple[int, int]]]:
            return unowned_by_decisions(self._past(presence, until_ms), owners, restored)

        found = downtime(self.presence)
        shows_restoring = any(True for moment in self.history.moments for _ in moment.input.restored)
        presences = self.presences or (self.presence,)
        if not any(each.is_open for presence in presences for each in presence.happened):
            return RecordedDowntime(found, shows_restoring)
        totals = [_total_s(downtime(presence.at_bound(place))) for presence in presences for place in (0, 1)]
        return RecordedDowntime(found, shows_restoring, (min(totals), max(totals)))

    def _past(self, presence: RecordedPresence, until_ms: int) -> GroupHistory:
        """Owners by decision, and ends of processes."""
        names, moments = presence.names, self.history.moments
        decisions = tuple(
            Decision(
                Moment.at(moment.time_ms),
                Evidence.record(moment.place),
                moment.protocol,
                moment.generation,
                {
                    names[process]: InstanceShare(process, active=tuple(active))
                    for process, (active, _) in moment.placed.items()
                    if process in names
                },
            )
            for moment in _received(moments)
        )
        events = presence.events([moment.time_ms for moment in moments], self.timings)
        return GroupHistory(
            GroupName(self.history.group),
            RECORDED,
            decisions,
            tuple(events),
            begin_ms=self.first_ms,
            until_ms=until_ms,
        )

    def _held(self) -> list[MemberOwnership]:
        names = self.presence.names
        instances = {
            member: names[each.process_id]
            for moment in self.history.moments
            for each in moment.participants.values()
            for member in each.members
        }
        changes = (change for moment in self.history.moments for change in moment.input.member_tasks)
        return [
            MemberOwnership(each.time_ms, each.member, instances.get(each.member, ""), each.active)
            for each in sorted(changes, key=attrgetter("time_ms"))
        ]

    def _restored_ms(self) -> dict[tuple[str, str], list[int]]:
        clients: dict[str, str] = {}
        of_client: dict[tuple[str, str], list[int]] = {}
        stores: dict[tuple[str, str], set[str]] = {}
        for moment in self.history.moments:
            for each in moment.input.restored:
                key = each.client, each.task
                times, seen = of_client.setdefault(key, []), stores.setdefault(key, set())
                if seen and each.store not in seen:
                    # One more store of the same restore.
                    times.pop()
                elif seen:
                    seen.clear()
                seen.add(each.store)
                times.append(each.time_ms)
            for process, participant in moment.participants.items():
                clients[self.presence.names[process]] = participant.client_id or ""
        return {
            (name, task): times
            for name, client in clients.items()
            for (of, task), times in of_client.items()
            if of == client
        }

    def assumptions(self, given: Mapping[str, int]) -> list[str]:
        assumptions = [*self._gaps(), *self.presence.assumptions, *self.changelogs.assumptions]
        key = "session.timeout.ms" if self.history.protocol == CLASSIC else "streams.session.timeout.ms"
        if TIMING_KEYS[key] not in given:
            assumptions.append(
                f"{key} of the group is unknown: Kafka's default, {getattr(self.timings, TIMING_KEYS[key])} ms, counts "
                f"(give {key} with --config or -c)"
            )
        return list(dict.fromkeys([*assumptions, *self.history.moments[0].input.assumptions]))

    def _gaps(self) -> list[str]:
        gaps = self.history.gaps
        if not gaps:
            return []
        missing = sum(last - first + 1 for first, last in gaps)
        named = [str(first) if first == last else f"{first} to {last}" for first, last in gaps[:_MOST_GAPS]]
        more = [f"{len(gaps) - _MOST_GAPS} more gaps"] if len(gaps) > _MOST_GAPS else []
        verb = "is" if missing == 1 else "are"
        return [
            f"{plural(missing, 'generation')} between the recorded ones {verb} not in the source "
            f"({', '.join([*named, *more])}): an event within a gap is played when the next recorded one shows it"
        ]


def _total_s(downtime: Mapping[str, Sequence[tuple[int, int]]]) -> float:
    return float(sum(end - begin for intervals in downtime.values() for begin, end in intervals)) / 1000


def _task_order(task: str) -> tuple[bytes, int, int]:
    return TaskId.parse(task).sort_key()


def _received(moments: Sequence[DecisionMoment]) -> Iterator[DecisionMoment]:
    """Without decisions that no member received, because others joined while the leader decided.

    The next decision follows at once and has all members again. They own none of the tasks that had no other owner,
    which a member gets without waiting for a release.
    """
    for moment, after in zip_longest(moments, moments[1:]):
        before = moment.input.previous_owners
        given = {
            task: process
            for process, (active, _) in moment.placed.items()
            for task in active
            if before.get(task, process) == process
        }
        if after is None or not given or after.time_ms - moment.time_ms > _AT_ONCE_MS:
            yield moment
            continue
        stayed = all(
            process in after.participants and moment.participants[process].members & after.participants[process].members
            for process in given.values()
        )
        owned = after.input.previous_owners
        if not stayed or any(owned.get(task) == process for task, process in given.items()):
            yield moment
