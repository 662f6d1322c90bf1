//! Claims in words: one sentence with every part of the question, and the same parts as fields.

use super::file::Claim;
use super::mistakes::MistakeProof;
use super::objective::{Objective, Target};
use super::proof::Sides;
use crate::data::Scale;
use crate::features::map::Map;
use crate::penalty::Bias;
use serde_json::{Value, json};

/// A claim with what it takes to understand it.
pub(super) struct Question<'a> {
    pub claim: &'a Claim,
    /// The map that made the rows, if one did.
    pub map: Option<Map>,
    /// How many labels the rows have.
    pub labels: usize,
}

impl Question<'_> {
    /// In one sentence.
    pub(super) fn sentence(&self) -> String {
        let sentence = match self.claim {
            Claim::MarginAtLeast { sides, bias, margin, .. } if *margin > 0.0 => {
                format!(
                    "a hyperplane {} separates {} with a margin of at least {margin:e}",
                    hyperplane(*bias),
                    self.sides(sides)
                )
            }
            Claim::MarginAtLeast { sides, bias, margin, .. } => format!(
                "a hyperplane {} has a margin of at least {margin:e} in separating {}",
                hyperplane(*bias),
                self.sides(sides)
            ),
            Claim::MarginAtMost { sides, bias, margin, .. } => {
                format!(
                    "no hyperplane {} separates {} with a margin above {margin:e}",
                    hyperplane(*bias),
                    self.sides(sides)
                )
            }
            Claim::NotSeparable { sides, bias, .. } => {
                format!("no hyperplane {} separates {}", hyperplane(*bias), self.sides(sides))
            }
            Claim::NearOptimal { objective, value, lower_bound, within, .. } => {
                let below = match (lower_bound, within) {
                    (None, _) => String::new(),
                    (Some(bound), None) => format!(", and no weights make it less than {bound:e}"),
                    (Some(bound), Some(within)) => {
                        format!(", and no weights with ‖v‖ ≤ {within:e} make it less than {bound:e}")
                    }
                };
                format!(
                    "the weights make the objective at most {value:e}{below}; {}",
                    self.objective(objective)
                )
            }
            Claim::MistakesAtMost { mistakes, proof } => self.mistakes(*mistakes, proof),
        };
        match self.map {
            Some(map) => format!("{sentence} [features mapped by {}]", json!(map)),
            None => sentence,
        }
    }

    fn sides(&self, Sides { positive, negative }: &Sides) -> String {
        match negative.len() > 3 && positive.len() + negative.len() == self.labels {
            true => format!("{} from the {} other labels", labels(positive), negative.len()),
            false => format!("{} from {}", labels(positive), labels(negative)),
        }
    }

    fn target(&self, target: &Target) -> String {
        match target {
            Target::Sides(sides) => self.sides(sides),
            Target::Classes(names) => format!("{} apart jointly", labels(names)),
            Target::Numbers => "numbers".into(),
        }
    }

    fn objective(&self, objective: &Objective) -> String {
        let Objective { target, loss, lambda, l1, bias, class_weights, scale, scaled_columns } = objective;
        let verb = if *target == Target::Numbers { "predict" } else { "tell" };
        let bias = match bias {
            Bias::Free => "a free bias",
            Bias::Penalised => "a penalised bias",
            Bias::None => "no bias",
        };
        let mut text = format!(
            "objective: mean {} loss, to {verb} {}, {bias}, λ = {lambda:e}, l1 = {l1:e}",
            loss.describe().replace('-', " "),
            self.target(target)
        );
        if !class_weights.is_empty() {
            let weights: Vec<String> =
                class_weights.iter().map(|(name, weight)| format!("{} = {weight:e}", label(name))).collect();
            text += &format!(", class weights {}", weights.join(", "));
        }
        text += match scale {
            Scale::None => "",
            Scale::MaxAbs => ", columns scaled by their largest absolute value",
            Scale::UnitVariance => ", columns scaled by their standard deviation",
            Scale::Standard => ", columns scaled by the power of two next to their spread",
        };
        if let Some(columns) = scaled_columns {
            text += &format!(" (the first {columns})");
        }
        text
    }

    fn mistakes(&self, mistakes: u64, proof: &MistakeProof) -> String {
        let kind = if proof.normalised { "normalised perceptron" } else { "perceptron" };
        let own = proof
            .own_feature
            .map_or_else(String::new, |own| format!(" and a feature of {own:e} of each row's own"));
        let passes = match proof.passes {
            None => "any number of passes".into(),
            Some(1) => "1 pass".into(),
            Some(passes) => format!("{passes} passes"),
        };
        format!(
            "a {kind} {}{own} makes at most {mistakes} mistakes in {passes} over the rows, in any order, in \
             telling {}",
            hyperplane(proof.bias),
            self.target(&proof.target)
        )
    }

    /// The parts of the question, without the witness.
    pub(super) fn fields(&self) -> Value {
        let mut fields = match self.claim {
            Claim::MarginAtLeast { sides, bias, margin, .. } => {
                json!({"claim": "margin-at-least", "sides": sides, "bias": bias, "margin": margin})
            }
            Claim::MarginAtMost { sides, bias, margin, .. } => {
                json!({"claim": "margin-at-most", "sides": sides, "bias": bias, "margin": margin})
            }
            Claim::NotSeparable { sides, bias, .. } => {
                json!({"claim": "not-separable", "sides": sides, "bias": bias})
            }
            Claim::NearOptimal { objective, value, lower_bound, within, .. } => json!({
                "claim": "near-optimal",
                "objective": objective,
                "value": value,
                "lower_bound": lower_bound,
                "within": within,
            }),
            Claim::MistakesAtMost { mistakes, proof } => json!({
                "claim": "mistakes-at-most",
                "mistakes": mistakes,
                "target": proof.target,
                "bias": proof.bias,
                "normalised": proof.normalised,
                "own_feature": proof.own_feature,
                "passes": proof.passes,
            }),
        };
        fields["map"] = json!(self.map);
        fields
    }
}

