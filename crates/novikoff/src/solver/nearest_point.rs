//! The point of the rows' hull that is nearest to the origin (Wolfe's algorithm), where a row is `zᵢ =
//! yᵢ·(xᵢ, extra)`.
//!
//! If that point is not the origin, it is the direction in which the rows have their largest margin, and its
//! length is that margin. If it is the origin, then its corral, few and affinely independent rows, is the
//! proof that nothing separates all rows.
//!
//! A round computes the margins of all rows and takes those with the least ones into a working set; among
//! these, one row at a time joins the corral, the rows that the point is a convex combination of, and rows
//! leave it whose share has become zero (Wolfe, "Finding the nearest point in a polytope", 1976).

use super::{Control, Recorder, Termination};
use crate::control::Watch;
use crate::data::Matrix;
use crate::risk::Point;
use rayon::prelude::*;

/// Rows with signs, and the value of their extra coordinate.
#[derive(Clone, Copy)]
pub(crate) struct Signed<'a> {
    /// The rows.
    pub rows: &'a Matrix<'a>,
    /// +1 or −1 for each; 0 for rows that do not count.
    pub signs: &'a [f64],
    /// The bias's coordinate, or zero.
    pub extra: f64,
}

/// The result of the algorithm.
pub(crate) struct NearestPoint {
    /// The point; its last coordinate is the bias.
    pub point: Point,
    /// The rows that it is a convex combination of, and their shares: positive, and 1 in all.
    pub support: Vec<(u32, f64)>,
    /// Why it stopped.
    pub termination: Termination,
    /// Rounds over all rows.
    pub steps: usize,
}

/// Rows that join the working set in a round, at least and at most: an eighth of all in between, so that
/// the margins of all rows and the work on these take about as long.
const JOINING: (usize, usize) = (32, 256);
/// A point this short, relative to the longest row, is the origin up to rounding: with a basis, and without.
const NOTHING: [f64; 2] = [1e-15, 1e-8];

impl Signed<'_> {
    /// The margin of a row.
    pub(crate) fn dot(&self, i: u32, point: &Point) -> f64 {
        let i = i as usize;
        self.signs[i] * (self.rows.row(i).dot(&point.weights) + self.extra * point.bias)
    }

    /// The square of a row's length.
    pub(crate) fn norm_sq(&self, i: u32) -> f64 {
        self.rows.row(i as usize).norm_sq() + self.extra * self.extra
    }

    /// Adds so many times a row, with its sign.
    pub(crate) fn add_to(&self, i: u32, factor: f64, point: &mut Point) {
        let factor = factor * self.signs[i as usize];
        self.rows.row(i as usize).add_to(&mut point.weights, factor);
        point.bias += factor * self.extra;
    }

    /// The rows that count.
    fn counted(&self) -> Vec<u32> {
        (0..self.signs.len() as u32).filter(|&i| self.signs[i as usize] != 0.0).collect()
    }

    /// The length of the longest row, up to rounding.
    fn radius(&self) -> f64 {
        self.counted().par_iter().map(|&i| self.norm_sq(i)).reduce(|| 0.0, f64::max).sqrt()
    }
}

