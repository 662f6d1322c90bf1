//! How long work is watched and stopped: the one hook for progress bars, Ctrl-C, deadlines and foreign
//! runtimes. The library itself never prints.

use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a long-running operation tells its observer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Bytes taken from the input (of `total`, where it is known) and rows made of them.
    Reading {
        /// Bytes of the file taken so far, before decompression.
        bytes: u64,
        /// Size of the file, where it has one.
        total: Option<u64>,
        /// Rows read so far.
        rows: u64,
    },
    /// Rows seen within an epoch.
    Learning {
        /// The epoch under way, from 1.
        epoch: usize,
        /// How many epochs there will be at most.
        epochs: usize,
        /// Rows seen in this epoch.
        rows: u64,
        /// Rows in an epoch.
        of: u64,
        /// Rows that were predicted wrongly before they were learned from, in this epoch.
        errors: u64,
    },
    /// An epoch has ended.
    Epoch(Epoch),
    /// The number of rows of a stream has doubled since this was last said.
    Stream {
        /// Rows seen so far.
        rows: u64,
        /// Rows predicted wrongly before they were learned from.
        errors: u64,
        /// Mistakes while learning.
        mistakes: u64,
    },
    /// A solver has made a step.
    Solving {
        /// The weight vector under way, from 0.
        output: usize,
        /// How many there are.
        outputs: usize,
        /// Steps so far, for this one.
        step: usize,
        /// The objective, as far as it is known.
        objective: f64,
        /// The relative gap, where it is known.
        gap: Option<f64>,
    },
    /// A fit of cross-validation has begun, goes on, or has ended; several are under way at once.
    Fold {
        /// The fold that it is of, from 1.
        fold: usize,
        /// How many folds there are.
        folds: usize,
        /// What is being chosen, such as λ.
        symbol: &'static str,
        /// Its value in this fit, if there is something to choose.
        value: Option<f64>,
        /// Fits that are finished, in all folds.
        done: usize,
        /// How many there will be; more, where the best value turns out to be at the end of those tried.
        of: usize,
    },
    /// Rows are being scored by all weight vectors of a run.
    Testing {
        /// Rows scored so far.
        rows: u64,
        /// Rows in all.
        of: u64,
    },
    /// The interval around a margin has closed a little.
    Margin {
        /// The weight vector under way, from 0; several may be under way at once.
        output: usize,
        /// Rounds over the rows so far, for this one.
        round: usize,
        /// The largest margin is at least this; not positive as long as nothing separates the rows.
        lower: f64,
        /// And at most this.
        upper: f64,
    },
    /// Something goes on that has no measure; said so that it can be stopped.
    Working,
}

/// What one epoch came to; a row of `--trace`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// From 1.
    pub epoch: usize,
    /// Mistakes in this epoch.
    pub mistakes: u64,
    /// Updates of the weights in this epoch.
    pub updates: u64,
    /// Share of rows predicted wrongly before they were learned from.
    pub progressive_error: f64,
    /// Error of the model so far on the validation rows, where there are any.
    pub validation_error: Option<f64>,
    /// Seconds since training began.
    pub seconds: f64,
}

/// One step of an online learner: after a mistake or, by the passive-aggressive rule, after a margin that was
/// too small.
#[derive(Clone, Copy, Debug)]
pub struct Correction<'a> {
    /// The epoch, from 1.
    pub epoch: usize,
    /// The row, from 0, in the order of the data.
    pub row: u64,
    /// Its class, by the number that [`Observer::classes`] gives it.
    pub class: usize,
    /// The class that was predicted. Where scores tie it may be the row's own, and the row a mistake all the
    /// same.
    pub predicted: usize,
    /// The margin before: `y·s`, or for joint classes the score of the class minus the best other one.
    pub margin: f64,
    /// Whether the row was a mistake.
    pub is_mistake: bool,
    /// The class that the row is added for, if there is one.
    pub gains: Option<usize>,
    /// The class that it is subtracted for.
    pub loses: Option<usize>,
    /// How many times the row is added. The one weight vector of two classes is that of the second.
    pub step: f64,
    /// The row's entries.
    pub entries: &'a [(u32, f64)],
    /// What its coordinate for the bias is.
    pub bias: f64,
    /// The weights after the step, feature by feature, outputs side by side; empty with a kernel.
    pub weights: &'a [f64],
    /// The bias of each output after the step.
    pub biases: &'a [f64],
}

/// The observer's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Carry on.
    Continue,
    /// Finish now, with what there is.
    Stop,
}

/// Why training, or a solver, stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// An epoch made no mistake and no update: the rows are separated.
    Separated,
    /// The maximum number of epochs was reached.
    OutOfEpochs,
    /// The validation error stopped falling.
    ValidationError,
    /// The stream ended.
    EndOfStream,
    /// All rows were counted, which takes one pass.
    Counted,
    /// The duality gap, or the criterion that replaces it, is within the tolerance.
    Converged,
    /// All solvers of a fit have stopped, and no bound shows that it is within the tolerance.
    NotConverged,
    /// A solver has made the maximum number of steps.
    OutOfSteps,
    /// No step of a solver improved anything: this is as far as floating-point numbers go.
    Stalled,
    /// There is no minimum: a hyperplane separates the rows, and the objective falls with ever longer
    /// weights.
    Diverging,
    /// The observer asked to stop.
    Interrupted,
}

/// Told of progress; may ask to stop. Called often: answer quickly.
pub trait Observer: Send {
    /// Something happened.
    fn observe(&mut self, progress: Progress) -> Flow;

    /// Whether it wants to be told of every correction. Learning is slower then, and comes to the same.
    fn follows_corrections(&self) -> bool {
        false
    }

    /// The names of the classes in the order of their numbers, before the first correction and whenever there
    /// are more.
    fn classes(&mut self, _names: &[String]) {}

    /// A row was corrected.
    fn corrected(&mut self, _correction: &Correction<'_>) {}
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Observer for Unwatched {
    fn observe(&mut self, _: Progress) -> Flow {
        Flow::Continue
    }
}

impl<F: FnMut(Progress) -> Flow + Send> Observer for F {
    fn observe(&mut self, progress: Progress) -> Flow {
        self(progress)
    }
}

/// How many rows to go over between two questions whether to go on, if each takes so many multiplications.
pub(crate) fn rows_between_questions(multiplications: usize) -> usize {
    /// Some milliseconds.
    const MULTIPLICATIONS: usize = 1 << 23;
    (MULTIPLICATIONS / multiplications.max(1)).clamp(1, 1 << 13)
}

/// One observer shared by work on several threads.
pub struct Watch<'a> {
    observer: Mutex<&'a mut dyn Observer>,
    stopped: AtomicBool,
}

impl<'a> Watch<'a> {
    /// Work that this observer watches.
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Self { observer: Mutex::new(observer), stopped: AtomicBool::new(false) }
    }

    /// Something happened. Once anybody was told to stop, everybody is.
    pub fn tell(&self, progress: Progress) -> Flow {
        if self.stopped() {
            return Flow::Stop;
        }
        // An observer that panicked is not asked again.
        let flow = self.observer.lock().map_or(Flow::Stop, |mut observer| observer.observe(progress));
        self.stopped.fetch_or(flow == Flow::Stop, Ordering::Relaxed);
        flow
    }

    /// Whether to go on; asks the observer. For loops within a step, between the events that observers want.
    pub fn goes_on(&self) -> bool {
        self.tell(Progress::Working) == Flow::Continue
    }

    /// Whether somebody asked to stop.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
