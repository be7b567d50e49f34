"""What must hold about processes, signals, pipes and failures, shown with the built binary.

Linux only (it looks into /proc). Every process that a server starts here has a unique word in its command line,
so that leftovers can be distinguished from other processes on this machine.

    MCP_KEEL=path/to/mcp-keel SCRIPTED_SERVER=path/to/scripted-server python3 .ci/checks/process_tests.py
"""

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from real_servers import KEEL, ROOT, Tally, command, install_all, output_of

SCRIPTED = os.environ.get("SCRIPTED_SERVER") or str(ROOT / "target" / "debug" / "examples" / "scripted-server")
TOOL = {"name": "greet", "description": "Says hello.", "inputSchema": {"type": "object"}}
ESCAPE = b"\x1b"

tally = Tally()


def keel(*arguments, cwd, env=None, timeout=60, **options):
    environment = {**os.environ, **(env or {})}
    return subprocess.run(
        [KEEL, *arguments], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout,
        **options,
    )


def scripted(**scenario):
    return [SCRIPTED, json.dumps(scenario)]


def running(word):
    """Processes with `word` in their command line that are not zombies, and are not mcp-keel itself."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if word.encode() in line and state != "Z" and not line.startswith(KEEL.encode()):
            found.append((int(entry.name), line.replace(b"\0", b" ").decode(errors="replace")[:120]))
    return found


def left(word, patience=0.1):
    """What still runs after a moment; it is then ended for the next test."""
    until = time.monotonic() + patience
    while (found := running(word)) and time.monotonic() < until:
        time.sleep(0.02)
    for pid, _ in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return found


def wait_for(condition, patience=15):
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def new_word():
    return "keel-test-" + uuid.uuid4().hex[:12]


def with_children(word, start):
    """A shell line that leaves children in the background, one of them in its own session, and becomes `start`.

    `sleep` takes no other arguments, so the word becomes its name, with bash's `exec -a`.
    """
    sleeper = f"bash -c 'exec -a {word} sleep 1000'"
    # Their output goes elsewhere, or they would hold the pipes open: that is another test.
    quiet = "</dev/null >/dev/null 2>&1 &"
    return f"{sleeper} {quiet} {sleeper} {quiet} setsid {sleeper} {quiet} exec {shlex.join(start)}"


# --- nothing is left behind -----------------------------------------------------------------------------------------


def children_are_ended(work):
    everything = command("everything", "new", work)
    for label, redirected in (("", True), (" that hold its pipes open", False)):
        word = new_word()
        line = with_children(word, everything)
        if not redirected:
            line = line.replace("</dev/null >/dev/null 2>&1 &", "&")
        # Once without mcp-keel, to prove that the children would remain.
        proof = subprocess.Popen(["sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        there = wait_for(lambda: len([it for it in running(word) if it[1].startswith(word)]) == 3)
        proof.kill()
        proof.wait()
        stayed = len(left(word, patience=0))
        tally.check(there and stayed >= 3, f"without mcp-keel, {stayed} background children{label} stay behind")

        for verb in ("pin", "check", "capture"):
            result = keel(verb, "everything", "--", "sh", "-c", line, cwd=work)
            tally.check(result.returncode == 0, f"{verb} of a server with background children{label} exits 0",
                        output_of(result))
            found = left(word)
            tally.check(not found, f"{verb} leaves none of the children{label} behind, not even in a session of its own",
                        found)


def failures_leave_nothing(work):
    word = new_word()
    line = with_children(word, ["sleep", "1000"])
    result = keel("check", "x", "--timeout", "1", "--", "sh", "-c", line, cwd=work)
    found = left(word)
    tally.check(result.returncode == 3 and not found, "a server that times out leaves no children behind",
                f"{found}\n{output_of(result)}")
    word = new_word()
    line = with_children(word, ["false"])
    result = keel("check", "x", "--timeout", "5", "--", "sh", "-c", line, cwd=work)
    found = left(word)
    tally.check(result.returncode == 3 and not found, "a server that exits at once leaves no children behind",
                f"{found}\n{output_of(result)}")
    # A daemon: forks twice, in its own session, with its pipes open.
    word = new_word()
    daemon = f"setsid bash -c '(exec -a {word} sleep 1000) & exit 0' & exec {shlex.join(scripted(tools=[TOOL]))}"
    result = keel("capture", "--", "sh", "-c", daemon, cwd=work)
    found = left(word)
    tally.check(result.returncode == 0 and not found, "a daemon that forked twice is not left behind",
                f"{found}\n{output_of(result)}")


def signals(work):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        for verb in ("check", "pin", "capture"):
            word = new_word()
            line = with_children(word, ["sleep", "1000"])
            started = subprocess.Popen([KEEL, verb, "x", "--", "sh", "-c", line], cwd=work, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            there = wait_for(lambda: len([it for it in running(word) if it[1].startswith(word)]) == 3)
            started.send_signal(number)
            begun = time.monotonic()
            try:
                out, err = started.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                started.kill()
                out, err = started.communicate()
            took = time.monotonic() - begun
            found = left(word)
            tally.check(there and started.returncode == code and not found and took < 5,
                        f"{number.name} during {verb}: exits {code} and leaves nothing behind",
                        f"children were there: {there}; exit {started.returncode}; took {took:.1f} s; {found}\n{out}{err}")


def last_words(work):
    """A server that says more than fits into a pipe when it is asked to exit: its output is read until it has."""
    keel("pin", "x", "--yes", "--", *scripted(tools=[TOOL]), cwd=work)
    for verb in ("check", "pin", "capture"):
        up, done = work / f"up-{verb}", work / f"done-{verb}"
        words = f"head -c 300000 /dev/zero >&2; touch {shlex.quote(str(done))}; exit"
        line = f"trap '{words}' TERM; touch {shlex.quote(str(up))}; sleep 1000 & wait"
        started = subprocess.Popen([KEEL, verb, "x", "--", "sh", "-c", line], cwd=work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        there = wait_for(up.exists)
        started.send_signal(signal.SIGINT)
        try:
            out, err = started.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            started.kill()
            out, err = started.communicate()
        tally.check(there and started.returncode == 130 and done.exists(),
                    f"SIGINT during {verb}: a server's long last words are read",
                    f"it was there: {there}; exit {started.returncode}\n{out}{err}")


def on_a_terminal(work, *arguments):
    """Starts mcp-keel on its own terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(work)
        os.execv(KEEL, [KEEL, *arguments])
    return pid, terminal


