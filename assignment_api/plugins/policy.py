"""Plugins that may be imported, and those in the caller's process.

Installed plugins are available, not active; blocked ones are never imported.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import TYPE_CHECKING, Any

import attrs

from assignment_api.errors import ConfigError
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, canonical_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.metadata import Distribution, PackagePath

__all__ = ["ISOLATION", "Pin", "Policy", "record_sha256"]

#: Plugins with a process of their own.
ISOLATION = ("untrusted", "all", "none")
_TRUST = "assignor.plugins.trust"

_PIN = re.compile(r"\A(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[^@\s]+)(?:@sha256:(?P<digest>[0-9a-fA-F]{64}))?\Z")


@attrs.frozen
class Pin:
    """Required state of a distribution.

    Args:
        version: Exact.
        record_sha256: SHA-256 (hex) of ``RECORD``, whose hashes of files must match, too (compiled files have none);
            ``None``: the version is enough.
    """

    distribution: str
    version: str
    record_sha256: str | None = None

    @classmethod
    def parse(cls, text: str) -> Pin:
        """Read ``name==version`` or ``name==version@sha256:<hash of RECORD>``.

        Raises:
            ConfigError: if the text is neither.
        """
        match = _PIN.match(text.strip())
        if match is None:
            raise ConfigError(
                f"{text!r:.200} is no pin: expected name==version or name==version@sha256:<64 hex digits>"
            )
        digest = match["digest"]
        return cls(match["name"], match["version"], digest.lower() if digest else None)


@attrs.frozen
class Policy:
    """Rules for imports, by distribution, plugin, or ``distribution:plugin``.

    ``trust`` takes ``module:attribute``, but no plugin name alone: any distribution may offer a plugin of that name.

    Before an import only the names of distribution and entry point are known. A block of another assignor's name works
    only after the import: block the distribution instead.

    Args:
        allow: May be imported besides this project's own distribution; ``None``: all installed ones.
        block: May not be imported; takes precedence.
        pins: Distributions that must match exactly.
        trust: May run in the caller's process, besides this project's own distribution.
        isolate: In processes of their own: ``untrusted``, ``all``, or ``none``; for programs that isolate plugins, such
            as ``assignor score``.
    """

    allow: tuple[str, ...] | None = None
    block: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    trust: tuple[str, ...] = ()
    isolate: str = "untrusted"

    def isolates(self, distribution: str | None, plugin: str) -> bool:
        """True if the selected ``plugin`` needs a process of its own.

        Args:
            distribution: ``None``: ``module:attribute`` outside of any.
            plugin: Name as found, also ``distribution:name`` or ``module:attribute``.
        """
        if self.isolate != "untrusted":
            return self.isolate == "all"
        first, separator, second = plugin.partition(":")
        if distribution is not None and separator and canonical_name(first) == canonical_name(distribution):
            return self.isolates_offer(distribution, second)
        if separator and plugin in self.trust:
            return False
        return distribution is None or self.isolates_offer(distribution, plugin)

    def isolates_offer(self, distribution: str, name: str) -> bool:
        """True if an offer, or its entry point, needs a process of its own.

        Args:
            name: Of plugin or entry point; any text.
        """
        if self.isolate != "untrusted":
            return self.isolate == "all"
        if canonical_name(distribution) == BUILTIN_DISTRIBUTION:
            return False
        return not any(_is_trust_in(item, distribution, name) for item in self.trust)

    def reason_against(self, distribution: Distribution, name: str, version: str, plugin: str) -> str | None:
        """Reason against the import of an entry point, or ``None``."""
        blocked = self.reason_against_name(name, plugin)
        if blocked is not None:
            return blocked
        is_own = canonical_name(name) == BUILTIN_DISTRIBUTION
        if self.allow is not None and not is_own and not any(_means(item, name, plugin) for item in self.allow):
            return f"not in the allow-list: add {name} or {name}:{plugin} to assignor.plugins.allow to use it"
        for pin in self.pins:
            if canonical_name(pin.distribution) == canonical_name(name):
                reason = _reason_against_pin(pin, distribution, version)
                if reason is not None:
                    return reason
        return None

    def reason_against_name(self, distribution: str, plugin: str) -> str | None:
        """Reason of the block-list, or ``None``."""
        for item in self.block:
            if _means(item, distribution, plugin):
                return f"blocked by assignor.plugins.block: {item}"
        return None

    def unused_items(self, seen: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Items without an installed plugin, often misspelt, with the key of their list.

        Args:
            seen: Distribution and name of every entry point and offer.
        """
        names = list(seen)
        lists = (("assignor.plugins.allow", self.allow or ()), ("assignor.plugins.block", self.block))
        unused = [
            (key, item) for key, items in lists for item in items if not any(_means(item, *pair) for pair in names)
        ]
        installed = {canonical_name(distribution) for distribution, _ in names}
        unused += [
            ("assignor.plugins.pin", pin.distribution)
            for pin in self.pins
            if canonical_name(pin.distribution) not in installed
        ]
        # Other first:second may mean module:attribute.
        unused += [(_TRUST, item) for item in self.trust if ":" not in item and canonical_name(item) not in installed]
        return tuple(unused)

    def reason_unused(self, key: str, item: str, seen: Iterable[tuple[str, str]]) -> str:
        """Reason of :meth:`unused_items`, and remedy.

        Args:
            seen: As there.
        """
        if key != _TRUST:
            return f"{key} names it, but no installed plugin or distribution has this name"
        offering = [f"{pair[0]}:{pair[1]}" for pair in dict.fromkeys(seen) if _means(item, *pair)]
        if not offering:
            return f"{key} names it, but no distribution with plugins has this name"
        remedy = f"write {' or '.join(offering)}, or name the distribution"
        return f"{key} names it, but a plugin's name alone grants no trust, since any distribution can use it: {remedy}"


