//! The dual gradient, `Σ (cᵢ/n)·uᵢ·xᵢ`, and the factors that bring its columns to one size.

use super::{CHUNK, Given};
use crate::data::{Scale, SizeAndSum};
use crate::penalty::Bias;
use rayon::prelude::*;
use std::ops::Range;

/// Parts of a sum that one task joins; a power of two.
const GROUP: usize = 16;

/// A dual gradient in the coordinates of the penalty.
pub(super) trait Gradient: Sync {
    /// How many weights there are.
    fn len(&self) -> usize;

    /// The entries of some of them.
    fn entries(&self, weights: Range<usize>, to: &mut Vec<f64>);

    /// The entries of biases that are penalised.
    fn biases(&self) -> &[f64];

    /// Something of every `CHUNK` entries.
    fn chunks<T: Send>(&self, of: impl Fn(&mut Vec<f64>) -> T + Sync) -> Vec<T> {
        let count = self.len();
        let chunk = |entries: &mut Vec<f64>, at: usize| {
            self.entries(at * CHUNK..count.min((at + 1) * CHUNK), entries);
            of(entries)
        };
        (0..count.div_ceil(CHUNK)).into_par_iter().map_init(Vec::new, chunk).collect()
    }
}

/// The dual gradient of a problem with one weight vector.
pub(super) struct DualGradient {
    pub columns: Columns,
    /// At the bias, if that is penalised.
    bias: Option<f64>,
    /// How often a number was rounded at most.
    pub rounded: usize,
}

impl Gradient for DualGradient {
    fn len(&self) -> usize {
        match &self.columns {
            Columns::Apart { sums, .. } => sums.len(),
            Columns::Together(both) => both.len(),
        }
    }

    fn entries(&self, columns: Range<usize>, to: &mut Vec<f64>) {
        self.columns.scaled_sums(columns, to);
    }

    fn biases(&self) -> &[f64] {
        self.bias.as_slice()
    }
}

/// The scale of each column, and its sum `Σ (cᵢ/n)·uᵢ·xᵢⱼ`.
pub(super) enum Columns {
    /// One by one, the sum as it is; no scales if columns were left as they are.
    Apart { scales: Vec<f64>, sums: Vec<f64> },
    /// Both, the sum in the coordinates of the penalty: computed in one pass.
    Together(Vec<SizeAndSum>),
}

impl Columns {
    pub(super) fn scale(&self, column: usize) -> f64 {
        match self {
            Columns::Apart { scales, .. } => scales.get(column).copied().unwrap_or(1.0),
            Columns::Together(both) => both[column].size,
        }
    }

    /// The scales of some columns.
    pub(super) fn scales(&self, columns: Range<usize>, to: &mut Vec<f64>) {
        to.clear();
        match self {
            Columns::Apart { scales, .. } => {
                let end = columns.end.min(scales.len());
                to.extend_from_slice(&scales[columns.start.min(end)..end]);
                to.resize(columns.len(), 1.0);
            }
            Columns::Together(both) => to.extend(both[columns].iter().map(|column| column.size)),
        }
    }

    /// The sums of some columns in the coordinates of the penalty.
    fn scaled_sums(&self, columns: Range<usize>, to: &mut Vec<f64>) {
        if let Columns::Together(both) = self {
            to.clear();
            to.extend(both[columns].iter().map(|column| column.sum));
            return;
        }
        self.scales(columns.clone(), to);
        if let Columns::Apart { sums, .. } = self {
            to.iter_mut().zip(&sums[columns]).for_each(|(scale, sum)| *scale *= sum);
        }
    }

    /// Whether there is a scale for every one of these.
    pub(super) fn are_all_scaled(&self, columns: usize) -> bool {
        match self {
            Columns::Apart { scales, .. } => scales.len() == columns,
            Columns::Together(_) => true,
        }
    }
}

/// How rows are added up.
enum Order {
    /// Each task takes some columns, of all rows.
    ByColumn,
    /// So many rows into a vector of their own, and these two by two.
    Few(usize),
}

