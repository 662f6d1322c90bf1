//! A solver's record of its steps, for observers and traces.

use super::{Control, Solution, Termination};
use crate::control::{Flow, Progress};
use crate::risk::Point;
use std::time::Instant;

/// A step of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The number of the step; 0 is the point where the solver began.
    pub step: usize,
    /// The objective there.
    pub objective: f64,
    /// The relative gap, where it is known.
    pub gap: Option<f64>,
    /// The length of the gradient, where it is known.
    pub gradient: Option<f64>,
    /// The size of the step that follows, where a schedule gives one.
    pub size: Option<f64>,
    /// Seconds since the solver began.
    pub seconds: f64,
    /// The point, for problems with few columns.
    pub point: Option<Point>,
}

/// Problems with no more columns than this have their points in the trace.
const SMALL: usize = 32;

/// Reports a solver's steps to the observer, and stores the trace.
pub struct Recorder<'a> {
    pub(super) control: Control<'a>,
    began: Instant,
    recorded: usize,
    pub(super) trace: Vec<Step>,
}

impl<'a> Recorder<'a> {
    /// A record of no steps.
    pub fn new(control: &Control<'a>) -> Self {
        Self { control: *control, began: Instant::now(), recorded: 0, trace: Vec::new() }
    }

    /// Steps made so far.
    pub fn steps(&self) -> usize {
        self.recorded.saturating_sub(1)
    }

    /// To be called at the start and after every step. Returns whether the observer asks to stop.
    pub fn step(
        &mut self,
        objective: f64,
        gap: Option<f64>,
        gradient: Option<f64>,
        point: Option<&Point>,
    ) -> bool {
        if self.control.trace {
            self.trace.push(Step {
                step: self.recorded,
                objective,
                gap,
                gradient,
                size: None,
                seconds: self.began.elapsed().as_secs_f64(),
                point: point.filter(|point| point.weights.len() <= SMALL).cloned(),
            });
        }
        let (output, outputs) = self.control.output;
        self.tell(Progress::Solving { output, outputs, step: self.recorded, objective, gap })
    }

    /// The same, for a method that closes an interval around a margin.
    pub(super) fn bracket(&mut self, lower: f64, upper: f64) -> bool {
        let output = self.control.output.0;
        self.tell(Progress::Margin { output, round: self.recorded, lower, upper })
    }

    fn tell(&mut self, progress: Progress) -> bool {
        self.recorded += 1;
        self.control.watch.tell(progress) == Flow::Stop
    }

    /// The solution, with the steps recorded.
    pub fn finish(self, point: Point, duals: Option<Vec<f64>>, termination: Termination) -> Solution {
        let steps = self.steps();
        Solution { point, duals, termination, steps, trace: self.trace, certified: None }
    }
}
