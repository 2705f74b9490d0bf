"""Baseline and gates of ``assignor score``: checks before the run, and the exit code of the command after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assignment_api.plugins import Registry
from assignor_lab.cli.output_files import junit_file
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.groups.entries import KindEntry
    from assignor_lab.groups.variants import Contender
    from assignor_lab.model.comparisons import Verdict
    from assignor_lab.model.run_summary import Results
    from assignor_lab.scoring.contenders import RunContenders
    from assignor_lab.scoring.gates import Gate
    from assignor_lab.scoring.terms import EvaluationTerms, ReplayCommand

__all__ = ["compared_with", "conclude", "parsed_gates", "terms_of"]

GATE_FAILED, TOO_UNSURE = 1, 2


def parsed_gates(expressions: Sequence[str], junit: Path | None, baseline: str | None) -> tuple[Gate, ...]:
    """The gates, each once; missing requirements are found here, not after an hour of scoring.

    Raises:
        GateError: a subclass, if an expression is wrong.
        OutputFileError: if the file's folder is missing.
        ModuleNotFoundError: if the extra ``statistics`` is not installed.
    """
    junit_file(junit)
    if baseline is not None:
        from scipy import special as _special  # noqa: F401 - only whether it is there
    if not expressions:
        return ()
    from assignor_lab.scoring.gates import parse_gate

    return tuple(parse_gate(expression) for expression in dict.fromkeys(expressions))


def compared_with(
    registry: Registry,
    contenders: Sequence[Contender],
    baseline: str | None,
    kind: KindEntry,
    *,
    may_run_code: bool = True,
) -> tuple[RunContenders, str | None]:
    """The contenders on scenarios of ``kind``, including the baseline, and the baseline's name.

    Raises:
        PluginError: a subclass, if a selector matches nothing; if the baseline cannot be loaded.
    """
    from assignor_lab.groups.work import OBSERVED
    from assignor_lab.scoring.contenders import RunContenders, found_contenders

    competing = found_contenders(registry, contenders, may_run_code=may_run_code, kind=kind)
    names = {contender.name for contender in competing.assignors}
    if baseline is None or baseline == OBSERVED or baseline in names:
        return competing, baseline
    (contender,) = found_contenders(registry, (baseline,), may_run_code=may_run_code, kind=kind).assignors
    if contender.name not in names:
        competing = RunContenders((*competing.assignors, contender), competing.unloaded)
    return competing, contender.name


def terms_of(
    registry: Registry,
    competing: RunContenders,
    requested: Sequence[str],
    gates: tuple[Gate, ...],
    baseline: str | None,
    replay: ReplayCommand,
    kind: KindEntry,
    columns: Sequence[str] | None = None,
) -> EvaluationTerms:
    """Requests to the run besides its figures.

    Args:
        gates: Conditions under which the command fails.
        columns: Columns of the metrics; ``None``: the usual ones.

    Raises:
        GateNameError: if a gate is about something that is not part of the run.
    """
    from assignor_lab.groups.work import OBSERVED
    from assignor_lab.scoring.terms import EvaluationTerms

    if not gates:
        return EvaluationTerms(baseline, replay=replay)
    from assignor_lab.scoring.gates import GateContenders, check_gates
    from assignor_lab.scoring.selected_metrics import metrics_of_run

    # A requested assignor that could not be loaded is judged, too: its gates are unknown, and do not pass.
    names = [contender.name for contender in competing.assignors]
    names += [unloaded.name for unloaded in competing.unloaded if unloaded.name in requested]
    subjects = GateContenders(tuple(dict.fromkeys(names)), baseline, OBSERVED)
    check_gates(gates, tuple(metrics_of_run(kind.load(), registry, columns)), subjects)
    return EvaluationTerms(baseline, gates, subjects, replay)


def conclude(gates: Sequence[Verdict], junit: Path | None, say: Callable[[str], None]) -> None:
    """Prints the results of the gates, writes the JUnit report, and ends the command if one did not pass.

    Raises:
        typer.Exit: with code 1, if a gate failed or could not be judged; with 2, if none did but the run is too small
            for the confidence that one requires.
        OSError: if the report cannot be written.
    """
    for gate in gates:
        say(f"{_WORDS[gate.status]} {gate.assignor}: {gate.expression}: {gate.reason}")
    if junit is not None:
        from assignor_lab.scoring.gates.junit import write_junit

        write_junit(gates, junit)
        say(f"Gates: {junit}")
    not_passed = [gate for gate in gates if gate.status != "passed"]
    if not_passed:
        raise typer.Exit(TOO_UNSURE if all(gate.no_limit is not None for gate in not_passed) else GATE_FAILED)


def check_answered(results: Results) -> None:
    """Ends the command with exit code 1 if no assignor has an answer to any state.

    Raises:
        typer.Exit: with code 1, after a line with the most frequent cause.
    """
    assignors = [each for each in results.assignors if each.kind == "plugin" and each.rows]
    if not assignors or any(each.status == "scored" for each in assignors):
        return
    first = results.failures[0]
    cause = f"family {first.family}" if first.family is not None else first.assignor or "the scenarios"
    note(f"no assignor has an answer to any state; most frequent cause: {cause}: {first.type}: {first.message}")
    raise typer.Exit(GATE_FAILED)


_WORDS = {"passed": "passed ", "failed": "FAILED ", "unknown": "UNKNOWN"}
