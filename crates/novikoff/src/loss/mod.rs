//! Losses `ℓ(y, s)` of a target and a score, one file a loss.
//!
//! A loss is convex in the score and nowhere negative. For classes the target `y` is +1 or −1 and only the
//! margin `y·s` counts; for regression it is a number. The slope `u = ∂ℓ/∂s` of a row is its *dual*:
//! `ℓ(y, s) + ℓ*(y, u) ≥ s·u` for every dual, with equality where `u` is the slope at `s` (Fenchel and
//! Young). Every duality gap is made of this inequality.
//!
//! [`Loss`] is open: a loss that is defined elsewhere works with every solver whose needs it meets
//! ([`SmoothLoss`] for Newton's method, [`ProximalLoss`] for dual coordinate descent), and its duality gap is
//! computed as for any other. Certificates know the losses of [`LossName`] only.

mod absolute;
mod contradiction;
mod exponential;
mod hinge;
mod hinge_at_zero;
mod huber;
mod logistic;
mod quantile;
mod squared;
mod squared_hinge;

pub use absolute::Absolute;
pub(crate) use contradiction::contradiction;
pub use exponential::Exponential;
pub use hinge::Hinge;
pub use hinge_at_zero::HingeAtZero;
pub use huber::Huber;
pub use logistic::{Logistic, sigmoid};
pub use quantile::Quantile;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

use crate::error;
use serde::{Deserialize, Serialize};

/// A convex loss that is nowhere negative.
///
/// Four functions define it, and [`Loss::growth`] bounds what rounded scores do to it. The others have
/// defaults that are safe for any loss; a better answer makes duality gaps cheaper or tighter, never wrong.
pub trait Loss: Copy + Send + Sync + 'static {
    /// Its name, for messages.
    fn name(self) -> &'static str;

    /// `ℓ(y, s)`.
    fn value(self, y: f64, s: f64) -> f64;

    /// A slope of the loss in `s`; the only one where there is only one.
    fn slope(self, y: f64, s: f64) -> f64;

    /// `ℓ*(y, u) = sup over s of s·u − ℓ(y, s)`; infinite outside its domain.
    fn conjugate(self, y: f64, u: f64) -> f64;

    /// The dual nearest to `u` at which the conjugate is finite.
    fn nearest_dual(self, y: f64, u: f64) -> f64;

    /// How fast it grows with the score.
    fn growth(self) -> Growth;

    /// Refuses parameters that make no loss of it, such as a width below zero.
    fn check(self) -> error::Result<()> {
        Ok(())
    }

    /// Which of the library's losses it is, which certificates name; `None` for any other.
    fn library_loss(self) -> Option<LossName> {
        None
    }

    /// What targets are. For [`Targets::Signs`] the values at `y = 1` are those of all rows.
    fn targets(self) -> Targets {
        Targets::Numbers
    }

    /// Whether it tends to zero for ever larger margins without reaching it. On separable rows the mean of
    /// such a loss has no minimum.
    fn vanishes_at_infinity(self) -> bool {
        false
    }

    /// The relative rounding error of [`Loss::value`]. Where it is larger than this default, which covers a
    /// few operations and a function of the standard library, [`Loss::precise_value`] must stay within the
    /// default.
    fn rounding(self) -> f64 {
        ROUNDING
    }

    /// [`Loss::value`] with a relative error of at most `16·2⁻⁵³`.
    fn precise_value(self, y: f64, s: f64) -> f64 {
        self.value(y, s)
    }

    /// [`Loss::conjugate`] with an error of at most `16·2⁻⁵³` of [`Loss::conjugate_size`].
    fn precise_conjugate(self, y: f64, u: f64) -> f64 {
        self.conjugate(y, u)
    }

    /// The sum of the absolute values of the terms that [`Loss::conjugate`] adds up: what its rounding error
    /// is relative to. The default holds for a conjugate computed as `u·y`, or `u` times a constant of at
    /// most 1, plus terms of one sign; where larger terms cancel, give their sum.
    fn conjugate_size(self, y: f64, u: f64) -> f64 {
        2.0 * ((u * y).abs() + u.abs()) + self.conjugate(y, u).abs()
    }

    /// The largest [`Loss::conjugate_size`] over all duals of the domain, where that is known: it saves a
    /// pass over the rows.
    fn largest_conjugate_size(self, y: f64) -> Option<f64> {
        let _ = y;
        None
    }

    /// Value, slope and curvature at a score; `None` for a loss with kinks. With it, a point close to the
    /// minimum gets a much smaller gap.
    fn second_order(self, y: f64, s: f64) -> Option<Local> {
        let _ = (y, s);
        None
    }
}

