//! Certificates as files: JSON that says what is claimed, of which data, and brings the witnesses along.
//!
//! `docs/certificates.md` is the format. Whoever reads one believes nothing in it: every claim is derived anew from the rows.

use super::mistakes::MistakeProof;
use super::numbers;
use super::objective::{Objective, Target};
use super::proof::{Combination, Direction, ExactCombination, Sides, Stand};
use crate::data::Dataset;
use crate::features::map::{Map, Mapper};
use crate::model::{Model, Scorer, Weights};
use crate::penalty::Bias;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What the first field of every certificate says.
pub const FORMAT: &str = "novikoff certificate";
/// The version that this program writes. It reads all up to this one: in version 1 no list of numbers is packed, up to version 2 all
/// weights come with their columns.
pub const VERSION: u32 = 3;

/// Claims about a data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Which rows it speaks of.
    pub data: DataIdentity,
    /// The checksum of the model that it speaks of, if it speaks of one: then claims about weights are about that model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is made of the rows as read before anything is claimed of them, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<Map>,
    /// What it claims of them.
    pub claims: Vec<Claim>,
}

/// What tells a data set from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataIdentity {
    /// The hash of the rows as read: labels, weights, indices and values.
    pub hash: String,
    /// How many rows.
    pub rows: u64,
    /// How many columns.
    pub features: u64,
}

impl DataIdentity {
    /// Of these rows.
    pub fn of(data: &Dataset) -> Self {
        Self { hash: data.fingerprint(), rows: data.len() as u64, features: data.rows.columns() as u64 }
    }
}

/// A claim, and its witness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "claim", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Claim {
    /// The direction has at least this margin on every row. With `margin` above zero: the rows can be separated.
    MarginAtLeast {
        /// Who stands where.
        sides: Sides,
        /// What the bias means.
        bias: Bias,
        /// The margin.
        margin: f64,
        /// Its witness.
        direction: Direction,
    },
    /// No direction has more than this margin on all rows.
    MarginAtMost {
        /// Who stands where.
        sides: Sides,
        /// What the bias means.
        bias: Bias,
        /// The margin.
        margin: f64,
        /// Its witness.
        combination: Combination,
    },
    /// No direction has all rows on their sides.
    NotSeparable {
        /// Who stands where.
        sides: Sides,
        /// What the bias means.
        bias: Bias,
        /// Its witness: rows that combine to zero exactly.
        combination: ExactCombination,
    },
    /// The objective at these weights is at most `value`, and no weights have less than `least`.
    NearLeast {
        /// What was minimised.
        objective: Objective,
        /// What it comes to.
        value: f64,
        /// What no weights fall below, if anything is claimed of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        least: Option<f64>,
        /// Without a penalty: no weights up to this length fall below it, each divided by its column's scale.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<f64>,
        /// The weights; for classes that are told apart jointly, of each.
        weights: Vec<Direction>,
        /// A dual for each row; if left out, the slopes of the loss at the weights' scores.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "numbers::optional")]
        duals: Option<Vec<f64>>,
    },
    /// A perceptron that goes over the rows, in whatever order, makes at most so many mistakes.
    MistakesAtMost {
        /// So many.
        mistakes: f64,
        /// Its witness, and what perceptron it is.
        proof: MistakeProof,
    },
}

/// What came of checking a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The claim in words.
    pub claim: String,
    /// Whether it holds.
    pub holds: bool,
    /// Why, or why not.
    pub detail: String,
}

impl Certificate {
    /// Of these claims about this data.
    pub fn new(data: &Dataset, claims: Vec<Claim>) -> Self {
        Self { format: FORMAT.into(), version: VERSION, data: DataIdentity::of(data), model: None, map: None, claims }
    }

    /// Whether some claim speaks of numbers that are predicted, not of labels.
    pub fn speaks_of_numbers(&self) -> bool {
        self.claims.iter().any(|c| matches!(c, Claim::NearLeast { objective: Objective { target: Target::Numbers, .. }, .. }))
    }

    /// As text, ready to be written.
    pub fn to_text(&self) -> String {
        // A certificate holds finite numbers and strings alone: there is nothing that could not be written.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Out of text, or what is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let certificate: Self = serde_json::from_str(text).map_err(|error| format!("this is no certificate: {error}"))?;
        if certificate.format != FORMAT {
            return Err(format!("this is no certificate: its format is {:?}", certificate.format));
        }
        if !(1..=VERSION).contains(&certificate.version) {
            return Err(format!("version {} of certificates is not known here, only 1 to {VERSION}", certificate.version));
        }
        if certificate.claims.is_empty() {
            return Err("this certificate claims nothing".into());
        }
        Ok(certificate)
    }

