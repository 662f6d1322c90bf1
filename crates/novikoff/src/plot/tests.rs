//! Whatever the numbers and names, a picture is whole.

use super::*;
use crate::loss::LossName;
use proptest::prelude::*;

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0f64,
        1 => prop::sample::select(vec![
            0.0, 1.0, -5e-324, f64::MIN_POSITIVE, 1e-15, 1e15, f64::MAX, f64::MIN,
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY,
        ]),
    ]
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,12}",
        "(?s).{0,40}",
        prop::sample::select(vec![
            "<script>alert(1)</script>".to_owned(),
            "\"><svg onload=x>".to_owned(),
            "]]></style>&amp;&#0;".to_owned(),
            "\u{202e}drow\u{0}\u{7}".to_owned(),
            "x".repeat(10_000),
            "\u{ffff}\u{feff}日本語".to_owned(),
        ]),
    ]
}

/// A small reader of XML: tags match, attributes are quoted, and text has no bare `<` or `&`.
fn check_whole(svg: &str) -> Result<(), TestCaseError> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at])?;
        let end = rest[at..].find('>').map(|end| at + end);
        prop_assert!(end.is_some(), "a tag without an end");
        let tag = &rest[at + 1..end.unwrap()];
        rest = &rest[end.unwrap() + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let opened = open.pop();
            prop_assert_eq!(opened.as_deref(), Some(name));
            continue;
        }
        let name: String = tag.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        let known = ["svg", "g", "title", "desc", "style", "path", "rect", "text"];
        prop_assert!(known.contains(&&name[..]), "no element is called {name:?}");
        prop_assert_eq!(tag.matches('"').count() % 2, 0, "quotation marks of {}", tag);
        prop_assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    check_text(rest)?;
    prop_assert!(open.is_empty(), "left open: {open:?}");
    prop_assert!(!svg.chars().any(|c| c.is_control() && c != '\n'), "control characters");
    Ok(())
}

fn check_text(text: &str) -> Result<(), TestCaseError> {
    for (at, _) in text.match_indices('&') {
        prop_assert!(["&amp;", "&lt;", "&gt;"].iter().any(|entity| text[at..].starts_with(entity)), "{text}");
    }
    Ok(())
}

fn check(picture: &Picture) -> Result<(), TestCaseError> {
    prop_assert!(picture.height > 0.0 && picture.height < 20_000.0);
    check_whole(&picture.file())?;
    check_whole(&picture.inline())
}

fn look(n: u8) -> Look {
    [Look::Line, Look::Dots, Look::Reference][n as usize % 3]
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((any_number(), any_number()), 0..12)
}

