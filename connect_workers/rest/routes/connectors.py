"""``/connectors``: creating, reading, changing, deleting, pausing, stopping and restarting connectors and tasks."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from connect_workers import contract as h
from connect_workers.rest import answers, bodies
from connect_workers.rest.answers import empty_answer, json_answer
from connect_workers.rest.calls import TRUE_OR_ELSE, Call, Parameter, RestOperation
from connect_workers.rest.forwarding import Forwarded
from connect_workers.rest.paths import connector_path

__all__ = ["FORWARD", "OPERATIONS"]

FORWARD = Parameter(
    "forward",
    "Set by workers that pass a request on: `true` may be passed on once more, `false` may not.",
    TRUE_OR_ELSE,
)
_EXPAND = Parameter(
    "expand",
    "Answer with an object instead of names: with each connector's `status`, its `info`, or both. Other values are "
    "ignored.",
    {"type": "array", "items": {"type": "string"}},
)


# --- the collection -------------------------------------------------------------------------------


async def list_connectors(call: Call) -> Response:
    names = call.worker.connectors()
    wanted = call.request.query_params.getlist("expand")
    if not wanted:
        return json_answer(list(names))
    expanded: dict[str, dict[str, Any]] = {}
    for name in names:
        try:
            expanded[name] = _expanded(call.worker, name, wanted)
        except h.NotFoundError:
            # No status yet, or deleted meanwhile: Connect leaves it out.
            continue
    return json_answer(expanded)


def _expanded(worker: h.Herder, name: str, wanted: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for each in wanted:
        if each == "status":
            fields[each] = answers.connector_status(worker.connector_status(name))
        elif each == "info":
            fields[each] = answers.connector_info(worker.known_connector(name))
    return fields


async def create_connector(call: Call) -> Response:
    create = bodies.read_create(call.body)
    config = _named(create.config, create.name)
    done = await call.complete_or_forward(
        call.worker.put_connector(create.name, config, initial_state=create.initial_state, replace=False),
        "/connectors",
        body=call.body,
    )
    return _put_answer(call, create.name, done)


# --- one connector --------------------------------------------------------------------------------


async def get_connector(call: Call) -> Response:
    return json_answer(answers.connector_info(await call.complete(call.worker.connector_info(call.connector))))


async def delete_connector(call: Call) -> Response:
    name = call.connector
    await call.complete_or_forward(call.worker.delete_connector(name), connector_path(name))
    return empty_answer(204)


async def get_config(call: Call) -> Response:
    return json_answer(answers.config((await call.complete(call.worker.connector_info(call.connector))).config))


async def put_config(call: Call) -> Response:
    name = call.connector
    config = _named(bodies.read_config(call.body), name)
    done = await call.complete_or_forward(
        call.worker.put_connector(name, config, replace=True), connector_path(name, "config"), body=call.body
    )
    return _put_answer(call, name, done)


async def patch_config(call: Call) -> Response:
    name = call.connector
    patch = bodies.read_config(call.body)
    done = await call.complete_or_forward(
        call.worker.patch_connector(name, patch), connector_path(name, "config"), body=call.body
    )
    return json_answer(done.document if isinstance(done, Forwarded) else answers.connector_info(done))


def _named(config: dict[str, str | None], name: str) -> dict[str, str | None]:
    """The configuration with the connector's name, last if it was not there."""
    included = config.get("name")
    if included is not None and included != name:
        raise h.BadRequestError(
            f"Connector name configuration ({included}) doesn't match connector name in the URL ({name})"
        )
    return {**config, "name": name}


def _put_answer(call: Call, name: str, done: tuple[bool, h.ConnectorInfo] | Forwarded) -> Response:
    if isinstance(done, Forwarded):
        created, info = done.status == 201, done.document
    else:
        created, info = done[0], answers.written_info(done[1])
    return json_answer(info, 201 if created else 200, call.location(name) if created else None)


# --- states ---------------------------------------------------------------------------------------


async def get_status(call: Call) -> Response:
    return json_answer(answers.connector_status(call.worker.connector_status(call.connector)))


