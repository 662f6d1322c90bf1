//! The duality gap: how far an objective can be above the minimum.
//!
//! Any duals `uᵢ` in the domain of the conjugate give a number below every objective, `−(1/n) Σ cᵢ ℓ*(yᵢ, uᵢ)
//! − penalty*(−(1/n) Σ cᵢ uᵢ xᵢ)`; with a free bias they must also fulfil `Σ cᵢ uᵢ = 0`. The slopes of the
//! loss at the model's own scores are duals, and a solver may bring better ones. Duals that do not quite fit
//! are moved until they do, so the bound holds whoever made them.

use super::{Point, Problem};
use crate::loss::Loss;
use crate::penalty::{Bias, Penalty};

/// Objective, lower bound and gradient at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The objective at the point.
    pub objective: f64,
    /// The largest lower bound found on every objective; `None` without a penalty that could give one.
    pub dual: Option<f64>,
    /// The length of the objective's gradient at the point (of its shortest slope, with an ℓ1 penalty): zero
    /// only at the minimum. `None` where the bound is that of a solver's duals: the gradient would cost
    /// another pass, and at a kink of the loss it may be positive all the same.
    pub gradient: Option<f64>,
}

/// What plain sums over many rows may lift a dual by, of the objective.
const ROUNDED: f64 = 1e-9;

impl Gap {
    /// `(objective − dual)/objective`. `None` without a dual, and where the dual is above the objective by
    /// more than rounding: one of the two is wrong then.
    pub fn relative(&self) -> Option<f64> {
        let dual = self.dual?;
        let gap = self.objective - dual;
        let size = self.objective.abs().max(f64::MIN_POSITIVE);
        match () {
            _ if gap < -ROUNDED * size => None,
            // Not by `max`, which would make zero of NaN.
            _ if gap <= 0.0 => Some(0.0),
            _ => Some(gap / size),
        }
    }

    /// The same gap, without a bound that is above the objective: such a bound proves nothing.
    pub(crate) fn consistent(self) -> Self {
        Self { dual: self.dual.filter(|dual| *dual <= self.objective), ..self }
    }

    /// Whether the relative gap is at most this.
    pub fn within(&self, tolerance: f64) -> bool {
        self.relative().is_some_and(|gap| gap <= tolerance)
    }
}

/// Objective and gap of a point, given its scores and, where a solver has them, duals.
pub fn duality_gap<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    scores: &[f64],
    duals: Option<&[f64]>,
) -> Gap {
    let dual = duals.and_then(|duals| bound(problem, duals.to_vec(), None));
    with_bound(problem, point, scores, dual)
}

/// The same for a solver that knows its duals' gradient `Σ shareᵢ·uᵢ·xᵢ`: no pass over the rows is needed if
/// the duals are [balanced](balance) and in their domain.
pub(crate) fn duality_gap_with_gradient<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    scores: &[f64],
    duals: &[f64],
    dual_gradient: &Point,
) -> Gap {
    with_bound(problem, point, scores, bound(problem, duals.to_vec(), Some(dual_gradient)))
}

/// The scores of a point, and its gap: both at once, on two cores, where a solver has duals.
pub(crate) fn scores_and_gap<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    duals: Option<&[f64]>,
) -> (Vec<f64>, Gap) {
    let (dual, scores) = rayon::join(
        || duals.and_then(|duals| bound(problem, duals.to_vec(), None)),
        || problem.scores(point),
    );
    let gap = with_bound(problem, point, &scores, dual);
    (scores, gap)
}

/// With the bound that a solver's duals prove, or else the one of the slopes.
fn with_bound<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    scores: &[f64],
    dual: Option<f64>,
) -> Gap {
    let objective = problem.mean_loss(scores) + problem.penalty_of(point);
    if let Some(dual) = dual {
        return Gap { objective, dual: Some(dual), gradient: None };
    }
    let slopes = problem.each(|i| problem.loss.slope(problem.targets[i], scores[i]));
    let dual_gradient = problem.combine(|i| problem.share(i) * slopes[i]);
    let gradient = Some(gradient(problem, point, &dual_gradient));
    Gap { objective, dual: bound(problem, slopes, Some(&dual_gradient)), gradient }
}

/// The lower bound that these duals prove; `dual_gradient` is `Σ shareᵢ·uᵢ·xᵢ` where it is known.
fn bound<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    mut duals: Vec<f64>,
    dual_gradient: Option<&Point>,
) -> Option<f64> {
    let mut moved = false;
    for (u, y) in duals.iter_mut().zip(problem.targets) {
        let nearest = problem.loss.nearest_dual(*y, *u);
        moved |= nearest != *u;
        *u = nearest;
    }
    if problem.bias == Bias::Free {
        moved |= balance(problem, &mut duals);
    }
    let anew;
    let dual_gradient = match dual_gradient {
        Some(dual_gradient) if !moved => dual_gradient,
        _ => {
            anew = problem.combine(|i| problem.share(i) * duals[i]);
            &anew
        }
    };
    let penalised = dual_gradient
        .weights
        .iter()
        .copied()
        .chain((problem.bias == Bias::Penalised).then_some(dual_gradient.bias));
    // A conjugate that is finite only up to a radius, such as the lasso's: shorter duals have a shorter
    // gradient.
    let radius = problem.penalty.dual_radius();
    let largest = || penalised.clone().map(f64::abs).fold(0.0, f64::max);
    let shorter = match if radius == f64::INFINITY { 0.0 } else { largest() } {
        largest if largest <= radius => 1.0,
        _ if radius == 0.0 => return None,
        largest => radius / largest,
    };
    let losses =
        problem.sum(|i| problem.share(i) * problem.loss.conjugate(problem.targets[i], shorter * duals[i]));
    let penalties: f64 =
        penalised.map(|v| problem.penalty.conjugate((-shorter * v).max(-radius).min(radius))).sum();
    Some(-losses - penalties).filter(|bound| bound.is_finite())
}

