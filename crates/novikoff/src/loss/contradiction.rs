//! Whether a loss from outside is what it says: gaps are computed from its conjugate, and would prove nothing
//! if that is another function's.

use super::{Growth, Loss};

/// What rounding may be off by here, relatively.
const SLACK: f64 = 1e-9;

/// What a loss says of itself that is not so, at some targets with scores: its values and slopes against the
/// inequality of Fenchel and Young, `ℓ(y, t) + ℓ*(y, u) ≥ t·u`, and against its growth. `None` is no proof
/// that it is a loss: only some scores and duals are looked at.
pub(crate) fn contradiction<L: Loss>(loss: L, samples: &[(f64, f64)]) -> Option<String> {
    let scores: Vec<f64> =
        samples.iter().map(|sample| sample.1).chain([0.0, 1.0, -1.0, 10.0, -10.0]).collect();
    samples.iter().find_map(|&(y, s)| contradiction_at(loss, y, s, &scores))
}

fn contradiction_at<L: Loss>(loss: L, y: f64, s: f64, scores: &[f64]) -> Option<String> {
    let (name, slack) = (loss.name(), SLACK.max(4.0 * loss.rounding()));
    let (value, slope) = (loss.value(y, s), loss.slope(y, s));
    let at = format!("the loss {name} contradicts itself at the target {y} and the score {s}");
    if value.is_nan() || value < 0.0 {
        return Some(format!("{at}: its value is {value}, not a number from 0"));
    }
    if let Some(known) = loss.library_loss().map(|known| known.value(y, s))
        && (known - value).abs() > slack * (1.0 + known.abs())
    {
        return Some(format!("{at}: its value is {value}, and that of the loss it says to be is {known}"));
    }
    let steepest = match loss.growth() {
        Growth::Lipschitz(most) => most,
        Growth::Smooth(most) => (2.0 * most * value).sqrt(),
        Growth::Exponential => value,
    };
    if slope.is_nan() || slope.abs() > steepest * (1.0 + 1e-6) + slack {
        return Some(format!("{at}: its slope is {slope}, and its growth allows {steepest}"));
    }
    for dual in [slope, slope / 2.0, -slope, 1.0, -1.0].map(|u| loss.nearest_dual(y, u)) {
        let conjugate = loss.conjugate(y, dual);
        if !conjugate.is_finite() {
            let what = format!("the dual {dual} is in its domain, and the conjugate is {conjugate}");
            return Some(format!("{at}: {what}"));
        }
        for &t in scores.iter().chain([&s, &y]) {
            let (value, product) = (loss.value(y, t), t * dual);
            let size = value.abs() + conjugate.abs() + product.abs();
            if size.is_finite() && value + conjugate < product - slack * (1.0 + size) {
                let least = product - value;
                return Some(format!(
                    "{at}: its conjugate at the dual {dual} is {conjugate}, and by its value at {t} {least} at \
                     least"
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{Absolute, Huber, Logistic, LossName, Quantile, Squared, with_loss};
    use super::*;
    use proptest::prelude::*;

    /// A loss whose conjugate, growth, name or domain is another one's. (Another one's slopes are duals, too:
    /// they prove less, and nothing wrong.)
    #[derive(Clone, Copy)]
    enum Liar {
        Conjugate,
        Growth,
        Name,
        Domain,
    }

    impl Loss for Liar {
        fn name(self) -> &'static str {
            "liar"
        }
        fn value(self, y: f64, s: f64) -> f64 {
            Squared.value(y, s)
        }
        fn slope(self, y: f64, s: f64) -> f64 {
            Squared.slope(y, s)
        }
        fn conjugate(self, y: f64, u: f64) -> f64 {
            match self {
                Liar::Conjugate => Squared.conjugate(y, u) - 1.0,
                Liar::Domain => Absolute.conjugate(y, u),
                _ => Squared.conjugate(y, u),
            }
        }
        fn nearest_dual(self, _: f64, u: f64) -> f64 {
            u
        }
        fn growth(self) -> Growth {
            if let Liar::Growth = self { Growth::Lipschitz(0.1) } else { Growth::Smooth(2.0) }
        }
        fn library_loss(self) -> Option<LossName> {
            if let Liar::Name = self { Some(LossName::Absolute) } else { None }
        }
    }

    proptest! {
        #[test]
        fn the_library_s_losses_do_not_contradict_themselves(
            samples in prop::collection::vec((-5.0..5.0f64, -8.0..8.0f64), 1..9), parameter in 0.01..0.99f64,
        ) {
            for loss in LossName::ALL {
                let loss = match loss {
                    LossName::Huber(_) => LossName::Huber(Huber { width: parameter }),
                    LossName::Quantile(_) => LossName::Quantile(Quantile { level: parameter }),
                    other => other,
                };
                let targets = |y: f64| if loss.is_of_numbers() { y } else { y.signum() };
                let samples: Vec<_> = samples.iter().map(|(y, s)| (targets(*y), *s)).collect();
                prop_assert_eq!(with_loss!(loss, loss => contradiction(loss, &samples)), None);
            }
        }
    }

    #[test]
    fn a_confused_loss_is_found_out() {
        let samples = [(1.0, 2.5), (-3.0, 0.5)];
        for liar in [Liar::Conjugate, Liar::Growth, Liar::Name, Liar::Domain] {
            assert!(contradiction(liar, &samples).is_some());
        }
        assert_eq!(contradiction(Logistic, &[(1.0, 700.0), (-1.0, 700.0)]), None);
    }
}
