"""Names for clusters, and the commands that take them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli import contexts
from assignor_lab.cli.app import build_app
from assignor_lab.cli.contexts import addressed, urls_of
from assignor_lab.documents.contexts import VARIABLE, Context, ContextError, Contexts


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "own" / "contexts.json"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(build_app(), ["context", *words])


def test_the_first_context_is_in_use_and_another_one_can_be(tmp_path: Path) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("security.protocol=PLAINTEXT\n")
    assert run("add", "prod", "--bootstrap-server", "k1:9092,k2:9092", "--command-config", str(settings)).exit_code == 0
    assert run("add", "test", "--bootstrap-server", "t:9092", "--url", "http://connect:8083").exit_code == 0
    assert addressed(None, None, None) == ("k1:9092,k2:9092", settings)
    assert addressed(None, None, "test") == ("t:9092", None)
    assert addressed("own:1", None, "test") == ("own:1", None)
    assert urls_of(None, "test") == ["http://connect:8083"]
    assert urls_of(["http://other:1"], "test") == ["http://other:1"]
    run("use", "test")
    assert addressed(None, None, None) == ("t:9092", None)
    shown = json.loads(run("--json").stdout)["contexts"]
    assert [(each["name"], each["used"]) for each in shown] == [("prod", False), ("test", True)]
    run("use", "-")
    with pytest.raises(ContextError, match="no context is in use"):
        addressed(None, None, None)
    run("remove", "test")
    assert list(Contexts.read().known) == ["prod"]


def test_the_file_is_the_users_alone(file: Path) -> None:
    run("add", "prod", "--bootstrap-server", "k:9092")
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert json.loads(file.read_text())["contexts"]["prod"]["bootstrap_server"] == "k:9092"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "prod"), "a context needs an address"),
        (("add", "no/name", "--bootstrap-server", "k:9092"), "is no name of a context"),
        (("add", "prod", "--bootstrap-server", "nowhere"), "is no address"),
        (("add", "prod", "--url", "connect"), "connect"),
        (("use", "prod"), "there is no context 'prod': none yet"),
        (("remove", "prod"), "there is no context 'prod'"),
        (("list", "--url", "http://c:1"), "addresses are for add"),
        (("use",), "use takes a name"),
        (("list", "prod"), "list takes no name"),
    ],
)
def test_wrong_words_change_nothing(words: tuple[str, ...], sentence: str, file: Path) -> None:
    ended = run(*words)
    assert ended.exit_code != 0
    assert sentence in f"{ended.output}{ended.exception}"
    assert not file.exists()


@pytest.mark.parametrize("content", ["", "[]", '{"format": 2}', '{"format": 1, "used": null, "contexts": {"a": 1}}'])
def test_a_file_of_another_form_is_refused_with_its_place(content: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_text(content)
    ended = run("list")
    assert ended.exit_code != 0
    assert "contexts.json" in str(ended.exception)
    assert contexts.context_names() == []


def test_commands_without_an_address_name_both_ways() -> None:
    Contexts({"rest": Context("rest", urls=("http://connect:8083",))}, "rest").write()
    sentence = "give --bootstrap-server HOST:PORT, or --context NAME (context rest has no brokers)"
    for words in (["groups"], ["capture", "--all"], ["record", "--group", "g", "--out", "past"]):
        assert str(CliRunner().invoke(build_app(), words).exception) == sentence
    Contexts({"kafka": Context("kafka", "k:9092")}, "kafka").write()
    ended = CliRunner().invoke(build_app(), ["connect", "status"])
    assert "give --url URL, or --context NAME (context kafka has no --url)" in str(ended.exception)


def test_a_shell_gets_names_or_nothing() -> None:
    Contexts({"prod": Context("prod", "127.0.0.1:1")}, "prod").write()
    assert contexts.context_names() == ["prod"]

    line = SimpleNamespace(params={"context": "prod"})
    assert contexts.group_names(line) == []  # type: ignore[arg-type]
