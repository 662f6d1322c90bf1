//! Certificates as files: JSON that says what is claimed, of which rows, and brings the witnesses along.
//!
//! `docs/certificates.md` is the format. Whoever reads one believes nothing in it: every claim is derived
//! anew from the rows.

use super::mistakes::MistakeProof;
use super::numbers;
use super::objective::{Objective, Target};
use super::proof::{Combination, Direction, ExactCombination, Sides, SignedRows};
use super::range::{self, Unproved};
use super::sentence::Question;
use crate::data::canonical::Origin;
use crate::data::{Dataset, Scale};
use crate::error::Error;
use crate::features::map::{Map, Mapper};
use crate::model::{Model, Scorer, Weights, atomic};
use crate::penalty::Bias;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Larger than any certificate that this program writes.
const MOST_BYTES: u64 = 1 << 30;
/// What the first field of every certificate says.
pub const FORMAT: &str = "novikoff certificate";
/// The version that this program writes, and the only one that it reads: the hash in older ones can be
/// forged, and does not cover the names of columns.
pub(crate) const VERSION: u32 = 4;

/// Claims about a data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// "novikoff certificate".
    pub format: String,
    /// 4.
    pub version: u32,
    /// Which rows it speaks of.
    pub data: DataIdentity,
    /// The checksum of the model that it speaks of, if it speaks of one: then claims about weights are about
    /// that model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The map that made the rows from those read, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<Map>,
    /// What it claims of them.
    pub claims: Vec<Claim>,
}

/// What tells a data set from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataIdentity {
    /// The hash of the rows in their canonical form.
    pub hash: String,
    /// How many rows.
    pub rows: u64,
    /// How many columns.
    pub columns: u64,
}

impl DataIdentity {
    /// Of these rows, which come from there.
    pub fn of(data: &Dataset, origin: Origin<'_>) -> Self {
        Self {
            hash: data.fingerprint_of(origin),
            rows: data.len() as u64,
            columns: data.rows.columns() as u64,
        }
    }
}

/// A claim, and its witness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Claim {
    /// The direction has at least this margin on every row. With `margin` above zero: the rows can be
    /// separated.
    MarginAtLeast {
        /// Which labels are positive, and which negative.
        sides: Sides,
        /// Whether the margin counts the bias as a weight.
        bias: Bias,
        /// The margin.
        margin: f64,
        /// Its witness.
        direction: Direction,
    },
    /// No direction has more than this margin on all rows.
    MarginAtMost {
        /// Which labels are positive, and which negative.
        sides: Sides,
        /// Whether the margin counts the bias as a weight.
        bias: Bias,
        /// The margin.
        margin: f64,
        /// Its witness.
        combination: Combination,
    },
    /// No direction has all rows on their sides.
    NotSeparable {
        /// Which labels are positive, and which negative.
        sides: Sides,
        /// Whether the margin counts the bias as a weight.
        bias: Bias,
        /// Its witness: rows that combine to zero exactly.
        combination: ExactCombination,
    },
    /// The objective at these weights is at most `value`, and no weights have less than `lower_bound`.
    NearOptimal {
        /// What was minimised.
        objective: Objective,
        /// An upper bound on the objective at these weights.
        value: f64,
        /// What no weights fall below, if anything is claimed of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lower_bound: Option<f64>,
        /// Without a penalty: no weights up to this length fall below it, each times the size of its column.
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
        /// The bound.
        mistakes: u64,
        /// Its witness, and what perceptron it is.
        proof: MistakeProof,
    },
}

/// What came of checking a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The claim in one sentence, with every part of the question.
    pub claim: String,
    /// Whether it holds.
    pub holds: bool,
    /// Why, or why not.
    pub detail: String,
    /// The parts of the question as fields.
    pub question: Value,
}

impl Checked {
    fn about(what: &str, found: Result<String, String>) -> Self {
        let (holds, detail) = match found {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        Self {
            claim: format!("the certificate is about {what}"),
            holds,
            detail,
            question: json!({"about": what}),
        }
    }
}

/// The two fields that every version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl Certificate {
    /// Of these claims about this data.
    pub fn new(data: &Dataset, claims: Vec<Claim>) -> Self {
        Self::of_rows(DataIdentity::of(data, data.origin()), claims)
    }

