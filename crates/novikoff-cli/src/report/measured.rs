//! How the model does on rows that it is measured on: confusion, ROC, calibration; predictions against
//! targets.

use super::evaluation::Shown;
use super::training::{Evidence, classes};
use super::{Section, line};
use crate::picture::PictureName;
use crate::render::{count, counted, number, percent};
use novikoff::Result;
use novikoff::data::Labels;
use novikoff::evaluate::{Evaluation, Predictions};
use novikoff::model::Task;
use novikoff::plot::{self, Chart, Confusion, Look, Panel, Scale, Series};

/// Rows with what a model makes of them.
pub struct Measured<'a> {
    labels: &'a Labels,
    /// Which rows, in words.
    rows: String,
    predictions: Predictions,
    /// The class that each row is taken for; empty for numbers.
    decided: Vec<usize>,
    seed: u64,
}

/// The curve of a class against the rest, in per cent, and the area under it.
struct Roc {
    class: usize,
    area: f64,
    points: Vec<(f64, f64)>,
}

/// As many rows are measured where there are no others than those learned from.
const MOST: usize = 20_000;
/// Points of a curve, and marks of a cloud.
const CURVE: usize = 200;
const CLOUD: usize = 1500;
/// Curves in one picture.
const CURVES: usize = 5;
const BINS: usize = 10;

impl<'a> Measured<'a> {
    /// The test rows if there are some, else held-out ones, else those learned from.
    pub fn new(evidence: &Evidence<'a>) -> Result<Option<Self>> {
        let (rows, seed, model) = (evidence.rows, evidence.fit.learner.shared().seed, &evidence.fit.model);
        let (data, what) = match (&rows.test, &rows.validation, &rows.data) {
            (Some(test), ..) => (test, "the test rows"),
            (_, Some(held), _) => (held, "the validation rows"),
            (.., Some(own)) => (own, "the rows learned from, on which every model looks better than it is"),
            _ => return Ok(None),
        };
        let most = if rows.test.is_some() { usize::MAX } else { MOST };
        let picked = plot::sample(data.len(), most, seed);
        let sampled = if picked.len() < data.len() {
            format!(", {} of them picked by the seed", count(picked.len() as u64))
        } else {
            String::new()
        };
        let known: Vec<usize> = match model.task() {
            Task::Regression => picked,
            Task::Classes => {
                let classes = classes(model, data);
                picked.into_iter().filter(|&i| classes[i].is_some()).collect()
            }
        };
        if known.is_empty() {
            return Ok(None);
        }
        let predictions = match known.len() == data.len() {
            true => Predictions::of(model, data)?,
            false => Predictions::of(model, &data.select(&known))?,
        };
        let rows = format!("{what}{sampled}");
        let decided = if model.task() == Task::Classes { predictions.decided() } else { Vec::new() };
        Ok(Some(Self { labels: &model.labels, rows, predictions, decided, seed }))
    }

    /// Predictions of an evaluation.
    pub fn shown(shown: &Shown<'a>) -> Result<Self> {
        let predictions = shown.predictions.clone();
        let decided = match shown.threshold {
            Some(threshold) => predictions.decided_at(threshold)?,
            None if predictions.classes().is_empty() => Vec::new(),
            None => predictions.decided(),
        };
        Ok(Self { labels: shown.labels, rows: shown.rows.clone(), predictions, decided, seed: 0 })
    }

    /// The rows that count and whose labels the model knows, each with its class and its weight.
    fn each(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let classes = self.predictions.classes().iter().enumerate();
        let each = classes.map(|(i, &class)| (i, class as usize, self.predictions.weight(i)));
        each.filter(|(_, class, weight)| *class < self.labels.len() && *weight > 0.0)
    }

    /// Which class is taken for which.
    pub fn confusion(&self) -> Option<Section> {
        let labels = self.labels.names();
        if self.decided.is_empty() {
            return None;
        }
        let mut counts = vec![vec![0.0; labels.len()]; labels.len()];
        self.each().for_each(|(i, class, weight)| counts[class][self.decided[i]] += weight);
        let wrong = self.each().filter(|(i, class, _)| self.decided[*i] != *class).count();
        let description = format!(
            "{} of {} are taken for another class.",
            count(wrong as u64),
            counted(self.each().count() as u64, "row")
        );
        let title = "Confusion";
        let confusion = Confusion { title, description: &description, labels, counts: &counts };
        let shown = confusion.shown();
        let less = if shown.len() < labels.len() {
            format!(" Of {} classes the {} that are mistaken most are drawn.", labels.len(), shown.len())
        } else {
            String::new()
        };
        let text = format!(
            "Measured on {}: {description} Blue, on the diagonal, is the share of a class that is \
             recognised; orange what it is taken for, darker than its share so that it is seen.{less}",
            self.rows
        );
        let mut table = vec![vec!["true \\ predicted".to_owned()]];
        table[0].extend(shown.iter().map(|&j| labels[j].clone()));
        for &i in &shown {
            table.push(
                [labels[i].clone()]
                    .into_iter()
                    .chain(shown.iter().map(|&j| weight_text(counts[i][j])))
                    .collect(),
            );
        }
        Some(Section {
            name: PictureName::Confusion,
            heading: title.into(),
            text,
            picture: confusion.draw(),
            table,
        })
    }

