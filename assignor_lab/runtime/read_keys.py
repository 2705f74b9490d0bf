"""The configuration of an assignor without declared settings, with a note of each key that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from assignment_api.plugins.keys import is_setting
from assignment_api.plugins.selection import EffectiveConfig

__all__ = ["ReadKeys", "unread_sentences"]


class ReadKeys(Mapping[str, object]):
    """A read-only view of ``configs``; an iteration over its values reads all of them."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self._configs = configs
        self._left = {key for key in configs if is_setting(key)}

    @property
    def unread(self) -> tuple[str, ...]:
        """Settings of assignors that were not read, sorted."""
        return tuple(sorted(self._left))

    def __getitem__(self, key: str) -> object:
        self._left.discard(key)
        return self._configs[key]

    def __iter__(self) -> Iterator[str]:
        self._left.clear()
        return iter(self._configs)

    def __len__(self) -> int:
        return len(self._configs)


def unread_sentences(assignor: str, keys: Iterable[str], config: EffectiveConfig | None = None) -> list[str]:
    """A sentence for each key.

    Args:
        config: Keys of shared files and the environment, which may be other assignors', are left out; ``None``: all.
    """
    return [
        f"{assignor} did not read {key}: check its spelling, and the assignor's name in it"
        for key in keys
        if config is None or (key in config and config[key].origin.layer.is_explicit)
    ]
