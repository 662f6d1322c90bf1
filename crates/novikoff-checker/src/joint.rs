//! The multinomial logistic loss `ln Σ exp(s_c) − s_y` of classes that are told apart jointly.

use crate::certificate::{Bias, Loss};
use crate::loss::exp_below;
use crate::number::{Dyadic, Enclosure, Round, Sum, exp, ln, ln_1p};
use crate::objective::{Duals, Gradient, Problem};
use crate::weights::classes;

/// Rows times classes that are checked at most: their probabilities take a gigabyte.
const MOST: usize = 1 << 27;
/// Probabilities are whole numbers of `2^-BITS`.
const BITS: i64 = 62;

/// `Σ cᵢℓ(yᵢ, sᵢ)`, rounded up, and duals that prove a lower bound, if one is claimed.
///
/// With `M` the largest score, the loss is `M − s_y + ln(1 + Σ exp(s_c − M))`, summed over the other classes:
/// upper ends of exponentials, then of the logarithm.
pub fn losses_and_duals(problem: &Problem<'_>, names: &[String]) -> Result<(Dyadic, Option<Duals>), String> {
    let (claim, rows) = (problem.claim, problem.rows);
    let by_label = classes(names, rows)?;
    let k = names.len();
    if claim.objective.loss != Loss::Logistic || claim.objective.l1 > 0.0 || claim.duals.is_some() {
        return Err(
            "classes are told apart by the logistic loss, without l1 and without duals in the file".into()
        );
    }
    if claim.weights.len() != k {
        return Err(format!("{} weight vectors for {k} classes", claim.weights.len()));
    }
    if rows.len().saturating_mul(k) > MOST {
        return Err(format!(
            "{} rows times {k} classes are more than this program has memory for",
            rows.len()
        ));
    }
    let class_of = |row: usize| rows.label(row).and_then(|label| by_label[label]);
    let own = (0..rows.len())
        .map(class_of)
        .collect::<Option<Vec<usize>>>()
        .ok_or("a row has none of these labels")?;
    let (mut losses, mut sums) = (Sum::default(), Vec::new());
    let mut probabilities = Vec::new();
    for row in 0..rows.len() {
        if !problem.counts[row].is_positive() {
            probabilities.resize(probabilities.len() + k, 0);
            continue;
        }
        let scores = problem.weights.scores(rows, row, &mut sums);
        let top = (0..k).max_by(|a, b| scores[*a].cmp(&scores[*b])).unwrap_or(0);
        let behind: Vec<Dyadic> = scores.iter().map(|score| score - &scores[top]).collect();
        let others: Dyadic = (0..k)
            .filter(|c| *c != top)
            .map(|c| exp_below(&behind[c]))
            .fold(Dyadic::default(), |sum, x| sum + x);
        losses.add(&(&problem.counts[row] * (ln_1p(&others).high - &behind[own[row]])));
        if claim.lower_bound.is_some() {
            probabilities.extend(softmax(&behind, top));
        }
    }
    let duals =
        claim.lower_bound.map(|_| Fit { problem, own: &own, probabilities: &probabilities, k }.duals());
    Ok((losses.value(), duals))
}

/// About the softmax of scores, given how far they are behind the largest: whole numbers of `2^-BITS` that
/// add up to exactly 1.
fn softmax(behind: &[Dyadic], top: usize) -> Vec<u64> {
    let powers: Vec<Dyadic> =
        behind.iter().map(|z| exp(z).map_or_else(Dyadic::default, |power| power.low)).collect();
    let total =
        powers.iter().enumerate().filter(|(c, _)| *c != top).fold(Dyadic::whole(1), |sum, (_, x)| sum + x);
    let share =
        |power: &Dyadic| u64::try_from(power.divided(&total, Round::Down).floor_to(BITS)).unwrap_or(0);
    let mut shares: Vec<u64> = powers.iter().map(share).collect();
    shares[top] = 0;
    shares[top] = (1 << BITS) - shares.iter().sum::<u64>();
    shares
}

/// Probabilities `q` of each row's classes, which become duals `q − e_y` with the conjugate `Σ q ln q`.
struct Fit<'a> {
    problem: &'a Problem<'a>,
    /// The class of each row.
    own: &'a [usize],
    probabilities: &'a [u64],
    k: usize,
}

/// How probabilities are made to fit free biases: `q' = kept·q + share·f` with `f = Σ (1 − kept)·q` over the
/// classes of the row.
struct Balance {
    kept: Vec<Enclosure>,
    taken: Vec<Enclosure>,
    share: Vec<Enclosure>,
}

