"""A comparison of the plugins of a run with those of an executor, before the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError

import attrs

from assignment_api.plugins import Found, MetricPlugin, PluginError, Registry, ScenarioFamily
from assignment_api.plugins.discovery import describe_error
from assignment_api.plugins.installed import installed_distribution
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, canonical_name
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.groups.entries import KindEntry
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scoring.contenders import RunContenders

__all__ = ["ChosenPlugins", "chosen_plugins", "plugin_problem"]

_UNUSABLE = ("broken", "refused")


@attrs.frozen
class ChosenPlugins:
    """The plugins of a run as the driver has them, without those of this package.

    Args:
        distributions: Name and version of each distribution.
        code: Contenders outside of any distribution, such as ``module:attribute``.
        unusable: Distribution and entry of plugins that the driver cannot use either.
    """

    kind: KindEntry
    config: ConfigSources
    distributions: tuple[tuple[str, str], ...]
    code: tuple[str, ...] = ()
    unusable: frozenset[tuple[str, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.distributions or self.code)


def chosen_plugins(
    registry: Registry,
    competing: RunContenders,
    kind: KindEntry,
    config: ConfigSources,
    metrics: Iterable[Found[MetricPlugin]] = (),
    families: Iterable[Found[ScenarioFamily]] = (),
) -> ChosenPlugins:
    """The contenders, metrics and families of a run."""
    found: dict[tuple[str, str], None] = {}
    of = [(each.distribution, each.version) for each in competing.assignors]
    of += [(each.distribution, each.version) for each in metrics]
    of += [(each.distribution, each.version) for each in families]
    for name, version in of:
        if name is not None and canonical_name(name) != BUILTIN_DISTRIBUTION:
            found[name, version or ""] = None
    code = [each.variant.assignor for each in competing.assignors if each.distribution is None]
    names = {name for name, _ in found}
    unusable = frozenset(
        (row.distribution, row.name)
        for row in registry.listing()
        if row.distribution in names and row.status in _UNUSABLE
    )
    return ChosenPlugins(kind, config, tuple(found), tuple(code), unusable)


def plugin_problem(chosen: ChosenPlugins, wheels: Sequence[str] = ()) -> str | None:
    """The first plugin that this executor lacks, has in another version or cannot import; ``None`` without one.

    Args:
        wheels: Distributions that arrived as wheels.
    """
    return next(_problems(chosen, wheels), None)


def _problems(chosen: ChosenPlugins, wheels: Sequence[str]) -> Iterator[str]:
    held: list[Distribution] = []
    for name, version in chosen.distributions:
        try:
            distribution = installed_distribution(name)
        except PackageNotFoundError:
            yield f"{name} {version} is not on the executors: install it there or add --plugin-wheel FILE"
            continue
        if distribution.version != version:
            yield f"the executors have {name} {distribution.version}, and the driver {version}: install {version} there"
        held.append(distribution)
    known = {canonical_name(name) for name, _ in chosen.distributions}
    held += [installed_distribution(name) for name in wheels if canonical_name(name) not in known]
    # Without descriptions of the driver, each plugin is imported here once.
    plugins = discovered(chosen.config.effective(), held)
    for row in plugins.registry.listing():
        if row.status in _UNUSABLE and row.distribution and (row.distribution, row.name) not in chosen.unusable:
            yield f"{row.name} of {row.distribution} {row.version} does not work on the executors: {row.reason}"
    kind = chosen.kind.load()
    for selector in chosen.code:
        try:
            kind.find(plugins.registry, selector, may_run_code=True)
        except PluginError as error:
            yield f"{selector} does not work on the executors: {describe_error(error)}"
