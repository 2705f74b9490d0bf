"""RunContenders of a run: every installed assignor or the named ones, and those that cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from assignment_api.plugins import PluginLoadError, PluginRow, Registry
from assignment_api.plugins.keys import GROUP_KEYS
from assignor_lab.groups.entries import KindEntry, default_kind, entries, entry_of
from assignor_lab.groups.kind import FoundAssignor, GroupKind
from assignor_lab.groups.runner.terms import NO_CONFIG
from assignor_lab.groups.variants import PROTOCOL, Contender, VariantError, as_variant, configured, timings_of
from assignor_lab.groups.work import OBSERVED

__all__ = ["RunContenders", "ScoredContender", "Unloaded", "found_contenders", "kind_of_assignors"]


@attrs.frozen
class Unloaded:
    """A plugin that could not be loaded, and the reason."""

    name: str
    distribution: str | None
    version: str | None
    reason: str


@attrs.frozen
class ScoredContender:
    """One contender."""

    variant: Contender
    found: FoundAssignor

    @property
    def name(self) -> str:
        return self.variant.name

    @property
    def distribution(self) -> str | None:
        return self.found.distribution

    @property
    def version(self) -> str | None:
        return self.found.version

    @property
    def summary(self) -> str | None:
        if not self.variant.settings:
            return self.found.plugin.summary or None
        settings = ", ".join(f"{key}={value}" for key, value in self.variant.settings.items())
        return f"{self.found.name} with {settings}."


@attrs.frozen
class RunContenders:
    """All requested contenders.

    Args:
        assignors: The contenders, each once, in the requested order.
        unloaded: Requested plugins that could not be loaded.
        refused: Refused plugins, for example because of their name; not among ``unloaded``.
    """

    assignors: tuple[ScoredContender, ...]
    unloaded: tuple[Unloaded, ...]
    refused: tuple[PluginRow, ...] = ()


def kind_of_assignors(registry: Registry, selectors: Iterable[str]) -> KindEntry:
    """The kind of histories that the named assignors answer, if one kind is the only one for all of them."""
    offered = [kinds for name in selectors if name != OBSERVED and (kinds := registry.assignor_kinds(name))]
    answered = [entry for entry in entries() if offered and all(found == (entry.plugins,) for found in offered)]
    return answered[0] if answered else default_kind()


def found_contenders(
    registry: Registry,
    contenders: Iterable[Contender | str] = (),
    *,
    may_run_code: bool = False,
    kind: KindEntry | str | None = None,
) -> RunContenders:
    """Finds the assignors of a run.

    Args:
        contenders: Names, aliases and the like, or variants, which may be text; none: every installed assignor.
            ``kafka`` may be among them; Kafka's recorded decision is scored in any case.
        may_run_code: True if ``module:attribute`` may be imported.

    Raises:
        UnknownPluginError, AmbiguousPluginError, UntrustedCodeError: if a selector names nothing loadable.
        PluginLoadError: if no assignor is left.
        VariantError: if a variant has the name of another contender or of an installed assignor, or a setting that it
            cannot have.
    """
    entry = entry_of(kind)
    group = entry.load()
    found: dict[str, ScoredContender] = {}
    unloaded: list[Unloaded] = []
    installed = group.installed(registry)
    wanted = [each for each in map(as_variant, contenders) if each.name != OBSERVED or each.settings]
    if not wanted:
        found = {assignor.name: _as_it_is(assignor) for assignor in installed}
        unloaded = [
            Unloaded(row.name, row.distribution, row.version, row.reason)
            for row in registry.listing()
            if row.kind in ("plugin", entry.plugins) and row.status in ("broken", "refused")
        ]
    taken = {OBSERVED, *(assignor.name for assignor in installed)}
    for variant in wanted:
        try:
            contender = _contender(variant, group, registry, may_run_code=may_run_code)
        except PluginLoadError as error:
            unloaded.append(Unloaded(variant.name, None, None, str(error)))
            continue
        if not variant.is_plain and contender.name in taken | found.keys():
            raise VariantError(f"variant {variant.name!r:.80}: another contender has that name: choose a different one")
        found.setdefault(contender.name, contender)
    if not found:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in unloaded)
        raise PluginLoadError(f"no assignor is left to score: {reasons or 'none is installed'}")
    left_out = {(one.name, one.distribution) for one in unloaded}
    refused = [
        row for row in registry.listing() if row.status == "refused" and (row.name, row.distribution) not in left_out
    ]
    return RunContenders(tuple(found.values()), tuple(unloaded), tuple(refused))


def _as_it_is(assignor: FoundAssignor) -> ScoredContender:
    return ScoredContender(Contender(assignor.name, assignor.name), assignor)


def _contender(
    variant: Contender, group: GroupKind[Any, Any], registry: Registry, *, may_run_code: bool
) -> ScoredContender:
    found = group.find(registry, variant.assignor, may_run_code=may_run_code)
    if variant.is_plain:
        return _as_it_is(found)
    spoken = group.protocol(found)
    if variant.protocol is not None and variant.protocol != spoken:
        reason = (
            f"with {found.name} a group speaks the {spoken} protocol"
            if spoken is not None
            else "only episodes (kind streams-episode) can be played in another protocol"
        )
        raise VariantError(f"variant {variant.name!r:.80}: {PROTOCOL}={variant.protocol}: {reason}")
    overrides, _ = timings_of(variant, group.timing_keys)
    for key in GROUP_KEYS:
        if key in overrides:
            raise VariantError(f"variant {variant.name!r:.80}: {key} cannot differ here: give it with -c, for all")
    configured(NO_CONFIG, variant.name, overrides, registry)
    return ScoredContender(attrs.evolve(variant, assignor=found.name), found)