def ended(pid, terminal):
    """The exit code, and everything that was seen on the terminal."""
    seen = b""
    try:
        while chunk := os.read(terminal, 4096):
            seen += chunk
    except OSError:  # the other side is closed
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return status, seen


def ctrl_c_on_a_terminal(work):
    """A real ctrl-c: the terminal sends SIGINT to the foreground group, in which the server is not."""
    word = new_word()
    line = with_children(word, ["sleep", "1000"])
    pid, terminal = on_a_terminal(work, "check", "x", "--", "sh", "-c", line)
    there = wait_for(lambda: len([it for it in running(word) if it[1].startswith(word)]) == 3)
    time.sleep(0.3)
    os.write(terminal, b"\x03")
    status, seen = ended(pid, terminal)
    found = left(word)
    tally.check(there and status == 130 and not found, "ctrl-c on a terminal: exits 130 and leaves nothing behind",
                f"children were there: {there}; exit {status}; {found}; {seen[-500:]}")
    tally.check(b"starting" in seen or b"waiting" in seen, "on a terminal, progress is shown while a server boots", seen)
    visible = seen.replace(b"^C", b"").rstrip(b"\r\n ")
    tally.check(visible.endswith(b"\x1b[2K") or visible.endswith(b"\x1b[K"), "and the progress line is wiped on ctrl-c",
                visible[-200:])


