//! Rules about schemas, one family per entry.
//!
//! Input and output rules mirror each other, but their texts do not: arguments break when less is
//! accepted than before, results when more is possible. Every rule has an example pair of schemas
//! on which a test makes it fire.

mod annotations;
mod members;
mod structure;
mod types;
mod values;

pub(super) use annotations::annotation_families;
pub(super) use members::member_families;
pub(super) use structure::structure_families;
pub(super) use types::type_families;
pub(super) use values::value_families;
