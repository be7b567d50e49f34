//! Handles signals: servers are ended, what is in progress elsewhere is completed, and the program
//! exits with the conventional code, even if it is busy.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a server may take to exit after a signal. GitHub waits 7.5 s between its two signals.
const GRACE: Duration = Duration::from_secs(2);

/// How long the cleanup may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// How long the program may be busy after a signal before the watching thread ends it.
const BUSY: Duration = Duration::from_millis(250);

type Cleanup = Pin<Box<dyn Future<Output = ()> + Send>>;

static ON_INTERRUPT: Mutex<Option<Cleanup>> = Mutex::new(None);

/// What to do, on any runtime, if a signal ends the program before [`clear_on_interrupt`].
pub(super) fn on_interrupt(cleanup: impl Future<Output = ()> + Send + 'static) {
    *ON_INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::pin(cleanup));
}

/// Nothing has to be done any more if a signal ends the program. Returns what would have been.
pub(super) fn clear_on_interrupt() -> Option<Cleanup> {
    let mut cleanup = ON_INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner);
    cleanup.take()
}

/// Ends the servers and runs the cleanup. A second caller waits for the first to end the
/// program.
pub(super) async fn end() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    if BEGUN.swap(true, Ordering::Relaxed) {
        // Not forever: a signal ends the program in bounded time, whatever goes wrong on the way.
        return tokio::time::sleep(GRACE + PATIENCE).await;
    }
    // On a thread of its own: a server may have to write something before it exits, and this
    // runtime reads them.
    let _ = tokio::task::spawn_blocking(|| crate::launch::end_all(GRACE)).await;
    super::progress::end();
    if let Some(cleanup) = clear_on_interrupt() {
        let _ = tokio::time::timeout(PATIENCE, cleanup).await;
    }
}

/// Watches for signals from a separate thread. The runtime does too, and ends more gracefully; but
/// it only sees a signal when it is not computing, and a server determines what it computes.
pub(super) fn watch() {
    // Without a second thread the signals still reach the first.
    let _ = std::thread::Builder::new()
        .name("signals".into())
        .spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                let code = crate::launch::interrupted().await;
                // The first thread sees it as well and has exited by then, unless it is busy or
                // waits for a server.
                tokio::time::sleep(BUSY).await;
                end().await;
                leave(code);
            });
        });
}

#[expect(
    clippy::exit,
    reason = "the first thread is busy with what a server sent and cannot respond"
)]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}