impl Fit<'_> {
    /// Free biases need `Σ cᵢq'ᵢ = Σ cᵢe_yᵢ`. With `Q` and `Y` the two sums before, a class with `Q > Y`
    /// keeps `Y/Q` of its probabilities, and one with `Q < Y` is given its part `(Y − Q)/L` of all that is
    /// taken, `L = Σ (Y − Q)` over these. Then `Σᵢ cᵢfᵢ = L`, so it has `Q + (Y − Q)`; and in each row the
    /// `q'` are still a distribution. Quotients are enclosed.
    fn balance(&self, given: &[Dyadic], wanted: &[Dyadic]) -> Balance {
        let free = self.problem.claim.objective.bias == Bias::Free;
        let lack = |c: usize| &wanted[c] - &given[c];
        let all = (0..self.k).map(lack).filter(Dyadic::is_positive).fold(Dyadic::default(), |sum, x| sum + x);
        let kept = |c: usize| {
            if free && lack(c).is_negative() {
                Enclosure::quotient(&wanted[c], &given[c])
            } else {
                Enclosure::one()
            }
        };
        let share = |c: usize| {
            if free && lack(c).is_positive() {
                Enclosure::quotient(&lack(c), &all)
            } else {
                Enclosure::zero()
            }
        };
        let kept: Vec<Enclosure> = (0..self.k).map(kept).collect();
        Balance {
            taken: kept.iter().map(Enclosure::complement).collect(),
            kept,
            share: (0..self.k).map(share).collect(),
        }
    }

    fn duals(&self) -> Duals {
        let (k, counts) = (self.k, &self.problem.counts);
        let (mut given, mut wanted) = (vec![Sum::default(); k], vec![Sum::default(); k]);
        for (row, q) in self.probabilities.chunks_exact(k).enumerate() {
            given.iter_mut().zip(q).for_each(|(sum, q)| sum.add_multiple(&counts[row], *q, -BITS));
            wanted[self.own[row]].add(&counts[row]);
        }
        let values = |sums: Vec<Sum>| -> Vec<Dyadic> { sums.iter().map(Sum::value).collect() };
        let (given, wanted) = (values(given), values(wanted));
        let balance = self.balance(&given, &wanted);
        let mut gradient = self.gradient(&balance);
        if self.problem.claim.objective.bias == Bias::Penalised {
            given.iter().zip(&wanted).for_each(|(given, wanted)| gradient.add((given - wanted).abs()));
        }
        Duals { factor: Dyadic::whole(1), conjugates: self.conjugates(&balance), gradient }
    }

    /// `Σ cᵢ Σ_c q' ln q'`, rounded up. For `low ≤ q' ≤ high`: if the logarithm's upper end `t` at `high` is
    /// negative, `q' ln q' ≤ low·t`, else `≤ high·t`.
    fn conjugates(&self, balance: &Balance) -> Dyadic {
        let mut sum = Sum::default();
        for (row, q) in self
            .probabilities
            .chunks_exact(self.k)
            .enumerate()
            .filter(|(row, _)| self.problem.counts[*row].is_positive())
        {
            let q: Vec<Enclosure> =
                q.iter().map(|q| Enclosure::exactly(Dyadic::whole(*q).shifted(-BITS))).collect();
            let mut entropy = Dyadic::default();
            for probability in balance.apply(&q) {
                if !probability.high.is_zero() {
                    let t = ln(&probability.high).high;
                    let end = if t.is_negative() {
                        probability.low.max(Dyadic::default())
                    } else {
                        probability.high
                    };
                    entropy = entropy + end * t;
                }
            }
            sum.add(&(&self.problem.counts[row] * entropy));
        }
        sum.value()
    }

    /// `|Σ cᵢ(q'ᵢ − e_yᵢ)xᵢⱼ|/mⱼ` of each class and used column, rounded up. The sums with `q` and with `e_y`
    /// are exact, and `q'` is linear in `q`.
    fn gradient(&self, balance: &Balance) -> Gradient {
        let (k, problem) = (self.k, self.problem);
        let involved = || (0..self.own.len()).filter(|row| problem.counts[*row].is_positive());
        let by_turn: Vec<usize> = involved().collect();
        let (mut given, mut wanted) = (vec![Sum::default(); k], vec![Sum::default(); k]);
        let mut gradient = Gradient::new(problem, &Dyadic::whole(1));
        for (column, scale) in problem.rows.by_column(involved()).columns().zip(&problem.scales) {
            given.iter_mut().chain(&mut wanted).for_each(Sum::clear);
            for (turn, x) in column {
                let row = by_turn[*turn as usize];
                let weighted = &problem.counts[row] * Dyadic::of(*x);
                let q = &self.probabilities[row * k..][..k];
                given.iter_mut().zip(q).for_each(|(sum, q)| sum.add_multiple(&weighted, *q, -BITS));
                wanted[self.own[row]].add(&weighted);
            }
            let given: Vec<Enclosure> = given.iter().map(|sum| Enclosure::exactly(sum.value())).collect();
            for (fitted, wanted) in balance.apply(&given).iter().zip(&wanted) {
                let off = fitted.plus(&Enclosure::exactly(-wanted.value()));
                gradient.add(off.size().divided(&scale.low, Round::Up));
            }
        }
        gradient
    }
}

impl Balance {
    /// `kept·q + share·Σ (1 − kept)·q`, for probabilities or for sums of them.
    fn apply(&self, q: &[Enclosure]) -> Vec<Enclosure> {
        let taken = q.iter().zip(&self.taken).map(|(q, taken)| q.times(taken));
        let taken = taken.fold(Enclosure::zero(), |sum, part| sum.plus(&part));
        let fitted = |((q, kept), share): ((&Enclosure, &Enclosure), &Enclosure)| {
            q.times(kept).plus(&taken.times(share))
        };
        q.iter().zip(&self.kept).zip(&self.share).map(fitted).collect()
    }
}
