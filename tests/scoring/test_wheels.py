"""Wheels that may be sent to executors, and messages for the others. A wheel is checked before any import from it."""

from __future__ import annotations

import io
import stat
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import discover
from assignor_lab.scoring.spark import wheels as checking
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, WheelLostError, arrived, problem_on_arrival
from assignor_lab.scoring.spark.wheels import WheelError, checked_wheel, executor_wheels, lasting_wheels
from tests.scoring.wheels import METADATA, MODULES, WHEEL, write_wheel

ATTRS = version("attrs")


def refusal(path: Path, folder: Path) -> str:
    with pytest.raises(WheelError) as raised:
        checked_wheel(path, folder)
    assert len(str(raised.value).splitlines()) == 1
    return str(raised.value)


@pytest.mark.slow
def test_a_plugin_is_found_by_its_entry_point_while_it_travels_and_not_after(tmp_path: Path) -> None:
    before = list(sys.path)
    with executor_wheels([write_wheel(tmp_path)]) as (wheel,):
        found = discover().task_assignor("first_client")
        assert (found.distribution, found.version) == ("travelling-plugin", "1.0")
        assert (wheel.name, wheel.version) == ("travelling-plugin", "1.0")
        assert sys.path[: len(before)] == before
    assert sys.path == before
    assert "travelling_plugin" not in sys.modules
    assert "travelling_parts" not in sys.modules
    assert "first_client" not in {found.name for found in discover().task_assignors()}


def test_what_travels_is_what_was_checked(tmp_path: Path) -> None:
    path = write_wheel(tmp_path / "given")
    with executor_wheels([path]) as (wheel,):
        content = path.read_bytes()
        path.write_bytes(b"something else")
        assert wheel.path.read_bytes() == content


