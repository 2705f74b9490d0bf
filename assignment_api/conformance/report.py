"""The report of a trial: what each level came to, the failures with their files, and a line that says it all."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.conformance.history import document_of
from assignment_api.conformance.levels import KIT_VERSION, LEVELS, RULES, Level
from assignment_api.conformance.search import Smallest

__all__ = ["Failure", "LevelResult", "Report", "written_failure"]

_UNUSUAL = re.compile(r"[^A-Za-z0-9_.-]+")
_MARKS = {"passed": "✓", "failed": "✗", "known": "~", "not judged": "?"}


@attrs.frozen
class Failure:
    """A rule that was broken, and how to see it again.

    Args:
        rule: Name of the rule.
        expected: What was expected, in a sentence.
        found: What happened instead.
        round: Number of the rebalance in its history, from 0.
        traceback: Where an exception came from; empty where there was none.
        history: The smallest history that was found, as JSON; ``None`` where a single state shows it.
        scenarios: File of the states that were asked, or ``None`` where nothing was written.
        commands: Commands that show it, the shortest first.
        known: Why it is no failure of this assignor's own, or ``None``.
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
        """Everything that a person needs, in a few lines."""
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
            lines.append(f"history:  {_told(self.history)}")
        if self.scenarios is not None:
            lines.append(f"states:   {self.scenarios}")
        lines += [f"see:      {command}" for command in self.commands]
        return "\n".join(lines)


@attrs.frozen
class LevelResult:
    """What a level came to.

    Args:
        level: The level.
        status: ``passed``; ``failed``; ``known``, if everything found is known not to be the assignor's own;
            ``not judged``, if no history got that far.
        failures: The rules that were broken.
        note: What was not looked at and why; empty where everything was.
    """

    level: Level
    status: str
    failures: tuple[Failure, ...] = ()
    note: str = ""


@attrs.frozen
class Report:
    """What a trial came to.

    Args:
        assignor: Name of the assignor.
        kind: Kind of the groups.
        histories: Histories that were played.
        seed: What they were drawn from.
        levels: One result for each level that was claimed.
    """

    assignor: str
    kind: str
    histories: int
    seed: int
    levels: tuple[LevelResult, ...]

    @property
    def is_conformant(self) -> bool:
        """Whether no level failed, and each was judged."""
        return all(result.status in ("passed", "known") for result in self.levels)

    def summary(self) -> str:
        """One line, as a badge has it."""
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
    """The failure that a search found, with its files written.

    Args:
        smallest: What was found.
        selector: Name by which commands know the assignor.
        folder: Where files go; ``None``: none are written, and no command is told.
        known: Rule to the reason why it is known.
        options: Options of the command that plays a history.
        config: Options of both commands that say under which configuration.
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
        commands.append(shlex.join(["assignor", "assign", "--assignor", selector, "--scenarios", scenarios, *config]))
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


def _told(history: Mapping[str, Any]) -> str:
    """A history in a line."""
    sorts = ("stateless", "with a changelog", "with state and no changelog")
    tasks = ", ".join(f"{count} {sorts[sort]}" for count, sort in history["tasks"])
    if history["of"] == "connect":
        tasks = "connectors of " + " and ".join(str(count) for count, _ in history["tasks"]) + " tasks"
    events = ", ".join(event[0].replace("_", " ") for event in history["events"]) or "nothing happens"
    copies = f", {history['standbys']} standbys" if history["standbys"] else ""
    return f"{len(history['members'])} members; tasks: {tasks}{copies}; events: {events}"
