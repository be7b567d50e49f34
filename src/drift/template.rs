//! Resource templates whose `uriTemplate` changed: one change with the variables and a URI that no
//! longer matches.
//!
//! The promise: a URI shown as a witness is an expansion of the old template and not of the new
//! one. The pattern of the new one accepts more than RFC 6570 produces, never less.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::{Change, component, quoted_list};
use crate::canonical::Json;
use crate::judgement::{Level, Proof};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::surface::{Component, Kind, Surface};

/// Longer templates are compared as text.
const LONGEST: usize = 4096;
/// Of more variables than this, only some are omitted one by one.
const MOST_VARIABLES: usize = 16;
/// With more templates than this on either side, templates are reported as removed and added.
const MOST: usize = 300;

/// A resource template under its old and its new URI.
pub(super) struct Moved<'a> {
    pub(super) old: &'a Component,
    pub(super) new: &'a Component,
}

/// The pairs that are one template: of the same name, or the only ones with these variables. Each
/// template is in one pair at most.
pub(super) fn find<'a>(removed: &[&'a Component], added: &[&'a Component]) -> Vec<Moved<'a>> {
    let templates = |all: &[&'a Component]| -> Vec<&'a Component> {
        let templates = all.iter().filter(|it| it.kind == Kind::Template);
        templates.copied().collect()
    };
    let (mut removed, mut added) = (templates(removed), templates(added));
    let mut pairs = Vec::new();
    if removed.len() > MOST || added.len() > MOST {
        return pairs;
    }
    for recognise in [name, variables_and_scheme] {
        let by_mark = |all: &[&'a Component]| -> BTreeMap<String, Vec<&'a Component>> {
            let mut marked: BTreeMap<String, Vec<&'a Component>> = BTreeMap::new();
            for template in all {
                if let Some(mark) = recognise(template) {
                    marked.entry(mark).or_default().push(template);
                }
            }
            marked
        };
        let (olds, news) = (by_mark(&removed), by_mark(&added));
        for (mark, old) in olds {
            if let ([old], Some([new])) = (old.as_slice(), news.get(&mark).map(Vec::as_slice)) {
                pairs.push(Moved { old, new });
            }
        }
        removed.retain(|it| !pairs.iter().any(|pair| pair.old.key == it.key));
        added.retain(|it| !pairs.iter().any(|pair| pair.new.key == it.key));
    }
    pairs
}

fn name(template: &Component) -> Option<String> {
    let name = template.definition.get("name")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn variables_and_scheme(template: &Component) -> Option<String> {
    let variables = variables(template).filter(|it| !it.is_empty())?;
    let (scheme, _) = template.key.identity().split_once("://")?;
    Some(format!("{scheme} {}", variables.join(" ")))
}

/// The variables of a template in order; `None` if it is not a template.
pub(super) fn variables(template: &Component) -> Option<Vec<String>> {
    Some(UriTemplate::parse(text_of(template)?)?.variables())
}

fn text_of(template: &Component) -> Option<&str> {
    template.definition.get("uriTemplate")?.as_str()
}

impl Moved<'_> {
    /// The move, and whatever else changed in the template.
    pub(super) fn compare(&self, surface: &Surface, work: &Work, changes: &mut Vec<Change>) {
        let (was, is) = (text_of(self.old), text_of(self.new));
        let (old, new) = (
            was.and_then(UriTemplate::parse),
            is.and_then(UriTemplate::parse),
        );
        let names = |of: &Option<UriTemplate<'_>>| {
            of.as_ref().map(UriTemplate::variables).unwrap_or_default()
        };
        let (before, after) = (names(&old), names(&new));
        let completed = surface.capabilities.get("completions").is_some() && before != after;
        let named = |variables: &[String]| match variables {
            [] => "none".to_owned(),
            variables => quoted_list(variables),
        };
        let variables = if before == after {
            format!("variables unchanged: {}", named(&before))
        } else {
            format!("variables {} → {}", named(&before), named(&after))
        };
        let completions = if completed {
            "; `completion/complete` takes the variables as argument names"
        } else {
            ""
        };
        let message = format!("`uriTemplate` changed; {variables}{completions}");
        let mut change = Change::new(RuleId::TemplateUriChanged, "/uriTemplate", message).values(
            was.map(Json::string).as_ref(),
            is.map(Json::string).as_ref(),
        );
        let unmatched = old.zip(new).map(|(old, new)| old.unmatched_by(&new));
        match unmatched {
            Some(Some(uri)) => {
                change.proof = Some(Proof::Witness(Json::object([("uri", Json::string(uri))])));
            }
            Some(None) => change.level = Level::Risky,
            // Not a template, so no URI can be made from it.
            None => {}
        }
        change.component = Some(self.old.key.clone());
        changes.push(change);
        let mut others = Vec::new();
        component::compare(self.old, self.new, work, &mut others);
        for mut change in others.into_iter().filter(|it| it.pointer != "/uriTemplate") {
            change.component = Some(self.old.key.clone());
            changes.push(change);
        }
    }
}

/// An RFC 6570 template.
struct UriTemplate<'a>(Vec<Part<'a>>);

enum Part<'a> {
    Literal(&'a str),
    Expression {
        operator: char,
        variables: Vec<Variable<'a>>,
    },
}

struct Variable<'a> {
    name: &'a str,
    explode: bool,
    /// Only this many characters of its value.
    prefix: Option<usize>,
}

