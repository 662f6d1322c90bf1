//! From scores to probabilities.

use crate::loss::sigmoid;

/// How a model's scores become probabilities of its labels.
///
/// Probabilities do not decide: the label is the one that the scores decide for, with and without them. For
/// [`Platt`] and [`Isotonic`] it may be another than the most probable one, as when classes were weighed to
/// count otherwise than they occur.
#[derive(Clone, Debug, PartialEq)]
pub enum Calibration {
    /// The sigmoid of each score: what logistic regression means by its scores.
    Logistic,
    /// `exp(sᵢ) / Σ exp(sⱼ)`: what logistic regression of all classes jointly means by its scores.
    Softmax,
    /// Fitted sigmoids, one per output.
    Platt(Vec<Platt>),
    /// Fitted steps, one per output.
    Isotonic(Vec<Isotonic>),
}

/// `1/(1 + exp(−(a·s + b)))`. (Platt's own A and B are −a and −b.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platt {
    /// The factor of the score.
    pub a: f64,
    /// The constant.
    pub b: f64,
}

/// A function that never falls: through points, straight between them, constant outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Isotonic {
    /// Scores, strictly increasing; at least one.
    pub scores: Vec<f64>,
    /// The probability at each; never falling.
    pub values: Vec<f64>,
}

impl Platt {
    /// The probability at a score.
    pub fn probability(&self, score: f64) -> f64 {
        sigmoid(self.a * score + self.b)
    }
}

impl Isotonic {
    /// The probability at a score.
    ///
    /// ```
    /// use novikoff::model::Isotonic;
    /// let steps = Isotonic { scores: vec![-1.0, 1.0, 2.0], values: vec![0.0, 0.5, 0.5] };
    /// assert_eq!([-9.0, -1.0, 0.0, 1.5, 9.0].map(|s| steps.probability(s)), [0.0, 0.0, 0.25, 0.5, 0.5]);
    /// ```
    pub fn probability(&self, score: f64) -> f64 {
        let above = self.scores.partition_point(|s| *s <= score);
        // Plus zero: never −0.
        let value = |at: usize| self.values.get(at).copied().unwrap_or(0.5) + 0.0;
        if above == 0 {
            return value(0);
        }
        let (left, right) = (above - 1, above.min(self.scores.len() - 1));
        if left == right {
            return value(left);
        }
        // Halves, so that the distance of two huge scores is a number.
        let (from, to) = (self.scores[left] / 2.0, self.scores[right] / 2.0);
        let share = if to > from { (score / 2.0 - from) / (to - from) } else { 0.0 };
        // Rounding must not carry it past the next point.
        (value(left) + share.clamp(0.0, 1.0) * (value(right) - value(left))).min(value(right))
    }

    /// What is wrong with it, if something is.
    pub(super) fn fault(&self) -> Option<String> {
        let probable = |p: &f64| (0.0..=1.0).contains(p);
        if self.scores.len() != self.values.len() || self.scores.is_empty() {
            return Some(format!("{} scores for {} probabilities", self.scores.len(), self.values.len()));
        }
        if !self.scores.iter().all(|s| s.is_finite()) || !self.scores.is_sorted_by(|a, b| a < b) {
            return Some("its scores do not increase strictly".to_owned());
        }
        if !self.values.iter().all(probable) || !self.values.is_sorted() {
            return Some("its probabilities do not rise within 0 and 1".to_owned());
        }
        None
    }
}

