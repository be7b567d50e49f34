//! Pull requests whose configuration wants what is not theirs: the token of the run, variables of the runner, answers of
//! hosts that only the runner can reach.

use std::net::TcpListener;

use serde_json::json;

use crate::github::{Pull, usual};

/// Somewhere to send a secret to. Nothing answers.
struct Elsewhere(TcpListener);

impl Elsewhere {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    fn was_contacted(&self) -> bool {
        self.0.accept().is_ok()
    }
}

impl Pull {
    /// The server writes what it sees of these variables. No sandbox is in the way.
    fn serve_and_write(&mut self, variables: &[&str]) {
        self.set("INPUT_SANDBOX", "off");
        let seen: Vec<String> = variables.iter().map(|it| format!("$env{{{it}}}")).collect();
        let scenario = json!({"tools": usual(),
            "start": [{"write": "seen", "content": seen.join(" ")}]});
        self.keel.write("scenario.json", &scenario.to_string());
    }

    fn seen(&self) -> Option<String> {
        let path = self.keel.folder().join("seen");
        let seen = std::fs::read_to_string(&path).ok();
        let _ = std::fs::remove_file(path);
        seen
    }

    /// The comment, without its marks for code.
    fn comment(&self) -> String {
        self.comments()[0].replace('`', "")
    }

    /// The configuration of the head, with the server's usual command.
    fn configure(&self, more: &str) -> String {
        let command = serde_json::to_string(&self.command()).unwrap();
        let config = format!("[server.weather]\ncommand = {command}\n{more}");
        self.keel.write("mcp-keel.toml", &config);
        config
    }
}

/// The workflow of the documents: a fixed command, and a token that only mcp-keel gets.
#[test]
fn the_token_does_not_leave_through_the_configuration() {
    let elsewhere = Elsewhere::new();
    let address = format!("http://127.0.0.1:{}", elsewhere.port());
    let mut pull = Pull::new(&usual());
    let token = pull.env["INPUT_TOKEN"].clone();
    pull.set("COPY_OF_IT", &format!("Bearer {token}"));
    let names = ["INPUT_TOKEN", "GITHUB_OUTPUT", "COPY_OF_IT", "GH_TOKEN"];
    pull.serve_and_write(&names);
    for name in names {
        pull.keel.write(
            "mcp-keel.toml",
            &format!("[server.weather]\ncommand = [\"x\"]\npass-env = [\"{name}\"]\n"),
        );
        pull.run().exits(2).says("is not passed on");
        assert_eq!(pull.seen(), None, "{name}");
        // Not even the base can send it.
        pull.on_base("mcp-keel.toml", &pull.keel.read("mcp-keel.toml"));
        pull.run().exits(2).says("is not passed on");
        assert_eq!(pull.seen(), None, "{name}");
        pull.set("INPUT_COMMAND", "");
        for config in [
            format!("url = \"{address}/${{{name}}}\""),
            format!("url = \"{address}\"\nheaders = {{ X-Key = \"${{{name}}}\" }}"),
            format!(
                "url = \"http://example.invalid\"\nproxy = \"http://u:${{{name}}}@127.0.0.1:{}\"",
                elsewhere.port()
            ),
        ] {
            pull.keel
                .write("mcp-keel.toml", &format!("[server.weather]\n{config}\n"));
            pull.on_base("mcp-keel.toml", &pull.keel.read("mcp-keel.toml"));
            pull.run().exits(2).says("is not passed on");
            assert!(!elsewhere.was_contacted(), "{config}");
        }
        for server in [
            json!({"command": "true", "env": {"X": format!("${{{name}}}")}}),
            json!({"command": "true", "args": [format!("${{{name}}}")]}),
            json!({"url": format!("{address}/${{{name}}}")}),
            json!({"url": address, "headers": {"X": format!("${{{name}:-x}}")}}),
        ] {
            let list = json!({"mcpServers": {"weather": server}}).to_string();
            pull.keel.write(".mcp.json", &list);
            pull.keel.write("mcp-keel.toml", "from = [\".mcp.json\"]\n");
            pull.run().exits(2).says("is not available to servers");
            assert!(!elsewhere.was_contacted(), "{list}");
        }
        pull.on_base.remove("mcp-keel.toml");
        let command = pull.command();
        pull.set(
            "INPUT_COMMAND",
            &shlex::try_join(command.iter().map(String::as_str)).unwrap(),
        );
    }
}

