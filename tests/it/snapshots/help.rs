//! The help of each command. The commands are read from the help itself.

use std::collections::BTreeSet;

use super::Comparison;
use crate::keel::Keel;

#[test]
fn of_each_command() {
    let mut comparison = Comparison::default();
    for command in commands() {
        let mut words: Vec<&str> = command.split_whitespace().collect();
        words.push("--help");
        let text = Keel::new().run(&words).exits(0).stdout;
        comparison.file(&format!("help/{}", name(&command)), &text);
    }
    comparison.finish();
}

pub(super) fn names() -> BTreeSet<String> {
    commands().iter().map(|command| name(command)).collect()
}

fn name(command: &str) -> String {
    if command.is_empty() {
        "mcp-keel.txt".to_owned()
    } else {
        format!("{}.txt", command.replace(' ', "-"))
    }
}

/// All commands; the empty one is the program itself.
fn commands() -> Vec<String> {
    let mut all = vec![String::new()];
    let mut next = 0;
    while next < all.len() {
        let above = all[next].clone();
        next += 1;
        for word in listed(&above) {
            all.push(format!("{above} {word}").trim().to_owned());
        }
    }
    assert!(all.len() > 15, "{all:?}");
    all
}

/// The commands that the help of a command lists.
fn listed(command: &str) -> Vec<String> {
    let mut words: Vec<&str> = command.split_whitespace().collect();
    words.push("-h");
    let text = Keel::new().run(&words).exits(0).stdout;
    if command.is_empty() {
        return of_the_program(&text);
    }
    let list = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    list.take_while(|line| !line.is_empty())
        // A wrapped description continues below itself.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .map(str::to_owned)
        .collect()
}

/// The commands in the grouped list of the program: a line each, or in the list of all others.
fn of_the_program(text: &str) -> Vec<String> {
    let list = text.lines().skip_while(|line| !line.ends_with(':'));
    let list = list.take_while(|line| !line.contains("Options:"));
    let lines: Vec<&str> = list.filter(|line| line.starts_with("  ")).collect();
    let also = text.lines().position(|line| line == "Also:").unwrap();
    let also: Vec<&str> = text
        .lines()
        .skip(also + 1)
        .take_while(|it| !it.is_empty())
        .collect();
    let mut found = Vec::new();
    for line in lines {
        if also.contains(&line) {
            found.extend(line.split(',').map(|it| it.trim().to_owned()));
        } else {
            found.extend(line.split_whitespace().next().map(str::to_owned));
        }
    }
    found.retain(|it| !it.is_empty());
    found
}
