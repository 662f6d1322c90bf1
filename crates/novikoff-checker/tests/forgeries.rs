//! Certificates whose claims are false, or whose witnesses are none. Most of these once passed a checker in
//! floating-point arithmetic.

mod common;

use common::{certificate, combination, fails, holds, margin_at_least, margin_at_most, mistakes_at_most};
use common::{proof, svm, two, verdict, weighted, with};
use novikoff_checker::check;
use proptest::prelude::*;
use serde_json::{Value, json};

fn objective(loss: &str, bias: &str, lambda: f64, l1: f64) -> Value {
    json!({"target": {"sides": two()}, "loss": loss, "lambda": lambda, "l1": l1, "bias": bias})
}

fn near(objective: Value, value: f64, lower_bound: Value, weights: &[f64], bias: f64, duals: Value) -> Value {
    json!({"near-optimal": {"objective": objective, "value": value, "lower_bound": lower_bound,
        "weights": [{"weights": weights, "bias": bias}], "duals": duals}})
}

fn not_separable(bias: &str, rows: &[u32], multipliers: &[&str]) -> Value {
    json!({"not-separable": {"sides": two(), "bias": bias, "combination": combination(rows, multipliers)}})
}

fn at_least(bias: &str, margin: f64, weights: &[f64], b: f64) -> Value {
    margin_at_least(bias, margin, json!({"weights": weights, "bias": b}))
}

#[test]
fn a_value_below_the_lower_bound() {
    let rows = svm("1 1:1; -1 1:-1");
    let weights = json!([["1", 1e-200], ["-1", 1e-200]]);
    let tiny = with(objective("hinge", "none", 1e-200, 0.0), "class_weights", weights);
    fails(&rows, near(tiny.clone(), 5.1e-201, json!(9.99e-201), &[1.0], 0.0, json!([-1, 1])));
    // The minimum of λ/2·w² + 1e-200·max(0, 1 − w) is 5e-201.
    let proved = fails(&rows, near(tiny.clone(), 9.995e-201, json!(9.99e-201), &[1.0], 0.0, json!([-1, 1])));
    assert!(proved.contains("no weights make it less than 5"), "{proved}");
    holds(&rows, near(tiny, 5.1e-201, json!(4.99e-201), &[1.0], 0.0, json!([-1, 1])));
    assert!(
        fails(&rows, near(objective("hinge", "none", 1.0, 0.0), 1.0, json!(1.5), &[1.0], 0.0, json!(null)))
            .contains("below the lower bound")
    );
}

#[test]
fn subnormal_and_zero_directions() {
    let rows = svm("1 1:1000 2:1000; -1 1:-1000 2:-1000");
    fails(&rows, at_least("none", 1990.0, &[5e-324, 5e-324], 0.0));
    holds(&rows, at_least("none", 1414.2, &[5e-324, 5e-324], 0.0));
    fails(&rows, at_least("none", 1414.3, &[5e-324, 5e-324], 0.0));
    let overlapping = svm("1 1:1; -1 1:2");
    for bias in ["none", "penalised", "free"] {
        assert!(fails(&overlapping, at_least(bias, 0.0, &[0.0], 0.0)).contains("weights are zero"));
    }
    assert!(fails(&overlapping, at_least("free", 0.0, &[0.0], 1.0)).contains("weights are zero"));
    let empty = json!({"columns": [], "weights": [], "bias": 0});
    fails(&overlapping, margin_at_least("free", 0.0, empty));
    let far = svm("1 1:-1000; -1 1:-1000");
    fails(&far, at_least("none", -1e-9, &[5e-324], 0.0));
    holds(&far, at_least("none", -1000.0, &[5e-324], 0.0));
    fails(&far, at_least("none", -999.999, &[5e-324], 0.0));
    let no_mistakes = |mistakes: u64, margin: f64| {
        let weights = json!([{"weights": [5e-324, 5e-324], "bias": 0}]);
        mistakes_at_most(mistakes, proof(json!({"sides": two()}), margin, weights))
    };
    fails(&rows, no_mistakes(0, 1990.0));
    fails(&rows, no_mistakes(0, 1414.0));
    holds(&rows, no_mistakes(1, 1414.0));
}

