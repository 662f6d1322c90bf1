//! Least absolute deviations, and quantiles, to the last digit, by linear programming.
//!
//! The loss of a residual `r` is `−d·r` below zero and `a·r` above it, with slopes `−d < 0 < a`; for absolute
//! deviations both are 1. Without a penalty, some least sum of losses lies at a vertex: weights that meet as
//! many rows exactly as there are columns. The simplex method goes from vertex to vertex. A row that is met
//! has a dual that follows from the others; if it is not between the slopes, times what the row counts for,
//! letting go of the row leads down, and the walk goes on past every row that it crosses until it no longer
//! does (Barrodale and Roberts). At the last vertex the duals are those of the linear program: they prove
//! that it is the last.
//!
//! From zero that is a long way. The augmented Lagrangian method with next to no penalty finds which rows
//! will nearly be met, and a few pivots are left. Ties, with which tables of whole numbers are full, are
//! broken by moving the targets by next to nothing; the vertex that is found is then taken with the targets
//! as they were, and the same duals prove it.

use super::{
    AugmentedLagrangian, Certified, Control, Recorder, Solution, Solver, Termination, WarmStart, gap_in_ball,
};
use crate::control::Watch;
use crate::loss::PiecewiseLinear;
use crate::penalty::{Bias, L2};
use crate::random::Random;
use crate::risk::{Point, Problem, duality_gap};
use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;
use rayon::prelude::*;

/// The simplex method for the absolute and the quantile loss. It wants a problem without a penalty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simplex;

/// What targets are moved by, of the mean residual or a hundredth of the mean target.
const TIE: f64 = 1e-9;
/// Pivots between two factorisations from scratch.
const FRESH: usize = 64;
/// A dual is out of its range only if it is so by more than rounding, of the largest that a row counts for.
const ROUNDING: f64 = 1e-9;
/// Stands for no row: a weight that is fixed at zero, because no row determines it.
const FIXED: u32 = u32::MAX;

impl<L: PiecewiseLinear> Solver<L, L2> for Simplex {
    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let near = match start {
            Some(start) => start.point.clone(),
            None => {
                let mean = problem.targets.iter().map(|y| y.abs()).sum::<f64>() / problem.len().max(1) as f64;
                let light = problem.with_penalty(L2(1e-7 / mean.clamp(1e-100, 1e100)));
                let rough = Control { tolerance: 1e-4, steps: 500, trace: false, ..*control };
                let found = AugmentedLagrangian.solve(&light, None, &rough);
                if found.termination == Termination::Interrupted {
                    return Solution { duals: None, certified: None, ..found };
                }
                found.point
            }
        };
        let mut recorder = Recorder::new(control);
        let Some(mut vertex) = Vertex::near(problem, &near, control) else {
            return recorder.finish(near, None, Termination::Interrupted);
        };
        let termination = loop {
            let duals = vertex.duals();
            if recorder.step(vertex.objective(), None, None, None) {
                break Termination::Interrupted;
            }
            let Some((place, side)) = vertex.worst(&duals) else { break Termination::Converged };
            if recorder.steps() >= control.steps {
                break Termination::OutOfSteps;
            }
            if !vertex.pivot(place, side, duals[place].abs()) {
                break Termination::Stalled;
            }
        };
        let (point, duals) = vertex.finish();
        if termination == Termination::Interrupted {
            return recorder.finish(point, Some(duals), termination);
        }
        // The dual gradient is zero, but for rounding.
        let scores = problem.scores(&point);
        let gap = match problem.penalty.0 {
            0.0 => gap_in_ball(problem, &point, &scores, Some(&duals), (control.tolerance, control.watch)).0,
            _ => duality_gap(problem, &point, &scores, Some(&duals)),
        };
        Solution {
            certified: Some(Certified { scores, gap, duals: None }),
            ..recorder.finish(point, Some(duals), termination)
        }
    }
}

