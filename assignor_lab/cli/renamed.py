"""Former names of commands and options: they work, hidden, and a note names the present form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assignor_lab.cli.text import note

__all__ = ["FORMER_COMMANDS", "present_words"]

#: Former name of a command to its present one.
FORMER_COMMANDS = {"import-log": "import", "import-recording": "import"}
#: Command to its former options, each with the present one; an empty text: the value is an argument.
_OPTIONS = {
    "assign": {"--scenarios": ""},
    "convert": {"--scenarios": ""},
    "score": {"--again": "--reproduce", "--answers": "--keep-assignments", "--histories": "--mode"},
    "simulate": {"--coming-refiner": "--experimental-warmup"},
}
#: Former option to its former values, each with the present one.
_VALUES = {"--histories": {"decisions": "independent"}}


def present_words(words: Sequence[str]) -> list[str]:
    """The words of a command line with present names in place of former ones; each is noted on standard error."""
    present = list(words)
    place = next((place for place, word in enumerate(present) if not word.startswith("-")), None)
    if place is None:
        return present
    command = present[place]
    if command in FORMER_COMMANDS:
        present[place] = FORMER_COMMANDS[command]
        note(f"{command} is now named {present[place]}")
    former = _OPTIONS.get(present[place], {})
    return present[: place + 1] + _present_options(present[place], present[place + 1 :], former)


def _present_options(command: str, words: Sequence[str], former: Mapping[str, str]) -> list[str]:
    present: list[str] = []
    noted: set[str] = set()
    option = ""
    for place, word in enumerate(words):
        if word == "--":
            return [*present, *words[place:]]
        name, equals, value = word.partition("=")
        if name not in former:
            present.append(_VALUES.get(option, {}).get(word, word))
            option = ""
            continue
        if name not in noted:
            noted.add(name)
            now = f"now named {former[name]}" if former[name] else f"not needed any more: assignor {command} FILE"
            note(f"{name} is {now}")
        value = _VALUES.get(name, {}).get(value, value)
        present += [former[name] + equals + value] if former[name] else [value] if equals else []
        option = name
    return present
