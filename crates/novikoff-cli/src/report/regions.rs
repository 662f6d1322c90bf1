//! Which class a model gives to every place of a plane of two columns.

use super::rows::{DRAWN, columns};
use super::training::{classes, scores_of};
use super::{Section, line};
use crate::arguments::Pictures;
use crate::picture::PictureName;
use crate::render::{count, counted, number, percent};
use novikoff::Result;
use novikoff::data::{Dataset, Row};
use novikoff::features::table::Role;
use novikoff::features::{Schema, table::TableSchema};
use novikoff::model::{Calibration, Model, Platt, Scorer, Scratch, Task};
use novikoff::multiclass::decide;
use novikoff::plot::{self, Dot, Levels, Regions, tidy};

/// A model and the rows that are drawn over its regions.
pub struct Drawn<'a> {
    pub model: &'a Model,
    pub data: &'a Dataset<'a>,
    /// The score at which the learner wants rows to be, if it has one.
    pub margin: Option<f64>,
    pub seed: u64,
    pub wanted: &'a Pictures,
}

/// Multiplications that all scores of the grid may take.
const COST: f64 = 4e9;
/// Cells of the grid along its longer side, where that is affordable, and where it is not.
const FINE: f64 = 104.0;
const COARSE: f64 = 24.0;
/// Numbers of a batch of places.
const BATCH: usize = 1 << 20;

/// What becomes of columns that are not drawn.
const HELD: &str = " Every other column is held, numbers at their mean, categories and columns of 0 and 1 at \
                    their most frequent value.";

