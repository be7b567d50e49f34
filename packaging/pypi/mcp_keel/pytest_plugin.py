"""pytest: the fixture `mcp_keel`, whose `check` compares a server in process with the committed baseline.

    def test_contract(mcp_keel):
        mcp_keel.check(server)

`pytest --mcp-keel-pin` writes the baseline instead. Nothing of this starts a server or opens a connection.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Generator

import pytest

from . import _capture, find_binary

PIN = "pytest --mcp-keel-pin"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mcp-keel")
    group.addoption(
        "--mcp-keel-pin",
        action="store_true",
        help="write what servers list into the baseline, instead of checking it (or MCP_KEEL_PIN=1; in CI only with MCP_KEEL_PIN=force)",
    )


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false", "no")


def _pins(config: pytest.Config) -> bool:
    return bool(config.getoption("--mcp-keel-pin", False)) or _is_on("MCP_KEEL_PIN")


def _is_forced() -> bool:
    return os.environ.get("MCP_KEEL_PIN") == "force"


def pytest_configure(config: pytest.Config) -> None:
    # Not in `config.stash`, which pytest 6 lacks: this is loaded wherever the package is installed.
    config._mcp_keel_pinned = []  # type: ignore[attr-defined]
    if _pins(config) and _is_on("CI") and not _is_forced():
        raise pytest.UsageError(
            "mcp-keel pins nothing in CI, where nobody reviews it: pin on your machine and commit the baseline, or set MCP_KEEL_PIN=force"
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    # A worker of xdist says what it pinned to the session that prints.
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["mcp_keel_pinned"] = session.config._mcp_keel_pinned


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    pinned = getattr(node, "workeroutput", {}).get("mcp_keel_pinned", [])
    node.config._mcp_keel_pinned.extend(pinned)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    pinned = config._mcp_keel_pinned
    if pinned:
        terminalreporter.section("mcp-keel")
        for line in sorted(set(pinned)):
            terminalreporter.write_line(line)


@pytest.fixture
def mcp_keel(request: pytest.FixtureRequest) -> Generator[Keel, None, None]:
    """Compares what a server lists with the committed baseline: `mcp_keel.check(server)`."""
    keel = Keel(request.config, Path(str(request.fspath)))
    yield keel
    if keel.forgotten():
        pytest.fail("mcp_keel.check(...) was not awaited: in an async test, write `await mcp_keel.check(server)`", pytrace=False)


def _folder(test: Path, root: Path) -> Path:
    """Where mcp-keel.toml and the baseline are: the nearest folder above a test that has one of them, within the repository;
    else pytest's rootdir."""
    for folder in test.parents:
        if any((folder / name).is_file() for name in ("mcp-keel.toml", "mcp-baseline.json")):
            return folder
        if (folder / ".git").exists():
            break
    return root


class Keel:
    """What the fixture `mcp_keel` is."""

    def __init__(self, config: pytest.Config, test: Path) -> None:
        self._config = config
        self._folder = _folder(test, Path(str(config.rootdir)))
        self._pending: list[Check] = []

    def check(self, server: Any, name: str | None = None) -> Check:
        """Fails the test if what a server lists is not what the baseline approves.

        `server` is a server of FastMCP or the Python SDK, a client or a session that is connected to one, a list of tools
        (dicts or models), or what `tools/list` answered. `name` is its name in mcp-keel.toml and in the baseline. In an
        async test, await it.
        """
        __tracebackhide__ = True
        check = Check(self, server, name)
        listed = _capture.of_list(server)
        if listed is not None:
            check.finish(listed)
        elif not _in_event_loop():
            if hasattr(server, "send_request"):
                raise _capture.NotAServer("a session belongs to its event loop: check it in an async test, with await")
            check.finish(asyncio.run(_capture.of_server(server)))
        else:
            self._pending.append(check)
        return check

    def forgotten(self) -> bool:
        return any(not check.is_done for check in self._pending)

    def run(self, capture: Any, name: str | None) -> None:
        __tracebackhide__ = True
        pins = _pins(self._config)
        command = [find_binary(), "pin" if pins else "check", "--capture", "-", "--color", "never", "--pin-with", PIN]
        if pins and _is_forced():
            command.append("--yes")
        if name is not None:
            command.append(name)
        done = self._run(command, capture)
        if pins and done.returncode == 2:
            # Another worker of xdist has written the baseline in between.
            done = self._run(command, capture)
        said = done.stdout.decode(errors="replace")
        problem = done.stderr.decode(errors="replace")
        if done.returncode != 0:
            pytest.fail((said + problem).rstrip(), pytrace=False)
        if pins:
            self._config._mcp_keel_pinned.extend(line for line in said.splitlines()[:1] if line)
        else:
            # What only warns is shown with the output of the test: pytest -rP.
            sys.stdout.write(said)
            sys.stderr.write(problem)

    def _run(self, command: list[str], capture: Any) -> subprocess.CompletedProcess[bytes]:
        given = json.dumps(capture).encode()
        return subprocess.run(command, cwd=self._folder, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Check:
    """A check that is done, or that is done when it is awaited."""

    def __init__(self, keel: Keel, server: Any, name: str | None) -> None:
        self._keel = keel
        self._server = server
        self._name = name
        self.is_done = False

    def finish(self, capture: Any) -> None:
        __tracebackhide__ = True
        self.is_done = True
        self._keel.run(capture, self._name)

    def __await__(self) -> Generator[Any, None, None]:
        __tracebackhide__ = True
        if not self.is_done:
            # Whatever goes wrong from here on, it was awaited.
            self.is_done = True
            capture = yield from _capture.of_server(self._server).__await__()
            self.finish(capture)


def _in_event_loop() -> bool:
    try:
        import sniffio
    except ImportError:
        pass
    else:
        try:
            sniffio.current_async_library()
            return True
        except sniffio.AsyncLibraryNotFoundError:
            pass
    try:
        asyncio.get_running_loop()
        return True
    except RuntimeError:
        return False
