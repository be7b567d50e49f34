//! Texts that would differ on another machine or another day.
//!
//! Two boots on one machine have the same folder, host and date, so such a text passes every
//! repetition and drifts on the next machine. Known facts about this machine are searched for
//! instead; that is a guess, and a finding.

use super::describe::{cut, mask_entry};
use crate::canonical::{Json, pointer};
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Note, Surface};

/// How many texts are named individually.
const NAMED: usize = 20;

/// Names that appear in texts without meaning this machine.
const USUAL: [&str; 16] = [
    "root",
    "user",
    "admin",
    "node",
    "runner",
    "ubuntu",
    "debian",
    "docker",
    "vscode",
    "build",
    "test",
    "home",
    "guest",
    "default",
    "localhost",
    "local",
];

/// What is known about this machine and this day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The server's working directory.
    pub folder: Option<String>,
    /// The home folder that it sees.
    pub home: Option<String>,
    pub host: Option<String>,
    pub user: Option<String>,
    /// The time zone that it sees.
    pub zone: Option<String>,
    /// Today: year, month, day.
    pub today: Option<(u16, u8, u8)>,
}

/// A text to look for, and what it says about this machine or this day.
struct Needle {
    fact: &'static str,
    text: String,
    is_date: bool,
}

/// A finding for every text that contains a fact about this machine or this day.
pub fn notes(surface: &Surface, facts: &Facts) -> Vec<Note> {
    let needles = facts.needles();
    // In every format of a date.
    let year = facts.today.map(|(year, ..)| year.to_string());
    let mut notes = Vec::new();
    let mut look = |component: Option<&ComponentKey>, at: &str, text: &str| {
        let may_have_a_date = year.as_ref().is_some_and(|year| text.contains(year));
        let possible = |it: &&Needle| may_have_a_date || !it.is_date;
        let found = needles.iter().filter(possible).find_map(|needle| {
            let start = find(text, &needle.text)?;
            Some((needle, &text[..start], &text[start + needle.text.len()..]))
        });
        let Some((needle, before, after)) = found else {
            return;
        };
        let mask = mask_entry(component.map(ComponentKey::as_str), at, before, after);
        let mut message = format!(
            "`{}` contains {} (`{}`), so it will differ elsewhere",
            cut(at),
            needle.fact,
            needle.text
        );
        if let Some(mask) = mask {
            message += &format!("; to leave it out: mask = [{mask}]");
        }
        notes.push(Note {
            rule: RuleId::TextDependsOnEnvironment,
            component: component.cloned(),
            message,
        });
    };
    strings(
        &surface.server_info,
        &mut "/serverInfo".to_owned(),
        &mut |at, text| look(None, at, text),
    );
    if let Some(text) = &surface.instructions {
        look(None, "/instructions", text.to_string_lossy());
    }
    for component in &surface.components {
        strings(
            &component.definition,
            &mut String::new(),
            &mut |at, text| look(Some(&component.key), at, text),
        );
    }
    if notes.len() > NAMED {
        let more = notes.len() - NAMED;
        notes.truncate(NAMED);
        notes.push(Note {
            rule: RuleId::TextDependsOnEnvironment,
            component: None,
            message: format!("{more} more texts depend on this machine or on today's date"),
        });
    }
    notes
}

impl Facts {
    fn needles(&self) -> Vec<Needle> {
        let mut needles = Vec::new();
        let mut add = |fact, text: &str| {
            needles.push(Needle {
                fact,
                text: text.to_owned(),
                is_date: false,
            });
        };
        let path = |path: &Option<String>| {
            let path = path.as_deref().map(|it| it.trim_end_matches(['/', '\\']));
            path.filter(|it| it.len() > 1).map(str::to_owned)
        };
        if let Some(folder) = path(&self.folder) {
            add("the working folder", &folder);
        }
        if let Some(home) = path(&self.home) {
            add("the home folder", &home);
        }
        let name = |name: &Option<String>| {
            let usual = |it: &String| USUAL.contains(&it.to_ascii_lowercase().as_str());
            name.clone()
                .filter(|it| it.chars().count() > 3 && !usual(it))
        };
        if let Some(host) = name(&self.host) {
            add("the name of this machine", &host);
        }
        if let Some(user) = name(&self.user) {
            add("the user name", &user);
        }
        // UTC appears in many texts, and is what every server sees by default.
        let zone = self.zone.as_deref().filter(|zone| zone.contains('/'));
        if let Some(zone) = zone {
            add("the time zone", zone.trim_start_matches(':'));
        }
        let dates = self.today.iter().flat_map(dates);
        needles.extend(dates.map(|text| Needle {
            fact: "today's date",
            text,
            is_date: true,
        }));
        needles
    }
}

