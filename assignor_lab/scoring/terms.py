"""The terms of a run: as a value, in serializable form, and as text.

An interrupted run is resumed under equal terms only.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

import attrs

from assignment_api.plugins import Found, MetricPlugin, Registry
from assignment_api.plugins.keys import is_setting
from assignment_api.plugins.layers import ConfigLayer, ConfigValue, Layer
from assignment_api.plugins.selection import HIDDEN, ConfigSources, hides
from assignor_lab.documents.wording import plural
from assignor_lab.groups.columns import FORMAT
from assignor_lab.groups.prices import prices_of
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.model.run_summary import OverridingValue
from assignor_lab.runtime.discovery import EntryPointDescription
from assignor_lab.scoring.code_digests import source_digest
from assignor_lab.scoring.contenders import RunContenders, ScoredContender
from assignor_lab.scoring.selected_metrics import metrics_of_run
from assignor_lab.scoring.sources.plan import ScoringPlan

if TYPE_CHECKING:
    from assignor_lab.scoring.gates.grammar import Gate, GateContenders

__all__ = ["NO_TERMS", "ReplayCommand", "ScoringRun", "EvaluationTerms", "job_spec", "shown_config", "terms_of_run"]


def shown_config(config: ConfigSources, keys: Collection[str]) -> tuple[OverridingValue, ...]:
    """Explicit values of ``keys`` and the plugins' settings, some of them hidden."""
    effective = config.effective()
    return tuple(
        OverridingValue(key, HIDDEN if hides(effective, key, held.value) else _value_text(held.value), str(held.origin))
        for key, held in effective.items()
        if held.origin.layer.is_explicit and (key in keys or is_setting(key))
    )


def _value_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@attrs.frozen
class ReplayCommand:
    """Parts of a command line that determine its states.

    A history is generated again from family and seed, so that its command does not depend on other scored items. A
    scenario is found by its number among all of the sources.

    Args:
        variants: Name to text of contenders with their own settings.
    """

    sources: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    out: str = "replay"
    variants: Mapping[str, str] = attrs.field(factory=dict)

    def command(self, item: int, number: int, family: str | None, seed: int | None, assignors: Sequence[str]) -> str:
        """The command, quoted for a POSIX shell.

        Args:
            family: Family of the history, or ``None``.
        """
        if family is not None:
            state = ["--families", family, "--seed", str(seed or 0), "--count", "1", "--only-round", str(number)]
        else:
            state = [*self.sources, "--only-item", str(item), *(["--only-round", str(number)] if number else [])]
        names = [
            word
            for name in assignors
            for word in (("--variant", self.variants[name]) if name in self.variants else ("--assignor", name))
        ]
        return shlex.join(["assignor", "score", *state, *names, *self.config, "--out", self.out])


@attrs.frozen
class EvaluationTerms:
    """Requests to a run besides its figures.

    Args:
        baseline: Name of the assignor that the others are compared with, or ``None``.
    """

    baseline: str | None = None
    gates: tuple[Gate, ...] = ()
    subjects: GateContenders | None = None
    replay: ReplayCommand | None = None


NO_TERMS = EvaluationTerms()


@attrs.frozen(eq=False)
class ScoringRun:
    """The terms of a run."""

    registry: Registry
    competing: RunContenders
    plan: ScoringPlan
    config: ConfigSources
    command: str | None = None
    master: str | None = None
    terms: EvaluationTerms = NO_TERMS
    only_round: int | None = None
    raw: bool = False
    described: tuple[EntryPointDescription, ...] | None = None
    #: Columns of the metrics; ``None``: the usual ones.
    columns: tuple[str, ...] | None = None

    @property
    def metrics(self) -> Mapping[str, Found[MetricPlugin]]:
        return metrics_of_run(self.plan.kind.load(), self.registry, self.columns)


def job_spec(
    registry: Registry,
    competing: RunContenders,
    plan: ScoringPlan,
    config: ConfigSources,
    described: tuple[EntryPointDescription, ...] | None = None,
    *,
    raw: bool = False,
    columns: Sequence[str] | None = None,
) -> JobSpec:
    """The terms in serializable form, for scorers.

    Args:
        columns: Columns of the metrics; ``None``: the usual ones.

    Raises:
        PriceError: if a price in the configuration is invalid.
    """
    prices_of(config.effective())
    return JobSpec(
        assignors=tuple(contender.variant for contender in competing.assignors),
        metrics=tuple(metrics_of_run(plan.kind.load(), registry, columns)),
        families=plan.families,
        config=config,
        may_run_code=True,
        kind=plan.kind,
        raw=raw,
        described=described,
    )


def terms_of_run(run: ScoringRun, engine: Mapping[str, str], salt: bytes) -> Mapping[str, str]:
    """Name to value of everything that the rows depend on.

    Args:
        salt: Salt for the digests of secret values.
    """
    plan = run.plan
    metrics = run.metrics
    kept = {"--only-item": plan.only, "--only-round": run.only_round, "--keep-assignments": run.raw or None}
    return {
        "assignor-lab": metadata.version("assignor-lab"),
        "tables": f"format {FORMAT}, {plan.kind.name}",
        **{f"source {number}": text for number, text in enumerate(_sources(run))},
        "scenarios": plan.digest,
        "assignors": ", ".join(map(_assignor, run.competing.assignors)),
        "metrics": _named_digest({name: f"{found.distribution} {found.version}" for name, found in metrics.items()}),
        **engine,
        **{name: str(value) for name, value in kept.items() if value is not None},
        **dict(_config(run.config, salt)),
    }


def _sources(run: ScoringRun) -> Iterator[str]:
    for source in run.plan.sources:
        if source.generated is None:
            yield f"{source.name} ({plural(source.items, 'scenario')})"
        else:
            found = run.registry.family(source.generated.family)
            made = f"{plural(source.items, 'history', 'histories')} from seed {source.generated.seed}"
            yield f"{found.name} ({found.distribution} {found.version}), {made}"


def _assignor(contender: ScoredContender) -> str:
    found, text = contender.found, contender.variant.text
    if found.distribution is not None:
        return f"{text} ({found.distribution} {found.version})"
    # Code from the command line has no version.
    digest = source_digest(found.plugin.factory)
    return f"{text} (sha256:{'unknown' if digest is None else digest[:16]})"


def _named_digest(values: Mapping[str, str]) -> str:
    text = json.dumps(list(values.items()))
    return f"{len(values)}, sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _config(config: ConfigSources, salt: bytes) -> Iterator[tuple[str, str]]:
    effective = config.effective()
    for place, layers in (("below the scenario's", config.below), ("above the scenario's", config.above)):
        merged: dict[str, ConfigValue] = {}
        for layer in layers:
            merged.update(_said(layer))
        for key, held in sorted(merged.items()):
            is_hidden = hides(effective, key, held.value)
            yield f"{key} {place}", _digest(held.value, salt) if is_hidden else str(held.value)


def _said(layer: ConfigLayer) -> Mapping[str, ConfigValue]:
    return {key: held for key, held in layer.entries.items() if held.origin.layer is not Layer.DEFAULT}


def _digest(value: object, salt: bytes) -> str:
    # Slow on purpose: the file may outlive the run, and the value may be short.
    return "hidden:" + hashlib.scrypt(str(value).encode(), salt=salt, n=2**14, r=8, p=1, dklen=16).hex()
