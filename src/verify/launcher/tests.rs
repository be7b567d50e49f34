//! Command lines as people write them.

use super::*;

/// What is unpinned in a command, as `spec -> pin syntax`; otherwise `pinned`, `local` or `no
/// launcher`.
fn advice(line: &str) -> String {
    let words = shlex::split(line).expect("a command line");
    let Some(launcher) = recognise(&words) else {
        return "no launcher".to_owned();
    };
    let open: Vec<String> = launcher
        .open()
        .map(|(target, _, write)| format!("{}: {} -> {write}", launcher.name, target.spec))
        .collect();
    match (open.is_empty(), launcher.targets.first()) {
        (false, _) => open.join("; "),
        (
            true,
            Some(Target {
                pin: Pin::Local, ..
            }),
        ) => "local".to_owned(),
        (true, Some(_)) => "pinned".to_owned(),
        (true, None) => "nothing".to_owned(),
    }
}

#[track_caller]
fn all(rows: &[(&str, &str)]) {
    for (line, expected) in rows {
        let found = advice(line);
        match expected.strip_prefix('~') {
            Some(part) => assert!(found.contains(part), "{line}\n  {found}"),
            None => assert_eq!(found, *expected, "{line}"),
        }
    }
}

const SHA: &str = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";

#[test]
fn node() {
    all(&[
        (
            "npx -y @modelcontextprotocol/server-filesystem /data",
            "npx: @modelcontextprotocol/server-filesystem -> @modelcontextprotocol/server-filesystem@VERSION, all three numbers, such as @modelcontextprotocol/server-filesystem@1.2.3",
        ),
        (
            "npx -y @modelcontextprotocol/server-filesystem@2025.8.21 /data",
            "pinned",
        ),
        ("npx server@latest", "~server@VERSION"),
        ("npx server@^1.2.3", "~server@VERSION"),
        ("npx server@1.2", "~server@VERSION"),
        ("npx server@1.x", "~server@VERSION"),
        ("npx server@next", "~server@VERSION"),
        ("npx server@1.2.3-next.1", "pinned"),
        ("npx server@v1.2.3", "pinned"),
        ("npx server@=1.2.3+build.7", "pinned"),
        ("npx server@", "~server@VERSION"),
        (
            "npx --yes --package=@scope/pkg@1.0.0 -- tool --port 1",
            "pinned",
        ),
        (
            "npx -p @scope/pkg tool",
            "npx: @scope/pkg -> @scope/pkg@VERSION, all three numbers, such as @scope/pkg@1.2.3",
        ),
        (
            "npx -p a@1.0.0 -p b tool",
            "npx: b -> b@VERSION, all three numbers, such as b@1.2.3",
        ),
        ("npx --registry https://r.example server@1.0.0", "pinned"),
        ("npx ./local-server", "local"),
        ("npx github:me/server", "~github:me/server#COMMIT"),
        (
            "npx github:me/server#4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d",
            "pinned",
        ),
        ("npx me/server", "~me/server#COMMIT"),
        ("npx https://example.org/server.tgz", "~NAME@VERSION"),
        ("npx alias@npm:@scope/real@1.2.3", "pinned"),
        ("npx alias@npm:@scope/real", "~@scope/real@VERSION"),
        ("npx.cmd -y server@1.0.0", "pinned"),
        ("cmd /c npx -y server", "~npx: server"),
        ("/usr/local/bin/npx -y server", "~npx: server"),
        ("env DEBUG=1 npx -y server", "~npx: server"),
        ("sh -c 'exec npx -y server'", "~npx: server"),
        ("npm exec -- @scope/server@1.0.0 stdio", "pinned"),
        (
            "npm exec --yes --package @scope/server -- server",
            "~npm exec: @scope/server",
        ),
        ("npm x server", "~npm exec: server"),
        ("npm run start", "no launcher"),
        ("npm --prefix web exec server@1.0.0", "pinned"),
        (
            "pnpm dlx server",
            "pnpm dlx: server -> server@VERSION, all three numbers, such as server@1.2.3",
        ),
        ("pnpm dlx --package=@scope/a@1.0.0 a", "pinned"),
        ("pnpm --dir web dlx server@1.0.0", "pinned"),
        ("pnpm start", "no launcher"),
        ("pnpx server@1.0.0", "pinned"),
        ("yarn dlx -q -p server@1.0.0 bin", "pinned"),
        ("yarn dlx server", "~yarn dlx: server"),
        ("yarn start", "no launcher"),
        ("bunx --bun server", "~bunx: server"),
        ("bun x server@1.0.0", "pinned"),
        ("bun run index.ts", "no launcher"),
        ("node dist/index.js", "no launcher"),
    ]);
}

