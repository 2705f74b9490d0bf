"""A cluster to be killed: forked repeatedly by a process with all imports done.

Reads ``start DIR SEED`` lines and answers each with the child's process id. The child prints its workers' URLs.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path

from connect_workers.cluster import ConnectCluster
from connect_workers.served_cluster import ServedCluster
from tests.connect_workers.live import PLUGINS, TIMINGS, WITNESS, settings


def main() -> None:
    while line := sys.stdin.readline():
        _, directory, seed = line.split()
        process = os.fork()
        if process == 0:
            WITNESS.on_twice = _twice
            asyncio.run(serve(Path(directory), int(seed)))
            os._exit(0)
        print("process", process, flush=True)
        os.waitpid(process, 0)
        print("ended", flush=True)


def _twice(name: str) -> None:
    print("twice", name, flush=True)


async def serve(directory: Path, seed: int) -> None:
    draw = random.Random(seed)
    cluster = ConnectCluster(directory, TIMINGS, PLUGINS, offset_flush_interval_ms=50)
    async with cluster:
        served = ServedCluster(cluster)
        each = settings(delay_ms=300, session_timeout_ms=400)
        workers = [await served.add(0, each) for _ in range(3)]
        print("urls", *(worker.url for worker in workers), flush=True)
        await cluster.until_calm(60)
        print("calm", flush=True)
        while True:
            # At any time a worker is lost or returns; the clients use the present ones.
            await asyncio.sleep(draw.uniform(0.1, 0.5))
            victim = draw.choice(list(cluster.workers))
            port = int(cluster.worker(victim).worker_id.rpartition(":")[2])
            await served.kill(victim)
            await asyncio.sleep(draw.uniform(0.05, 0.4))
            await served.add(port, each)


if __name__ == "__main__":
    main()
