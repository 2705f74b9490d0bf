"""URLs, certificates, credentials, and endless responses: a robust client of a foreign cluster."""

from __future__ import annotations

import base64
import contextlib
import gzip
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
import trustme

from assignor_lab.cli.main import main
from assignor_lab.connect.remote import ConnectUrlError, RequestSettings, parse_url
from assignor_lab.connect.remote.urls import parse_worker_id
from tests.connect.remote.scripted import Reply, cluster, connector, scripted

PASSWORD = "s3cret-p4ss"
TOKEN = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
CONNECTORS = {"a": connector("a", {None: ("RUNNING", "127.0.0.1:1"), 0: ("FAILED", "127.0.0.1:1")}, trace=PASSWORD)}


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["connect", *arguments])
    assert isinstance(left.value.code, int)
    return left.value.code


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short and small limits, for fast tests."""
    from assignor_lab.connect.remote import access

    monkeypatch.setattr(access.RequestSettings, "__init__", _with_limits(access.RequestSettings.__init__))


def _with_limits(initialize: object) -> object:
    def init(self: RequestSettings, *arguments: object, **named: object) -> None:
        named |= {"request_timeout_s": 1.0, "max_answer_bytes": 100_000}
        initialize(self, *arguments[:2], **named)  # type: ignore[operator]

    return init


# --- URLs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://connect-1:8083", "http://connect-1:8083"),
        ("https://connect-1/", "https://connect-1:443"),
        ("http://[::1]:8083", "http://[::1]:8083"),
        ("https://proxy:8443/team/connect/", "https://proxy:8443/team/connect"),
        ("HTTP://Connect:1", "http://connect:1"),
    ],
)
def test_a_url_is_read(text: str, url: str) -> None:
    assert str(parse_url(text)) == url


@pytest.mark.parametrize(
    "text",
    [
        "", "connect:8083", "ftp://connect", "http://", "http://a:99999", "http://a:b", "http://a b", "http://a\x1b",
        "http://a?x=1", "http://a#x", "http://a\\b", "http://a,b", "//a:1", "http://a\nb",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused(text: str) -> None:
    with pytest.raises(ConnectUrlError):
        parse_url(text)


@pytest.mark.parametrize("text", [f"http://ada:{PASSWORD}@connect", f"http://{PASSWORD}@a", f"http://a/{PASSWORD}@b"])
def test_a_password_in_a_url_is_refused_and_not_repeated(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("status", "--url", text) == 2
    captured = capsys.readouterr()
    assert PASSWORD not in captured.out + captured.err
    assert "ASSIGNOR_CONNECT_PASSWORD" in captured.err


@pytest.mark.parametrize("text", ["a:0", "a:65536", "a", "a:b", "a@b:1", "a/b:1", "a:1/", "[a]:1", "", ":1", "a:1\n"])
def test_no_connection_is_made_to_what_is_no_worker_id(text: str) -> None:
    assert parse_worker_id(text) is None


# --- credentials ------------------------------------------------------------------------------------


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSIGNOR_CONNECT_USERNAME", "ada")
    monkeypatch.setenv("ASSIGNOR_CONNECT_PASSWORD", PASSWORD)


@pytest.mark.slow
@pytest.mark.usefixtures("credentials")
def test_credentials_are_sent_and_never_printed(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with scripted(cluster(CONNECTORS)) as server:
        assert run("status", "--url", server.url) == 0
        assert run("restart", "a", "--dry-run", "--url", server.url) == 0
        assert run("status", "--url", server.url, "--json") == 0
        assert {each.headers.get("Authorization") for each in server.seen} == {f"Basic {TOKEN}"}
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert PASSWORD not in text
        assert TOKEN not in text
    assert PASSWORD not in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.usefixtures("credentials")
def test_a_server_that_repeats_the_password_does_not_have_it_printed(capsys: pytest.CaptureFixture[str]) -> None:
    message = {"error_code": 500, "message": f"you sent {PASSWORD} and Basic {TOKEN}"}
    with scripted(lambda method, path: Reply(500, message)) as server:
        assert run("status", "--url", server.url) == 2
    said = capsys.readouterr().err
    assert "you sent *** and Basic ***" in said


@pytest.mark.usefixtures("credentials")
def test_credentials_go_to_no_other_place() -> None:
    with scripted(cluster({})) as elsewhere:
        worker = elsewhere.url.removeprefix("http://")
        moved = Reply(302, None, {"Location": f"{elsewhere.url}/"})
        with scripted(lambda method, path: moved) as server:
            assert run("status", "--url", server.url) == 2
        named = {"a": connector("a", {None: ("RUNNING", worker)})}
        with scripted(cluster(named)) as server:
            assert run("status", "--url", server.url) == 0
        assert elsewhere.seen == []


def test_half_of_the_credentials_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ASSIGNOR_CONNECT_USERNAME", raising=False)
    monkeypatch.setenv("ASSIGNOR_CONNECT_PASSWORD", PASSWORD)
    assert run("status", "--url", "http://127.0.0.1:1") == 2
    said = capsys.readouterr().err
    assert "ASSIGNOR_CONNECT_USERNAME is not set" in said
    assert PASSWORD not in said


def test_a_refused_login_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted(lambda method, path: Reply(401, b"who are you?")) as server:
        assert run("status", "--url", server.url) == 2
    assert "ASSIGNOR_CONNECT_USERNAME" in capsys.readouterr().err


# --- certificates -----------------------------------------------------------------------------------


@attrs.frozen
class Authority:
    file: Path
    server: ssl.SSLContext


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    made = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.issue_cert("127.0.0.1").configure_cert(context)
    file = tmp_path_factory.mktemp("ca") / "ca.pem"
    made.cert_pem.write_to_path(str(file))
    return Authority(file, context)


def test_the_own_authority_is_believed_and_no_other(
    authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    with scripted(cluster(CONNECTORS), authority.server) as server:
        assert run("status", "--url", server.url, "--ca-file", str(authority.file)) == 0
        assert run("status", "--url", server.url) == 2
        assert "--ca-file" in capsys.readouterr().err
        assert run("status", "--url", server.url, "--ca-file", str(other)) == 2
        assert (
            run("status", "--url", server.url.replace("127.0.0.1", "localhost"), "--ca-file", str(authority.file)) == 2
        )


def test_a_port_that_speaks_tls_is_told_from_one_that_does_not(
    authority: Authority, capsys: pytest.CaptureFixture[str]
) -> None:
    with scripted(cluster(CONNECTORS), authority.server) as server:
        plain = server.url.replace("https", "http")
        assert run("status", "--url", plain) == 2
        assert f"{plain} speaks TLS: give its URL with https://" in capsys.readouterr().err
    with scripted(cluster(CONNECTORS)) as server:
        secure = server.url.replace("http", "https")
        assert run("status", "--url", secure) == 2
        assert f"{secure}: does not speak TLS: give its URL with http://" in capsys.readouterr().err


def test_a_proxy_that_says_in_its_own_words_that_it_speaks_tls_is_understood(
    authority: Authority, capsys: pytest.CaptureFixture[str]
) -> None:
    page = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 41\r\n\r\nplain HTTP request was sent to HTTPS port"
    with speaks_both(page, authority.server) as port:
        assert run("status", "--url", f"http://127.0.0.1:{port}") == 2
    assert f"http://127.0.0.1:{port} speaks TLS" in capsys.readouterr().err


def test_what_hangs_up_without_a_word_is_not_taken_for_tls(capsys: pytest.CaptureFixture[str]) -> None:
    with speaks_both(b"", None) as port:
        assert run("status", "--url", f"http://127.0.0.1:{port}") == 2
    assert "TLS" not in capsys.readouterr().err


@contextlib.contextmanager
def speaks_both(plain: bytes, tls: ssl.SSLContext | None) -> Iterator[int]:
    """A port that answers ``plain`` to bytes that are not TLS."""

    def serve_one(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            if tls is not None and connection.recv(1, socket.MSG_PEEK) == b"\x16":
                with tls.wrap_socket(connection, server_side=True) as secure:
                    secure.recv(1000)
                return
            connection.recv(1000)
            connection.sendall(plain)

    def serve_all() -> None:
        with contextlib.suppress(OSError):
            while True:
                serve_one(listener.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve_all, daemon=True).start()
        yield listener.getsockname()[1]


def test_a_file_without_certificates_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    assert run("status", "--url", "https://127.0.0.1:1", "--ca-file", str(empty)) == 2
    assert run("status", "--url", "https://127.0.0.1:1", "--ca-file", str(tmp_path / "none.pem")) == 2
    assert capsys.readouterr().err.count("PEM") == 2


# --- answers ----------------------------------------------------------------------------------------

DEEP = b'{"version": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(body=b"<html>hello</html>"), "is this the REST interface of Kafka Connect?"),
        (Reply(body=b""), "expected an object"),
        (Reply(body=[]), "expected an object"),
        (Reply(body={"version": 4}), "expected a text"),
        (Reply(body=b"\xff\xfe"), "no JSON"),
        (Reply(body=DEEP), "no JSON"),
        (Reply(body=b'{"version": "' + b"x" * 200_000 + b'"}'), "longer than 100,000 bytes"),
        (Reply(body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}), "is compressed"),
        (Reply(body=b'{"version": "4.3.1"}', slow=0.2), "no complete answer within 1 s"),
        (Reply(404, b"not here"), "404 without Connect's error body"),
        (Reply(500, {"error_code": 500, "message": "\x1b[31m" + "x" * 2_000}), "\\u001b[31mxxx"),
    ],
)
def test_an_answer_that_is_none_is_told(capsys: pytest.CaptureFixture[str], reply: Reply, said: str) -> None:
    with scripted(lambda method, path: reply) as server:
        assert run("status", "--url", server.url) == 2
    message = capsys.readouterr().err
    assert said in message
    assert len(message) < 1_000
    assert "\x1b" not in message


@contextlib.contextmanager
def raw(data: bytes, *, keep_open: bool) -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        done = threading.Event()

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken, _ = listener.accept()
                    with taken:
                        taken.recv(10_000)
                        taken.sendall(data)
                        if keep_open:
                            done.wait(20)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            done.set()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize(
    ("data", "keep_open"),
    [
        (b"", False),
        (b"", True),
        (b"SSH-2.0-OpenSSH_9.9\r\n", True),
        (b"HTTP/1.1 200 OK\r\n", True),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000, False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", False),
    ],
)
def test_what_is_no_http_is_told(capsys: pytest.CaptureFixture[str], data: bytes, keep_open: bool) -> None:
    with raw(data, keep_open=keep_open) as url:
        assert run("status", "--url", url) == 2
    assert url in capsys.readouterr().err


@pytest.mark.slow
def test_nobody_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for arguments in (["status"], ["restart", "a"], ["restart", "a", "--dry-run"], ["import"]):
        assert run(*arguments, "--url", url) == 2
        assert f"{url}: takes no connection" in capsys.readouterr().err
