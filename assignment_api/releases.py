"""Releases of Kafka, and the one table of behaviours that hold from one release to another.

Code that differs between releases calls :func:`holds` with a key of ``BEHAVIOURS``, in place of comparing numbers.
``docs/reference/releases.md`` is made from the table. How each range is known is in its ``known_by``: *run* (released
classes were called), *read* (released classes were read), *stated* (Kafka's notes and tickets).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cache

import attrs

from assignment_api.errors import ConfigError

__all__ = [
    "BEHAVIOURS",
    "KNOWN_RELEASES",
    "NEWEST",
    "RELEASE_KEY",
    "BehaviourRange",
    "KafkaRelease",
    "UnknownReleaseError",
    "assignor_range",
    "behaviour",
    "holds",
    "read_release",
    "release_in",
    "release_named",
]

#: Key of the configuration, and of a state's ``settings``.
RELEASE_KEY = "kafka.release"

_TEXT = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,3}){0,2}(?:[-.][0-9A-Za-z.-]{1,40})?\Z")


class UnknownReleaseError(ConfigError):
    """A text names no release of Kafka that the lab knows, or a release lacks the named assignor."""


@attrs.frozen(order=True)
class KafkaRelease:
    """A release. Behaviours change with the first two numbers only; ``4.3.0`` and ``4.3.1`` are one for all rules."""

    major: int
    minor: int
    #: As written.
    text: str = attrs.field(default="", eq=False, order=False)

    @property
    def line(self) -> str:
        """The first two numbers, as in ``4.4``."""
        return f"{self.major}.{self.minor}"

    def __str__(self) -> str:
        return self.text or self.line


@attrs.frozen
class BehaviourRange:
    """A behaviour, and the releases that have it.

    Args:
        key: Name for code; of an assignor's answers the name that selects them without a release.
        area: ``assignors``, ``coordinator``, ``clients``, ``restore``, ``wire``, ``logs`` or ``configuration``.
        text: One sentence.
        since: First release, such as ``4.4``.
        until: Last release; ``""``: the newest one, too.
        of: The assignor's own name, if releases have several answers under it.
    """

    key: str
    area: str
    text: str
    since: str
    until: str = ""
    known_by: str = "read"
    of: str = ""

    @property
    def first(self) -> KafkaRelease:
        """The first release that has it."""
        return _parsed(self.since)

    @property
    def last(self) -> KafkaRelease | None:
        """The last one; ``None``: it is not over."""
        return _parsed(self.until) if self.until else None

    def covers(self, release: KafkaRelease) -> bool:
        """True if ``release`` is in the range."""
        return self.first <= release and (self.last is None or release <= self.last)


@cache
def _parsed(text: str) -> KafkaRelease:
    found = read_release(text)
    assert found is not None, text
    return found


def read_release(text: str) -> KafkaRelease | None:
    """The release in a log line or a state, known or not; ``None`` if ``text`` is none."""
    found = _TEXT.match(text.strip())
    return None if found is None else KafkaRelease(int(found[1]), int(found[2]), text.strip())


#: The releases that the lab's answers were compared with, the oldest first.
KNOWN_RELEASES: tuple[KafkaRelease, ...] = tuple(
    map(_parsed, ("3.8.0", "3.9.1", "4.0.0", "4.1.0", "4.2.0", "4.3.1", "4.4.0"))
)
NEWEST = KNOWN_RELEASES[-1]


def release_named(text: str) -> KafkaRelease:
    """A known release from a user's text, such as ``4.4`` or ``4.3.1``.

    Raises:
        UnknownReleaseError: if it is none; the message lists the known ones and offers the nearest.
    """
    found = read_release(text)
    if found is not None and found in KNOWN_RELEASES:
        return found
    listed = ", ".join(each.line for each in KNOWN_RELEASES)
    raise UnknownReleaseError(
        f"unknown release of Kafka {text!r:.40}: did you mean {_nearest(text, found)}? Known: {listed}"
    )


def release_in(configs: Mapping[str, object]) -> KafkaRelease | None:
    """The release of a configuration, known or not; ``None``: it names none."""
    given = configs.get(RELEASE_KEY)
    return None if given is None else read_release(str(given))


def _nearest(text: str, found: KafkaRelease | None) -> str:
    if found is not None:
        number = 100 * found.major + found.minor
        return min(KNOWN_RELEASES, key=lambda each: abs(100 * each.major + each.minor - number)).line
    lines = [each.line for each in KNOWN_RELEASES]
    near = difflib.get_close_matches(text.strip().lower().removeprefix("v").replace("_", "."), lines, n=1, cutoff=0.3)
    return near[0] if near else NEWEST.line


def behaviour(key: str) -> BehaviourRange:
    """The range of a key; a programming error raises ``KeyError``."""
    return _BY_KEY[key]


def holds(key: str, release: KafkaRelease) -> bool:
    """True if ``release`` has the behaviour; releases after the newest known one count like it."""
    return _BY_KEY[key].covers(release)


def assignor_range(name: str, release: KafkaRelease) -> BehaviourRange | None:
    """The answers of one of Kafka's assignors in a release; ``None`` if ``name`` is no assignor of Kafka.

    Raises:
        UnknownReleaseError: if that release has no such assignor.
    """
    ranges = [each for each in BEHAVIOURS if each.area == "assignors" and name in (each.key, each.of)]
    own = [each for each in ranges if each.key == name and each.of not in ("", name)] or ranges
    for each in own:
        if each.covers(release):
            return each
    if not own:
        return None
    raise UnknownReleaseError(
        f"Kafka {release.line} has no assignor {name!r} that the lab knows: {_spans(own)} {_have(own)} it"
    )


def _spans(ranges: Sequence[BehaviourRange]) -> str:
    first, last = min(each.first for each in ranges), max((each.last or NEWEST) for each in ranges)
    if any(not each.until for each in ranges):
        return f"{first.line} and later releases" if first != NEWEST else f"{first.line}"
    return first.line if first == last else f"{first.line} to {last.line}"


def _have(ranges: Sequence[BehaviourRange]) -> str:
    return "has" if " " not in _spans(ranges) else "have"


_RUN_ALL = "run: 3.8.0, 3.9.1, 4.0.0, 4.1.0, 4.2.0, 4.3.1, 4.4.0"

BEHAVIOURS: tuple[BehaviourRange, ...] = (
    # --- assignors ---
    BehaviourRange(
        "high_availability", "assignors",
        "Balance first, move state after a warm-up (KIP-441, KIP-708, KIP-925).", "3.8", known_by=_RUN_ALL,
    ),
    BehaviourRange(
        "rack_aware", "assignors", "The default with rack awareness on (KIP-925).", "3.8", known_by=_RUN_ALL
    ),
    BehaviourRange(
        "legacy_sticky", "assignors",
        "Quota per thread: tasks // threads, with a test of the capacity.", "3.8", known_by=_RUN_ALL,
    ),
    BehaviourRange("fallback_prior", "assignors", "Every task stays, for one rebalance.", "3.8", known_by=_RUN_ALL),
    BehaviourRange(
        "sticky", "assignors",
        "Previous owners keep up to threads(process) x (tasks // all threads) active tasks.",
        "3.8", "4.3", "run: 3.8.0, 3.9.1, 4.0.0, 4.1.0, 4.2.0, 4.3.1", of="sticky",
    ),
    BehaviourRange(
        "sticky_4_4", "assignors",
        "Previous owners keep up to ceil(tasks x threads(process) / all threads) active tasks (KAFKA-20198).",
        "4.4", known_by="run: 4.4.0", of="sticky",
    ),
    BehaviourRange(
        "group_sticky", "assignors",
        "The brokers' sticky assignor (KIP-1071): previous targets, no offsets, KAFKA-20899 overlooks candidates.",
        "4.3", "4.3", "run: 4.3.1", of="group_sticky",
    ),
    BehaviourRange(
        "group_sticky_4_4", "assignors",
        "The same with candidates by reported offsets (KAFKA-20719, KAFKA-20790, KAFKA-20899; KIP-1357).",
        "4.4", known_by="run: 4.4.0", of="group_sticky",
    ),
    BehaviourRange(
        "connect_eager", "assignors", "Connect before 2.3: all jobs are dealt in turn.", "4.3",
        known_by="run: 4.3.1, 4.4.0",
    ),
    BehaviourRange(
        "connect_incremental", "assignors", "Connect's incremental cooperative rebalancing (KIP-415).", "4.3",
        known_by="run: 4.3.1, 4.4.0",
    ),
    *(
        BehaviourRange(key, "assignors", text, "4.3", known_by="run: 4.3.1, 4.4.0")
        for key, text in (
            ("consumer_range", "Consumers: ranges of each topic, co-partitioned topics alike, racks (KIP-881)."),
            ("consumer_roundrobin", "Consumers: partitions of all topics in turn."),
            ("consumer_sticky", "Consumers: balanced, and owners keep what they can (KIP-54)."),
            ("consumer_cooperative_sticky", "The same without a stop of all partitions (KIP-429)."),
            ("consumer_group_uniform", "The brokers' balanced and sticky assignor of consumer groups (KIP-848)."),
            ("consumer_group_range", "The brokers' ranges of each topic (KIP-848)."),
            ("share_simple", "The brokers' assignor of share groups (KIP-932)."),
        )
    ),
    # --- coordinator ---
    BehaviourRange(
        "brokers_show_targets", "coordinator",
        "The brokers' assignor receives members' previous targets as their tasks.", "4.1", "4.3",
    ),
    BehaviourRange(
        "brokers_show_offsets", "coordinator", "The brokers' assignor receives the offsets that members report.", "4.4"
    ),
    BehaviourRange(
        "own_copy_blocks", "coordinator",
        "A member with a copy of a task becomes active only after it has revoked the copy.", "4.1", "4.3",
        "read, run: 4.3.1",
    ),
    BehaviourRange(
        "static_streams_members", "coordinator",
        "Streams groups accept group.instance.id: a static member keeps its place and its tasks.", "4.4",
    ),
    BehaviourRange(
        "forgets_assignment_interval", "coordinator",
        "The assignment interval restarts after the last member has left.", "4.4",
    ),
    BehaviourRange(
        "missing_client_tags_status", "coordinator",
        "A member that lacks a configured rack tag gets status MISSING_CLIENT_TAGS; no assignor reads the tags.", "4.4",
    ),
    # --- clients ---
    BehaviourRange(
        "streams_protocol", "clients", "group.protocol=streams (KIP-1071).", "4.1", known_by="read (4.2), stated (4.1)"
    ),
    BehaviourRange(
        "streams_close_always_leaves", "clients",
        "Streams protocol: KafkaStreams.close() leaves the group, even with REMAIN_IN_GROUP.", "4.3", "4.3",
        "read: absent in 4.2.0, gone in 4.4.0",
    ),
    BehaviourRange(
        "streams_close_obeys_remain", "clients",
        "Streams protocol: REMAIN_IN_GROUP is obeyed; a dynamic member leaves on close, a static one stays.", "4.4",
    ),
    BehaviourRange(
        "broker_bounce_rebalances", "clients",
        "Classic groups with client.rack rebalance when a broker goes down, and when it is up again (KAFKA-20778).",
        "3.8", "4.3", "read: 4.3.1, 4.4.0; stated since 3.5 (KIP-881)",
    ),
    BehaviourRange(
        "in_memory_stores_reported", "clients",
        "A closed task's in-memory stores are still reported to the leader, so that its lag looks smaller.", "3.8",
        "4.3",
    ),
    BehaviourRange(
        "public_task_assignors", "clients", "task.assignor.class and the public interface (KIP-924).", "3.8",
        known_by="run",
    ),
    BehaviourRange(
        "leave_group_on_close_option", "clients",
        "KafkaStreams.CloseOptions decides about leaving the group on close (KIP-1153).", "4.2", known_by="stated",
    ),
    # --- restore ---
    BehaviourRange(
        "offsets_in_checkpoint_files", "restore", "Offsets of stores are in .checkpoint files.", "3.8", "4.2"
    ),
    BehaviourRange(
        "offsets_in_stores", "restore", "Offsets of stores are inside RocksDB, and reach the disk with a flush.", "4.3",
        known_by="read, run: 4.3.1, 4.4.0 (KIP-1035)",
    ),
    BehaviourRange(
        "transactional_stores", "restore",
        "enable.transactional.statestores: a killed task resumes at its last flush under exactly-once (KIP-892).",
        "4.4", known_by="read, run: 4.4.0",
    ),
    BehaviourRange(
        "retention_based_restore", "restore",
        "A full restore of a windowed or session store reads only records that are still retained.", "4.4",
    ),
    BehaviourRange(
        "task_directory_touched", "restore",
        "Closing a task sets its directory's modification time, from which state.cleanup.delay.ms counts.", "4.4",
    ),
    BehaviourRange(
        "state_updater_waits_5_minutes", "restore",
        "A task's removal from the state updater is given up after 5 minutes.", "4.3", "4.3",
    ),
    # --- wire ---
    BehaviourRange(
        "subscription_info_11", "wire", "SubscriptionInfo and AssignmentInfo up to version 11.", "3.8",
        known_by=_RUN_ALL,
    ),
    BehaviourRange(
        "connect_wire_2", "wire", "Connect's protocol metadata, versions 0 to 2.", "4.3", known_by="run: 4.3.1, 4.4.0"
    ),
    BehaviourRange(
        "streams_heartbeat_1", "wire",
        "StreamsGroupHeartbeat and StreamsGroupDescribe version 1: offsets, recovery lag, topology, assignor name.",
        "4.4",
    ),
    BehaviourRange(
        "topology_description_pushed", "wire",
        "Members push their topology to brokers with a plugin (KIP-1331, StreamsGroupTopologyDescriptionUpdate).",
        "4.4",
    ),
    BehaviourRange(
        "million_elements_limit", "wire", "Readers refuse collections of more than 1,000,000 elements.", "4.4"
    ),
    # --- logs ---
    BehaviourRange(
        "app_server_prefix", "logs",
        "Lines of the partition assignor name application.server: stream-thread [ID] app-server [HOST:PORT].", "4.4",
        known_by="run: 4.4.0",
    ),
    BehaviourRange(
        "streams_protocol_leaves_line", "logs",
        "'The consumer will leave the group since the streams group protocol is used'.", "4.3", "4.3",
    ),
    BehaviourRange(
        "metadata_racks_by_node", "logs",
        "The snapshot of the metadata shows racks={NODE=RACK}, offlineReplicas=[...].", "4.4",
    ),
    # --- configuration ---
    BehaviourRange(
        "streams_assignor_name", "configuration",
        "Brokers and groups choose an assignor: group.streams.assignors, streams.assignor.name.", "4.4",
    ),
    BehaviourRange(
        "streams_rack_tags", "configuration",
        "streams.rack.aware.assignment.tags of a group; the brokers' sticky assignor of 4.4 does not read them.", "4.4",
    ),
)  # fmt: skip

_BY_KEY = {each.key: each for each in BEHAVIOURS}
