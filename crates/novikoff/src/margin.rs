//! Can the rows be separated, and by what margin? An answer, an interval, and the witnesses that prove both.
//!
//! The search goes from cheap answers to costly ones. Two equal rows with different labels cannot be
//! separated. The point of the rows' convex hull that is nearest to the origin, on columns scaled to one
//! size, which changes no answer, either shows a direction that separates all rows, or is the origin, and the
//! few rows of its convex combination are combined to zero exactly. Where there is a margin, its interval is
//! closed on the rows as they are. All bounds are computed by [`crate::certificate`], from the witnesses
//! alone.

use crate::certificate::file::Claim;
use crate::certificate::proof::{Combination, Direction, ExactCombination, Sides, SignedRows};
use crate::certificate::range;
use crate::certificate::rigorous::Between;
use crate::control::{Observer, Progress, Watch};
use crate::data::{Dataset, Matrix, Row};
use crate::error::{Error, Result};
use crate::loss::Hinge;
use crate::penalty::{Bias, L2};
use crate::random::Random;
use crate::risk::{Point, Problem};
use crate::solver::{
    Control, NearestPoint, Obstacle, Signed, Termination, dependence, max_margin, nearest_point,
};
use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Free: the distance of the hyperplane `<w, x> + b = 0` from the rows. Penalised: the same with a
    /// coordinate of 1 in every row, through the origin. None: through the origin.
    pub bias: Bias,
    /// How much wider than the margin the interval may be, relatively.
    pub tolerance: f64,
    /// Most rounds over all rows.
    pub rounds: usize,
    /// The seed of every random choice.
    pub seed: u64,
    /// Whether to end as soon as it is known if the rows can be separated, however wide the interval is then.
    pub decide: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { bias: Bias::Free, tolerance: 1e-3, rounds: 100_000, seed: 0, decide: false }
    }
}

/// Whether some hyperplane has all rows on their sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separable {
    /// Proved: there is one.
    Yes,
    /// Proved: there is none.
    No,
    /// Neither.
    Unknown,
}

/// What is known, and by what.
#[derive(Clone, Debug)]
pub struct Margin {
    /// Whether the rows can be separated.
    pub separable: Separable,
    /// The margin lies between these: `max over unit w of min y·s`. The second is infinite where one side has
    /// no rows.
    pub interval: (f64, f64),
    /// The length of the longest row, with the bias's coordinate where there is one, lies between these.
    pub radius: Between,
    /// The interval of the margin through the origin, with the bias's coordinate where there is one: what
    /// mistake bounds speak of.
    pub homogeneous: (f64, f64),
    /// The same for rows of length 1 (each row divided by its length).
    pub normalised: (f64, f64),
    /// A direction with all margins positive.
    pub direction: Option<Direction>,
    /// Rows that no direction has a larger margin on.
    pub combination: Option<Combination>,
    /// Rows that combine to zero.
    pub zero: Option<ExactCombination>,
    /// Why there is no exact proof, where one was tried.
    pub obstacle: Option<String>,
    /// Why it stopped.
    pub termination: Termination,
    /// Rounds over all rows.
    pub rounds: usize,
}

/// More rows than this under the nearest point, and rows are gone through one by one instead.
const MOST_SUPPORT: usize = 2500;