/// Closes the interval of the margin to the tolerance of `control`, relatively, or finds the origin in the
/// hull. Gives up where the point stands on more than `most` rows.
pub(crate) fn nearest_point(rows: Signed<'_>, most: usize, control: &Control<'_>) -> NearestPoint {
    let mut recorder = Recorder::new(control);
    let counted = rows.counted();
    let radius = rows.radius();
    let mut corral = Corral::new(rows, radius, control.watch);
    let shortest = counted.iter().copied().min_by(|&a, &b| rows.norm_sq(a).total_cmp(&rows.norm_sq(b)));
    let Some(first) = shortest else {
        return corral.finish(Termination::Converged, &recorder);
    };
    let nothing = NOTHING[usize::from(corral.basis.is_none())] * radius;
    corral.join(first);
    corral.settle();
    loop {
        let margins: Vec<f64> =
            counted.par_iter().with_min_len(512).map(|&i| rows.dot(i, &corral.point)).collect();
        let length = corral.point.dot(&corral.point).sqrt();
        let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
        let lower = if length > 0.0 { least / length } else { 0.0 };
        let stop = recorder.bracket(lower, length);
        let termination = match () {
            () if length <= nothing => Some(Termination::Stalled),
            () if lower > 0.0 && lower >= (1.0 - control.tolerance) * length => Some(Termination::Converged),
            () if stop => Some(Termination::Interrupted),
            () if recorder.steps() >= control.steps || corral.len() > most => Some(Termination::OutOfSteps),
            () => None,
        };
        if let Some(termination) = termination {
            return corral.finish(termination, &recorder);
        }
        let joining = (counted.len() / 8).clamp(JOINING.0, JOINING.1).max(corral.len());
        let working: Vec<u32> =
            smallest(&margins, joining).into_iter().map(|at| counted[at as usize]).collect();
        if !corral.improve(&working, 0.25 * control.tolerance, nothing, most) {
            return corral.finish(Termination::Stalled, &recorder);
        }
    }
}

/// The places of the smallest values, smallest first; of equal values the first ones.
fn smallest(values: &[f64], count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    let by_value = |&a: &u32, &b: &u32| values[a as usize].total_cmp(&values[b as usize]).then(a.cmp(&b));
    if count < order.len() {
        order.select_nth_unstable_by(count, by_value);
        order.truncate(count);
    }
    order.sort_unstable_by(by_value);
    order
}

/// The rows that the point is a convex combination of.
///
/// With `aᵢ = (unit, zᵢ)`, the nearest point of the plane through the members is given by the least squares
/// of `Σ uᵢaᵢ` against `(1, 0)`: their shares are `uᵢ/Σu`. The factor of the `aᵢ` is kept up as members come
/// and go. Where there are few columns it comes with its orthogonal basis, which tells margins of 1e-15 from
/// none; otherwise from inner products alone, which tell half as many digits.
struct Corral<'a, 'w> {
    rows: Signed<'a>,
    watch: &'w Watch<'w>,
    /// What the first coordinate of each `aᵢ` is: as long as the longest row.
    unit: f64,
    members: Vec<u32>,
    /// How much of each member the point is.
    shares: Vec<f64>,
    /// The upper triangular factor, column by column.
    factor: Vec<Vec<f64>>,
    /// The orthonormal vectors that belong to it.
    basis: Option<Vec<Vec<f64>>>,
    /// Changes of the factor since it was made.
    changes: usize,
    point: Point,
}

/// Changes after which the factor is made anew, so that rounding does not pile up.
const CHANGES: usize = 1000;
/// More columns than this, and there is no basis.
const FEW_COLUMNS: usize = 2048;

impl<'a, 'w> Corral<'a, 'w> {
    fn new(rows: Signed<'a>, unit: f64, watch: &'w Watch<'w>) -> Self {
        let point = Point::zero(rows.rows.columns());
        let basis = (rows.rows.columns() <= FEW_COLUMNS).then(Vec::new);
        let unit = if unit > 0.0 { unit } else { 1.0 };
        Self {
            rows,
            watch,
            unit,
            members: Vec::new(),
            shares: Vec::new(),
            factor: Vec::new(),
            basis,
            changes: 0,
            point,
        }
    }

    fn len(&self) -> usize {
        self.members.len()
    }

    fn finish(self, termination: Termination, recorder: &Recorder<'_>) -> NearestPoint {
        let support = self.members.into_iter().zip(self.shares).collect();
        NearestPoint { point: self.point, support, termination, steps: recorder.steps() }
    }

