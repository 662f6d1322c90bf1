//! Lower bounds against minima found by search: what is true can be proved, and what is a little more than
//! true cannot.

mod common;

use common::{verdict, weighted};
use novikoff_checker::Rows;
use serde_json::{Value, json};

const LOSSES: [&str; 9] = [
    "hinge",
    "squared-hinge",
    "logistic",
    "exponential",
    "squared",
    "absolute",
    "huber",
    "quantile",
    "hinge-at-zero",
];

/// The parameters here.
const WIDTH: f64 = 0.75;
const LEVEL: f64 = 0.7;

/// A loss as certificates write it.
fn written(name: &str) -> Value {
    match name {
        "huber" => json!({"huber": {"width": WIDTH}}),
        "quantile" => json!({"quantile": {"level": LEVEL}}),
        name => json!(name),
    }
}

/// Rows of one column: value, side, weight.
const ROWS: [(f64, f64, f64); 6] = [
    (1.0, 1.0, 1.0),
    (2.5, 1.0, 0.5),
    (-1.0, -1.0, 1.0),
    (0.75, -1.0, 2.0),
    (-0.5, 1.0, 1.0),
    (3.0, -1.0, 0.25),
];
const CLASS_WEIGHTS: [f64; 2] = [0.75, 1.5];

fn rows() -> Rows {
    let entries: Vec<[(u32, f64); 1]> = ROWS.iter().map(|row| [(0, row.0)]).collect();
    let rows: Vec<common::Row<'_>> =
        ROWS.iter().zip(&entries).map(|(row, entry)| (u32::from(row.1 < 0.0), row.2, &entry[..])).collect();
    weighted(&rows, 1, &["1", "-1"])
}

/// The loss, with corners rounded off over a length of `mu`, and its slope.
fn loss(name: &str, y: f64, s: f64, mu: f64) -> (f64, f64) {
    // max(0, t) and its slope.
    let ramp = |t: f64| match t {
        t if t <= 0.0 => (0.0, 0.0),
        t if t >= mu => (t - mu / 2.0, 1.0),
        t => (t * t / (2.0 * mu), t / mu),
    };
    match name {
        "hinge" => (ramp(1.0 - y * s).0, -y * ramp(1.0 - y * s).1),
        "hinge-at-zero" => (ramp(-y * s).0, -y * ramp(-y * s).1),
        "absolute" => (ramp(s - y).0 + ramp(y - s).0, ramp(s - y).1 - ramp(y - s).1),
        "squared-hinge" => ((1.0 - y * s).max(0.0).powi(2), -2.0 * y * (1.0 - y * s).max(0.0)),
        "logistic" => ((-y * s).exp().ln_1p(), -y / (1.0 + (y * s).exp())),
        "exponential" => ((-y * s).exp(), -y * (-y * s).exp()),
        "squared" => ((s - y).powi(2), 2.0 * (s - y)),
        "huber" if (s - y).abs() > WIDTH => {
            (2.0 * WIDTH * (s - y).abs() - WIDTH * WIDTH, 2.0 * WIDTH * (s - y).signum())
        }
        "huber" => ((s - y).powi(2), 2.0 * (s - y)),
        "quantile" => (
            (1.0 - LEVEL) * ramp(s - y).0 + LEVEL * ramp(y - s).0,
            (1.0 - LEVEL) * ramp(s - y).1 - LEVEL * ramp(y - s).1,
        ),
        _ => unreachable!(),
    }
}

/// The arguments of the minimum of a convex function of one number.
fn search(mut low: f64, mut high: f64, f: &dyn Fn(f64) -> f64) -> f64 {
    for _ in 0..120 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if f(a) <= f(b) { high = b } else { low = a }
    }
    (low + high) / 2.0
}

struct Case {
    loss: &'static str,
    bias: &'static str,
    lambda: f64,
    l1: f64,
    within: Option<f64>,
    scale: Option<&'static str>,
}

impl Case {
    fn factor(&self) -> f64 {
        let n: f64 = ROWS.iter().map(|row| row.2).sum();
        let mean = |f: &dyn Fn(f64) -> f64| ROWS.iter().map(|row| row.2 * f(row.0)).sum::<f64>() / n;
        match self.scale {
            None => 1.0,
            Some("max-abs") => 3.0,
            Some(_) => (mean(&|x| x * x) - mean(&|x| x).powi(2)).sqrt(),
        }
    }

    fn value(&self, w: f64, b: f64, mu: f64) -> f64 {
        let n: f64 = ROWS.iter().map(|row| row.2).sum();
        let losses = ROWS
            .iter()
            .map(|(x, y, r)| r * CLASS_WEIGHTS[usize::from(*y < 0.0)] * loss(self.loss, *y, w * x + b, mu).0);
        let v = self.factor() * w;
        let b = if self.bias == "penalised" { b } else { 0.0 };
        losses.sum::<f64>() / n + self.lambda / 2.0 * (v * v + b * b) + self.l1 * (v.abs() + b.abs())
    }