#[test]
fn margins_are_decided_at_equality() {
    // ‖(3, 4)‖ = 5, and the row has the score 25.
    let rows = svm("1 1:3 2:4; -1 1:-3 2:-4");
    holds(&rows, at_least("none", 5.0, &[3.0, 4.0], 0.0));
    fails(&rows, at_least("none", 5.000000000000001, &[3.0, 4.0], 0.0));
    let at_most = |margin: f64, bias: &str, multipliers: [f64; 2]| {
        margin_at_most(bias, margin, combination(&[0, 1], multipliers))
    };
    holds(&rows, at_most(5.0, "none", [1e-300, 1e-300]));
    fails(&rows, at_most(4.999999999999999, "none", [1.0, 1.0]));
    holds(&rows, at_most(5.0, "free", [5e-324, 1e308]));
    fails(&rows, at_most(4.999999999999999, "free", [1.0, 3.0]));
    fails(&rows, at_most(-5.0, "none", [1.0, 1.0]));
    holds(&rows, at_most(5.0, "penalised", [1.0, 1.0]));
    fails(&rows, at_most(5.0, "penalised", [1.0, 2.0]));
    fails(&rows, at_most(5.0, "none", [1.0, 0.0]));
    fails(&rows, at_most(5.0, "none", [1.0, -1.0]));
    fails(&rows, margin_at_most("none", 5.0, json!({"rows": [], "multipliers": []})));
    let one_side = margin_at_most("free", 5.0, combination(&[0], [1]));
    assert!(fails(&rows, one_side).contains("only one side"));
}

#[test]
fn multinomial_with_huge_weights() {
    let rows = svm("1 1:1; 2 1:-1; 3 1:0.5");
    let objective =
        with(objective("logistic", "none", 0.0, 0.0), "target", json!({"classes": ["1", "2", "3"]}));
    let claim = |value: f64, weight: f64| {
        let weights = [weight, -weight, 0.0].map(|w| json!({"weights": [w], "bias": 0}));
        json!({"near-optimal": {"objective": objective, "value": value, "weights": weights}})
    };
    fails(&rows, claim(1e-9, 1e308));
    fails(&rows, claim(1e307, 1e308));
    // The third row has a loss of 0.5e308, and the mean is a third of it.
    holds(&rows, claim(1.67e307, 1e308));
}

#[test]
fn huge_rows_with_a_scale() {
    let rows = svm("1 1:1e300 2:1; -1 1:-1e300 2:1");
    let scaled = with(objective("squared", "none", 1.0, 0.0), "scale", json!("max-abs"));
    // At w = 0 the objective is 1. The optimum is (1 − w·1e300)² + w²·1e600/2 with w·1e300 = 2/3: 1/3.
    fails(&rows, near(scaled.clone(), 9.1e23, json!(9e23), &[0.0, 0.0], 0.0, json!([-2, 2])));
    fails(
        &rows,
        near(
            scaled.clone(),
            1.0,
            json!(0.34),
            &[0.0, 0.0],
            0.0,
            json!([-0.6666666666666666, 0.6666666666666666]),
        ),
    );
    holds(
        &rows,
        near(
            scaled.clone(),
            1.0,
            json!(0.33333),
            &[0.0, 0.0],
            0.0,
            json!([-0.6666666666666666, 0.6666666666666666]),
        ),
    );
    let overflow = svm("1 1:1e300; -1 1:1e300; 1 1:1");
    let squared = with(objective("squared", "none", 1e-300, 0.0), "scale", json!("max-abs"));
    fails(&overflow, near(squared, 1e24, json!(9e23), &[0.0], 0.0, json!([1e300, 1e300, 1e300])));
}

#[test]
fn tiny_rows_that_contradict_one_another() {
    let rows = svm("1 1:1e-170; -1 1:1e-170; 1 1:1e-170");
    let claim = |mistakes: u64, passes: Value| {
        let unit = json!([{"weights": [1], "bias": 0}]);
        mistakes_at_most(mistakes, with(proof(json!({"sides": two()}), 0.5e-170, unit), "passes", passes))
    };
    assert!(fails(&rows, claim(4, json!(null))).contains("every pass"));
    fails(&rows, claim(1_000_000, json!(null)));
    // R = 2γ, D = 3γ: ((2 + 3√T))².
    holds(&rows, claim(25, json!(1)));
    fails(&rows, claim(24, json!(1)));
    holds(&rows, claim(64, json!(4)));
    fails(&rows, claim(63, json!(4)));
}