    /// Whether this is the model that the certificate speaks of; `checksum` is that of its file.
    pub fn check_model(&self, model: &Model, checksum: &str) -> Checked {
        let found = self.is_of(model, checksum);
        let claim = "it speaks of this model".into();
        match found {
            Ok(()) => Checked { claim, holds: true, detail: checksum.into() },
            Err(detail) => Checked { claim, holds: false, detail },
        }
    }

    fn is_of(&self, model: &Model, checksum: &str) -> Result<(), String> {
        match &self.model {
            None => return Err("the certificate speaks of no model".into()),
            Some(named) if named != checksum => {
                return Err(format!("this model is {checksum}, the certificate speaks of {named}"));
            }
            Some(_) => {}
        }
        if self.map != model.scorer.map() {
            return Err("this model's rows are mapped otherwise than the certificate's".into());
        }
        for claim in &self.claims {
            let (target, weights) = match claim {
                Claim::NearLeast { objective, weights, .. } => (objective.target.clone(), &weights[..]),
                Claim::MarginAtLeast { sides, direction, .. } => (Target::Sides(sides.clone()), std::slice::from_ref(direction)),
                _ => continue,
            };
            let same = |(own, outputs): (&Weights, Vec<usize>)| {
                outputs.len() == weights.len() && outputs.iter().zip(weights).all(|(&at, w)| w.is_of_output(own, at))
            };
            if !outputs(model, &target).is_some_and(same) {
                return Err(format!("its weights are not those of the claim that {}", claim.words()));
            }
        }
        Ok(())
    }

    /// Derives every claim anew.
    pub fn check(&self, data: &Dataset) -> Vec<Checked> {
        let found = DataIdentity::of(data);
        let detail = match found == self.data {
            true => found.hash.clone(),
            false => format!("these rows are {}, the certificate speaks of {}", found.hash, self.data.hash),
        };
        let mut checked = vec![Checked { claim: "it speaks of these rows".into(), holds: found == self.data, detail }];
        let mapped = if found == self.data { self.mapped(data) } else { Err("of other rows".into()) };
        for claim in &self.claims {
            let holds = mapped.as_ref().map_err(Clone::clone).and_then(|rows| claim.check(rows));
            let (holds, detail) = match holds {
                Ok(detail) => (true, detail),
                Err(detail) => (false, detail),
            };
            checked.push(Checked { claim: claim.words(), holds, detail });
        }
        checked
    }
}

impl Certificate {
    /// The rows that claims are about.
    fn mapped<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>, String> {
        let Some(map) = self.map else { return Ok(Cow::Borrowed(data)) };
        let mapped = Mapper::new(map, data.rows.columns()).and_then(|mapper| data.mapped(&mapper));
        mapped.map(Cow::Owned).map_err(|error| error.what().to_owned())
    }
}

/// The weights by which a linear model decides this, if it does.
pub fn directions(model: &Model, target: &Target) -> Option<Vec<Direction>> {
    let (weights, outputs) = outputs(model, target)?;
    Some(outputs.into_iter().map(|output| Direction::of_output(weights, output)).collect())
}

/// The outputs by which a linear model decides this, if it does.
fn outputs<'a>(model: &'a Model, target: &Target) -> Option<(&'a Weights, Vec<usize>)> {
    let Scorer::Linear(weights) = model.scorer.behind_map() else { return None };
    let outputs = match target {
        Target::Numbers => model.labels.is_empty().then(|| vec![0]),
        Target::Classes(names) => (model.labels.names() == names).then(|| (0..weights.outputs()).collect()),
        Target::Sides(sides) => {
            let [positive] = &sides.positive[..] else { return None };
            let class = model.labels.find(positive)? as usize;
            let rest: Vec<&String> =
                model.labels.names().iter().enumerate().filter(|(c, _)| *c != class).map(|(_, n)| n).collect();
            if rest != sides.negative.iter().collect::<Vec<_>>() {
                return None;
            }
            match weights.outputs() {
                1 => (class == 1).then(|| vec![0]),
                _ => Some(vec![class]),
            }
        }
    };
    Some((weights, outputs?))
}

