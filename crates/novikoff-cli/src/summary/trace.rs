//! Epochs and steps of a training, as CSV.

use novikoff::train::{Fit, RiskFit};
use std::fmt::Write as _;

/// A row per epoch, or per step of a solver.
pub fn trace(fit: &Fit) -> String {
    if let Some(risk) = fit.risk() {
        return solver_trace(risk);
    }
    let mut text = "epoch,mistakes,updates,progressive_error,validation_error,seconds\n".to_owned();
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
