//! Instances of a schema: minimal ones, and ones that exercise a given place.
//!
//! A sample has the required members and nothing else, with values that a reader recognises: constants,
//! enumerated values, examples and defaults before values by meaning, and those before invented ones. Nothing
//! here is trusted: the validator confirms every instance before anybody sees it.

use super::document::Document;
use super::example_values::{SHAPES, text_for, text_of_format, whole_for};
use super::prove::Patterns;
use super::prove::evaluate::accepts_all;
use super::prove::view::{Kind, View};
use super::regex_sample;
use super::value::as_count;
use crate::canonical::{Json, Number, Object, Text, parse_str};

/// One step from a schema to a place inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The member of this name.
    Member(Text),
    /// A member that nothing names.
    Extra,
    /// The item at this index.
    Item(usize),
    /// A branch of a union: which keyword, which index.
    Branch(&'static str, usize),
}

const MAX_DEPTH: usize = 12;
/// Longer strings and arrays are not built.
const MAX_LENGTH: u64 = 4_096;

pub(crate) struct Sampler<'a> {
    pub(crate) document: &'a Document,
    pub(crate) patterns: &'a Patterns,
}

impl<'a> Sampler<'a> {
    /// An instance of the whole schema with `put` at the end of `steps` (or the simplest value there).
    pub(crate) fn instance(&self, steps: &[Step], put: Option<&Json>) -> Option<Json> {
        let view = View::of(self.document, &self.document.root).ok()?;
        self.build(&view, "", steps, put, 0)
    }

    /// The view at the end of `steps`, and the name of the member there.
    pub(crate) fn place(&self, steps: &[Step]) -> Option<(View<'a>, String)> {
        let mut view = View::of(self.document, &self.document.root).ok()?;
        let mut name = String::new();
        for step in steps {
            let nodes = match step {
                Step::Member(member) => {
                    name = member.to_string_lossy().to_owned();
                    view.member(member, self.patterns)
                }
                Step::Extra => view.rest(),
                Step::Item(index) => view.item(*index),
                Step::Branch(keyword, index) => {
                    view = self.branch(&view, keyword, *index)?;
                    continue;
                }
            };
            view = View::of_all(self.document, &nodes).ok()?;
        }
        Some((view, name))
    }

