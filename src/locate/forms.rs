//! The forms in which a tool is registered, by language. Each yields names and their lines.

use super::Language;
use super::tokens::{Source, TokenKind};

/// A name that a registration gives to a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The name, or what it is derived from.
    name: String,
    /// Whether it is a method whose name the C# SDK rewrites.
    is_method: bool,
    pub(super) line: usize,
}

impl Named {
    pub(super) fn is(&self, tool: &str) -> bool {
        if self.name == tool {
            return true;
        }
        // `GetForecastAsync` is listed as `get_forecast`, or without rewriting as `GetForecast`.
        let bare = self.name.strip_suffix("Async").unwrap_or(&self.name);
        self.is_method && (bare == tool || snake(bare) == tool || snake(&self.name) == tool)
    }
}

/// As .NET's naming policy: a word starts at a capital after a lowercase letter, and at the last of
/// several capitals before one.
fn snake(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|it| characters[it]);
        let after = characters.get(at + 1);
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            });
        if begins && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(character.to_lowercase());
    }
    out
}

/// Every tool name that is registered in this source.
pub(super) fn names(source: &Source, language: Language) -> Vec<Named> {
    let forms = Forms { source };
    let mut found = Vec::new();
    for at in 0..source.tokens.len() {
        let named = match language {
            Language::Script => forms.script(at),
            Language::Python => forms.python(at),
            Language::Rust => forms.rust(at),
            Language::Go => forms.go(at),
            Language::Java | Language::Kotlin => forms.jvm(at),
            Language::CSharp => forms.csharp(at),
        };
        if let Some(named) = named.filter(|named| !found.contains(named)) {
            found.push(named);
        }
    }
    found
}

struct Forms<'a> {
    source: &'a Source,
}

