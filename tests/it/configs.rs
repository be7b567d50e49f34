//! Existing server lists: each format as documented by its client, read, and run where possible.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_keel::capture::http::{Headers, HttpAddress, HttpSpec, HttpTransport};
use mcp_keel::config::foreign::{EnvFiles, Format, Listed, Surroundings, read};
use mcp_keel::config::{ConfigError, ServerConfig};

use crate::keel::Keel;
#[cfg(unix)]
use crate::keel::Run;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/configs")
        .join(name)
}

fn map(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    of.iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// A file, with these variables and inputs.
fn listed(name: &str, variables: &[(&str, &str)], inputs: &[(&str, &str)]) -> Listed {
    listed_at(&fixture(name), variables, inputs).unwrap()
}

fn listed_at(
    path: &Path,
    variables: &[(&str, &str)],
    inputs: &[(&str, &str)],
) -> Result<Listed, ConfigError> {
    let (variables, inputs) = (map(variables), map(inputs));
    let surroundings = Surroundings {
        variable: &|name| variables.get(name).cloned(),
        withheld: &|name| name.starts_with("ACTIONS_"),
        inputs: &inputs,
        env_files: EnvFiles::Anywhere,
    };
    read(path, None, &surroundings)
}

#[track_caller]
fn server<'a>(listed: &'a Listed, name: &str) -> &'a ServerConfig {
    listed.servers[name]
        .as_ref()
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with a server, and how to go on.
#[track_caller]
fn wrong(listed: &Listed, name: &str) -> String {
    let error = listed.servers[name].as_ref().unwrap_err();
    format!("{error}; {}", error.help())
}

fn words(server: &ServerConfig) -> Vec<&str> {
    server.command.iter().map(String::as_str).collect()
}

/// The server's address, and the values of its headers as sent.
fn http(server: &ServerConfig) -> (String, Vec<String>) {
    let http = server.http.as_ref().unwrap();
    let lookup = |name: &str| server.values.get(name).cloned();
    let url = HttpAddress::new(&http.url, &lookup).unwrap();
    let origin = url.origin();
    let headers = http
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value));
    let spec = HttpSpec {
        headers: Headers::new(headers, &lookup).unwrap(),
        ..HttpSpec::of(url)
    };
    (origin, spec.secrets())
}

#[test]
fn claude_code_fills_in_variables_and_their_defaults() {
    let variables = [("AIRTABLE_API_KEY", "k"), ("API_KEY", "secret")];
    let listed = listed("claude-code/.mcp.json", &variables, &[]);
    let airtable = server(&listed, "airtable");
    assert_eq!(words(airtable), ["npx", "-y", "airtable-mcp-server"]);
    assert_eq!(
        airtable.env,
        map(&[("AIRTABLE_API_KEY", "k"), ("CACHE_DIR", "/tmp")])
    );
    assert_eq!(
        airtable.cwd.as_deref(),
        fixture("claude-code/.mcp.json").parent()
    );
    let (url, headers) = http(server(&listed, "api-server"));
    assert_eq!(url, "https://api.example.com");
    assert!(headers.contains(&"Bearer secret".to_owned()), "{headers:?}");
    let events = server(&listed, "events").http.as_ref().unwrap();
    assert_eq!(events.transport, HttpTransport::Sse);
}

#[test]
fn an_unset_variable_is_an_error_of_its_server_only() {
    let listed = listed("claude-code/.mcp.json", &[("API_KEY", "")], &[]);
    let message = wrong(&listed, "airtable");
    assert!(
        message.contains(".mcp.json:7: server `airtable`:") && message.contains("AIRTABLE_API_KEY"),
        "{message}"
    );
    assert!(
        message.contains("--env AIRTABLE_API_KEY=VALUE"),
        "{message}"
    );
    // Empty counts as unset: a workflow passes a missing secret that way.
    assert!(wrong(&listed, "api-server").contains("API_KEY is not set"));
    server(&listed, "events");
}

#[test]
fn claude_desktop_has_no_placeholders() {
    let listed = listed("claude-desktop/claude_desktop_config.json", &[], &[]);
    let filesystem = server(&listed, "filesystem");
    assert_eq!(words(filesystem).last(), Some(&"${literal}"));
    assert_eq!(filesystem.cwd.as_deref(), Some(Path::new(".")));
}

