//! Realistic values: what a parameter called `city` or `url` would get.

/// The words of a name, in lower case: `maxResults`, `max_results` and `max-results` are equal.
pub fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut previous_lower = false;
    for character in name.chars() {
        let boundary = character.is_uppercase() && previous_lower;
        if (!character.is_alphanumeric() || boundary) && !current.is_empty() {
            words.push(std::mem::take(&mut current));
        }
        if character.is_alphanumeric() {
            current.extend(character.to_lowercase());
        }
        previous_lower = character.is_lowercase() || character.is_numeric();
    }
    if !current.is_empty() {
        words.push(current);
    }
    words
}

/// Later words weigh more: a `file_path` is a path, a `city_name` is still a city.
const TEXTS: &[(&str, &str)] = &[
    ("city", "Oslo"),
    ("location", "Oslo"),
    ("place", "Oslo"),
    ("country", "Norway"),
    ("address", "Karl Johans gate 1, Oslo"),
    ("timezone", "Europe/Oslo"),
    ("tz", "Europe/Oslo"),
    ("email", "ada@example.com"),
    ("url", "https://example.com"),
    ("uri", "https://example.com"),
    ("link", "https://example.com"),
    ("website", "https://example.com"),
    ("domain", "example.com"),
    ("host", "example.com"),
    ("hostname", "example.com"),
    ("path", "/tmp/file.txt"),
    ("file", "/tmp/file.txt"),
    ("filename", "file.txt"),
    ("filepath", "/tmp/file.txt"),
    ("directory", "/tmp"),
    ("dir", "/tmp"),
    ("folder", "/tmp"),
    ("date", "2025-01-31"),
    ("datetime", "2025-01-31T12:00:00Z"),
    ("time", "12:00"),
    ("timestamp", "2025-01-31T12:00:00Z"),
    ("query", "hello"),
    ("search", "hello"),
    ("prompt", "hello"),
    ("question", "hello?"),
    ("text", "hello"),
    ("message", "hello"),
    ("content", "hello"),
    ("body", "hello"),
    ("title", "Hello"),
    ("subject", "Hello"),
    ("description", "hello"),
    ("comment", "hello"),
    ("summary", "hello"),
    ("label", "hello"),
    ("tag", "v1.0"),
    ("name", "example"),
    ("username", "ada"),
    ("user", "ada"),
    ("owner", "ada"),
    ("author", "ada"),
    ("assignee", "ada"),
    ("repo", "example"),
    ("repository", "example"),
    ("org", "example"),
    ("organization", "example"),
    ("project", "example"),
    ("branch", "main"),
    ("ref", "main"),
    ("sha", "0a1b2c3d"),
    ("commit", "0a1b2c3d"),
    ("id", "42"),
    ("ids", "42"),
    ("uuid", "6f1c2a34-8d1e-4b7a-9c3f-0e5d6a7b8c9d"),
    ("key", "example"),
    ("token", "abc123"),
    ("language", "en"),
    ("lang", "en"),
    ("locale", "en"),
    ("currency", "EUR"),
    ("color", "#ff0000"),
    ("colour", "#ff0000"),
    ("unit", "metric"),
    ("units", "metric"),
    ("format", "json"),
    ("type", "example"),
    ("sql", "SELECT 1"),
    ("command", "echo hello"),
    ("code", "print(1)"),
    ("script", "print(1)"),
    ("table", "users"),
    ("database", "example"),
    ("collection", "users"),
    ("column", "id"),
    ("field", "name"),
    ("selector", "#main"),
    ("version", "1.0.0"),
    ("phone", "+4712345678"),
    ("model", "example"),
    ("voice", "example"),
    ("device", "example"),
    ("channel", "general"),
    ("thread", "42"),
    ("cursor", "abc123"),
    ("pattern", "*.txt"),
    ("regex", "a+"),
    ("region", "eu-north-1"),
];

/// A text for a parameter of this name.
pub(crate) fn text_for(name: &str) -> &'static str {
    let words = words(name);
    let known = |vague: bool| {
        words
            .iter()
            .rev()
            .filter(|word| vague || !["name", "type", "field", "text"].contains(&word.as_str()))
            .find_map(|word| {
                let singular = word.strip_suffix('s').unwrap_or(word);
                TEXTS
                    .iter()
                    .find(|(known, _)| known == word || *known == singular)
            })
    };
    known(false)
        .or_else(|| known(true))
        .map_or("hello", |(_, text)| text)
}

pub(crate) fn text_of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2025-01-31T12:00:00Z",
        "date" => "2025-01-31",
        "time" => "12:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "ada@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" | "url" | "uri-reference" | "iri-reference" => "https://example.com",
        "uuid" => "6f1c2a34-8d1e-4b7a-9c3f-0e5d6a7b8c9d",
        "uri-template" => "https://example.com/{id}",
        "json-pointer" => "/a",
        "relative-json-pointer" => "0",
        "regex" => "a+",
        "byte" | "base64" => "aGVsbG8=",
        _ => return None,
    })
}

/// An integer for a parameter of this name.
pub(crate) fn whole_for(name: &str) -> i64 {
    let words = words(name);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    if has(&["limit", "max", "count", "size", "results", "top"]) {
        10
    } else if has(&["year"]) {
        2025
    } else if has(&["timeout", "seconds", "ms", "duration", "interval"]) {
        30
    } else if has(&["width", "height"]) {
        800
    } else if has(&["port"]) {
        8080
    } else if has(&["offset", "index", "skip", "start"]) {
        0
    } else {
        1
    }
}

/// Texts of many shapes, to try against a pattern or as something that a pattern rejects.
pub(crate) const SHAPES: &[&str] = &[
    "hello",
    "a",
    "A",
    "1",
    "0",
    "abc123",
    "hello world",
    "Hello-World_1",
    "PROJ-123",
    "v1.0.0",
    "1.0.0",
    "2025-01-31",
    "12:00",
    "2025-01-31T12:00:00Z",
    "https://example.com",
    "https://example.com/a/b",
    "/tmp/file.txt",
    "owner/repo",
    "ada@example.com",
    "507f1f77bcf86cd799439011",
    "6f1c2a34-8d1e-4b7a-9c3f-0e5d6a7b8c9d",
    "#ff0000",
    "+4712345678",
    "en-US",
    "US",
    "7d",
    "!",
    " ",
    "ü",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_word_by_word() {
        assert_eq!(words("maxResults"), ["max", "results"]);
        assert_eq!(words("file-path"), ["file", "path"]);
        assert_eq!(text_for("file_path"), "/tmp/file.txt");
        assert_eq!(text_for("cityName"), "Oslo");
        assert_eq!(text_for("name"), "example");
        assert_eq!(text_for("urls"), "https://example.com");
    }
}