    /// Of these claims about rows that a map has made of these.
    pub(crate) fn of_mapped(data: &Dataset, mapped: &Dataset, map: Map, claims: Vec<Claim>) -> Self {
        let origin = Origin { map: Some(map), ..data.origin() };
        Self { map: Some(map), ..Self::of_rows(DataIdentity::of(mapped, origin), claims) }
    }

    pub(crate) fn of_rows(data: DataIdentity, claims: Vec<Claim>) -> Self {
        Self { format: FORMAT.into(), version: VERSION, data, model: None, map: None, claims }
    }

    /// Whether some claim speaks of numbers that are predicted, not of labels.
    pub fn speaks_of_numbers(&self) -> bool {
        self.claims.iter().any(|c| {
            matches!(c, Claim::NearOptimal { objective: Objective { target: Target::Numbers, .. }, .. })
        })
    }

    /// How far the objective can be above its minimum, relatively: the largest gap of all its claims about
    /// objectives. `None` if there is none, or one of them has no lower bound, or one above its value.
    ///
    /// ```
    /// use novikoff::{Dataset, LinearSvm};
    ///
    /// let data = Dataset::from_dense(&[-2.0, -1.0, 1.0, 2.0], 1)?.with_labels(&["cold", "cold", "hot",
    /// "hot"])?; let certificate = LinearSvm::new().tolerance(1e-6).fit(&data)?.certificate(&data)?;
    /// certificate.verify(&data)?; assert!(certificate.relative_gap().is_some_and(|gap| gap <= 1e-5));
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn relative_gap(&self) -> Option<f64> {
        let mut largest = None;
        for claim in &self.claims {
            if let Claim::NearOptimal { value, lower_bound, .. } = claim {
                let gap = *value - (*lower_bound)?;
                if gap.is_nan() || gap < 0.0 {
                    return None;
                }
                let relative = if gap == 0.0 { 0.0 } else { (gap / value.abs()).next_up() };
                largest = Some(relative.max(largest.unwrap_or(0.0)));
            }
        }
        largest
    }

