//! What happens while the user waits: a bar on a terminal, and Ctrl-C.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use novikoff::control::{Flow, Observer, Progress};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether there has been anything to watch yet.
static WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether the program waits for somebody else.
static WAITING: AtomicBool = AtomicBool::new(false);

/// The first Ctrl-C asks to finish with what there is, the second ends the program at once; so does the first
/// if nothing has been read yet.
pub fn listen_for_interrupts() {
    // Without a handler Ctrl-C still ends the program, and files are still whole.
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst) || WAITING.load(Ordering::SeqCst);
        if again || !WATCHED.load(Ordering::SeqCst) {
            let _ = writeln!(std::io::stderr(), "{}", if again { "interrupted" } else { NOTHING_WRITTEN });
            std::process::exit(130);
        }
    });
}

/// Does something that may wait without end and cannot be stopped: meanwhile the first Ctrl-C ends the program.
pub fn ended_by_an_interrupt<T>(work: impl FnOnce() -> T) -> T {
    WAITING.store(true, Ordering::SeqCst);
    let done = work();
    WAITING.store(false, Ordering::SeqCst);
    done
}

/// What is said when an interrupt leaves nothing to keep.
pub const NOTHING_WRITTEN: &str = "interrupted: nothing was written";

/// Draws progress on a terminal and passes an interrupt on.
pub struct Watch<F> {
    bar: ProgressBar,
    phase: Phase,
    on_event: F,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Reading,
    Learning,
    Solving,
    Testing,
}

impl Watch<fn(Progress)> {
    /// Watches quietly.
    pub fn new() -> Self {
        Watch::telling(|_| {})
    }
}

impl<F: FnMut(Progress)> Watch<F> {
    /// Watches, and tells `on_event` of epochs, of a stream's doublings, and of intervals around a margin.
    pub fn telling(on_event: F) -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        Self { bar: ProgressBar::with_draw_target(None, target), phase: Phase::Idle, on_event }
    }

    /// Takes the bar off the screen.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn enter(&mut self, phase: Phase, template: &str, total: Option<u64>) {
        if self.phase != phase {
            self.phase = phase;
            self.bar.reset();
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.bar.set_style(style.progress_chars("━╸ "));
            }
            if let Some(total) = total {
                self.bar.set_length(total);
            }
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }
}

impl<F: FnMut(Progress) + Send> Observer for Watch<F> {
    fn observe(&mut self, progress: Progress) -> Flow {
        WATCHED.store(true, Ordering::Relaxed);
        match progress {
            Progress::Reading { bytes, total, rows } if !self.bar.is_hidden() => {
                let template = if total.is_some() {
                    "reading  {bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {msg}, {eta} left"
                } else {
                    "reading  {spinner} {bytes} {bytes_per_sec}, {msg}"
                };
                self.enter(Phase::Reading, template, total);
                self.bar.set_position(bytes);
                self.bar.set_message(format!("{rows} rows"));
            }
            Progress::Learning { epoch, epochs, rows, of, errors } if !self.bar.is_hidden() => {
                let all = of.saturating_mul(epochs as u64);
                self.enter(Phase::Learning, "learning {bar:30} {msg}, {eta} left", Some(all));
                self.bar.set_position(of * (epoch as u64 - 1) + rows);
                let share = 100.0 * errors as f64 / rows.max(1) as f64;
                self.bar.set_message(format!(
                    "epoch {epoch} of {epochs}, {rows} rows, error so far {share:.2} %"
                ));
            }
            Progress::Solving { output, outputs, step, objective, gap } if !self.bar.is_hidden() => {
                self.enter(Phase::Solving, "solving  {spinner} {msg}, {elapsed}", None);
                let of =
                    if outputs > 1 { format!("class {} of {outputs}, ", output + 1) } else { String::new() };
                let gap = gap.map_or(String::new(), |gap| format!(", relative gap {gap:.1e}"));
                self.bar.set_message(format!("{of}step {step}, objective {objective:.6}{gap}"));
            }
            Progress::Margin { round, lower, upper } if !self.bar.is_hidden() => {
                self.enter(Phase::Solving, "solving  {spinner} {msg}, {elapsed}", None);
                let lower = if lower > 0.0 { format!("between {lower:.4e} and") } else { "at most".into() };
                let known =
                    if upper.is_finite() { format!(", margin {lower} {upper:.4e}") } else { String::new() };
                self.bar.set_message(format!("round {round}{known}"));
            }
            Progress::Testing { rows, of } if !self.bar.is_hidden() => {
                self.enter(Phase::Testing, "testing  {bar:30} {pos} of {len} rows, {eta} left", Some(of));
                self.bar.set_position(rows);
            }
            Progress::Testing { .. }
            | Progress::Reading { .. }
            | Progress::Learning { .. }
            | Progress::Solving { .. }
            | Progress::Margin { .. } => {}
            Progress::Epoch(_) | Progress::Stream { .. } => self.bar.suspend(|| (self.on_event)(progress)),
        }
        if let Progress::Margin { .. } = progress {
            (self.on_event)(progress);
        }
        if INTERRUPTED.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }
}
