"""A test that does not run is a failure, whatever kept it from running."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_files_that_are_begun_first_are_there() -> None:
    names = runpy.run_path(str(ROOT / "conftest.py"))["LONG_FILES"]
    assert [name for name in names if not (ROOT / "tests" / name).is_file()] == []


def run_pytest(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one test file under the repository's conftest."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "test_case.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    # Plugins of other distributions would cost each run seconds, and decide nothing here.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
