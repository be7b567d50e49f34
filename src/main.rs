//! The binary: parse, run, map to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = mcp_keel::launch::sandbox::stage() {
        return code;
    }
    mcp_keel::own_env::hide();
    mcp_keel::launch::install_guards();
    ExitCode::from(mcp_keel::cli::main(std::env::args_os().collect()))
}
