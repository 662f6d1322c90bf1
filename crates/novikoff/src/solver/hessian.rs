//! What Newton's steps divide by: the Hessian `Σ hᵢ·xᵢxᵢᵀ + ridge`, or as much of it as is worth having.
//!
//! Products with the whole Hessian take one pass over the rows. What brings the number of such passes down to
//! a few is a factor of the Hessian of some of the rows: where there are many more rows than columns, a
//! sample of them has almost the same one, at a fraction of the price.

use crate::data::Row;
use crate::loss::Loss;
use crate::penalty::Penalty;
use crate::risk::{Point, Problem, blocks};
use faer::linalg::solvers::{Llt, SolveCore};
use faer::{Conj, Mat, MatMut, Side};
use rayon::prelude::*;
use std::ops::Range;

/// More columns than this, and a factor would take longer than it saves.
const MOST_COLUMNS: usize = 2048;
/// Least rows of a sample, for each column.
const ROWS_PER_COLUMN: usize = 8;

/// The second derivative of an objective in all weights and the bias.
pub(super) struct Hessian<'a> {
    /// The curvature of each row's loss, times its share.
    pub rows: &'a [f64],
    /// What the penalty adds to the diagonal, for weights.
    pub ridge: f64,
    /// The same for the bias; `None` if there is none.
    pub bias_ridge: Option<f64>,
}

impl Hessian<'_> {
    /// `H·v`.
    pub(super) fn times<L: Loss, P: Penalty>(&self, problem: &Problem<'_, L, P>, v: &Point) -> Point {
        let mut product = problem.combine(|i| match self.rows[i] {
            0.0 => 0.0,
            h => h * (problem.row(i).dot(&v.weights) + v.bias),
        });
        for (p, w) in product.weights.iter_mut().zip(&v.weights) {
            *p += self.ridge * w;
        }
        product.bias = self.bias_ridge.map_or(0.0, |ridge| product.bias + ridge * v.bias);
        product
    }
}

/// Something close to the inverse of a Hessian.
pub(super) enum Preconditioner {
    /// One over the diagonal.
    Diagonal(Point),
    /// The Cholesky factor of the Hessian of a sample of rows; the bias is its last column.
    Factor { factor: Llt<f64>, bias: bool },
}

impl Preconditioner {
    pub(super) fn new<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, hessian: &Hessian<'_>) -> Self {
        let columns = problem.rows.columns() + usize::from(hessian.bias_ridge.is_some());
        if columns > MOST_COLUMNS || columns == 0 {
            return Self::diagonal(problem, hessian);
        }
        Self::of_rows(problem, hessian, &sample(problem, hessian, columns), columns)
    }

    /// By the diagonal alone.
    pub(super) fn diagonal<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, hessian: &Hessian<'_>) -> Self {
        Preconditioner::Diagonal(inverted(diagonal(problem, hessian)))
    }

    /// Out of all rows where they are so short that this costs no more than the few products that it saves.
    pub(super) fn close<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, hessian: &Hessian<'_>) -> Self {
        const SHORT: usize = 32;
        let columns = problem.rows.columns() + usize::from(hessian.bias_ridge.is_some());
        if columns > MOST_COLUMNS || columns == 0 || problem.rows.stored() > SHORT * problem.len() {
            return Self::new(problem, hessian);
        }
        Self::of_rows(problem, hessian, &every(hessian), columns)
    }

    /// The factor of the Hessian of these rows.
    fn of_rows<L: Loss, P: Penalty>(
        problem: &Problem<'_, L, P>,
        hessian: &Hessian<'_>,
        rows: &[(u32, f64)],
        columns: usize,
    ) -> Self {
        match factor(gram(problem, hessian, rows, columns)) {
            Some(factor) => Preconditioner::Factor { factor, bias: hessian.bias_ridge.is_some() },
            None => Self::diagonal(problem, hessian),
        }
    }

    /// Whether more than the diagonal is known.
    pub(super) fn is_factor(&self) -> bool {
        matches!(self, Preconditioner::Factor { .. })
    }

    /// `H⁻¹·v`, about.
    pub(super) fn times(&self, v: &Point) -> Point {
        match self {
            Preconditioner::Diagonal(diagonal) => Point {
                weights: v.weights.iter().zip(&diagonal.weights).map(|(v, d)| v * d).collect(),
                bias: v.bias * diagonal.bias,
            },
            Preconditioner::Factor { factor, bias } => {
                let mut weights = v.weights.clone();
                weights.extend(bias.then_some(v.bias));
                let rows = weights.len();
                factor.solve_in_place_with_conj(
                    Conj::No,
                    MatMut::from_column_major_slice_mut(&mut weights, rows, 1),
                );
                let bias = if *bias { weights.pop().unwrap_or(0.0) } else { 0.0 };
                Point { weights, bias }
            }
        }
    }
}

/// All rows that are curved, and their curvatures.
fn every(hessian: &Hessian<'_>) -> Vec<(u32, f64)> {
    (0..).zip(hessian.rows).filter(|(_, h)| **h != 0.0).map(|(i, h)| (i, *h)).collect()
}

