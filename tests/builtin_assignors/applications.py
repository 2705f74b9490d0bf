from __future__ import annotations

from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from assignment_api import ApplicationMetadata, AssignmentConfigs, ProcessID, StreamsClientState, TaskId, TaskInfo

_UNBOUNDED = 2**63 - 1


@st.composite
def applications(draw: st.DrawFn, max_clients: int = 6, max_partitions: int = 6) -> ApplicationMetadata:
    numbers = draw(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=max_clients, unique=True))
    tasks = [
        TaskInfo(TaskId(subtopology, partition), is_logged, is_logged)
        for subtopology, is_logged in enumerate(draw(st.lists(st.booleans(), max_size=3)))
        for partition in range(draw(st.integers(1, max_partitions)))
    ]
    lag = st.sampled_from(draw(st.sampled_from([(0, -2, 100_000), (-3, -2, 0, 5, 10_001), (0, 5, 10, 20, 30)])))
    tags: st.SearchStrategy[dict[Any, Any]] = st.dictionaries(
        st.sampled_from(["zone", "cluster", "other"]), st.sampled_from(["a", "b", "c"])
    )
    clients = [
        StreamsClientState(
            ProcessID(UUID(int=number)),
            draw(st.integers(0, 3)),
            lags={info.id: draw(lag) for info in tasks if info.is_logged},
            client_tags=draw(tags),
        )
        for number in numbers
    ]
    configs = AssignmentConfigs(
        acceptable_recovery_lag=draw(st.sampled_from([0, 10, 10_000, _UNBOUNDED])),
        max_warmup_replicas=draw(st.integers(1, 3)),
        num_standby_replicas=draw(st.integers(0, 3)),
        rack_aware_assignment_tags=tuple(draw(st.lists(st.sampled_from(["zone", "cluster"]), unique=True))),
    )
    return ApplicationMetadata(configs, tasks, clients, current_time_ms=draw(st.integers(0, 10**12)))
