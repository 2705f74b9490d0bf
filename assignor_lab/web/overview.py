"""The list of what was opened, and the past of a group as one thing."""

from __future__ import annotations

import attrs

from assignor_lab.capture.histories.timeline import ACTIVE_TASKS
from assignor_lab.documents.wording import moment, without_uuids
from assignor_lab.report.gantt import GanttDrawing, drawing
from assignor_lab.report.pasts import past_words
from assignor_lab.web.address import View
from assignor_lab.web.errors import NotThereError
from assignor_lab.web.following import FollowedRecording, Pulse
from assignor_lab.web.opened import Opened, OpenedRun
from assignor_lab.web.past import Decision, Past
from assignor_lab.web.rendering import render
from assignor_lab.web.states import OpenedStates

__all__ = ["history_page", "home_page"]

#: Longest list of states on a page.
MOST_LISTED = 500


@attrs.frozen
class Listed:
    """A source as the first page lists it.

    Args:
        name: As it was given.
        report: Address of its report, where it is a finished run; else ``None``.
        states: Its states; ``None``: there are none yet.
        history: Address of its page, where it is a recording or a past; else ``None``.
        pulse: How it stands, where it may grow.
    """

    name: str
    report: str | None
    states: OpenedStates | None
    history: str | None
    pulse: Pulse | None


@attrs.frozen
class PastDrawn:
    """The past of a group as it is drawn.

    Args:
        group: The group.
        moves: What moves: ``active tasks`` or ``jobs``.
        gantt: Who was given what.
        members: When each worker was a member, or ``None``.
        rows_left_out: Tasks that are not drawn.
        rows: Time and address of each decision, and itself.
        words: It in a few sentences.
        play: Address of its play, or ``None``: it cannot be played.
    """

    group: str
    moves: str
    gantt: GanttDrawing
    members: GanttDrawing | None
    rows_left_out: int
    rows: tuple[tuple[str, str, Decision], ...]
    words: str
    play: str | None

    @property
    def has_copies(self) -> bool:
        """Whether what moves may have copies."""
        return self.moves == ACTIVE_TASKS

    @property
    def what(self) -> str:
        """One of those that move."""
        return self.moves.removesuffix("s")

    @property
    def step(self) -> str:
        """What one of its decisions is called."""
        return "decision" if self.has_copies else "round"


def home_page(opened: Opened) -> str:
    """The list of what was opened."""
    listed = []
    for number, source in enumerate(opened.sources):
        if isinstance(source, OpenedRun):
            listed.append(Listed(source.title, f"/report/{number}", None, None, None))
            continue
        followed = source if isinstance(source, FollowedRecording) else None
        states = source.states if isinstance(source, FollowedRecording) else source
        has_page = followed is not None or bool(states and states.pasts)
        history = View(number).url("/history") if has_page else None
        listed.append(Listed(source.name, None, states, history, followed.pulse() if followed else None))
    return render("home.html.j2", title="Assignor Lab", sources=listed, address=_address, time=moment, most=MOST_LISTED)


def history_page(opened: Opened, view: View) -> str:
    """The past of the groups of a source, decision by decision; of a recording as it is by now.

    Raises:
        NotThereError: if there is no such source, or it is a finished run.
    """
    recording = opened.recording(view.source)
    states = opened.states(view.source) if recording is None else recording.states
    name = recording.name if recording is not None else states.name if states is not None else ""
    if recording is None and states is not None and not states.pasts:
        raise NotThereError(f"{name} holds no past of a group: its states stand in the list")
    return render(
        "history.html.j2",
        title=name,
        view=view,
        states=states,
        pulse=None if recording is None else recording.pulse(),
        pasts=[_drawn(past, at, view) for at, past in enumerate(states.pasts)] if states else [],
        changed_on_disk=None if states is None or recording is not None else states.changed_on_disk(),
        address=_address,
        time=moment,
        without_uuids=without_uuids,
        most=MOST_LISTED,
    )


def _drawn(past: Past, number: int, view: View) -> PastDrawn:
    rows = tuple(
        (moment(each.entry.time_ms), View(view.source, each.state, each.round).url(), each) for each in past.decisions
    )
    entries = [each.entry for each in past.decisions]
    reasons = [without_uuids(each.reason) or each.inferred_reason for each in entries]
    return PastDrawn(
        past.group,
        past.moves,
        drawing(past.gantt, reasons=reasons, begun_ms=entries[0].time_ms),
        None if past.members is None else drawing(past.members, reasons=reasons, begun_ms=entries[0].time_ms),
        past.gantt.rows_left_out,
        rows,
        past_words(entries, past.moves),
        View(view.source, past=number).url() if past.can_be_played else None,
    )


def _address(source: int, state: int) -> str:
    return View(source, state).url()
