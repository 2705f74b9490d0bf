"""Extras and pins: complete, hashed, and the same on every index."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PINNED = sorted((ROOT / "requirements").glob("*.txt"))
_PIN = re.compile(
    r"^([A-Za-z0-9._-]+)==(\S+)(?: ; [^\\]*)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


def pins(file: Path) -> dict[str, str]:
    return {name: version for name, version, _ in _PIN.findall(file.read_text(encoding="utf-8"))}


def test_the_core_requires_three_libraries() -> None:
    requirements = [Requirement(text) for text in metadata.requires("assignor-lab") or ()]
    assert {each.name for each in requirements if each.marker is None} == {"attrs", "pluggy", "typeguard"}


def test_every_extra_of_the_design_is_there() -> None:
    extras = set(metadata.metadata("assignor-lab").get_all("Provides-Extra") or ())
    assert {"author", "score", "ui", "cli", "spark", "kafka", "connect", "report", "conformance", "all"} <= extras


def test_an_author_needs_no_spark() -> None:
    names = {Requirement(text).name for text in required_by("author")}
    assert {"typer", "pytest", "copier"} <= names
    assert not {"pyspark", "pyarrow", "pandas", "scipy"} & names


def test_all_is_every_extra() -> None:
    extras = set(metadata.metadata("assignor-lab").get_all("Provides-Extra") or ())
    assert set().union(*(required_by(extra) for extra in extras)) == required_by("all")


def required_by(extra: str) -> set[str]:
    requirements = [Requirement(text) for text in metadata.requires("assignor-lab") or ()]
    return {
        f"{each.name}[{','.join(sorted(each.extras))}]{each.specifier}"
        for each in requirements
        if each.marker is None or each.marker.evaluate({"extra": extra})
    }


@pytest.mark.parametrize("file", PINNED, ids=lambda file: file.name)
def test_every_pin_has_hashes_and_names_no_index(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    starts = [line for line in text.splitlines() if line and line[0] not in " #"]
    assert len(starts) == len(_PIN.findall(text))
    assert "://" not in text
    assert "index-url" not in text


@pytest.mark.parametrize("file", PINNED, ids=lambda file: file.name)
def test_the_pinned_files_agree_with_one_another(file: Path) -> None:
    ours = pins(file)
    for other in PINNED:
        shared = {name: version for name, version in pins(other).items() if name in ours}
        assert shared == {name: ours[name] for name in shared}


def test_the_pins_satisfy_what_the_distribution_asks_for() -> None:
    pinned = pins(ROOT / "requirements" / "all.txt")
    for text in metadata.requires("assignor-lab") or ():
        requirement = Requirement(text)
        if requirement.name != "assignor-lab":
            assert Version(pinned[requirement.name]) in requirement.specifier, f"run `make lock`: {requirement}"
