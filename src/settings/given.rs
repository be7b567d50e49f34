//! The settings of one run, set by flags or by inputs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;

use super::Setting;

/// Where a value was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// On the command line.
    #[default]
    Flag,
    /// As an input of the action.
    Input,
}

/// The settings that were set, validated by [`Setting::check`] or an equivalent.
#[derive(Clone, Debug, Default)]
pub struct Given {
    values: BTreeMap<&'static str, Vec<OsString>>,
    origin: Origin,
}

impl Given {
    pub fn new(origin: Origin) -> Self {
        Self {
            values: BTreeMap::new(),
            origin,
        }
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The same values with another origin.
    pub fn given_by(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub fn set(&mut self, setting: &Setting, values: Vec<OsString>) {
        self.values.insert(setting.name, values);
    }

    pub fn has(&self, setting: &Setting) -> bool {
        self.values.contains_key(setting.name)
    }

    pub fn values(&self, setting: &Setting) -> &[OsString] {
        self.values.get(setting.name).map_or(&[], Vec::as_slice)
    }

    pub fn texts(&self, setting: &Setting) -> Vec<String> {
        let values = self.values(setting).iter();
        values.map(|it| it.to_string_lossy().into_owned()).collect()
    }

    pub fn text(&self, setting: &Setting) -> Option<String> {
        let value = self.values(setting).last()?;
        Some(value.to_string_lossy().into_owned())
    }

    pub fn path(&self, setting: &Setting) -> Option<PathBuf> {
        self.values(setting).last().map(PathBuf::from)
    }

    pub fn paths(&self, setting: &Setting) -> Vec<PathBuf> {
        self.values(setting).iter().map(PathBuf::from).collect()
    }

    pub fn number(&self, setting: &Setting) -> Option<u64> {
        self.values(setting).last()?.to_str()?.parse().ok()
    }

    pub fn switch(&self, setting: &Setting) -> bool {
        self.values(setting).last().map(OsString::as_os_str) == Some(OsStr::new("true"))
    }

    /// Its value, one of the setting's words.
    pub fn word<T: FromStr>(&self, setting: &Setting) -> Option<T> {
        self.values(setting).last()?.to_str()?.parse().ok()
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
