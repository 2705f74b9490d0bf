"""The terms of a run's work: what travels to whoever scores, wherever that is."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.plugins.selection import ConfigSources
from assignor_lab.groups.entries import KindEntry, entry_of
from assignor_lab.groups.variants import Variant, as_variant
from assignor_lab.runtime.discovery import Description

__all__ = ["NO_CONFIG", "JobSpec"]


def _variants(contenders: Iterable[Variant | str]) -> tuple[Variant, ...]:
    return tuple(map(as_variant, contenders))


#: Scenarios under their own configuration alone.
NO_CONFIG = ConfigSources((), ())


@attrs.frozen
class JobSpec:
    """The terms of a run: who competes, what is measured, under which configuration.

    Names only: whoever scores finds the plugins for itself, with the same policy.

    Args:
        assignors: Who competes, in the order in which they are asked; of an assignor as it is, its selector will do.
        metrics: Names of the metrics, in the order of the columns.
        families: Names of the families that histories belong to.
        config: Configuration below and above a scenario's own; it holds the policy, too.
        may_run_code: Whether ``module:attribute`` among the assignors may be imported.
        observed: Score what Kafka really decided, too, where it is known.
        raw: Keep the answers themselves beside what is measured of them.
        kind: Kind of the scenarios, by its name or its entry; by default Streams applications.
        described: What plugins that nobody trusts said of themselves; whoever scores does not ask them again.
            ``None``: they are asked.
    """

    assignors: tuple[Variant, ...] = attrs.field(converter=_variants)
    metrics: tuple[str, ...]
    families: tuple[str, ...] = ()
    config: ConfigSources = NO_CONFIG
    may_run_code: bool = False
    observed: bool = True
    raw: bool = False
    kind: KindEntry = attrs.field(default=None, converter=entry_of)
    described: tuple[Description, ...] | None = None
