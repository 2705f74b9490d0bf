"""The command under a view: a shell splits it into the intended words, and its result is the same."""

from __future__ import annotations

import html
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources
from assignor_lab.cli.app import build_app
from assignor_lab.runtime.discovery import discovered
from assignor_lab.web.commands import shell_line
from assignor_lab.web.opened import opened
from assignor_lab.web.view_answers import ViewAnswers
from tests.web.pages import HOSTILE, TOKEN, Page, group

pytestmark = pytest.mark.slow

NAMES = [
    "orders-1", "two words", "it's", "$(touch hacked)", "`id`", "a;b", "-x", "*", "~", "\\", "#", "!", HOSTILE,
    "tab\tand\nline", "\x1b[31m", "ünï", "\u202eabc", "\U0001f600\u2028", "'$'", "\x7f",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_reads_the_words_that_were_meant(name: str, tmp_path: Path) -> None:
    line = shell_line(["printf", "%s\\0", name, "next"])
    assert line.isprintable() or "\u200b" not in line
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, cwd=tmp_path, env={"LC_ALL": "C.UTF-8"}, timeout=10
    )
    assert done.stdout.decode().split("\0") == [name, "next", ""]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "query",
    [
        "s=0&n=0&a=high_availability&a=sticky",
        "s=0&n=0&a=sticky",
        "s=0&n=0&a=sticky&task=0_0",
        "s=0&n=0&a=sticky&c=num.standby.replicas%3D1",
        "s=0&n=0&a=v%3Dsticky,num.standby.replicas%3D2&task=0_0",
        "s=0&n=0&a=v%3Dsticky,num.standby.replicas%3D2&a=high_availability",
        "s=0&n=0&a=sticky&task=0_0&whynot=host-2:8080",
    ],
)
def test_the_command_of_a_state_can_be_run_whatever_it_is_called(
    query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "-a state's.jsonl"
    Path(name).write_text(json.dumps(group()) + "\n")
    config = config_sources(overrides=["max.warmup.replicas=1"], environ={}, start=tmp_path)
    plugins = discovered(config.effective())
    found = opened([f"./{name}"], plugins.registry, config, lambda _sentence: None)
    asking = ViewAnswers(found, plugins, config, words=["-c", "max.warmup.replicas=1"])
    page = Page(asking)
    page.get(f"/?token={TOKEN}")
    shown = re.search(r'aria-label="Command"><code>(.*?)</code>', page.get(f"/state?{query}").text, re.DOTALL)
    asking.close()
    assert shown is not None
    command = html.unescape(shown[1])
    assert "-c max.warmup.replicas=1" in command
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, env={"LC_ALL": "C.UTF-8"}, timeout=10
    )
    program, *arguments = words.stdout.decode().removesuffix("\0").split("\0")
    assert program == "assignor"
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 0, (shlex.join(arguments), result.output)
