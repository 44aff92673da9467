"""Clients that only the images of their programs have: mysql, redis-cli, rabbitmqctl, language runtimes."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command


async def _connect(call: Call, host: str, port: int, patience: float = 10.0) -> str:
    connection = call.services.network.connect(call.container.pod, host, port, patience)
    await call.services.clock.sleep(connection.latency_s)
    return connection.status


@command("redis-cli", where="on request")
async def redis_cli(call: Call) -> int:
    options, words = call.options("h:p:a:n:", ["no-auth-warning", "raw"])
    host, port = options.get("h", "127.0.0.1"), int(options.get("p", "6379"))
    if await _connect(call, host, port) != "open":
        raise CommandError(f"Could not connect to Redis at {host}:{port}: Connection refused")
    verb = words[0].lower() if words else ""
    answers = {
        "ping": "PONG",
        "info": "# Server\r\nredis_version:7.2.4\r\n# Clients\r\nconnected_clients:3",
        "dbsize": "(integer) 12",
    }
    call.print(answers.get(verb, "OK" if verb in ("set", "config", "flushall", "del") else "(nil)"))
    return 0


@command("mysql", "mysqladmin", "mysqldump", where="on request")
async def mysql(call: Call) -> int:
    pairs, words = call.option_pairs(
        "h:P:u:p::e:D:NBsvf",
        ["host=", "port=", "user=", "password=", "execute=", "protocol=", "silent", "connect-timeout="],
    )  # fmt: skip
    options = dict(pairs)
    host = options.get("h") or options.get("host") or "127.0.0.1"
    port = int(options.get("P") or options.get("port") or 3306)
    if await _connect(call, host, port) != "open":
        where = f"'{host}:{port}' (111)"
        if call.name == "mysqladmin":
            raise CommandError(
                f"connect to server at '{host}' failed\nerror: 'Can't connect to MySQL server on {where}'"
            )
        call.err.write(f"ERROR 2003 (HY000): Can't connect to MySQL server on {where}\n".encode())
        return 1
    if call.name == "mysqladmin":
        status = "Uptime: 86400  Threads: 2  Questions: 4812  Slow queries: 0  Opens: 152  Open tables: 131"
        call.print({"ping": "mysqld is alive", "status": status}.get(words[0] if words else "", ""))
        return 0
    query = (options.get("e") or options.get("execute") or (await call.stdin.read()).decode("utf-8", "replace")).strip()
    if query.lower().startswith("select 1"):
        call.print("1\n1")
    elif query.lower().startswith("show databases"):
        call.print("Database\ninformation_schema\nmysql\nperformance_schema\nsys")
    return 0


@command("rabbitmqctl", "rabbitmq-diagnostics", where="on request")
async def rabbitmq(call: Call) -> int:
    words = [word for word in call.args[1:] if not word.startswith("-")]
    node = f"rabbit@{call.container.pod.name}"
    if await _connect(call, "127.0.0.1", 5672) != "open":
        raise CommandError(
            f"Error: unable to perform an operation on node '{node}'. Please see diagnostics information", 69
        )
    verb = words[0] if words else "status"
    texts = {
        "ping": f"Will ping {node}. This only checks if the OS process is running and registered with epmd.\n"
        "Ping succeeded",
        "status": f"Status of node {node} ...\nRuntime\n\nOS PID: 1\nOS: Linux\nRabbitMQ version: 3.12.14",
        "list_queues": "Timeout: 60.0 seconds ...\nListing queues for vhost / ...",
        "cluster_status": f"Cluster status of node {node} ...\nRunning Nodes\n\n{node}",
    }
    call.print(texts.get(verb, ""))
    return 0


@command("nginx", where="on request")
async def nginx(call: Call) -> int:
    if {"-v", "-V"} & set(call.args):
        call.err.write(b"nginx version: nginx/1.27.0\n")
    elif "-t" in call.args:
        path = "/etc/nginx/nginx.conf"
        text = (
            f"nginx: the configuration file {path} syntax is ok\nnginx: configuration file {path} test is successful\n"
        )
        call.err.write(text.encode())
    elif "-s" not in call.args:
        call.err.write(b"nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)\n")
        return 1
    elif call.args[-1] in ("stop", "quit"):
        return await call.run(["kill", "1"])
    return 0


@command(
    "python",
    "python3",
    "node",
    "java",
    "pip",
    "npm",
    "perl",
    "ruby",
    "go",
    "jq",
    "iperf3",
    "tcpdump",
    "kubectl",
    where="on request",
)
async def runtime(call: Call) -> int:
    """Language runtimes are not simulated beyond their version: programs in them do nothing and fail."""
    versions = {
        "python": "Python 3.12.4",
        "python3": "Python 3.12.4",
        "node": "v20.15.0",
        "java": 'openjdk version "1.8.0_412"',
    }
    asked = {"--version", "-V", "-v", "-version", "version"} & set(call.args[1:2])
    if asked and call.name in versions:
        call.print(versions[call.name])
        return 0
    raise CommandError("cannot execute: not simulated in this cluster", 126)