/// Brackets the margin between two sides of a data set.
pub fn margin(
    data: &Dataset,
    sides: &Sides,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Margin> {
    if !(settings.tolerance > 0.0 && settings.tolerance < 1.0) {
        return Err(Error::usage(format!(
            "the tolerance must lie between 0 and 1, not {}",
            settings.tolerance
        )));
    }
    data.validate()?;
    let signs = sides.signs(data).map_err(Error::input)?;
    range::rows(&data.rows)
        .map_err(|unproved| Error::input(unproved).hint("scale the columns down first"))?;
    let watch = Watch::new(observer);
    let control = Control {
        tolerance: settings.tolerance,
        steps: settings.rounds,
        seed: settings.seed,
        output: (0, 1),
        trace: false,
        watch: &watch,
    };
    let rows = SignedRows { rows: &data.rows, signs: &signs, bias: settings.bias };
    let search = Search { rows, control, decide: settings.decide, found: Margin::nothing() };
    // Among the threads that share the work: from outside, every little part of it would be handed over to
    // them and waited for.
    rayon::scope(|_| search.run())
}

impl Margin {
    fn nothing() -> Self {
        Self {
            separable: Separable::Unknown,
            interval: (f64::NEG_INFINITY, f64::INFINITY),
            radius: Between::exactly(0.0),
            homogeneous: (f64::NEG_INFINITY, f64::INFINITY),
            normalised: (f64::NEG_INFINITY, f64::INFINITY),
            direction: None,
            combination: None,
            zero: None,
            obstacle: None,
            termination: Termination::OutOfSteps,
            rounds: 0,
        }
    }

    /// `[(R/upper)², (R/lower)²]`: between these lies the bound on the mistakes of a perceptron. The second
    /// is infinite where no margin is proved.
    pub fn mistake_bound(&self) -> (f64, f64) {
        let bound =
            |radius: f64, margin: f64| if margin > 0.0 { (radius / margin).powi(2) } else { f64::INFINITY };
        // Two operations, each off by half a unit in the last place at most.
        let least = bound(self.radius.low, self.homogeneous.1) * (1.0 - 4.0 * f64::EPSILON);
        (least, bound(self.radius.high, self.homogeneous.0) * (1.0 + 4.0 * f64::EPSILON))
    }

    /// Weights under which every row has a margin of at least 1, `y·(<w, x> + b) ≥ 1`, where the rows can be
    /// separated: what the linear program `Aw ≥ 1` asks for. They are longer by a power of two than those
    /// that were found, which rounds nothing.
    ///
    /// ```
    /// use novikoff::{certificate::Sides, control::Unwatched, data::generate::Recipe};
    /// use novikoff::margin::{Settings, margin};
    /// let data = Recipe { rows: 50, features: 3, margin: 0.1, ..Recipe::default() }.generate();
    /// let sides = Sides { positive: vec!["1".into()], negative: vec!["-1".into()] };
    /// let found = margin(&data, &sides, &Settings { decide: true, ..Settings::default() }, &mut Unwatched)?;
    /// let halfspace = found.halfspace().expect("these rows are separable");
    /// let mut weights = vec![0.0; 3];
    /// halfspace.entries().for_each(|(j, w)| weights[j] = w);
    /// for i in 0..50 {
    ///     let score = data.rows.row(i).dot(&weights) + halfspace.bias;
    ///     assert!(if data.labels[i] == 1 { score >= 1.0 } else { score <= -1.0 });
    /// }
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn halfspace(&self) -> Option<Direction> {
        let direction = self.direction.as_ref().filter(|_| self.separable == Separable::Yes)?;
        let length = direction.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        // The margin is over the length of the weights, or of weights and bias, which is no less.
        let least = if length > 0.0 { self.interval.0 * length } else { direction.bias.abs() };
        // Twice as long as it would have to be, so that no rounding of these few numbers matters.
        let exponent = (1.0 - least.log2()).ceil();
        let factor = (exponent.is_finite() && exponent.abs() < 1000.0).then(|| 2f64.powi(exponent as i32))?;
        let longer = |w: &f64| Some(w * factor).filter(|w| w.is_finite());
        Some(Direction {
            columns: direction.columns.clone(),
            weights: direction.weights.iter().map(longer).collect::<Option<_>>()?,
            bias: longer(&direction.bias)?,
        })
    }

    /// What is known, as claims with their witnesses.
    pub fn claims(&self, sides: &Sides, bias: Bias) -> Vec<Claim> {
        let sides = || sides.clone();
        let mut claims = Vec::new();
        if let (Separable::Yes, Some(direction)) = (self.separable, &self.direction) {
            let margin = self.interval.0;
            claims.push(Claim::MarginAtLeast { sides: sides(), bias, margin, direction: direction.clone() });
        }
        if let Some(combination) = &self.zero {
            claims.push(Claim::NotSeparable { sides: sides(), bias, combination: combination.clone() });
        } else if let (Some(combination), true) = (&self.combination, self.interval.1.is_finite()) {
            let margin = self.interval.1;
            claims.push(Claim::MarginAtMost {
                sides: sides(),
                bias,
                margin,
                combination: combination.clone(),
            });
        }
        claims
    }

    fn is_closed(&self, tolerance: f64) -> bool {
        let (lower, upper) = self.interval;
        lower > 0.0 && lower >= (1.0 - tolerance) * upper
    }
}

struct Search<'a> {
    rows: SignedRows<'a>,
    control: Control<'a>,
    decide: bool,
    found: Margin,
}

