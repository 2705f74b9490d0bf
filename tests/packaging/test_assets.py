"""The wheel has all parts of the page and the report: every template, style and script that any file names."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from assignor_lab.web.app import ASSETS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
#: Room to the search path of its templates.
ROOMS = {"web": ("web", "report"), "report": ("report",)}
_TEMPLATE = re.compile(r"\{%-?\s*(?:extends|include|from|import)\s+\"([^\"]+)\"")
_LOADED = re.compile(r"(?:src|href)=\"/assets/([^\"]+)\"")
_NAMED_IN_CODE = re.compile(r"(?:render|render_page|get_template|asset)\(\s*\"([\w.-]+)\"")


@pytest.fixture(scope="module")
def packed(wheel: Path) -> Mapping[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        names = [
            name for name in archive.namelist() if re.match(r"assignor_lab/(web|report)/.*\.(py|j2|css|js)$", name)
        ]
        return {name: archive.read(name).decode() for name in names}


def named(files: Mapping[str, str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """File that names an asset, the asset, and its possible rooms."""
    for name, text in files.items():
        rooms = ROOMS[name.split("/")[1]]
        for pattern in (_TEMPLATE, _LOADED, _NAMED_IN_CODE):
            for found in pattern.findall(text):
                yield name, found, rooms


def missing(files: Mapping[str, str]) -> list[str]:
    """Named assets that do not exist."""
    return sorted(
        {
            f"{name} names {asset}"
            for name, asset, rooms in named(files)
            if not any(f"assignor_lab/{room}/templates/{asset}" in files for room in rooms)
        }
    )


def test_everything_that_is_named_is_in_the_wheel(packed: Mapping[str, str]) -> None:
    assert missing(packed) == []


def test_what_the_page_may_load_is_what_its_templates_load(packed: Mapping[str, str]) -> None:
    loaded = {asset for text in packed.values() for asset in _LOADED.findall(text)}
    assert loaded == set(ASSETS)


def test_every_template_of_the_checkout_is_in_the_wheel(packed: Mapping[str, str]) -> None:
    here = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / "assignor_lab" / room / "templates").rglob("*")
        if path.is_file()
    }
    assert here == {name for name in packed if "/templates/" in name}


def test_each_of_them_would_be_missed(packed: Mapping[str, str]) -> None:
    assets = [name for name in packed if "/templates/" in name]
    assert len(assets) > 15
    for name in assets:
        without = {other: text for other, text in packed.items() if other != name}
        assert any(entry.endswith(f" names {Path(name).name}") for entry in missing(without)), name
