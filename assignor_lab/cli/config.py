"""``assignor config``: each effective value and where it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assignment_api.plugins import (
    ConfigKeyError,
    EffectiveConfig,
    FoundTaskAssignor,
    PluginError,
    discover,
    select_task_assignor,
)
from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import console, note, print_json, print_line, table
from assignor_lab.scenarios import Scenario, read_scenarios

__all__ = ["register"]

ScenarioFile = Annotated[
    Path | None, typer.Argument(metavar="SCENARIO", help="File of scenarios; the first one's configuration is shown.")
]
ScenarioId = Annotated[str | None, typer.Option("--id", help="Show the scenario of this id instead of the first.")]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command()
    def config(
        scenario: ScenarioFile = None,
        config: ConfigFile = None,
        c: Overrides = None,
        scenario_id: ScenarioId = None,
        json: Json = False,  # noqa: FBT002 - a flag
    ) -> None:
        """Show every effective value of the configuration and where it came from.

        Only keys that concern assignment are read; nothing else of an application's file is printed or kept.
        """
        given = sources(config, c)
        chosen = None if scenario is None else _scenario(scenario, scenario_id)
        effective = given.effective() if chosen is None else given.effective(chosen.config, str(chosen.place))
        found: FoundTaskAssignor | None = None
        fault: PluginError | None = None
        try:
            found = select_task_assignor(discover(effective.policy()), effective)
        except PluginError as error:
            fault = error
        if json:
            print_json(_document(effective, found, fault))
        else:
            _print(effective, found)
        if fault is not None:
            raise fault


def _scenario(path: Path, wanted: str | None) -> Scenario:
    for scenario in read_scenarios(path):
        if wanted is None or scenario.id == wanted:
            return scenario
    missing = "holds no scenario" if wanted is None else f"holds no scenario of id {wanted!r}"
    raise ConfigKeyError(f"{path}: {missing}")


def _print(effective: EffectiveConfig, found: FoundTaskAssignor | None) -> None:
    rows = [(key, _shown(effective, key), held.origin) for key, held in effective.items()]
    console().print(table(("KEY", "VALUE", "FROM"), rows))
    if found is not None:
        print_line(f"assignor: {found.name}{_origin(found)}")
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


def _origin(found: FoundTaskAssignor) -> str:
    return f" ({found.distribution} {found.version})" if found.distribution else ""


def _document(effective: EffectiveConfig, found: FoundTaskAssignor | None, fault: PluginError | None) -> dict[str, Any]:
    values = {
        key: {
            "value": effective.shown(key),
            "layer": held.origin.layer.name.lower(),
            "place": held.origin.place,
            "problem": effective.problem(key),
        }
        for key, held in effective.items()
    }
    assignor = (
        None
        if found is None
        else {
            "name": found.name,
            "distribution": found.distribution,
            "version": found.version,
        }
    )
    return {
        "config": values,
        "assignor": assignor,
        "error": None if fault is None else str(fault),
        "notes": list(effective.notes),
    }
