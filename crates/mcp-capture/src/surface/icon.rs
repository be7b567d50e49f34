//! Icons, which clients fetch and show: `src` must be an `https:` or a `data:` URL (2025-11-25 and
//! later).

use exact_json::Json;

/// One icon as a client reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Icon<'a> {
    src: &'a str,
    mime_type: Option<&'a str>,
}

/// Why clients must not load an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IconProblem {
    /// `http:`, which can be replaced in transit.
    Unencrypted,
    /// `javascript:`, `file:` and everything else that is neither `https:` nor `data:`.
    UnsafeScheme,
}

impl<'a> Icon<'a> {
    /// The icons in a member `icons`. Invalid entries are skipped.
    pub fn all(icons: Option<&'a Json>) -> impl Iterator<Item = Self> {
        let icons = icons.and_then(Json::as_array).unwrap_or_default();
        icons.iter().filter_map(|icon| {
            Some(Self {
                src: icon.get("src")?.as_str()?,
                mime_type: icon.get("mimeType").and_then(Json::as_str),
            })
        })
    }

    /// Its address.
    pub fn src(self) -> &'a str {
        self.src
    }

    /// Its scheme in lower case; empty if it has none.
    fn scheme(self) -> String {
        // As browsers read it: leading spaces and control characters, and line breaks in it, are
        // ignored.
        let scheme = self.src.split_once(':').map_or("", |(scheme, _)| scheme);
        let visible = scheme
            .chars()
            .filter(|it| !it.is_whitespace() && !it.is_control());
        visible.collect::<String>().to_ascii_lowercase()
    }

    /// Why clients must not load it.
    pub fn problem(self) -> Option<IconProblem> {
        match self.scheme().as_str() {
            "https" | "data" => None,
            "http" => Some(IconProblem::Unencrypted),
            _ => Some(IconProblem::UnsafeScheme),
        }
    }

    /// Scheme, host and port; `None` for a `data:` URL.
    pub fn origin(self) -> Option<String> {
        let (_, rest) = self.src.split_once("://")?;
        let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        Some(format!("{}://{}", self.scheme(), host.to_ascii_lowercase()))
    }

    /// Whether it is SVG, which can contain scripts.
    pub fn is_svg(self) -> bool {
        let named = self
            .mime_type
            .is_some_and(|it| it.to_ascii_lowercase().contains("svg"));
        let src = self.src.to_ascii_lowercase();
        let path = src.split(['?', '#']).next().unwrap_or(&src);
        named || src.starts_with("data:image/svg") || path.ends_with(".svg")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn icon(src: &str) -> Icon<'_> {
        Icon {
            src,
            mime_type: None,
        }
    }

    #[test]
    fn only_https_and_data_are_loaded() {
        for good in [
            "https://a.example/i.png",
            "data:image/png;base64,AA",
            "HTTPS://a",
        ] {
            assert_eq!(icon(good).problem(), None, "{good}");
        }
        assert_eq!(
            icon("http://a/i.png").problem(),
            Some(IconProblem::Unencrypted)
        );
        for bad in [
            "javascript:alert(1)",
            " java\nscript:x",
            "file:///etc/passwd",
            "i.png",
            "",
        ] {
            assert_eq!(
                icon(bad).problem(),
                Some(IconProblem::UnsafeScheme),
                "{bad}"
            );
        }
    }

    #[test]
    fn the_origin_is_where_it_is_fetched_from() {
        assert_eq!(icon("data:image/png,x").origin(), None);
        for src in [
            "https://A.example/x",
            "https://me@a.example?x",
            "https://a.example",
        ] {
            assert_eq!(
                icon(src).origin().as_deref(),
                Some("https://a.example"),
                "{src}"
            );
        }
    }

    #[test]
    fn svg_is_recognised_by_type_and_by_name() {
        assert!(icon("data:image/svg+xml,x").is_svg() && icon("https://a/I.SVG?x").is_svg());
        assert!(!icon("https://svg.example/i.png").is_svg());
    }
}
