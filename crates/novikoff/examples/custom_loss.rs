//! A loss of one's own: the smoothed hinge, defined here, minimised by the library's solvers to a proved gap.
//!
//! `cargo run --release --example custom_loss`

#![allow(clippy::print_stdout)]

use novikoff::EmpiricalRisk;
use novikoff::data::generate::Recipe;
use novikoff::evaluate::evaluate;
use novikoff::loss::{Growth, Loss, SmoothLoss, Targets};
use novikoff::penalty::L2;
use novikoff::solver::Newton;

/// 0 from a margin of 1 on, `½(1 − m)²` between 0 and 1, `½ − m` below: `ℓ(y, s)` with `m = y·s`.
#[derive(Clone, Copy, Debug)]
struct SmoothedHinge;

impl Loss for SmoothedHinge {
    fn name(self) -> &'static str {
        "smoothed-hinge"
    }
    fn value(self, y: f64, s: f64) -> f64 {
        let short = (1.0 - y * s).max(0.0);
        if short < 1.0 { 0.5 * short * short } else { short - 0.5 }
    }
    fn slope(self, y: f64, s: f64) -> f64 {
        -y * (1.0 - y * s).clamp(0.0, 1.0)
    }
    fn conjugate(self, y: f64, u: f64) -> f64 {
        let p = -y * u;
        if (0.0..=1.0).contains(&p) { 0.5 * p * p - p } else { f64::INFINITY }
    }
    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        -y * (-y * u).clamp(0.0, 1.0)
    }
    fn growth(self) -> Growth {
        Growth::Lipschitz(1.0)
    }
    fn targets(self) -> Targets {
        Targets::Signs
    }
}

impl SmoothLoss for SmoothedHinge {
    fn curvature(self, y: f64, s: f64) -> f64 {
        if (0.0..1.0).contains(&(y * s)) { 1.0 } else { 0.0 }
    }
}

fn main() -> novikoff::Result<()> {
    let data = Recipe { rows: 2000, features: 20, noise: 0.1, ..Recipe::default() }.generate();
    let learner = EmpiricalRisk::new(SmoothedHinge, L2(1e-3), Newton).tolerance(1e-6);
    let fit = learner.fit(&data)?;
    let risk = fit.risk().expect("what a minimised loss came to");
    println!("objective {}, relative gap {:?} after {} steps", risk.objective, risk.relative_gap, risk.steps);
    assert!(risk.relative_gap.is_some_and(|gap| gap <= 1e-6));
    println!("train error {:?}", evaluate(&fit.model, &data)?.error());

    let tuned = learner.tune(&data, 5, &[L2(1.0), L2(1e-2), L2(1e-4)])?;
    for (penalty, tried) in &tuned.path {
        println!(
            "{penalty:?}: {:.1} % ± {:.1}",
            100.0 * tried.mean.unwrap_or(f64::NAN),
            100.0 * tried.spread.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}
