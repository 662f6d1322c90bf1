//! Certificates made to deceive: what the fast checker accepts, the exact one accepts, and what is false
//! neither does.

use super::differential::{Case, LOSSES, canonical, certificate, objective, read, sides, weighted};
use novikoff::certificate::Certificate;
use novikoff::data::Dataset;
use novikoff_checker::Rows;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Whether the fast checker by itself, it with the help of the exact one, and the exact one accept the claim.
fn verdicts(data: &Dataset, text: &str) -> Result<[bool; 3], String> {
    let certificate = Certificate::from_text(text)?;
    let fast = certificate.check_in_doubles(data)[0].is_ok();
    let both = certificate.check(data).iter().all(|claim| claim.holds);
    let rows = Rows::from_canonical(&canonical(data)).unwrap();
    assert_eq!(rows.hash(), data.fingerprint());
    let exact = novikoff_checker::check(text, &rows, None)?.iter().all(|verdict| verdict.holds);
    Ok([fast, both, exact])
}

fn refused(data: &Dataset, name: &str, claim: &Value) {
    let found = verdicts(data, &certificate(data, name, claim));
    assert!(matches!(found, Ok([false, false, false]) | Err(_)), "{found:?} {claim}");
}

/// What proves that a perceptron without a bias makes few mistakes.
fn proof(margin: f64, weights: &[f64]) -> Value {
    json!({
        "target": {"sides": sides()}, "bias": "none", "normalised": false, "margin": margin,
        "weights": [{"weights": weights, "bias": 0.0}],
    })
}

const PAIR: &str = "1 1:1\n-1 1:-1\n";

#[test]
fn what_underflows_proves_nothing() {
    let data = read(PAIR);
    let mut tiny = objective("hinge", 1e-200, "none");
    tiny["class_weights"] = json!([["1", 1e-200], ["-1", 1e-200]]);
    let direction = json!({"weights": [1.0], "bias": 0.0});
    let claim = |value: f64, bound: f64| {
        let (weights, duals) = ([&direction], [-1.0, 1.0]);
        json!({"objective": tiny, "value": value, "lower_bound": bound, "weights": weights, "duals": duals})
    };
    refused(&data, "near-optimal", &claim(5.1e-201, 9.99e-201));
    refused(&data, "near-optimal", &claim(1e-200, 9.99e-201));
    // ½λ is zero in doubles.
    let smallest = objective("hinge", 5e-324, "none");
    let far = json!({"weights": [1e200], "bias": 0.0});
    refused(&data, "near-optimal", &json!({"objective": smallest, "value": 1e-9, "weights": [far]}));
    // A variance that underflows, so that the factor of the column would be 1.
    let narrow = read("1 1:1e-170\n-1 1:-1e-170\n");
    let mut scaled = objective("hinge", 1.0, "none");
    scaled["scale"] = json!("unit-variance");
    let longer = json!([{"weights": [1e170], "bias": 0.0}]);
    refused(
        &narrow,
        "near-optimal",
        &json!({"objective": scaled, "value": 0.51, "weights": longer, "lower_bound": 0.6}),
    );
    // Row weights times class weights that are subnormal, and rounded.
    let rows = weighted(PAIR, &[5e-324, 5e-324]);
    let mut halves = objective("hinge", 1.0, "none");
    halves["class_weights"] = json!([["1", 0.75], ["-1", 0.75]]);
    let zero = json!([{"weights": [0.0], "bias": 0.0}]);
    refused(
        &rows,
        "near-optimal",
        &json!({
            "objective": halves, "value": 1.0, "lower_bound": 0.8, "weights": zero, "duals": [-1.0, 1.0],
        }),
    );
}

#[test]
fn weights_without_a_direction_and_subnormal_ones_prove_nothing() {
    let data = read("1 1:1000 2:1000\n-1 1:-1000 2:-1000\n");
    let margin = |margin: f64, direction: Value| {
        let sides = sides();
        json!({"sides": sides, "bias": "none", "margin": margin, "direction": direction})
    };
    let subnormal = json!({"weights": [5e-324, 5e-324], "bias": 0.0});
    refused(&data, "margin-at-least", &margin(1990.0, subnormal.clone()));
    let found = verdicts(&data, &certificate(&data, "margin-at-least", &margin(1414.2, subnormal)));
    assert_eq!(found, Ok([false, true, true]), "a true claim is referred, and holds");
    let proof = proof(1990.0, &[5e-324, 5e-324]);
    refused(&data, "mistakes-at-most", &json!({"mistakes": 0, "proof": proof}));
    let crossed = read("1 1:1\n-1 1:1\n");
    refused(&crossed, "margin-at-least", &margin(0.0, json!({"columns": [], "weights": [], "bias": 0.0})));
    let wrong = read("1 1:-1000\n-1 1:1\n");
    refused(&wrong, "margin-at-least", &margin(-1e-9, json!({"weights": [5e-324], "bias": 0.0})));
}

