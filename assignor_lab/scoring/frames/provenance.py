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
from assignor_lab.groups.kind import GroupKind
from assignor_lab.scoring.contenders import RunContenders
from assignor_lab.scoring.sources.plan import ScoringSource
from assignor_lab.scoring.terms import shown_config

__all__ = ["COLUMN", "KEY", "Provenance"]

#: The column with the metadata, and its key there.
COLUMN, KEY = "item", "assignor_lab.run"


@attrs.frozen
class Provenance:
    """Facts about a run.

    Args:
        assignors: Its contenders, in order: ``name``, ``distribution``, ``version``, ``summary``, ``settings``.
        unloaded: Those that could not be loaded: ``name``, ``distribution``, ``version``, ``reason``.
    """

    kind: str
    assignors: Sequence[Mapping[str, Any]]
    unloaded: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[tuple[str, str, int]] = ()
    config: Sequence[Mapping[str, str]] = ()

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
            [
                {
                    **{name: getattr(each, name) for name in ("name", "distribution", "version", "summary")},
                    "settings": dict(each.variant.settings),
                }
                for each in competing.assignors
            ],
            [attrs.asdict(each) for each in competing.unloaded],
            [(source.name, source.kind, source.decisions) for source in sources],
            [attrs.asdict(each) for each in shown_config(config, kind.config_keys)],
        )

    def metadata(self) -> dict[str, str]:
        return {KEY: json.dumps(attrs.asdict(self))}

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Provenance | None:
        """The provenance in a column's metadata; ``None`` without one."""
        try:
            document = json.loads(metadata[KEY])
            assignors = [{"settings": {}, **dict(each), "name": str(each["name"])} for each in document["assignors"]]
            return cls(
                str(document["kind"]),
                assignors,
                document["unloaded"],
                [(str(name), str(kind), int(decisions)) for name, kind, decisions in document["sources"]],
                document["config"],
            )
        except (KeyError, TypeError, ValueError):
            return None
