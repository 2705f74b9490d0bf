"""The verification of real groups, before the lab answers from their recordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Layer, PluginError, Registry
from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.edges.moments import CLASSIC
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.history import part_name, read_histories
from assignor_lab.capture.histories.settings import longest_session_ms
from assignor_lab.capture.recorded.partition_states import partition_protocol
from assignor_lab.documents.wording import plural
from assignor_lab.groups.entries import kind_named
from assignor_lab.model.run_summary import PlayBand
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.settings import Settings
from assignor_lab.scenarios.topology_provenance import contradicted_description
from assignor_lab.scenarios.version_provenance import OTHER_RULES
from assignor_lab.verification.causes import Cause, Reading, Tried, likely_cause
from assignor_lab.verification.decisions import (
    CheckedDecision,
    checked_decisions,
    group_of,
    kafkas_assignor,
    recorded_assignor,
)

__all__ = [
    "MOST_TASKS",
    "NOTHING",
    "ReplayCheck",
    "VerificationTerms",
    "Verification",
    "VerifiedGroup",
    "group_sources",
    "verify",
    "with_replays",
]

#: More tasks of a group: only a sample is decided again.
MOST_TASKS = 30_000
#: Share of the decisions that must be reproduced for a verdict.
ENOUGH = 0.9


@attrs.frozen
class VerificationTerms:
    """The plugins and the configuration for deciding recorded decisions again."""

    registry: Registry
    config: ConfigSources
    isolation: OwnProcesses | None = None
    readings: Sequence[Reading] = ()
    assignor: str | None = None
    settings: Settings = attrs.field(factory=dict)
    own_settings: Callable[[], Mapping[str, Settings]] = dict
    foreign_racks: Callable[[], str | None] = lambda: None


@attrs.frozen
class ReplayCheck:
    """A play of a past beside its recording.

    Args:
        downtime_s: Task-seconds without processing in the play, without restoring if its time is unknown.
        recorded_downtime_s: Task-seconds without an owner in the decisions; ``None``: not shown, or measured.
        measured_downtime_s: Task-seconds without output at a probe; ``None`` without a probe.
        band: The 90 % band over the plays; ``rebalances`` and ``downtime_s`` are their medians.
        recorded_bounds_s: The known downtime under the bounds of inferred times; ``None``: a point.
        leaves_at: The event after which the plays leave the recording; empty if they do not.
    """

    rebalances: int
    recorded_rebalances: int
    downtime_s: float
    recorded_downtime_s: float | None = None
    shows_restoring: bool = False
    measured_downtime_s: float | None = None
    band: PlayBand | None = None
    recorded_bounds_s: tuple[float, float] | None = None
    leaves_at: str = ""

    @property
    def holds_recording(self) -> bool:
        """True if the band has the recorded rebalances, and downtime within the recorded bounds."""
        band, bounds = self.band, self.recorded_bounds_s
        if band is None:
            return True
        if not band.rebalances_low <= self.recorded_rebalances <= band.rebalances_high:
            return False
        return bounds is None or (bounds[0] <= band.downtime_s_high and band.downtime_s_low <= bounds[1])

    @property
    def known_downtime_s(self) -> float | None:
        """Measured, or else recorded."""
        return self.recorded_downtime_s if self.measured_downtime_s is None else self.measured_downtime_s

    @property
    def downtime_difference(self) -> float | None:
        """Share of the known downtime."""
        known = self.known_downtime_s
        return abs(self.downtime_s - known) / known if known else None


@attrs.frozen
class VerifiedGroup:
    """The verification of one group.

    Args:
        group: With the protocol, if the group has changed it.
        whole: The group itself; empty if ``group`` is.
        not_ready: Generations that assigned nothing.
        cause: The likely cause if too few were reproduced, or if one changed input reproduces more of them.
        unverified: Facts that the source cannot verify, in sentences.
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
    whole: str = ""

    @property
    def is_refused(self) -> bool:
        return self.cause is not None or self.reproduced < ENOUGH * self.checked

    @property
    def contradicted_ms(self) -> tuple[int, ...] | None:
        """Times of the decisions that only unknown lags explain; ``None``: others contradict the assignor, too.

        All of them come out if each copy counts as current. A recording without the lags does not show which ones were.
        """
        tried = None if self.cause is None else self.cause.tried
        if tried is None or tried.settings != (_RECOVERY_LAG,) or tried.reproduced < tried.decisions:
            return None
        if self.reproduced * 2 < self.checked or self.checked < self.recorded:
            return None
        contradicted = (each.scenario for each in self.decisions if not each.is_reproduced)
        return tuple((each.source or {}).get("time_ms", 0) for each in contradicted)


@attrs.frozen
class Verification:
    """The verification of every real group in a source."""

    groups: tuple[VerifiedGroup, ...] = ()

    def of(self, group: str) -> Verification:
        return Verification(tuple(each for each in self.groups if each.group == group))

    @property
    def refused(self) -> tuple[VerifiedGroup, ...]:
        return tuple(each for each in self.groups if each.is_refused)


_NO_REPLAY = "Not verified by a play: the past is too large, or its kind of group is not played."
_RECOVERY_LAG = "acceptable.recovery.lag"
#: Session timeouts: of members of the classic protocol, and of streams groups.
_TIMEOUTS = ("session.timeout.ms", "streams.session.timeout.ms")
NOTHING = Verification()