#[test]
fn mistakes_at_whole_bounds() {
    // Three orthogonal rows, u = (−1, 1, −1), γ = 1/√3: (R/γ)² is 3, but a γ below 1/√3 gives a little more
    // than 3.
    let rows = svm("-1 1:1; 1 2:1; -1 3:1");
    let claim = |margin: f64, normalised: bool, mistakes: u64| {
        let proof = proof(json!({"sides": two()}), margin, json!([{"weights": [-1, 1, -1], "bias": 0}]));
        mistakes_at_most(mistakes, with(proof, "normalised", json!(normalised)))
    };
    for normalised in [false, true] {
        fails(&rows, claim(0.5773502691896257, normalised, 2));
        holds(&rows, claim(0.5773502691896257, normalised, 3));
        // Above 1/√3 the margin is not there.
        fails(&rows, claim(0.5773502691896258, normalised, 3));
    }
    let four = svm("1 1:2; -1 1:-2");
    let exact = |mistakes: u64| {
        let unit = json!([{"weights": [1], "bias": 0}]);
        mistakes_at_most(mistakes, proof(json!({"sides": two()}), 1.0, unit))
    };
    holds(&four, exact(4));
    fails(&four, exact(3));
}

#[test]
fn mistakes_with_own_features_and_of_classes() {
    let rows = svm("1 1:1; -1 1:1");
    let own = |mistakes: u64, passes: Value| {
        let proof = proof(json!({"sides": two()}), 1.0, json!([{"weights": [1], "bias": 0}]));
        mistakes_at_most(mistakes, with(with(proof, "own_feature", json!(1)), "passes", passes))
    };
    // R² = 1, Δ = 1, D² = 4: 2·5 = 10.
    holds(&rows, own(10, json!(null)));
    fails(&rows, own(9, json!(null)));
    fails(&rows, own(10, json!(1)));
    let three = svm("a 1:1; b 2:1; c 3:1");
    let joint = |mistakes: u64, margin: f64, classes: Value| {
        let weights: Vec<Value> =
            (0..3).map(|c| json!({"columns": [c], "weights": [1], "bias": 0})).collect();
        let proof = proof(json!({"classes": classes}), margin, json!(weights));
        mistakes_at_most(mistakes, with(proof, "normalised", json!(true)))
    };
    // ‖u‖² = 3, lead 1, R² = 2: 2·3 = 6.
    holds(&three, joint(6, 0.5773502691896257, json!(["a", "b", "c"])));
    fails(&three, joint(5, 0.5773502691896257, json!(["a", "b", "c"])));
    fails(&three, joint(6, 0.6, json!(["a", "b", "c"])));
    fails(&three, joint(6, 0.5, json!(["a", "b", "b"])));
    fails(&three, joint(6, 0.5, json!(["a", "b", "d"])));
    let heavy = weighted(&[(0, 2.0, &[(0, 1.0)]), (1, 1.0, &[(0, -1.0)])], 1, &["1", "-1"]);
    assert!(fails(&heavy, own(100, json!(null))).contains("weight 0 or 1"));
}

#[test]
fn normalised_rows_are_divided_by_their_lengths() {
    // Lengths 5 and 10; both leads are 0.6 of the length, and the bias is none.
    let rows = svm("1 1:3 2:4; -1 1:-6 2:8; 1");
    let claim = |mistakes: u64, passes: u64, margin: f64| {
        let proof = proof(json!({"sides": two()}), margin, json!([{"weights": [2, 0], "bias": 0}]));
        let normalised = with(proof, "normalised", json!(true));
        mistakes_at_most(mistakes, with(normalised, "passes", json!(passes)))
    };
    // R = 1; the empty row falls short by γ = 0.5: (1 + 0.5√4)²/0.25 = 16.
    holds(&rows, claim(16, 4, 0.5));
    fails(&rows, claim(15, 4, 0.5));
    // With γ = 1 the others fall short by 0.4: D² = 1 + 2·0.16, and (1 + 2·√1.32)² = 10.87….
    holds(&rows, claim(10, 4, 1.0));
    fails(&rows, claim(9, 4, 1.0));
}

