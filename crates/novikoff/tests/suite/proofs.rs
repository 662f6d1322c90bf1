//! Separability and margins: answers against an oracle in exact arithmetic, and certificates that somebody
//! has changed.

use crate::with::With;
use novikoff::certificate::Sides;
use novikoff::certificate::{Certificate, Claim};
use novikoff::control::{Flow, Progress, Termination, Unwatched};
use novikoff::data::generate::Recipe;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report, Scale};
use novikoff::features::Schema;
use novikoff::margin::{Margin, Separable, Settings, margin};
use novikoff::penalty::Bias;
use novikoff::train::{LearnerName, train};
use proptest::prelude::*;

fn dataset(rows: &[Vec<f64>], positive: &[bool]) -> Dataset<'static> {
    let mut builder = Builder::new(Layout::Dense { columns: rows[0].len() });
    let indices: Vec<u32> = (0..rows[0].len() as u32).collect();
    rows.iter().for_each(|row| builder.push(&indices, row));
    Dataset {
        rows: builder.finish(),
        labels: positive.iter().map(|p| u32::from(*p)).collect(),
        names: Labels::new(["-1", "1"]),
        row_weights: Vec::new(),
        schema: Schema::one_based(),
        report: Report::default(),
    }
}

fn sides() -> Sides {
    Sides { positive: vec!["1".into()], negative: vec!["-1".into()] }
}

fn bracket(data: &Dataset, bias: Bias) -> Margin {
    margin(data, &sides(), &Settings { bias, ..Settings::default() }, &mut Unwatched).unwrap()
}

fn certificate(data: &Dataset, found: &Margin, bias: Bias) -> Certificate {
    Certificate::new(data, found.claims(&sides(), bias))
}

/// Whether whole-numbered vectors have a combination with positive multipliers that is zero: every subset
/// that could be the smallest such is tried, in whole numbers.
fn combines_to_zero(vectors: &[Vec<i128>]) -> bool {
    let dimension = vectors[0].len();
    let count = vectors.len();
    (1u32..1 << count).filter(|subset| subset.count_ones() as usize <= dimension + 1).any(|subset| {
        let chosen: Vec<&Vec<i128>> =
            (0..count).filter(|i| subset >> i & 1 == 1).map(|i| &vectors[i]).collect();
        only_dependence(&chosen).is_some_and(|m| m.iter().all(|x| *x > 0) || m.iter().all(|x| *x < 0))
    })
}

