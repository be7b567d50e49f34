//! Folding for people: the same change on many components is told once. Machine formats keep every change.

use super::Located;

/// From how many components on the same change is told once.
const MANY: usize = 5;

/// A change as it is told: once, for one component or for many.
pub(super) struct Told<'a> {
    /// The change, or the first of them.
    pub(super) change: &'a Located,
    /// All components with this change, where there are many.
    pub(super) components: Vec<&'a str>,
}

/// The changes as they are told. Two are the same when rule, place, sentence, judgement and proof kind are.
pub(super) fn fold(changes: &[Located]) -> Vec<Told<'_>> {
    let mut groups: std::collections::BTreeMap<_, Vec<&Located>> =
        std::collections::BTreeMap::new();
    for located in changes {
        let change = &located.judged.change;
        // What names a component, or differs in its text, is told one by one.
        let key = (
            change.rule,
            change.pointer.as_str(),
            change.message.as_str(),
            change.level,
            change.exposure,
            located.judged.action,
        );
        groups.entry(key).or_default().push(located);
    }
    let mut told: Vec<Told<'_>> = Vec::new();
    for group in groups.into_values() {
        let foldable = group.len() >= MANY
            && group.iter().all(|it| {
                it.judged.change.component.is_some() && it.judged.change.words.is_empty()
            })
            && !group[0].judged.change.pointer.is_empty();
        if foldable {
            let components = group
                .iter()
                .filter_map(|it| it.judged.change.component.as_deref())
                .collect();
            told.push(Told {
                change: group[0],
                components,
            });
        } else {
            told.extend(group.into_iter().map(|change| Told {
                change,
                components: Vec::new(),
            }));
        }
    }
    told
}
