//! The settings that were given in one run, by flags or by inputs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;

use super::{Setting, Unset};

/// Where a value was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// On the command line.
    #[default]
    Flag,
    /// As an input of the action.
    Input,
}

/// The settings that were given, and nothing about those that were not. Values were checked by
/// [`Setting::check`] or by an equal rule before they came here.
#[derive(Clone, Debug, Default)]
pub struct Given {
    values: BTreeMap<&'static str, Vec<OsString>>,
    origin: Origin,
}

impl Given {
    /// Nothing so far.
    pub fn new(origin: Origin) -> Self {
        Self {
            values: BTreeMap::new(),
            origin,
        }
    }

    /// Where all of this was given.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The same values, given elsewhere.
    pub fn given_by(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets the values of a setting.
    pub fn set(&mut self, setting: &Setting, values: Vec<OsString>) {
        self.values.insert(setting.name, values);
    }

    /// Whether the setting was given.
    pub fn has(&self, setting: &Setting) -> bool {
        self.values.contains_key(setting.name)
    }

    /// Its values as they were given.
    pub fn values(&self, setting: &Setting) -> &[OsString] {
        self.values.get(setting.name).map_or(&[], Vec::as_slice)
    }

    /// Its values as texts.
    pub fn texts(&self, setting: &Setting) -> Vec<String> {
        let values = self.values(setting).iter();
        values.map(|it| it.to_string_lossy().into_owned()).collect()
    }

    /// Its only value as a text.
    pub fn text(&self, setting: &Setting) -> Option<String> {
        let value = self.values(setting).last()?;
        Some(value.to_string_lossy().into_owned())
    }

    /// Its only value as a path.
    pub fn path(&self, setting: &Setting) -> Option<PathBuf> {
        self.values(setting).last().map(PathBuf::from)
    }

    /// Its values as paths.
    pub fn paths(&self, setting: &Setting) -> Vec<PathBuf> {
        self.values(setting).iter().map(PathBuf::from).collect()
    }

    /// Its value as a number.
    pub fn number(&self, setting: &Setting) -> Option<u64> {
        self.values(setting).last()?.to_str()?.parse().ok()
    }

    /// Whether it is switched on.
    pub fn switch(&self, setting: &Setting) -> bool {
        self.values(setting).last().map(OsString::as_os_str) == Some(OsStr::new("true"))
    }

    /// Its value as a word, which is one of the setting's words.
    pub fn word<T: FromStr>(&self, setting: &Setting) -> Option<T> {
        self.values(setting).last()?.to_str()?.parse().ok()
    }

    /// Its value as a word, or its default.
    pub fn word_or_default<T: FromStr + Default>(&self, setting: &Setting) -> T {
        let default = || match setting.unset {
            Unset::Value(value) => value.parse().ok(),
            _ => None,
        };
        self.word(setting).or_else(default).unwrap_or_default()
    }

    /// `NAME=VALUE`, split.
    pub fn pairs(&self, setting: &Setting) -> Vec<(String, String)> {
        let texts = self.texts(setting).into_iter();
        texts
            .filter_map(|it| {
                let (name, value) = it.split_once('=')?;
                Some((name.to_owned(), value.to_owned()))
            })
            .collect()
    }

    /// Names, separated by commas.
    pub fn list(&self, setting: &Setting) -> Option<Vec<String>> {
        let texts = Some(self.texts(setting)).filter(|it| !it.is_empty())?;
        let names = texts.iter().flat_map(|it| it.split(','));
        Some(names.map(str::to_owned).collect())
    }
}
