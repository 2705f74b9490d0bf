"""Tables that commands put into pages of the documentation."""

from __future__ import annotations

from pathlib import Path

from assignor_lab.documents.durable import write_durably

__all__ = ["put_between"]


def put_between(page: Path, begin: str, text: str, end: str) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    write_durably(page, f"{before}{begin}\n{text}\n{end}{after}".encode())