def the_terminal_is_ours(work):
    """Nothing that a server writes reaches the terminal except through mcp-keel."""
    line = f"printf 'from the server' >/dev/tty; exec {shlex.join(scripted(tools=[TOOL]))}"
    pid, terminal = on_a_terminal(work, "capture", "--", "sh", "-c", line)
    status, seen = ended(pid, terminal)
    tally.check(status == 0 and b"from the server" not in seen, "a server cannot write to mcp-keel's terminal", f"{status}: {seen[-500:]}")


# --- isolation ------------------------------------------------------------------------------------------------------


def environment(work):
    secrets = {
        "GITHUB_TOKEN": "ghs_not_for_you", "ACTIONS_RUNTIME_TOKEN": "not_for_you", "ACTIONS_ID_TOKEN_REQUEST_URL": "u",
        "AWS_SECRET_ACCESS_KEY": "not_for_you", "WANTED": "yes", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo",
        "NODE_OPTIONS": "--no-warnings", "LANG": "de_DE.UTF-8",
    }
    server = scripted(tools=[{**TOOL, "description": "$env{*}"}])
    result = keel("capture", "--pass-env", "WANTED", "--env", "GIVEN=1", "--", *server, cwd=work, env=secrets)
    if not tally.check(result.returncode == 0, "a server that prints its environment is captured", output_of(result)):
        return
    seen = json.loads(result.stdout)["tools"][0]["description"]
    for name in ("GITHUB_TOKEN", "ACTIONS_", "AWS_", "NODE_OPTIONS", "not_for_you"):
        tally.check(name not in seen, f"{name} of our environment is not visible to the server", seen)
    for name in ("WANTED", "GIVEN", "PATH", "HOME"):
        tally.check(re.search(rf"\b{name}\b", seen), f"{name} is visible to the server", seen)
    values = scripted(tools=[{**TOOL, "description": "$env{TZ} $env{LANG} $env{PYTHONHASHSEED} $env{GIVEN}"}])
    result = keel("capture", "--env", "GIVEN=1", "--", *values, cwd=work, env=secrets)
    seen = json.loads(result.stdout)["tools"][0]["description"]
    tally.check(seen == "UTC C.UTF-8 0 1", "time zone, language and hash seed are fixed", seen)
    for name in ("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"):
        result = keel("capture", "--pass-env", name, "--", *server, cwd=work, env=secrets)
        refused = result.returncode in (2, 3) and b"not_for_you" not in result.stdout + result.stderr
        tally.check(refused and name.encode() in result.stderr, f"--pass-env {name} is refused", output_of(result))


# --- failures -------------------------------------------------------------------------------------------------------


