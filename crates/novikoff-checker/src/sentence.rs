//! What a claim says: one sentence with every part of the question in it, and the same as fields.

use crate::certificate::{
    Bias, Claim, Loss, MarginAtLeast, MarginAtMost, MistakesAtMost, NearOptimal, Objective, Scale, Sides,
    Target,
};
use crate::rows::Rows;
use serde_json::{Map, Value, json};

/// The claim in words. Labels are strings from outside: all but plain ones are quoted and escaped.
pub fn sentence(claim: &Claim, rows: &Rows, map: &str) -> String {
    let words = match claim {
        Claim::MarginAtLeast(claim) => {
            let (plane, sides, margin) = (hyperplane(claim.bias), sides(&claim.sides, rows), claim.margin);
            if margin > 0.0 {
                format!("a hyperplane {plane} separates {sides} with a margin of at least {margin:e}")
            } else {
                format!("a hyperplane {plane} has a margin of at least {margin:e} in separating {sides}")
            }
        }
        Claim::MarginAtMost(claim) => {
            let (plane, sides, margin) = (hyperplane(claim.bias), sides(&claim.sides, rows), claim.margin);
            format!("no hyperplane {plane} separates {sides} with a margin above {margin:e}")
        }
        Claim::NotSeparable(claim) => {
            format!("no hyperplane {} separates {}", hyperplane(claim.bias), sides(&claim.sides, rows))
        }
        Claim::NearOptimal(claim) => near_optimal(claim, rows),
        Claim::MistakesAtMost(claim) => mistakes(claim, rows),
    };
    if map.is_empty() { words } else { format!("{words} [features mapped by {map}]") }
}

fn near_optimal(claim: &NearOptimal, rows: &Rows) -> String {
    let below = match (claim.lower_bound, claim.within) {
        (None, _) => String::new(),
        (Some(bound), None) => format!(", and no weights make it less than {bound:e}"),
        (Some(bound), Some(within)) => {
            format!(", and no weights with ‖v‖ ≤ {within:e} make it less than {bound:e}")
        }
    };
    let of = &claim.objective;
    let target = match &of.target {
        Target::Sides(both) => format!("to tell {}", sides(both, rows)),
        Target::Classes(names) => format!("to tell {} apart jointly", labels(names)),
        Target::Numbers => "to predict numbers".into(),
    };
    let bias = match of.bias {
        Bias::Free => "a free bias",
        Bias::Penalised => "a penalised bias",
        Bias::None => "no bias",
    };
    let weights: Vec<String> =
        of.class_weights.iter().map(|(name, weight)| format!("{} = {weight:e}", label(name))).collect();
    let weights =
        if weights.is_empty() { String::new() } else { format!(", class weights {}", weights.join(", ")) };
    format!(
        "the weights make the objective at most {:e}{below}; \
         objective: mean {} loss, {target}, {bias}, λ = {:e}, l1 = {:e}{weights}{}",
        claim.value,
        loss(of.loss),
        of.lambda,
        of.l1,
        scale(of)
    )
}

fn scale(objective: &Objective) -> String {
    let how = match objective.scale {
        None => return String::new(),
        Some(Scale::MaxAbs) => "their largest absolute value",
        Some(Scale::UnitVariance) => "their standard deviation",
        Some(Scale::Standard) => "the power of two next to their spread",
    };
    let first = objective.scaled_columns.map_or_else(String::new, |count| format!(" (the first {count})"));
    format!(", columns scaled by {how}{first}")
}

fn mistakes(claim: &MistakesAtMost, rows: &Rows) -> String {
    let proof = &claim.proof;
    let kind = if proof.normalised { "normalised perceptron" } else { "perceptron" };
    let own = proof
        .own_feature
        .map_or_else(String::new, |own| format!(" and a feature of {own:e} of each row's own"));
    let passes = match proof.passes {
        None => "any number of passes".into(),
        Some(1) => "1 pass".into(),
        Some(passes) => format!("{passes} passes"),
    };
    let target = match &proof.target {
        Target::Sides(both) => sides(both, rows),
        Target::Classes(names) => format!("{} apart jointly", labels(names)),
        Target::Numbers => "numbers".into(),
    };
    let plane = hyperplane(proof.bias);
    let count = claim.mistakes;
    format!(
        "a {kind} {plane}{own} makes at most {count} mistakes in {passes} over the rows, \
         in any order, in telling {target}"
    )
}

fn hyperplane(bias: Bias) -> &'static str {
    match bias {
        Bias::Free => "with a free bias",
        Bias::Penalised => "with a bias that is a coordinate of 1 in every row",
        Bias::None => "through the origin",
    }
}

fn loss(loss: Loss) -> String {
    let name = match loss {
        Loss::Huber { width } => return format!("huber (width {width})"),
        Loss::Quantile { level } => return format!("quantile (level {level})"),
        Loss::Hinge => "hinge",
        Loss::SquaredHinge => "squared hinge",
        Loss::Logistic => "logistic",
        Loss::Exponential => "exponential",
        Loss::Squared => "squared",
        Loss::Absolute => "absolute",
        Loss::HingeAtZero => "hinge at zero",
    };
    name.to_owned()
}

fn label(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "+-._".contains(c));
    if plain { name.to_owned() } else { format!("{name:?}") }
}

fn labels(names: &[String]) -> String {
    names.iter().map(|name| label(name)).collect::<Vec<_>>().join(", ")
}

fn sides(sides: &Sides, rows: &Rows) -> String {
    let positive = labels(&sides.positive);
    let are_all = || sides.by_label(rows).is_ok_and(|sides| !sides.contains(&0));
    if sides.negative.len() > 3 && are_all() {
        return format!("{positive} from the {} other labels", sides.negative.len());
    }
    format!("{positive} from {}", labels(&sides.negative))
}

/// Every part of the question, as fields.
pub fn question(claim: &Claim, map: &str) -> Value {
    let mut parts = match claim {
        Claim::MarginAtLeast(MarginAtLeast { sides, bias, margin, .. }) => {
            json!({"claim": "margin-at-least", "sides": sides, "bias": bias, "margin": margin})
        }
        Claim::MarginAtMost(MarginAtMost { sides, bias, margin, .. }) => {
            json!({"claim": "margin-at-most", "sides": sides, "bias": bias, "margin": margin})
        }
        Claim::NotSeparable(claim) => {
            json!({"claim": "not-separable", "sides": claim.sides, "bias": claim.bias})
        }
        Claim::NearOptimal(claim) => {
            let of = &claim.objective;
            json!({
                "claim": "near-optimal", "target": of.target, "loss": of.loss, "lambda": of.lambda,
                "l1": of.l1, "bias": of.bias, "class_weights": of.class_weights, "scale": of.scale,
                "scaled_columns": of.scaled_columns, "value": claim.value,
                "lower_bound": claim.lower_bound, "within": claim.within,
            })
        }
        Claim::MistakesAtMost(claim) => {
            let proof = &claim.proof;
            json!({
                "claim": "mistakes-at-most", "target": proof.target, "bias": proof.bias,
                "normalised": proof.normalised, "own_feature": proof.own_feature,
                "passes": proof.passes, "mistakes": claim.mistakes,
            })
        }
    };
    if let (Some(parts), Ok(map)) = (parts.as_object_mut(), serde_json::from_str::<Map<String, Value>>(map)) {
        parts.insert("map".into(), Value::Object(map));
    }
    parts
}
