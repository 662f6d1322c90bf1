//! Newton's method for the multinomial logistic loss: all classes at once.
//!
//! The problem is `min F(W, b) = (1/n) Σ cᵢ (log Σ_c exp(s_ic) − s_iy) + (λ/2)‖W‖²` with scores
//! `s_ic = <w_c, xᵢ> + b_c` (see [`Joint`]). With the probabilities `pᵢ = softmax(sᵢ)` the gradient is
//! `(1/n) Σ cᵢ xᵢ(pᵢ − e_y)ᵀ + λW`, and the Hessian maps `V` to
//! `(1/n) Σ cᵢ xᵢ((diag(pᵢ) − pᵢpᵢᵀ)Vᵀxᵢ)ᵀ + λV`. A step solves `H·D = −∇F` by conjugate gradients and halves
//! its length until the objective falls. The Hessian couples the classes only weakly: preconditioned by one
//! factor a class, conjugate gradients need few iterations.

use super::gap_schedule::ProofSchedule;
use super::hessian::{Hessian, Preconditioner};
use super::{Control, Recorder, Sizes, Termination, joint_gap_in_ball};
use crate::control::Watch;
use crate::loss::Logistic;
use crate::model::Weights;
use crate::penalty::{Bias, L2};
use crate::risk::{Joint, Point, Problem, joint_gap, probabilities};
use rayon::prelude::*;

/// What came of it.
pub struct JointSolution {
    /// Weights and biases of all classes.
    pub weights: Weights,
    /// Why it stopped.
    pub termination: Termination,
    /// Steps made.
    pub steps: usize,
    /// Every step, if that was asked for.
    pub trace: Vec<super::Step>,
}

/// Minimises, from zero or from `start`.
pub fn multinomial(problem: &Joint<'_>, start: Option<&Weights>, control: &Control<'_>) -> JointSolution {
    let mut weights = start.cloned().unwrap_or_else(|| Weights::zero(problem.rows.columns(), problem.count));
    let mut recorder = Recorder::new(control);
    let mut scores = problem.scores(&weights);
    let mut mean = problem.mean_loss(&scores);
    let mut preconditioners: Option<Vec<Preconditioner>> = None;
    let (mut iterations, mut proof_schedule) = (0, ProofSchedule::new(1e-3 * control.tolerance));
    let termination = loop {
        let objective = mean + problem.penalty_of(&weights);
        let p = probabilities(scores.clone(), problem.count);
        let gradient = gradient(problem, &weights, &p);
        let square = dot(&gradient, &gradient);
        let rough = square / (2.0 * problem.lambda) / objective;
        let near = problem.lambda > 0.0 && rough <= 4.0 * control.tolerance;
        let gap =
            (near && control.watch.goes_on()).then(|| joint_gap(problem, &weights).relative()).flatten();
        if recorder.step(objective, gap, Some(square.sqrt()), None) {
            break Termination::Interrupted;
        }
        if gap.is_some_and(|gap| gap <= control.tolerance) {
            break Termination::Converged;
        }
        if recorder.steps() >= control.steps {
            break Termination::OutOfSteps;
        }
        if iterations > 15 {
            preconditioners = None;
        }
        if preconditioners.is_none() {
            preconditioners = factors(problem, &p, control.watch);
        }
        let Some(preconditioners) = &preconditioners else { break Termination::Interrupted };
        let accuracy = if rough < 1e-2 { 0.01 } else { 0.1 };
        let direction;
        (direction, iterations) =
            solve(problem, &p, &gradient, preconditioners, (accuracy, 60), control.watch);
        if control.watch.stopped() {
            break Termination::Interrupted;
        }
        let rise = dot(&gradient, &direction);
        let here = Here { weights: &weights, scores: &scores, mean };
        let Some((length, next)) = search(problem, here, &direction, rise, control.watch) else {
            break if control.watch.stopped() { Termination::Interrupted } else { Termination::Stalled };
        };
        add(&mut weights, length, &direction);
        scores = next;
        let before = objective;
        mean = problem.mean_loss(&scores);
        let gain = before - mean - problem.penalty_of(&weights);
        // Without a penalty there is no gap to wait for: a small gain is the sign.
        let prove = || {
            let duals = stationary(problem, &weights, control.watch);
            let gap = joint_gap_in_ball(problem, &weights, &duals, Sizes::of(problem.rows));
            gap.within(control.tolerance)
        };
        if problem.lambda == 0.0 && proof_schedule.proves(gain / before, prove) {
            break Termination::Converged;
        }
    };
    if problem.bias == Bias::Free {
        // Adding one number to all biases changes no probability: the one that makes them add up to zero is
        // as good as any.
        let mean = weights.bias.iter().sum::<f64>() / problem.count as f64;
        weights.bias.iter_mut().for_each(|b| *b -= mean);
    }
    let steps = recorder.steps();
    JointSolution { weights, termination, steps, trace: recorder.trace }
}

