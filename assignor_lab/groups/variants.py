"""Variants: an assignor with its own keys of the configuration, which competes under its own name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins.declared import check_settings
from assignment_api.plugins.keys import is_policy_key
from assignment_api.plugins.layers import command_line_layer
from assignment_api.plugins.registry import Registry
from assignment_api.plugins.selection import ConfigSources, EffectiveConfig

__all__ = [
    "PROTOCOL",
    "Contender",
    "VariantError",
    "as_variant",
    "configured",
    "overridden",
    "parse_variant",
    "timings_of",
    "variants_of",
]

#: Kafka's key for a group's protocol: ``classic``, ``streams`` or ``consumer``.
PROTOCOL = "group.protocol"


class VariantError(AssignorLabError):
    """A variant is not written as ``name=assignor,key=value,...``, or two have one name."""


@attrs.frozen
class Contender:
    """A contender.

    Args:
        protocol: The protocol of the group, or ``None``: unchanged.
    """

    name: str
    assignor: str
    overrides: Mapping[str, str] = attrs.field(factory=dict)
    protocol: str | None = None

    @property
    def settings(self) -> Mapping[str, str]:
        return dict(self.overrides) if self.protocol is None else {**self.overrides, PROTOCOL: self.protocol}

    @property
    def is_plain(self) -> bool:
        """True if it is an assignor without changes."""
        return self.name == self.assignor and not self.settings

    @property
    def text(self) -> str:
        if self.is_plain:
            return self.name
        return ",".join([f"{self.name}={self.assignor}", *(f"{key}={value}" for key, value in self.settings.items())])


def as_variant(contender: Contender | str) -> Contender:
    """A contender from its text: a plain assignor, if there is no ``=`` in it.

    Raises:
        VariantError: if it is a badly written variant.
    """
    if isinstance(contender, Contender):
        return contender
    return parse_variant(contender) if "=" in contender else Contender(contender, contender)


def parse_variant(text: str) -> Contender:
    """``name=assignor,key=value,...``; a part without ``=`` continues the value before it (``tags=zone,cluster``).

    Raises:
        VariantError: if it is written in another way.
    """
    name, separator, rest = text.partition("=")
    parts = rest.split(",")
    if not separator or not name.strip() or not parts[0].strip() or "=" in parts[0]:
        raise VariantError(
            f"{text!r:.200} is no variant: expected name=assignor,key=value,..., such as "
            "two=high_availability,num.standby.replicas=2"
        )
    found: dict[str, str] = {}
    key = ""
    for part in parts[1:]:
        if "=" in part:
            key, _, value = part.partition("=")
            key = key.strip()
            found[key] = value.strip()
        elif key:
            found[key] += f",{part.strip()}"
        else:
            raise VariantError(f"{text!r:.200}: expected key=value behind the assignor, found {part!r:.80}")
    protocol = found.pop(PROTOCOL, None)
    if protocol not in (None, "classic", "streams", "consumer"):
        raise VariantError(f"{text!r:.200}: {PROTOCOL} is classic, streams or consumer, not {protocol!r:.80}")
    return Contender(name.strip(), parts[0].strip(), found, protocol)


def configured(
    sources: ConfigSources, name: str, overrides: Mapping[str, str], registry: Registry | None = None
) -> ConfigSources:
    """Sources of configuration with a variant's own keys above all others; ``name`` is for errors.

    Args:
        registry: Checks the plugins' own keys; ``None``: they are checked already.

    Raises:
        VariantError: if a key belongs to the policy on plugins, which is the same for all, or is a plugin's secret; if
            it concerns no assignment, its plugin does not declare it, or its value is not valid.
    """
    if not overrides:
        return sources
    for key in overrides:
        if is_policy_key(key):
            raise VariantError(f"variant {name!r:.80}: {key} holds for a whole run: give it with -c")
    try:
        under = overridden(sources, overrides)
        own = EffectiveConfig(under.above[-1].entries)
        if registry is not None:
            check_settings(registry, own)
    except AssignorLabError as error:
        raise VariantError(f"variant {name!r:.80}: {str(error).removeprefix('-c: ')}") from error
    for key in overrides:
        if own.shown(key) is not own[key].value:
            raise VariantError(
                f"variant {name!r:.80}: {key} is secret, and results keep the settings of a variant: use -c"
            )
    return under


def overridden(sources: ConfigSources, settings: Mapping[str, str]) -> ConfigSources:
    """Sources of configuration with single keys above all others.

    Raises:
        ConfigKeyError: if a key concerns no assignment.
        ConfigValueError: if a value is of the wrong type or out of its range.
    """
    layer = command_line_layer([f"{key}={value}" for key, value in settings.items()])
    return attrs.evolve(sources, above=(*sources.above, layer))


def timings_of(variant: Contender, keys: Mapping[str, str]) -> tuple[dict[str, str], dict[str, int]]:
    """A variant's keys that concern assignment, and those that change durations, by the names in ``keys``.

    Raises:
        VariantError: if such a duration is no number.
    """
    timings: dict[str, int] = {}
    for key, value in variant.overrides.items():
        if key in keys:
            if not value.isascii() or not value.isdigit() or not int(value):
                raise VariantError(
                    f"variant {variant.name!r:.80}: {key} is a number of milliseconds, not {value!r:.80}"
                )
            timings[keys[key]] = int(value)
    return {key: value for key, value in variant.overrides.items() if key not in keys}, timings


def variants_of(assignors: Iterable[str], texts: Iterable[str]) -> list[Contender]:
    """Plain assignors and variants, in this order.

    Raises:
        VariantError: if a variant is badly written, or two contenders have one name.
    """
    found: dict[str, Contender] = {}
    for each in (*(Contender(name, name) for name in assignors), *map(parse_variant, texts)):
        if each.name in found:
            raise VariantError(f"there are two contenders of the name {each.name!r:.80}: name one of them otherwise")
        found[each.name] = each
    return list(found.values())
