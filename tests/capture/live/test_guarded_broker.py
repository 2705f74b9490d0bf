"""A broker with TLS, SCRAM and an authorizer: the purpose of each right, as in the docs' table."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
    UserScramCredentialUpsertion,
)
from kafka.net.connection import KafkaConnection
from typer.testing import CliRunner

from assignor_lab.capture.live.access import read_access
from assignor_lab.capture.live.cluster import connected
from assignor_lab.capture.live.errors import NotAuthorizedError
from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import RealApplications
from tests.connect.real_kafka import free_ports, until

pytestmark = pytest.mark.services

PASSWORD = "guarded-4711"
USERS = ("nobody", "describer", "reader", "watcher", "lister")


class GuardedBroker(RealApplications):
    """Applications use a plain listener without authorization; commands use the guarded one."""

    def start_guarded_broker(self) -> None:
        (self.guarded,) = free_ports(1)
        keystore, certificate = self.directory / "broker.p12", self.directory / "broker.pem"
        keytool = ["keytool", "-keystore", str(keystore), "-storepass", PASSWORD, "-alias", "broker"]
        name = ["-dname", "CN=localhost", "-ext", "SAN=IP:127.0.0.1,DNS:localhost"]
        subprocess.run([*keytool, "-genkeypair", "-keyalg", "EC", *name], check=True, capture_output=True)
        exported = subprocess.run([*keytool, "-exportcert", "-rfc"], check=True, capture_output=True)
        certificate.write_bytes(exported.stdout)
        self.certificate, self.keystore = certificate, keystore
        self.start_broker()
        self.admin = KafkaAdminClient(bootstrap_servers=self.address)
        self.admin.alter_user_scram_credentials(
            [UserScramCredentialUpsertion(user, "SCRAM-SHA-256", PASSWORD, iterations=4096) for user in USERS]
        )

    def permit(self, user: str, operation: ACLOperation, kind: ResourceType, name: str) -> None:
        resource = ResourcePattern(kind, name)
        self.admin.create_acls([ACL(f"User:{user}", "*", operation, ACLPermissionType.ALLOW, resource)])

    def settings(self, user: str, password: str = PASSWORD) -> Path:
        path = self.directory / f"{user}.properties"
        path.write_text(
            "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\n"
            "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
            f'username="{user}" password="{password}";\n'
            f"ssl.truststore.type=PEM\nssl.truststore.location={self.certificate}\n"
        )
        return path

    def ask(self, user: str, command: str, *options: str, password: str = PASSWORD) -> Any:
        settings = str(self.settings(user, password))
        server = f"127.0.0.1:{self.guarded}"
        arguments = [command, "--bootstrap-server", server, "--command-config", settings, "--timeout", "60", *options]
        return CliRunner().invoke(build_app(arguments), arguments)

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker":
            values = {
                **values,
                "listeners": f"{values['listeners']},GUARDED://127.0.0.1:{self.guarded}",
                "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.broker},GUARDED://127.0.0.1:{self.guarded}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,GUARDED:SASL_SSL",
                "inter.broker.listener.name": "PLAINTEXT",
                "sasl.enabled.mechanisms": "SCRAM-SHA-256",
                "listener.name.guarded.scram-sha-256.sasl.jaas.config": (
                    "org.apache.kafka.common.security.scram.ScramLoginModule required;"
                ),
                "ssl.keystore.location": self.keystore,
                "ssl.keystore.password": PASSWORD,
                "ssl.keystore.type": "PKCS12",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
            }
        return super()._properties(name, values)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedBroker]:
    made = GuardedBroker(tmp_path_factory.mktemp("guarded"))
    try:
        made.start_guarded_broker()
        made.create_input(2)
        made.start_application("c1", "classic", num_stream_threads=1)
        for user in ("describer", "reader", "watcher"):
            made.permit(user, ACLOperation.DESCRIBE, ResourceType.GROUP, "classic")
        for user in ("reader", "watcher"):
            made.permit(user, ACLOperation.READ, ResourceType.TOPIC, "__consumer_offsets")
        made.permit("lister", ACLOperation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
        for topic in ("in", "classic-counts-repartition", "classic-counts-changelog"):
            made.permit("reader", ACLOperation.DESCRIBE, ResourceType.TOPIC, topic)
        until(lambda: tasks(made, "reader") == 4, "the application")
        yield made
        made.admin.close()
    finally:
        made.close()


def tasks(broker: GuardedBroker, user: str) -> int | None:
    listed = json.loads(broker.ask(user, "groups", "--json").stdout or "[]")
    found: int | None = next((each["tasks"] for each in listed if each["id"] == "classic"), None)
    return found


def test_tls_and_scram_let_those_in_who_may(broker: GuardedBroker) -> None:
    until(lambda: tasks(broker, "describer") == 4, "a stable group")


def test_a_wrong_password_is_said_and_not_shown(broker: GuardedBroker) -> None:
    told = broker.ask("describer", "groups", password="wrong-4712")
    assert "refuse the login (SCRAM-SHA-256)" in str(told.exception)
    assert "4712" not in told.output + str(told.exception)


def test_who_has_no_right_sees_no_group(broker: GuardedBroker) -> None:
    told = broker.ask("nobody", "groups")
    assert "no group of Streams, Connect or consumers" in told.stdout


def test_a_group_that_may_not_be_described_says_which_right_is_needed(broker: GuardedBroker, tmp_path: Path) -> None:
    told = broker.ask("nobody", "capture", "--group", "classic", "--out", str(tmp_path / "x.jsonl"))
    assert told.exit_code == 2
    assert "DESCRIBE on the group" in told.stderr
    assert not (tmp_path / "x.jsonl").exists()


def test_without_rights_on_topics_lags_are_unknown_and_the_rest_is_told(broker: GuardedBroker, tmp_path: Path) -> None:
    out = tmp_path / "x.jsonl"
    told = broker.ask("describer", "capture", "--group", "classic", "--out", str(out))
    assert told.exit_code == 0, told.output
    document = json.loads(out.read_text())
    assert {client["lags"] is None for client in document["clients"]} == {True}
    assert "workload" not in document
    assert sum(len(each["active"]) for each in document["observed"]["assignment"].values()) == 4


def test_ends_of_a_hidden_or_missing_topic_are_refused_at_once(broker: GuardedBroker) -> None:
    access = read_access(f"127.0.0.1:{broker.guarded}", broker.settings("reader"), 600.0)
    with connected(access) as cluster:
        assert cluster.end_offsets([("in", 0), ("in", 1)]).keys() == {("in", 0), ("in", 1)}
        for hidden in (("__consumer_offset", 0), ("out", 0), ("in", 99)):
            with pytest.raises(NotAuthorizedError, match=f"topic {hidden[0]} is not visible"):
                cluster.end_offsets([("in", 0), hidden])


def test_with_rights_on_topics_lags_are_known(broker: GuardedBroker, tmp_path: Path) -> None:
    out = tmp_path / "x.jsonl"
    told = broker.ask("reader", "capture", "--group", "classic", "--out", str(out))
    assert told.exit_code == 0, told.output
    document = json.loads(out.read_text())
    assert {client["lags"] is None for client in document["clients"]} == {False}


def test_the_recorder_needs_to_read_the_coordinators_topic(broker: GuardedBroker, tmp_path: Path) -> None:
    refused = broker.ask("describer", "record", "--group", "classic", "--out", str(tmp_path / "no"))
    assert "READ and DESCRIBE on it are needed" in str(refused.exception)
    assert not (tmp_path / "no").exists()
    permitted = broker.ask("reader", "record", "--group", "classic", "--out", str(tmp_path / "past"), "--json")
    assert permitted.exit_code == 0, permitted.output
    assert json.loads(permitted.stdout)["generations"]


def test_samples_without_rights_on_topics_are_reported_and_the_recording_continues(
    broker: GuardedBroker, tmp_path: Path
) -> None:
    options = ["--group", "classic", "--for", "4s", "--sample-every", "1s", "--out", str(tmp_path / "past")]
    told = broker.ask("watcher", "record", *options)
    assert told.exit_code == 0, told.output
    assert told.stderr.count("no sample: no topic of group classic is visible: DESCRIBE on the topics is needed") == 1


def logins_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each login that kafka-python begins from now on."""
    begun: list[str] = []
    authenticate = KafkaConnection._sasl_authenticate

    async def counted(connection: Any, *arguments: Any) -> None:
        begun.append(str(connection.node_id))
        await authenticate(connection, *arguments)

    monkeypatch.setattr(KafkaConnection, "_sasl_authenticate", counted)
    return begun