async def restart_connector(call: Call) -> Response:
    """KIP-745: synchronous and the instance alone without parameters, otherwise a plan.

    Kafka: ``ConnectorsResource``.
    """
    name = call.connector
    only_failed, include_tasks = call.flag("onlyFailed") or False, call.flag("includeTasks") or False
    path = connector_path(name, "restart")
    if not only_failed and not include_tasks:
        await call.complete_or_forward(call.worker.restart_connector(name), path)
        return empty_answer(204)
    request = h.RestartRequest(name, only_failed=only_failed, include_tasks=include_tasks)
    done = await call.complete_or_forward(
        call.worker.restart_connector_and_tasks(request),
        path,
        {"includeTasks": str(include_tasks).lower(), "onlyFailed": str(only_failed).lower()},
    )
    return json_answer(done.document if isinstance(done, Forwarded) else answers.connector_status(done.plan), 202)


async def pause_connector(call: Call) -> Response:
    await call.complete(call.worker.pause_connector(call.connector))
    return empty_answer(202)


async def resume_connector(call: Call) -> Response:
    await call.complete(call.worker.resume_connector(call.connector))
    return empty_answer(202)


async def stop_connector(call: Call) -> Response:
    name = call.connector
    await call.complete_or_forward(call.worker.stop_connector(name), connector_path(name, "stop"))
    return empty_answer(204)


_RESTART_FLAGS = (
    Parameter("includeTasks", "Restart the tasks, too.", TRUE_OR_ELSE),
    Parameter("onlyFailed", "Restart only failed instances.", TRUE_OR_ELSE),
)

OPERATIONS = (
    RestOperation(
        "GET",
        "/connectors",
        list_connectors,
        "List connectors",
        "connectors",
        {200: "ConnectorList"},
        parameters=(_EXPAND,),
    ),
    RestOperation(
        "POST",
        "/connectors",
        create_connector,
        "Create a connector",
        "connectors",
        {201: "ConnectorInfo", 400: "Error", 409: "Error"},
        "CreateConnector",
        (FORWARD,),
    ),
    RestOperation(
        "GET",
        "/connectors/{connector}",
        get_connector,
        "A connector as configured",
        "connectors",
        {200: "ConnectorInfo", 404: "Error"},
    ),
    RestOperation(
        "DELETE",
        "/connectors/{connector}",
        delete_connector,
        "Delete a connector",
        "connectors",
        {204: None, 404: "Error", 409: "Error"},
        parameters=(FORWARD,),
    ),
    RestOperation(
        "GET",
        "/connectors/{connector}/config",
        get_config,
        "A connector's configuration",
        "connectors",
        {200: "Config", 404: "Error"},
    ),
    RestOperation(
        "PUT",
        "/connectors/{connector}/config",
        put_config,
        "Create a connector or replace its configuration",
        "connectors",
        {200: "ConnectorInfo", 201: "ConnectorInfo", 400: "Error", 409: "Error"},
        "ConfigToSet",
        (FORWARD,),
    ),
    RestOperation(
        "PATCH",
        "/connectors/{connector}/config",
        patch_config,
        "Change some keys of a configuration; null takes one away",
        "connectors",
        {200: "ConnectorInfo", 400: "Error", 404: "Error", 409: "Error"},
        "ConfigToPatch",
        (FORWARD,),
    ),
    RestOperation(
        "GET",
        "/connectors/{connector}/status",
        get_status,
        "State of a connector and its tasks",
        "connectors",
        {200: "ConnectorStatus", 404: "Error"},
    ),
    RestOperation(
        "POST",
        "/connectors/{connector}/restart",
        restart_connector,
        "Restart a connector, its tasks, or those that have failed (KIP-745)",
        "connectors",
        {202: "ConnectorStatus", 204: None, 404: "Error", 409: "Error"},
        parameters=(*_RESTART_FLAGS, FORWARD),
    ),
    RestOperation(
        "PUT",
        "/connectors/{connector}/pause",
        pause_connector,
        "Pause a connector and its tasks",
        "connectors",
        {202: None, 404: "Error"},
    ),
    RestOperation(
        "PUT",
        "/connectors/{connector}/resume",
        resume_connector,
        "Let a paused or stopped connector run",
        "connectors",
        {202: None, 404: "Error"},
    ),
    RestOperation(
        "PUT",
        "/connectors/{connector}/stop",
        stop_connector,
        "Stop a connector; its tasks go",
        "connectors",
        {204: None, 404: "Error", 409: "Error"},
        parameters=(FORWARD,),
    ),
)