impl Given<'_> {
    pub(super) fn dual_gradient(&self, duals: &[f64]) -> DualGradient {
        let factor = |(count, dual): (&f64, &f64)| count / self.total * dual;
        let factors: Vec<f64> = self.counts.par_iter().zip(duals).with_min_len(CHUNK).map(factor).collect();
        let (columns, bias, rounded) =
            if self.objective.scale == Scale::MaxAbs && self.objective.scaled_columns.is_none() {
                let (both, bias, rounded) = self.sizes_and_sums(&factors);
                (Columns::Together(both), bias, rounded)
            } else {
                let (sums, bias, rounded) = self.sums(&factors);
                (Columns::Apart { scales: self.factors(), sums }, bias, rounded)
            };
        let bias = Some(bias).filter(|_| self.objective.bias == Bias::Penalised);
        DualGradient { columns, bias, rounded }
    }

    /// As many rows as are worth a vector of their own, unless that makes too few vectors for all cores.
    fn order(&self) -> Order {
        let (rows, columns) = (&self.data.rows, self.data.rows.columns());
        let entries = rows.stored() / rows.rows().max(1);
        let few = (2 * columns / entries.max(1)).max(128);
        if 4 * few > self.len() { Order::ByColumn } else { Order::Few(few) }
    }

    /// Of every column, and of the bias, and how often a sum was rounded at most.
    fn sizes_and_sums(&self, factors: &[f64]) -> (Vec<SizeAndSum>, f64, usize) {
        let (rows, columns) = (&self.data.rows, self.data.rows.columns());
        let counts = |i: usize| self.data.weight(i) > 0.0;
        let (mut both, bias, rounded) = match self.order() {
            Order::ByColumn => {
                let both = rows.by_column(SizeAndSum::default(), |i| {
                    let (counts, factor) = (counts(i), factors[i]);
                    move |_, column: &mut SizeAndSum, x| column.add(x, counts, factor)
                });
                (both, factors.iter().sum(), self.len())
            }
            Order::Few(few) => {
                let add = |i: usize, both: &mut [SizeAndSum]| {
                    let (counts, factor) = (counts(i), factors[i]);
                    rows.row(i).for_each_nonzero(|j, x| both[j as usize].add(x, counts, factor));
                    both[columns].add(1.0, true, factor);
                };
                let (mut both, rounded) = self.pairwise(few, add, SizeAndSum::join).sum();
                let bias = both.pop().unwrap_or_default().sum;
                (both, bias, rounded)
            }
        };
        both.par_iter_mut().with_min_len(CHUNK).for_each(SizeAndSum::scale);
        (both, bias, rounded)
    }

    fn pairwise<A, J>(&self, few: usize, add: A, join: J) -> Pairwise<A, J> {
        Pairwise { rows: self.len(), columns: self.data.rows.columns(), few, add, join }
    }

    /// Of every column, and of the bias, and how often they were rounded at most.
    fn sums(&self, factors: &[f64]) -> (Vec<f64>, f64, usize) {
        let (rows, columns) = (&self.data.rows, self.data.rows.columns());
        match self.order() {
            Order::ByColumn => {
                let sums = rows.by_column(0.0, |i| {
                    let factor = factors[i];
                    move |_, sum: &mut f64, x| *sum += factor * x
                });
                (sums, factors.iter().sum(), self.len())
            }
            Order::Few(few) => {
                let add = |i: usize, sums: &mut [f64]| {
                    rows.row(i).add_to(&mut sums[..columns], factors[i]);
                    sums[columns] += factors[i];
                };
                let (mut sums, rounded) = self.pairwise(few, add, |sum: &mut f64, other| *sum += other).sum();
                let bias = sums.pop().unwrap_or_default();
                (sums, bias, rounded)
            }
        }
    }
}

/// Something for every column, and for the bias behind them, out of rows that are added `few` at a time and
/// then joined two by two.
struct Pairwise<A, J> {
    rows: usize,
    columns: usize,
    few: usize,
    add: A,
    join: J,
}

impl<A, J> Pairwise<A, J> {
    /// The sum, and how often a number in it was rounded at most.
    fn sum<C>(&self) -> (Vec<C>, usize)
    where
        C: Clone + Default + Send,
        A: Fn(usize, &mut [C]) + Sync,
        J: Fn(&mut C, C) + Sync,
    {
        let parts = self.rows.div_ceil(self.few);
        let group = |group: usize| self.group(group * GROUP..parts.min((group + 1) * GROUP));
        let mut groups: Vec<Vec<C>> = (0..parts.div_ceil(GROUP)).into_par_iter().map(group).collect();
        while groups.len() > 1 {
            let mut left = groups.into_iter();
            let pairs: Vec<(Vec<C>, Option<Vec<C>>)> =
                std::iter::from_fn(|| Some((left.next()?, left.next()))).collect();
            let joined = |(one, other): (Vec<C>, Option<Vec<C>>)| match other {
                Some(other) => self.joined(one, other),
                None => one,
            };
            groups = pairs.into_par_iter().map(joined).collect();
        }
        let sum = groups.pop().unwrap_or_else(|| self.nothing());
        (sum, self.few + parts.next_power_of_two().ilog2() as usize)
    }

