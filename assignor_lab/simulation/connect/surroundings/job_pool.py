"""Threads of a worker that start and stop jobs, and their time."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence

from assignment_api.connect import ConnectorTaskId, Jobs
from assignment_api.streams.ids import utf16_key
from assignor_lab.simulation.connect.surroundings.job_runs import Job, JobRuns
from assignor_lab.simulation.connect.timings import ConnectTimings

__all__ = ["JobPool"]


class JobPool:
    """Starts and stops jobs of all workers, each in the first free thread, in the order given."""

    def __init__(self, timings: ConnectTimings, runs: JobRuns, random_numbers: random.Random) -> None:
        self.runs = runs
        self._timings = timings
        self._random, self._choice = random_numbers.random, random_numbers.choice

    def running_jobs(self, process: int) -> Jobs:
        held = self.runs.running(process)
        connectors = [job for job in held if isinstance(job, str)]
        tasks = [job for job in held if isinstance(job, ConnectorTaskId)]
        return Jobs(sorted(connectors, key=utf16_key), sorted(tasks, key=ConnectorTaskId.sort_key))

    def start(
        self, process: int, worker: str, connectors: Sequence[str], tasks: Sequence[ConnectorTaskId], now: int
    ) -> tuple[int, dict[str, int]]:
        """Start jobs from ``now`` on.

        Returns:
            The wait of the herder, and for each connector the time of its tasks' configurations.
        """
        timings = self._timings
        lanes = [0] * timings.start_stop_threads
        ready: dict[str, int] = {}
        for name in connectors:
            done = lanes[0] + timings.connector_start_ms
            heapq.heapreplace(lanes, done)
            self.runs.start(name, process, worker, now + done)
            drawn = timings.task_configs_drawn_ms
            ready[name] = now + done + (self._choice(drawn) if drawn else timings.task_configs_ms)
        begin, spread, runs_in = timings.task_start_ms, timings.task_start_spread_ms, timings.task_ready_ms
        for task in tasks:
            begun = lanes[0]
            took = begin + (int(self._random() * spread) if spread else 0)
            heapq.heapreplace(lanes, begun + took)
            if timings.task_ready_drawn_ms:
                runs_in = self._choice(timings.task_ready_drawn_ms)
            self.runs.start(task, process, worker, now + begun + max(took, runs_in))
        return max(lanes), ready

    def stop(self, process: int, jobs: Jobs, now: int) -> int:
        """Stop jobs, connector instances first; returns the wait of the herder.

        A job counts as stopped from the call of its stop. Jobs that do not run cost nothing.
        """
        timings = self._timings
        lanes = [0] * timings.start_stop_threads
        held = self.runs.running(process)
        calls: list[tuple[Job, int, int]] = [(name, timings.connector_stop_ms, 0) for name in jobs.connectors]
        calls += [(task, timings.task_stop_ms, timings.task_stop_spread_ms) for task in jobs.tasks]
        for job, base, spread in calls:
            if job not in held:
                continue
            begun = lanes[0]
            starts_in = held[job].start_ms - now - begun
            # A starting job has to finish its start, and has no work then.
            works = starts_in <= 0 and spread
            took = base + int(self._random() * spread) if works else max(base, starts_in)
            heapq.heapreplace(lanes, begun + took)
            self.runs.stop(job, process, now + begun)
        return max(lanes)
