//! Claims about regularised risks: what the objective comes to at some weights, from above, and what no
//! weights fall below.

use crate::certificate::{Bias, Direction, NearOptimal, Objective, Scale, Target};
use crate::joint;
use crate::number::{Dyadic, Enclosure, Round, Sum};
use crate::rows::Rows;
use crate::standard;
use crate::weights::Weights;

/// The objective is at most `value` at the weights and, if that is claimed, at least `lower_bound`
/// everywhere.
pub fn check(claim: &NearOptimal, rows: &Rows) -> Result<String, String> {
    if claim.lower_bound.is_some_and(|bound| claim.value < bound) {
        return Err("the value is below the lower bound".into());
    }
    let problem = Problem::new(claim, rows)?;
    let (losses, duals) = match &claim.objective.target {
        Target::Classes(names) => joint::losses_and_duals(&problem, names)?,
        _ => problem.losses_and_duals()?,
    };
    let value = problem.check_value(&losses)?;
    match (claim.lower_bound, duals) {
        // No loss and no penalty is negative.
        (Some(claimed), _) if claimed <= 0.0 => {
            Ok(format!("the objective is at most {value:e}, and nowhere below zero"))
        }
        (Some(claimed), Some(duals)) => {
            let bound = problem.check_lower_bound(&duals, claimed)?;
            Ok(format!("the objective is at most {value:e}, and nowhere below {bound:e}"))
        }
        _ => Ok(format!("the objective is at most {value:e}")),
    }
}

/// An objective and its rows.
pub struct Problem<'a> {
    pub claim: &'a NearOptimal,
    pub rows: &'a Rows,
    /// `cᵢ`.
    pub counts: Vec<Dyadic>,
    /// `n`.
    pub total: Dyadic,
    /// `mⱼ` of every used column; of all others it is 1.
    pub scales: Vec<Enclosure>,
    pub weights: Weights,
}

/// Duals in the domain of the conjugates that fit the bias, times a number `F > 0`. Terms are those of the
/// lower bound.
pub struct Duals {
    /// `F`.
    pub factor: Dyadic,
    /// `F·Σ cᵢℓ*(yᵢ, uᵢ)`, rounded up.
    pub conjugates: Dyadic,
    pub gradient: Gradient,
}

/// What becomes of `pⱼ = F·n·|gⱼ| = F·|Σ cᵢuᵢxᵢⱼ|/mⱼ`, rounded up, of all coordinates that are penalised.
pub struct Gradient {
    /// `n·F·l1`.
    free: Dyadic,
    /// `Σ max(0, pⱼ − n·F·l1)²`.
    over: Sum,
    /// `max pⱼ`.
    largest: Dyadic,
}

impl Gradient {
    pub fn new(problem: &Problem<'_>, factor: &Dyadic) -> Self {
        let free = &problem.total * factor * Dyadic::of(problem.claim.objective.l1);
        Self { free, over: Sum::default(), largest: Dyadic::default() }
    }

    pub fn add(&mut self, p: Dyadic) {
        if p > self.free {
            self.over.add(&(&p - &self.free).square());
        }
        self.largest = p.max(std::mem::take(&mut self.largest));
    }
}

impl<'a> Problem<'a> {
    fn new(claim: &'a NearOptimal, rows: &'a Rows) -> Result<Self, String> {
        let objective = &claim.objective;
        objective.loss.check()?;
        if objective.lambda < 0.0 || objective.l1 < 0.0 {
            return Err("the penalty is negative".into());
        }
        if claim.within.is_some() && (objective.lambda > 0.0 || objective.l1 > 0.0) {
            return Err("`within` has no meaning where there is a penalty".into());
        }
        if claim.within.is_some_and(|within| within < 0.0) {
            return Err("`within` is negative".into());
        }
        if objective.scaled_columns.is_some_and(|count| objective.scale.is_none() || count > rows.width()) {
            return Err("`scaled_columns` has no scale, or is more than there are".into());
        }
        let row_weights: Vec<Dyadic> = (0..rows.len()).map(|row| Dyadic::of(rows.weight(row))).collect();
        let total: Dyadic = row_weights.iter().sum();
        if !total.is_positive() {
            return Err("no row counts".into());
        }
        let scales = scales(objective, rows, &row_weights, &total);
        let counts = counts(objective, rows, row_weights)?;
        let weights = Weights::new(&claim.weights, objective.bias, rows)?;
        Ok(Self { claim, rows, counts, total, scales, weights })
    }

