//! Data sets, losses, penalties, solvers and settings that are not what they say: an error, never a panic,
//! and never a model that is said to be the best.

use crate::with::With;
use novikoff::certificate::Certificate;
use novikoff::control::{Termination, Unwatched};
use novikoff::data::{Labels, Scale};
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::features::Schema;
use novikoff::kernel::Kernel;
use novikoff::loss::{Growth, Hinge, Loss, Squared, SquaredHinge};
use novikoff::penalty::{Bias, ElasticNet, L2, Penalty};
use novikoff::risk::{Gap, Point, Problem};
use novikoff::solver::{
    Certified, Control, DualCoordinateDescent, GradientDescent, LeastSquares as Direct, Recorder, Schedule,
    Solution, Solver, StochasticGradient, WarmStart,
};
use novikoff::train::{Learner, LearnerName, Risk, Strength, train};
use novikoff::{
    Boosting, Dataset, EmpiricalRisk, Error, HuberRegression, LeastSquares, LinearSvm, LogisticRegression,
    MultilayerPerceptron, Perceptron, QuantileRegression,
};

/// Eight rows of two columns with labels that are no function of them.
fn rows() -> Dataset<'static> {
    let values: Vec<f64> = (0..16).map(|i| f64::from(i * 7 % 11) - 5.0).collect();
    let labels: Vec<i32> = (0..8).map(|i| i * i % 5 % 2).collect();
    Dataset::from_dense(values, 2).unwrap().with_labels(&labels).unwrap()
}

fn numbers() -> Dataset<'static> {
    let data = rows();
    let targets: Vec<f64> = (0..8).map(|i| f64::from(i * 3 % 7)).collect();
    data.with_targets(&targets).unwrap()
}

fn every_learner() -> impl Iterator<Item = Learner> {
    let online = LearnerName::ONLINE.into_iter();
    let others = [LearnerName::Bayes, LearnerName::Network];
    online.chain(LearnerName::BATCH).chain(LearnerName::REGRESSION).chain(others).map(LearnerName::learner)
}

fn says(error: &Error, part: &str) {
    assert!(error.what().contains(part), "{error}");
}

#[test]
fn row_weights_whose_sum_is_no_number_are_refused() {
    let heavy = |data: Dataset<'static>| data.with_row_weights(&[1e308; 8]).unwrap();
    for learner in every_learner() {
        let data = heavy(if learner.predicts_numbers() { numbers() } else { rows() });
        says(&train(&data, None, &learner, &mut Unwatched).unwrap_err(), "add up to more");
    }
    let model = LeastSquares::new().fit(&numbers()).unwrap().model;
    says(&evaluate(&model, &heavy(numbers())).unwrap_err(), "add up to more");
    // Nor may class weights make them so.
    let weights = novikoff::train::ClassWeight::Given(vec![("1".into(), 1e300)]);
    let data = rows().with_row_weights(&[1e10; 8]).unwrap();
    says(&LinearSvm::new().class_weight(weights).fit(&data).unwrap_err(), "add up to more");
}

#[test]
fn ranks_do_not_depend_on_the_unit_of_weights() {
    let model = LogisticRegression::new().fit(&rows()).unwrap().model;
    let weights: Vec<f64> = (1..9).map(f64::from).collect();
    let auc = |unit: f64| {
        let weights: Vec<f64> = weights.iter().map(|weight| weight * unit).collect();
        match evaluate(&model, &rows().with_row_weights(&weights).unwrap()).unwrap() {
            Evaluation::Classes(measured) => measured.auc.unwrap(),
            Evaluation::Numbers(_) => unreachable!(),
        }
    };
    for unit in [1e-200, 1e-300, 1e200, 1e300] {
        assert!((auc(unit) - auc(1.0)).abs() < 1e-12, "{unit}");
    }
}

/// The squared loss with a conjugate that is too small.
#[derive(Clone, Copy, Debug)]
struct LyingLoss;

impl Loss for LyingLoss {
    fn name(self) -> &'static str {
        "lying"
    }
    fn value(self, y: f64, s: f64) -> f64 {
        Squared.value(y, s)
    }
    fn slope(self, y: f64, s: f64) -> f64 {
        Squared.slope(y, s)
    }
    fn conjugate(self, y: f64, u: f64) -> f64 {
        Squared.conjugate(y, u) - 100.0
    }
    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        Squared.nearest_dual(y, u)
    }
    fn growth(self) -> Growth {
        Growth::Smooth(2.0)
    }
}