#[test]
fn row_weights_at_the_ends_of_the_range() {
    // The weights sum to more than any double; exactly, they are just numbers.
    let rows = weighted(&[(0, 1.5e308, &[(0, 1.0)]), (1, 1.5e308, &[(0, -1.0)])], 1, &["1", "-1"]);
    let hinge = objective("hinge", "none", 1.0, 0.0);
    holds(&rows, near(hinge.clone(), 0.5, json!(0.5), &[1.0], 0.0, json!([-1, 1])));
    fails(&rows, near(hinge.clone(), 0.499, json!(null), &[1.0], 0.0, json!(null)));
    fails(&rows, near(hinge.clone(), 0.6, json!(0.500001), &[1.0], 0.0, json!([-1, 1])));
    // A subnormal row weight times a class weight is a number of its own.
    let tiny = weighted(&[(0, 5e-324, &[(0, 1.0)]), (1, 5e-324, &[(0, 1.0)])], 1, &["1", "-1"]);
    let rounded = with(hinge, "class_weights", json!([["1", 0.4], ["-1", 0.6]]));
    // At w = 0: (0.4 + 0.6)/2. In doubles 5e-324·0.4 is 0 and 5e-324·0.6 is 5e-324.
    holds(&tiny, near(rounded.clone(), 0.5, json!(null), &[0.0], 0.0, json!(null)));
    fails(&tiny, near(rounded.clone(), 0.4999, json!(null), &[0.0], 0.0, json!(null)));
    // With w = −0.1: 0.4·1.1/2 + 0.6·0.9/2 + 0.005.
    holds(&tiny, near(rounded.clone(), 0.4950001, json!(0.494999), &[-0.1], 0.0, json!([-1, 1])));
    fails(&tiny, near(rounded, 0.6, json!(0.49501), &[-0.1], 0.0, json!([-1, 1])));
}

#[test]
fn halves_and_products_that_underflow() {
    let rows = svm("1 1:1; -1 1:-1");
    // ½·5e-324·(1e200)² is 2.5e76, though half of λ is zero in doubles.
    let smallest = objective("hinge", "none", 5e-324, 0.0);
    fails(&rows, near(smallest.clone(), 1e-9, json!(null), &[1e200], 0.0, json!(null)));
    holds(&rows, near(smallest, 2.5e76, json!(null), &[1e200], 0.0, json!(null)));
    // The scale brings back what a product of weights has lost.
    let scaled = svm("1 1:1e300; -1 1:-1e300");
    let max_abs = with(objective("hinge", "none", 1.0, 0.0), "scale", json!("max-abs"));
    // v = 1e-324·… is not stored; w = 1e-300 has v = 1.
    fails(&scaled, near(max_abs.clone(), 0.49, json!(null), &[1e-300], 0.0, json!(null)));
    holds(&scaled, near(max_abs, 0.5000001, json!(0.49999), &[1e-300], 0.0, json!([-1, 1])));
    // A variance of 1e-400 is not zero.
    let near_one = svm("1 1:1e-200; -1 1:-1e-200");
    let unit = with(objective("hinge", "none", 1.0, 0.0), "scale", json!("unit-variance"));
    // With m = 1e-200 the objective at w = 1e200 has v = 1: 0.5. With m = 1 it would be 5e399.
    holds(&near_one, near(unit.clone(), 0.5000001, json!(0.499999), &[1e200], 0.0, json!([-1, 1])));
    fails(&near_one, near(unit.clone(), 0.4999, json!(null), &[1e200], 0.0, json!(null)));
    // With m = 1 the duals would prove 1.
    fails(&near_one, near(unit, 1.1, json!(0.51), &[1e200], 0.0, json!([-1, 1])));
}

#[test]
fn claims_say_all_they_claim() {
    let rows = svm("1 1:2; -1 1:1");
    let claim = not_separable("none", &[0, 1], &["1", "2"]);
    let found = verdict(&rows, claim.clone());
    assert_eq!(
        (found.claim.as_str(), found.holds),
        ("no hyperplane through the origin separates 1 from -1", true)
    );
    let mut free = claim;
    free["not-separable"]["bias"] = json!("free");
    fails(&rows, free);
    let text = certificate(&rows, &[at_least("free", -9.0, &[1.0], 0.0)]);
    for model in ["blake3:0\nholds  everything", "blake3:AA", "xxh3:00", ""] {
        let mut forged: Value = serde_json::from_str(&text).unwrap();
        forged["model"] = json!(model);
        assert!(check(&forged.to_string(), &rows, None).is_err(), "{model:?}");
    }
    let mut named: Value = serde_json::from_str(&text).unwrap();
    named["model"] = json!(format!("blake3:{}", "0a".repeat(32)));
    assert!(check(&named.to_string(), &rows, None).is_ok());
}

