//! Which pictures apply to a margin.

use super::rows::{Separates, View};
use super::{Section, curves};
use crate::arguments::MarginCommand;
use crate::outcome::Closing;
use crate::summary::margin::support_rows;
use novikoff::certificate::Sides;
use novikoff::data::Dataset;
use novikoff::margin::{Margin, Separable};
use novikoff::penalty::Bias;
use novikoff::{Error, Result};

/// All that is known of the margin between two sides.
pub struct Evidence<'a> {
    pub data: &'a Dataset<'a>,
    pub sides: &'a Sides,
    pub found: &'a Margin,
    pub closing: &'a Closing,
    pub arguments: &'a MarginCommand,
}

/// The pictures that apply, in the order of the page.
pub fn sections(evidence: &Evidence<'_>) -> Result<Vec<Section>> {
    Ok([Some(points(evidence)?), curves::interval(evidence.closing)].into_iter().flatten().collect())
}

fn points(evidence: &Evidence<'_>) -> Result<Section> {
    let (data, found, sides) = (evidence.data, evidence.found, evidence.sides);
    let signs: Vec<(usize, f64)> = sides
        .signs(data)
        .map_err(Error::input)?
        .into_iter()
        .enumerate()
        .filter(|(_, sign)| *sign != 0.0)
        .collect();
    let direction = found.direction.as_ref().filter(|_| found.separable == Separable::Yes);
    let (mut normal, mut bias) = (vec![0.0; data.rows.columns()], 0.0);
    match direction {
        Some(direction) => {
            direction.entries().for_each(|(j, w)| normal[j] = w);
            bias = direction.bias;
        }
        None => add_difference_of_means(&mut normal, data, &signs),
    }
    let homogeneous = matches!(evidence.arguments.bias, Bias::Penalised);
    let square = normal.iter().map(|w| w * w).sum::<f64>() + if homogeneous { bias * bias } else { 0.0 };
    let margin = direction.map(|_| found.interval.0 * square.sqrt());
    let support: Vec<usize> = support_rows(found).into_iter().map(|row| row as usize - 1).collect();
    let joined = |names: &[String]| if names.len() > 3 { "the rest".to_owned() } else { names.join(", ") };
    let view = View {
        data,
        signs,
        sides: [joined(&sides.negative), joined(&sides.positive)],
        normal,
        bias,
        separates: if direction.is_some() { Separates::Hyperplane } else { Separates::Direction },
        margin,
        factors: Vec::new(),
        remark: remark(found).to_owned(),
        wanted: &evidence.arguments.pictures,
        seed: evidence.arguments.seed,
    };
    view.section(
        |row, _| support.binary_search(&row).is_ok(),
        |_, margin| direction.is_some() && margin <= 0.0,
    )
}

/// The mean of the positive rows minus that of the negative ones.
fn add_difference_of_means(normal: &mut [f64], data: &Dataset, signs: &[(usize, f64)]) {
    let count = |side: f64| signs.iter().filter(|(_, sign)| *sign == side).count().max(1) as f64;
    let (positive, negative) = (count(1.0), count(-1.0));
    for &(i, sign) in signs {
        data.rows.row(i).add_to(normal, if sign > 0.0 { 1.0 / positive } else { -1.0 / negative });
    }
}

fn remark(found: &Margin) -> &'static str {
    match (found.separable, &found.zero) {
        (Separable::Yes, _) => {
            " The dashed lines are the margin: no row stands between them. Support rows are those that prove \
             that no margin is larger."
        }
        (_, Some(_)) => {
            " No hyperplane has the two sides apart: the rows with a ring combine to exactly zero, which is \
             the proof."
        }
        _ => " Whether a hyperplane has the two sides apart is not known.",
    }
}
