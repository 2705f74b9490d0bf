"""The command with the same output as a view, quoted for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from assignor_lab.documents.wording import plain
from assignor_lab.groups.variants import as_variant
from assignor_lab.web.address import View
from assignor_lab.web.view_answers import AnsweredState

__all__ = ["command_of", "is_saved", "shell_line"]

#: Placeholder for a changed state, which has to be saved first.
SAVED = "state.jsonl"


def command_of(answered: AnsweredState, file: str, view: View, given: Iterable[str], around: Sequence[str] = ()) -> str:
    names = view.contenders or answered.contenders
    words = [word for each in names for word in (("--variant", each) if "=" in each else ("--assignor", each))]
    source = SAVED if is_saved(answered, view, around) else file
    # A name with a leading dash would be read as an option.
    source = f"./{source}" if source.startswith("-") and source != "-" else source
    configured = [*given, *(word for key, value in view.settings.items() for word in ("-c", f"{key}={value}"))]
    state = [] if is_saved(answered, view, around) else ["--id", answered.scenario.id]
    state += [] if view.round is None else ["--round", str(view.round)]
    if answered.kind.plays:
        played = [] if view.past is None or view.steps else ["--mode", "played"]
        return shell_line(["assignor", "score", source, *played, *([] if view.steps else around), *words, *configured])
    if view.task:
        task = ["--task", view.task, *([] if view.why_not is None else ["--why-not", view.why_not])]
        return shell_line(["assignor", "explain", source, *state, *configured, *_alone(names[0]), *task])
    if len(answered.answers) < 2:
        # There is no second contender.
        return shell_line(["assignor", "explain", source, *state, *configured, *_alone(names[0])])
    return shell_line(["assignor", "compare", source, *state, *configured, *words])


def is_saved(answered: AnsweredState, view: View, around: Sequence[str]) -> bool:
    """True if no file contains the shown state: it is changed, or has facts from options."""
    return bool(view.steps) or (bool(around) and not answered.kind.plays)


def _alone(contender: str) -> list[str]:
    variant = as_variant(contender)
    return [
        "--assignor",
        variant.assignor,
        *(word for each in variant.overrides.items() for word in ("-c", "=".join(each))),
    ]


def shell_line(words: Iterable[str]) -> str:
    """Words as a line for a shell; invisible characters are escapes that bash and zsh read."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    return shlex.quote(word) if plain(word) == word and word.isprintable() else f"$'{_ESCAPED.sub(_escape, word)}'"


#: All characters except letters and harmless signs of ASCII.
_ESCAPED = re.compile(r"[^ -&(-\[\]-~]")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
