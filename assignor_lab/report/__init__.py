"""The report of a run: one HTML file, and tables in the terminal."""

from __future__ import annotations

from assignor_lab.report.html import render_report, write_report
from assignor_lab.report.terminal import print_summary

__all__ = [
    "print_summary",
    "render_report",
    "write_report",
]
