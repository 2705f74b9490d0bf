"""Sends schema-driven requests to live Connect workers (`make fuzz-rest`, COUNT=20000).

Three workers are started as by `assignor connect serve`. schemathesis generates valid and broken requests from their
OpenAPI document. A run fails on a server error that Connect would not give, on a response outside the document, and on
one after ten seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

#: Approximate number of operations.
OPERATIONS = 31
SCRIPTS = Path(__file__).resolve().parent
#: Examples of each operation in a round from which every phase pays.
_ALL_PHASES = 20
_OF_HYPOTHESIS = "hypothesis/internal/conjecture/optimiser.py"
#: A server error may be Connect's own, which `fuzz_rest_checks` knows.
_CONFIG = """
[phases.examples]
enabled = true

[checks]
not_a_server_error.enabled = false
# A configuration is checked by the connector, and offsets may be changed of stopped connectors only: no schema says so.
positive_data_acceptance.expected-statuses = ["2xx", "400", "403", "404", "409", "5xx"]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=20_000, help="requests to send, at least")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first round")
    parser.add_argument("--url", help="workers that run already")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = given.url or stack.enter_context(workers())
        return fuzz(url, given.count, given.seed)


@contextlib.contextmanager
def workers() -> Iterator[str]:
    command = [str(Path(sys.executable).with_name("assignor")), "connect", "serve", "--workers", "3", "--port", "0"]
    with tempfile.TemporaryDirectory() as directory:
        data, log = Path(directory, "data"), Path(directory, "log")
        data.mkdir()
        with log.open("w", encoding="utf-8") as output:
            arguments = [*command, "--data-dir", str(data), "--max-delay-ms", "500"]
            process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT)
            try:
                yield _url(process, log)
            finally:
                process.terminate()
                process.wait(60)
        tracebacks = log.read_text(encoding="utf-8").count("Uncaught exception in REST call")
        if tracebacks:
            print(log.read_text(encoding="utf-8")[-4000:])
            raise SystemExit(f"{tracebacks} unexpected exceptions")


def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"^w3 (http://\S+?)/?$", log.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{found[1]}/health", timeout=10) as answer:
                if answer.status == 200:
                    return found[1]
        time.sleep(0.2)
    raise SystemExit(f"the workers do not start: {log.read_text(encoding='utf-8')[-2000:]}")


def fuzz(url: str, count: int, seed: int) -> int:
    sent, started = 0, time.monotonic()
    while sent < count:
        code, tests = _round(url, seed, max(1, min(100, (count - sent) // OPERATIONS)))
        sent += tests
        print(f"{sent} requests in {time.monotonic() - started:.0f} s, seed {seed}", flush=True)
        if code:
            return code
        seed += 1
    return 0


def _round(url: str, seed: int, examples: int) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory, "schemathesis.toml")
        config.write_text(_CONFIG, encoding="utf-8")
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(config), "run", f"{url}/openapi.json"),
            *("--seed", str(seed), "--max-examples", str(examples), "--continue-on-failure"),
            # The others have a few hundred requests at least.
            *(("--phases", "examples,fuzzing") if examples < _ALL_PHASES else ()),
            *("--request-timeout", "10", "--max-response-time", "10", "--warnings", "off"),
            "--no-color",
        ]
        environment = os.environ | {"SCHEMATHESIS_HOOKS": "fuzz_rest_checks", "PYTHONPATH": str(SCRIPTS)}
        done = subprocess.run(command, env=environment, cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout[-20_000:], done.stderr[-2_000:])
        generated = re.search(r"(\d+) generated", done.stdout)

        return done.returncode, int(generated[1]) if generated else 0


if __name__ == "__main__":
    raise SystemExit(main())
