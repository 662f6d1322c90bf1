//! Reading numbers to be predicted, from every format that has them.

use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::features::Schema;
use novikoff::read::{Input, Options, Purpose, Reader};
use novikoff::{Error, Result};
use proptest::prelude::*;

fn read(name: &str, text: &str, options: &Options, purpose: &Purpose<'_>) -> Result<Dataset<'static>> {
    let input = Input::Bytes { name: name.into(), bytes: text.as_bytes().into() };
    Reader::open(&input, options, purpose)?.read(&mut Unwatched)
}

fn refused(name: &str, text: &str) -> Error {
    read(name, text, &Options::default(), &Purpose::TrainingOnTargets).unwrap_err()
}

proptest! {
    /// The numbers come back to the bit, in whatever format they stand, more often than once or not.
    #[test]
    fn targets_come_back_as_they_were_written(
        targets in prop::collection::vec(
            prop_oneof![any::<i16>().prop_map(f64::from), -1e9..1e9f64, -1e-9..1e-9f64],
            1..50,
        ),
    ) {
        let lines = |line: &dyn Fn(f64) -> String| targets.iter().map(|y| line(*y)).collect::<String>();
        let files = [
            ("rows.svm", lines(&|y| format!("{y} 1:1\n"))),
            ("rows.vw", lines(&|y| format!("{y} | a\n"))),
            ("rows.csv", format!("x,y\n{}", lines(&|y| format!("1,{y}\n")))),
        ];
        for (name, text) in files {
            let data = read(name, &text, &Options::default(), &Purpose::TrainingOnTargets).unwrap();
            prop_assert_eq!(&data.targets().unwrap(), &targets, "{}", name);
            let (schema, features) = (&data.schema, data.rows.columns());
            let again =
                read(name, &text, &Options::default(), &Purpose::EvaluationOnTargets { schema, features })
                    .unwrap();
            prop_assert_eq!(&again.targets().unwrap(), &targets, "{}", name);
        }
    }
}

#[test]
fn a_target_that_is_no_number_is_an_error_with_its_place() {
    for (name, text, place) in [
        ("a.svm", "1.5 1:1\ncheap 1:2\n", "a.svm:2:1"),
        ("a.vw", "1.5 | a\ncheap | b\n", "a.vw:2:1"),
        ("a.csv", "x,y\n1,1.5\n2,cheap\n", "a.csv:3:3"),
    ] {
        let error = refused(name, text);
        assert_eq!(error.to_string(), format!("{place}: the target \"cheap\" is not a number"));
        assert!(error.advice().unwrap().contains("label column"), "{error}");
    }
    // Words for what is no number are no numbers either.
    for word in ["nan", "inf", "-infinity", "1e999"] {
        assert!(
            refused("a.svm", &format!("1 1:1\n{word} 1:2\n")).to_string().starts_with("a.svm:2:1: "),
            "{word}"
        );
    }
}

#[test]
fn bad_targets_may_be_left_out() {
    let options = Options { skip_bad_rows: true, ..Options::default() };
    let data = read("a.svm", "1.5 1:1\ncheap 1:2\n2.5 1:3\n", &options, &Purpose::TrainingOnTargets).unwrap();
    assert_eq!((data.targets().unwrap(), data.report.bad_rows), (vec![1.5, 2.5], 1));
}

#[test]
fn rows_to_measure_by_need_targets() {
    let purpose = Purpose::EvaluationOnTargets { schema: &Schema::one_based(), features: 2 };
    let error = read(
        "a.svm",
        "1:1 2:3\n",
        &Options { format: Some(novikoff::read::Format::Svmlight), ..Options::default() },
        &purpose,
    );
    assert!(error.unwrap_err().to_string().starts_with("a.svm:1:1: "));
}
