"""Everything that a release publishes, made from Cargo.toml and packaging/platforms.json.

One binary per platform, built once by maturin; the archive and the npm package take it out of the wheel, so every channel
carries the same bytes. The same commit gives the same archives: names are sorted, times are the commit's.

    OUT/wheels/*.whl                      PyPI
    OUT/archives/*.tar.gz, SHA256SUMS     the GitHub release, install.sh, Homebrew, scoop, cargo binstall
    OUT/npm/*.tgz                         npm: the launcher, and one package per platform
    OUT/homebrew/mcp-keel.rb, OUT/scoop/mcp-keel.json, OUT/install.sh, OUT/install.ps1
    OUT/mcp-keel.cyclonedx.json           every crate in the binary
    OUT/SHA256SUMS                        all of the above: cd OUT && sha256sum --check SHA256SUMS

Nothing but the standard library and maturin; npm for its packages.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import platform as machine
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
PLATFORMS = json.loads((PACKAGING / "platforms.json").read_text())
TEXTS = ["README.md", "LICENSE", "LICENSE-MIT", "LICENSE-APACHE"]
LICENCES = TEXTS[1:]


class Wrong(Exception):
    """What the person who releases has to repair."""


def manifest():
    """The package in Cargo.toml: the only place that has the version."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    names = ["name", "version", "description", "license", "repository", "keywords"]
    inherited = {"workspace": True}
    return {name: cargo["workspace"]["package"][name] if cargo["package"][name] == inherited else cargo["package"][name] for name in names}


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout.strip()


def executable(platform):
    return "mcp-keel.exe" if platform["npm"]["os"] == "win32" else "mcp-keel"


def npm_name(platform):
    return f"@mcp-keel/{platform['npm']['os']}-{platform['npm']['cpu']}"


def archive_name(platform):
    return f"mcp-keel-{platform['target']}.tar.gz"


def this_platform():
    names = {"win32": "win32", "darwin": "darwin", "linux": "linux"}
    cpus = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    here = {"os": names.get(sys.platform), "cpu": cpus.get(machine.machine())}
    for platform in PLATFORMS:
        if platform["npm"] == here:
            return platform
    raise Wrong(f"packaging/platforms.json has no platform for {sys.platform} on {machine.machine()}")


def commit_time():
    """Seconds since 1970, of the commit: archives of one commit are the same whenever they are made."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))


def digest(path):
    sha256 = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            sha256.update(block)
    return sha256.hexdigest()


# --- one platform -------------------------------------------------------------------------------------------------


# The addresses that are set when the program is loaded take about a bit each instead of 24 bytes. Only for static binaries: a
# dynamic linker before glibc 2.36 does not know the format. A profile in Cargo.toml cannot say it.
PACKED_ADDRESSES = "-C link-arg=-Wl,-z,pack-relative-relocs"


def build_wheel(platform, target, profile, out):
    """`target` is the platform's, or `host` for a rehearsal without the standard library for it."""
    environment = dict(os.environ)
    if profile != "dev":
        # Another value of these compiles anew; a debug build that exists already is taken as it is.
        environment["SOURCE_DATE_EPOCH"] = str(commit_time())
        environment.setdefault("MCP_KEEL_COMMIT", output("git", "log", "-1", "--abbrev=12", "--format=%h %cs"))
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as stage:
        stage = Path(stage)
        settings = (PACKAGING / "pypi" / "pyproject.toml").read_text()
        cargo = (ROOT / "Cargo.toml").as_posix()
        (stage / "pyproject.toml").write_text(settings.replace("../../Cargo.toml", cargo))
        shutil.copy(PACKAGING / "README.md", stage)
        for name in LICENCES:
            shutil.copy(ROOT / name, stage)
        command = [sys.executable, "-m", "maturin", "build", "--locked", "--profile", profile, "--out", stage / "wheels"]
        built = target
        flags = []
        if target != "host":
            command += ["--target", target, "--compatibility", *platform["wheel"]]
        elif sys.platform == "linux":
            # Static as well, with the C library of this machine. Its own target keeps it apart from other builds.
            built = output("rustc", "--print", "host-tuple")
            command += ["--target", built]
            flags.append("-C target-feature=+crt-static")
        if "-linux-" in built and profile == "dist":
            flags.append(PACKED_ADDRESSES)
        if flags:
            environment[f"CARGO_TARGET_{built.upper().replace('-', '_')}_RUSTFLAGS"] = " ".join(flags)
        # cargo's own folder: without the variable it would be one in the stage.
        environment.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
        run(*command, cwd=stage, env=environment)
        [wheel] = (stage / "wheels").glob("*.whl")
        return Path(shutil.copy(wheel, out))


def binary_of(wheel, platform):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [it for it in archive.namelist() if it.endswith(f".data/scripts/{executable(platform)}")]
        return archive.read(name)