#[test]
fn vs_code_has_comments_inputs_and_an_env_file() {
    let root = fixture("vscode").to_string_lossy().into_owned();
    let variables = [("HOME", "/home/me"), ("GITHUB_PAT", "p")];
    let inputs = [("perplexity-key", "secret")];
    let listed = listed("vscode/.vscode/mcp.json", &variables, &inputs);
    let perplexity = server(&listed, "perplexity");
    assert_eq!(
        words(perplexity),
        [
            "npx",
            "-y",
            "server-perplexity-ask",
            "--root",
            &root,
            "--region=eu"
        ]
    );
    let env = map(&[
        ("EDITOR_HOME", "/home/me"),
        ("LOG_LEVEL", "debug"),
        ("PERPLEXITY_API_KEY", "secret"),
        ("TEAM", "data, eu"),
    ]);
    assert_eq!(perplexity.env, env);
    // Given values are known to the redaction.
    assert_eq!(
        perplexity.values,
        map(&[("INPUT_SECRET_perplexity_key", "secret")])
    );
    let github = http(server(&listed, "github")).1;
    assert!(github.contains(&"Bearer p".to_owned()), "{github:?}");
    assert_eq!(listed.notes, [""; 0]);

    let listed = self::listed("vscode/.vscode/mcp.json", &variables, &[]);
    let message = wrong(&listed, "perplexity");
    assert!(message.contains("`perplexity-key`"), "{message}");
    assert!(
        message.contains("--input perplexity-key=VALUE"),
        "{message}"
    );
    server(&listed, "github");
}

#[test]
fn cursor_has_the_variables_of_an_editor() {
    let variables = [("CURSOR_TEST_KEY", "k"), ("SERVICE_TOKEN", "t")];
    let listed = listed("cursor/.cursor/mcp.json", &variables, &[]);
    let root = fixture("cursor").to_string_lossy().into_owned();
    let local = server(&listed, "local-server");
    assert_eq!(
        words(local),
        ["python", &format!("{root}/tools/mcp_server.py")]
    );
    assert_eq!(local.env, map(&[("API_KEY", "k")]));
    let web = http(server(&listed, "web-server"));
    assert!(web.1.contains(&"t".to_owned()), "{web:?}");
}

#[test]
fn skipped_servers_and_members_are_reported() {
    let listed = listed("mcp/mcp.json", &[], &[]);
    assert_eq!(server(&listed, "weather").env, map(&[("UNITS", "metric")]));
    assert!(!listed.servers.contains_key("retired"));
    let notes = listed.notes.join("\n");
    assert!(notes.contains("server `retired`:"), "{notes}");
    assert!(notes.contains("server `signed`: `spiral`"), "{notes}");
    assert!(
        notes.contains("server `signed`: signing in is not supported"),
        "{notes}"
    );
}

#[test]
fn zed_keeps_its_servers_in_its_settings() {
    let listed = listed("zed/settings.json", &[], &[]);
    assert_eq!(
        words(server(&listed, "local-mcp-server")),
        ["node", "server.js", "arg-2"]
    );
    let older = server(&listed, "older-spelling");
    assert_eq!(
        (words(older), older.env["MODE"].as_str()),
        (vec!["node", "old.js"], "old")
    );
    let message = wrong(&listed, "from-an-extension");
    assert!(
        message.contains("a server that an editor extension starts"),
        "{message}"
    );
    assert!(!listed.servers.contains_key("switched-off"));
    let remote = http(server(&listed, "remote-mcp-server"));
    assert_eq!(remote.0, "https://example.com");
}

#[test]
fn codex_names_variables() {
    let variables = [("FIGMA_OAUTH_TOKEN", "t"), ("FIGMA_TEAM", "data")];
    let listed = listed("codex/.codex/config.toml", &variables, &[]);
    let context7 = server(&listed, "context7");
    assert_eq!(words(context7), ["npx", "-y", "@upstash/context7-mcp"]);
    assert_eq!(context7.env, map(&[("MY_ENV_VAR", "MY_ENV_VALUE")]));
    assert_eq!(
        context7.pass_env.iter().collect::<Vec<_>>(),
        ["LOCAL_TOKEN"]
    );
    assert_eq!(context7.timeout.unwrap().as_secs(), 20);
    let sent = http(server(&listed, "figma")).1;
    for value in ["Bearer t", "us-east-1", "data"] {
        assert!(sent.contains(&value.to_owned()), "{sent:?}");
    }
    assert_eq!(listed.notes.len(), 1, "{:?}", listed.notes);
    let without = self::listed("codex/.codex/config.toml", &[], &[]);
    assert!(wrong(&without, "figma").contains("FIGMA_TEAM is not set"));
}

