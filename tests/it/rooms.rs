//! The rooms of `src` and their dependencies, read from the sources.
//!
//! A room is a module of `src/lib.rs`. It uses only rooms above it there, and docs/architecture.md
//! describes each, in the same order. Within `cli` and `run`, files do not depend on each other in
//! a cycle. Tests and fuzz targets may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Backward dependencies. Must stay empty.
const BACKWARD: &[(&str, &str)] = &[];

/// Rooms being added (documented, missing) or removed (present, undocumented). Must stay empty.
const IN_MOTION: &[&str] = &[];

/// A file that uses a module, and the line.
type Places = BTreeSet<(String, usize)>;

/// Who uses whom, and where.
type Graph = BTreeMap<String, BTreeMap<String, Places>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The source of a file without comments and tests. Line numbers are kept.
fn program(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let mut kept = String::new();
    let mut skipping: Option<String> = None;
    let mut is_test = false;
    for line in text.lines() {
        if let Some(end) = &skipping {
            if line == end {
                skipping = None;
            }
            kept.push('\n');
            continue;
        }
        let code = line.split("//").next().unwrap_or_default();
        let word = code.trim();
        if word.starts_with("#[cfg(test)]") || word.starts_with("#[cfg(any(test,") {
            is_test = true;
        } else if is_test && !word.starts_with("#[") && !word.is_empty() {
            is_test = false;
            // A multi-line item ends with a brace indented like its beginning.
            if word.ends_with('{') {
                let indent = &code[..code.len() - code.trim_start().len()];
                skipping = Some(format!("{indent}}}"));
            }
        } else {
            kept += code;
        }
        kept.push('\n');
    }
    kept
}

/// The Rust files below a module, except those only for tests.
fn files(module: &Path, out: &mut Vec<PathBuf>) {
    let file = module.with_extension("rs");
    let within = if module.join("mod.rs").is_file() {
        module.join("mod.rs")
    } else {
        file
    };
    let source = std::fs::read_to_string(&within)
        .unwrap_or_else(|error| panic!("{}: {error}", within.display()));
    out.push(within.clone());
    let all = declared(&source);
    let code = program(&within);
    for name in declared(&code) {
        assert!(all.contains(&name));
        files(&module.join(name), out);
    }
}

/// The modules that a file declares and that have their own files, in order.
fn declared(source: &str) -> Vec<String> {
    source
        .lines()
        .filter_map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("pub").map_or(line, |rest| {
                let rest = rest.trim_start();
                let restricted = rest.strip_prefix('(');
                restricted
                    .and_then(|it| it.split_once(')'))
                    .map_or(rest, |it| it.1)
            });
            line.trim_start().strip_prefix("mod ")?.strip_suffix(';')
        })
        .map(str::to_owned)
        .collect()
}

