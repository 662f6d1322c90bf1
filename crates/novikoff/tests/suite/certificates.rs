//! Certificates of fits: they hold, they say what is true, and changed ones are refused.

use super::differential::canonical;
use crate::with::With;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use novikoff::certificate::Direction;
use novikoff::certificate::{Certificate, Claim};
use novikoff::certificate::{Objective, Target};
use novikoff::control::{Termination, Unwatched};
use novikoff::data::generate::Recipe;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report, Scale};
use novikoff::features::Schema;
use novikoff::loss::{Huber, LossName, Quantile};
use novikoff::model::{Model, Scorer, checksum, to_bytes};
use novikoff::multiclass::Scheme;
use novikoff::online::rule::{Aggressiveness, Length};
use novikoff::penalty::Bias;
use novikoff::random::Random;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use novikoff::train::{ClassWeight, Criterion, Fit, Learner, LearnerName, Risk, Strength, train};
use novikoff_checker::Rows;
use proptest::prelude::*;
use serde_json::Value;

/// Rows around a centre per class, that overlap by as much as `noise` says; targets are numbers if there is
/// one class.
fn rows(
    count: usize,
    features: usize,
    classes: usize,
    noise: f64,
    seed: u64,
    weighted: bool,
) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let mut builder = Builder::new(Layout::Dense { columns: features });
    let indices: Vec<u32> = (0..features as u32).collect();
    let mut names = Vec::new();
    for i in 0..count {
        let centre = |j: usize| if classes > 1 && j % classes == i % classes { 1.0 } else { 0.0 };
        let values: Vec<f64> = (0..features).map(|j| centre(j) + noise * random.normal()).collect();
        builder.push(&indices, &values);
        names.push(match classes {
            1 => (values.iter().sum::<f64>() + noise * random.normal()).to_string(),
            _ => (i % classes).to_string(),
        });
    }
    let labels = Labels::new(&names);
    Dataset {
        rows: builder.finish(),
        labels: names.iter().map(|name| labels.find(name).unwrap()).collect(),
        names: labels,
        row_weights: if weighted {
            (0..count).map(|i| if i < classes { 1.0 } else { [1.0, 0.0, 2.5, 0.5][i % 4] }).collect()
        } else {
            Vec::new()
        },
        schema: Schema::one_based(),
        report: Report::default(),
    }
}

fn fitted(data: &Dataset, settings: &Learner) -> Fit {
    train(data, None, settings, &mut Unwatched).unwrap()
}

/// The objective, by its definition.
fn objective(what: &Objective, data: &Dataset, weights: &[Direction]) -> f64 {
    let columns = data.rows.columns();
    let dense: Vec<Vec<f64>> = weights
        .iter()
        .map(|direction| {
            let mut all = vec![0.0; columns];
            direction.entries().for_each(|(j, w)| all[j] = w);
            all
        })
        .collect();
    let total: f64 = (0..data.len()).map(|i| data.weight(i)).sum();
    let mut sum = 0.0;
    for i in 0..data.len() {
        let name = &data.names.names()[data.labels[i] as usize];
        let count =
            data.weight(i) * what.class_weights.iter().find(|(n, _)| n == name).map_or(1.0, |(_, w)| *w);
        let scores: Vec<f64> =
            dense.iter().zip(weights).map(|(w, d)| data.rows.row(i).dot(w) + d.bias).collect();
        let y = match &what.target {
            Target::Sides(sides) => {
                if sides.positive.contains(name) {
                    1.0
                } else {
                    -1.0
                }
            }
            Target::Numbers => name.parse().unwrap(),
            Target::Classes(names) => {
                let own = scores[names.iter().position(|n| n == name).unwrap()];
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                sum += count * (most - own + scores.iter().map(|s| (s - most).exp()).sum::<f64>().ln());
                continue;
            }
        };
        let s: f64 = scores[0];
        sum += count
            * match what.loss {
                LossName::Hinge => (1.0 - y * s).max(0.0),
                LossName::SquaredHinge => (1.0 - y * s).max(0.0).powi(2),
                LossName::Logistic => (-y * s).max(0.0) + (-(y * s).abs()).exp().ln_1p(),
                LossName::Exponential => (-y * s).exp(),
                LossName::Squared => (s - y).powi(2),
                LossName::Absolute => (s - y).abs(),
                LossName::Huber(Huber { width }) => match (s - y).abs() {
                    off if off <= width => off * off,
                    off => 2.0 * width * off - width * width,
                },
                LossName::Quantile(Quantile { level }) => (level * (y - s)).max((1.0 - level) * (s - y)),
                LossName::HingeAtZero => (-y * s).max(0.0),
            };
    }
    let scales = what.scale.factors(&data.rows, &data.row_weights);
    let of = |v: f64| 0.5 * what.lambda * v * v + what.l1 * v.abs();
    let penalty: f64 = dense
        .iter()
        .flatten()
        .enumerate()
        .map(|(at, w)| of(w / scales.get(at % columns).unwrap_or(&1.0)))
        .sum();
    let biases = if what.bias == Bias::Penalised { weights.iter().map(|d| of(d.bias)).sum() } else { 0.0 };
    sum / total + penalty + biases
}