#[test]
fn the_registry_describes_how_to_start_packages_and_reach_remotes() {
    let inputs = [
        ("source_path", "/data"),
        ("tenant", "us-cell1"),
        ("X-API-Key", "secret"),
    ];
    let variables = [("WEATHER_API_KEY", "k")];
    let listed = listed("registry/server.json", &variables, &inputs);
    let of = |way: &str| server(&listed, &format!("io.github.example/weather-mcp#{way}"));
    assert_eq!(words(of("pypi")), ["uvx", "weather-mcp-server@0.5.0"]);
    assert_eq!(
        of("pypi").env,
        map(&[("WEATHER_API_KEY", "k"), ("WEATHER_UNITS", "celsius")])
    );
    assert_eq!(
        words(of("npm")),
        [
            "npx",
            "-y",
            "@example/weather-mcp@0.5.0",
            "start",
            "--city",
            "Oslo",
            "--quiet"
        ]
    );
    assert_eq!(
        words(of("oci")),
        [
            "docker",
            "run",
            "-i",
            "--rm",
            "-e",
            "WEATHER_UNITS",
            "--mount",
            "type=bind,src=/data,dst=/project",
            "docker.io/example/weather-mcp:0.5.0"
        ]
    );
    assert_eq!(of("oci").env, map(&[("WEATHER_UNITS", "kelvin")]));
    assert_eq!(
        words(of("nuget")),
        ["dnx", "Example.WeatherMcp@0.5.0", "--yes", "--", "mcp"]
    );
    let bundle = wrong(&listed, "io.github.example/weather-mcp#mcpb");
    assert!(bundle.contains("unpack it"), "{bundle}");
    let (url, headers) = http(of("streamable-http"));
    assert_eq!(url, "https://us-cell1.example.com");
    assert!(headers.contains(&"secret".to_owned()), "{headers:?}");

    let without = self::listed("registry/server.json", &[], &[]);
    let wrong = |way: &str| wrong(&without, &format!("io.github.example/weather-mcp#{way}"));
    assert!(wrong("pypi").contains("--input WEATHER_API_KEY=VALUE"));
    assert!(wrong("oci").contains("--input source_path=VALUE"));
    assert!(wrong("streamable-http").contains("--input tenant=VALUE"));

    let old = self::listed("registry/old-server.json", &[("BRAVE_API_KEY", "b")], &[]);
    let brave = server(&old, "io.modelcontextprotocol/brave-search");
    assert_eq!(
        words(brave),
        [
            "npx",
            "-y",
            "@modelcontextprotocol/server-brave-search@1.0.2"
        ]
    );
    assert_eq!(brave.env, map(&[("BRAVE_API_KEY", "b")]));
}

#[test]
fn a_bundle_is_started_from_its_own_folder() {
    let root = fixture("mcpb").to_string_lossy().into_owned();
    let listed = listed(
        "mcpb/manifest.json",
        &[("HOME", "/home/me")],
        &[("api_key", "secret")],
    );
    let bundle = server(&listed, "my-extension");
    if cfg!(target_os = "linux") {
        assert_eq!(
            words(bundle),
            [
                "node",
                &format!("{root}/server/index.js"),
                "--verbose=false",
                "/home/me/Desktop"
            ]
        );
        assert_eq!(
            bundle.env,
            map(&[("API_KEY", "secret"), ("PLATFORM", "linux")])
        );
    }
    let without = self::listed("mcpb/manifest.json", &[("HOME", "/home/me")], &[]);
    assert!(wrong(&without, "my-extension").contains("--input api_key=VALUE"));
}