proptest! {
    #[test]
    fn charts_are_whole(
        title in any_name(),
        x in any_name(),
        log in any::<(bool, bool)>(),
        panels in prop::collection::vec(
            (any_name(), prop::collection::vec((any_name(), pairs(), 0u8..3), 0..4)),
            0..5,
        ),
    ) {
        let scale = |log: bool| if log { Scale::logarithmic(&x) } else { Scale::even(&x).reaching(&[0.0]) };
        let series =
            |(name, points, n): (String, Vec<(f64, f64)>, u8)| Series { name, points, look: look(n) };
        let panel =
            |(title, all): (String, Vec<_>)| Panel { title, series: all.into_iter().map(series).collect() };
        let panels = panels.into_iter().map(panel).collect();
        check(
            &Chart { title: &title, description: &title, x: scale(log.0), y: scale(log.1), panels }.draw(),
        )?;
    }

    #[test]
    fn regions_are_whole(
        name in any_name(),
        dots in prop::collection::vec((any_number(), any_number(), 0usize..4, any::<(bool, bool)>()), 0..20),
        classes in 2usize..5,
        factors in [any_number(), any_number(), any_number()],
        level in prop::option::of(any_number()),
        cells in 0usize..30,
    ) {
        let dot = |(x, y, class, (support, mistake))| Dot { x, y, class, support, mistake };
        let dots: Vec<Dot> = dots.into_iter().map(dot).collect();
        let outputs = if classes == 2 { 1 } else { classes };
        let [a, b, c] = factors;
        let score = |(x, y): &(f64, f64), k: usize| a * x * x + b * y * k as f64 + c * x * y - k as f64;
        let scores = |places: &[(f64, f64)]| -> Vec<f64> {
            places.iter().flat_map(|place| (0..outputs).map(move |k| score(place, k))).collect()
        };
        let regions = Regions {
            title: &name,
            description: &name,
            axes: [&name; 2],
            classes: &vec![name.clone(); classes],
            dots: &dots,
            scores: &scores,
            levels: level.map(|level| Levels { name: name.clone(), scores: vec![level] }),
            cells,
        };
        check(&regions.draw())?;
        // Scores that are not as many as they should be make an empty picture, and no panic.
        check(&Regions { scores: &|places| vec![1.0; places.len() + 1], ..regions }.draw())?;
    }

    #[test]
    fn points_are_whole(
        name in any_name(),
        dots in prop::collection::vec((any_number(), any_number(), 0usize..2, any::<(bool, bool)>()), 0..20),
        plane in prop::option::of([any_number(), any_number(), any_number()]),
        margin in prop::option::of(any_number()),
    ) {
        let dot = |(x, y, class, (support, mistake))| Dot { x, y, class, support, mistake };
        let dots: Vec<Dot> = dots.into_iter().map(dot).collect();
        let points = Points {
            title: &name,
            description: &name,
            axes: [&name; 2],
            classes: [&name; 2],
            dots: &dots,
            plane,
            margin,
        };
        check(&points.draw())?;
    }

    #[test]
    fn losses_are_whole(
        values in prop::collection::vec(any_number(), 0..40),
        residual in any::<bool>(),
        own in prop::option::of(0usize..7),
    ) {
        let over = if residual { Over::Residual } else { Over::Margin };
        let own = own.map(|n| LossName::ALL[n]);
        check(&Losses { title: "t", description: "d", over, own, values: &values }.draw())?;
    }

    #[test]
    fn descents_are_whole(path in pairs(), shape in 0u8..4) {
        let objective = move |x: f64, y: f64| match shape {
            0 => x * x + y * y,
            1 => f64::NAN,
            2 => 7.0,
            _ => (x - y).exp(),
        };
        check(
            &Descent { title: "t", description: "d", axes: ["a", "b"], path: &path, objective: &objective }
                .draw(),
        )?;
    }

    #[test]
    fn confusions_are_whole(
        labels in prop::collection::vec(any_name(), 0..30),
        counts in prop::collection::vec(prop::collection::vec(0f64..1e9, 0..30), 0..30),
    ) {
        check(&Confusion { title: "t", description: "d", labels: &labels, counts: &counts }.draw())?;
    }

    #[test]
    fn bars_and_images_are_whole(
        bars in prop::collection::vec((any_name(), any_number()), 0..12),
        width in 0usize..9,
    ) {
        let groups = [
            Group { title: "for <b>".into(), bars: bars.clone() },
            Group { title: String::new(), bars: Vec::new() },
        ];
        check(&Bars { title: "t", description: "d", groups: &groups }.draw())?;
        let images: Vec<Image> = (0..bars.len())
            .map(|n| Image { title: bars[n].0.clone(), values: bars.iter().map(|bar| bar.1).collect() })
            .collect();
        check(&Images { title: "t", description: "d", width, images: &images }.draw())?;
    }
}

#[test]
fn names_from_outside_never_stand_in_attributes() {
    let series =
        vec![
            Series { name: "\" onload=\"x".into(), points: vec![(0.0, 1.0), (1.0, 2.0)], look: Look::Line };
            2
        ];
    let panels = vec![Panel { title: "<script>".into(), series }; 2];
    let chart =
        Chart { title: "\" a", description: "\" b", x: Scale::even("\" c"), y: Scale::even("\" d"), panels };
    let svg = chart.draw().file();
    for tag in svg.split('<').filter_map(|part| part.split_once('>')).map(|(tag, _)| tag) {
        assert!(!tag.contains("onload") && !tag.contains("script"), "{tag}");
    }
}

#[test]
fn large_images_become_means_and_keep_their_shape() {
    let image =
        Image { title: "large".into(), values: (0..400 * 200).map(|i| f64::from(i % 400) - 200.0).collect() };
    let svg = Images { title: "t", description: "d", width: 400, images: &[image] }.draw().file();
    assert!(svg.contains("viewBox=\"0 0 80 40\""), "five by five pixels become one");
    assert!(svg.len() < 60_000, "{}", svg.len());
}
