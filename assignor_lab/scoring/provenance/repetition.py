"""A run repeated from its manifest: the same states, assignors and configuration, and a comparison of the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import Policy
from assignment_api.plugins.keys import ALLOW, BLOCK, ENVIRONMENT, ISOLATE, PIN, TRUST
from assignment_api.plugins.layers import ConfigLayer, Layer, default_layer, layer_of
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, canonical_name
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.capture.histories.past_files import NamedFile
from assignor_lab.groups.variants import as_variant
from assignor_lab.scoring.provenance.manifest import (
    Code,
    Input,
    InputFile,
    Manifest,
    ManifestSetting,
    code_of,
    digest_of_digests,
    versions_of,
)
from assignor_lab.scoring.sources.parts import Generated, SourceInput, file_digest
from assignor_lab.scoring.sources.plan import ScoringPlan
from assignor_lab.scoring.terms import ScoringRun

__all__ = [
    "RepeatError",
    "Repeated",
    "check_states",
    "compared",
    "differences",
    "may_run_code",
    "repeated_config",
    "repeated_sources",
]

#: Keys of the policy of the repeating machine: no manifest has them. Pins are in the manifest as digests.
_OWN_POLICY = (TRUST, ISOLATE, ENVIRONMENT, PIN)
#: Digits of a digest in a sentence.
_SHOWN = 12


class RepeatError(AssignorLabError):
    """A run cannot be repeated, because something that it needs is missing or has changed."""


@attrs.frozen
class Repeated:
    """The outcome of repeating a run."""

    equal: tuple[str, ...]
    different: tuple[str, ...]


def repeated_config(manifest: Manifest, here: ConfigSources, place: str) -> ConfigSources:
    """The configuration of a run: from the manifest, under the policy of this machine.

    If the run had no allow-list, its distributions become one, so that no other plugin adds a column. A manifest may
    only leave plugins out. It never widens the permitted imports, the lab's trust, or the environment that plugins see.

    Args:
        here: Settings of this machine and the command line: the policy, and values that the manifest hides.

    Raises:
        RepeatError: if a hidden value is missing or differs; if this machine does not allow a plugin.
    """
    hidden = dict.fromkeys(setting.key for setting in manifest.configuration if setting.hidden)
    given = here.above[-1].entries
    for key in given:
        if key not in hidden and key not in _OWN_POLICY:
            raise RepeatError(f"-c {key}: the manifest has its value: leave it out, or run without --reproduce")
    missing = [key for key in hidden if key not in given]
    if missing:
        raise RepeatError(f"{place} hides the value of {', '.join(missing)}: give it with -c {missing[0]}=...")
    kept = [setting for setting in manifest.configuration if not setting.hidden and setting.key not in _OWN_POLICY]
    below = [setting for setting in kept if setting.layer in (Layer.DISCOVERED.name, Layer.ENVIRONMENT.name)]
    above = [setting for setting in kept if setting not in below]
    layers = ConfigSources((default_layer(), *_layers(below, place)), tuple(_layers(above, place)))
    policies = _policies(manifest, layers.effective().policy(), here.effective().policy(), place)
    own = ConfigLayer({key: held for key, held in here.effective().entries.items() if key in _OWN_POLICY})
    return ConfigSources(layers.below, (*layers.above, own, layer_of(Layer.FILE, policies), here.above[-1]))


def _policies(manifest: Manifest, then: Policy, here: Policy, place: str) -> Iterator[tuple[str, object, str]]:
    """Allow- and block-list: the run's exclusions, and imports that this machine forbids."""
    decided = [code.name for code in manifest.code if ":" not in code.name and code.name != BUILTIN_DISTRIBUTION]
    allowed = [BUILTIN_DISTRIBUTION, *decided] if then.allow is None else list(then.allow)
    if here.allow is not None:
        names = {canonical_name(name) for name in (BUILTIN_DISTRIBUTION, *here.allow)}
        lacking = [name for name in decided if canonical_name(name) not in names]
        if lacking:
            raise RepeatError(f"assignor.plugins.allow here lacks {', '.join(lacking)}, which the run needs: add it")
        allowed = [name for name in allowed if canonical_name(name) in names]
    yield ALLOW, allowed, place
    blocked = dict.fromkeys((*then.block, *here.block))
    if blocked:
        yield BLOCK, list(blocked), place


def _layers(settings: Sequence[ManifestSetting], place: str) -> Iterator[ConfigLayer]:
    for name, group in groupby(settings, key=lambda setting: setting.layer):
        if name not in Layer.__members__:
            raise RepeatError(
                f"{place}, configuration: unknown layer {name!r:.80}: expected {', '.join(Layer.__members__)}"
            )
        try:
            yield layer_of(Layer[name], [(each.key, each.value, each.place) for each in group])
        except AssignorLabError as error:
            raise RepeatError(f"{place}, configuration: {error}") from error


