"""The first page with all sources, and the page of a group's past."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

import attrs

from assignor_lab.capture.histories.timeline import ACTIVE_TASKS, TimelineEntry
from assignor_lab.documents.wording import moment, plural, without_uuids
from assignor_lab.model.pictures import Gantt
from assignor_lab.report.drawings.gantt import GanttDrawing, drawing
from assignor_lab.report.sections.pasts import past_words, recorded_changes
from assignor_lab.web.address import View
from assignor_lab.web.errors import NotThereError
from assignor_lab.web.following import FollowedRecording, Pulse
from assignor_lab.web.opened import Opened, OpenedRun
from assignor_lab.web.past import PastDecision, PastView
from assignor_lab.web.rendering import render
from assignor_lab.web.states import OpenedStates, StateEntry

__all__ = ["history_page", "home_page"]

MOST_LISTED = 500


@attrs.frozen
class Latest:
    """The present state of a group, with its last decision.

    Args:
        group: The group, or the id of a state without a group.
        sentences: Size of the group, and the last decision with its time, reason and moves.
        state: URL of the state.
        history: URL of all decisions, or ``None``: there is only this state.
        play: URL of the play of its past, or ``None``.
    """

    group: str
    sentences: tuple[str, ...]
    state: str
    history: str | None
    play: str | None


@attrs.frozen
class Listed:
    """A source on the first page."""

    name: str
    report: str | None
    states: OpenedStates | None
    latest: tuple[Latest, ...]
    history: str | None
    pulse: Pulse | None


@attrs.frozen
class PastRow:
    """A decision with the URL of its state, or an event with its sentence."""

    time: str
    url: str = ""
    decision: PastDecision | None = None
    event: str = ""


@attrs.frozen
class GroupPast:
    """The past of a group on its page."""

    group: str
    moves: str
    gantt: GanttDrawing
    members: GanttDrawing | None
    rows_left_out: int
    rows: tuple[PastRow, ...]
    words: str
    play: str | None

    @property
    def has_copies(self) -> bool:
        return self.moves == ACTIVE_TASKS

    @property
    def what(self) -> str:
        return self.moves.removesuffix("s")

    @property
    def step(self) -> str:
        return "decision" if self.has_copies else "round"


def home_page(opened: Opened) -> str:
    listed = []
    for number, source in enumerate(opened.sources):
        if isinstance(source, OpenedRun):
            listed.append(Listed(source.title, f"/report/{number}", None, (), None, None))
            continue
        followed = source if isinstance(source, FollowedRecording) else None
        states = source.states if isinstance(source, FollowedRecording) else source
        has_page = followed is not None or bool(states and states.pasts)
        history = View(number).url("/history") if has_page else None
        latest = tuple(_latest(states, number)) if states else ()
        listed.append(Listed(source.name, None, states, latest, history, followed.pulse() if followed else None))
    return render("home.html.j2", title="Assignor Lab", sources=listed, address=_address, time=moment, most=MOST_LISTED)


def history_page(opened: Opened, view: View) -> str:
    """The past of a source's groups, decision by decision; a growing recording in its present form.

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


def _latest(states: OpenedStates, source: int) -> Iterator[Latest]:
    """The last decision of each past; without a past, the only state."""
    history = View(source).url("/history")
    for number, past in enumerate(states.pasts):
        last = past.decisions[-1]
        if last.state is None:
            continue
        size = _size(states.entries[last.state], past.moves)
        play = View(source, past=number).url() if past.can_be_played else None
        sentences = (size, _decided(last.entry, past.moves))
        yield Latest(past.group, sentences, View(source, last.state, last.round).url(), history, play)
    if not states.pasts and len(states.entries) == 1:
        (entry,) = states.entries
        decided = () if entry.time_ms is None else (f"Decided {moment(entry.time_ms)}.",)
        yield Latest(entry.id, (_size(entry, ACTIVE_TASKS), *decided), _address(source, 0), None, None)


def _size(entry: StateEntry, moves: str) -> str:
    many, client = ("task", "client") if moves == ACTIVE_TASKS else ("job", "worker")
    return f"{plural(entry.tasks, many)} on {plural(entry.clients, client)}."


def _decided(entry: TimelineEntry, moves: str) -> str:
    """The last decision: its time, changed instances, reason and moves."""
    changes = [f"{name} joined" for name in entry.joined] + [f"{name} left" for name in entry.gone]
    changes += [f"{name} restarted" for name in entry.restarted]
    reason = without_uuids(entry.reason) or entry.inferred_reason
    number = "" if entry.generation is None else f" (generation {entry.generation})"
    moved = entry.active_moved + entry.active_taken_over
    words = [reason] if reason else changes
    words.append(f"{plural(moved, moves.removesuffix('s'))} moved")
    if entry.copies_made:
        words.append(f"{plural(entry.copies_made, 'copy', 'copies')} of state made")
    return f"Last decision {moment(entry.time_ms)}{number}: {'; '.join(words)}."


def _drawn(past: PastView, number: int, view: View) -> GroupPast:
    timed = [(each.at.latest_ms, PastRow(moment(each.at.latest_ms), event=each.sentence)) for each in past.events]
    timed += [
        (
            each.entry.time_ms,
            PastRow(
                moment(each.entry.time_ms),
                "" if each.state is None else View(view.source, each.state, each.round).url(),
                each,
            ),
        )
        for each in past.decisions
    ]
    # An event precedes the decision of the same time.
    rows = tuple(row for _, row in sorted(timed, key=itemgetter(0)))
    entries = [each.entry for each in past.decisions]
    reasons = [without_uuids(each.reason) or each.inferred_reason for each in entries]
    begun_ms = entries[0].time_ms
    changes = recorded_changes(entries, begun_ms)

    def drawn(gantt: Gantt) -> GanttDrawing:
        return drawing(attrs.evolve(gantt, changes=changes), reasons=reasons, begun_ms=begun_ms)

    return GroupPast(
        past.group,
        past.moves,
        drawn(past.gantt),
        None if past.members is None else drawn(past.members),
        past.gantt.rows_left_out,
        rows,
        past_words(entries, past.moves),
        View(view.source, past=number).url() if past.can_be_played else None,
    )


def _address(source: int, state: int) -> str:
    return View(source, state).url()
