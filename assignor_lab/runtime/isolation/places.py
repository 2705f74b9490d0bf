"""Position of a plugin's code during a call.

Python's ``faulthandler`` writes it inside the signal handler, so code that never returns to Python is found, too. The
text comes from the plugin's process: it is bounded and only shown to people.
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

#: Seconds of waiting for the answer; a stopped process gives none.
_PATIENCE = 0.3
_MOST_BYTES = 65_536
_HEAD = re.compile(rb"^(?:Current thread|Stack) [^\n]*\(most recent call first\):\n", re.MULTILINE)
_FRAME = re.compile(r'  File "([^"\n]{1,1000})", line (\d{1,9}) in ([^\n]{1,200})')


def place_of(launched: Launched) -> str:
    """Position of a process's code: a line for each frame from the plugin's first one on, the innermost last."""
    with contextlib.suppress(OSError):
        os.kill(launched.pid, WHERE_SIGNAL)
        return _frames(_said(launched))
    return ""


def _said(launched: Launched) -> bytes:
    content = b""
    end = monotonic() + _PATIENCE
    while len(content) < _MOST_BYTES and (left := end - monotonic()) > 0:
        # The text arrives in pieces: a pause means the end.
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
