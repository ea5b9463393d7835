"""A page on the loopback address where one person marks a sample, over several sittings."""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from ietest_fast.annotation.marks import read_mark
from ietest_fast.annotation.sample import ASKED
from ietest_fast.errors import IetestError
from ietest_fast.report.page_builder import fill_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.annotation.marks import Marks
    from ietest_fast.annotation.sample import Criterion, Sample


HOST = "127.0.0.1"

_MOST_BYTES = 10_000

_TWO_VERSIONS = "A and B are two versions of a text, in random order."
_ONE_VERSION = (
    "Each example is a new text, or a new pair of texts, with the label that it was given."
)


class AnnotationServer(ThreadingHTTPServer):
    """Serves a sample to one person and keeps the marks.

    It listens on the loopback address only. Every request needs the token that is in
    :attr:`url`, and the name that the page was opened by (so that no other page can make the
    browser ask in its place).
    """

    daemon_threads = True

    def __init__(
        self, sample: Sample, marks: Marks, *, port: int = 0, token: str | None = None
    ) -> None:
        self.sample = sample
        self.marks = marks
        self.token = secrets.token_urlsafe(16) if token is None else token
        self.lock = threading.Lock()
        super().__init__((HOST, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone away, such as one that loads the page again."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.server_port}/?token={self.token}"


def _hide_versions(pair: Mapping[str, Any], criterion: Criterion) -> dict[str, Any]:
    """Return two texts A and B of each column that do not tell which of them is the original.

    Pieces are ``"same"`` in both, or ``"other"``. A column that was not reworded has one text, and
    so has every column of new texts with their label.
    """
    versions = ("old", "new") if pair.get("first") == "original" else ("new", "old")

    def write(pieces: Sequence[tuple[str, str]], version: str) -> list[list[str]]:
        names = {"keep": "same", version: "other"}
        return [[names[kind], piece] for kind, piece in pieces if kind in names]

    texts = {
        name: [
            write(pieces, version)
            for version in versions[: 1 + any(kind != "keep" for kind, _ in pieces)]
        ]
        for name, pieces in pair["pieces"].items()
    }
    hidden = {"item": pair["item"], "texts": texts}
    return hidden if criterion == "meaning" else {**hidden, "label": pair["label"]}


class _Handler(BaseHTTPRequestHandler):
    server: AnnotationServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        address = self._split_path()
        if address is None:
            return
        if address.path == "/favicon.ico":
            self._answer(HTTPStatus.NO_CONTENT, b"", "image/x-icon")
            return
        if not self._is_allowed(parse_qs(address.query).get("token", [""])[0]):
            return
        if address.path == "/":
            self._answer_page()
        elif address.path == "/sample":
            sample = self.server.sample
            self._answer_json(
                {
                    "person": self.server.marks.person,
                    "asked": ASKED[sample.criterion],
                    "columns": sample.columns,
                    "pairs": [_hide_versions(pair, sample.criterion) for pair in sample.pairs],
                    "marks": self.server.marks.as_dict(),
                }
            )
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        if not self._is_allowed(self.headers.get("X-Token", "")):
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= _MOST_BYTES:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a mark is a small JSON object")
            return
        body = self.rfile.read(length)
        address = self._split_path()
        if address is None:
            return
        if address.path != "/mark":
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
            return
        try:
            item, mark = read_mark(body)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, 'expected {"item": 7, "mark": "sound"}')
            return
        try:
            with self.server.lock:
                self.server.marks.add(item, mark)
                n_marked = len(self.server.marks)
        except IetestError as error:
            is_input = isinstance(error, ValueError)
            status = HTTPStatus.BAD_REQUEST if is_input else HTTPStatus.INTERNAL_SERVER_ERROR
            self._refuse(status, str(error))
            return
        self._answer_json({"n_marked": n_marked})

    def _split_path(self) -> SplitResult | None:
        try:
            return urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "that is no address")
            return None

    def _is_allowed(self, token: str) -> bool:
        own = f"{HOST}:{self.server.server_port}"
        # Another page can make a browser send a request here, by a name of its own for this
        # address.
        origin = self.headers.get("Origin")
        if self.headers.get("Host") != own or origin not in {None, f"http://{own}"}:
            self._refuse(HTTPStatus.FORBIDDEN, f"open the page as http://{own}")
            return False
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(
                HTTPStatus.FORBIDDEN, "the token is missing or wrong: use the address as printed"
            )
            return False
        return True

    def _answer_page(self) -> None:
        has_versions = self.server.sample.has_versions
        intro = _TWO_VERSIONS if has_versions else _ONE_VERSION
        page, script = fill_page("annotate", intro=intro)
        policy = (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src '{script}'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        self._answer(HTTPStatus.OK, page.encode(), "text/html; charset=utf-8", policy=policy)

    def _answer_json(self, value: dict[str, Any], status: HTTPStatus = HTTPStatus.OK) -> None:
        self._answer(status, json.dumps(value).encode(), "application/json")

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        # What the request still holds is not read; so this connection ends with it.
        self.close_connection = True
        self._answer_json({"error": message}, status)

    def _answer(
        self, status: HTTPStatus, body: bytes, kind: str, *, policy: str = "default-src 'none'"
    ) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", policy),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            *([("Connection", "close")] if self.close_connection else []),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Say nothing: the terminal is the reader's."""
