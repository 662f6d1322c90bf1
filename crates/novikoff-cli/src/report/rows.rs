//! Rows of two sides as points of a plane.

use super::{Section, line};
use crate::arguments::Pictures;
use crate::picture::PictureName;
use crate::render::{count, counted, number};
use crate::text::name;
use novikoff::data::{Dataset, Matrix};
use novikoff::plot::{self, Dot, Points};
use novikoff::{Error, Result};

/// More rows than this are drawn by a sample: more marks would only cover each other.
pub const DRAWN: usize = 1500;

/// The two columns to look at: as asked for, or all if there are just two.
pub fn columns(data: &Dataset, wanted: &Pictures) -> Result<Option<[u32; 2]>> {
    match &wanted.columns[..] {
        [] if data.rows.columns() == 2 => Ok(Some([0, 1])),
        [] => Ok(None),
        [a, b] => Ok(Some([column(data, a)?, column(data, b)?])),
        other => Err(Error::usage(format!("--columns takes two columns, not {}", other.len()))
            .hint("as in --columns 1,2")),
    }
}

/// A column by its name, or else by its number from 1.
fn column(data: &Dataset, wanted: &str) -> Result<u32> {
    let columns = data.rows.columns() as u32;
    let named = (0..columns).find(|&j| data.schema.name(j) == wanted);
    let numbered = || wanted.parse::<u32>().ok().and_then(|n| n.checked_sub(1)).filter(|j| *j < columns);
    named.or_else(numbered).ok_or_else(|| {
        let some: Vec<String> = (0..columns.min(8)).map(|j| name(&data.schema.name(j))).collect();
        let more = if columns > 8 { ", …" } else { "" };
        Error::usage(format!("there is no feature {wanted:?} to draw"))
            .hint(format!("features are {}{more}", some.join(", ")))
    })
}

/// A hyperplane between two sides, and the rows around it.
pub struct View<'a> {
    pub data: &'a Dataset<'a>,
    /// The rows of both sides, with +1 or −1 each.
    pub signs: Vec<(usize, f64)>,
    /// The names of the negative and the positive side.
    pub sides: [String; 2],
    /// The normal vector, for the columns as they are.
    pub normal: Vec<f64>,
    pub bias: f64,
    /// Whether there is a hyperplane to draw, or only a direction to look along.
    pub separates: Separates,
    /// The score at which the margin's lines are drawn.
    pub margin: Option<f64>,
    /// What columns were multiplied by for learning; empty if they were not.
    pub factors: Vec<f64>,
    /// What is said besides.
    pub remark: String,
    pub wanted: &'a Pictures,
    pub seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Separates {
    Hyperplane,
    Direction,
}

/// The rows that are drawn, as they stand.
struct Shown {
    rows: Vec<usize>,
    signs: Vec<f64>,
    scores: Vec<f64>,
    matrix: Matrix<'static>,
}

/// Where rows stand in the picture.
struct Plane {
    axes: [String; 2],
    places: Vec<(f64, f64)>,
    line: [f64; 3],
    how: String,
}

