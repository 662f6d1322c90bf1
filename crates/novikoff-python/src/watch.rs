//! Long work without Python's lock: it hears Ctrl-C, tells a callback of every epoch and step, and uses as many
//! threads as it is given.

use novikoff::control::{Flow, Observer, Progress};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often Python is asked whether a signal has come.
const PAUSE: Duration = Duration::from_millis(50);

/// Who watches a piece of work, and on how many threads it runs.
pub(crate) struct Watcher {
    /// Called with a dictionary of every epoch, step or round; ends the work by returning True.
    pub(crate) callback: Option<Py<PyAny>>,
    /// Threads; `None` for as many as the machine, or `OMP_NUM_THREADS`, has.
    pub(crate) threads: Option<usize>,
}

/// Something that happened, and whom to answer.
struct Event {
    progress: Progress,
    answer: SyncSender<Flow>,
}

/// The library's observer: it runs on the threads that work, and passes on what happens.
struct Messenger<'a> {
    stop: &'a AtomicBool,
    events: Option<SyncSender<Event>>,
}

impl Observer for Messenger<'_> {
    fn observe(&mut self, progress: Progress) -> Flow {
        if self.stop.load(Ordering::Relaxed) {
            return Flow::Stop;
        }
        let Some(events) = self.events.as_ref().filter(|_| is_told(&progress)) else { return Flow::Continue };
        let (answer, answered) = sync_channel(1);
        match events.send(Event { progress, answer }) {
            Ok(()) => answered.recv().unwrap_or(Flow::Stop),
            Err(_) => Flow::Stop,
        }
    }
}

/// Whether a callback is told: of what has ended, not of what is under way.
fn is_told(progress: &Progress) -> bool {
    !matches!(progress, Progress::Working | Progress::Learning { .. } | Progress::Reading { .. })
}

impl Watcher {
    /// Does some work on a thread of its own, without Python's lock, while this one waits for signals. An
    /// exception that a signal or the callback raises ends the work and is returned.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Observer) -> T + Send,
    ) -> PyResult<T> {
        let stop = AtomicBool::new(false);
        let pool = pool(self.threads)?;
        let (events, happened) = sync_channel(1);
        let mut raised = None;
        let told = self.callback.as_ref().map(|_| events.clone());
        let mut messenger = Messenger { stop: &stop, events: told };
        let (until, exception) = (&stop, &mut raised);
        let done = py.detach(move || {
            thread::scope(|scope| {
                let worker = scope.spawn(move || {
                    let result = pool.install(|| work(&mut messenger));
                    // The receiver sees that nobody is left to send.
                    drop((messenger, events));
                    result
                });
                self.wait(&happened, until, exception);
                worker.join()
            })
        });
        match (raised, done) {
            (Some(exception), _) => Err(exception),
            (None, Ok(result)) => Ok(result),
            (None, Err(panic)) => resume_unwind(panic),
        }
    }

    /// Answers events until there is nobody left to send one.
    fn wait(&self, happened: &Receiver<Event>, stop: &AtomicBool, raised: &mut Option<PyErr>) {
        loop {
            let heard = match happened.recv_timeout(PAUSE) {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    Python::attach(|py| py.check_signals()).map(|()| Flow::Continue)
                }
                Ok(Event { progress, answer }) => {
                    let heard = Python::attach(|py| self.tell(py, progress));
                    // The worker may have ended already.
                    let _ = answer.send(*heard.as_ref().unwrap_or(&Flow::Stop));
                    heard
                }
            };
            match heard {
                Ok(Flow::Continue) => {}
                Ok(Flow::Stop) => stop.store(true, Ordering::Relaxed),
                Err(exception) => {
                    stop.store(true, Ordering::Relaxed);
                    raised.get_or_insert(exception);
                }
            }
        }
    }

    fn tell(&self, py: Python<'_>, progress: Progress) -> PyResult<Flow> {
        py.check_signals()?;
        let Some(callback) = &self.callback else { return Ok(Flow::Continue) };
        let answer = callback.call1(py, (describe(py, progress)?,))?;
        Ok(if answer.is_truthy(py)? { Flow::Stop } else { Flow::Continue })
    }
}

/// What happened, as a dictionary.
pub(crate) fn describe(py: Python<'_>, progress: Progress) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    match progress {
        Progress::Epoch(epoch) => {
            all.set_item("event", "epoch")?;
            all.set_item("epoch", epoch.epoch)?;
            all.set_item("mistakes", epoch.mistakes)?;
            all.set_item("updates", epoch.updates)?;
            all.set_item("progressive_error", epoch.progressive_error)?;
            all.set_item("validation_error", epoch.validation_error)?;
            all.set_item("seconds", epoch.seconds)?;
        }
        Progress::Solving { output, outputs, step, objective, gap } => {
            all.set_item("event", "step")?;
            all.set_item("output", output)?;
            all.set_item("outputs", outputs)?;
            all.set_item("step", step)?;
            all.set_item("objective", objective)?;
            all.set_item("gap", gap)?;
        }
        Progress::Fold { fold, folds, value, done, of, .. } => {
            all.set_item("event", "fold")?;
            all.set_item("fold", fold)?;
            all.set_item("folds", folds)?;
            all.set_item("value", value)?;
            all.set_item("done", done)?;
            all.set_item("of", of)?;
        }
        Progress::Margin { round, lower, upper, .. } => {
            all.set_item("event", "round")?;
            all.set_item("round", round)?;
            all.set_item("lower", lower)?;
            all.set_item("upper", upper)?;
        }
        Progress::Stream { rows, errors, mistakes } => {
            all.set_item("event", "rows")?;
            all.set_item("rows", rows)?;
            all.set_item("errors", errors)?;
            all.set_item("mistakes", mistakes)?;
        }
        Progress::Testing { rows, of } => {
            all.set_item("event", "testing")?;
            all.set_item("rows", rows)?;
            all.set_item("of", of)?;
        }
        Progress::Reading { .. } | Progress::Learning { .. } | Progress::Working => {}
    }
    Ok(all)
}

/// Pools by process and number of threads.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// The pools of threads. Threads do not survive a fork: a child has pools of its own.
static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

/// So many threads, which are started once and kept.
fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let threads = threads.unwrap_or_else(usual_threads).clamp(1, 1024);
    let key = (std::process::id(), threads);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let built =
        ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("novikoff-{i}")).build();
    let pool = Arc::new(built.map_err(|error| {
        pyo3::exceptions::PyRuntimeError::new_err(format!("{threads} threads could not be started: {error}"))
    })?);
    pools.insert(key, pool.clone());
    Ok(pool)
}

/// As many as joblib and others allow by `OMP_NUM_THREADS`, or as the process may use.
fn usual_threads() -> usize {
    let allowed = std::env::var("OMP_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok());
    allowed.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}
