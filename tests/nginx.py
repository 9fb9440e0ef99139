"""nginx with the file that docs/serve.md shows, on free ports."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "serve.md"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="there is no nginx")


def blocks(language: str, page: Path = PAGE) -> list[str]:
    """The code of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def free_ports(count: int) -> list[int]:
    """Ports that nobody has."""
    with ExitStack() as stack:
        socks = [stack.enter_context(socket.socket()) for _ in range(count)]
        for sock in socks:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in socks]


@contextmanager
def proxy(folder: Path, markets: Sequence[int]) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    """The URL of nginx with the page's file, whose two markets are at these ports, and its process."""
    (text,) = blocks("nginx")
    (port,) = free_ports(1)
    for there, here in zip(("8001", "8002", "listen 8000"), (*markets, f"listen 127.0.0.1:{port}"), strict=True):
        assert text.count(there) == 1
        text = text.replace(there, str(here))
    temporary = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}\n{text}\n}}\n"
    )
    assert NGINX
    log = folder / "nginx.log"
    process = subprocess.Popen([NGINX, "-p", str(folder), "-e", str(log), "-c", str(folder / "nginx.conf")])
    try:
        for _ in range(200):
            assert process.poll() is None, log.read_text()
            with socket.socket() as sock:
                if not sock.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
