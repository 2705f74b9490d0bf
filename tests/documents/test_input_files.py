from __future__ import annotations

import gzip
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from assignment_api import input_files
from assignment_api.input_files import open_input, read_input
from assignor_lab.documents.lines import bounded_lines


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "PATIENCE_S", 0.1)


def pipe(folder: Path) -> Path:
    made = folder / "pipe"
    os.mkfifo(made)
    return made


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    with open_input(tmp_path / "a") as stream:
        assert (stream.peek(3)[:3], stream.read()) == (b"con", b"content")
    assert read_input(os.devnull) == b""


def test_a_pipe_without_a_writer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no process writes to"):
        open_input(pipe(tmp_path))


@pytest.mark.parametrize("content", [b"", b"x", b"line\n" * 100_000])
def test_a_pipe_is_read_to_the_end_of_its_writer(tmp_path: Path, content: bytes) -> None:
    path = pipe(tmp_path)
    writer = threading.Thread(target=lambda: path.write_bytes(content))
    writer.start()
    assert read_input(path) == content
    writer.join()


@pytest.mark.slow
def test_a_writer_may_take_its_time(tmp_path: Path) -> None:
    path = pipe(tmp_path)

    def write() -> None:
        with path.open("wb", buffering=0) as stream:
            for part in (b"a\n", b"b\n"):
                threading.Event().wait(3 * input_files.PATIENCE_S)
                stream.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    assert [line for _, line in bounded_lines(path)] == [b"a\n", b"b\n"]
    writer.join()


def test_a_pipe_may_bring_gzip(tmp_path: Path) -> None:
    path = pipe(tmp_path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(b"a\nb\n")))
    writer.start()
    assert [line for _, line in bounded_lines(path)] == [b"a\n", b"b\n"]
    writer.join()


def a_socket(folder: Path) -> Path:
    made = folder / "socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.relpath(made))
    listener.close()
    return made


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda folder: folder, "Is a directory"),
        (a_socket, "is a socket or a device"),
        (lambda _: "/dev/zero", "is a device, not a file"),
        (lambda folder: folder / "gone", "No such file"),
    ],
)
def test_what_is_no_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Path | str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match=why):
        open_input(make(tmp_path))
