"""mcp-keel for Python: where the binary is. The pytest plugin is in `mcp_keel.pytest_plugin`."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

__all__ = ["find_binary"]


def find_binary() -> str:
    """The path of the program `mcp-keel`: that of this package, else the one on the PATH."""
    name = "mcp-keel.exe" if sys.platform == "win32" else "mcp-keel"
    named = os.environ.get("MCP_KEEL_BINARY")
    if named:
        return named
    folders = [sysconfig.get_path("scripts")]
    if hasattr(sysconfig, "get_preferred_scheme"):
        folders.append(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    # `pip install --target`
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which("mcp-keel")
    if found:
        return found
    raise FileNotFoundError(f"{name} is in none of {', '.join(folders)}; install it again: pip install --force-reinstall mcp-keel")
