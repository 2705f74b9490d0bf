"""An exit status of 0 comes from a command's own last line, and not from trusted code."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assignor_lab.cli.main import main
from tests.plugins.installing import write_distribution

pytestmark = pytest.mark.slow

ENDED = "assignor: a plugin that is trusted ended the command with "


def run(folder: Path, source: str, *words: str) -> tuple[int, str]:
    write_distribution(folder, "careless", {"careless": source}, {"careless": "careless"})
    done = subprocess.run(
        [sys.executable, "-m", "assignor_lab.cli.main", *words, "-c", "assignor.plugins.trust=careless"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\nos._exit(0)", "os._exit(0)"),
        ("import posix\nposix._exit(0)", "os._exit(0)"),
        ("import atexit, os\natexit.register(os._exit, 0)", "os._exit(0)"),
        (
            "import sys, assignor_lab.cli.plugin_tables as command\ncommand.print_json = lambda _: sys.exit(0)",
            "SystemExit",
        ),
    ],
)
def test_code_that_is_trusted_cannot_end_a_command_green(tmp_path: Path, source: str, said: str) -> None:
    hook = "from assignment_api.plugins import hookimpl\n@hookimpl\ndef assignor_lab_metrics():\n    return []"
    module = f"{source}\n{hook}"
    assert run(tmp_path, module, "plugins", "--json") == (3, f"{ENDED}{said}\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device", "out/a"), "out/a: No space left on device"),
        (OSError("as it is"), "as it is"),
    ],
)
def test_what_the_system_refuses_is_told_in_words(
    error: OSError, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_words: object) -> None:
        raise error

    monkeypatch.setattr("assignor_lab.cli.app.build_app", refused)
    with pytest.raises(SystemExit) as left:
        main(["plugins", "--json"])
    assert (left.value.code, capsys.readouterr().err) == (2, f"assignor: {said}\n")


def test_a_process_that_was_forked_ends_as_it_likes(tmp_path: Path) -> None:
    module = """
        import os
        from assignment_api.plugins import MetricPlugin, hookimpl

        if os.fork() == 0:
            os._exit(0)
        assert os.wait()[1] == 0

        @hookimpl
        def assignor_lab_metrics():
            return [MetricPlugin("fine", "1", "none", "", len)]
    """
    code, said = run(tmp_path, module, "plugins", "--kind", "metric")
    assert (code, said) == (0, "")


def test_what_fails_because_of_an_interrupt_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The JVM receives Ctrl-C, too, so that the cleanup can fail in its turn."""

    def interrupted(_words: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("the JVM has gone")

    monkeypatch.setattr("assignor_lab.cli.app.build_app", interrupted)
    with pytest.raises(SystemExit) as left:
        main(["plugins", "--json"])
    assert left.value.code == 130
    assert capsys.readouterr().err == "assignor: interrupted\n"


@pytest.mark.parametrize("module", ["assignor_lab.cli.exit_status", "assignment_api", "assignor_lab.cli.app", "typer"])
def test_ctrl_c_while_modules_are_imported_ends_in_one_line(module: str) -> None:
    program = f"""if True:
        import os, signal, sys

        class Interrupts:
            def find_spec(self, name, *where):
                if name == {module!r}:
                    os.kill(os.getpid(), signal.SIGINT)

        sys.meta_path.insert(0, Interrupts())
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from assignor_lab.cli.main import main
        assert {module!r} not in sys.modules
        main(["plugins", "--json"])
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "assignor: interrupted\n")
