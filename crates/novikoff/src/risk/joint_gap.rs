//! The duality gap of the multinomial logistic loss.
//!
//! The duals of a row are the distance of a distribution over classes from its label, `uᵢ = qᵢ − e_y`; the
//! conjugate is the negative entropy of `qᵢ`. With free biases the distributions must give each class as much
//! as it has rows.

use super::Gap;
use super::{Joint, probabilities};
use crate::model::Weights;
use crate::penalty::Bias;

/// Objective and gap of weights, by the probabilities that they give the rows.
pub fn joint_gap(problem: &Joint<'_>, weights: &Weights) -> Gap {
    let scores = problem.scores(weights);
    let objective = problem.mean_loss(&scores) + problem.penalty_of(weights);
    let mut q = probabilities(scores, problem.count);
    let dual_gradient = problem.loss_gradient(&q);
    let slope = |w: &f64, v: &f64| (problem.lambda * w + v).powi(2);
    let mut gradient: f64 = weights.values.iter().zip(&dual_gradient.values).map(|(w, v)| slope(w, v)).sum();
    gradient += match problem.bias {
        Bias::Free => dual_gradient.bias.iter().map(|v| v * v).sum::<f64>(),
        Bias::Penalised => weights.bias.iter().zip(&dual_gradient.bias).map(|(w, v)| slope(w, v)).sum(),
        Bias::None => 0.0,
    };
    let dual_gradient = if problem.bias == Bias::Free && joint_balance(problem, &mut q, &dual_gradient.bias) {
        problem.loss_gradient(&q)
    } else {
        dual_gradient
    };
    let square = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
    let bias = if problem.bias == Bias::Penalised { square(&dual_gradient.bias) } else { 0.0 };
    let entropy: f64 = (0..problem.classes.len())
        .map(|i| {
            let part = |q: &f64| if *q > 0.0 { q * q.ln() } else { 0.0 };
            problem.share(i) * q[i * problem.count..(i + 1) * problem.count].iter().map(part).sum::<f64>()
        })
        .sum();
    let bound = -entropy - (square(&dual_gradient.values) + bias) / (2.0 * problem.lambda);
    let dual = Some(bound).filter(|bound| problem.lambda > 0.0 && bound.is_finite());
    Gap { objective, dual, gradient: Some(gradient.sqrt()) }
}

/// Takes from the classes that have too much, from every row in proportion, and gives to those that have too
/// little.
pub(crate) fn joint_balance(problem: &Joint<'_>, q: &mut [f64], excess: &[f64]) -> bool {
    if excess.iter().all(|e| *e == 0.0) {
        return false;
    }
    let k = problem.count;
    let mut have = vec![0.0; k];
    for (i, q) in q.chunks_exact(k).enumerate() {
        have.iter_mut().zip(q).for_each(|(h, q)| *h += problem.share(i) * q);
    }
    let lacking: f64 = excess.iter().map(|e| (-e).max(0.0)).sum();
    if lacking <= 0.0 {
        return false;
    }
    for q in q.chunks_exact_mut(k) {
        let mut freed = 0.0;
        for c in 0..k {
            if excess[c] > 0.0 && have[c] > 0.0 {
                let part = q[c] * (excess[c] / have[c]).min(1.0);
                q[c] -= part;
                freed += part;
            }
        }
        for c in 0..k {
            q[c] += freed * (-excess[c]).max(0.0) / lacking;
        }
    }
    true
}