impl Drawn<'_> {
    /// The picture, if two columns are asked for or there are no others.
    pub fn section(&self) -> Result<Option<Section>> {
        if self.model.task() == Task::Regression || self.model.labels.len() < 2 {
            return Ok(None);
        }
        let Some([a, b]) = columns(self.data, self.wanted)? else { return Ok(None) };
        let rows = self.rows([a, b]);
        let axes = [a, b].map(|j| self.axis(j));
        let names = self.model.labels.names();
        let (title, held_at) = match self.data.rows.columns() {
            2 => ("Decision regions", ""),
            _ => ("Decision regions, other columns held", HELD),
        };
        let mistakes = rows.iter().filter(|dot| dot.mistake).count() as u64;
        let description = format!(
            "What is predicted over {} and {}: {}. Of {} drawn, {} mistaken.{held_at}",
            tidy(&axes[0], 60),
            tidy(&axes[1], 60),
            named(names),
            counted(rows.len() as u64, "row"),
            if mistakes == 1 { "1 is".to_owned() } else { format!("{} are", count(mistakes)) },
        );
        let base = held(self.data);
        let levels = self.levels(&rows, [a, b], &base);
        let text = self.text(&axes, &levels, &rows);
        let picture = Regions {
            title,
            description: &description,
            axes: [&axes[0], &axes[1]],
            classes: names,
            dots: &rows,
            scores: &|places| self.scores(places, [a, b], &base),
            levels,
            cells: self.cells(base.len()),
        }
        .draw();
        let table = self.table(&rows);
        Ok(Some(Section {
            name: PictureName::Regions,
            heading: "Decision regions".into(),
            text,
            picture,
            table,
        }))
    }

    /// The name of a column; a number alone would be taken for one of the axis.
    fn axis(&self, column: u32) -> String {
        let name = self.data.schema.name(column);
        if name.parse::<f64>().is_ok() { format!("feature {name}") } else { name }
    }

    /// Rows by their two columns, with their classes; those of classes that the model does not know are left
    /// out.
    fn rows(&self, [a, b]: [u32; 2]) -> Vec<Dot> {
        let classes = classes(self.model, self.data);
        let picked = plot::sample(self.data.len(), DRAWN, self.seed);
        let scores = scores_of(&self.model.scorer, self.data, &picked);
        let outputs = self.model.scorer.outputs();
        let dot = |(&i, scores): (&usize, &[f64])| {
            let (mut x, mut y) = (0.0, 0.0);
            self.data.rows.row(i).for_each_nonzero(|j, value| {
                x += if j == a { value } else { 0.0 };
                y += if j == b { value } else { 0.0 };
            });
            let class = classes[i]?;
            Some(Dot { x, y, class, support: false, mistake: decide(scores) != class })
        };
        picked.iter().zip(scores.chunks_exact(outputs)).filter_map(dot).collect()
    }

    /// The scores at places of the plane.
    fn scores(&self, places: &[(f64, f64)], [a, b]: [u32; 2], base: &[f64]) -> Vec<f64> {
        let (columns, mut all) = (base.len(), Vec::new());
        let (mut scratch, mut scores) = (Scratch::default(), Vec::new());
        for places in places.chunks((BATCH / columns.max(1)).clamp(1, 512)) {
            let mut values = base.repeat(places.len());
            for (row, (x, y)) in values.chunks_exact_mut(columns).zip(places) {
                (row[a as usize], row[b as usize]) = (*x, *y);
            }
            let rows: Vec<Row<'_>> = values.chunks_exact(columns).map(Row::from).collect();
            self.model.scorer.score(&rows, &mut scratch, &mut scores);
            all.extend_from_slice(&scores);
        }
        all
    }

    /// How fine the grid can be.
    fn cells(&self, columns: usize) -> usize {
        let each = (self.model.scorer.cost() + columns.max(1)) as f64;
        (COST / each / 0.8).sqrt().clamp(COARSE, FINE) as usize
    }

    /// Lines of equal score besides the border: where the learner wants rows to be, where the probability is
    /// 10 % and 90 %, or else at half of the largest score of a row drawn.
    fn levels(&self, rows: &[Dot], columns: [u32; 2], base: &[f64]) -> Option<Levels> {
        if self.model.scorer.outputs() != 1 || matches!(self.model.scorer.behind_map(), Scorer::Voted(_)) {
            return None;
        }
        if let Some(margin) = self.margin {
            return Some(Levels {
                name: format!("score ±{}", short(margin)), scores: vec![-margin, margin]
            });
        }
        if let Some(scores) = self.model.probabilities.as_ref().and_then(at_probabilities) {
            let positive = tidy(&self.model.labels.names()[1], 20);
            return Some(Levels { name: format!("{positive} at 10 % and 90 %"), scores: scores.to_vec() });
        }
        let places: Vec<(f64, f64)> = rows.iter().map(|dot| (dot.x, dot.y)).collect();
        let scores = self.scores(&places, columns, base);
        let largest =
            scores.iter().map(|score| score.abs()).filter(|size| size.is_finite()).fold(0.0, f64::max);
        let half: f64 = format!("{:.0e}", largest / 2.0).parse().ok().filter(|half| *half > 0.0)?;
        Some(Levels { name: format!("score ±{half}"), scores: vec![-half, half] })
    }

    fn text(&self, axes: &[String; 2], levels: &Option<Levels>, rows: &[Dot]) -> String {
        let mut text = format!(
            "What the model predicts at every place of the plane of {} and {}: each region has the name and \
             the ground of its class, and a line around it.",
            axes[0], axes[1]
        );
        if let Some(levels) = levels {
            text.push_str(&format!(" The dashed lines: {}.", levels.name));
        }
        if self.data.rows.columns() > 2 {
            text.push_str(HELD);
            text.push_str(
                " A row that differs in those may stand in the region of another class and still be \
                 predicted rightly. Mistakes are of the rows as they are.",
            );
        }
        if rows.len() < self.data.len() {
            let (drawn, all) = (count(rows.len() as u64), counted(self.data.len() as u64, "row"));
            text.push_str(&format!(" Of {all}, {drawn} are drawn, picked by the seed."));
        }
        text
    }

    fn table(&self, rows: &[Dot]) -> Vec<Vec<String>> {
        let mut table = vec![line(["class", "rows drawn", "mistakes drawn", "share"])];
        for (class, name) in self.model.labels.names().iter().enumerate() {
            let own = || rows.iter().filter(|dot| dot.class == class);
            let (all, wrong) = (own().count() as u64, own().filter(|dot| dot.mistake).count() as u64);
            let share = if all > 0 { percent(wrong as f64 / all as f64) } else { "–".to_owned() };
            table.push(vec![name.clone(), count(all), count(wrong), share]);
        }
        table
    }
}

