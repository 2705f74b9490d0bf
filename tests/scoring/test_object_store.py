"""A run whose rows are on an object store: Spark's own client of S3 (hadoop-aws), and a server on this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scoring.test_score_command import COMMAND, ROOT, environment

pytestmark = pytest.mark.services

BUILD = ROOT / "build" / "object-store"
WORDS = ["--families", "streams_4x40", "--count", "20", "--seed", "3", "--metrics", "headline"]
PAIR = ["--assignor", "sticky", "--assignor", "high_availability"]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the bucket ``scores``."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("object-store") / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [BUILD / "server" / "bin" / "moto_server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = time.monotonic() + 120
            while server.poll() is None and time.monotonic() < deadline:
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.2)
            request = urllib.request.Request(f"{address}/scores", method="PUT")
            urllib.request.urlopen(request, timeout=60).close()
            yield address
        finally:
            server.terminate()
            server.wait(timeout=60)


def settings(endpoint: str) -> list[str]:
    jars = ",".join(map(str, sorted((BUILD / "jars").glob("*.jar"))))
    given = {
        "spark.jars": jars,
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": "key",
        "spark.hadoop.fs.s3a.secret.key": "secret-of-this-test",
    }
    return [word for key, value in given.items() for word in ("--spark-conf", f"{key}={value}")]


def score(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "score", *WORDS, *PAIR, "--master", "local[2]", *words],
        cwd=folder,
        env={**environment(), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def read(endpoint: str, name: str) -> bytes:
    # The server refuses anonymous requests, and does not check the signature.
    credential = (
        "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none"
    )
    request = urllib.request.Request(f"{endpoint}/scores/night/{name}", headers={"Authorization": credential})
    with urllib.request.urlopen(request, timeout=60) as answer:
        content: bytes = answer.read()
    return content


def test_a_run_is_written_to_an_object_store_and_resumed_there(endpoint: str, tmp_path: Path) -> None:
    here = score(tmp_path, "--out", str(tmp_path / "here"))
    assert here.returncode == 0, here.stderr
    words = [*settings(endpoint), "--out", "s3a://scores/night"]
    there = score(tmp_path, *words)
    assert there.returncode == 0, there.stderr
    assert "Rows, summary, manifest and report: s3a://scores/night" in there.stdout
    summary = json.loads(read(endpoint, "summary.json"))
    assert summary["results"] == json.loads((tmp_path / "here" / "summary.json").read_text())["results"]
    # The digest of the table: its rows are equal in content and order.
    ours = json.loads((tmp_path / "here" / "manifest.json").read_text())
    assert json.loads(read(endpoint, "manifest.json"))["outputs"] == ours["outputs"]
    for name in ("summary.json", "manifest.json", "report.html"):
        assert b"secret-of-this-test" not in read(endpoint, name)
    again = score(tmp_path, *words)
    assert again.returncode == 2
    assert "s3a://scores/night holds a run: continue it with --resume" in again.stderr
    resumed = score(tmp_path, *words, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(read(endpoint, "summary.json"))["results"] == summary["results"]
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
