"""Installs what `.ci/release` made, each artifact into an empty folder, and uses it as a person would.

Every channel runs the demo, pins a published server, checks it, and reports the drift of its older version with exit code 1.
Registries are played by a server on loopback that has only our own packages; published tools come from npm and PyPI.

    python3 .ci/rehearsal.py OUT
"""

import sys

# `http.py` in this folder is not the library's `http`.
sys.path.append(sys.path.pop(0))

import base64
import contextlib
import functools
import hashlib
import http.server
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent / "checks"))
import real_servers
import release

ROOT = release.ROOT
PACKAGE = release.manifest()
VERSION = PACKAGE["version"]
HERE = release.this_platform()
CACHE = real_servers.CACHE
# What a user of npm or PyPI has. No Rust.
USER_PATH = os.pathsep.join(dict.fromkeys([str(Path(shutil.which("node")).parent), "/usr/local/bin", "/usr/bin", "/bin"]))
MANAGERS = ["pnpm@10.34.8", "yarn@1.22.22", "@yarnpkg/cli-dist@4.18.1", "bun@1.4.4", f"node-linux-{HERE['npm']['cpu']}@24.21.0"]
PYTHON_TOOLS = ["uv", "pipx", "twine", "pre-commit"]

tally = real_servers.Tally()


def said(result):
    parts = [result.stdout or b"", result.stderr or b""]
    return f"exit {result.returncode}\n" + "\n".join(it.decode(errors="replace") if isinstance(it, bytes) else it for it in parts)


def environment(home, **more):
    kept = {name: os.environ[name] for name in ["LANG", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "PIP_CERT"] if name in os.environ}
    return {**kept, "HOME": str(home), "PATH": USER_PATH, "CI": "true", **more}