#[test]
fn not_separable_needs_an_exact_zero() {
    let rows = svm("1 1:0.1 2:1; -1 1:0.3 2:3; 1 1:1e300; -1 1:1e300; 1");
    let claim = |rows: &[u32], multipliers: &[&str], bias: &str| not_separable(bias, rows, multipliers);
    // 3·0.1 is not 0.3 in binary.
    fails(&rows, claim(&[0, 1], &["3", "1"], "none"));
    holds(&rows, claim(&[2, 3], &["7", "7"], "free"));
    holds(&rows, claim(&[4], &["1"], "none"));
    fails(&rows, claim(&[4], &["1"], "penalised"));
    for wrong in ["0", "-1", "+1", "01", "1.0", "", "1e3", " 1"] {
        fails(&rows, claim(&[2, 3], &[wrong, wrong], "free"));
    }
    let long = "1".repeat(50_000);
    holds(&rows, claim(&[2, 3], &[&long, &long], "free"));
    let longer = "1".repeat(50_001);
    fails(&rows, claim(&[2, 3], &[&longer, &longer], "free"));
    fails(&rows, claim(&[], &[], "none"));
    fails(&rows, claim(&[3, 2], &["1", "1"], "none"));
    fails(&rows, claim(&[2, 2], &["1", "1"], "none"));
    fails(&rows, claim(&[2, 9], &["1", "1"], "none"));
    fails(&rows, claim(&[2, 3], &["1"], "none"));
}

#[test]
fn memory_is_not_asked_for_by_an_index() {
    let labels: Vec<String> = (0..60).map(|label| label.to_string()).collect();
    let text: Vec<String> = labels.iter().map(|label| format!("{label} 1:1")).collect();
    let rows = svm(&text.join("\n"));
    let weights: Vec<Value> =
        labels.iter().map(|_| json!({"columns": [67_108_864], "weights": [1], "bias": 0})).collect();
    let objective = with(objective("logistic", "none", 1.0, 0.0), "target", json!({"classes": labels}));
    let claim = |value: f64, lower_bound: f64, weights: &[Value]| {
        json!({"near-optimal": {
            "objective": objective, "value": value, "lower_bound": lower_bound, "weights": weights,
        }})
    };
    assert!(fails(&rows, claim(9.0, 0.0, &weights)).contains("behind the last"));
    // Rows that do have such a column: nothing is as wide as they are.
    let wide: Vec<String> = labels.iter().map(|label| format!("{label} 1:1 67108865:1")).collect();
    let wide = svm(&wide.join("\n"));
    let mut weights = weights;
    weights.iter_mut().for_each(|direction| direction["weights"] = json!([0.0]));
    holds(&wide, claim(4.1, 4.0, &weights));
}

#[test]
fn long_lists_must_be_packed() {
    let rows = svm("1 1:1; -1 1:-1");
    let list = vec!["1"; 257].join(",");
    let text = certificate(&rows, &[at_least("none", 0.0, &[1.5], 0.0)]);
    let long = text.replace("[1.5]", &format!("[{list}]"));
    assert!(check(&long, &rows, None).unwrap_err().contains("must be packed"));
    let bomb = text.replace("[1.5]", &format!("[{}", "1,".repeat(5_000_000)));
    assert!(check(&bomb, &rows, None).is_err());
}

