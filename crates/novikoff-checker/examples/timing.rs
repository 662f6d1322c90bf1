//! How long checking takes: `cargo run --release -p novikoff-checker --example timing -- ROWS.svm`.
//!
//! Makes a certificate of each kind with weights that are nothing but some numbers, and claims that hold for
//! any.

#![allow(clippy::print_stdout)]

use novikoff_checker::{Rows, check};
use serde_json::{Value, json};
use std::time::Instant;

/// Numbers as a certificate packs them.
fn packed(numbers: &[f64]) -> Value {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits =
            part.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        let digit = |at: usize| {
            if at <= part.len() { char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]) } else { '=' }
        };
        text.extend((0..4).map(digit));
    }
    json!({"f64": text})
}

/// A claim of each kind, with its name.
fn claims(rows: &Rows) -> Vec<(&'static str, Value)> {
    let names: Vec<String> = rows.label_names().to_vec();
    let sides = json!({"positive": names[..1], "negative": names[1..]});
    let weights: Vec<f64> = (0..rows.width()).map(|j| ((j * 7919) % 2003) as f64 / 20030.0 - 0.05).collect();
    let direction = |sign: f64| {
        let weights: Vec<f64> = weights.iter().map(|w| sign * w).collect();
        json!({"weights": packed(&weights), "bias": 0.1})
    };
    let classes: Vec<Value> = (0..names.len()).map(|class| direction(1.0 - 0.3 * class as f64)).collect();
    let joint = json!({
        "target": {"classes": names}, "loss": "logistic", "lambda": 1e-3, "l1": 0, "bias": "free",
    });
    let objective = |loss: &str, scale: Value| {
        let target = json!({"sides": sides});
        let objective = json!({
            "target": target, "loss": loss, "lambda": 1e-3, "l1": 0, "bias": "free", "scale": scale,
        });
        near_optimal(objective, &[direction(1.0)])
    };
    let proof = json!({
        "target": {"sides": sides}, "bias": "penalised", "normalised": true, "passes": 3, "margin": 0.1,
        "weights": [direction(1.0)],
    });
    let every: Vec<u32> = (0..rows.len().min(256) as u32).collect();
    let combination = json!({"rows": every, "multipliers": vec![1.0; every.len()]});
    let at_least = json!({"sides": sides, "bias": "free", "margin": -1e9, "direction": direction(1.0)});
    let at_most = json!({"sides": sides, "bias": "penalised", "margin": 1e9, "combination": combination});
    vec![
        ("margin-at-least", json!({"margin-at-least": at_least})),
        ("margin-at-most, 256 rows", json!({"margin-at-most": at_most})),
        ("hinge", objective("hinge", Value::Null)),
        ("hinge, unit variance", objective("hinge", json!("unit-variance"))),
        ("squared hinge", objective("squared-hinge", Value::Null)),
        ("logistic", objective("logistic", Value::Null)),
        ("exponential", objective("exponential", Value::Null)),
        ("mistakes", json!({"mistakes-at-most": {"mistakes": 1_000_000_000_000_000u64, "proof": proof}})),
        ("multinomial", near_optimal(joint, &classes)),
    ]
}

fn near_optimal(objective: Value, weights: &[Value]) -> Value {
    json!({"near-optimal": {
        "objective": objective, "value": 1e9, "lower_bound": -1e9, "weights": weights,
    }})
}

fn main() {
    let path = std::env::args().nth(1).expect("a file of svmlight text");
    let text = std::fs::read_to_string(&path).expect("it can be read");
    let start = Instant::now();
    let rows = Rows::from_svmlight(&text, false).expect("it is svmlight text");
    println!("{path}: {} rows, {} columns, read in {:.2?}", rows.len(), rows.width(), start.elapsed());
    for (name, claim) in claims(&rows) {
        let data = json!({"hash": rows.hash(), "rows": rows.len(), "columns": rows.width()});
        let certificate =
            json!({"format": "novikoff certificate", "version": 4, "data": data, "claims": [claim]})
                .to_string();
        let start = Instant::now();
        let verdict = check(&certificate, &rows, None).expect("a certificate").remove(1);
        println!("{:8.2} s  {name}: {} ({})", start.elapsed().as_secs_f64(), verdict.holds, verdict.detail);
    }
}
