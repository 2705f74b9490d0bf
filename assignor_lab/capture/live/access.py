"""Access to a running Kafka: a Java client's settings, converted for kafka-python."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.config_files import properties_in
from assignment_api.plugins.errors import ConfigFileError
from assignor_lab.capture.live.errors import AccessSettingsError
from assignor_lab.capture.live.secrets import Secret
from assignor_lab.capture.live.tokens import FileToken, TokenCommand

__all__ = ["TOKEN_COMMAND", "BrokerAccess", "read_access"]

#: Our own key: a command that prints a token.
TOKEN_COMMAND = "assignor.oauthbearer.token.command"  # noqa: S105 - the name of a key

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM", "GSSAPI")
_JAAS_OPTION = re.compile(r'(?<![A-Za-z0-9_.])([A-Za-z0-9_.]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;"]++))')
_PORTED = re.compile(r"\A(?:\[[0-9A-Fa-f:.%]+\]|[^\s:,\[\]]+):([0-9]{1,5})\Z")


@attrs.frozen
class BrokerAccess:
    """Access to the brokers of a cluster.

    Args:
        servers: ``host:port`` each.
        settings: Other settings of kafka-python; secrets in it have no readable ``repr``.
    """

    servers: tuple[str, ...]
    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    request_timeout_ms: int = 30_000
    connect_timeout_ms: int = 10_000
    settings: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    tls: ssl.SSLContext | None = attrs.field(default=None, repr=False)


def read_access(servers: str, command_config: Path | None, timeout_s: float = 30.0) -> BrokerAccess:
    """The errors show no secret value."""
    values = {} if command_config is None else _values(command_config)
    file = str(command_config)
    protocol = values.get("security.protocol", "PLAINTEXT").strip().upper()
    if protocol not in _PROTOCOLS:
        raise AccessSettingsError(f"{file}: security.protocol is {protocol!r:.40}: use one of {', '.join(_PROTOCOLS)}")
    tls = _tls(values, file) if protocol.endswith("SSL") else None
    mechanism, settings = _sasl(values, file, protocol) if protocol.startswith("SASL") else (None, {})
    timeout_ms = int(timeout_s * 1_000)
    return BrokerAccess(_addresses(servers), protocol, mechanism, timeout_ms, min(timeout_ms, 10_000), settings, tls)


def _addresses(servers: str) -> tuple[str, ...]:
    addresses = tuple(dict.fromkeys(each.strip() for each in servers.split(",") if each.strip()))
    for address in addresses:
        port = _PORTED.match(address)
        if port is None or not 0 < int(port[1]) < 65_536:
            raise AccessSettingsError(
                f"--bootstrap-server: {address!r:.100} is no address: write host:port, such as kafka-1:9092 "
                "or [::1]:9092"
            )
    if not addresses:
        raise AccessSettingsError("--bootstrap-server names no address: write host:port, such as kafka-1:9092")
    return addresses


def _values(path: Path) -> dict[str, str]:
    try:
        return {each.key: each.value for each in properties_in(path)}
    except ConfigFileError as error:
        raise AccessSettingsError(f"{error}: name a client's .properties") from error


# --- TLS ----------------------------------------------------------------------------------------------


def _tls(values: Mapping[str, str], file: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if values.get("ssl.endpoint.identification.algorithm", "https").strip() == "":
        context.check_hostname = False
    _load_trusted(context, values, file)
    _load_own(context, values, file)
    return context


def _load_trusted(context: ssl.SSLContext, values: Mapping[str, str], file: str) -> None:
    location, inline = values.get("ssl.truststore.location"), values.get("ssl.truststore.certificates")
    if not location and not inline:
        return
    _check_pem(values, "truststore", file)
    try:
        context.load_verify_locations(cafile=location or None, cadata=inline if not location else None)
    except (OSError, ssl.SSLError, ValueError) as error:
        where = f"ssl.truststore.location={location}" if location else "ssl.truststore.certificates"
        raise AccessSettingsError(f"{file}: {where} cannot be read as PEM ({_why(error)})") from error


def _load_own(context: ssl.SSLContext, values: Mapping[str, str], file: str) -> None:
    location = values.get("ssl.keystore.location")
    if values.get("ssl.keystore.key") and not location:
        raise AccessSettingsError(
            f"{file}: ssl.keystore.key holds the key itself, which is read from files only: put it and the certificate "
            "chain into one PEM file and name that with ssl.keystore.location"
        )
    if not location:
        return
    _check_pem(values, "keystore", file)
    password = values.get("ssl.key.password") or None
    try:
        # Without a password, the library would prompt on the terminal.
        context.load_cert_chain(location, password=password or _no_password)
    except (OSError, ssl.SSLError, ValueError, _NoPasswordError) as error:
        raise AccessSettingsError(
            f"{file}: ssl.keystore.location={location} cannot be read ({_why(error)}): it has to be a PEM file with "
            "key and certificate chain, and an encrypted key needs ssl.key.password"
        ) from error


class _NoPasswordError(Exception):
    def __str__(self) -> str:
        return "its key is encrypted"


def _no_password() -> str:
    raise _NoPasswordError


def _check_pem(values: Mapping[str, str], store: str, file: str) -> None:
    kind = values.get(f"ssl.{store}.type", "JKS").strip().upper()
    if kind == "PEM":
        return
    made = f"{store}.pem"
    convert = f"keytool -exportcert -rfc -keystore FILE -alias NAME > {made}"
    if store == "keystore":
        convert = f"openssl pkcs12 -in FILE.p12 -nodes -out {made} (a JKS file first by keytool -importkeystore)"
    raise AccessSettingsError(
        f"{file}: ssl.{store}.type is {kind}, which only Java reads: convert it ({convert}), and set "
        f"ssl.{store}.type=PEM and ssl.{store}.location={made}"
    )


def _why(error: Exception) -> str:
    return (getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)).strip()


# --- SASL ---------------------------------------------------------------------------------------------


def _sasl(values: Mapping[str, str], file: str, protocol: str) -> tuple[str, dict[str, Any]]:
    mechanism = values.get("sasl.mechanism", "GSSAPI").strip().upper()
    if mechanism not in _MECHANISMS:
        raise AccessSettingsError(f"{file}: sasl.mechanism is {mechanism!r:.40}: use one of {', '.join(_MECHANISMS)}")
    settings: dict[str, Any] = {"sasl_mechanism": mechanism}
    if mechanism == "PLAIN" or mechanism.startswith("SCRAM"):
        options = _jaas(values, file)
        for key, name in (("username", "sasl_plain_username"), ("password", "sasl_plain_password")):
            if key not in options:
                raise AccessSettingsError(
                    f"{file}: sasl.jaas.config has no {key}: write "
                    '...LoginModule required username="..." password="...";'
                )
            settings[name] = Secret(options[key]) if key == "password" else options[key]
    elif mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = _tokens(values, file)
    elif mechanism == "AWS_MSK_IAM":
        if protocol != "SASL_SSL":
            raise AccessSettingsError(f"{file}: AWS_MSK_IAM needs security.protocol=SASL_SSL")
        _need("botocore", "AWS_MSK_IAM", file)
    else:
        _need("gssapi", "GSSAPI (Kerberos)", file)
        settings["sasl_kerberos_service_name"] = values.get("sasl.kerberos.service.name", "kafka")
    return mechanism, settings


def _jaas(values: Mapping[str, str], file: str) -> dict[str, str]:
    text = values.get("sasl.jaas.config")
    if not text:
        raise AccessSettingsError(
            f"{file}: sasl.jaas.config is not set: name and password are read from there (not from a "
            "JAAS file of the JVM)"
        )
    return {
        key: re.sub(r"\\(.)", r"\1", quoted) if quoted or not plain else plain
        for key, quoted, plain in _JAAS_OPTION.findall(text)
    }


def _tokens(values: Mapping[str, str], file: str) -> Any:
    command, url = values.get(TOKEN_COMMAND), values.get("sasl.oauthbearer.token.endpoint.url", "")
    if command:
        return TokenCommand.provider(command)
    if url.startswith("file:"):
        return FileToken.provider(Path(re.sub(r"^file:(//)?", "", url)))
    raise AccessSettingsError(
        f"{file}: OAUTHBEARER needs a token: set {TOKEN_COMMAND} to a command that prints one, or "
        "sasl.oauthbearer.token.endpoint.url to a file: URL"
    )


def _need(module: str, subject: str, file: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise AccessSettingsError(f"{file}: {subject} needs the Python package {module}: install it beside this one")
