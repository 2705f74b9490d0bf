"""Workers forward requests to one another under their advertised names."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from connect_workers.cluster import ConnectCluster
from connect_workers.served_cluster import ServedCluster, advertised_host
from tests.connect_workers.live import TIMINGS, settings
from tests.connect_workers.rest.gen_connector import PLUGINS

pytestmark = pytest.mark.anyio


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
async def test_every_worker_takes_a_change_wherever_it_listens(tmp_path: Path, host: str) -> None:
    name = advertised_host(host)
    async with ConnectCluster(tmp_path, TIMINGS, PLUGINS, offset_flush_interval_ms=50, host=name) as cluster:
        served = ServedCluster(cluster, host)
        workers = [await served.add(settings=settings()) for _ in range(2)]
        await cluster.until_calm()
        for number, worker in enumerate(workers):
            config = {"connector.class": "live.GenConnector", "gen.topic": "t"}
            async with httpx.AsyncClient(base_url=worker.url, trust_env=False) as client:
                answer = await client.put(f"/connectors/c{number}/config", json=config)
            assert answer.status_code == 201, answer.text
        await served.close()


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("connect", "connect")])
def test_a_host_is_advertised_as_it_is_given(host: str, shown: str) -> None:
    assert advertised_host(host) == shown
