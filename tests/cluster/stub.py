"""An HTTP server that answers as it is told: for the faults that no healthy API server shows."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml


@dataclass
class Answer:
    """What comes next; the last one is repeated."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass
class Stub:
    kubeconfig: Path
    requests: list[tuple[str, str, Any]]
    """Method, path with query, and body of what was asked."""
    headers: list[dict[str, str]]


@contextmanager
def serving(folder: Path, *answers: Answer) -> Iterator[Stub]:
    """A server on the loopback interface, with a kubeconfig for it."""
    queue = list(answers)
    stub = Stub(folder / "kubeconfig.yaml", [], [])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            stub.requests.append((self.command, self.path, json.loads(content) if content else None))
            stub.headers.append({key.lower(): value for key, value in self.headers.items()})
            now = queue.pop(0) if len(queue) > 1 else queue[0]
            time.sleep(now.delay_s)
            body = now.body if isinstance(now.body, bytes) else json.dumps(now.body).encode()
            self.send_response(now.status)
            for key, value in now.headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    write_kubeconfig(stub.kubeconfig, f"http://127.0.0.1:{server.server_port}")
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def write_kubeconfig(path: Path, server: str, context: str = "stub") -> None:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "stub", "cluster": {"server": server}}],
        "users": [{"name": "stub", "user": {"token": "secret-token"}}],
        "contexts": [{"name": context, "context": {"cluster": "stub", "user": "stub"}}],
        "current-context": context,
    }
    path.write_text(yaml.safe_dump(document))