    /// Writes the certificate to a file, as a whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> crate::error::Result<()> {
        atomic::write(path.as_ref(), self.to_text().as_bytes())
    }

    /// Reads a certificate from a file that [`Certificate::save`] or the program has written.
    pub fn load(path: impl AsRef<Path>) -> crate::error::Result<Self> {
        let name = path.as_ref().display().to_string();
        let fail = |error: &std::io::Error| Error::io(&name, error);
        let refuse = |what: &str| Error::input(what).at(&name, 0, 0);
        let file = File::open(path.as_ref()).map_err(|error| fail(&error))?;
        // A pipe has no length; whatever is said here, no more is read than is allowed.
        let length = file.metadata().map_err(|error| fail(&error))?.len();
        let mut bytes = Vec::new();
        if length > MOST_BYTES || bytes.try_reserve_exact(length as usize + 1).is_err() {
            return Err(refuse("this is too large for a certificate"));
        }
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fail(&error))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refuse("this is too large for a certificate"));
        }
        let text = String::from_utf8(bytes).map_err(|_| refuse("this is no certificate: it is not UTF-8"))?;
        Self::from_text(&text).map_err(|what| refuse(&what))
    }

    /// As text, ready to be written.
    pub fn to_text(&self) -> String {
        // A certificate holds finite numbers and strings alone: there is nothing that could not be written.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Out of text, or what is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let read: Result<Self, _> = serde_json::from_str(text);
        let certificate = match (read, serde_json::from_str::<Head>(text)) {
            (Ok(certificate), _) if certificate.format == FORMAT && certificate.version == VERSION => {
                certificate
            }
            (_, Ok(head)) if head.format != FORMAT => {
                return Err(format!("this is no certificate: its format is {:?}", head.format));
            }
            (_, Ok(Head { version, .. })) if version < VERSION => {
                return Err(format!(
                    "this certificate has version {version}, whose hash of the rows can be forged; \
                     make it anew: this program writes and reads version {VERSION}"
                ));
            }
            (_, Ok(Head { version, .. })) if version > VERSION => {
                return Err(format!("version {version} of certificates is not known here, only {VERSION}"));
            }
            (Err(error), _) => return Err(format!("this is no certificate: {error}")),
            (Ok(_), _) => return Err("this is no certificate".into()),
        };
        if certificate.claims.is_empty() {
            return Err("this certificate claims nothing".into());
        }
        if certificate.model.as_deref().is_some_and(|name| !is_hash(name)) {
            return Err("this is no certificate: `model` is not blake3: and 64 hexadecimal digits".into());
        }
        if let Some(map) = certificate.map {
            map.validate()?;
        }
        Ok(certificate)
    }

    /// Whether this is the model that the certificate speaks of; `checksum` is that of its file.
    pub fn check_model(&self, model: &Model, checksum: &str, data: &Dataset) -> Checked {
        Checked::about("this model", self.is_of(model, checksum, data).map(|()| checksum.to_owned()))
    }

    fn is_of(&self, model: &Model, checksum: &str, data: &Dataset) -> Result<(), String> {
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
        if model.schema != data.schema {
            return Err("this model reads other columns than these rows have, or reads them otherwise".into());
        }
        for (number, claim) in self.claims.iter().enumerate() {
            let number = number + 1;
            let (target, weights) = match claim {
                Claim::NearOptimal { objective, weights, .. } => {
                    is_objective_of(objective, model).map_err(|what| format!("of claim {number}, {what}"))?;
                    (objective.target.clone(), &weights[..])
                }
                Claim::MarginAtLeast { sides, direction, .. } => {
                    (Target::Sides(sides.clone()), std::slice::from_ref(direction))
                }
                _ => continue,
            };
            let same = |(own, outputs): (&Weights, Vec<usize>)| {
                outputs.len() == weights.len()
                    && outputs.iter().zip(weights).all(|(&at, w)| w.is_of_output(own, at))
            };
            if !outputs(model, &target).is_some_and(same) {
                return Err(format!(
                    "the weights of claim {number} are not those by which it tells these labels apart"
                ));
            }
        }
        Ok(())
    }

    /// Derives every claim anew, as [`Certificate::check`] does, and fails if one does not hold, or if there
    /// is none.
    pub fn verify(&self, data: &Dataset) -> crate::error::Result<Vec<Checked>> {
        data.validate()?;
        if self.claims.is_empty() {
            return Err(Error::input("this certificate claims nothing"));
        }
        let checked = self.check(data);
        match checked.iter().find(|checked| !checked.holds) {
            Some(wrong) => {
                Err(Error::input(format!("the claim does not hold: {}: {}", wrong.claim, wrong.detail)))
            }
            None => Ok(checked),
        }
    }

    /// Whether a model says that it was learned from the rows that this certificate is about.
    pub fn is_about_rows_of(&self, model: &Model) -> bool {
        model.about.data_hash == self.data.hash
    }

    /// Derives every claim anew: in doubles, with bounds on their rounding errors, and what these do not
    /// prove in exact arithmetic.
    pub fn check(&self, data: &Dataset) -> Vec<Checked> {
        let origin = Origin { map: self.map, ..data.origin() };
        let mapped = self.mapped(data);
        let about = mapped.as_ref().map_err(Clone::clone).and_then(|rows| self.is_about(rows, origin));
        let mut checked = vec![Checked::about("these rows", about.clone())];
        let found = match (&mapped, about) {
            (Ok(rows), Ok(_)) => self.check_claims(rows, origin),
            _ => vec![Err("about other rows".into()); self.claims.len()],
        };
        for (claim, found) in self.claims.iter().zip(found) {
            let (holds, detail) = match found {
                Ok(detail) => (true, detail),
                Err(detail) => (false, detail),
            };
            let question = Question { claim, map: self.map, labels: data.names.len() };
            checked.push(Checked { claim: question.sentence(), holds, detail, question: question.fields() });
        }
        checked
    }

    fn is_about(&self, rows: &Dataset, origin: Origin<'_>) -> Result<String, String> {
        let found = DataIdentity::of(rows, origin);
        match found == self.data {
            true => Ok(found.hash),
            false if found.hash == self.data.hash => {
                Err("the numbers of rows and columns are not those of this hash".into())
            }
            false => {
                Err(format!("these rows are {}, the certificate is about {:?}", found.hash, self.data.hash))
            }
        }
    }

    /// What shows each claim, or why nothing does.
    fn check_claims(&self, rows: &Dataset, origin: Origin<'_>) -> Vec<Result<String, String>> {
        let in_doubles: Vec<_> = self.claims.iter().map(|claim| claim.check(rows)).collect();
        let is_open = |found: &Result<String, Unproved>| {
            matches!(found, Err(Unproved::Less(_) | Unproved::Unsettled(_)))
        };
        let open: Vec<usize> =
            (0..).zip(&in_doubles).filter(|(_, found)| is_open(found)).map(|(at, _)| at).collect();
        let mut found: Vec<_> = in_doubles.into_iter().map(|found| found.map_err(String::from)).collect();
        if open.is_empty() {
            return found;
        }
        let mut bytes = Vec::new();
        let write = &mut |part: &[u8]| {
            bytes.extend_from_slice(part);
            Ok(())
        };
        let written: Result<(), String> = rows.write_canonical(origin, write);
        let exactly = written
            .and_then(|()| novikoff_checker::Rows::from_canonical(&bytes))
            .and_then(|rows| novikoff_checker::check_claims(&self.to_text(), &rows, &open));
        match exactly {
            Ok(verdicts) => {
                for (at, verdict) in open.into_iter().zip(verdicts) {
                    let detail = format!("in exact arithmetic: {}", verdict.detail);
                    found[at] = if verdict.holds { Ok(detail) } else { Err(detail) };
                }
            }
            Err(why) => open.into_iter().for_each(|at| found[at] = Err(why.clone())),
        }
        found
    }

    /// What doubles alone prove of each claim, by their rounding errors: never more than exact arithmetic.
    pub fn check_in_doubles(&self, data: &Dataset) -> Vec<Result<String, Unproved>> {
        let mapped = self.mapped(data);
        let check =
            |claim: &Claim| claim.check(mapped.as_ref().map_err(|what| Unproved::from(what.clone()))?);
        self.claims.iter().map(check).collect()
    }

    /// The rows that claims are about.
    fn mapped<'a>(&self, data: &'a Dataset<'a>) -> Result<Cow<'a, Dataset<'a>>, String> {
        let Some(map) = self.map else { return Ok(Cow::Borrowed(data)) };
        let mapped = Mapper::new(map, data.rows.columns()).and_then(|mapper| data.mapped(&mapper));
        mapped.map(Cow::Owned).map_err(|error| error.what().to_owned())
    }
}

