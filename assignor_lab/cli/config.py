"""``assignor config``: each effective value and its origin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import console, note, print_json, print_line, table

if TYPE_CHECKING:
    from assignment_api.plugins import (
        ConfigSources,
        EffectiveConfig,
        Found,
        FoundConnectAssignor,
        FoundTaskAssignor,
        GroupAssignorPlugin,
        PluginError,
        Registry,
        Setting,
    )
    from assignor_lab.scenarios import Scenario

    _Found = FoundTaskAssignor | FoundConnectAssignor | Found[GroupAssignorPlugin]

    #: Name of an assignor to its declared settings by key.
    Declared = Mapping[str, Mapping[str, Setting]]

__all__ = ["register"]

ScenarioFile = Annotated[
    Path | None, typer.Argument(metavar="SCENARIO", help="File of scenarios; the first one's configuration is shown.")
]
ScenarioId = Annotated[
    str | None, typer.Option("--id", metavar="ID", help="Show the scenario of this id instead of the first.")
]


@attrs.frozen
class _Selection:
    streams: FoundTaskAssignor | None
    connect: FoundConnectAssignor | None
    groups: tuple[Found[GroupAssignorPlugin], ...]
    faults: tuple[PluginError, ...]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("config")(_config)


def _config(
    scenario: ScenarioFile = None,
    config: ConfigFile = None,
    c: Overrides = None,
    scenario_id: ScenarioId = None,
    json: Json = False,
) -> None:
    """Show every effective value of the configuration and where it came from.

    Only keys that concern assignment are read; nothing else of an application's file is printed or kept.
    A module:attribute is looked up, and not imported.
    """
    from assignment_api.plugins import declared_settings
    from assignor_lab.cli.found_plugins import found_plugins

    given = sources(config, c)
    chosen = None if scenario is None else _scenario(scenario, scenario_id)
    effective = given.effective() if chosen is None else _of_scenario(given, chosen)
    registry = found_plugins(effective, imports_code=False).registry
    selection, declared = _selected(registry, effective), declared_settings(registry)
    shown = _with_declared_keys(_with_connect_keys(effective), declared)
    if json:
        print_json(_document(shown, selection, declared))
    else:
        _print(shown, selection)
    if selection.faults:
        raise selection.faults[0]


def _of_scenario(given: ConfigSources, scenario: Scenario) -> EffectiveConfig:
    from assignment_api.plugins import ConfigValue, Layer, Origin

    effective = given.effective(scenario.config, str(scenario.place))
    origin = Origin(Layer.SCENARIO, f"{scenario.place} (settings)")
    settings = scenario.document.get("settings", {})
    missing = {key: ConfigValue(value, origin) for key, value in settings.items() if key not in _explicit(effective)}
    return attrs.evolve(effective, entries={**effective.entries, **missing})


def _explicit(effective: EffectiveConfig) -> set[str]:
    return {key for key, held in effective.entries.items() if held.origin.layer.is_explicit}


def _selected(registry: Registry, effective: EffectiveConfig) -> _Selection:
    from assignment_api.plugins import PluginError, select_connect_assignor, select_task_assignor
    from assignor_lab.cli.configured import names_shim

    streams: FoundTaskAssignor | None = None
    connect: FoundConnectAssignor | None = None
    faults: list[PluginError] = []
    try:
        streams = select_task_assignor(registry, effective)
    except PluginError as error:
        if not names_shim(effective):
            faults.append(error)
    try:
        connect = select_connect_assignor(registry, effective)
    except PluginError as error:
        faults.append(error)
    return _Selection(streams, connect, registry.group_assignors(), tuple(faults))


def _with_connect_keys(effective: EffectiveConfig) -> EffectiveConfig:
    from assignment_api.connect import CONNECT_PROTOCOL, MAX_DELAY_KEY
    from assignment_api.plugins import ConfigValue, Layer, Origin
    from assignment_api.plugins.keys import CONNECT_ASSIGNOR_CLASS, KAFKA_KEYS

    # For listings alone: assignors have their own defaults.
    values = {CONNECT_ASSIGNOR_CLASS: None, CONNECT_PROTOCOL: "sessioned", MAX_DELAY_KEY: 300_000}
    default = Origin(Layer.DEFAULT)
    missing = {key: ConfigValue(value, default) for key, value in values.items() if key not in effective.entries}
    entries = {**effective.entries, **missing}
    ordered = [key for key in KAFKA_KEYS if key in entries]
    ordered += [key for key in entries if key not in KAFKA_KEYS]
    return attrs.evolve(effective, entries={key: entries[key] for key in ordered})


def _with_declared_keys(effective: EffectiveConfig, declared: Declared) -> EffectiveConfig:
    from assignment_api.plugins import ConfigValue, Layer, Origin

    missing = {
        key: ConfigValue(setting.default, Origin(Layer.PLUGIN, plugin))
        for plugin, settings in declared.items()
        for key, setting in settings.items()
        if key not in effective
    }
    return attrs.evolve(effective, entries={**effective.entries, **missing})


def _scenario(path: Path, wanted: str | None) -> Scenario:
    from assignment_api.plugins import ConfigKeyError
    from assignor_lab.scenarios import read_scenarios

    for scenario in read_scenarios(path):
        if wanted is None or scenario.id == wanted:
            return scenario
    missing = "holds no scenario" if wanted is None else f"holds no scenario of id {wanted!r}"
    raise ConfigKeyError(f"{path}: {missing}")


def _print(effective: EffectiveConfig, selection: _Selection) -> None:
    from assignor_lab.cli.configured import names_shim

    rows = [(key, _shown(effective, key), held.origin) for key, held in effective.items()]
    console().print(table(("KEY", "VALUE", "FROM"), rows))
    if selection.streams is not None:
        print_line(f"assignor: {selection.streams.name}{_origin(selection.streams)}")
    elif names_shim(effective):
        print_line("assignor: the one that 'assignor serve-assignor' serves beside the application")
    if selection.connect is not None:
        print_line(f"for Kafka Connect: {selection.connect.name}{_origin(selection.connect)}")
    if selection.groups:
        names = ", ".join(f"{found.name}{_origin(found)}" for found in selection.groups)
        print_line(f"where the brokers assign, by --assignor: {names}")
    for key in effective:
        problem = effective.problem(key)
        if problem is not None:
            note(f"{effective[key].origin}: {problem}")
    if str(effective["group.protocol"].value if "group.protocol" in effective else "").lower() == "streams":
        note("with group.protocol=streams the brokers assign the tasks: no assignor of the client runs")


def _shown(effective: EffectiveConfig, key: str) -> str:
    value = effective.shown(key)
    if value is None:
        return "(not set)"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _origin(found: _Found) -> str:
    words = [f"{found.distribution} {found.version}"] if found.distribution else []
    if ":" in found.name and found.plugin.name == "unseen":
        words.append("code, not imported here")
    return f" ({', '.join(words)})" if words else ""


def _document(effective: EffectiveConfig, selection: _Selection, declared: Declared) -> dict[str, Any]:
    values = {
        key: {
            "value": effective.shown(key),
            "layer": held.origin.layer.name.lower(),
            "place": held.origin.place,
            "problem": effective.problem(key),
        }
        for key, held in effective.items()
    }
    return {
        "config": values,
        "declared": [
            {"plugin": plugin, **attrs.asdict(setting)}
            for plugin, settings in declared.items()
            for setting in settings.values()
        ],
        "assignor": _found_document(selection.streams),
        "connect_assignor": _found_document(selection.connect),
        "group_assignors": [_found_document(found) for found in selection.groups],
        "error": str(selection.faults[0]) if selection.faults else None,
        "notes": list(effective.notes),
    }


def _found_document(found: _Found | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"name": found.name, "distribution": found.distribution, "version": found.version}
