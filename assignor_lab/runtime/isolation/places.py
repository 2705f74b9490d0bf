"""Position of a plugin's code during a call.

Python's ``faulthandler`` writes it inside the signal handler, so code that never returns to Python is found, too. For
a Java assignor its JVM writes a thread dump. The text comes from the plugin's process: it is bounded and only shown to
people.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
from time import monotonic

from assignment_api.plugins.tracebacks import bounded_frames, plugin_frames
from assignor_lab.runtime.isolation.launching import Launched
from assignor_lab.runtime.isolation.worker import JAVA_STACK, WHERE_SIGNAL

__all__ = ["place_of"]

#: Seconds of waiting for the answer; a stopped process gives none.
_PATIENCE = 1.5
_MOST_BYTES = 65_536
_HEAD = re.compile(rb"^(?:Current thread|Stack) [^\n]*\(most recent call first\):\n", re.MULTILINE)
_JAVA_FRAME = re.compile(r"at ([\w.$<>]{1,500})\(([^()\n]{1,200})\)")
#: Frames of the JVM's own call of an assignor, and everything outside them.
_JAVA_CALLER = "assignorlab.driver."
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


def _java_frames(text: str) -> str:
    """A line for each frame of the assignor, the innermost last."""
    found = []
    for method, place in _JAVA_FRAME.findall(text):
        if method.startswith(_JAVA_CALLER):
            break
        found.append(f"{place} in {method}")
    return bounded_frames(found[::-1])


def _frames(content: bytes) -> str:
    _, is_java, java = content.partition(JAVA_STACK)
    if is_java:
        return _java_frames(java.decode("utf-8", "replace"))
    head = _HEAD.search(content)
    if head is None:
        return ""
    text = content[head.end() :].decode("utf-8", "replace")
    found = [(file, int(line), name) for file, line, name in _FRAME.findall(text)]
    return plugin_frames(found[::-1])
