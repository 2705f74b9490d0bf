"""A plugin's changes in its folder are removed, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assignor_lab.runtime.isolation.folders import remove_folder


@pytest.mark.slow
def test_a_folder_of_any_depth_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for number in range(2_000):
        Path("file").write_text(str(number))
        Path("d").mkdir()
        os.chdir("d")
    monkeypatch.chdir(tmp_path)
    assert remove_folder(str(folder), 60)
    assert list(tmp_path.iterdir()) == []


def test_folders_that_may_not_be_entered_are_removed(tmp_path: Path) -> None:
    inner = tmp_path / "folder" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("")
    for path in (inner, inner.parent, inner.parent.parent):
        path.chmod(0)
    assert remove_folder(str(tmp_path / "folder"), 60)
    assert list(tmp_path.iterdir()) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    precious, folder, link = (tmp_path / name for name in ("precious", "folder", "link"))
    for path in (precious, folder):
        path.mkdir()
    (precious / "file").write_text("precious")
    (folder / "link").symlink_to(precious)
    link.symlink_to(precious)
    assert remove_folder(str(folder), 60)
    assert remove_folder(str(link), 60)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
    assert (precious / "file").read_text() == "precious"


def test_what_takes_too_long_stays(tmp_path: Path) -> None:
    (tmp_path / "folder" / "a").mkdir(parents=True)
    assert not remove_folder(str(tmp_path / "folder"), 0)
    assert remove_folder(str(tmp_path / "folder"), 60)
