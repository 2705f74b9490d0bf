from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("assignor_lab/samples/*.md")), *sorted(ROOT.glob("plugins/*/README.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_make_targets_exist(page: Path) -> None:
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= targets


def test_no_committed_file_names_this_machine() -> None:
    texts = [ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("scripts/*"), *ROOT.glob(".ci/*"), *PAGES]
    files = [file for file in texts if file.is_file()]
    assert [file.name for file in files if re.search(r"/work/|/root/|/home/", file.read_text(encoding="utf-8"))] == []
