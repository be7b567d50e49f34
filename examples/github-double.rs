//! The double of GitHub's API as a program, for `.ci/image`: listens on the given address, responds
//! as GitHub does, and shows on `/_state` what it has stored and what it objected to.

// The double is written for tests, where failures are panics; only a part of it is used here.
#![allow(dead_code, clippy::print_stderr, clippy::unwrap_used)]

#[path = "../tests/it/github_double.rs"]
mod github_double;

fn main() {
    let address = std::env::args().nth(1);
    let double = github_double::Double::listen(address.as_deref().unwrap_or("127.0.0.1:0"));
    eprintln!("{}", double.url());
    loop {
        std::thread::park();
    }
}
