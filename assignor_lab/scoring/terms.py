"""The terms of a run: what is to be scored, as a value, as it travels, and as text.

A run that was interrupted is gone on with under equal terms only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib import metadata

import attrs

from assignment_api.plugins import Registry
from assignment_api.plugins.layers import ConfigLayer, ConfigValue, Layer
from assignment_api.plugins.selection import ConfigSources, hides
from assignor_lab.groups.columns import FORMAT
from assignor_lab.groups.prices import prices_of
from assignor_lab.groups.terms import JobSpec
from assignor_lab.runtime.discovery import Description
from assignor_lab.scoring.code import source_digest
from assignor_lab.scoring.comparison import NO_TERMS, Terms
from assignor_lab.scoring.competitors import Competitors, Entrant
from assignor_lab.scoring.sources import Plan

__all__ = ["Run", "job_spec", "terms_of_run"]


@attrs.frozen(eq=False)
class Run:
    """What is to be scored.

    Args:
        registry: What is installed.
        competing: Who competes.
        plan: On what.
        config: Under which configuration.
        command: The command line for the summary, or ``None``.
        master: Where the engine runs, for the summary.
        terms: Baseline, gates, and how a state is shown again.
        only_round: The one round whose rows are kept; ``None``: all.
        raw: Whether the answers themselves are kept.
        described: What plugins said that are not imported in this process; ``None``: each who scores asks them.
    """

    registry: Registry
    competing: Competitors
    plan: Plan
    config: ConfigSources
    command: str | None = None
    master: str | None = None
    terms: Terms = NO_TERMS
    only_round: int | None = None
    raw: bool = False
    described: tuple[Description, ...] | None = None


def job_spec(
    registry: Registry,
    competing: Competitors,
    plan: Plan,
    config: ConfigSources,
    described: tuple[Description, ...] | None = None,
    *,
    raw: bool = False,
) -> JobSpec:
    """The terms as they travel to whoever scores.

    Args:
        registry: What is installed.
        competing: Who competes.
        plan: On what.
        config: Under which configuration.
        described: As :class:`~assignor_lab.groups.terms.JobSpec` has it.
        raw: Whether the answers themselves are kept.

    Raises:
        PriceError: if a price in the configuration is none.
    """
    prices_of(config.effective())
    return JobSpec(
        assignors=tuple(entrant.variant for entrant in competing.assignors),
        metrics=tuple(plan.kind.load().metrics(registry)),
        families=tuple(sorted({source.generated.family for source in plan.sources if source.generated is not None})),
        config=config,
        may_run_code=True,
        kind=plan.kind,
        raw=raw,
        described=described,
    )


def terms_of_run(run: Run, engine: Mapping[str, str], salt: bytes) -> Mapping[str, str]:
    """Name to value of everything that the rows depend on.

    Args:
        run: The run.
        engine: What of the engine decides them.
        salt: Enters the digests of values that are secret.
    """
    plan = run.plan
    metrics = plan.kind.load().metrics(run.registry)
    kept = {"--only-item": plan.only, "--only-round": run.only_round, "--answers": run.raw or None}
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


def _sources(run: Run) -> Iterator[str]:
    for source in run.plan.sources:
        if source.generated is None:
            yield f"{source.name} ({source.items} scenarios)"
        else:
            found = run.registry.family(source.generated.family)
            made = f"{source.items} histories from seed {source.generated.seed}"
            yield f"{found.name} ({found.distribution} {found.version}), {made}"


def _assignor(entrant: Entrant) -> str:
    found, text = entrant.found, entrant.variant.text
    if found.distribution is not None:
        return f"{text} ({found.distribution} {found.version})"
    # Code that was named on the command line has no version.
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
