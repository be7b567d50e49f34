"""What a server lists, in process: a document that `mcp-keel check --capture -` reads."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

# The lists of the protocol: member of the answer, method of a session, and the capability that declares it.
LISTS = [
    ("tools", "list_tools", "tools"),
    ("prompts", "list_prompts", "prompts"),
    ("resources", "list_resources", "resources"),
    ("resourceTemplates", "list_resource_templates", "resources"),
]

# More pages than this are a list that does not end.
MOST_PAGES = 1000

# A server that lists nothing of a kind may answer so, whatever it declares.
METHOD_NOT_FOUND = -32601


class NotAServer(TypeError):
    """What was handed over is nothing that lists tools."""


def as_sent(value: Any) -> Any:
    """A model of the SDK, or of FastMCP, as JSON on the wire."""
    if hasattr(value, "to_mcp_tool"):
        value = value.to_mcp_tool()
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, dict):
        return value
    raise NotAServer(f"a tool is a dict or a model of the SDK, not {type(value).__name__}")


def of_list(value: Any) -> Any:
    """A list of tools, or the answer that has one; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (list, tuple)):
        # Not as a capture: dicts may be what a model prints, with members that are null.
        return [as_sent(tool) for tool in value]
    tools = getattr(value, "tools", None)
    if isinstance(tools, (list, tuple)):
        return of_list(tools)
    return None


async def of_server(server: Any) -> dict[str, Any]:
    """Everything that a server lists, or the server at the other end of a client or a session."""
    async with contextlib.AsyncExitStack() as stack:
        return await _of_session(*await _session(server, stack))


async def _session(server: Any, stack: contextlib.AsyncExitStack) -> tuple[Any, Any, list[str]]:
    """A session that has been opened, what the server said to that, if the session remembers, and what of it counts."""
    said = ["serverInfo", "instructions"]
    if hasattr(server, "send_request") and hasattr(server, "list_tools"):
        return server, _greeting(server), said
    session = _session_of_client(server)
    if session is not None:
        return session, _greeting(session) or getattr(server, "initialize_result", None), said
    module = type(server).__module__
    if hasattr(server, "list_tools") and hasattr(server, "list_prompts") and hasattr(server, "call_tool") and module.startswith("fastmcp"):
        import fastmcp

        client = await stack.enter_async_context(_client(fastmcp.Client, server))
        # Which lists announce their changes is up to its transport: in memory other ones do than over stdio.
        return client.session, client.initialize_result or _greeting(client.session), ["serverInfo", "instructions"]
    try:
        import mcp
    except ImportError:
        raise _not_a_server(server) from None
    if not _is_of_sdk(server):
        raise _not_a_server(server)
    said.append("capabilities")
    if hasattr(mcp, "Client"):
        client = await stack.enter_async_context(_client(mcp.Client, server))
        return client.session, _greeting(client.session), said
    return *await _over_memory(server, stack), said


def _client(client: Any, server: Any) -> Any:
    """A client in process. By the handshake, as `mcp-keel check` asks by default; older releases know nothing else."""
    if "mode" in inspect.signature(client).parameters:
        return client(server, mode="legacy")
    return client(server)


async def _over_memory(server: Any, stack: contextlib.AsyncExitStack) -> tuple[Any, Any]:
    """The SDK 1.x, whose helper for tests throws the greeting away."""
    import anyio
    from mcp import ClientSession
    from mcp.shared.memory import create_client_server_memory_streams

    server = getattr(server, "_mcp_server", server)
    client_streams, server_streams = await stack.enter_async_context(create_client_server_memory_streams())
    tasks = await stack.enter_async_context(anyio.create_task_group())
    stack.callback(tasks.cancel_scope.cancel)
    tasks.start_soon(server.run, server_streams[0], server_streams[1], server.create_initialization_options())
    session = await stack.enter_async_context(ClientSession(*client_streams))
    return session, await session.initialize()


def _session_of_client(client: Any) -> Any:
    """The session of a connected client of FastMCP or the SDK."""
    if type(client).__name__ != "Client":
        return None
    try:
        session = client.session
    except RuntimeError as error:
        raise NotAServer(f"the client is not connected: {error}") from error
    return session if hasattr(session, "list_tools") else None


def _is_of_sdk(server: Any) -> bool:
    return any(base.__module__.startswith("mcp.server") for base in type(server).__mro__)


def _not_a_server(server: Any) -> NotAServer:
    return NotAServer(
        f"{type(server).__module__}.{type(server).__qualname__} is no server of FastMCP or the Python SDK, no client, no session and no list of tools"
    )


def _greeting(session: Any) -> Any:
    for name in ("initialize_result", "discover_result"):
        result = getattr(session, name, None)
        if result is not None and not callable(result):
            return result
    return None


async def _of_session(session: Any, greeting: Any, counts: list[str]) -> dict[str, Any]:
    capture: dict[str, Any] = {"captureVersion": 1}
    observed = []
    declared: dict[str, Any] | None = None
    if greeting is not None:
        said = as_sent(greeting)
        info = said.get("serverInfo") or said.get("_meta", {}).get("io.modelcontextprotocol/serverInfo")
        members = {"serverInfo": info, "capabilities": said.get("capabilities"), "instructions": said.get("instructions")}
        capture["initialize"] = {name: value for name, value in members.items() if value is not None}
        observed += [f"server/{member}" for member in counts]
        declared = said.get("capabilities") or {}
    elif hasattr(session, "get_server_capabilities"):
        capabilities = session.get_server_capabilities()
        declared = as_sent(capabilities) if capabilities is not None else None
    for member, method, capability in LISTS:
        if declared is not None and capability not in declared:
            capture[member] = []
        else:
            capture[member] = await _pages(session, method, member)
        observed.append(member)
    capture["observed"] = observed
    return capture


async def _pages(session: Any, method: str, member: str) -> list[Any]:
    """A list, page by page, as it was sent: not as the SDK models it, which may leave out what it does not know."""
    found: list[Any] = []
    cursor = None
    for _ in range(MOST_PAGES):
        try:
            answer = await _ask(session, method, cursor)
        except Exception as error:
            if getattr(getattr(error, "error", error), "code", None) == METHOD_NOT_FOUND:
                return found
            raise
        page = as_sent(answer)
        found += page.get(member) or []
        cursor = page.get("nextCursor")
        if not cursor:
            return found
    raise RuntimeError(f"{method} has more than {MOST_PAGES} pages")


async def _ask(session: Any, method: str, cursor: str | None) -> Any:
    ask = getattr(session, method)
    if cursor is None:
        return await ask()
    try:
        from mcp.types import PaginatedRequestParams
    except ImportError:
        from mcp_types import PaginatedRequestParams
    return await ask(params=PaginatedRequestParams(cursor=cursor))
