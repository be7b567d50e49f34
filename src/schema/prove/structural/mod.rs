//! The structural walker: shows keyword by keyword that one schema lets through no more than another.
//!
//! For every kind of value that the sender can produce, every keyword of the receiver has to follow from what
//! the sender says. Where a keyword does not follow directly, the sender is taken apart: by kind, by the branches
//! of its unions, by the values of its enumerations. Recursive references are proved by assuming the claim for
//! smaller values (an assumption counts only after a step into a member or an item). The answer is either a proof
//! or "not shown"; "not shown" never means "refuted". Members of objects have a file of their own.

mod members;

use super::disjoint::Disjointness;
use super::evaluate::{Patterns, accepts, accepts_all, is_annotation};
use super::view::{Kind, Kinds, View};
use super::{Answer, Budget, Prover, Question};
use crate::canonical::{Json, Object};
use crate::schema::document::{Document, Draft, Problem};
use crate::schema::value::{as_count, as_i64, same};

/// How many comparisons one proof may take.
const MAX_STEPS: usize = 60_000;
/// How deep a proof may follow schemas, so that the stack suffices.
const MAX_DEPTH: usize = 160;

/// The structural prover.
pub(crate) struct Structural;

impl Prover for Structural {
    fn name(&self) -> &'static str {
        "structural"
    }

    fn prove(&self, question: &Question<'_>) -> Answer {
        Self::show(question, &question.sender.root, &question.receiver.root).into()
    }
}

impl Structural {
    /// The same question about two inner places.
    pub(crate) fn show<'a>(
        question: &Question<'a>,
        sender: &'a Json,
        receiver: &'a Json,
    ) -> Result<(), Problem> {
        Self::show_all(question, &[sender], receiver)
    }

    /// The same about a value that is under several schemas of the sender.
    pub(crate) fn show_all<'a>(
        question: &Question<'a>,
        senders: &[&'a Json],
        receiver: &'a Json,
    ) -> Result<(), Problem> {
        let mut proof = Proof {
            sender: question.sender,
            receiver: question.receiver,
            patterns: question.patterns,
            budget: question.budget,
            steps: 0,
            depth: 0,
            nesting: 0,
            assumed: Vec::new(),
        };
        proof.nodes(senders, receiver)
    }
}

type Identity = (Vec<(usize, bool, bool)>, Kinds, usize);

struct Proof<'a> {
    sender: &'a Document,
    receiver: &'a Document,
    patterns: &'a Patterns,
    budget: &'a Budget,
    steps: usize,
    /// Steps into members and items: an assumption made at a smaller depth is about larger values.
    depth: usize,
    nesting: usize,
    assumed: Vec<(Identity, usize)>,
}