impl Claim {
    fn words(&self) -> String {
        let between = |sides: &Sides| format!("{} from {}", sides.positive.join(", "), sides.negative.join(", "));
        match self {
            Claim::MarginAtLeast { sides, margin, .. } if *margin > 0.0 => {
                format!("a hyperplane separates {}, with a margin of at least {margin:e}", between(sides))
            }
            Claim::MarginAtLeast { sides, margin, .. } => {
                format!("a hyperplane has a margin of at least {margin:e} between {}", between(sides))
            }
            Claim::MarginAtMost { sides, margin, .. } => {
                format!("no hyperplane separates {} by a margin above {margin:e}", between(sides))
            }
            Claim::NotSeparable { sides, .. } => format!("no hyperplane separates {}", between(sides)),
            Claim::NearLeast { objective, value, least, within, .. } => {
                let of = told(&objective.target);
                let below = match (least, within) {
                    (None, _) => String::new(),
                    (Some(least), Some(within)) if objective.lambda == 0.0 && objective.l1 == 0.0 => {
                        format!(", and no weights up to a length of {within:e} make it less than {least:e}")
                    }
                    (Some(least), _) => format!(", and no weights make it less than {least:e}"),
                };
                format!("the weights make the objective ({} loss, {of}) at most {value:e}{below}", objective.loss.name())
            }
            Claim::MistakesAtMost { mistakes, proof } => {
                let kind = if proof.normalised { "normalised perceptron" } else { "perceptron" };
                let passes = match (proof.own_feature, proof.passes) {
                    (Some(own), _) => format!(" with a feature of {own} of every row's own makes, in any number of passes,"),
                    (None, None) => " makes, in any number of passes,".into(),
                    (None, Some(passes)) => format!(" makes, in {passes} passes,"),
                };
                format!("a {kind}{passes} at most {} mistakes on {}", mistakes.floor(), told(&proof.target))
            }
        }
    }

    /// What shows it, or why it does not hold.
    fn check(&self, data: &Dataset) -> Result<String, String> {
        match self {
            Claim::MarginAtLeast { sides, bias, margin, direction } => {
                let found = with_stand(data, sides, *bias, |stand| stand.margin_at_least(direction))?;
                match margin.is_finite() && found >= *margin {
                    true => Ok(format!("every row has a margin of at least {found:e}")),
                    false => Err(format!("all that follows is a margin of at least {found:e}")),
                }
            }
            Claim::MarginAtMost { sides, bias, margin, combination } => {
                let found = with_stand(data, sides, *bias, |stand| stand.margin_at_most(combination))?;
                match margin.is_finite() && found <= *margin {
                    true => Ok(format!("a combination of {} rows is no longer than {found:e}", combination.rows.len())),
                    false => Err(format!("all that follows is a margin of at most {found:e}")),
                }
            }
            Claim::NotSeparable { sides, bias, combination } => {
                with_stand(data, sides, *bias, |stand| stand.is_zero(combination))?;
                Ok(format!("{} rows combine to exactly zero", combination.rows.len()))
            }
            Claim::NearLeast { objective, value, least, within, weights, duals } => {
                let found = objective.ends(data, weights, duals.as_deref(), *within)?;
                if !(value.is_finite() && found.value <= *value) {
                    return Err(format!("all that follows is that it is at most {:e}", found.value));
                }
                match (least, found.least) {
                    (None, _) => Ok(format!("it is at most {:e}", found.value)),
                    (Some(claimed), Some(proved)) if claimed.is_finite() && proved >= *claimed => {
                        let apart = (found.value - proved) / found.value.abs().max(f64::MIN_POSITIVE);
                        Ok(format!("it is at most {:e}, and at least {proved:e}: apart by {apart:.1e} of it", found.value))
                    }
                    (Some(_), Some(proved)) => Err(format!("all that follows is that no weights make it less than {proved:e}")),
                    (Some(_), None) => Err("nothing follows about other weights".into()),
                }
            }
            Claim::MistakesAtMost { mistakes, proof } => {
                let found = proof.bound(data)?;
                match mistakes.is_finite() && found <= *mistakes {
                    true => Ok(format!("by a margin of {:e}", proof.margin)),
                    false => Err(format!("all that follows is that there are at most {}", found.floor())),
                }
            }
        }
    }
}

/// What is told apart, or predicted.
fn told(target: &Target) -> String {
    match target {
        Target::Sides(sides) if sides.negative.len() > 3 => format!("{} and the rest", sides.positive.join(", ")),
        Target::Sides(sides) => format!("{} and {}", sides.positive.join(", "), sides.negative.join(", ")),
        Target::Classes(names) => format!("{} classes", names.len()),
        Target::Numbers => "numbers".into(),
    }
}

/// With the rows of two sides that count.
fn with_stand<T>(data: &Dataset, sides: &Sides, bias: Bias, f: impl FnOnce(Stand<'_>) -> Result<T, String>) -> Result<T, String> {
    let signs = sides.signs(data)?;
    f(Stand { rows: &data.rows, signs: &signs, bias })
}
