"""Common parts of all charts: altair, colours, and safe names.

Names are foreign text. Altair's page has a chart's data inside a script, which ``</script>`` in a name would end. So
names are written without control characters, shortened, and with ``‹`` in place of ``<``.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assignor_lab.documents.wording import plural, shortened
from assignor_lab.scoring.spark.session import MissingExtraError

if TYPE_CHECKING:
    from assignor_lab.model.run_summary import Results

__all__ = [
    "COLOURS",
    "MOST_TASKS",
    "PADDING",
    "SummaryLike",
    "altair",
    "chart_text",
    "left_out",
    "name_text",
    "results_of",
]

#: Colours for readers with colour blindness (Okabe and Ito) that are visible on white.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#5d5d5d", "#b2a000"]
MOST_TASKS = 120
NAME_LIMIT = 40
#: Padding of a chart, because letters elsewhere may be wider.
PADDING = {"left": 24, "right": 36, "top": 6, "bottom": 6}

#: A result of :func:`assignor_lab.scoring.summary`, a parsed ``summary.json``, its path, or its folder.
SummaryLike = Mapping[str, Any] | str | PathLike[str]


def altair() -> Any:
    """The library; raises MissingExtraError if it is not installed."""
    try:
        import altair as alt
    except ModuleNotFoundError as error:
        raise MissingExtraError("charts are drawn with altair: pip install 'assignor-lab[notebook]'") from error
    return alt


def name_text(text: str) -> str:
    return chart_text(text, NAME_LIMIT)


def chart_text(text: str, limit: int = 120) -> str:
    return shortened(str(text), limit).replace("<", "‹")


def left_out(*left: tuple[int, str]) -> str:
    """End of a subtitle with the counts of left-out items; each with its noun."""
    counts = [plural(number, noun) for number, noun in left if number > 0]
    return f" ({' and '.join(counts)} left out)" if counts else ""


def results_of(summary: SummaryLike) -> Results:
    """The results of a summary; raises DocumentFormatError if it is none."""
    from assignor_lab.scoring.frames.shown_summary import ShownSummary
    from assignor_lab.scoring.output.summary_file import read_summary, summary_of

    if isinstance(summary, (str, PathLike)):
        path = Path(summary)
        return read_summary(path / "summary.json" if path.is_dir() else path).results
    return summary.summary.results if isinstance(summary, ShownSummary) else summary_of(dict(summary)).results