#[test]
fn unknown_repeated_and_old_parts_are_refused() {
    let rows = svm("1 1:1; -1 1:-1");
    let text = certificate(&rows, &[at_least("none", 1.0, &[1.5], 0.0)]);
    assert!(check(&text, &rows, None).unwrap().iter().all(|verdict| verdict.holds));
    for (old, new) in [
        ("\"version\":4", "\"version\":5"),
        ("\"version\":4", "\"version\":4,\"version\":4"),
        ("\"version\":4", "\"version\":4,\"more\":1"),
        ("\"format\":\"novikoff certificate\"", "\"format\":\"novikoff certificates\""),
        ("\"margin\":1.0", "\"margin\":1.0,\"margin\":1.0"),
        ("\"margin\":1.0", "\"margin\":1.0,\"epochs\":1"),
        ("\"margin\":1.0", "\"margin\":1e999"),
        ("\"margin\":1.0", "\"margin\":NaN"),
        ("\"margin\":1.0", "\"margin\":\"1\""),
        ("\"bias\":\"none\"", "\"bias\":\"some\""),
        ("[1.5]", "{\"f64\":\"AAAAAAAA+D8=\",\"f64\":\"AAAAAAAA+D8=\"}"),
        ("[1.5]", "{\"f32\":\"AADAPw==\"}"),
        ("[1.5]", "{\"f64\":\"AAAAAAAA8H8=\"}"),
        ("\"margin-at-least\"", "\"margin-at-all\""),
        ("\"claims\":[", "\"claims\":[],\"x\":["),
    ] {
        assert!(text.contains(old), "{old}");
        assert!(check(&text.replacen(old, new, 1), &rows, None).is_err(), "{new}");
    }
    let packed = text.replace("[1.5]", "{\"f64\":\"AAAAAAAA+D8=\"}");
    assert!(check(&packed, &rows, None).unwrap().iter().all(|verdict| verdict.holds));
    for version in 1..4 {
        let old = text.replace("\"version\":4", &format!("\"version\":{version}"));
        assert!(check(&old, &rows, None).unwrap_err().contains("hint: write the certificate again"));
    }
    let empty = certificate(&rows, &[]);
    assert!(check(&empty, &rows, None).unwrap_err().contains("claims nothing"));
    let two_claims = text.replace("\"claims\":[{", "\"claims\":[{\"not-separable\":{},");
    assert!(check(&two_claims, &rows, None).is_err());
}

#[test]
fn claims_about_other_rows_fail() {
    let (rows, other) = (svm("1 1:1; -1 1:-1"), svm("1 1:2; -1 1:-2"));
    let text = certificate(&rows, &[at_least("none", 1.0, &[1.0], 0.0)]);
    let verdicts = check(&text, &other, None).unwrap();
    assert!(verdicts.iter().all(|verdict| !verdict.holds));
    assert_eq!(verdicts[1].detail, "about other rows");
    assert!(verdicts[0].detail.contains(rows.hash()) && verdicts[0].detail.contains(other.hash()));
    // The hash is right, the counts are not; or a map is claimed that the rows do not have.
    for (old, new) in [
        ("\"rows\":2", "\"rows\":3"),
        ("\"columns\":1", "\"columns\":2"),
        ("\"version\":4", "\"version\":4,\"map\":{\"poly\":{\"degree\":2}}"),
    ] {
        let forged = text.replacen(old, new, 1);
        assert!(check(&forged, &rows, None).unwrap().iter().all(|verdict| !verdict.holds), "{new}");
    }
}

#[test]
fn witnesses_that_do_not_fit_are_refused() {
    let rows = svm("1 1:1; -1 1:-1; 2 1:5");
    let hinge = objective("hinge", "none", 1.0, 0.0);
    // Row 2 is on neither side.
    assert!(
        fails(&rows, near(hinge.clone(), 9.0, json!(null), &[1.0], 0.0, json!(null)))
            .contains("neither side")
    );
    let rows = svm("1 1:1; -1 1:-1");
    let fine = |objective: &Value| near(objective.clone(), 1.0, json!(0.0), &[1.0], 0.0, json!(null));
    holds(&rows, fine(&hinge));
    for (field, wrong) in [
        ("lambda", json!(-1)),
        ("l1", json!(-1)),
        ("class_weights", json!([["1", -1]])),
        ("class_weights", json!([["1", 1], ["+1.0", 1]])),
        ("class_weights", json!([["3", 1]])),
        ("scaled_columns", json!(1)),
        ("target", json!({"sides": {"positive": ["1"], "negative": []}})),
        ("target", json!({"sides": {"positive": ["1"], "negative": ["1.0"]}})),
        ("target", json!({"sides": {"positive": ["1"], "negative": ["-1", "9"]}})),
        ("target", json!({"sides": {"positive": ["1", "-1"], "negative": ["-1"]}})),
        ("target", json!("numbers")),
        ("target", json!({"classes": ["1", "-1"]})),
    ] {
        fails(&rows, fine(&with(hinge.clone(), field, wrong)));
    }
    fails(&rows, near(hinge.clone(), 1.0, json!(0.0), &[1.0], 0.5, json!(null)));
    fails(&rows, near(hinge.clone(), 1.0, json!(0.0), &[1.0, 1.0], 0.0, json!(null)));
    fails(&rows, near(hinge.clone(), 1.0, json!(0.0), &[1.0], 0.0, json!([0.0])));
    let mut within = fine(&hinge);
    within["near-optimal"]["within"] = json!(1);
    fails(&rows, within);
    let mut two = fine(&hinge);
    two["near-optimal"]["weights"] = json!([{"weights": [1], "bias": 0}, {"weights": [1], "bias": 0}]);
    fails(&rows, two);
    // Without a penalty nothing follows for all weights.
    assert!(
        fails(&rows, near(objective("hinge", "none", 0.0, 0.0), 1.0, json!(0.1), &[1.0], 0.0, json!(null)))
            .contains("within")
    );
    // But no objective is negative.
    holds(&rows, near(objective("hinge", "none", 0.0, 0.0), 1.0, json!(0.0), &[1.0], 0.0, json!(null)));
    for columns in [json!([1]), json!([0, 0]), json!([4_294_967_295u32])] {
        let direction =
            json!({"columns": columns, "weights": vec![1; columns.as_array().unwrap().len()], "bias": 0});
        fails(&rows, margin_at_least("free", -9.0, direction));
    }
    // Rows of weight zero do not count, and one must.
    let nobody = weighted(&[(0, 0.0, &[(0, 1.0)]), (1, 0.0, &[(0, -1.0)])], 1, &["1", "-1"]);
    assert!(fails(&nobody, at_least("none", 0.0, &[1.0], 0.0)).contains("no row counts"));
    assert!(fails(&nobody, fine(&hinge)).contains("no row counts"));
}