/// `blake3:` and 64 hexadecimal digits.
fn is_hash(text: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.strip_prefix("blake3:").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

/// Compares an objective with the settings that a model was learned by.
fn is_objective_of(objective: &Objective, model: &Model) -> Result<(), String> {
    let settings = &model.about.settings;
    let number = |name: &str| settings.get(name).map_or(Some(0.0), Value::as_f64);
    let same = [
        ("the loss", model.loss() == Some(objective.loss)),
        ("λ", number("lambda") == Some(objective.lambda)),
        ("l1", number("l1") == Some(objective.l1)),
        ("the bias", settings.get("bias") == Some(&json!(objective.bias))),
        ("the scale", settings.get("scale").unwrap_or(&json!(Scale::None)) == &json!(objective.scale)),
        (
            "the number of columns scaled",
            settings.get("scaled_columns").unwrap_or(&Value::Null) == &json!(objective.scaled_columns),
        ),
        ("the weights of classes", has_class_weights(objective, model)),
    ];
    match same.iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(format!("{what} is not what the model was learned by")),
        None => Ok(()),
    }
}

/// Whether the class weights of an objective are those that a model was learned by; labels that are not named
/// have the weight 1.
fn has_class_weights(objective: &Objective, model: &Model) -> bool {
    let settings = &model.about.settings;
    // Where they were balanced, those that came of it.
    let own: Vec<(String, f64)> = match settings.get("class_weights").or_else(|| settings.get("class_weight"))
    {
        None => Vec::new(),
        Some(given) => match serde_json::from_value(given.clone()) {
            Ok(given) => given,
            Err(_) => return false,
        },
    };
    let of = |weights: &[(String, f64)], label: &str| {
        let found = weights.iter().rfind(|(name, _)| model.labels.find(name) == model.labels.find(label));
        found.map_or(1.0, |(_, weight)| *weight)
    };
    let named = || own.iter().chain(&objective.class_weights);
    named().all(|(label, _)| {
        model.labels.find(label).is_some() && of(&own, label) == of(&objective.class_weights, label)
    })
}

