//! Duals that prove more than the slopes do.

use crate::control::Watch;
use crate::loss::Loss;
use crate::penalty::{Bias, Penalty};
use crate::risk::{Point, Problem};
use crate::solver::hessian::{Hessian, Preconditioner};

/// Duals whose gradient cancels that of the penalty: the slopes at these scores, moved by what a step of
/// Newton's method would change them by. Near a minimum they prove a gap of the order of the squared gradient
/// even without a penalty, where the slopes alone prove one of the order of the gradient. `None` for losses
/// with kinks.
///
/// The gap that is `wanted` can do with a gradient that is not quite cancelled: `left` says what that costs.
pub(super) fn stationary_duals<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    ridge: f64,
    point: &Point,
    scores: &[f64],
    (wanted, watch): (f64, &Watch<'_>),
    left: impl Fn(&Point) -> f64,
) -> Option<Vec<f64>> {
    let at = |i: usize| problem.loss.second_order(problem.targets[i], scores[i]);
    problem.loss.second_order(1.0, 0.0)?;
    let curvatures = problem.each(|i| at(i).map_or(0.0, |at| problem.share(i) * at.curvature));
    let bias_ridge = match problem.bias {
        Bias::Free => Some(0.0),
        Bias::Penalised => Some(ridge),
        Bias::None => None,
    };
    let mut gradient = problem.combine(|i| at(i).map_or(0.0, |at| problem.share(i) * at.slope));
    gradient.weights.iter_mut().zip(&point.weights).for_each(|(g, w)| *g += ridge * w);
    gradient.bias = bias_ridge.map_or(0.0, |ridge| gradient.bias + ridge * point.bias);
    let step = newton_step(
        problem,
        &Hessian { rows: &curvatures, ridge, bias_ridge },
        gradient,
        (wanted, watch),
        left,
    );
    let moves = problem.scores(&step);
    Some(problem.each(|i| at(i).map_or(0.0, |at| at.slope + at.curvature * moves[i])))
}

/// `−H⁻¹·gradient` by conjugate gradients, until what is `left` of the gradient costs next to nothing.
fn newton_step<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    hessian: &Hessian<'_>,
    gradient: Point,
    (wanted, watch): (f64, &Watch<'_>),
    left: impl Fn(&Point) -> f64,
) -> Point {
    /// What is left may cost this part of the gap that is wanted.
    const SHARE: f64 = 0.01;
    const MOST_ITERATIONS: usize = 60;
    /// Where the point is so far from the minimum that no duals prove what is wanted, some bound will do.
    const FAR: usize = 5;
    let (mut step, mut residual) = (Point::zero(problem.rows.columns()), gradient.scaled(-1.0));
    // Half of gᵀH⁻¹g is about how far the point is above the minimum, and the diagonal's inverse is at most
    // so many times H⁻¹.
    let far = 20.0 * wanted;
    let diagonal = Preconditioner::diagonal(problem, hessian);
    let is_far = residual.dot(&diagonal.times(&residual)) > far * (residual.weights.len() + 1) as f64;
    let inverse = if is_far { diagonal } else { Preconditioner::close(problem, hessian) };
    let mut z = inverse.times(&residual);
    let mut search = z.clone();
    let mut rz = residual.dot(&z);
    let iterations = if rz > far { FAR } else { MOST_ITERATIONS };
    let (mut best, mut least) = (step.clone(), left(&residual));
    for _ in 0..iterations {
        let product = hessian.times(problem, &search);
        let curvature = search.dot(&product);
        if !(least > SHARE * wanted && curvature > 0.0 && curvature.is_finite() && watch.goes_on()) {
            break;
        }
        let alpha = rz / curvature;
        step.add(alpha, &search);
        residual.add(-alpha, &product);
        z = inverse.times(&residual);
        let next = residual.dot(&z);
        search = search.scaled(next / rz);
        search.add(1.0, &z);
        rz = next;
        let cost = left(&residual);
        if cost < least {
            (best, least) = (step.clone(), cost);
        }
    }
    best
}