impl<'a> Search<'a> {
    fn run(mut self) -> Result<Margin> {
        let extra = self.rows.bias.coordinate();
        let signed = Signed { rows: self.rows.rows, signs: self.rows.signs, extra };
        self.found.radius = self.through_origin().radius();
        if !self.found.radius.high.is_finite() {
            return Err(Error::input(
                "the values are so large that sums of their squares are no finite numbers",
            ));
        }
        if let Some(pair) = equal_rows(self.rows.rows, self.rows.signs) {
            self.take_zero(ExactCombination { rows: pair.to_vec(), multipliers: vec!["1".into(); 2] });
            return Ok(self.finish(Termination::Converged));
        }
        let few = self.decide(signed);
        if self.control.watch.stopped() {
            return Ok(self.finish(Termination::Interrupted));
        }
        if self.decide && self.found.separable != Separable::Unknown {
            self.found.termination = Termination::Converged;
        } else if !few {
            self.widen_margin();
        } else if self.found.separable == Separable::Yes && !self.found.is_closed(self.control.tolerance) {
            self.close(signed);
        }
        let termination = self.found.termination;
        Ok(self.finish(termination))
    }

    /// Separable or not, on columns of one size. Returns whether the nearest point stands on few enough rows
    /// to tell.
    fn decide(&mut self, signed: Signed<'_>) -> bool {
        let factors = powers_of_two(signed.rows, signed.extra);
        let scaled = factors.as_ref().map(|factors| signed.rows.scaled(factors));
        let rows = Signed { rows: scaled.as_ref().unwrap_or(signed.rows), ..signed };
        let unscaled = |mut point: Point| {
            if let Some(factors) = &factors {
                point.weights.iter_mut().zip(factors).for_each(|(w, factor)| *w *= factor);
            }
            Direction::new(&point.weights, point.bias * signed.extra)
        };
        if let Some(point) = quickly(rows, &self.control, &mut self.found.rounds) {
            self.take_direction(&unscaled(point));
            if self.found.separable == Separable::Yes
                && (self.decide || scaled.is_some() || self.rows.bias == Bias::Free)
            {
                return true;
            }
        }
        // The rows as they are can as well close the interval at once.
        let tolerance = match scaled.is_some() || self.rows.bias == Bias::Free {
            _ if self.decide => 1.0 - 1e-9,
            true => 0.9,
            false => self.control.tolerance,
        };
        // With their columns scaled the rows have another margin: whoever watches is told of rounds, and of
        // no interval.
        let mut blind = |progress: Progress| match progress {
            Progress::Margin { output, round, .. } if scaled.is_some() => self
                .control
                .watch
                .tell(Progress::Margin { output, round, lower: f64::NEG_INFINITY, upper: f64::INFINITY }),
            other => self.control.watch.tell(other),
        };
        let watch = Watch::new(&mut blind);
        let nearest =
            nearest_point(rows, MOST_SUPPORT, &Control { tolerance, watch: &watch, ..self.control });
        self.found.rounds += nearest.steps;
        self.found.termination = nearest.termination;
        self.take_direction(&unscaled(nearest.point.clone()));
        self.take_combination(&nearest.support);
        if nearest.termination == Termination::Stalled && self.found.separable != Separable::Yes {
            self.combine_exactly(signed, &nearest);
        }
        nearest.support.len() <= MOST_SUPPORT
    }

