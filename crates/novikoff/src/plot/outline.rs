//! Where a function on a grid passes a level: as lines, and as the outlines of where it is above.
//!
//! Marching squares (Lorensen and Cline 1987, in two dimensions): every side of a cell with one corner inside
//! and one outside is crossed once, and every crossing leads to another of the same cell. Crossings are
//! followed from cell to cell, so that a curve is one path, whose dashes go on and whose inside can be
//! filled.

use super::sheet::{Place, px};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Values at the corners of cells, row after row.
pub(super) struct Grid<'a> {
    /// Corners in a row.
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
    /// Where the corner with this number stands.
    pub(super) place: &'a dyn Fn(usize) -> Place,
}

/// Whether curves end at the border of the grid, or go on along it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    Ends,
    Closes,
}

/// A side of a cell: twice the number of the corner that it begins at, plus one if it leads to the next row.
type Side = usize;

impl Grid<'_> {
    /// The lines on which the values pass a level.
    pub(super) fn lines(&self, level: f64) -> String {
        self.path(level, Border::Ends)
    }

    /// The outlines of where the values reach a level.
    pub(super) fn areas(&self, level: f64) -> String {
        self.path(level, Border::Closes)
    }

    fn path(&self, level: f64, border: Border) -> String {
        let padded = Padded { grid: self, pad: usize::from(border == Border::Closes), level };
        let mut path = String::new();
        for (places, is_closed) in padded.curves() {
            let (places, end) = (straightened(&places), if is_closed { "z" } else { "" });
            if places.len() < 2 {
                continue;
            }
            for ((x, y), letter) in places.iter().zip(std::iter::once('M').chain(std::iter::repeat('L'))) {
                let _ = write!(path, "{letter}{} {}", px(*x), px(*y));
            }
            path.push_str(end);
        }
        path
    }
}

/// A grid, if so wanted with corners around it that are below every level: there curves go along the border.
struct Padded<'a, 'g> {
    grid: &'a Grid<'g>,
    pad: usize,
    level: f64,
}

impl Padded<'_, '_> {
    fn columns(&self) -> usize {
        self.grid.columns + 2 * self.pad
    }

    fn rows(&self) -> usize {
        self.grid.values.len() / self.grid.columns.max(1) + 2 * self.pad
    }

    /// The value at a corner of the padded grid, and the corner of the grid where it stands.
    fn corner(&self, at: usize) -> (f64, usize) {
        let (column, row) = (at % self.columns(), at / self.columns());
        let (columns, rows) = (self.grid.columns, self.rows() - 2 * self.pad);
        let within = |x: usize, count: usize| x.saturating_sub(self.pad).min(count - 1);
        let is_pad = |x: usize, count: usize| x < self.pad || x - self.pad >= count;
        let own = within(row, rows) * columns + within(column, columns);
        match is_pad(column, columns) || is_pad(row, rows) {
            true => (f64::NEG_INFINITY, own),
            false => (self.grid.values[own], own),
        }
    }

    /// NaN is below every level.
    fn is_inside(&self, at: usize) -> bool {
        self.corner(at).0 >= self.level
    }

