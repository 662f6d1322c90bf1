//! What depends on the order of rows by a score alone: the area under the ROC curve, average precision, and
//! the threshold at which mistakes cost least.

/// A row of one of two classes, by how probable the positive one is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked {
    pub(super) value: f64,
    pub(super) positive: bool,
    pub(super) weight: f64,
}

/// Rows of one value: the weights of the negative and of the positive ones.
#[derive(Clone, Copy, Debug)]
struct Tied {
    value: f64,
    negative: f64,
    positive: f64,
}

/// Rows of two classes, from the smallest value to the largest. Rows without weight are left out.
pub(super) struct Ranking {
    tied: Vec<Tied>,
    negative: f64,
    positive: f64,
}

impl Ranking {
    pub(super) fn new(mut rows: Vec<Ranked>) -> Self {
        rows.retain(|row| row.weight > 0.0);
        // Only ratios count. In these units, which change no digit, no product of weights vanishes or
        // overflows.
        let unit = unit_of(rows.iter().map(|row| row.weight).fold(0.0, f64::max));
        rows.iter_mut().for_each(|row| row.weight /= unit);
        rows.sort_by(|a, b| a.value.total_cmp(&b.value));
        let weight = |rows: &[Ranked], positive: bool| {
            // Plus zero: no rows sum to a negative zero.
            rows.iter().filter(|row| row.positive == positive).map(|row| row.weight).sum::<f64>() + 0.0
        };
        let tied = |rows: &[Ranked]| Tied {
            value: rows[0].value,
            negative: weight(rows, false),
            positive: weight(rows, true),
        };
        let (negative, positive) = (weight(&rows, false), weight(&rows, true));
        let tied = rows.chunk_by(|a, b| a.value == b.value).map(tied).collect();
        Self { tied, negative, positive }
    }

    /// The chance that a positive row ranks higher than a negative one, ties counting half (Mann and
    /// Whitney's U).
    pub(super) fn area_under_curve(&self) -> Option<f64> {
        if self.negative == 0.0 || self.positive == 0.0 {
            return None;
        }
        let (mut below, mut sum) = (0.0, 0.0);
        for tied in &self.tied {
            sum += tied.positive * (below + tied.negative / 2.0);
            below += tied.negative;
        }
        Some(sum / (self.negative * self.positive))
    }

    /// The sum of precisions at all thresholds, each times the recall that it adds.
    pub(super) fn average_precision(&self) -> Option<f64> {
        if self.positive == 0.0 {
            return None;
        }
        let (mut found, mut taken, mut sum) = (0.0, 0.0, 0.0);
        for tied in self.tied.iter().rev() {
            found += tied.positive;
            taken += tied.positive + tied.negative;
            sum += found / taken * tied.positive;
        }
        Some(sum / self.positive)
    }

    /// The threshold at which mistakes cost least, where one for a row of the negative and of the positive
    /// class costs so much. Of equals the one nearest to `usual`. `None` without rows.
    pub(super) fn cheapest(&self, costs: [f64; 2], usual: f64) -> Option<Cheapest> {
        let total = self.negative + self.positive;
        if total == 0.0 {
            return None;
        }
        let false_positives = self.negatives_from();
        let mut false_negatives = 0.0;
        let mut best: Option<Cheapest> = None;
        for (at, false_positives) in false_positives.into_iter().enumerate() {
            let from = at.checked_sub(1).map(|before| self.tied[before].value);
            let to = self.tied.get(at).map(|tied| tied.value);
            let cost = (costs[0] * false_positives + costs[1] * false_negatives) / total;
            let candidate = Cheapest { threshold: Threshold::between(from, to, usual), cost };
            let distance = |it: &Cheapest| it.threshold.number().map_or(f64::INFINITY, |t| (t - usual).abs());
            let is_better = |best: &Cheapest| {
                candidate.cost < best.cost
                    || candidate.cost == best.cost && distance(&candidate) < distance(best)
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(candidate);
            }
            false_negatives += self.tied.get(at).map_or(0.0, |tied| tied.positive);
        }
        best
    }

    /// The weight of negative rows from each value on, then 0: what a threshold there takes for positive.
    /// Summed from the end, not subtracted from the whole, which would leave rounding, even below zero.
    fn negatives_from(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.tied.len() + 1];
        for (at, tied) in self.tied.iter().enumerate().rev() {
            sums[at] = sums[at + 1] + tied.negative;
        }
        sums
    }
}

/// The largest power of two that is at most this number; 1 for ordinary ones.
fn unit_of(largest: f64) -> f64 {
    if (1e-100..1e100).contains(&largest) || largest == 0.0 { 1.0 } else { largest.log2().floor().exp2() }
}

/// The cheapest threshold, and what mistakes cost there, a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cheapest {
    /// Rows are taken for positive from here on.
    pub threshold: Threshold,
    /// The mean cost of a row.
    pub cost: f64,
}

/// From which score or probability on a row is taken for positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// From this number on.
    At(f64),
    /// From below all of the rows: every row is taken for positive.
    All,
    /// From above all of the rows: none is.
    None,
}

impl Threshold {
    /// The number, where there is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Threshold::At(number) => Some(number),
            Threshold::All | Threshold::None => None,
        }
    }

    /// A number above `from`, and at most `to`: `usual` if that is one, else the shortest one to write.
    fn between(from: Option<f64>, to: Option<f64>, usual: f64) -> Self {
        let above = from.is_none_or(|from| usual > from);
        let below = to.is_none_or(|to| usual <= to);
        match (from, to) {
            _ if above && below => Threshold::At(usual),
            (None, _) => Threshold::All,
            (_, None) => Threshold::None,
            (Some(from), Some(to)) => Threshold::At(shortest(from, to)),
        }
    }
}

