"""Give README.md of an unpacked source absolute links, and the metadata the URLs of the project.

Usage: readme_on_an_index.py FOLDER ADDRESS TAG
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

#: Kind of link in Markdown to the view of a repository host that shows it.
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\[\]]*)\]\((?P<path>[^():#\s]+)(?P<part>#[^()\s]*)?\)")


def with_absolute_links(text: str, address: str, tag: str) -> str:
    """The text with each relative link leading to ``tag`` in the repository at ``address``."""
    base = address.rstrip("/")

    def absolute(found: re.Match[str]) -> str:
        view = "raw" if found["picture"] else "blob"
        return f"{found['picture']}[{found['text']}]({base}/{view}/{tag}/{found['path']}{found['part'] or ''})"

    return _LINK.sub(absolute, text)


def with_urls(project: str, address: str, tag: str) -> str:
    """The text of pyproject.toml with the project's URLs."""
    base = address.rstrip("/")
    urls = {
        "Repository": base,
        "Documentation": f"{base}/blob/{tag}/docs/index.md",
        "Changelog": f"{base}/blob/{tag}/CHANGELOG.md",
    }
    lines = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    return project.replace("[project.scripts]\n", f"[project.urls]\n{lines}\n[project.scripts]\n", 1)


def main() -> None:
    folder, address, tag = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if not address.startswith("https://"):
        sys.exit(f"{address}: give the address of the repository as https://...")
    for name, change in (("README.md", with_absolute_links), ("pyproject.toml", with_urls)):
        file = folder / name
        file.write_text(change(file.read_text(encoding="utf-8"), address, tag), encoding="utf-8")


if __name__ == "__main__":
    main()
