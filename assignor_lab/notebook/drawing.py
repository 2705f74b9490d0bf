"""Parts that all charts share: altair, colours, and names as they may stand in a chart.

Names are foreign text. The page that altair makes holds a chart's data inside of a script, where ``</script>`` in a
name would end it: so names are written without steering signs, shortened, and with ``‹`` in the place of ``<``.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assignor_lab.documents.wording import plural, shortened
from assignor_lab.scoring.spark.session import MissingExtraError

if TYPE_CHECKING:
    from assignor_lab.report.summary import Results

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

#: Colours that people who see few colours tell apart (Okabe and Ito), and that stand out on white.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#5d5d5d", "#b2a000"]
#: Tasks that a chart shows; what is left out is said in its subtitle.
MOST_TASKS = 120
NAME_LIMIT = 40
#: Around a chart: who draws it elsewhere may have wider letters than it was measured with.
PADDING = {"left": 24, "right": 36, "top": 6, "bottom": 6}

#: A summary: of :func:`assignor_lab.scoring.summary`, a parsed ``summary.json``, its path, or that of its folder.
SummaryLike = Mapping[str, Any] | str | PathLike[str]


def altair() -> Any:
    """The library; raises MissingExtraError where it is not installed."""
    try:
        import altair as alt
    except ModuleNotFoundError as error:
        raise MissingExtraError("charts are drawn with altair: pip install 'assignor-lab[notebook]'") from error
    return alt


def name_text(text: str) -> str:
    """A name as a chart shows it."""
    return chart_text(text, NAME_LIMIT)


def chart_text(text: str, limit: int = 120) -> str:
    """A text as a chart shows it."""
    return shortened(str(text), limit).replace("<", "‹")


def left_out(*left: tuple[int, str]) -> str:
    """What a chart does not show, at the end of a subtitle; each with its noun."""
    told = [plural(number, noun) for number, noun in left if number > 0]
    return f" ({' and '.join(told)} left out)" if told else ""


def results_of(summary: SummaryLike) -> Results:
    """The results of a summary; raises DocumentFormatError if it is none."""
    from assignor_lab.report.summary import read_summary, summary_from_document

    if isinstance(summary, (str, PathLike)):
        path = Path(summary)
        return read_summary(path / "summary.json" if path.is_dir() else path).results
    return summary_from_document(dict(summary)).results
