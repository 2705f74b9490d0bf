"""Routes about the worker itself: version, health, metrics, plugins, loggers and the description of all this."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from connect_workers import contract as h
from connect_workers.rest import answers, bodies
from connect_workers.rest.answers import RestError, empty_answer, json_answer
from connect_workers.rest.calls import TRUE_OR_ELSE, Call, Parameter, RestOperation
from connect_workers.rest.routes.metrics import CONTENT_TYPE, exposition
from connect_workers.rest.routes.openapi import openapi_document
from connect_workers.rest.waiting import stage_text

__all__ = ["OPERATIONS"]

_WRAPPED = "org.apache.kafka.connect.runtime.rest.errors.BadRequestException"
_UNHEALTHY = "Worker was unable to handle this request and may be unable to handle other requests."
_LEVELS = {"OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"}


# --- version and health ---------------------------------------------------------------------------


async def get_root(call: Call) -> Response:
    info = call.worker.server_info()
    return json_answer({"version": info.version, "commit": info.commit, "kafka_cluster_id": info.kafka_cluster_id})


async def get_health(call: Call) -> Response:
    limit = asyncio.timeout(call.settings.health_timeout_s)
    try:
        async with limit:
            await call.worker.health()
    except h.UnhealthyError as error:
        return _unwell("unhealthy", 500, f"{_UNHEALTHY} {error}")
    except TimeoutError:
        if not limit.expired():
            raise
        stage = stage_text(call.worker.stage)
        if not call.worker.ready:
            return _unwell("starting", 503, f"Worker is still starting up. {stage}")
        return _unwell("unhealthy", 500, f"{_UNHEALTHY} {stage}")
    return json_answer(
        {"status": "healthy", "message": "Worker has completed startup and is ready to handle requests."}
    )


def _unwell(status: str, code: int, message: str) -> Response:
    return json_answer({"status": status, "message": message}, code)


async def get_metrics(call: Call) -> Response:
    return Response(exposition(call.worker.metrics()), headers={"Content-Type": CONTENT_TYPE})


# --- plugins --------------------------------------------------------------------------------------


async def list_plugins(call: Call) -> Response:
    values = call.first("connectorsOnly")
    only = values is None or values == "" or values.lower() == "true"
    return json_answer([answers.plugin(each) for each in call.worker.plugins(connectors_only=only)])


async def get_plugin_config(call: Call) -> Response:
    definitions = call.worker.plugin_config(call.segment("plugin"), call.first("version"))
    return json_answer([dict(each) for each in definitions])


async def validate(call: Call) -> Response:
    plugin = call.segment("plugin")
    config = bodies.read_config(call.body)
    included = config.get("connector.class")
    if included is not None and not _short(included).endswith(_short(plugin)):
        raise h.BadRequestError(f"Included connector type {included} does not match request type {plugin}")
    try:
        done = await call.complete(call.worker.validate(plugin, config))
    except h.BadRequestError as error:
        # Here, and only here, Connect wraps the refusal, and the wrapping is an error 500.
        raise RestError(500, f"{_WRAPPED}: {error}") from error
    return json_answer(
        {
            "name": done.name,
            "error_count": done.error_count,
            "groups": list(done.groups),
            "configs": [dict(each) for each in done.configs],
        }
    )


def _short(name: str) -> str:
    """A class name without the ending that configurations may leave out."""
    return name.removesuffix("Connector") or name


# --- loggers --------------------------------------------------------------------------------------


async def list_loggers(call: Call) -> Response:
    loggers = call.worker.loggers()
    return json_answer({name: _level(loggers[name]) for name in sorted(loggers)})


async def get_logger(call: Call) -> Response:
    return json_answer(_level(call.worker.logger(call.segment("logger"))))


def _level(level: h.LoggerLevel) -> dict[str, object]:
    return {"level": level.level, "last_modified": level.last_modified}


async def set_logger(call: Call) -> Response:
    """Sets a level, here or everywhere (KIP-976)."""
    name = call.segment("logger")
    level = bodies.read_config(call.body).get("level")
    if level is None:
        raise h.BadRequestError("Desired 'level' parameter was not specified in request.")
    if level.upper() not in _LEVELS:
        raise h.NotFoundError(f"invalid log level '{level:.40}'.")
    # A scope that is neither is answered for the worker, with a warning in Connect's log.
    if (call.first("scope") or "").lower() == "cluster":
        await call.complete(call.worker.set_cluster_logger_level(name, level.upper()))
        return empty_answer(204)
    return json_answer(list(await call.complete(call.worker.set_logger_level(name, level.upper()))))


async def get_openapi(call: Call) -> Response:
    return json_answer(openapi_document(call.request.app.state.operations, call.worker.server_info().version))


OPERATIONS = (
    RestOperation(
        "GET", "/", get_root, "Version and cluster of the worker", "worker", {200: "ServerInfo"}, reads_json=False
    ),
    RestOperation(
        "GET",
        "/health",
        get_health,
        "Whether the worker handles requests",
        "worker",
        {200: "Health", 500: "Health", 503: "Health"},
        reads_json=False,
    ),
    RestOperation(
        "GET",
        "/metrics",
        get_metrics,
        "Metrics of the worker, for Prometheus",
        "worker",
        {200: "Metrics"},
        content_type=CONTENT_TYPE,
        reads_json=False,
    ),
    RestOperation(
        "GET", "/openapi.json", get_openapi, "This interface, described", "worker", {200: "OpenApi"}, reads_json=False
    ),
    RestOperation(
        "GET",
        "/connector-plugins",
        list_plugins,
        "Plugins that can be configured",
        "plugins",
        {200: "Plugins"},
        parameters=(
            Parameter(
                "connectorsOnly",
                "Anything but `true` lists converters, transformations and the like, too.",
                TRUE_OR_ELSE,
            ),
        ),
    ),
    RestOperation(
        "GET",
        "/connector-plugins/{plugin}/config",
        get_plugin_config,
        "Definitions of a plugin's configuration",
        "plugins",
        {200: "Definitions", 400: "Error", 404: "Error"},
        parameters=(Parameter("version", "Version or range of versions of the plugin.", {"type": "string"}),),
    ),
    RestOperation(
        "PUT",
        "/connector-plugins/{plugin}/config/validate",
        validate,
        "Check a configuration",
        "plugins",
        {200: "Validation", 400: "Error"},
        "ConfigToCheck",
    ),
    RestOperation("GET", "/admin/loggers", list_loggers, "Levels of all loggers", "loggers", {200: "Loggers"}),
    RestOperation(
        "GET", "/admin/loggers/{logger}", get_logger, "Level of a logger", "loggers", {200: "Logger", 404: "Error"}
    ),
    RestOperation(
        "PUT",
        "/admin/loggers/{logger}",
        set_logger,
        "Set the level of a logger, on this worker or on all of the cluster",
        "loggers",
        {200: "LoggerNames", 204: None, 400: "Error", 404: "Error"},
        "LevelChange",
        (Parameter("scope", "`worker` (default) or `cluster`; anything else counts as `worker`.", {"type": "string"}),),
    ),
)
