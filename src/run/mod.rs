//! A run: from the request to a report.
//!
//! - which servers there are, and how each is reached: [`plan`], [`endpoint`], [`server_lists`]
//! - what they are compared with: [`baseline`], a manifest of our own or another tool's lock
//! - booting them as often, and in as many eras of the protocol, as it takes: [`boot`], [`eras`], [`repeat`], [`fleet`]
//! - judging the difference and assembling the report: [`judge_server`], [`check`], [`pin`], [`sources`]
//! - pull requests: [`pull_request`], [`approval`], and what the base says: [`base`], [`reviewed`]
//! - deciding about single changes: [`decide`]
//! - the parts of a run that several machines share: [`shards`]
//!
//! This room promises that nothing in it depends on a command line or prints. The input is a
//! [`request`], progress is reported to an [`observer`], and the result is returned. Every live
//! server is booted by [`boot::boot`].

pub(crate) mod acceptance;
pub(crate) mod approval;
pub(crate) mod base;
pub(crate) mod base_files;
pub(crate) mod baseline;
pub(crate) mod boot;
mod captured;
pub(crate) mod check;
pub(crate) mod check_changes;
pub(crate) mod ci;
pub(crate) mod decide;
pub(crate) mod endpoint;
pub(crate) mod entries;
pub(crate) mod eras;
mod error;
pub(crate) mod fleet;
mod hints;
pub(crate) mod history;
pub(crate) mod in_force;
pub(crate) mod init;
pub(crate) mod judge_server;
pub(crate) mod judged_files;
pub(crate) mod observer;
pub(crate) mod pin;
pub(crate) mod plan;
pub(crate) mod pull_request;
pub(crate) mod pull_request_page;
pub(crate) mod repeat;
pub(crate) mod request;
pub(crate) mod reviewed;
pub(crate) mod save;
pub(crate) mod secrets;
pub(crate) mod server_lists;
pub(crate) mod shards;
pub(crate) mod sign_lock;
pub(crate) mod sources;
mod suggested_command;

pub use error::{Error, Exit};
