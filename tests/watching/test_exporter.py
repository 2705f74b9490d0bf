"""Metrics of recorded groups: documented names, recorded figures, and a dashboard and alerts that use them."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from assignment_api.plugins import config_sources, discover
from assignor_lab.watching.exporter import (
    MOST_GROUPS,
    Exporter,
    MetricsAddressError,
    RecorderHealth,
    metric_families,
    metrics_address,
)
from assignor_lab.watching.figures import CAUSES, GroupFigures, MeasuringTerms, figures_of_past
from tests.capture.flight_recording import write_recording

MONITORING = Path("docs/monitoring")
FLIGHT = ("num.standby.replicas=1", "acceptable.recovery.lag=5", "rack.aware.assignment.strategy=min_traffic")
TERMS = MeasuringTerms(discover(), config_sources(None, FLIGHT))
KNOWN = GroupFigures("orders", {}, 1, 1, 1, 0, 0, 0, {}, 0.0, 1.0, 0)
HEALTH = RecorderHealth(0, 1_000, is_connected=True)


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    made = Exporter(lambda _, folder: figures_of_past(folder, TERMS), pytest.fail)
    yield made
    made.close()


def scraped(port: int) -> dict[tuple[str, str], float]:
    """Sample name and the value of its second label to the value."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    return {
        (sample.name, sample.labels.get("cause", sample.labels.get("rule", ""))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.slow
@pytest.mark.parametrize(("group", "rebalances"), [("classic", 10), ("streams", 5), ("real-connect", 12)])
def test_a_recorded_group_has_its_figures(group: str, rebalances: int, exporter: Exporter, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", group)
    port = exporter.serve("127.0.0.1", 0)
    exporter.changed("a", tmp_path / "past")
    found: dict[tuple[str, str], float] = {}
    for _ in range(600):
        found = scraped(port)
        if ("assignor_group_members", "") in found:
            break
        time.sleep(0.1)
    assert sum(found["assignor_group_rebalances_total", cause] for cause in CAUSES) == rebalances
    assert found["assignor_group_reproduced_decisions_ratio", ""] == 1
    assert found["assignor_group_last_rebalance_age_seconds", ""] > 0


def test_a_folder_without_a_decision_has_no_metrics_and_no_message(exporter: Exporter, tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text("")
    exporter._read_one("young", tmp_path)
    assert [each.name for each in exporter.collect() if each.name == "assignor_group_members" and each.samples] == []


def test_groups_beyond_the_limit_are_counted(exporter: Exporter, tmp_path: Path) -> None:
    for number in range(MOST_GROUPS + 3):
        exporter.changed(f"group-{number}", tmp_path)
    (left_out,) = [each for each in exporter.collect() if each.name == "assignor_groups_without_metrics"]
    assert left_out.samples[0].value == 3


@pytest.mark.parametrize(("text", "address"), [(":9308", ("127.0.0.1", 9308)), ("[::1]:1", ("::1", 1))])
def test_without_a_host_the_address_is_loopback(text: str, address: tuple[str, int]) -> None:
    assert metrics_address(text) == address


@pytest.mark.parametrize("text", ["9308", ":", ":x", ":99999", "host"])
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(MetricsAddressError, match="write HOST:PORT"):
        metrics_address(text)


def test_a_taken_port_is_refused(exporter: Exporter) -> None:
    port = exporter.serve("127.0.0.1", 0)
    with pytest.raises(MetricsAddressError, match="name a free port"):
        exporter.serve("127.0.0.1", port)


# --- documentation, dashboard, alerts ---------------------------------------------------------------


def names() -> dict[str, set[str]]:
    """Sample name to its labels."""
    families = list(metric_families([KNOWN], 0, 0, HEALTH))
    assert [each.name for each in families if not each.samples] == []
    return {sample.name: set(sample.labels) for each in families for sample in each.samples}


def test_the_page_names_every_metric_with_its_labels() -> None:
    page = Path("docs/how-to/alert-on-rebalances.md").read_text()
    rows = re.findall(r"^\| `(assignor_\w+)` \| (counter|gauge) \| ([^|]*)\|", page, re.MULTILINE)
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, _, labels in rows} == names()
    assert all((kind == "counter") is name.endswith("_total") for name, kind, _ in rows)
    assert [cause for cause in CAUSES if f"`{cause}`" not in page] == []


def used(expression: str) -> set[str]:
    """Metrics of a valid expression; variables of Grafana stand for durations and texts."""
    valid = re.sub(r"\$__\w+", "5m", expression)
    promql_parser.parse(valid)
    return set(re.findall(r"\bassignor_\w+", valid))


def test_every_alert_parses_and_uses_known_metrics() -> None:
    (group,) = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]:
        assert used(rule["expr"]) <= names().keys(), rule["alert"]
        assert rule["annotations"]["summary"]


def test_every_panel_parses_and_the_dashboard_shows_every_metric() -> None:
    dashboard: dict[str, Any] = json.loads((MONITORING / "dashboard.json").read_text())
    shown = [used(target["expr"]) for panel in dashboard["panels"] for target in panel["targets"]]
    assert set().union(*shown) == names().keys()
    places = [tuple(panel["gridPos"].values()) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places)