/// What hyperplanes are spoken of.
fn hyperplane(bias: Bias) -> &'static str {
    match bias {
        Bias::Free => "with a free bias",
        Bias::Penalised => "with a bias that is a coordinate of 1 in every row",
        Bias::None => "through the origin",
    }
}

/// A label as it is where nobody can mistake it for something else, in quotes and escaped where somebody
/// could.
fn label(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "+-._".contains(c));
    if is_plain { name.to_owned() } else { format!("{name:?}") }
}

fn labels(names: &[String]) -> String {
    names.iter().map(|name| label(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_forge_lines_or_lists() {
        assert_eq!(label("+1.5"), "+1.5");
        assert_eq!(label("a, b"), "\"a, b\"");
        assert_eq!(label("x\nholds  everything"), "\"x\\nholds  everything\"");
        assert_eq!(label("\u{1b}[2J"), "\"\\u{1b}[2J\"");
        assert_eq!(label(""), "\"\"");
    }

    #[test]
    fn a_sentence_says_through_which_point_hyperplanes_go() {
        let sides = Sides { positive: vec!["1".into()], negative: vec!["-1".into()] };
        let claim =
            |bias| Claim::NotSeparable { sides: sides.clone(), bias, combination: Default::default() };
        let sentence = |claim: &Claim, map| Question { claim, map, labels: 2 }.sentence();
        assert_eq!(
            sentence(&claim(Bias::None), None),
            "no hyperplane through the origin separates 1 from -1"
        );
        let map = Some(Map::Poly { degree: 2 });
        let mapped = "no hyperplane with a free bias separates 1 from -1 [features mapped by \
                      {\"poly\":{\"degree\":2}}]";
        assert_eq!(sentence(&claim(Bias::Free), map), mapped);
    }
}
