"""Documents of remote clusters and restarts: the output of `assignor connect status` and `restart` with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignor_lab.connect.remote.findings import ClusterFinding, loads
from assignor_lab.connect.remote.restarting import RestartPlan, RestartReport
from assignor_lab.connect.remote.state import ClusterState
from assignor_lab.kafka.herder.statuses import InstanceStatus

__all__ = ["cluster_document", "instance_document", "job_name", "plan_document", "report_document"]


def instance_document(instance: InstanceStatus) -> dict[str, Any]:
    number = {} if instance.number is None else {"id": instance.number}
    trace = {} if instance.trace is None else {"trace": instance.trace}
    return {**number, "state": instance.state, "worker_id": instance.worker_id, **trace}


def cluster_document(state: ClusterState, findings: Sequence[ClusterFinding]) -> dict[str, Any]:
    held = loads(state)
    return {
        "url": state.url,
        "version": state.version,
        "kafka_cluster_id": state.cluster_id or None,
        "time_ms": state.time_ms,
        "workers": [
            {
                "worker_id": worker.worker_id,
                "lives": worker.answers,
                "connectors": held[worker.worker_id][0],
                "tasks": [f"{name}-{instance.number}" for name, instance in held[worker.worker_id][1]],
            }
            for worker in state.workers
        ],
        "connectors": [
            {
                "name": each.name,
                "type": each.type,
                "configured_tasks": None if each.tasks is None else list(each.tasks),
                "connector": None if each.status is None else instance_document(each.status.connector),
                "tasks": [instance_document(instance) for instance in each.instances()[1:]],
            }
            for each in state.connectors
        ],
        "findings": [
            {
                "kind": each.kind,
                "connector": each.connector,
                "task": each.task,
                "worker": each.worker,
                "detail": each.detail,
                "jobs": list(each.jobs) or ([each.job] if each.job else []),
            }
            for each in findings
        ],
        "notes": list(state.notes),
    }


def plan_document(connector: str, plan: RestartPlan) -> dict[str, Any]:
    restarts = [
        {
            "job": job_name(connector, each.number),
            "task": each.number,
            **_now(each),
            **_dead(plan.dead.get(each.worker_id)),
        }
        for each in plan.chosen
    ]
    not_restarted = [
        {"job": job_name(connector, each.number), "task": each.number, **_now(each)} for each in plan.unconfigured
    ]
    return {"connector": connector, "dry_run": True, "restarts": restarts, "not_configured": not_restarted}


def _dead(reason: str | None) -> dict[str, str]:
    return {"worker_is_dead": reason} if reason else {}


def _now(instance: InstanceStatus) -> dict[str, Any]:
    document = instance_document(instance)
    document.pop("id", None)
    return document


def report_document(report: RestartReport) -> dict[str, Any]:
    return {
        "connector": report.connector,
        "dry_run": False,
        "timed_out": report.timed_out,
        "came_back": report.is_back,
        "flags_ignored_by": report.ignored_by,
        "left": [{"job": job_name(report.connector, each.number), **_now(each)} for each in report.left],
        "restarts": [
            {
                "job": job_name(report.connector, each.task),
                "task": each.task,
                "before": each.before,
                "state": each.after,
                "worker_id": each.worker_id,
                "came_back": each.is_back,
                "change_seen": each.seen,
                "configured": each.is_configured,
                **({} if each.trace is None else {"trace": each.trace}),
                **_dead(each.dead),
            }
            for each in report.outcomes
        ],
    }


def job_name(connector: str, task: int | None) -> str:
    return connector if task is None else f"{connector}-{task}"
