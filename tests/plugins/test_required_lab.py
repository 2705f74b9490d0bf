from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from assignment_api.plugins import discover
from assignment_api.plugins.required_lab import _holds, _numbers, unmet_requirement
from tests.plugins.installing import installed_in, write_distribution

FUTURE = "from assignment_api import AssignorOfNextYear\n"


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "next_year", raising=False)


def plugin(folder: Path, *requirements: str, code: str = FUTURE) -> Path:
    written = write_distribution(folder, "of-next-year", {"next_year": code}, {"next_year": "next_year"})
    with (written / "METADATA").open("a") as file:
        file.writelines(f"Requires-Dist: {each}\n" for each in requirements)
    return written


def reason(folder: Path) -> str:
    (row,) = [row for row in discover(installed=installed_in(folder)).listing() if row.distribution == "of-next-year"]
    return row.reason


def test_a_plugin_for_a_later_lab_names_the_release_that_it_needs(tmp_path: Path) -> None:
    plugin(tmp_path, "attrs>=1", "Assignor.Lab[cli]>=9")
    assert reason(tmp_path) == "needs assignor-lab >= 9, installed 1.0.0"


def test_the_processes_of_plugins_name_it_too(tmp_path: Path) -> None:
    plugin(tmp_path, "assignor-lab>=9")
    command = [sys.executable, "-m", "assignor_lab.cli.main", "plugins", "--json"]
    root = Path(__file__).resolve().parents[2]
    environment = {"PATH": "/usr/bin", "PYTHONPATH": f"{root}:{tmp_path}", "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path)
    assert "needs assignor-lab >= 9, installed 1.0.0" in json.dumps(json.loads(done.stdout)), done.stderr


@pytest.mark.parametrize("requirement", ["assignor-lab>=0.1", "assignor-lab", "assignor-lab>=9; extra == 'next'", "=="])
def test_an_error_under_a_release_that_suffices_stays(requirement: str, tmp_path: Path) -> None:
    plugin(tmp_path, requirement)
    assert "ImportError: cannot import name 'AssignorOfNextYear'" in reason(tmp_path)


def test_a_plugin_that_works_is_available_whatever_it_requires(tmp_path: Path) -> None:
    code = """
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("next_year", object)]
    """
    plugin(tmp_path, "assignor-lab>=9", code=code)
    assert reason(tmp_path) == ""


def test_metadata_that_cannot_be_read_has_no_requirement(tmp_path: Path) -> None:
    written = plugin(tmp_path, "assignor-lab>=9")
    (written / "METADATA").write_bytes(b"\xff\xfe\x00")
    assert unmet_requirement("of-next-year", PathDistribution(written)) is None
    assert unmet_requirement("not-installed-at-all", None) is None


@pytest.mark.parametrize(
    ("installed", "sign", "version", "holds"),
    [
        ("0.1.0", ">=", "0.1", True),
        ("0.1.0", ">=", "0.2", False),
        ("1.10.0", ">=", "1.9", True),
        ("1.4.2", "~=", "1.4", True),
        ("2.0", "~=", "1.4", False),
        ("1.3", "~=", "1.4", False),
        ("1.4.9", "~=", "1.4.2", True),
        ("1.5", "~=", "1.4.2", False),
        ("1.0.0", "<", "1", False),
        ("0.9", "<", "1", True),
        ("1.0", "<=", "1.0.0", True),
        ("1.0", ">", "1", False),
        ("1.0", "==", "1", True),
        ("1.0.dev3", "==", "1", True),
    ],
)
def test_limits_are_compared_by_number(installed: str, sign: str, version: str, *, holds: bool) -> None:
    own = _numbers(installed)
    assert own is not None
    assert _holds(own, sign, version) is holds
