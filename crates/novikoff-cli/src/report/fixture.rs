//! A fit with all that pictures are made of, for tests.

use super::training::Evidence;
use crate::arguments::Pictures;
use crate::outcome::{Outcome, Rows};
use novikoff::control::Unwatched;
use novikoff::data::generate::Recipe;
use novikoff::train::{Learner, train};

/// Trains on rows that cannot quite be separated, and shows what came of it.
pub fn with_fit(learner: &Learner, look: impl FnOnce(&Evidence<'_>)) {
    let data = Recipe { rows: 120, features: 5, margin: 0.05, noise: 0.1, ..Recipe::default() }.generate();
    let fit = train(&data, None, learner, &mut Unwatched).unwrap();
    let wanted = Pictures { report: None, picture: Vec::new(), columns: Vec::new(), image: None };
    let outcome = Outcome::new(fit.clone(), &data.report);
    let rows = Rows { data: Some(data), ..Rows::default() };
    look(&Evidence { fit: &fit, wanted: &wanted, outcome: &outcome, rows: &rows });
}
