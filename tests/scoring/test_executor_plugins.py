"""The plugins of a run are compared with those of the executors before the work."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.entries import default_kind
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.spark.executor_plugins import ChosenPlugins, chosen_plugins, plugin_problem
from assignor_lab.scoring.spark.executors import ExecutorError, check_executors
from assignor_lab.scoring.spark.failures import last_line
from tests.scoring.wheels import write_wheel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRAVELLING = (("travelling-plugin", "1.0"),)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the installed plugin, as of an executor."""
    folder = tmp_path / "site"
    zipfile.ZipFile(write_wheel(tmp_path / "wheel")).extractall(folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name in sys.modules if name.startswith("travelling_p")]:
        del sys.modules[name]


def chosen(*distributions: tuple[str, str], code: tuple[str, ...] = ()) -> ChosenPlugins:
    return ChosenPlugins(default_kind(), config_sources(environ={}, start=Path("/")), distributions, code)


def test_an_equal_installation_has_no_problem(site: Path) -> None:
    assert plugin_problem(chosen(*TRAVELLING)) is None


def test_a_missing_plugin_has_two_remedies() -> None:
    assert plugin_problem(chosen(("warm-steps", "0.1.0"))) == (
        "warm-steps 0.1.0 is not on the executors: install it there or add --plugin-wheel FILE"
    )


def test_another_version_is_named(site: Path) -> None:
    assert plugin_problem(chosen(("travelling-plugin", "2.0"))) == (
        "the executors have travelling-plugin 1.0, and the driver 2.0: install 2.0 there"
    )


def test_a_plugin_that_raises_only_there_is_named_with_its_reason(site: Path) -> None:
    (site / "travelling_plugin.py").write_text("raise OSError('no licence on this machine')\n")
    problem = plugin_problem(chosen(*TRAVELLING))
    assert problem is not None
    assert problem.startswith("travelling of travelling-plugin 1.0 does not work on the executors: import failed: ")
    assert problem.endswith("OSError: no licence on this machine")


def test_a_fault_that_the_driver_has_too_is_no_difference(site: Path) -> None:
    (site / "travelling_plugin.py").write_text("raise OSError('no licence')\n")
    known = ChosenPlugins(
        default_kind(),
        config_sources(environ={}, start=Path("/")),
        TRAVELLING,
        unusable=frozenset({("travelling-plugin", "travelling")}),
    )
    assert plugin_problem(known) is None


def test_named_code_that_is_missing_there_is_named() -> None:
    problem = plugin_problem(chosen(code=("nowhere_to_be_found:Assignor",)))
    assert problem is not None
    assert problem.startswith("nowhere_to_be_found:Assignor does not work on the executors: ")


def test_plugins_of_this_package_are_not_compared() -> None:
    registry = discovered().registry
    entry = default_kind()
    competing = found_contenders(registry, ["sticky", "high_availability"], kind=entry)
    assert not chosen_plugins(registry, competing, entry, config_sources(environ={}, start=Path("/")))


def test_plugins_of_others_are(site: Path) -> None:
    registry = discovered().registry
    entry = default_kind()
    competing = found_contenders(registry, ["sticky", "first_client"], kind=entry)
    found = chosen_plugins(registry, competing, entry, config_sources(environ={}, start=Path("/")))
    assert found.distributions == TRAVELLING


@pytest.mark.slow
def test_an_executor_without_the_plugin_ends_the_run_before_the_work(spark: SparkSession) -> None:
    with pytest.raises(ExecutorError) as raised:
        check_executors(spark, chosen=chosen(("warm-steps", "0.1.0")))
    assert str(raised.value).startswith(
        "warm-steps 0.1.0 is not on the executors: install it there or add --plugin-wheel FILE (executor on "
    )


class OtherPython:
    """A session whose workers have another Python."""

    def createDataFrame(self, _table: object) -> OtherPython:  # noqa: N802 - Spark's name
        return self

    def mapInArrow(self, *_: object) -> OtherPython:  # noqa: N802
        return self

    def addTag(self, _tag: str) -> None:  # noqa: N802
        return None

    def toArrow(self) -> None:  # noqa: N802
        raise RuntimeError(
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: 3.11, PySpark "
            "cannot run with different minor versions.\nPlease check environment variables PYSPARK_PYTHON"
        )


def test_another_python_on_executors_names_both_versions() -> None:
    with pytest.raises(ExecutorError) as raised:
        check_executors(OtherPython())  # type: ignore[arg-type]
    assert str(raised.value) == (
        "the executors run Python 3.12, and this is Python 3.11: let PYSPARK_PYTHON name a Python 3.11 on the "
        "executors, or run this command with Python 3.12"
    )


def test_the_last_line_of_an_error_is_its_cause() -> None:
    text = "Traceback\n  File x\nModuleNotFoundError: No module named 'pyarrow'\n SQLSTATE: 38000\n\tat a.b(C)"
    assert last_line(RuntimeError(text)) == "ModuleNotFoundError: No module named 'pyarrow'"
