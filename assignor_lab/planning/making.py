"""Plans from the options of the command: rolling restart, scaling, a kill, the move to the streams protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mode
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.releases import release_in, release_named
from assignor_lab.documents.wording import plural
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.by_release import broker_roll, effects_by_release
from assignor_lab.planning.instances import named_instances, new_names
from assignor_lab.planning.plans import GIVEN, READY, Action, Plan, Starts, Step, Wait
from assignor_lab.planning.state import PresentState

__all__ = [
    "Options", "PlanError", "broker_roll_plan", "check_options", "instance_details", "is_in_memory", "kill_plan",
    "roll_plan", "scale_plan", "upgrade_plan", "upgrade_protocol_plan", "with_times",
]  # fmt: skip

#: ``dsl.store.suppliers.class`` of stores in memory ends in this.
_IN_MEMORY = "InMemoryDslStoreSuppliers"
#: Before this release, members of the classic protocol write metadata that newer ones read in a second roll only.
_TWO_ROLLS_UP_TO = (3, 4)
#: The first release with the streams protocol (early access).
_STREAMS_SINCE = (4, 1)
#: Releases before the oldest one with known behaviours.
_OLDER_RELEASES = {
    *((0, minor) for minor in (10, 11)),
    *((1, minor) for minor in range(2)),
    *((2, minor) for minor in range(9)),
    *((3, minor) for minor in range(8)),
}
#: Options of time.
_OF_EVERY_PLAN = ("start_ms", "starts", "poll_ms", "revoke_ms", "wait")
#: The options of each plan, apart from those of time.
_OPTIONS: Mapping[str, frozenset[str]] = {
    "roll": frozenset({
        "order", "only", "batch", "leave", "surge", "replace", "stuck", "crash_in", "upgrade_from", "down_ms",
    }),
    "scale": frozenset({"to", "leaving", "leave", "new_threads", "new_rack", "new_tags"}),
    "kill": frozenset({"back_after_ms", "wipe"}),
    "upgrade": frozenset({"order", "only", "batch", "leave", "surge", "stuck", "down_ms", "to_release"}),
    "upgrade-protocol": frozenset({"leave", "down_ms"}),
    "broker-roll": frozenset({"brokers", "broker_down_ms"}),
    "script": frozenset(),
}  # fmt: skip


class PlanError(AssignorLabError):
    """A plan contradicts the state, or itself."""


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


@attrs.frozen
class Options:
    """The options of a plan, as the command has them. All times are milliseconds.

    Args:
        order: Instances of a roll in their order; empty: the order of the state.
        only: Instances that are restarted; empty: all.
        batch: Instances that are restarted together; more than there are: all.
        down_ms: From the end of a process until its successor is started.
        broker_down_ms: From the end of a broker until its start; ``None``: usual.
        start_ms: From the start of a process until its first join; ``None``: unknown.
        starts: Its distribution; ``None``: around ``start_ms``.
        poll_ms: From one poll of a consumer, or of a busy thread of Streams, to the next; ``None``: unknown.
        revoke_ms: Time of a consumer's ``onPartitionsRevoked``; ``None``: unknown.
        leave: Members of closed instances leave the group.
        surge: Number of successors that are started first, together; 0: none.
        replace: Processes come back with empty disks.
        stuck: Number of the step with instances that do not come back; 0: none.
        crash_in: Number of the step in which another instance dies; 0: none.
        upgrade_from: Release that runs now; ``None``: the same.
        to_release: Release after an upgrade of the clients.
        brokers: Brokers that restart, one after the other.
        leaving: Instances that a scale-in removes; empty: the last ones.
        back_after_ms: From a kill until the process is started again; ``None``: it stays away.
        wipe: The disk of a killed instance is lost.
        new_threads: Threads of new instances; ``None``: as most have.
    """

    order: Sequence[str] = attrs.field(default=(), converter=_names)
    only: Sequence[str] = attrs.field(default=(), converter=_names)
    batch: int = 1
    down_ms: int = 0
    broker_down_ms: int | None = None
    start_ms: int | None = None
    starts: Starts | None = None
    poll_ms: int | None = None
    revoke_ms: int | None = None
    wait: Wait = READY
    leave: bool = False
    surge: int = 0
    replace: bool = False
    stuck: int = 0
    crash_in: int = 0
    upgrade_from: str | None = None
    to_release: str | None = None
    brokers: int = 3
    to: int = 0
    leaving: Sequence[str] = attrs.field(default=(), converter=_names)
    back_after_ms: int | None = None
    wipe: bool = False
    new_threads: int | None = None
    new_rack: str | None = None
    new_tags: Mapping[str, str] = attrs.field(factory=dict)


def check_options(plan: str, options: Options) -> None:
    """Refuses options of other plans.

    Raises:
        PlanError: if there is no such plan, or an option has no effect on it.
    """
    if plan not in _OPTIONS:
        raise PlanError(f"there is no plan {plan!r:.40}: {', '.join(_OPTIONS)}")
    usual = Options()
    for field in attrs.fields(Options):
        name = field.name
        if name in (*_OPTIONS[plan], *_OF_EVERY_PLAN) or getattr(options, name) == getattr(usual, name):
            continue
        word = (
            name.removesuffix("_ms")
            .removesuffix("_release")
            .replace("_", "-")
            .replace("new-tags", "new-tag")
            .replace("down", "down-seconds")
        )
        plans = " and ".join(other for other, names in _OPTIONS.items() if name in names)
        raise PlanError(f"--{word} is an option of {plans}: it has no effect on {plan}")


# --- rolling restart ------------------------------------------------------------------------------------------------


def roll_plan(state: PresentState, options: Options) -> Plan:
    """A rolling restart.

    Raises:
        PlanError, UnknownInstanceError: if the options contradict the state, or one another.
    """
    order = _order(state, options)
    if options.surge and options.batch > 1:
        raise PlanError(f"--surge {options.surge} is the number of instances of a step: leave out --batch")
    size = min(options.surge or options.batch, len(order))
    batches = [order[place : place + size] for place in range(0, len(order), size)]
    for name, number in (("--stuck", options.stuck), ("--crash-in", options.crash_in)):
        if number > len(batches):
            raise PlanError(f"{name} {number}: the plan has {plural(len(batches), 'step')}")
    notes = list(_notes(state, options))
    rolls = 1
    if options.upgrade_from is not None and _release(options.upgrade_from) < _STREAMS_SINCE and not state.is_classic:
        raise PlanError(
            f"--upgrade-from {options.upgrade_from}: this group speaks the streams protocol, which 4.1 began"
        )
    if options.upgrade_from is not None and _release(options.upgrade_from) <= _TWO_ROLLS_UP_TO:
        rolls = 2
        notes.append(f"an upgrade from {options.upgrade_from} takes two rolls: the first with upgrade.from set")
    steps = []
    for roll in range(1, rolls + 1):
        for number, batch in enumerate(batches, 1):
            is_last = roll == rolls
            stuck = is_last and number == options.stuck
            actions = [_restart(state, name, options, is_stuck=stuck) for name in batch]
            if is_last and number == options.crash_in:
                actions.append(_crash(state, batch, options, notes))
            suffix = f", roll {roll}" if rolls > 1 else ""
            # A surge waits for the successors, before it stops the old instances.
            steps.append(Step(", ".join(batch) + suffix, tuple(actions), READY if options.surge else None))
    return Plan(
        "roll",
        tuple(steps),
        options.wait,
        options.start_ms,
        options.down_ms,
        tuple(notes),
        parameters={"order": order, **_shown(attrs.evolve(options, batch=min(options.batch, len(order))))},
    )


def upgrade_plan(state: PresentState, options: Options) -> Plan:
    """A rolling restart after which each instance runs another release; meanwhile the leader's release decides.

    Raises:
        PlanError, UnknownInstanceError: if the options contradict the state, or one another.
        UnknownReleaseError: if there is no such release.
    """
    if options.to_release is None:
        raise PlanError("upgrade needs the release: plan SOURCE upgrade --to 4.4")
    release = release_named(options.to_release)
    present = release_in({**state.settings, **state.episode.config})
    if present == release:
        raise PlanError(f"--to {options.to_release}: the group runs Kafka {present} already")
    roll = roll_plan(state, options)
    notes = [*roll.assumptions, "the leader's release decides while instances of two releases are in the group"]
    if present is None:
        notes.append("the present release is unknown: the plain name of the assignor counts (give it with --release)")
    if not state.is_classic:
        notes[len(roll.assumptions) :] = ["brokers decide in the streams protocol: the clients' release moves no task"]

    def upgraded(action: Action) -> Action:
        return attrs.evolve(action, details=attrs.evolve(action.details, release=release))

    steps = tuple(attrs.evolve(step, actions=tuple(map(upgraded, step.actions))) for step in roll.steps)
    parameters = {**roll.parameters, "release": release.line}
    return attrs.evolve(roll, name="upgrade", steps=steps, assumptions=tuple(notes), parameters=parameters)


def _order(state: PresentState, options: Options) -> list[str]:
    order = named_instances(state, options.order) if options.order else sorted(state.names)
    only = named_instances(state, options.only) if options.only else None
    if only is not None:
        return [name for name in order if name in only] + [name for name in only if name not in order]
    if options.order and len(order) < len(state.names):
        missing = ", ".join(name for name in state.names if name not in order)
        raise PlanError(f"--order leaves out {missing}: name all instances, or give --only for a part of the group")
    return order


def _restart(state: PresentState, name: str, options: Options, *, is_stuck: bool) -> Action:
    leave = True if options.leave else None
    if options.surge:
        return Action("surge", name, instance_details(state, name), leave=leave, successor=f"{name}-new")
    return Action("restart", name, leave=leave, replace=options.replace or starts_anew(state), is_stuck=is_stuck)


def _crash(state: PresentState, batch: Sequence[str], options: Options, notes: list[str]) -> Action:
    others = [name for name in state.names if name not in batch]
    if not others:
        raise PlanError(f"--crash-in {options.crash_in}: this step restarts all instances, and none is left to crash")
    start_ms = options.start_ms or state.episode.timings.startup_ms
    notes.append(
        f"{others[0]} is killed in step {options.crash_in} while its instances start, and is started again at once"
    )
    return Action(
        "kill", others[0], after_ms=max(1, start_ms // 2), replace=starts_anew(state), back_after_ms=options.down_ms
    )


def _release(version: str) -> tuple[int, int]:
    parts = version.split(".")
    if len(parts) < 2 or not all(part.isascii() and part.isdecimal() and len(part) < 5 for part in parts):
        raise PlanError(f'--upgrade-from {version!r:.40}: give a release of Kafka, such as "3.4"')
    found = int(parts[0]), int(parts[1])
    if found not in _OLDER_RELEASES:
        release_named(version)
    return found


# --- scaling ----------------------------------------------------------------------------------------------------------


def scale_plan(state: PresentState, options: Options) -> Plan:
    """A scale-out or scale-in.

    Raises:
        PlanError, UnknownInstanceError: if the options contradict the state.
    """
    present = len(state.names)
    if options.to == present:
        raise PlanError(f"--to {options.to}: the group has {plural(present, 'instance')} already")
    if options.to < 1:
        raise PlanError("--to needs the number of instances, at least 1")
    if options.to > present:
        return _scale_out(state, options)
    leaving = named_instances(state, options.leaving) if options.leaving else sorted(state.names)[options.to :]
    if len(leaving) != present - options.to:
        count = present - options.to
        raise PlanError(f"--leaving names {plural(len(leaving), 'instance')}, and --to {options.to} removes {count}")
    leave = True if options.leave else None
    step = Step(", ".join(leaving), tuple(Action("remove", name, leave=leave) for name in leaving))
    return Plan(
        "scale",
        (step,),
        options.wait,
        options.start_ms,
        options.down_ms,
        parameters={"to": options.to, "leaving": leaving},
    )


def _scale_out(state: PresentState, options: Options) -> Plan:
    if options.leaving:
        raise PlanError(f"--leaving names instances, and --to {options.to} adds some")
    config = state.episode.config
    tags = list(config.get("rack.aware.assignment.tags") or ())
    lacking = [tag for tag in tags if tag not in options.new_tags]
    if lacking:
        raise PlanError(
            f"tags decide in this group ({', '.join(tags)}): give those of the new instances, as "
            f"--new-tag {lacking[0]}=VALUE"
        )
    if config.get("rack.aware.assignment.strategy", "none") not in ("none", None) and options.new_rack is None:
        raise PlanError("racks decide in this group: give the rack of the new instances with --new-rack")
    details = EventDetails(
        threads=options.new_threads or mode(max(1, each.num_stream_threads) for each in state.episode.clients),
        rack=options.new_rack,
        tags=dict(options.new_tags) or None,
    )
    names = new_names(state.names, options.to - len(state.names))
    step = Step(", ".join(names), tuple(Action("add", name, details) for name in names))
    return Plan(
        "scale", (step,), options.wait, options.start_ms, options.down_ms, parameters={"to": options.to, "new": names}
    )


# --- others -----------------------------------------------------------------------------------------------------------


def kill_plan(state: PresentState, name: str, options: Options) -> Plan:
    """A kill of one instance, which may come back.

    Raises:
        PlanError, UnknownInstanceError: if the options contradict the state.
    """
    (killed,) = named_instances(state, [name])
    if options.wipe and options.back_after_ms is None:
        raise PlanError("--wipe: a disk matters if the instance comes back: give --back-after")
    action = Action("kill", killed, replace=options.wipe or starts_anew(state), back_after_ms=options.back_after_ms)
    parameters = {"instance": killed, "back_after_seconds": _seconds(options.back_after_ms), "wipe": options.wipe}
    return Plan(
        "kill",
        (Step(killed, (action,)),),
        options.wait,
        options.start_ms,
        0,
        _notes(state, options),
        parameters=parameters,
    )


def upgrade_protocol_plan(state: PresentState, options: Options) -> Plan:
    """The move to the streams protocol, offline as Kafka requires: stop all, wait until the group is empty, start all.

    Raises:
        PlanError: if the group speaks the streams protocol already.
    """
    if not state.is_classic:
        raise PlanError("the group speaks the streams protocol already")
    empties_ms = 0 if options.leave else state.episode.timings.session_timeout_ms
    down_ms = max(options.down_ms, empties_ms)
    given = {**state.settings, **{key: value for key, value in state.episode.config.items() if value not in (None, [])}}
    if state.episode.assignor is not None:
        given["task.assignor.class"] = state.episode.assignor
    if any(each is not None for each in state.episode.instance_ids):
        given["group.instance.id"] = True
    lost, kept, sentences = effects_by_release(given, state.episode.release)
    notes = [
        "all instances stop, and start again when the group is empty"
        + ("" if options.leave else f": dynamic members stay in it for the session timeout, {empties_ms / 1000:g} s"),
        *sentences,
        "the play stops all instances in a group of the streams protocol with the same tasks and state",
        "Kafka 4.2.0 has a defect in this migration (KAFKA-20254): use 4.2.1 or later",
    ]
    actions = tuple(Action("restart", name, replace=starts_anew(state)) for name in sorted(state.names))
    return Plan(
        "upgrade-protocol",
        (Step("all instances", actions),),
        options.wait,
        options.start_ms,
        down_ms,
        tuple(notes),
        "streams",
        {"without_effect": lost, "keeps_effect": kept, "release": state.episode.release.line},
    )


def broker_roll_plan(state: PresentState, options: Options) -> Plan:
    """A restart of all brokers, one after the other."""
    return attrs.evolve(broker_roll(state, options.brokers, options.broker_down_ms), wait=options.wait)


def is_in_memory(state: PresentState) -> bool:
    """True if the stores are in memory by configuration: a restart then loses the state and the process id."""
    return str(state.settings.get("dsl.store.suppliers.class", "")).endswith(_IN_MEMORY)


def starts_anew(state: PresentState) -> bool:
    """True if a restarted process is another one for the group.

    Without stores on disk it draws a new process id (Kafka: ``StateDirectory.initializeProcessId``). That is an epoch
    in the streams protocol; plays of a classic group without state keep the id, which changes no wait.
    """
    return is_in_memory(state) or (not state.is_classic and not any(task.is_stateful for task in state.episode.tasks))


def instance_details(state: PresentState, name: str) -> EventDetails:
    """Settings of an instance as a ``start`` event has them."""
    place = state.names.index(name)
    client, ids = state.episode.clients[place], state.episode.instance_ids
    return EventDetails(
        threads=max(1, client.num_stream_threads),
        tags=dict(client.client_tags),
        rack=client.rack_id,
        host=client.host_info,
        instance_id=ids[place],
    )


def _notes(state: PresentState, options: Options) -> tuple[str, ...]:
    notes = []
    if options.start_ms is None:
        timings = state.episode.timings
        usual = (timings.startup_ms + timings.join_ms) / 1000
        notes.append(f"a process is taken to join {usual:.1f} s after its start (give --start-seconds)")
    elif options.starts is not None and options.starts.source != GIVEN:
        notes.append(f"a process joins {options.starts.words} (give your own with --start-seconds 6..16)")
    if is_in_memory(state):
        notes.append("stores are in memory: each restart restores all state under a new process id")
    if not state.is_classic and starts_anew(state) and any(each is not None for each in state.episode.instance_ids):
        notes.append(
            "without state on disk a process draws a new process id, so each return of a static member is a rebalance "
            "in the streams protocol, though its tasks stay (KAFKA-20169)"
        )
    return tuple(notes)


def with_times(plan: Plan, options: Options) -> Plan:
    """The plan of a Streams group with the distribution of its starts, and the polls of its threads."""
    return attrs.evolve(plan, starts=options.starts, poll_ms=options.poll_ms or 0)


def _seconds(time_ms: int | None) -> float | None:
    return None if time_ms is None else time_ms / 1000


def _shown(options: Options) -> dict[str, Any]:
    """The options of a roll that are not as usual."""
    usual = Options()
    names = ("batch", "leave", "surge", "replace", "stuck", "crash_in", "upgrade_from", "wait")
    shown = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(usual, name)}
    return {**shown, "down_seconds": options.down_ms / 1000, "start_seconds": _seconds(options.start_ms)}
