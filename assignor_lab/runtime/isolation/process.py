"""One plugin in its process: asked, watched, ended where it breaks a limit, started again when it is needed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from assignment_api.plugins.keys import CALL_TIMEOUT_MS, START_TIMEOUT_MS
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
from assignor_lab.runtime.isolation.resting import Rest
from assignor_lab.runtime.isolation.worker import CONNECTION_CLOSED

__all__ = ["PluginProcess", "Question"]

#: What is asked: the function that answers in the process (``module:function``), and plain data for it.
Question = tuple[str, tuple[Any, ...]]
#: The same where it depends on :attr:`PluginProcess.start`.
QuestionOfStart = Callable[[int], Question]

#: Bytes that a plugin may print to the lab's standard error, over the life of this object.
SHOWN_BYTES = 4_096
_IMPORT = "finish its import"
_REMEDY = "repair the plugin, or leave it out (assignor.plugins.block)"


class PluginProcess:
    """The process of one plugin, started at the first question and kept for the next ones.

    A process that had answered before and then dies, or needs too much memory, is given a second try from the start:
    what an earlier call left behind must not decide what a later one comes to.

    Args:
        subject: What runs in it, for messages: ``assignor sticky``.
        limits: What it may use.
        launcher: Who starts processes.
        load: What is asked first of a new process: to import the plugin.
        modules: This project's modules that the process will need; they are imported once for all processes.
        shows: Whether what it prints is passed on.
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
        #: What loading it came to, if that was a failure; it is not tried again.
        self._not_loaded: dict[str, Any] | None = None

    @property
    def start(self) -> int:
        """How often the process was started so far: another number means that what it knew is gone."""
        return self._starts

    def ask(
        self,
        question: Question | QuestionOfStart,
        subject: str | None = None,
        most_bytes: int = MAX_ANSWER_BYTES,
        meanwhile: Callable[[], object] | None = None,
    ) -> dict[str, Any]:
        """The answer to ``question``: a JSON object of which nothing is checked yet.

        Args:
            question: The question.
            subject: What is asked, for messages, where it is one of several things in this process.
            most_bytes: Longest answer that is read.
            meanwhile: Done here once it has been asked, while it answers.

        Raises:
            IsolationError: a subclass, if there is none; the process has then been ended.
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
        """Starts the process, and returns what came of loading the plugin, unchecked; errors as of :meth:`ask`."""
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
        """Whether the launcher ended under the process; the next one is then started where no other plugin is."""
        if not self._is_lost:
            return False
        self._is_lost = self._is_shared = False
        self._launcher = self._launcher.another()
        return True

    def interrupt(self) -> None:
        """Ends the process while another thread waits for its answer: that thread is told that it died."""
        launched = self._launched
        if launched is not None:
            with contextlib.suppress(OSError):
                os.kill(launched.pid, signal.SIGKILL)

    def close(self) -> None:
        """Ends the process, if there is one; the next question starts another."""
        if self._launched is not None:
            launched, self._launched = self._launched, None
            self._launcher.reap(launched, waits=False)

    def refuse(self) -> AnswerFormatError:
        """Ends the process because of an answer that is none; the error says so.

        It does not say what was wrong: where garbage is read to depends on the moment, and equal faults are to give
        equal rows.
        """
        self.close()
        return AnswerFormatError(f"{self._asked_for}: what came from its process is no answer: {_REMEDY}")

    def _asked(self, question: Question | QuestionOfStart) -> dict[str, Any]:
        if self._not_loaded is not None:
            return self._not_loaded
        if self._launched is None or self._launched.connection.fileno() < 0:
            # There was none yet, or it ended together with the launcher.
            failed = self.started()
            if "failure" in failed:
                self.close()
                self._not_loaded = failed
                return failed
        asked = question(self._starts) if callable(question) else question
        answer = self._exchanged(asked, self._limits.deadline_ms, "answer")
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
            self._rest = (self._launched, Rest(self._launched.keeper))
        return self._rest[1]

    def _give_up(self, ended: Ended, allowed_ms: int, verb: str) -> NoReturn:
        launched, self._launched = self._launched, None
        assert launched is not None
        where = place_of(launched) if ended.how == "deadline" else ""
        status = self._launcher.reap(launched, waits=ended.how == "died")
        # Once only: who does it again, alone, has done it himself.
        self._is_lost = self._is_shared and self._launcher.has_lost(launched)
        raise self._error(ended.how, status, allowed_ms, verb, where)

    def _error(self, how: str, status: int | None, allowed_ms: int, verb: str, where: str) -> IsolationError:
        name, limits = self._asked_for, self._limits
        if how == "deadline":
            return DeadlineExceededError(
                f"{name} did not {verb} within {allowed_ms / 1_000:g} s and was stopped: give it more time "
                f"({START_TIMEOUT_MS if verb == _IMPORT else CALL_TIMEOUT_MS}), or leave it out "
                "(assignor.plugins.block)",
                where,
            )
        if how == "memory":
            return MemoryLimitError(
                f"{name} needed more than {limits.memory_mb:,} MiB of memory and was stopped: give it more "
                "(assignor.plugins.memory.mb), or leave it out (assignor.plugins.block)"
            )
        if how == "output":
            return OutputLimitError(
                f"{name} printed more than {limits.output_kb:,} KiB in one call and was stopped: have it print less, "
                "or allow more (assignor.plugins.output.kb)"
            )
        if how == "processes":
            return ProcessLimitError(
                f"{name} had more than {MAX_PROCESSES} processes at a time and was stopped: {_REMEDY}"
            )
        if how == "more":
            return self.refuse()
        if how == "size":
            return AnswerFormatError(f"{name} gave an answer of more than {self._most_bytes:,} bytes: {_REMEDY}")
        if status in (None, CONNECTION_CLOSED):
            return ProcessDiedError(f"{name} closed the connection of its process: {_REMEDY}")
        if status < 0:
            return ProcessDiedError(f"{name}: its process was ended by {_signal(-status)}: {_REMEDY}")
        return ProcessDiedError(f"{name} ended its process with exit code {status}: {_REMEDY}")

    def _show(self, printed: bytes) -> None:
        """Passes on what a plugin prints, up to a limit: it is a message, not a result, and each line says whose."""
        room = SHOWN_BYTES - self._shown
        self._shown += len(printed)
        if room <= 0:
            return
        text = printed[:room].decode("utf-8", "replace")
        plain = "".join(sign if sign.isprintable() or sign in "\n\t" else repr(sign)[1:-1] for sign in text)
        whose = f"[{self._subject}] "
        marked = "".join(f"{whose}{line}" for line in plain.splitlines(keepends=True))
        if self._is_line_open:
            marked = marked.removeprefix(whose)
        if self._shown > SHOWN_BYTES:
            marked = f"{marked.rstrip()}\nassignor: {self._subject} prints more, which is left out here\n"
        sys.stderr.write(marked)
        self._is_line_open = not marked.endswith("\n")

    def end_line(self) -> None:
        """Ends the line that the plugin printed last, if it left that open."""
        if self._is_line_open:
            self._is_line_open = False
            sys.stderr.write("\n")


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
