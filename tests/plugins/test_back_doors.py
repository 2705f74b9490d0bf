"""Ways into the lab's process beside the entry points of plugins: others' entry points, our name, another discovery."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.installing import ROOT, write_distribution
from tests.scenarios.documents import streams_document

ENDS_GREEN = "import os\nos._exit(0)\n"
#: They ask distributions in the process that they are in: one for each plugin, and the one that all of them start from.
WITHIN_PLUGINS = {"runtime/isolation/launcher.py", "runtime/isolation/handlers.py", "runtime/discovery/discovered.py"}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "400"}
    command = [sys.executable, "-m", "assignor_lab.cli.main", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def states(tmp_path: Path) -> str:
    (tmp_path / "states.jsonl").write_text(json.dumps(streams_document()) + "\n")
    return str(tmp_path / "states.jsonl")


def test_what_is_offered_to_the_checker_of_types_is_not_imported(tmp_path: Path, states: str) -> None:
    metadata = write_distribution(tmp_path, "offers-checks", {"checks": ENDS_GREEN}, {})
    (metadata / "entry_points.txt").write_text("[typeguard.checker_lookup]\nmine = checks:look\n")
    done = run(tmp_path, "assign", "--assignor", "sticky", "--scenarios", states)
    assert (done.returncode, json.loads(done.stdout)["error"]) == (0, None), done.stderr


@pytest.mark.parametrize("name", ["assignor-lab", "Assignor.Lab"])
def test_who_takes_our_name_is_told_from_us(tmp_path: Path, states: str, name: str) -> None:
    write_distribution(tmp_path, name, {"ours": ENDS_GREEN}, {"ours": "ours"})
    done = run(tmp_path, "assign", "--assignor", "sticky", "--scenarios", states)
    assert (done.returncode, json.loads(done.stdout)["error"]) == (0, None), done.stderr
    assert f"calls itself {name} and is not" in done.stderr


def test_code_of_who_takes_our_name_is_not_imported_here(tmp_path: Path, states: str) -> None:
    metadata = write_distribution(tmp_path, "assignor-lab", {"ours": ENDS_GREEN}, {})
    (metadata / "top_level.txt").write_text("ours\n")
    done = run(tmp_path, "assign", "--assignor", "ours:Assignor", "--scenarios", states)
    assert done.returncode == 2
    assert "ours:Assignor" in done.stderr


def test_a_record_that_is_no_text_breaks_no_list(tmp_path: Path) -> None:
    metadata = write_distribution(tmp_path, "odd-record", {"odd": ""}, {"odd": "odd"})
    (metadata / "RECORD").write_bytes(b"\xff\xfe\n")
    done = run(tmp_path, "plugins", "--json")
    assert done.returncode == 0, done.stderr
    assert "odd-record" in done.stdout


def test_metadata_that_never_ends_is_not_read(tmp_path: Path, states: str) -> None:
    metadata = write_distribution(tmp_path, "odd-pipe", {"odd": ""}, {"odd": "odd"})
    (metadata / "entry_points.txt").unlink()
    os.mkfifo(metadata / "entry_points.txt")
    done = run(tmp_path, "assign", "--assignor", "sticky", "--scenarios", states)
    assert done.returncode == 0, done.stderr
    assert "entry_points.txt is no file" in done.stderr


def test_a_neighbour_without_a_name_does_not_lift_the_block_list(tmp_path: Path, states: str) -> None:
    metadata = write_distribution(tmp_path, "blocked-one", {"blocked_one": "X = print"}, {})
    (metadata / "top_level.txt").write_text("blocked_one\n")
    broken = write_distribution(tmp_path, "broken-one", {}, {})
    (broken / "METADATA").write_bytes(b"Metadata-Version: 2.1\nName: \xff\n")
    words = ("--assignor", "blocked_one:X", "-c", "assignor.plugins.block=blocked-one")
    done = run(tmp_path, "assign", "--scenarios", states, *words)
    assert done.returncode == 2
    assert "may not be imported" in done.stderr


def test_the_lab_asks_distributions_in_one_place_alone() -> None:
    """Every other module would import, in the lab's process, what nobody trusts."""
    lab = ROOT / "assignor_lab"
    found = {
        str(path.relative_to(lab))
        for path in lab.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assignment_api.plugins")
        if any(alias.name == "discover" for alias in node.names)
    }
    assert found == WITHIN_PLUGINS