    /// Goes towards the origin with the rows of a working set. Returns whether it came any nearer.
    fn improve(&mut self, working: &[u32], tolerance: f64, nothing: f64, most: usize) -> bool {
        let mut nearer = false;
        loop {
            let square = self.point.dot(&self.point);
            if square.sqrt() <= nothing || self.len() > most || !self.watch.goes_on() {
                return true;
            }
            let margins: Vec<f64> =
                working.par_iter().with_min_len(64).map(|&i| self.rows.dot(i, &self.point)).collect();
            let least = (0..working.len()).min_by(|&a, &b| margins[a].total_cmp(&margins[b]));
            let Some(least) = least.filter(|&at| margins[at] < (1.0 - tolerance) * square) else {
                return nearer;
            };
            if self.members.contains(&working[least]) || !self.join(working[least]) {
                return nearer;
            }
            self.settle();
            if self.point.dot(&self.point) >= square {
                return nearer;
            }
            nearer = true;
        }
    }

    /// Takes a row in, with a share of nothing. Returns whether it is independent of the others.
    fn join(&mut self, i: u32) -> bool {
        if !self.extend(i) {
            return false;
        }
        self.members.push(i);
        self.shares.push(if self.members.len() == 1 { 1.0 } else { 0.0 });
        self.changes += 1;
        true
    }

    /// One more column of the factor, for a row behind the members that it has columns for.
    fn extend(&mut self, i: u32) -> bool {
        let whole = self.unit * self.unit + self.rows.norm_sq(i);
        let mut one = Point::zero(self.point.weights.len());
        self.rows.add_to(i, 1.0, &mut one);
        let Some(basis) = &mut self.basis else {
            let product = |&member: &u32| self.unit * self.unit + self.rows.dot(member, &one);
            let mut column: Vec<f64> =
                self.members[..self.factor.len()].par_iter().with_min_len(64).map(product).collect();
            forwards(&self.factor, &mut column);
            let rest = whole - column.iter().map(|x| x * x).sum::<f64>();
            if rest.is_nan() || rest <= 1e-13 * whole {
                return false;
            }
            column.push(rest.sqrt());
            self.factor.push(column);
            return true;
        };
        let mut vector = one.weights;
        vector.extend([one.bias, self.unit]);
        let mut column = vec![0.0; basis.len() + 1];
        // Twice is enough: once leaves what rounding left of the others.
        for _ in 0..2 {
            for (q, entry) in basis.iter().zip(&mut column) {
                let along = dot(q, &vector);
                *entry += along;
                vector.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
            }
        }
        let rest = dot(&vector, &vector).sqrt();
        if rest.is_nan() || rest <= 1e-15 * whole.sqrt() {
            return false;
        }
        vector.iter_mut().for_each(|v| *v /= rest);
        column[basis.len()] = rest;
        basis.push(vector);
        self.factor.push(column);
        true
    }

    /// What the shares would be if they could be negative.
    fn wanted(&self) -> Vec<f64> {
        let mut wanted = match &self.basis {
            Some(basis) => basis.iter().map(|q| q[q.len() - 1]).collect(),
            None => {
                let mut ones = vec![1.0; self.len()];
                forwards(&self.factor, &mut ones);
                ones
            }
        };
        backwards(&self.factor, &mut wanted);
        let total: f64 = wanted.iter().sum();
        wanted.iter_mut().for_each(|share| *share /= total);
        wanted
    }

