"""Kafka Connect groups from recorded responses, as histories."""

from assignor_lab.capture.recorded.connect.answers import DescribedRound, DescribedWorker, read_connect_groups
from assignor_lab.capture.recorded.connect.comparison import ObservedRound, compare_observed
from assignor_lab.capture.recorded.connect.histories import DEFAULT_MAX_DELAY_MS, SeenRound, histories
from assignor_lab.capture.recorded.connect.recording import ConnectRecording, SeenState, read_connect_recording
from assignor_lab.capture.recorded.connect.rest_states import (
    NoWorkerError,
    WhatHappens,
    configured_jobs,
    state_document,
)

__all__ = [
    "read_connect_recording",
    "ConnectRecording",
    "SeenState",
    "SeenRound",
    "histories",
    "DEFAULT_MAX_DELAY_MS",
    "compare_observed",
    "ObservedRound",
    "state_document",
    "configured_jobs",
    "WhatHappens",
    "NoWorkerError",
    "read_connect_groups",
    "DescribedRound",
    "DescribedWorker",
]