def _means(item: str, distribution: str, plugin: str) -> bool:
    first, separator, second = item.partition(":")
    if separator:
        return canonical_name(first) == canonical_name(distribution) and canonical_name(second) == canonical_name(
            plugin
        )
    return canonical_name(item) in (canonical_name(distribution), canonical_name(plugin))


def _is_trust_in(item: str, distribution: str, plugin: str) -> bool:
    """By its distribution, never by the plugin's name alone."""
    first, separator, second = item.partition(":")
    if canonical_name(first) != canonical_name(distribution):
        return False
    return not separator or canonical_name(second) == canonical_name(plugin)


def _reason_against_pin(pin: Pin, distribution: Distribution, version: str) -> str | None:
    if version != pin.version:
        return f"pinned to version {pin.version} by assignor.plugins.pin, but {version} is installed"
    if pin.record_sha256 is None:
        return None
    digest = record_sha256(distribution)
    if digest is None:
        return "pinned by the hash of its RECORD by assignor.plugins.pin, but it has no RECORD"
    if not hmac.compare_digest(digest, pin.record_sha256):
        return f"pinned by the hash of its RECORD by assignor.plugins.pin, but that is sha256:{digest}"
    return _reason_against_files(distribution)


def record_sha256(distribution: Distribution) -> str | None:
    """SHA-256 (hex) of ``RECORD``; ``None`` if missing or unreadable."""
    for path in _files(distribution):
        if path.name == "RECORD" and str(path.parent).endswith(".dist-info"):
            try:
                return hashlib.sha256(_content(path)).hexdigest()
            except OSError:
                return None
    return None


def _content(path: PackagePath) -> bytes:
    """Content of an installed file.

    Raises:
        OSError: if it is no regular file: a pipe or device in a foreign ``RECORD`` could block forever.
    """
    found: Any = path.locate()
    if not found.is_file():
        raise FileNotFoundError(f"{path} is no file")
    content: bytes = found.read_bytes()
    return content


def _files(distribution: Distribution) -> Sequence[PackagePath]:
    try:
        return distribution.files or ()
    except Exception:  # noqa: BLE001 - foreign metadata
        return ()


def _reason_against_files(distribution: Distribution) -> str | None:
    for path in _files(distribution):
        if path.hash is None:
            continue
        try:
            digest = hashlib.new(path.hash.mode, _content(path)).digest()
        except (OSError, ValueError) as error:
            return f"pinned by the hash of its RECORD, but {path} cannot be checked: {error}"
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != path.hash.value:
            return f"pinned by the hash of its RECORD, but {path} was changed after it was installed"
    return None
