//! Links of a page: to the run, the commit, and the lines of files at that commit.

use std::fmt::Write as _;
use std::path::{Component, Path};

use super::Place;

/// Where a page is shown.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The name of the check.
    pub name: String,
    /// The address of the files of the judged commit, without a final slash.
    pub files: Option<String>,
    /// The judged commit, shortened, and its address.
    pub commit: Option<(String, String)>,
    /// The address of the run.
    pub run: Option<String>,
    /// Whether the workflow uploads the proposed baseline.
    pub has_artifact: bool,
    /// Whether the reader sets inputs of the action, not flags.
    pub is_action: bool,
    /// How many changes are listed.
    pub rows: usize,
}

impl Default for Frame {
    /// A file: no links, and no limit.
    fn default() -> Self {
        Self {
            name: "mcp-keel".to_owned(),
            files: None,
            commit: None,
            run: None,
            has_artifact: false,
            is_action: false,
            rows: usize::MAX,
        }
    }
}

/// A text that leads to a line, if the page knows where the files are. The text is already safe.
pub(super) fn linked(frame: &Frame, text: &str, place: Option<&Place>) -> String {
    let address =
        frame.files.as_ref().zip(place).and_then(|(files, place)| {
            Some(format!("{files}/{}#L{}", address(place)?, place.line))
        });
    match address {
        Some(address) => format!("[{text}]({address})"),
        None => text.to_owned(),
    }
}

/// The path of a file in the repository as part of an address; `None` if it is elsewhere.
fn address(place: &Place) -> Option<String> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    // As it is written into the address: a backslash leads on, too.
    let path = place.slashed();
    if !Path::new(&path).components().all(is_plain) {
        return None;
    }
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            out.push(byte.into());
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_leave_its_link() {
        let frame = Frame {
            files: Some("https://github.com/octo/weather/blob/1234567".to_owned()),
            ..Frame::default()
        };
        let at = |path: &str| Place {
            path: path.into(),
            line: 3,
        };
        assert_eq!(
            linked(&frame, "`x`", Some(&at("src/a) b?.ts"))),
            "[`x`](https://github.com/octo/weather/blob/1234567/src/a%29%20b%3F.ts#L3)"
        );
        for outside in ["../x", "/etc/passwd", r"..\..\..\..\x", r"\etc\passwd"] {
            assert_eq!(linked(&frame, "`x`", Some(&at(outside))), "`x`");
        }
        assert_eq!(linked(&Frame::default(), "`x`", Some(&at("a"))), "`x`");
    }
}
