"""The verification of real groups: what the lab reproduces of their recordings, before it answers from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Layer, PluginError, Registry
from assignor_lab.groups.entries import kind_named
from assignor_lab.runtime.asking import OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.told_topology import DESCRIPTION_NOT_USED, TOPOLOGY_CONFLICT, topology_conflicts
from assignor_lab.verification.causes import Cause, Reading, Tried, likely_cause
from assignor_lab.verification.decisions import CheckedDecision, checked_decisions, group_of, recorded_assignor
from assignor_lab.verification.replays import ReplayCheck, replay_checks

__all__ = ["MOST_TASKS", "NOTHING", "Terms", "Verification", "VerifiedGroup", "group_sources", "verify"]

#: Tasks of a group's decisions together, beyond which a sample is decided again.
MOST_TASKS = 30_000
#: Share of the decisions that must come out as recorded, or there is no verdict.
ENOUGH = 0.9


@attrs.frozen
class Terms:
    """The plugins and the configuration that recorded decisions are decided again with.

    Args:
        registry: The plugins.
        config: The groups' configuration around each decision's own (:func:`group_sources`).
        isolation: Processes of assignors that run in their own; ``None``: all run in this one.
        readings: Other ways to read the source.
        assignor: The assignor that decides again; ``None``: each group's own.
        settings: Settings that were given for the groups, in place of those of their source.
        own_settings: Returns group to the settings that its source shows by itself.
    """

    registry: Registry
    config: ConfigSources
    isolation: OwnProcesses | None = None
    readings: Sequence[Reading] = ()
    assignor: str | None = None
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    own_settings: Callable[[], Mapping[str, Mapping[str, Any]]] = dict


@attrs.frozen
class VerifiedGroup:
    """The verification of one group.

    Args:
        group: Its name; empty if the source has none.
        assignor: Name of the assignor that decided again.
        is_kafkas: Whether that is Kafka's default for such groups.
        recorded: Recorded decisions.
        checked: Those that were decided again: all, or a sample.
        reproduced: Those that came out as recorded.
        not_ready: Generations that assigned nothing.
        cause: The likely cause where too few came out, or where one changed input brings more of them out.
        tried: The changed inputs, and what came of each.
        replay: Its past, played with its own assignor; ``None``: there is no play.
        not_verifiable: Why no decision can be decided again; ``None``: it can.
        unverified: What the source cannot verify, in sentences.
        decisions: The decisions that were decided again.
    """

    group: str
    assignor: str
    is_kafkas: bool = True
    recorded: int = 0
    checked: int = 0
    reproduced: int = 0
    not_ready: int = 0
    cause: Cause | None = None
    tried: tuple[Tried, ...] = ()
    replay: ReplayCheck | None = None
    not_verifiable: str | None = None
    unverified: tuple[str, ...] = ()
    decisions: tuple[CheckedDecision, ...] = attrs.field(default=(), eq=False, repr=False)

    @property
    def is_refused(self) -> bool:
        """Whether no verdict can rest on this group's inputs."""
        return self.cause is not None or self.reproduced < ENOUGH * self.checked


@attrs.frozen
class Verification:
    """The verification of every real group in a source.

    Args:
        groups: The groups, in the order of the source; none where no state is of a real group.
    """

    groups: tuple[VerifiedGroup, ...] = ()

    def of(self, group: str) -> Verification:
        """The verification of one group; nothing if it is not among them."""
        return Verification(tuple(each for each in self.groups if each.group == group))

    @property
    def refused(self) -> tuple[VerifiedGroup, ...]:
        """The groups that allow no verdict."""
        return tuple(each for each in self.groups if each.is_refused)


_NO_REPLAY = "Not verified: a replay of the past, which is too large for that or cannot be played."
#: Session timeouts: of members of the classic protocol, and of streams groups.
_TIMEOUTS = ("session.timeout.ms", "streams.session.timeout.ms")
#: No state is of a real group.
NOTHING = Verification()


def group_sources(sources: ConfigSources) -> ConfigSources:
    """The configuration that the groups had: files, and not single keys of the command line, which are the question."""
    layers = [
        attrs.evolve(
            layer,
            entries={key: held for key, held in layer.entries.items() if held.origin.layer is not Layer.COMMAND_LINE},
        )
        for layer in sources.above
    ]
    return attrs.evolve(sources, above=tuple(layers))