@pytest.mark.parametrize("command", ["groups", "capture", "record"])
def test_a_wrong_password_is_tried_once(
    broker: GuardedBroker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    begun = logins_of(monkeypatch)
    options = [] if command == "groups" else ["--group", "classic", "--out", str(tmp_path / "out")]
    told = broker.ask("describer", command, *options, password="wrong-4712")
    assert "the brokers refuse the login (SCRAM-SHA-256)" in str(told.exception) + told.stderr
    assert len(begun) == 1


def test_a_mechanism_that_the_port_does_not_take_is_named_with_those_it_takes(broker: GuardedBroker) -> None:
    settings = broker.settings("describer")
    settings.write_text(settings.read_text().replace("SCRAM-SHA-256", "PLAIN"))
    told = groups(f"127.0.0.1:{broker.guarded}", settings)
    assert "does not take sasl.mechanism=PLAIN: it takes SCRAM-SHA-256" in str(told.exception)


def test_a_login_at_a_port_without_logins_is_named(broker: GuardedBroker) -> None:
    settings = broker.settings("describer")
    settings.write_text(settings.read_text().replace("SASL_SSL", "SASL_PLAINTEXT"))
    told = groups(broker.address, settings)
    assert "this port takes no login (SASL): set security.protocol=PLAINTEXT" in str(told.exception)


def test_a_certificate_for_another_name_is_told_from_an_unknown_authority(broker: GuardedBroker) -> None:
    # 127.1 is the same address, and no name in the certificate.
    told = groups(f"127.1:{broker.guarded}", broker.settings("describer"))
    assert "its certificate is for another name" in str(told.exception)
    settings = broker.settings("describer")
    settings.write_text(settings.read_text().partition("ssl.truststore")[0])
    told = groups(f"127.0.0.1:{broker.guarded}", settings)
    assert "its certificate is not believed" in str(told.exception)


def groups(address: str, settings: Path) -> Any:
    arguments = ["groups", "--bootstrap-server", address, "--command-config", str(settings)]
    return CliRunner().invoke(build_app(arguments), arguments)


def test_groups_that_may_not_be_described_are_counted(broker: GuardedBroker) -> None:
    told = broker.ask("lister", "groups")
    assert told.exit_code == 0
    assert "1 group may not be described: DESCRIBE on the group is needed" in told.stderr