#[test]
fn a_loss_or_a_penalty_that_is_not_what_it_says_is_refused() {
    let gradient = GradientDescent::default();
    let fit = EmpiricalRisk::new(LyingLoss, L2(0.1), gradient).fit(&numbers());
    says(&fit.unwrap_err(), "the loss lying contradicts itself");
    let penalty = LyingPenalty(0.1);
    let fit = EmpiricalRisk::new(Squared, penalty, Idle).fit(&numbers());
    says(&fit.unwrap_err(), "the penalty contradicts itself");
}

/// `(λ/2)w²` with a conjugate of zero.
#[derive(Clone, Copy, Debug)]
struct LyingPenalty(f64);

impl Penalty for LyingPenalty {
    fn value(self, w: f64) -> f64 {
        self.0 * w * w / 2.0
    }
    fn conjugate(self, _: f64) -> f64 {
        0.0
    }
    fn shortest_slope(self, w: f64, v: f64) -> f64 {
        self.0 * w + v
    }
    fn strong_convexity(self) -> f64 {
        self.0
    }
    fn dual_radius(self) -> f64 {
        f64::INFINITY
    }
}

/// Does nothing.
#[derive(Clone, Copy, Debug)]
struct Idle;

impl<L: Loss, P: Penalty> Solver<L, P> for Idle {
    fn solve(&self, problem: &Problem<'_, L, P>, _: Option<&WarmStart>, control: &Control<'_>) -> Solution {
        let point = Point::zero(problem.rows.columns());
        Recorder::new(control).finish(point, None, Termination::Converged)
    }
}

/// Does nothing and says that it has arrived.
#[derive(Clone, Copy, Debug)]
struct Boasting {
    weights: usize,
    duals: usize,
}

impl<L: Loss, P: Penalty> Solver<L, P> for Boasting {
    fn solve(&self, problem: &Problem<'_, L, P>, _: Option<&WarmStart>, control: &Control<'_>) -> Solution {
        let gap = Gap { objective: 1.0, dual: Some(1.0), gradient: Some(0.0) };
        let certified = Certified { scores: vec![0.0; problem.len()], gap, duals: None };
        let duals = Some(vec![0.0; self.duals]);
        let point = Point::zero(self.weights);
        let solution = Recorder::new(control).finish(point, duals, Termination::Converged);
        Solution { certified: Some(certified), ..solution }
    }
}

#[test]
fn what_a_solver_says_of_its_solution_is_not_believed() {
    for lambda in [0.0, 0.1] {
        for duals in [0, 3, 8, 99] {
            let solver = Boasting { weights: 2, duals };
            let fit = EmpiricalRisk::new(Squared, L2(lambda), solver).fit(&numbers()).unwrap();
            assert_eq!(fit.termination, Termination::NotConverged, "{lambda} {duals}");
        }
    }
    let fit = EmpiricalRisk::new(Squared, L2(0.1), Boasting { weights: 3, duals: 8 }).fit(&numbers());
    says(&fit.unwrap_err(), "3 weights for 2 columns");
}

#[test]
fn a_dual_above_the_objective_is_no_gap() {
    let gap = |dual: f64| Gap { objective: 1.0, dual: Some(dual), gradient: None }.relative();
    assert_eq!((gap(0.5), gap(1.0), gap(1.0 + 1e-12)), (Some(0.5), Some(0.0), Some(0.0)));
    assert_eq!((gap(1.001), gap(2.0), gap(f64::INFINITY)), (None, None, None));
    assert!(gap(f64::NAN).is_none_or(f64::is_nan));
}

