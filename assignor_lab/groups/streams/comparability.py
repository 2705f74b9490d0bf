"""Reasons why an answer or a play is not comparable: racks decide, and are unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.streams.configs import RACK_AWARE_ASSIGNMENT_STRATEGY, RACK_AWARE_STRATEGY_NONE
from assignor_lab.groups.streams.placement import state_of
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.rack_provenance import racks_known, strategy_known

if TYPE_CHECKING:
    from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["racks_unknown", "why_not_comparable", "why_play_not_comparable"]

_STRATEGY = RACK_AWARE_ASSIGNMENT_STRATEGY
#: Start of an assignor's remark that it could not use racks.
RACKS_NOT_USED = "racks were not used:"


def why_not_comparable(
    scenario: Scenario, state: ApplicationMetadata, explicit: Mapping[str, object], answer: TaskAssignment
) -> str | None:
    """The reason why an answer is not comparable, or ``None``; a strategy in ``explicit`` is known."""
    return _Racks.of_state(scenario, state).why_not_comparable(explicit, answer.remarks)


def why_play_not_comparable(
    assumptions: Sequence[str], played: PlayedStreamsEpisode, explicit: Mapping[str, object]
) -> str | None:
    """The same reason for a play of an episode, in which one assignor makes all decisions."""
    if played.episode.protocol != "classic":
        return None  # assignors of brokers do not use racks
    racks = _Racks(
        str(played.episode.config.get(_STRATEGY, RACK_AWARE_STRATEGY_NONE)),
        tuple(assumptions),
        all(task.topic_partitions is not None for task in played.episode.tasks),
        all(instance.settings.rack is not None for instance in played.world.instances.values()),
    )
    return racks.why_not_comparable(explicit, played.world.remarks)


def racks_unknown(scenario: Scenario, state: ApplicationMetadata) -> bool:
    """True if the strategy of a state uses racks that its source does not contain."""
    return _Racks.of_state(scenario, state).are_missed


@attrs.frozen
class _Racks:
    """The known facts on racks for a decision.

    Args:
        has_partitions: True if the partitions of all tasks are known.
        has_clients: True if the racks of all clients are known.
    """

    strategy: str
    assumptions: tuple[str, ...]
    has_partitions: bool
    has_clients: bool

    @classmethod
    def of_state(cls, scenario: Scenario, state: ApplicationMetadata) -> _Racks:
        return cls(
            state.assignment_configs().rack_aware_assignment_strategy,
            tuple(scenario.assumptions),
            state_of(state).topology.partitions_known,
            None not in [client.rack_id for client in state.streams_client_states().values()],
        )

    @property
    def are_known(self) -> bool:
        return racks_known(self.assumptions) and self.has_partitions

    @property
    def are_missed(self) -> bool:
        return self.strategy != RACK_AWARE_STRATEGY_NONE and not self.are_known

    def why_not_comparable(self, explicit: Mapping[str, object], remarks: Iterable[str]) -> str | None:
        if self.are_missed:
            return self._racks_decide()
        is_rack_aware = self.strategy != RACK_AWARE_STRATEGY_NONE
        if not is_rack_aware and not strategy_known(self.assumptions) and _STRATEGY not in explicit:
            return self._strategy_decides()
        if any(remark.startswith(RACKS_NOT_USED) for remark in remarks):
            # An assignor that is rack-aware by itself, under any strategy.
            return None if self.are_known else self._racks_decide(may_ask_without=False)
        return None

    def _racks_decide(self, *, may_ask_without: bool = True) -> str:
        without = f", {_WITHOUT}" if may_ask_without else ""
        if not self.has_partitions and self.has_clients:
            # The racks are given: only the partitions are missing.
            return (
                f"racks decide, and the partitions of the tasks are unknown: name the partitions {_TOPOLOGY}{without}"
            )
        return f"racks decide, and are unknown: give them with {self._options()}{without}"

    def _strategy_decides(self) -> str:
        if self.are_known:
            return f"the group was rack-aware, by a strategy that is unknown: give {_STRATEGY}, {_WITHOUT}"
        return (
            "the group was rack-aware, and neither its strategy nor its racks are known: give "
            f"{_STRATEGY}, and the racks with {self._options()}, {_WITHOUT}"
        )

    def _options(self) -> str:
        # Partitions can only come from reading the log again.
        return "--racks" if self.has_partitions else f"--racks, and the partitions {_TOPOLOGY}"


#: The remedy that needs no further facts.
_TOPOLOGY = "with --topology, where the log is read"
_WITHOUT = f"or decide without racks: -c {_STRATEGY}=none"
