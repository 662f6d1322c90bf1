//! Explanations of predictions: the contribution of each feature to the score.

use super::{Model, Scorer, Task, presence};
use crate::data::Row;
use crate::features::map::Entries;
use crate::multiclass::{best, decide};

/// The explanation of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The label that comes second; none where a number is predicted.
    pub against: Option<usize>,
    /// How far the label is ahead of the second one: its score less the other's, or the number that is
    /// predicted. It is the sum of the bias and of all parts, moved into the range of a model that has one.
    pub difference: f64,
    /// The contribution of the bias.
    pub bias: f64,
    /// The contribution of each feature of the row, the largest in size first.
    pub parts: Vec<Part>,
}

/// The contribution of a feature to the score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The feature; of mapped rows, if the model has a map.
    pub feature: u32,
    /// Its value in the row.
    pub value: f64,
    /// Its contribution.
    pub added: f64,
}

/// Why a row with these scores gets the label that it gets. Votes and networks are no sums over
/// features, and have no parts.
pub fn explain(model: &Model, row: Row<'_>, scores: &[f64]) -> Explanation {
    let Some(weights) = model.scorer.weights() else {
        return Explanation { against: None, difference: 0.0, bias: 0.0, parts: Vec::new() };
    };
    // With one score for two classes, the evidence for the negative label is the negative score.
    let (winner, second) = match (model.task(), scores) {
        (Task::Regression, _) => ((0, 1.0), None),
        (Task::Classes, [_]) if decide(scores) == 1 => ((0, 1.0), Some(0)),
        (Task::Classes, [_]) => ((0, -1.0), Some(1)),
        (Task::Classes, _) => {
            let ranked = best(scores, 2);
            ((ranked[0].0, 1.0), ranked.get(1).map(|(class, _)| *class))
        }
    };
    let against = second.filter(|_| scores.len() > 1);
    let of = |value: &dyn Fn(usize) -> f64| winner.1 * (value(winner.0) - against.map_or(0.0, value));
    let mut parts = Vec::new();
    let (mut present, mut entries) = (Vec::new(), Entries::default());
    let row = if let Scorer::Mapped(mapped) = &model.scorer { mapped.map(row, &mut entries) } else { row };
    let row =
        if let Scorer::Presence(_) = model.scorer.behind_map() { presence(row, &mut present) } else { row };
    row.for_each_nonzero(|feature, value| {
        let added = value * of(&|output| weights.weight(feature as usize, output));
        if added != 0.0 {
            parts.push(Part { feature, value, added });
        }
    });
    parts.sort_by(|a, b| b.added.abs().total_cmp(&a.added.abs()).then(a.feature.cmp(&b.feature)));
    Explanation {
        against: second,
        difference: of(&|output| scores[output]),
        bias: of(&|output| weights.bias[output]),
        parts,
    }
}
