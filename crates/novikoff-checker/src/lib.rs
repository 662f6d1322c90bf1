//! Checks certificates of linear learning in exact arithmetic, and believes nothing in them.
//!
//! `docs/certificates.md` says what a certificate is, what each claim means and what proves it. This crate
//! shares no code with the one that writes certificates. A claim holds if an inequality between dyadic
//! rationals does, which is computed without rounding, or rounded to the side that can only refuse a claim.
//! There is no floating-point arithmetic.
//!
//! ```
//! use novikoff_checker::{Rows, check};
//! let rows = Rows::from_svmlight("+1 1:3\n-1 1:-2\n", false).unwrap();
//! let certificate = format!(
//!     r#"{{"format": "novikoff certificate", "version": 4,
//!         "data": {{"hash": "{}", "rows": 2, "columns": 1}},
//!         "claims": [{{"margin-at-least": {{
//!             "sides": {{"positive": ["1"], "negative": ["-1"]}}, "bias": "none", "margin": 2,
//!             "direction": {{"weights": [0.5], "bias": 0}}}}}}]}}"#,
//!     rows.hash()
//! );
//! let verdicts = check(&certificate, &rows, None).unwrap();
//! assert!(verdicts.iter().all(|verdict| verdict.holds));
//! assert_eq!(
//!     verdicts[1].claim,
//!     "a hyperplane through the origin separates 1 from -1 with a margin of at least 2e0"
//! );
//! let stronger = certificate.replace("\"margin\": 2", "\"margin\": 2.1");
//! assert!(!check(&stronger, &rows, None).unwrap()[1].holds);
//! ```

#![forbid(unsafe_code)]

mod certificate;
mod joint;
mod labels;
mod loss;
mod margin;
mod mistakes;
mod model;
mod number;
mod objective;
mod rows;
mod sentence;
mod standard;
mod text;
mod weights;

use certificate::{Certificate, Claim};
use model::Model;
pub use rows::Rows;
use serde_json::{Value, json};

/// What came of checking a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The claim in words, with every part of the question.
    pub claim: String,
    /// Whether it was proved.
    pub holds: bool,
    /// What proves it, or why nothing does.
    pub detail: String,
    /// The parts of the question as fields.
    pub question: Value,
}

impl Verdict {
    fn new(claim: impl Into<String>, question: Value, found: Result<String, String>) -> Self {
        let holds = found.is_ok();
        Self { claim: claim.into(), holds, detail: found.unwrap_or_else(|why| why), question }
    }
}

/// Checks that a certificate is about these rows, that it is about this model if there is one, and then every
/// claim.
///
/// An error means that this is no certificate, or no model.
///
/// ```
/// # use novikoff_checker::{Rows, check};
/// let rows = Rows::from_svmlight("1 1:1\n", false).unwrap();
/// let old = r#"{"format": "novikoff certificate", "version": 3, "data": {}, "claims": []}"#;
/// assert!(check(old, &rows, None).unwrap_err().contains("version 3 of certificates is refused"));
/// ```
pub fn check(certificate: &str, rows: &Rows, model: Option<&[u8]>) -> Result<Vec<Verdict>, String> {
    let certificate = Certificate::parse(certificate)?;
    let data = &certificate.data;
    let about = json!({"claim": "about-rows", "hash": data.hash, "rows": data.rows, "columns": data.columns});
    let mut verdicts =
        vec![Verdict::new("the certificate is about these rows", about, is_about(&certificate, rows))];
    if let Some(bytes) = model {
        let question = json!({"claim": "about-model", "model": certificate.model});
        let found = Model::read(bytes)?.check(&certificate, rows);
        verdicts.push(Verdict::new("the certificate is about this model", question, found));
    }
    let claims = certificate.claims.iter();
    verdicts.extend(claims.map(|claim| verdict(claim, &certificate, rows)));
    Ok(verdicts)
}

/// Checks only the claims with these positions, from 0, and that the certificate is about these rows:
/// otherwise none of them holds.
///
/// ```
/// # use novikoff_checker::{Rows, check_claims};
/// let rows = Rows::from_svmlight("1 1:1\n0 1:1\n", false).unwrap();
/// let certificate = format!(
///     r#"{{"format": "novikoff certificate", "version": 4,
///         "data": {{"hash": "{}", "rows": 2, "columns": 1}},
///         "claims": [{{"not-separable": {{
///             "sides": {{"positive": ["1"], "negative": ["0"]}}, "bias": "free",
///             "combination": {{"rows": [0, 1], "multipliers": ["1", "1"]}}}}}}]}}"#,
///     rows.hash()
/// );
/// let verdicts = check_claims(&certificate, &rows, &[0]).unwrap();
/// assert_eq!(verdicts[0].claim, "no hyperplane with a free bias separates 1 from 0");
/// assert!(verdicts[0].holds);
/// ```
pub fn check_claims(certificate: &str, rows: &Rows, which: &[usize]) -> Result<Vec<Verdict>, String> {
    let certificate = Certificate::parse(certificate)?;
    let claim = |at: &usize| {
        certificate.claims.get(*at).ok_or_else(|| format!("there is no claim number {at} (from 0)"))
    };
    which.iter().map(|at| Ok(verdict(claim(at)?, &certificate, rows))).collect()
}

/// The checksum of the model that a certificate is about, if it is about one.
pub fn model_of(certificate: &str) -> Result<Option<String>, String> {
    Certificate::parse(certificate).map(|certificate| certificate.model)
}

fn is_about(certificate: &Certificate, rows: &Rows) -> Result<String, String> {
    let data = &certificate.data;
    if data.hash != rows.hash() {
        return Err(format!("these rows are {}, the certificate is about {:?}", rows.hash(), data.hash));
    }
    if (data.rows, data.columns) != (rows.len() as u64, rows.width()) {
        return Err(format!("there are {} rows of {} columns", rows.len(), rows.width()));
    }
    if certificate.map.as_ref().map_or_else(String::new, |map| map.text()) != rows.map {
        return Err("the rows were made by another feature map".into());
    }
    Ok(data.hash.clone())
}

fn verdict(claim: &Claim, certificate: &Certificate, rows: &Rows) -> Verdict {
    let found = match (is_about(certificate, rows), claim) {
        (Err(_), _) => Err("about other rows".into()),
        (_, Claim::MarginAtLeast(claim)) => margin::at_least(claim, rows),
        (_, Claim::MarginAtMost(claim)) => margin::at_most(claim, rows),
        (_, Claim::NotSeparable(claim)) => margin::not_separable(claim, rows),
        (_, Claim::NearOptimal(claim)) => objective::check(claim, rows),
        (_, Claim::MistakesAtMost(claim)) => mistakes::check(claim, rows),
    };
    let map = certificate.map.as_ref().map_or_else(String::new, |map| map.text());
    Verdict::new(sentence::sentence(claim, rows, &map), sentence::question(claim, &map), found)
}