def group_sources(sources: ConfigSources) -> ConfigSources:
    """Files only: single keys of the command line are the user's question."""
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
    terms: VerificationTerms,
    *,
    most_tasks: int | None = MOST_TASKS,
    recorded: Mapping[str, int] | None = None,
) -> Verification:
    """The verification of the groups of some decisions, without plays of their pasts."""
    groups: dict[tuple[str, str], list[Scenario]] = {}
    for each in decisions:
        if each.observed is not None and kind_named(each.kind).ownership is not None:
            groups.setdefault((each.kind, group_of(each)), []).append(each)
    timeouts = _contradicted_timeouts(terms, [each for held in groups.values() for each in held])
    racks = terms.foreign_racks()
    foreign = None if racks is None else Cause("racks", racks)
    found = []
    counts = Counter(group for _, group in groups)
    several = {group for group, count in counts.items() if count > 1}
    for (_, of), held in groups.items():
        group = part_name(of, _protocol(held[0]), several)
        made = _verified(group, held if most_tasks is None else _sample(held, most_tasks), terms)
        made = attrs.evolve(made, whole=of)
        known = max(len(held), (recorded or {}).get(group, 0))
        total = made.recorded if made.recorded > known else known - made.not_ready
        if made.cause is None and made.not_verifiable is None:
            made = attrs.evolve(made, cause=timeouts.get(of) or _foreign_topology(held) or foreign)
        found.append(attrs.evolve(made, recorded=total))
    return Verification(tuple(found))


def with_replays(verification: Verification, replays: Mapping[str, ReplayCheck]) -> Verification:
    """The verification with the plays of the pasts of groups that are not refused."""
    found = []
    for each in verification.groups:
        replay = replays.get(each.group)
        if replay is None and each.recorded > 1 and not each.is_refused:
            found.append(attrs.evolve(each, unverified=(*each.unverified, _NO_REPLAY)))
        else:
            found.append(attrs.evolve(each, replay=replay))
    decided = {each.group for each in found}
    found += [
        VerifiedGroup(group, "", replay=replay, not_verifiable="the episode does not hold the input of its decisions")
        for group, replay in replays.items()
        if group not in decided
    ]
    return Verification(tuple(found))


def _protocol(scenario: Scenario) -> str | None:
    return protocol_of(scenario.document) or partition_protocol(scenario.document)


def _sample(decisions: Sequence[Scenario], most_tasks: int) -> Sequence[Scenario]:
    """Decisions at equal distances, with the first and the last; at least two."""
    sizes = [kind_named(each.kind).size(each)[0] for each in decisions]
    if sum(sizes) <= most_tasks:
        return decisions
    count = min(len(decisions), max(2, most_tasks // max(1, *sizes)))
    return [decisions[place * (len(decisions) - 1) // max(1, count - 1)] for place in range(count)]


def _verified(group: str, decisions: Sequence[Scenario], terms: VerificationTerms) -> VerifiedGroup:
    first = decisions[0]
    assignor, reason = _assignor(first, terms)
    is_kafkas = assignor == kafkas_assignor(first)
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
        if cause is None or not _raises(cause):
            cause = _other_rules(ready) or cause
        if cause is not None and reproduced >= ENOUGH * len(ready) and not _raises(cause):
            cause = None
    unverified = [
        f"{unready} of {plural(len(checked), 'generation')} assigned nothing: topics were missing, and Kafka then "
        "calls no assignor."
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


def _contradicted_timeouts(terms: VerificationTerms, decisions: Iterable[Scenario]) -> dict[str, Cause]:
    given = {key: terms.settings[key] for key in _TIMEOUTS if key in terms.settings}
    if not given:
        return {}
    found = _too_long(int(given[_TIMEOUTS[0]]), decisions) if _TIMEOUTS[0] in given else {}
    try:
        settings = terms.own_settings()
    except AssignorLabError:
        return found
    for group, own in settings.items():
        for key, value in given.items():
            if key in own and own[key] != value:
                found[group] = Cause(
                    "session timeout", f"the recorded members have {key} {own[key]:,} ms, and {value:,} ms is given"
                )
    return found


def _too_long(given_ms: int, decisions: Iterable[Scenario]) -> dict[str, Cause]:
    """Causes of groups whose coordinator removed a silent member before the given session timeout."""
    try:
        histories = read_histories(each for each in decisions if protocol_of(each.document) == CLASSIC)
    except HistoryError:
        return {}
    found = {}
    for history in histories:
        longest = longest_session_ms(history.moments, only_expired=True)
        if longest is not None and given_ms > longest:
            found[history.group] = Cause(
                "session timeout",
                f"the coordinator removed a silent member {longest:,} ms after its last decision, and {given_ms:,} ms "
                "is given",
                remedy="Give the session timeout of the application, or leave it out",
            )
    return found


def _foreign_topology(decisions: Sequence[Scenario]) -> Cause | None:
    """The cause if the group itself contradicts the given description."""
    for each in decisions:
        contradicted = contradicted_description(each.assumptions)
        if contradicted is not None:
            return Cause("topology", contradicted)
    return None


def _other_rules(checked: Sequence[CheckedDecision]) -> Cause | None:
    """The cause if the instances run a release whose rules the lab does not have."""
    for each in checked:
        for sentence in each.scenario.assumptions:
            if sentence.startswith(OTHER_RULES):
                return Cause("version", sentence.removeprefix(OTHER_RULES).strip())
    return None


def _raises(cause: Cause) -> bool:
    return cause.tried is not None and cause.tried.reproduced > cause.tried.before


def _assignor(scenario: Scenario, terms: VerificationTerms) -> tuple[str, str | None]:
    """The assignor, or the reason why it cannot be called. The recording goes before a configuration."""
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
        return name, f"the group's assignor cannot be called: {error}"
