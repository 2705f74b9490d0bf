"""Temporary folders are removed by their owner, and by the next process if the owner was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assignor_lab.runtime.isolation.folders import HeldFolder, held_folder

pytestmark = pytest.mark.slow

PREFIX = "assignor-trial-"
KILLED = f"""
import os, signal
from assignor_lab.runtime.isolation.folders import HeldFolder
print(HeldFolder.make({PREFIX!r}).path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def killed(place: Path) -> Path:
    environment = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    folder = Path(done.stdout.strip())
    (folder / "deep").mkdir()
    return folder


def aged(folder: Path) -> Path:
    os.utime(folder, (0, 0))
    return folder


def test_a_folder_is_removed_at_the_end() -> None:
    with held_folder(PREFIX) as folder:
        (folder / "file").write_text("x")
    assert not folder.exists()


def test_the_folder_of_a_killed_process_is_removed_by_the_next_one(place: Path) -> None:
    abandoned, young, other = aged(killed(place)), killed(place), place / f"{PREFIX}without-lock"
    other.mkdir()
    aged(other)
    mine = HeldFolder.make(PREFIX)
    assert not abandoned.exists()
    assert young.exists(), "it may just be made"
    assert other.exists(), "it is not one of ours"
    mine.release()


def test_a_folder_in_use_stays(place: Path) -> None:
    held = HeldFolder.make(PREFIX)
    aged(Path(held.path))
    code = f"from assignor_lab.runtime.isolation.folders import HeldFolder; HeldFolder.make({PREFIX!r})"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(place)}, timeout=60, check=True)
    assert Path(held.path).exists()
    held.release()
