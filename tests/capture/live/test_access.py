from __future__ import annotations

import logging
import socket
import sys
from pathlib import Path

import pytest

from assignor_lab.capture.live.access import TOKEN_COMMAND, BrokerAccess, read_access
from assignor_lab.capture.live.cluster import connected
from assignor_lab.capture.live.errors import AccessSettingsError, UnreachableBrokersError

PASSWORD = "open-sesame-4711"
PLAIN = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="{PASSWORD}";'


def settings(folder: Path, **values: str) -> Path:
    path = folder / "client.properties"
    path.write_text("".join(f"{key.replace('_', '.')}={value}\n" for key, value in values.items()))
    return path


def test_without_a_file_connections_are_plain() -> None:
    access = read_access("kafka-1:9092, [::1]:9093,kafka-1:9092", None)
    assert access.servers == ("kafka-1:9092", "[::1]:9093")
    assert (access.protocol, access.mechanism, access.tls) == ("PLAINTEXT", None, None)


@pytest.mark.parametrize("address", ["", "kafka-1", "kafka-1:", "kafka-1:0", "kafka-1:70000", "::1:9092", "a b:9092"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(AccessSettingsError, match="write host:port"):
        read_access(address, None)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_name_and_password_come_from_the_jaas_line(mechanism: str, tmp_path: Path) -> None:
    file = settings(tmp_path, security_protocol="SASL_PLAINTEXT", sasl_mechanism=mechanism, sasl_jaas_config=PLAIN)
    access = read_access("kafka-1:9092", file)
    assert access.mechanism == mechanism
    assert (access.settings["sasl_plain_username"], access.settings["sasl_plain_password"]) == ("alice", PASSWORD)


def test_a_password_may_hold_quotes_and_semicolons(tmp_path: Path) -> None:
    line = r'a.B required username=bob password="x\\"; y=\\\\z";'
    file = settings(tmp_path, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_jaas_config=line)
    assert read_access("kafka-1:9092", file).settings["sasl_plain_password"] == r'x"; y=\z'


def test_no_text_of_an_access_shows_its_password(tmp_path: Path) -> None:
    file = settings(tmp_path, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_jaas_config=PLAIN)
    access = read_access("kafka-1:9092", file)
    shown = f"{access} {access!r} {access.settings} {access.settings['sasl_plain_password']!r}"
    assert "alice" in shown
    assert PASSWORD not in shown


def test_no_log_of_the_library_shows_a_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = settings(tmp_path, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_jaas_config=PLAIN)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(UnreachableBrokersError), connected(read_access("127.0.0.1:1", file, 0.3)):
        pass
    logging.getLogger("assignor").debug("the log is kept")
    assert "the log is kept" in caplog.text
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_stores_that_only_java_reads_are_refused_with_the_way_to_convert_them(
    store: str, kind: str, tmp_path: Path
) -> None:
    values = {f"ssl_{store}_location": "/etc/store", f"ssl_{store}_type": kind, f"ssl_{store}_password": PASSWORD}
    with pytest.raises(AccessSettingsError, match=f"ssl.{store}.type is {kind}.*convert it") as refused:
        read_access("kafka-1:9092", settings(tmp_path, security_protocol="SSL", **values))
    assert PASSWORD not in str(refused.value)


def test_a_store_without_a_type_is_of_javas_own() -> None:
    with pytest.raises(AccessSettingsError, match=r"no-such\.properties: cannot be read"):
        read_access("kafka-1:9092", Path("no-such.properties"))


def test_a_certificate_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate\n")
    values = {"ssl_truststore_location": str(tmp_path / "ca.pem"), "ssl_truststore_type": "PEM"}
    with pytest.raises(AccessSettingsError, match=r"ca\.pem cannot be read as PEM"):
        read_access("kafka-1:9092", settings(tmp_path, security_protocol="SSL", **values))


def test_host_names_are_checked_unless_java_would_not(tmp_path: Path) -> None:
    checked = read_access("kafka-1:9092", settings(tmp_path, security_protocol="SSL"))
    unchecked = read_access(
        "kafka-1:9092", settings(tmp_path, security_protocol="SSL", ssl_endpoint_identification_algorithm="")
    )
    assert checked.tls is not None
    assert unchecked.tls is not None
    assert (checked.tls.check_hostname, unchecked.tls.check_hostname) == (True, False)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"security_protocol": "TLS"}, "use one of PLAINTEXT"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "DIGEST-MD5"}, "use one of PLAIN"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}, "sasl.jaas.config is not set"),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "sasl_jaas_config": "x required username=a;"},
            "has no password",
        ),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, TOKEN_COMMAND),
        ({"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "AWS_MSK_IAM"}, "needs security.protocol=SASL_SSL"),
    ],
)
def test_settings_that_cannot_work_say_what_would(values: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(AccessSettingsError, match=said):
        read_access("kafka-1:9092", settings(tmp_path, **values))


def oauth(folder: Path, command: str) -> BrokerAccess:
    values = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}
    return read_access("kafka-1:9092", settings(folder, **values, **{TOKEN_COMMAND: command}))


@pytest.mark.slow
def test_a_command_gives_the_token(tmp_path: Path) -> None:
    access = oauth(tmp_path, f"{sys.executable} -c 'print(\"abc.def\")'")
    assert access.settings["sasl_oauth_token_provider"].token() == "abc.def"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; print(4711); sys.exit(3)", "ended with 3"),
        ("print()", "no token"),
        ("print(4711, 4712)", "no token"),
    ],
)
def test_a_command_without_a_token_is_named_and_what_it_printed_is_not(code: str, said: str, tmp_path: Path) -> None:
    provider = oauth(tmp_path, f"{sys.executable} -c '{code}'").settings["sasl_oauth_token_provider"]
    with pytest.raises(AccessSettingsError, match=said) as refused:
        provider.token()
    assert "4711" not in str(refused.value)


def test_a_file_gives_the_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc.def\n")
    values = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauthbearer_token_endpoint_url": f"file://{tmp_path}/token",
    }
    access = read_access("kafka-1:9092", settings(tmp_path, **values))
    assert access.settings["sasl_oauth_token_provider"].token() == "abc.def"


def test_a_host_that_is_unknown_is_named() -> None:
    with (
        pytest.raises(UnreachableBrokersError, match=r"nowhere\.invalid:9092: no such host"),
        connected(read_access("nowhere.invalid:9092", None, 0.3)),
    ):
        pass


def test_tls_to_a_plain_port_is_told_from_a_silent_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        server.close()
        with (
            pytest.raises(UnreachableBrokersError, match="no connection"),
            connected(read_access(address, settings(tmp_path, security_protocol="SSL"), 0.3)),
        ):
            pass