def verify(
    decisions: Iterable[Scenario],
    terms: Terms,
    episodes: Iterable[Scenario] | None = None,
    *,
    most_tasks: int | None = MOST_TASKS,
    recorded: Mapping[str, int] | None = None,
) -> Verification:
    """The verification of the groups that some decisions are of.

    Args:
        decisions: Recorded decisions of any kind; scenarios without a recorded decision are left out.
        terms: The plugins and the configuration.
        episodes: The pasts that the decisions make up, to be played; ``None``: plays are not asked for.
        most_tasks: Tasks of each group's decisions together, beyond which a sample of them is decided again; ``None``:
            all decisions are.
        recorded: Group to its number of recorded decisions, where ``decisions`` are a sample already.

    Raises:
        UnknownPluginError: if ``terms`` name an assignor, and there is no such.
    """
    groups: dict[tuple[str, str], list[Scenario]] = {}
    for each in decisions:
        if each.observed is not None and kind_named(each.kind).holding is not None:
            groups.setdefault((each.kind, group_of(each)), []).append(each)
    replays = replay_checks(episodes or (), terms.registry, terms.config)
    timeouts = _contradicted_timeouts(terms)
    found = []
    for (_, group), held in groups.items():
        made = _verified(group, held if most_tasks is None else _sample(held, most_tasks), terms)
        known = max(len(held), (recorded or {}).get(group, 0))
        total = made.recorded if made.recorded > known else known - made.not_ready
        if made.cause is None and made.not_verifiable is None:
            made = attrs.evolve(made, cause=timeouts.get(group) or _foreign_topology(held))
        if episodes is not None and group not in replays and total > 1:
            made = attrs.evolve(made, unverified=(*made.unverified, _NO_REPLAY))
        found.append(attrs.evolve(made, recorded=total, replay=replays.get(group)))
    decided = {each.group for each in found}
    found += [
        VerifiedGroup(group, "", replay=replay, not_verifiable="the episode does not hold the input of its decisions")
        for group, replay in replays.items()
        if group not in decided
    ]
    return Verification(tuple(found))


def _sample(decisions: Sequence[Scenario], most_tasks: int) -> Sequence[Scenario]:
    """Decisions at equal distances, the first and the last included, with about so many tasks; at least two."""
    sizes = [kind_named(each.kind).size(each)[0] for each in decisions]
    if sum(sizes) <= most_tasks:
        return decisions
    count = min(len(decisions), max(2, most_tasks // max(1, *sizes)))
    return [decisions[place * (len(decisions) - 1) // max(1, count - 1)] for place in range(count)]


def _verified(group: str, decisions: Sequence[Scenario], terms: Terms) -> VerifiedGroup:
    first = decisions[0]
    holding = kind_named(first.kind).holding
    assert holding is not None
    assignor, reason = _assignor(first, terms)
    is_kafkas = assignor == holding.default_assignor
    checked: list[CheckedDecision] = []
    if reason is None:
        checked = list(checked_decisions(decisions, terms.registry, terms.config, assignor, terms.isolation))
    ready = [each for each in checked if each.was_ready]
    unready = len(checked) - len(ready)
    if reason is None and not ready:
        reason = "no recorded decision assigns a task"
    if reason is not None:
        return VerifiedGroup(group, assignor, is_kafkas, decisions=tuple(checked), not_verifiable=reason)
    reproduced = sum(each.is_reproduced for each in ready)
    cause: Cause | None = None
    tried: tuple[Tried, ...] = ()
    if reproduced < len(ready):
        cause, tried = likely_cause(ready, terms.registry, terms.config, terms.isolation, terms.readings)
        if cause is not None and reproduced >= ENOUGH * len(ready) and not _raises(cause):
            cause = None
    unverified = [
        f"{unready} of {len(checked)} generations assigned nothing: topics were missing, and Kafka asks no assignor "
        "then."
    ] if unready else []  # fmt: skip
    return VerifiedGroup(
        group,
        assignor,
        is_kafkas,
        len(ready),
        len(ready),
        reproduced,
        unready,
        cause,
        tried,
        unverified=tuple(unverified),
        decisions=tuple(checked),
    )


def _contradicted_timeouts(terms: Terms) -> dict[str, Cause]:
    """Group to the session timeout that was given, where its own members used another one."""
    given = {key: terms.settings[key] for key in _TIMEOUTS if key in terms.settings}
    if not given:
        return {}
    found = {}
    try:
        settings = terms.own_settings()
    except AssignorLabError:
        return {}  # the source cannot be read once more
    for group, own in settings.items():
        for key, value in given.items():
            if key in own and own[key] != value:
                found[group] = Cause(
                    "session timeout", f"the recorded members have {key} {own[key]:,} ms, and {value:,} ms is given"
                )
    return found


def _foreign_topology(decisions: Sequence[Scenario]) -> Cause | None:
    """The cause where the given description is that of another application."""
    for each in decisions:
        for sentence in topology_conflicts(each.assumptions):
            if sentence.endswith(DESCRIPTION_NOT_USED):
                told = sentence.removeprefix(TOPOLOGY_CONFLICT).removesuffix(DESCRIPTION_NOT_USED)
                return Cause("topology", told.strip().removesuffix(":"))
    return None


def _raises(cause: Cause) -> bool:
    return cause.tried is not None and cause.tried.reproduced > cause.tried.before


def _assignor(scenario: Scenario, terms: Terms) -> tuple[str, str | None]:
    """The assignor of a group, and why it cannot be asked, if it cannot.

    The recording goes before a configuration, and Kafka's default comes last.
    """
    name, kind = recorded_assignor(scenario), kind_named(scenario.kind)
    if terms.assignor is not None:
        return kind.find(terms.registry, terms.assignor, may_run_code=True).name, None
    if "assignor" not in (scenario.source or {}) and kind.class_key is not None:
        held = terms.config.effective(scenario.config, str(scenario.place)).entries.get(kind.class_key)
        if held is not None and held.value and held.origin.layer is not Layer.DEFAULT:
            name = str(held.value)
    try:
        return kind.find(terms.registry, name, may_run_code=True).name, None
    except PluginError as error:
        return name, f"the group's assignor cannot be asked: {error}"
