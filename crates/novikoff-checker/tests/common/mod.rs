//! Certificates and rows for tests.

#![allow(dead_code)]

use novikoff_checker::{Rows, Verdict, check};
use serde::Serialize;
use serde_json::{Value, json};

/// A certificate of these claims about these rows.
pub fn certificate(rows: &Rows, claims: &[Value]) -> String {
    let data = json!({"hash": rows.hash(), "rows": rows.len(), "columns": rows.width()});
    json!({"format": "novikoff certificate", "version": 4, "data": data, "claims": claims}).to_string()
}

/// What comes of checking one claim.
pub fn verdict(rows: &Rows, claim: Value) -> Verdict {
    let mut verdicts = check(&certificate(rows, &[claim]), rows, None).unwrap();
    assert!(verdicts[0].holds, "{}", verdicts[0].detail);
    verdicts.remove(1)
}

#[track_caller]
pub fn holds(rows: &Rows, claim: Value) {
    let verdict = verdict(rows, claim);
    assert!(verdict.holds, "{}: {}", verdict.claim, verdict.detail);
}

#[track_caller]
pub fn fails(rows: &Rows, claim: Value) -> String {
    let verdict = verdict(rows, claim);
    assert!(!verdict.holds, "{}: {}", verdict.claim, verdict.detail);
    verdict.detail
}

pub fn svm(text: &str) -> Rows {
    Rows::from_svmlight(&text.replace("; ", "\n"), false).unwrap()
}

/// Label `1` against label `-1`.
pub fn two() -> Value {
    json!({"positive": ["1"], "negative": ["-1"]})
}

/// The claim that a direction separates these two labels.
pub fn margin_at_least(bias: &str, margin: f64, direction: Value) -> Value {
    json!({"margin-at-least": {"sides": two(), "bias": bias, "margin": margin, "direction": direction}})
}

/// The claim that nothing separates them by more.
pub fn margin_at_most(bias: &str, margin: f64, combination: Value) -> Value {
    json!({"margin-at-most": {"sides": two(), "bias": bias, "margin": margin, "combination": combination}})
}

/// Rows with their multipliers.
pub fn combination(rows: &[u32], multipliers: impl Serialize) -> Value {
    json!({"rows": rows, "multipliers": multipliers})
}

/// The claim that a perceptron makes few mistakes.
pub fn mistakes_at_most(mistakes: u64, proof: Value) -> Value {
    json!({"mistakes-at-most": {"mistakes": mistakes, "proof": proof}})
}

/// Its proof, for rows as they are and without a bias.
pub fn proof(target: Value, margin: f64, weights: Value) -> Value {
    json!({"target": target, "bias": "none", "normalised": false, "margin": margin, "weights": weights})
}

/// A claim, or a part of one, with another value of a field.
pub fn with(mut value: Value, field: &str, part: Value) -> Value {
    value[field] = part;
    value
}

/// A row of the canonical form: label, weight, entries.
pub type Row<'a> = (u32, f64, &'a [(u32, f64)]);

/// The canonical form of rows of numbered columns, written as its table in `docs/certificates.md` says.
pub fn canonical(rows: &[Row<'_>], columns: u64, labels: &[&str]) -> Vec<u8> {
    let mut bytes = b"novikoff rows 1\n".to_vec();
    for (label, weight, entries) in rows {
        let same = !entries.is_empty() && entries.iter().all(|entry| entry.1 == entries[0].1);
        let single = entries.iter().all(|entry| f64::from(entry.1 as f32) == entry.1);
        bytes.push(if same { 1 } else { 2 * u8::from(single) });
        bytes.extend(label.to_le_bytes());
        bytes.extend(weight.to_le_bytes());
        bytes.extend((entries.len() as u32).to_le_bytes());
        entries.iter().for_each(|entry| bytes.extend(entry.0.to_le_bytes()));
        match (same, single) {
            (true, _) => bytes.extend(entries[0].1.to_le_bytes()),
            (_, true) => entries.iter().for_each(|entry| bytes.extend((entry.1 as f32).to_le_bytes())),
            _ => entries.iter().for_each(|entry| bytes.extend(entry.1.to_le_bytes())),
        }
    }
    bytes.push(255);
    bytes.extend((rows.len() as u64).to_le_bytes());
    bytes.extend(columns.to_le_bytes());
    bytes.extend((labels.len() as u32).to_le_bytes());
    for label in labels {
        bytes.extend((label.len() as u32).to_le_bytes());
        bytes.extend(label.as_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(columns.to_le_bytes());
    bytes.push(0);
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    bytes
}

pub fn weighted(rows: &[Row<'_>], columns: u64, labels: &[&str]) -> Rows {
    Rows::from_canonical(&canonical(rows, columns, labels)).unwrap()
}