impl Calibration {
    /// Its name on the command line and in files.
    pub fn name(&self) -> &'static str {
        match self {
            Calibration::Logistic => "logistic",
            Calibration::Softmax => "softmax",
            Calibration::Platt(_) => "platt",
            Calibration::Isotonic(_) => "isotonic",
        }
    }

    /// The probabilities of all labels of a row with these scores: of two labels for one score, else of one
    /// label a score. They sum to 1. Where each class is asked for alone, the answers are divided by their
    /// sum; if all are 0, every class is as probable as any other.
    ///
    /// ```
    /// use novikoff::model::{Calibration, Platt};
    /// let mut probabilities = Vec::new();
    /// Calibration::Logistic.probabilities(&[0.0], &mut probabilities);
    /// assert_eq!(probabilities, [0.5, 0.5]);
    /// Calibration::Softmax.probabilities(&[700.0, 700.0, -700.0], &mut probabilities);
    /// assert_eq!(probabilities, [0.5, 0.5, 0.0]);
    /// ```
    pub fn probabilities(&self, scores: &[f64], into: &mut Vec<f64>) {
        into.clear();
        if let ([score], false) = (scores, matches!(self, Calibration::Softmax)) {
            // Of the two, the small one is computed as it is, not as what the other leaves: then its
            // logarithm is right.
            let p = self.alone(0, *score);
            into.extend([self.other(0, *score).unwrap_or(1.0 - p), p]);
            return;
        }
        match self {
            Calibration::Softmax => {
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                into.extend(scores.iter().map(|s| (s - most).exp()));
            }
            _ => into.extend(scores.iter().enumerate().map(|(output, s)| self.alone(output, *s))),
        }
        let sum: f64 = into.iter().sum();
        let uniform = 1.0 / into.len().max(1) as f64;
        into.iter_mut().for_each(|p| *p = if sum > 0.0 { *p / sum } else { uniform });
    }

    /// The logarithms of those probabilities. They are computed as such, so that a probability too small for
    /// a number still has one; where a probability is exactly 0, as steps may have it, the logarithm is `−∞`.
    ///
    /// ```
    /// use novikoff::model::Calibration;
    /// let mut logs = Vec::new();
    /// Calibration::Softmax.log_probabilities(&[0.0, -2000.0, 0.0], &mut logs);
    /// assert_eq!(logs[1], -2000.0 - 2f64.ln());
    /// ```
    pub fn log_probabilities(&self, scores: &[f64], into: &mut Vec<f64>) {
        into.clear();
        match (self, scores) {
            (Calibration::Isotonic(_), _) => {
                self.probabilities(scores, into);
                into.iter_mut().for_each(|p| *p = p.ln());
                return;
            }
            (Calibration::Softmax, _) => into.extend(scores),
            (_, [score]) => {
                return into
                    .extend([log_sigmoid(-self.log_odds(0, *score)), log_sigmoid(self.log_odds(0, *score))]);
            }
            _ => into
                .extend(scores.iter().enumerate().map(|(output, s)| log_sigmoid(self.log_odds(output, *s)))),
        }
        let mut most = into.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            // All are impossible, so each is as probable as any other.
            into.fill(0.0);
            most = 0.0;
        }
        let rest = into.iter().map(|l| (l - most).exp()).sum::<f64>().ln();
        into.iter_mut().for_each(|l| *l = (*l - most) - rest);
    }

    /// What an output's probability is the sigmoid of, where it is one.
    fn log_odds(&self, output: usize, score: f64) -> f64 {
        match self {
            Calibration::Platt(all) => all.get(output).map_or(0.0, |Platt { a, b }| a * score + b),
            _ => score,
        }
    }

    /// The probability of an output's class, asked for alone.
    fn alone(&self, output: usize, score: f64) -> f64 {
        match self {
            Calibration::Logistic | Calibration::Softmax => sigmoid(score),
            Calibration::Platt(all) => all.get(output).map_or(0.5, |platt| platt.probability(score)),
            Calibration::Isotonic(all) => all.get(output).map_or(0.5, |steps| steps.probability(score)),
        }
    }

    /// The probability of its not being an output's class, where that has a form of its own.
    fn other(&self, output: usize, score: f64) -> Option<f64> {
        match self {
            Calibration::Logistic | Calibration::Softmax => Some(sigmoid(-score)),
            Calibration::Platt(all) => all.get(output).map(|Platt { a, b }| sigmoid(-(a * score + b))),
            Calibration::Isotonic(_) => None,
        }
    }
}

