"""A run repeated from its manifest: the same bytes, or a plain sentence for each difference."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assignor_lab.scoring import Generated
from assignor_lab.scoring.provenance.manifest import read_manifest
from tests.scenarios.documents import streams_document
from tests.scoring.commands import command, refused
from tests.scoring.in_process import scored
from tests.scoring.runs import NAMED, results_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.long]

CAPTURES = Path(__file__).parents[1] / "data" / "captures" / "plain"
PAIR = ["--assignor", "high_availability", "--assignor", "sticky"]
SECRET = ["-c", "assignor.sticky.password=hunter2"]


@pytest.fixture(scope="module")
def first(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of logs, with a file of configuration beside them, a family's histories, gates and answers."""
    folder = tmp_path_factory.mktemp("first")
    for path in CAPTURES.iterdir():
        shutil.copy(path, folder)
    # They are not useful, and appear in the assumptions of every row.
    (folder / "racks.toml").write_text('format = 1\n[topics]\n"*" = ["r1"]\n')
    words = [
        "p1.log.gz",
        "p2.log.gz",
        "--racks",
        "racks.toml",
        "--config",
        "application.properties",
        "-c",
        "num.standby.replicas=1",
    ]
    family = ["--families", "streams_4x40", "--count", "2", "--seed", "11"]
    gates = ["--baseline", "sticky", "--fail-if", "failed_rows > 1000", "--keep-assignments"]
    done = command(folder, *words, *family, *PAIR, *gates, *SECRET, spark=spark)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def small(first: Path, tmp_path: Path) -> Path:
    """A folder with the manifest alone, of the family alone; to be changed."""
    manifest = document_of(first)
    manifest["inputs"] = manifest["inputs"][1:]
    manifest["configuration"] = [each for each in manifest["configuration"] if not each["hidden"]]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def document_of(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    return document


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_a_run_comes_out_again_elsewhere(spark: SparkSession, first: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    shutil.copy(first / "out" / "manifest.json", manifest)
    for name in ("p2.log.gz", "p1.log.gz"):
        shutil.copy(first / name, tmp_path / f"other-{name}")
    (tmp_path / "pyproject.toml").write_text('[tool.assignor]\n"num.standby.replicas" = 0\n')
    files = ["other-p2.log.gz", "other-p1.log.gz"]
    done = command(tmp_path, *files, "--reproduce", "manifest.json", *SECRET, spark=spark)
    assert done.returncode == 0, done.stderr
    assert results_bytes(tmp_path / "out") == results_bytes(first / "out")
    assert (tmp_path / "out" / "answers.parquet").read_bytes() == (first / "out" / "answers.parquet").read_bytes()
    assert done.stdout.count("is equal to the byte") == 2
    then, now = read_manifest(manifest), read_manifest(tmp_path / "out" / "manifest.json")
    assert (now.code, now.versions, now.outputs, now.inputs) == (then.code, then.versions, then.outputs, then.inputs)
    # A repetition can itself be repeated.
    shutil.copytree(tmp_path / "out", tmp_path / "second")
    done = command(tmp_path, *files, "--reproduce", "second/manifest.json", *SECRET, spark=spark)
    assert done.stdout.count("is equal to the byte") == 2, done.stderr


def test_a_manifest_holds_no_secret_and_no_place(first: Path) -> None:
    text = (first / "out" / "manifest.json").read_text(encoding="utf-8")
    assert "hunter2" not in text
    assert str(first) not in text.replace(str(first / "out"), "")
    assert [each["key"] for each in json.loads(text)["configuration"] if each["hidden"]] == ["assignor.sticky.password"]


def test_everything_that_differs_is_named_before_anything_runs(small: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["code"][0]["sha256"] = "0" * 64
        manifest["code"].append({"name": "assignor-gone", "version": "1.0", "sha256": None})
        manifest["versions"] |= {"kafka": "3.9.0", "python": "2.7"}

    message = refused(changed(small, change), "--reproduce", "manifest.json")
    for part in (
        f"assignor-lab: {version('assignor-lab')} (sha256 000000000000…) then",
        "kafka: 3.9.0 then",
        "python: 2.7 then",
    ):
        assert part in message
    assert "assignor-gone: 1.0 of unknown content then, none now" in message


def test_differences_are_allowed_on_request_and_what_came_out_is_compared(spark: SparkSession, small: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["versions"]["kafka"] = "3.9.0"
        manifest["outputs"]["results.parquet"] = "0" * 64

    changed(small, change)
    done = command(small, "--reproduce", "manifest.json", "--allow-differences", spark=spark)
    assert done.returncode == 1
    assert "kafka: 3.9.0 then, 4.3.1 now" in done.stderr
    assert "NOT repeated: " in done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda manifest: manifest.update(format=1),
            "manifest.json, format: unknown format: this version reads format 2",
        ),
        (lambda manifest: manifest.update(format=3), "score again, or use the release that wrote it"),
        (lambda manifest: manifest.pop("code"), "code"),
        (lambda manifest: manifest["inputs"][0].update(kind="scenarios"), "was in memory"),
        (lambda manifest: manifest["inputs"].clear(), "nothing to score"),
        (
            lambda manifest: manifest["configuration"].append(setting("max.warmup.replicas", "FILE", "x")),
            "Not a number",
        ),
        (lambda manifest: manifest["configuration"].append(setting("max.warmup.replicas", "SKY")), "unknown layer"),
        (lambda manifest: manifest.update(assignors=["stick"]), "did you mean 'sticky'"),
        (lambda manifest: manifest.update(gates=["failed_rows >"]), "failed_rows >"),
    ],
)
def test_manifests_that_are_none_end_with_exit_code_2(
    small: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    changed(small, change)
    assert message in refused(small, "--reproduce", "manifest.json")


def setting(key: str, layer: str, value: object = 3) -> dict[str, Any]:
    return {"key": key, "value": value, "layer": layer, "place": "x", "hidden": False}


def test_a_manifest_does_not_run_code_that_nobody_has_named(small: Path) -> None:
    name = f"{NAMED}Raises"
    changed(small, lambda manifest: manifest["assignors"].append(name))
    assert "it is code to run" in refused(small, "--reproduce", "manifest.json")
    other = refused(small, "--reproduce", "manifest.json", "--assignor", f"{NAMED}Half")
    assert "is none of the run's" in other
    changed(small, lambda manifest: manifest["code"].append({"name": name, "version": None, "sha256": None}))
    assert f"add --assignor {name}" in refused(small, "--reproduce", "manifest.json")
    # A named plugin is imported, and then differs.
    assert f"{name}: of unknown content then" in refused(small, "--reproduce", "manifest.json", "--assignor", name)


def test_a_manifest_gives_nobody_trust(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assignor_lab.cli.score_again import repetition

    def change(manifest: dict[str, Any]) -> None:
        manifest["configuration"] += [
            setting("assignor.plugins.trust", "COMMAND_LINE", ["anybody"]),
            setting("assignor.plugins.isolate", "FILE", "none"),
            setting("assignor.plugins.environment", "FILE", ["AWS_SECRET_ACCESS_KEY"]),
            setting("assignor.plugins.allow", "FILE", ["evil", "sober"]),
            setting("assignor.plugins.call.timeout.ms", "FILE", 1234),
        ]

    changed(small, change)
    (small / "pyproject.toml").write_text(
        '[tool.assignor]\n"assignor.plugins.block" = ["nasty"]\n"assignor.plugins.allow" = ["sober"]\n'
    )
    monkeypatch.chdir(small)
    config = repetition(small / "manifest.json", {}, [], [], tolerant=False).config.effective()
    policy = config.policy()
    assert (policy.trust, policy.isolate) == ((), "untrusted")
    assert "assignor.plugins.environment" not in config
    assert (policy.allow, policy.block) == (("sober",), ("nasty",))
    assert config["assignor.plugins.call.timeout.ms"].value == 1234
    own = repetition(
        small / "manifest.json", {}, ["assignor.plugins.trust=me", "assignor.plugins.isolate=all"], [], tolerant=False
    )
    assert own.config.effective().policy().trust == ("me",)
    assert own.config.effective().policy().isolate == "all"


def test_what_the_manifest_decides_cannot_be_said_again(small: Path) -> None:
    words = ["--families", "streams_4x40", "--seed", "3", "--fail-if", "failed_rows > 0", "--keep-assignments"]
    message = refused(small, "--reproduce", "manifest.json", *words)
    for word in ("--families", "--seed", "--fail-if", "--keep-assignments"):
        assert word in message
    assert "leave it out" in refused(small, "--reproduce", "manifest.json", "-c", "num.standby.replicas=2")
    assert "give --reproduce, too" in refused(small, "--families", "streams_4x40", "--allow-differences")


def test_files_that_are_not_those_of_the_run_are_named(first: Path, tmp_path: Path) -> None:
    shutil.copy(first / "out" / "manifest.json", tmp_path)
    assert "p1.log.gz: not found" in refused(tmp_path, "--reproduce", "manifest.json", *SECRET)
    assert "hides the value of assignor.sticky.password" in refused(tmp_path, "--reproduce", "manifest.json")
    (tmp_path / "p1.log.gz").write_bytes(b"another")
    assert "is not the file of the run" in refused(tmp_path, "--reproduce", "manifest.json", *SECRET)
    (tmp_path / "stranger").write_bytes(b"another")
    message = refused(
        tmp_path,
        str(first / "p1.log.gz"),
        str(first / "p2.log.gz"),
        "stranger",
        *SECRET,
        "--reproduce",
        "manifest.json",
    )
    assert "stranger: is no source of the run" in message
    assert "no such file" in refused(tmp_path, "nowhere.log", *SECRET, "--reproduce", "manifest.json")


@pytest.mark.slow
def test_values_that_json_cannot_hold_are_left_out(tmp_path: Path) -> None:
    text = '"assignor.sticky.day" = 2026-01-01\n"assignor.sticky.limit" = inf\n"assignor.sticky.number" = 3\n'
    (tmp_path / "assignor.toml").write_text(text)
    scored([Generated("scale_out", 1)], ["sticky"], tmp_path / "out")
    settings = read_manifest(tmp_path / "out" / "manifest.json").configuration
    assert {each.key.rpartition(".")[2]: (each.value, each.hidden) for each in settings} == {
        "day": (None, True),
        "limit": (None, True),
        "number": (3, False),
    }


def test_many_files_are_not_listed_one_by_one_and_can_be_repeated(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assignor_lab.scoring.provenance.manifest.MOST_INPUTS", 2)
    monkeypatch.setattr("assignor_lab.scoring.summaries.results.MAX_SOURCES", 2)
    states = tmp_path / "states"
    states.mkdir()
    for number in range(5):
        document = {**streams_document(), "id": f"state-{number}"}
        (states / f"{number}.jsonl").write_text(json.dumps(document) + "\n")
    assert command(tmp_path, "states", "--assignor", "sticky", spark=spark).returncode == 0
    manifest, summary = (
        json.loads((tmp_path / "out" / f"{name}.json").read_text()) for name in ("manifest", "summary")
    )
    assert (len(manifest["inputs"]), manifest["further"]["inputs"], manifest["further"]["items"]) == (2, 3, 3)
    listed = [(each["name"], each["states"], each["sources"]) for each in summary["results"]["sources"]]
    assert listed == [("states/0.jsonl", 1, 1), ("states/1.jsonl", 1, 1), ("3 more", 3, 3)]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    again = command(tmp_path, "states", "--reproduce", "manifest.json", spark=spark)
    assert again.returncode == 0, again.stderr
    shutil.rmtree(tmp_path / "out")
    assert "lists 2 files of 5, and 0 are given" in refused(tmp_path, "--reproduce", "manifest.json")
    (states / "4.jsonl").write_text(json.dumps({**streams_document(), "id": "another"}) + "\n")
    assert "are not those of the run" in refused(tmp_path, "states", "--reproduce", "manifest.json")
