"""Warnings about imported decisions: missing racks of a rack-aware group, and several applications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignment_api.streams.configs import RACK_AWARE_ASSIGNMENT_STRATEGY, RACK_AWARE_STRATEGY_NONE
from assignor_lab.documents.errors import printable
from assignor_lab.documents.wording import listed, plural
from assignor_lab.scenarios.rack_provenance import RACKS_UNKNOWN, STRATEGY_UNKNOWN

__all__ = ["ImportWarnings"]

_MOST_NAMED = 5


@attrs.define
class ImportWarnings:
    """Collects warnings while decisions pass through."""

    _decisions: int = attrs.field(init=False, default=0)
    _without_racks: int = attrs.field(init=False, default=0)
    _without_partitions: bool = attrs.field(init=False, default=False)
    _groups: dict[str, int] = attrs.field(init=False, factory=dict)

    def passed(self, documents: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        for document in documents:
            self._decisions += 1
            # Without a strategy no decision looks at racks.
            is_used = (document.get("config") or {}).get(RACK_AWARE_ASSIGNMENT_STRATEGY) != RACK_AWARE_STRATEGY_NONE
            if is_used and any(
                each.startswith((RACKS_UNKNOWN, STRATEGY_UNKNOWN)) for each in document.get("assumptions", ())
            ):
                self._without_racks += 1
                self._without_partitions |= any(task["partitions"] is None for task in document.get("tasks", ()))
            group = (document.get("source") or {}).get("group")
            if group is not None:
                self._groups[group] = self._groups.get(group, 0) + 1
            yield document

    def sentences(self) -> list[str]:
        found = []
        if self._without_racks:
            topology = ", and the partitions with --topology FILE" if self._without_partitions else ""
            found.append(
                f"{self._without_racks} of {plural(self._decisions, 'decision')} looked at racks that the source does "
                f"not show, so Kafka's assignor cannot decide them again: import once more with --racks FILE{topology} "
                "(the brokers' racks: assignor record --bootstrap-server HOST:PORT --group GROUP --out DIR writes "
                "DIR/racks.toml)"
            )
        if len(self._groups) > 1:
            names = [printable(name) for name in sorted(self._groups)]
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            found.append(
                f"the source holds decisions of {len(names)} applications ({listed(names[:_MOST_NAMED])}{more}), and "
                "--config, --racks and --topology hold for one: import the logs of each by themselves, with assignor "
                "import FILES --config FILE --out FILE"
            )
        return found
