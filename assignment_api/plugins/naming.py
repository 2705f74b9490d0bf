"""Reserved names, and conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from assignment_api.plugins.discovery import OBSERVING_HOOKS, Offer, PluginRow
from assignment_api.plugins.reserved import (
    BUILTIN_DISTRIBUTION,
    PARTITION_ASSIGNORS,
    canonical_name,
    is_kafka_class,
    is_reserved,
)

__all__ = ["Names", "names_of", "settle"]

#: Selected by configuration: reserved names apply.
_ASSIGNOR_KINDS = ("task-assignor", "connect-assignor", "group-assignor", *PARTITION_ASSIGNORS)


@attrs.frozen
class Names:
    """Offers by kind and name.

    Args:
        offers: Usable ones, in the order of discovery.
        by_name: (kind, canonical name, alias or Java class) to offers; several are a conflict.
        rows: Of all offers.
    """

    offers: tuple[Offer, ...]
    by_name: Mapping[tuple[str, str], tuple[Offer, ...]]
    rows: tuple[PluginRow, ...]

    def label(self, offer: Offer) -> str:
        """Name of an offer, after its distribution if ambiguous."""
        shared = self.by_name[offer.kind, canonical_name(offer.name)]
        return offer.name if len(shared) == 1 else f"{offer.distribution}:{offer.name}"


def names_of(offer: Offer) -> tuple[str, ...]:
    """Its own name, aliases, Java classes."""
    return (
        offer.name,
        *getattr(offer.entry, "aliases", ()),
        *getattr(offer.entry, "java_classes", ()),
    )


def settle(offers: Iterable[Offer]) -> Names:
    """Refuse reserved names, and find conflicts of distributions."""
    waiting = list(offers)
    own = {(offer.kind, canonical_name(name)) for offer in waiting if _is_own(offer) for name in names_of(offer)}
    accepted: list[Offer] = []
    refused: list[PluginRow] = []
    by_name: dict[tuple[str, str], list[Offer]] = {}
    for offer in waiting:
        reason = _reason_against(offer, own) or _reason_against_twin(offer, by_name)
        if reason is not None:
            refused.append(_row(offer, "refused", reason))
            continue
        accepted.append(offer)
        for key in dict.fromkeys((offer.kind, canonical_name(name)) for name in names_of(offer)):
            by_name.setdefault(key, []).append(offer)
    settled = {key: tuple(users) for key, users in by_name.items()}
    return Names(tuple(accepted), settled, (*(_accepted_row(offer, settled) for offer in accepted), *refused))


def _is_own(offer: Offer) -> bool:
    return canonical_name(offer.distribution) == BUILTIN_DISTRIBUTION


def _reason_against(offer: Offer, own: set[tuple[str, str]]) -> str | None:
    if _is_own(offer):
        return None
    for name in names_of(offer):
        if (offer.kind, canonical_name(name)) in own or (offer.kind in _ASSIGNOR_KINDS and is_reserved(name)):
            return f"the name {name!r} belongs to {BUILTIN_DISTRIBUTION}: choose another"
        if is_kafka_class(name):
            return f"the class {name!r} is Kafka's own: only {BUILTIN_DISTRIBUTION} may stand for it"
    return None


def _reason_against_twin(offer: Offer, by_name: Mapping[tuple[str, str], list[Offer]]) -> str | None:
    for name in names_of(offer):
        for other in by_name.get((offer.kind, canonical_name(name)), ()):
            if canonical_name(other.distribution) == canonical_name(offer.distribution):
                return f"the same distribution offers {name!r} twice"
    return None


def _accepted_row(offer: Offer, by_name: Mapping[tuple[str, str], tuple[Offer, ...]]) -> PluginRow:
    shared = by_name[offer.kind, canonical_name(offer.name)]
    if len(shared) > 1 and offer.kind not in OBSERVING_HOOKS.values():
        others = ", ".join(other.distribution for other in shared if other is not offer)
        reason = f"{others} offers this name, too: select it as {offer.distribution}:{offer.name}"
        return _row(offer, "ambiguous", reason)
    for name in names_of(offer)[1:]:
        users = by_name[offer.kind, canonical_name(name)]
        if len(users) > 1:
            others = ", ".join(other.distribution for other in users if other is not offer)
            return _row(offer, "available", f"its alias {name!r} selects nothing: {others} uses it, too")
    return _row(offer, "available", "")


def _row(offer: Offer, status: str, reason: str) -> PluginRow:
    return PluginRow(
        name=offer.name,
        kind=offer.kind,
        distribution=offer.distribution,
        version=offer.version,
        status=status,
        reason=reason,
        aliases=tuple(getattr(offer.entry, "aliases", ())),
        summary=getattr(offer.entry, "summary", ""),
    )
