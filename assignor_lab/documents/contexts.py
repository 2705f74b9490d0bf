"""Names of clusters with their addresses: the user's file ``contexts.json``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignor_lab.documents.durable import write_durably
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import list_of, map_of, nullable, record, text, whole
from assignor_lab.documents.writer import canonical_line

__all__ = ["VARIABLE", "Context", "ContextError", "Contexts", "check_name", "place"]

#: Names the file; without it, ``assignor-lab/contexts.json`` in the user's configuration.
VARIABLE = "ASSIGNOR_CONTEXTS"
_NAME = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
#: Most bytes of the file.
_MOST_BYTES = 2**20


class ContextError(AssignorLabError):
    """A context is unknown, or lacks an address."""


@attrs.frozen
class Context:
    """A cluster.

    Args:
        bootstrap_server: Brokers as ``host:port``, with commas; empty: none.
        command_config: File with a client's settings; ``None``: none.
        urls: REST interfaces of Connect workers.
    """

    name: str
    bootstrap_server: str = ""
    command_config: str | None = None
    urls: tuple[str, ...] = ()


@attrs.frozen
class Contexts:
    """All contexts by name, in the order of their addition; ``used``: the one without ``--context``."""

    known: dict[str, Context] = attrs.field(factory=dict)
    used: str | None = None

    @classmethod
    def read(cls) -> Contexts:
        """The contexts of the user's file; none without a file.

        Raises:
            DocumentFormatError: if the file has another form.
        """
        path = place()
        if not path.exists():
            return cls()
        one = record({"bootstrap_server": text, "command_config": nullable(text), "urls": list_of(text)})
        form = record({"format": whole(1, 1), "used": nullable(text), "contexts": map_of(text, one)})
        found: Any = read_document(path, parse_json, form, max_bytes=_MOST_BYTES, subject="contexts")
        contexts = found["contexts"].items()
        known = {
            name: Context(name, each["bootstrap_server"], each["command_config"], tuple(each["urls"]))
            for name, each in contexts
        }
        return cls(known, found["used"])

    def write(self) -> None:
        """Replaces the user's file; only the user can read it.

        Raises:
            OutputFileError: if it cannot be written.
        """
        contexts = {
            name: {"bootstrap_server": each.bootstrap_server, "command_config": each.command_config, "urls": each.urls}
            for name, each in self.known.items()
        }
        path = place()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_durably(path, canonical_line({"format": 1, "used": self.used, "contexts": contexts}))

    def chosen(self, name: str | None) -> Context | None:
        """The context of a name, or the one in use; ``None``: none is in use.

        Raises:
            ContextError: if there is no such context.
        """
        wanted = name if name is not None else self.used
        if wanted is None:
            return None
        if wanted not in self.known:
            known = ", ".join(self.known) or "none yet: assignor context add NAME --bootstrap-server HOST:PORT"
            raise ContextError(f"there is no context {wanted!r:.80}: {known}")
        return self.known[wanted]


def place() -> Path:
    """The user's file of contexts."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME")
    return Path(base or Path.home() / ".config") / "assignor-lab" / "contexts.json"


def check_name(name: str) -> None:
    """Raises ``ContextError`` if a context cannot have this name."""
    if not _NAME.match(name):
        raise ContextError(f"{name!r:.80} is no name of a context: letters, digits, '.', '_' and '-', at most 64")