impl View<'_> {
    /// The picture; `support` and `mistake` tell, by a row's number and margin, what it is.
    pub fn section(
        &self,
        support: impl Fn(usize, f64) -> bool,
        mistake: impl Fn(usize, f64) -> bool,
    ) -> Result<Section> {
        let picked = plot::sample(self.signs.len(), DRAWN, self.seed);
        let rows: Vec<usize> = picked.iter().map(|&at| self.signs[at].0).collect();
        let signs: Vec<f64> = picked.iter().map(|&at| self.signs[at].1).collect();
        let matrix = self.data.rows.select(rows.iter().copied());
        let scores: Vec<f64> = (0..rows.len()).map(|i| matrix.row(i).dot(&self.normal) + self.bias).collect();
        let shown = Shown { rows, signs, scores, matrix };
        let plane = match columns(self.data, self.wanted)? {
            Some(columns) => self.by_columns(&shown, columns),
            None => self.along_normal(&shown),
        };
        let dots: Vec<Dot> = (0..shown.rows.len())
            .map(|i| {
                let (x, y) = plane.places[i];
                let margin = shown.signs[i] * shown.scores[i];
                let class = usize::from(shown.signs[i] > 0.0);
                Dot {
                    x,
                    y,
                    class,
                    support: support(shown.rows[i], margin),
                    mistake: mistake(shown.rows[i], margin),
                }
            })
            .collect();
        Ok(self.drawn(&plane, &dots))
    }

    fn drawn(&self, plane: &Plane, dots: &[Dot]) -> Section {
        let title = format!("{} against {}", self.sides[1], self.sides[0]);
        let of = |class: usize| dots.iter().filter(move |dot| dot.class == class);
        let told = |class: usize| counted(of(class).count() as u64, "row");
        let (mistakes, support) =
            (dots.iter().filter(|d| d.mistake).count(), dots.iter().filter(|d| d.support).count());
        let description = format!(
            "{} of {} and {} of {} as points; {} on the wrong side, {} as support.",
            told(1),
            self.sides[1],
            told(0),
            self.sides[0],
            counted(mistakes as u64, "mistake"),
            counted(support as u64, "row")
        );
        let points = Points {
            title: &title,
            description: &description,
            axes: [&plane.axes[0], &plane.axes[1]],
            classes: [&self.sides[0], &self.sides[1]],
            dots,
            plane: (self.separates == Separates::Hyperplane).then_some(plane.line),
            margin: self.margin,
        };
        let mut text = plane.how.clone();
        if !points.has_equal_units()
            && self.separates == Separates::Hyperplane
            && plane.line[0] * plane.line[1] != 0.0
        {
            text.push_str(
                " The axes have different units, so the right angle between hyperplane and normal vector \
                 does not look right.",
            );
        }
        if dots.len() < self.signs.len() {
            let (drawn, all) = (count(dots.len() as u64), counted(self.signs.len() as u64, "row"));
            text.push_str(&format!(" Of {all}, {drawn} are drawn, picked by the seed."));
        }
        text.push_str(&self.remark);
        let mut table = vec![line(["class", "rows", "drawn", "support rows drawn", "mistakes drawn"])];
        for class in [1, 0] {
            let all = self.signs.iter().filter(|(_, sign)| (*sign > 0.0) == (class == 1)).count();
            let counts = [
                all,
                of(class).count(),
                of(class).filter(|d| d.support).count(),
                of(class).filter(|d| d.mistake).count(),
            ];
            table.push(
                [self.sides[class].clone()].into_iter().chain(counts.map(|n| count(n as u64))).collect(),
            );
        }
        Section {
            name: PictureName::Points,
            heading: "Rows and hyperplane".into(),
            text,
            picture: points.draw(),
            table,
        }
    }

    /// The hyperplane where all other columns have their mean.
    fn by_columns(&self, shown: &Shown, [a, b]: [u32; 2]) -> Plane {
        let mut mean = vec![0.0; self.data.rows.columns()];
        let share = 1.0 / shown.rows.len().max(1) as f64;
        let mut places = vec![(0.0, 0.0); shown.rows.len()];
        for (i, place) in places.iter_mut().enumerate() {
            shown.matrix.row(i).add_to(&mut mean, share);
            shown.matrix.row(i).for_each_nonzero(|j, x| {
                place.0 += if j == a { x } else { 0.0 };
                place.1 += if j == b { x } else { 0.0 };
            });
        }
        let weight = |j: u32| self.normal.get(j as usize).copied().unwrap_or(0.0);
        let others = mean.iter().enumerate().filter(|(j, _)| *j as u32 != a && *j as u32 != b);
        let rest: f64 = others.map(|(j, m)| m * weight(j as u32)).sum();
        let axes = [a, b].map(|j| self.data.schema.name(j));
        let mut how = format!("Rows by the columns {} and {}.", axes[0], axes[1]);
        if self.data.rows.columns() > 2 && self.separates == Separates::Hyperplane {
            how.push_str(
                " The line is the hyperplane where every other column has its mean: rows that differ in \
                 those may stand on either side of it, and still be told apart.",
            );
        }
        Plane { axes, places, line: [weight(a), weight(b), self.bias + rest], how }
    }

    /// To the right the distance from the hyperplane, upwards the direction across it in which rows differ
    /// most.
    fn along_normal(&self, shown: &Shown) -> Plane {
        let mut unit: Vec<f64> = self.normal.clone();
        unit.resize(self.data.rows.columns(), 0.0);
        let scaled = (!self.factors.is_empty()).then(|| {
            unit.iter_mut()
                .zip(&self.factors)
                .for_each(|(w, factor)| *w = if *factor != 0.0 { *w / factor } else { 0.0 });
            shown.matrix.scaled(&self.factors)
        });
        let matrix = scaled.as_ref().unwrap_or(&shown.matrix);
        let length = unit.iter().map(|w| w * w).sum::<f64>().sqrt();
        let across = plot::across(matrix, &unit, self.seed);
        let along = |score: f64| if length > 0.0 { score / length } else { score };
        let places =
            (0..shown.rows.len()).map(|i| (along(shown.scores[i]), matrix.row(i).dot(&across))).collect();
        let units = if scaled.is_some() { ", columns scaled" } else { "" };
        let what = match self.separates {
            Separates::Hyperplane => "its distance from the hyperplane, along the normal vector w",
            Separates::Direction => {
                "its place along the line between the means of both sides, as no hyperplane separates them"
            }
        };
        let heaviest = across.iter().enumerate().max_by(|p, q| p.1.abs().total_cmp(&q.1.abs()));
        let named = heaviest.filter(|(_, v)| **v != 0.0).map_or(String::new(), |(j, share)| {
            format!(" ({} has the largest part in it, {})", self.data.schema.name(j as u32), number(*share))
        });
        let how = format!(
            "Each mark is a row. To the right: {what}{units}. Upwards: the direction at right angles to that \
             in which these rows differ most{named}."
        );
        let names = match self.separates {
            Separates::Hyperplane => {
                [format!("distance from the hyperplane{units}"), "across it, where rows differ most".into()]
            }
            Separates::Direction => {
                [format!("between the means{units}"), "across, where rows differ most".into()]
            }
        };
        Plane { axes: names, places, line: [length.max(f64::MIN_POSITIVE), 0.0, 0.0], how }
    }
}