/// Weights that meet some rows exactly, as many as there are weights.
struct Vertex<'a, L> {
    problem: &'a Problem<'a, L, L2>,
    /// The slopes of the loss below and above the target.
    below: f64,
    above: f64,
    /// With the bias as the last one.
    columns: usize,
    /// The rows that are met, or [`FIXED`].
    met: Vec<u32>,
    /// Of a place where a weight is fixed: which.
    fixed: Vec<usize>,
    /// Of the matrix of the rows that are met.
    inverse: Mat<f64>,
    /// Targets, moved by next to nothing.
    targets: Vec<f64>,
    /// Scores less targets.
    residuals: Vec<f64>,
    /// The loss's slopes there; zero for rows that are met and those that do not count.
    slopes: Vec<f64>,
    /// `Σ shareᵢ·slopeᵢ·xᵢ`.
    gradient: Vec<f64>,
    pivots: usize,
}

impl<'a, L: PiecewiseLinear> Vertex<'a, L> {
    /// One that is near a point; `None` if the observer asks to stop.
    fn near(problem: &'a Problem<'a, L, L2>, point: &Point, control: &Control<'_>) -> Option<Self> {
        let columns = problem.rows.columns() + usize::from(problem.bias != Bias::None);
        let scores = problem.scores(point);
        // Where rows are met all but exactly, what is left of them is rounding, and that is of the size of
        // the targets.
        let targets = problem.sum(|i| problem.share(i) * problem.targets[i].abs());
        let size = problem.mean_loss(&scores).max(0.01 * targets);
        let mut random = Random::new(control.seed);
        let targets: Vec<f64> =
            problem.targets.iter().map(|y| y + TIE * size * (2.0 * random.unit() - 1.0)).collect();
        let off: Vec<f64> = scores.iter().zip(&targets).map(|(s, y)| (s - y).abs()).collect();
        let mut order: Vec<u32> =
            (0..problem.len() as u32).filter(|&i| problem.share(i as usize) > 0.0).collect();
        let wanted = (8 * columns).min(order.len());
        let nearest = |a: &u32, b: &u32| off[*a as usize].total_cmp(&off[*b as usize]).then(a.cmp(b));
        if wanted < order.len() {
            order.select_nth_unstable_by(wanted, nearest);
            order.truncate(wanted);
        }
        order.sort_unstable_by(nearest);
        let (below, above) = problem.loss.slopes();
        let mut vertex = Self {
            problem,
            below,
            above,
            columns,
            met: Vec::new(),
            fixed: Vec::new(),
            inverse: Mat::zeros(columns, columns),
            targets,
            residuals: vec![0.0; problem.len()],
            slopes: vec![0.0; problem.len()],
            gradient: vec![0.0; columns],
            pivots: 0,
        };
        vertex.choose(&order, control.watch);
        if control.watch.stopped() {
            return None;
        }
        vertex.refresh();
        Some(vertex)
    }

