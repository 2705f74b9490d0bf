"""Assignors that attack their own process and the calling one."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

from assignment_api import ApplicationMetadata, AssignedTask, StreamsClientAssignment, TaskAssignment, TaskAssignor

#: Variable that marks a test's own processes on the machine.
TOKEN = "ASSIGNOR_TEST_TOKEN"


class Good(TaskAssignor):
    """Everything on the first client."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first, *others = application.streams_client_states()
        everything = tuple(AssignedTask.active(task) for task in application.all_tasks())
        return TaskAssignment([StreamsClientAssignment(first, everything), *map(StreamsClientAssignment, others)])


class TellsItsProcess(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        answer = super().assign(application)
        facts = {
            "environment": sorted(os.environ),
            "folder": [*map(str, Path().iterdir())],
            "hash": hash("text"),
            "pid": os.getpid(),
        }
        return TaskAssignment(answer.assignments, (json.dumps(facts),))


class IgnoresSignals(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> NoReturn:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(3_600)


class StopsItself(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os.kill(os.getpid(), signal.SIGSTOP)
        return super().assign(application)


def _linger() -> NoReturn:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.execv(sys.executable, [sys.executable, "-S", "-c", f"import time; time.sleep(3600)  # {os.environ.get(TOKEN)}"])


def _leave_daemon() -> None:
    """Starts a process with its own session, orphaned at once."""
    if os.fork() == 0:
        if os.fork() == 0:
            _linger()
        os._exit(0)
    os.wait()


class LeavesDaemon(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        _leave_daemon()
        return super().assign(application)


class LeavesDaemonAndDies(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> NoReturn:
        _leave_daemon()
        os._exit(5)


class DiesBeforeItsChild(TaskAssignor):
    """The child keeps the connection open, so that the supervisor cannot see its end there."""

    def assign(self, application: ApplicationMetadata) -> NoReturn:
        if os.fork() == 0:
            time.sleep(3_600)
        os._exit(6)


class ClosesDescriptors(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os.closerange(0, 4_096)
        return super().assign(application)


def _connection() -> int:
    for path in Path("/proc/self/fd").iterdir():
        try:
            if stat.S_ISSOCK(os.fstat(int(path.name)).st_mode):
                return int(path.name)
        except OSError:
            continue
    raise RuntimeError("no socket")


class WritesGarbage(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os.write(_connection(), b"garbage" * 100)
        return super().assign(application)


class ForgesAnswer(Good):
    """Sends an answer that looks good before the real one."""

    content = json.dumps({"ns": 1, "answer": {"clients": []}, "number": 2}).encode()

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os.write(_connection(), len(self.content).to_bytes(8, "big") + self.content)
        return super().assign(application)


class NestsDeeply(ForgesAnswer):
    content = b"[" * 1_000_000


class AnswersForEver(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        connection = socket.socket(fileno=_connection())
        connection.sendall((2**62).to_bytes(8, "big"))
        while True:
            connection.sendall(b" " * 65_536)


class KillsItsParent(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3_600)
        return super().assign(application)


def _launcher() -> int:
    """Process id of our parent's parent."""
    return int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])


class KillsItsLauncher(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os.kill(_launcher(), signal.SIGKILL)
        time.sleep(3_600)
        return super().assign(application)


class StopsItsLauncher(Good):
    """Answers with the process id of the launcher that it stopped."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        launcher = _launcher()
        os.kill(launcher, signal.SIGSTOP)
        return TaskAssignment(super().assign(application).assignments, (str(launcher),))


class NeverRests(Good):
    """Leaves a process that runs on after the answer."""

    started = False

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        if not type(self).started:
            type(self).started = True
            if os.fork() == 0:
                while True:
                    pass
        return super().assign(application)


class SharesMemory(TaskAssignor):
    """Uses shared memory, which no limit of data counts, in its own child."""

    def assign(self, application: ApplicationMetadata) -> NoReturn:
        import mmap

        if os.fork() == 0:
            shared = mmap.mmap(-1, 2**30)
            for start in range(0, 2**30, 4_096):
                shared[start] = 1
            time.sleep(3_600)
        while True:
            time.sleep(3_600)


class Leaks(Good):
    """Leaks 48 MiB with each call."""

    kept: list[bytearray] = []  # noqa: RUF012 - that is the leak

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        self.kept.append(bytearray(48 * 2**20))
        return super().assign(application)


class PrintsALittle(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os.write(1, b"a little \x1b[31m to the standard output\n")
        print("and to the standard error", file=sys.stderr)
        return super().assign(application)


class PrintsFromThread(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        def print_for_ever() -> None:
            while True:
                os.write(2, b"x" * 65_536)

        threading.Thread(target=print_for_ever, daemon=True).start()
        time.sleep(3_600)
        return super().assign(application)


class FillsDisk(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        with Path("large").open("wb") as file:
            while True:
                file.write(b"x" * 2**20)


class SwallowsEverything(Good):
    """Replaces the packed answer by an invalid one."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        from assignor_lab.groups.streams import assignor_calls as asking

        vars(asking)["answer_document"] = lambda *_: {"clients": [[1, {}, "soon"]]}
        return super().assign(application)


class HangsWhenMade(Good):
    def __init__(self) -> None:
        time.sleep(3_600)