impl<'a> Proof<'a> {
    fn nodes(&mut self, senders: &[&'a Json], receiver: &'a Json) -> Result<(), Problem> {
        if is_anything(receiver) {
            return Ok(());
        }
        let view = View::of_all(self.sender, senders)?;
        self.view(&view, Kinds::ANY, receiver)
    }

    fn step(&mut self, steps: usize) -> Result<(), Problem> {
        self.steps += steps;
        if self.steps > MAX_STEPS || self.nesting > MAX_DEPTH || !self.budget.take(steps) {
            return Err(Problem::TooLarge);
        }
        Ok(())
    }

    /// One step into a member or an item.
    fn inner(&mut self, senders: &[&'a Json], receiver: &'a Json) -> Result<(), Problem> {
        self.depth += 1;
        let result = self.nodes(senders, receiver);
        self.depth -= 1;
        result
    }

    fn view(&mut self, view: &View<'a>, mask: Kinds, receiver: &'a Json) -> Result<(), Problem> {
        if is_anything(receiver) || view.never {
            return Ok(());
        }
        self.step(1 + view.parts.len())?;
        let identity = (view.identity(), mask, std::ptr::from_ref(receiver) as usize);
        if let Some((_, depth)) = self.assumed.iter().rev().find(|(it, _)| *it == identity) {
            return if *depth < self.depth {
                Ok(())
            } else {
                Err(Problem::Circular)
            };
        }
        self.assumed.push((identity, self.depth));
        self.nesting += 1;
        let result = self.by_kind(view, mask, receiver);
        self.nesting -= 1;
        self.assumed.pop();
        result
    }

    fn by_kind(&mut self, view: &View<'a>, mask: Kinds, receiver: &'a Json) -> Result<(), Problem> {
        if let Some(values) = view.finite() {
            return self.finite(view, mask, &values, receiver);
        }
        let kinds = view.kinds().and(mask);
        for kind in kinds.iter() {
            let Err(problem) = self.kind(view, kind, receiver) else {
                continue;
            };
            // Null and booleans are few enough to be asked one by one.
            let few: &[Json] = match kind {
                Kind::Null => &[Json::Null],
                Kind::Boolean => &[Json::Bool(true), Json::Bool(false)],
                _ => &[],
            };
            if !few.is_empty() && self.finite(view, mask, few, receiver).is_ok() {
                continue;
            }
            if matches!(problem, Problem::TooLarge) {
                return Err(problem);
            }
            let Some(branches) = view.split(self.sender) else {
                return Err(problem);
            };
            for (_, _, branch) in branches? {
                self.view(&branch, Kinds::only(kind), receiver)
                    .map_err(|inner| match inner {
                        Problem::TooLarge => inner,
                        _ => problem.clone(),
                    })?;
            }
        }
        Ok(())
    }

    fn finite(
        &mut self,
        view: &View<'a>,
        mask: Kinds,
        values: &[Json],
        receiver: &'a Json,
    ) -> Result<(), Problem> {
        for value in values {
            if !mask.has(Kind::of(value)) {
                continue;
            }
            self.step(1)?;
            let parts = view.parts.iter().map(|part| part.node);
            if accepts_all(self.sender, parts, value, self.patterns) == Some(false) {
                continue;
            }
            if accepts(self.receiver, receiver, value, self.patterns) != Some(true)
                || self.draft_four_disagrees(Kind::of(value), value)
            {
                return Err(Problem::Other(format!(
                    "whether `{value}` is still accepted could not be decided"
                )));
            }
        }
        Ok(())
    }

    /// Draft 4 alone refuses 1.0 as an integer: a value spelled so may pass one side and not the other.
    fn draft_four_disagrees(&self, kind: Kind, value: &Json) -> bool {
        self.receiver.draft == Draft::Four
            && kind == Kind::Integer
            && !matches!(value, Json::Number(number) if number.is_integer_literal())
    }

    fn kind(&mut self, view: &View<'a>, kind: Kind, receiver: &'a Json) -> Result<(), Problem> {
        self.step(1)?;
        let object = match receiver {
            Json::Bool(true) => return Ok(()),
            Json::Bool(false) => return Err(Problem::Other("nothing is accepted any more".into())),
            Json::Object(object) => object,
            other => return Err(Problem::Other(format!("{} is not a schema", other.kind()))),
        };
        if !std::ptr::eq(receiver, &self.receiver.root)
            && let Some(id) = object.get("$id").and_then(Json::as_str)
            && !id.starts_with('#')
        {
            return Err(Problem::Embedded(id.to_owned()));
        }
        self.nesting += 1;
        let result = self.keywords(view, kind, object);
        self.nesting -= 1;
        result
    }

    fn keywords(
        &mut self,
        view: &View<'a>,
        kind: Kind,
        receiver: &'a Object,
    ) -> Result<(), Problem> {
        if let Some(reference) = self.receiver.reference(receiver) {
            let (target, _) = self.receiver.resolve(reference)?;
            self.view(view, Kinds::only(kind), target)?;
            if self.receiver.reference_stands_alone() {
                return Ok(());
            }
        }
        for (keyword, argument) in receiver.by_name() {
            let Some(keyword) = keyword.as_str() else {
                continue;
            };
            if !is_annotation(keyword) {
                self.keyword(view, kind, receiver, keyword, argument)?;
            }
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        view: &View<'a>,
        kind: Kind,
        receiver: &'a Object,
        keyword: &str,
        argument: &'a Json,
    ) -> Result<(), Problem> {
        match keyword {
            "type" => {
                let whole_only = kind == Kind::Integer
                    && self.receiver.draft == Draft::Four
                    && self.sender.draft != Draft::Four
                    && !Kinds::of_keyword(argument).has(Kind::Fraction);
                if Kinds::of_keyword(argument).has(kind) && !whole_only {
                    Ok(())
                } else {
                    Err(Problem::Keyword("type"))
                }
            }
            "enum" => Err(Problem::Keyword("enum")),
            "const" => Err(Problem::Keyword("const")),
            "allOf" => {
                for each in list(argument) {
                    self.view(view, Kinds::only(kind), each)?;
                }
                Ok(())
            }
            "anyOf" => self.any_of(view, kind, argument),
            "oneOf" => self.one_of(view, kind, argument),
            "not" => {
                if self.same_keyword(view, "not", argument) || self.disjoint(view, kind, argument) {
                    Ok(())
                } else {
                    Err(Problem::Keyword("not"))
                }
            }
            "if" => self.conditional(view, kind, receiver),
            "then" | "else" => Ok(()),
            _ => match kind {
                Kind::Integer | Kind::Fraction => number(view, kind, receiver, keyword, argument),
                Kind::String => self.string(view, keyword, argument),
                Kind::Array => self.array(view, receiver, keyword, argument),
                Kind::Object => self.object(view, receiver, keyword, argument),
                Kind::Null | Kind::Boolean => Ok(()),
            },
        }
    }

    fn any_of(&mut self, view: &View<'a>, kind: Kind, argument: &'a Json) -> Result<(), Problem> {
        for branch in list(argument) {
            match self.view(view, Kinds::only(kind), branch) {
                Ok(()) => return Ok(()),
                Err(Problem::TooLarge) => return Err(Problem::TooLarge),
                Err(_) => {}
            }
        }
        Err(Problem::Keyword("anyOf"))
    }

    fn one_of(&mut self, view: &View<'a>, kind: Kind, argument: &'a Json) -> Result<(), Problem> {
        if self.same_keyword(view, "oneOf", argument) {
            return Ok(());
        }
        let branches = list(argument);
        for (index, branch) in branches.iter().enumerate() {
            match self.view(view, Kinds::only(kind), branch) {
                Ok(()) => {
                    let alone = branches
                        .iter()
                        .enumerate()
                        .all(|(at, other)| at == index || self.disjoint(view, kind, other));
                    if alone {
                        return Ok(());
                    }
                }
                Err(Problem::TooLarge) => return Err(Problem::TooLarge),
                Err(_) => {}
            }
        }
        Err(Problem::Keyword("oneOf"))
    }

    fn conditional(
        &mut self,
        view: &View<'a>,
        kind: Kind,
        receiver: &'a Object,
    ) -> Result<(), Problem> {
        let same_all = view.parts.iter().any(|part| {
            ["if", "then", "else"].iter().all(|keyword| {
                match (part.node.get(keyword), receiver.get(keyword)) {
                    (None, None) => true,
                    (Some(mine), Some(theirs)) => self.portable(mine) && same(mine, theirs),
                    _ => false,
                }
            })
        });
        if same_all && self.sender.draft >= Draft::Seven {
            return Ok(());
        }
        for keyword in ["then", "else"] {
            if let Some(branch) = receiver.get(keyword) {
                self.view(view, Kinds::only(kind), branch)
                    .map_err(|_| Problem::Keyword("if"))?;
            }
        }
        Ok(())
    }

    /// Whether one of the sender's parts says the same under `keyword`, in a form that both sides read alike.
    fn same_keyword(&self, view: &View<'a>, keyword: &str, argument: &Json) -> bool {
        view.all(keyword)
            .any(|mine| self.portable(mine) && same(mine, argument))
    }

    /// Whether a schema means the same in both documents: the same draft, and no reference inside.
    fn portable(&self, node: &Json) -> bool {
        self.sender.draft == self.receiver.draft && !mentions_reference(node)
    }

    fn disjoint(&mut self, view: &View<'a>, kind: Kind, other: &'a Json) -> bool {
        Disjointness {
            one: self.sender,
            other: self.receiver,
            patterns: self.patterns,
            steps: &mut self.steps,
        }
        .show(view, kind, other, 0)
    }

    fn string(&self, view: &View<'a>, keyword: &str, argument: &Json) -> Result<(), Problem> {
        let holds = match keyword {
            "minLength" => at_least(view, keyword, argument),
            "maxLength" => at_most(view, keyword, argument),
            "pattern" => argument.as_str().is_some_and(|wanted| {
                wanted.is_empty()
                    || view
                        .all("pattern")
                        .filter_map(Json::as_str)
                        .any(|mine| self.patterns.includes(mine, wanted))
            }),
            "format" => {
                let known = argument.as_str().is_some_and(is_known_format);
                if known && !view.all("format").any(|mine| mine == argument) {
                    return Err(Problem::Other(format!(
                        "`format` is an annotation: whether the other side checks for `{}` cannot be read from the schema",
                        argument.as_str().unwrap_or_default()
                    )));
                }
                true
            }
            // From 2019 on these are annotations; before, validators may check them.
            "contentEncoding" | "contentMediaType" => {
                self.receiver.draft >= Draft::Y2019
                    || (self.sender.draft == self.receiver.draft
                        && view.all(keyword).any(|mine| mine == argument))
            }
            _ => true,
        };
        holds.then_some(()).ok_or(Problem::Keyword(known(keyword)))
    }

    fn array(
        &mut self,
        view: &View<'a>,
        receiver: &'a Object,
        keyword: &str,
        argument: &'a Json,
    ) -> Result<(), Problem> {
        let longest = view.count("maxItems");
        let holds = match keyword {
            "minItems" => at_least(view, keyword, argument),
            "maxItems" => at_most(view, keyword, argument) || self.tuple_at_most(view, argument),
            "uniqueItems" => {
                argument != &Json::Bool(true)
                    || longest.is_some_and(|most| most <= 1)
                    || view.all("uniqueItems").any(|mine| mine == argument)
            }
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" => {
                return self.items(view, receiver, longest, keyword);
            }
            "contains" | "minContains" | "maxContains" => {
                let same_all = view.parts.iter().any(|part| {
                    ["contains", "minContains", "maxContains"]
                        .iter()
                        .all(
                            |keyword| match (part.node.get(keyword), receiver.get(keyword)) {
                                (None, None) => true,
                                (Some(mine), Some(theirs)) => {
                                    self.portable(mine) && same(mine, theirs)
                                }
                                _ => false,
                            },
                        )
                });
                same_all || !receiver.contains("contains")
            }
            _ => true,
        };
        holds.then_some(()).ok_or(Problem::Keyword(known(keyword)))
    }

    /// A tuple whose further items are refused has a greatest length.
    fn tuple_at_most(&self, view: &View<'a>, argument: &Json) -> bool {
        let length = view.leading_items();
        let shut = view.item(length).contains(&&Json::Bool(false));
        shut && as_count(argument).is_some_and(|most| length as u64 <= most)
    }

    fn items(
        &mut self,
        view: &View<'a>,
        receiver: &'a Object,
        longest: Option<u64>,
        keyword: &str,
    ) -> Result<(), Problem> {
        let theirs = receiver_leading(receiver, self.receiver.draft);
        if keyword == "unevaluatedItems" && has_in_place(receiver) {
            // Other keywords decide what is left; without following them, nothing is known.
            return if receiver.get(keyword).is_some_and(is_anything) {
                Ok(())
            } else {
                Err(Problem::Keyword("unevaluatedItems"))
            };
        }
        let explicit = view.leading_items().max(theirs);
        for index in 0..=explicit {
            if longest.is_some_and(|most| index as u64 >= most) {
                break;
            }
            let mine = view.item(index);
            let Some(wanted) = super::view::item_of(receiver, self.receiver.draft, index) else {
                continue;
            };
            if mine.contains(&&Json::Bool(false)) {
                break;
            }
            self.inner(&mine, wanted)?;
        }
        Ok(())
    }
}

fn number(
    view: &View<'_>,
    kind: Kind,
    receiver: &Object,
    keyword: &str,
    argument: &Json,
) -> Result<(), Problem> {
    let lower = match keyword {
        "minimum" | "exclusiveMinimum" => true,
        "maximum" | "exclusiveMaximum" => false,
        "multipleOf" => {
            let Json::Number(of) = argument else {
                return Err(Problem::Keyword("multipleOf"));
            };
            let one = as_i64(of) == Some(1) && kind == Kind::Integer;
            let follows = view.all("multipleOf").any(|mine| match mine {
                Json::Number(mine) => {
                    mine.decimal() == of.decimal()
                        || matches!((as_i64(mine), as_i64(of)), (Some(mine), Some(of)) if of != 0 && mine % of == 0)
                }
                _ => false,
            });
            return (one || follows)
                .then_some(())
                .ok_or(Problem::Keyword("multipleOf"));
        }
        _ => return Ok(()),
    };
    let Some(wanted) = super::view::bound_of(receiver, lower) else {
        return Ok(());
    };
    let holds = view
        .bound(lower)
        .is_some_and(|mine| mine.within(&wanted, lower, kind));
    holds.then_some(()).ok_or(Problem::Keyword(known(keyword)))
}

fn at_least(view: &View<'_>, keyword: &str, argument: &Json) -> bool {
    as_count(argument).is_some_and(|least| least == 0 || view.count(keyword) >= Some(least))
}

fn at_most(view: &View<'_>, keyword: &str, argument: &Json) -> bool {
    as_count(argument).is_some_and(|most| view.count(keyword).is_some_and(|mine| mine <= most))
}

fn list(argument: &Json) -> &[Json] {
    argument.as_array().unwrap_or(&[])
}

fn is_anything(node: &Json) -> bool {
    match node {
        Json::Bool(verdict) => *verdict,
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}

fn receiver_leading(receiver: &Object, draft: Draft) -> usize {
    let keyword = if draft == Draft::Y2020 {
        "prefixItems"
    } else {
        "items"
    };
    receiver
        .get(keyword)
        .and_then(Json::as_array)
        .map_or(0, <[Json]>::len)
}

fn has_in_place(node: &Object) -> bool {
    [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependentSchemas",
        "contains",
    ]
    .iter()
    .any(|keyword| node.contains(keyword))
}

/// Whether a reference may stand anywhere inside. A member that only looks like one counts too.
pub(crate) fn mentions_reference(json: &Json) -> bool {
    match json {
        Json::Object(object) => object.iter().any(|(name, value)| {
            ["$ref", "$dynamicRef", "$recursiveRef"]
                .iter()
                .any(|keyword| name == *keyword)
                || mentions_reference(value)
        }),
        Json::Array(items) => items.iter().any(mentions_reference),
        _ => false,
    }
}

/// The formats that JSON Schema defines for strings. Others are never asserted by a validator.
pub(crate) fn is_known_format(format: &str) -> bool {
    [
        "date-time",
        "date",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uuid",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
    ]
    .contains(&format)
}

/// The static name of a keyword, for a reason.
fn known(keyword: &str) -> &'static str {
    const KNOWN: &[&str] = &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
        "contentEncoding",
        "contentMediaType",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "required",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependencies",
        "dependentSchemas",
    ];
    KNOWN
        .iter()
        .find(|it| **it == keyword)
        .copied()
        .unwrap_or("a keyword")
}
