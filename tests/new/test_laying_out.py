from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assignment_api.plugins import discover
from assignor_lab.cli.app import build_app
from assignor_lab.new import KINDS_OF_NEW, updated
from assignor_lab.new import template_repository as repository
from assignor_lab.new.template_repository import TEMPLATES, TemplateError, template_repository
from assignor_lab.scenarios import Place, scenario_from_document

pytestmark = pytest.mark.slow

ASSIGNORS = ("streams", "group", "connect", "consumer")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), arguments)


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Author", "-c", "user.email=author@example.org")
    return subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", list(KINDS_OF_NEW))
def test_what_is_laid_out_passes_its_own_tests(kind: str, tmp_path: Path) -> None:
    assert run("new", "my-own", "--kind", kind, "--in", str(tmp_path)).exit_code == 0
    project = tmp_path / "my-own"
    assert "{{" not in "".join(
        file.read_text() for file in project.rglob("*") if file.is_file() and ".github" not in file.parts
    )
    # Its discovery needs an installation, which `make test-services` has.
    command = [sys.executable, "-m", "pytest", "-q", "--conformance-histories", "15", "-k", "not found_by"]
    done = subprocess.run(
        [*command, "-p", "assignor_lab.pytest_plugin"],
        cwd=project,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin", "PYTHONPATH": ".", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 of 7 levels, 15 histories" in done.stdout or kind not in ASSIGNORS
    assert "quality:" not in done.stdout


@pytest.mark.parametrize("kind", list(KINDS_OF_NEW))
@pytest.mark.parametrize("name", ["ab", "my-own-assignor-of-tasks"])
def test_what_is_laid_out_is_clean_under_ruffs_defaults(name: str, kind: str, tmp_path: Path) -> None:
    assert run("new", name, "--kind", kind, "--in", str(tmp_path)).exit_code == 0
    for words in (("format", "--diff"), ("check",)):
        command = [sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", "."]
        done = subprocess.run(command, cwd=tmp_path / name, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_rounds_of_a_family_that_is_laid_out_are_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("new", "my-groups", "--kind", "family", "--in", str(tmp_path)).exit_code == 0
    monkeypatch.syspath_prepend(str(tmp_path / "my-groups"))
    family = importlib.import_module("my_groups.plugin").FAMILY
    assignor = discover().task_assignor("sticky").plugin.factory()
    for seed in range(5):
        history, answer = family.history(seed), None
        for number in range(family.rounds):
            state = scenario_from_document(history.round(number, answer), Place("round"))
            answer = assignor.assign(state.application)
            assert answer.num_streams_clients() > 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("My Own",), "'My Own' is no name"),
        (("sticky",), "is a name of the built-ins or of Kafka"),
        (("class",), "is a word or a module of Python itself"),
        (
            ("my-own", "--kind", "broker"),
            "'broker' is none of streams, group, connect, consumer, metric, family, observer, connector",
        ),
    ],
)
def test_wrong_words_are_refused(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    ended = run("new", *words, "--in", str(tmp_path))
    assert ended.exit_code != 0
    assert sentence in f"{ended.output}{ended.exception}"
    assert not list(tmp_path.iterdir())


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "my-own").mkdir()
    (tmp_path / "my-own" / "notes.txt").write_text("mine")
    ended = run("new", "my-own", "--in", str(tmp_path))
    assert "exists and is not empty" in str(ended.exception)
    assert [file.name for file in (tmp_path / "my-own").iterdir()] == ["notes.txt"]


def test_the_template_is_the_same_commit_wherever_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heads = set()
    for number in (1, 2):
        monkeypatch.setenv("HOME", str(tmp_path / f"home{number}"))
        template = Path(template_repository()).expanduser()
        heads.add(git(template, "rev-parse", "HEAD"))
    assert len(heads) == 1


def test_a_cache_of_other_files_is_made_again(tmp_path: Path, home: Path) -> None:
    template = Path(template_repository()).expanduser()
    head = git(template, "rev-parse", "HEAD")
    (template / "copier.yml").write_text("an earlier one\n")
    git(template, "commit", "-qam", "earlier")
    template_repository()
    assert git(template, "rev-parse", "HEAD") == head


def test_an_update_keeps_what_the_author_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("new", "my-own", "--in", str(tmp_path))
    project = tmp_path / "my-own"
    assignor = project / "my_own" / "assignor.py"
    assignor.write_text(assignor.read_text() + "\n# mine\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "mine")):
        git(project, *words)
    later = tmp_path / "templates"
    shutil.copytree(TEMPLATES, later)
    shutil.copytree(TEMPLATES / "1.0", later / "1.1")
    readme = later / "1.1" / "project" / "README.md.jinja"
    readme.write_text(readme.read_text() + "\nA new sentence.\n")
    monkeypatch.setattr(repository.template_repository, "__defaults__", (later,))
    updated(project)
    assert "A new sentence." in (project / "README.md").read_text()
    assert assignor.read_text().endswith("# mine\n")
    assert "_commit: '1.1'" in (project / ".copier-answers.yml").read_text()


def test_a_folder_that_was_not_laid_out_is_not_updated(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="was not laid out by `assignor new`"):
        updated(tmp_path)
