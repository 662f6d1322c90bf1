//! Epochs, steps and mistakes of a training, as CSV.

use novikoff::control::{Correction, Flow, Observer, Progress};
use novikoff::train::{Fit, RiskFit};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A row per epoch, or per step of a solver; a stream has one epoch, which took so many seconds.
pub fn trace(fit: &Fit, seconds: f64) -> String {
    if let Some(risk) = fit.risk() {
        return solver_trace(risk);
    }
    let mut text = "epoch,mistakes,updates,progressive_error,validation_error,seconds\n".to_owned();
    if let Some(stream) = fit.stream() {
        let (mistakes, updates, error) = (stream.mistakes, stream.updates, stream.progressive_error);
        let _ = writeln!(text, "1,{mistakes},{updates},{error},,{seconds:.6}");
    }
    for e in fit.history().map_or(&[][..], |history| &history.epochs[..]) {
        let validation = e.validation_error.map_or(String::new(), |error| error.to_string());
        let _ = writeln!(
            text,
            "{},{},{},{},{validation},{:.6}",
            e.epoch, e.mistakes, e.updates, e.progressive_error, e.seconds
        );
    }
    text
}

/// A row per step; with few columns the point itself.
fn solver_trace(risk: &RiskFit) -> String {
    let columns =
        risk.trace.first().and_then(|(_, step)| step.point.as_ref()).map_or(0, |point| point.weights.len());
    let mut text = "output,step,objective,relative_gap,gradient,step_size,seconds".to_owned();
    if columns > 0 {
        for j in 1..=columns {
            let _ = write!(text, ",w{j}");
        }
        text.push_str(",bias");
    }
    text.push('\n');
    let optional = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    for (output, s) in &risk.trace {
        let (gap, gradient, size) = (optional(s.gap), optional(s.gradient), optional(s.size));
        let _ = write!(text, "{output},{},{},{gap},{gradient},{size},{:.6}", s.step, s.objective, s.seconds);
        if let Some(point) = &s.point {
            for w in &point.weights {
                let _ = write!(text, ",{w}");
            }
            let _ = write!(text, ",{}", point.bias);
        }
        text.push('\n');
    }
    text
}

/// Where the rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Memory,
    /// Features and classes come as they occur.
    Stream,
}

/// Which weights stand in a trace of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracedWeights {
    None,
    /// All, where they are few and there is an end to them.
    All,
    /// What is added to them.
    Added,
}

/// Weights, with biases, that are few enough to be written after every mistake.
const FEW: usize = 64;

/// A row per mistake, written as they are made.
pub struct MistakeTrace<'a> {
    to: &'a mut (dyn Write + Send),
    source: Source,
    weights: TracedWeights,
    /// Whether it is said which classes gain and lose a row: of two it is its own and the other.
    names_moved: bool,
    classes: Vec<String>,
    /// Rows so far; the first is preceded by the names of the columns.
    rows: u64,
    mistakes: u64,
    line: String,
    /// The first write that failed.
    failed: Option<io::Error>,
}

impl<'a> MistakeTrace<'a> {
    pub fn new(to: &'a mut (dyn Write + Send), source: Source, weights: TracedWeights) -> Self {
        let (classes, line, failed) = Default::default();
        Self { to, source, weights, names_moved: false, classes, rows: 0, mistakes: 0, line, failed }
    }

    /// Ends the file, or says what kept it from being written.
    pub fn finish(mut self) -> io::Result<()> {
        if self.rows == 0 {
            self.line = format!("{COLUMNS}\n");
            self.write();
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.to.flush(),
        }
    }

    fn write(&mut self) {
        if self.failed.is_none() {
            self.failed = self.to.write_all(self.line.as_bytes()).err();
        }
    }

    fn add(&mut self, correction: &Correction<'_>) {
        self.line.clear();
        if self.rows == 0 {
            self.add_head(correction);
        }
        self.rows += 1;
        self.mistakes += u64::from(correction.is_mistake);
        let Correction { epoch, row, class, predicted, margin, step, .. } = *correction;
        let (label, predicted) = (self.name(Some(class)), self.name(Some(predicted)));
        // Never −0.
        let margin = margin + 0.0;
        let mut line = format!("{},{epoch},{},{label},{predicted},{margin},{step}", self.mistakes, row + 1);
        if self.names_moved {
            let (gains, loses) = (self.name(correction.gains), self.name(correction.loses));
            let _ = write!(line, ",{gains},{loses}");
        }
        match self.weights {
            TracedWeights::None => {}
            TracedWeights::All => push_all(correction, &mut line),
            TracedWeights::Added => push_added(correction, self.sign(correction), &mut line),
        }
        line.push('\n');
        self.line.push_str(&line);
        self.write();
    }

