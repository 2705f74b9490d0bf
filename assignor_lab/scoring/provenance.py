"""The provenance of a frame of results: what of a run does not stand in its rows, kept beside a column's type.

Spark hands the metadata of a column on through selections, filters, sorts and its own Parquet files. What came another
way (pandas, pyarrow, the tables of ``assignor score``) has none: then the rows alone tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api.plugins.selection import ConfigSources
from assignor_lab.groups.kind import Kind
from assignor_lab.scoring.competitors import Competitors
from assignor_lab.scoring.sources import Source
from assignor_lab.scoring.summaries.document import shown_config

__all__ = ["COLUMN", "KEY", "Provenance"]

#: The column that carries it, and its key there.
COLUMN, KEY = "item", "assignor_lab.run"


@attrs.frozen
class Provenance:
    """What a run was.

    Args:
        kind: Kind of its scenarios.
        assignors: Who competed, in order: ``name``, ``distribution``, ``version``, ``summary``, ``settings``.
        unloaded: Who would have: ``name``, ``distribution``, ``version``, ``reason``.
        sources: Name and kind of each source, and the recorded decisions behind histories that were played.
        config: The summary's ``config``.
    """

    kind: str
    assignors: Sequence[Mapping[str, Any]]
    unloaded: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[tuple[str, str, int]] = ()
    config: Sequence[Mapping[str, str]] = ()

    @classmethod
    def of(
        cls, kind: Kind[Any, Any], competing: Competitors, sources: Sequence[Source], config: ConfigSources
    ) -> Provenance:
        """That of a run that is about to be made."""
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
            shown_config(config, kind.config_keys),
        )

    def metadata(self) -> dict[str, str]:
        """As metadata of a column."""
        return {KEY: json.dumps(attrs.asdict(self))}

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Provenance | None:
        """What a column carries; ``None``: nothing, or nothing of ours."""
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
