"""One plugin in its process: called, watched, ended at a limit, and started again when needed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from assignment_api.plugins.keys import START_TIMEOUT_MS
from assignor_lab.runtime.isolation.errors import (
    AnswerFormatError,
    DeadlineExceededError,
    IsolationError,
    MemoryLimitError,
    OutputLimitError,
    ProcessDiedError,
    ProcessLimitError,
    ProcessStartError,
)
from assignor_lab.runtime.isolation.exchange import MAX_PROCESSES, Ended, Exchange
from assignor_lab.runtime.isolation.launching import Launched, Launcher
from assignor_lab.runtime.isolation.limits import MAX_ANSWER_BYTES, Limits
from assignor_lab.runtime.isolation.places import place_of
from assignor_lab.runtime.isolation.rest import Rest
from assignor_lab.runtime.isolation.worker import CONNECTION_CLOSED

__all__ = ["PluginProcess", "Question"]

Question = tuple[str, tuple[Any, ...]]
#: A question that depends on :attr:`PluginProcess.start`.
QuestionOfStart = Callable[[int], Question]

#: Bytes of a plugin's output on the lab's standard error, over the life of this object.
SHOWN_BYTES = 4_096
_IMPORT = "finish its import"


class PluginProcess:
    """The process of one plugin, started at the first call and kept for the next ones.

    If a process has answered before and then dies, or needs too much memory, the call is repeated once in a new
    process, so that leftovers of earlier calls do not decide.

    Args:
        load: First question to a new process: the import of the plugin.
        modules: Modules of this project that the process needs; they are imported once for all processes.
        shows: True passes its output on.
    """

    def __init__(
        self,
        subject: str,
        limits: Limits,
        launcher: Launcher,
        load: Callable[[], Question],
        modules: Sequence[str] = (),
        *,
        shows: bool = True,
    ) -> None:
        self._subject = subject
        self._limits = limits
        self._launcher = launcher
        self._load = load
        self._modules = tuple(modules)
        self._launched: Launched | None = None
        self._rest: tuple[Launched, Rest] | None = None
        self._is_fresh = True
        self._is_lost, self._is_shared = False, True
        self._asked_for, self._most_bytes = subject, MAX_ANSWER_BYTES
        self._meanwhile: Callable[[], object] | None = None
        self._starts = 0
        self._number = 0
        self._shown = 0 if shows else SHOWN_BYTES + 1
        self._is_line_open = False
        self._not_loaded: dict[str, Any] | None = None

    @property
    def _remedy(self) -> str:
        return f"repair the plugin{self._limits.or_leave_out}"

    @property
    def start(self) -> int:
        """Number of starts so far: another number means that the process's memory is lost."""
        return self._starts

    def ask(
        self,
        question: Question | QuestionOfStart,
        subject: str | None = None,
        most_bytes: int = MAX_ANSWER_BYTES,
        meanwhile: Callable[[], object] | None = None,
    ) -> dict[str, Any]:
        """The answer to ``question``: an unchecked JSON object.

        Args:
            meanwhile: Called here after the question was sent.

        Raises:
            IsolationError: a subclass, if there is no answer; the process has then been ended.
        """
        self._asked_for, self._most_bytes, self._meanwhile = subject or self._subject, most_bytes, meanwhile
        try:
            return self._asked(question)
        except (ProcessDiedError, MemoryLimitError):
            was_taken_along = self._was_taken_along()
            if self._is_fresh and not was_taken_along:
                raise
        return self._asked(question)

    def started(self) -> dict[str, Any]:
        """Starts the process, and returns the unchecked result of the import; errors as of :meth:`ask`."""
        self.close()
        self._is_fresh = True
        self._starts += 1
        try:
            self._launched = self._launcher.launch(self._limits, self._modules)
            return self._exchanged(self._load(), self._limits.start_ms, _IMPORT)
        except (ProcessDiedError, ProcessStartError):
            if not self._was_taken_along():
                raise
        self._launched = self._launcher.launch(self._limits, self._modules)
        return self._exchanged(self._load(), self._limits.start_ms, _IMPORT)

    def _was_taken_along(self) -> bool:
        """True if the launcher ended under the process; the next process then gets its own launcher."""
        if not self._is_lost:
            return False
        self._is_lost = self._is_shared = False
        self._launcher = self._launcher.another()
        return True

    def interrupt(self) -> None:
        """Ends the process while another thread waits for its answer; that thread gets the error of a dead process."""
        launched = self._launched
        if launched is not None:
            with contextlib.suppress(OSError):
                os.kill(launched.pid, signal.SIGKILL)

    def close(self) -> None:
        if self._launched is not None:
            launched, self._launched = self._launched, None
            self._launcher.reap(launched, waits=False)

    def refuse(self) -> AnswerFormatError:
        """Ends the process because of a malformed answer, and raises the error.

        The message omits the fault, because the position of garbage depends on the moment, and equal faults have to
        give equal rows.
        """
        self.close()
        return AnswerFormatError(f"{self._asked_for}: its process sent no valid answer: {self._remedy}")

    def _asked(self, question: Question | QuestionOfStart) -> dict[str, Any]:
        if self._not_loaded is not None:
            return self._not_loaded
        if self._launched is None or self._launched.connection.fileno() < 0:
            # It did not exist yet, or ended together with the launcher.
            failed = self.started()
            if "failure" in failed:
                self.close()
                self._not_loaded = failed
                return failed
        sent = question(self._starts) if callable(question) else question
        answer = self._exchanged(sent, self._limits.deadline_ms, "answer")
        self._is_fresh = False
        return answer

    def _exchanged(self, question: Question, allowed_ms: int, verb: str) -> dict[str, Any]:
        self._number += 1
        rest = self._rest_of_now()
        try:
            rest.over()
            exchange = Exchange(self._launched, self._limits, allowed_ms, self._show, self._most_bytes)
            content = exchange.answer((self._number, *question), None if verb == _IMPORT else self._meanwhile)
            rest.begun()
        except Ended as ended:
            self._give_up(ended, allowed_ms, verb)
        except BaseException:
            self.close()
            raise
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise self.refuse() from None
        if not isinstance(answer, dict) or answer.get("number") != self._number:
            raise self.refuse()
        if answer.get("loss") == "memory":
            self._give_up(Ended("memory"), allowed_ms, verb)
        return answer

    def _rest_of_now(self) -> Rest:
        assert self._launched is not None
        if self._rest is None or self._rest[0] is not self._launched:
            self._rest = (self._launched, Rest(self._launched.supervisor))
        return self._rest[1]

    def _give_up(self, ended: Ended, allowed_ms: int, verb: str) -> NoReturn:
        launched, self._launched = self._launched, None
        assert launched is not None
        where = place_of(launched) if ended.how == "deadline" else ""
        status = self._launcher.reap(launched, waits=ended.how == "died")
        # Only once: a second loss with its own launcher is the plugin's own fault.
        self._is_lost = self._is_shared and self._launcher.has_lost(launched)
        raise self._error(ended.how, status, allowed_ms, verb, where)

    def _error(self, how: str, status: int | None, allowed_ms: int, verb: str, where: str) -> IsolationError:
        name, limits, remedy = self._asked_for, self._limits, self._remedy
        if how == "deadline":
            return DeadlineExceededError(
                f"{name} did not {verb} within {allowed_ms / 1_000:g} s and was stopped: give it more time "
                f"({START_TIMEOUT_MS if verb == _IMPORT else limits.more_time}){limits.or_leave_out}",
                where,
            )
        if how == "memory":
            return MemoryLimitError(
                f"{name} needed more than {limits.memory_mb:,} MiB of memory and was stopped: give it more "
                f"(assignor.plugins.memory.mb){limits.or_leave_out}"
            )
        if how == "output":
            return OutputLimitError(
                f"{name} printed more than {limits.output_kb:,} KiB in one call and was stopped: have it print less, "
                "or allow more (assignor.plugins.output.kb)"
            )
        if how == "processes":
            return ProcessLimitError(
                f"{name} had more than {MAX_PROCESSES} processes at a time and was stopped: {remedy}"
            )
        if how == "more":
            return self.refuse()
        if how == "size":
            return AnswerFormatError(f"{name} gave an answer of more than {self._most_bytes:,} bytes: {remedy}")
        if status in (None, CONNECTION_CLOSED):
            return ProcessDiedError(f"{name} closed the connection of its process: {remedy}")
        if status < 0:
            return ProcessDiedError(f"{name}: its process was ended by {_signal(-status)}: {remedy}")
        return ProcessDiedError(f"{name} ended its process with exit code {status}: {remedy}")

    def _show(self, printed: bytes) -> None:
        room = SHOWN_BYTES - self._shown
        self._shown += len(printed)
        if room <= 0:
            return
        text = printed[:room].decode("utf-8", "replace")
        plain = "".join(sign if sign.isprintable() or sign in "\n\t" else repr(sign)[1:-1] for sign in text)
        prefix = f"[{self._subject}] "
        marked = "".join(f"{prefix}{line}" for line in plain.splitlines(keepends=True))
        if self._is_line_open:
            marked = marked.removeprefix(prefix)
        if self._shown > SHOWN_BYTES:
            marked = f"{marked.rstrip()}\nassignor: {self._subject} prints more, which is left out here\n"
        sys.stderr.write(marked)
        self._is_line_open = not marked.endswith("\n")

    def end_line(self) -> None:
        if self._is_line_open:
            self._is_line_open = False
            sys.stderr.write("\n")


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