#[test]
fn penalties_and_parameters_that_are_none_are_refused() {
    for lambda in [f64::NAN, -1.0, f64::INFINITY] {
        let fit = EmpiricalRisk::new(SquaredHinge, L2(lambda), DualCoordinateDescent).fit(&rows());
        says(&fit.unwrap_err(), "must be a number from 0");
        let tuned = EmpiricalRisk::new(Hinge, L2(1.0), DualCoordinateDescent).tune(&rows(), 2, &[L2(lambda)]);
        says(&tuned.unwrap_err(), "must be a number from 0");
        let net = ElasticNet { l2: 1.0, l1: lambda };
        says(&EmpiricalRisk::new(Squared, net, Idle).fit(&numbers()).unwrap_err(), "must be a number from 0");
    }
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        says(&HuberRegression::new().width(width).fit(&numbers()).unwrap_err(), "`huber_width` must be");
        let loss = novikoff::loss::LossName::Huber(novikoff::loss::Huber { width });
        says(&MultilayerPerceptron::new().loss(loss).fit(&numbers()).unwrap_err(), "`huber_width` must be");
    }
    for level in [0.0, 1.0, -0.1, 2.0, f64::NAN] {
        says(&QuantileRegression::new().quantile(level).fit(&numbers()).unwrap_err(), "between 0 and 1");
    }
    for tolerance in [0.0, 1.0, 2.0, f64::NAN, f64::INFINITY] {
        says(&LinearSvm::new().tolerance(tolerance).fit(&rows()).unwrap_err(), "`tolerance` must be");
        let risk = EmpiricalRisk::new(Squared, L2(0.0), Direct).tolerance(tolerance);
        says(&risk.fit(&numbers()).unwrap_err(), "`tolerance` must be");
    }
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let gradient = GradientDescent { step, schedule: Schedule::Constant };
        says(&EmpiricalRisk::new(Squared, L2(0.1), gradient).fit(&numbers()).unwrap_err(), "`step` must be");
        let named = LeastSquares::new().solver(novikoff::train::SolverName::Gradient);
        let named = named.schedule(Schedule::Constant, step).fit(&numbers());
        says(&named.unwrap_err(), "`step` must be");
    }
    let stochastic = StochasticGradient { batch: 0, ..StochasticGradient::default() };
    says(&EmpiricalRisk::new(Squared, L2(0.1), stochastic).fit(&numbers()).unwrap_err(), "`batch` must be");
    let named = LinearSvm::new().solver(novikoff::train::SolverName::Stochastic).batch(0).fit(&rows());
    says(&named.unwrap_err(), "`batch` must be");
}

/// Two columns a billion from zero, whose difference tells the rows apart: weights of zero are far from the
/// best, but no weights that are short in the unit of the columns are better.
#[test]
fn weights_of_zero_are_not_the_best_because_no_short_ones_are_better() {
    let labels = [1, 1, 1, -1, -1, -1, 1, -1];
    let far: Vec<f64> = (0..8)
        .flat_map(|i| {
            let y = if i < 6 { f64::from(labels[i as usize]) } else { -f64::from(labels[i as usize]) };
            [1e9 + y + f64::from(i % 3), 1e9 + f64::from(i % 3)]
        })
        .collect();
    let data = Dataset::from_dense(far, 2).unwrap().with_labels(&labels).unwrap();
    for scale in [Scale::None, Scale::MaxAbs] {
        let fit = Boosting::new().bias(Bias::None).scale(scale).fit(&data).unwrap();
        // Twice as many rows on one side as on the other have a loss of at most 2√(¾·¼) in the minimum.
        let least = 0.8661;
        let is_minimum = fit.risk().unwrap().objective <= least * (1.0 + 1e-4);
        assert!(is_minimum || fit.termination != Termination::Converged, "{scale:?} {:?}", fit.risk());
    }
}

#[test]
fn codes_are_labels_of_their_own() {
    for labels in [["9007199254740992", "9007199254740993"], ["00501", "501"]] {
        let labels: Vec<&str> = (0..8).map(|i| labels[i % 2]).collect();
        let values: Vec<f64> = (0..8).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
        let data = Dataset::from_dense(values, 1).unwrap().with_labels(&labels).unwrap();
        let fit = LogisticRegression::new().fit(&data).unwrap();
        assert_eq!(fit.model.predict(&data).unwrap(), labels);
        fit.certificate(&data).unwrap().verify(&data).unwrap();
        let bytes = novikoff::model::to_bytes(&fit.model).unwrap();
        assert_eq!(novikoff::model::from_bytes(&bytes, "model").unwrap().predict(&data).unwrap(), labels);
    }
}