/// A score that the learner wants, which is often 1.
fn short(score: f64) -> String {
    if score.fract() == 0.0 && score < 1e6 { score.to_string() } else { number(score) }
}

/// A few names, and how many more there are.
fn named(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(8).map(|name| tidy(name, 40)).collect();
    let more = if names.len() > some.len() {
        format!(" and {} more", names.len() - some.len())
    } else {
        String::new()
    };
    format!("{}{more}", some.join(", "))
}

/// The scores at which the positive class has a probability of a tenth and of nine tenths.
fn at_probabilities(calibration: &Calibration) -> Option<[f64; 2]> {
    let logit = 9f64.ln();
    let scores = match calibration {
        Calibration::Logistic => [-logit, logit],
        Calibration::Platt(all) => match all[..] {
            [Platt { a, b }] => [(-logit - b) / a, (logit - b) / a],
            _ => return None,
        },
        Calibration::Softmax | Calibration::Isotonic(_) => return None,
    };
    scores.iter().all(|score| score.is_finite()).then_some(scores)
}

/// A row between all others: the mean of every column; of categories, and of columns that are 0 or 1, the
/// most frequent value.
fn held(data: &Dataset) -> Vec<f64> {
    let columns = data.rows.columns();
    let (mut base, mut is_flag) = (vec![0.0; columns], vec![true; columns]);
    let share = 1.0 / data.len().max(1) as f64;
    for i in 0..data.len() {
        let row = data.rows.row(i);
        row.add_to(&mut base, share);
        row.for_each_nonzero(|j, value| is_flag[j as usize] &= value == 1.0);
    }
    for (value, _) in base.iter_mut().zip(is_flag).filter(|(_, is_flag)| *is_flag) {
        *value = if *value > 0.5 { 1.0 } else { 0.0 };
    }
    if let Some(table) = table_of(&data.schema) {
        hold_categories(table, data, &mut base);
    }
    base
}

fn table_of(schema: &Schema) -> Option<&TableSchema> {
    match schema {
        Schema::Table(table) => Some(table),
        Schema::Text(text) => text.table().map(|table| &**table),
        Schema::Indexed { .. } | Schema::Named(_) | Schema::Hashed { .. } | Schema::Namespaces(_) => None,
    }
}

/// Each column of categories at the one that most rows have: there may be none that half of them have.
fn hold_categories(table: &TableSchema, data: &Dataset, base: &mut [f64]) {
    let mut rows = vec![0u64; base.len()];
    (0..data.len()).for_each(|i| data.rows.row(i).for_each_nonzero(|j, _| rows[j as usize] += 1));
    for column in &table.columns {
        let Role::Categorical { feature, categories, .. } = &column.role else { continue };
        let of = *feature as usize..(*feature as usize + categories.len()).min(base.len());
        let most = of.clone().max_by_key(|&j| (rows[j], std::cmp::Reverse(j)));
        base[of].fill(0.0);
        if let Some(most) = most {
            base[most] = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use novikoff::control::Unwatched;
    use novikoff::read::{Input, Options, Purpose, Reader};

    fn rows(text: &str) -> Dataset<'static> {
        let input = Input::Bytes { name: "rows.csv".into(), bytes: text.as_bytes().to_vec().into() };
        Reader::open(&input, &Options::default(), &Purpose::Training).unwrap().read(&mut Unwatched).unwrap()
    }

    #[test]
    fn other_columns_are_held_at_means_and_most_frequent_values() {
        let data =
            rows("a,colour,flag,size,label\n1,red,1,10,x\n2,blue,1,20,y\n3,green,0,30,x\n4,blue,1,60,y\n");
        let base = held(&data);
        let named: Vec<(String, f64)> =
            base.iter().zip(0..).map(|(v, j)| (data.schema.name(j), *v)).collect();
        let of = |name: &str| named.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!((of("a"), of("size"), of("flag")), (2.5, 30.0, 1.0));
        assert_eq!((of("colour=blue"), of("colour=red"), of("colour=green")), (1.0, 0.0, 0.0));
    }
}
