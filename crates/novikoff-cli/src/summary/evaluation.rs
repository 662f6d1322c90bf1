//! How good a model is, in words.

use crate::render::{count, counted, number, percent};
use novikoff::evaluate::{Classification, Evaluation};

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// `15.12 % [14.57 %, 15.68 %] (2,462 of 16,281 rows)`, or for numbers `R² 0.8712, MAE 1.204, RMSE 1.873 (150
/// rows)`.
pub fn error_text(evaluation: &Evaluation) -> String {
    match evaluation {
        Evaluation::Classes(measured) => class_error_text(measured),
        Evaluation::Numbers(measured) => {
            let (r2, mae, rmse) = (r2_text(measured.r2), number(measured.mae), number(measured.rmse));
            format!("R² {r2}, MAE {mae}, RMSE {rmse} ({})", counted(measured.rows, "row"))
        }
    }
}

pub fn r2_text(r2: Option<f64>) -> String {
    r2.map_or_else(|| "–".to_owned(), |r2| format!("{r2:.4}"))
}

pub fn class_error_text(measured: &Classification) -> String {
    let (low, high) = measured.interval(CONFIDENCE);
    format!(
        "{} [{}, {}] ({} of {})",
        percent(measured.error()),
        percent(low),
        percent(high),
        count(measured.wrong),
        counted(measured.rows, "row")
    )
}