const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised, Bias::None];
const LEARNERS: [LearnerName; 9] = [
    LearnerName::Svm,
    LearnerName::SquaredSvm,
    LearnerName::Logistic,
    LearnerName::Exponential,
    LearnerName::HingeAtZero,
    LearnerName::LeastSquares,
    LearnerName::LeastAbsolute,
    LearnerName::Huber,
    LearnerName::Quantile,
];

#[derive(Clone, Debug)]
struct Case {
    data: Dataset<'static>,
    settings: Learner,
}

fn with_parameter(learner: &mut Learner, parameter: f64) {
    let Learner::Risk(risk) = learner else { return };
    match &mut risk.criterion {
        Criterion::Loss(LossName::Huber(huber)) => huber.width = parameter,
        Criterion::Loss(LossName::Quantile(quantile)) => quantile.level = parameter,
        _ => {}
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let shape = (5..60usize, 1..6usize, 2..4usize, 0.2..2.0f64, any::<u64>(), any::<bool>());
    let kind = (
        prop::sample::select(LEARNERS.to_vec()),
        prop::sample::select(BIASES.to_vec()),
        prop::sample::select(vec![Scale::None, Scale::MaxAbs, Scale::UnitVariance, Scale::Standard]),
        prop::sample::select(vec![None, Some(Scheme::OneVsRest)]),
        any::<bool>(),
        prop::sample::select(vec![1e-3, 0.1, 1.0]),
        prop::sample::select(vec![0.0, 0.0, 0.02]),
        0.05..0.95f64,
    );
    (shape, kind).prop_map(
        |(
            (count, features, classes, noise, seed, weighted),
            (learner, bias, scale, multiclass, balanced, lambda, l1, parameter),
        )| {
            let numbers = learner.predicts_numbers();
            let data = rows(count, features, if numbers { 1 } else { classes }, noise, seed, weighted);
            let sparse = matches!(
                learner,
                LearnerName::SquaredSvm
                    | LearnerName::Logistic
                    | LearnerName::Exponential
                    | LearnerName::LeastSquares
                    | LearnerName::Huber
            );
            let risk = Risk {
                strength: Some(Strength::Lambda(lambda)),
                l1: if sparse { l1 } else { 0.0 },
                scale,
                tolerance: 1e-6,
                ..Risk::of(LossName::Logistic)
            };
            let class_weight = if balanced && !numbers { ClassWeight::Balanced } else { ClassWeight::Equal };
            Case {
                data,
                settings: learner
                    .learner()
                    .with_bias(bias)
                    .with_multiclass(multiclass)
                    .with_class_weight(class_weight)
                    .with_risk(risk)
                    .with(|learner| with_parameter(learner, parameter)),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_fit_s_certificate_holds(Case { data, settings } in cases()) {
        let fit = fitted(&data, &settings);
        let certificate = fit.certificate(&data).unwrap();
        let again = Certificate::from_text(&certificate.to_text()).unwrap();
        prop_assert_eq!(&again, &certificate);
        for claim in again.check(&data) {
            prop_assert!(claim.holds, "{:?}: {:?}", settings, claim);
        }
        prop_assert!(again.check_model(&fit.model, &checksum(&to_bytes(&fit.model).unwrap()), &data).holds);
        let mut apart = 0.0;
        let mut sum = 0.0;
        for claim in &again.claims {
            let Claim::NearOptimal { objective: what, value, lower_bound: least, weights, .. } = claim else {
                panic!("{claim:?}")
            };
            let naive = objective(what, &data, weights);
            prop_assert!(
                naive <= value * (1.0 + 1e-13) && *value <= naive * (1.0 + 1e-9) + 1e-11,
                "{naive} {value}"
            );
            prop_assert!(least.unwrap() <= value + 1e-9 * value.abs(), "{least:?} {value}");
            apart += value - least.unwrap();
            sum += value;
        }
        if fit.termination == Termination::Converged {
            // Folding scales back into the weights, and rounding outwards, cost next to nothing.
            prop_assert!(apart <= 1.1e-6 * sum + 1e-9, "{settings:?}: {apart} of {sum}");
        }
    }

    /// Whatever is done to a certificate, what still passes is true.
    #[test]
    fn changed_claims_pass_only_if_they_are_true(
        Case { data, settings } in cases(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(b"0123456789.-e,[]{}\"a".to_vec())),
            30,
        ),
        seed in any::<u64>(),
    ) {
        let fit = fitted(&data, &settings);
        let text = fit.certificate(&data).unwrap().to_text();
        let mut random = Random::new(seed);
        for (at, byte) in &changes {
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = *byte;
            let Some(changed) =
                String::from_utf8(bytes).ok().and_then(|text| Certificate::from_text(&text).ok())
            else {
                continue;
            };
            if !changed.check(&data).iter().all(|claim| claim.holds) {
                continue;
            }
            for claim in &changed.claims {
                let Claim::NearOptimal { objective: what, value, lower_bound: least, weights, .. } = claim
                else {
                    continue;
                };
                let at = objective(what, &data, weights);
                prop_assert!(at <= value + 1e-9 * at.abs() + 1e-12, "{claim:?}");
                for size in [0.0, 0.9, 1.0, 1.1] {
                    let other: Vec<Direction> = weights
                        .iter()
                        .map(|d| Direction {
                            columns: d.columns.clone(),
                            weights: d.weights.iter().map(|w| w * size + 1e-3 * random.normal()).collect(),
                            bias: if what.bias == Bias::None {
                                0.0
                            } else {
                                d.bias * size + 1e-3 * random.normal()
                            },
                        })
                        .collect();
                    let there = objective(what, &data, &other);
                    prop_assert!(
                        least.is_none_or(|least| least <= there + 1e-9 * there.abs()),
                        "{claim:?} {there}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_certificate_is_of_one_model() {
    let data = rows(60, 3, 2, 1.0, 1, false);
    let settings = LearnerName::Logistic.learner();
    let fit = fitted(&data, &settings);
    let certificate = fit.certificate(&data).unwrap();
    let named = |model| checksum(&to_bytes(model).unwrap());
    assert!(certificate.check_model(&fit.model, &named(&fit.model), &data).holds);
    // Another model, by its checksum.
    let mut other = fit.model.clone();
    let Scorer::Linear(weights) = &mut other.scorer else { panic!() };
    weights.values[0] += 1e-12;
    assert!(!certificate.check_model(&other, &named(&other), &data).holds);
    // A certificate that names a model and speaks of other weights.
    let forged = Certificate { model: Some(named(&other)), ..certificate.clone() };
    let checked = forged.check_model(&other, &named(&other), &data);
    assert!(!checked.holds && checked.detail.contains("weights"), "{checked:?}");
    let anonymous = Certificate { model: None, ..certificate };
    assert!(!anonymous.check_model(&fit.model, &named(&fit.model), &data).holds);
}

/// Both checkers, on whether a certificate is about a model.
fn confirmed(certificate: &Certificate, model: &Model, data: &Dataset) -> [bool; 2] {
    let bytes = to_bytes(model).unwrap();
    let rows = Rows::from_canonical(&canonical(data)).unwrap();
    let verdicts = novikoff_checker::check(&certificate.to_text(), &rows, Some(&bytes)).unwrap();
    [certificate.check_model(model, &checksum(&bytes), data).holds, verdicts[1].holds]
}

/// The objective of a claim is the one that a model says it minimises, in every part.
#[test]
fn an_objective_is_the_one_of_its_model() {
    let data = rows(60, 3, 2, 1.0, 1, true);
    let risk = |scale: Scale, l1: f64| Risk { scale, l1, ..Risk::of(LossName::Logistic) };
    let given = ClassWeight::Given(vec![("1".into(), 2.5)]);
    for (class_weight, risk, bias) in [
        (ClassWeight::Equal, risk(Scale::None, 0.0), Bias::Free),
        (ClassWeight::Balanced, risk(Scale::MaxAbs, 0.01), Bias::None),
        (given, risk(Scale::UnitVariance, 0.0), Bias::Penalised),
        (ClassWeight::Equal, risk(Scale::Standard, 0.0), Bias::Free),
    ] {
        let settings =
            LearnerName::Logistic.learner().with_class_weight(class_weight).with_risk(risk).with_bias(bias);
        let fit = fitted(&data, &settings);
        let certificate = fit.certificate(&data).unwrap();
        assert_eq!(confirmed(&certificate, &fit.model, &data), [true; 2], "{settings:?}");
        let changes: [fn(&mut Objective); 7] = [
            |objective| objective.lambda += 1.0,
            |objective| objective.l1 += 0.5,
            |objective| objective.loss = LossName::Hinge,
            |objective| objective.bias = if objective.bias == Bias::Free { Bias::None } else { Bias::Free },
            |objective| {
                objective.scale = if objective.scale == Scale::None { Scale::MaxAbs } else { Scale::None }
            },
            |objective| objective.class_weights = vec![("1".into(), 2.0)],
            |objective| objective.scaled_columns = Some(1),
        ];
        for (which, change) in changes.into_iter().enumerate() {
            let mut other = certificate.clone();
            let Claim::NearOptimal { objective, .. } = &mut other.claims[0] else { panic!() };
            change(objective);
            assert_eq!(confirmed(&other, &fit.model, &data), [false; 2], "{which} {settings:?}");
        }
    }
}

/// Genuine certificates hold in exact arithmetic, too, also where bounds depend on the last digits of slopes:
/// few steps, long rows, little penalty.
#[test]
fn the_exact_checker_confirms_certificates_of_fits_that_are_far_from_done() {
    for (k, bias) in (0..40u32).flat_map(|k| BIASES.map(|bias| (k, bias))) {
        let far = 1e9 * (1.0 + 0.00148 * f64::from(k));
        let data =
            signed(&[[0.0, 0.0, 1.0], [0.0, far, 0.0], [0.0, 0.0, f64::from(k % 3)]], &[true, false, false]);
        for learner in [LearnerName::SquaredSvm, LearnerName::Logistic, LearnerName::Exponential] {
            let risk = Risk {
                strength: Some(Strength::Lambda(3e-6)),
                steps: Some(2),
                scale: Scale::None,
                ..Risk::of(LossName::Logistic)
            };
            let settings = learner.learner().with_bias(bias).with_risk(risk);
            let Ok(certificate) = fitted(&data, &settings).certificate(&data) else { continue };
            let rows = Rows::from_canonical(&canonical(&data)).unwrap();
            let exact = novikoff_checker::check(&certificate.to_text(), &rows, None).unwrap();
            assert!(exact.iter().all(|verdict| verdict.holds), "{far} {learner:?} {bias:?}: {exact:?}");
        }
    }
}

/// Scales leave the terms of documents alone, and a model says so.
#[test]
fn columns_that_are_not_scaled_are_part_of_the_objective() {
    let text =
        b"spam\tcheap cheap pills\nham\tsee you at lunch\nspam\tpills for lunch\nham\tyou and you\n".to_vec();
    let input = Input::Bytes { name: "mail.tsv".into(), bytes: text.into() };
    let options = Options { format: Some(Format::Text), ..Options::default() };
    let data = Reader::open(&input, &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
    let risk = Risk { scale: Scale::MaxAbs, ..Risk::of(LossName::Logistic) };
    let settings = LearnerName::Logistic.learner().with_risk(risk);
    let fit = fitted(&data, &settings);
    let certificate = fit.certificate(&data).unwrap();
    assert_eq!(confirmed(&certificate, &fit.model, &data), [true; 2]);
    let mut other = certificate;
    let Claim::NearOptimal { objective, .. } = &mut other.claims[0] else { panic!() };
    assert_eq!(objective.scaled_columns, Some(0));
    objective.scaled_columns = None;
    assert_eq!(confirmed(&other, &fit.model, &data), [false; 2]);
}

/// Which of the two weights is meant would be anybody's guess.
#[test]
fn a_label_that_is_weighed_twice_is_refused() {
    let data = rows(60, 3, 3, 1.0, 1, false);
    let class_weight = ClassWeight::Balanced;
    let settings = LearnerName::Svm.learner().with_class_weight(class_weight);
    let mut certificate = fitted(&data, &settings).certificate(&data).unwrap();
    assert!(certificate.check(&data).iter().all(|claim| claim.holds));
    let Claim::NearOptimal { objective, .. } = &mut certificate.claims[0] else { panic!() };
    let first = objective.class_weights[0].clone();
    objective.class_weights.push(first);
    let checked = certificate.check(&data);
    assert!(
        checked.iter().any(|claim| !claim.holds && claim.detail.contains("weighed twice")),
        "{checked:?}"
    );
}

/// Bounds that are integers in exact arithmetic, where a run makes exactly as many mistakes: rounding must
/// not take one away.
#[test]
fn bounds_that_runs_reach_are_not_rounded_below_them() {
    let (mut runs, mut reached) = (0, 0);
    let places: Vec<[f64; 3]> =
        (0..27).map(|k| [k % 3, k / 3 % 3, k / 9].map(|x| f64::from(x) - 1.0)).collect();
    for size in [1.0, 3e-5, 1.7, 1e6, 1e-100, 1e150] {
        for (a, b, c) in
            (0..27).flat_map(|a| (a..27).flat_map(move |b| [(a, b, (a * b + 7) % 27), (a, b, 26 - a)]))
        {
            for signs in [[false, true, false], [true, true, false]] {
                let rows = [a, b, c].map(|place: usize| places[place].map(|x| x * size));
                let data = signed(&rows, &signs);
                let bias = if (a + b) % 2 == 0 { Bias::None } else { Bias::Free };
                let learner =
                    [LearnerName::Perceptron, LearnerName::Averaged, LearnerName::Voted][(a + c) % 3];
                let learner = learner.learner().with_bias(bias).with_epochs(50).with_scale(Scale::None);
                let fit = fitted(&data, &learner);
                let Some(promise) = &fit.run().unwrap().promise else { continue };
                for bound in [Some(promise.bound), promise.forever].into_iter().flatten() {
                    assert!(
                        fit.history().unwrap().mistakes <= bound.floor() as u64,
                        "{} {promise:?} {rows:?} {signs:?} {bias:?}",
                        fit.history().unwrap().mistakes
                    );
                    reached += u32::from(fit.history().unwrap().mistakes == bound.floor() as u64);
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 3000 && reached > 100, "{runs} {reached}");
}

/// Three rows, `+` where true.
fn signed(rows: &[[f64; 3]; 3], signs: &[bool; 3]) -> Dataset<'static> {
    let mut builder = Builder::new(Layout::Dense { columns: 3 });
    rows.iter().for_each(|row| builder.push(&[0, 1, 2], row));
    Dataset {
        rows: builder.finish(),
        labels: signs.iter().map(|sign| u32::from(*sign)).collect(),
        names: Labels::new(["-", "+"]),
        row_weights: Vec::new(),
        schema: Schema::one_based(),
        report: Report::default(),
    }
}

/// The same JSON with every packed list as plain numbers.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("f64") || fields.contains_key("u32") => {
            let (name, text) = fields.into_iter().next().unwrap();
            let bytes = STANDARD.decode(text.as_str().unwrap()).unwrap();
            match name.as_str() {
                "f64" => bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
                _ => bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect(),
            }
        }
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, plain(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(plain).collect()),
        other => other,
    }
}

#[test]
fn long_lists_are_packed_and_plain_ones_refused() {
    let data = rows(400, 300, 2, 1.0, 5, false);
    let settings = LearnerName::Svm.learner();
    let fit = fitted(&data, &settings);
    let certificate = fit.certificate(&data).unwrap();
    let text = certificate.to_text();
    let unpacked = plain(serde_json::from_str(&text).unwrap());
    let claim = &unpacked["claims"][0]["near-optimal"];
    assert!(claim["weights"][0]["weights"].is_array() && claim["duals"].is_array());
    assert!(text.contains("\"weights\":{\"f64\":") && text.contains("\"duals\":{\"f64\":"));
    assert!(Certificate::from_text(&unpacked.to_string()).unwrap_err().contains("must be packed"));
    // Another digit in a packed list: other numbers, or none.
    let checksum = checksum(&to_bytes(&fit.model).unwrap());
    let start = text.find("\"weights\":{\"f64\":\"").unwrap() + "\"weights\":{\"f64\":\"".len();
    let end = start + text[start..].find('"').unwrap();
    for at in (start..end).step_by(37) {
        for digit in *b"A/=" {
            let mut bytes = text.clone().into_bytes();
            if std::mem::replace(&mut bytes[at], digit) == digit {
                continue;
            }
            let changed = Certificate::from_text(std::str::from_utf8(&bytes).unwrap());
            assert!(
                !changed.is_ok_and(|changed| changed.check_model(&fit.model, &checksum, &data).holds),
                "{at} {digit}"
            );
        }
    }
}

#[test]
fn a_claim_without_any_penalty_speaks_of_weights_up_to_a_length() {
    let data = rows(80, 3, 1, 0.5, 3, false);
    let risk = Risk { strength: Some(Strength::Lambda(0.0)), ..Risk::of(LossName::Logistic) };
    let settings = LearnerName::LeastSquares.learner().with_risk(risk);
    let certificate = fitted(&data, &settings).certificate(&data).unwrap();
    let [Claim::NearOptimal { value, lower_bound: Some(least), within: Some(_), .. }] =
        &certificate.claims[..]
    else {
        panic!()
    };
    assert!(value - least < 1e-9 * value, "{value} {least}");
    assert!(certificate.check(&data).iter().all(|claim| claim.holds));
    // Any length may be claimed, at its price: that of the rounding errors of the gradient, along that
    // length.
    let mut longer = certificate.clone();
    if let Claim::NearOptimal { within, .. } = &mut longer.claims[0] {
        *within = within.map(|length| length * 1e20);
    }
    assert!(!longer.check(&data).iter().all(|claim| claim.holds));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// No run makes more mistakes than was promised, on rows that can be separated and on rows that cannot.
    #[test]
    fn mistakes_stay_below_what_is_promised(
        count in 2..80usize,
        features in 1..6usize,
        classes in 2..5usize,
        noise in 0.05..2.0f64,
        seed in any::<u64>(),
        learner in prop::sample::select(LearnerName::ONLINE.to_vec()),
        bias in prop::sample::select(BIASES.to_vec()),
        multiclass in prop::sample::select(vec![None, Some(Scheme::OneVsRest)]),
        unit in any::<bool>(),
        own in prop::sample::select(vec![None, None, Some(0.1), Some(1.0), Some(10.0)]),
        aggressiveness in prop::sample::select(vec![
            Aggressiveness::Full,
            Aggressiveness::Capped(0.1),
            Aggressiveness::Damped(0.1),
        ]),
        epochs in prop::sample::select(vec![1usize, 3, 30]),
        scale in prop::sample::select(vec![Scale::None, Scale::None, Scale::Standard]),
    ) {
        let data = rows(count.max(classes), features, classes, noise, seed, false);
        let perceptron = learner != LearnerName::PassiveAggressive;
        let settings = learner
            .learner()
            .with_bias(bias)
            .with_multiclass(multiclass)
            .with_length(if unit && perceptron { Length::Unit } else { Length::AsGiven })
            .with_own_feature(own.filter(|_| perceptron && !unit))
            .with_aggressiveness(aggressiveness)
            .with_epochs(epochs)
            .with_scale(scale)
            .with_seed(seed);
        let fit = fitted(&data, &settings);
        let (run, made) = (fit.run().unwrap(), fit.history().unwrap().mistakes);
        prop_assert!(!perceptron || run.promise.is_some() || made == 0, "{fit:?}");
        if let Some(promise) = &run.promise {
            prop_assert!(made as f64 <= promise.bound, "{made} {promise:?} {settings:?}");
            if let (Some(upper), Some(geometry)) = (run.margin_upper, run.geometry) {
                prop_assert!(geometry.margin <= upper * (1.0 + 1e-12), "{geometry:?} {upper}");
            }
        }
        let Ok(certificate) = fit.certificate(&data) else { return Ok(()) };
        let again = Certificate::from_text(&certificate.to_text()).unwrap();
        for claim in again.check(&data) {
            prop_assert!(claim.holds, "{:?}: {:?}", settings, claim);
        }
        // One class against the rest: the mistakes of all classes, by as many claims. And the same for any
        // number of epochs.
        for forever in [true, false] {
            let claimed = again.claims.iter().filter_map(|claim| match claim {
                Claim::MistakesAtMost { mistakes, proof } if proof.passes.is_none() == forever => {
                    Some(*mistakes)
                }
                _ => None,
            });
            let claimed: Vec<u64> = claimed.collect();
            prop_assert!(claimed.is_empty() || made <= claimed.iter().sum(), "{made} {claimed:?}");
        }
        if let Some((promise, forever)) = run.promise.as_ref().and_then(|p| Some((p, p.forever?))) {
            prop_assert!(made as f64 <= forever && promise.bound <= forever * (1.0 + 1e-9));
        }
    }

    /// A feature of every row's own is one more column a row, whose weights nobody needs afterwards.
    #[test]
    fn own_features_are_columns_of_their_own(
        raw in prop::collection::vec(prop::collection::vec(-3..4i32, 2), 2..12),
        positive in prop::collection::vec(any::<bool>(), 12),
        learner in prop::sample::select(vec![
            LearnerName::Perceptron,
            LearnerName::Averaged,
            LearnerName::Voted,
        ]),
        own in prop::sample::select(vec![1.0, 2.0]),
    ) {
        let make = |more: usize| {
            let mut builder = Builder::new(Layout::Dense { columns: 2 + more });
            let indices: Vec<u32> = (0..(2 + more) as u32).collect();
            for (i, row) in raw.iter().enumerate() {
                let mut values: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
                values.extend((0..more).map(|j| if i == j { own } else { 0.0 }));
                builder.push(&indices, &values);
            }
            Dataset {
                rows: builder.finish(),
                labels: positive[..raw.len()].iter().map(|p| u32::from(*p)).collect(),
                names: Labels::new(["-1", "1"]),
                row_weights: Vec::new(),
                schema: Schema::one_based(),
                report: Report::default(),
            }
        };
        let (plain, wide) = (make(0), make(raw.len()));
        let settings = learner.learner().with_epochs(10_000).with_scale(Scale::None);
        let offered = fitted(&plain, &settings.clone().with_own_feature(Some(own)));
        let explicit = fitted(&wide, &settings);
        prop_assert_eq!(offered.history().unwrap().mistakes, explicit.history().unwrap().mistakes);
        prop_assert_eq!(offered.termination, Termination::Separated);
        if let (Scorer::Linear(a), Scorer::Linear(b)) = (&offered.model.scorer, &explicit.model.scorer) {
            prop_assert_eq!(&a.values[..], &b.values[..2]);
            prop_assert_eq!(&a.bias, &b.bias);
        }
        prop_assert!(
            offered.history().unwrap().mistakes as f64
                <= offered.run().unwrap().promise.as_ref().unwrap().bound
        );
    }
}

#[test]
fn a_bound_of_one_pass_bounds_one_pass() {
    // Generated with noise: the bound of Freund and Schapire, and more for more passes.
    let data =
        Recipe { rows: 2000, features: 5, margin: 0.2, noise: 0.05, seed: 4, ..Recipe::default() }.generate();
    let bound = |epochs: usize| {
        let settings = LearnerName::Averaged.learner().with_epochs(epochs).with_scale(Scale::None);
        let promise = fitted(&data, &settings).run().unwrap().promise.clone().unwrap();
        (promise.bound, promise.unseen.unwrap())
    };
    let (once, unseen) = bound(1);
    assert!(once < 2000.0 && bound(4).0 > once, "{once}");
    assert!((0.05..1.0).contains(&unseen), "{unseen}");
}