#[test]
fn what_overflows_proves_nothing() {
    let data = read(PAIR);
    let mut joint = objective("logistic", 0.0, "none");
    joint["target"] = json!({"classes": ["1", "-1"]});
    let huge = json!([{"weights": [-1e308], "bias": 0.0}, {"weights": [1e308], "bias": 0.0}]);
    refused(&data, "near-optimal", &json!({"objective": joint, "value": 1e-9, "weights": huge}));
    let long = read("1e30 1:1e300\n-1e30 1:-1e300\n");
    let mut squared = objective("squared", 1.0, "none");
    squared["target"] = json!("numbers");
    squared["scale"] = json!("max-abs");
    let zero = json!([{"weights": [1e-270], "bias": 0.0}]);
    refused(
        &long,
        "near-optimal",
        &json!({
            "objective": squared, "value": 1e61, "lower_bound": 9.9e60, "weights": zero,
            "duals": [-1e30, 1e30],
        }),
    );
    // Row weights whose sum is no double.
    let heavy = weighted(PAIR, &[1.5e308, 1.5e308]);
    let hinge = objective("hinge", 1.0, "none");
    refused(
        &heavy,
        "near-optimal",
        &json!({"objective": hinge, "value": 1e-9, "weights": [{"weights": [0.0], "bias": 0.0}]}),
    );
}

#[test]
fn rows_that_contradict_one_another_are_not_learned() {
    let data = read("1 1:1e-170\n-1 1:1e-170\n");
    let proof = |passes: Value| {
        let mut proof = proof(5e-171, &[1.0]);
        if passes != Value::Null {
            proof["passes"] = passes;
        }
        proof
    };
    refused(&data, "mistakes-at-most", &json!({"mistakes": 4, "proof": proof(Value::Null)}));
    refused(&data, "mistakes-at-most", &json!({"mistakes": 3, "proof": proof(json!(1000))}));
}

/// Rows whose length is below the normal numbers, divided by it.
#[test]
fn rows_too_short_to_divide_by_prove_nothing_in_doubles() {
    let text: String =
        (0..100).map(|i| format!("{} 1:1e-310\n", if i % 2 == 0 { "1" } else { "-1" })).collect();
    let data = read(&text);
    let mut proof = proof(1.0, &[1.0]);
    proof["normalised"] = json!(true);
    proof["passes"] = json!(10);
    refused(&data, "mistakes-at-most", &json!({"mistakes": 560, "proof": proof}));
    let found =
        verdicts(&data, &certificate(&data, "mistakes-at-most", &json!({"mistakes": 2090, "proof": proof})));
    assert_eq!(found, Ok([false, true, true]));
}

/// In doubles, a row that has the margin exactly may have a little less.
#[test]
fn a_margin_that_is_met_exactly_is_left_to_exact_arithmetic() {
    let data = read("1 1:3\n-1 1:-7\n");
    let proof = proof(3.0, &[1.0]);
    let found =
        verdicts(&data, &certificate(&data, "mistakes-at-most", &json!({"mistakes": 5, "proof": proof})));
    assert_eq!(found, Ok([false, true, true]));
}

/// What only one of the checkers would understand, or leave aside.
#[test]
fn parts_without_a_meaning_are_refused() {
    let data = read(PAIR);
    let zero = json!({"weights": [0.0], "bias": 0.0});
    let mut joint = objective("logistic", 1.0, "none");
    joint["target"] = json!({"classes": ["1", "-1"]});
    refused(
        &data,
        "near-optimal",
        &json!({"objective": joint, "value": 1.0, "weights": [zero, zero], "duals": [0.5, 0.5]}),
    );
    let free = objective("hinge", 0.0, "none");
    refused(
        &data,
        "near-optimal",
        &json!({"objective": free, "value": 1.0, "weights": [zero], "within": -1.0}),
    );
    let mut unscaled = objective("hinge", 1.0, "none");
    unscaled["scale"] = json!("none");
    refused(&data, "near-optimal", &json!({"objective": unscaled, "value": 1.0, "weights": [zero]}));
    let mut proof = proof(1.0, &[1.0]);
    proof["passes"] = json!(0);
    refused(&data, "mistakes-at-most", &json!({"mistakes": 5, "proof": proof}));
}

