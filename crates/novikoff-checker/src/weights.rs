//! Weights of a claim against rows: scores, lengths, and who stands on which side. All of it exact.

use crate::certificate::{Bias, Direction, Sides};
use crate::number::{Dyadic, Sum};
use crate::rows::Rows;

impl Sides {
    /// The side of each label: 1, −1, or 0 for those that are on none.
    pub fn by_label(&self, rows: &Rows) -> Result<Vec<i8>, String> {
        if self.positive.is_empty() || self.negative.is_empty() {
            return Err("a side has no labels".into());
        }
        let mut sides = vec![0; rows.label_names().len()];
        for (side, names) in [(1, &self.positive), (-1, &self.negative)] {
            for (label, name) in numbers(names, rows)?.into_iter().zip(names) {
                if sides[label] != 0 {
                    return Err(format!("the label {name:?} is named twice"));
                }
                sides[label] = side;
            }
        }
        Ok(sides)
    }

    /// The side of each row: 0 for those that do not count, which are not all.
    pub fn by_row(&self, rows: &Rows) -> Result<Vec<i8>, String> {
        let sides = self.by_label(rows)?;
        let of =
            |row: usize| rows.label(row).filter(|_| rows.weight(row) > 0.0).map_or(0, |label| sides[label]);
        let sides: Vec<i8> = (0..rows.len()).map(of).collect();
        if sides.iter().all(|side| *side == 0) { Err("no row counts".into()) } else { Ok(sides) }
    }
}

/// The numbers of labels that the data must have.
fn numbers(names: &[String], rows: &Rows) -> Result<Vec<usize>, String> {
    names
        .iter()
        .map(|name| rows.names.find(name).ok_or_else(|| format!("the data has no label {name:?}")))
        .collect()
}

/// The class of each label, if it has one. There are at least two classes.
pub fn classes(names: &[String], rows: &Rows) -> Result<Vec<Option<usize>>, String> {
    if names.len() < 2 {
        return Err("there are less than two classes".into());
    }
    let mut classes = vec![None; rows.label_names().len()];
    for (class, label) in numbers(names, rows)?.into_iter().enumerate() {
        if classes[label].replace(class).is_some() {
            return Err(format!("the label {:?} is named twice", names[class]));
        }
    }
    Ok(classes)
}

impl Direction {
    /// The columns and their weights, once it is sure that there are such columns.
    pub fn entries(&self, width: u64) -> Result<impl Iterator<Item = (u32, f64)>, String> {
        let weights = &self.weights.0;
        let columns = self.columns.as_ref().map(|columns| &columns.0[..]);
        let expected = columns.map_or(width, |columns| columns.len() as u64);
        if weights.len() as u64 != expected {
            return Err(format!("{} weights for {expected} columns", weights.len()));
        }
        if columns.is_some_and(|columns| !columns.is_sorted_by(|a, b| a < b)) {
            return Err("the columns of the weights do not increase".into());
        }
        if columns.and_then(|columns| columns.last()).is_some_and(|last| u64::from(*last) >= width) {
            return Err(format!("there is a weight of a column behind the last of {width}"));
        }
        let column = move |at: usize| columns.map_or(at as u32, |columns| columns[at]);
        Ok(weights.iter().enumerate().map(move |(at, w)| (column(at), *w)))
    }
}

/// Weight vectors, stored by the columns that rows have entries in. They take as much memory as the
/// certificate's, and no more.
pub struct Weights {
    starts: Vec<usize>,
    /// The vector and its weight, column by column.
    entries: Vec<(u32, f64)>,
    biases: Vec<f64>,
}

impl Weights {
    /// Of these directions. Where there is no bias, theirs must be zero.
    pub fn new(directions: &[Direction], bias: Bias, rows: &Rows) -> Result<Self, String> {
        if bias == Bias::None && directions.iter().any(|direction| direction.bias != 0.0) {
            return Err("there is a bias where there should be none".into());
        }
        let used = rows.used();
        let mut all = Vec::new();
        for (vector, direction) in (0..).zip(directions) {
            let weighing = direction.entries(rows.width())?.filter(|(_, w)| *w != 0.0);
            all.extend(
                weighing.filter_map(|(column, w)| used.binary_search(&column).ok().map(|at| (at, vector, w))),
            );
        }
        all.sort_unstable_by_key(|(at, vector, _)| (*at, *vector));
        let starts = (0..=used.len()).map(|at| all.partition_point(|entry| entry.0 < at)).collect();
        let entries = all.into_iter().map(|(_, vector, w)| (vector, w)).collect();
        Ok(Self { starts, entries, biases: directions.iter().map(|direction| direction.bias).collect() })
    }

    /// `<w, x> + b` of a row for every vector.
    pub fn scores(&self, rows: &Rows, row: usize, sums: &mut Vec<Sum>) -> Vec<Dyadic> {
        sums.resize_with(self.biases.len(), Sum::default);
        for (sum, bias) in sums.iter_mut().zip(&self.biases) {
            sum.clear();
            sum.add_stored(*bias, 1.0);
        }
        for (at, x) in rows.entries(row) {
            for (vector, w) in &self.entries[self.starts[at]..self.starts[at + 1]] {
                sums[*vector as usize].add_stored(*w, x);
            }
        }
        sums.iter().map(Sum::value).collect()
    }
}

/// `‖u‖²` of all weights as one vector, and of the biases where they are penalised; never zero.
pub fn square_length(directions: &[Direction], bias: Bias, rows: &Rows) -> Result<Dyadic, String> {
    let mut sum = Sum::default();
    for direction in directions {
        direction.entries(rows.width())?.for_each(|(_, w)| sum.add_stored(w, w));
        if bias == Bias::Penalised {
            sum.add_stored(direction.bias, direction.bias);
        }
    }
    let square = sum.value();
    if square.is_zero() { Err("the weights are zero".into()) } else { Ok(square) }
}
