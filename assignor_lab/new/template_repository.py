"""The template as a git repository for Copier, with a commit and a tag for each version.

It is in the user's cache, under a name with the same meaning on every machine. It is built from the files in this
package with fixed authors and dates, so its commits are the same everywhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from assignment_api import AssignorLabError

__all__ = ["CACHE", "TEMPLATES", "TemplateError", "template_repository"]

#: A folder for each version of the template, by its number.
TEMPLATES = Path(__file__).parent / "templates"
#: Path of the repository. Projects store this text, so it must not contain a user's name.
CACHE = "~/.cache/assignor-lab/template"
_DATE = "2026-01-01T00:00:00+00:00"


class TemplateError(AssignorLabError):
    """A distribution cannot be created or updated."""


def template_repository(templates: Path = TEMPLATES) -> str:
    """Creates the repository, unless it exists with the same versions and the same newest files.

    Returns:
        Its path in Copier's form.

    Raises:
        TemplateError: if git is not installed, or the cache cannot be written.
    """
    target = Path(CACHE).expanduser()
    versions = sorted((each.name for each in templates.iterdir() if each.is_dir()), key=_number)
    if _tags(target) != versions or not _holds(target, templates / versions[-1]):
        shutil.rmtree(target, ignore_errors=True)
        try:
            target.mkdir(parents=True)
            _make(target, [templates / version for version in versions])
        except OSError as error:
            raise TemplateError(f"{target}: {error.strerror}: the template is kept there") from error
    return CACHE


def _make(target: Path, versions: Sequence[Path]) -> None:
    _git(target, "init", "--quiet", "--initial-branch=main")
    for version in versions:
        for old in target.iterdir():
            if old.name != ".git":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        shutil.copytree(version, target, dirs_exist_ok=True)
        _git(target, "add", "--all", "--force")
        _git(target, "commit", "--quiet", "--message", f"Template {version.name}")
        _git(target, "tag", version.name)


def _tags(target: Path) -> list[str]:
    if not (target / ".git").is_dir():
        return []
    return sorted(_git(target, "tag").split(), key=_number)


def _holds(target: Path, newest: Path) -> bool:
    """True if the work tree has every file of the newest version, which may still change before its release."""
    files = [file for file in newest.rglob("*") if file.is_file()]
    copies = [target / file.relative_to(newest) for file in files]
    return all(
        copy.is_file() and copy.read_bytes() == file.read_bytes() for copy, file in zip(copies, files, strict=True)
    )


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _git(folder: Path, *words: str) -> str:
    author = {"NAME": "Assignor Lab", "EMAIL": "template@assignor-lab.invalid", "DATE": _DATE}
    environment = {
        **os.environ,
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in author.items()},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for inherited in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        environment.pop(inherited, None)
    try:
        ended = subprocess.run(
            ["git", "-c", "core.autocrlf=false", *words],
            cwd=folder, env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise TemplateError("git is not installed: the template needs it, now and for updates") from error
    except subprocess.CalledProcessError as error:
        raise TemplateError(f"git {words[0]} failed in {folder}: {error.stderr.strip()}") from error
    return ended.stdout