#[test]
fn python() {
    all(&[
        (
            "uvx kagimcp",
            "uvx: kagimcp -> kagimcp@VERSION (or --from 'kagimcp==VERSION')",
        ),
        ("uvx kagimcp@0.1.5", "pinned"),
        ("uvx kagimcp@latest", "~kagimcp@VERSION"),
        ("uvx 'mcp-server-git>=1'", "~mcp-server-git@VERSION"),
        ("uvx mcp-server-git==2025.1.14", "pinned"),
        ("uvx --from 'mcp[cli]==1.2.0' mcp run server.py", "pinned"),
        (
            "uvx --from mcp[cli] mcp",
            "uvx: mcp[cli] -> mcp[cli]@VERSION (or --from 'mcp[cli]==VERSION')",
        ),
        ("uvx --from 'pkg==1.*' pkg", "~pkg@VERSION"),
        ("uvx --from 'pkg~=1.2' pkg", "~pkg@VERSION"),
        (
            "uvx --from git+https://example.org/server.git server",
            "uvx: git+https://example.org/server.git -> git+https://example.org/server.git@COMMIT, with all 40 digits of the commit",
        ),
        (
            "uvx --from git+https://example.org/server@v1 server",
            "~git+https://example.org/server@COMMIT",
        ),
        (
            "uvx --from git+https://example.org/server@4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d server",
            "pinned",
        ),
        ("uvx --from ./server server", "local"),
        (
            "uvx --from https://example.org/a-1.0-py3-none-any.whl a",
            "~#sha256=DIGEST",
        ),
        ("uvx --python 3.12 server@1.0", "pinned"),
        (
            "uvx -p 3.12 --with httpx server@1.0",
            "uvx: httpx -> 'httpx==VERSION'",
        ),
        ("uvx --with 'a==1,b' server@1.0", "uvx: b -> 'b==VERSION'"),
        ("uv tool run server", "~uv tool run: server"),
        ("uv --directory x tool run server@1.0.0", "pinned"),
        ("uv run server.py", "no launcher"),
        (
            "uv run --with mcp mcp run server.py",
            "uv run: mcp -> 'mcp==VERSION'",
        ),
        ("uv run --with mcp==1.2.0 mcp run server.py", "pinned"),
        ("uv --directory server run server", "no launcher"),
        ("pipx run server", "pipx run: server -> 'server==VERSION'"),
        ("pipx run server==1.0", "pinned"),
        (
            "pipx run --spec git+https://example.org/s.git s",
            "~@COMMIT",
        ),
        ("pipx run --spec 'server==1.0' server", "pinned"),
        ("pipx run ./tool.py", "local"),
        ("python -m server", "no launcher"),
    ]);
}

#[test]
fn containers() {
    let pinned = format!("docker run -i --rm ghcr.io/me/server:1.2@sha256:{SHA}");
    let upper = format!("podman run --rm image@sha256:{}", SHA.to_uppercase());
    all(&[
        (&pinned, "pinned"),
        (&upper, "pinned"),
        (
            "docker run -i --rm mcp/github",
            "docker run: mcp/github -> mcp/github@sha256:DIGEST",
        ),
        (
            "docker run -i --rm -e TOKEN mcp/github:1.0",
            "docker run: mcp/github:1.0 -> mcp/github@sha256:DIGEST",
        ),
        (
            "docker run -it --name x -v /a:/b -p 80:80 -eKEY=1 --network=host localhost:5000/server:1 serve",
            "docker run: localhost:5000/server:1 -> localhost:5000/server@sha256:DIGEST",
        ),
        (
            "docker run --mount type=bind,src=/a,dst=/b image",
            "docker run: image -> image@sha256:DIGEST",
        ),
        (
            "docker run --rm -ti -u 1000 image@sha256:abc",
            "docker run: image@sha256:abc -> image@sha256:DIGEST",
        ),
        (
            "docker --context x run image",
            "docker run: image -> image@sha256:DIGEST",
        ),
        (
            "docker container run image",
            "docker run: image -> image@sha256:DIGEST",
        ),
        ("docker compose run server", "no launcher"),
        ("docker exec -i c server", "no launcher"),
        (
            "podman run -i --pull=never image",
            "podman run: image -> image@sha256:DIGEST",
        ),
    ]);
}