/// The names that follow `prefix` in a source, such as `crate::`, each with its line:
/// `crate::a::b`, `crate::{a, b::c}`.
fn names_after(prefix: &str, source: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices(prefix) {
        let before = source[..at].chars().next_back();
        if before.is_some_and(|it| it.is_alphanumeric() || it == '_' || it == ':') {
            continue;
        }
        let line = source[..at].matches('\n').count() + 1;
        let rest = &source[at + prefix.len()..];
        let name = |text: &str| -> String {
            text.chars()
                .take_while(|it| it.is_alphanumeric() || *it == '_')
                .collect()
        };
        let Some(group) = rest.strip_prefix('{') else {
            found.push((name(rest), line));
            continue;
        };
        let mut depth = 1;
        let mut begins = true;
        for (at, it) in group.char_indices() {
            match it {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => begins = true,
                _ if begins && depth == 1 && !it.is_whitespace() => {
                    found.push((name(&group[at..]), line));
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found.retain(|(name, _)| !name.is_empty());
    found
}

fn shown(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap();
    path.to_string_lossy().replace('\\', "/")
}

/// The rooms in the order of `src/lib.rs`. `fuzzing` is compiled for tests only and may use all of
/// them.
fn rooms() -> Vec<String> {
    let rooms = declared(&program(&root().join("src/lib.rs")));
    assert!(rooms.len() > 15, "{rooms:?}");
    rooms
}

fn graph(rooms: &[String]) -> Graph {
    let mut graph = Graph::new();
    for room in rooms {
        let mut paths = Vec::new();
        files(&root().join("src").join(room), &mut paths);
        let uses = graph.entry(room.clone()).or_default();
        for path in paths {
            for (name, line) in names_after("crate::", &program(&path)) {
                if rooms.contains(&name) && name != *room {
                    uses.entry(name).or_default().insert((shown(&path), line));
                }
            }
        }
    }
    graph
}

/// `room -> a, b`, one per line.
fn drawn(order: &[String], graph: &Graph) -> String {
    let mut text = String::new();
    for room in order {
        let uses: Vec<&str> = order
            .iter()
            .filter(|it| graph.get(room).is_some_and(|uses| uses.contains_key(*it)))
            .map(String::as_str)
            .collect();
        let _ = writeln!(text, "  {room:14} -> {}", uses.join(", "));
    }
    text
}

#[test]
fn no_room_uses_a_later_one() {
    let rooms = rooms();
    let graph = graph(&rooms);
    let edges: usize = graph.values().map(BTreeMap::len).sum();
    assert!(edges > 50, "only {edges} edges were found");
    let place = |room: &String| rooms.iter().position(|it| it == room).unwrap();
    let mut backward = String::new();
    for (room, uses) in &graph {
        for (used, places) in uses {
            let is_allowed = BACKWARD.contains(&(room.as_str(), used.as_str()));
            if place(used) > place(room) && !is_allowed {
                let _ = writeln!(backward, "{room} -> {used}");
                for (path, line) in places {
                    let _ = writeln!(backward, "    {path}:{line}");
                }
            }
        }
    }
    assert!(
        backward.is_empty(),
        "a room uses rooms above it in src/lib.rs only:\n{backward}\nAll rooms:\n{}",
        drawn(&rooms, &graph)
    );
}

#[test]
fn the_architecture_describes_every_room_in_order() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let table = text.split("\n## Rooms\n").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let described: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| **`")?.split('`').next())
        .filter(|room| !IN_MOTION.contains(room))
        .collect();
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let there = declared(&lib);
    let there: Vec<&str> = there
        .iter()
        .map(String::as_str)
        .filter(|room| !IN_MOTION.contains(room))
        .collect();
    assert_eq!(
        described, there,
        "docs/architecture.md (left) has other rooms, or another order, than src/lib.rs (right)"
    );
}

/// The files of a room that depend on each other in a cycle. A folder below the room counts as one
/// file.
fn circles(room: &str) -> (Vec<Vec<String>>, String) {
    let folder = root().join("src").join(room);
    let entrance = program(&folder.join("mod.rs"));
    let modules = declared(&entrance);
    // What the module root re-exports from its files: `pub(crate) use error::{Error, Exit};`.
    let mut handed_on: BTreeMap<String, String> = BTreeMap::new();
    for module in &modules {
        for prefix in [format!("use {module}::"), format!("use self::{module}::")] {
            for (name, _) in names_after(&prefix, &entrance) {
                handed_on.insert(name, module.clone());
            }
        }
    }
    let mut graph = Graph::new();
    for module in &modules {
        let mut paths = Vec::new();
        files(&folder.join(module), &mut paths);
        let uses = graph.entry(module.clone()).or_default();
        for path in paths {
            let depth = path.strip_prefix(&folder).unwrap().components().count();
            let is_entrance = path.ends_with("mod.rs");
            let up = "super::".repeat(if is_entrance { depth - 1 } else { depth });
            let source = program(&path);
            for prefix in [up, format!("crate::{room}::")] {
                for (name, line) in names_after(&prefix, &source) {
                    let name = handed_on.get(&name).cloned().unwrap_or(name);
                    if modules.contains(&name) && name != *module {
                        uses.entry(name).or_default().insert((shown(&path), line));
                    }
                }
            }
        }
    }
    let edges: usize = graph.values().map(BTreeMap::len).sum();
    assert!(edges > modules.len() / 2, "only {edges} edges: {graph:?}");
    let reaches = |from: &String| -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = graph[from].keys().collect();
        while let Some(module) = next.pop() {
            if seen.insert(module.clone()) {
                next.extend(graph[module].keys());
            }
        }
        seen
    };
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for module in &modules {
        let reached = reaches(module);
        if reached.contains(module) {
            let circle = reached
                .into_iter()
                .filter(|it| reaches(it).contains(module));
            circles.insert(circle.collect());
        }
    }
    (circles.into_iter().collect(), drawn(&modules, &graph))
}

#[test]
fn the_files_of_cli_and_run_have_no_dependency_cycle() {
    for room in ["cli", "run"] {
        let (circles, drawn) = circles(room);
        assert!(
            circles.is_empty(),
            "files of src/{room} use each other in a circle: {circles:?}\n{drawn}"
        );
    }
}

#[test]
fn the_source_reader_finds_all_kinds_of_dependencies() {
    let source = "use crate::{a::{b, c}, d,\n    e::f};\nlet x = crate::g::h(); // crate::no\n$crate::i!()\nmy_crate::no";
    let names: Vec<(String, usize)> =
        names_after("crate::", source.replace("// crate::no", "").as_str());
    let names: Vec<&str> = names.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["a", "d", "e", "g", "i"]);
    let declared =
        declared("pub mod a;\nmod b;\npub(crate) mod c;\nmod d {\n}\npub(in crate::x) mod e;");
    assert_eq!(declared, ["a", "b", "c", "e"]);
}