#[test]
fn validation_rows_have_the_columns_of_the_others() {
    let named = |data: Dataset<'static>, names: [&str; 2]| data.with_feature_names(&names).unwrap();
    let (own, other) = (named(rows(), ["a", "b"]), named(rows(), ["b", "a"]));
    let none = own.select(&[]);
    let wider =
        Dataset::from_dense(vec![1.0; 24], 3).unwrap().with_labels(&[0, 1, 0, 1, 0, 1, 0, 1]).unwrap();
    let svm = EmpiricalRisk::new(Hinge, L2(0.1), DualCoordinateDescent);
    for (data, validation, part) in [
        (&own, &other, "other columns"),
        (&own, &rows(), "other columns"),
        (&rows(), &wider, "have 3 columns"),
        (&own, &none, "no validation rows"),
    ] {
        says(&svm.fit_observed(data, Some(validation), &mut Unwatched).unwrap_err(), part);
        for learner in every_learner().filter(|learner| !learner.predicts_numbers()) {
            // Bayes counts, and refuses values below zero.
            let learner = if learner.named() == Some(LearnerName::Bayes) { continue } else { learner };
            says(&train(data, Some(validation), &learner, &mut Unwatched).unwrap_err(), part);
        }
    }
}

#[test]
fn a_column_of_next_to_nothing_makes_no_infinite_weight() {
    for scale in [Scale::MaxAbs, Scale::UnitVariance] {
        for size in [5e-324, 1e-310, 1e-300, 1e-200] {
            let values: Vec<f64> = (0..8).map(|i| f64::from(i % 4) * size).collect();
            let targets: Vec<f64> = (0..8).map(|i| 1e3 * f64::from(i % 4)).collect();
            let data = Dataset::from_dense(values, 1).unwrap().with_targets(&targets).unwrap();
            let fit = LeastSquares::new().scale(scale).fit(&data);
            let Ok(fit) = fit else { continue };
            let predicted = fit.model.predict_numbers(&data).unwrap();
            assert!(predicted.iter().all(|s| s.is_finite()), "{scale:?} {size} {predicted:?}");
        }
    }
    // A product that is no number is no prediction.
    let model = LeastSquares::new().bias(Bias::None).fit(&numbers()).unwrap().model;
    assert!(
        model.scores_of(&[f64::INFINITY, f64::INFINITY]).is_err()
            || model.scores_of(&[1.0, f64::NAN]).is_err()
    );
    says(&model.scores_of(&[1.0, f64::NAN]).unwrap_err(), "no number");
}

#[test]
fn a_row_of_other_columns_has_no_score() {
    let model = LinearSvm::new().fit(&rows()).unwrap().model;
    assert_eq!(model.scores_of(&[1.0, 2.0]).unwrap().len(), 1);
    for row in [&[1.0][..], &[1.0, 2.0, 3.0]] {
        says(&model.scores_of(row).unwrap_err(), "the model knows 2 features");
        says(&model.predict_row(row).unwrap_err(), "the model knows 2 features");
    }
}

#[test]
fn what_is_no_sum_over_features_is_not_explained() {
    let kernel = Perceptron::new().kernel(Kernel::Polynomial(2)).fit(&rows()).unwrap().model;
    let network = MultilayerPerceptron::new().units(2).epochs(1).fit(&rows()).unwrap().model;
    for model in [kernel, network, Perceptron::voted().fit(&rows()).unwrap().model] {
        says(&model.explain(&rows(), 0).unwrap_err(), "no sum over features");
    }
}

#[test]
fn names_without_labels_are_nothing_to_learn_from() {
    let data = Dataset { labels: Vec::new(), ..rows() };
    let targets = Dataset { labels: Vec::new(), ..numbers() };
    for learner in every_learner() {
        let data = if learner.predicts_numbers() { &targets } else { &data };
        says(&train(data, None, &learner, &mut Unwatched).unwrap_err(), "no labels");
    }
    says(&EmpiricalRisk::new(Hinge, L2(0.1), DualCoordinateDescent).fit(&data).unwrap_err(), "no labels");
}

#[test]
fn data_sets_that_contradict_themselves_do_not_panic() {
    let odd = [
        Dataset { labels: vec![0, 1], ..rows() },
        Dataset { labels: vec![7; 8], ..rows() },
        Dataset { names: Labels::default(), ..rows() },
        Dataset { row_weights: vec![1.0], ..rows() },
        Dataset { labels: vec![0; 99], row_weights: vec![1.0; 99], ..rows() },
        Dataset { schema: Schema::Hashed { bits: 3 }, labels: vec![u32::MAX; 8], ..rows() },
    ];
    for data in odd {
        assert!(data.fingerprint().starts_with("blake3:"));
        assert_eq!(data.select(&[7, 0, 3]).len(), 3);
        let (kept, held) = data.split(0.5, 1).unwrap();
        assert_eq!((kept.len(), held.len()), (4, 4));
        assert!(data.validate().is_err());
    }
}

