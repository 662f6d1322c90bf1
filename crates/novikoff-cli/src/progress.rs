//! What happens while the user waits: a bar on a terminal.

use crate::{interrupt, messages};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use novikoff::control::{Flow, Observer, Progress};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Draws progress on a terminal and passes an interrupt on.
pub struct Watch<F> {
    bar: ProgressBar,
    keeps: Keeps,
    phase: Phase,
    on_event: F,
    /// What the last line was about, and when it was said.
    said: (&'static str, Instant),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Reading,
    Learning,
    Solving,
    Testing,
    Folds,
}

/// Whether the work that is watched has something to keep when it is interrupted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Nothing,
    /// From its first step on, after all rows have been read.
    WhatThereIs,
    /// The same, and it has begun.
    Now,
}

impl Watch<fn(Progress)> {
    /// Watches work that has nothing to keep before it is done.
    pub fn new() -> Self {
        Watch::telling(|_| {})
    }

    /// Watches work that, when it is interrupted, finishes with what there is.
    pub fn keeping() -> Self {
        Watch::new().that_keeps()
    }
}

impl<F: FnMut(Progress)> Watch<F> {
    /// Watches, and tells `on_event` of epochs, of a stream's doublings, and of intervals around a margin.
    pub fn telling(on_event: F) -> Self {
        let is_shown = !messages::is_quiet() && !messages::is_verbose() && std::io::stderr().is_terminal();
        let target =
            if is_shown { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        interrupt::take_off_at_the_end(&bar);
        Self { bar, keeps: Keeps::Nothing, phase: Phase::Idle, on_event, said: ("", Instant::now()) }
    }

    /// The same for work that, when it is interrupted, finishes with what there is.
    pub fn that_keeps(self) -> Self {
        Self { keeps: Keeps::WhatThereIs, ..self }
    }

    /// Takes the bar off the screen.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl<F: FnMut(Progress) + Send> Observer for Watch<F> {
    fn observe(&mut self, progress: Progress) -> Flow {
        if self.keeps == Keeps::WhatThereIs && leaves_something(progress) {
            self.keeps = Keeps::Now;
            interrupt::keep();
        }
        if messages::is_verbose() {
            self.say(progress);
        } else if !self.bar.is_hidden() {
            self.draw(progress);
        }
        if let Progress::Epoch(_) | Progress::Stream { .. } | Progress::Margin { .. } = progress {
            self.bar.suspend(|| (self.on_event)(progress));
        }
        if interrupt::is_asked() { Flow::Stop } else { Flow::Continue }
    }
}

impl<F> Watch<F> {
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

    /// Draws the bar.
    fn draw(&mut self, progress: Progress) {
        let (phase, template, total) = match progress {
            Progress::Reading { total: Some(total), .. } => {
                let template = "reading  {bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {msg}, {eta} left";
                (Phase::Reading, template, Some(total))
            }
            Progress::Reading { .. } => {
                (Phase::Reading, "reading  {spinner} {bytes} {bytes_per_sec}, {msg}", None)
            }
            Progress::Learning { epochs, of, .. } => {
                let all = of.saturating_mul(epochs as u64);
                (Phase::Learning, "learning {bar:30} {msg}, {eta} left", Some(all))
            }
            Progress::Solving { .. } | Progress::Margin { .. } => {
                (Phase::Solving, "solving  {spinner} {msg}, {elapsed}", None)
            }
            Progress::Fold { of, .. } => {
                (Phase::Folds, "folds    {bar:30} {msg}, {eta} left", Some(of as u64))
            }
            Progress::Testing { of, .. } => (Phase::Testing, "testing  {bar:30} {msg}, {eta} left", Some(of)),
            Progress::Epoch(_) | Progress::Stream { .. } | Progress::Working => return,
        };
        self.enter(phase, template, total);
        match progress {
            Progress::Reading { bytes, .. } => self.bar.set_position(bytes),
            Progress::Learning { epoch, rows, of, .. } => {
                self.bar.set_position(of * (epoch as u64 - 1) + rows)
            }
            Progress::Testing { rows, .. } => self.bar.set_position(rows),
            Progress::Fold { done, of, .. } => {
                self.bar.set_length(of as u64);
                self.bar.set_position(done as u64);
            }
            _ => {}
        }
        self.bar.set_message(text(progress));
    }

    /// Says how far it is, as a line: every epoch, and anything else if it is new, or nothing was said for a
    /// second.
    fn say(&mut self, progress: Progress) {
        let what = match progress {
            Progress::Reading { .. } => "reading",
            Progress::Learning { .. } | Progress::Epoch(_) => "learning",
            Progress::Solving { .. } | Progress::Margin { .. } => "solving",
            Progress::Testing { .. } => "testing",
            Progress::Fold { .. } => "folds",
            Progress::Stream { .. } | Progress::Working => return,
        };
        let (about, when) = self.said;
        if matches!(progress, Progress::Epoch(_)) || what != about || when.elapsed() >= BETWEEN_LINES {
            self.said = (what, Instant::now());
            messages::say(&format!("{what}: {}", text(progress)));
        }
    }
}

/// Whether there is something to keep by now: a model that is not the first guess, a fit, an interval.
fn leaves_something(progress: Progress) -> bool {
    match progress {
        Progress::Reading { .. } | Progress::Working => false,
        Progress::Solving { step, .. } => step > 0,
        Progress::Fold { done, .. } => done > 0,
        _ => true,
    }
}

/// How long nothing is said after a line.
const BETWEEN_LINES: Duration = Duration::from_secs(1);

/// How far it is, in words.
fn text(progress: Progress) -> String {
    let percent = |errors: u64, rows: u64| 100.0 * errors as f64 / rows.max(1) as f64;
    match progress {
        Progress::Reading { rows, .. } => format!("{rows} rows"),
        Progress::Learning { epoch, epochs, rows, errors, .. } => {
            let share = percent(errors, rows);
            format!("epoch {epoch} of {epochs}, {rows} rows, error so far {share:.2} %")
        }
        Progress::Epoch(done) => {
            let (mistakes, share) = (done.mistakes, 100.0 * done.progressive_error);
            let validation =
                done.validation_error.map(|error| format!(", {:.2} % in validation", 100.0 * error));
            let (epoch, seconds, validation) = (done.epoch, done.seconds, validation.unwrap_or_default());
            format!(
                "epoch {epoch} made {mistakes} mistakes, error {share:.2} %{validation}, {seconds:.1} s so far"
            )
        }
        Progress::Stream { rows, errors, .. } => {
            format!("{rows} rows, error so far {:.2} %", percent(errors, rows))
        }
        Progress::Solving { output, outputs, step, objective, gap } => {
            let of = if outputs > 1 { format!("class {} of {outputs}, ", output + 1) } else { String::new() };
            let gap = gap.map_or(String::new(), |gap| format!(", relative gap {gap:.1e}"));
            format!("{of}step {step}, objective {objective:.6}{gap}")
        }
        Progress::Margin { round, lower, upper, .. } => {
            let lower = if lower > 0.0 { format!("between {lower:.4e} and") } else { "at most".into() };
            let known =
                if upper.is_finite() { format!(", margin {lower} {upper:.4e}") } else { String::new() };
            format!("round {round}{known}")
        }
        Progress::Testing { rows, of } => format!("{rows} of {of} rows"),
        Progress::Fold { fold, folds, symbol, value, done, of } => {
            let value = value.map_or(String::new(), |value| format!(", {symbol} {value:.2e}"));
            format!("fold {fold} of {folds}{value}, {done} of {of} fits done")
        }
        Progress::Working => String::new(),
    }
}
