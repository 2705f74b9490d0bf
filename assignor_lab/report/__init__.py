"""The report of a run: one HTML file, and tables in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assignor_lab.report.html import render_report, write_report
    from assignor_lab.report.terminal import print_summary

__all__ = ["print_summary", "render_report", "write_report"]


def __getattr__(name: str) -> Any:
    # Pages need the extra `report`; sentences, which `history` prints, do not.
    if name in ("render_report", "write_report"):
        from assignor_lab.report import html

        return getattr(html, name)
    if name == "print_summary":
        from assignor_lab.report.terminal import print_summary

        return print_summary
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
