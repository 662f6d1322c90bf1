//! Products of features of namespaces and of columns, against products made by hand.

use crate::differential::canonical;
use novikoff::control::Unwatched;
use novikoff::data::{Dataset, Row};
use novikoff::features::Missing;
use novikoff::read::{Format, Input, Options, Purpose, Reader, TableOptions};
use novikoff::{LogisticRegression, Result};
use novikoff_checker::Rows;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn open(name: &str, text: &str, options: &Options, purpose: &Purpose<'_>) -> Result<Dataset<'static>> {
    let input = Input::Bytes { name: name.into(), bytes: text.as_bytes().into() };
    Reader::open(&input, options, purpose)?.read(&mut Unwatched)
}

fn with(interactions: &[&str]) -> Options {
    let interactions = interactions.iter().map(|&it| it.to_owned()).collect();
    Options { interactions, format: Some(Format::Vw), ..Options::default() }
}

type Named = BTreeMap<String, f64>;

fn named(data: &Dataset, row: Row<'_>) -> Named {
    let mut values = Named::new();
    row.for_each_nonzero(|j, x| {
        values.insert(data.schema.name(j), x);
    });
    values
}

fn all_named(data: &Dataset) -> Vec<Named> {
    (0..data.len()).map(|i| named(data, data.rows.row(i))).collect()
}

/// The features of namespaces `a…` and `b…`, and of the one without a name.
type Spaces = [BTreeMap<String, i8>; 3];

const SPACES: [&str; 3] = ["alpha", "beta", ""];

fn spaces() -> impl Strategy<Value = Spaces> {
    let features =
        || prop::collection::btree_map("[x-z]|1", (-3i8..4).prop_filter("zero", |x| *x != 0), 0..4);
    [features(), features(), features()]
}

/// A color, a size, and two numbers.
type Cells = (Option<usize>, Option<usize>, Option<i8>, i8);

fn line(label: bool, spaces: &Spaces) -> String {
    let mut line = if label { "1".to_owned() } else { "-1".to_owned() };
    for (name, features) in SPACES.iter().zip(spaces) {
        line += &format!(" |{name}");
        features.iter().for_each(|(feature, value)| line += &format!(" {feature}:{value}"));
    }
    line
}

fn full_name(space: usize, feature: &str) -> String {
    if SPACES[space].is_empty() { feature.to_owned() } else { format!("{}^{feature}", SPACES[space]) }
}

/// Plain features, and products of the spaces of each interaction: of one space, every two factors once.
fn by_hand(spaces: &Spaces, interactions: &[(usize, usize)]) -> Named {
    let mut values = Named::new();
    let factors = |space: usize| -> Vec<(String, f64)> {
        let factor = |(feature, value): (&String, &i8)| (full_name(space, feature), f64::from(*value));
        let mut factors: Vec<_> = spaces[space].iter().map(factor).collect();
        factors.sort_by(|a, b| a.0.cmp(&b.0));
        factors
    };
    for space in 0..3 {
        values.extend(factors(space));
    }
    for &(one, other) in interactions {
        for (k, (first, x)) in factors(one).iter().enumerate() {
            for (second, y) in factors(other).iter().skip(if one == other { k } else { 0 }) {
                values.insert(format!("{first}*{second}"), x * y);
            }
        }
    }
    values
}

proptest! {
    #[test]
    fn products_of_namespaces_are_those_made_by_hand(
        rows in prop::collection::vec((any::<bool>(), spaces()), 1..12),
        bits in 28u8..31,
    ) {
        let text: String = rows.iter().map(|(label, spaces)| line(*label, spaces) + "\n").collect();
        for (interactions, pairs) in [
            (&["ab", "b "][..], &[(0, 1), (1, 2)][..]),
            (&["ba", "aa"], &[(1, 0), (0, 0)]),
            (&["::"], &[(0, 0), (0, 1), (1, 1), (2, 0), (2, 1), (2, 2)]),
        ] {
            let expected: Vec<Named> = rows.iter().map(|(_, spaces)| by_hand(spaces, pairs)).collect();
            let data = open("t.vw", &text, &with(interactions), &Purpose::Training).unwrap();
            prop_assert_eq!(all_named(&data), &expected[..]);
            // Read for a model, the same features have the same numbers.
            let features = data.rows.columns();
            let purpose = Purpose::Prediction { labels: &data.names, schema: &data.schema, features };
            let again = open("t.vw", &text, &Options::default(), &purpose).unwrap();
            prop_assert_eq!(all_named(&again), &expected[..]);
            // By hash there are as many features, and their values.
            let options = Options { hash_bits: Some(bits), ..with(interactions) };
            let hashed = open("t.vw", &text, &options, &Purpose::Training).unwrap();
            let values = |row: Row<'_>| {
                let mut values = Vec::new();
                row.for_each_nonzero(|_, x| values.push(x as i64));
                values.sort_unstable();
                values
            };
            for i in 0..data.len() {
                prop_assert_eq!(values(hashed.rows.row(i)), values(data.rows.row(i)));
            }
        }
    }

    #[test]
    fn products_of_columns_are_those_made_by_hand(
        cells in prop::collection::vec(
            (prop::option::of(0usize..3), prop::option::of(0usize..2), prop::option::of(-2i8..3), -2i8..3),
            4..20,
        ),
        policy in prop::sample::select(vec![Missing::Zero, Missing::Mean, Missing::Indicator]),
    ) {
        let (colors, sizes) = (["red", "green", "blue"], ["s", "l"]);
        let row = |&(color, size, x, z): &Cells| {
            let (color, size) = (color.map_or("", |at| colors[at]), size.map_or("", |at| sizes[at]));
            format!("{color},{size},{},{z},{}\n", x.map_or(String::new(), |x| x.to_string()), z > 0)
        };
        let all = |cells: &[Cells]| {
            let rows: String = cells.iter().map(row).collect();
            format!("color,size,x,z,label\n{rows}")
        };
        let table = TableOptions {
            missing: policy,
            categories: vec!["color".into(), "size".into()],
            numbers: vec!["x".into(), "z".into()],
            label: Some("label".into()),
            ..TableOptions::default()
        };
        let interactions = ["color*size", "color*x", "z*x", "size*z*color"].map(str::to_owned).to_vec();
        let options = Options { table, interactions, format: Some(Format::Csv), ..Options::default() };
        let (training, unseen) = cells.split_at(cells.len() - 2);
        let Ok(data) = open("t.csv", &all(training), &options, &Purpose::Training) else {
            // A column without a value is left out, and cannot be multiplied.
            return Ok(());
        };
        let products = |&(color, size, x, z): &Cells| {
            let (color, size) = (color.map(|at| format!("color={}", colors[at])), size.map(|at| sizes[at]));
            let (x, z) = (x.map(f64::from), f64::from(z));
            let both = color.clone().zip(size);
            let all = [
                both.clone().map(|(color, size)| (format!("{color}*size={size}"), 1.0)),
                color.zip(x).map(|(color, x)| (format!("{color}*x"), x)),
                x.map(|x| ("z*x".to_owned(), z * x)),
                both.map(|(color, size)| (format!("size={size}*z*{color}"), z)),
            ];
            all.into_iter().flatten().filter(|(_, value)| *value != 0.0).collect::<Named>()
        };
        let of_products = |values: Named| -> Named {
            values.into_iter().filter(|(name, _)| name.contains('*')).collect()
        };
        let mut known = Named::new();
        for (found, cells) in all_named(&data).into_iter().zip(training) {
            let expected = products(cells);
            prop_assert_eq!(of_products(found), expected.clone());
            known.extend(expected);
        }
        // Combinations that no training row had are no features.
        let purpose =
            Purpose::Prediction { labels: &data.names, schema: &data.schema, features: data.rows.columns() };
        let later = open("t.csv", &all(unseen), &Options::default(), &purpose).unwrap();
        for (found, cells) in all_named(&later).into_iter().zip(unseen) {
            let is_known = |(name, _): &(String, f64)| known.contains_key(name) || name == "z*x";
            let expected: Named = products(cells).into_iter().filter(is_known).collect();
            prop_assert_eq!(of_products(found), expected);
        }
    }
}

