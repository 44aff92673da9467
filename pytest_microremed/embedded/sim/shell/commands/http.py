"""wget and curl: HTTP requests through the simulated network."""

from __future__ import annotations

import posixpath
from urllib.parse import urlsplit

from pytest_microremed.embedded.sim.network import Failure, Response
from pytest_microremed.embedded.sim.shell.dialect import speaks_dash
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_PATIENCE_S = 127.0
_REASONS = {
    200: "OK", 201: "Created", 204: "No Content", 301: "Moved Permanently", 302: "Found", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 500: "Internal Server Error",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}  # fmt: skip


class Address:
    """The parts of a URL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        self.url = url if "://" in url else f"http://{url}"
        self.secure = parts.scheme == "https"
        self.host = parts.hostname or ""
        try:
            self.port = parts.port or (443 if self.secure else 80)
        except ValueError:
            raise CommandError(f"bad port in URL '{url}'") from None
        self.authority = self.host if self.port == 80 else f"{self.host}:{self.port}"
        self.path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def head(response: Response) -> str:
    """Status line and headers."""
    return (
        f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Unknown')}\r\n"
        f"Content-Type: {response.content_type}\r\nContent-Length: {len(response.body.encode())}\r\n"
        "Connection: close\r\n\r\n"
    )


async def fetch(call: Call, address: Address, patience: float) -> Response | Failure:
    """One request, in the time that it takes."""
    network = call.services.network
    answer = network.request(call.container.pod, address.host, address.port, address.path, patience)
    await call.services.clock.sleep(answer.latency_s)
    if address.secure and isinstance(answer, Response):
        return Failure("reset", answer.latency_s, connected=True)  # the programs speak plain HTTP only
    return answer


@command("wget")
async def wget(call: Call) -> int:
    options, operands = call.options(
        "qO:T:SY:U:P:ct:nvd",
        ["spider", "timeout=", "tries=", "header=", "post-data=", "no-check-certificate", "quiet", "output-document=",
         "server-response", "no-verbose", "connect-timeout=", "read-timeout=", "method=", "body-data="],
    )  # fmt: skip
    if not operands:
        raise CommandError("missing URL")
    address = Address(operands[0])
    given = options.get("T") or options.get("timeout") or options.get("connect-timeout")
    patience = float(given) if given and given.replace(".", "").isdigit() else _PATIENCE_S
    quiet = "q" in options or "quiet" in options
    spider = "spider" in options
    answer = await fetch(call, address, patience)
    if isinstance(answer, Failure):
        return _wget_failed(call, address, answer)
    ip = (call.services.network.resolve(address.host, call.container.pod.namespace) or [address.host])[0]
    say = _silent if quiet else call.err.write
    say(f"Connecting to {address.authority} ({ip}:{address.port})\n".encode())
    if "S" in options or "server-response" in options:
        call.err.write(("  " + head(answer).strip().replace("\r\n", "\n  ") + "\n").encode())
    if answer.status >= 400:
        call.complain(f"server returned error: HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Unknown')}")
        return 8 if speaks_dash(call.container) else 1
    if spider:
        say(b"remote file exists\n")
        return 0
    name = options.get("O") or options.get("output-document") or posixpath.basename(address.path) or "index.html"
    if name == "-":
        call.print(answer.body, end="")
    else:
        await call.files.write(call.path(name), answer.body.encode())
        say(f"saving to '{name}'\n'{name}' saved\n".encode())
    return 0


def _silent(data: bytes) -> None:
    pass


def _wget_failed(call: Call, address: Address, failure: Failure) -> int:
    if failure.reason == "unresolved":
        text = f"bad address '{address.host}'"
    elif failure.reason == "timeout":
        text = "download timed out"
    elif failure.reason == "refused":
        ips = call.services.network.resolve(address.host, call.container.pod.namespace)
        text = f"can't connect to remote host ({ips[0] if ips else address.host}): Connection refused"
    else:
        text = "error getting response: Connection reset by peer"
    call.complain(text)
    return 4 if speaks_dash(call.container) else 1


@command("curl", where="debian")
async def curl(call: Call) -> int:
    options, operands = call.options(
        "sSo:w:m:IfkvLX:H:d:A:u:iO46x:ke:b:c:F:T:rgNGj",
        ["silent", "show-error", "output=", "write-out=", "max-time=", "head", "fail", "insecure", "verbose",
         "location", "request=", "header=", "data=", "connect-timeout=", "include", "retry=", "retry-delay=",
         "url=", "user-agent=", "data-raw=", "http2", "http1.1", "max-redirs=", "retry-connrefused", "resolve=",
         "compressed", "no-buffer", "json=", "noproxy=", "retry-max-time=", "retry-all-errors", "fail-with-body"],
    )  # fmt: skip
    if "url" in options:
        operands.append(options["url"])
    if not operands:
        raise CommandError("try 'curl --help' or 'curl --manual' for more information", 2)
    code = 0
    for url in operands:
        code = await _Curl(call, options, Address(url)).run()
    return code


class _Curl:
    def __init__(self, call: Call, options: dict[str, str], address: Address) -> None:
        self.call = call
        self.options = options
        self.address = address

    def _has(self, short: str, long: str) -> bool:
        return short in self.options or long in self.options

    def _value(self, short: str, long: str) -> str | None:
        return self.options.get(short) or self.options.get(long)

    async def run(self) -> int:
        started = self.call.services.waited
        whole = self._seconds(self._value("m", "max-time"))
        patience = min(whole, self._seconds(self.options.get("connect-timeout")))
        answer = await fetch(self.call, self.address, patience)
        if isinstance(answer, Failure) and answer.connected and answer.reason == "timeout" and whole > patience:
            answer = await fetch(self.call, self.address, whole)
        elapsed = self.call.services.waited - started
        failed = self._problem(answer, max(answer.latency_s, 0.0))
        if failed is None and isinstance(answer, Response):
            await self._print(answer)
        code, message = failed or (0, "")
        silent = self._has("s", "silent") and not self._has("S", "show-error")
        if message and not silent:
            self.call.err.write(f"curl: ({code}) {message}\n".encode())
        form = self._value("w", "write-out")
        if form:
            self._write_out(form, answer, elapsed, code)
        return code

    @staticmethod
    def _seconds(text: str | None) -> float:
        if text is None:
            return _PATIENCE_S
        try:
            return float(text)
        except ValueError:
            raise CommandError(f"option: expected a proper numerical parameter: {text}", 2) from None

    def _problem(self, answer: Response | Failure, took: float) -> tuple[int, str] | None:
        """Exit code and message (curl's), or None."""
        host, port = self.address.host, self.address.port
        if isinstance(answer, Response):
            if answer.status >= 400 and self._has("f", "fail"):
                return 22, f"The requested URL returned error: {answer.status}"
            return None
        milliseconds = int(took * 1000)
        if answer.reason == "unresolved":
            return 6, f"Could not resolve host: {host}"
        if answer.reason == "refused":
            return (
                7,
                f"Failed to connect to {host} port {port} after {milliseconds} ms: Couldn't connect to server",
            )
        if answer.reason == "timeout":
            if answer.connected:
                return 28, f"Operation timed out after {milliseconds} milliseconds with 0 bytes received"
            return 28, f"Failed to connect to {host} port {port} after {milliseconds} ms: Timeout was reached"
        if self.address.secure:
            return 35, "error:0A00010B:SSL routines::wrong version number"
        return 52, "Empty reply from server"

    async def _print(self, response: Response) -> None:
        call = self.call
        if self._has("v", "verbose"):
            call.err.write(
                f"* Connected to {self.address.host} port {self.address.port}\n> GET {self.address.path} HTTP/1.1\n"
                f"> Host: {self.address.host}\n> Accept: */*\n>\n".encode()
            )
            call.err.write("".join(f"< {line}\n" for line in head(response).strip().split("\r\n")).encode())
        text = "" if self._has("I", "head") else response.body
        if self._has("I", "head") or self._has("i", "include"):
            text = head(response) + text
        target = self._value("o", "output")
        if "O" in self.options and not target:
            target = posixpath.basename(self.address.path)
        if target and target != "-":
            path = call.path(target)
            if not call.files.is_device(path):
                await call.files.write(path, text.encode())
        else:
            call.print(text, end="")

    def _write_out(self, form: str, answer: Response | Failure, elapsed: float, code: int) -> None:
        response = answer if isinstance(answer, Response) else None
        connect = min(elapsed, 0.002)
        values = {
            "http_code": f"{response.status:03d}" if response else "000",
            "response_code": f"{response.status:03d}" if response else "000",
            "time_total": f"{elapsed:.6f}",
            "time_connect": f"{connect:.6f}",
            "time_namelookup": f"{connect / 2:.6f}",
            "time_starttransfer": f"{elapsed * 0.98:.6f}" if response else "0.000000",
            "time_pretransfer": f"{connect:.6f}",
            "time_appconnect": "0.000000",
            "size_download": str(len(response.body.encode())) if response else "0",
            "content_type": response.content_type if response else "",
            "url_effective": self.address.url,
            "exitcode": str(code),
            "errormsg": "",
            "remote_ip": "",
            "num_connects": "1",
        }
        for name, value in values.items():
            form = form.replace(f"%{{{name}}}", value)
        text = form.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
        self.call.print(text, end="")
