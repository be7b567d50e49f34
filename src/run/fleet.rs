//! Many servers in one run: a few at a time, reported in the order of the plan.
//!
//! The promise: the report does not depend on timing. Servers are started in the order of the plan,
//! never more than `jobs` at once, and each has its own thread and runtime: its time starts when it
//! is started, and a slow or failing server delays others only by the slot it occupies. A server that
//! is still being ended occupies its slot; only after the last one of a slot the results come first
//! ([`Leaving`]).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use super::Error;
use crate::launch::Farewell;
use crate::settings::{Given, JOBS};

/// The default maximum: booting keeps a core busy, and more at once only run into their timeouts.
const MOST_BY_DEFAULT: usize = 8;

/// How many servers boot at the same time.
pub(crate) fn jobs(given: &Given) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let asked = given.number(JOBS).and_then(|it| usize::try_from(it).ok());
    asked.unwrap_or_else(|| cores().min(MOST_BY_DEFAULT))
}

/// The runtime on which one job talks to its servers, one after another.
pub(crate) struct Job {
    runtime: tokio::runtime::Runtime,
    /// The end of its last server.
    leaving: Mutex<Option<Farewell>>,
}

impl Job {
    /// Talks to a server, once the one before it is gone.
    pub(crate) fn run<T>(&self, talk: impl Future<Output = T>) -> T {
        self.last_is_gone();
        self.runtime.block_on(talk)
    }

    /// The server that it talked to is still being ended.
    pub(crate) fn leave(&self, farewell: Farewell) {
        *self.leaving.lock().unwrap_or_else(PoisonError::into_inner) = Some(farewell);
    }

    fn last_is_gone(&self) {
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(farewell) = leaving.take() {
            // The runtime goes on draining its stderr.
            self.runtime.block_on(farewell.over());
        }
    }
}

/// The last servers of a run, which may still be on their way out. Wait for them before the program
/// exits.
#[must_use]
pub(crate) struct Leaving(Vec<JoinHandle<()>>);

impl Leaving {
    /// Waits until they are gone, with everything that they started.
    pub(crate) async fn gone(self) {
        for job in self.0 {
            // After a panic its servers are gone too.
            let _ = job.await;
        }
    }
}

/// Does `work` for every number below `count`, started in order, at most `jobs` at a time. The
/// results are in order. Servers that work left behind to end ([`Job::leave`]) may still do so.
pub(crate) async fn each<T: Send + 'static>(
    count: usize,
    jobs: usize,
    work: impl Fn(usize, &Job) -> T + Send + Sync + 'static,
) -> Result<(Vec<T>, Leaving), Error> {
    let next = Arc::new(AtomicUsize::new(0));
    let work = Arc::new(work);
    let mut running = Vec::new();
    for _ in 0..jobs.clamp(1, count.max(1)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Error::usage(format!("cannot start a job: {error}"), "lower --jobs")
            })?;
        let job = Job {
            runtime,
            leaving: Mutex::new(None),
        };
        let (next, work) = (Arc::clone(&next), Arc::clone(&work));
        let (sender, results) = oneshot::channel();
        let thread = tokio::task::spawn_blocking(move || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    break;
                }
                done.push((index, work(index, &job)));
            }
            // Without a receiver the run is being cancelled.
            let _ = sender.send(done);
            job.last_is_gone();
        });
        running.push((results, thread));
    }
    let mut results: Vec<(usize, T)> = Vec::with_capacity(count);
    let mut leaving = Vec::new();
    for (done, thread) in running {
        match done.await {
            Ok(done) => results.extend(done),
            // Only a panic keeps it from sending.
            Err(_) => match thread.await.map_err(JoinError::try_into_panic) {
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                _ => return Err(Error::usage("a worker crashed", "")),
            },
        }
        leaving.push(thread);
    }
    results.sort_by_key(|(index, _)| *index);
    let results = results.into_iter().map(|(_, result)| result).collect();
    Ok((results, Leaving(leaving)))
}
