//! Stratified folds, and cross-fitting: the score of each row by a model that was not trained on it.

use super::score_all;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::Scorer;
use crate::random::Random;
use rayon::prelude::*;

/// What folds are stratified by.
#[derive(Clone, Copy, Debug)]
pub enum Strata<'a> {
    /// Rows of each class.
    Classes(&'a [u32]),
    /// Small, middling and large targets.
    Targets(&'a [f64]),
}

/// An assignment of rows to folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// How many folds there are.
    pub count: usize,
    /// The fold of each row, from 0.
    pub of: Vec<u32>,
    /// Classes with fewer rows than folds: some folds have no such row to measure on, and a class of a single
    /// row is missing from the training rows of one fold.
    pub rare: Vec<u32>,
}

impl Folds {
    /// Assigns rows to folds. Folds differ by at most one row in size, and by at most one in the rows of any
    /// class. Where there are targets, of any `count` rows that are neighbours in size (from the smallest up)
    /// every fold gets one. The same seed deals the same way.
    ///
    /// ```
    /// use novikoff::evaluate::{Folds, Strata};
    /// let folds = Folds::deal(Strata::Classes(&[0, 1, 0, 0, 1, 0]), 2, 7)?;
    /// assert_eq!((folds.training(0).len(), folds.held_out(0).len()), (3, 3));
    /// assert!(Folds::deal(Strata::Classes(&[0, 1]), 3, 7).is_err());
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn deal(strata: Strata<'_>, count: usize, seed: u64) -> Result<Self> {
        let rows = match strata {
            Strata::Classes(classes) => classes.len(),
            Strata::Targets(targets) => targets.len(),
        };
        if count < 2 {
            return Err(Error::usage(format!("{count} is too few folds"))
                .hint("two at least: one to learn from, one to measure by"));
        }
        if count > rows {
            let what = format!("{rows} rows cannot be dealt out into {count} folds");
            return Err(
                Error::input(what).hint(format!("at most as many folds as rows: `folds = {}`", rows.max(2)))
            );
        }
        let mut random = Random::new(seed);
        let mut order: Vec<usize> = (0..rows).collect();
        random.shuffle(&mut order);
        let mut seats: Vec<u32> = (0..count as u32).collect();
        random.shuffle(&mut seats);
        let mut of = vec![0; rows];
        match strata {
            // Dealt in one go, class after class: then both the folds and each class's shares differ by at
            // most one.
            Strata::Classes(classes) => {
                order.sort_by_key(|&i| classes[i]);
                order.iter().enumerate().for_each(|(turn, &i)| of[i] = seats[turn % count]);
            }
            // No fold gets the smallest of every group.
            Strata::Targets(targets) => {
                order.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]));
                for group in order.chunks(count) {
                    random.shuffle(&mut seats);
                    group.iter().zip(&seats).for_each(|(&i, &seat)| of[i] = seat);
                }
            }
        }
        let rare = match strata {
            Strata::Classes(classes) => rare(classes, count),
            Strata::Targets(_) => Vec::new(),
        };
        Ok(Self { count, of, rare })
    }

    /// The training rows while a fold is held out, in their order.
    pub fn training(&self, fold: usize) -> Vec<usize> {
        (0..self.of.len()).filter(|&i| self.of[i] as usize != fold).collect()
    }

    /// The rows of a fold, in their order.
    pub fn held_out(&self, fold: usize) -> Vec<usize> {
        (0..self.of.len()).filter(|&i| self.of[i] as usize == fold).collect()
    }
}

/// Classes that occur, but less often than there are folds.
fn rare(classes: &[u32], folds: usize) -> Vec<u32> {
    let mut counts = vec![0usize; classes.iter().max().map_or(0, |&most| most as usize + 1)];
    classes.iter().for_each(|&class| counts[class as usize] += 1);
    (0..).zip(&counts).filter(|(_, count)| (1..folds).contains(*count)).map(|(class, _)| class).collect()
}

/// The rows of a fold and their scores.
struct HeldOut {
    rows: Vec<usize>,
    outputs: usize,
    scores: Vec<f64>,
}