    /// The weight and the bias of the minimum.
    fn minimum(&self, mu: f64) -> (f64, f64) {
        let reach = self.within.map_or(20.0, |within| within / self.factor());
        let bias = |w: f64| match (self.bias, self.within) {
            ("none", _) => 0.0,
            ("penalised", Some(within)) => {
                let most = (within.powi(2) - (self.factor() * w).powi(2)).max(0.0).sqrt();
                search(-most, most, &|b| self.value(w, b, mu))
            }
            _ => search(-20.0, 20.0, &|b| self.value(w, b, mu)),
        };
        let w = search(-reach, reach, &|w| self.value(w, bias(w), mu));
        (w, bias(w))
    }

    fn claim(&self, (w, b): (f64, f64), value: f64, lower_bound: f64, duals: Option<Vec<f64>>) -> Value {
        let objective = json!({
            "target": {"sides": common::two()}, "loss": written(self.loss),
            "lambda": self.lambda, "l1": self.l1,
            "bias": self.bias, "scale": self.scale,
            "class_weights": [["1", CLASS_WEIGHTS[0]], ["-1", CLASS_WEIGHTS[1]]],
        });
        json!({"near-optimal": {
            "objective": objective, "value": value, "lower_bound": lower_bound, "within": self.within,
            "weights": [{"weights": [w], "bias": b}], "duals": duals,
        }})
    }
}

#[test]
fn minima_are_proved_and_nothing_above_them() {
    let rows = rows();
    let penalties = [(0.1, 0.0, None), (0.0, 0.05, None), (0.05, 0.02, None), (0.0, 0.0, Some(1.5))];
    for loss_name in LOSSES {
        for bias in ["free", "penalised", "none"] {
            for (lambda, l1, within) in penalties {
                for scale in [None, Some("max-abs"), Some("unit-variance")] {
                    let case = Case { loss: loss_name, bias, lambda, l1, within, scale };
                    let name =
                        format!("{loss_name}, {bias}, λ {lambda}, l1 {l1}, within {within:?}, {scale:?}");
                    let smooth = !["hinge", "absolute", "quantile", "hinge-at-zero"].contains(&loss_name);
                    let mu = if smooth { 0.0 } else { 1e-3 };
                    let best = case.minimum(0.0);
                    let minimum = case.value(best.0, best.1, 0.0);
                    // Slopes of the rounded loss at its own minimum are nearly the best duals.
                    let at = case.minimum(mu);
                    let duals: Option<Vec<f64>> = (!smooth).then(|| {
                        ROWS.iter().map(|(x, y, _)| loss(loss_name, *y, at.0 * x + at.1, mu).1).collect()
                    });
                    let slack = if smooth { 1e-4 } else { 4e-3 };
                    let proved =
                        verdict(&rows, case.claim(best, minimum + 1e-9, minimum - slack, duals.clone()));
                    assert!(proved.holds, "{name}: minimum {minimum}: {}", proved.detail);
                    // Neither these duals nor others prove more than the minimum.
                    let wild = ROWS.iter().map(|(x, y, _)| -y * (1.0 + x)).collect();
                    for duals in [duals, Some(vec![0.0; 6]), Some(wild), Some(vec![1e300; 6]), None] {
                        let claim = case.claim(best, minimum + 1.0, minimum + 1e-7, duals.clone());
                        assert!(!verdict(&rows, claim).holds, "{name}: {duals:?}");
                    }
                    // The value at the weights, and a little less.
                    assert!(
                        !verdict(&rows, case.claim(best, minimum - 1e-9, minimum - 1.0, None)).holds,
                        "{name}"
                    );
                    let elsewhere = (best.0 + 0.5 / case.factor(), best.1);
                    let value = case.value(elsewhere.0, elsewhere.1, 0.0);
                    assert!(!verdict(&rows, case.claim(elsewhere, value - 1e-9, -1e9, None)).holds, "{name}");
                    let there = verdict(&rows, case.claim(elsewhere, value + 1e-9, -1e9, Some(vec![0.0; 6])));
                    assert!(there.holds, "{name}: {}", there.detail);
                }
            }
        }
    }
}