#[test]
fn the_address_of_a_package_may_refer_to_its_arguments_and_variables() {
    let keel = Keel::new().file(
        "server.json",
        r#"{"name": "io.example/web", "packages": [
            {"registryType": "npm", "identifier": "web", "version": "1.0.0",
             "packageArguments": [{"type": "named", "name": "--port", "valueHint": "port", "default": "3001"}],
             "environmentVariables": [{"name": "BASE", "default": "mcp"}],
             "transport": {"type": "streamable-http", "url": "http://127.0.0.1:{port}/{BASE}"}},
            {"registryType": "npm", "identifier": "web",
             "transport": {"type": "streamable-http", "url": "http://127.0.0.1:{port}/mcp"}}]}"#,
    );
    let listed = listed_at(&keel.folder().join("server.json"), &[], &[]).unwrap();
    let (url, _) = http(server(&listed, "io.example/web#npm"));
    assert_eq!(url, "http://127.0.0.1:3001");
    let wrong = wrong(&listed, "io.example/web#npm-2");
    assert!(wrong.contains("`http://127.0.0.1:{`"), "{wrong}");
}

#[test]
fn a_packages_own_registry_is_noted_because_the_runtime_uses_its_default() {
    let keel = Keel::new().file(
        "server.json",
        r#"{"name": "io.example/a", "packages": [{"registryType": "npm", "registryBaseUrl": "https://packages.example",
            "identifier": "a", "version": "1.0.0", "transport": {"type": "stdio"}}]}"#,
    );
    let listed = listed_at(&keel.folder().join("server.json"), &[], &[]).unwrap();
    let notes = listed.notes.join("\n");
    assert!(notes.contains("https://packages.example"), "{notes}");
}