    /// `yᵢ` of every row with `cᵢ > 0`.
    fn targets(&self) -> Result<Vec<Dyadic>, String> {
        let counts = |row: usize| self.counts[row].is_positive();
        let target: Vec<Option<Dyadic>> = match &self.claim.objective.target {
            Target::Sides(sides) => {
                let of = |side: i8| (side != 0).then(|| Dyadic::whole(side));
                sides.by_label(self.rows)?.into_iter().map(of).collect()
            }
            _ => self
                .rows
                .label_names()
                .iter()
                .map(|name| crate::labels::number(name).map(Dyadic::of))
                .collect(),
        };
        let of = |row: usize| match self.rows.label(row).and_then(|label| target[label].clone()) {
            Some(target) => Ok(target),
            None if !counts(row) => Ok(Dyadic::default()),
            None => Err(format!("row {row} (from 0) is on neither side, or its label is no number")),
        };
        (0..self.rows.len()).map(of).collect()
    }

    /// `Σ cᵢℓ(yᵢ, sᵢ)`, rounded up, and duals that prove a lower bound, if one is claimed.
    fn losses_and_duals(&self) -> Result<(Dyadic, Option<Duals>), String> {
        let (loss, given) = (self.claim.objective.loss, self.claim.duals.as_ref().map(|list| &list.0));
        if self.claim.weights.len() != 1 {
            return Err(format!("{} weight vectors where one is needed", self.claim.weights.len()));
        }
        if matches!(self.claim.objective.target, Target::Numbers) && !loss.is_of_numbers() {
            return Err("this loss is not one of numbers".into());
        }
        if given.is_some_and(|duals| duals.len() != self.rows.len()) {
            return Err("there are not as many duals as rows".into());
        }
        let targets = self.targets()?;
        let (mut losses, mut sums) = (Sum::default(), Vec::new());
        let mut duals = vec![Dyadic::default(); self.rows.len()];
        for (row, y) in targets.iter().enumerate().filter(|(row, _)| self.counts[*row].is_positive()) {
            let count = &self.counts[row];
            let score = self.weights.scores(self.rows, row, &mut sums).swap_remove(0);
            losses.add(&(count * loss.value(y, &score).ok_or("the loss of a row is above e^8192")?));
            if self.claim.lower_bound.is_some() {
                let dual = given.map_or_else(|| loss.slope(y, &score), |duals| Dyadic::of(duals[row]));
                duals[row] = loss.nearest_dual(y, dual);
            }
        }
        let fitted = self.claim.lower_bound.map(|_| self.fitted(&targets, &duals));
        Ok((losses.value(), fitted))
    }

    /// Makes duals `uᵢ` fit the bias.
    ///
    /// With a free bias, `Σ cᵢuᵢ = 0` is needed, for otherwise the infimum over `b` is −∞. With `A` and `B`
    /// the sums of either sign, the positive duals are multiplied by `B/F` and the negative ones by `A/F`, `F
    /// = max(A, B)`: one of these is 1 and the other at most 1, so they stay in the domain, which is convex
    /// and has 0 in it. The gradient is computed times `F`, exactly. The conjugate is convex, so between two
    /// ends of a factor it is no larger than at one of them.
    fn fitted(&self, targets: &[Dyadic], raw: &[Dyadic]) -> Duals {
        let duals: Vec<Dyadic> = raw.iter().zip(&self.counts).map(|(dual, count)| count * dual).collect();
        let mut sums = [Sum::default(), Sum::default()];
        duals.iter().for_each(|dual| sums[usize::from(dual.is_negative())].add(dual));
        let [positive, negative] = sums.map(|sum| sum.value().abs());
        let balanced = self.claim.objective.bias != Bias::Free || positive == negative;
        let one = || Dyadic::whole(1);
        let factors = if balanced { [one(), one()] } else { [negative.clone(), positive.clone()] };
        let factor = (&factors[0]).max(&factors[1]).clone();
        let conjugates = self.conjugates(targets, raw, &factors, &factor);
        let mut gradient = self.gradient(&duals, &factors, &factor);
        if self.claim.objective.bias == Bias::Penalised {
            gradient.add((&positive - &negative).abs());
        }
        Duals { conjugates: conjugates * &factor, factor, gradient }
    }

