"""Plays in the background: each in its own thread, one after another, with a deadline and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock, Thread
from typing import Generic, TypeVar

import attrs

from assignor_lab.documents.wording import figure, plural
from assignor_lab.simulation.patience import GivenUpError, patient
from assignor_lab.web.errors import PageError

__all__ = ["Plays", "PlayProgress"]

T = TypeVar("T")

#: Seconds for the plays of one page; a reload does not start them again.
DEADLINE_S = 60.0
#: Seconds without a request after which a play is abandoned; a page requests its progress about each second.
FORGOTTEN_S = 20.0
MOST_WAITING = 8


@attrs.frozen
class PlayProgress:
    """The progress of a play."""

    sentence: str


class Play(Generic[T]):
    """One page's plays: of all contenders, one after another."""

    def __init__(self, work: Callable[[Callable[[], None]], T], contenders: int, seconds: float) -> None:
        self._work = work
        self._contenders = contenders
        self._seconds = seconds
        self._done = 0
        self._begun_s: float | None = None
        self._moment = (0, 0)
        self.asked_s = time.monotonic()
        self.result: T | None = None
        self.error: Exception | None = None
        self.is_dropped = False
        self.thread: Thread | None = None

    def run(self, turn: Lock) -> None:
        """Waits for its turn, and plays."""
        with turn:
            self._begun_s = time.monotonic()
            try:
                if self.is_forgotten():
                    raise GivenUpError("no page waited for it")
                with patient(self._look):
                    self.result = self._work(self._next)
            except Exception as error:  # noqa: BLE001 - raised again for whoever asks
                self.error = error
            # An interrupted contender is a failed row; an abandoned play is no result.
            self.is_dropped = self.is_forgotten()

    def _next(self) -> None:
        self._done += 1

    def is_forgotten(self) -> bool:
        return time.monotonic() - self.asked_s > FORGOTTEN_S

    def _look(self, now_ms: int, until_ms: int) -> None:
        self._moment = (now_ms, until_ms)
        if self._spent() > self._seconds:
            raise GivenUpError(
                f"given up after {figure(self._seconds)} s, at {figure(now_ms / 1000)} s of {figure(until_ms / 1000)} "
                "s: the command below has no deadline"
            )
        if self.is_forgotten():
            raise GivenUpError("no page waits for it any longer")

    def _spent(self) -> float:
        return 0.0 if self._begun_s is None else time.monotonic() - self._begun_s

    def progress(self) -> PlayProgress:
        if self._begun_s is None:
            return PlayProgress("It waits for another play, which goes first.")
        now, until = self._moment
        share = f", the next one is at {figure(now // 1000)} s of {figure(until // 1000)} s" if until else ""
        spent = self._spent()
        sentence = (
            f"{self._done} of {plural(self._contenders, 'contender')} done{share}; {spent:.0f} s so far, at most "
            f"{figure(self._seconds)}."
        )
        if spent > 1.5 * self._seconds:
            sentence += (
                " It does not come back: an assignor seems to hang. End assignor ui, and start it with --isolate."
            )
        return PlayProgress(sentence)


class Plays(Generic[T]):
    """The unfinished plays of the pages."""

    def __init__(self, seconds: float = DEADLINE_S) -> None:
        self._seconds = seconds
        self._turn = Lock()
        self._guard = Lock()
        self._known: dict[object, Play[T]] = {}

    def close(self) -> None:
        """Ends all plays soon."""
        with self._guard:
            for play in self._known.values():
                play.asked_s = float("-inf")

    def wait(
        self, key: object, work: Callable[[Callable[[], None]], T], contenders: int, seconds: float
    ) -> T | PlayProgress:
        """The result of a play, or its progress.

        Raises:
            PageError: if too many plays are waiting.
            Exception: of its work.
        """
        with self._guard:
            play = self._known.get(key)
            if play is None:
                self._forget()
                if len(self._known) >= MOST_WAITING:
                    raise PageError(f"{plural(len(self._known), 'play')} are under way: wait until some are done")
                play = self._known[key] = Play(work, contenders, self._seconds)
                play.thread = Thread(target=play.run, args=(self._turn,), name="play", daemon=True)
                play.thread.start()
            play.asked_s = time.monotonic()
        assert play.thread is not None
        play.thread.join(seconds)
        if play.thread.is_alive():
            return play.progress()
        with self._guard:
            if self._known.get(key) is play:
                del self._known[key]
        if play.error is not None:
            raise play.error
        if play.is_dropped or play.result is None:
            return PlayProgress("It starts again, because no page had waited for it.")
        return play.result

    def _forget(self) -> None:
        for key, play in list(self._known.items()):
            if play.thread is not None and not play.thread.is_alive() and play.is_forgotten():
                del self._known[key]
