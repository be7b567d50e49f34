//! JSON pointers (RFC 6901), built while walking.

use super::Json;

/// Appends one reference token to `at`, runs `inside`, and removes the token again.
pub fn descend<T>(at: &mut String, token: &str, inside: impl FnOnce(&mut String) -> T) -> T {
    let length = at.len();
    push(at, token);
    let result = inside(at);
    at.truncate(length);
    result
}

/// Appends one reference token, escaped.
pub fn push(at: &mut String, token: &str) {
    at.push('/');
    for character in token.chars() {
        match character {
            '~' => at.push_str("~0"),
            '/' => at.push_str("~1"),
            other => at.push(other),
        }
    }
}

/// `base` plus one token.
pub fn join(base: &str, token: &str) -> String {
    let mut joined = base.to_owned();
    push(&mut joined, token);
    joined
}

/// The tokens of a pointer, unescaped.
pub fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer
        .split('/')
        .skip(1)
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// A token as the index of an item: digits only, without a sign or a leading zero.
pub fn index(token: &str) -> Option<usize> {
    let digits = token.bytes().all(|it| it.is_ascii_digit());
    let padded = token.len() > 1 && token.starts_with('0');
    token.parse().ok().filter(|_| digits && !padded)
}

/// The value at `pointer`, if it exists.
pub fn resolve<'a>(root: &'a Json, pointer: &str) -> Option<&'a Json> {
    tokens(pointer).try_fold(root, |value, token| match value {
        Json::Object(object) => object.get(&token),
        Json::Array(items) => items.get(index(&token)?),
        _ => None,
    })
}

/// The same, to change it.
pub fn resolve_mut<'a>(root: &'a mut Json, pointer: &str) -> Option<&'a mut Json> {
    tokens(pointer).try_fold(root, |value, token| match value {
        Json::Object(object) => object.get_mut(&token),
        Json::Array(items) => items.get_mut(index(&token)?),
        _ => None,
    })
}
