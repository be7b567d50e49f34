#![doc = include_str!("../README.md")]

pub mod document;
mod example_values;
mod interpretation;
pub mod kinds;
pub mod pair;
mod pattern;
mod reason;
mod solve;
mod validator;
pub mod value;

#[cfg(test)]
#[path = "../tests/it/pairs.rs"]
mod pairs;

pub use example_values::words;
pub use reason::Reason;
pub use solve::{References, bounds_of, item_of};
pub use validator::guard;