    /// Rows that are independent of one another, the first ones first, by elimination; weights that none of
    /// them tells are fixed. The observer may stop it halfway.
    fn choose(&mut self, order: &[u32], watch: &Watch<'_>) {
        let mut taken: Vec<(usize, Vec<f64>)> = Vec::new();
        for &i in order {
            if taken.len() == self.columns || !watch.goes_on() {
                break;
            }
            let mut row = self.row(i);
            let size = row.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (pivot, other) in &taken {
                let factor = row[*pivot] / other[*pivot];
                if factor != 0.0 {
                    row.iter_mut().zip(other).for_each(|(a, b)| *a -= factor * b);
                    row[*pivot] = 0.0;
                }
            }
            let largest =
                (0..self.columns).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs())).unwrap_or(0);
            if row[largest].abs() > 1e-7 * size {
                taken.push((largest, row));
                self.met.push(i);
                self.fixed.push(0);
            }
        }
        for column in 0..self.columns {
            if !taken.iter().any(|(pivot, _)| *pivot == column) {
                self.met.push(FIXED);
                self.fixed.push(column);
            }
        }
    }

    fn row(&self, i: u32) -> Vec<f64> {
        let mut row = vec![0.0; self.columns];
        self.problem.row(i as usize).for_each_nonzero(|j, x| row[j as usize] = x);
        if self.problem.bias != Bias::None {
            row[self.columns - 1] = 1.0;
        }
        row
    }

    fn point(&self, weights: Vec<f64>) -> Point {
        let features = self.problem.rows.columns();
        let bias = weights.get(features).copied().unwrap_or(0.0);
        Point { weights: weights[..features].to_vec(), bias }
    }

    /// How much what is met at a place counts.
    fn share(&self, place: usize) -> f64 {
        if self.met[place] == FIXED { 0.0 } else { self.problem.share(self.met[place] as usize) }
    }

    /// The weights that meet the rows, with these targets.
    fn weights(&self, targets: &[f64]) -> Vec<f64> {
        let wanted: Vec<f64> =
            self.met.iter().map(|&i| if i == FIXED { 0.0 } else { targets[i as usize] }).collect();
        (0..self.columns).map(|j| (0..self.columns).map(|k| self.inverse[(j, k)] * wanted[k]).sum()).collect()
    }

    /// Everything from scratch, but for which rows are met.
    fn refresh(&mut self) {
        let rows: Vec<Vec<f64>> = (0..self.columns)
            .map(|place| match self.met[place] {
                FIXED => (0..self.columns).map(|j| f64::from(u8::from(j == self.fixed[place]))).collect(),
                i => self.row(i),
            })
            .collect();
        let matrix = Mat::from_fn(self.columns, self.columns, |k, j| rows[k][j]);
        self.inverse = matrix.partial_piv_lu().inverse();
        let point = self.point(self.weights(&self.targets));
        let scores = self.problem.scores(&point);
        self.residuals.iter_mut().zip(scores.iter().zip(&self.targets)).for_each(|(r, (s, y))| *r = s - y);
        let (problem, below, above) = (self.problem, self.below, self.above);
        let slope = |(i, r): (usize, &f64)| match () {
            _ if problem.share(i) <= 0.0 => 0.0,
            _ if *r < 0.0 => below,
            _ => above,
        };
        self.slopes = self.residuals.iter().enumerate().map(slope).collect();
        for &i in self.met.iter().filter(|i| **i != FIXED) {
            (self.residuals[i as usize], self.slopes[i as usize]) = (0.0, 0.0);
        }
        let slopes = &self.slopes;
        let gradient = problem.combine(|i| problem.share(i) * slopes[i]);
        self.gradient = gradient.weights;
        if problem.bias != Bias::None {
            self.gradient.push(gradient.bias);
        }
    }

    fn objective(&self) -> f64 {
        self.problem.sum(|i| self.problem.share(i) * self.problem.loss.value(0.0, self.residuals[i]))
    }

    /// The duals of what is met, times what it counts: they balance the gradient of all other rows.
    fn duals(&self) -> Vec<f64> {
        let dual =
            |k: usize| -(0..self.columns).map(|j| self.inverse[(j, k)] * self.gradient[j]).sum::<f64>();
        (0..self.columns).map(dual).collect()
    }

    /// The slope of the loss on a side of the target.
    fn slope_on(&self, side: f64) -> f64 {
        if side < 0.0 { self.below } else { self.above }
    }

    /// The place whose dual is the farthest out of its range, and its sign.
    fn worst(&self, duals: &[f64]) -> Option<(usize, f64)> {
        let largest =
            (0..self.columns).map(|place| self.share(place)).fold(1.0 / self.problem.total, f64::max);
        let over = |place: usize| duals[place].abs() - self.share(place) * self.slope_on(duals[place]).abs();
        let place = (0..self.columns).max_by(|&a, &b| over(a).total_cmp(&over(b)))?;
        (over(place) > ROUNDING * largest).then(|| (place, duals[place].signum()))
    }

    /// Lets go of what is met at a place, and meets another row instead. Returns whether there was one.
    fn pivot(&mut self, place: usize, side: f64, dual: f64) -> bool {
        let direction: Vec<f64> = (0..self.columns).map(|j| side * self.inverse[(j, place)]).collect();
        let along = self.point(direction);
        let steps = self.problem.scores(&along);
        let steepest = steps.par_iter().map(|a| a.abs()).reduce(|| 0.0, f64::max);
        // Where rows would be met on the way; those that are crossed change their sign.
        let mut crossings: Vec<(f64, u32)> = (0..steps.len() as u32)
            .into_par_iter()
            .filter(|&i| self.slopes[i as usize] * steps[i as usize] < 0.0)
            .map(|i| (-self.residuals[i as usize] / steps[i as usize], i))
            .collect();
        let mut slope = self.share(place) * self.slope_on(side).abs() - dual;
        let bend = self.above - self.below;
        let by_distance = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let (mut sorted, mut enters) = (0, None);
        let mut crossed = Vec::new();
        'walk: while sorted < crossings.len() {
            // Most are never reached, and need no order.
            let rest = &mut crossings[sorted..];
            let next = (64 + sorted).min(rest.len());
            if next < rest.len() {
                rest.select_nth_unstable_by(next, by_distance);
            }
            rest[..next].sort_unstable_by(by_distance);
            for &(distance, i) in &rest[..next] {
                let step = steps[i as usize].abs();
                slope += bend * self.problem.share(i as usize) * step;
                // A row that is all but parallel to the way would make a vertex of nothing but rounding.
                if slope >= 0.0 && step > 1e-10 * steepest {
                    enters = Some((distance, i));
                    break 'walk;
                }
                crossed.push(i);
            }
            sorted += next;
        }
        let Some((distance, entering)) = enters else { return false };
        for i in crossed {
            let before = self.slopes[i as usize];
            self.slopes[i as usize] = self.slope_on(-before);
            self.tug(i, self.slopes[i as usize] - before);
        }
        self.residuals.par_iter_mut().zip(&steps).with_min_len(4096).for_each(|(r, a)| *r += distance * a);
        self.tug(entering, -self.slopes[entering as usize]);
        (self.residuals[entering as usize], self.slopes[entering as usize]) = (0.0, 0.0);
        for &i in self.met.iter().filter(|i| **i != FIXED) {
            self.residuals[i as usize] = 0.0;
        }
        let leaving = self.met[place];
        if leaving != FIXED {
            let slope = self.slope_on(side);
            (self.residuals[leaving as usize], self.slopes[leaving as usize]) = (side * distance, slope);
            self.tug(leaving, slope);
        }
        self.met[place] = entering;
        self.pivots += 1;
        if self.pivots.is_multiple_of(FRESH) {
            self.refresh();
        } else {
            self.exchange(place, entering);
        }
        true
    }

    /// Adds so many times a row to the gradient.
    fn tug(&mut self, i: u32, times: f64) {
        let factor = times * self.problem.share(i as usize);
        self.problem.row(i as usize).add_to(&mut self.gradient, factor);
        if self.problem.bias != Bias::None {
            self.gradient[self.columns - 1] += factor;
        }
    }

    /// The inverse after one row has taken the place of another.
    fn exchange(&mut self, place: usize, entering: u32) {
        let row = self.row(entering);
        let column =
            |inverse: &Mat<f64>, k: usize| (0..row.len()).map(|j| row[j] * inverse[(j, k)]).sum::<f64>();
        let products: Vec<f64> = (0..self.columns).map(|k| column(&self.inverse, k)).collect();
        let over = 1.0 / products[place];
        for j in 0..self.columns {
            self.inverse[(j, place)] *= over;
        }
        for (k, product) in products.into_iter().enumerate().filter(|(k, p)| *k != place && *p != 0.0) {
            for j in 0..self.columns {
                let taken = product * self.inverse[(j, place)];
                self.inverse[(j, k)] -= taken;
            }
        }
    }

    /// The weights that meet the rows with the targets as they were, and the duals of all rows.
    fn finish(mut self) -> (Point, Vec<f64>) {
        self.refresh();
        let met = self.duals();
        let mut duals = self.slopes.clone();
        for (place, dual) in met.into_iter().enumerate().filter(|(place, _)| self.met[*place] != FIXED) {
            duals[self.met[place] as usize] = (dual / self.share(place)).clamp(self.below, self.above);
        }
        // What the inverse's rounding leaves of the rows that are met is solved for once more.
        let weights = self.weights(self.problem.targets);
        let scores = self.problem.scores(&self.point(weights.clone()));
        let left: Vec<f64> = self.problem.targets.iter().zip(scores).map(|(y, score)| y - score).collect();
        let weights = weights.iter().zip(self.weights(&left)).map(|(w, more)| w + more).collect();
        (self.point(weights), duals)
    }
}
