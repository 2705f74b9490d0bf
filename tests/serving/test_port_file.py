"""Only its owner can read the port file, and a stale one does no harm."""

from __future__ import annotations

import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from assignor_lab.documents.errors import OutputFileError
from assignor_lab.serving.errors import ServingError
from assignor_lab.serving.port_file import HOST, PortFile, read_port_file, withdraw, write_port_file
from tests.serving.conftest import TOKEN, Toy

SAID = PortFile(40_000, "token", 7, "toy")


def test_it_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "port"
    path.touch(0o644)
    write_port_file(path, SAID)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_port_file(path) == SAID
    assert [each.name for each in tmp_path.iterdir()] == ["port"]


def test_a_file_of_something_else_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    path.write_text("application.id=shop\n")
    with pytest.raises(ServingError, match="is no port file, and would be replaced: name another --port-file"):
        write_port_file(path, SAID)
    assert path.read_text() == "application.id=shop\n"


def test_that_of_a_dead_process_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "port"
    with socket.create_server((HOST, 0)) as closed:
        dead = PortFile(closed.getsockname()[1], "token", 6, "toy")
    write_port_file(path, dead)
    write_port_file(path, SAID)
    assert read_port_file(path) == SAID


def test_that_of_a_living_process_is_kept(tmp_path: Path, toys: Callable[..., Toy]) -> None:
    path = tmp_path / "port"
    living = PortFile(toys().server.port, TOKEN, 8, "toy")
    write_port_file(path, living)
    with pytest.raises(ServingError, match="process 8 serves toy by this file: stop it first"):
        write_port_file(path, SAID)
    assert read_port_file(path) == living


def test_a_stranger_at_the_port_does_not_count_as_living(tmp_path: Path, toys: Callable[..., Toy]) -> None:
    path = tmp_path / "port"
    write_port_file(path, PortFile(toys().server.port, "another token", 9, "toy"))
    write_port_file(path, SAID)
    assert read_port_file(path) == SAID


def test_it_goes_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "port"
    write_port_file(path, SAID)
    withdraw(path, PortFile(40_000, "of another", 7, "toy"))
    assert path.exists()
    withdraw(path, SAID)
    assert not path.exists()


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"port":0,"token":"t","pid":1,"assignor":"a"}', '{"port":"1","token":"t","pid":1}']
)
def test_anything_else_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "port").write_text(content)
    assert read_port_file(tmp_path / "port") is None


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputFileError, match="none/port: cannot be written"):
        write_port_file(tmp_path / "none" / "port", SAID)
