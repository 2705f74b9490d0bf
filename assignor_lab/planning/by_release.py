"""Plans and notes that depend on the release of the clients: a restart of brokers, and keys of the streams protocol."""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api.releases import KafkaRelease, holds
from assignor_lab.documents.wording import listed
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.planning.state import PresentState

__all__ = ["broker_roll", "effects_by_release"]

#: Time that a broker is taken to be down.
_DOWN_MS = 60_000
#: Key of the classic protocol to the group's own key in its place; empty: there is none.
_IN_ITS_PLACE = {
    "task.assignor.class": "", "num.standby.replicas": "streams.num.standby.replicas", "max.warmup.replicas": "",
    "acceptable.recovery.lag": "", "probing.rebalance.interval.ms": "", "rack.aware.assignment.tags": "",
    "rack.aware.assignment.strategy": "", "session.timeout.ms": "streams.session.timeout.ms",
    "heartbeat.interval.ms": "streams.heartbeat.interval.ms",
}  # fmt: skip
#: Keys of the application that have the same effect under both protocols.
_KEPT = (
    "commit.interval.ms", "dsl.store.suppliers.class", "max.poll.interval.ms", "processing.guarantee",
    "state.cleanup.delay.ms",
)  # fmt: skip
_STATIC, _TRANSACTIONAL = "group.instance.id", "enable.transactional.statestores"


def effects_by_release(given: Iterable[str], release: KafkaRelease) -> tuple[list[str], list[str], list[str]]:
    """The given keys with and without effect under the streams protocol, and sentences on the release."""
    keys = set(given)
    kept = {key for key in _KEPT if key in keys}
    lost = {key for key in _IN_ITS_PLACE if key in keys}
    (kept if holds("static_streams_members", release) else lost).update(keys & {_STATIC})
    (kept if holds("transactional_stores", release) else lost).update(keys & {_TRANSACTIONAL})
    sentences = [f"without effect under the streams protocol of Kafka {release.line}: {', '.join(sorted(lost))}"]
    if kept:
        sentences.append(f"these keep their effect: {', '.join(sorted(kept))}")
    places = [f"{own} for {key}" for key, own in _IN_ITS_PLACE.items() if own and key in lost]
    if places:
        sentences.append(f"the group has keys of its own: {listed(places)}")
    if holds("streams_rack_tags", release):
        sentences.append("the brokers' sticky assignor of 4.4 reads no streams.rack.aware.assignment.tags")
    if holds("streams_close_obeys_remain", release):
        sentences.append("on close a dynamic member leaves at once, unless the application asks for REMAIN_IN_GROUP")
    else:
        sentences.append("on close a member always leaves the group, even with REMAIN_IN_GROUP")
    return sorted(lost), sorted(kept), sentences


def broker_roll(state: PresentState, brokers: int, down_ms: int | None) -> Plan:
    """A restart of all brokers, one after the other: the cost for a group whose members keep running."""
    down_ms = _DOWN_MS if down_ms is None else down_ms
    release = state.episode.release
    notes = [f"a broker is down for {down_ms / 1000:g} s; the group's coordinator moves without a pause"]
    if not state.is_classic:
        notes.append("a group of the streams protocol does not rebalance when a broker restarts")
    elif all(client.rack_id is None for client in state.episode.clients):
        notes.append("no instance has a client.rack: its leader compares no racks, so no broker's restart matters")
    elif holds("broker_bounce_rebalances", release):
        notes.append(
            f"with client.rack, the leader of Kafka {release.line} rejoins when a broker goes down and when it is up "
            "again (KAFKA-20778, until 4.3)"
        )
    else:
        notes.append(f"clients of Kafka {release.line} do not rebalance when a broker restarts (KAFKA-20778)")
    steps = []
    for number in range(1, brokers + 1):
        restart = Action("event", "", EventDetails(down_ms=down_ms), event="broker_restart")
        steps.append(Step(f"broker {number}", (restart,)))
    parameters = {"brokers": brokers, "down_seconds": down_ms / 1000}
    return Plan("broker-roll", tuple(steps), assumptions=tuple(notes), parameters=parameters, unit="broker")