/// The one dependence of these vectors, if there is just one, by elimination without fractions.
fn only_dependence(vectors: &[&Vec<i128>]) -> Option<Vec<i128>> {
    let (count, dimension) = (vectors.len(), vectors[0].len());
    let mut lines: Vec<Vec<i128>> = (0..dimension).map(|j| vectors.iter().map(|v| v[j]).collect()).collect();
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..count {
        let Some(at) = (pivots.len()..dimension).find(|&i| lines[i][column] != 0) else { continue };
        let rank = pivots.len();
        lines.swap(rank, at);
        let pivot = lines[rank].clone();
        for (i, line) in lines.iter_mut().enumerate() {
            if i != rank && line[column] != 0 {
                let factor = line[column];
                line.iter_mut().zip(&pivot).for_each(|(a, b)| *a = *a * pivot[column] - factor * b);
                let common = line.iter().fold(0, |a: i128, b| gcd(a, *b));
                if common > 1 {
                    line.iter_mut().for_each(|x| *x /= common);
                }
            }
        }
        pivots.push(column);
    }
    if pivots.len() + 1 != count {
        return None;
    }
    let free = (0..count).find(|c| !pivots.contains(c))?;
    // Pivot line r says: line[pivot]·m[pivot] + line[free]·m[free] = 0.
    let scale = pivots
        .iter()
        .enumerate()
        .fold(1i128, |scale, (r, &p)| scale / gcd(scale, lines[r][p]) * lines[r][p].abs());
    let mut multipliers = vec![0; count];
    multipliers[free] = scale;
    for (r, &p) in pivots.iter().enumerate() {
        multipliers[p] = -lines[r][free] * (scale / lines[r][p]);
    }
    Some(multipliers)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

fn extended(rows: &[Vec<f64>], positive: &[bool], bias: Bias) -> Vec<Vec<i128>> {
    let row = |(row, positive): (&Vec<f64>, &bool)| {
        let sign = if *positive { 1 } else { -1 };
        let mut vector: Vec<i128> = row.iter().map(|x| sign * (*x as i128)).collect();
        vector.extend((bias != Bias::None).then_some(sign));
        vector
    };
    rows.iter().zip(positive).map(row).collect()
}

const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised, Bias::None];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn answers_are_those_of_exact_arithmetic(
        dimension in 1..4usize,
        raw in prop::collection::vec(prop::collection::vec(-3..4i32, 3), 1..9),
        positive in prop::collection::vec(any::<bool>(), 9),
        // Powers of two, which round nothing.
        scale in prop::sample::select(vec![1.0, 2f64.powi(-30), 2f64.powi(40)]),
    ) {
        let whole: Vec<Vec<f64>> =
            raw.iter().map(|row| row[..dimension].iter().map(|x| f64::from(*x)).collect()).collect();
        let rows: Vec<Vec<f64>> = whole.iter().map(|row| row.iter().map(|x| x * scale).collect()).collect();
        let positive = &positive[..rows.len()];
        let data = dataset(&rows, positive);
        for bias in BIASES {
            let found = bracket(&data, bias);
            let expected = if combines_to_zero(&extended(&whole, positive, bias)) {
                Separable::No
            } else {
                Separable::Yes
            };
            prop_assert_eq!(found.separable, expected, "{:?}: {:?}", bias, found);
            let (lower, upper) = found.interval;
            prop_assert!(lower <= upper);
            prop_assert_eq!(lower > 0.0, expected == Separable::Yes);
            // A bias's coordinate of 1 beside values of 1e12: the answer is right, the interval may stay
            // open.
            if expected == Separable::Yes && upper > 1e-10 * found.radius.high {
                prop_assert!(lower >= 0.998 * upper || upper == f64::INFINITY, "{:?}: {:?}", bias, found);
            }
            let certificate = certificate(&data, &found, bias);
            prop_assert!(!certificate.claims.is_empty());
            let again = Certificate::from_text(&certificate.to_text()).unwrap();
            prop_assert_eq!(&again, &certificate);
            for claim in again.check(&data) {
                prop_assert!(claim.holds, "{:?}: {:?}", bias, claim);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// Rows generated with a margin have one that is at least as large, and the interval closes.
    #[test]
    fn generated_margins_are_found(
        seed in 0..1000u64,
        features in 1..30usize,
        density in prop::sample::select(vec![0.2, 1.0]),
    ) {
        let data = Recipe { rows: 200, features, margin: 0.1, density, seed, ..Recipe::default() }.generate();
        let found = bracket(&data, Bias::None);
        prop_assert_eq!(found.separable, Separable::Yes);
        let (lower, upper) = found.interval;
        prop_assert!(upper >= 0.1 && lower >= 0.998 * upper, "{:?}", found.interval);
        prop_assert!(certificate(&data, &found, Bias::None).check(&data).iter().all(|claim| claim.holds));
    }

    /// Whatever is done to a certificate, what still passes is true.
    #[test]
    fn no_lie_passes(
        raw in prop::collection::vec(prop::collection::vec(-3..4i32, 2), 3..9),
        positive in prop::collection::vec(any::<bool>(), 9),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(b"0123456789.-e,[]{}\"a".to_vec())),
            40,
        ),
    ) {
        let rows: Vec<Vec<f64>> = raw.iter().map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect();
        let data = dataset(&rows, &positive[..rows.len()]);
        for bias in BIASES {
            let found = bracket(&data, bias);
            let text = certificate(&data, &found, bias).to_text();
            for (at, byte) in &changes {
                let mut bytes = text.clone().into_bytes();
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                let Ok(changed) = String::from_utf8(bytes)
                    .map_err(|_| ())
                    .and_then(|text| Certificate::from_text(&text).map_err(|_| ()))
                else {
                    continue;
                };
                let checked = changed.check(&data);
                if !checked.iter().all(|claim| claim.holds) {
                    continue;
                }
                for claim in &changed.claims {
                    match claim {
                        Claim::MarginAtLeast { sides: s, bias: b, margin, .. } if *s == sides() => {
                            prop_assert!(*margin <= bracket(&data, *b).interval.1, "{claim:?} {found:?}");
                        }
                        Claim::MarginAtMost { sides: s, bias: b, margin, .. } if *s == sides() => {
                            prop_assert!(*margin >= bracket(&data, *b).interval.0, "{claim:?} {found:?}");
                        }
                        Claim::NotSeparable { sides: s, bias: b, .. } if *s == sides() => {
                            prop_assert_eq!(bracket(&data, *b).separable, Separable::No);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

#[test]
fn a_certificate_speaks_of_its_own_rows() {
    let data = dataset(&[vec![1.0], vec![-1.0]], &[true, false]);
    let other = dataset(&[vec![1.0], vec![-1.5]], &[true, false]);
    let certificate = certificate(&data, &bracket(&data, Bias::Free), Bias::Free);
    assert!(certificate.check(&data).iter().all(|claim| claim.holds));
    assert!(!certificate.check(&other).iter().any(|claim| claim.holds));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// No perceptron that separates the rows makes more mistakes than is promised.
    #[test]
    fn mistakes_stay_below_the_bound(
        seed in 0..1000u64,
        features in 1..8usize,
        gap in 0.05..0.4f64,
        bias in prop::sample::select(BIASES.to_vec()),
    ) {
        let data = Recipe { rows: 60, features, margin: gap, seed, ..Recipe::default() }.generate();
        let found = bracket(&data, bias);
        let settings = LearnerName::Perceptron.learner().with_bias(bias).with_epochs(100_000).with_scale(Scale::None);
        let fit = train(&data, None, &settings, &mut Unwatched).unwrap();
        prop_assert_eq!(fit.termination, Termination::Separated);
        prop_assert!(
            fit.history().unwrap().mistakes as f64 <= found.mistake_bound().1.floor(),
            "{} {:?}",
            fit.history().unwrap().mistakes,
            found.mistake_bound()
        );
    }
}

#[test]
fn margins_next_to_nothing_are_told_from_none() {
    // The second row is off the line through the others by 2⁻⁴⁰, to one side or the other.
    for (off, expected) in [(1.0, Separable::Yes), (0.0, Separable::No), (-1.0, Separable::No)] {
        let off = off * 2f64.powi(-40);
        let rows = [vec![0.0, 0.0], vec![0.5, off], vec![1.0, 0.0], vec![0.5, -1.0]];
        let data = dataset(&rows, &[false, true, false, false]);
        assert_eq!(bracket(&data, Bias::Free).separable, expected, "{off:e}");
    }
}

#[test]
fn intervals_told_on_the_way_hold_also_where_columns_are_scaled() {
    let mut told_some = false;
    for (seed, bias) in
        (0..6).flat_map(|seed| [(seed, Bias::Free), (seed, Bias::Penalised), (seed, Bias::None)])
    {
        let mut data = Recipe { rows: 150, features: 8, margin: 0.002, seed, ..Recipe::default() }.generate();
        // Columns so different in size that the question is first asked of scaled ones.
        data.rows = data.rows.scaled(&[1.0, 100.0, 0.01, 1.0, 5.0, 1.0, 0.1, 30.0]);
        let mut told = Vec::new();
        let mut watch = |progress: Progress| {
            if let Progress::Margin { lower, upper, .. } = progress {
                told.push((lower, upper));
            }
            Flow::Continue
        };
        let found = margin(&data, &sides(), &Settings { bias, ..Settings::default() }, &mut watch).unwrap();
        let (least, most) = found.interval;
        for (lower, upper) in told {
            assert!(
                lower <= most * (1.0 + 1e-6) && upper >= least * (1.0 - 1e-6),
                "[{lower}, {upper}] and [{least}, {most}]"
            );
            told_some |= upper.is_finite();
        }
    }
    assert!(told_some, "somebody must have said something");
}