#[test]
fn a_certificate_that_claims_nothing_proves_nothing() {
    let data = rows();
    says(&Certificate::new(&data, Vec::new()).verify(&data).unwrap_err(), "claims nothing");
    let mut certificate = LinearSvm::new().fit(&data).unwrap().certificate(&data).unwrap();
    for claim in &mut certificate.claims {
        if let novikoff::certificate::Claim::NearOptimal { value, lower_bound, .. } = claim {
            *lower_bound = Some(*value + 1.0);
        }
    }
    assert_eq!(certificate.relative_gap(), None);
    assert!(certificate.verify(&data).is_err());
}

/// A model, a certificate and a checker agree on the parameter of a loss.
#[test]
fn a_forged_parameter_is_refused() {
    let data = numbers();
    for (learner, from, to) in [
        (
            Learner::from(HuberRegression::new().width(1.5).lambda(0.1)),
            r#"{"huber":{"width":1.5}}"#,
            [r#"{"huber":{"width":1.25}}"#, r#"{"huber":{"width":0.0}}"#, r#"{"huber":{"width":-1.5}}"#],
        ),
        (
            Learner::from(QuantileRegression::new().quantile(0.75).lambda(0.1)),
            r#"{"quantile":{"level":0.75}}"#,
            [r#"{"quantile":{"level":0.5}}"#, r#"{"quantile":{"level":1.0}}"#, r#""absolute""#],
        ),
    ] {
        let fit = train(&data, None, &learner, &mut Unwatched).unwrap();
        assert_eq!(fit.termination, Termination::Converged);
        let certificate = fit.certificate(&data).unwrap();
        certificate.verify(&data).unwrap();
        let checksum = certificate.model.clone().unwrap();
        assert!(certificate.check_model(&fit.model, &checksum, &data).holds);
        let text = certificate.to_text();
        assert!(text.contains(from), "{text}");
        for forged in to {
            let forged = Certificate::from_text(&text.replace(from, forged)).unwrap();
            assert!(!forged.check_model(&fit.model, &checksum, &data).holds, "{to:?}");
        }
        for wrong in &to[1..2] {
            let forged = Certificate::from_text(&text.replace(from, wrong)).unwrap();
            assert!(forged.verify(&data).is_err(), "{wrong}");
        }
        // Fields that are not known make it no certificate.
        let more = from.replace("}}", r#","more":1}}"#);
        assert!(Certificate::from_text(&text.replace(from, &more)).is_err());
    }
}

#[test]
fn a_wide_huber_loss_learns_least_squares_and_a_narrow_one_least_absolute_deviations() {
    let data = numbers();
    let squares = LeastSquares::new().lambda(0.01).tolerance(1e-10).fit(&data).unwrap();
    let wide = HuberRegression::new().width(1e6).lambda(0.01).tolerance(1e-10).fit(&data).unwrap();
    let near = |a: f64, b: f64, off: f64| (a - b).abs() <= off * b.abs();
    assert!(near(wide.risk().unwrap().objective, squares.risk().unwrap().objective, 1e-9));
    // Divided by twice the width, a narrow one is nearly the absolute loss.
    let narrow = HuberRegression::new().width(1e-6).tolerance(1e-6).fit(&data).unwrap();
    let risk = |name: LearnerName| {
        let settings = Risk { strength: Some(Strength::Lambda(0.0)), ..Risk::of(name.loss().unwrap()) };
        let fit = train(&data, None, &name.learner().with_risk(settings), &mut Unwatched).unwrap();
        fit.risk().unwrap().objective
    };
    assert_eq!(narrow.termination, Termination::Converged, "{:?}", narrow.risk());
    assert!(near(narrow.risk().unwrap().objective / 2e-6, risk(LearnerName::LeastAbsolute), 1e-5));
    let half = QuantileRegression::new().fit(&data).unwrap();
    assert!(near(2.0 * half.risk().unwrap().objective, risk(LearnerName::LeastAbsolute), 1e-9));
}
