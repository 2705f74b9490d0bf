"""The forms of an order that a deployment can use: for Kubernetes, and as a shell script with checks between its steps.

Names of instances are foreign text: they are quoted for a shell, and refused where Kubernetes allows no such name.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Sequence

from assignor_lab.documents.wording import plain
from assignor_lab.planning.making import PlanError
from assignor_lab.planning.orders.answer import BestOrder
from assignor_lab.planning.orders.words import best_sentence
from assignor_lab.planning.plans import CALM, Wait

__all__ = ["kubernetes_form", "script_form"]

_POD = re.compile(r"\A[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\Z", re.ASCII)
_DIGITS = "0123456789"
#: A step may take this many times as long as planned, and these seconds, before the script stops.
_LONGER, _LONGER_SECONDS = 3, 60


# --- Kubernetes ---------------------------------------------------------------------------------------------


def kubernetes_form(answer: BestOrder) -> str:
    """YAML (in JSON's style): steps of a StatefulSet's partition, a Deployment's surge, or pods to delete in order.

    Raises:
        PlanError: if an instance has a name that no pod has.
    """
    conditions, batches = answer.order.conditions, answer.order.batches
    names = [name for batch in batches for name in batch]
    for name in names:
        if not _POD.match(name):
            raise PlanError(
                f"--form kubernetes: {name!r:.80} is no name of a pod: set client.id to the pod's name, or use "
                "--form script"
            )
    stem = _stateful_set(names)
    if conditions.surge:
        document = _surge(max(map(len, batches)), conditions.wait)
    elif stem is not None and _is_descending(batches):
        document = {"strategy": "partition", "statefulset": stem, "steps": list(_partitions(stem, answer))}
    else:
        document = {
            "strategy": "delete",
            "spec": {"updateStrategy": {"type": "OnDelete"}},
            "steps": list(_deletions(answer)),
        }
    comment = f"# {plain(best_sentence(answer))}\n"
    first = (
        f"# First: {plain(conditions.settings)} in the configuration of all instances.\n" if conditions.settings else ""
    )
    return comment + first + json.dumps(document, indent=2) + "\n"


def _surge(surge: int, wait: Wait) -> dict[str, object]:
    seconds = {"minReadySeconds": math.ceil(wait / 1000)} if isinstance(wait, int) else {}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}}
    return {"strategy": "surge", "spec": {**seconds, "strategy": strategy}}


def _stateful_set(names: Sequence[str]) -> str | None:
    """The name of the StatefulSet whose pods these are, from 0 on."""
    parts = [name.rpartition("-") for name in names]
    stems = {stem for stem, _, _ in parts}
    if len(stems) != 1 or not all(number and not number.strip(_DIGITS) and len(number) < 7 for _, _, number in parts):
        return None
    is_complete = sorted(int(number) for _, _, number in parts) == list(range(len(names)))
    return next(iter(stems)) or None if is_complete else None


def _is_descending(batches: Sequence[Sequence[str]]) -> bool:
    """True if each step has the highest numbers that are left, as a StatefulSet updates its pods."""
    numbers = [sorted((int(name.rpartition("-")[2]) for name in batch), reverse=True) for batch in batches]
    together = [number for batch in numbers for number in batch]
    return together == sorted(together, reverse=True)


def _partitions(stem: str, answer: BestOrder) -> Iterator[dict[str, object]]:
    for batch in answer.order.batches:
        partition = min(int(name.rpartition("-")[2]) for name in batch)
        update = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition, "maxUnavailable": len(batch)}}
        spec = {"spec": {"updateStrategy": update}}
        patch = f"kubectl patch statefulset {shlex.quote(stem)} --type merge -p {shlex.quote(json.dumps(spec))}"
        commands = [patch, f"kubectl rollout status statefulset {shlex.quote(stem)}"]
        yield {"pods": list(batch), **spec, "commands": commands, "then": _then(answer.order.conditions.wait)}


def _deletions(answer: BestOrder) -> Iterator[dict[str, object]]:
    for batch in answer.order.batches:
        pods = " ".join(shlex.quote(f"pod/{name}") for name in batch)
        commands = [f"kubectl delete {pods}", f"kubectl wait --for=condition=Ready --timeout=600s {pods}"]
        yield {"pods": list(batch), "commands": commands, "then": _then(answer.order.conditions.wait)}


def _then(wait: Wait) -> str:
    if isinstance(wait, int):
        return f"wait {wait / 1000:g} s"
    return "wait until the group is at rest" if wait == CALM else "go on when all pods are ready"


# --- a script -----------------------------------------------------------------------------------------------

_HEAD = """\
#!/bin/sh
# {sentence}
{first}# RESTART NAME restarts an instance, and returns when its old process has ended{surge}.
# READY NAME succeeds if the instance is RUNNING.
# RECORDED is the folder of a running 'assignor record --follow'.
# PLANNED is the file of all restarts by such scripts, usually beside RECORDED: checks do not count them.
{calm_comment}set -eu
: "${{RESTART:?the command that restarts an instance}}"
: "${{READY:?the command that succeeds if an instance is RUNNING}}"
: "${{RECORDED:?the folder of assignor record --follow}}"
{calm}: "${{PLANNED:=${{RECORDED%/}}.restarts}}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plan_stop() {{
    printf 'stopped: %s\\n' "$1" >&2
    exit 1
}}

