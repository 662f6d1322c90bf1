//! What a solver tells on its way: progress to whoever watches, and the trace if one is kept.

use super::{Control, Step};
use crate::control::{Flow, Progress};
use crate::risk::Point;
use std::time::Instant;

/// Weights of the largest points that a trace holds: more than anybody looks at, less than fills the memory.
const SHOWN: usize = 64;

pub(super) struct Journal<'a> {
    control: Control<'a>,
    begun: Instant,
    trace: Vec<Step>,
}

/// What is known of a step besides its objective.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    pub gap: Option<f64>,
    pub gradient: Option<f64>,
    pub size: Option<f64>,
}

impl<'a> Journal<'a> {
    pub fn new(control: &Control<'a>) -> Self {
        Self { control: *control, begun: Instant::now(), trace: Vec::new() }
    }

    /// Tells of a step, and returns the answer.
    pub fn note(&mut self, step: usize, objective: f64, known: Known, point: &Point) -> Flow {
        let Known { gap, gradient, size } = known;
        if self.control.trace {
            let seconds = self.begun.elapsed().as_secs_f64();
            let point = (point.weights.len() <= SHOWN).then(|| point.clone());
            self.trace.push(Step { step, objective, gap, gradient, size, seconds, point });
        }
        let (output, outputs) = self.control.output;
        self.control.watch.tell(Progress::Solving { output, outputs, step, objective, gap })
    }

    pub fn into_trace(self) -> Vec<Step> {
        self.trace
    }
}

/// Moments to look at the gap: every step at first, then ever more seldom, so that looking takes a small part of the time.
#[derive(Default)]
pub(super) struct Moments {
    next: usize,
}

impl Moments {
    pub fn come(&mut self, step: usize) -> bool {
        let come = step >= self.next;
        if come {
            self.next = step + 1 + step / 8;
        }
        come
    }
}