fn gradient(problem: &Joint<'_>, weights: &Weights, p: &[f64]) -> Weights {
    let mut gradient = problem.loss_gradient(p);
    add_penalty_gradient(problem, &mut gradient, weights);
    gradient
}

/// Distributions whose gradient is next to zero, without a penalty: the probabilities, moved by what a step
/// of Newton's method would change them by.
pub(crate) fn stationary(problem: &Joint<'_>, weights: &Weights, watch: &Watch<'_>) -> Vec<f64> {
    let mut p = probabilities(problem.scores(weights), problem.count);
    let gradient = gradient(problem, weights, &p);
    let Some(factors) = factors(problem, &p, watch) else { return p };
    let (direction, _) = solve(problem, &p, &gradient, &factors, (1e-13, 500), watch);
    let moves = problem.scores(&direction);
    for (p, moves) in p.chunks_exact_mut(problem.count).zip(moves.chunks_exact(problem.count)) {
        let mean: f64 = p.iter().zip(moves).map(|(p, m)| p * m).sum();
        p.iter_mut().zip(moves).for_each(|(p, m)| *p = (*p * (1.0 + m - mean)).max(0.0));
        let all: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= all);
    }
    p
}

/// Adds λ times the weights to a gradient, or to a product with the Hessian.
fn add_penalty_gradient(problem: &Joint<'_>, sum: &mut Weights, weights: &Weights) {
    sum.values.iter_mut().zip(&weights.values).for_each(|(g, w)| *g += problem.lambda * w);
    match problem.bias {
        Bias::Free => {}
        Bias::Penalised => sum.bias.iter_mut().zip(&weights.bias).for_each(|(g, w)| *g += problem.lambda * w),
        Bias::None => sum.bias.fill(0.0),
    }
}

/// An approximate inverse of the Hessian of each class alone; `None` if the observer asks to stop.
fn factors(problem: &Joint<'_>, p: &[f64], watch: &Watch<'_>) -> Option<Vec<Preconditioner>> {
    let rows = problem.classes.len();
    let targets = vec![1.0; rows];
    let single = Problem {
        rows: problem.rows,
        targets: &targets,
        row_weights: problem.row_weights,
        total: problem.total,
        loss: Logistic,
        penalty: L2(problem.lambda),
        bias: problem.bias,
    };
    let bias_ridge = match problem.bias {
        Bias::Free => Some(0.0),
        Bias::Penalised => Some(problem.lambda),
        Bias::None => None,
    };
    let one = |class: usize| {
        let curvatures: Vec<f64> = (0..rows)
            .map(|i| {
                let p = p[i * problem.count + class];
                problem.share(i) * p * (1.0 - p)
            })
            .collect();
        let hessian = Hessian { rows: &curvatures, ridge: problem.lambda, bias_ridge };
        watch.goes_on().then(|| Preconditioner::new(&single, &hessian))
    };
    (0..problem.count).into_par_iter().map(one).collect()
}

