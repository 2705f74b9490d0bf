"""``assignor connect restart``: restarts on any Connect cluster, or a preview of them (KIP-745)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.connect.access import CaFile, Urls, ask
from assignor_lab.cli.connect.status import Probe
from assignor_lab.cli.contexts import ContextName, urls_of
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.connect.remote import Outcome, RestartPlan, RestartReport

__all__ = ["register"]

_CHECK_FAILED = 1
_NOT_CONFIGURED = "the connector has fewer tasks now, so no worker owns it, and none restarts it (KAFKA-9472)"

Name = Annotated[str, typer.Argument(metavar="NAME", help="The connector.")]
IncludeTasks = Annotated[bool, typer.Option("--include-tasks", help="Its tasks, too.")]
OnlyFailed = Annotated[bool, typer.Option("--only-failed", help="Only FAILED instances.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the instances that would restart, and change nothing.")]
Timeout = Annotated[
    float,
    typer.Option("--timeout", metavar="S", min=1, max=86_400, help="Seconds for the request and for all to be back."),
]


def register(connect: typer.Typer) -> None:
    """Adds the command to ``connect``."""
    connect.command("restart")(_restart)


def _restart(
    name: Name,
    url: Urls = None,
    context: ContextName = None,
    include_tasks: IncludeTasks = False,
    only_failed: OnlyFailed = False,
    dry_run: DryRun = False,
    timeout: Timeout = 120.0,
    probe: Probe = True,
    ca_file: CaFile = None,
    json: Json = False,
) -> None:
    """Restart a connector, and wait until it is back; with --dry-run, only show the instances that would restart.

    Any Kafka Connect from 3.0 on, or `assignor connect serve`. Without --include-tasks and --only-failed the
    connector's instance alone restarts, whatever its state. Each must return on a living worker. Exit code 1:
    an instance did not come back, or the worker ignored the flags (Connect before 3.0).
    """
    from assignor_lab.connect.remote import plan_document, planned_restart, report_document, restart
    from assignor_lab.kafka.herder.restarts import RestartRequest

    url = urls_of(url, context)
    request = RestartRequest(name, only_failed=only_failed, include_tasks=include_tasks)
    if dry_run:
        plan = ask(url, ca_file, lambda rest: planned_restart(rest, request, probe=probe), timeout)
        if json:
            print_json(plan_document(name, plan))
        else:
            _print_plan(name, plan)
        return
    report = ask(
        url,
        ca_file,
        lambda rest: restart(rest, request, timeout, lambda message: note(f"refused for now: {message}"), probe=probe),
        timeout,
    )
    if json:
        print_json(report_document(report))
    else:
        _print_report(report, timeout)
    if not report.is_back:
        raise typer.Exit(_CHECK_FAILED)


def _what(task: int | None) -> str:
    return "connector" if task is None else "task"


def _print_plan(connector: str, plan: RestartPlan) -> None:
    from assignor_lab.connect.remote import job_name
    from assignor_lab.documents.wording import plural

    chosen = plan.chosen
    if chosen:
        rows = [(_what(each.number), job_name(connector, each.number), each.state, each.worker_id) for each in chosen]
        console().print(table(("RESTARTS", "JOB", "STATE NOW", "WORKER"), rows))
    for worker, reason in plan.dead.items():
        print_line(f"{worker} {reason}: its jobs will not restart before other workers have them")
    for each in plan.unconfigured:
        print_line(f"{job_name(connector, each.number)} {each.state} will not restart: {_NOT_CONFIGURED}")
    print_line(f"{len(chosen)} of {plural(1 + len(plan.now.tasks), 'instance')} would restart; nothing was changed")


def _print_report(report: RestartReport, timeout: float) -> None:
    from assignor_lab.connect.remote import job_name
    from assignor_lab.connect.remote.findings import trace_head
    from assignor_lab.connect.remote.urls import path_of

    if not report.outcomes:
        print_line("nothing was to restart")
        return
    if report.ignored_by is not None:
        print_sentence(_ignored(report))
        for task in report.left:
            path = path_of("connectors", report.connector, "tasks", task.number or 0)
            print_line(f"  curl -X POST '{report.url}{path}/restart'")
    rows = [
        (
            _what(each.task),
            job_name(report.connector, each.task),
            each.before,
            each.after or "gone",
            each.worker_id,
            "; ".join(_remarks(each, report) + ([trace_head(each.trace)] if each.trace else [])),
        )
        for each in report.outcomes
    ]
    console().print(table(("RESTARTED", "JOB", "BEFORE", "NOW", "WORKER", "REMARK"), rows))
    awaited = [each for each in report.outcomes if each.is_configured]
    back = sum(each.is_back for each in awaited)
    late = f" within {timeout:g} s" if report.timed_out else ""
    print_line(f"{back} of {len(awaited)} came back{late}")


def _ignored(report: RestartReport) -> str:
    from assignor_lab.documents.wording import plural

    release = f"Kafka Connect {report.ignored_by}" if report.ignored_by else "this Kafka Connect"
    failed = sum(task.state == "FAILED" for task in report.left)
    is_old = report.ignored_by and report.ignored_by.split(".")[0] in ("0", "1", "2")
    doubt = "" if is_old else "; an older worker or a proxy may have answered in its place"
    rest = (
        f"{plural(failed, 'task')} {'is' if failed == 1 else 'are'} still FAILED" if failed else "no task is FAILED now"
    )
    others = len(report.left) - failed
    more = f", {plural(others, 'task')} of the request {'was' if others == 1 else 'were'} left alone" if others else ""
    way = ": restart each task with its own request" if report.left else ""
    return (
        f"{release} does not know --include-tasks and --only-failed (KIP-745, from 3.0 on{doubt}): it restarted the "
        f"connector's instance only; {rest}{more}{way}"
    )


def _remarks(outcome: Outcome, report: RestartReport) -> list[str]:
    if not outcome.is_configured:
        return [_NOT_CONFIGURED]
    if outcome.after is None:
        return ["the connector has fewer tasks now"]
    if outcome.dead:
        return [f"its worker {outcome.dead}"]
    if not outcome.seen:
        return ["no change was seen"]
    return ["not back in time"] if report.timed_out and not outcome.is_back else []