    /// Where a side is crossed.
    fn crossing(&self, side: Side) -> Place {
        let (from, to) =
            (side / 2, if side.is_multiple_of(2) { side / 2 + 1 } else { side / 2 + self.columns() });
        let ((a, at), (b, other)) = (self.corner(from), self.corner(to));
        let share = (self.level - a) / (b - a);
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
        let (from, to) = ((self.grid.place)(at), (self.grid.place)(other));
        (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
    }

    /// Which crossing follows on which. Curves have the inside on the same hand all along.
    fn next(&self) -> BTreeMap<Side, Side> {
        let (columns, rows) = (self.columns(), self.rows());
        let mut next = BTreeMap::new();
        for row in 0..rows.saturating_sub(1) {
            for column in 0..columns.saturating_sub(1) {
                self.follow(row * columns + column, &mut next);
            }
        }
        next
    }

    /// The crossings of one cell. Around its corners, every side that leads out is followed by one that leads
    /// in: the next or, where the middle of the cell is outside, the one before.
    fn follow(&self, at: usize, next: &mut BTreeMap<Side, Side>) {
        let columns = self.columns();
        let corners = [at, at + 1, at + columns + 1, at + columns];
        let sides = [2 * at, 2 * (at + 1) + 1, 2 * (at + columns), 2 * at + 1];
        let inside = corners.map(|corner| self.is_inside(corner));
        let leads = |k: usize, from: bool| inside[k] == from && inside[(k + 1) % 4] != from;
        let is_saddle = inside[0] == inside[2] && inside[1] == inside[3] && inside[0] != inside[1];
        let middle: f64 = corners.iter().map(|&corner| self.corner(corner).0).sum::<f64>() / 4.0;
        let is_joined = middle >= self.level;
        let back = is_saddle && !is_joined;
        for out in (0..4).filter(|&k| leads(k, true)) {
            let step = |n: usize| if back { (out + 4 - n) % 4 } else { (out + n) % 4 };
            if let Some(into) = (1..4).map(step).find(|&k| leads(k, false)) {
                next.insert(sides[out], sides[into]);
            }
        }
    }

    /// The places along each curve, and whether it comes back to where it began.
    fn curves(&self) -> Vec<(Vec<Place>, bool)> {
        let mut next = self.next();
        let reached: BTreeSet<Side> = next.values().copied().collect();
        let open: Vec<Side> = next.keys().copied().filter(|side| !reached.contains(side)).collect();
        let mut curves: Vec<_> =
            open.into_iter().map(|start| (self.curve(start, &mut next), false)).collect();
        while let Some(&start) = next.keys().next() {
            curves.push((self.curve(start, &mut next), true));
        }
        curves
    }

    /// The places from one crossing on, for as long as another follows.
    fn curve(&self, start: Side, next: &mut BTreeMap<Side, Side>) -> Vec<Place> {
        let mut places = vec![self.crossing(start)];
        let mut side = start;
        while let Some(then) = next.remove(&side) {
            side = then;
            places.push(self.crossing(side));
        }
        places
    }
}

/// The same line with fewer places: those on a straight way between their neighbours are left out, within a
/// tenth of a unit.
fn straightened(places: &[Place]) -> Vec<Place> {
    let mut kept: Vec<Place> = Vec::new();
    let mut from = 0;
    for to in 0..places.len() {
        let is_last = to + 1 == places.len();
        if to > 0 && !is_last && (from + 1..=to).all(|k| off(places[from], places[to + 1], places[k]) < 0.1) {
            continue;
        }
        kept.push(places[to]);
        from = to;
    }
    kept
}

/// How far a place is from the way between two others.
fn off(from: Place, to: Place, place: Place) -> f64 {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let (u, v) = (place.0 - from.0, place.1 - from.1);
    let length = x.hypot(y);
    let share = if length > 0.0 { ((u * x + v * y) / (length * length)).clamp(0.0, 1.0) } else { 0.0 };
    (u - share * x).hypot(v - share * y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: usize = 21;

    fn point(i: usize) -> Place {
        ((i % COLUMNS) as f64, (i / COLUMNS) as f64)
    }

    fn grid(of: impl Fn(f64, f64) -> f64) -> Grid<'static> {
        let values = (0..COLUMNS * COLUMNS).map(|i| of(point(i).0, point(i).1)).collect();
        Grid { columns: COLUMNS, values, place: &point }
    }

    fn numbers(path: &str) -> Vec<f64> {
        path.split(['M', 'L', 'z', ' ']).filter_map(|number| number.parse().ok()).collect()
    }

    /// Twice the area within all outlines, by the shoelace formula.
    fn area(path: &str) -> f64 {
        let rings = path.split('z').map(numbers).filter(|ring| !ring.is_empty());
        let twice = |ring: Vec<f64>| -> f64 {
            let places: Vec<Place> = ring.chunks_exact(2).map(|at| (at[0], at[1])).collect();
            let next = places.iter().cycle().skip(1);
            places.iter().zip(next).map(|(p, q)| p.0 * q.1 - p.1 * q.0).sum()
        };
        rings.map(twice).sum::<f64>().abs() / 2.0
    }

    #[test]
    fn a_line_around_a_circle_is_a_circle_in_one_piece() {
        let path = grid(|x, y| (x - 10.0).hypot(y - 10.0)).lines(6.5);
        assert_eq!(path.matches('M').count(), 1);
        let numbers = numbers(&path);
        assert!(numbers.len() > 40);
        for at in numbers.chunks_exact(2) {
            assert!(((at[0] - 10.0).hypot(at[1] - 10.0) - 6.5).abs() < 0.15, "{at:?}");
        }
    }

    #[test]
    fn a_straight_border_has_two_ends_and_closes_a_half() {
        let half = grid(|x, _| x - 5.5);
        assert_eq!(numbers(&half.lines(0.0)).len(), 4);
        assert!((area(&half.areas(0.0)) - 20.0 * 14.5).abs() < 1e-9);
        assert!((area(&grid(|_, _| 1.0).areas(0.0)) - 400.0).abs() < 1e-9);
        assert_eq!(grid(|_, _| f64::NAN).areas(0.0), "");
    }

    proptest! {
        /// What is above a level and what is below it make up the whole, whatever the function.
        #[test]
        fn areas_above_and_below_are_all_there_is(
            values in prop::collection::vec(prop::sample::select(vec![-2.17, -1.0, -0.3, 0.4, 1.2, 3.3]), 36),
        ) {
            let place = |i: usize| (20.0 * (i % 6) as f64, 20.0 * (i / 6) as f64);
            let negated = values.iter().map(|v| -v).collect();
            let above = Grid { columns: 6, values, place: &place }.areas(0.0);
            let below = Grid { columns: 6, values: negated, place: &place }.areas(0.0);
            let (above, below) = (area(&above), area(&below));
            prop_assert!((above + below - 10_000.0).abs() < 40.0, "{above} {below}");
        }
    }
}
