"""The template as a git repository, which is what Copier updates from: a commit and a tag for each version of it.

It lies in the user's cache, under a name that means the same on every machine, and is made of the files in this package
with fixed authors and dates: so its commits are the same ones wherever it is made.
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
#: Where the repository is. Answers of projects hold this text: it must not name a user.
CACHE = "~/.cache/assignor-lab/template"
_DATE = "2026-01-01T00:00:00+00:00"


class TemplateError(AssignorLabError):
    """A distribution cannot be laid out or updated."""


def template_repository(templates: Path = TEMPLATES) -> str:
    """Makes the repository, unless it is there with the same versions.

    Args:
        templates: A folder for each version.

    Returns:
        Where it is, as Copier takes it.

    Raises:
        TemplateError: if git is not installed, or the cache cannot be written.
    """
    target = Path(CACHE).expanduser()
    versions = sorted((each.name for each in templates.iterdir() if each.is_dir()), key=_number)
    if _tags(target) != versions:
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


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _git(folder: Path, *words: str) -> str:
    """Runs git without the user's settings; raises TemplateError where there is none."""
    who = {"NAME": "Assignor Lab", "EMAIL": "template@assignor-lab.invalid", "DATE": _DATE}
    environment = {
        **os.environ,
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()},
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