    /// The names of the columns; whether there are few weights is known with the first mistake.
    fn add_head(&mut self, correction: &Correction<'_>) {
        let is_stream = self.source == Source::Stream;
        let count = correction.weights.len() + correction.biases.len();
        if self.weights == TracedWeights::All && (is_stream || count > FEW) {
            self.weights = TracedWeights::Added;
        }
        self.names_moved = is_stream || self.classes.len() > 2;
        self.line.push_str(COLUMNS);
        if self.names_moved {
            self.line.push_str(",gains,loses");
        }
        match self.weights {
            TracedWeights::None => {}
            TracedWeights::Added => self.line.push_str(",added"),
            TracedWeights::All => {
                let head = self.weight_columns(correction);
                self.line.push_str(&head);
            }
        }
        self.line.push('\n');
    }

    /// `w1,w2,bias`, or for several weight vectors `w1 of LABEL` and so on, vector by vector.
    fn weight_columns(&self, correction: &Correction<'_>) -> String {
        let outputs = correction.biases.len().max(1);
        let mut head = String::new();
        for output in 0..outputs {
            let of = match outputs {
                1 => String::new(),
                _ => format!(" of {}", self.classes.get(output).map_or("", String::as_str)),
            };
            let weights = (1..=correction.weights.len() / outputs).map(|j| format!("w{j}{of}"));
            for name in weights.chain([format!("bias{of}")]) {
                let _ = write!(head, ",{}", cell(&name));
            }
        }
        head
    }

    /// What is added is for the class that gains. Where that is not said, it is for the one weight vector of
    /// two classes, which is that of the second: a row of the first is subtracted.
    fn sign(&self, correction: &Correction<'_>) -> f64 {
        if !self.names_moved && correction.gains == Some(0) { -1.0 } else { 1.0 }
    }

    fn name(&self, class: Option<usize>) -> Cow<'_, str> {
        cell(class.and_then(|class| self.classes.get(class)).map_or("", String::as_str))
    }
}

const COLUMNS: &str = "mistakes,epoch,row,label,predicted,margin,step";

/// The weights after a mistake, vector by vector.
fn push_all(correction: &Correction<'_>, line: &mut String) {
    let outputs = correction.biases.len().max(1);
    for (output, bias) in correction.biases.iter().enumerate() {
        for weight in correction.weights.iter().skip(output).step_by(outputs).chain([bias]) {
            let _ = write!(line, ",{}", weight + 0.0);
        }
    }
}

/// What is added, a multiple of the row.
fn push_added(correction: &Correction<'_>, sign: f64, line: &mut String) {
    let step = sign * correction.step;
    line.push(',');
    let mut space = "";
    for (j, value) in correction.entries {
        let _ = write!(line, "{space}{}:{}", j + 1, step * value + 0.0);
        space = " ";
    }
    if correction.bias != 0.0 {
        let _ = write!(line, "{space}bias:{}", step * correction.bias);
    }
}

/// Text as a cell of CSV.
fn cell(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n', '\r']) {
        true => Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))),
        false => Cow::Borrowed(text),
    }
}

/// An observer that also writes a trace of mistakes, if there is one.
pub struct Traced<'a, 'w> {
    pub observer: &'a mut dyn Observer,
    pub trace: Option<&'a mut MistakeTrace<'w>>,
}

impl Observer for Traced<'_, '_> {
    fn observe(&mut self, progress: Progress) -> Flow {
        self.observer.observe(progress)
    }

    fn follows_corrections(&self) -> bool {
        self.trace.is_some()
    }

    fn classes(&mut self, names: &[String]) {
        if let Some(trace) = self.trace.as_mut().filter(|trace| trace.classes != names) {
            trace.classes = names.to_vec();
        }
    }

    fn corrected(&mut self, correction: &Correction<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.add(correction);
        }
    }
}