/// `−H⁻¹·gradient` by conjugate gradients, in so many iterations at most, and how many it took; less exactly
/// if the observer asks to stop.
fn solve(
    problem: &Joint<'_>,
    p: &[f64],
    gradient: &Weights,
    preconditioners: &[Preconditioner],
    (accuracy, most): (f64, usize),
    watch: &Watch<'_>,
) -> (Weights, usize) {
    let k = problem.count;
    let times = |v: &Weights| {
        let mut product = problem.combine(|i, factors| {
            let p = &p[i * k..(i + 1) * k];
            v.score(problem.rows.row(i), factors);
            let mean: f64 = factors.iter().zip(p).map(|(f, p)| f * p).sum();
            let share = problem.share(i);
            factors.iter_mut().zip(p).for_each(|(f, p)| *f = share * p * (*f - mean));
        });
        add_penalty_gradient(problem, &mut product, v);
        product
    };
    let mut direction = Weights::zero(problem.rows.columns(), k);
    let mut residual = gradient.clone();
    residual.negate();
    let mut z = each_class(&residual, preconditioners);
    let mut search = z.clone();
    let mut rz = dot(&residual, &z);
    let goal = rz * accuracy * accuracy;
    let mut iterations = 0;
    while rz > goal && rz > 0.0 && iterations < most && watch.goes_on() {
        let product = times(&search);
        let curvature = dot(&search, &product);
        if !(curvature > 0.0 && curvature.is_finite()) {
            break;
        }
        let alpha = rz / curvature;
        add(&mut direction, alpha, &search);
        add(&mut residual, -alpha, &product);
        z = each_class(&residual, preconditioners);
        let next = dot(&residual, &z);
        let beta = next / rz;
        rz = next;
        search.values.iter_mut().zip(&z.values).for_each(|(s, z)| *s = beta * *s + z);
        search.bias.iter_mut().zip(&z.bias).for_each(|(s, z)| *s = beta * *s + z);
        iterations += 1;
    }
    if iterations == 0 { (z, 0) } else { (direction, iterations) }
}

/// The class's inverse, for each class.
fn each_class(v: &Weights, preconditioners: &[Preconditioner]) -> Weights {
    let k = preconditioners.len();
    let one = |class: usize| {
        let weights = v.values.iter().skip(class).step_by(k).copied().collect();
        preconditioners[class].times(&Point { weights, bias: v.bias[class] })
    };
    let all: Vec<Point> = (0..k).into_par_iter().map(one).collect();
    let mut result = Weights::zero(v.features(), k);
    for (class, point) in all.iter().enumerate() {
        result.values.iter_mut().skip(class).step_by(k).zip(&point.weights).for_each(|(r, w)| *r = *w);
        result.bias[class] = point.bias;
    }
    result
}

/// Where a search begins: weights, their scores, and the mean loss of these.
struct Here<'a> {
    weights: &'a Weights,
    scores: &'a [f64],
    mean: f64,
}

/// How far to go along a direction, and the scores there; `None` also if the observer asks to stop.
fn search(
    problem: &Joint<'_>,
    Here { weights, scores, mean }: Here<'_>,
    direction: &Weights,
    rise: f64,
    watch: &Watch<'_>,
) -> Option<(f64, Vec<f64>)> {
    if !(rise < 0.0 && rise.is_finite()) {
        return None;
    }
    let moves = problem.scores(direction);
    let mut length = 1.0;
    for _ in 0..40 {
        if !watch.goes_on() {
            return None;
        }
        let next: Vec<f64> = scores.par_iter().zip(&moves).map(|(s, m)| s + length * m).collect();
        let mut there = weights.clone();
        add(&mut there, length, direction);
        let change =
            problem.mean_loss(&next) - mean + problem.penalty_of(&there) - problem.penalty_of(weights);
        if change.is_finite() && change <= 1e-4 * length * rise {
            return Some((length, next));
        }
        length *= 0.5;
    }
    None
}

fn dot(a: &Weights, b: &Weights) -> f64 {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    sum(&a.values, &b.values) + sum(&a.bias, &b.bias)
}

fn add(a: &mut Weights, factor: f64, b: &Weights) {
    a.values.iter_mut().zip(&b.values).for_each(|(a, b)| *a += factor * b);
    a.bias.iter_mut().zip(&b.bias).for_each(|(a, b)| *a += factor * b);
}