/// `ln σ(s)`.
fn log_sigmoid(s: f64) -> f64 {
    s.min(0.0) - (-s.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scores of all sizes, the ends of the range among them.
    fn score() -> impl Strategy<Value = f64> {
        prop_oneof![-50.0..50.0f64, Just(0.0), Just(1e300), Just(-1e300), Just(f64::MAX), Just(f64::MIN)]
    }

    fn steps(points: &[(i8, u8)]) -> Isotonic {
        let mut scores: Vec<f64> = points.iter().map(|(s, _)| f64::from(*s)).collect();
        let mut values: Vec<f64> = points.iter().map(|(_, v)| f64::from(*v) / 255.0).collect();
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        values.sort_by(f64::total_cmp);
        values.truncate(scores.len());
        Isotonic { scores, values }
    }

    proptest! {
        #[test]
        fn probabilities_are_probabilities_whatever_the_scores(
            scores in prop::collection::vec(score(), 1..5),
            a in -3.0..3.0f64,
            points in prop::collection::vec(any::<(i8, u8)>(), 1..9),
        ) {
            let outputs = scores.len();
            let isotonic = steps(&points);
            prop_assert_eq!(isotonic.fault(), None);
            for calibration in [
                Calibration::Logistic,
                Calibration::Softmax,
                Calibration::Platt(vec![Platt { a, b: -a }; outputs]),
                Calibration::Isotonic(vec![isotonic; outputs]),
            ] {
                if outputs == 1 && calibration == Calibration::Softmax {
                    continue;
                }
                let mut p = Vec::new();
                calibration.probabilities(&scores, &mut p);
                prop_assert_eq!(p.len(), if outputs == 1 { 2 } else { outputs });
                prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{calibration:?} {p:?}");
                prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{calibration:?} {p:?}");
            }
        }

        #[test]
        fn logarithms_of_probabilities_are_their_logarithms(
            scores in prop::collection::vec(-30.0..30.0f64, 1..5),
            a in -3.0..3.0f64,
            points in prop::collection::vec(any::<(i8, u8)>(), 1..9),
        ) {
            let outputs = scores.len();
            for calibration in [
                Calibration::Logistic,
                Calibration::Softmax,
                Calibration::Platt(vec![Platt { a, b: -a }; outputs]),
                Calibration::Isotonic(vec![steps(&points); outputs]),
            ] {
                if outputs == 1 && calibration == Calibration::Softmax {
                    continue;
                }
                let (mut p, mut logs) = (Vec::new(), Vec::new());
                calibration.probabilities(&scores, &mut p);
                calibration.log_probabilities(&scores, &mut logs);
                prop_assert_eq!(p.len(), logs.len());
                for (p, log) in p.iter().zip(&logs) {
                    prop_assert!(
                        p.ln() == *log || (p.ln() - log).abs() < 1e-12 * (1.0 + log.abs()),
                        "{calibration:?} {p} {log}"
                    );
                }
            }
        }

        /// Probabilities that are no numbers any more still have their logarithms.
        #[test]
        fn logarithms_of_probabilities_do_not_run_out_of_numbers(s in 1e3..1e9f64) {
            let mut logs = Vec::new();
            for calibration in [Calibration::Logistic, Calibration::Platt(vec![Platt { a: 1.0, b: 0.0 }])] {
                calibration.log_probabilities(&[s], &mut logs);
                prop_assert_eq!(&logs, &[-s, 0.0]);
            }
            Calibration::Softmax.log_probabilities(&[0.0, s, 2.0 * s], &mut logs);
            prop_assert_eq!(&logs, &[-2.0 * s, -s, 0.0]);
            Calibration::Logistic.log_probabilities(&[-s, -2.0 * s, -s], &mut logs);
            prop_assert!((logs[1] + s + 2f64.ln()).abs() < 1e-9 * s, "{logs:?}");
        }

        /// Two outputs of a joint model say what one output of their difference says.
        #[test]
        fn softmax_of_two_is_the_sigmoid_of_the_difference(s in -30.0..30.0f64, t in -30.0..30.0f64) {
            let (mut two, mut one) = (Vec::new(), Vec::new());
            Calibration::Softmax.probabilities(&[s, t], &mut two);
            Calibration::Logistic.probabilities(&[t - s], &mut one);
            for (a, b) in two.iter().zip(&one) {
                prop_assert!((a - b).abs() <= 1e-12 * a.abs());
            }
        }

        #[test]
        fn steps_never_fall_and_go_through_their_points(
            points in prop::collection::vec(any::<(i8, u8)>(), 1..9),
            s in -200.0..200.0f64,
            t in -200.0..200.0f64,
        ) {
            let steps = steps(&points);
            prop_assert!(steps.probability(s.min(t)) <= steps.probability(s.max(t)));
            for (s, v) in steps.scores.iter().zip(&steps.values) {
                prop_assert_eq!(steps.probability(*s), *v);
            }
        }
    }

    #[test]
    fn classes_that_all_have_probability_zero_are_equally_probable() {
        let never = Isotonic { scores: vec![0.0], values: vec![0.0] };
        let mut p = Vec::new();
        Calibration::Isotonic(vec![never; 4]).probabilities(&[1.0, 2.0, 3.0, 4.0], &mut p);
        assert_eq!(p, [0.25; 4]);
    }

    #[test]
    fn small_probabilities_keep_their_digits() {
        let mut p = Vec::new();
        Calibration::Logistic.probabilities(&[50.0], &mut p);
        assert!((p[0].ln() + 50.0).abs() < 1e-9, "{}", p[0]);
    }
}
