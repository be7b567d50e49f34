//! Many servers in one run: a few at a time, reported in the order of the plan.
//!
//! The promise: the report does not depend on timing. Servers are started in the order of the plan,
//! never more than `jobs` at once, and each of several has its own thread and runtime: its time starts
//! when it is started, and a slow or failing server delays others only by the slot it occupies. A
//! server that is still being ended occupies its slot; only after the last one of a slot the results
//! come first ([`Leaving`]).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use super::Error;
use crate::launch::Farewell;
use crate::settings::{Given, JOBS};

/// The default maximum: booting keeps a core busy, and more at once only run into their timeouts.
const MOST_BY_DEFAULT: usize = 8;

/// How many servers boot at the same time, if there are several.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jobs(Option<usize>);

impl Jobs {
    pub(crate) fn new(given: &Given) -> Self {
        let asked = given.number(JOBS);
        Self(asked.and_then(|it| usize::try_from(it).ok()))
    }

    fn count(self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.0.unwrap_or_else(|| cores().min(MOST_BY_DEFAULT))
    }
}

/// One job: it talks to servers, one after another.
#[derive(Default)]
pub(crate) struct Job {
    /// The end of its last server.
    leaving: Mutex<Option<Farewell>>,
}

impl Job {
    /// Talks to a server, once the one before it is gone.
    pub(crate) async fn run<T>(&self, talk: impl Future<Output = T>) -> T {
        self.last_is_gone().await;
        talk.await
    }

    /// The server that it talked to is still being ended.
    pub(crate) fn leave(&self, farewell: Farewell) {
        *self.last() = Some(farewell);
    }

    async fn last_is_gone(&self) {
        let farewell = self.last().take();
        if let Some(farewell) = farewell {
            farewell.over().await;
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<Farewell>> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last servers of a run, which may still be on their way out. Wait for them before the program
/// exits.
#[must_use]
pub(crate) struct Leaving {
    threads: Vec<JoinHandle<()>>,
    /// The job that ran on the caller's runtime.
    job: Job,
}

impl Leaving {
    /// Waits until they are gone, with everything that they started.
    pub(crate) async fn gone(self) {
        self.job.last_is_gone().await;
        for thread in self.threads {
            // After a panic its servers are gone too.
            let _ = thread.await;
        }
    }
}

/// Does `work` for every number below `count`, started in order, at most `jobs` at a time. The
/// results are in order. Servers that work left behind to end ([`Job::leave`]) may still do so.
pub(crate) async fn each<T: Send + 'static>(
    count: usize,
    jobs: Jobs,
    work: impl AsyncFn(usize, &Job) -> T + Send + Sync + 'static,
) -> Result<(Vec<T>, Leaving), Error> {
    let mut leaving = Leaving {
        threads: Vec::new(),
        job: Job::default(),
    };
    // One server needs neither a thread nor a runtime of its own.
    if count == 1 {
        let result = work(0, &leaving.job).await;
        return Ok((vec![result], leaving));
    }
    let next = Arc::new(AtomicUsize::new(0));
    let work = Arc::new(work);
    let mut running = Vec::new();
    for _ in 0..jobs.count().clamp(1, count.max(1)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Error::usage(format!("cannot start a job: {error}"), "lower --jobs")
            })?;
        let (next, work) = (Arc::clone(&next), Arc::clone(&work));
        let (sender, results) = oneshot::channel();
        let thread = tokio::task::spawn_blocking(move || {
            let job = Job::default();
            let done = runtime.block_on(async {
                let mut done = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    done.push((index, work(index, &job).await));
                }
                done
            });
            // Without a receiver the run is being cancelled.
            let _ = sender.send(done);
            // The runtime goes on draining its stderr.
            runtime.block_on(job.last_is_gone());
        });
        running.push((results, thread));
    }
    let mut results: Vec<(usize, T)> = Vec::with_capacity(count);
    for (done, thread) in running {
        match done.await {
            Ok(done) => results.extend(done),
            // Only a panic keeps it from sending.
            Err(_) => match thread.await.map_err(JoinError::try_into_panic) {
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                _ => return Err(Error::usage("a worker crashed", "")),
            },
        }
        leaving.threads.push(thread);
    }
    results.sort_by_key(|(index, _)| *index);
    let results = results.into_iter().map(|(_, result)| result).collect();
    Ok((results, leaving))
}