    /// A combination of the rows under the nearest point that is zero to the last digit.
    fn combine_exactly(&mut self, signed: Signed<'_>, nearest: &NearestPoint) {
        let mut support = nearest.support.clone();
        support.sort_by(|a, b| b.1.total_cmp(&a.1));
        loop {
            let rows: Vec<Vec<(u32, f64)>> = support.iter().map(|&(i, _)| entries(signed, i)).collect();
            match dependence(&rows, self.control.watch) {
                Ok(multipliers) => {
                    let needed = support.iter().zip(multipliers).filter(|(_, m)| !m.is_zero());
                    let mut pairs: Vec<(u32, String)> =
                        needed.map(|(&(i, _), m)| (i, m.to_string())).collect();
                    pairs.sort_unstable();
                    let (rows, multipliers) = pairs.into_iter().unzip();
                    self.take_zero(ExactCombination { rows, multipliers });
                    return;
                }
                // Shares that are next to nothing may be nothing.
                Err(Obstacle::Several | Obstacle::Sign)
                    if support.len() > 1 && support[support.len() - 1].1 < 1e-6 =>
                {
                    support.pop();
                }
                Err(obstacle) => {
                    let what = match obstacle {
                        Obstacle::Independent => {
                            "the rows that seem to combine to zero do not, to the last digit"
                        }
                        Obstacle::Several => "the rows that seem to combine to zero do so in several ways",
                        Obstacle::Sign => {
                            "the rows that seem to combine to zero would need a negative multiplier"
                        }
                        Obstacle::Stopped => return,
                    };
                    self.found.obstacle = Some(what.into());
                    return;
                }
            }
        }
    }

    /// Closes the interval of rows that can be separated.
    fn close(&mut self, signed: Signed<'_>) {
        if self.rows.bias != Bias::Free {
            let nearest = nearest_point(signed, MOST_SUPPORT, &self.control);
            self.found.rounds += nearest.steps;
            self.found.termination = nearest.termination;
            self.take_direction(&Direction::new(&nearest.point.weights, nearest.point.bias * signed.extra));
            self.take_combination(&nearest.support);
            if nearest.support.len() <= MOST_SUPPORT {
                return;
            }
        }
        self.widen_margin();
    }

    /// The hyperplane with the largest margin, by the solver that goes through rows one by one.
    fn widen_margin(&mut self) {
        let counted: Vec<f64> = self.rows.signs.iter().map(|sign| sign.abs()).collect();
        let targets: Vec<f64> =
            self.rows.signs.iter().map(|sign| if *sign < 0.0 { -1.0 } else { 1.0 }).collect();
        let total = counted.iter().sum();
        let every = counted.iter().all(|c| *c == 1.0);
        let problem = Problem {
            rows: self.rows.rows,
            targets: &targets,
            row_weights: if every { &[] } else { &counted },
            total,
            loss: Hinge,
            penalty: L2(1.0),
            bias: self.rows.bias,
        };
        let largest = max_margin(&problem, &self.control);
        self.found.rounds += largest.solution.steps;
        self.found.termination = largest.solution.termination;
        let point = &largest.solution.point;
        self.take_direction(&Direction::new(&point.weights, point.bias));
        let duals = largest.solution.duals.unwrap_or_default();
        let shares: Vec<(u32, f64)> = (0..).zip(&duals).map(|(i, u)| (i, u.abs())).collect();
        self.take_combination(&shares);
    }

    fn take_direction(&mut self, direction: &Direction) {
        let direction = &self.with_weights(direction);
        let Ok(lower) = self.rows.margin_at_least(direction) else { return };
        if lower > self.found.interval.0 {
            self.found.interval.0 = lower;
            self.found.direction = Some(direction.clone());
        }
        if lower > 0.0 {
            self.found.separable = Separable::Yes;
        }
    }

