"""The port file: port and token of a served assignor, readable only by its owner."""

from __future__ import annotations

import json
import os
import secrets
import socket
from pathlib import Path
from typing import Any

import attrs

from assignment_api.input_files import open_input
from assignor_lab.documents.durable import naming_failures
from assignor_lab.serving.errors import PeerError, ServingError
from assignor_lab.serving.handshake import HANDSHAKE_SECONDS, greeted
from assignor_lab.serving.link import DescriptorLink

__all__ = ["HOST", "PortFile", "read_port_file", "withdraw", "write_port_file"]

HOST = "127.0.0.1"
_MOST_BYTES = 4_096


@attrs.frozen
class PortFile:
    """The content of a port file."""

    port: int
    token: str = attrs.field(repr=False)
    pid: int
    assignor: str


def write_port_file(path: Path, written: PortFile) -> None:
    """Writes the file with mode 0600, atomically; it replaces a dead process's file.

    Raises:
        ServingError: if the file belongs to a living process, or is no port file.
        OutputFileError: if it cannot be written.
    """
    _refuse_living(path)
    _refuse_other(path)
    part = path.parent / f".{path.name[:40]}.{secrets.token_hex(6)}.tmp"
    content = json.dumps({"format": 1, **attrs.asdict(written)}, separators=(",", ":")).encode() + b"\n"
    with naming_failures(path):
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def withdraw(path: Path, written: PortFile) -> None:
    """Removes the file, unless it belongs to another process by now."""
    if read_port_file(path) == written:
        path.unlink(missing_ok=True)


def read_port_file(path: Path) -> PortFile | None:
    """The content of the file; ``None`` if there is none, or it is no port file."""
    try:
        with open_input(path) as stream:
            document: Any = json.loads(stream.read(_MOST_BYTES))
        port, token, pid, assignor = (document[key] for key in ("port", "token", "pid", "assignor"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if type(port) is not int or not 0 < port < 65_536 or type(pid) is not int:
        return None
    return PortFile(port, token, pid, assignor) if isinstance(token, str) and isinstance(assignor, str) else None


def _refuse_living(path: Path) -> None:
    written = read_port_file(path)
    if written is not None and _answers(written):
        raise ServingError(
            f"{path}: process {written.pid} serves {written.assignor} by this file: stop it first, or name another "
            "--port-file"
        )


def _refuse_other(path: Path) -> None:
    """Protects a file that was named by mistake."""
    if path.is_file() and path.stat().st_size and read_port_file(path) is None:
        raise ServingError(
            f"{path}: is no port file, and would be replaced: name another --port-file, or remove it first"
        )


def _answers(written: PortFile) -> bool:
    """True if the process of a port file lives; another process may have the port by now."""
    try:
        with socket.create_connection((HOST, written.port), timeout=HANDSHAKE_SECONDS) as connection:
            greeted(DescriptorLink(connection.fileno(), connection.fileno()), written.token)
    except (OSError, PeerError):
        return False
    return True
