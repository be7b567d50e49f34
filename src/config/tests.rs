use super::*;
use crate::policy::Action;
use crate::rules::RuleId;
use crate::surface::ClientProfile;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("mcp-keel.toml"), text)
}

fn error(text: &str) -> String {
    let error = parse(text).unwrap_err();
    format!("{error} | {}", error.help())
}

#[test]
fn the_documented_example_is_valid() {
    let config = parse(
        r#"
        baseline = "contracts/{server}.json"

        [server.weather]
        command = ["node", "dist/index.js"]
        env = { API_BASE = "http://127.0.0.1:9" }
        pass-env = ["LANG"]
        timeout = 60
        client = { name = "claude", capabilities = ["roots"] }

        [policy]
        enforcement = "warn"
        unknown = "allow_degraded"
        fail-on = "risky"
        fail-on-exposure = "high"
        require-version-bump = true

        [policy.rules]
        "tool-description-changed" = "block"
        tool-added = "breaking"

        [[accept]]
        change = "9f2c01ab77de4b60a1c5d38e92f47b06"
        reason = "units is mandatory since the provider dropped the default"
        owner = "@maintainers"
        expires = 2027-01-31
        "#,
    )
    .unwrap();
    let weather = &config.servers["weather"];
    assert_eq!(weather.command, ["node", "dist/index.js"]);
    assert_eq!(weather.env["API_BASE"], "http://127.0.0.1:9");
    assert_eq!(weather.timeout, Some(Duration::from_secs(60)));
    let client = weather.client.applied_to(ClientProfile::default());
    assert_eq!(
        (
            client.name.as_str(),
            client.version.as_str(),
            client.capabilities.len()
        ),
        ("claude", "1", 1)
    );
    let policy = &config.policy;
    assert_eq!(policy.enforcement, Enforcement::Warn);
    assert_eq!(policy.unknown, Some(Unknown::Allow));
    assert_eq!(
        policy.rules[&RuleId::ToolDescriptionChanged],
        RuleSetting::Action(Action::Block)
    );
    assert_eq!(policy.accept[0].expires.unwrap().to_string(), "2027-01-31");
    assert_eq!(policy.accept[0].line, 22);
}

#[test]
fn misspelt_names_are_reported_with_line_and_suggestion() {
    assert_eq!(
        error("[server.a]\ncommand = [\"x\"]\nenviron = {}\n"),
        "mcp-keel.toml:3: there is no key `server.a.environ` | did you mean `env`?"
    );
    assert_eq!(
        error("\n[policy]\nenforcment = \"warn\""),
        "mcp-keel.toml:3: there is no key `policy.enforcment` | did you mean `enforcement`?"
    );
    assert_eq!(
        error("[[accept]]\nid = \"9f2c01ab77de4b60a1c5d38e92f47b06\""),
        "mcp-keel.toml:2: there is no key `accept.id` | known here: change, reason, owner, expires"
    );
    assert_eq!(
        error("[policy.rules]\n\"tool-remvoed\" = \"warn\""),
        "mcp-keel.toml:2: there is no rule `policy.rules.tool-remvoed` | did you mean `tool-removed`?"
    );
    assert_eq!(
        error("[policy]\nfail-on = \"braking\""),
        "mcp-keel.toml:2: `braking` is not a valid value of `policy.fail-on` | did you mean `breaking`? (expected none, breaking, risky, additive, any)"
    );
    assert_eq!(
        error("[policy.rules]\ntool-removed = \"ignore\""),
        "mcp-keel.toml:2: `ignore` is not a valid value of `policy.rules.tool-removed` | expected audit, warn, block, breaking, risky, additive, cosmetic"
    );
}

#[test]
fn missing_and_mistyped_values_are_reported() {
    assert_eq!(
        error("[server.a]\n"),
        "mcp-keel.toml:1: `command` is missing in `server.a` | expected an array of the program and its arguments, such as [\"node\", \"dist/index.js\"], or a `url`"
    );
    assert!(
        error("[server.a]\ncommand = \"node x\"")
            .starts_with("mcp-keel.toml:2: `server.a.command` is a string")
    );
    assert!(error("[server.a]\ncommand = [1]").contains("expected an array of strings"));
    assert!(error("[server.a]\ncommand = []").contains("is empty"));
    assert!(
        error("[[accept]]\nchange = \"9f2c01ab77de4b60a1c5d38e92f47b06\"\nowner = \"@x\"")
            .contains("`reason` is missing")
    );
    assert!(error("[[accept]]\nchange = \"zz\"\n").contains("is not the id of a change"));
    assert!(
        error("[[accept]]\nchange = \"9f2c01ab77de4b60a1c5d38e92f47b06\"\nreason = \"r\"\nowner = \"o\"\nexpires = \"2027-01-31\"")
            .contains("a date without quotes")
    );
    assert!(error("x = \n").starts_with("mcp-keel.toml:1: not TOML"));
    assert!(
        error("[server.a]\ncommand = [\"x\"]\n[server.a]\n")
            .starts_with("mcp-keel.toml:3: not TOML")
    );
}

