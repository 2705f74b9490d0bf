"""The report: one HTML file that opens from disk and needs no network.

Foreign text reaches the page only as the value of a template expression, which is first made plain
(:func:`~assignor_lab.documents.wording.plain`) and then escaped. The content security policy allows only the page's own
style and script, by their hashes, so that an escaping mistake here still runs no foreign script.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from os import PathLike

import attrs
from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from assignor_lab.documents import wording
from assignor_lab.documents.durable import write_durably
from assignor_lab.model.run_summary import RunSummary
from assignor_lab.report import words
from assignor_lab.report.sections.exploration import case_groups, choices, difference_groups, share_rows
from assignor_lab.report.sections.groups import group_panel
from assignor_lab.report.sections.pasts import event_words
from assignor_lab.report.summary.down_times import clock
from assignor_lab.report.summary.placement import TaskChange
from assignor_lab.report.view import page, panel
from assignor_lab.scoring.output.summary_file import summary_document

__all__ = ["asset", "policy", "prepare", "render_page", "render_report", "templates", "write_report"]

#: Most characters of drawn states; the rest is counted and left out.
PANEL_BUDGET = 3_500_000
#: The same for pictures and machine-readable figures together.
BUDGET = 4_500_000
#: Longest lists of sources, assumptions and the like that are shown whole.
LONGEST_LIST = 200

_PACKAGE = "assignor_lab.report"
_TEMPLATES = "templates"


def prepare() -> None:
    """Reads the templates in advance, for callers with idle time."""
    for name in templates().list_templates(extensions=["j2"]):
        templates().get_template(name)


def render_page(template: str, **values: object) -> str:
    """A page with our style and without scripts."""
    style = asset("report.css")
    return (
        templates()
        .get_template(template)
        .render(
            style=Markup(style),  # noqa: S704 - our own file
            policy=Markup(policy(style, "")),  # noqa: S704 - hashes and keywords
            **values,
        )
    )


def write_report(summary: RunSummary, path: str | PathLike[str]) -> None:
    """Writes the report of a run.

    Raises:
        OutputFileError: The file cannot be written.
    """
    write_durably(path, render_report(summary).encode("utf-8"))


def render_report(summary: RunSummary) -> str:
    environment = templates()
    shown = page(summary)
    observed = {each.name for each in summary.results.assignors if each.kind == "observed"}
    figures = _figures(summary)
    budget = min(PANEL_BUDGET, BUDGET - len(figures))
    panels: list[Markup] = []
    anchors: dict[tuple[str, int, str], int] = {}
    deciders: dict[int, str] = {}
    choosable: list[tuple[str, str]] = []
    size = 0
    template = environment.get_template("panel.html.j2")
    opened = 0
    for number, placement in enumerate(summary.results.placements, start=1):
        happened = event_words(placement, summary.results.timelines)
        picture = panel(number, placement, shown.names, observed, summary.explanations, happened)
        if not opened and picture.moves:
            opened = number
        drawn = template.render(panel=picture, opened=number == opened, why=None)
        size += len(drawn)
        if size > budget:
            break
        panels.append(Markup(drawn))  # noqa: S704 - made by an autoescaping template
        choosable.append((picture.name, picture.event))
        deciders.update({each.key: each.name for each in picture.columns})
        # In a history each assignor has its own states, so a state belongs to the assignors that answered it.
        anchors.update({(placement.scenario, placement.round, each.assignor): number for each in placement.after})
    groups: list[Markup] = []
    pictures = [
        group_panel(number, group, shown.names, words.worst_in(summary.results, group.scenario, group.round))
        for number, group in enumerate(summary.results.groups, start=1)
    ]
    opened = next((each.number for each in pictures if each.moves), 1)
    template = environment.get_template("group.html.j2")
    for each in pictures:
        drawn = template.render(panel=each, opened=each.number == opened, at=None)
        size += len(drawn)
        if size > budget:
            break
        groups.append(Markup(drawn))  # noqa: S704 - made by an autoescaping template
        state = each.group.scenario, each.group.round
        anchors.update({(*state, answer.assignor): each.number for answer in each.group.answers})
    style, script = asset("report.css"), asset("report.js")
    return environment.get_template("report.html.j2").render(
        page=shown,
        results=summary.results,
        run=summary.run_metrics,
        panels=panels,
        groups=groups,
        groups_are_drawn=any(each.gantt for group in summary.results.groups for each in group.answers),
        choosable=choosable,
        members=any(client.process is not None for each in summary.results.placements for client in each.clients),
        anchors=anchors,
        deciders=sorted(deciders.items()),
        left_out=summary.results.placements_left_out
        + len(summary.results.placements)
        + len(summary.results.groups)
        - len(panels)
        - len(groups),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=Markup(policy(style, script)),  # noqa: S704 - hashes and keywords
        figures=figures,
        choices=choices(summary.results.slices),
        compared=difference_groups(summary.results, shown.names),
        cases=case_groups(summary.results, shown.names),
        shares=share_rows(summary.run_metrics.shares),
        longest=LONGEST_LIST,
    )


def _figures(summary: RunSummary) -> Markup:
    small = attrs.evolve(summary.results, placements=(), groups=(), worst_cases=(), distributions=None, gates=())
    document = summary_document(attrs.evolve(summary, results=small))
    results = {key: value for key, value in document["results"].items() if key not in _LARGE}
    shown = {"format": document["format"], "results": results, "run_metrics": document["run_metrics"]}
    return htmlsafe_json_dumps(shown, separators=(",", ":"))


#: Parts of a summary that a page has no room for, or draws.
_LARGE = {"placements", "placements_left_out", "groups", "worst_cases", "distributions", "gates"}


def policy(style: str, script: str) -> str:
    """The content security policy of a page with this style and script alone."""

    def digest(content: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def asset(name: str) -> str:
    return files(_PACKAGE).joinpath(_TEMPLATES, name).read_text(encoding="utf-8").strip()


@cache
def templates() -> Environment:
    """The templates, which make every text plain and escape it."""
    environment = Environment(
        loader=PackageLoader(_PACKAGE, _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    environment.filters.update(
        figure=wording.figure,
        mean=wording.mean,
        signed=wording.signed,
        dependence=words.dependence,
        unit_words=wording.unit_words,
        short=wording.shortened,
        breakable=_breakable,
        plural=wording.plural,
        label=words.label,
        better=words.better,
    )
    environment.globals.update(
        TaskChange=TaskChange,
        clock=clock,
        state_name=words.state_name,
        moment=wording.moment,
        without_uuids=wording.without_uuids,
    )
    return environment


def _breakable(name: str) -> Markup:
    """A name with break opportunities at its underscores, for narrow columns."""
    return Markup("_<wbr>").join(escape(part) for part in wording.plain(name).split("_"))


def _plain(value: object) -> object:
    """Makes the text of every expression plain; markup of our own templates passes unchanged."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return wording.plain(value)
    return value
