"""Client libraries in other languages: small programs that answer JSON lines (``client_drivers/``)."""

from __future__ import annotations

import base64
import contextlib
import json
import select
import shlex
import subprocess
from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import IO, Any, Self

from assignor_lab.clients.leader import ClientLibrary, ClientLibraryError, LeaderInput

__all__ = ["LibraryDriver"]

_PATIENCE_S = 30.0


class LibraryDriver:
    """A running driver; a context manager that ends it.

    Args:
        command: The program with its arguments, as for a shell.

    Attributes:
        libraries: Its client libraries.

    Raises:
        ClientLibraryError: if it does not start, or its first line is no list of libraries.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._process = self._started()
        try:
            found = self._answer()["libraries"]
            self.libraries = [
                ClientLibrary(
                    name,
                    str(each["version"]),
                    {strategy: partial(self._decided, name, strategy) for strategy in each["strategies"]},
                )
                for name, each in found.items()
            ]
        except (AttributeError, KeyError, TypeError):
            self.close()
            raise ClientLibraryError(f"the driver {command!r:.200} names no libraries in its first line") from None
        except ClientLibraryError:
            self.close()
            raise

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                shlex.split(self._command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except (OSError, ValueError) as error:
            raise ClientLibraryError(f"the driver {self._command!r:.200} does not start: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the driver."""
        # The last request to a process that ended is still in the buffer.
        with contextlib.suppress(BrokenPipeError):
            _stream(self._process.stdin).close()
        self._process.kill()
        self._process.wait()
        _stream(self._process.stdout).close()

    def _decided(self, library: str, strategy: str, group: LeaderInput) -> Mapping[str, Mapping[str, list[int]]]:
        request = {
            "library": library,
            "strategy": strategy,
            "partitions": dict(group.partitions),
            "members": [
                {
                    "id": member.id,
                    "instance_id": member.instance_id,
                    "metadata": base64.b64encode(member.metadata).decode(),
                }
                for member in group.members
            ],
        }
        if self._process.poll() is not None:
            # A library may have ended it: that was the answer to its group alone.
            self.close()
            self._process = self._started()
            self._answer()
        stdin = _stream(self._process.stdin)
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise ClientLibraryError(f"the driver {self._command!r:.200} ended") from None
        answer = self._answer()
        if "error" in answer:
            raise ClientLibraryError(f"{library} fails: {answer['error']!s:.200}")
        found: Mapping[str, Mapping[str, list[int]]] = answer["members"]
        return {
            member: {topic: numbers or [] for topic, numbers in (held or {}).items()} for member, held in found.items()
        }

    def _answer(self) -> dict[str, Any]:
        stdout = _stream(self._process.stdout)
        # One line is an answer: the buffer has no part of it yet.
        if not select.select([stdout], [], [], _PATIENCE_S)[0]:
            raise ClientLibraryError(f"the driver {self._command!r:.200} gave no answer in {_PATIENCE_S:.0f} s")
        try:
            answer = json.loads(stdout.readline())
        except ValueError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            raise ClientLibraryError(f"the driver {self._command!r:.200} ended, or its answer is no JSON") from None
        if not isinstance(answer, dict):
            raise ClientLibraryError(f"the driver {self._command!r:.200}: an answer is no JSON object")
        return answer


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
