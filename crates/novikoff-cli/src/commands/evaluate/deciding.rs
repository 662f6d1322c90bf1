//! What decides between two classes, and what its mistakes cost.

use crate::arguments::Evaluate;
use crate::render::{Lines, number};
use crate::settings::pairs;
use crate::text::name;
use novikoff::data::Labels;
use novikoff::evaluate::{Cheapest, Evaluation, Predictions, Threshold, ThresholdOn};
use novikoff::{Error, Result};
use serde_json::{Map, Value, json};

/// A threshold, if one is given, and what mistakes cost, if that is given.
pub struct Deciding {
    threshold: Option<f64>,
    on: ThresholdOn,
    /// The negative and the positive label.
    labels: Option<[String; 2]>,
    costs: Option<Costs>,
}

struct Costs {
    /// What a mistake costs on a row of each label.
    each: [f64; 2],
    /// The mean cost of a row.
    here: f64,
    cheapest: Cheapest,
}

impl Deciding {
    pub fn new(arguments: &Evaluate, predictions: &Predictions, labels: &Labels) -> Result<Self> {
        let pair = match labels.names() {
            [negative, positive] => Some([negative.clone(), positive.clone()]),
            _ => None,
        };
        let each = arguments.costs.as_deref().map(|text| costs(text, labels)).transpose()?;
        let of_costs = |each: [f64; 2]| {
            let (here, cheapest) =
                (predictions.cost(arguments.threshold, each)?, predictions.cheapest(each)?);
            Ok(Costs { each, here, cheapest })
        };
        Ok(Self {
            threshold: arguments.threshold,
            on: predictions.threshold_on(),
            labels: pair,
            costs: each.map(of_costs).transpose()?,
        })
    }

    /// Measures what is decided.
    pub fn measure(&self, predictions: &Predictions) -> Result<Evaluation> {
        self.threshold
            .map_or_else(|| Ok(predictions.measure()), |threshold| predictions.measure_at(threshold))
    }

    pub fn add_lines(&self, lines: &mut Lines) {
        let Some([_, positive]) = &self.labels else { return };
        if let Some(threshold) = self.threshold {
            lines.add("threshold", format!("{positive} from a {} of {threshold} on", self.of_what()));
        }
        if let Some(costs) = &self.costs {
            lines.add("cost", format!("{} a row", number(costs.here)));
            let (cost, best) = (number(costs.cheapest.cost), self.best(costs));
            lines.add("least cost", format!("{cost} a row, on these rows: {best}"));
        }
    }

    fn of_what(&self) -> &'static str {
        if self.on == ThresholdOn::Probability { "probability" } else { "score" }
    }

    /// The best threshold, in words.
    fn best(&self, costs: &Costs) -> String {
        let named = |class: usize| self.labels.as_ref().map_or_else(String::new, |pair| name(&pair[class]));
        let [negative, positive] = [0, 1].map(named);
        match costs.cheapest.threshold {
            Threshold::At(threshold) => format!("{positive} from a {} of {threshold} on", self.of_what()),
            Threshold::All => format!("always {positive}"),
            Threshold::None => format!("always {negative}"),
        }
    }

    pub fn as_json(&self) -> Map<String, Value> {
        let two = self.labels.as_ref();
        let costs = self.costs.as_ref();
        let best = costs.map(|costs| costs.cheapest.threshold);
        let always = match (best, two) {
            (Some(Threshold::All), Some([_, positive])) => Some(positive),
            (Some(Threshold::None), Some([negative, _])) => Some(negative),
            _ => None,
        };
        let named = |costs: &Costs| {
            two.map(|pair| Map::from_iter((0..2).map(|k| (pair[k].clone(), json!(costs.each[k])))))
        };
        Map::from_iter([
            ("threshold".to_owned(), json!(self.threshold)),
            ("threshold_on".to_owned(), json!(two.map(|_| self.of_what()))),
            ("costs".to_owned(), json!(costs.and_then(named))),
            ("cost".to_owned(), json!(costs.map(|costs| costs.here))),
            ("least_cost".to_owned(), json!(costs.map(|costs| costs.cheapest.cost))),
            ("best_threshold".to_owned(), json!(best.and_then(Threshold::number))),
            ("best_always".to_owned(), json!(always)),
        ])
    }
}

/// `LABEL=COST,…`, in the order of the labels; 1 for a label that is not named.
fn costs(text: &str, labels: &Labels) -> Result<[f64; 2]> {
    let given = pairs(text).ok_or_else(|| {
        Error::usage(format!("--costs {text:?} is not LABEL=COST,…"))
            .hint("for example --costs spam=1,ham=10")
    })?;
    if labels.len() != 2 {
        let error = Error::usage("--costs is for two classes, between which a threshold decides");
        return Err(error.hint("leave out --costs"));
    }
    let mut costs = [1.0; 2];
    for (label, cost) in given {
        let Some(class) = labels.find(&label) else {
            let error = Error::usage(format!("--costs: there is no label {label:?}"));
            return Err(error.hint(format!("the labels are {}", labels.names().join(" and "))));
        };
        costs[class as usize] = cost;
    }
    Ok(costs)
}
