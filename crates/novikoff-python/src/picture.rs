//! Pictures of the engine.

use novikoff::plot::{Chart, Look, Panel, Scale, Series};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Lines over two axes as SVG. Each series is a name, x and y; a name that begins with "~" is one to compare with.
#[pyfunction]
#[pyo3(signature = (title, description, series, *, x_name, y_name, x_spacing="even", y_spacing="even"))]
pub(crate) fn chart(
    title: &str,
    description: &str,
    series: Vec<(String, Vec<f64>, Vec<f64>)>,
    x_name: &str,
    y_name: &str,
    x_spacing: &str,
    y_spacing: &str,
) -> PyResult<String> {
    let series = series
        .into_iter()
        .map(|(name, x, y)| {
            let look = if name.starts_with('~') { Look::Reference } else { Look::Line };
            let name = name.trim_start_matches('~').to_owned();
            Series { name, points: x.into_iter().zip(y).collect(), look }
        })
        .collect();
    let panels = vec![Panel { title: String::new(), series }];
    let (x, y) = (scale(x_name, x_spacing)?, scale(y_name, y_spacing)?);
    Ok(Chart { title, description, x, y, panels }.draw().file())
}

fn scale(name: &str, spacing: &str) -> PyResult<Scale> {
    match spacing {
        "even" => Ok(Scale::even(name)),
        "whole" => Ok(Scale::whole(name)),
        "logarithmic" => Ok(Scale::logarithmic(name)),
        _ => Err(PyValueError::new_err(format!("axes are even, whole or logarithmic, not {spacing}"))),
    }
}
