"""The order of configurations in simulation and recording, action by action, if they differ at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import attrs

__all__ = ["FIGURES", "ConfigurationOrder", "orders", "table"]

#: Figure of an action to the noise of recorded ones: share and allowance. The detection of a kill varies by up to a
#: heartbeat interval, 3 s, for each of an instance's four tasks.
FIGURES: Mapping[str, tuple[float, float]] = {
    "unavailable_ms": (0.25, 12_000.0),
    "worst_ms": (0.25, 3_000.0),
    "restored_bytes": (0.1, 5_000_000.0),
}
_INSTANCE = re.compile(r" of d[0-9]|: d[0-9]|d[0-9] ")


@attrs.frozen
class ConfigurationOrder:
    """Two configurations that differ in a figure of an action.

    Args:
        more: Configuration with the larger recorded figure.
        recorded: The recorded figures, the greater one first.
        simulated: The simulated figures, in that order.
    """

    action: str
    figure: str
    more: str
    less: str
    recorded: tuple[float, float]
    simulated: tuple[float, float]

    @property
    def is_kept(self) -> bool:
        return self.simulated[0] > self.simulated[1]


def orders(measured: Mapping[str, Mapping[str, Any]]) -> Iterator[ConfigurationOrder]:
    """Pairs of configurations that differ beyond noise in a figure of an action.

    Configurations without a probe have no figures.
    """
    windows = {name: _by_action(found["probe"]) for name, found in measured.items() if found["probe"]}
    for (one, ones), (other, others) in combinations(windows.items(), 2):
        for action in ones:
            if action not in others:
                continue
            for figure, (share, allowance) in FIGURES.items():
                pair = ((one, ones[action][figure]), (other, others[action][figure]))
                more, less = sorted(pair, key=lambda each: -each[1]["recorded"])
                high, low = more[1]["recorded"], less[1]["recorded"]
                if high - low > max(allowance, share * high):
                    yield ConfigurationOrder(
                        action, figure, more[0], less[0], (high, low), (more[1]["simulated"], less[1]["simulated"])
                    )


def _by_action(probe: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    """Action to its figures; means for repeated actions."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in probe:
        rows.setdefault(_INSTANCE.sub("", row["action"]), []).append(row)
    return {
        action: {
            figure: {side: sum(row[figure][side] for row in of) / len(of) for side in ("recorded", "simulated")}
            for figure in FIGURES
        }
        for action, of in rows.items()
    }


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| action | figure | more / less | recorded | simulated |", "|---|---|---|---|---|"]
    found = list(orders(measured))
    for each in found:
        recorded, simulated = (
            " / ".join(f"{value / _unit(each):.1f}" for value in of) for of in (each.recorded, each.simulated)
        )
        name = {"unavailable_ms": "task-seconds", "worst_ms": "worst s", "restored_bytes": "restored MB"}[each.figure]
        shown = simulated if each.is_kept else f"**{simulated}**"
        lines.append(f"| {each.action} | {name} | {each.more} / {each.less} | {recorded} | {shown} |")
    lines += ["", f"{sum(each.is_kept for each in found)} of {len(found)} are ordered as recorded."]
    return "\n".join(lines)


def _unit(order: ConfigurationOrder) -> float:
    return 1e6 if order.figure == "restored_bytes" else 1e3