/// A date in the formats that texts use.
fn dates((year, month, day): &(u16, u8, u8)) -> Vec<String> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut dates = vec![
        format!("{year}-{month:02}-{day:02}"),
        format!("{year}/{month:02}/{day:02}"),
        format!("{year}{month:02}{day:02}"),
        format!("{day:02}.{month:02}.{year}"),
        format!("{month:02}/{day:02}/{year}"),
        format!("{day:02}/{month:02}/{year}"),
        format!("{month}/{day}/{year}"),
    ];
    if let Some(name) = MONTHS.get(usize::from(*month).saturating_sub(1)) {
        for name in [name, &name[..3]] {
            for day in [format!("{day}"), format!("{day:02}")] {
                dates.extend([
                    format!("{name} {day}, {year}"),
                    format!("{name} {day} {year}"),
                    format!("{day} {name} {year}"),
                ]);
            }
        }
    }
    dates
}

/// The position of a text as a whole word.
fn find(text: &str, needle: &str) -> Option<usize> {
    // Nearly always enough, and far faster than what finds the place.
    if !text.contains(needle) {
        return None;
    }
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    text.match_indices(needle).map(|(at, _)| at).find(|at| {
        !is_part(text[..*at].chars().next_back())
            && !is_part(text[at + needle.len()..].chars().next())
    })
}

/// Every string below a value, with its place.
fn strings(value: &Json, at: &mut String, look: &mut impl FnMut(&str, &str)) {
    match value {
        Json::String(text) => look(at, text.to_string_lossy()),
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer::descend(at, &index.to_string(), |at| strings(item, at, look));
            }
        }
        Json::Object(object) => {
            for (name, value) in object.iter() {
                pointer::descend(at, name.to_string_lossy(), |at| strings(value, at, look));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;
    use crate::surface::{ClientProfile, Lists, Scope};

    fn notes_for(description: &str) -> Vec<String> {
        let facts = Facts {
            folder: Some("/home/ada/project/".into()),
            home: Some("/home/ada".into()),
            host: Some("difference-engine".into()),
            user: Some("ada".into()),
            zone: Some("Europe/Oslo".into()),
            today: Some((2026, 3, 4)),
        };
        let tool = Json::object([
            ("name", Json::string("a")),
            ("description", Json::string(description)),
        ]);
        let lists = Lists {
            tools: vec![tool],
            ..Lists::default()
        };
        let surface = Surface::new(&Json::Null, lists, ClientProfile::default(), Scope::FULL);
        notes(&surface, &facts)
            .into_iter()
            .map(|note| note.message)
            .collect()
    }

    #[test]
    fn the_machine_and_the_day_are_found_as_whole_words() {
        for (text, what) in [
            (
                "Reads below /home/ada/project/src.",
                "the working folder (`/home/ada/project`)",
            ),
            ("Reads /home/ada.", "the home folder"),
            ("On difference-engine now", "the name of this machine"),
            ("Use 'Europe/Oslo' as local", "the time zone"),
            ("Today is 2026-03-04.", "today's date (`2026-03-04`)"),
            ("Today is Mar 4, 2026", "today's date"),
            ("Today is Wed 04 March 2026", "today's date"),
        ] {
            let found = notes_for(text);
            assert!(
                found.len() == 1 && found[0].contains(what),
                "{text}: {found:?}"
            );
        }
        for text in [
            "",
            "ada",
            "/home/adam",
            "2026-03-041",
            "UTC",
            "my-difference-engine-2",
        ] {
            assert!(notes_for(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_suggested_mask_covers_exactly_that_text() {
        let found = notes_for("Saves below /home/ada/project as PNG.");
        let line = found[0].split_once("mask = ").unwrap().1;
        let table: toml_edit::DocumentMut = format!("mask = {line}").parse().unwrap();
        let pattern = regex::Regex::new(table["mask"][0]["pattern"].as_str().unwrap()).unwrap();
        assert_eq!(
            &pattern.captures("Saves below /srv/x as PNG.").unwrap()[1],
            "/srv/x"
        );
    }

    #[test]
    fn a_uri_cannot_be_masked_but_is_reported() {
        let resource = parse_str(r#"{"uri":"file:///home/ada/notes","name":"n"}"#).unwrap();
        let lists = Lists {
            resources: vec![resource],
            ..Lists::default()
        };
        let surface = Surface::new(&Json::Null, lists, ClientProfile::default(), Scope::FULL);
        let facts = Facts {
            home: Some("/home/ada".into()),
            ..Facts::default()
        };
        let found = notes(&surface, &facts);
        assert!(
            found[0].message.ends_with("so it will differ elsewhere"),
            "{found:?}"
        );
    }
}