/// The operator of an expression that has none.
const SIMPLE: char = ' ';
/// Longer prefixes count as whole values.
const LONGEST_PREFIX: usize = 100;

/// Which values an expansion gives to variables.
#[derive(Clone, Copy)]
enum Values {
    /// One short word each.
    Short,
    /// What only some forms can express: two items, a slash, and this many characters.
    Rich(usize),
}

impl<'a> UriTemplate<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            parts.push(Part::Literal(literal));
            let (inside, after) = after.split_once('}')?;
            let operator = inside.chars().next().filter(|it| "+#./;?&".contains(*it));
            let names = if operator.is_some() {
                &inside[1..]
            } else {
                inside
            };
            let variables = names
                .split(',')
                .map(Variable::parse)
                .collect::<Option<Vec<_>>>()?;
            parts.push(Part::Expression {
                operator: operator.unwrap_or(SIMPLE),
                variables,
            });
            rest = after;
        }
        if rest.contains('}') {
            return None;
        }
        parts.push(Part::Literal(rest));
        Some(Self(parts))
    }

    /// Each once, in the order of the template.
    fn variables(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for part in &self.0 {
            if let Part::Expression { variables, .. } = part {
                for variable in variables {
                    if !names.iter().any(|name| name == variable.name) {
                        names.push(variable.name.to_owned());
                    }
                }
            }
        }
        names
    }

    /// A URI that this template produces and `new` does not: with all variables, without one of
    /// them, with none; with short values first.
    fn unmatched_by(&self, new: &UriTemplate<'_>) -> Option<String> {
        let pattern = Regex::new(&new.pattern()).ok()?;
        let all: BTreeSet<String> = self.variables().into_iter().collect();
        let without = all.iter().take(MOST_VARIABLES).map(|name| {
            let others = all.iter().filter(|it| *it != name);
            others.cloned().collect::<BTreeSet<String>>()
        });
        let mut attempts = vec![all.clone()];
        attempts.extend(without);
        attempts.push(BTreeSet::new());
        let short = attempts.iter().map(|it| self.expand(it, Values::Short));
        let rich = Values::Rich(new.longest_prefix() + 1);
        let rich = attempts.iter().map(|it| self.expand(it, rich));
        short.chain(rich).find(|uri| !pattern.is_match(uri))
    }

    /// The longest prefix that a variable is cut to.
    fn longest_prefix(&self) -> usize {
        let expressions = self.0.iter().flat_map(|part| match part {
            Part::Literal(_) => &[],
            Part::Expression { variables, .. } => variables.as_slice(),
        });
        let prefixes = expressions.filter_map(|it| it.prefix);
        prefixes
            .filter(|it| *it <= LONGEST_PREFIX)
            .max()
            .unwrap_or_default()
    }

    /// The URI with a value for each of these variables.
    fn expand(&self, defined: &BTreeSet<String>, values: Values) -> String {
        let mut uri = String::new();
        for part in &self.0 {
            match part {
                Part::Literal(literal) => uri.push_str(&encoded(literal)),
                Part::Expression {
                    operator,
                    variables,
                } => {
                    let defined = variables.iter().filter(|it| defined.contains(it.name));
                    let expanded: Vec<String> =
                        defined.map(|it| it.expand(*operator, values)).collect();
                    if expanded.is_empty() {
                        continue;
                    }
                    if !matches!(operator, &SIMPLE | '+') {
                        uri.push(*operator);
                    }
                    uri.push_str(&expanded.join(separator(*operator)));
                }
            }
        }
        uri
    }

    /// Matches every URI that the template produces.
    fn pattern(&self) -> String {
        let mut pattern = "^".to_owned();
        for part in &self.0 {
            match part {
                Part::Literal(literal) => pattern.push_str(&regex::escape(&encoded(literal))),
                Part::Expression {
                    operator,
                    variables,
                } => {
                    pattern.push_str(&Self::expression(*operator, variables));
                }
            }
        }
        pattern.push('$');
        pattern
    }

    fn expression(operator: char, variables: &[Variable<'_>]) -> String {
        let named = |separator: char| {
            let names: Vec<String> = variables.iter().map(|it| regex::escape(it.name)).collect();
            // An exploded map brings its own names.
            let name = if variables.iter().any(|it| it.explode) {
                "[^&;#/=]*".to_owned()
            } else {
                format!("(?:{})", names.join("|"))
            };
            format!("{name}(?:=[^&;#]*)?(?:{separator}{name}(?:=[^&;#]*)?)*")
        };
        match operator {
            '+' => "(?s:.*)".to_owned(),
            '#' => "(?s:#.*)?".to_owned(),
            '.' => r"(?:\.[^/?#]*)?".to_owned(),
            '/' if variables.iter().any(|it| it.explode) => "(?:/[^?#]*)?".to_owned(),
            '/' => format!("(?:/[^/?#]*){{0,{}}}", variables.len()),
            ';' => format!("(?:;{})?", named(';')),
            '?' => format!(r"(?:\?{})?", named('&')),
            '&' => format!("(?:&{})?", named('&')),
            _ => match variables {
                [
                    Variable {
                        prefix: Some(length),
                        ..
                    },
                ] if *length <= LONGEST_PREFIX => {
                    // One character, or its encoded bytes.
                    format!("(?:(?:%[0-9A-Fa-f]{{2}}){{1,4}}|[^/?#%]){{0,{length}}}")
                }
                _ => "[^/?#]*".to_owned(),
            },
        }
    }
}

