from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatchcase
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


def test_the_design_document_names_what_exists() -> None:
    """Files and folders by the end of their paths, modules of Kafka's rules by their names."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = {"/" + path for path in listed}
    folders = {str(parent) + "/" for path in paths for parent in Path(path).parents}
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    missing = []
    for token in re.findall(r"`([^`\s]+)`", text):
        if re.fullmatch(r"(?:herder|coordinator)\.[a-z_.]+", token):
            token = f"assignor_lab/kafka/{token.replace('.', '/')}"
            found = f"/{token}.py" in paths or f"/{token}/" in folders
        elif re.fullmatch(r"[\w<>*./-]+(?:/|\.py|\.yml|\.yaml|\.css|\.j2|\.md)", token) and "://" not in token:
            pattern = "*/" + re.sub(r"<\w+>", "*", token).lstrip("/")
            found = any(fnmatchcase(path, pattern) for path in (folders if token.endswith("/") else paths))
        else:
            continue
        if not found:
            missing.append(token)
    assert missing == []
