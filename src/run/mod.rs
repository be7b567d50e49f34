//! A run: from what is asked for to a report.
//!
//! Which servers there are and how each is reached ([`plan`], [`endpoint`], [`server_lists`]), booting them as often and in
//! as many eras of the protocol as it takes ([`boot`], [`eras`], [`repeat`], [`fleet`]), comparing each with its baseline and
//! judging the difference ([`judge_server`], [`check`], [`pin`]), the comparison with the base branch ([`approval`]), and the
//! parts of a run that is shared among machines ([`shards`]).
//!
//! The promise: nothing here knows a command line, and nothing here prints. What is asked for comes as a [`request`], what
//! goes on is told to an [`observer`], and what was found is returned.

pub(crate) mod approval;
pub(crate) mod boot;
pub(crate) mod check;
pub(crate) mod check_lock;
pub(crate) mod demo;
pub(crate) mod endpoint;
pub(crate) mod eras;
mod error;
pub(crate) mod fleet;
pub(crate) mod in_force;
pub(crate) mod judge_server;
pub(crate) mod observer;
pub(crate) mod pin;
pub(crate) mod pin_lock;
pub(crate) mod plan;
pub(crate) mod pull_request;
pub(crate) mod repeat;
pub(crate) mod request;
pub(crate) mod secrets;
pub(crate) mod server_lists;
pub(crate) mod shards;
pub(crate) mod sources;
mod suggested_command;

pub use error::{Error, Exit};