    /// How likely the class is, by probability or by score: what rows are ranked by.
    fn rank(&self, class: usize, i: usize) -> f64 {
        match (self.predictions.probabilities(i), self.predictions.scores(i)) {
            (_, [score]) => *score,
            (Some(probabilities), _) => probabilities[class],
            (None, scores) => scores[class],
        }
    }

    /// True positives against false positives, over all thresholds.
    pub fn roc(&self) -> Option<Section> {
        let labels = self.labels.names();
        let is_single = self.predictions.outputs() == 1;
        let candidates = if is_single { 1..labels.len().min(2) } else { 0..labels.len() };
        let mut curves: Vec<Roc> = candidates.filter_map(|class| self.roc_of(class)).collect();
        if curves.is_empty() {
            return None;
        }
        let all = curves.len();
        curves.sort_by(|a, b| a.area.total_cmp(&b.area).then(a.class.cmp(&b.class)));
        curves.truncate(CURVES);
        curves.sort_by_key(|curve| curve.class);
        let name = |curve: &Roc| format!("{}, area {:.4}", plot::tidy(&labels[curve.class], 24), curve.area);
        let drawn =
            |curve: &Roc| Series { name: name(curve), points: curve.points.clone(), look: Look::Line };
        let mut series: Vec<Series> = curves.iter().map(drawn).collect();
        series.push(Series {
            name: "by chance".into(),
            points: vec![(0.0, 0.0), (100.0, 100.0)],
            look: Look::Reference,
        });
        let areas: Vec<String> = curves.iter().map(name).collect();
        let description = format!("Areas under the curves: {}.", areas.join("; "));
        let (x, y) = (Scale::even("other rows taken for it, %"), Scale::even("rows of the class found, %"));
        let title = "ROC curve";
        let panels = vec![Panel { title: String::new(), series }];
        let picture = Chart { title, description: &description, x, y, panels }.draw();
        let rest = if is_single { "" } else { ", each class against the rest" };
        let worst = match all > CURVES {
            true => format!(" Of {all} classes the {CURVES} with the smallest area are drawn."),
            false => String::new(),
        };
        let text = format!(
            "Measured on {}{rest}. As the threshold falls, more rows of the class are found, and more others \
             are taken for it. The area under the curve is the chance that a row of the class scores higher \
             than another.{worst}",
            self.rows
        );
        let mut table = vec![line(["class", "area under the curve"])];
        table.extend(
            curves.iter().map(|curve| vec![labels[curve.class].clone(), format!("{:.4}", curve.area)]),
        );
        Some(Section { name: PictureName::Roc, heading: title.into(), text, picture, table })
    }

    /// None if all rows are of the class, or none is.
    fn roc_of(&self, class: usize) -> Option<Roc> {
        let ranked = self.each().map(|(i, own, weight)| (self.rank(class, i), own == class, weight));
        let mut ranked: Vec<(f64, bool, f64)> = ranked.collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let weight = |rows: &[(f64, bool, f64)], of: bool| {
            rows.iter().filter(|row| row.1 == of).map(|row| row.2).sum::<f64>()
        };
        let (positives, negatives) = (weight(&ranked, true), weight(&ranked, false));
        if positives == 0.0 || negatives == 0.0 {
            return None;
        }
        let (mut found, mut taken, mut area) = (0.0, 0.0, 0.0);
        let mut curve = vec![(0.0, 0.0)];
        for ties in ranked.chunk_by(|a, b| a.0 == b.0) {
            let (own, others) = (weight(ties, true), weight(ties, false));
            area += others * (found + own / 2.0);
            (found, taken) = (found + own, taken + others);
            curve.push((100.0 * taken / negatives, 100.0 * found / positives));
        }
        Some(Roc { class, area: area / (positives * negatives), points: thinned(curve) })
    }

