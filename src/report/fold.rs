//! Folding for people: the same change on many components is shown once. Machine formats keep every
//! change.

use std::collections::BTreeMap;

use super::{Located, change_text};
use crate::judgement::{Exposure, Level};
use crate::surface::{ComponentKey, Kind};

/// The number of components from which the same change is shown once.
const MANY: usize = 5;

/// A change as shown: once, for one component or for many.
pub(super) struct Group<'a> {
    /// The change, or the first of them.
    pub(super) change: &'a Located,
    /// All components with this change, if there are many.
    pub(super) components: Vec<&'a ComponentKey>,
    /// The ids of the changes of these components.
    pub(super) ids: Vec<&'a str>,
    /// Whether old and new are the same for all of them.
    pub(super) same_values: bool,
}

impl Group<'_> {
    /// For showing the worst first.
    pub(super) fn severity(&self) -> (Level, Exposure) {
        let change = &self.change.judged.change;
        (change.level, change.exposure)
    }
}

/// The changes as shown. Two are the same if rule, place, sentence and judgement are.
pub(super) fn fold(changes: &[Located]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<_, Vec<&Located>> = BTreeMap::new();
    for located in changes {
        let change = &located.judged.change;
        let key = (
            change.rule,
            change.pointer.as_str(),
            change.message.as_str(),
            change.level,
            change.exposure,
            located.judged.action,
            change_text::decision(located),
        );
        groups.entry(key).or_default().push(located);
    }
    let mut shown: Vec<Group<'_>> = Vec::new();
    for group in groups.into_values() {
        let first = &group[0].judged.change;
        let of_components = group.iter().all(|it| it.judged.change.component.is_some());
        // Changes of a component's own text, or of the component itself, are shown individually. An
        // added or removed tool deserves its own entry; a hundred resources do not.
        let shown_by_itself = first.pointer.is_empty()
            && first.component.as_ref().map(ComponentKey::kind) == Some(Kind::Tool);
        let foldable =
            group.len() >= MANY && of_components && first.words.is_empty() && !shown_by_itself;
        if foldable {
            let values = |it: &&Located| {
                let change = &it.judged.change;
                (change.old == first.old) && (change.new == first.new)
            };
            shown.push(Group {
                change: group[0],
                same_values: group.iter().all(values),
                ids: group.iter().map(|it| it.judged.id.as_str()).collect(),
                components: group
                    .iter()
                    .filter_map(|it| it.judged.change.component.as_ref())
                    .collect(),
            });
        } else {
            shown.extend(group.into_iter().map(|change| Group {
                change,
                components: Vec::new(),
                ids: Vec::new(),
                same_values: true,
            }));
        }
    }
    shown
}
