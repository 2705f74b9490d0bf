"""The manifest of a run: all inputs of its results, so that other users can repeat it.

It contains no time, and of the machine its Python and Java alone: equal runs have equal manifests. Secrets of a
configuration are left out and marked as hidden. Docs: "Scoring", section "The manifest".
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins import Found, MetricPlugin
from assignment_api.plugins.layers import Layer
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignment_api.plugins.selection import ConfigSources, hides
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Check, format_number, open_record
from assignor_lab.documents.values import value_of
from assignor_lab.groups.columns import OTHER_FORMAT
from assignor_lab.kafka.version import KAFKA_VERSION
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scoring.code_digests import code_digest, required_versions, source_digest
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.output.tables import digest_of
from assignor_lab.scoring.rows import ScoredRows
from assignor_lab.scoring.terms import ScoringRun

__all__ = [
    "Code",
    "FurtherInputs",
    "Input",
    "InputFile",
    "Manifest",
    "ManifestSetting",
    "code_of",
    "digest_of_digests",
    "manifest_of",
    "read_manifest",
    "versions_of",
]

FORMAT = 2
#: Most sources that are listed individually, if the others are single files.
MOST_INPUTS = 500
_MAX_BYTES = 64 * 1024 * 1024
_REMEDY = "use the release that wrote this manifest"


@attrs.frozen
class InputFile:
    """A file that was read.

    Args:
        sha256: Digest of its bytes, hex; ``None`` for the standard input or a pipe.
    """

    name: str
    sha256: str | None


@attrs.frozen
class Input:
    """A source of states.

    Args:
        kind: ``scenarios``, ``log``, ``recording`` or ``family``.
        scenarios_sha256: Digest of the scenarios in it, hex, independent of file names and compression; ``None`` for a
            family.
        first_seed: Seed of a family's first history; the others follow consecutively.
    """

    kind: str
    name: str
    items: int
    files: tuple[InputFile, ...] = ()
    scenarios_sha256: str | None = None
    first_seed: int | None = None


@attrs.frozen
class FurtherInputs:
    """Sources of files that are not listed individually.

    Args:
        scenarios_sha256: Digest of the digests of their scenarios, in order.
    """

    inputs: int
    items: int
    scenarios_sha256: str


@attrs.frozen
class Code:
    """Code that determined results.

    Args:
        version: Its version; ``None`` without one.
        sha256: Digest of its files, hex, independent of the installation; ``None`` if they cannot be found.
    """

    name: str
    version: str | None
    sha256: str | None


@attrs.frozen
class ManifestSetting:
    """A value of the configuration.

    Args:
        layer: Name of its kind of source (:class:`assignment_api.plugins.Layer`).
        place: Place within that source.
        hidden: True if the value is left out: it is a plugin's own, secret, or not representable in JSON.
    """

    key: str
    value: Any
    layer: str
    place: str
    hidden: bool = False


@attrs.frozen
class ManifestRacks:
    """Racks of ``--racks``, as read: the files themselves are not needed again.

    Args:
        topics: Topic to the racks of each of its partitions.
    """

    files: tuple[str, ...]
    clients: dict[str, str]
    topics: dict[str, tuple[tuple[str, ...], ...]]

    def racks(self) -> Racks:
        return Racks(self.files, self.clients, self.topics)


@attrs.frozen
class Manifest:
    """The document ``manifest.json``.

    Args:
        baseline: The assignor that the others were compared with.
        raw_answers: True if the answers themselves were kept.
        configuration: Values of every source but the scenarios' own, the lowest first, without Kafka's defaults.
        code: The lab and the plugins that determined results, with their digests.
        versions: Other versions that determine results: Python without its last number, the Kafka release of the rules,
            and required packages; ``pyarrow`` packs the tables.
        ran_on: Versions that do not: the exact Python, and versions of the engine.
        racks: Racks for sources without them; ``None`` if none were given.
        past: How recorded pasts were read, if there were any.
        metrics: Columns of the metrics; ``None``: the usual ones.
        further: The sources after the last one of ``inputs``; ``None`` if all are listed.
    """

    format: int
    command: str | None
    kind: str
    inputs: tuple[Input, ...]
    assignors: tuple[str, ...]
    baseline: str | None
    gates: tuple[str, ...]
    only_item: int | None
    only_round: int | None
    raw_answers: bool
    configuration: tuple[ManifestSetting, ...]
    code: tuple[Code, ...]
    versions: dict[str, str]
    ran_on: dict[str, str]
    outputs: dict[str, str]
    racks: ManifestRacks | None = None
    past: PastTerms | None = None
    further: FurtherInputs | None = None
    metrics: tuple[str, ...] | None = None

    def document(self) -> dict[str, Any]:
        return attrs.asdict(self)


def read_manifest(path: Path) -> Manifest:
    """Reads a ``manifest.json``.

    Raises:
        DocumentFormatError: if it cannot be read or is none, with the key.
    """
    return read_document(path, parse_json, _manifest, max_bytes=_MAX_BYTES, subject="a manifest")


_FORMAT = open_record({"format": format_number(FORMAT, OTHER_FORMAT)}, hint=_REMEDY)


def _manifest(value: object) -> Manifest:
    # Check the format first: another format lacks other keys, too.
    _FORMAT(value)
    check: Check[Manifest] = value_of(Manifest, _REMEDY)
    return check(value)


def manifest_of(run: ScoringRun, engine: Engine, scored: ScoredRows) -> Manifest:
    plan = run.plan
    inputs = tuple(_inputs(run))
    listed = inputs if _may_list_all(inputs) else inputs[:MOST_INPUTS]
    return Manifest(
        format=FORMAT,
        command=run.command,
        kind=plan.kind.name,
        inputs=listed,
        assignors=tuple(variant.text for variant in scored.written.spec.assignors),
        baseline=run.terms.baseline,
        gates=tuple(gate.expression for gate in run.terms.gates),
        only_item=plan.only,
        only_round=run.only_round,
        raw_answers=run.raw,
        configuration=tuple(_settings(run.config)),
        code=code_of(run),
        versions=versions_of(run),
        ran_on={"python": platform.python_version(), **dict(sorted(engine.versions.items()))},
        outputs={path.name: digest_of(path) for path in scored.repeatable},
        racks=_racks(plan.racks),
        past=plan.past if plan.has_pasts else None,
        further=_further(inputs[len(listed) :]),
        metrics=run.columns,
    )


def _may_list_all(inputs: Sequence[Input]) -> bool:
    """True if the list is short enough, or a later source can only be described by listing it."""
    return len(inputs) <= MOST_INPUTS or any(
        len(each.files) != 1 or each.files[0].sha256 is None for each in inputs[MOST_INPUTS:]
    )


def _further(inputs: Sequence[Input]) -> FurtherInputs | None:
    if not inputs:
        return None
    return FurtherInputs(
        len(inputs), sum(each.items for each in inputs), digest_of_digests(each.scenarios_sha256 for each in inputs)
    )


def digest_of_digests(digests: Iterable[str | None]) -> str:
    """SHA-256 (hex) of digests in order."""
    return hashlib.sha256("\n".join(digest or "-" for digest in digests).encode()).hexdigest()


def _racks(given: Racks | None) -> ManifestRacks | None:
    if given is None:
        return None
    topics = {topic: tuple(map(tuple, partitions)) for topic, partitions in given.topics.items()}
    return ManifestRacks(given.files, dict(given.clients), topics)


def code_of(run: ScoringRun) -> tuple[Code, ...]:
    named: dict[str, str | None] = {BUILTIN_DISTRIBUTION: metadata.version(BUILTIN_DISTRIBUTION)}
    named |= {each.distribution: each.version for each in _deciding(run) if each.distribution is not None}
    distributions = [Code(name, version, code_digest(name)) for name, version in sorted(named.items())]
    loose = {each.found.name: each.found for each in run.competing.assignors if each.distribution is None}
    return (*distributions, *(Code(name, None, source_digest(each.plugin.factory)) for name, each in loose.items()))


def versions_of(run: ScoringRun) -> dict[str, str]:
    """Versions that determine the results of a run besides its code."""
    distributions = {each.distribution for each in _deciding(run) if each.distribution is not None}
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "kafka": KAFKA_VERSION,
        **required_versions({BUILTIN_DISTRIBUTION, *distributions}),
        "pyarrow": metadata.version("pyarrow"),
    }


def _deciding(run: ScoringRun) -> list[Found[Any] | Any]:
    metrics: Mapping[str, Found[MetricPlugin]] = run.metrics
    families = {each.generated.family for each in run.plan.sources if each.generated is not None}
    return [*run.competing.assignors, *metrics.values(), *(run.registry.family(name) for name in sorted(families))]


def _inputs(run: ScoringRun) -> Iterator[Input]:
    for source in run.plan.sources:
        if source.generated is not None:
            yield Input(source.kind, source.name, source.items, first_seed=source.generated.seed)
        else:
            files = tuple(InputFile(file.name, file.sha256) for file in source.files)
            yield Input(source.kind, source.name, source.items, files, source.digest)


def _settings(config: ConfigSources) -> Iterator[ManifestSetting]:
    effective = config.effective()
    for layer in (*config.below, *config.above):
        for key, held in layer.entries.items():
            if held.origin.layer is not Layer.DEFAULT:
                hidden = hides(effective, key, held.value) or not _is_json(held.value)
                yield ManifestSetting(
                    key, None if hidden else held.value, held.origin.layer.name, held.origin.place, hidden
                )


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
