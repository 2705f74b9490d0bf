"""Variants: an assignor with keys of its own configuration, which competes under a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from assignment_api import AssignorLabError

__all__ = ["PROTOCOL", "Variant", "VariantError", "parse_variant", "variants_of"]

#: Kafka's key that says which protocol a group speaks: ``classic`` or ``streams``.
PROTOCOL = "group.protocol"


class VariantError(AssignorLabError):
    """A variant is not written as ``name=assignor,key=value,...``, or there are two of one name."""


@attrs.frozen
class Variant:
    """A contender.

    Args:
        name: Its name.
        assignor: Whom it asks.
        overrides: Keys of the configuration to values, in place of everybody else's.
        protocol: The protocol that the group speaks, or ``None``: as it did.
    """

    name: str
    assignor: str
    overrides: Mapping[str, str] = attrs.field(factory=dict)
    protocol: str | None = None


def parse_variant(text: str) -> Variant:
    """``name=assignor,key=value,...``; what has no ``=`` goes on with the value before it (``tags=zone,cluster``).

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
    if protocol not in (None, "classic", "streams"):
        raise VariantError(f"{text!r:.200}: {PROTOCOL} is classic or streams, not {protocol!r:.80}")
    return Variant(name.strip(), parts[0].strip(), found, protocol)


def variants_of(assignors: Iterable[str], texts: Iterable[str]) -> list[Variant]:
    """Assignors as they are, and variants, in this order.

    Raises:
        VariantError: if a variant is not written as one, or two contenders have one name.
    """
    found: dict[str, Variant] = {}
    for each in (*(Variant(name, name) for name in assignors), *map(parse_variant, texts)):
        if each.name in found:
            raise VariantError(f"there are two contenders of the name {each.name!r:.80}: name one of them otherwise")
        found[each.name] = each
    return list(found.values())