    /// The conjugates of all duals, those of either sign multiplied by one of `factors` over `factor`.
    fn conjugates(
        &self,
        targets: &[Dyadic],
        raw: &[Dyadic],
        factors: &[Dyadic; 2],
        factor: &Dyadic,
    ) -> Dyadic {
        let ends = factors.each_ref().map(|of| [Round::Down, Round::Up].map(|to| of.divided(factor, to)));
        let loss = self.claim.objective.loss;
        let mut conjugates = Sum::default();
        for (row, count) in self.counts.iter().enumerate().filter(|(_, count)| count.is_positive()) {
            let [low, high] = &ends[usize::from(raw[row].is_negative())];
            let at = |share: &Dyadic| loss.conjugate(&targets[row], &(share * &raw[row]));
            conjugates.add(&(count * if low == high { at(low) } else { at(low).max(at(high)) }));
        }
        conjugates.value()
    }

    /// The gradient of the used columns, by duals of either sign multiplied by one of `factors`.
    fn gradient(&self, duals: &[Dyadic], factors: &[Dyadic; 2], factor: &Dyadic) -> Gradient {
        let involved = || (0..duals.len()).filter(|row| !duals[*row].is_zero());
        let by_row: Vec<usize> = involved().collect();
        let mut gradient = Gradient::new(self, factor);
        for (column, scale) in self.rows.by_column(involved()).columns().zip(&self.scales) {
            let mut sums = [Sum::default(), Sum::default()];
            for (turn, x) in column {
                let dual = &duals[by_row[*turn as usize]];
                sums[usize::from(dual.is_negative())].add_product(dual, *x);
            }
            let [p, n] = sums.map(|sum| sum.value());
            let entry = p * &factors[0] + n * &factors[1];
            gradient.add(entry.abs().divided(&scale.low, Round::Up));
        }
        gradient
    }

    /// `Σ cᵢℓᵢ + n·((λ/2) Σ vⱼ² + l1·Σ|vⱼ|) ≤ n·value`. On the left losses and scales are rounded up; a scale
    /// of 1 or of a largest value is exact.
    fn check_value(&self, losses: &Dyadic) -> Result<f64, String> {
        let objective = &self.claim.objective;
        let (mut squares, mut sizes) = (Sum::default(), Sum::default());
        for direction in &self.claim.weights {
            for v in self.scaled(direction)? {
                squares.add(&v.square());
                sizes.add(&v.abs());
            }
        }
        let penalty = Dyadic::of(objective.lambda).shifted(-1) * squares.value()
            + Dyadic::of(objective.l1) * sizes.value();
        let left = losses + &self.total * penalty;
        let found = left.divided(&self.total, Round::Up).to_f64(Round::Up);
        if left <= &self.total * Dyadic::of(self.claim.value) {
            Ok(found)
        } else {
            Err(format!("all that follows is that the objective is at most {found:e}"))
        }
    }

    /// The `vⱼ` of a weight vector that are not zero, rounded away from zero.
    fn scaled(&self, direction: &Direction) -> Result<impl Iterator<Item = Dyadic>, String> {
        let used = self.rows.used();
        let v = |(column, w): (u32, f64)| match used.binary_search(&column) {
            Ok(at) => Dyadic::of(w) * &self.scales[at].high,
            Err(_) => Dyadic::of(w),
        };
        let bias = (self.claim.objective.bias == Bias::Penalised).then(|| Dyadic::of(direction.bias));
        Ok(direction.entries(self.rows.width())?.filter(|(_, w)| *w != 0.0).map(v).chain(bias))
    }