def call(*command, cwd, env, timeout=300, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [str(it) for it in command], cwd=cwd, env=env, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def must(*command, **options):
    result = call(*command, **options)
    if result.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {said(result)[-3000:]}")
    return result


@contextlib.contextmanager
def empty_folder():
    with tempfile.TemporaryDirectory(prefix="keel-rehearsal-") as folder:
        folder = Path(folder)
        (folder / "home").mkdir()
        (folder / "project").mkdir()
        yield folder / "home", folder / "project"


def wheel_here(out):
    """The wheel for this machine, of one platform or of all."""
    [wheel] = [it for it in (out / "wheels").glob("*.whl") if "linux" in it.name and os.uname().machine in it.name]
    return wheel


def exercise(channel, program, cwd, env):
    """The tool, as installed: `program` is how it is called."""
    result = call(*program, "--version", cwd=cwd, env=env)
    version = result.stdout.decode().strip()
    ok = result.returncode == 0 and version.splitlines()[-1].startswith(f"mcp-keel {VERSION} (")
    result = call(*program, "demo", cwd=cwd, env=env)
    ok = ok and result.returncode == 0 and b"tool-removed" in result.stdout
    if not tally.check(ok, f"{channel}: {version} runs the demo", said(result)):
        return
    new, old = (real_servers.command("memory", age, cwd) for age in ("new", "old"))
    steps = [("pin", new, 0), ("check", new, 0), ("check", old, 1)]
    results = [call(*program, command, "memory", "--", *server, cwd=cwd, env=env) for command, server, _ in steps]
    codes = [it.returncode for it in results]
    tally.check(codes == [0, 0, 1], f"{channel}: pins a published server, checks it, reports its drift", "\n".join(map(said, results)))


# --- npm ----------------------------------------------------------------------------------------------------------


class Registry:
    """As much of an npm registry as package managers ask of it, with our packages and nothing else."""

    def __init__(self, folder):
        self.packages, self.refused, self.files = {}, [], {}
        for path in sorted(folder.glob("*.tgz")):
            with tarfile.open(path) as archive:
                members = json.load(archive.extractfile("package/package.json"))
            self.add(members, path.name, path.read_bytes())
        # The real registry has the packages of every platform. No manager may download one for another platform.
        for platform in release.PLATFORMS:
            members = release.npm_platform_manifest(PACKAGE, platform)
            if members["name"] not in self.packages:
                self.add(members, f"{platform['target']}.tgz", None)

    def add(self, members, name, content):
        digest = hashlib.sha512(content or name.encode()).digest()
        self.files[name] = content
        self.packages[members["name"]] = (members, name, "sha512-" + base64.b64encode(digest).decode())

    def __enter__(self):
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                path = self.path.split("?")[0].lstrip("/").replace("%2f", "/").replace("%2F", "/")
                body = registry.answer(path)
                if body is None:
                    registry.refused.append((path, self.headers.get("User-Agent", "")))
                self.send_response(404 if body is None else 200)
                body = body or b"{}"
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def answer(self, path):
        if path in self.packages:
            members, file, integrity = self.packages[path]
            entry = {**members, "dist": {"tarball": f"{self.url}/files/{file}", "integrity": integrity}}
            document = {"name": path, "dist-tags": {"latest": VERSION}, "versions": {VERSION: entry}, "time": {VERSION: "2026-01-01T00:00:00.000Z"}}
            return json.dumps(document).encode()
        if path.startswith("files/"):
            return self.files.get(path.split("/")[-1])
        return None


def managers():
    """Published package managers, and a newer Node, installed once."""
    folder = CACHE / "rehearsal-node"
    wanted = "\n".join(MANAGERS)
    stamp = folder / "installed.txt"
    if not stamp.is_file() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}\n')
        real_servers.run_with_retries(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", *MANAGERS], cwd=folder)
        stamp.write_text(wanted)
    return folder / "node_modules"


def python_tools():
    folder = CACHE / "rehearsal-python"
    wanted = "\n".join(PYTHON_TOOLS)
    stamp = folder / "installed.txt"
    if not stamp.is_file() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        real_servers.run_with_retries([sys.executable, "-m", "venv", str(folder)], tries=1)
        real_servers.run_with_retries([str(folder / "bin" / "pip"), "install", "--quiet", *PYTHON_TOOLS])
        stamp.write_text(wanted)
    return folder / "bin"


def npm_channels(out, modules):
    node_24 = modules / f"node-linux-{HERE['npm']['cpu']}" / "bin"
    launcher = None
    with Registry(out / "npm") as registry, contextlib.ExitStack() as kept:

        def channel(name, install, program, files=None, keep=False):
            home, project = kept.enter_context(empty_folder())
            env = environment(home, npm_config_registry=registry.url, npm_config_audit="false", npm_config_fund="false")
            (project / "package.json").write_text('{"name": "project", "version": "1.0.0", "private": true}\n')
            for file, text in (files or {}).items():
                (project / file).write_text(text.replace("REGISTRY", registry.url))
            for command in install:
                result = call(*command, cwd=project, env=env)
                if result.returncode:
                    tally.check(False, f"{name}: {' '.join(map(str, command))}", said(result))
                    return None
            exercise(name, program(project) if callable(program) else program, project, env)
            return project

        def local(project):
            return [project / "node_modules" / ".bin" / "mcp-keel"]

        project = channel("npm install", [["npm", "install", "--save-dev", "mcp-keel"]], local)
        if project:
            launcher = local(project)[0]
            binaries = sorted(it.name for it in (project / "node_modules" / "@mcp-keel").iterdir())
            tally.check(binaries == [f"{HERE['npm']['os']}-{HERE['npm']['cpu']}"], f"npm install: one binary, {binaries}")
        channel("npm install --ignore-scripts", [["npm", "install", "--ignore-scripts", "mcp-keel"]], ["npm", "exec", "--silent", "mcp-keel", "--"])
        channel("npx", [], ["npx", "--yes", "--silent", "mcp-keel"])
        pnpm = ["node", modules / "pnpm" / "bin" / "pnpm.cjs"]
        channel("pnpm", [[*pnpm, "add", "--save-dev", "mcp-keel"]], [*pnpm, "exec", "mcp-keel"])
        # `yarn run` of version 1 takes the first `--` for itself.
        yarn = ["node", modules / "yarn" / "bin" / "yarn.js"]
        channel("yarn 1", [[*yarn, "add", "--dev", "mcp-keel", "--registry", registry.url]], local)
        berry = ["node", modules / "@yarnpkg" / "cli-dist" / "bin" / "yarn.js"]
        for linker in ["pnp", "node-modules"]:
            settings = (
                f"nodeLinker: {linker}\nnpmRegistryServer: REGISTRY\nunsafeHttpWhitelist: [127.0.0.1]\n"
                "enableTelemetry: false\nenableGlobalCache: false\nenableImmutableInstalls: false\n"
                # A package that is younger than a day is refused by default.
                "npmMinimalAgeGate: 0\n"
            )
            files = {".yarnrc.yml": settings, "yarn.lock": ""}
            channel(f"yarn 4 ({linker})", [[*berry, "add", "--dev", "mcp-keel"]], [*berry, "run", "mcp-keel"], files)
        bun = [modules / "@oven" / f"bun-linux-{ {'x64': 'x64', 'arm64': 'aarch64'}[HERE['npm']['cpu']] }" / "bin" / "bun"]
        channel("bun", [[*bun, "add", "--dev", "mcp-keel"]], [*bun, "run", "--silent", "mcp-keel"], {"bunfig.toml": '[install]\nregistry = "REGISTRY"\n'})
        # Version 1 of yarn downloads every optional dependency before it looks at `os` and `cpu`.
        downloads = [it for it in registry.refused if it[0].startswith("files/") and not it[1].startswith("yarn/1.")]
        tally.check(not downloads, "no manager but yarn 1 downloads the binary of another platform", downloads)

        with empty_folder() as (home, project):
            env = environment(home, npm_config_registry=registry.url)
            for archive in sorted((out / "npm").glob("*.tgz")):
                # Not the registry that has this version already.
                result = call("npm", "publish", "--dry-run", "--registry", f"{registry.url}/empty", archive, cwd=project, env=env)
                warned = [it for it in result.stderr.decode().splitlines() if "npm warn" in it and "publish" in it and "corrected" in it]
                tally.check(result.returncode == 0 and not warned, f"npm publish --dry-run {archive.name}", said(result))

        if launcher:
            for name, folder in [("this Node", Path(shutil.which("node")).parent), ("Node 24", node_24)]:
                version = subprocess.run([str(folder / "node"), "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
                launcher_promises(f"launcher on {name} {version}", folder / "node", launcher.resolve())


def launcher_promises(name, node, launcher):
    """The launcher is as if it were not there."""
    binary = launcher.parent.parent.parent / release.npm_name(HERE) / "bin" / release.executable(HERE)
    direct, through = [binary], [node, launcher]
    with empty_folder() as (home, project):
        env = environment(home)
        (project / "list.json").write_text('{"tools": [{"name": "one", "inputSchema": {"type": "object"}}]}')
        tool = (project / "list.json").read_bytes()
        same = []
        for arguments, given, expected in [
            (["demo"], b"", 0),
            (["fingerprint", "-"], tool, 0),
            (["demo", "--no-such-flag"], b"", 2),
            (["check", "none", "--", "./does-not-exist"], b"", 2),
            (["capture", "--", "false"], b"", 3),
            (["explain", "a b", "$HOME", "*"], b"", 2),
        ]:
            results = [call(*program, *arguments, cwd=project, env=env, input=given, stdin=None) for program in (direct, through)]
            facts = [(it.returncode, it.stdout, it.stderr) for it in results]
            same.append(facts[0] == facts[1] and facts[0][0] == expected)
            if not same[-1]:
                print("      |", arguments, facts)
        tally.check(all(same), f"{name}: the same output, errors and exit codes as the binary, with input from a pipe", same)

        result = on_a_terminal([*through, "demo"], project, env)
        tally.check(result[0] == 0 and b"\x1b[" in result[1], f"{name}: a terminal stays a terminal", result)

        for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]:
            codes = [after_signal(program, number, project, env) for program in (direct, through)]
            ok = codes[0] == codes[1] and codes[0][0] not in (0, None) and not codes[1][1]
            tally.check(ok, f"{name}: {number.name} ends it and the server as it ends the binary: {codes[1][0]}", codes)

        # A package that is not there, and a platform that has none.
        shutil.copytree(launcher.parent.parent, project / "alone")
        result = call(node, "alone/bin/mcp-keel.js", "demo", cwd=project, env=env)
        tally.check(result.returncode == 2 and b"--omit=optional" in result.stderr, f"{name}: a missing package is explained, exit 2", said(result))
        other = "Object.defineProperty(process, 'arch', {value: 'riscv64'}); require('./alone/bin/mcp-keel.js')"
        result = call(node, "-e", other, cwd=project, env=env)
        ok = result.returncode == 2 and b"no binary for linux-riscv64" in result.stderr and b"win32-x64" in result.stderr
        tally.check(ok, f"{name}: a platform without a binary is explained, exit 2", said(result))

        # A figure, not an assertion: the machine may be busy.
        (project / "nothing.js").write_text("")
        times = {"binary": [], "node": [], "launcher": []}
        for _ in range(20):
            for label, command in [("binary", [*direct, "-V"]), ("node", [node, "nothing.js"]), ("launcher", [*through, "-V"])]:
                begun = time.perf_counter()
                call(*command, cwd=project, env=env)
                times[label].append((time.perf_counter() - begun) * 1000)
        # The fastest of each: the others waited for a processor.
        binary_ms, node_ms, launcher_ms = (min(it) for it in times.values())
        print(
            f"cost  {name}: binary {binary_ms:.1f} ms, Node with an empty script {node_ms:.1f} ms, through the launcher {launcher_ms:.1f} ms: "
            f"it adds {launcher_ms - binary_ms:.1f} ms, {(launcher_ms - binary_ms) / node_ms:.2f} times the start of Node"
        )


def on_a_terminal(command, cwd, env):
    main, side = pty.openpty()
    process = subprocess.Popen([str(it) for it in command], cwd=cwd, env={**env, "TERM": "xterm"}, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    text = b""
    with contextlib.suppress(OSError):
        while block := os.read(main, 65536):
            text += block
    os.close(main)
    return process.wait(60), text


def after_signal(program, number, cwd, env):
    """The exit code after a signal while a server is being captured, and whether the server lived on."""
    mark = cwd / "server.pid"
    mark.unlink(missing_ok=True)
    command = [*program, "capture", "--timeout", "60", "--", "sh", "-c", f"echo $$ > '{mark}'; exec sleep 60"]
    process = subprocess.Popen([str(it) for it in command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(400):
        if mark.is_file() and mark.read_text().strip():
            break
        time.sleep(0.05)
    server = int(mark.read_text())
    process.send_signal(number)
    try:
        code = process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        return None, True
    try:
        os.kill(server, 0)
    except ProcessLookupError:
        return code, False
    return code, True


# --- PyPI ---------------------------------------------------------------------------------------------------------


def python_channels(out, tools):
    wheel = wheel_here(out)
    result = call(tools / "twine", "check", "--strict", wheel, cwd=out, env=environment(out))
    tally.check(result.returncode == 0, f"twine check --strict {wheel.name}", said(result))
    offline = ["--no-index", "--find-links", out / "wheels"]
    with empty_folder() as (home, project):
        env = environment(home)
        must(sys.executable, "-m", "venv", "venv", cwd=project, env=env)
        must("venv/bin/pip", "install", "--quiet", *offline, "mcp-keel", cwd=project, env=env)
        exercise("pip", [project / "venv" / "bin" / "mcp-keel"], project, env)
    with empty_folder() as (home, project):
        env = environment(home, UV_PYTHON=sys.executable, UV_PYTHON_DOWNLOADS="never")
        must(tools / "uv", "tool", "install", "--quiet", *offline, "mcp-keel", cwd=project, env=env)
        exercise("uv tool install", [home / ".local" / "bin" / "mcp-keel"], project, env)
        exercise("uvx", [tools / "uvx", "--quiet", *offline, "mcp-keel"], project, env)
    with empty_folder() as (home, project):
        env = environment(home, PIPX_DEFAULT_PYTHON=sys.executable, USE_EMOJI="0")
        exercise("pipx run", [tools / "pipx", "run", "--spec", wheel, "mcp-keel"], project, env)


def copy_of_the_work_tree(folder):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


GIT = ["git", "-c", "user.name=Rehearsal", "-c", "user.email=rehearsal@example.org"]


def hook(out, tools):
    """pre-commit with this work tree as the repository of the hooks, tagged as a release is."""
    with empty_folder() as (home, project):
        hooks = project.parent / "hooks"
        copy_of_the_work_tree(hooks)
        env = environment(home, PRE_COMMIT_HOME=str(home / "pre-commit"), PIP_FIND_LINKS=str(out / "wheels"), GIT_CONFIG_GLOBAL="/dev/null")
        for command in [["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Hooks"], ["tag", f"v{VERSION}"]]:
            must(*GIT, *command, cwd=hooks, env=env)
        config = f"repos:\n  - repo: file://{hooks}\n    rev: v{VERSION}\n    hooks:\n      - id: mcp-keel-check\n      - id: mcp-keel-verify\n"
        (project / ".pre-commit-config.yaml").write_text(config)
        (project / "mcp-keel.toml").write_text(f"[server.memory]\ncommand = {json.dumps(real_servers.command('memory', 'new', project))}\n")
        must(*GIT, "init", "-q", "-b", "main", cwd=project, env=env)
        must(*GIT, "add", "-A", cwd=project, env=env)
        run = [tools / "pre-commit", "run", "--all-files", "--verbose"]
        result = call(*run, cwd=project, env=env)
        text = said(result)
        tally.check(result.returncode == 1 and "no baseline" in text.lower() or "pin" in text, "pre-commit: without a baseline the hook fails and says what to do", text)
        tally.check("Compiling" not in text and not list(home.rglob("cargo*")), "pre-commit: nothing is compiled", text)
        [installed] = home.glob("pre-commit/*/py_env-*/bin/mcp-keel")
        must(installed, "pin", cwd=project, env=env)
        must(*GIT, "add", "-A", cwd=project, env=env)
        unreachable = {**env, "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/", "HTTPS_PROXY": "http://127.0.0.1:9"}
        result = call(*run, cwd=project, env=unreachable)
        tally.check(result.returncode == 0, "pre-commit: both hooks pass, offline after the first installation", said(result))
        (project / "mcp-keel.toml").write_text(f"[server.memory]\ncommand = {json.dumps(real_servers.command('memory', 'old', project))}\n")
        result = call(*run, cwd=project, env=unreachable)
        tally.check(result.returncode == 1 and b"BLOCK" in result.stdout, "pre-commit: drift fails the hook", said(result))


# --- the archive --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def files_served(folder):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def install_script(out):
    archive = release.archive_name(HERE)
    script = out / "install.sh"
    with empty_folder() as (home, project):
        releases = project.parent / "releases"
        for version in [f"v{VERSION}", "v9.9.9"]:
            (releases / version).mkdir(parents=True)
            for name in [archive, "SHA256SUMS"]:
                shutil.copy(out / "archives" / name, releases / version / name)
        with open(releases / "v9.9.9" / archive, "ab") as file:
            file.write(b"one byte more")
        with files_served(releases) as url:
            env = environment(home, MCP_KEEL_RELEASES=url)
            result = call("sh", script, cwd=project, env=env)
            ok = result.returncode == 0 and VERSION.encode() in result.stdout and b"add it to PATH" in result.stdout
            tally.check(ok, "install.sh: the release's own version, into ~/.local/bin", said(result))
            exercise("install.sh", [home / ".local" / "bin" / "mcp-keel"], project, env)

            result = call("sh", "-s", "--", "--version", VERSION, "--to", "a folder", cwd=project, env=env, stdin=open(script))
            ok = result.returncode == 0 and (project / "a folder" / "mcp-keel").is_file()
            tally.check(ok, "install.sh from a pipe: a version without v, a folder with a space", said(result))

            result = call("sh", script, "--version", "v9.9.9", "--to", "wrong", cwd=project, env=env)
            ok = result.returncode == 1 and b"SHA-256" in result.stderr and not (project / "wrong").exists()
            tally.check(ok, "install.sh: another checksum is refused, nothing is installed", said(result))

            result = call("sh", script, "--version", "v0.0.0", "--to", "wrong", cwd=project, env=env)
            ok = result.returncode == 1 and b"is there a release v0.0.0" in result.stderr and not (project / "wrong").exists()
            tally.check(ok, "install.sh: a version that does not exist is named", said(result))

            bin_folder = project / "bin"
            bin_folder.mkdir()
            (bin_folder / "uname").write_text("#!/bin/sh\necho Plan9\n")
            (bin_folder / "uname").chmod(0o755)
            result = call("sh", script, cwd=project, env={**env, "PATH": f"{bin_folder}:{USER_PATH}"})
            tally.check(result.returncode == 1 and b"no binary for Plan9" in result.stderr, "install.sh: another system is refused", said(result))

            # Cut off anywhere, it does nothing.
            text = script.read_text()
            cut = [text[: len(text) * share // 10] for share in range(1, 10)]
            for part in cut:
                call("sh", "-s", "--", "--to", "cut", cwd=project, env=env, input=part.encode(), stdin=None)
            tally.check(not (project / "cut").exists(), "install.sh: a download that was cut off installs nothing")

            # With wget alone.
            few = project / "few"
            few.mkdir()
            for tool in ["wget", "uname", "mktemp", "sed", "cut", "sha256sum", "tar", "gzip", "mkdir", "cp", "chmod", "mv", "rm", "cat", "sh"]:
                if shutil.which(tool):
                    (few / tool).symlink_to(shutil.which(tool))
            if (few / "wget").exists():
                result = call(shutil.which("sh"), script, "--to", "by-wget", cwd=project, env={**env, "PATH": str(few)})
                tally.check(result.returncode == 0, "install.sh: with wget instead of curl", said(result))


# --- one list of platforms, one version, and what is generated ----------------------------------------------------


def agreement(out):
    targets = {it["target"] for it in release.PLATFORMS}
    install = (release.PACKAGING / "install.sh").read_text()
    for platform in release.PLATFORMS:
        if "uname" in platform:
            found = re.search(rf"{platform['uname']}\b.*\) target=(\S+) ;;", install)
            tally.check(found and found.group(1) == platform["target"], f"install.sh knows {platform['uname']}")
    windows = [it["target"] for it in release.PLATFORMS if it["npm"]["os"] == "win32"]
    tally.check(set(re.findall(r'\$target = "(.+?)"', (release.PACKAGING / "install.ps1").read_text())) == set(windows), "install.ps1 knows Windows")
    host = dict(re.findall(r"^ +([\w-]+)\) target=(\S+) ;;$", (ROOT / "host" / "action.yml").read_text(), re.MULTILINE))
    tally.check(host == {it["github"]: it["target"] for it in release.PLATFORMS}, "host/action.yml has the same platforms", host)
    denied = set(re.findall(r'"([a-z0-9_]+-[a-z0-9-]+)"', re.search(r"targets = \[(.*?)\]", (ROOT / "deny.toml").read_text(), re.DOTALL).group(1)))
    tally.check(targets <= denied, "deny.toml looks at the dependencies of every platform", targets - denied)

    binaries = {}
    wheel = wheel_here(out)
    binaries["wheel"] = release.binary_of(wheel, HERE)
    with tarfile.open(out / "archives" / release.archive_name(HERE)) as archive:
        binaries["archive"] = archive.extractfile(release.executable(HERE)).read()
        modes = {it.name: oct(it.mode) for it in archive}
    package = out / "npm" / f"mcp-keel-{HERE['npm']['os']}-{HERE['npm']['cpu']}-{VERSION}.tgz"
    with tarfile.open(package) as archive:
        binaries["npm"] = archive.extractfile(f"package/bin/{release.executable(HERE)}").read()
    tally.check(len(set(binaries.values())) == 1, "wheel, archive and npm package carry the same bytes")
    tally.check(modes[release.executable(HERE)] == "0o755" and modes["LICENSE-MIT"] == "0o644", "modes in the archive", modes)
    result = call("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=out, env=environment(out))
    listed = {line.split("  ", 1)[1] for line in (out / "SHA256SUMS").read_text().splitlines()}
    files = {str(it.relative_to(out)) for it in out.rglob("*") if it.is_file()} - {"SHA256SUMS"}
    tally.check(result.returncode == 0 and listed == files, "SHA256SUMS covers every file", said(result))

    sbom = json.loads((out / "mcp-keel.cyclonedx.json").read_text())
    crates = {it["name"] for it in sbom["components"]}
    tally.check(sbom["bomFormat"] == "CycloneDX" and {"rmcp", "clap", "rustls"} <= crates, f"SBOM: {len(crates)} crates")

    # The recipes of a complete release, with digests that stand for archives of other machines.
    digests = {release.archive_name(it): hashlib.sha256(it["target"].encode()).hexdigest() for it in release.PLATFORMS}
    formula = release.formula(PACKAGE, digests)
    wanted = [digests[release.archive_name(it)] for it in release.PLATFORMS if "homebrew" in it]
    tally.check(all(formula.count(it) == 1 for it in wanted) and len(wanted) == 4, "the Homebrew formula has four platforms")
    if shutil.which("ruby"):
        result = call("ruby", "-c", "-", cwd=out, env=environment(out), input=formula.encode(), stdin=None)
        tally.check(result.returncode == 0, "the Homebrew formula is Ruby", said(result))
    recipe = release.scoop(PACKAGE, digests)
    tally.check(list(recipe["architecture"]) == ["64bit"] and recipe["version"] == VERSION, "the scoop manifest has Windows")

    lock = (ROOT / "Cargo.lock").read_text().split('name = "mcp-keel"\n', 1)[1]
    tally.check(lock.startswith(f'version = "{VERSION}"'), "Cargo.lock has the version of Cargo.toml")


def crates():
    result = subprocess.run([".ci/publish", "crates", "--dry-run"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # Tests and examples are left out on purpose, and the upload is what a dry run does not do.
    expected = re.compile(r"warning: (ignoring (test|example|benchmark) `|aborting upload due to dry run)")
    warned = [it for it in result.stdout.splitlines() if it.startswith("warning") and not expected.match(it)]
    packed = re.findall(r"Packaged .*", result.stdout)
    tally.check(result.returncode == 0 and not warned, f"publish --dry-run of the crates: {'; '.join(packed)}", result.stdout)


def decisions():
    """Which tags a release may move, and what it does to the actions."""
    moves = release.moving_tags
    cases = [
        ("0.1.0", [], ["0.1", "0", "latest"]),
        ("0.1.1", ["v0.1.0"], ["0.1", "0", "latest"]),
        ("0.1.2", ["v0.1.1", "v0.2.0"], ["0.1"]),
        ("0.3.0", ["v0.2.0", "v1.0.0"], ["0.3", "0"]),
        ("1.0.1", ["v1.0.0", "v1.0.1", "v0.9.0"], ["1.0", "1", "latest"]),
        ("0.1.0", ["v0.1.10", "v0", "v0.1", "nightly"], []),
    ]
    for version, tags, expected in cases:
        tally.check(moves(version, tags) == expected, f"{version} beside {tags} moves {expected}", moves(version, tags))
    image = "ghcr.io/mcp-keel/mcp-keel@sha256:" + "a" * 64
    with empty_folder() as (_, project):
        (project / "host").mkdir()
        for name in ["action.yml", "host/action.yml"]:
            shutil.copy(ROOT / name, project / name)
        release.pin(image, "refs/heads/release/0.1", project)
        action, host = ((project / name).read_text() for name in ["action.yml", "host/action.yml"])
        tally.check(f"  image: docker://{image}\n" in action and "Dockerfile" not in action, "a released action.yml names its image by digest")
        ok = f'    default: "v{VERSION}"\n' in host and "--source-ref refs/heads/release/0.1\n" in host
        tally.check(ok, "a released host/action.yml takes its own release")
        for wrong in ["ghcr.io/mcp-keel/mcp-keel:latest", image + "\n  evil: true"]:
            try:
                release.pin(wrong, "refs/heads/main", project)
                tally.check(False, f"pin refuses {wrong!r}")
            except release.Wrong:
                tally.check(True, f"pin refuses {wrong!r}")
    try:
        release.plan([f"v{VERSION}"])
        tally.check(False, "a version whose tag exists is refused")
    except release.Wrong as problem:
        tally.check("raise the version" in str(problem), "a version whose tag exists is refused", problem)


STAND_IN = """#!/bin/sh
echo "{name} $*" >> "$CALLS"
case "{name} $*" in
    "gh release create"*) while [ "$1" != --target ]; do shift; done; echo "$2" > "$CALLS.target" ;;
    # GitHub makes the tag when a draft is published.
    "gh release edit"*) git -C "$ORIGIN" tag "$3" "$(cat "$CALLS.target")" ;;
    "docker buildx imagetools inspect"*) echo '"sha256:{digest}"' ;;
    "npm view @mcp-keel/linux-x64@"*) echo published ;;
esac
"""


def publishing(out):
    """The steps that the world sees, against a repository of our own and programs that write down how they were called."""
    digest = "b" * 64
    image = f"ghcr.io/mcp-keel/mcp-keel@sha256:{digest}"
    with empty_folder() as (home, project):
        source, origin, calls = project / "source", project / "origin.git", project / "calls"
        source.mkdir()
        copy_of_the_work_tree(source)
        changelog = source / "CHANGELOG.md"
        changelog.write_text(changelog.read_text().replace("## [Unreleased]", f"## [{VERSION}] - 2026-12-01", 1))
        bin_folder = project / "bin"
        bin_folder.mkdir()
        for name in ["gh", "docker", "npm"]:
            (bin_folder / name).write_text(STAND_IN.format(name=name, digest=digest))
            (bin_folder / name).chmod(0o755)
        env = environment(home, CALLS=str(calls), ORIGIN=str(origin), GITHUB_REF="refs/heads/main", GIT_CONFIG_GLOBAL="/dev/null")
        env["PATH"] = f"{bin_folder}:{USER_PATH}"
        for command in [["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Everything"]]:
            must(*GIT, *command, cwd=source, env=env)
        must("git", "clone", "-q", "--bare", source, origin, cwd=project, env=env)
        must("git", "remote", "add", "origin", origin, cwd=source, env=env)
        made = project / "out"
        shutil.copytree(out, made)
        (made / "scoop" / "mcp-keel.json").touch()

        def refs():
            listed = must("git", "for-each-ref", "--format=%(refname) %(objectname)", cwd=origin, env=env).stdout.decode()
            return dict(line.split() for line in listed.splitlines())

        def said_to(program):
            return [it for it in calls.read_text().splitlines() if it.startswith(program)]

        result = call(".ci/publish", "manifest", image.split("@")[0], "v1", f"sha256:{'1' * 64}", f"sha256:{'2' * 64}", cwd=source, env=env)
        tally.check(result.returncode == 0 and result.stdout.decode().strip() == image, "publish manifest joins two images", said(result))
        result = call(".ci/publish", "manifest", image.split("@")[0], "v1", "$(touch x)", cwd=source, env=env)
        tally.check(result.returncode == 1 and not (source / "x").exists(), "publish manifest takes digests only", said(result))

        result = call(".ci/publish", "github", made, image, cwd=source, env=env)
        after = refs()
        tagged = after.get(f"refs/tags/v{VERSION}")
        major, minor, _ = VERSION.split(".")
        ok = result.returncode == 0 and tagged and {after.get(f"refs/tags/v{major}"), after.get(f"refs/tags/v{major}.{minor}")} == {tagged}
        tally.check(ok, f"publish github: v{VERSION}, v{major}.{minor} and v{major} are one commit", f"{after}\n{said(result)}")
        action = must("git", "show", f"v{VERSION}:action.yml", cwd=origin, env=env).stdout.decode()
        tally.check(f"image: docker://{image}\n" in action, "publish github: the tag has a prebuilt image")
        tally.check(set(after) == {"refs/heads/main", *(it for it in after if it.startswith("refs/tags/"))}, "publish github: no branch is left", after)
        [created], [edited] = said_to("gh release create"), said_to("gh release edit")
        tally.check("--draft --target" in created and "--latest=true" in created and "SHA256SUMS" in created and edited.endswith("--draft=false"), "publish github: a draft first", created)
        result = call(".ci/publish", "github", made, image, cwd=source, env=env)
        tally.check(result.returncode != 0 and refs() == after, "publish github: a second time is refused, and moves nothing", said(result))

        # A backport, when a newer minor version is out: v0 stays where it is.
        must("git", "checkout", "-q", "-f", "-B", "backport", "HEAD", cwd=source, env=env)
        newer = f"v{major}.{int(minor) + 1}.0"
        must("git", "tag", newer, "main", cwd=origin, env=env)
        must("git", "tag", "-f", f"v{major}", newer, cwd=origin, env=env)
        must("git", "tag", "-d", f"v{VERSION}", f"v{major}.{minor}", cwd=origin, env=env)
        for name in ["action.yml", "host/action.yml"]:
            shutil.copy(ROOT / name, source / name)
        must(*GIT, "commit", "-qam", "As on a branch", cwd=source, env=env)
        before = refs()
        result = call(".ci/publish", "github", made, image, cwd=source, env=env)
        after = refs()
        ok = result.returncode == 0 and after[f"refs/tags/v{major}"] == before[f"refs/tags/v{major}"] and after[f"refs/tags/v{major}.{minor}"] == after[f"refs/tags/v{VERSION}"]
        tally.check(ok and "--latest=false" in said_to("gh release create")[-1], f"publish github: a backport beside {newer} does not move v{major}", said(result))
        calls.write_text("")
        result = call(".ci/publish", "image", image, "-bare", cwd=source, env=env)
        tally.check([it.split()[5].split(":")[-1] for it in said_to("docker")] == [f"{major}.{minor}-bare"], "publish image: nor does the image's tag", said_to("docker"))

        for platform in release.PLATFORMS:
            members = release.npm_platform_manifest(PACKAGE, platform)
            name = f"mcp-keel-{platform['npm']['os']}-{platform['npm']['cpu']}-{VERSION}.tgz"
            if not (made / "npm" / name).exists():
                release.npm_pack(members, {}, made / "npm")
        calls.write_text("")
        result = call(".ci/publish", "npm", made, cwd=source, env=env)
        published = [it.split("/")[-1] for it in said_to("npm publish")]
        ok = len(published) == len(release.PLATFORMS) and published[-1] == f"mcp-keel-{VERSION}.tgz" and f"mcp-keel-linux-x64-{VERSION}.tgz" not in published
        tally.check(ok, "publish npm: the launcher last, what is published is skipped", f"{published}\n{said(result)}")


def main():
    out = Path(sys.argv[1]).resolve()
    assert shutil.which("cargo", path=USER_PATH) is None, f"Rust is on {USER_PATH}: nothing would be shown"
    for age in ("old", "new"):
        print(real_servers.install("memory", age), flush=True)
    agreement(out)
    decisions()
    publishing(out)
    install_script(out)
    npm_channels(out, managers())
    tools = python_tools()
    python_channels(out, tools)
    hook(out, tools)
    crates()
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
