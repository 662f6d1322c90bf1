//! Claims about a few rows, and what the fast checker accepts that the exact one does not. Shared with the
//! fuzz target.

use novikoff::certificate::Certificate;
use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use novikoff_checker::Rows;
use serde_json::{Value, json};

pub fn read(text: &str) -> Dataset<'static> {
    let input = Input::Bytes { name: "rows".into(), bytes: text.as_bytes().to_vec().into() };
    let options = Options { format: Some(Format::Svmlight), ..Options::default() };
    Reader::open(&input, &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap()
}

pub fn weighted(text: &str, weights: &[f64]) -> Dataset<'static> {
    Dataset { row_weights: weights.to_vec(), ..read(text) }
}

/// A certificate of one claim about these rows.
pub fn certificate(data: &Dataset, name: &str, claim: &Value) -> String {
    let identity = json!({"hash": data.fingerprint(), "rows": data.len(), "columns": data.rows.columns()});
    json!({"format": "novikoff certificate", "version": 4, "data": identity, "claims": [{name: claim}]})
        .to_string()
}

pub fn canonical(data: &Dataset) -> Vec<u8> {
    let mut bytes = Vec::new();
    let write = &mut |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok::<(), ()>(())
    };
    data.write_canonical(data.origin(), write).unwrap();
    bytes
}

pub fn sides() -> Value {
    json!({"positive": ["1"], "negative": ["-1"]})
}

/// A loss as certificates write it, for `name` or `name:parameter`.
pub fn loss(name: &str) -> Value {
    let Some((name, parameter)) = name.split_once(':') else { return json!(name) };
    let parameter: f64 = parameter.parse().unwrap();
    let field = if name == "huber" { "width" } else { "level" };
    json!({name: {field: parameter}})
}

pub fn objective(name: &str, lambda: f64, bias: &str) -> Value {
    json!({"target": {"sides": sides()}, "loss": loss(name), "lambda": lambda, "l1": 0.0, "bias": bias})
}

#[derive(Clone, Debug)]
pub struct Case {
    pub rows: Vec<(bool, [f64; 2], f64)>,
    pub weights: [f64; 3],
    pub duals: Vec<f64>,
    pub loss: &'static str,
    pub lambda: f64,
    pub l1: f64,
    pub bias: &'static str,
    pub scale: Option<&'static str>,
    pub class_weights: [f64; 2],
    pub within: Option<f64>,
    pub passes: Option<u64>,
    pub own: Option<f64>,
    pub normalised: bool,
    pub margin: f64,
}

pub const LOSSES: [&str; 13] = [
    "hinge",
    "squared-hinge",
    "logistic",
    "exponential",
    "squared",
    "absolute",
    "huber:1",
    "huber:1e-3",
    "huber:1e30",
    "quantile:0.1",
    "quantile:0.9",
    "quantile:1e-30",
    "hinge-at-zero",
];

