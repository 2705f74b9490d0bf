"""``assignor score --again``: a run from its manifest."""

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
    from assignor_lab.scoring.manifest import Manifest
    from assignor_lab.scoring.sources import Plan, SourceInput
    from assignor_lab.scoring.terms import Run

__all__ = ["Repetition", "repetition"]

DIFFERENT = 1


@attrs.frozen
class Repetition:
    """A run that is repeated.

    Args:
        path: The manifest.
        manifest: What it says.
        config: The configuration that follows from it.
        runs_code: Whether ``module:attribute`` may be imported.
        tolerant: Whether it runs although versions or code differ.
    """

    path: Path
    manifest: Manifest
    config: ConfigSources
    runs_code: bool
    tolerant: bool

    def sources(self, given: Sequence[str]) -> tuple[SourceInput, ...]:
        """The run's sources; ``given`` files stand in for those that are not where they were."""
        from assignor_lab.scoring.again import repeated_sources

        return repeated_sources(self.manifest, self.path.parent, given)

    def check_states(self, plan: Plan) -> None:
        """Whether the states are the run's; raises ``RepeatError`` if not."""
        from assignor_lab.scoring.again import check_states

        check_states(self.manifest, plan)

    def check_code(self, run: Run) -> None:
        """Whether code and versions are the run's.

        Raises:
            RepeatError: naming everything that is not, unless the repetition is tolerant: then it is said.
        """
        from assignor_lab.scoring.again import RepeatError, differences

        found = differences(self.manifest, run)
        if found and not self.tolerant:
            raise RepeatError(
                f"not what decided the run of {self.path}: {'; '.join(found)}: install what was there then, or see "
                "whether the same comes out with --allow-differences"
            )
        for difference in found:
            note(difference)

    def conclude(self, out: Path, say: Callable[[str], None]) -> None:
        """Says whether the same came out.

        Args:
            out: Folder of the run that repeated it.
            say: Prints a line.

        Raises:
            typer.Exit: with code 1, if something else came out.
        """
        from assignor_lab.scoring.again import compared
        from assignor_lab.scoring.manifest import read_manifest
        from assignor_lab.scoring.output.folder import MANIFEST

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
    """The run that a manifest is of.

    Args:
        path: The manifest.
        options: Options that decide a run, by name; the manifest says what they are.
        overrides: Items of ``-c``: values that the manifest hides, and who is isolated here.
        confirmed: Assignors ``module:attribute`` that may be imported.
        tolerant: Whether it runs although versions or code differ.

    Raises:
        typer.BadParameter: if an option is given that the manifest decides.
        DocumentFormatError: if it is no manifest.
        RepeatError: if a hidden value is missing, or code has not been confirmed.
    """
    from assignor_lab.scoring.again import may_run_code, repeated_config
    from assignor_lab.scoring.manifest import read_manifest

    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise typer.BadParameter(f"the manifest decides: leave out {', '.join(given)}", param_hint="--again")
    manifest = read_manifest(path)
    runs_code = may_run_code(manifest, confirmed)
    config = repeated_config(manifest, sources(None, overrides), str(path))
    return Repetition(path, manifest, config, runs_code, tolerant)
