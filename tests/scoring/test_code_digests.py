"""Digests of code: of every content of a distribution, in bounded time."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.scoring.code_digests import code_digest
from tests.plugins.installing import write_distribution


@pytest.fixture
def metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a distribution with a package of two files."""
    made = write_distribution(tmp_path, "some-mine", {}, {"mine": "mine"})
    (tmp_path / "mine" / "inner").mkdir(parents=True)
    for name in ("__init__.py", "inner/data.txt"):
        (tmp_path / "mine" / name).write_text(name)
    monkeypatch.syspath_prepend(str(tmp_path))
    return made


@pytest.mark.parametrize(("odd", "is_known"), [("not a module !!", True), ("..", True), ("no_such_module:x", False)])
def test_what_an_entry_point_names_harms_nobody(odd: str, is_known: bool, metadata: Path) -> None:
    """A name without a module has no code; equality of missing code is unknown."""
    alone = code_digest("some-mine")
    assert alone is not None
    (metadata / "entry_points.txt").write_text(f"[assignment_api]\nmine = mine\nodd = {odd}\n")
    assert code_digest("some-mine") == (alone if is_known else None)


def test_links_that_lead_round_are_not_followed(metadata: Path) -> None:
    before = code_digest("some-mine")
    assert before is not None
    for name in ("first", "second"):
        (metadata.parent / "mine" / name).symlink_to(metadata.parent / "mine", target_is_directory=True)
    assert code_digest("some-mine") == before