def is_static(binary):
    """Whether an ELF file names no interpreter, that is, no dynamic linker."""
    if binary[:6] != b"\x7fELF\x02\x01":
        raise Wrong("the binary is not a little-endian 64-bit ELF file")
    start = int.from_bytes(binary[0x20:0x28], "little")
    size, count = (int.from_bytes(binary[at : at + 2], "little") for at in (0x36, 0x38))
    kinds = [int.from_bytes(binary[at : at + 4], "little") for at in range(start, start + size * count, size)]
    return 3 not in kinds


def write_archive(platform, binary, level, out):
    members = {executable(platform): (binary, 0o755)}
    members |= {name: ((ROOT / name).read_bytes(), 0o644) for name in TEXTS}
    out.mkdir(parents=True, exist_ok=True)
    path = out / archive_name(platform)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", compresslevel=level, fileobj=file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, (content, mode) in sorted(members.items()):
                member = tarfile.TarInfo(name)
                member.size, member.mode, member.mtime = len(content), mode, commit_time()
                archive.addfile(member, io.BytesIO(content))
    return path


def npm_manifest(package, **members):
    address = package["repository"]
    return {
        "version": package["version"],
        "description": package["description"],
        "license": package["license"],
        "repository": {"type": "git", "url": f"git+{address}.git"},
        "homepage": f"{address}#readme",
        "bugs": {"url": f"{address}/issues"},
        **members,
    }


