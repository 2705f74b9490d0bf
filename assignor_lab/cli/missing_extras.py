"""Extras that a command line needs and this environment lacks, for one message that names all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec

__all__ = ["check_options", "missing_extras"]

#: Extra to the modules at the top of what it installs. Of several extras with a module, the first one is named.
EXTRAS = {
    "cli": ("typer", "rich"),
    "spark": ("pyspark", "pyarrow", "pandas", "packaging"),
    "spark-connect": ("grpc",),
    "report": ("jinja2", "markupsafe"),
    "kafka": ("kafka", "tenacity"),
    "ui": ("starlette", "uvicorn", "jinja2", "markupsafe"),
    "connect": ("httpx", "starlette", "uvicorn", "prometheus_client", "kafka", "tenacity"),
    "watch": ("prometheus_client", "kafka", "tenacity"),
    "statistics": ("scipy", "numpy", "junitparser"),
    "new": ("copier",),
    "conformance": ("pytest",),
    "clients": ("aiokafka", "kafka", "tenacity"),
}

#: Module of another distribution to the one that installs it, for errors that name it.
_INSTALLED_WITH = {"py4j": "pyspark", "h11": "uvicorn"}

#: Extras of a command in each call, beside ``cli``. Others depend on its sources and options.
COMMANDS = {
    "advise": ("statistics",),
    "capture": ("kafka",),
    "conformance": ("conformance",),
    "connect serve": ("connect",),
    "connect status": ("connect",),
    "connect restart": ("connect",),
    "groups": ("kafka",),
    "new": ("new",),
    "record": ("kafka",),
    "score": ("spark", "report"),
    "ui": ("ui",),
    "update": ("new",),
}

#: Option to the extras that it needs: for a command, or ("") for each that has the option.
OPTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "--bootstrap-server": {"": ("kafka",)},
    "--baseline": {"score": ("statistics",)},
    "--junit": {"": ("statistics",)},
    "--metrics": {"record": ("watch",)},
    "--remote": {"": ("spark", "spark-connect")},
    "--master": {"": ("spark",)},
    "--report": {"": ("report",)},
    "--url": {"connect": ("connect",)},
}


def missing_extras(words: Sequence[str], module: str) -> tuple[list[str], list[str]]:
    """Modules and extras that a command line lacks; both are empty if no extra installs ``module``.

    Args:
        words: Words of the command line.
        module: A module that could not be imported.
    """
    module = module.partition(".")[0]
    module = _INSTALLED_WITH.get(module, module)
    needed = [*_of_command(words), *_of_options(words)]
    of_module = [extra for extra, modules in EXTRAS.items() if module in modules]
    if not of_module:
        return [], []
    if not set(of_module).intersection(needed):
        needed.append(of_module[0])
    return _lacking(needed, module)


def check_options(words: Sequence[str]) -> None:
    """Looks for the modules that options need, before the work.

    Raises:
        ModuleNotFoundError: if one is missing.
    """
    modules, _ = _lacking(_of_options(words), None)
    if modules:
        raise ModuleNotFoundError(f"No module named {modules[0]!r}", name=modules[0])


def _lacking(needed: Iterable[str], module: str | None) -> tuple[list[str], list[str]]:
    modules: dict[str, None] = {}
    extras: dict[str, None] = {}
    for extra in needed:
        absent = [each for each in EXTRAS[extra] if each == module or not _is_installed(each)]
        # What an extra before it brings needs no second name.
        if not set(absent) <= modules.keys():
            extras[extra] = None
        modules.update(dict.fromkeys(absent))
    return list(modules), list(extras)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _of_command(words: Sequence[str]) -> list[str]:
    return ["cli", *COMMANDS.get(_command(words), ())]


def _of_options(words: Sequence[str]) -> list[str]:
    command = _command(words)
    given = {word.partition("=")[0] for word in words}
    return [
        extra
        for option, commands in OPTIONS.items()
        if option in given
        for name, extras in commands.items()
        if name in ("", command, command.partition(" ")[0])
        for extra in extras
    ]


def _command(words: Sequence[str]) -> str:
    """Name of the command, of two words for those of Connect; empty without one."""
    named = [word for word in words if not word.startswith("-")]
    if not named:
        return ""
    return " ".join(named[:2]) if named[0] == "connect" else named[0]
