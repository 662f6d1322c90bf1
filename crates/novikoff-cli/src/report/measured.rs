//! How the model does on rows that it is measured on: confusion, ROC, calibration; predictions against
//! targets.

use super::training::{Evidence, classes, scores_of};
use super::{Section, line};
use crate::picture::PictureName;
use crate::render::{count, counted, number, percent};
use novikoff::Result;
use novikoff::model::{Model, Task};
use novikoff::multiclass::decide;
use novikoff::plot::{self, Chart, Confusion, Look, Panel, Scale, Series};

/// Rows with what the model makes of them.
pub struct Measured<'a> {
    model: &'a Model,
    /// Which rows, in words.
    rows: String,
    /// The scores, [`Self::outputs`] a row.
    scores: Vec<f64>,
    outputs: usize,
    /// The classes; rows of no class that the model knows are left out, with their scores.
    classes: Vec<usize>,
    /// Instead, for numbers.
    targets: Vec<f64>,
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
        let outputs = model.scorer.outputs();
        let mut scores = scores_of(&model.scorer, data, &picked);
        let mut measured = Self {
            model,
            rows: format!("{what}{sampled}"),
            scores: Vec::new(),
            outputs,
            classes: Vec::new(),
            targets: Vec::new(),
            seed,
        };
        if model.task() == Task::Regression {
            let targets = data.targets()?;
            measured.targets = picked.iter().map(|&i| targets[i]).collect();
        } else {
            let classes = classes(model, data);
            let known: Vec<(usize, usize)> =
                picked.iter().enumerate().filter_map(|(at, &i)| Some((at, classes[i]?))).collect();
            scores =
                known.iter().flat_map(|(at, _)| scores[at * outputs..(at + 1) * outputs].to_vec()).collect();
            measured.classes = known.into_iter().map(|(_, class)| class).collect();
        }
        measured.scores = scores;
        Ok(Some(measured))
    }

    fn each(&self) -> impl Iterator<Item = (&[f64], usize)> {
        self.scores.chunks_exact(self.outputs).zip(self.classes.iter().copied())
    }

    /// Which class is taken for which.
    pub fn confusion(&self) -> Option<Section> {
        let labels = self.model.labels.names();
        if self.classes.is_empty() {
            return None;
        }
        let mut counts = vec![vec![0u64; labels.len()]; labels.len()];
        self.each().for_each(|(scores, class)| counts[class][decide(scores)] += 1);
        let right: u64 = (0..labels.len()).map(|class| counts[class][class]).sum();
        let wrong = self.classes.len() as u64 - right;
        let description = format!(
            "{} of {} are taken for another class.",
            count(wrong),
            counted(self.classes.len() as u64, "row")
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
                [labels[i].clone()].into_iter().chain(shown.iter().map(|&j| count(counts[i][j]))).collect(),
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
    fn rank(&self, class: usize, scores: &[f64], scratch: &mut Vec<f64>) -> f64 {
        match (&self.model.probabilities, scores) {
            (_, [score]) => *score,
            (Some(calibration), scores) => {
                calibration.probabilities(scores, scratch);
                scratch[class]
            }
            (None, scores) => scores[class],
        }
    }

    /// True positives against false positives, over all thresholds.
    pub fn roc(&self) -> Option<Section> {
        let labels = self.model.labels.names();
        let candidates = if self.outputs == 1 { 1..2 } else { 0..labels.len() };
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
        let rest = if self.outputs == 1 { "" } else { ", each class against the rest" };
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
        let mut scratch = Vec::new();
        let mut ranked: Vec<(f64, bool)> =
            self.each().map(|(scores, own)| (self.rank(class, scores, &mut scratch), own == class)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let positives = ranked.iter().filter(|row| row.1).count() as f64;
        let negatives = ranked.len() as f64 - positives;
        if positives == 0.0 || negatives == 0.0 {
            return None;
        }
        let (mut found, mut taken, mut area) = (0.0, 0.0, 0.0);
        let mut curve = vec![(0.0, 0.0)];
        for ties in ranked.chunk_by(|a, b| a.0 == b.0) {
            let own = ties.iter().filter(|row| row.1).count() as f64;
            let others = ties.len() as f64 - own;
            area += others * (found + own / 2.0);
            (found, taken) = (found + own, taken + others);
            curve.push((100.0 * taken / negatives, 100.0 * found / positives));
        }
        Some(Roc { class, area: area / (positives * negatives), points: thinned(curve) })
    }

    /// How often what is said with a probability is so.
    pub fn calibration(&self) -> Option<Section> {
        let calibration = self.model.probabilities.as_ref().filter(|_| !self.classes.is_empty())?;
        let mut scratch = Vec::new();
        let mut bins = [(0.0, 0.0, 0.0); BINS];
        for (scores, class) in self.each() {
            calibration.probabilities(scores, &mut scratch);
            // Of two classes the positive one; of more the one that is decided for.
            let said = if self.outputs == 1 { 1 } else { decide(scores) };
            let (p, holds) = (scratch[said], f64::from(u8::from(class == said)));
            let bin = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1.0, bin.1 + p, bin.2 + holds);
        }
        let used: Vec<(f64, f64, f64)> = bins
            .iter()
            .filter(|bin| bin.0 > 0.0)
            .map(|(n, p, holds)| (*n, 100.0 * p / n, 100.0 * holds / n))
            .collect();
        let off = used.iter().map(|(n, said, is)| n * (said - is).abs()).sum::<f64>()
            / used.iter().map(|bin| bin.0).sum::<f64>().max(1.0);
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
        let of = match self.outputs {
            1 => format!("of {}", self.model.labels.names()[1]),
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
                .map(|(n, said, is)| vec![percent(said / 100.0), percent(is / 100.0), count(*n as u64)]),
        );
        Some(Section { name: PictureName::Calibration, heading: title.into(), text, picture, table })
    }

    /// Predicted numbers against true ones.
    pub fn predictions(&self) -> Option<Section> {
        if self.targets.is_empty() {
            return None;
        }
        let picked = plot::sample(self.targets.len(), CLOUD, self.seed);
        let points: Vec<(f64, f64)> = picked.iter().map(|&i| (self.targets[i], self.scores[i])).collect();
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
        let mean = self.targets.iter().zip(&self.scores).map(|(y, s)| (y - s).abs()).sum::<f64>()
            / self.targets.len() as f64;
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
        let drawn = if points.len() < self.targets.len() {
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
