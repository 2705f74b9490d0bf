"""Records groups of a real broker with events between decisions: ``python -m tests.capture.live.recorded_events OUT``.

The groups are those of ``tests/data/captures/events``: static restarts, an outage, a move to the streams protocol,
a stop under the streams protocol, and a crash loop of an instance without disk and identity.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import RealApplications
from tests.connect.real_kafka import LOGGING as _LOGGING
from tests.connect.real_kafka import START_S, until

_STATIC_SESSION_MS = 30_000
_SESSION_MS = 6_000
_ROOT = '<Root level="WARN">'
_STATES = '<Logger name="org.apache.kafka.streams.KafkaStreams" level="INFO"/>'


class RecordedEvents(RealApplications):
    """Groups whose pasts have events that are no decision; the states of instances are logged."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.logging = directory / "log4j2.xml"
        self.logging.write_text(_LOGGING.read_text().replace(_ROOT, f"{_STATES}{_ROOT}"))

    def live(self, out: Path) -> None:
        self.start_broker()
        self.create_input(4)
        for life in (self.static, self.outage, self.moved, self.streamed, self.looping):
            life()
        arguments = ["record", "--bootstrap-server", self.address, "--all", "--out", str(out)]
        assert CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False).exit_code == 0

    def static(self) -> None:
        """Restarts b1 five times within its session, then lets the session of b2 end."""
        for name in ("b1", "b2"):
            self.begin(name, "static", session=_STATIC_SESSION_MS, group_instance_id=name)
        self.wait("static", 2)
        for _ in range(5):
            self.end("b1")
            self.begin("b1", "static", session=_STATIC_SESSION_MS, group_instance_id="b1")
            self.is_running("b1")
        self.end("b2")
        self.pause(_STATIC_SESSION_MS / 1_000 + 8)
        self.end("b1")

    def outage(self) -> None:
        """Stops both instances and starts them after a minute."""
        for name in ("o1", "o2"):
            self.begin(name, "outage")
        self.wait("outage", 2)
        self.pause(5)
        self.end("o1")
        self.end("o2")
        self.pause(60)
        for name in ("o1", "o2"):
            self.begin(name, "outage")
        self.wait("outage", 2)
        self.pause(5)
        # Members of a classic Streams group do not leave: the last record follows the end of the sessions.
        self.end("o1")
        self.end("o2")
        self.pause(_SESSION_MS / 1_000 + 5)

    def moved(self) -> None:
        """Grows a classic group, then starts all its instances with the streams protocol."""
        self.begin("m1", "moved")
        self.wait("moved", 1)
        self.begin("m2", "moved")
        self.wait("moved", 2)
        for name in ("m1", "m2"):
            self.end(name)
        self.pause(_SESSION_MS / 1_000 + 5)
        for name in ("m1", "m2"):
            self.begin(name, "moved", group_protocol="streams")
        self.wait("moved", 2)
        self.pause(5)
        self.end("m2")
        self.pause(5)
        self.end("m1")

    def streamed(self) -> None:
        """Starts three instances one by one, stops one, waits, and starts it again."""
        for number, name in enumerate(("f1", "f2", "f3"), 1):
            self.begin(name, "streamed", group_protocol="streams")
            self.wait("streamed", number)
            self.pause(5)
        self.pause(20)
        self.end("f2")
        self.pause(20)
        self.begin("f2", "streamed", group_protocol="streams")
        self.wait("streamed", 3)
        self.pause(5)
        for name in ("f1", "f2", "f3"):
            self.end(name)

    def looping(self) -> None:
        """Kills an instance without ``client.id`` and disk after each start."""
        self.begin("c1", "looping")
        self.wait("looping", 1)
        for number in range(6):
            self.begin(f"c2-{number}", "looping", client_id=None)
            self.wait("looping", 2)
            self.pause(2)
            self.kill(f"c2-{number}")
            self.pause(_SESSION_MS / 1_000 + 3)
        self.end("c1")

    # --- inside -----------------------------------------------------------------------------------------

    def begin(self, name: str, group: str, *, session: int = _SESSION_MS, **settings: object) -> None:
        shown: dict[str, object] = {"num.stream.threads": 1, "statestore.cache.max.bytes": 0}
        if "group_protocol" not in settings:
            shown |= {"consumer.session.timeout.ms": session, "consumer.heartbeat.interval.ms": 1_000}
        self.start_application(name, group, **shown, **settings)

    def settings_of(self, name: str, application: str, settings: object) -> list[str]:
        found = super().settings_of(name, application, settings)  # type: ignore[arg-type]
        without = [each.partition("=")[0] for each in found if each.endswith("=None")]
        return [each for each in found if each.partition("=")[0] not in without]

    def end(self, name: str) -> None:
        self.processes[name].terminate()
        self.processes[name].wait(START_S)

    def is_running(self, name: str) -> None:
        """Waits until the instance has joined its group again."""
        out = self.directory / f"{name}.out"
        begun = out.stat().st_size
        until(lambda: b"to RUNNING" in out.read_bytes()[begun:], name)

    def wait(self, group: str, number: int) -> None:
        from tests.capture.live.test_real_groups import groups

        def is_stable() -> bool:
            found = groups(self).get(group, {})
            return found.get("state") == "Stable" and found.get("processes") == number and bool(found.get("tasks"))

        until(is_stable, f"{number} instances of {group}", 180.0, 0.5)

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)


if __name__ == "__main__":
    lives = RecordedEvents(Path(tempfile.mkdtemp(prefix="events-")))
    try:
        lives.live(Path(sys.argv[1]))
    finally:
        lives.close()
