"""The file of planned restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.watching.planned import PlannedRestarts, read_planned


def test_a_file_has_restarts_of_any_names(tmp_path: Path) -> None:
    file = tmp_path / "past.restarts"
    file.write_bytes(b"20 two\nlines\0" + "10 ü $(x)\0".encode() + b"5 two\nlines\0" + b"30 unfini")
    assert read_planned(file) == PlannedRestarts({"two\nlines": [5_000, 20_000], "ü $(x)": [10_000]})


def test_a_missing_file_has_no_restarts(tmp_path: Path) -> None:
    assert read_planned(None) == read_planned(tmp_path / "none") == PlannedRestarts()


@pytest.mark.parametrize("content", [b"d1\0", b"x d1\0", b"12\0", b"-1 d1\0", b"\0"])
def test_another_form_is_refused_with_its_record(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "past.restarts"
    file.write_bytes(b"10 d1\0" + content)
    with pytest.raises(DocumentFormatError, match=r"past\.restarts, line 2: no planned restart: write seconds"):
        read_planned(file)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentFormatError, match="cannot be read"):
        read_planned(tmp_path)