#[test]
fn a_server_over_http_has_a_url_and_its_settings() {
    let config = parse(
        "[server.a]\nurl = \"https://x.example/mcp\"\nheaders = { Authorization = \"Bearer ${TOKEN}\" }\ntransport = \"sse\"\nca = \"ca.pem\"\n\
         [server.b]\nurl = \"http://127.0.0.1:3000/mcp\"\nstart = [\"node\", \"x.js\"]\nenv = { PORT = \"3000\" }\n",
    )
    .unwrap();
    let http = config.servers["a"].http.as_ref().unwrap();
    assert_eq!(http.transport.word(), "sse");
    assert_eq!(
        format!("{:?}", http.headers),
        r#"{"Authorization": Bearer ${TOKEN}}"#
    );
    assert!(config.servers["a"].command.is_empty());
    assert_eq!(
        config.servers["b"].http.as_ref().unwrap().start,
        ["node", "x.js"]
    );
    assert_eq!(config.servers["b"].env["PORT"], "3000");
}

#[test]
fn settings_without_effect_over_http_are_rejected_with_their_line() {
    let url = "[server.a]\nurl = \"https://x.example/mcp\"\n";
    assert_eq!(
        error(&format!("{url}command = [\"node\"]")),
        "mcp-keel.toml:3: `command` and `url` cannot both be set | expected one of them; use `start` for a command that starts the server at `url`"
    );
    assert_eq!(
        error(&format!("{url}env = {{}}")),
        "mcp-keel.toml:3: `env` has no effect here: nothing is started | expected `start` as well: the command that starts the server at `url`"
    );
    assert!(
        error("[server.a]\ncommand = [\"x\"]\nheaders = {}")
            .contains(":3: `headers` has no effect without `url`")
    );
    assert!(error(&format!("{url}start = []")).contains(":3: `start` is empty"));
    assert!(error(&format!("{url}transport = \"sss\"")).contains("did you mean `sse`?"));
    assert!(error("[server.a]\nurl = \"x.example/mcp\"").contains(":2: the address is not a URL"));
    assert!(
        error("[server.a]\nurl = \"ftp://x.example/\"")
            .contains(":2: the address begins with `ftp:`")
    );
    let credentials = error("[server.a]\nurl = \"https://me:hunter2@x.example/\"");
    assert!(
        credentials.contains(":2: the address contains credentials")
            && !credentials.contains("hunter2")
    );
    assert!(
        error(&format!("{url}headers = {{ Host = \"x\" }}"))
            .contains(":3: the header host is set by mcp-keel itself")
    );
    assert!(
        error(&format!("{url}headers = {{ X = \"${{1}}\" }}"))
            .contains("not the name of a variable")
    );
    assert!(
        error(&format!("{url}proxy = \"socks5://x\"")).contains(":3: the proxy is not an address")
    );
}

#[test]
fn every_error_of_a_table_is_reported_at_once_in_the_order_of_the_file() {
    let text = "[server.local]
command = \"node dist/index.js\"
timeout = 0
era = \"legasy\"
pass-env = [\"AWS_*\"]
env = { A = 1, B = true }
sandbox = \"stict\"
cwdd = \"x\"

[server.remote]
url = \"ftp://x.example/mcp\"
env = { A = \"1\" }
transport = \"websocket\"
headers = { Host = \"x\" }

[policy]
enforcement = \"bock\"
fail-on = \"all\"
[policy.rules]
\"tool-remved\" = \"warn\"
\"tool-removed\" = \"wran\"

[[accept]]
change = \"xyz\"
reason = \"\"
owner = \"@me\"
";
    let error = Config::parse(Path::new("mcp-keel.toml"), text).unwrap_err();
    let said = format!("{error} ({})", error.help());
    let lines: Vec<usize> = said
        .lines()
        .filter_map(|it| {
            it.strip_prefix("mcp-keel.toml:")?
                .split(':')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(
        lines,
        [
            2, 3, 4, 5, 6, 6, 7, 8, 11, 12, 13, 14, 17, 18, 20, 21, 24, 25
        ],
        "{said}"
    );
    assert!(said.contains("did you mean `legacy`?"), "{said}");
    assert!(said.contains("did you mean `cwd`?"), "{said}");
}

#[test]
fn a_misspelt_command_is_one_error() {
    let text = "[server.local]\ncomand = [\"node\"]\n";
    let error = Config::parse(Path::new("mcp-keel.toml"), text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mcp-keel.toml:2: there is no key `server.local.comand`"
    );
    assert_eq!(error.help(), "did you mean `command`?");
}

#[test]
fn everything_that_an_acceptance_lacks_is_reported() {
    let said = error("[[accept]]\nexpires = 2030-01-01\n");
    for missing in ["change", "reason", "owner"] {
        assert!(
            said.contains(&format!("`{missing}` is missing in `accept`")),
            "{said}"
        );
    }
}