impl Forms<'_> {
    /// The literal at this position as a name.
    fn named(&self, at: usize) -> Option<Named> {
        let name = self.source.value(at)?.to_owned();
        Some(Named {
            name,
            is_method: false,
            line: self.source.line(at),
        })
    }

    /// The identifier at this position as a name.
    fn declared(&self, at: usize) -> Option<Named> {
        let name = self.source.word(at)?.to_owned();
        Some(Named {
            name,
            is_method: false,
            line: self.source.line(at),
        })
    }

    /// The value of a member or an argument directly inside these brackets: `name: "a"`, `name =
    /// "a"`.
    fn member(&self, open: usize, member: &str, mark: char) -> Option<Named> {
        let at = self.member_at(open, member, mark)?;
        self.named(at)
    }

    /// Where the value of a member begins.
    fn member_at(&self, open: usize, member: &str, mark: char) -> Option<usize> {
        let source = self.source;
        source.inside(open).into_iter().find_map(|at| {
            // In JavaScript a member may be quoted.
            let is_it = source.is_word(at, member) || source.text(at) == Some(member);
            let first = source.is_mark(at.wrapping_sub(1), ',') || at == open + 1;
            (is_it && first && source.is_mark(at + 1, mark)).then_some(at + 2)
        })
    }

    /// Skips the type arguments of a call: `registerTool<A, B>(`.
    fn call(&self, at: usize) -> Option<usize> {
        let source = self.source;
        if source.is_mark(at, '(') {
            return Some(at);
        }
        if !source.is_mark(at, '<') {
            return None;
        }
        let closing = (at..at + 40).find(|here| source.is_mark(*here, '>'))?;
        source.is_mark(closing + 1, '(').then_some(closing + 1)
    }

    fn script(&self, at: usize) -> Option<Named> {
        let source = self.source;
        if source.is_mark(at, '{') {
            return self.definition(at);
        }
        let word = source.word(at)?;
        if !matches!(
            word,
            "registerTool" | "tool" | "addTool" | "defineTool" | "createTool"
        ) {
            return None;
        }
        // Declaring such a function is not calling it.
        if at > 0 && source.is_word(at - 1, "function") {
            return None;
        }
        let open = self.call(at + 1)?;
        if source.is_mark(open + 1, '{') {
            self.member(open + 1, "name", ':')
        } else {
            self.named(open + 1)
        }
    }

    /// `{ name: "a", inputSchema: ... }`: an entry of a list of tools.
    fn definition(&self, open: usize) -> Option<Named> {
        ["inputSchema", "input_schema"].iter().find_map(|member| {
            self.member_at(open, member, ':').or_else(|| {
                // `{ name, inputSchema }` and methods: the member has no colon.
                let inside = self.source.inside(open);
                inside.into_iter().find(|at| {
                    self.source.is_word(*at, member)
                        && self.source.is_mark(at.wrapping_sub(1), ',')
                        && (self.source.is_mark(at + 1, ',') || self.source.is_mark(at + 1, '}'))
                })
            })
        })?;
        self.member(open, "name", ':')
    }

    fn python(&self, at: usize) -> Option<Named> {
        let source = self.source;
        if source.is_mark(at, '@') {
            return self.decorated(at);
        }
        let word = source.word(at)?;
        if !source.is_mark(at + 1, '(')
            || (at > 0 && matches!(source.word(at - 1), Some("class" | "def")))
        {
            return None;
        }
        match word {
            "Tool" | "FunctionTool" => self.member(at + 1, "name", '='),
            "from_function"
                if at >= 2 && matches!(source.word(at - 2), Some("Tool" | "FunctionTool")) =>
            {
                self.member(at + 1, "name", '=')
            }
            "add_tool" => match self.member_at(at + 1, "name", '=') {
                Some(value) => self.named(value),
                // `add_tool(function)`
                None if source.is_mark(at + 3, ')') || source.is_mark(at + 3, ',') => {
                    self.declared(at + 2)
                }
                None => None,
            },
            _ => None,
        }
    }

    /// `@mcp.tool`, `@mcp.tool()`, `@mcp.tool("a")`, `@mcp.tool(name="a")`, and the function below.
    fn decorated(&self, at: usize) -> Option<Named> {
        let source = self.source;
        // Only at the beginning of a line: elsewhere `@` multiplies matrices.
        if at > 0 && source.line(at - 1) == source.line(at) {
            return None;
        }
        let mut last = at + 1;
        while source.is_mark(last + 1, '.') {
            last += 2;
        }
        if !source.is_word(last, "tool") {
            return None;
        }
        let mut next = last + 1;
        if source.is_mark(next, '(') {
            if let Some(value) = self.member_at(next, "name", '=') {
                return self.named(value);
            }
            if matches!(source.tokens.get(next + 1)?.kind, TokenKind::Text(_)) {
                return self.named(next + 1);
            }
            // A name from elsewhere (`**options`, a variable) is unknown.
            let inside = source.inside(next);
            let unknown = inside.iter().any(|it| source.is_mark(*it, '*'))
                || (source.word(next + 1).is_some() && !source.is_mark(next + 2, '='));
            if unknown {
                return None;
            }
            next = source.after(next);
        }
        // Skips further decorators, up to the function.
        for _ in 0..8 {
            if !source.is_mark(next, '@') {
                break;
            }
            next += 2;
            while source.is_mark(next, '.') {
                next += 2;
            }
            if source.is_mark(next, '(') {
                next = source.after(next);
            }
        }
        if source.is_word(next, "async") {
            next += 1;
        }
        source
            .is_word(next, "def")
            .then(|| self.declared(next + 1))?
    }

    fn rust(&self, at: usize) -> Option<Named> {
        let source = self.source;
        if source.is_mark(at, '#') && source.is_mark(at + 1, '[') {
            return self.attributed(at + 1);
        }
        if !source.is_word(at, "Tool") {
            return None;
        }
        // `Tool::new("a", ...)` and variants.
        let is_path = source.is_mark(at + 1, ':') && source.is_mark(at + 2, ':');
        if is_path && source.word(at + 3)?.starts_with("new") && source.is_mark(at + 4, '(') {
            return self.named(at + 5);
        }
        let is_type = at > 0
            && matches!(
                source.word(at - 1),
                Some("struct" | "for" | "impl" | "enum")
            );
        if source.is_mark(at + 1, '{') && !is_type {
            self.member(at + 1, "name", ':')
        } else {
            None
        }
    }

    /// `#[tool]`, `#[tool(name = "a")]`, `#[rmcp::tool(...)]`, and the function below.
    fn attributed(&self, open: usize) -> Option<Named> {
        let source = self.source;
        let mut last = open + 1;
        while source.is_mark(last + 1, ':') && source.is_mark(last + 2, ':') {
            last += 3;
        }
        if !source.is_word(last, "tool") {
            return None;
        }
        if source.is_mark(last + 1, '(') {
            if let Some(value) = self.member_at(last + 1, "name", '=') {
                return self.named(value);
            }
        } else if !source.is_mark(last + 1, ']') {
            return None;
        }
        let mut next = source.after(open);
        while source.is_mark(next, '#') && source.is_mark(next + 1, '[') {
            next = source.after(next + 1);
        }
        for _ in 0..10 {
            if source.is_word(next, "fn") {
                return self.declared(next + 1);
            }
            next = match source.is_mark(next, '(') {
                true => source.after(next),
                false
                    if matches!(
                        source.word(next),
                        Some("pub" | "async" | "const" | "unsafe")
                    ) =>
                {
                    next + 1
                }
                false => return None,
            };
        }
        None
    }

    fn go(&self, at: usize) -> Option<Named> {
        let source = self.source;
        let is_declared = at > 0 && matches!(source.word(at - 1), Some("func" | "type"));
        match source.word(at)? {
            _ if is_declared => None,
            "NewTool" | "NewToolWithRawSchema" if source.is_mark(at + 1, '(') => self.named(at + 2),
            "Tool" if source.is_mark(at + 1, '{') => self.member(at + 1, "Name", ':'),
            _ => None,
        }
    }

    fn jvm(&self, at: usize) -> Option<Named> {
        let source = self.source;
        if source.is_mark(at, '@') && matches!(source.word(at + 1), Some("Tool" | "McpTool")) {
            return self.annotated(at + 2);
        }
        let before = at.checked_sub(1);
        let is_declared = before.is_some_and(|it| {
            source.is_mark(it, '@') || matches!(source.word(it), Some("class" | "fun" | "record"))
        });
        let open = at + 1;
        match source.word(at)? {
            _ if is_declared => None,
            "Tool" if source.is_mark(open, '.') && source.is_word(at + 2, "builder") => {
                self.built(at + 3)
            }
            "Tool" | "addTool" | "tool" if source.is_mark(open, '(') => self
                .member(open, "name", '=')
                .or_else(|| self.literal(open + 1)),
            _ => None,
        }
    }

    /// A literal, not a constant: a variable as the first argument may be anything.
    fn literal(&self, at: usize) -> Option<Named> {
        self.source.text(at)?;
        self.named(at)
    }

    /// `Tool.builder().name("a")`, up to the end of the statement.
    fn built(&self, from: usize) -> Option<Named> {
        let source = self.source;
        let mut at = from;
        for _ in 0..40 {
            if source.is_mark(at, '(') {
                at = source.after(at);
            } else if source.is_mark(at, '.')
                && source.is_word(at + 1, "name")
                && source.is_mark(at + 2, '(')
            {
                return self.named(at + 3);
            } else if source.is_mark(at, '.') {
                at += 2;
            } else {
                return None;
            }
        }
        None
    }

    /// `@Tool(name = "a")` or `@Tool`, and the method below.
    fn annotated(&self, mut next: usize) -> Option<Named> {
        let source = self.source;
        if source.is_mark(next, '(') {
            if let Some(value) = self.member_at(next, "name", '=') {
                return self.named(value);
            }
            next = source.after(next);
        }
        self.method(next, '@')
    }

    /// The name of the method declared here: the word before its parameters, after any further
    /// annotations.
    fn method(&self, mut next: usize, annotation: char) -> Option<Named> {
        let source = self.source;
        for _ in 0..60 {
            if source.is_mark(next, annotation) {
                next = match annotation {
                    '[' => source.after(next),
                    _ if source.is_mark(next + 2, '(') => source.after(next + 2),
                    _ => next + 2,
                };
                continue;
            }
            if source.word(next).is_some() && source.is_mark(next + 1, '(') {
                return self.declared(next);
            }
            let ends = ['{', '}', ';', '=', ')']
                .iter()
                .any(|mark| source.is_mark(next, *mark));
            if ends || source.tokens.get(next).is_none() {
                return None;
            }
            next += 1;
        }
        None
    }

    /// `[McpServerTool(Name = "a")]`, alone or among other attributes, and the method below.
    fn csharp(&self, at: usize) -> Option<Named> {
        let source = self.source;
        let begins = at > 0 && (source.is_mark(at - 1, '[') || source.is_mark(at - 1, ','));
        if begins
            && matches!(
                source.word(at),
                Some("McpServerTool" | "McpServerToolAttribute")
            )
        {
            let mut open = at - 1;
            while !source.is_mark(open, '[') {
                open = open.checked_sub(1)?;
            }
            if source.is_mark(at + 1, '(')
                && let Some(value) = self.member_at(at + 1, "Name", '=')
            {
                return self.named(value);
            }
            let method = self.method(source.after(open), '[')?;
            return Some(Named {
                is_method: true,
                ..method
            });
        }
        let is_created = at >= 2
            && source.is_word(at, "Create")
            && source.is_mark(at - 1, '.')
            && source.is_word(at - 2, "McpServerTool");
        if is_created && source.is_mark(at + 1, '(') {
            // `McpServerTool.Create(f, new() { Name = "a" })`
            let options = source.inside(at + 1);
            let open = options.into_iter().find(|it| source.is_mark(*it, '{'))?;
            return self.member(open, "Name", '=');
        }
        None
    }
}
