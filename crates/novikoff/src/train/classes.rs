//! From labels to classes: their order, their weights, and what cannot be classes.

use super::learner::{ClassWeight, Shared};
use crate::data::{Dataset, Labels};
use crate::error::{Error, Result};
use crate::evaluate::UNKNOWN;
use crate::features::Schema;
use crate::multiclass::{Scheme, class_order};

/// Labels in their final order, and how to get there.
pub(crate) struct Classes {
    pub(crate) labels: Labels,
    /// The final number of a label, by its number in the data.
    pub(super) rank: Vec<u32>,
    /// The other way round.
    pub(super) order: Vec<u32>,
}

impl Classes {
    /// The classes of these labels, which errors call by the column that they are from.
    pub(crate) fn new(names: &Labels, schema: &Schema, shared: &Shared) -> Result<Self> {
        match names.names() {
            [] => return Err(Error::input("there are no rows with labels")),
            [only] => {
                let column =
                    schema.label_column().map_or(String::new(), |name| format!(" in column {name:?}"));
                let error = Error::input(format!(
                    "every row has the label {only:?}{column}; learning to tell apart needs two"
                ));
                return Err(error.hint("is this the right label column, and the whole file?"));
            }
            _ => {}
        }
        if shared.multiclass == Some(Scheme::Two) && names.len() > 2 {
            let error =
                Error::usage(format!("`multiclass = two` is for two labels: there are {}", names.len()));
            return Err(error.hint("use one-vs-rest, or joint where the learner can"));
        }
        let positive = match &shared.positive {
            Some(name) => Some(names.find(name).ok_or_else(|| {
                let hint = format!("the labels are {}", listed(names));
                Error::usage(format!("there is no label {name:?} to be the positive one")).hint(hint)
            })?),
            None => None,
        };
        if positive.is_some() && names.len() > 2 {
            let error = Error::usage(format!(
                "there are {} labels; only of two can one be the positive one",
                names.len()
            ));
            return Err(error.hint("leave out `positive`"));
        }
        let order = class_order(names, positive);
        let mut rank = vec![0; order.len()];
        for (class, &label) in order.iter().enumerate() {
            rank[label as usize] = class as u32;
        }
        let labels = Labels::new(order.iter().map(|&label| &names.names()[label as usize]));
        Ok(Self { labels, rank, order })
    }
}

impl Classes {
    /// The final numbers of the labels of other rows than those learned from, which may number labels
    /// otherwise. A label that none of those has is [`UNKNOWN`]; it is an error if all are.
    pub(crate) fn of_others(&self, data: &Dataset) -> Result<Vec<u32>> {
        if data.labels.len() != data.len() {
            return Err(Error::input("the validation rows have no labels").hint("give them by `with_labels`"));
        }
        let numbers: Vec<Option<u32>> =
            data.names.names().iter().map(|name| self.labels.find(name)).collect();
        let class = |label: &u32| numbers[*label as usize].unwrap_or(UNKNOWN);
        let classes: Vec<u32> = data.labels.iter().map(class).collect();
        match data.labels.first().filter(|_| classes.iter().all(|class| *class == UNKNOWN)) {
            None => Ok(classes),
            Some(&label) => {
                let name = &data.names.names()[label as usize];
                let what =
                    format!("no validation row has a label of the rows to learn from: the first is {name:?}");
                Err(Error::input(what).hint(format!("the labels are {}", listed(&self.labels))))
            }
        }
    }

    /// The final numbers of these labels.
    pub(crate) fn rank_all(&self, labels: &[u32]) -> Vec<u32> {
        labels.iter().map(|&label| self.rank[label as usize]).collect()
    }
}

/// Names for a message, not too many.
pub(super) fn listed(names: &Labels) -> String {
    let shown: Vec<&str> = names.names().iter().take(20).map(String::as_str).collect();
    format!("{}{}", shown.join(", "), if names.len() > 20 { ", …" } else { "" })
}

pub(super) fn scheme(classes: usize, shared: &Shared) -> Scheme {
    match shared.multiclass {
        Some(scheme) if scheme != Scheme::Two => scheme,
        _ if classes == 2 => Scheme::Two,
        _ => Scheme::Joint,
    }
}

/// Most weights: 16 GB.
pub(super) const MOST_WEIGHTS: usize = 1 << 31;

pub(crate) fn check_size(features: usize, outputs: usize) -> Result<()> {
    if features.checked_mul(outputs).is_none_or(|weights| weights > MOST_WEIGHTS) {
        let what = format!("{features} features × {outputs} classes are more weights than fit into memory");
        return Err(Error::input(what)
            .hint("fewer features, by `hash_bits` or a smaller `max_index`, or fewer classes"));
    }
    Ok(())
}

/// Row weights times class weights; empty if every row counts once.
pub(crate) fn effective_weights(
    data: &Dataset,
    classes: &[u32],
    labels: &Labels,
    shared: &Shared,
) -> Result<Vec<f64>> {
    let Some(per_class) = class_weights(data, labels, shared)? else { return Ok(data.row_weights.clone()) };
    let weight = |(i, &class): (usize, &u32)| data.weight(i) * per_class[class as usize];
    let weights: Vec<f64> = classes.iter().enumerate().map(weight).collect();
    match weights.iter().sum::<f64>().is_finite() {
        true => Ok(weights),
        false => {
            let what = "the row weights times those of their classes add up to more than the largest number";
            Err(Error::input(what).hint("divide all of them by the same number"))
        }
    }
}

/// How much each class counts; `None` if all count 1.
pub(super) fn class_weights(data: &Dataset, labels: &Labels, shared: &Shared) -> Result<Option<Vec<f64>>> {
    Ok(match &shared.class_weight {
        ClassWeight::Equal => None,
        ClassWeight::Balanced => Some(data.balanced_weights(labels)),
        ClassWeight::Given(given) => {
            check_class_weights(given, labels)?;
            Some(labels.names().iter().map(|name| given_weight(given, name)).collect())
        }
    })
}

pub(super) fn check_class_weights(given: &[(String, f64)], labels: &Labels) -> Result<()> {
    for (name, _) in given {
        if labels.find(name).is_none() {
            let error = Error::usage(format!("there is no label {name:?} to weigh"));
            return Err(error.hint(format!("the labels are {}", listed(labels))));
        }
    }
    check_weights_given(given)
}

/// The same without the labels, which may not be known yet.
pub(super) fn check_weights_given(given: &[(String, f64)]) -> Result<()> {
    for (name, weight) in given {
        if !(weight.is_finite() && *weight >= 0.0) {
            return Err(Error::usage(format!(
                "the weight of {name:?} must be a number from 0, not {weight}"
            )));
        }
    }
    Ok(())
}

/// The weight that is given to a label under any of its spellings; 1 if none is.
pub(super) fn given_weight(given: &[(String, f64)], label: &str) -> f64 {
    let own = Labels::new([label]);
    given.iter().rfind(|(name, _)| own.find(name).is_some()).map_or(1.0, |(_, weight)| *weight)
}

pub(super) fn weightless() -> Error {
    Error::input("every row has the weight 0: there is nothing to learn from")
}