#[test]
fn nothing_from_outside_adds_a_line() {
    let rows = svm("1 1:1; -1 1:-1");
    let text = certificate(&rows, &[at_least("none", 1.0, &[1.5], 0.0)]);
    let evil = "x\\nholds  all of it\\u2028";
    for (old, new) in [
        ("\"version\":4", format!("\"version\":4,\"{evil}\":1")),
        ("\"margin\":1.0", format!("\"{evil}\":1")),
    ] {
        let error = check(&text.replacen(old, &new, 1), &rows, None).unwrap_err();
        assert!(error.contains("holds") && !error.contains('\n'), "{error}");
    }
    let label = text.replacen("[\"1\"]", &format!("[\"{evil}\"]"), 1);
    let hash = text.replacen("\"hash\":\"", &format!("\"hash\":\"{evil}"), 1);
    for forged in [label, hash] {
        for verdict in check(&forged, &rows, None).unwrap() {
            assert!(!verdict.claim.contains('\n') && !verdict.detail.contains('\n'), "{verdict:?}");
        }
    }
}

proptest! {
    /// A certificate with a byte changed, or a number replaced by one from the ends of the range, is checked
    /// or refused.
    #[test]
    fn no_certificate_makes_it_panic(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        which in 0usize..30,
        number in prop::sample::select(vec![
            "0",
            "-0.0",
            "1e308",
            "-1e308",
            "5e-324",
            "1e-200",
            "4294967295",
            "[]",
            "null",
        ]),
    ) {
        let rows = svm("1 1:1e300 2:1e-300; -1 1:5e-324; 1");
        let hinge = with(objective("logistic", "free", 0.5, 0.25), "scale", json!("unit-variance"));
        let proof = json!({
            "target": {"classes": ["1", "-1"]}, "bias": "penalised", "normalised": true, "passes": 3,
            "margin": 0.5, "weights": [{"weights": [1, 2], "bias": 3}, {"weights": [-1, 2], "bias": 3}],
        });
        let text = certificate(
            &rows,
            &[
                near(hinge, 9.0, json!(-9), &[1.0, 2.0], 1.0, json!([-1, 1, 0.5])),
                mistakes_at_most(5, proof),
                margin_at_most("free", 5.0, combination(&[0, 1], [1, 2])),
            ],
        );
        let mut changed = text.clone().into_bytes();
        changed[at.index(text.len())] = byte;
        let _ = check(&String::from_utf8_lossy(&changed), &rows, None);
        // One number after another.
        let mut places = Vec::new();
        let mut inside = false;
        for (place, c) in text.char_indices() {
            let digit = c.is_ascii_digit() || "+-.e".contains(c);
            if digit && !inside && text[..place].ends_with([':', ',', '[']) {
                places.push(place);
            }
            inside = digit;
        }
        let place = places[which % places.len()];
        let length = text[place..].find([',', ']', '}']).unwrap();
        let _ = check(&format!("{}{number}{}", &text[..place], &text[place + length..]), &rows, None);
    }
}