    fn branch(&self, view: &View<'a>, keyword: &str, index: usize) -> Option<View<'a>> {
        let branches = view.split(self.document)?.ok()?;
        let wanted = branches.first()?.0 == keyword;
        if wanted {
            return branches
                .into_iter()
                .find(|(_, at, _)| *at == index)
                .map(|(_, _, view)| view);
        }
        branches
            .into_iter()
            .find_map(|(_, _, view)| self.branch(&view, keyword, index))
    }

    fn build(
        &self,
        view: &View<'a>,
        name: &str,
        steps: &[Step],
        put: Option<&Json>,
        depth: usize,
    ) -> Option<Json> {
        if depth > MAX_DEPTH * 2 {
            return None;
        }
        let Some((step, rest)) = steps.split_first() else {
            return match put {
                Some(value) => Some(value.clone()),
                None => self.simplest(view, name, depth),
            };
        };
        match step {
            Step::Branch(keyword, index) => {
                let view = self.branch(view, keyword, *index)?;
                self.build(&view, name, rest, put, depth + 1)
            }
            _ => {
                let direct = self.build_inside(view, name, step, rest, put, depth);
                direct.or_else(|| {
                    let branches = view.split(self.document)?.ok()?;
                    branches
                        .iter()
                        .take(8)
                        .find_map(|(_, _, view)| self.build(view, name, steps, put, depth + 1))
                })
            }
        }
    }

    fn build_inside(
        &self,
        view: &View<'a>,
        name: &str,
        step: &Step,
        rest: &[Step],
        put: Option<&Json>,
        depth: usize,
    ) -> Option<Json> {
        match step {
            Step::Member(member) => {
                let nodes = view.member(member, self.patterns);
                let inner = View::of_all(self.document, &nodes).ok()?;
                let value = self.build(&inner, member.to_string_lossy(), rest, put, depth + 1)?;
                self.object(view, Some((member.clone(), value)), depth)
            }
            Step::Extra => {
                let inner = View::of_all(self.document, &view.rest()).ok()?;
                let value = self.build(&inner, "example", rest, put, depth + 1)?;
                self.object(view, Some((self.extra_name(view), value)), depth)
            }
            Step::Item(index) => {
                let inner = View::of_all(self.document, &view.item(*index)).ok()?;
                let value = self.build(&inner, name, rest, put, depth + 1)?;
                self.array(view, name, Some((*index, value)), depth)
            }
            Step::Branch(..) => None,
        }
    }

    /// An instance with `value` one step below `view`.
    pub(crate) fn instance_of(
        &self,
        view: &View<'a>,
        step: &Step,
        value: &Json,
        depth: usize,
    ) -> Option<Json> {
        self.build_inside(view, "", step, &[], Some(value), depth)
    }

    /// A name for a member that nothing names.
    fn extra_name(&self, view: &View<'a>) -> Text {
        let fits = |candidate: &str| {
            let name = Json::string(candidate);
            view.all("propertyNames").all(|node| {
                super::prove::evaluate::accepts(self.document, node, &name, self.patterns)
                    != Some(false)
            })
        };
        let from_names = view
            .all("propertyNames")
            .filter_map(|node| View::of(self.document, node).ok())
            .filter_map(|view| self.simplest(&view, "key", 0))
            .find_map(|name| name.as_str().map(str::to_owned));
        let from_patterns = view
            .all("patternProperties")
            .filter_map(Json::as_object)
            .flat_map(|it| it.iter())
            .find_map(|(pattern, _)| self.matching(pattern.as_str()?));
        from_patterns
            .filter(|name| fits(name))
            .or_else(|| fits("key").then(|| "key".to_owned()))
            .or(from_names)
            .unwrap_or_else(|| "key".to_owned())
            .into()
    }

    /// The required members, and one more. A member that is needed for a count is taken from the declared ones.
    pub(crate) fn object(
        &self,
        view: &View<'a>,
        with: Option<(Text, Json)>,
        depth: usize,
    ) -> Option<Json> {
        if depth > MAX_DEPTH * 2 {
            return None;
        }
        let mut object = Object::new();
        let mut needed: Vec<Text> = view.required().into_iter().cloned().collect();
        if let Some((name, _)) = &with {
            for map in view
                .all("dependentRequired")
                .chain(view.all("dependencies"))
                .filter_map(Json::as_object)
            {
                if let Some(Json::Array(names)) = map.get(name.to_string_lossy()) {
                    needed.extend(names.iter().filter_map(Json::as_text).cloned());
                }
            }
            needed.retain(|it| it != name);
        }
        let least = usize::try_from(view.count("minProperties").unwrap_or(0).min(32)).unwrap_or(0);
        for name in view.names() {
            if needed.len() + usize::from(with.is_some()) >= least {
                break;
            }
            let extra = with.as_ref().is_some_and(|(it, _)| it == name);
            if !extra && !needed.contains(name) {
                needed.push(name.clone());
            }
        }
        needed.sort();
        needed.dedup();
        for name in needed {
            let nodes = view.member(&name, self.patterns);
            let inner = View::of_all(self.document, &nodes).ok()?;
            let value = self.simplest(&inner, name.to_string_lossy(), depth + 1)?;
            object.push(name, value);
        }
        if let Some((name, value)) = with {
            object.push(name, value);
        }
        if object.len() < least {
            let inner = View::of_all(self.document, &view.rest()).ok()?;
            let value = self.simplest(&inner, "example", depth + 1)?;
            object.push(self.extra_name(view), value);
        }
        Some(Json::Object(object))
    }

    /// As many items as are needed, and a given one.
    pub(crate) fn array(
        &self,
        view: &View<'a>,
        name: &str,
        with: Option<(usize, Json)>,
        depth: usize,
    ) -> Option<Json> {
        let least = view.count("minItems").unwrap_or(0);
        let wanted = with.as_ref().map_or(0, |(index, _)| *index as u64 + 1);
        let length = least.max(wanted);
        if length > MAX_LENGTH || depth > MAX_DEPTH * 2 {
            return None;
        }
        let mut items = Vec::new();
        for index in 0..usize::try_from(length).ok()? {
            match &with {
                Some((at, value)) if *at == index => items.push(value.clone()),
                _ => {
                    let inner = View::of_all(self.document, &view.item(index)).ok()?;
                    items.push(self.simplest(&inner, name, depth + 1)?);
                }
            }
        }
        let unique = view.all("uniqueItems").any(|it| *it == Json::Bool(true));
        if unique && items.len() > 1 {
            for at in 1..items.len() {
                if items[..at].contains(&items[at]) {
                    let inner = View::of_all(self.document, &view.item(at)).ok()?;
                    let other = self
                        .scalars(&inner, name)
                        .into_iter()
                        .find(|value| !items[..at].contains(value))?;
                    items[at] = other;
                }
            }
        }
        Some(Json::Array(items))
    }

    /// Whether a value is possible here as far as the parts themselves say; `None` counts as possible.
    pub(crate) fn fits(&self, view: &View<'a>, value: &Json) -> bool {
        view.kinds().has(Kind::of(value))
            && accepts_all(
                self.document,
                view.parts.iter().map(|part| part.node),
                value,
                self.patterns,
            ) != Some(false)
    }

    /// The simplest value that the schema lets through, as far as can be told.
    pub(crate) fn simplest(&self, view: &View<'a>, name: &str, depth: usize) -> Option<Json> {
        if view.never || depth > MAX_DEPTH {
            return None;
        }
        if let Some(value) = self
            .told(view)
            .into_iter()
            .find(|value| *value != Json::Null && self.fits(view, value))
        {
            return Some(value);
        }
        if let Some(branches) = view.split(self.document) {
            let mut found: Option<Json> = None;
            for (_, _, branch) in branches.ok()?.into_iter().take(12) {
                match self.simplest(&branch, name, depth + 1) {
                    Some(Json::Null) => found = found.or(Some(Json::Null)),
                    Some(value) => return Some(value),
                    None => {}
                }
            }
            return found;
        }
        for kind in view.kinds().iter() {
            let value = match kind {
                Kind::Array => self.array(view, name, None, depth),
                Kind::Object => self.object(view, None, depth),
                _ => self
                    .of_kind(view, kind, name)
                    .into_iter()
                    .find(|value| self.fits(view, value)),
            };
            if value.is_some() {
                return value;
            }
        }
        None
    }

    /// What the schema itself names as values, best first.
    fn told(&self, view: &View<'a>) -> Vec<Json> {
        let mut values: Vec<Json> = Vec::new();
        values.extend(view.all("const").cloned());
        for list in ["examples", "enum"] {
            values.extend(view.all(list).filter_map(Json::as_array).flatten().cloned());
        }
        values.extend(view.all("example").cloned());
        values.extend(view.all("default").cloned());
        // A long prose example or a whole default object does not make a readable witness.
        values.retain(|value| match value {
            Json::String(text) => text.as_str().is_some_and(|it| it.chars().count() <= 60),
            Json::Array(items) => items.len() <= 3,
            Json::Object(object) => object.len() <= 3,
            _ => true,
        });
        values
    }

    /// Scalar values of this schema, many of them.
    pub(crate) fn scalars(&self, view: &View<'a>, name: &str) -> Vec<Json> {
        let mut values = self.told(view);
        for kind in view.kinds().iter() {
            values.extend(self.of_kind(view, kind, name));
        }
        values.retain(|value| self.fits(view, value));
        values
    }

    fn of_kind(&self, view: &View<'a>, kind: Kind, name: &str) -> Vec<Json> {
        match kind {
            Kind::Null => vec![Json::Null],
            Kind::Boolean => vec![Json::Bool(true), Json::Bool(false)],
            Kind::Integer => whole_numbers(view, name),
            Kind::Fraction => fractions(view),
            Kind::String => self.strings(view, name),
            Kind::Array | Kind::Object => Vec::new(),
        }
    }

    fn strings(&self, view: &View<'a>, name: &str) -> Vec<Json> {
        let mut texts: Vec<String> = Vec::new();
        for format in view.all("format").filter_map(Json::as_str) {
            texts.extend(text_of_format(format).map(str::to_owned));
        }
        texts.push(text_for(name).to_owned());
        for pattern in view.all("pattern").filter_map(Json::as_str) {
            texts.extend(self.matching(pattern));
        }
        texts.extend(SHAPES.iter().map(|it| (*it).to_owned()));
        let least = view.count("minLength").unwrap_or(0).min(MAX_LENGTH);
        let most = view.count("maxLength").unwrap_or(MAX_LENGTH);
        let count = |text: &String| text.chars().count() as u64;
        let mut fitted: Vec<String> = texts
            .iter()
            .filter(|text| (least..=most).contains(&count(text)))
            .cloned()
            .collect();
        if fitted.is_empty() {
            fitted.extend(
                texts
                    .iter()
                    .take(2)
                    .map(|text| stretched(text, least, most)),
            );
        }
        fitted.into_iter().map(Json::string).collect()
    }

    /// A text that a pattern matches.
    fn matching(&self, pattern: &str) -> Option<String> {
        regex_sample::matching(pattern)
            .into_iter()
            .chain(SHAPES.iter().map(|it| (*it).to_owned()))
            .find(|text| self.patterns.matches(pattern, text) == Some(true))
    }
}

/// A text with a length inside the limits.
pub(crate) fn stretched(text: &str, least: u64, most: u64) -> String {
    let base = if text.is_empty() { "a" } else { text };
    let mut out: String = base.to_owned();
    while (out.chars().count() as u64) < least {
        out.push_str(base);
    }
    let target =
        usize::try_from(most.min(least.max(base.chars().count() as u64))).unwrap_or(usize::MAX);
    out.chars().take(target).collect()
}

fn number(text: &str) -> Option<Json> {
    parse_str(text).ok()
}

fn whole_numbers(view: &View<'_>, name: &str) -> Vec<Json> {
    let mut values = vec![whole_for(name), 1, 0];
    if let Some(low) = view.bound(true).and_then(|it| it.whole(true)) {
        values.extend([low, low.saturating_add(1)]);
    }
    if let Some(high) = view.bound(false).and_then(|it| it.whole(false)) {
        values.extend([high, high.saturating_sub(1)]);
    }
    for step in view.all("multipleOf").filter_map(as_count) {
        if let Ok(step) = i64::try_from(step) {
            values.extend([step, step.saturating_mul(2)]);
            if let Some(low) = view.bound(true).and_then(|it| it.whole(true))
                && step > 0
            {
                values.push((low.saturating_add(step - 1)) / step * step);
            }
        }
    }
    values.extend([10, 100, -1]);
    values.into_iter().map(Json::integer).collect()
}

fn fractions(view: &View<'_>) -> Vec<Json> {
    let mut values: Vec<Json> = ["0.5", "1.5", "10.5", "-0.5"]
        .iter()
        .filter_map(|it| number(it))
        .collect();
    let bounds = [view.bound(true), view.bound(false)];
    for bound in bounds.iter().flatten() {
        values.push(bound.number.clone());
    }
    if let [Some(low), Some(high)] = &bounds
        && let (Json::Number(low), Json::Number(high)) = (&low.number, &high.number)
    {
        let middle = f64::midpoint(low.to_f64(), high.to_f64());
        values.extend(number(&middle.to_string()));
    }
    for one in [&bounds[0], &bounds[1]].into_iter().flatten() {
        if let Json::Number(it) = &one.number {
            values.extend(number(&(it.to_f64() + 0.5).to_string()));
            values.extend(number(&(it.to_f64() - 0.5).to_string()));
        }
    }
    values.retain(|value| matches!(value, Json::Number(_)));
    values
}

/// The number beside another: one step below or above.
pub(crate) fn beside(number: &Number, up: bool) -> Vec<Json> {
    let step = if up { 1.0 } else { -1.0 };
    if let Some(whole) = super::value::as_i64(number) {
        let next = if up {
            whole.saturating_add(1)
        } else {
            whole.saturating_sub(1)
        };
        let half = self::number(&format!("{}", number.to_f64() + step / 2.0));
        return std::iter::once(Json::integer(next)).chain(half).collect();
    }
    let value = number.to_f64();
    [value + step, value + step / 100.0, value + step / 2.0]
        .iter()
        .filter_map(|it| self::number(&it.to_string()))
        .collect()
}
