"""Trace of ``high_availability``: the rule that places each task, as a sentence (docs: "Rules of the assignors")."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.streams.client_state import UNTOLD_LAG
from builtin_assignors._steps_taken import StepsTaken
from builtin_assignors.high_availability.recovery import RUNNING_ACTIVE, UNBOUNDED_LAG, Recovery

__all__ = ["HighAvailabilitySteps"]

_STANDBY_RULES = "a standby goes to {0}, "


class HighAvailabilitySteps:
    """The steps of one decision.

    Args:
        uses_tags: Whether ``rack.aware.assignment.tags`` decide about standbys.
    """

    def __init__(
        self,
        taken: StepsTaken,
        lags: Sequence[Sequence[int]],
        acceptable_lag: int,
        max_warmups: int,
        racks: str,
        *,
        uses_tags: bool,
    ) -> None:
        self.taken = taken
        self._lags = lags
        self._acceptable = acceptable_lag
        self._max_warmups = max_warmups
        self._racks = racks
        self._uses_tags = uses_tags
        self._moved: set[int] = set()

    # --- ideal placement --------------------------------------------------------------------------

    def dealt(self, active: Sequence[set[int]], tasks: int) -> None:
        self.taken.placed(
            "ha-deal",
            active,
            f"the {tasks} stateful tasks are dealt in turn to the {len(active)} clients, in the order of their process "
            "ids, regardless of previous owners: it falls to {0}",
        )

    def levelled(self, active: Sequence[set[int]]) -> None:
        self.taken.placed("ha-level", active, "", "levelling the load of the threads takes it from {0} to {1}")

    def moved_by_racks(self, active: Sequence[set[int]], rule: str = "ha-racks") -> None:
        text = f"rack-aware assignment ({self._racks}) takes it from {{0}} to {{1}}"
        self.taken.placed(rule, active, text, text)

    def got_standbys(self, standby: Sequence[set[int]]) -> None:
        if self._uses_tags:
            reason = "whose tags differ from those of the other holders of the task, if any client's do"
            self.taken.copied("ha-standby-tags", standby, _STANDBY_RULES + reason)
        else:
            reason = "which of those without the task has the least load on its threads"
            self.taken.copied("ha-standby", standby, _STANDBY_RULES + reason)

    def levelled_standbys(self, standby: Sequence[set[int]]) -> None:
        text = "levelling the load of the threads takes a standby from {0} to {1}"
        self.taken.copied("ha-standby-level", standby, "levelling the load gives {0} a standby", text)

    def standbys_moved_by_racks(self, standby: Sequence[set[int]]) -> None:
        text = f"rack-aware assignment ({self._racks}) takes a standby from {{0}} to {{1}}"
        self.taken.copied("ha-standby-racks", standby, "rack-aware assignment gives {0} a standby", text)

    def settled(self, active: Sequence[set[int]], standby: Sequence[set[int]]) -> None:
        self.taken.settled(active, standby)

    # --- possible placement -----------------------------------------------------------------------

    def active_waits(
        self, task: int, source: int, destination: int, caught_up: int, warmups_left: int | None
    ) -> None:  # fmt: skip
        """Record an active task that cannot go to its place yet.

        Args:
            caught_up: Number of clients that are caught up with it.
            warmups_left: Warm-ups left after this one, negative if there was none for it; ``None``: the two clients
                exchange roles, and no warm-up is needed.
        """
        self._moved.add(task)
        behind = f"{{1}} is not caught up ({self._behind(task, destination)}), "
        ahead = f"and {{0}} is ({self._lag(task, source)})" if caught_up else self._least_behind(task, source)
        if warmups_left is None:
            self.taken.add(
                "ha-swap", task, f"{behind}{ahead} and was to have a standby: the two change roles, {{0}} runs it",
                source, destination,
            )  # fmt: skip
        elif warmups_left >= 0:
            number = self._max_warmups - warmups_left
            warm_up = f"warm-up {number} of {self._max_warmups} (max.warmup.replicas)"
            self.taken.add(
                "ha-warmup", task, f"{behind}{ahead}: {{0}} runs it until {{1}}, which gets {warm_up}, is caught up",
                source, destination,
            )  # fmt: skip
        else:
            none = f"no warm-up is left for {{1}} (max.warmup.replicas {self._max_warmups})"
            self.taken.add(
                "ha-no-warmup", task, f"{behind}{ahead}: {{0}} runs it, and {none}", source, destination
            )  # fmt: skip

    def standby_waits(
        self, task: int, source: int, destination: int, warmups_left: int, *, is_caught_up: bool
    ) -> None:  # fmt: skip
        """Record a standby that cannot go to its place yet.

        Args:
            source: Its client in the meantime.
            warmups_left: As for :meth:`active_waits`.
        """
        behind = f"{{1}} is not caught up ({self._behind(task, destination)}), "
        ahead = (
            f"and {{0}} is ({self._lag(task, source)})"
            if is_caught_up
            else f"and of those without the task {{0}} is least behind ({self._lag(task, source)})"
        )
        if warmups_left >= 0:
            number = self._max_warmups - warmups_left
            end = f"{{0}} has a standby until {{1}}, which gets warm-up {number} of {self._max_warmups}, is caught up"
        else:
            end = f"{{0}} has the standby, and no warm-up is left for {{1}} (max.warmup.replicas {self._max_warmups})"
        self.taken.add("ha-standby-waits", task, f"{behind}{ahead}: {end}", source, destination)

    def others_go(self, active: Sequence[set[int]], recovery: Recovery) -> None:
        """Record all other stateful tasks, which go to their places at once."""
        for client, held in enumerate(active):
            for task in sorted(held - self._moved):
                lag = self._lags[client][task]
                if lag == RUNNING_ACTIVE or 0 <= lag <= self._acceptable:
                    text = f"{{0}} may run it: it is caught up ({self._within(lag)})"
                    self.taken.add("ha-caught-up", task, text, client)
                elif self._acceptable == UNBOUNDED_LAG:
                    text = "{0} may run it: acceptable.recovery.lag is without bound"
                    self.taken.add("ha-caught-up", task, text, client)
                else:
                    least = self._lag(task, recovery.by_lag(task)[0])
                    behind = f"although it is behind ({self._behind(task, client)})"
                    text = f"{{0}} may run it {behind}: no client is ahead of it ({least})"
                    self.taken.add("ha-nobody-further", task, text, client)

    def gave_stateless(self, active: Sequence[set[int]]) -> None:
        text = "it is stateless, and goes to {0}, which has the fewest active tasks for its threads"
        self.taken.placed("ha-stateless", active, text)

    # --- lags as text -----------------------------------------------------------------------------

    def _lag(self, task: int, client: int) -> str:
        lag = self._lags[client][task]
        if lag == RUNNING_ACTIVE:
            return "it ran there"
        return "its lag is unknown" if _is_unknown(lag) else f"lag {lag:,}"

    def _within(self, lag: int) -> str:
        return "it ran there" if lag == RUNNING_ACTIVE else f"lag {lag:,}, acceptable.recovery.lag {self._acceptable:,}"

    def _behind(self, task: int, client: int) -> str:
        lag = self._lags[client][task]
        return (
            "its lag is unknown"
            if _is_unknown(lag)
            else f"lag {lag:,} is over acceptable.recovery.lag {self._acceptable:,}"
        )

    def _least_behind(self, task: int, source: int) -> str:
        verb = "is" if self._lags[source][task] >= 0 else "counts as"
        return f"no client is, and {{0}} {verb} least behind ({self._lag(task, source)})"


def _is_unknown(lag: int) -> bool:
    return lag < 0 or lag >= UNTOLD_LAG
