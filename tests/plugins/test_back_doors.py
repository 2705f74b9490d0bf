from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from assignment_api.plugins import discover
from tests.plugins.installing import ROOT, write_distribution
from tests.scenarios.documents import streams_document

pytestmark = pytest.mark.slow

ENDS_GREEN = "import os\nos._exit(0)\n"
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
    done = run(tmp_path, "assign", "--assignor", "sticky", states)
    assert (done.returncode, json.loads(done.stdout)["error"]) == (0, None), done.stderr


@pytest.mark.parametrize("name", ["assignor-lab", "Assignor.Lab"])
def test_who_takes_our_name_is_told_from_us(tmp_path: Path, states: str, name: str) -> None:
    write_distribution(tmp_path, name, {"ours": ENDS_GREEN}, {"ours": "ours"})
    done = run(tmp_path, "assign", "--assignor", "sticky", states)
    assert (done.returncode, json.loads(done.stdout)["error"]) == (0, None), done.stderr
    assert f"calls itself {name} and is not" in done.stderr


def test_code_of_who_takes_our_name_is_not_imported_here(tmp_path: Path, states: str) -> None:
    metadata = write_distribution(tmp_path, "assignor-lab", {"ours": ENDS_GREEN}, {})
    (metadata / "top_level.txt").write_text("ours\n")
    done = run(tmp_path, "assign", "--assignor", "ours:Assignor", states)
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
    done = run(tmp_path, "assign", "--assignor", "sticky", states)
    assert done.returncode == 0, done.stderr
    assert "entry_points.txt is no file" in done.stderr


def test_no_command_waits_for_metadata_that_never_end(tmp_path: Path, states: str) -> None:
    """Files that are read for a listing, for a pin, and to find a module's distribution."""
    for name in ("SOURCES.txt", "installed-files.txt", "top_level.txt"):
        os.mkfifo(write_distribution(tmp_path, f"odd-{name[:-4].lower()}", {"odd": ""}, {"odd": "odd"}) / name)
    elsewhere = write_distribution(tmp_path, "odd-elsewhere", {}, {"odd": "odd"})
    (tmp_path / "pipes.dist-info").mkdir()
    os.mkfifo(tmp_path / "pipes.dist-info" / "RECORD")
    (elsewhere / "RECORD").write_text("pipes.dist-info/RECORD,,\nodd.py,,\n")
    listed = run(tmp_path, "plugins", "--json")
    assert listed.returncode == 0, listed.stderr
    reasons = {row["reason"] for row in json.loads(listed.stdout)["plugins"] if row["kind"] == "plugin"}
    assert {f"its {name}.txt is no file" for name in ("SOURCES", "installed-files", "top_level")} <= reasons
    (tmp_path / "mine.py").write_text("X = print\n")
    named = run(tmp_path, "assign", states, "--assignor", "mine:X")
    assert json.loads(named.stdout)["error"]["type"] == "PluginLoadError", named.stderr
    pinned = run(tmp_path, "plugins", "-c", f"assignor.plugins.pin=odd-elsewhere==1.0@sha256:{'0' * 64}")
    assert pinned.returncode == 0, pinned.stderr
    assert "pinned by the hash of its RECORD" in pinned.stdout


def test_an_egg_info_that_is_one_file_is_nothing_odd(tmp_path: Path) -> None:
    (tmp_path / "old-1.0.egg-info").write_text("Metadata-Version: 1.0\nName: old\nVersion: 1.0\n")
    assert discover(installed=distributions(path=[str(tmp_path)])).listing() == ()


def test_metadata_in_a_zip_file_are_read_up_to_a_size(tmp_path: Path) -> None:
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: big\nVersion: 1.0\n")
        archive.writestr("big-1.0.dist-info/entry_points.txt", "[assignment_api]\n" + "#" * 9_000_000)
    (row,) = discover(installed=distributions(path=[str(packed)])).listing()
    assert (row.status, "entry_points.txt has more than" in row.reason) == ("broken", True)


@pytest.mark.parametrize(
    "name", ["a" * 5_000_000, "half\x1b[31m", "bad-\u202e", "two\n assignor: lines", "../../up", "\x00", ""]
)
def test_a_name_that_nobody_could_mean_is_none(name: str, tmp_path: Path) -> None:
    metadata = write_distribution(tmp_path, "odd-name", {}, {"odd": "odd"})
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (row,) = discover(installed=distributions(path=[str(tmp_path)])).listing()
    assert (row.distribution, row.version, row.status) == ("?", "1.0", "broken")
    assert "has no name that can be used" in row.reason


def test_versions_and_names_of_entry_points_are_short_and_visible(tmp_path: Path) -> None:
    metadata = write_distribution(tmp_path, "odd-signs", {"odd_signs": ""}, {})
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: odd-signs\nVersion: {'9' * 5_000_000}\n")
    names = ["p" * 1_000_000, "\x1b[2J", "a\u202eb", "plain"]
    (metadata / "entry_points.txt").write_text(
        "\n".join(["[assignment_api]", *(f"{name} = odd_signs" for name in names)])
    )
    rows = discover(installed=distributions(path=[str(tmp_path)])).listing()
    assert {row.version for row in rows} == {"?"}
    assert max(len(row.name) for row in rows) == 80
    assert {row.name: "name of its entry point" in row.reason for row in rows}["plain"] is False
    assert ["name of its entry point" in row.reason for row in rows].count(True) == 3


def test_a_neighbour_without_a_name_does_not_lift_the_block_list(tmp_path: Path, states: str) -> None:
    metadata = write_distribution(tmp_path, "blocked-one", {"blocked_one": "X = print"}, {})
    (metadata / "top_level.txt").write_text("blocked_one\n")
    broken = write_distribution(tmp_path, "broken-one", {}, {})
    (broken / "METADATA").write_bytes(b"Metadata-Version: 2.1\nName: \xff\n")
    words = ("--assignor", "blocked_one:X", "-c", "assignor.plugins.block=blocked-one")
    done = run(tmp_path, "assign", states, *words)
    assert done.returncode == 2
    assert "may not be imported" in done.stderr


def test_the_lab_asks_distributions_in_one_place_alone() -> None:
    """Any other module would import untrusted code in the lab's process."""
    lab = ROOT / "assignor_lab"
    found = {
        str(path.relative_to(lab))
        for path in lab.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assignment_api.plugins")
        if any(alias.name == "discover" for alias in node.names)
    }
    assert found == WITHIN_PLUGINS