def repeated_sources(manifest: Manifest, beside: Path, given: Sequence[str]) -> tuple[SourceInput, ...]:
    """The sources of a run, each under its original name.

    A file is found by its digest among the given ones, then by its name: from the working directory, from the
    manifest's folder, and directly beside the manifest.

    Args:
        given: Replacement files, or folders of files, in any order.

    Raises:
        RepeatError: if a file is not found, or none of its name has its content; if a given one is not in the run.
    """
    files = [path for name in given for path in _files(Path(name))]
    by_digest = {file_digest(path): path for path in files}
    known = {file.sha256 for source in manifest.inputs for file in source.files}
    # A pipe has no digest: the unmatched files replace pipes.
    loose = [path for digest, path in by_digest.items() if digest not in known]
    sources: list[SourceInput] = []
    for source in manifest.inputs:
        if source.kind == "family":
            sources.append(Generated(source.name, source.items, source.first_seed or 0))
            continue
        if not source.files:
            raise RepeatError(f"source {source.name} was in memory: only files and families can be read again")
        sources += [
            NamedFile(_found(file, source, beside, by_digest, loose), file.name, source.kind) for file in source.files
        ]
    if manifest.further is not None:
        listed = sum(len(source.files) for source in manifest.inputs)
        if len(files) != listed + manifest.further.inputs:
            raise RepeatError(
                f"the manifest lists {listed:,} files of {listed + manifest.further.inputs:,}, and {len(files):,} are "
                "given: name all files of the run in their order, or their folder, as SOURCES"
            )
        sources += [NamedFile(path, str(path)) for path in files[listed:]]
        loose = []
    if loose:
        raise RepeatError(f"{loose[0]}: is no source of the run, by its content: leave it out")
    return tuple(sources)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
    if not path.is_file():
        raise RepeatError(f"{path}: no such file: with --reproduce, sources stand in for the files of the run")
    return [path]


def _found(file: InputFile, source: Input, beside: Path, given: Mapping[str, Path], loose: list[Path]) -> Path:
    if file.sha256 is None:
        if not loose:
            raise RepeatError(f"source {file.name} was a pipe: name a file with its {source.items:,} scenarios")
        return loose.pop(0)
    if file.sha256 in given:
        return given[file.sha256]
    others = []
    for path in dict.fromkeys((Path(file.name), beside / file.name, beside / Path(file.name).name)):
        if path.is_file():
            if file_digest(path) == file.sha256:
                return path
            others.append(str(path))
    wanted = f"sha256 {file.sha256[:_SHOWN]}…"
    if others:
        raise RepeatError(f"{others[0]}: is not the file of the run, which has {wanted}: name that one as a source")
    raise RepeatError(f"source {file.name}: not found: name the file with {wanted} as a source")


def may_run_code(manifest: Manifest, confirmed: Sequence[str]) -> bool:
    """True if ``module:attribute`` among the assignors may be imported; the manifest alone is not enough.

    Raises:
        RepeatError: if the run called code that was not named, or another assignor was named.
    """
    contenders = [as_variant(text) for text in manifest.assignors]
    names = dict.fromkeys(each.assignor for each in contenders)
    if manifest.baseline is not None and manifest.baseline not in {each.name for each in contenders}:
        names[manifest.baseline] = None
    for name in confirmed:
        if name not in names:
            raise RepeatError(f"--assignor {name}: is none of the run's, which are {', '.join(names)}")
    # ``distribution:name`` has the same form; if code may run at all, each of these was named.
    unnamed = [name for name in names if ":" in name and name not in confirmed]
    if unnamed and (confirmed or any(":" in code.name for code in manifest.code)):
        words = " ".join(f"--assignor {name}" for name in unnamed)
        raise RepeatError(f"the run called code of no installed plugin: to run it here, too, add {words}")
    return bool(confirmed)


def check_states(manifest: Manifest, plan: ScoringPlan) -> None:
    """Checks that the states are those of the run.

    Raises:
        RepeatError: if not.
    """
    digests = [source.scenarios_sha256 for source in manifest.inputs]
    found = [None if source.generated is not None else source.digest for source in plan.sources]
    if manifest.further is not None:
        count = len(digests)
        if digest_of_digests(found[count:]) != manifest.further.scenarios_sha256:
            raise RepeatError("the files that the manifest does not list are not those of the run, or in another order")
        found = found[:count]
    if len(digests) != len(found):
        raise RepeatError(f"the manifest has digests of {len(digests)} sources, but names {len(found)}: it was changed")
    for digest, own, source in zip(digests, found, plan.sources[: len(found)], strict=True):
        if digest != own:
            raise RepeatError(
                f"source {source.name}: its states are not those of the run: name the file that was read then, or "
                "install the release that read it"
            )


def differences(manifest: Manifest, run: ScoringRun) -> tuple[str, ...]:
    """Changed conditions that affect the results of ``run``, one sentence each."""
    return tuple(_reasons(manifest, code_of(run), versions_of(run)))


def compared(then: Manifest, now: Manifest) -> Repeated:
    equal = tuple(name for name, digest in then.outputs.items() if now.outputs.get(name) == digest)
    return Repeated(equal, tuple(name for name in then.outputs if name not in equal))


def _reasons(then: Manifest, code: Sequence[Code], versions: Mapping[str, str]) -> Iterator[str]:
    before = {each.name: (each.version, each.sha256) for each in then.code}
    after = {each.name: (each.version, each.sha256) for each in code}
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield f"{name}: {_code(before.get(name))} then, {_code(after.get(name))} now"
    for name in dict.fromkeys((*then.versions, *versions)):
        if then.versions.get(name) != versions.get(name):
            yield f"{name}: {then.versions.get(name, 'none')} then, {versions.get(name, 'none')} now"


def _code(found: tuple[str | None, str | None] | None) -> str:
    if found is None:
        return "none"
    version, digest = found
    shown: list[Any] = [version] if version is not None else []
    return " ".join([*shown, "of unknown content" if digest is None else f"(sha256 {digest[:_SHOWN]}…)"])
