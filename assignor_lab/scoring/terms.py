"""What decides the rows of a run, as text: a run is gone on with only under equal terms."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assignment_api.plugins.layers import ConfigLayer, ConfigValue, Layer
from assignment_api.plugins.selection import ConfigSources, EffectiveConfig
from assignor_lab.groups.columns import FORMAT

if TYPE_CHECKING:
    from assignor_lab.scoring.run import Run

__all__ = ["terms_of_run"]


def terms_of_run(run: Run, salt: bytes) -> Mapping[str, str]:
    """Name to value of everything that the rows depend on.

    Args:
        run: The run.
        salt: Enters the digests of values that are secret.
    """
    plan = run.plan
    metrics = plan.kind.load().metrics(run.registry)
    kept = {"--only-item": plan.only, "--only-round": run.only_round}
    return {
        "assignor-lab": metadata.version("assignor-lab"),
        "tables": f"format {FORMAT}, {plan.kind.name}",
        **{f"source {number}": text for number, text in enumerate(_sources(run))},
        "scenarios": plan.digest,
        "assignors": ", ".join(_assignor(found) for found in run.competing.assignors),
        "metrics": _named_digest({name: f"{found.distribution} {found.version}" for name, found in metrics.items()}),
        "plugin wheels": ", ".join(f"{wheel.name} {wheel.version} sha256:{wheel.sha256}" for wheel in run.wheels),
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


def _assignor(found: Any) -> str:
    if found.distribution is not None:
        return f"{found.name} ({found.distribution} {found.version})"
    # Code that was named on the command line has no version.
    try:
        file = inspect.getsourcefile(found.plugin.factory)
        digest = hashlib.sha256(Path(file or "").read_bytes()).hexdigest()[:16]
    except (TypeError, OSError):
        digest = "unknown"
    return f"{found.name} (sha256:{digest})"


def _named_digest(values: Mapping[str, str]) -> str:
    text = json.dumps(list(values.items()))
    return f"{len(values)}, sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _config(config: ConfigSources, salt: bytes) -> Iterator[tuple[str, str]]:
    for place, layers in (("below the scenario's", config.below), ("above the scenario's", config.above)):
        merged: dict[str, ConfigValue] = {}
        for layer in layers:
            merged.update(_said(layer))
        held = EffectiveConfig(merged)
        for key in sorted(held):
            is_secret = held.shown(key) != held[key].value
            yield f"{key} {place}", _digest(held[key].value, salt) if is_secret else str(held[key].value)


def _said(layer: ConfigLayer) -> Mapping[str, ConfigValue]:
    return {key: held for key, held in layer.entries.items() if held.origin.layer is not Layer.DEFAULT}


def _digest(value: object, salt: bytes) -> str:
    # Slow on purpose: the file may outlive the run, and the value may be short.
    return "hidden:" + hashlib.scrypt(str(value).encode(), salt=salt, n=2**14, r=8, p=1, dklen=16).hex()