/// The weights by which a linear model decides this, if it does.
pub(crate) fn directions(model: &Model, target: &Target) -> Option<Vec<Direction>> {
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
            let rest: Vec<&String> = model
                .labels
                .names()
                .iter()
                .enumerate()
                .filter(|(c, _)| *c != class)
                .map(|(_, n)| n)
                .collect();
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
    /// What shows it, or why it is not shown.
    fn check(&self, data: &Dataset) -> Result<String, Unproved> {
        match self {
            Claim::MarginAtLeast { sides, bias, margin, direction } => {
                let found = with_signed_rows(data, sides, *bias, |rows| rows.margin_at_least(direction))?;
                match margin.is_finite() && found >= *margin {
                    true => Ok(format!("every row has a margin of at least {found:e}")),
                    false => Err(Unproved::no_more(format!("a margin of at least {found:e}"))),
                }
            }
            Claim::MarginAtMost { sides, bias, margin, combination } => {
                let found = with_signed_rows(data, sides, *bias, |rows| rows.margin_at_most(combination))?;
                match margin.is_finite() && found <= *margin {
                    true => Ok(format!(
                        "a combination of {} rows is no longer than {found:e}",
                        combination.rows.len()
                    )),
                    false => Err(Unproved::no_more(format!("a margin of at most {found:e}"))),
                }
            }
            Claim::NotSeparable { sides, bias, combination } => {
                with_signed_rows(data, sides, *bias, |rows| rows.is_zero(combination))?;
                Ok(format!("{} rows combine to exactly zero", combination.rows.len()))
            }
            Claim::NearOptimal { objective, value, lower_bound, within, weights, duals } => {
                let free = objective.lambda == 0.0 && objective.l1 == 0.0;
                if within.is_some() && !free {
                    return Err("a length of weights is stated where there is a penalty".into());
                }
                if lower_bound.is_some_and(|bound| bound > *value) {
                    return Err("the lower bound is above the value".into());
                }
                let found = objective.ends(data, weights, duals.as_deref(), *within)?;
                if !(value.is_finite() && found.value <= *value) {
                    return Err(Unproved::no_more(format!("that it is at most {:e}", found.value)));
                }
                match (lower_bound, found.lower_bound) {
                    (None, _) => Ok(format!("it is at most {:e}", found.value)),
                    (Some(claimed), Some(proved)) if claimed.is_finite() && proved >= *claimed => {
                        let apart = (found.value - proved) / found.value.abs().max(f64::MIN_POSITIVE);
                        Ok(format!(
                            "it is at most {:e}, and at least {proved:e}: apart by {apart:.1e} of it",
                            found.value
                        ))
                    }
                    (Some(_), Some(proved)) => {
                        Err(Unproved::no_more(format!("that no weights make it less than {proved:e}")))
                    }
                    (Some(_), None) => Err(Unproved::Unsettled("nothing follows about other weights".into())),
                }
            }
            Claim::MistakesAtMost { mistakes, proof } => {
                let found = proof.bound(data)?;
                match found <= *mistakes {
                    true => Ok(format!("by a margin of {:e}", proof.margin)),
                    false => Err(Unproved::no_more(format!("that there are at most {found}"))),
                }
            }
        }
    }
}

/// With the rows of two sides that count, all numbers of which are of ordinary size.
fn with_signed_rows<T>(
    data: &Dataset,
    sides: &Sides,
    bias: Bias,
    f: impl FnOnce(SignedRows<'_>) -> Result<T, Unproved>,
) -> Result<T, Unproved> {
    let signs = sides.signs(data)?;
    range::rows(&data.rows)?;
    f(SignedRows { rows: &data.rows, signs: &signs, bias })
}
