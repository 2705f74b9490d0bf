"""The provenance of a frame of results: facts about a run that its rows lack, in the metadata of a column.

Spark keeps the metadata of a column through selections, filters, sorts and its own Parquet files. Frames from other
sources (pandas, pyarrow, the tables of ``assignor score``) have none: then only the rows are known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api.plugins.selection import ConfigSources
from assignor_lab.documents.shapes import Check, Mismatch, any_value, list_of
from assignor_lab.documents.values import plain_document, value_of
from assignor_lab.groups.kind import GroupKind
from assignor_lab.model.run_summary import OverridingValue
from assignor_lab.scoring.contenders import RunContenders, Unloaded
from assignor_lab.scoring.sources.plan import ScoringSource
from assignor_lab.scoring.terms import shown_config

__all__ = ["COLUMN", "KEY", "Provenance"]

#: The column with the metadata, and its key there.
COLUMN, KEY = "item", "assignor_lab.run"


@attrs.frozen
class ProvenAssignor:
    """A contender of a run, as far as a frame keeps it."""

    name: str
    distribution: str | None = None
    version: str | None = None
    summary: str | None = None
    settings: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class ProvenSource:
    """A source of a run, as far as a frame keeps it."""

    name: str
    kind: str
    decisions: int


@attrs.frozen
class Provenance:
    """Facts about a run.

    Args:
        assignors: Its contenders, in order.
        unloaded: Those that could not be loaded.
    """

    kind: str
    assignors: tuple[ProvenAssignor, ...]
    unloaded: tuple[Unloaded, ...] = ()
    sources: tuple[ProvenSource, ...] = ()
    config: tuple[OverridingValue, ...] = ()

    @classmethod
    def of(
        cls,
        kind: GroupKind[Any, Any],
        competing: RunContenders,
        sources: Sequence[ScoringSource],
        config: ConfigSources,
    ) -> Provenance:
        return cls(
            kind.name,
            tuple(
                ProvenAssignor(each.name, each.distribution, each.version, each.summary, dict(each.variant.settings))
                for each in competing.assignors
            ),
            competing.unloaded,
            tuple(ProvenSource(source.name, source.kind, source.decisions) for source in sources),
            shown_config(config, kind.config_keys),
        )

    def metadata(self) -> dict[str, str]:
        document = plain_document(self)
        document["sources"] = [[each.name, each.kind, each.decisions] for each in self.sources]
        return {KEY: json.dumps(document)}

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Provenance | None:
        """The provenance in a column's metadata; ``None`` without one."""
        text = metadata.get(KEY)
        try:
            return None if text is None else _READ(json.loads(text))
        except (TypeError, ValueError, Mismatch):
            return None


def _source(value: object) -> ProvenSource:
    name, kind, decisions = list_of(any_value)(value)
    return ProvenSource(str(name), str(kind), int(decisions))


_READ: Check[Provenance] = value_of(Provenance, "", ((ProvenSource, _source),))