def failures(work):
    good = scripted(tools=[TOOL])
    result = keel("pin", "x", "--", *good, cwd=work)
    tally.check(result.returncode == 0, "pin of the scripted server exits 0", output_of(result))
    before = (work / "mcp-baseline.json").read_bytes()
    messages = {}
    for label, start in {
        "a missing binary": ["no-such-binary-anywhere"],
        "false": ["false"],
        "cat": ["cat"],
        "sleep 1000": ["sleep", "1000"],
    }.items():
        result = keel("check", "x", "--timeout", "2", "--", *start, cwd=work)
        tally.check(result.returncode == 3, f"check against {label} exits 3", output_of(result))
        # Only the reason: what every failure says, and the command itself, must not make messages
        # differ.
        printed = (result.stdout + result.stderr).decode().replace(" ".join(start), "CMD").replace(start[0], "CMD")
        messages[label] = re.sub(r"\s+", " ", printed)
        result = keel("check", "x", "--timeout", "2", "--format", "json", "--", *start, cwd=work)
        report = json.loads(result.stdout or b"{}")
        server = report["servers"][0]
        tally.check(result.returncode == 3 and report["verdict"] == "undetermined" and server["changes"] == []
                    and server["error"], f"  and in JSON: undetermined, no change claimed, {server['error']}", output_of(result))
        result = keel("pin", "x", "--timeout", "2", "--", *start, cwd=work)
        untouched = (work / "mcp-baseline.json").read_bytes() == before
        tally.check(result.returncode == 3 and untouched, "  and pin exits 3 and leaves the baseline", output_of(result))
    tally.check(len(set(messages.values())) == 4, "the four messages are different", messages)
    for label, word in (("a missing binary", "does not exist"), ("false", "ended"), ("cat", "echo"),
                        ("sleep 1000", "did not answer")):
        tally.check(word in messages[label], f"the message about {label} says `{word}`", messages[label])
    failing = ["sh", "-c", "printf 'no API key\\033[31m red\\n' >&2; exit 7"]
    result = keel("check", "x", "--timeout", "5", "--", *failing, cwd=work)
    printed = result.stdout + result.stderr
    tally.check(result.returncode == 3 and b"no API key" in printed and b"exit code 7" in printed and ESCAPE not in printed,
                "stderr of a server that fails is shown, escaped, with its exit code", output_of(result))

    word = "Welcome to the server v1.0"
    for label, banner in (("a banner", [{"raw": word}]),
                          ("JSON that is not JSON-RPC", [{"raw": '{"level":"info","msg":"started"}'}])):
        result = keel("check", "x", "--", *scripted(tools=[TOOL], start=banner), cwd=work)
        printed = (result.stdout + result.stderr).decode()
        tally.check(result.returncode == 0, f"a server that prints {label} first works", output_of(result))
        tally.check("stdout" in printed and "JSON-RPC" in printed, "  and there is a note about it", printed)

    bare = work / "bare"
    bare.mkdir()
    result = keel("check", "x", "--", *good, cwd=bare)
    tally.check(result.returncode == 2 and b"mcp-keel pin x -- " in re.sub(rb"\s+", b" ", result.stderr),
                "without a baseline: exits 2 and gives the pin command", output_of(result))
    hinted = re.search(r"(mcp-keel pin .*)", result.stderr.decode())
    if tally.check(hinted, "  in one line, to be copied"):
        line = hinted[1].replace("mcp-keel", shlex.quote(KEEL), 1)
        again = subprocess.run(["sh", "-c", line], cwd=bare, stdin=subprocess.DEVNULL, capture_output=True)
        tally.check(again.returncode == 0 and (bare / "mcp-baseline.json").is_file(), "  and it works when pasted",
                    f"{line}\n{output_of(again)}")
    drifted = scripted(tools=[TOOL, {**TOOL, "name": "leave", "description": "x" * 70 + " - y"}])
    result = keel("check", "x", "--", *drifted, cwd=bare)
    hinted = re.search(r"accept the changes:\s+(mcp-keel pin .*)", result.stdout.decode())
    line = (hinted[1] if hinted else "").replace("mcp-keel", shlex.quote(KEEL), 1)
    again = subprocess.run(["sh", "-c", line or "false"], cwd=bare, stdin=subprocess.DEVNULL, capture_output=True)
    tally.check(result.returncode == 1 and again.returncode == 0,
                "the command that accepts the drift works when its line is pasted", f"{line}\n{output_of(again)}\n{output_of(result)}")


# --- pipes ----------------------------------------------------------------------------------------------------------


