"""The report of a run: one HTML file, and tables in the terminal."""

from __future__ import annotations

from assignor_lab.report.html import render_report, write_report
from assignor_lab.report.summary.summary import Summary, read_summary, summary_from_document
from assignor_lab.report.terminal import print_summary

__all__ = [
    "Summary",
    "print_summary",
    "read_summary",
    "render_report",
    "summary_from_document",
    "write_report",
]
