//! Every sentence that a report says about a change, a finding or a verdict.
//!
//! Facts in, text out: nothing here decides anything, and nothing outside writes prose of its own.
//! The rooms that compare call [`schema`]; renderers call [`report`] and
//! only lay out. Server text passes through unchanged: renderers escape it.
//!
//! The texts of rules are in `rules`; an error's message and help are in the error enum of its
//! stage.

pub(crate) mod decide;
pub(crate) mod pin;
