"""Documents of simulated Connect episodes: the output of `assignor connect simulate --json`."""

from __future__ import annotations

from typing import Any

from assignor_lab.simulation.connect.episode_figures import episode_figures
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode

__all__ = ["episode_document"]


def episode_document(played: PlayedConnectEpisode) -> dict[str, Any]:
    """Figures, rebalances, jobs on two workers, and log; times in ms from the begin."""
    cluster, begin = played.cluster, played.cluster.start_ms
    until = begin + played.episode.until_ms
    return {
        "episode": played.episode.id,
        "calm": played.is_calm,
        "figures": {name: value for name, (value, _) in episode_figures(played).items()},
        "rebalances": [
            {
                "generation": each.generation,
                "because": list(each.reasons),
                "prepared_ms": each.prepared_ms - begin,
                "joined_ms": each.joined_ms - begin,
                "assigned_ms": None if each.assigned_ms is None else each.assigned_ms - begin,
                "done_ms": None if each.done_ms is None else each.done_ms - begin,
                "leader": each.leader,
                "protocol": each.protocol.value,
                "members": list(each.members),
                "assigned": each.assigned,
                "revoked": each.revoked,
                "delay_ms": each.delay_ms,
                "mismatch": each.mismatch,
            }
            for each in cluster.rounds
        ],
        "overlaps": [
            {
                "job": str(each.job),
                "workers": [each.first, each.second],
                "start_ms": each.start_ms - begin,
                "end_ms": each.end_ms - begin,
                "reason": each.reason or None,
            }
            for each in cluster.runs.overlaps(until)
        ],
        "log": [entry.document() for entry in cluster.log.entries],
    }