def npm_pack(members, content, out):
    """`content`: path in the package to bytes and mode."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as stage:
        stage = Path(stage)
        content = dict(content)
        content["package.json"] = ((json.dumps(members, indent=2) + "\n").encode(), 0o644)
        for name, (data, mode) in content.items():
            path = stage / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(mode)
        npm = shutil.which("npm")
        if not npm:
            raise Wrong("npm is not on the PATH; it packs the npm packages")
        run(npm, "pack", "--silent", "--pack-destination", out.resolve(), cwd=stage, stdout=subprocess.DEVNULL)


def npm_texts(readme):
    texts = {name: ((ROOT / name).read_bytes(), 0o644) for name in LICENCES}
    return texts | {"README.md": (readme.encode(), 0o644)}


def npm_platform_manifest(package, platform):
    return npm_manifest(
        package,
        name=npm_name(platform),
        description=f"The binary of mcp-keel for {platform['npm']['os']} on {platform['npm']['cpu']}",
        os=[platform["npm"]["os"]],
        cpu=[platform["npm"]["cpu"]],
        # Yarn keeps packages zipped; a binary has to be a file.
        preferUnplugged=True,
        publishConfig={"access": "public"},
    )


def write_npm_platform(package, platform, binary, out):
    members = npm_platform_manifest(package, platform)
    readme = f"# {members['name']}\n\n{members['description']}. Install [mcp-keel]({package['repository']}) instead.\n"
    npm_pack(members, npm_texts(readme) | {f"bin/{executable(platform)}": (binary, 0o755)}, out)


def npm_launcher_manifest(package):
    return npm_manifest(
        package,
        name="mcp-keel",
        keywords=package["keywords"],
        bin={"mcp-keel": "bin/mcp-keel.js"},
        engines={"node": ">=18"},
        optionalDependencies={npm_name(it): package["version"] for it in PLATFORMS},
        publishConfig={"access": "public"},
    )


def write_npm_launcher(package, out):
    content = npm_texts((PACKAGING / "README.md").read_text())
    content["bin/mcp-keel.js"] = ((PACKAGING / "npm" / "mcp-keel.js").read_bytes(), 0o755)
    npm_pack(npm_launcher_manifest(package), content, out)


def part(platform, target, profile, out):
    package = manifest()
    wheel = build_wheel(platform, target, profile, out / "wheels")
    binary = binary_of(wheel, platform)
    if platform["npm"]["os"] == "linux":
        if not is_static(binary):
            raise Wrong(f"the binary for {target} is not static")
        if target != platform["target"]:
            print(f"rehearsal: a static binary with the C library of this machine, in place of {platform['target']}")
    write_archive(platform, binary, 1 if profile == "dev" else 9, out / "archives")
    write_npm_platform(package, platform, binary, out / "npm")
    with zipfile.ZipFile(wheel) as archive:
        [name] = [it for it in archive.namelist() if it.endswith(".cyclonedx.json")]
        (out / "mcp-keel.cyclonedx.json").write_bytes(archive.read(name))


# --- what is made of all of them ----------------------------------------------------------------------------------


def formula(package, digests):
    """A Homebrew formula for the platforms that have an archive."""
    address = f"{package['repository']}/releases/download/v{package['version']}"
    # Homebrew wants at most 80 characters, no article at the beginning and no full stop.
    lines = [
        "class McpKeel < Formula",
        '  desc "Keeps an MCP server\'s contract from drifting"',
        f'  homepage "{package["repository"]}"',
        f'  version "{package["version"]}"',
        '  license any_of: ["MIT", "Apache-2.0"]',
    ]
    for system in ["on_macos", "on_linux"]:
        found = [it for it in PLATFORMS if it.get("homebrew", [None])[0] == system and archive_name(it) in digests]
        if not found:
            continue
        lines += ["", f"  {system} do"]
        for platform in found:
            name = archive_name(platform)
            lines += [
                f"    {platform['homebrew'][1]} do",
                f'      url "{address}/{name}"',
                f'      sha256 "{digests[name]}"',
                "    end",
            ]
        lines.append("  end")
    lines += [
        "",
        "  def install",
        '    bin.install "mcp-keel"',
        '    (man1/"mcp-keel.1").write Utils.safe_popen_read(bin/"mcp-keel", "man")',
        '    generate_completions_from_executable(bin/"mcp-keel", "completions")',
        "  end",
        "",
        "  test do",
        '    assert_match version.to_s, shell_output("#{bin}/mcp-keel --version")',
        '    assert_match "tool-removed", shell_output("#{bin}/mcp-keel demo")',
        "  end",
        "end",
    ]
    return "\n".join(lines) + "\n"


def scoop(package, digests):
    address = f"{package['repository']}/releases/download"
    architectures, updates = {}, {}
    for platform in PLATFORMS:
        name = archive_name(platform)
        if "scoop" in platform and name in digests:
            architectures[platform["scoop"]] = {
                "url": f"{address}/v{package['version']}/{name}",
                "hash": digests[name],
            }
            updates[platform["scoop"]] = {"url": f"{address}/v$version/{name}"}
    return {
        "version": package["version"],
        "description": package["description"],
        "homepage": package["repository"],
        "license": "MIT|Apache-2.0",
        "architecture": architectures,
        "bin": "mcp-keel.exe",
        "checkver": "github",
        "autoupdate": {"architecture": updates, "hash": {"url": "$baseurl/SHA256SUMS"}},
    }


def sums(paths, folder):
    lines = [f"{digest(path)}  {path.relative_to(folder).as_posix()}\n" for path in sorted(paths)]
    # Bytes: Windows would write other line ends.
    (folder / "SHA256SUMS").write_bytes("".join(lines).encode())


def assemble(out, complete):
    package = manifest()
    version = package["version"]
    missing = [archive_name(it) for it in PLATFORMS if not (out / "archives" / archive_name(it)).is_file()]
    if complete and missing:
        raise Wrong(f"{out}/archives has no {', '.join(missing)}")
    write_npm_launcher(package, out / "npm")
    archives = sorted((out / "archives").glob("*.tar.gz"))
    sums(archives, out / "archives")
    digests = {path.name: digest(path) for path in archives}
    for folder in ["homebrew", "scoop"]:
        (out / folder).mkdir(exist_ok=True)
    (out / "homebrew" / "mcp-keel.rb").write_text(formula(package, digests))
    recipe = scoop(package, digests)
    if recipe["architecture"]:
        (out / "scoop" / "mcp-keel.json").write_text(json.dumps(recipe, indent=4) + "\n")
    for name, line in [("install.sh", "version=latest\n"), ("install.ps1", '$Version = "latest"')]:
        text = (PACKAGING / name).read_text()
        if text.count(line) != 1:
            raise Wrong(f"packaging/{name} has to contain `{line.strip()}` once")
        (out / name).write_bytes(text.replace(line, line.replace("latest", f"v{version}")).encode())
    sums([path for path in out.rglob("*") if path.is_file() and path != out / "SHA256SUMS"], out)
    for line in (out / "SHA256SUMS").read_text().splitlines():
        path = out / line.split("  ", 1)[1]
        print(f"{path.stat().st_size:>12,}  {path.relative_to(out)}")


# --- versions, tags, the pinned action ----------------------------------------------------------------------------


def numbers(tag):
    found = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", tag)
    return tuple(int(it) for it in found.groups()) if found else None


def notes(version):
    """The section of the changelog. A release without one is refused."""
    text = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", text, re.DOTALL | re.MULTILINE)
    if not found or not found.group(1).strip():
        raise Wrong(f"CHANGELOG.md has no section `## [{version}] - DATE`; rename `## [Unreleased]`")
    return found.group(1).strip() + "\n"


def plan(tags):
    """The version to release. Refused if its tag exists."""
    version = manifest()["version"]
    if f"v{version}" in tags:
        raise Wrong(f"v{version} exists; raise the version in Cargo.toml")
    if f'version = "{version}"' not in (ROOT / "Cargo.lock").read_text().split('name = "mcp-keel"\n', 1)[1][:40]:
        raise Wrong("Cargo.lock has another version of mcp-keel; run `cargo metadata` and commit it")
    notes(version)
    return version


def moving_tags(version, tags):
    """The floating tags that this version takes: `0.1`, `0` and `latest`, each only if no newer version holds it."""
    new = numbers(f"v{version}")
    others = [it for it in map(numbers, tags) if it and it != new]
    taken = []
    if all(new > it for it in others if it[:2] == new[:2]):
        taken.append(f"{new[0]}.{new[1]}")
    if all(new > it for it in others if it[0] == new[0]):
        taken.append(f"{new[0]}")
    if all(new > it for it in others):
        taken.append("latest")
    return taken


def pin(image, ref, folder):
    """Makes the actions in a work tree those of this release: a prebuilt image by digest, and this version's binary, which
    the release workflow built from the branch `ref`."""
    if not re.fullmatch(r"[a-z0-9./_-]+@sha256:[0-9a-f]{64}", image):
        raise Wrong(f"`{image}` is not IMAGE@sha256:DIGEST")
    if not re.fullmatch(r"refs/heads/[A-Za-z0-9._/-]+", ref):
        raise Wrong(f"`{ref}` is not refs/heads/BRANCH")
    version = manifest()["version"]
    for name, pattern, line in [
        ("action.yml", r"^  # On a branch .*\n  image: Dockerfile$", f"  image: docker://{image}"),
        ("host/action.yml", r'^    # A release names itself here\.\n    default: ""$', f'    default: "v{version}"'),
        ("host/action.yml", r"--source-ref refs/heads/main$", f"--source-ref {ref}"),
    ]:
        path = folder / name
        text, count = re.subn(pattern, line, path.read_text(), flags=re.MULTILINE)
        if count != 1:
            raise Wrong(f"{name} has to match `{pattern}` once")
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(prog=".ci/release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in [("rehearse", "every artifact, for this platform"), ("part", "the artifacts of one platform")]:
        command = commands.add_parser(name, help=text)
        command.add_argument("out", type=Path)
        command.add_argument("--profile", default=os.environ.get("KEEL_PROFILE", "dist"))
        command.add_argument("--target", default=os.environ.get("KEEL_TARGET"), help="a target of the list, or `host`")
    commands.add_parser("assemble", help="the rest, from the parts of all platforms").add_argument("out", type=Path)
    command = commands.add_parser("matrix", help="the list of platforms as a workflow's matrix")
    command.add_argument("--images", action="store_true", help="only those that have a container image")
    commands.add_parser("plan", help="print the version; the tags that exist are read from stdin")
    commands.add_parser("tags", help="print the floating tags to move; the tags that exist are read from stdin")
    commands.add_parser("notes", help="print the release notes")
    command = commands.add_parser("pin", help="make the actions in a work tree those of this release")
    command.add_argument("image", help="IMAGE@sha256:DIGEST")
    command.add_argument("ref", help="refs/heads/BRANCH, which is released")
    command.add_argument("folder", type=Path)
    given = parser.parse_args()

    if given.command in ("rehearse", "part"):
        if given.target and given.target != "host":
            [platform] = [it for it in PLATFORMS if it["target"] == given.target] or [None]
            if not platform:
                raise Wrong(f"packaging/platforms.json has no target {given.target}")
            target = given.target
        else:
            platform = this_platform()
            target = given.target or platform["target"]
            library = Path(output("rustc", "--print", "target-libdir", "--target", platform["target"]))
            if target != "host" and given.command == "rehearse" and not library.is_dir():
                print(f"rehearsal: rustc has no standard library for {target} (rustup target add {target})")
                target = "host"
        given.out.mkdir(parents=True, exist_ok=True)
        part(platform, target, given.profile, given.out)
        if given.command == "rehearse":
            assemble(given.out, complete=False)
    elif given.command == "assemble":
        assemble(given.out, complete=True)
    elif given.command == "matrix":
        included = [{"target": it["target"], "os": it["runner"], "arch": it.get("image")} for it in PLATFORMS]
        print(json.dumps({"include": [it for it in included if it["arch"] or not given.images]}))
    elif given.command == "plan":
        print(plan(sys.stdin.read().split()))
    elif given.command == "tags":
        print(*moving_tags(manifest()["version"], sys.stdin.read().split()), sep="\n")
    elif given.command == "notes":
        print(notes(manifest()["version"]), end="")
    elif given.command == "pin":
        pin(given.image, given.ref, given.folder)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except subprocess.CalledProcessError as problem:
        print(f"error: {' '.join(map(str, problem.cmd))}: exit {problem.returncode}", file=sys.stderr)
        sys.exit(1)
