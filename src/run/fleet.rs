//! Many servers in one run: a few at a time, reported in the order of the plan.
//!
//! The promise: the report does not depend on timing. Servers are started in the order of the plan,
//! never more than `jobs` at once, and each has its own thread and runtime: its time starts when it
//! is started, and a slow or failing server delays others only by the slot it occupies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Error;
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
pub(crate) struct Job(tokio::runtime::Runtime);

impl Job {
    pub(crate) fn run<T>(&self, talk: impl Future<Output = T>) -> T {
        self.0.block_on(talk)
    }
}

/// Does `work` for every number below `count`, started in order, at most `jobs` at a time. The
/// results are in order.
pub(crate) async fn each<T: Send + 'static>(
    count: usize,
    jobs: usize,
    work: impl Fn(usize, &Job) -> T + Send + Sync + 'static,
) -> Result<Vec<T>, Error> {
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
        let (job, next, work) = (Job(runtime), Arc::clone(&next), Arc::clone(&work));
        running.push(tokio::task::spawn_blocking(move || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return done;
                }
                done.push((index, work(index, &job)));
            }
        }));
    }
    let mut results: Vec<(usize, T)> = Vec::with_capacity(count);
    for job in running {
        match job.await {
            Ok(done) => results.extend(done),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => return Err(Error::usage(format!("a worker crashed: {error}"), "")),
            },
        }
    }
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