# SECONDS, then a command that must succeed within them.
plan_within() {{
    ends=$(($(date +%s) + $1))
    shift
    until "$@"; do
        [ "$(date +%s)" -lt "$ends" ] || plan_stop "not in time: $*"
        # Some shells sleep whole seconds only.
        sleep 0.2 2>/dev/null || sleep 1
    done
}}

# SECONDS, then the instances that restart together.
plan_restart() {{
    most=$1
    shift
    started=
    for name in "$@"; do
        printf '%s %s\\0' "$(date +%s)" "$name" >> "$PLANNED" || plan_stop "set PLANNED to a file of this script"
        $RESTART "$name" &
        started="$started $!"
    done
    for process in $started; do
        wait "$process" || plan_stop "RESTART failed: the plan goes no further"
    done
    for name in "$@"; do
        plan_within "$most" $READY "$name"
    done
}}

plan_check() {{
    assignor check "$RECORDED" --since "$work/checked.json" --planned "$PLANNED" ||
        plan_stop "the group leaves the plan: see the findings above"
}}

plan_check
"""


def script_form(answer: BestOrder) -> str:
    """A shell script: each step, the wait for its instances, and a check that stops the script.

    Raises:
        PlanError: if a command would take an instance's name for an option.
    """
    conditions, batches = answer.order.conditions, answer.order.batches
    for name in (name for batch in batches for name in batch):
        if name.startswith("-") or "\0" in name:
            raise PlanError(f"--form script: a command would take {name!r:.80} for an option: name the instance anew")
    is_calm = conditions.wait == CALM
    head = _HEAD.format(
        sentence=plain(best_sentence(answer)),
        first=f"# First: {conditions.settings} in the configuration of all instances.\n" if conditions.settings else "",
        surge=" (its successor starts first)" if conditions.surge else "",
        calm_comment="# CALM succeeds if the group is at rest.\n" if is_calm else "",
        calm=': "${CALM:?the command that succeeds if the group is at rest}"\n' if is_calm else "",
    )
    lines = [head]
    for number, (batch, step) in enumerate(zip(batches, _planned_seconds(answer), strict=True), 1):
        most = math.ceil(_LONGER * step) + _LONGER_SECONDS
        lines.append(f"# Step {number} of {len(batches)}, planned: {step:.1f} s.\n")
        lines.append(f"plan_restart {most} {' '.join(shlex.quote(name) for name in batch)}\n")
        if is_calm:
            lines.append(f"plan_within {most} $CALM\n")
        elif isinstance(conditions.wait, int):
            lines.append(f"sleep {math.ceil(conditions.wait / 1000)}\n")
        lines.append("plan_check\n")
    return "".join(lines)


def _planned_seconds(answer: BestOrder) -> list[float]:
    begins = [step.at_seconds for step in answer.prediction.steps]
    ends = [*begins[1:], answer.prediction.duration_seconds.median]
    return [max(0.0, end - begin) for begin, end in zip(begins, ends, strict=True)]