impl Case {
    fn data(&self) -> Dataset<'static> {
        let text: String = self
            .rows
            .iter()
            .map(|(positive, x, _)| {
                let entry =
                    |j: usize| if x[j] == 0.0 { String::new() } else { format!(" {}:{:e}", j + 1, x[j]) };
                format!("{}{}{}\n", if *positive { 1 } else { -1 }, entry(0), entry(1))
            })
            .collect();
        let mut data = weighted(&text, &self.rows.iter().map(|row| row.2).collect::<Vec<_>>());
        data.rows.widen(2);
        data
    }

    fn direction(&self) -> Value {
        json!({"weights": self.weights[..2], "bias": if self.bias == "none" { 0.0 } else { self.weights[2] }})
    }

    /// A claim of each kind, without its number.
    fn claims(&self) -> Vec<(&'static str, Value)> {
        let mut objective = objective(self.loss, self.lambda, self.bias);
        objective["l1"] = json!(self.l1);
        objective["class_weights"] = json!([["1", self.class_weights[0]], ["-1", self.class_weights[1]]]);
        if let Some(scale) = self.scale {
            objective["scale"] = json!(scale);
        }
        let mut near = json!({"objective": objective, "weights": [self.direction()]});
        if self.lambda == 0.0 && self.l1 == 0.0 {
            near["within"] = json!(self.within.unwrap_or(1.0));
        }
        let mut with_duals = near.clone();
        with_duals["duals"] = json!(self.duals);
        let mut joint = near.clone();
        joint["objective"]["target"] = json!({"classes": ["1", "-1"]});
        joint["objective"]["loss"] = json!("logistic");
        joint["objective"]["l1"] = json!(0.0);
        let other = json!({"weights": [self.weights[1], self.weights[0]], "bias": 0.0});
        joint["weights"] = json!([self.direction(), other]);
        let bias = if self.bias == "free" { "penalised" } else { self.bias };
        let mut proof = json!({
            "target": {"sides": sides()}, "bias": bias, "normalised": self.normalised,
            "margin": self.margin, "weights": [self.direction()],
        });
        match (self.own, self.passes) {
            (Some(own), _) => proof["own_feature"] = json!(own),
            (None, Some(passes)) => proof["passes"] = json!(passes),
            _ => {}
        }
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let multipliers: Vec<f64> = self.duals.iter().map(|u| u.abs()).collect();
        let combination = json!({"rows": rows, "multipliers": multipliers});
        vec![
            ("near-optimal", near),
            ("near-optimal", with_duals),
            ("near-optimal", joint),
            ("mistakes-at-most", json!({"proof": proof})),
            ("margin-at-least", json!({"sides": sides(), "bias": self.bias, "direction": self.direction()})),
            ("margin-at-most", json!({"sides": sides(), "bias": self.bias, "combination": combination})),
        ]
    }

    /// A claim that doubles prove and exact arithmetic does not, if there is one: of each kind the strongest
    /// that doubles prove is tried.
    pub fn disagreement(&self) -> Option<String> {
        let data = self.data();
        let rows = Rows::from_canonical(&canonical(&data)).unwrap();
        for (name, claim) in self.claims() {
            let with = |fields: Value| {
                let mut claim = claim.clone();
                claim.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
                certificate(&data, name, &claim)
            };
            let fast =
                |text: &str| Certificate::from_text(text).is_ok_and(|c| c.check_in_doubles(&data)[0].is_ok());
            let proved = match name {
                "near-optimal" => {
                    let value = strongest(|value| fast(&with(json!({"value": value}))), f64::MAX, -1.0);
                    let Some(value) = value else { continue };
                    let bound = strongest(
                        |bound| fast(&with(json!({"value": value, "lower_bound": bound}))),
                        -f64::MAX,
                        value,
                    );
                    match bound {
                        Some(bound) => json!({"value": value, "lower_bound": bound}),
                        None => json!({"value": value}),
                    }
                }
                "mistakes-at-most" => {
                    let accepts = |mistakes: u64| fast(&with(json!({"mistakes": mistakes})));
                    let (mut low, mut high) = (0, 1u64 << 53);
                    if !accepts(high) {
                        continue;
                    }
                    while low < high {
                        let middle = low + (high - low) / 2;
                        if accepts(middle) { high = middle } else { low = middle + 1 }
                    }
                    json!({"mistakes": low})
                }
                "margin-at-least" => {
                    match strongest(|m| fast(&with(json!({"margin": m}))), -f64::MAX, f64::MAX) {
                        Some(margin) => json!({"margin": margin}),
                        None => continue,
                    }
                }
                _ => match strongest(|m| fast(&with(json!({"margin": m}))), f64::MAX, -1.0) {
                    Some(margin) => json!({"margin": margin}),
                    None => continue,
                },
            };
            let text = with(proved);
            let exact = novikoff_checker::check(&text, &rows, None).unwrap();
            if !exact.iter().all(|verdict| verdict.holds) {
                return Some(format!("{text}\n{exact:?}"));
            }
        }
        None
    }
}

/// The strongest number that the fast checker accepts in a claim, by bisection over all doubles.
fn strongest(accepts: impl Fn(f64) -> bool, weak: f64, strong: f64) -> Option<f64> {
    if !accepts(weak) {
        return None;
    }
    let (mut weak, mut strong) = (order(weak), order(strong));
    while weak.abs_diff(strong) > 1 {
        let middle = weak.midpoint(strong);
        if accepts(unorder(middle)) { weak = middle } else { strong = middle }
    }
    Some(unorder(weak))
}

/// Doubles in their order, as integers.
fn order(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

fn unorder(at: i64) -> f64 {
    f64::from_bits(if at < 0 { (i64::MIN - at) as u64 } else { at as u64 })
}
