"""Further checks of `make fuzz-rest`: existing names, and server errors of Connect itself."""

from __future__ import annotations

import re
import urllib.parse
from typing import Any

import schemathesis

#: Connectors of many requests, so that not every response is 404.
_NAMES = ("numbers", "sink", "a b/c", "ä")
_CONFIG = {"connector.class": "GeneratorSource", "topic": "numbers", "tasks.max": "2"}
_STATES = (None, "running", "paused", "stopped")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

#: Connect's own reasons for 500: bodies that its JSON reader refuses, reads during a rebalance, the time limit, an
#: unreachable worker, a validation that cannot begin, offsets that a connector refuses.
_CONNECTS_OWN = re.compile(
    r"Malformed JSON|The JSON text is nested|The body is not valid|Expected |Unrecognized field|The value of |"
    r"Unknown initial_state|offsets\[\d+\]|Request cannot be completed because a rebalance is expected|"
    r"Request timed out\.|IO Error trying to forward REST request|Unexpected status code when handling forwarded|"
    r"org\.apache\.kafka\.connect\.runtime\.rest\.errors\.BadRequestException: |Failed to start (task|connector)|"
    r"Failed to (alter|reset) offsets for connector "
)


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Every second valid name becomes that of a possible connector."""
    del context
    given = (path_parameters or {}).get("connector")
    # Broken values stay; some values are encoded already.
    name = urllib.parse.unquote(given) if isinstance(given, str) else "."
    if path_parameters and len(name) % 2 and not _CONTROL.search(name) and name != ".":
        path_parameters["connector"] = _NAMES[len(name) // 2 % len(_NAMES)]
    return path_parameters


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """Every second valid configuration becomes one that can run."""
    del context
    if isinstance(body, dict) and set(body) <= {"name", "config", "initial_state"} and _is_config(body.get("config")):
        name = body.get("name")
        if (
            isinstance(name, str)
            and name.strip()
            and not _CONTROL.search(name)
            and body.get("initial_state") in _STATES
        ):
            number = len(name)
            return body | {"name": _NAMES[number % len(_NAMES)], "config": _CONFIG} if number % 2 else body
    if _is_config(body) and len(body) % 2:
        return body | _CONFIG
    return body


def _is_config(body: Any) -> bool:
    return (
        isinstance(body, dict)
        and isinstance(body.get("connector.class"), str)
        and "name" not in body
        and all(isinstance(value, str | None) for value in body.values())
    )


@schemathesis.check
def a_server_error_is_one_of_connects_own(ctx: Any, response: Any, case: Any) -> None:
    """A status above 499 is one that Connect would give."""
    del ctx
    if response.status_code < 500 or (case.path == "/health" and response.status_code in (500, 503)):
        return
    message = str(response.json().get("message"))
    if response.status_code == 503 and "key" in message:
        return
    assert _CONNECTS_OWN.match(message), f"{response.status_code}: {message}"
