"""The record of the past that a source holds: the beginning of ``plan``, and of the ledger of ``record``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import attrs

from assignor_lab.planning.past.changes import PastChange, past_changes
from assignor_lab.planning.past.predicting import predicted_past, prepared_change, refused_past, without_contradicted
from assignor_lab.planning.past_record import PastRecord, PredictedChange
from assignor_lab.planning.plans import Starts
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.streams.formats.episodes import read_past
from assignor_lab.verification.verified import Verification

__all__ = ["record_of_past"]


def record_of_past(
    decisions: Sequence[Scenario],
    episodes: Iterable[Scenario],
    verification: Verification,
    terms: Terms,
    start_ms: int | None = None,
    starts: Starts | None = None,
    known: Mapping[int, PredictedChange] | None = None,
    processes: int = 1,
    seed: int = 0,
    on_change: Callable[[], None] = lambda: None,
    *,
    only_over: bool = False,
) -> PastRecord | None:
    """The past changes of a Streams group with their predictions; ``None`` if the source holds no change.

    Args:
        episodes: Those of the decisions.
        known: Time of a change to its prediction in a ledger.
        only_over: Leaves out a last change after which a probing rebalance is still to come.
    """
    complete = [each for each in decisions if each.observed is not None]
    found: list[PastChange] = []
    reasons: list[str] = []
    timings: dict[str, int] = {}
    for episode in episodes:
        changes, why = past_changes(read_past(episode), complete, start_ms, starts)
        found += [each for each in changes if each.is_over or not only_over]
        reasons += why
        timings |= episode.document.get("timings", {})
    if not found:
        return None
    if (refused := refused_past(verification)) is not None:
        return refused
    found, contradicted = without_contradicted(found, verification)
    reasons += contradicted
    # The recording bounds a session timeout that no setting gives.
    of_past = attrs.evolve(terms, timings={**timings, **terms.timings})
    prepared = partial(prepared_change, terms=of_past, processes=processes, seed=seed)
    return predicted_past(found, reasons, prepared, known or {}, on_change)