const TABLE: &str =
    "sex,class,age,label\nm,1,20,no\nf,2,30,yes\nm,2,40,no\nf,1,,yes\nm,1,35,yes\nf,2,25,no\n";

fn labelled() -> TableOptions {
    TableOptions { label: Some("label".into()), ..TableOptions::default() }
}

#[test]
fn certificates_of_products_hold_by_both_checkers() {
    let categories = vec!["class".to_owned()];
    let table = TableOptions { categories, missing: Missing::Indicator, ..labelled() };
    let of_table = Options {
        table,
        interactions: vec!["sex*class".into(), "sex*age".into()],
        format: Some(Format::Csv),
        ..Options::default()
    };
    let vw = "1 |a x y:2 |b z\n-1 |a x |b w:3\n1 |a y |b w z\n-1 |b w\n";
    let hashed = Options { hash_bits: Some(10), ..with(&["ab"]) };
    for (name, text, options) in
        [("t.csv", TABLE, of_table), ("t.vw", vw, with(&["ab", "aa"])), ("t.vw", vw, hashed)]
    {
        let data = open(name, text, &options, &Purpose::Training).unwrap();
        let fit = LogisticRegression::new().tolerance(1e-6).fit(&data).unwrap();
        let certificate = fit.certificate(&data).unwrap();
        certificate.verify(&data).unwrap();
        let rows = Rows::from_canonical(&canonical(&data)).unwrap();
        let model = novikoff::model::to_bytes(&fit.model).unwrap();
        let verdicts = novikoff_checker::check(&certificate.to_text(), &rows, Some(&model)).unwrap();
        assert!(verdicts.iter().all(|verdict| verdict.holds), "{verdicts:?}");
        // Rows without the products are other rows.
        let plain = Options { interactions: Vec::new(), ..options };
        let plain = open(name, text, &plain, &Purpose::Training).unwrap();
        assert!(certificate.verify(&plain).is_err());
    }
}

