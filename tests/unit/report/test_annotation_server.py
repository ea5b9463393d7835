"""The page's server: one address, one token, nothing for anyone else."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
import time

import pyarrow as pa
import pytest

from ietest_fast.annotation.marks import Marks
from ietest_fast.annotation.sampling import draw_sample, draw_transformed
from ietest_fast.annotation.server import AnnotationServer
from ietest_fast.corpus import Corpus
from ietest_fast.experiment.finished import read_run
from toys import LABELS


@pytest.fixture
def server(tmp_path, hostile_run):
    sample = draw_sample(read_run(hostile_run), tmp_path / "sample.json", n=30)
    with AnnotationServer(sample, Marks(sample, "anna")) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server, method, path, *, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=300)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body=body, headers=given)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def mark(server, values, *, token=None, **headers):
    body = values if isinstance(values, bytes) else json.dumps(values).encode()
    own = {"X_Token": server.token if token is None else token, **headers}
    answer, content = ask(server, "POST", "/mark", body=body, **own)
    return answer.status, json.loads(content)


def test_it_listens_on_the_loopback_address_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.token) >= 20
    assert server.url == f"http://127.0.0.1:{server.server_port}/?token={server.token}"


def test_a_mark_is_on_the_disk_when_it_is_answered(server):
    row = server.sample.items[4]
    assert mark(server, {"item": row, "mark": "unsound"}) == (200, {"n_marked": 1})
    assert Marks(server.sample, "anna").as_dict() == {row: "unsound"}
    assert mark(server, {"item": row, "mark": None}) == (200, {"n_marked": 0})
    _, content = ask(server, "GET", f"/sample?token={server.token}")
    found = json.loads(content)
    assert found["marks"] == {}
    assert [pair["item"] for pair in found["pairs"]] == list(server.sample.items)


def test_the_page_does_not_tell_which_version_is_the_original(server):
    _, content = ask(server, "GET", f"/sample?token={server.token}")
    found = json.loads(content)
    assert set(found) == {"person", "asked", "columns", "pairs", "marks"}
    assert found["asked"].startswith("Sound: whoever gives the first text its label")
    for shown, pair in zip(found["pairs"], server.sample.pairs, strict=True):
        assert set(shown) == {"item", "texts", "label"}
        for name, pieces in pair["pieces"].items():
            versions = {
                which: "".join(piece for kind, piece in pieces if kind in {"keep", which})
                for which in ("old", "new")
            }
            texts = ["".join(piece for _, piece in own) for own in shown["texts"][name]]
            if versions["old"] == versions["new"]:
                assert texts == [versions["old"]]
            elif pair["first"] == "original":
                assert texts == [versions["old"], versions["new"]]
            else:
                assert texts == [versions["new"], versions["old"]]
            assert {kind for own in shown["texts"][name] for kind, _ in own} <= {"same", "other"}


def test_new_texts_are_shown_once_with_their_label(tmp_path):
    table = pa.table(
        {
            "premise": ["The boy is young.", "A street is empty."],
            "hypothesis": ["The woman opened the heavy door.", "Rain."],
            "label": pa.array([0, 1], pa.int8()),
        }
    )
    names = ("premise", "hypothesis")
    corpus = Corpus(table=table, text_columns=names, label_names=LABELS)
    sample = draw_transformed(corpus, "antonym", tmp_path / "new.json")
    with AnnotationServer(sample, Marks(sample, "anna")) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        _, page = ask(server, "GET", f"/?token={server.token}")
        _, content = ask(server, "GET", f"/sample?token={server.token}")
        assert mark(server, {"item": sample.items[0], "mark": "sound"})[0] == 200
        server.shutdown()
        thread.join()
    assert b"with the label that it was given" in page
    assert b"A and B" not in page
    found = json.loads(content)
    assert found["asked"].startswith("Sound: the label is right")
    assert len(found["pairs"]) == len(sample.pairs) > 0
    for shown, pair in zip(found["pairs"], sample.pairs, strict=True):
        assert shown == {
            "item": pair["item"],
            "label": "contradiction",
            "texts": {
                name: [[["same", text] for _, text in pieces]]
                for name, pieces in pair["pieces"].items()
            },
        }
        assert not {"original", "antonym"} & set(json.dumps(shown).split('"'))


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/", "/sample", "/sample?token=", "/?token=guess", "/?token=%ff"])
def test_without_the_token_there_is_nothing(server, path):
    answer, content = ask(server, "GET", path)
    assert answer.status == 403
    assert b"token" in content
    assert b"pairs" not in content


def test_marks_need_the_token_and_this_address(server):
    row = server.sample.items[0]
    wanted = {"item": row, "mark": "sound"}
    assert mark(server, wanted, token="guess")[0] == 403
    assert mark(server, wanted, Host="evil.example")[0] == 403
    assert mark(server, wanted, Origin="http://evil.example")[0] == 403
    assert mark(server, wanted, Origin="null")[0] == 403
    assert len(server.marks) == 0
    own = f"http://127.0.0.1:{server.server_port}"
    assert mark(server, wanted, Origin=own)[0] == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        *(b"", b"{", b"[]", b'"x"', b"[" * 9_000, b'{"item": 1e999, "mark": "sound"}', b"\xff"),
        *({"item": "x", "mark": "sound"}, {"item": 1}, {"mark": "sound"}),
        *({"item": 7.9, "mark": "sound"}, {"item": True, "mark": "sound"}),
        {"item": 7, "mark": "sound", "sound": "no"},
    ],
)
def test_what_is_no_mark_is_refused(server, values):
    status, said = mark(server, values)
    assert (status, said["error"][:8]) == (400, "expected")


def test_marks_of_other_rows_are_refused(server):
    status, said = mark(server, {"item": 10_000, "mark": "sound"})
    assert (status, "not in the sample" in said["error"]) == (400, True)
    status, said = mark(server, {"item": server.sample.items[0], "mark": "fine"})
    assert (status, said["error"][:8]) == (400, "expected")


def test_what_is_no_address_is_refused(server):
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        connection.sendall(b"GET http://[ HTTP/1.1\r\n\r\n")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"that is no address" in answer


def test_a_browser_that_goes_away_is_no_news(server, capsys):
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
            # Closed at once, with what was asked for still on its way.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request = f"GET /sample?token={server.token} HTTP/1.1\r\n"
            host = f"Host: 127.0.0.1:{server.server_port}\r\n\r\n"
            connection.sendall((request + host).encode() * 20)
    assert mark(server, {"item": server.sample.items[0], "mark": "sound"})[0] == 200
    time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_what_is_too_long_is_not_read(server):
    answer, _ = ask(server, "POST", "/mark", body=b"x" * 20_000, X_Token=server.token)
    assert answer.status == 413
    answer, _ = ask(server, "POST", "/mark", body=None, X_Token=server.token, Content_Length="-5")
    assert answer.status == 413


def test_a_full_disk_is_told_and_the_mark_does_not_hold(server):
    server.marks.path.mkdir()
    status, said = mark(server, {"item": server.sample.items[0], "mark": "sound"})
    assert (status, "cannot be written" in said["error"]) == (500, True)
    assert len(server.marks) == 0


def test_other_paths_are_not_there(server):
    assert ask(server, "GET", f"/etc/passwd?token={server.token}")[0].status == 404
    assert ask(server, "POST", "/sample", body=b"{}", X_Token=server.token)[0].status == 404
    assert ask(server, "GET", "/favicon.ico")[0].status == 204
    assert ask(server, "DELETE", "/")[0].status == 501


def test_pages_say_what_they_may_load(server):
    answer, content = ask(server, "GET", f"/?token={server.token}")
    assert answer.status == 200
    policy = answer.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert answer.getheader("Cache-Control") == "no-store"
    assert server.token.encode() not in content