#[test]
fn numbers_are_predicted() {
    let rows = common::svm("2 1:1; 3.5 1:2; -1 1:-1; 0 1:0.5");
    let data = [(1.0, 2.0), (2.0, 3.5), (-1.0, -1.0), (0.5, 0.0)];
    for loss_name in ["squared", "absolute", "huber", "quantile"] {
        let value = |w: f64, b: f64| {
            data.iter().map(|(x, y)| loss(loss_name, *y, w * x + b, 0.0).0).sum::<f64>() / 4.0 + 0.05 * w * w
        };
        let bias = |w: f64| search(-20.0, 20.0, &|b| value(w, b));
        let w = search(-20.0, 20.0, &|w| value(w, bias(w)));
        let minimum = value(w, bias(w));
        let claim = |value: f64, lower_bound: f64| {
            json!({"near-optimal": {
                "objective": {
                    "target": "numbers", "loss": written(loss_name), "lambda": 0.1, "l1": 0, "bias": "free"
                },
                "value": value, "lower_bound": lower_bound, "weights": [{"weights": [w], "bias": bias(w)}],
            }})
        };
        let slack = if ["squared", "huber"].contains(&loss_name) { 1e-6 } else { 10.0 };
        let found = verdict(&rows, claim(minimum + 1e-9, minimum - slack));
        assert!(found.holds, "{}", found.detail);
        assert!(!verdict(&rows, claim(minimum + 1.0, minimum + 1e-7)).holds);
        assert!(!verdict(&rows, claim(minimum - 1e-9, minimum - 20.0)).holds);
    }
    let forged = |loss: Value| {
        json!({"near-optimal": {
            "objective": {"target": "numbers", "loss": loss, "lambda": 0.1, "l1": 0, "bias": "free"},
            "value": 99, "weights": [{"weights": [0], "bias": 0}],
        }})
    };
    assert!(verdict(&rows, forged(json!({"huber": {"width": 1e-300}}))).holds);
    for loss in [
        json!({"huber": {"width": 0}}),
        json!({"huber": {"width": -1}}),
        json!({"quantile": {"level": 0}}),
        json!({"quantile": {"level": 1}}),
        json!({"quantile": {"level": -0.5}}),
        json!({"quantile": {"level": 1.5}}),
    ] {
        common::fails(&rows, forged(loss));
    }
    let words = common::svm("2 1:1; x 1:2");
    let claim = json!({"near-optimal": {
        "objective": {"target": "numbers", "loss": "squared", "lambda": 0.1, "l1": 0, "bias": "free"},
        "value": 99, "weights": [{"weights": [0], "bias": 0}],
    }});
    common::fails(&words, claim);
}

/// The multinomial loss of three classes and one column, with row weights and class weights.
struct JointCase {
    bias: &'static str,
    lambda: f64,
    factor: f64,
}

impl JointCase {
    /// Rows of one column: value, class, weight.
    const ROWS: [(f64, usize, f64); 7] = [
        (1.0, 0, 1.0),
        (0.5, 0, 1.0),
        (-1.0, 1, 2.0),
        (0.2, 1, 1.0),
        (2.0, 2, 0.5),
        (-0.3, 2, 1.0),
        (0.9, 2, 1.0),
    ];
    const CLASS_WEIGHTS: [f64; 3] = [1.0, 0.5, 2.0];

    fn rows() -> Rows {
        let entries: Vec<[(u32, f64); 1]> = Self::ROWS.iter().map(|row| [(0, row.0)]).collect();
        let row = |(row, entry): (&(f64, usize, f64), _)| (row.1 as u32, row.2, entry);
        let list: Vec<common::Row<'_>> =
            Self::ROWS.iter().zip(entries.iter().map(|entry| &entry[..])).map(row).collect();
        weighted(&list, 1, &["a", "b", "c"])
    }

    /// The objective and its gradient in weights and biases.
    fn gradient(&self, w: [f64; 3], b: [f64; 3]) -> (f64, [f64; 3], [f64; 3]) {
        let n: f64 = Self::ROWS.iter().map(|row| row.2).sum();
        let (mut value, mut gw, mut gb) = (0.0, [0.0; 3], [0.0; 3]);
        for (x, y, r) in Self::ROWS {
            let exps: Vec<f64> = (0..3).map(|c| (w[c] * x + b[c]).exp()).collect();
            let sum: f64 = exps.iter().sum();
            let count = r * Self::CLASS_WEIGHTS[y] / n;
            value += count * (sum.ln() - w[y] * x - b[y]);
            for c in 0..3 {
                let off = count * (exps[c] / sum - f64::from(u8::from(c == y)));
                gw[c] += off * x;
                gb[c] += off;
            }
        }
        for c in 0..3 {
            value += self.lambda / 2.0 * (self.factor * w[c]).powi(2);
            gw[c] += self.lambda * self.factor * self.factor * w[c];
            if self.bias == "penalised" {
                value += self.lambda / 2.0 * b[c] * b[c];
                gb[c] += self.lambda * b[c];
            }
        }
        (value, gw, gb)
    }