#[test]
fn a_variable_goes_only_to_the_command_that_has_it_on_the_base() {
    let mut pull = Pull::new(&usual());
    pull.fork(true);
    pull.set("INPUT_COMMAND", "");
    pull.set("API_KEY", "key-of-the-api");
    pull.set("OTHER", "not-for-servers");
    pull.serve_and_write(&["API_KEY", "OTHER"]);
    let reviewed = pull.configure("pass-env = [\"API_KEY\"]\n");
    pull.on_base("mcp-keel.toml", &reviewed);
    pull.run().exits(0);
    assert_eq!(pull.seen().as_deref(), Some("key-of-the-api -"));
    let other = reviewed.replace("command = [", "command = [\"env\", ");
    let changed = [
        (reviewed.replace("API_KEY", "OTHER"), "would pass OTHER to"),
        (other.clone(), "would pass API_KEY to `env`"),
        (
            format!("{reviewed}env = {{ NODE_OPTIONS = \"--require ./x.js\" }}\n"),
            "would pass API_KEY to",
        ),
        (
            format!("{reviewed}cwd = \"sub\"\n"),
            "would pass API_KEY to",
        ),
    ];
    std::fs::create_dir(pull.keel.folder().join("sub")).unwrap();
    for (config, says) in &changed {
        pull.keel.write("mcp-keel.toml", config);
        pull.run().exits(3).says("not started");
        assert_eq!(pull.seen(), None, "{config}");
        assert!(
            pull.comment().contains(&says.replace('`', "")),
            "{}",
            pull.comment()
        );
        // Whose policy counts is another question.
        pull.set("INPUT_POLICY-FROM", "head");
        pull.run().exits(3).says(says);
        assert_eq!(pull.seen(), None, "{config}");
        pull.set("INPUT_POLICY-FROM", "");
    }
    // The name of the server does not matter.
    pull.set("INPUT_SERVERS", "");
    let renamed = reviewed.replace("[server.weather]", "[server.climate]");
    pull.keel.write("mcp-keel.toml", &renamed);
    pull.run();
    assert_eq!(pull.seen().as_deref(), Some("key-of-the-api -"));
    // Who may push to this repository may say where it goes. It is shown.
    pull.fork(false);
    pull.keel.write("mcp-keel.toml", &other);
    pull.run().exits(0);
    assert_eq!(pull.seen().as_deref(), Some("key-of-the-api -"));
    assert!(pull.comment().contains("would pass API_KEY to env"));
}

#[test]
fn variables_of_the_workflow_go_to_the_command_of_the_workflow() {
    let mut pull = Pull::new(&usual());
    pull.fork(true);
    pull.set("API_KEY", "key-of-the-api");
    pull.set("OTHER", "not-for-servers");
    pull.serve_and_write(&["API_KEY", "OTHER"]);
    pull.set("INPUT_PASS-ENV", "API_KEY");
    pull.run().exits(0);
    assert_eq!(pull.seen().as_deref(), Some("key-of-the-api -"));
    // The pull request adds one.
    pull.configure("pass-env = [\"OTHER\"]\n");
    pull.run().exits(3).says("would pass OTHER to");
    assert_eq!(pull.seen(), None);
    // Without a command in the workflow, the pull request would choose who gets it.
    pull.set("INPUT_COMMAND", "");
    pull.configure("");
    pull.run().exits(3).says("would pass API_KEY to");
    assert_eq!(pull.seen(), None);
}

#[test]
fn an_answer_of_the_workflow_goes_where_it_goes_on_the_base() {
    let mut pull = Pull::new(&usual());
    pull.fork(true);
    pull.set("INPUT_COMMAND", "");
    pull.set("INPUT_FROM", ".vscode/mcp.json");
    pull.set("INPUT_INPUTS", "key=the-answer");
    pull.serve_and_write(&["KEY"]);
    let command = pull.command();
    let list = |env: &str| {
        json!({"servers": {"weather": {"command": command[0], "args": [command[1]],
            "env": {"KEY": env}}}, "inputs": [{"id": "key", "type": "promptString", "password": true}]})
        .to_string()
    };
    pull.keel.write(".vscode/mcp.json", &list("${input:key}"));
    pull.on_base(".vscode/mcp.json", &list("${input:key}"));
    pull.run().exits(0);
    assert_eq!(pull.seen().as_deref(), Some("the-answer"));
    pull.on_base(".vscode/mcp.json", &list("none"));
    pull.run().exits(3).says("would pass input:key to");
    assert_eq!(pull.seen(), None);
}