def test_no_wheels_are_nothing(tmp_path: Path) -> None:
    before = list(sys.path)
    with executor_wheels([]) as wheels:
        assert wheels == ()
        assert sys.path == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wheel": WHEEL.replace("none-any", "cp311-linux_x86_64")}, "made for py3-cp311-linux_x86_64"),
        ({"wheel": WHEEL.replace("true", "false")}, "not marked as pure"),
        ({"wheel": ""}, "not marked as pure"),
        ({"modules": {**MODULES, "travelling_parts/fast.so": b"\x7fELF"}}, "fast.so"),
        ({"modules": {**MODULES, "travelling_parts/fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF"}}, "fast.cpython"),
        ({"modules": {**MODULES, "travelling_parts.libs/libz.so.1": b"\x7fELF"}}, "libz.so.1"),
        ({"modules": {**MODULES, "travelling_plugin-1.0.data/purelib/more.py": ""}}, "only an installer"),
    ],
)
def test_a_wheel_that_is_not_pure_is_refused_with_a_remedy(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    text = refusal(write_wheel(tmp_path, **changes), tmp_path)
    assert message in text
    assert "install it on the executors (and here), and leave the wheel out" in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "travelling_plugin-1.0.zip"}, "ends with .whl"),
        ({"entry_points": None}, "no entry point of group assignment_api"),
        ({"entry_points": "[console_scripts]\nx = y:z\n"}, "no entry point of group assignment_api"),
        ({"entry_points": "no section\n"}, "entry point"),
        ({"metadata": "Metadata-Version: 2.1\nName: travelling-plugin\n"}, "METADATA cannot be read"),
        ({"metadata": "Metadata-Version: 2.1\nName: ../x\nVersion: 1.0\n"}, "METADATA cannot be read"),
        ({"metadata": METADATA + "Requires-Python: <3.9\n"}, "needs Python <3.9"),
        ({"requires": ["not a requirement !"]}, "METADATA cannot be read"),
        ({"metadata": METADATA.replace("travelling-plugin", "assignor_lab")}, "itself does not travel"),
        ({"metadata": METADATA.replace("travelling-plugin", "attrs")}, f"attrs {ATTRS} is installed here"),
        ({"modules": {**MODULES, "json.py": ""}}, "module 'json' is hidden"),
        ({"modules": {**MODULES, "assignment_api/__init__.py": ""}}, "module 'assignment_api' is hidden"),
        ({"record": {"travelling_plugin.py": ""}}, "not in its RECORD"),
        ({"record": {"travelling_plugin.py": "travelling_plugin.py,sha256=AAAA,3\n"}}, "differs from its RECORD"),
        ({"record": {"travelling_plugin.py": "travelling_plugin.py,,\n"}}, "without a hash"),
        ({"record": {"more.py": "more.py,sha256=AAAA,3\n"}}, "'more.py' is in its RECORD and not in the file"),
        ({"modules": {**MODULES, "../evil.py": ""}}, "'../evil.py' outside of itself"),
        ({"modules": {**MODULES, "a/../../evil.py": ""}}, "outside of itself"),
        ({"modules": {**MODULES, "/etc/evil.py": ""}}, "outside of itself"),
        ({"modules": {**MODULES, "..\\evil.py": ""}}, "outside of itself"),
        ({"modules": {**MODULES, "C:/evil.py": ""}}, "outside of itself"),
        ({"modules": {**MODULES, "other-1.0.dist-info/METADATA": ""}}, "2 folders .dist-info"),
    ],
)
def test_what_cannot_travel_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    assert message in refusal(write_wheel(tmp_path, **changes), tmp_path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MAX_UNPACKED_BYTES", 2**20)
    path = write_wheel(tmp_path, {**MODULES, "bomb.py": b"#" * 2**21})
    assert path.stat().st_size < 2**14
    assert "unpacks to more than" in refusal(path, tmp_path)


def test_a_bomb_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, {**MODULES, "bomb.py": b"#" * 2**21})
    content = path.read_bytes().replace((2**21).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    path.write_bytes(content)
    refusal(path, tmp_path)


def test_too_many_files_and_too_many_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_wheel(tmp_path)
    monkeypatch.setattr(checking, "MAX_MEMBERS", 3)
    assert "unpacks to more than 3 files" in refusal(path, tmp_path)
    monkeypatch.setattr(checking, "MAX_BYTES", 100)
    assert "install it on the executors instead" in refusal(path, tmp_path)


def rewritten(path: Path, change: Callable[[zipfile.ZipInfo], None], name: str) -> Path:
    """The wheel with one member's entry changed."""
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == name:
                change(info)
            new.writestr(info, data)
    return path


def test_links_are_refused(tmp_path: Path) -> None:
    def link(info: zipfile.ZipInfo) -> None:
        info.external_attr = (stat.S_IFLNK | 0o777) << 16

    path = rewritten(write_wheel(tmp_path), link, "travelling_plugin.py")
    assert "is a link or encrypted" in refusal(path, tmp_path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write_wheel(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("travelling_plugin.py", "import os")
    assert "two files 'travelling_plugin.py'" in refusal(path, tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_zip_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x-1.0-py3-none-any.whl"
    path.write_bytes(content)
    assert "is no wheel" in refusal(path, tmp_path)


def test_cut_and_changed_wheels_are_refused(tmp_path: Path) -> None:
    whole = write_wheel(tmp_path).read_bytes()
    path = tmp_path / "cut-1.0-py3-none-any.whl"
    for end in range(0, len(whole), 97):
        path.write_bytes(whole[:end])
        refusal(path, tmp_path)


@pytest.mark.parametrize(
    ("need", "message"),
    [
        ("surely-not-installed>=2", "needs surely-not-installed, which is not installed: install that here and on the"),
        ("attrs<1", f"needs attrs<1, and {ATTRS} is installed"),
    ],
)
def test_what_a_plugin_needs_is_missed_before_the_run(tmp_path: Path, need: str, message: str) -> None:
    with pytest.raises(WheelError) as raised, executor_wheels([write_wheel(tmp_path, requires=[need])]):
        pass
    assert message in str(raised.value)


def test_what_is_needed_under_other_conditions_only_is_not_missed(tmp_path: Path) -> None:
    needs = ['surely-not-installed; python_version < "3"', 'other; extra == "fast"', "assignor-lab>=0.1", "attrs"]
    with executor_wheels([write_wheel(tmp_path, requires=needs)]) as (wheel,):
        assert len(wheel.needs) == 4


def test_one_plugin_does_not_travel_twice(tmp_path: Path) -> None:
    paths = [write_wheel(tmp_path / name) for name in ("a", "b")]
    with pytest.raises(WheelError, match="two wheels are of travelling-plugin"), executor_wheels(paths):
        pass


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an installed plugin."""
    folder = tmp_path / "site"
    zipfile.ZipFile(write_wheel(tmp_path / "installed")).extractall(folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name in sys.modules if name.startswith("travelling_p")]:
        del sys.modules[name]


def test_the_wheel_of_what_is_installed_travels_and_is_not_found_twice(site: Path, tmp_path: Path) -> None:
    before = list(sys.path)
    with executor_wheels([write_wheel(tmp_path)]) as (wheel,):
        assert (wheel.name, wheel.version) == ("travelling-plugin", "1.0")
        assert sys.path == before
        assert discover().task_assignor("first_client").distribution == "travelling-plugin"


def test_the_wheel_of_an_editable_installation_travels(site: Path, tmp_path: Path) -> None:
    """Only its metadata are in the folder of the packages."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (site / "travelling_plugin-1.0.dist-info").rename(packages / "travelling_plugin-1.0.dist-info")
    sys.path.append(str(packages))
    with executor_wheels([write_wheel(tmp_path)]) as (wheel,):
        assert wheel.name == "travelling-plugin"


def test_a_wheel_that_is_not_what_is_installed_is_refused(site: Path, tmp_path: Path) -> None:
    (site / "travelling_parts" / "names.py").write_text('NAME = "other"\n')
    text = refusal(write_wheel(tmp_path), tmp_path)
    assert "travelling-plugin 1.0 is installed here with another 'travelling_parts/names.py'" in text
    assert text.endswith("install this wheel here, or build it again")


def test_wheels_of_frames_stay_and_are_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(checking, "_lasting_wheels", {})
    path = write_wheel(tmp_path)
    with ExitStack() as stack:
        monkeypatch.setattr(checking, "_lasting", stack)
        (wheel,) = lasting_wheels([path])
        assert lasting_wheels([path, path]) == (wheel,)
        assert sys.path.count(str(wheel.path)) == 1


def test_an_executor_with_the_release_does_not_use_the_wheel(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = travelled(tmp_path, monkeypatch)
    before = list(sys.path)
    assert problem_on_arrival([wheel]) is None
    assert sys.path == before


# --- on the executors -----------------------------------------------------------------------------


def travelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> ExecutorWheel:
    """A wheel on an executor: among the job's files."""
    wheel = checked_wheel(write_wheel(tmp_path, **changes), tmp_path)
    monkeypatch.setattr("pyspark.SparkFiles.get", lambda name: str(tmp_path / name))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return wheel


def test_a_wheel_that_arrived_is_on_the_path_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = travelled(tmp_path, monkeypatch)
    before = len(sys.path)
    assert problem_on_arrival([wheel]) is None
    arrived([wheel])
    assert sys.path[before:] == [str(wheel.path)]


def test_an_executor_says_what_a_plugin_needs_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = travelled(tmp_path, monkeypatch, requires=["surely-not-installed"])
    problem = problem_on_arrival([wheel])
    assert problem is not None
    assert "travelling-plugin 1.0 needs surely-not-installed, which is not installed there" in problem


def test_a_wheel_that_was_lost_or_changed_on_its_way_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = travelled(tmp_path, monkeypatch)
    wheel.path.write_bytes(b"other")
    with pytest.raises(WheelLostError, match="damaged"):
        arrived([wheel])
    wheel.path.unlink()
    with pytest.raises(WheelLostError, match="did not reach"):
        arrived([wheel])


def test_an_executor_with_another_version_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = travelled(tmp_path, monkeypatch)
    site = tmp_path / "site" / "travelling_plugin-0.9.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: travelling-plugin\nVersion: 0.9\n")
    sys.path.insert(0, str(site.parent))
    problem = problem_on_arrival([wheel])
    assert problem is not None
    assert "has travelling-plugin 0.9 installed" in problem
