//! Certificates as files: JSON that says what is claimed, of which data, and brings the witnesses along.
//!
//! `docs/certificates.md` is the format. Whoever reads one believes nothing in it: every claim is derived anew from the rows.

use super::proof::{Combination, Direction, ExactCombination, Sides, Stand};
use crate::data::Dataset;
use crate::penalty::Bias;
use serde::{Deserialize, Serialize};

/// What the first field of every certificate says.
pub const FORMAT: &str = "novikoff certificate";
/// The version that this program writes and reads.
pub const VERSION: u32 = 1;

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

/// A claim about the margin between two sides, and its witness.
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
        Self { format: FORMAT.into(), version: VERSION, data: DataIdentity::of(data), claims }
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
        if certificate.version != VERSION {
            return Err(format!("version {} of certificates is not known here, only {VERSION}", certificate.version));
        }
        if certificate.claims.is_empty() {
            return Err("this certificate claims nothing".into());
        }
        Ok(certificate)
    }

    /// Derives every claim anew.
    pub fn check(&self, data: &Dataset) -> Vec<Checked> {
        let found = DataIdentity::of(data);
        let detail = match found == self.data {
            true => found.hash.clone(),
            false => format!("these rows are {}, the certificate speaks of {}", found.hash, self.data.hash),
        };
        let mut checked = vec![Checked { claim: "it speaks of these rows".into(), holds: found == self.data, detail }];
        for claim in &self.claims {
            let holds = if found == self.data { claim.check(data) } else { Err("of other rows".into()) };
            let (holds, detail) = match holds {
                Ok(detail) => (true, detail),
                Err(detail) => (false, detail),
            };
            checked.push(Checked { claim: claim.words(), holds, detail });
        }
        checked
    }
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
        }
    }

    /// What shows it, or why it does not hold.
    fn check(&self, data: &Dataset) -> Result<String, String> {
        let (Claim::MarginAtLeast { sides, bias, .. }
        | Claim::MarginAtMost { sides, bias, .. }
        | Claim::NotSeparable { sides, bias, .. }) = self;
        let signs = sides.signs(data)?;
        let signs: Vec<f64> = (0..).zip(signs).map(|(i, sign)| if data.weight(i) > 0.0 { sign } else { 0.0 }).collect();
        let stand = Stand { rows: &data.rows, signs: &signs, bias: *bias };
        match self {
            Claim::MarginAtLeast { margin, direction, .. } => {
                let found = stand.margin_at_least(direction)?;
                match margin.is_finite() && found >= *margin {
                    true => Ok(format!("every row has a margin of at least {found:e}")),
                    false => Err(format!("all that follows is a margin of at least {found:e}")),
                }
            }
            Claim::MarginAtMost { margin, combination, .. } => {
                let found = stand.margin_at_most(combination)?;
                match margin.is_finite() && found <= *margin {
                    true => Ok(format!("a combination of {} rows is no longer than {found:e}", combination.rows.len())),
                    false => Err(format!("all that follows is a margin of at most {found:e}")),
                }
            }
            Claim::NotSeparable { combination, .. } => {
                stand.is_zero(combination)?;
                Ok(format!("{} rows combine to exactly zero", combination.rows.len()))
            }
        }
    }
}