    /// How often what is said with a probability is so.
    pub fn calibration(&self) -> Option<Section> {
        self.predictions.probabilities(0).filter(|_| !self.decided.is_empty())?;
        let is_binary = self.labels.len() == 2;
        let mut bins = [(0.0, 0.0, 0.0); BINS];
        for (i, class, weight) in self.each() {
            // Of two classes the positive one; of more the one that is decided for.
            let said = if is_binary { 1 } else { self.decided[i] };
            let p = self.predictions.probabilities(i).map_or(0.0, |all| all[said]);
            let holds = f64::from(u8::from(class == said));
            let bin = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + weight, bin.1 + weight * p, bin.2 + weight * holds);
        }
        let used: Vec<(f64, f64, f64)> = bins
            .iter()
            .filter(|bin| bin.0 > 0.0)
            .map(|(n, p, holds)| (*n, 100.0 * p / n, 100.0 * holds / n))
            .collect();
        let off = used.iter().map(|(n, said, is)| n * (said - is).abs()).sum::<f64>()
            / used.iter().map(|bin| bin.0).sum::<f64>().max(f64::MIN_POSITIVE);
        let points = used.iter().map(|(_, said, is)| (*said, *is)).collect();
        let series = vec![
            Series { name: "as it is".into(), points, look: Look::Line },
            Series {
                name: "as it should be".into(),
                points: vec![(0.0, 0.0), (100.0, 100.0)],
                look: Look::Reference,
            },
        ];
        let description = format!("On average what is said and what is so differ by {off:.2} points.");
        let of = match self.labels.names() {
            [_, positive] => format!("of {positive}"),
            _ => "of the class decided for".to_owned(),
        };
        let (x, y) = (
            Scale::even(&format!("probability {}, %", plot::tidy(&of, 30))).reaching(&[0.0, 100.0]),
            Scale::even("how often it is so, %").reaching(&[0.0, 100.0]),
        );
        let title = "Calibration";
        let picture = Chart {
            title,
            description: &description,
            x,
            y,
            panels: vec![Panel { title: String::new(), series }],
        }
        .draw();
        let text = format!(
            "Measured on {}. Rows are put together by the probability {of} that the model says; where the \
             line is on the diagonal, what is said with 70 % is so 7 times in 10. {description}",
            self.rows
        );
        let mut table = vec![line(["said", "is so", "rows"])];
        table.extend(
            used.iter()
                .map(|(n, said, is)| vec![percent(said / 100.0), percent(is / 100.0), weight_text(*n)]),
        );
        Some(Section { name: PictureName::Calibration, heading: title.into(), text, picture, table })
    }

    /// Predicted numbers against true ones.
    pub fn predictions(&self) -> Option<Section> {
        let targets = self.predictions.targets();
        if targets.is_empty() {
            return None;
        }
        let picked = plot::sample(targets.len(), CLOUD, self.seed);
        let points: Vec<(f64, f64)> =
            picked.iter().map(|&i| (targets[i], self.predictions.scores(i)[0])).collect();
        let finite = || points.iter().map(|point| point.0).filter(|x| x.is_finite());
        let ends = [finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max)];
        let series = vec![
            Series { name: "rows".into(), points: points.clone(), look: Look::Dots },
            Series {
                name: "predicted = true".into(),
                points: ends.map(|x| (x, x)).to_vec(),
                look: Look::Reference,
            },
        ];
        let Evaluation::Numbers(measured) = self.predictions.measure() else { return None };
        let mean = measured.mae;
        let description = format!("On average predictions are off by {}.", number(mean));
        let title = "Predicted against true";
        let panels = vec![Panel { title: String::new(), series }];
        let picture = Chart {
            title,
            description: &description,
            x: Scale::even("true"),
            y: Scale::even("predicted"),
            panels,
        }
        .draw();
        let drawn = if points.len() < targets.len() {
            format!(" Drawn: {} rows, picked by the seed.", count(points.len() as u64))
        } else {
            String::new()
        };
        let text = format!(
            "Measured on {}. Above the line predictions are too high, below too low. {description}{drawn}",
            self.rows
        );
        let mut table = vec![line(["true", "predicted"])];
        table.extend(points.iter().take(50).map(|(y, s)| vec![number(*y), number(*s)]));
        Some(Section { name: PictureName::Predictions, heading: title.into(), text, picture, table })
    }
}

/// A count of rows, or their weight.
fn weight_text(weight: f64) -> String {
    if weight.fract() == 0.0 && weight < 9e15 { count(weight as u64) } else { number(weight) }
}

/// A curve with fewer points, but its first and last.
fn thinned(curve: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let stride = curve.len().div_ceil(CURVE);
    let last = curve.len() - 1;
    curve
        .into_iter()
        .enumerate()
        .filter(|(at, _)| at % stride == 0 || *at == last)
        .map(|(_, point)| point)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::with_fit;
    use novikoff::LogisticRegression;
    use novikoff::evaluate::{Evaluation, evaluate};

    #[test]
    fn the_area_under_the_curve_drawn_is_that_of_evaluate() {
        with_fit(&LogisticRegression::new().into(), |evidence| {
            let measured = Measured::new(evidence).unwrap().unwrap();
            let roc = measured.roc_of(1).unwrap();
            let data = evidence.rows.data.as_ref().unwrap();
            let Evaluation::Classes(expected) = evaluate(&evidence.fit.model, data).unwrap() else {
                panic!("classes")
            };
            assert!((roc.area - expected.auc.unwrap()).abs() < 1e-12);
            assert_eq!((roc.points[0], roc.points[roc.points.len() - 1]), ((0.0, 0.0), (100.0, 100.0)));
            assert!(roc.points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
            let by_trapezoids: f64 =
                roc.points.windows(2).map(|p| (p[1].0 - p[0].0) * (p[0].1 + p[1].1) / 2e4).sum();
            assert!((by_trapezoids - roc.area).abs() < 0.01);
        });
    }
}