    fn nothing<C: Clone + Default>(&self) -> Vec<C> {
        vec![C::default(); self.columns + 1]
    }

    /// The rows of one part, one after the other.
    fn part<C>(&self, part: usize) -> Vec<C>
    where
        C: Clone + Default,
        A: Fn(usize, &mut [C]),
    {
        let mut all = self.nothing();
        (part * self.few..self.rows.min((part + 1) * self.few)).for_each(|i| (self.add)(i, &mut all));
        all
    }

    fn joined<C>(&self, mut one: Vec<C>, other: Vec<C>) -> Vec<C>
    where
        J: Fn(&mut C, C),
    {
        one.iter_mut().zip(other).for_each(|(one, other)| (self.join)(one, other));
        one
    }

    /// Some parts, two by two: of each number of parts, a power of two, that are joined already, but one is
    /// stored.
    fn group<C>(&self, parts: Range<usize>) -> Vec<C>
    where
        C: Clone + Default,
        A: Fn(usize, &mut [C]),
        J: Fn(&mut C, C),
    {
        let mut waiting: Vec<(u32, Vec<C>)> = Vec::new();
        for at in parts {
            let (mut level, mut all) = (0, self.part(at));
            while let Some((_, one)) = waiting.pop_if(|(other, _)| *other == level) {
                (level, all) = (level + 1, self.joined(one, all));
            }
            waiting.push((level, all));
        }
        let all = waiting.into_iter().map(|(_, all)| all).rev();
        all.reduce(|all, one| self.joined(one, all)).unwrap_or_else(|| self.nothing())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Objective, Target};
    use super::*;
    use crate::certificate::proof::Sides;
    use crate::data::matrix::{Builder, Layout};
    use crate::data::{Dataset, Labels, Report};
    use crate::features::Schema;
    use crate::loss::LossName;
    use proptest::prelude::*;

    fn objective() -> Objective {
        let sides = Sides { positive: vec!["a".into()], negative: vec!["b".into()] };
        Objective {
            target: Target::Sides(sides),
            loss: LossName::Logistic,
            lambda: 0.1,
            l1: 0.0,
            bias: Bias::Free,
            class_weights: Vec::new(),
            scale: Scale::MaxAbs,
            scaled_columns: None,
        }
    }

    proptest! {
        /// Rows of one value each, of either sign or none, some of which do not count; columns that nobody
        /// has.
        #[test]
        fn scales_and_dual_gradient_are_what_they_are_row_by_row(
            rows in prop::collection::vec(
                (prop::collection::btree_set(0u32..60, 0..8), -3i8..4, 0u8..3),
                1..40,
            ),
        ) {
            let mut builder = Builder::new(Layout::Sparse);
            for (indices, value, _) in &rows {
                let indices: Vec<u32> = indices.iter().copied().collect();
                builder.push(&indices, &vec![f64::from(*value) / 3.0; indices.len()]);
            }
            let mut matrix = builder.finish();
            matrix.widen(60);
            prop_assert!(matrix.is_uniform());
            let data = Dataset {
                rows: matrix,
                labels: (0..rows.len() as u32).map(|i| i % 2).collect(),
                names: Labels::new(["a", "b"]),
                row_weights: rows.iter().map(|row| f64::from(row.2)).collect(),
                schema: Schema::one_based(),
                report: Report::default(),
            };
            let (objective, counts) = (objective(), data.row_weights.clone());
            let given = Given {
                objective: &objective,
                data: &data,
                counts: &counts,
                total: 2.0,
                within: None,
                off_scale: 0.0,
                factors: None,
            };
            let duals: Vec<f64> = (0..rows.len()).map(|i| i as f64 - 5.5).collect();
            let DualGradient { columns, .. } = given.dual_gradient(&duals);
            let scales = Scale::MaxAbs.factors(&data.rows, &data.row_weights);
            let (mut some, mut entries) = (Vec::new(), Vec::new());
            columns.scales(7..31, &mut some);
            prop_assert_eq!(&some, &scales[7..31]);
            for (j, scale) in scales.iter().enumerate() {
                prop_assert_eq!(columns.scale(j), *scale);
                let mut sum = 0.0;
                for (i, (_, value, _)) in
                    rows.iter().enumerate().filter(|(_, row)| row.0.contains(&(j as u32)))
                {
                    sum += counts[i] / 2.0 * duals[i] * (f64::from(*value) / 3.0);
                }
                columns.scaled_sums(j..j + 1, &mut entries);
                prop_assert!((entries[0] - sum * scale).abs() <= 1e-12 * (1.0 + sum.abs() * scale));
            }
        }
    }
}
