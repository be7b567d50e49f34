//! Many servers in one run: a few at a time, reported in the order of the plan.
//!
//! The promise: the report does not depend on timing. Servers are started in the order of the plan,
//! never more than `jobs` at once, and each of several has its own thread and runtime: its time starts
//! when it is started, and a slow or failing server delays others only by the slot it occupies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinError;

use super::Error;
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

/// Does `work` for every number below `count`, started in order, at most `jobs` at a time. The
/// results are in order.
pub(crate) async fn each<T: Send + 'static>(
    count: usize,
    jobs: Jobs,
    work: impl AsyncFn(usize) -> T + Send + Sync + 'static,
) -> Result<Vec<T>, Error> {
    // One server needs neither a thread nor a runtime of its own.
    if count == 1 {
        return Ok(vec![work(0).await]);
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
        running.push(tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                let mut done = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return done;
                    }
                    done.push((index, work(index).await));
                }
            })
        }));
    }
    let mut results: Vec<(usize, T)> = Vec::with_capacity(count);
    for thread in running {
        match thread.await.map_err(JoinError::try_into_panic) {
            Ok(done) => results.extend(done),
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => return Err(Error::usage("a worker crashed", "")),
        }
    }
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
