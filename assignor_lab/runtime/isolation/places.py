"""The place at which the code of a plugin is while it keeps the lab waiting.

Python's ``faulthandler`` writes it from within the signal, so that code is found that never comes back to Python. It
is what the plugin's process says: text, bounded, and shown to people alone.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
from time import monotonic

from assignment_api.plugins.tracebacks import plugin_frames
from assignor_lab.runtime.isolation.launching import Launched
from assignor_lab.runtime.isolation.worker import WHERE_SIGNAL

__all__ = ["place_of"]

#: Seconds that are waited for the answer; a process that was stopped gives none.
_PATIENCE = 0.3
_MOST_BYTES = 65_536
_HEAD = re.compile(rb"^(?:Current thread|Stack) [^\n]*\(most recent call first\):\n", re.MULTILINE)
_FRAME = re.compile(r'  File "([^"\n]{1,1000})", line (\d{1,9}) in ([^\n]{1,200})')


def place_of(launched: Launched) -> str:
    """Where the code of a process is: a line for each frame from the plugin's first one on, the innermost last.

    Args:
        launched: The process; it is of no further use, and may be dead afterwards.

    Returns:
        The lines; empty where it does not say, or no frame is the plugin's.
    """
    with contextlib.suppress(OSError):
        os.kill(launched.pid, WHERE_SIGNAL)
        return _frames(_said(launched))
    return ""


def _said(launched: Launched) -> bytes:
    content = b""
    end = monotonic() + _PATIENCE
    while len(content) < _MOST_BYTES and (left := end - monotonic()) > 0:
        # It comes in one piece after the other: when nothing follows for a moment, that was all.
        ready, _, _ = select.select([launched.connection], [], [], min(left, 0.05) if content else left)
        part = launched.connection.recv(8_192) if ready else b""
        if not part:
            break
        content += part
    return content


def _frames(content: bytes) -> str:
    head = _HEAD.search(content)
    if head is None:
        return ""
    text = content[head.end() :].decode("utf-8", "replace")
    found = [(file, int(line), name) for file, line, name in _FRAME.findall(text)]
    return plugin_frames(found[::-1])
