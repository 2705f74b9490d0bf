"""Wheels for tests, written file by file; hostile ones, too."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

#: An assignor that puts every task on the first client, unlike any built-in. And one that fails if that client had
#: tasks before.
PLUGIN = """
    from assignment_api import AssignedTask, StreamsClientAssignment, TaskAssignment, TaskAssignor
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl
    from travelling_parts.names import NAME


    class FirstClient(TaskAssignor):
        def assign(self, application):
            first, *others = application.streams_client_states()
            tasks = tuple(AssignedTask.active(task) for task in application.all_tasks())
            return TaskAssignment([StreamsClientAssignment(first, tasks), *map(StreamsClientAssignment, others)])


    class NewClients(FirstClient):
        def assign(self, application):
            clients = application.streams_client_states().values()
            had = {task for client in clients for task in client.previous_active_tasks}
            if had:
                refuse(had)
            return super().assign(application)


    def refuse(tasks):
        raise ValueError(f"{len(tasks)} tasks ran before")


    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin(NAME, FirstClient), TaskAssignorPlugin("new_clients", NewClients)]
"""
MODULES: Mapping[str, str] = {
    "travelling_plugin.py": PLUGIN,
    "travelling_parts/__init__.py": "",
    "travelling_parts/names.py": 'NAME = "first_client"\n',
}
METADATA = "Metadata-Version: 2.1\nName: travelling-plugin\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
ENTRY_POINTS = "[assignment_api]\ntravelling = travelling_plugin\n"
INFO = "travelling_plugin-1.0.dist-info"


def write_wheel(
    folder: Path,
    modules: Mapping[str, str | bytes] = MODULES,
    *,
    metadata: str = METADATA,
    wheel: str = WHEEL,
    entry_points: str | None = ENTRY_POINTS,
    requires: Sequence[str] = (),
    record: Mapping[str, str] | None = None,
    name: str = "travelling_plugin-1.0-py3-none-any.whl",
) -> Path:
    """Writes a wheel into ``folder``.

    Args:
        folder: Its folder.
        modules: Path in the wheel to text or bytes.
        metadata: ``METADATA``, without the required keys.
        wheel: ``WHEEL``.
        entry_points: ``entry_points.txt``; ``None``: there is none.
        requires: Requirements.
        record: Path to another line of ``RECORD``; an empty one leaves it out.
        name: Name of the file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {path: dedent(text).encode() if isinstance(text, str) else text for path, text in modules.items()}
    needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
    files[f"{INFO}/METADATA"] = (metadata + needs).encode()
    files[f"{INFO}/WHEEL"] = wheel.encode()
    if entry_points is not None:
        files[f"{INFO}/entry_points.txt"] = entry_points.encode()
    lines = {path: f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in files.items()}
    lines |= record or {}
    files[f"{INFO}/RECORD"] = ("".join(lines.values()) + f"{INFO}/RECORD,,\n").encode()
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    return path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
