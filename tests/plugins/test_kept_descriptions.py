"""Descriptions of plugins that later commands use again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assignor_lab.runtime.discovery import discovered
from assignor_lab.runtime.discovery.kept_descriptions import CACHE_VARIABLE, cache_folder
from tests.plugins.installing import installed_in, write_distribution

PLUGIN = """
    from pathlib import Path
    from assignment_api import TaskAssignor
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl

    with Path({note!r}).open("a") as file:
        file.write("imported\\n")

    class Kept(TaskAssignor):
        def assign(self, application):
            raise LookupError("nowhere")

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("kept", Kept, summary="{summary}")]
"""


class Installed:
    """A plugin with a list of its files, as pip writes it."""

    def __init__(self, site: Path) -> None:
        self.site, self.note = site, site.parent / "note"
        self.record = write_distribution(site, "kept-plugin", {"kept_plugin": ""}, {"kept": "kept_plugin"}) / "RECORD"
        self.write("first", "kept_plugin.py")

    def write(self, summary: str, *files: str) -> None:
        text = PLUGIN.replace("{note!r}", repr(str(self.note))).replace("{summary}", summary)
        (self.site / "kept_plugin.py").write_text("\n".join(line[4:] for line in text.splitlines()))
        folder = self.record.parent.name
        names = (*files, f"{folder}/METADATA", f"{folder}/entry_points.txt")
        self.record.write_text("".join(f"{name},,\n" for name in names) + f"{folder}/RECORD,,\n")

    def imports(self) -> int:
        return len(self.note.read_text().splitlines())

    def summaries(self) -> list[str]:
        return [row.summary for row in discovered().registry.listing() if row.distribution == "kept-plugin"]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr("assignment_api.plugins.discovery.distributions", lambda: installed_in(site))
    return Installed(site)


def test_a_plugin_is_described_once(installed: Installed) -> None:
    assert [installed.summaries() for _ in range(3)] == [["first"]] * 3
    assert installed.imports() == 1


def test_a_changed_plugin_is_described_again(installed: Installed) -> None:
    assert installed.summaries() == ["first"]
    installed.write("second", "kept_plugin.py")
    assert installed.summaries() == ["second"]
    assert installed.imports() == 2


def test_an_installation_beside_it_describes_it_again(installed: Installed) -> None:
    installed.summaries()
    (installed.site / "beside.py").write_text("")
    installed.summaries()
    assert installed.imports() == 2


@pytest.mark.parametrize("files", [("__editable__.kept.pth",), ("absent.py",)])
def test_a_plugin_with_unlisted_files_is_described_each_time(installed: Installed, files: tuple[str, ...]) -> None:
    installed.write("first", *files)
    assert [installed.summaries() for _ in range(2)] == [["first"]] * 2
    assert installed.imports() == 2


def test_a_plugin_with_a_problem_is_described_each_time(installed: Installed) -> None:
    with (installed.site / "kept_plugin.py").open("a") as file:
        file.write("\n@hookimpl\ndef assignor_lab_metrics():\n    return [1]\n")
    assert [len(installed.summaries()) for _ in range(2)] == [2, 2]
    assert installed.imports() == 2


def _shortened(cache: Path) -> None:
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-5])


def _of_other_form(cache: Path) -> None:
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_text('{"offers": [["task-assignor", {}]], "problems": []}')


def _unwritable(cache: Path) -> None:
    for path in sorted(cache.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    cache.rmdir()
    cache.write_text("no folder")


@pytest.mark.parametrize("spoil", [_shortened, _of_other_form, _unwritable])
def test_a_broken_cache_is_none(installed: Installed, tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    installed.summaries()
    spoil(tmp_path / "cache")
    assert installed.summaries() == ["first"]
    assert installed.imports() == 2


def test_an_empty_variable_keeps_nothing(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert [installed.summaries() for _ in range(2)] == [["first"]] * 2
    assert installed.imports() == 2


def test_the_folder_is_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (CACHE_VARIABLE, "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache_folder() is None
    monkeypatch.setenv("HOME", os.sep + "home")
    assert cache_folder() == Path("/home/.cache/assignor-lab")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder() == Path("/cache/assignor-lab")
