//! Captures of servers that do exactly what a test says.

// A failed unwrap is a failed test, and the panic says where.
#![allow(clippy::unwrap_used)]
// Tests write files for servers to read, and read those that they wrote.
#![allow(clippy::disallowed_methods)]

mod capture;
mod http_double;
mod scripted;
