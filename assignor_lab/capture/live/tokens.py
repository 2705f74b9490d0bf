"""Tokens for OAUTHBEARER, from a command or a file, read again at each connection."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from assignment_api.input_files import open_input
from assignor_lab.capture.live.errors import AccessSettingsError

__all__ = ["FileToken", "TokenCommand"]

_LONGEST_S = 30.0
_MOST_BYTES = 64 * 1024


@attrs.frozen
class TokenCommand:
    """Prints a token; runs without a shell, within a time limit."""

    command: tuple[str, ...] = attrs.field(repr=False)

    @classmethod
    def provider(cls, line: str) -> Any:
        try:
            words = tuple(shlex.split(line))
        except ValueError as error:
            raise AccessSettingsError(f"the token command cannot be read: {error}") from error
        return _provider(cls(words).token)

    def token(self) -> str:
        """The errors show no output."""
        name = self.command[0] if self.command else ""
        try:
            # Write access to the settings includes the right to run a command.
            done = subprocess.run(self.command, capture_output=True, timeout=_LONGEST_S, check=False)
        except (OSError, subprocess.TimeoutExpired, IndexError) as error:
            why = f"not within {_LONGEST_S:g} s" if isinstance(error, subprocess.TimeoutExpired) else "cannot be run"
            raise AccessSettingsError(f"the token command {name!r:.100}: {why}") from error
        if done.returncode:
            raise AccessSettingsError(f"the token command {name!r:.100} ended with {done.returncode}: run it by hand")
        return _checked(done.stdout, f"the token command {name!r:.100} printed")


@attrs.frozen
class FileToken:
    """A file with a token; another program renews it."""

    path: Path

    @classmethod
    def provider(cls, path: Path) -> Any:
        return _provider(cls(path).token)

    def token(self) -> str:
        try:
            with open_input(self.path) as stream:
                content = stream.read(_MOST_BYTES + 1)
        except OSError as error:
            raise AccessSettingsError(
                f"{self.path}: cannot be read ({error.strerror}): it has to hold a token"
            ) from error
        return _checked(content, f"{self.path} holds")


def _checked(content: bytes, subject: str) -> str:
    text = content.decode("ascii", errors="replace").strip()
    if not text or len(content) > _MOST_BYTES or not text.isascii() or len(text.split()) != 1:
        raise AccessSettingsError(f"{subject} no token: one word of ASCII was expected")
    return text


def _provider(token: Callable[[], str]) -> Any:
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return token()

    return Provider()