def pipes(work):
    for arguments in (["rules"], ["rules", "--format", "json"], ["man"], ["completions", "bash"], ["demo"], ["--help"]):
        line = f"set -o pipefail; {shlex.join([KEEL, *arguments])} | head -1"
        result = subprocess.run(["bash", "-c", line], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        tally.check(result.returncode == 0 and not result.stderr and result.stdout.count(b"\n") == 1,
                    f"`{' '.join(arguments)} | head -1` ends without an error", output_of(result))
    # A reader that is gone before the first byte.
    line = f"set -o pipefail; (sleep 0.3; exec {shlex.join([KEEL, 'rules'])}) | true"
    result = subprocess.run(["bash", "-c", line], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    tally.check(result.returncode == 0 and not result.stderr, "`rules` into a closed pipe ends without an error",
                output_of(result))
    line = f"{shlex.join([KEEL, 'rules'])} > /dev/full"
    result = subprocess.run(["bash", "-c", line], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    tally.check(result.returncode not in (0, 1) and result.stderr, "a full disk is an error, not silence", output_of(result))
    hostile = scripted(tools=[{**TOOL, "description": "\x1b[31mred\x1b[0m \x07 \u202e \x9b31m", "name": "a\x1b[2Jb"}])
    for arguments in (["demo"], ["rules"], ["check", "x", "--", *scripted(tools=[])], ["check", "x", "--", *hostile],
                      ["check", "x", "--timeout", "1", "--", "sleep", "9"], ["check", "y", "--", "false"], ["chekc"]):
        result = keel(*arguments, cwd=work)
        printed = result.stdout + result.stderr
        tally.check(ESCAPE not in printed and "\x9b".encode() not in printed and b"\r" not in printed and b"panicked" not in printed,
                    f"`{' '.join(arguments)[:40]}` without a terminal: no escape codes (exit {result.returncode})",
                    repr(printed[:2000]))
    result = keel("demo", "--color", "always", cwd=work)
    tally.check(ESCAPE in result.stdout and result.returncode == 0, "--color always colours in a pipe too", output_of(result))
    result = keel("demo", "--color", "always", cwd=work, env={"NO_COLOR": "1"})
    plain = keel("demo", cwd=work, env={"NO_COLOR": "1"}).stdout
    tally.check(re.sub(rb"\x1b\[[0-9;]*m", b"", result.stdout) == plain, "colours change nothing but colours")


# --- the sandbox ----------------------------------------------------------------------------------------------------


def sandbox(work):
    """A published server in every sandbox: the same contract, and nothing left behind."""
    home = Path(tempfile.mkdtemp(prefix="mcp-keel-home-", dir=ROOT / "target"))
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id").write_text("a private key")
    env = {"HOME": str(home), "GITHUB_TOKEN": "a-token-of-the-run"}
    server = command("everything", "new", work)
    pinned = keel("pin", "x", "--baseline", "sandbox.json", "--", *server, cwd=work, env=env)
    tally.check(pinned.returncode == 0, "the server is pinned without a sandbox", output_of(pinned))
    for level in ("fs", "strict"):
        result = keel("check", "x", "--baseline", "sandbox.json", "--sandbox", level, "--sandbox-required", "--",
                      *server, cwd=work, env=env)
        tally.check(result.returncode == 0 and b"matches the baseline" in result.stdout, f"--sandbox {level}: the same contract",
                    output_of(result))
        word = f"sandbox-{uuid.uuid4()}"
        spy = ["sh", "-c", f"cat ~/.ssh/id /proc/$PPID/environ >&2; : {word}; sleep 100 & setsid sleep 100 & exit 1"]
        result = keel("capture", "--sandbox", level, "--", *spy, cwd=work, env=env)
        printed = result.stdout + result.stderr
        tally.check(result.returncode == 3 and b"a private key" not in printed and b"a-token-of-the-run" not in printed,
                    f"--sandbox {level}: neither a key in the home folder nor mcp-keel's token is read", output_of(result))
        tally.check(not left(word), f"--sandbox {level}: nothing is left")
    shutil.rmtree(home)


def main():
    if not sys.platform.startswith("linux"):
        sys.exit("FAIL  these tests look into /proc: run them on Linux")
    install_all(["everything"])
    with tempfile.TemporaryDirectory(prefix="mcp-keel-ci-") as work:
        work = Path(work).resolve()
        for test in (failures, pipes, environment, children_are_ended, failures_leave_nothing, signals, last_words,
                     sandbox, ctrl_c_on_a_terminal, the_terminal_is_ours):
            print(f"-- {test.__name__.replace('_', ' ')}", flush=True)
            try:
                test(work)
            except Exception as error:
                tally.check(False, f"{test.__name__}: {type(error).__name__}", error)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