    /// The weights and the biases of the minimum, by gradient descent.
    fn minimum(&self) -> ([f64; 3], [f64; 3]) {
        let (mut w, mut b) = ([0.0; 3], [0.0; 3]);
        for _ in 0..20_000 {
            let (_, gw, gb) = self.gradient(w, b);
            for c in 0..3 {
                w[c] -= 0.3 * gw[c];
                b[c] -= if self.bias == "none" { 0.0 } else { 0.3 * gb[c] };
            }
        }
        (w, b)
    }

    /// The length of weights and biases that the penalty measures.
    fn length(&self, w: [f64; 3], b: [f64; 3]) -> f64 {
        let bias = |c: usize| if self.bias == "penalised" { b[c] * b[c] } else { 0.0 };
        (0..3).map(|c| (self.factor * w[c]).powi(2) + bias(c)).sum::<f64>().sqrt()
    }

    fn claim(&self, weights: Vec<Value>, value: f64, lower_bound: f64, within: Option<f64>) -> Value {
        let scale = if self.factor == 2.0 { json!("max-abs") } else { json!(null) };
        let lambda = if within.is_some() { 0.0 } else { self.lambda };
        let objective = json!({
            "target": {"classes": ["a", "b", "c"]}, "loss": "logistic", "lambda": lambda, "l1": 0,
            "bias": self.bias, "scale": scale, "class_weights": [["b", 0.5], ["c", 2]],
        });
        json!({"near-optimal": {
            "objective": objective, "value": value, "lower_bound": lower_bound, "within": within,
            "weights": weights,
        }})
    }
}

#[test]
fn joint_minima_are_proved_and_nothing_above_them() {
    let rows = JointCase::rows();
    for (bias, lambda, factor) in
        [("free", 0.1, 1.0), ("penalised", 0.1, 1.0), ("none", 0.2, 1.0), ("free", 0.1, 2.0)]
    {
        let case = JointCase { bias, lambda, factor };
        let (w, b) = case.minimum();
        let minimum = case.gradient(w, b).0;
        let claim = |shift: f64, value: f64, lower_bound: f64, within: Option<f64>| {
            let weights = (0..3).map(|c| json!({"weights": [w[c] + shift * c as f64], "bias": b[c]}));
            case.claim(weights.collect(), value, lower_bound, within)
        };
        let found = verdict(&rows, claim(0.0, minimum + 1e-9, minimum - 1e-9, None));
        assert!(found.holds, "{bias} {minimum}: {}", found.detail);
        assert!(!verdict(&rows, claim(0.0, minimum + 1.0, minimum + 1e-9, None)).holds, "{bias}");
        assert!(!verdict(&rows, claim(0.0, minimum - 1e-9, minimum - 1.0, None)).holds, "{bias}");
        // Away from the minimum the bound is worse, and still one.
        for shift in [0.01, -0.3, 2.0] {
            assert!(!verdict(&rows, claim(shift, 1e9, minimum + 1e-9, None)).holds, "{bias} {shift}");
        }
        let near = verdict(&rows, claim(0.01, minimum + 0.1, minimum - 0.01, None));
        assert!(near.holds, "{bias}: {}", near.detail);
        // The minimum with a penalty is one within the length of its weights without: less than the value
        // there.
        let length = case.length(w, b);
        let value = minimum - lambda / 2.0 * length * length;
        let found = verdict(&rows, claim(0.0, value + 1e-9, value - 1e-6, Some(length)));
        assert!(found.holds, "{bias} {value}: {}", found.detail);
        assert!(!verdict(&rows, claim(0.0, value + 1.0, value + 1e-6, Some(length))).holds, "{bias}");
    }
}

/// Rows without entries: the minimum is the entropy of the classes, which uniform probabilities must be made
/// to fit.
#[test]
fn joint_duals_are_made_to_fit_free_biases() {
    let rows = common::svm("a; a; b; c");
    let claim = |bias: &str, lower_bound: f64| {
        let zero = json!({"weights": [], "bias": 0});
        let target = json!({"classes": ["a", "b", "c"]});
        json!({"near-optimal": {
            "objective": {"target": target, "loss": "logistic", "lambda": 1, "l1": 0, "bias": bias},
            "value": 1.09861228866811, "lower_bound": lower_bound, "weights": [zero, zero, zero],
        }})
    };
    // ½ ln 2 + ½ ln 4.
    common::holds(&rows, claim("free", 1.0397207708399179));
    common::fails(&rows, claim("free", 1.039720770839918));
    // Without a bias it is ln 3.
    common::holds(&rows, claim("none", 1.0986122886681096));
    common::fails(&rows, claim("penalised", 1.0986122886681096));
}
