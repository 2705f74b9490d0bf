"""Decisions of consumer groups (KIP-848) and share groups as scenarios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.recorded.subscribed_epochs import SubscribedEpoch
from assignor_lab.capture.recorded.subscribed_states import subscribed_document, topic_names
from assignor_lab.model.events import InstanceGone
from assignor_lab.scenarios.settings import given_settings

__all__ = ["subscribed_decisions"]


def subscribed_decisions(
    group: str,
    epochs: Sequence[SubscribedEpoch],
    ids: Mapping[str, str],
    gone: Sequence[InstanceGone] = (),
    config: Iterable[ConfigLayer] = (),
) -> Iterator[dict[str, Any]]:
    """A scenario for each epoch.

    Args:
        ids: Topic to its id.
        gone: Departures, which belong to the decision after them, or to the last one.

    Raises:
        HistoryError: if the name of a topic is unknown.
    """
    names = topic_names(group, epochs, ids)
    given = given_settings(config)
    left = list(gone)
    for place, epoch in enumerate(epochs):
        is_last = place == len(epochs) - 1
        own = [each for each in left if is_last or each.at.latest_ms <= epoch.time_ms]
        del left[: len(own)]
        done = [{"time_ms": each.at.latest_ms, "type": "gone", "client": each.instance} for each in own]
        source = {"file": epoch.place.file, "line": epoch.place.line or 0, **({"done": done} if done else {})}
        yield subscribed_document(group, epoch, names, source, {**_timeout(epoch), **given})


def _timeout(epoch: SubscribedEpoch) -> dict[str, int]:
    timeouts = [each.record.rebalance_timeout_ms for each in epoch.members.values()]
    known = [timeout for timeout in timeouts if timeout is not None and timeout > 0]
    return {"rebalance.timeout.ms": Counter(known).most_common(1)[0][0]} if known else {}
