//! Exits that no destructor sees: a panic (with `panic = "abort"`, or on another thread) and a
//! signal.

use super::kill_all;

/// Installs a panic hook that ends every launched server. Call it once, in `main`.
pub fn install_guards() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        kill_all();
        before(panic);
    }));
}

/// Resolves when the user or the system asks this program to exit, with the conventional exit code.
///
/// The caller must then call [`super::end_all`] and exit with the code: servers run in their own
/// sessions, so a ctrl-c on the terminal only reaches mcp-keel.
#[cfg(unix)]
pub async fn interrupted() -> i32 {
    use tokio::signal::unix::{SignalKind, signal};

    async fn arrived(kind: SignalKind) -> i32 {
        match signal(kind) {
            Ok(mut signals) => {
                signals.recv().await;
                128 + kind.as_raw_value()
            }
            // Without a handler the signal ends this program by itself.
            Err(_) => std::future::pending().await,
        }
    }

    tokio::select! {
        code = arrived(SignalKind::interrupt()) => code,
        code = arrived(SignalKind::terminate()) => code,
        code = arrived(SignalKind::hangup()) => code,
    }
}

/// Resolves when the user asks this program to exit, with the conventional exit code.
#[cfg(not(unix))]
pub async fn interrupted() -> i32 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => 130,
        Err(_) => std::future::pending().await,
    }
}