#[test]
fn an_address_that_is_not_on_the_base_is_not_asked() {
    let elsewhere = Elsewhere::new();
    let mut pull = Pull::new(&usual());
    pull.fork(true);
    pull.set("INPUT_COMMAND", "");
    pull.set("API_KEY", "key-of-the-api");
    let at = |host: &str| format!("[server.weather]\nurl = \"{host}/mcp\"\n");
    let inside = format!("http://127.0.0.1:{}", elsewhere.port());
    let reviewed = "https://mcp.example.invalid";
    pull.on_base("mcp-keel.toml", &at(reviewed));
    for (config, says) in [
        (at(&inside), "which is not on the base branch"),
        (
            at("http://169.254.169.254"),
            "which is not on the base branch",
        ),
        (
            format!(
                "{}start = [\"sleep\", \"9\"]\n",
                at("http://169.254.169.254")
            ),
            "which is not on the base branch",
        ),
        (
            format!("{}proxy = \"{inside}\"\n", at(reviewed)),
            "a proxy that is not on the base branch",
        ),
        (
            format!("{}headers = {{ X-Key = \"${{API_KEY}}\" }}\n", at(reviewed)),
            "would pass API_KEY to https://mcp.example.invalid",
        ),
    ] {
        pull.keel.write("mcp-keel.toml", &config);
        pull.run().exits(3).says("not asked").says(says);
        assert!(!elsewhere.was_contacted(), "{config}");
        assert!(
            pull.comment().contains(&says.replace('`', "")),
            "{}",
            pull.comment()
        );
    }
    // On the base it may be anywhere.
    pull.set("INPUT_TIMEOUT", "1");
    pull.on_base("mcp-keel.toml", &at(&inside));
    pull.keel.write("mcp-keel.toml", &at(&inside));
    pull.run().exits(3);
    assert!(elsewhere.was_contacted());
}

/// The messages about it are public.
#[test]
fn what_is_said_about_a_variable_does_not_show_its_value() {
    let mut pull = Pull::new(&usual());
    pull.fork(true);
    pull.set("INPUT_COMMAND", "");
    pull.set("SHORT", "k3y");
    pull.on_base("README.md", "No configuration.");
    for server in [
        json!({"command": "${SHORT}"}),
        json!({"command": "true", "cwd": "${SHORT}"}),
        json!({"command": "true", "args": ["${SHORT}"]}),
        json!({"url": "http://${SHORT}.invalid/mcp"}),
        json!({"url": "http://127.0.0.1:9/${SHORT}"}),
    ] {
        let list = json!({"mcpServers": {"weather": server}}).to_string();
        pull.keel.write(".mcp.json", &list);
        pull.keel.write("mcp-keel.toml", "from = [\".mcp.json\"]\n");
        let run = pull.run().exits(3).says("SHORT").says_nothing_of("k3y");
        drop(run);
        assert!(!pull.comment().contains("k3y"), "{}", pull.comment());
    }
}

/// What listens on this machine is what was started, and that is the pull request's.
#[test]
fn a_header_for_a_started_server_goes_to_the_one_that_the_base_starts() {
    let mut pull = Pull::new(&usual());
    pull.fork(true);
    pull.set("INPUT_COMMAND", "");
    pull.set("API_KEY", "key-of-the-api");
    let config = |program: &str| {
        format!(
            "[server.weather]\nurl = \"http://127.0.0.1:9/mcp\"\nstart = [\"{program}\", \"9\"]\n\
             headers = {{ X-Key = \"${{API_KEY}}\" }}\n"
        )
    };
    pull.on_base("mcp-keel.toml", &config("sleep"));
    pull.keel.write("mcp-keel.toml", &config("./evil"));
    pull.run()
        .exits(3)
        .says("would pass API_KEY to http://127.0.0.1:9");
}

#[test]
fn on_the_command_line_the_same_holds_with_the_policy_of_a_revision() {
    let mut pull = Pull::new(&usual());
    pull.serve_and_write(&["API_KEY"]);
    let config = pull.configure("");
    pull.on_base("mcp-keel.toml", &config);
    pull.configure("pass-env = [\"API_KEY\"]\n");
    let env = [("API_KEY", "key-of-the-api")];
    let base = pull.base.clone();
    let by_base = ["check", "--policy-from", &base];
    pull.keel
        .run_with_env(&by_base, &env)
        .exits(3)
        .says("would pass API_KEY to");
    assert_eq!(pull.seen(), None);
    pull.keel.run_with_env(&["check"], &env).exits(0);
    assert_eq!(pull.seen().as_deref(), Some("key-of-the-api"));
}

#[cfg(unix)]
#[test]
fn a_working_directory_that_leads_out_of_the_workspace_is_refused() {
    let mut pull = Pull::new(&usual());
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), pull.keel.folder().join("sub")).unwrap();
    pull.set("INPUT_WORKING-DIRECTORY", "sub");
    pull.run().exits(2).says("leads out of the workspace");
}