    /// A free bias alone has all rows on one side, but is no hyperplane: any that is far enough from the rows
    /// will do.
    fn with_weights(&self, direction: &Direction) -> Direction {
        let is_bias_alone = direction.bias != 0.0 && direction.weights.iter().all(|w| *w == 0.0);
        if !is_bias_alone || self.rows.bias != Bias::Free || self.rows.rows.columns() == 0 {
            return direction.clone();
        }
        let far = 2.0 * self.found.radius.high + 1.0;
        Direction { columns: Some(vec![0]), weights: vec![1.0], bias: far.copysign(direction.bias) }
    }

    fn take_combination(&mut self, shares: &[(u32, f64)]) {
        let mut shares: Vec<(u32, f64)> = shares
            .iter()
            .copied()
            .filter(|(i, share)| *share > 0.0 && self.rows.signs[*i as usize] != 0.0)
            .collect();
        shares.sort_unstable_by_key(|(i, _)| *i);
        let largest = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        let count = shares.len();
        self.take_shares(shares.iter().copied());
        // What is next to nothing may be rounding, and times a long row it is something.
        shares.retain(|(_, share)| *share > 1e-13 * largest);
        if shares.len() < count {
            self.take_shares(shares.into_iter());
        }
    }

    fn take_shares(&mut self, shares: impl Iterator<Item = (u32, f64)>) {
        let (rows, multipliers) = shares.unzip();
        let combination = Combination { rows, multipliers };
        let Ok(upper) = self.rows.margin_at_most(&combination) else { return };
        if upper < self.found.interval.1 {
            self.found.interval.1 = upper;
            self.found.combination = Some(combination);
        }
    }

    fn take_zero(&mut self, zero: ExactCombination) {
        // Whoever made it, it counts only if the checker says so.
        if self.rows.is_zero(&zero).is_ok() {
            self.found.separable = Separable::No;
            self.found.interval = (self.found.interval.0.min(0.0), 0.0);
            self.found.zero = Some(zero);
        }
    }

    /// The rows as a perceptron sees them: the bias is a coordinate of 1.
    fn through_origin(&self) -> SignedRows<'a> {
        let bias = if self.rows.bias == Bias::None { Bias::None } else { Bias::Penalised };
        SignedRows { bias, ..self.rows }
    }

    /// The forms of the margin that mistake bounds speak of.
    fn finish(mut self, termination: Termination) -> Margin {
        self.found.termination = termination;
        // Who asks to stop does not wait for what takes another pass over the rows.
        if termination == Termination::Interrupted {
            return self.found;
        }
        let through_origin = self.through_origin();
        if let Some(direction) = &self.found.direction {
            self.found.homogeneous.0 = through_origin.margin_at_least(direction).unwrap_or(f64::NEG_INFINITY);
            self.found.normalised.0 =
                through_origin.normalised_at_least(direction).unwrap_or(f64::NEG_INFINITY);
        }
        if self.found.separable == Separable::No {
            (self.found.homogeneous.1, self.found.normalised.1) = (0.0, 0.0);
        } else if let Some(combination) = &self.found.combination {
            self.found.homogeneous.1 = through_origin.margin_at_most(combination).unwrap_or(f64::INFINITY);
            self.found.normalised.1 = through_origin.normalised_at_most(combination).unwrap_or(f64::INFINITY);
        }
        self.found
    }
}

/// Most epochs before the search for the nearest point.
const EPOCHS: usize = 50;

/// Rows after which it may be given up.
const WINDOW: usize = 1 << 14;