#[test]
fn sentences_name_the_bias_and_nobody_forges_a_line() {
    let data = read("1 1:2\n-1 1:1\n");
    let zero =
        json!({"sides": sides(), "bias": "none", "combination": {"rows": [0, 1], "multipliers": ["1", "2"]}});
    let text = certificate(&data, "not-separable", &zero);
    let checked = Certificate::from_text(&text).unwrap().check(&data);
    assert!(checked.iter().all(|claim| claim.holds), "{checked:?}");
    assert_eq!(checked[1].claim, "no hyperplane through the origin separates 1 from -1");
    let forged = text.replacen("\"claims\"", "\"model\": \"x\\nholds  everything\", \"claims\"", 1);
    assert!(Certificate::from_text(&forged).is_err());
    let old = r#"{"format": "novikoff certificate", "version": 3,
        "data": {"hash": "rows:0", "rows": 2, "features": 1}, "claims": []}"#;
    assert!(Certificate::from_text(old).unwrap_err().contains("version 3"));
}

#[test]
fn small_files_do_not_ask_for_much_memory() {
    let labels: Vec<String> = (0..60).map(|label| label.to_string()).collect();
    let text: String = labels.iter().map(|label| format!("{label} 67108864:1\n")).collect();
    let data = read(&text);
    let mut joint = objective("logistic", 1.0, "none");
    joint["target"] = json!({"classes": labels});
    let direction = json!({"columns": [], "weights": [], "bias": 0.0});
    let weights: Vec<Value> = vec![direction; 60];
    let claim = json!({"objective": joint, "value": 4.1, "lower_bound": 4.0, "weights": weights});
    let found = verdicts(&data, &certificate(&data, "near-optimal", &claim)).unwrap();
    assert_eq!(found, [false, true, true], "referred to the checker that stores no zeros");
    let long = format!("[{}]", vec!["0"; 300].join(","));
    let listed = certificate(&data, "near-optimal", &claim).replacen(
        "\"weights\":[]",
        &format!("\"weights\":{long}"),
        1,
    );
    assert!(Certificate::from_text(&listed).unwrap_err().contains("must be packed"));
}

/// Numbers that love the ends of the exponent range, ties and zeros.
fn number() -> impl Strategy<Value = f64> {
    let odd = vec![
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        1e-308,
        1e-170,
        1e-154,
        1e-40,
        1e-39,
        3.4e38,
        3.5e38,
        1e154,
        1e170,
        1e300,
        f64::MAX,
    ];
    let sign = prop::sample::select(vec![1.0, -1.0]);
    let size = prop_oneof![
        6 => (-4..5i32).prop_map(f64::from),
        3 => -3.0..3.0f64,
        2 => (-320..308i32).prop_map(|power| 10f64.powi(power)),
        2 => prop::sample::select(odd),
    ];
    (sign, size).prop_map(|(sign, size)| sign * size)
}

/// One of these mostly, something odd at times.
fn often(usual: Vec<f64>) -> impl Strategy<Value = f64> {
    prop_oneof![8 => prop::sample::select(usual), 1 => number().prop_map(f64::abs)]
}

fn cases() -> impl Strategy<Value = Case> {
    let row = (any::<bool>(), [number(), number()], often(vec![1.0, 1.0, 2.0, 0.0]));
    let question = (
        prop::sample::select(LOSSES.to_vec()),
        often(vec![0.0, 1.0, 0.01]),
        often(vec![0.0, 0.0, 0.1]),
        prop::sample::select(vec!["free", "penalised", "none"]),
        prop::sample::select(vec![None, None, Some("max-abs"), Some("unit-variance")]),
        [often(vec![1.0]), often(vec![1.0])],
    );
    let perceptron = (
        prop::option::of(1..5u64),
        prop::option::of(often(vec![1.0, 0.1])),
        any::<bool>(),
        often(vec![1.0, 0.1]),
    );
    let numbers = (
        [number(), number(), number()],
        prop::collection::vec(number(), 6),
        prop::option::of(often(vec![1.0, 100.0])),
    );
    (prop::collection::vec(row, 1..6), question, perceptron, numbers).prop_map(
        |(rows, question, perceptron, numbers)| {
            let (loss, lambda, l1, bias, scale, class_weights) = question;
            let (passes, own, normalised, margin) = perceptron;
            let (weights, mut duals, within) = numbers;
            duals.truncate(rows.len());
            Case {
                rows,
                weights,
                duals,
                loss,
                lambda,
                l1,
                bias,
                scale,
                class_weights,
                within,
                passes,
                own,
                normalised,
                margin,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The strongest claim that doubles prove is one that exact arithmetic proves.
    #[test]
    fn doubles_never_prove_more_than_exact_arithmetic(case in cases()) {
        let found = case.disagreement();
        prop_assert!(found.is_none(), "{}", found.unwrap_or_default());
    }
}
