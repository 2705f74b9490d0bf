"""Diagnosis of unreachable brokers, with one connection for each address.

It sends no login: a failed one may lock an account.
"""

from __future__ import annotations

import contextlib
import io
import socket
import ssl
import struct

from assignor_lab.capture.live.access import BrokerAccess

__all__ = ["is_any_tls", "offered_mechanisms", "takes_connections", "why_unreachable"]

_LONGEST_S = 3.0
#: Bounds of a response.
_LONGEST_ANSWER, _MOST_MECHANISMS = 65_536, 100
#: OpenSSL's codes: another host name, mail address or IP address.
_OTHER_NAME = (62, 63, 64)


def why_unreachable(access: BrokerAccess) -> str:
    """A sentence for each address: the fault and the remedy."""
    return "; ".join(f"{address}: {_of_address(address, access)}" for address in access.servers)


def is_any_tls(access: BrokerAccess) -> bool:
    """kafka-python waits for ever if a server accepts a TLS greeting and does not respond."""
    return any(_answers_greeting(address, access) for address in access.servers)


def _answers_greeting(address: str, access: BrokerAccess) -> bool:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        with (
            socket.create_connection((host, int(port)), timeout=access.connect_timeout_ms / 1_000) as link,
            (access.tls or ssl.create_default_context()).wrap_socket(link, server_hostname=host),
        ):
            return True
    except (OSError, ValueError):
        return False


def takes_connections(access: BrokerAccess) -> bool:
    return any(_of_address(address, access) == _SILENT for address in access.servers)


def offered_mechanisms(access: BrokerAccess) -> tuple[str, ...]:
    """Sends no name and no password; empty if unknown."""
    for address in access.servers:
        with contextlib.suppress(OSError, ValueError, struct.error):
            return _mechanisms_at(address, access)
    return ()


def _mechanisms_at(address: str, access: BrokerAccess) -> tuple[str, ...]:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(socket.create_connection((host, int(port)), timeout=_LONGEST_S))
        if access.tls is not None:
            link = stack.enter_context(access.tls.wrap_socket(link, server_hostname=host))
        name = (access.mechanism or "").encode()
        # SaslHandshake, version 1, with an empty client id.
        request = struct.pack(">hhih", 17, 1, 1, 0) + struct.pack(">h", len(name)) + name
        link.sendall(struct.pack(">i", len(request)) + request)
        with link.makefile("rb") as stream:
            (size,) = struct.unpack(">i", stream.read(4))
            answer = io.BytesIO(stream.read(min(size, _LONGEST_ANSWER)))
        _, _, number = struct.unpack(">ihi", answer.read(10))
        lengths = (struct.unpack(">h", answer.read(2))[0] for _ in range(min(number, _MOST_MECHANISMS)))
        return tuple(answer.read(length).decode("ascii") for length in lengths)


def _of_address(address: str, access: BrokerAccess) -> str:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        link = socket.create_connection((host, int(port)), timeout=_LONGEST_S)
    except socket.gaierror:
        return "no such host: check the name"
    except TimeoutError:
        return f"no connection within {_LONGEST_S:g} s: check host, port and firewall"
    except OSError as error:
        return f"no connection ({error.strerror or error}): check host and port, and whether the broker runs"
    with link:
        if access.tls is not None:
            return _with_tls(link, host, access.tls)
        return _without_tls(link, host, access)


def _with_tls(link: socket.socket, host: str, tls: ssl.SSLContext) -> str:
    try:
        with tls.wrap_socket(link, server_hostname=host):
            return _SILENT
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in _OTHER_NAME:
            return (
                f"its certificate is for another name ({error.verify_message.rstrip('.')}): use a name of the "
                "certificate in --bootstrap-server, or set ssl.endpoint.identification.algorithm to nothing in "
                "--command-config"
            )
        return (
            f"its certificate is not believed ({error.verify_message}): give its authority with "
            "ssl.truststore.location (PEM) in --command-config"
        )
    except ssl.SSLError as error:
        if error.reason and "CERTIFICATE" in error.reason:
            return f"TLS failed ({error.reason}): it may want a client certificate (ssl.keystore.location, PEM)"
        return _PLAIN_PORT
    except OSError:
        return _PLAIN_PORT


def _without_tls(link: socket.socket, host: str, access: BrokerAccess) -> str:
    # A server that responds requires TLS; the cipher does not matter.
    greeting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    greeting.check_hostname = False
    greeting.verify_mode = ssl.CERT_NONE
    with contextlib.suppress(OSError, ValueError), greeting.wrap_socket(link, server_hostname=host):
        wanted = "SASL_SSL" if access.protocol.startswith("SASL") else "SSL (or SASL_SSL)"
        return f"this port speaks TLS: set security.protocol={wanted} in --command-config"
    return _SILENT


_PLAIN_PORT = (
    "this port does not speak TLS: use the broker's TLS port, or another security.protocol in --command-config"
)
_SILENT = (
    "takes connections but does not answer this client as a broker: is it a Kafka broker's port (not a controller's), "
    "and are security.protocol and sasl.mechanism in --command-config those of this port?"
)
