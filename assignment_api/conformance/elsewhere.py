"""The same assignor in another process with another hash seed, without the lab.

Run as a program, this module is that process: requests and answers are pickles, each after its length. Both sides run
the author's own code, so pickles are safe.
"""

from __future__ import annotations

import contextlib
import copyreg
import importlib
import importlib.util
import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, KeysView, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import attrs

from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.subject import Answering, InProcessSubject, Raised, Reply
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS

__all__ = ["OtherProcess", "ImportLocation", "kafkas_own", "made_from", "origin_of"]

_LENGTH = 8
#: Variables of another machine.
_ELSEWHERE = {
    "HOSTNAME": "elsewhere",
    "HOST": "elsewhere",
    "USER": "somebody",
    "LOGNAME": "somebody",
    "TZ": "Asia/Tokyo",
}
KAFKA_ASSIGNORS: Mapping[str, str] = {
    "streams": "high_availability",
    "streams-group": "group_sticky",
    "connect": "connect_incremental",
    "consumer": "consumer_cooperative_sticky",
    "consumer-group": "consumer_group_uniform",
    "share-group": "share_simple",
}


@attrs.frozen
class ImportLocation:
    """Import location of an assignor.

    Args:
        module: Empty if ``attribute`` is the name of an installed assignor.
    """

    kind: str
    name: str
    module: str
    attribute: str
    file: str | None = None


def origin_of(kind: str, name: str, factory: Any) -> ImportLocation | None:
    """Import location of ``factory``; ``None`` if it has none, as a lambda."""
    if isinstance(factory, str):
        return ImportLocation(kind, name, "", factory)
    module, attribute = getattr(factory, "__module__", ""), getattr(factory, "__qualname__", "<")
    if "<" in attribute or module not in sys.modules:
        return None
    file = getattr(sys.modules[module], "__file__", None)
    return ImportLocation(kind, name, module, attribute, file and str(Path(file).resolve()))


def made_from(origin: ImportLocation) -> Callable[[], Any]:
    """The factory at an import location."""
    if not origin.module:
        return _installed(origin)
    try:
        found: Any = importlib.import_module(origin.module)
    except ImportError:
        if origin.file is None:
            raise
        spec = importlib.util.spec_from_file_location(origin.module, origin.file)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules[origin.module] = found
        spec.loader.exec_module(found)
    for part in origin.attribute.split("."):
        found = getattr(found, part)
    factory: Callable[[], Any] = found
    return factory


def _installed(origin: ImportLocation) -> Callable[[], Any]:
    from assignment_api.plugins.registry import discover

    registry = discover()
    select: Mapping[str, Callable[..., Any]] = {
        "streams": registry.task_assignor,
        "streams-group": registry.group_assignor,
        "connect": registry.connect_assignor,
        **{kind.removesuffix("-assignor"): partial(registry.partition_assignor, kind) for kind in PARTITION_ASSIGNORS},
    }
    factory: Callable[[], Any] = select[origin.kind](origin.attribute, may_run_code=True).plugin.factory
    return factory


def kafkas_own(kind: Kind[Any]) -> InProcessSubject[Any] | None:
    """``None`` without the built-ins. Imports no other plugin."""
    from assignment_api.plugins.errors import PluginError
    from assignment_api.plugins.policy import Policy
    from assignment_api.plugins.registry import discover

    registry = discover(Policy(allow=()))
    name = KAFKA_ASSIGNORS[kind.name]
    select: Mapping[str, Callable[[str], Any]] = {
        "streams": registry.task_assignor,
        "streams-group": registry.group_assignor,
        "connect": registry.connect_assignor,
        **{each.removesuffix("-assignor"): partial(registry.partition_assignor, each) for each in PARTITION_ASSIGNORS},
    }
    try:
        return InProcessSubject(name, select[kind.name](name).plugin.factory, kind.answering)
    except PluginError:
        return None


class OtherProcess:
    """An assignor in another process until :meth:`close`."""

    def __init__(self, origin: ImportLocation) -> None:
        self.name = origin.name
        self._origin = origin
        self._process: subprocess.Popen[bytes] | None = None
        self._leaders = 0

    def started(self) -> OtherProcess | None:
        """Start the process; ``None`` if it cannot import the assignor."""
        seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
        command = [sys.executable, "-m", "assignment_api.conformance.elsewhere"]
        path = [str(Path(each or ".").resolve()) for each in sys.path]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(path), **_ELSEWHERE}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd="/"
        )
        if self._exchanged(self._origin) is not True:
            self.close()
            return None
        return self

    def leader(self) -> _OtherLeader:
        """A new leader there."""
        self._leaders += 1
        return _OtherLeader(self, self._leaders)

    def elsewhere(self) -> None:
        """None: never needed."""

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        process, self._process = self._process, None
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.kill()
        process.wait()

    def _exchanged(self, question: object) -> Any:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _write(process.stdin, _pickled(question))
            content = _read(process.stdout)
        except OSError:
            return None
        return None if content is None else pickle.loads(content)  # noqa: S301 - our own process, see above


@attrs.frozen
class _OtherLeader:
    process: OtherProcess
    number: int

    def ask(self, state: Any, configs: Mapping[str, Any], *, watched: bool = False) -> Reply:
        answer = self.process._exchanged((self.number, state, dict(configs), watched))
        if not isinstance(answer, Reply):
            return Reply(raised=Raised("ProcessDiedError", "its other process ended", is_loss=True))
        return answer


# --- as pickles ---------------------------------------------------------------------------------


def _keys(keys: list[Any]) -> KeysView[Any]:
    return dict.fromkeys(keys).keys()


def _read_only(mapping: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(mapping)


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table | {
        MappingProxyType: lambda mapping: (_read_only, (dict(mapping),)),
        type({}.keys()): lambda keys: (_keys, (list(keys),)),
    }


def _pickled(value: object) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def _write(stream: BinaryIO | Any, content: bytes) -> None:
    stream.write(len(content).to_bytes(_LENGTH, "big") + content)
    stream.flush()


def _read(stream: BinaryIO | Any) -> bytes | None:
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    content: bytes = stream.read(int.from_bytes(length, "big"))
    return content


# --- the other process --------------------------------------------------------------------------


def _serve(questions: BinaryIO, answers: BinaryIO) -> None:
    from assignment_api.conformance.conform import KINDS

    first = _read(questions)
    if first is None:
        return
    origin: ImportLocation = pickle.loads(first)  # noqa: S301 - from the process that started this one
    try:
        factory = made_from(origin)
    except Exception:  # noqa: BLE001 - whatever an import raises: it is not to be had here
        _write(answers, _pickled(False))
        return
    _write(answers, _pickled(True))
    answering: Answering[Any] = KINDS[origin.kind].answering
    subject = InProcessSubject(origin.name, factory, answering)
    number, leader = 0, subject.leader()
    while (content := _read(questions)) is not None:
        leader_number, state, configs, watched = pickle.loads(content)  # noqa: S301 - as above
        if leader_number != number:
            number, leader = leader_number, subject.leader()
        reply = leader.ask(state, configs, watched=watched)
        try:
            packed = _pickled(reply)
        except Exception as error:  # noqa: BLE001 - an answer may be anything
            packed = _pickled(Reply(raised=Raised(type(error).__name__, str(error))))
        _write(answers, packed)


if __name__ == "__main__":
    # An assignor may print: keep that out of the answers.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Under its own name, so that the other side resolves its pickles.
    importlib.import_module("assignment_api.conformance.elsewhere")._serve(sys.stdin.buffer, channel)