/// The scores of every row by what `fit` learned from the other folds: [`Scorer::outputs`] scores a row, in
/// the order of the rows. Such scores are what the model's scores will be on rows it has never seen, and so
/// what probabilities are fitted to.
///
/// Folds are learned in parallel, each on a copy of its rows. If several fail, the first one's error is
/// returned.
///
/// ```
/// use novikoff::evaluate::{Folds, Strata, cross_fit};
/// use novikoff::{Perceptron, data::generate::Recipe};
/// let data = Recipe { rows: 100, ..Recipe::default() }.generate();
/// let folds = Folds::deal(Strata::Classes(&data.labels), 5, 0)?;
/// let fit = |part: &novikoff::Dataset| Ok(Perceptron::averaged().fit(part)?.model.scorer);
/// assert_eq!(cross_fit(&data, &folds, fit)?.len(), 100);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn cross_fit(
    data: &Dataset,
    folds: &Folds,
    fit: impl Fn(&Dataset) -> Result<Scorer> + Sync,
) -> Result<Vec<f64>> {
    if folds.of.len() != data.len() {
        return Err(Error::input(format!("folds of {} rows for {} rows", folds.of.len(), data.len())));
    }
    let score = |fold: usize| {
        let scorer = fit(&data.select(&folds.training(fold)))?;
        let rows = folds.held_out(fold);
        let scores = score_all(&scorer, &data.select(&rows));
        Ok(HeldOut { rows, outputs: scorer.outputs(), scores })
    };
    let parts: Vec<Result<HeldOut>> = (0..folds.count).into_par_iter().map(score).collect();
    let parts: Vec<HeldOut> = parts.into_iter().collect::<Result<_>>()?;
    let outputs = parts.first().map_or(1, |part| part.outputs);
    let mut all = vec![0.0; data.len() * outputs];
    for part in parts {
        if part.outputs != outputs {
            return Err(Error::input(format!(
                "one fold's model has {outputs} outputs, another's {}",
                part.outputs
            )));
        }
        for (i, scores) in part.rows.into_iter().zip(part.scores.chunks_exact(outputs.max(1))) {
            all[i * outputs..][..outputs].copy_from_slice(scores);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Recipe;
    use crate::model::Weights;
    use proptest::prelude::*;

    fn spread(counts: &[usize]) -> usize {
        counts.iter().max().unwrap() - counts.iter().min().unwrap()
    }

    proptest! {
        #[test]
        fn folds_and_classes_are_dealt_out_evenly(
            classes in prop::collection::vec(0u32..4, 2..60), count in 2usize..8, seed in any::<u64>(),
        ) {
            prop_assume!(count <= classes.len());
            let folds = Folds::deal(Strata::Classes(&classes), count, seed).unwrap();
            prop_assert_eq!(&Folds::deal(Strata::Classes(&classes), count, seed).unwrap(), &folds);
            let sizes: Vec<usize> = (0..count).map(|fold| folds.held_out(fold).len()).collect();
            prop_assert!(spread(&sizes) <= 1 && sizes.iter().sum::<usize>() == classes.len());
            for class in 0..4 {
                let of_fold = |fold| folds.held_out(fold).iter().filter(|&&i| classes[i] == class).count();
                let shares: Vec<usize> = (0..count).map(of_fold).collect();
                prop_assert!(spread(&shares) <= 1, "{shares:?}");
                let total: usize = shares.iter().sum();
                prop_assert_eq!(folds.rare.contains(&class), total > 0 && total < count);
            }
            for fold in 0..count {
                let mut all = [folds.training(fold), folds.held_out(fold)].concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..classes.len()).collect::<Vec<_>>());
            }
        }

        #[test]
        fn neighbours_in_size_are_in_different_folds(
            targets in prop::collection::vec(-5.0..5.0f64, 2..60), count in 2usize..8, seed in any::<u64>(),
        ) {
            prop_assume!(count <= targets.len());
            let folds = Folds::deal(Strata::Targets(&targets), count, seed).unwrap();
            let mut order: Vec<usize> = (0..targets.len()).collect();
            order.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]));
            for group in order.chunks(count) {
                let mut met: Vec<u32> = group.iter().map(|&i| folds.of[i]).collect();
                met.sort_unstable();
                met.dedup();
                prop_assert_eq!(met.len(), group.len());
            }
        }

        /// Every row has a feature of its own, and a model that counts how often it met each one.
        #[test]
        fn every_row_is_scored_by_a_model_that_did_not_see_it(
            rows in 4usize..40,
            count in 2usize..5,
            seed in any::<u64>(),
        ) {
            let data = Recipe { rows, features: 2, seed, ..Recipe::default() }.generate();
            let mut numbered = data.clone();
            let mut builder = crate::data::matrix::Builder::new(crate::data::matrix::Layout::Sparse);
            (0..rows).for_each(|i| builder.push(&[i as u32], &[1.0]));
            numbered.rows = builder.finish();
            let folds = Folds::deal(Strata::Classes(&data.labels), count, seed).unwrap();
            // Output 0 says how often the model met the row's own feature, output 1 how many rows it learned
            // from.
            let fit = |part: &Dataset| {
                let mut weights = Weights::zero(rows, 2);
                (0..part.len()).for_each(|i| weights.add(part.rows.row(i), 0, 1.0, 0.0));
                weights.bias[1] = part.len() as f64;
                Ok(Scorer::Linear(weights))
            };
            let scores = cross_fit(&numbered, &folds, fit).unwrap();
            for (i, scores) in scores.chunks(2).enumerate() {
                prop_assert_eq!(scores, [0.0, folds.training(folds.of[i] as usize).len() as f64]);
            }
        }
    }

    #[test]
    fn what_cannot_be_dealt_out_is_an_error_that_says_so() {
        let error = |count| Folds::deal(Strata::Classes(&[0, 1, 1]), count, 0).unwrap_err();
        assert!(error(1).to_string().contains("too few") && error(1).advice().is_some());
        assert!(error(4).to_string().contains("3 rows cannot be dealt out into 4 folds"));
        assert!(error(4).advice().unwrap().contains("`folds = 3`"));
    }

    #[test]
    fn the_first_error_of_a_fold_is_the_error() {
        let data = Recipe { rows: 9, ..Recipe::default() }.generate();
        let folds = Folds::deal(Strata::Classes(&data.labels), 3, 0).unwrap();
        let error =
            cross_fit(&data, &folds, |part| Err(Error::input(format!("{} rows", part.len())))).unwrap_err();
        assert_eq!(error.to_string(), "6 rows");
        let uneven = std::sync::atomic::AtomicUsize::new(1);
        let fit = |_: &Dataset| {
            Ok(Scorer::Linear(Weights::zero(1, uneven.fetch_add(1, std::sync::atomic::Ordering::Relaxed))))
        };
        assert!(cross_fit(&data, &folds, fit).unwrap_err().to_string().contains("outputs"));
    }
}
