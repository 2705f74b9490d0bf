from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from assignor_lab.documents.durable import UNFINISHED, replacing, write_durably
from assignor_lab.documents.errors import OutputFileError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def half_written(path: Path) -> None:
    with replacing(path) as part:
        part.write_bytes(b"half")
        raise RuntimeError("half way")


def test_a_file_takes_its_place_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with replacing(path) as part:
        part.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.txt"]


def test_what_fails_half_way_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="half way"):
        half_written(path)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_content_is_on_disk_before_its_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        steps.append(("sync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        real_sync(descriptor)

    def replace(path: Path, target: Path) -> Path:
        steps.append(("name", str(target)))
        return real_replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    write_durably(tmp_path / "a.txt", b"new")
    (first, content), *rest = steps
    assert first == "sync"
    assert Path(content).match(UNFINISHED)
    assert rest == [("name", str(tmp_path / "a.txt")), ("sync", str(tmp_path))]


def test_mode_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_durably(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


@pytest.mark.parametrize(("name", "reason"), [("missing/a.txt", "No such file or directory"), ("", "Is a directory")])
def test_what_cannot_be_written_is_named(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(OutputFileError, match=f"{tmp_path / name}: cannot be written: {reason}; name a file"):
        write_durably(tmp_path / name, b"new")
    assert names(tmp_path) == []


@pytest.mark.slow
def test_a_limit_of_size_leaves_the_old_file_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"old")
    program = (
        "import resource, signal, sys; from assignor_lab.documents.durable import write_durably\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_durably(sys.argv[1], bytes(5000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.txt")], capture_output=True, text=True, check=False
    )
    assert "OutputFileError" in done.stderr
    assert "a.txt: cannot be written: File too large" in done.stderr
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.slow
def test_a_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"old")
    program = (
        "import os, signal, sys; from assignor_lab.documents.durable import replacing\n"
        "with replacing(sys.argv[1]) as part:\n"
        "    part.write_bytes(b'half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.txt")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    (left,) = tmp_path.glob(UNFINISHED)
    assert names(tmp_path) == sorted([left.name, "a.txt"])