/// The relative error of a few operations and a function of the standard library: `16·2⁻⁵³`.
pub(crate) const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// How fast a loss grows with the score: a bound on what an error of the scores does to the mean loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// No slope is steeper than this.
    Lipschitz(f64),
    /// No curvature is larger than this `h`, so that `|ℓ'| ≤ √(2hℓ)`, since no loss is negative.
    Smooth(f64),
    /// No slope is steeper than the loss itself: `|ℓ'| ≤ ℓ`.
    Exponential,
}

impl Growth {
    /// What a mean loss changes by at most where scores change by up to `off`; `shares` is the sum of the
    /// factors of the rows' losses in the mean.
    pub(crate) fn change_of_mean(self, mean: f64, off: f64, shares: f64) -> f64 {
        match self {
            Growth::Exponential => mean * off.exp_m1(),
            // The mean of √ℓ is at most the root of the mean.
            Growth::Smooth(h) => {
                (2.0 * h).sqrt() * off * (shares * mean).sqrt() + (h / 2.0) * shares * off * off
            }
            Growth::Lipschitz(slope) => slope * shares * off,
        }
    }
}

/// What the targets of a loss are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// +1 or −1, and the loss is a function of the margin `y·s`.
    Signs,
    /// Numbers that the scores are to meet: the loss is zero at `s = y`.
    Numbers,
}

/// A loss with a slope everywhere, and a curvature that Newton's method can use.
pub trait SmoothLoss: Loss {
    /// The second derivative in `s` (where there is a left and a right one, one of the two).
    fn curvature(self, y: f64, s: f64) -> f64;

    /// Value, slope and curvature at once.
    #[inline(always)]
    fn local(self, y: f64, s: f64) -> Local {
        Local { value: self.value(y, s), slope: self.slope(y, s), curvature: self.curvature(y, s) }
    }

    /// The largest curvature anywhere; `None` if there is none. The dual function is as strongly concave as
    /// its inverse, which safe screening needs.
    fn largest_curvature(self) -> Option<f64> {
        match self.growth() {
            Growth::Smooth(h) => Some(h),
            Growth::Lipschitz(_) | Growth::Exponential => None,
        }
    }

    /// Whether the curvature is the same at every target and score.
    fn has_constant_curvature(self) -> bool {
        false
    }

    /// A loss of the same kind that is also curved for scores up to this distance from their targets.
    /// Newton's method minimises such a loss first, where most rows have no curvature to begin with. `None`
    /// where this loss is one.
    fn curved_up_to(self, distance: f64) -> Option<Self> {
        let _ = distance;
        None
    }
}

/// A loss whose Moreau envelope `min over s of ℓ(y, s) + (s − z)²/(2·width)` can be computed. The envelope is
/// smooth, and its slope at `z` is the dual that one step of a proximal method arrives at.
pub trait ProximalLoss: Loss {
    /// Value, slope and curvature of the envelope at `z`.
    fn envelope(self, y: f64, z: f64, width: f64) -> Local;
}

/// A loss of the residual `s − y` that is linear on either side of zero: its minimum is a linear program.
pub trait PiecewiseLinear: ProximalLoss {
    /// The slope below the target, which is negative, and the one above it, which is positive.
    fn slopes(self) -> (f64, f64);
}

/// A function of a score around one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Local {
    /// Its value.
    pub value: f64,
    /// Its slope.
    pub slope: f64,
    /// Its curvature.
    pub curvature: f64,
}

/// Runs `$body` with `$loss` bound to the loss of this name, a type: loops over rows are compiled for each.
macro_rules! with_loss {
    ($name:expr, $loss:ident => $body:expr) => {
        match $name {
            $crate::loss::LossName::Hinge => {
                let $loss = $crate::loss::Hinge;
                $body
            }
            $crate::loss::LossName::SquaredHinge => {
                let $loss = $crate::loss::SquaredHinge;
                $body
            }
            $crate::loss::LossName::Logistic => {
                let $loss = $crate::loss::Logistic;
                $body
            }
            $crate::loss::LossName::Exponential => {
                let $loss = $crate::loss::Exponential;
                $body
            }
            $crate::loss::LossName::Squared => {
                let $loss = $crate::loss::Squared;
                $body
            }
            $crate::loss::LossName::Absolute => {
                let $loss = $crate::loss::Absolute;
                $body
            }
            $crate::loss::LossName::Huber($loss) => $body,
            $crate::loss::LossName::Quantile($loss) => $body,
            $crate::loss::LossName::HingeAtZero => {
                let $loss = $crate::loss::HingeAtZero;
                $body
            }
        }
    };
}
pub(crate) use with_loss;

