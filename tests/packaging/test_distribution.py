"""Wheel and sdist: their content, and that they work in an empty environment."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import Environment, build

pytestmark = pytest.mark.slow

PACKAGES = {"assignment_api", "builtin_assignors", "assignor_lab", "connect_workers", "pyspark_assignor"}

ROUND_ROBIN = '''
"""A plugin as an author would write it."""

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignor,
)


class RoundRobin(TaskAssignor):
    """Deals the tasks out in turn."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task."""
        clients = list(application.streams_client_states())
        hands: dict[int, list[AssignedTask]] = {place: [] for place in range(len(clients))}
        for number, task in enumerate(application.all_tasks()):
            hands[number % len(clients)].append(AssignedTask.active(task))
        return TaskAssignment([StreamsClientAssignment.of(clients[place], tasks) for place, tasks in hands.items()])
'''


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES


def test_each_package_says_that_it_is_typed(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if name.endswith("/py.typed")} == PACKAGES


def test_the_sdist_builds_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (project,) = (tmp_path / "unpacked").iterdir()
    rebuilt = build(project, "wheel", tmp_path / "rebuilt")
    assert sorted(zipfile.ZipFile(rebuilt).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_the_sdist_holds_the_example_plugin(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    example = Path(__file__).parents[2] / "plugins" / "assignor-round-robin"
    sources = {str(path.relative_to(example.parents[1])) for path in (example / "assignor_round_robin").glob("*.py")}
    assert sources
    assert {*sources, "plugins/assignor-round-robin/pyproject.toml", "plugins/assignor-round-robin/README.md"} <= names


def test_the_contract_imports_without_any_extra(core: Environment) -> None:
    done = core.run("python", "-I", "-c", "import assignment_api; print(assignment_api.SPI_VERSION)")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_an_answer_shows_itself_in_a_notebook_without_any_extra(core: Environment) -> None:
    done = core.run(
        "python", "-I", "-c", "import assignment_api; print(assignment_api.TaskAssignment([])._repr_html_())"
    )
    assert "<table" in done.stdout, done.stderr


def test_the_lab_and_the_built_ins_import_without_any_extra(core: Environment) -> None:
    done = core.run("python", "-I", "-c", "import assignor_lab, builtin_assignors")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_built_ins_are_found_by_entry_point(core: Environment) -> None:
    program = (
        "from importlib.metadata import entry_points\n"
        "(entry,) = entry_points(group='assignment_api', name='builtin')\n"
        "print(entry.load() is not None)"
    )
    done = core.run("python", "-I", "-c", program)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_the_command_without_its_extra_says_which_to_install(core: Environment) -> None:
    done = core.run("assignor", "--help")
    assert done.returncode == 2
    assert "assignor-lab[cli]" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        (("score", "x.jsonl", "--baseline", "sticky"), "cli,spark,report,statistics"),
        (("ui", "x.jsonl"), "cli,ui"),
        (("conformance", "sticky"), "cli,conformance"),
        (("plan", "x.jsonl", "roll", "--junit", "x.xml"), "cli,statistics"),
    ],
)
def test_a_command_names_all_extras_that_it_lacks(core: Environment, words: tuple[str, ...], extras: str) -> None:
    done = core.run("assignor", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"assignor-lab[{extras}]" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_plugin_type_checks_against_the_installed_wheel(core: Environment, tmp_path: Path) -> None:
    assert type_check(core, ROUND_ROBIN, tmp_path) == ""


def test_a_wrong_plugin_does_not_type_check(core: Environment, tmp_path: Path) -> None:
    wrong = ROUND_ROBIN.replace("-> TaskAssignment:", "-> str:")
    assert "incompatible with return type" in type_check(core, wrong, tmp_path)


def type_check(core: Environment, source: str, directory: Path) -> str:
    """Output of `mypy --strict` of this environment when it sees only the other environment."""
    from mypy import api

    plugin = directory / "plugin.py"
    plugin.write_text(source, encoding="utf-8")
    found, broken, _ = api.run(
        [
            "--strict",
            "--no-error-summary",
            "--config-file=",
            f"--cache-dir={directory / 'cache'}",
            f"--python-executable={core.python}",
            str(plugin),
        ]
    )
    assert broken == ""
    return found.replace("Success: no issues found in 1 source file\n", "")
