"""A test that does not run is a failure, for any reason."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "body",
    [
        "def test_it():\n    pytest.skip('the reason')",
        "@pytest.mark.skip(reason='the reason')\ndef test_it():\n    pass",
        "@pytest.mark.xfail(reason='the reason', strict=False)\ndef test_it():\n    assert False",
        "@pytest.mark.xfail(reason='the reason', strict=False)\ndef test_it():\n    pass",
        "def test_it():\n    pytest.xfail('the reason')",
        "@pytest.fixture\ndef broken():\n    pytest.skip('the reason')\n\ndef test_it(broken):\n    pass",
        "pytest.skip('the reason', allow_module_level=True)",
        "pytest.importorskip('no_such_module', reason='the reason')",
    ],
)
def test_what_does_not_run_fails_with_its_reason(body: str, tmp_path: Path) -> None:
    done = run_pytest(f"import pytest\n\n{body}\n\ndef test_other():\n    pass\n", tmp_path)
    assert done.returncode != 0
    assert "the reason" in done.stdout


def test_an_empty_parameter_list_fails(tmp_path: Path) -> None:
    body = "import pytest\n\n@pytest.mark.parametrize('case', [])\ndef test_it(case):\n    pass\n"
    assert run_pytest(body, tmp_path).returncode == 1


def test_no_tests_at_all_fail(tmp_path: Path) -> None:
    assert run_pytest("", tmp_path).returncode == 5


def test_a_test_that_runs_is_fine(tmp_path: Path) -> None:
    assert run_pytest("def test_it():\n    pass\n", tmp_path).returncode == 0


FAST = """
import subprocess
import pytest

@pytest.mark.parametrize("case", range(3))
def test_a_sample_runs(case):
    assert case == 0

@pytest.mark.slow
def test_a_slow_one_is_left_out():
    raise AssertionError

def test_a_process_is_refused():
    with pytest.raises(RuntimeError, match="mark it with pytest.mark.slow"):
        subprocess.run(["true"])
"""


def test_the_inner_loop_runs_a_sample_without_processes(tmp_path: Path) -> None:
    done = run_pytest(FAST, tmp_path, str(tmp_path), "--fast")
    assert "2 passed, 3 deselected" in done.stdout, done.stdout


def test_files_that_are_begun_first_are_there() -> None:
    names = runpy.run_path(str(ROOT / "conftest.py"))["LONG_FILES"]
    assert [name for name in names if not (ROOT / "tests" / name).is_file()] == []


@pytest.fixture
def fresh_clone(tmp_path: Path) -> Path:
    """A clone without an installed example plugin: its tests cannot be imported."""
    plugin = tmp_path / "plugins" / "assignor-acme"
    plugin.mkdir(parents=True)
    (plugin / "pyproject.toml").write_text('[project]\nname = "assignor-acme"\n', encoding="utf-8")
    (plugin / "test_acme.py").write_text("import assignor_acme\n\ndef test_it():\n    pass\n", encoding="utf-8")
    return tmp_path


def test_plain_pytest_names_an_example_plugin_that_is_not_installed_and_runs_the_rest(fresh_clone: Path) -> None:
    done = run_pytest("def test_it():\n    pass\n", fresh_clone)
    assert done.returncode == 0
    assert (
        "left out: the tests in plugins/assignor-acme: the plugin is not installed, run `make plugins`" in done.stdout
    )


@pytest.mark.parametrize("named", ["plugins", "plugins/assignor-acme", "plugins/assignor-acme/test_acme.py::test_it"])
def test_tests_of_an_example_plugin_that_are_named_are_not_left_out(named: str, fresh_clone: Path) -> None:
    done = run_pytest("def test_it():\n    pass\n", fresh_clone, "test_case.py", named)
    assert done.returncode == 4
    assert "plugins/assignor-acme: the plugin is not installed, run `make plugins`" in done.stderr


def run_pytest(text: str, folder: Path, *named: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "test_case.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    command += named or [str(folder)]
    # Plugins of other distributions would take seconds in each run, without effect here.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
