"""``assignor score --reproduce``: a run from its manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import typer

from assignment_api.plugins import ConfigSources
from assignor_lab.cli.options import sources
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.scoring.provenance.manifest import Manifest
    from assignor_lab.scoring.sources.parts import SourceInput
    from assignor_lab.scoring.sources.plan import ScoringPlan
    from assignor_lab.scoring.terms import ScoringRun

__all__ = ["Repetition", "repetition"]

DIFFERENT = 1


@attrs.frozen
class Repetition:
    """A run that is repeated.

    Args:
        runs_code: True if ``module:attribute`` may be imported.
        tolerant: True if it runs although versions or code differ.
    """

    path: Path
    manifest: Manifest
    config: ConfigSources
    runs_code: bool
    tolerant: bool

    def sources(self, given: Sequence[str]) -> tuple[SourceInput, ...]:
        """The run's sources; ``given`` files replace those that are not in their place."""
        from assignor_lab.scoring.provenance.repetition import repeated_sources

        return repeated_sources(self.manifest, self.path.parent, given)

    def check_states(self, plan: ScoringPlan) -> None:
        """Checks that the states are the run's; raises ``RepeatError`` if not."""
        from assignor_lab.scoring.provenance.repetition import check_states

        check_states(self.manifest, plan)

    def check_code(self, run: ScoringRun) -> None:
        """Checks that code and versions are the run's.

        Raises:
            RepeatError: listing all differences; a tolerant repetition only prints them.
        """
        from assignor_lab.scoring.provenance.repetition import RepeatError, differences

        found = differences(self.manifest, run)
        if found and not self.tolerant:
            raise RepeatError(
                f"the run of {self.path} had other code: {'; '.join(found)}: install the versions of that run, or "
                "compare the results with --allow-differences"
            )
        for difference in found:
            note(difference)

    def conclude(self, out: Path, say: Callable[[str], None]) -> None:
        """Prints the outcome of the repetition.

        Raises:
            typer.Exit: with code 1, if a result differs.
        """
        from assignor_lab.scoring.output.folder import MANIFEST
        from assignor_lab.scoring.provenance.manifest import read_manifest
        from assignor_lab.scoring.provenance.repetition import compared

        repeated = compared(self.manifest, read_manifest(out / MANIFEST))
        for name in repeated.equal:
            say(f"Repeated: {out / name} is equal to the byte")
        for name in repeated.different:
            say(f"NOT repeated: {out / name} differs from that of {self.path}")
        if repeated.different:
            raise typer.Exit(DIFFERENT)


def repetition(
    path: Path,
    options: Mapping[str, object],
    overrides: list[str],
    confirmed: Sequence[str],
    *,
    tolerant: bool,
) -> Repetition:
    """The repetition of a manifest's run.

    Raises:
        typer.BadParameter: if an option is given that the manifest replaces.
        DocumentFormatError: if it is no manifest.
        RepeatError: if a hidden value is missing, or code has not been confirmed.
    """
    from assignor_lab.scoring.provenance.manifest import read_manifest
    from assignor_lab.scoring.provenance.repetition import may_run_code, repeated_config

    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise typer.BadParameter(f"the manifest decides: leave out {', '.join(given)}", param_hint="--reproduce")
    manifest = read_manifest(path)
    runs_code = may_run_code(manifest, confirmed)
    config = repeated_config(manifest, sources(None, overrides), str(path))
    return Repetition(path, manifest, config, runs_code, tolerant)