/// Rows and their curvatures that stand for all rows.
///
/// A row counts where it is much of what is known of one of its columns: `Σⱼ hᵢxᵢⱼ²/Hⱼⱼ` is large for rows
/// with rare features, which a sample must not miss, and adds up to the number of columns. Rows are taken in
/// proportion to it, and those left out are stood for by those taken; which ones is settled by the running
/// sum, not by chance.
fn sample<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    hessian: &Hessian<'_>,
    columns: usize,
) -> Vec<(u32, f64)> {
    let curved = hessian.rows.iter().filter(|h| **h != 0.0).count();
    // As many as cost what a product with the whole Hessian costs: a row's square has as many entries as
    // several rows.
    let affordable = 4 * curved * problem.len() / problem.rows.stored().max(1);
    let wanted = (ROWS_PER_COLUMN * columns).max(affordable);
    if curved < 2 * wanted {
        return every(hessian);
    }
    let each = wanted as f64 / columns as f64;
    let whole = inverted(diagonal(problem, hessian));
    let chances = problem.each(|i| match hessian.rows[i] {
        0.0 => 0.0,
        h => {
            let mut sum = if hessian.bias_ridge.is_some() { whole.bias } else { 0.0 };
            problem.row(i).for_each_nonzero(|j, x| sum += x * x * whole.weights[j as usize]);
            (each * h * sum).min(1.0)
        }
    });
    let (mut taken, mut running) = (Vec::new(), 0.0);
    for (i, (&chance, &h)) in (0..).zip(chances.iter().zip(hessian.rows)) {
        running += chance;
        if running >= 1.0 {
            running -= 1.0;
            taken.push((i, h / chance));
        }
    }
    taken
}

/// The diagonal of the Hessian.
fn diagonal<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, hessian: &Hessian<'_>) -> Point {
    let add = |rows: Range<usize>| {
        let mut sum = Point::zero(problem.rows.columns());
        for i in rows {
            let h = hessian.rows[i];
            if h != 0.0 {
                problem.row(i).for_each_nonzero(|j, x| sum.weights[j as usize] += h * x * x);
                sum.bias += h;
            }
        }
        sum
    };
    let parts: Vec<Point> = problem.blocks().into_par_iter().map(add).collect();
    let mut whole =
        parts.into_iter().reduce(Point::plus).unwrap_or_else(|| Point::zero(problem.rows.columns()));
    whole.weights.iter_mut().for_each(|w| *w += hessian.ridge);
    whole.bias += hessian.bias_ridge.unwrap_or(0.0);
    whole
}

fn inverted(mut diagonal: Point) -> Point {
    let invert = |x: &mut f64| *x = if *x > 0.0 { 1.0 / *x } else { 1.0 };
    diagonal.weights.iter_mut().for_each(invert);
    invert(&mut diagonal.bias);
    diagonal
}

/// The upper triangle (in rows; a column-major lower one) of the Hessian of these rows with these curvatures.
fn gram<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    hessian: &Hessian<'_>,
    rows: &[(u32, f64)],
    columns: usize,
) -> Mat<f64> {
    let biased = hessian.bias_ridge.is_some();
    let per_row = problem.rows.stored() / problem.len().max(1) + 1;
    // Squares are large, and their pages cost more to get than to fill: fewer blocks than for vectors.
    let cut = blocks(rows.len(), rows.len() * per_row * per_row / 2, 4 * columns * columns);
    let parts: Vec<Vec<f64>> =
        cut.into_par_iter().map(|block| products(problem, &rows[block], columns, biased)).collect();
    let whole = parts.into_iter().reduce(|mut sum, part| {
        sum.iter_mut().zip(&part).for_each(|(a, b)| *a += b);
        sum
    });
    let whole = whole.unwrap_or_else(|| vec![0.0; columns * columns]);
    let mut matrix = Mat::from_fn(columns, columns, |i, j| whole[j * columns + i]);
    for j in 0..columns {
        matrix[(j, j)] +=
            if biased && j + 1 == columns { hessian.bias_ridge.unwrap_or(0.0) } else { hessian.ridge };
    }
    matrix
}

/// `Σ h·x·xᵀ` over these rows with these curvatures, above the diagonal and on it.
fn products<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    rows: &[(u32, f64)],
    columns: usize,
    biased: bool,
) -> Vec<f64> {
    let mut sum = vec![0.0; columns * columns];
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for &(i, h) in rows {
        match problem.row(i as usize) {
            Row::Sparse32(j, x) => add_products(&mut sum, columns, biased, h, j, x),
            Row::Sparse64(j, x) => add_products(&mut sum, columns, biased, h, j, x),
            row => {
                indices.clear();
                values.clear();
                row.for_each_nonzero(|j, x| {
                    indices.push(j);
                    values.push(x);
                });
                add_products(&mut sum, columns, biased, h, &indices, &values);
            }
        }
    }
    sum
}

/// Adds `h·x·xᵀ`, above the diagonal and on it, to a square of `columns` rows.
#[inline]
fn add_products<V: Copy + Into<f64>>(
    sum: &mut [f64],
    columns: usize,
    biased: bool,
    h: f64,
    indices: &[u32],
    values: &[V],
) {
    for (at, (&j, &x)) in indices.iter().zip(values).enumerate() {
        let j = j as usize;
        let hx = h * x.into();
        let line = &mut sum[j * columns..(j + 1) * columns];
        for (&k, &x) in indices[at..].iter().zip(&values[at..]) {
            line[k as usize] += hx * x.into();
        }
        if biased {
            line[columns - 1] += hx;
        }
    }
    if biased {
        sum[columns * columns - 1] += h;
    }
}

/// The Cholesky factor, with as much added to the diagonal as it takes.
fn factor(mut matrix: Mat<f64>) -> Option<Llt<f64>> {
    let largest = (0..matrix.nrows()).map(|j| matrix[(j, j)]).fold(0.0, f64::max);
    if !(largest.is_finite() && largest > 0.0) {
        return None;
    }
    for extra in [0.0, 1e-14, 1e-11, 1e-8] {
        for j in 0..matrix.nrows() {
            // A column that no row has anything in is left alone.
            matrix[(j, j)] = match matrix[(j, j)] {
                0.0 => largest,
                x => x + extra * largest,
            };
        }
        if let Ok(factor) = Llt::new(matrix.as_ref(), Side::Lower) {
            return Some(factor);
        }
    }
    None
}
