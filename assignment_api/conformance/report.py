"""Report of a trial."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.conformance.history import document_of, history_text
from assignment_api.conformance.levels import KIT_VERSION, LEVELS, RULES, Level
from assignment_api.conformance.quality import QualityWarning
from assignment_api.conformance.search import Smallest

__all__ = ["Failure", "LevelResult", "Report", "written_failure"]

_UNUSUAL = re.compile(r"[^A-Za-z0-9_.-]+")
_MARKS = {"passed": "✓", "failed": "✗", "known": "~", "not judged": "?"}


@attrs.frozen
class Failure:
    """A violated rule, with commands to reproduce it.

    Args:
        history: The smallest violating one, as JSON; ``None``: a single state shows it.
        commands: The shortest first.
        known: Why it is not this assignor's failure, or ``None``.
    """

    rule: str
    expected: str
    found: str
    round: int
    traceback: str = ""
    history: Mapping[str, Any] | None = None
    scenarios: str | None = None
    commands: Sequence[str] = ()
    known: str | None = None

    def text(self) -> str:
        """A few lines."""
        lines = [
            f"expected: {self.expected}",
            f"found:    in rebalance {self.round}, {self.found}",
        ]
        if self.known is not None:
            lines.append(f"known:    {self.known}")
        if self.traceback:
            lines.append("raised at:")
            lines += [f"  {line}" for line in self.traceback.splitlines()]
        if self.history is not None:
            lines.append(f"history:  {history_text(self.history)}")
        if self.scenarios is not None:
            lines.append(f"states:   {self.scenarios}")
        lines += [f"see:      {command}" for command in self.commands]
        return "\n".join(lines)


@attrs.frozen
class LevelResult:
    """Result of a level.

    Args:
        status: ``passed``, ``failed``, ``known`` (all violations are known), ``not judged`` (no history reached it).
        note: Unchecked parts, and why.
    """

    level: Level
    status: str
    failures: tuple[Failure, ...] = ()
    note: str = ""


@attrs.frozen
class Report:
    """Result of a trial, with each claimed level."""

    assignor: str
    kind: str
    histories: int
    seed: int
    levels: tuple[LevelResult, ...]
    #: Figures clearly worse than Kafka's.
    warnings: tuple[QualityWarning, ...] = ()

    @property
    def is_conformant(self) -> bool:
        """True if no level failed, and each was judged, or known violations prevented that."""
        statuses = {result.status for result in self.levels}
        return "failed" not in statuses and ("not judged" not in statuses or "known" in statuses)

    def summary(self) -> str:
        """Summary line, as for a badge."""
        held = sum(result.status in ("passed", "known") for result in self.levels)
        marks = " ".join(f"{result.level.value} {_MARKS[result.status]}" for result in self.levels)
        judged = f"{held} of {len(self.levels)} levels, {self.histories:,} histories"
        return f"conformance {KIT_VERSION} · {self.assignor} ({self.kind}) · {marks} · {judged}"

    def document(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "format": 1,
            "kind": "conformance-report",
            "version": KIT_VERSION,
            "assignor": self.assignor,
            "of": self.kind,
            "histories": self.histories,
            "seed": self.seed,
            "conformant": self.is_conformant,
            "summary": self.summary(),
            "warnings": [attrs.asdict(warning) for warning in self.warnings],
            "levels": [
                {
                    "level": result.level.value,
                    "asks": LEVELS[result.level].asks,
                    "status": result.status,
                    "note": result.note,
                    "failures": [
                        {**attrs.asdict(failure), "commands": list(failure.commands)} for failure in result.failures
                    ],
                }
                for result in self.levels
            ],
        }


def written_failure(
    smallest: Smallest,
    selector: str,
    folder: Path | None,
    known: Mapping[str, str],
    options: Sequence[str] = (),
    config: Sequence[str] = (),
) -> Failure:
    """Write the files of a failure that a search found.

    Args:
        options: Of the command that replays a history.
        config: Options of both commands.
    """
    broken = smallest.broken
    history = None if smallest.history is None else document_of(smallest.history)
    scenarios, commands = None, []
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        name = _UNUSUAL.sub("-", f"{selector}-{broken.rule}")
        scenarios = str(folder / f"{name}.jsonl")
        lines = [json.dumps(document, separators=(",", ":")) for document in smallest.documents]
        Path(scenarios).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        commands.append(shlex.join(["assignor", "assign", "--assignor", selector, scenarios, *config]))
        if history is not None:
            file = folder / f"{name}.history.json"
            file.write_text(json.dumps(history, indent=1) + "\n", encoding="ascii")
            commands.insert(
                0, shlex.join(["assignor", "conformance", selector, "--history", str(file), *options, *config])
            )
    return Failure(
        broken.rule,
        RULES[broken.rule].expected,
        broken.found,
        broken.round,
        broken.traceback,
        history,
        scenarios,
        tuple(commands),
        known.get(broken.rule),
    )