/// Makes `Σ shareᵢ·uᵢ = 0` by shortening the duals of the sign that outweighs the other: zero lies in the
/// domain of every conjugate, so shorter duals never leave it. Returns whether anything changed.
pub(crate) fn balance<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, duals: &mut [f64]) -> bool {
    let up = problem.sum(|i| problem.share(i) * duals[i].max(0.0));
    let down = problem.sum(|i| problem.share(i) * (-duals[i]).max(0.0));
    // Balanced duals are so up to the rounding of these sums, and would be so again.
    if (up - down).abs() <= 4.0 * f64::EPSILON * (duals.len() as f64).sqrt() * up {
        return false;
    }
    let (factor, sign) = if up > down { (down / up, 1.0) } else { (up / down, -1.0) };
    for u in duals.iter_mut().filter(|u| **u * sign > 0.0) {
        *u *= factor;
    }
    true
}

/// The length of the shortest slope of the objective at a point.
fn gradient<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, point: &Point, dual_gradient: &Point) -> f64 {
    let slope = |w: f64, v: f64| problem.penalty.shortest_slope(w, v);
    let weights =
        point.weights.iter().zip(&dual_gradient.weights).map(|(w, v)| slope(*w, *v).powi(2)).sum::<f64>();
    let bias = match problem.bias {
        Bias::Free => dual_gradient.bias,
        Bias::Penalised => slope(point.bias, dual_gradient.bias),
        Bias::None => 0.0,
    };
    (weights + bias * bias).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use crate::loss::{Absolute, Hinge, Logistic, Squared, SquaredHinge};
    use crate::penalty::ElasticNet;
    use proptest::prelude::*;

    /// No dual, whoever made it up, proves more than the objective of any point.
    fn holds<L: Loss>(
        loss: L,
        rows: &[Vec<f64>],
        targets: &[f64],
        duals: &[f64],
        points: &[Point],
        penalty: ElasticNet,
    ) -> Result<(), TestCaseError> {
        let mut builder = Builder::new(Layout::Dense { columns: 2 });
        rows.iter().for_each(|row| builder.push(&[0, 1], row));
        let rows = builder.finish();
        for bias in [Bias::Free, Bias::Penalised, Bias::None] {
            let row_weights: Vec<f64> = (0..targets.len()).map(|i| 0.5 + i as f64).collect();
            let problem =
                Problem { rows: &rows, targets, row_weights: &row_weights, total: 3.0, loss, penalty, bias };
            let mut gaps = Vec::new();
            for point in points {
                let point = Point { bias: point.bias * bias.coordinate(), ..point.clone() };
                gaps.push(duality_gap(&problem, &point, &problem.scores(&point), Some(duals)));
            }
            for a in &gaps {
                for b in &gaps {
                    prop_assert!(
                        a.dual.unwrap() <= b.objective + 1e-9 * (1.0 + b.objective),
                        "{bias:?} {a:?} {b:?}"
                    );
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn no_dual_proves_too_much(
            rows in prop::collection::vec(prop::collection::vec(-3.0..3.0f64, 2), 1..12),
            signs in prop::collection::vec(any::<bool>(), 12),
            duals in prop::collection::vec(-2.0..2.0f64, 12),
            points in prop::collection::vec((prop::collection::vec(-3.0..3.0f64, 2), -2.0..2.0f64), 3),
            l2 in prop::sample::select(vec![0.0, 0.1, 2.0]),
            l1 in 0.01..2.0f64,
        ) {
            let targets: Vec<f64> = signs[..rows.len()].iter().map(|s| if *s { 1.0 } else { -1.0 }).collect();
            let points: Vec<Point> = points.into_iter().map(|(weights, bias)| Point { weights, bias })
                .collect();
            let (duals, penalty) = (&duals[..rows.len()], ElasticNet { l2, l1 });
            holds(Hinge, &rows, &targets, duals, &points, penalty)?;
            holds(SquaredHinge, &rows, &targets, duals, &points, penalty)?;
            holds(Logistic, &rows, &targets, duals, &points, penalty)?;
            holds(Squared, &rows, &targets, duals, &points, penalty)?;
            holds(Absolute, &rows, &targets, duals, &points, penalty)?;
        }
    }
}
