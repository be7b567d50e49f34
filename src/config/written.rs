//! Which settings a configuration file contains, and on which line, for reporting where a setting
//! comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::node::Node;

/// The values of a configuration as written, by their full key.
#[derive(Clone, Debug, Default)]
pub struct Written {
    pub path: PathBuf,
    values: BTreeMap<Vec<String>, (usize, WrittenValue)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenValue {
    /// A scalar, or an array of scalars.
    Texts(Vec<String>),
    /// A table of scalars.
    Pairs(Vec<(String, String)>),
    /// The number of entries of anything else.
    Entries(usize),
}

impl Written {
    pub(super) fn read(path: &Path, root: &Node<'_>) -> Result<Self, ConfigError> {
        let mut values = BTreeMap::new();
        walk(root, &mut Vec::new(), &mut values)?;
        Ok(Self {
            path: path.to_owned(),
            values,
        })
    }

    pub fn get(&self, keys: &[&str]) -> Option<(usize, &WrittenValue)> {
        let keys: Vec<String> = keys.iter().map(|it| (*it).to_owned()).collect();
        let (line, value) = self.values.get(&keys)?;
        Some((*line, value))
    }
}

fn walk(
    table: &Node<'_>,
    keys: &mut Vec<String>,
    values: &mut BTreeMap<Vec<String>, (usize, WrittenValue)>,
) -> Result<(), ConfigError> {
    for (name, node) in table.members()? {
        keys.push(name);
        values.insert(keys.clone(), (node.line(), value(&node)?));
        if node.members().is_ok() {
            walk(&node, keys, values)?;
        }
        keys.pop();
    }
    Ok(())
}

fn value(node: &Node<'_>) -> Result<WrittenValue, ConfigError> {
    if let Some(text) = scalar(node) {
        return Ok(WrittenValue::Texts(vec![text]));
    }
    if node.is_array() {
        let items = node.items()?;
        let texts: Option<Vec<String>> = items.iter().map(scalar).collect();
        return Ok(texts.map_or(WrittenValue::Entries(items.len()), WrittenValue::Texts));
    }
    let Ok(members) = node.members() else {
        return Ok(WrittenValue::Entries(1));
    };
    let pair = |(name, node): &(String, Node<'_>)| Some((name.clone(), scalar(node)?));
    let pairs: Option<Vec<(String, String)>> = members.iter().map(pair).collect();
    Ok(pairs.map_or(WrittenValue::Entries(members.len()), WrittenValue::Pairs))
}

fn scalar(node: &Node<'_>) -> Option<String> {
    if let Ok(text) = node.string() {
        return Some(text.to_owned());
    }
    if let Ok(number) = node.integer() {
        return Some(number.to_string());
    }
    node.boolean().ok().map(|it| it.to_string())
}
