"""The page of several replica counts: the sentences and the table."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from assignor_lab.documents.durable import write_durably
from assignor_lab.planning.scaling.answer import ScalingAnswer
from assignor_lab.planning.scaling.policy_words import POLICY_COLUMNS, day_rows
from assignor_lab.planning.scaling.words import columns, row_cells, the_sentences
from assignor_lab.report.html import render_page

__all__ = ["render_scaling_page", "write_scaling_page"]


def render_scaling_page(answer: ScalingAnswer, verified: Sequence[str]) -> str:
    table = answer.table
    first, *remarks = [*filter(None, [answer.restless]), *the_sentences(table, answer.remedies)]
    rows = sorted([table.present, *table.rows], key=lambda each: each.count)
    return render_page(
        "scaling.html.j2",
        answer=answer,
        verified=verified,
        sentence=first,
        remarks=remarks,
        columns=columns(table),
        rows=[row_cells(table, row) for row in rows],
        day_columns=POLICY_COLUMNS,
        days=day_rows(answer.days),
    )


def write_scaling_page(answer: ScalingAnswer, verified: Sequence[str], path: str | PathLike[str]) -> None:
    """Writes the page; an older file is replaced only by a complete one.

    Raises:
        OutputFileError: if it cannot be written.
    """
    write_durably(path, render_scaling_page(answer, verified).encode())