/// The number above `from`, and at most `to`, that has the fewest digits near the middle.
fn shortest(from: f64, to: f64) -> f64 {
    let middle = from / 2.0 + to / 2.0;
    let rounded = (0..17).filter_map(|digits| format!("{middle:.digits$e}").parse::<f64>().ok());
    rounded.into_iter().find(|number| from < *number && *number <= to).unwrap_or(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values with ties, classes, and small whole weights of which some are 0.
    fn rows() -> impl Strategy<Value = Vec<Ranked>> {
        let row = (-3i8..4, any::<bool>(), 0u8..4).prop_map(|(value, positive, weight)| Ranked {
            value: f64::from(value) / 3.0,
            positive,
            weight: f64::from(weight),
        });
        prop::collection::vec(row, 1..25)
    }

    fn weight(rows: &[Ranked], of: impl Fn(&Ranked) -> bool) -> f64 {
        rows.iter().filter(|row| of(row)).map(|row| row.weight).sum()
    }

    proptest! {
        #[test]
        fn area_under_curve_is_the_share_of_pairs_in_order(rows in rows()) {
            let mut sum = 0.0;
            for p in rows.iter().filter(|row| row.positive) {
                for n in rows.iter().filter(|row| !row.positive) {
                    let order = if p.value > n.value { 1.0 } else if p.value == n.value { 0.5 } else { 0.0 };
                    sum += p.weight * n.weight * order;
                }
            }
            let pairs = weight(&rows, |row| row.positive) * weight(&rows, |row| !row.positive);
            match Ranking::new(rows).area_under_curve() {
                Some(area) => prop_assert!((area - sum / pairs).abs() < 1e-12),
                None => prop_assert_eq!(pairs, 0.0),
            }
        }

        #[test]
        fn average_precision_is_the_mean_precision_at_the_positive_rows(rows in rows()) {
            let positives = weight(&rows, |row| row.positive);
            let precision = |at: &Ranked| {
                let found = weight(&rows, |row| row.positive && row.value >= at.value);
                found / weight(&rows, |row| row.value >= at.value)
            };
            let own = rows.iter().filter(|row| row.positive && row.weight > 0.0);
            let expected = own.map(|row| row.weight * precision(row)).sum::<f64>() / positives;
            match Ranking::new(rows.clone()).average_precision() {
                Some(found) => prop_assert!((found - expected).abs() < 1e-12),
                None => prop_assert_eq!(positives, 0.0),
            }
        }

        /// Nothing else that a threshold can be is cheaper.
        #[test]
        fn no_threshold_is_cheaper_than_the_cheapest(rows in rows(), costs in (0u8..5, 0u8..5)) {
            let costs = [f64::from(costs.0), f64::from(costs.1)];
            let total = weight(&rows, |_| true);
            let cost = |threshold: f64| {
                let wrong = |row: &Ranked| (row.value >= threshold) != row.positive;
                let own = |row: &Ranked| costs[usize::from(row.positive)] * row.weight;
                rows.iter().filter(|row| wrong(row)).map(own).sum::<f64>() / total
            };
            let Some(found) = Ranking::new(rows.clone()).cheapest(costs, 0.5) else {
                prop_assert_eq!(total, 0.0);
                return Ok(());
            };
            let at = match found.threshold {
                Threshold::At(number) => number,
                Threshold::All => f64::NEG_INFINITY,
                Threshold::None => f64::INFINITY,
            };
            prop_assert!((cost(at) - found.cost).abs() < 1e-12, "{} {found:?}", cost(at));
            let thresholds = (-9..11).map(|sixth| f64::from(sixth) / 6.0);
            for other in thresholds.chain([f64::INFINITY, f64::NEG_INFINITY]) {
                prop_assert!(found.cost <= cost(other) + 1e-12, "{other} {found:?}");
            }
        }

        /// Weights that binary fractions only come near to, so that sums of them are rounded.
        #[test]
        fn the_least_cost_is_not_negative_and_nothing_where_no_row_is_wrong(
            rows in rows(),
            costs in prop::array::uniform2(prop::sample::select(vec![0.0, 0.1, 0.2, 0.7, 3.0])),
        ) {
            let weigh = |mut row: Ranked| {
                row.weight = [0.0, 0.1, 0.2, 0.7][row.weight as usize];
                row
            };
            let mut rows: Vec<Ranked> = rows.into_iter().map(weigh).collect();
            let Some(found) = Ranking::new(rows.clone()).cheapest(costs, 0.0) else { return Ok(()) };
            prop_assert!(found.cost >= 0.0, "{found:?}");
            rows.iter_mut().for_each(|row| row.value = f64::from(u8::from(row.positive)));
            let found = Ranking::new(rows).cheapest(costs, 0.5).unwrap();
            prop_assert_eq!((found.threshold, found.cost), (Threshold::At(0.5), 0.0));
        }

        #[test]
        fn the_shortest_number_lies_between_its_ends(a in -1e3..1e3f64, b in 0u64..60) {
            let mut to = a;
            for _ in 0..=b {
                to = to.next_up();
            }
            let found = shortest(a, to);
            prop_assert!(a < found && found <= to);
        }
    }

    #[test]
    fn thresholds_are_written_with_as_few_digits_as_tell_rows_apart() {
        assert_eq!(shortest(0.2, 0.4), 0.3);
        assert_eq!(shortest(0.123, 0.124), 0.1235);
        assert_eq!(shortest(-5.0, 7.0), 1.0);
        assert_eq!(Threshold::between(Some(0.1), Some(0.9), 0.5), Threshold::At(0.5));
        assert_eq!(Threshold::between(None, Some(0.2), 0.5), Threshold::All);
        assert_eq!(Threshold::between(Some(0.7), None, 0.5), Threshold::None);
    }
}