/// The losses that certificates and model files know, by name and parameter.
///
/// In files a loss is its name, such as `"hinge"`, or `{"huber": {"width": 1.5}}` with its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// max(0, 1 − y·s), of the support vector machine.
    Hinge,
    /// max(0, 1 − y·s)².
    SquaredHinge,
    /// log(1 + exp(−y·s)).
    Logistic,
    /// exp(−y·s).
    Exponential,
    /// (s − y)², for numbers: regression.
    Squared,
    /// |s − y|, for numbers: regression.
    Absolute,
    /// (s − y)² up to a width, linear beyond it, for numbers: regression that outliers do not pull far.
    Huber(Huber),
    /// q·(y − s) or (1 − q)·(s − y), for numbers: regression of a quantile.
    Quantile(Quantile),
    /// max(0, −y·s), of the perceptron.
    HingeAtZero,
}

impl LossName {
    /// Every loss there is, with its default parameter.
    pub const ALL: [LossName; 9] = [
        LossName::Hinge,
        LossName::SquaredHinge,
        LossName::Logistic,
        LossName::Exponential,
        LossName::Squared,
        LossName::Absolute,
        LossName::Huber(Huber { width: 1.0 }),
        LossName::Quantile(Quantile { level: 0.5 }),
        LossName::HingeAtZero,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            LossName::Hinge => "hinge",
            LossName::SquaredHinge => "squared-hinge",
            LossName::Logistic => "logistic",
            LossName::Exponential => "exponential",
            LossName::Squared => "squared",
            LossName::Absolute => "absolute",
            LossName::Huber(_) => "huber",
            LossName::Quantile(_) => "quantile",
            LossName::HingeAtZero => "hinge-at-zero",
        }
    }

    /// Its parameter, if it has one, with the name of the setting.
    pub fn parameter(self) -> Option<(&'static str, f64)> {
        match self {
            LossName::Huber(loss) => Some(("huber_width", loss.width)),
            LossName::Quantile(loss) => Some(("quantile", loss.level)),
            _ => None,
        }
    }

    /// Its name with its parameter, in words.
    ///
    /// ```
    /// use novikoff::loss::{LossName, Quantile};
    /// assert_eq!(LossName::Quantile(Quantile { level: 0.9 }).describe(), "quantile (level 0.9)");
    /// ```
    pub fn describe(self) -> String {
        match self {
            LossName::Huber(loss) => format!("huber (width {})", loss.width),
            LossName::Quantile(loss) => format!("quantile (level {})", loss.level),
            _ => self.name().to_owned(),
        }
    }

    /// The same loss of scores and targets that are measured in a unit of so much, but for a factor.
    pub(crate) fn in_unit(self, unit: f64) -> Self {
        match self {
            LossName::Huber(loss) => LossName::Huber(Huber { width: loss.width / unit }),
            other => other,
        }
    }

    /// Whether its targets are numbers, not classes.
    pub fn is_of_numbers(self) -> bool {
        matches!(self, LossName::Squared | LossName::Absolute | LossName::Huber(_) | LossName::Quantile(_))
    }

    /// Refuses a parameter that makes no loss of it.
    pub fn check(self) -> error::Result<()> {
        with_loss!(self, loss => loss.check())
    }

    /// `ℓ(y, s)` of the loss with this name, for those who draw it: solvers know the loss as a type.
    pub fn value(self, y: f64, s: f64) -> f64 {
        with_loss!(self, loss => loss.value(y, s))
    }

    /// The factor at which it is at least the zero-one loss everywhere (1/log 2 for the logistic loss: bits
    /// instead of nats); `None` if no factor will do.
    pub fn dominating_factor(self) -> Option<f64> {
        match self {
            LossName::Logistic => Some(std::f64::consts::LOG2_E),
            LossName::HingeAtZero => None,
            // A wrong score is 1 or more from its target.
            LossName::Huber(loss) => Some(1.0 / loss.value(1.0, 0.0)),
            LossName::Quantile(loss) => Some(1.0 / loss.value(1.0, 0.0).min(loss.value(-1.0, 0.0))),
            _ => Some(1.0),
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for LossName {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            LossName::Hinge => "max(0, 1 − y·s), of the support vector machine",
            LossName::SquaredHinge => "max(0, 1 − y·s)²",
            LossName::Logistic => "log(1 + exp(−y·s))",
            LossName::Exponential => "exp(−y·s)",
            LossName::Squared => "(s − y)², for numbers: regression",
            LossName::Absolute => "|s − y|, for numbers: regression",
            LossName::Huber(_) => "(s − y)² up to a width, linear beyond it, for numbers: robust regression",
            LossName::Quantile(_) => "q·(y − s) or (1 − q)·(s − y), for numbers: regression of a quantile",
            LossName::HingeAtZero => "max(0, −y·s), of the perceptron",
        };
        Some(clap::builder::PossibleValue::new(self.name()).help(help))
    }
}

