"""Running Kafka Connect clusters, local or remote: a client of their REST interface."""

from assignor_lab.connect.remote.access import RequestSettings, access_from
from assignor_lab.connect.remote.answers import read_info, read_status
from assignor_lab.connect.remote.client import ConnectRest
from assignor_lab.connect.remote.documents import cluster_document, job_name, plan_document, report_document
from assignor_lab.connect.remote.errors import (
    AccessError,
    ConnectRefusedError,
    ConnectUrlError,
    NotConnectError,
    NotForwardedError,
    RemoteClusterError,
    UnreachableClusterError,
)
from assignor_lab.connect.remote.findings import FINDINGS, ClusterFinding, find
from assignor_lab.connect.remote.restarting import Outcome, RestartPlan, RestartReport, planned_restart, restart
from assignor_lab.connect.remote.state import ClusterState, RemoteConnector, RemoteWorker, read_cluster
from assignor_lab.connect.remote.urls import ConnectUrl, parse_url
from assignor_lab.connect.remote.waiting import DEFAULT_MAX_DELAY_MS, WaitingJobs

__all__ = [
    "ConnectRest",
    "ConnectUrl",
    "parse_url",
    "RequestSettings",
    "access_from",
    "read_cluster",
    "ClusterState",
    "RemoteConnector",
    "RemoteWorker",
    "find",
    "ClusterFinding",
    "FINDINGS",
    "WaitingJobs",
    "DEFAULT_MAX_DELAY_MS",
    "planned_restart",
    "restart",
    "RestartPlan",
    "RestartReport",
    "Outcome",
    "cluster_document",
    "plan_document",
    "report_document",
    "job_name",
    "read_status",
    "read_info",
    "RemoteClusterError",
    "ConnectUrlError",
    "AccessError",
    "UnreachableClusterError",
    "NotConnectError",
    "NotForwardedError",
    "ConnectRefusedError",
]