/// What is between the values of an expression.
fn separator(operator: char) -> &'static str {
    match operator {
        '.' => ".",
        '/' => "/",
        ';' => ";",
        '?' | '&' => "&",
        _ => ",",
    }
}

/// A literal as it is in a URI: what a URI cannot contain is percent-encoded (RFC 6570, 3.1).
fn encoded(literal: &str) -> String {
    let mut out = String::with_capacity(literal.len());
    for (at, character) in literal.char_indices() {
        let is_escape = || {
            let digits = literal.as_bytes().get(at + 1..at + 3);
            digits.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit))
        };
        let is_kept = character.is_ascii_alphanumeric()
            || "-._~:/?#[]@!$&'()*+,;=".contains(character)
            || (character == '%' && is_escape());
        if is_kept {
            out.push(character);
        } else {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

impl<'a> Variable<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (text, explode) = match text.strip_suffix('*') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let (name, prefix) = match text.split_once(':') {
            Some((name, length)) => (name, Some(length.parse().ok()?)),
            None => (text, None),
        };
        let is_name = |it: char| it.is_alphanumeric() || "_.%-".contains(it);
        (!name.is_empty() && name.chars().all(is_name)).then_some(Self {
            name,
            explode,
            prefix,
        })
    }

    fn expand(&self, operator: char, values: Values) -> String {
        let name = self.name.to_lowercase();
        let is_number = ["id", "number", "page", "count", "index"]
            .iter()
            .any(|it| name.ends_with(it));
        let short = if is_number { "1" } else { "example" };
        let items: Vec<String> = match values {
            Values::Short => vec![short.to_owned()],
            Values::Rich(_) if self.explode => vec!["a".to_owned(), "b".to_owned()],
            Values::Rich(_) if matches!(operator, '+' | '#') => vec!["a/b".to_owned()],
            Values::Rich(length) => {
                let length = length.max(short.len());
                vec![short.chars().cycle().take(length).collect()]
            }
        };
        let items = items.into_iter().map(|item| {
            let kept = self.prefix.unwrap_or(usize::MAX);
            let item: String = item.chars().take(kept).collect();
            match operator {
                ';' | '?' | '&' => format!("{}={item}", self.name),
                _ => item,
            }
        });
        items.collect::<Vec<_>>().join(separator(operator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unmatched(old: &str, new: &str) -> Option<String> {
        let template = |text| UriTemplate::parse(text).unwrap();
        template(old).unmatched_by(&template(new))
    }

    #[test]
    fn a_uri_that_the_new_template_does_not_produce_is_found() {
        for (old, new, uri) in [
            ("users://{id}", "people://{id}", "users://1"),
            ("users://{id}", "users://{id}/profile", "users://1"),
            ("a://{x}/{y}", "a://{x}", "a://example/example"),
            ("a://{+path}", "a://{path}", "a://a/b"),
            ("a://s{#x}", "a://s{/x}", "a://s#example"),
            ("a://s{/path*}", "a://s{/path}", "a://s/a/b"),
            ("a://{id}", "a://{id:3}", "a://1111"),
            ("a://{name}", "a://{name:3}", "a://example"),
            (
                "a://s{?q,page}",
                "a://s{?query,page}",
                "a://s?q=example&page=1",
            ),
            ("a://s{?q}", "a://{q}", "a://s?q=example"),
            ("a://s{/x*}", "a://s{.x}", "a://s/example"),
            ("a://s{;x}", "a://s", "a://s;x=example"),
            ("a://s{#x:3}", "a://s", "a://s#exa"),
            ("a://b", "a://c", "a://b"),
        ] {
            let found = unmatched(old, new);
            assert_eq!(found.as_deref().unwrap_or(""), uri, "{old} {new}");
        }
    }

    #[test]
    fn a_uri_that_still_matches_is_not_a_witness() {
        for (old, new) in [
            ("users://{id}", "users://{user_id}"),
            ("a://{x}", "a://{+x}"),
            ("a://s{?q}", "a://s{?q,page}"),
            ("a://s{?q}", "a://s{?filter*}"),
            ("a://{x}", "a://{x}{?page}"),
            ("a://{x:3}", "a://{x}"),
            ("a://b", "a://{x}"),
            ("a://s{/x,y}", "a://s{/y,z}"),
            ("a://s{/x}", "a://s{/x*}"),
            ("a://{x:3}", "a://{x:3}{?y}"),
            ("a://{x:2}", "a://{x:3}"),
            // Literals are encoded.
            ("a://café/{id}", "a://caf%C3%A9/{id}"),
            ("a://a b/{id}", "a://a%20b/{id}"),
        ] {
            assert_eq!(unmatched(old, new), None, "{old} {new}");
        }
    }

    #[test]
    fn an_invalid_template_is_not_parsed() {
        for text in [
            "a://{x",
            "a://x}",
            "a://{}",
            "a://{a b}",
            "a://{x:y}",
            "a://{,}",
        ] {
            assert!(UriTemplate::parse(text).is_none(), "{text}");
        }
        let names = UriTemplate::parse("a://{x}{?x,y*}").unwrap().variables();
        assert_eq!(names, ["x", "y"]);
    }
}
