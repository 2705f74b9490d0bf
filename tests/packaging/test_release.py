from __future__ import annotations

import re
import tomllib
from pathlib import Path

from scripts.readme_on_an_index import with_absolute_links, with_urls

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "https://example.org/lab/"


def test_links_of_the_readme_lead_to_the_tag() -> None:
    text = with_absolute_links((ROOT / "README.md").read_text(encoding="utf-8"), ADDRESS, "v1.2.3")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
    assert "![The report of make demo](https://example.org/lab/raw/v1.2.3/docs/pictures/report.png)" in text
    assert "(https://example.org/lab/blob/v1.2.3/docs/how-to/plan.md)" in text


def test_parts_of_pages_and_foreign_links_stay() -> None:
    assert with_absolute_links("[a](b.md#c) [d](https://e.f/g) [h](#i)", ADDRESS, "v1") == (
        "[a](https://example.org/lab/blob/v1/b.md#c) [d](https://e.f/g) [h](#i)"
    )


def test_the_metadata_has_the_addresses() -> None:
    project = tomllib.loads(with_urls((ROOT / "pyproject.toml").read_text(encoding="utf-8"), ADDRESS, "v1"))
    assert project["project"]["urls"]["Repository"] == "https://example.org/lab"
    assert project["project"]["scripts"] == {"assignor": "assignor_lab.cli.main:main"}


def test_the_tools_of_a_release_are_pinned() -> None:
    pinned = (ROOT / "requirements" / "release.txt").read_text(encoding="utf-8")
    assert re.search(r"^twine==", pinned, re.MULTILINE)
    assert re.search(r"^check-wheel-contents==", pinned, re.MULTILINE)