/// Weights that have all rows on their sides, if they are found by going over the rows a few times:
/// passive-aggressive steps, in a seeded order, for as long as a twentieth of the rows are mistaken at most,
/// and the observer does not ask to stop.
fn quickly(rows: Signed<'_>, control: &Control<'_>, rounds: &mut usize) -> Option<Point> {
    let mut point = Point::zero(rows.rows.columns());
    let mut order: Vec<u32> =
        (0..rows.signs.len() as u32).filter(|&i| rows.signs[i as usize] != 0.0).collect();
    let mut random = Random::new(control.seed);
    for epoch in 1..=EPOCHS {
        random.shuffle(&mut order);
        let mut mistakes = 0;
        for (seen, &i) in order.iter().enumerate() {
            // Among very many rows it shows early that this leads nowhere.
            let leads_nowhere = || seen > 0 && mistakes * 10 > seen;
            if seen.is_multiple_of(WINDOW) && (leads_nowhere() || !control.watch.goes_on()) {
                return None;
            }
            let margin = rows.dot(i, &point);
            mistakes += usize::from(margin <= 0.0);
            if margin < 1.0 {
                let square = rows.norm_sq(i);
                if square == 0.0 {
                    return None;
                }
                rows.add_to(i, (1.0 - margin) / square, &mut point);
            }
        }
        *rounds += 1;
        if mistakes * 20 <= order.len() && order.iter().all(|&i| rows.dot(i, &point) > 0.0) {
            return Some(point);
        }
        if epoch >= 3 && mistakes * 20 > order.len() {
            return None;
        }
    }
    None
}

/// The entries of a row times its sign, the bias's coordinate as the last column.
fn entries(signed: Signed<'_>, i: u32) -> Vec<(u32, f64)> {
    let sign = signed.signs[i as usize];
    let mut entries = Vec::new();
    signed.rows.row(i as usize).for_each_nonzero(|j, x| entries.push((j, sign * x)));
    if signed.extra != 0.0 {
        entries.push((u32::MAX, sign * signed.extra));
    }
    entries
}

/// For every column a power of two that brings its largest value between 1/2 and 1; `None` if all, the bias's
/// among them, are about as large already.
fn powers_of_two(rows: &Matrix, extra: f64) -> Option<Vec<f64>> {
    let mut largest = vec![0.0f64; rows.columns()];
    for i in 0..rows.rows() {
        rows.row(i).for_each_nonzero(|j, x| largest[j as usize] = largest[j as usize].max(x.abs()));
    }
    let sizes = largest.iter().copied().chain([extra]).filter(|x| *x > 0.0);
    let (least, most) = sizes.fold((f64::INFINITY, 0.0), |(a, b), x| (x.min(a), x.max(b)));
    if most <= 16.0 * least {
        return None;
    }
    let factor =
        |x: f64| if x > 0.0 { 2f64.powi(-(x.log2().ceil().clamp(-900.0, 900.0) as i32)) } else { 1.0 };
    Some(largest.into_iter().map(factor).collect())
}

/// Two rows that are equal and stand on different sides.
fn equal_rows(rows: &Matrix, signs: &[f64]) -> Option<[u32; 2]> {
    let key = |row: Row<'_>| {
        let mut hash = FxHasher::default();
        row.for_each_nonzero(|j, x| {
            hash.write_u32(j);
            hash.write_u64(x.to_bits());
        });
        hash.finish()
    };
    let same = |a: u32, b: u32| {
        let list = |i: u32| {
            let mut entries = Vec::new();
            rows.row(i as usize).for_each_nonzero(|j, x| entries.push((j, x.to_bits())));
            entries
        };
        list(a) == list(b)
    };
    let mut seen: FxHashMap<u64, [Option<u32>; 2]> = FxHashMap::default();
    for i in (0..rows.rows() as u32).filter(|&i| signs[i as usize] != 0.0) {
        let side = usize::from(signs[i as usize] > 0.0);
        let first = seen.entry(key(rows.row(i as usize))).or_default();
        if let Some(other) = first[1 - side].filter(|&other| same(i, other)) {
            return Some([other, i]);
        }
        first[side].get_or_insert(i);
    }
    None
}