/// The loss that everybody means and nobody can minimise: 1 where a label is predicted wrongly.
///
/// ```
/// use novikoff::loss::zero_one;
/// assert_eq!((zero_one(1.0, 0.0), zero_one(-1.0, 0.0), zero_one(-1.0, -3.0)), (0.0, 1.0, 0.0));
/// ```
pub fn zero_one(y: f64, s: f64) -> f64 {
    f64::from(u8::from((s >= 0.0) != (y > 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `sup over s of s·u − ℓ(y, s)` found by looking: golden-section search of a concave function.
    fn conjugate_by_search<L: Loss>(loss: L, y: f64, u: f64) -> f64 {
        let f = |s: f64| s * u - loss.value(y, s);
        let (mut a, mut b) = (-60.0, 60.0);
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..120 {
            let (left, right) = (b - golden * (b - a), a + golden * (b - a));
            if f(left) < f(right) { a = left } else { b = right }
        }
        f((a + b) / 2.0)
    }

    fn envelope_by_search<L: Loss>(loss: L, y: f64, z: f64, width: f64) -> f64 {
        let f = |s: f64| loss.value(y, s) + (s - z) * (s - z) / (2.0 * width);
        let (mut a, mut b) = (-80.0, 80.0);
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..140 {
            let (left, right) = (b - golden * (b - a), a + golden * (b - a));
            if f(left) > f(right) { a = left } else { b = right }
        }
        f((a + b) / 2.0)
    }

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
    }

    fn holds<L: Loss>(loss: L, y: f64, s: f64, t: f64) -> Result<(), TestCaseError> {
        let u = loss.slope(y, s);
        // Convex: the tangent lies below.
        prop_assert!(
            loss.value(y, t) >= loss.value(y, s) + u * (t - s) - 1e-9 * (1.0 + loss.value(y, t)),
            "tangent"
        );
        // Fenchel and Young: an inequality for every dual, an equality for the slope.
        prop_assert!(
            close(loss.value(y, s) + loss.conjugate(y, u), s * u, 1e-9),
            "equality at the slope: {u}"
        );
        let other = loss.nearest_dual(y, t);
        prop_assert!(loss.conjugate(y, other).is_finite());
        prop_assert!(
            loss.value(y, s) + loss.conjugate(y, other) >= s * other - 1e-9 * (1.0 + (s * other).abs()),
            "inequality"
        );
        // A dual of the domain is left alone.
        prop_assert_eq!(loss.nearest_dual(y, u), u);
        // The slope against finite differences, away from kinks: where both sides agree.
        let h = 1e-6;
        let (right, left) =
            ((loss.value(y, s + h) - loss.value(y, s)) / h, (loss.value(y, s) - loss.value(y, s - h)) / h);
        if (right - left).abs() < 1e-4 {
            prop_assert!(close(u, (right + left) / 2.0, 1e-4), "slope {u} against {left} and {right}");
        }
        // The conjugate is what it says.
        let name = loss.library_loss().unwrap();
        if name != LossName::Exponential
            && u.abs() > 1e-3
            && (name != LossName::Logistic || u.abs() < 1.0 - 1e-6)
        {
            prop_assert!(
                close(loss.conjugate(y, u), conjugate_by_search(loss, y, u), 1e-6),
                "conjugate at {u}"
            );
        }
        if y.abs() == 1.0
            && let Some(factor) = name.dominating_factor()
        {
            prop_assert!(factor * loss.value(y, s) >= zero_one(y, s) - 1e-12, "domination");
        }
        Ok(())
    }

    fn smooth<L: SmoothLoss>(loss: L, y: f64, s: f64) -> Result<(), TestCaseError> {
        let h = 1e-5;
        let (right, left) =
            ((loss.slope(y, s + h) - loss.slope(y, s)) / h, (loss.slope(y, s) - loss.slope(y, s - h)) / h);
        let curvature = loss.curvature(y, s);
        prop_assert!(curvature >= 0.0);
        prop_assert!(
            close(curvature, right, 1e-3) || close(curvature, left, 1e-3),
            "{curvature} against {left} and {right}"
        );
        let all = loss.local(y, s);
        prop_assert!(close(all.value, loss.value(y, s), 1e-14) && close(all.slope, loss.slope(y, s), 1e-14));
        prop_assert!(close(all.curvature, curvature, 1e-13));
        Ok(())
    }

    fn proximal<L: ProximalLoss>(loss: L, y: f64, z: f64, width: f64) -> Result<(), TestCaseError> {
        let found = loss.envelope(y, z, width);
        prop_assert!(close(found.value, envelope_by_search(loss, y, z, width), 1e-7), "value {found:?}");
        // The envelope's slope is a slope of the loss at the point that the minimum is taken at.
        let s = z - width * found.slope;
        prop_assert!(close(
            loss.value(y, s) + loss.conjugate(y, loss.nearest_dual(y, found.slope)),
            s * found.slope,
            1e-8
        ));
        prop_assert!(close(found.slope, loss.nearest_dual(y, found.slope), 1e-12));
        let h = 1e-5 * width.min(1.0);
        let step = |h: f64| (loss.envelope(y, z + h, width).slope - found.slope) / h;
        let (right, left) = (step(h), step(-h));
        prop_assert!(
            close(found.curvature, right, 1e-3) || close(found.curvature, left, 1e-3),
            "{found:?}: {left} {right}"
        );
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn losses_are_what_they_say(positive in any::<bool>(), s in -8.0..8.0f64, t in -8.0..8.0f64,
            target in -5.0..5.0f64, width in 0.01..9.0f64, level in 0.01..0.99f64) {
            let y = if positive { 1.0 } else { -1.0 };
            holds(Hinge, y, s, t)?;
            holds(SquaredHinge, y, s, t)?;
            holds(Logistic, y, s, t)?;
            holds(Exponential, y, s, t)?;
            holds(HingeAtZero, y, s, t)?;
            for y in [y, target] {
                holds(Squared, y, s, t)?;
                holds(Absolute, y, s, t)?;
                holds(Huber { width }, y, s, t)?;
                holds(Quantile { level }, y, s, t)?;
            }
        }

        #[test]
        fn curvatures_are_slopes_of_slopes(positive in any::<bool>(), s in -8.0..8.0f64,
            target in -5.0..5.0f64, width in 0.01..9.0f64) {
            let y = if positive { 1.0 } else { -1.0 };
            smooth(SquaredHinge, y, s)?;
            smooth(Logistic, y, s)?;
            smooth(Exponential, y, s)?;
            smooth(Squared, target, s)?;
            smooth(Huber { width }, target, s)?;
            // Wider ones are curved where they say.
            let wider = Huber { width }.curved_up_to((s - target).abs()).unwrap_or(Huber { width });
            prop_assert!(wider.curvature(target, s) == 2.0);
        }

        #[test]
        fn envelopes_are_minima(positive in any::<bool>(), z in -8.0..8.0f64, target in -5.0..5.0f64,
            width in 0.01..20.0f64, huber_width in 0.01..9.0f64, level in 0.01..0.99f64) {
            let y = if positive { 1.0 } else { -1.0 };
            proximal(Hinge, y, z, width)?;
            proximal(SquaredHinge, y, z, width)?;
            proximal(Logistic, y, z, width)?;
            proximal(HingeAtZero, y, z, width)?;
            proximal(Absolute, target, z, width)?;
            proximal(Squared, target, z, width)?;
            proximal(Huber { width: huber_width }, target, z, width)?;
            proximal(Quantile { level }, target, z, width)?;
        }
    }

    #[test]
    fn far_out_nothing_overflows_but_what_must() {
        for y in [-1.0, 1.0] {
            for s in [-1e300, -800.0, 0.0, 800.0, 1e300] {
                let l = Logistic.local(y, s);
                assert!(
                    l.value.is_finite() && l.slope.abs() <= 1.0 && l.curvature.is_finite(),
                    "{y} {s} {l:?}"
                );
                assert!(Logistic.envelope(y, s, 3.0).value.is_finite());
                assert!(Hinge.envelope(y, s, 1e-9).slope.abs() <= 1.0);
            }
        }
        assert_eq!(Logistic.value(1.0, -800.0), 800.0);
        assert_eq!(Logistic.conjugate(1.0, 0.0), 0.0);
        assert_eq!(Logistic.conjugate(1.0, -1.0), 0.0);
        assert_eq!(Logistic.conjugate(1.0, 0.1), f64::INFINITY);
    }
}