#[test]
fn a_part_of_the_rows_makes_the_features_of_that_part() {
    use novikoff::data::Refit;
    let categories = vec!["class".to_owned()];
    let table = TableOptions { categories, missing: Missing::Mean, ..labelled() };
    let options = Options {
        table,
        interactions: vec!["sex*class".into(), "sex*age".into()],
        format: Some(Format::Csv),
        ..Options::default()
    };
    let input = Input::Bytes { name: "t.csv".into(), bytes: TABLE.as_bytes().into() };
    let reader = Reader::open(&input, &options, &Purpose::Training).unwrap();
    let parts = reader.read_refittable(&mut Unwatched).unwrap().split(&[0, 1, 2], &[3, 4, 5]).unwrap();
    let lines: Vec<&str> = TABLE.lines().collect();
    let alone = open("t.csv", &lines[..4].join("\n"), &options, &Purpose::Training).unwrap();
    assert_eq!(parts.training.schema, alone.schema);
    assert_eq!(all_named(&parts.training), all_named(&alone));
    let purpose =
        Purpose::Prediction { labels: &alone.names, schema: &alone.schema, features: alone.rows.columns() };
    let rest = format!("{}\n{}\n", lines[0], lines[4..].join("\n"));
    let rest = open("t.csv", &rest, &Options::default(), &purpose).unwrap();
    assert_eq!(all_named(&parts.held_out), all_named(&rest));
}

#[test]
fn faults_of_interactions_are_told_with_a_hint() {
    let vw = "1 |a x |b y\n-1 |a z |b y\n";
    let svmlight = Options { format: Some(Format::Svmlight), ..with(&["ab"]) };
    let csv = |interaction: &str| Options { format: Some(Format::Csv), ..with(&[interaction]) };
    let limited = Options { max_index: 4, ..with(&["ab"]) };
    let wide = format!("1 |a {}\n", (0..3000).map(|j| format!("x{j} ")).collect::<String>());
    let big = "1 |a x:1e200 |b y:1e200\n";
    for (name, text, options, what) in [
        ("t.vw", vw, with(&["a"]), "2 to 8 namespaces"),
        ("t.svm", "1 1:2\n", svmlight, "`interactions` multiplies"),
        ("t.vw", vw, limited, "more than 4 different features"),
        ("t.vw", &wide, with(&["aa"]), "4501500 products"),
        ("t.vw", big, with(&["ab"]), "a product of features is not a finite number"),
        ("t.csv", TABLE, csv("sex*height"), "a column \"height\", which is not there"),
        ("t.csv", TABLE, csv("sex*label"), "holds the labels"),
        ("t.csv", TABLE, csv("sex*sex"), "by itself"),
        ("t.csv", TABLE, csv("sex"), "2 to 8 columns"),
    ] {
        let table = TableOptions { missing: Missing::Zero, ..labelled() };
        let options = if name == "t.csv" { Options { table, ..options } } else { options };
        let error = open(name, text, &options, &Purpose::Training).unwrap_err();
        assert!(error.what().contains(what) && error.advice().is_some(), "{error}");
    }
}

/// A stream's combinations and means are those of its first part, here all of them.
#[test]
fn a_stream_has_the_products_of_a_file() {
    let table = TableOptions { missing: Missing::Mean, ..labelled() };
    let options = Options {
        table,
        interactions: vec!["sex*class".into()],
        format: Some(Format::Csv),
        ..Options::default()
    };
    let input = Input::Bytes { name: "t.csv".into(), bytes: TABLE.as_bytes().into() };
    let stream = Reader::open_stream(&input, &options, &Purpose::Training).unwrap();
    let whole = open("t.csv", TABLE, &options, &Purpose::Training).unwrap();
    assert_eq!(*stream.schema(), whole.schema);
}
