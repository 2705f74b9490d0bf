from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from assignor_lab.cli import app, connect, main, missing_extras
from assignor_lab.cli.missing_extras import check_options
from assignor_lab.cli.missing_extras import missing_extras as lacking
from assignor_lab.cli.output_files import junit_file, report_file
from assignor_lab.documents.errors import OutputFileError


def absent(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    monkeypatch.setattr(missing_extras, "_is_installed", lambda module: module not in modules)


def test_all_missing_extras_of_a_command_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "typer", "rich", "pyspark", "pyarrow", "jinja2")
    modules, extras = lacking(["score", "states.jsonl"], "typer")
    assert modules == ["typer", "rich", "pyspark", "pyarrow", "jinja2"]
    assert extras == ["cli", "spark", "report"]


def test_options_name_their_extras_too(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "typer", "junitparser", "jinja2")
    _, extras = lacking(["plan", "group.jsonl", "roll", "--junit=x.xml", "--report", "page.html"], "typer")
    assert sorted(extras) == ["cli", "report", "statistics"]


def test_the_page_is_one_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "starlette", "uvicorn", "jinja2", "markupsafe")
    assert lacking(["ui", "group.jsonl"], "starlette")[1] == ["ui"]


def test_metrics_of_a_score_need_no_client_of_a_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "prometheus_client", "scipy")
    assert lacking(["score", "--metrics", "mine", "--baseline", "sticky"], "scipy")[1] == ["statistics"]
    assert "watch" in lacking(["record", "--metrics", "9000"], "prometheus_client")[1]


def test_sentences_of_a_past_need_no_extra_of_pages() -> None:
    code = "import sys; sys.modules['jinja2'] = None; import assignor_lab.report.sections.pasts"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_part_of_a_library_is_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "pyspark")
    assert lacking(["score"], "pyspark.sql.types") == (["pyspark"], ["spark"])


def test_a_module_of_no_extra_is_no_missing_extra() -> None:
    assert lacking(["score"], "my_plugin") == ([], [])


def test_a_source_that_needs_an_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "kafka")
    assert lacking(["history", "past"], "kafka.protocol") == (["kafka"], ["kafka"])


def test_an_option_without_its_extra_fails_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "junitparser")
    with pytest.raises(ModuleNotFoundError) as raised:
        check_options(["check", "past", "--junit", "x.xml"])
    assert raised.value.name == "junitparser"
    check_options(["check", "past"])


def test_main_knows_the_options_that_are_checked() -> None:
    assert frozenset(missing_extras.OPTIONS) == main._OPTIONS_WITH_EXTRAS


def test_each_command_of_the_table_exists() -> None:
    known = {name.rstrip("_").replace("_", "-") for name in app.COMMANDS}
    known |= {f"connect {name.rpartition('.')[2].rstrip('_').replace('_', '-')}" for name in connect.COMMANDS}
    assert missing_extras.COMMANDS.keys() <= known


@pytest.mark.parametrize("extra", missing_extras.EXTRAS)
def test_an_extra_installs_its_modules(extra: str) -> None:
    """The requirements of `[extra]`, and theirs, have the modules of the table."""
    distributions = metadata.packages_distributions()
    brought = required_by("assignor-lab", extra)
    for module in missing_extras.EXTRAS[extra]:
        assert {name.lower().replace("_", "-") for name in distributions[module]} & brought, module


def required_by(distribution: str, extra: str, *, deep: bool = True) -> set[str]:
    """Names that an extra requires, with those of the requirements themselves."""
    found: set[str] = set()
    for text in metadata.requires(distribution) or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            found.add(requirement.name.lower().replace("_", "-"))
            for inner in (*requirement.extras, "") if deep else ():
                found |= required_by(requirement.name, inner, deep=False)
    return found


@pytest.mark.parametrize(("option", "check"), [("--junit", junit_file), ("--report", report_file)])
def test_a_file_in_no_folder_is_refused_before_the_work(option: str, check: type, tmp_path: Path) -> None:
    with pytest.raises(OutputFileError, match=f"{option} .*: name a file in a folder that exists"):
        check(tmp_path / "missing" / "x.xml")
    with pytest.raises(OutputFileError, match=option):
        check(tmp_path)
    assert check(tmp_path / "x.xml") == tmp_path / "x.xml"
    assert check(None) is None