#[test]
fn others() {
    all(&[
        (
            "deno run -A npm:server",
            "deno run: npm:server -> npm:server@VERSION, all three numbers, such as npm:server@1.2.3",
        ),
        ("deno run -A npm:@scope/server@1.2.3", "pinned"),
        (
            "deno run -A npm:@scope/server@^1/cli",
            "~npm:@scope/server@VERSION",
        ),
        ("deno run --allow-net jsr:@scope/server@1.2.3/cli", "pinned"),
        (
            "deno run --allow-net=example.org https://example.org/mod.ts",
            "~deno.lock",
        ),
        (
            "deno run https://deno.land/x/server@v1.2.3/mod.ts",
            "pinned",
        ),
        ("deno run --config deno.json main.ts", "local"),
        ("go run ./cmd/server", "local"),
        ("go run .", "local"),
        ("go run main.go", "local"),
        (
            "go run example.org/server/cmd@latest",
            "go run: example.org/server/cmd@latest -> example.org/server/cmd@vX.Y.Z, all three numbers",
        ),
        ("go run example.org/server/cmd@v1.2.3", "pinned"),
        (
            "go run -mod=mod example.org/server@main",
            "~example.org/server@vX.Y.Z",
        ),
        ("go run example.org/server/cmd", "pinned"),
        ("cargo run --release", "~cargo run --locked"),
        ("cargo run --release --locked", "local"),
        ("cargo +nightly run --frozen -- serve", "local"),
        ("cargo run -- --locked", "~cargo run --locked"),
        ("cargo build", "no launcher"),
        (
            "dnx Server.Mcp --yes",
            "dnx: Server.Mcp -> Server.Mcp@VERSION",
        ),
        ("dnx Server.Mcp@1.0.0 --yes", "pinned"),
        ("java -jar server.jar", "no launcher"),
    ]);
}

#[test]
fn credentials_are_never_repeated() {
    for line in [
        "uvx --from git+https://me:geheim@example.org/s.git s",
        "npx git+https://geheim@example.org/s.git",
        "npx https://geheim@example.org/s.tgz",
        "deno run https://me:geheim@example.org/mod.ts",
        "pipx run --spec git+ssh://me:geheim@example.org/s.git s",
    ] {
        let found = advice(line);
        assert!(
            !found.contains("geheim") && found.contains("example.org"),
            "{found}"
        );
    }
    assert!(
        advice("uvx --from git+ssh://git@example.org/s.git s")
            .contains("git+ssh://git@example.org/s.git@COMMIT")
    );
}

#[test]
fn the_reason_says_what_would_run_instead() {
    let why = |line: &str| {
        let words = shlex::split(line).expect("a command line");
        let launcher = recognise(&words).expect("a launcher");
        launcher
            .open()
            .map(|(_, why, _)| why.to_owned())
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(
        why("npx server"),
        "runs a local copy if there is one, else the newest version in the registry"
    );
    assert_eq!(
        why("bunx server"),
        "runs the newest version in the registry"
    );
    assert_eq!(
        why("npx server@next"),
        "runs whatever the tag `next` points to when it starts"
    );
    assert_eq!(
        why("npx server@^1"),
        "runs the newest version that fits `^1`"
    );
    assert_eq!(
        why("docker run image:1"),
        "runs whatever the tag `1` points to; a tag can be moved"
    );
    assert_eq!(
        why("uvx server@latest"),
        "runs the newest version (`latest`)"
    );
}
