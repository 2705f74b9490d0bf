"""Below a connector: its tasks, the topics that it has used, its offsets, and requests between workers."""

from __future__ import annotations

from starlette.responses import Response

from connect_workers.rest import answers, bodies
from connect_workers.rest.answers import empty_answer, json_answer
from connect_workers.rest.calls import Call, RestOperation
from connect_workers.rest.forwarding import Forwarded
from connect_workers.rest.paths import connector_path
from connect_workers.rest.routes.connectors import FORWARD

__all__ = ["OPERATIONS"]

#: Headers of a signed request between workers (KIP-507).
_SIGNATURE, _ALGORITHM = "x-connect-authorization", "x-connect-request-signature-algorithm"


# --- tasks ----------------------------------------------------------------------------------------


async def get_tasks(call: Call) -> Response:
    configs = await call.complete(call.worker.task_configs(call.connector))
    return json_answer([answers.task_config(each) for each in configs])


async def get_task_status(call: Call) -> Response:
    return json_answer(answers.task_status(call.worker.task_status(call.task)))


async def restart_task(call: Call) -> Response:
    task = call.task
    path = connector_path(task.connector, "tasks", str(task.task), "restart")
    await call.complete_or_forward(call.worker.restart_task(task), path)
    return empty_answer(204)


# --- topics ---------------------------------------------------------------------------------------


async def get_topics(call: Call) -> Response:
    name = call.connector
    return json_answer({name: {"topics": list(call.worker.active_topics(name))}})


async def reset_topics(call: Call) -> Response:
    await call.complete(call.worker.reset_topics(call.connector))
    return empty_answer(202)


# --- offsets --------------------------------------------------------------------------------------


async def get_offsets(call: Call) -> Response:
    offsets = await call.complete(call.worker.connector_offsets(call.connector))
    return json_answer({"offsets": [answers.offset(each) for each in offsets]})


async def alter_offsets(call: Call) -> Response:
    name = call.connector
    offsets = bodies.read_offsets(call.body)
    done = await call.complete_or_forward(
        call.worker.alter_offsets(name, offsets), connector_path(name, "offsets"), body=call.body
    )
    return json_answer(done.document if isinstance(done, Forwarded) else {"message": done.message})


async def reset_offsets(call: Call) -> Response:
    name = call.connector
    done = await call.complete_or_forward(call.worker.reset_offsets(name), connector_path(name, "offsets"))
    return json_answer(done.document if isinstance(done, Forwarded) else {"message": done.message})


# --- between workers ------------------------------------------------------------------------------


async def put_task_configs(call: Call) -> Response:
    name = call.connector
    configs = bodies.read_task_configs(call.body)
    _verify(call)
    path = connector_path(name, "tasks")
    await call.complete_or_forward(call.worker.put_task_configs(name, configs), path, body=call.body)
    return empty_answer(204)


async def fence(call: Call) -> Response:
    name = call.connector
    _verify(call)
    await call.complete_or_forward(call.worker.fence(name), connector_path(name, "fence"), body=call.body)
    return empty_answer(204)


def _verify(call: Call) -> None:
    headers = call.request.headers
    call.worker.verify_internal_request(call.body, headers.get(_SIGNATURE), headers.get(_ALGORITHM))


_BY_WORKERS = {204: None, 400: "Error", 403: "Error", 404: "Error", 409: "Error", 503: "Error"}

OPERATIONS = (
    RestOperation(
        "GET",
        "/connectors/{connector}/tasks",
        get_tasks,
        "A connector's tasks as configured",
        "tasks",
        {200: "TaskConfigs", 404: "Error"},
    ),
    RestOperation(
        "POST",
        "/connectors/{connector}/tasks",
        put_task_configs,
        "Configurations of a connector's tasks (between workers, signed)",
        "between workers",
        _BY_WORKERS,
        "TaskConfigMaps",
        (FORWARD,),
    ),
    RestOperation(
        "GET",
        "/connectors/{connector}/tasks/{task}/status",
        get_task_status,
        "State of a task",
        "tasks",
        {200: "TaskStatus", 404: "Error"},
    ),
    RestOperation(
        "POST",
        "/connectors/{connector}/tasks/{task}/restart",
        restart_task,
        "Restart a task",
        "tasks",
        {204: None, 404: "Error", 409: "Error"},
        parameters=(FORWARD,),
    ),
    RestOperation(
        "GET",
        "/connectors/{connector}/topics",
        get_topics,
        "Topics that a connector has used",
        "topics",
        {200: "ActiveTopics", 403: "Error"},
    ),
    RestOperation(
        "PUT",
        "/connectors/{connector}/topics/reset",
        reset_topics,
        "Forget the topics that a connector has used",
        "topics",
        {202: None, 403: "Error"},
    ),
    RestOperation(
        "GET",
        "/connectors/{connector}/offsets",
        get_offsets,
        "How far a connector is",
        "offsets",
        {200: "Offsets", 404: "Error"},
    ),
    RestOperation(
        "PATCH",
        "/connectors/{connector}/offsets",
        alter_offsets,
        "Change offsets of a stopped connector; a null offset is forgotten",
        "offsets",
        {200: "Message", 400: "Error", 404: "Error", 409: "Error"},
        "OffsetsToSet",
        (FORWARD,),
    ),
    RestOperation(
        "DELETE",
        "/connectors/{connector}/offsets",
        reset_offsets,
        "Forget all offsets of a stopped connector",
        "offsets",
        {200: "Message", 400: "Error", 404: "Error", 409: "Error"},
        parameters=(FORWARD,),
    ),
    RestOperation(
        "PUT",
        "/connectors/{connector}/fence",
        fence,
        "Fence earlier generations of a source connector's tasks (between workers, signed)",
        "between workers",
        _BY_WORKERS,
        parameters=(FORWARD,),
    ),
)
