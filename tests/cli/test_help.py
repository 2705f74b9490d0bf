from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from assignor_lab.cli.app import GROUPS, build_app
from assignor_lab.cli.connect import GROUPS as CONNECT_GROUPS

pytestmark = pytest.mark.slow


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


ALL = sorted(commands(typer.main.get_command(build_app())))


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    return build_app()


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_fits_80_columns_and_names_values_as_a_user_would(app: typer.Typer, path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], prog_name="assignor", env={"COLUMNS": "80"})
    assert shown.exit_code == 0
    assert max(map(len, shown.output.splitlines())) <= 80
    assert "range>" not in shown.output
    assert "...]" not in shown.output
    options = [line for line in shown.output.splitlines() if re.match(r"\s+-", line)]
    assert not [line for line in options if re.search(r"<[a-z]", line)]


@pytest.mark.parametrize(("path", "groups"), [((), GROUPS), (("connect",), CONNECT_GROUPS)])
def test_each_command_has_a_whole_sentence_in_its_group(
    path: tuple[str, ...], groups: dict[str, dict[str, str]]
) -> None:
    for words in ([*path, "--help"], None):
        shown = CliRunner().invoke(build_app(words), [*path, "--help"], env={"COLUMNS": "80"}).output
        listed = {line.split()[0] for line in shown.partition("\n\nLook a")[2].splitlines() if line.startswith("  ")}
        assert listed == {each[-1] for each in ALL if len(each) == len(path) + 1 and each[:-1] == path}
        assert "..." not in shown.partition("Options:")[2]
        for summary in [summary for commands in groups.values() for summary in commands.values()]:
            assert f"  {summary}\n" in shown
            assert len(summary) <= 60


def test_a_command_line_imports_its_own_command_alone() -> None:
    program = """
import sys
from assignor_lab.cli.main import main
try:
    main(["plugins", "--help"])
except SystemExit:
    print(*[name for name in sys.modules if name.startswith("assignor_lab.")])
"""
    modules = run_program(program).splitlines()[-1].split()
    assert "assignor_lab.cli.plugins" in modules
    assert {name.split(".")[1] for name in modules} == {"cli"}


def test_no_command_imports_a_room_before_it_runs() -> None:
    program = """
import sys
from assignor_lab.cli.app import build_app
build_app()
print(*sys.modules)
"""
    modules = run_program(program).split()
    lab = {name.split(".")[1] for name in modules if name.startswith("assignor_lab.")}
    assert lab == {"cli"}
    assert not {"assignment_api.plugins", "rich", "pydantic"} & set(modules)


@pytest.mark.parametrize("command", ["assign", "plan", "connect replay"])
def test_the_help_of_a_command_needs_no_pydantic(command: str) -> None:
    program = f"""
import sys
from assignor_lab.cli.app import build_app
words = {[*command.split(), "--help"]}
build_app(words)(args=words, standalone_mode=False)
assert "pydantic" not in sys.modules
"""
    assert "Usage:" in run_program(program)


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assignor_lab", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("assignor-lab ")


def test_help_names_the_values_of_the_rooms() -> None:
    from assignment_api.plugins.policy import ISOLATION
    from assignor_lab.cli.isolation_options import Isolate
    from assignor_lab.cli.plan_best import AtMost
    from assignor_lab.cli.wire import Kind
    from assignor_lab.kafka.wire import KINDS
    from assignor_lab.planning.orders.figures import FIGURES

    named: list[tuple[Any, Iterable[str]]] = [(AtMost, FIGURES), (Kind, KINDS), (Isolate, ISOLATION)]
    for option, values in named:
        assert option.__metadata__[0].help.endswith(f": {', '.join(values)}.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_installed_for_each_shell(shell: str) -> None:
    script = run_with_completion({"_ASSIGNOR_COMPLETE": f"source_{shell}"})
    assert "assignor" in script
    assert f"complete_{shell}" in script


def test_bash_completes_commands() -> None:
    asked = {"_ASSIGNOR_COMPLETE": "complete_bash", "COMP_WORDS": "assignor connect pl", "COMP_CWORD": "2"}
    assert run_with_completion(asked).split() == ["plan-static"]


def run_with_completion(environment: dict[str, str]) -> str:
    return run_program("from assignor_lab.cli.main import main; main()", environment)


def run_program(program: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout
