"""The past changes of a planned group, predicted or read from the ledger of its recording."""

from __future__ import annotations

from pathlib import Path

from assignor_lab.opened.reading import ReadGroup
from assignor_lab.planning.making import Options
from assignor_lab.planning.past.ledger import read_ledger
from assignor_lab.planning.past.members import is_member_state, record_of_members
from assignor_lab.planning.past.reading import record_of_past
from assignor_lab.planning.past_record import PastRecord
from assignor_lab.verification.verified import Verification

__all__ = ["past_of_group"]


def past_of_group(
    source: str, read: ReadGroup, verification: Verification, processes: int, seed: int, options: Options
) -> PastRecord | None:
    """The record of a source's past; ``None`` if it holds no change.

    Raises:
        DocumentFormatError: if the folder has a ledger that cannot be read.
    """
    folder = Path(source)
    known = read_ledger(folder) if source != "-" and folder.is_dir() else {}
    if is_member_state(read.scenario):
        return record_of_members(read.scenarios, verification, read.terms, options, known, processes, seed)
    return record_of_past(
        read.scenarios, read.past, verification, read.terms, options.start_ms, options.starts, known, processes, seed
    )
