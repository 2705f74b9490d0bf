"""Settings of ``connect_static``: one for each choice that KIP-987 leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

import attrs

from assignment_api.connect import Worker
from builtin_assignors._connect_incremental_steps import (
    ALL_QUIRKS,
    DEFAULT_MAX_DELAY,
    MemberOrder,
    StaticRules,
    check_known,
    read_choice,
    read_flag,
    read_max_delay,
    read_order,
    read_quirks,
)

__all__ = ["StaticSettings"]

_PREFIX = "assignor.connect_static."
_FLAGS = tuple(field.name for field in attrs.fields(StaticRules) if isinstance(field.default, bool))
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "several_valid": ("least_loaded", "smallest_id", "first_member"),
    "duplicates": ("revoke_all", "keep_one"),
}
_CLASSIFYING = ("empty_static_is_wildcard", "unsatisfiable_is_wildcard")


@attrs.frozen
class StaticSettings:
    """All settings of ``connect_static``.

    Args:
        max_delay: ``scheduled.rebalance.max.delay.ms``.
        order: As for ``connect_incremental``.
        quirks: As for ``connect_incremental``.
        rules: Reading of the KIP where it leaves a choice.
        empty_static_is_wildcard: A worker with static keys and no job in them is a wildcard worker, not an idle one.
        unsatisfiable_is_wildcard: A worker that lists only nonexistent jobs is a wildcard worker.
    """

    max_delay: int = DEFAULT_MAX_DELAY
    order: MemberOrder = MemberOrder.JAVA
    quirks: frozenset[int] = ALL_QUIRKS
    rules: StaticRules = attrs.field(factory=StaticRules)
    empty_static_is_wildcard: bool = False
    unsatisfiable_is_wildcard: bool = False

    @classmethod
    def from_config(cls, configs: Mapping[str, Any]) -> StaticSettings:
        """Read the settings, each under ``assignor.connect_static.``.

        Raises:
            ConnectConfigError: if a value is invalid or a setting unknown.
        """
        check_known(configs, _PREFIX, ("order", "quirks", *_CHOICES, *_CLASSIFYING, *_FLAGS))
        defaults = attrs.asdict(StaticRules())
        choices = {
            name: read_choice(configs, _PREFIX + name, words, defaults[name]) for name, words in _CHOICES.items()
        }
        flags = {name: read_flag(configs, _PREFIX + name, default=defaults[name]) for name in _FLAGS}
        return cls(
            max_delay=read_max_delay(configs),
            order=read_order(configs, _PREFIX + "order"),
            quirks=read_quirks(configs, _PREFIX + "quirks"),
            rules=StaticRules(
                several_valid=cast("Literal['least_loaded', 'smallest_id', 'first_member']", choices["several_valid"]),
                duplicates=cast("Literal['revoke_all', 'keep_one']", choices["duplicates"]),
                **flags,
            ),
            **{name: read_flag(configs, _PREFIX + name, default=False) for name in _CLASSIFYING},
        )

    def is_static(self, worker: Worker, *, lists_existing: bool) -> bool:
        """True if a worker is static (step 1 of the KIP)."""
        if not worker.static.is_set or (self.empty_static_is_wildcard and worker.static.is_empty):
            return False
        return lists_existing or worker.static.is_empty or not self.unsatisfiable_is_wildcard