#[test]
fn a_value_of_the_wrong_shape_is_an_error_not_an_empty_one() {
    let clients = [
        (r#""args": "server.py""#, "this is not a list"),
        (r#""args": [5]"#, "this is not a string"),
        (r#""env": ["A=b"]"#, "this is not an object"),
        (r#""env": {"A": {}}"#, "this is not a string"),
        (r#""env": {"A": "1", "A": "2"}"#, "duplicate `A`"),
        (r#""command": "node""#, "duplicate `command`"),
    ];
    for (members, problem) in clients {
        let text = format!(r#"{{"mcpServers": {{"a": {{"command": "python3", {members}}}}}}}"#);
        let keel = Keel::new().file("mcp.json", &text);
        let listed = listed_at(&keel.folder().join("mcp.json"), &[], &[]).unwrap();
        let wrong = wrong(&listed, "a");
        assert!(wrong.contains(problem), "{members}: {wrong}");
    }
    // Clients differ in which one they would start.
    for text in [
        r#"{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}}}"#,
        r#"{"mcpServers": {"a": {"command": "a"}}, "mcpServers": {"b": {"command": "b"}}}"#,
    ] {
        let keel = Keel::new().file("mcp.json", text);
        let error = listed_at(&keel.folder().join("mcp.json"), &[], &[]).unwrap_err();
        assert!(error.to_string().contains("duplicate"), "{error}");
    }
    for (name, text) in [
        (
            "config.toml",
            "[mcp_servers.a]\ncommand = \"a\"\nargs = \"b\"\n",
        ),
        (
            "manifest.json",
            r#"{"manifest_version": "0.3", "name": "a", "server": {"mcp_config": {"command": "a", "args": "b"}}}"#,
        ),
        (
            "server.json",
            r#"{"name": "a", "packages": [{"registryType": "npm", "identifier": "a", "packageArguments": "b"}]}"#,
        ),
    ] {
        let keel = Keel::new().file(name, text);
        let listed = listed_at(&keel.folder().join(name), &[], &[]).unwrap();
        let wrong = wrong(&listed, "a");
        assert!(wrong.contains("this is not a list"), "{name}: {wrong}");
    }
}

#[test]
fn a_format_can_be_set_and_an_unknown_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.json");
    let none = map(&[]);
    let surroundings = Surroundings {
        variable: &|_| None,
        withheld: &|_| false,
        inputs: &none,
        env_files: EnvFiles::Anywhere,
    };
    let read = |text: &str, format| {
        std::fs::write(&path, text).unwrap();
        read(&path, format, &surroundings)
    };
    let text = r#"{"mcpServers": {"a": {"command": "x", "args": ["${A}"]}}}"#;
    assert!(read(text, None).unwrap().servers["a"].is_err());
    let desktop = read(text, Some(Format::ClaudeDesktop)).unwrap();
    assert_eq!(words(server(&desktop, "a")), ["x", "${A}"]);
    for (text, says) in [
        ("{}", "not a known kind of server list"),
        ("{\n  'a': 1\n}", "list.json:2: not JSON"),
        ("", "the file is empty"),
        ("[1, 2", "not JSON"),
    ] {
        let error = read(text, None).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    for (text, says) in [
        (
            r#"{"mcpServers": {"a": {}}}"#,
            "neither `command` nor `url`",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "x", "url": "https://y"}}}"#,
            "a `command` and a `url`",
        ),
        (r#"{"mcpServers": {"a": {"command": 1}}}"#, "not a string"),
        (r#"{"mcpServers": {"a": 1}}"#, "not an object"),
        (
            r#"{"mcpServers": {"a": {"command": "${A:-${B}}"}}}"#,
            "cannot fill in",
        ),
        (
            r#"{"servers": {"a": {"command": "${command:pick}"}}}"#,
            "cannot fill in",
        ),
        (
            r#"{"mcpServers": {"a": {"type": "ws", "url": "wss://y"}}}"#,
            "is not supported",
        ),
    ] {
        let listed = read(text, None).unwrap();
        let error = wrong(&listed, "a");
        assert!(error.contains(says), "{text}: {error}");
    }
}

/// Programs of that name that are a scripted server; its one tool shows how it was started.
#[cfg(unix)]
fn programs(keel: &Keel) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let scripted = crate::scripted::scripted("");
    let bin = keel.folder().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let scenario = r#"{"tools": [{"name": "started", "description": "$env{WORDS} $env{MY_ENV_VAR} $env{UNITS} $env{SECRET_OF_OURS}", "inputSchema": {"type": "object"}}]}"#;
    for name in ["npx", "node", "uvx", "python", "docker", "dnx"] {
        let script = format!(
            "#!/bin/sh\nWORDS=\"{name} $*\" exec '{}' '{scenario}'\n",
            scripted[0]
        );
        let path = bin.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin.join("npx")
}

#[cfg(unix)]
#[test]
fn every_format_can_be_pinned_and_checked() {
    let keel = Keel::new();
    let npx = programs(&keel);
    for (from, servers, more) in [
        (
            "claude-code/.mcp.json",
            &["airtable"][..],
            &["--env", "AIRTABLE_API_KEY=k"][..],
        ),
        (
            "claude-desktop/claude_desktop_config.json",
            &["filesystem"],
            &[],
        ),
        (
            "vscode/.vscode/mcp.json",
            &["perplexity"],
            &["--input", "perplexity-key=hush-hush"],
        ),
        (
            "cursor/.cursor/mcp.json",
            &["local-server"],
            &["--env", "CURSOR_TEST_KEY=k"],
        ),
        ("mcp/mcp.json", &["weather"], &[]),
        (
            "zed/settings.json",
            &["local-mcp-server", "older-spelling"],
            &[],
        ),
        (
            "codex/.codex/config.toml",
            &["context7"],
            &["--pass-env", "HOME"],
        ),
        (
            "registry/server.json",
            &[
                "io.github.example/weather-mcp#pypi",
                "io.github.example/weather-mcp#nuget",
            ],
            &["--env", "WEATHER_API_KEY=k"],
        ),
        (
            "registry/old-server.json",
            &[],
            &["--input", "BRAVE_API_KEY=hush-hush"],
        ),
        ("mcpb/manifest.json", &[], &["--input", "api_key=hush-hush"]),
    ] {
        let path = fixture(from).to_string_lossy().into_owned();
        let run = |command: &str| -> Run {
            let mut args = vec![command];
            args.extend(servers);
            args.extend(["--from", &path, "--baseline", "b.json"]);
            args.extend(more);
            keel.run_on_path(&args, &npx)
        };
        run("pin").exits(0);
        let pinned = keel.read("b.json");
        assert!(!pinned.contains("hush-hush"), "{from}: {pinned}");
        run("check").exits(0).says_nothing_of("hush-hush");
        std::fs::remove_file(keel.folder().join("b.json")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_server_sees_only_what_its_file_names_and_is_accepted_with_the_same_file() {
    let keel = Keel::new();
    let npx = programs(&keel);
    keel.write(
        "mcp.json",
        r#"{"mcpServers": {"weather": {"command": "uvx", "args": ["w"], "env": {"UNITS": "${UNITS:-metric}"}},
            "other": {"command": "npx", "env": {"KEY": "${NOT_SET_ANYWHERE}"}}}}"#,
    );
    keel.run_on_path(&["pin", "weather", "--from", "mcp.json"], &npx)
        .exits(0);
    let baseline = keel.read("mcp-baseline.json");
    assert!(baseline.contains("uvx w - metric -"), "{baseline}");
    // Another server's missing variable does not affect this one.
    keel.run_on_path(&["check", "weather", "--from", "mcp.json"], &npx)
        .exits(0);
    keel.run_on_path(&["check", "--from", "mcp.json"], &npx)
        .exits(3)
        .says("mcp.json:2: server `other`: the variable NOT_SET_ANYWHERE is not set");
    let args = [
        "check",
        "weather",
        "--from",
        "mcp.json",
        "--env",
        "UNITS=imperial",
        "--input",
        "id=hush-hush",
    ];
    keel.run_on_path(&args, &npx)
        .exits(1)
        .says("mcp-keel pin --env 'UNITS=imperial' --from mcp.json --input id=\"$ID\" weather")
        .says_nothing_of("hush-hush");
    keel.run_on_path(&["check", "wether", "--from", "mcp.json"], &npx)
        .exits(2)
        .says("did you mean `weather`");
}

#[cfg(unix)]
#[test]
fn a_configuration_takes_servers_from_a_file_and_keeps_its_policy() {
    let keel = Keel::new();
    let npx = programs(&keel);
    keel.write(
        "sub/.mcp.json",
        r#"{"mcpServers": {"weather": {"command": "uvx", "args": ["w"]}}}"#,
    );
    keel.write(
        "sub/mcp-keel.toml",
        "from = [\".mcp.json\"]\n\n[server.mine]\ncommand = [\"npx\", \"mine\"]\n\n[policy]\nenforcement = \"warn\"\n",
    );
    let run = |args: &[&str]| keel.run_on_path(args, &npx);
    run(&["pin", "--config", "sub/mcp-keel.toml"])
        .exits(0)
        .says("mine, weather");
    run(&["check", "--config", "sub/mcp-keel.toml"]).exits(0);
    keel.write(
        "sub/.mcp.json",
        r#"{"mcpServers": {"weather": {"command": "uvx", "args": ["x"]}}}"#,
    );
    run(&["check", "--config", "sub/mcp-keel.toml"])
        .exits(0)
        .says("WARN");
    keel.write(
        "sub/.mcp.json",
        r#"{"mcpServers": {"mine": {"command": "uvx"}}}"#,
    );
    run(&["check", "--config", "sub/mcp-keel.toml"])
        .exits(2)
        .says("`mine`");
    keel.write("sub/.mcp.json", r#"{"mcpServers": {}}"#);
    run(&["check", "--from", "sub/.mcp.json"])
        .exits(2)
        .says("there is no server to check");
    run(&["check", "--from", "nowhere.json"])
        .exits(2)
        .says("nowhere.json");
}

#[test]
fn all_errors_of_a_configuration_are_reported_at_once() {
    let config = "colour = 1\n[server.a]\ncommand = \"node 'a b.js' x\"\n[server.b]\ncommand = [\"b\"]\npass-env = [\"AWS_*\"]\n[policy]\nfail-on = \"brekaing\"\n[[accept]]\nchange = \"x\"\n";
    let keel = crate::keel::Keel::new().file("mcp-keel.toml", config);
    keel.run(&["check"]).exits(2).names(&[
        "mcp-keel.toml:1: there is no key `colour`",
        "mcp-keel.toml:3: `server.a.command` is a string",
        "command = [\"node\", \"a b.js\", \"x\"]",
        "mcp-keel.toml:6: `AWS_*` is a pattern",
        "mcp-keel.toml:8: `brekaing`",
        "did you mean `breaking`?",
        "mcp-keel.toml:10: `x` is not the id of a change",
    ]);
}

#[test]
fn a_command_without_its_dashes_is_recognised() {
    let keel = crate::keel::Keel::new();
    keel.run(&["check", "node", "dist/index.js"])
        .exits(2)
        .says("a command goes after `--`: -- node dist/index.js");
    keel.run(&["check", "--pass-env", "A*", "--", "sh", "-c", "true"])
        .exits(2)
        .says("name each variable");
}

#[test]
fn hints_come_from_what_happened() {
    let keel = crate::keel::Keel::new();
    for (command, said) in [
        (
            &["node dist/index.js --stdio"][..],
            "write it without quotes around it, `-- node dist/index.js --stdio`",
        ),
        (
            &["./dist/server"],
            "`./dist/server` does not exist: build the server first",
        ),
        (
            &[
                "sh",
                "-c",
                "echo \"ModuleNotFoundError: No module named 'fastmcp'\" >&2; exit 1",
            ],
            "the module `fastmcp` is not installed for sh",
        ),
        (
            &["sh", "-c", "echo 'INVENTORY_TOKEN is not set' >&2; exit 1"],
            "the server asks for INVENTORY_TOKEN",
        ),
    ] {
        let run = keel.run(&[&["pin", "x", "--"][..], command].concat());
        assert!(run.code == 2 || run.code == 3, "{run:?}");
        run.says(said);
    }
    let env = [
        ("INVENTORY_TOKEN", "geheim-geheim"),
        ("SSL_CERT_FILE", "/x"),
    ];
    let script = "echo 'INVENTORY_TOKEN is not set' >&2; exit 1";
    keel.run_with_env(&["pin", "x", "--", "sh", "-c", script], &env)
        .exits(3)
        .says("set here and not passed on: add `--pass-env INVENTORY_TOKEN`");
    let script = "echo '[SSL: CERTIFICATE_VERIFY_FAILED] x' >&2; exit 1";
    keel.run_with_env(&["pin", "x", "--", "sh", "-c", script], &env)
        .exits(3)
        .says("--pass-env SSL_CERT_FILE");
}

#[cfg(unix)]
#[test]
fn npx_that_waits_for_an_answer_gets_a_hint_of_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let keel = Keel::new();
    let bin = keel.folder().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let npx = bin.join("npx");
    // It reads an answer that never comes.
    let script = "#!/bin/sh\necho 'Ok to proceed? (y)' >&2\nexec sleep 1000\n";
    std::fs::write(&npx, script).unwrap();
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |words: &[&str]| {
        let pin = ["pin", "x", "--timeout", "1", "--"];
        keel.run_on_path(&[&pin[..], words].concat(), &npx)
    };
    let hint = "add `-y`, as in `npx -y PACKAGE`";
    run(&["npx", "server"]).exits(3).says(hint);
    run(&["npx", "-y", "server"])
        .exits(3)
        .says_nothing_of("add `-y`");
}

/// The memory that a parser takes is many times the length of the text.
#[test]
fn files_that_a_pull_request_can_write_are_read_up_to_a_bound() {
    let keel = Keel::new();
    let server = "[server.a]\ncommand = [\"x\"]\n#";
    let config = |length: usize| format!("{server}{}", " ".repeat(length - server.len()));
    keel.write("mcp-keel.toml", &config(1 << 20));
    keel.run(&["config"]).exits(0);
    keel.write("mcp-keel.toml", &config((1 << 20) + 1));
    for command in ["config", "check", "pin"] {
        keel.run(&[command])
            .exits(2)
            .says("mcp-keel.toml:1: larger than 1 MiB");
    }
    keel.write("mcp-keel.toml", "");
    let many = |values: usize| format!("[{}0]", "0,".repeat(values - 2));
    keel.write(".mcp.json", &many(2_000_000));
    keel.run(&["check", "--from", ".mcp.json"])
        .exits(2)
        .says("not a known kind");
    keel.write(".mcp.json", &many(2_000_001));
    keel.run(&["check", "--from", ".mcp.json"])
        .exits(2)
        .says(".mcp.json:1: more than 2000000 values");
    keel.write("mcp-keel-timings.json", &" ".repeat((1 << 20) + 1));
    keel.run(&["plan", "--shards", "2", "--", "x"])
        .exits(2)
        .says("mcp-keel-timings.json: cannot read it: larger than 1 MiB");
}