    /// Moves the point to the nearest one that the members allow, and lets those go that it no longer needs.
    fn settle(&mut self) {
        // Where it is not to go on, the point is some point of the hull, and the shares are those of some
        // other: each is proved by itself.
        while !self.members.is_empty() && self.watch.goes_on() {
            if self.changes > CHANGES {
                self.renew();
            }
            let wanted = self.wanted();
            // As far towards them as no share falls below zero.
            let mut reach = 1.0f64;
            for (share, wanted) in self.shares.iter().zip(&wanted) {
                if *wanted <= 0.0 {
                    reach = reach.min(share / (share - wanted));
                }
            }
            for (share, wanted) in self.shares.iter_mut().zip(&wanted) {
                *share += reach * (wanted - *share);
            }
            if wanted.iter().all(|share| *share > 0.0) {
                break;
            }
            let falling = self.shares.iter().zip(&wanted).filter(|(_, wanted)| **wanted <= 0.0);
            let least = falling.map(|(share, _)| *share).fold(f64::INFINITY, f64::min).max(1e-15);
            for at in (0..self.len()).rev() {
                if wanted[at] <= 0.0 && self.shares[at] <= least {
                    self.leave(at);
                }
            }
        }
        let total: f64 = self.shares.iter().sum();
        self.shares.iter_mut().for_each(|share| *share /= total);
        match &self.basis {
            Some(basis) => self.point = self.residual(basis),
            None => {
                self.point.weights.fill(0.0);
                self.point.bias = 0.0;
                for (&member, &share) in self.members.iter().zip(&self.shares) {
                    self.rows.add_to(member, share, &mut self.point);
                }
            }
        }
    }

    /// The point out of what least squares leave: to more digits than the sum of the members has, where they
    /// all but cancel.
    fn residual(&self, basis: &[Vec<f64>]) -> Point {
        let columns = self.point.weights.len();
        let mut rest = vec![0.0; columns + 2];
        rest[columns + 1] = 1.0;
        for _ in 0..2 {
            for q in basis {
                let along = dot(q, &rest);
                rest.iter_mut().zip(q).for_each(|(r, q)| *r -= along * q);
            }
        }
        // `Σu` times the unit is what the first coordinate has come to.
        let scale = -self.unit / (1.0 - rest[columns + 1]);
        rest.truncate(columns + 1);
        let bias = rest.pop().unwrap_or(0.0) * scale;
        rest.iter_mut().for_each(|r| *r *= scale);
        Point { weights: rest, bias }
    }

    /// Lets a member go: rotations make the factor triangular again.
    fn leave(&mut self, at: usize) {
        self.members.remove(at);
        self.shares.remove(at);
        self.factor.remove(at);
        self.changes += 1;
        for i in at..self.factor.len() {
            let (x, y) = (self.factor[i][i], self.factor[i][i + 1]);
            let length = x.hypot(y);
            let (c, s) = (x / length, y / length);
            for column in &mut self.factor[i..] {
                let (x, y) = (column[i], column[i + 1]);
                column[i] = c * x + s * y;
                column[i + 1] = c * y - s * x;
            }
            self.factor[i].truncate(i + 1);
            if let Some(basis) = &mut self.basis {
                let (before, after) = basis.split_at_mut(i + 1);
                for (p, q) in before[i].iter_mut().zip(&mut after[0]) {
                    (*p, *q) = (c * *p + s * *q, c * *q - s * *p);
                }
            }
        }
        if let Some(basis) = &mut self.basis {
            basis.truncate(self.factor.len());
        }
    }

    /// Makes the factor anew; members that turn out to depend on others leave.
    fn renew(&mut self) {
        self.factor.clear();
        self.basis.iter_mut().for_each(Vec::clear);
        let mut at = 0;
        while at < self.members.len() {
            if self.extend(self.members[at]) {
                at += 1;
            } else {
                self.members.remove(at);
                self.shares.remove(at);
            }
        }
        self.changes = 0;
    }
}

/// Four partial sums, so that additions need not wait for one another.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// Solves with the transpose of an upper triangle.
fn forwards(columns: &[Vec<f64>], values: &mut [f64]) {
    for (j, column) in columns.iter().enumerate() {
        let sum: f64 = column[..j].iter().zip(&*values).map(|(a, b)| a * b).sum();
        values[j] = (values[j] - sum) / column[j];
    }
}

/// Solves with an upper triangle.
fn backwards(columns: &[Vec<f64>], values: &mut [f64]) {
    for (j, column) in columns.iter().enumerate().rev() {
        values[j] /= column[j];
        let value = values[j];
        for (a, b) in column[..j].iter().zip(&mut values[..j]) {
            *b -= a * value;
        }
    }
}
