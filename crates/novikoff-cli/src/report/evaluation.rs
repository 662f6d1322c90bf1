//! Which pictures apply to an evaluation.

use super::measured::Measured;
use super::{Page, Section};
use crate::arguments::Pictures;
use crate::files::Unwritten;
use crate::render::Lines;
use novikoff::Result;
use novikoff::data::Labels;
use novikoff::evaluate::Predictions;

/// Predictions, and how they are to be shown.
pub struct Shown<'a> {
    pub predictions: &'a Predictions,
    pub labels: &'a Labels,
    /// The regions of the model's classes, where they can be drawn.
    pub regions: Option<Section>,
    /// What decides between two classes, if not the model.
    pub threshold: Option<f64>,
    /// Which rows these are, in words.
    pub rows: String,
    pub title: String,
    pub lines: Lines,
}

/// Writes the pictures that were asked for.
pub fn write(mut shown: Shown<'_>, wanted: &Pictures, unwritten: &mut Unwritten) -> Result<()> {
    if !wanted.wanted() {
        return Ok(());
    }
    let regions = shown.regions.take();
    let measured = Measured::shown(&shown)?;
    let sections =
        [regions, measured.confusion(), measured.roc(), measured.calibration(), measured.predictions()];
    let sections: Vec<Section> = sections.into_iter().flatten().collect();
    Page { title: shown.title, lines: shown.lines, sections }.write(wanted, unwritten);
    Ok(())
}