    /// The bound of Fenchel and Young, `−(1/n) Σ cᵢℓ*(yᵢ, uᵢ) − sup over v of (Σ gⱼvⱼ − penalty(v))`, is at
    /// least the one that is claimed.
    ///
    /// With `C` the conjugates, `F` the factor and `pⱼ = F·n·|gⱼ|` of [`Duals`], the bound is
    /// - with λ: `−C/(nF) − (1/2λ) Σ max(0, pⱼ/(nF) − l1)² = (−2λnF·C − Σ max(0, pⱼ − nF·l1)²)/(2λ(nF)²)`;
    /// - with l1 alone: `−C/(nF)` if all `pⱼ ≤ nF·l1`, else duals and bound are multiplied by `nF·l1/P`, `P =
    ///   max pⱼ`: `−C·l1/P`;
    /// - with neither: `−C/(nF) − within·√(Σ pⱼ²)/(nF)`, for `‖v‖ ≤ within`. Compared by squaring.
    ///
    /// `C` and `pⱼ` are rounded up, which lowers all of these. The comparisons themselves are exact.
    fn check_lower_bound(&self, duals: &Duals, claimed: f64) -> Result<f64, String> {
        let objective = &self.claim.objective;
        let (lambda, l1, claimed) =
            (Dyadic::of(objective.lambda), Dyadic::of(objective.l1), Dyadic::of(claimed));
        let unit = &self.total * &duals.factor;
        let conjugates = -&duals.conjugates;
        let (holds, numerator, denominator) = if lambda.is_positive() {
            let twice = lambda.shifted(1) * &unit;
            let numerator = &twice * conjugates - duals.gradient.over.value();
            let denominator = twice * unit;
            (numerator >= &denominator * &claimed, numerator, denominator)
        } else if l1.is_positive() {
            let fits = duals.gradient.largest <= duals.gradient.free;
            let (numerator, denominator) =
                if fits { (conjugates, unit) } else { (conjugates * l1, duals.gradient.largest.clone()) };
            (numerator >= &denominator * &claimed, numerator, denominator)
        } else {
            let within = self
                .claim
                .within
                .map(Dyadic::of)
                .ok_or("without a penalty nothing follows for all weights, only `within` a length")?;
            let squares = duals.gradient.over.value();
            let room = &conjugates - &unit * &claimed;
            let holds = !room.is_negative() && room.square() >= within.square() * &squares;
            (holds, conjugates - within * squares.root(Round::Up), unit)
        };
        let found = numerator.divided(&denominator, Round::Down).to_f64(Round::Down);
        if holds {
            Ok(found)
        } else {
            Err(format!("all that follows is that no weights make it less than {found:e}"))
        }
    }
}

/// `cᵢ`: the weights of rows times those of their classes.
fn counts(objective: &Objective, rows: &Rows, row_weights: Vec<Dyadic>) -> Result<Vec<Dyadic>, String> {
    let mut by_label: Vec<Option<Dyadic>> = vec![None; rows.label_names().len()];
    for (name, weight) in &objective.class_weights {
        let label = rows.names.find(name).ok_or_else(|| format!("the data has no label {name:?}"))?;
        if *weight < 0.0 {
            return Err(format!("the weight of {name:?} is negative"));
        }
        if by_label[label].replace(Dyadic::of(*weight)).is_some() {
            return Err(format!("the label {name:?} has two weights"));
        }
    }
    let of = |(row, weight): (usize, Dyadic)| match rows.label(row).and_then(|label| by_label[label].as_ref())
    {
        Some(factor) => weight * factor,
        None => weight,
    };
    Ok(row_weights.into_iter().enumerate().map(of).collect())
}

/// `mⱼ` of every used column. A standard deviation is `√(n·Σrx² − (Σrx)²)/n`: exact under the root, and
/// rounded both ways.
fn scales(objective: &Objective, rows: &Rows, weights: &[Dyadic], total: &Dyadic) -> Vec<Enclosure> {
    let Some(scale) = objective.scale else {
        return rows.used().iter().map(|_| Enclosure::one()).collect();
    };
    let scaled = objective.scaled_columns.unwrap_or(rows.width());
    let counting: Vec<usize> = (0..rows.len()).filter(|row| weights[*row].is_positive()).collect();
    let by_column = rows.by_column(counting.iter().copied());
    let of = |(column, entries): (&u32, &[(u32, f64)])| match scale {
        _ if u64::from(*column) >= scaled || entries.is_empty() => Enclosure::one(),
        Scale::MaxAbs => largest(entries),
        Scale::UnitVariance => deviation(entries, |turn| &weights[counting[turn as usize]], total),
        Scale::Standard => standard::size(entries, |turn| &weights[counting[turn as usize]], total),
    };
    rows.used().iter().zip(by_column.columns()).map(of).collect()
}

/// The largest absolute value.
fn largest(entries: &[(u32, f64)]) -> Enclosure {
    entries.iter().map(|(_, x)| Dyadic::of(*x).abs()).max().map_or_else(Enclosure::one, Enclosure::exactly)
}

/// The standard deviation; 1 if it is zero.
fn deviation<'w>(entries: &[(u32, f64)], weight: impl Fn(u32) -> &'w Dyadic, total: &Dyadic) -> Enclosure {
    let (mut squares, mut sum) = (Sum::default(), Sum::default());
    for (turn, x) in entries {
        let weighted = weight(*turn) * Dyadic::of(*x);
        squares.add_product(&weighted, *x);
        sum.add(&weighted);
    }
    let variance = total * squares.value() - sum.value().square();
    if variance.is_zero() {
        return Enclosure::one();
    }
    let root = |to: Round| variance.root(to).divided(total, to);
    Enclosure { low: root(Round::Down), high: root(Round::Up) }
}
