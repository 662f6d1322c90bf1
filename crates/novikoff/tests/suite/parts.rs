//! Several files are one data set: the rows, the model and the errors are those of one file that holds all.

use flate2::Compression;
use flate2::write::GzEncoder;
use novikoff::control::Unwatched;
use novikoff::features::Missing;
use novikoff::model::to_bytes;
use novikoff::read::{Format, Header, Input, Options, Purpose, Reader, TableOptions};
use novikoff::train::{LearnerName, train, train_online};
use novikoff::{Dataset, Error, Result};
use proptest::prelude::*;
use std::io::Write;

/// A kind of file, and how it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Svmlight,
    Vw,
    Text,
    TextWithHeader,
    Jsonl,
    Table,
    /// Columns are meant by their numbers, so that only the values show whether there is a header.
    TableByNumber,
    TableWithoutHeader,
}

const KINDS: [Kind; 8] = [
    Kind::Svmlight,
    Kind::Vw,
    Kind::Text,
    Kind::TextWithHeader,
    Kind::Jsonl,
    Kind::Table,
    Kind::TableByNumber,
    Kind::TableWithoutHeader,
];

const WORDS: [&str; 6] = ["red", "green, or so", "a \"\"word\"\"", "two\nlines", "", "blue"];

impl Kind {
    fn header(self) -> &'static str {
        match self {
            Kind::Table => "a,\"b, c\",word,label\n",
            Kind::TableByNumber => "a,b,word,kind\n",
            Kind::TextWithHeader => "label\ttext\n",
            _ => "",
        }
    }

    fn record(self, (a, b, word, label): (i16, u8, usize, bool)) -> String {
        let label = if label { "yes" } else { "no" };
        let (a, plain) = (f64::from(a) / 8.0, ["red", "green", "blue"][word % 3]);
        match self {
            Kind::Svmlight => format!("{label} 1:{a} {}:1\n", 2 + b),
            Kind::Vw => format!("{} |x {plain}:{a} b{b}\n", if label == "yes" { 1 } else { -1 }),
            Kind::Text | Kind::TextWithHeader => format!("{label}\t{plain} and b{b}\n"),
            Kind::Jsonl => format!("{{\"label\": \"{label}\", \"text\": \"{plain} b{b}\"}}\n"),
            _ => format!("{a},{b},\"{}\",{label}\n", WORDS[word]),
        }
    }

    fn options(self) -> Options {
        let table = match self {
            Kind::Table => TableOptions { missing: Missing::Indicator, ..TableOptions::default() },
            Kind::TableByNumber | Kind::TableWithoutHeader => TableOptions {
                missing: Missing::Indicator,
                label: Some("4".into()),
                header: if self == Kind::TableByNumber { Header::Detect } else { Header::Absent },
                categories: vec!["3".into()],
                ..TableOptions::default()
            },
            _ => TableOptions::default(),
        };
        let format = match self {
            Kind::Svmlight => Format::Svmlight,
            Kind::Vw => Format::Vw,
            Kind::Text | Kind::TextWithHeader => Format::Text,
            Kind::Jsonl => Format::Jsonl,
            _ => Format::Csv,
        };
        Options { table, format: Some(format), ..Options::default() }
    }
}

fn named(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.into(), bytes: text.as_bytes().into() }
}

fn compressed(name: &str, text: &str) -> Input {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    Input::Bytes { name: name.into(), bytes: encoder.finish().unwrap().into() }
}

/// How a part is written.
#[derive(Clone, Copy, Debug)]
struct Form {
    records: usize,
    is_compressed: bool,
    ends_in_a_newline: bool,
    has_mark: bool,
}

fn forms() -> impl Strategy<Value = Vec<Form>> {
    let form = (0usize..30, any::<bool>(), any::<bool>(), any::<bool>());
    let form = form.prop_map(|(records, is_compressed, ends_in_a_newline, has_mark)| Form {
        records,
        is_compressed,
        ends_in_a_newline,
        has_mark,
    });
    prop::collection::vec(form, 1..5)
}

/// The records in parts of these forms; what is left goes into the last one. If the header is repeated, each
/// part starts with it.
fn parts(records: &[String], forms: &[Form], kind: Kind, repeated: bool) -> Input {
    let mut rest = records;
    let mut inputs = Vec::new();
    for (k, form) in forms.iter().enumerate() {
        let count = if k + 1 == forms.len() { rest.len() } else { form.records.min(rest.len()) };
        let (own, others) = rest.split_at(count);
        rest = others;
        let header = if k == 0 || repeated { kind.header() } else { "" };
        let mut text = format!("{}{header}{}", if form.has_mark { "\u{feff}" } else { "" }, own.concat());
        if !form.ends_in_a_newline && text.ends_with('\n') {
            text.pop();
        }
        let name = format!("part {k}");
        inputs.push(if form.is_compressed { compressed(&name, &text) } else { named(&name, &text) });
    }
    Input::Several(inputs)
}

fn model_of(input: &Input, options: &Options) -> Result<(Vec<u8>, String)> {
    let data = Reader::open(input, options, &Purpose::Training)?.read(&mut Unwatched)?;
    let fit = train(&data, None, &LearnerName::Averaged.learner(), &mut Unwatched)?;
    Ok((to_bytes(&fit.model)?, data.fingerprint()))
}

fn online_model_of(input: &Input, options: &Options) -> Result<Vec<u8>> {
    let options = Options { recipe: novikoff::features::text::TextRecipe::stream(), ..options.clone() };
    let reader = Reader::open_stream(input, &options, &Purpose::Training)?;
    to_bytes(&train_online(reader, &LearnerName::Averaged.learner(), &mut Unwatched)?.model)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_give_the_model_of_the_whole(
        values in prop::collection::vec((any::<i16>(), 0u8..9, 0usize..6, any::<bool>()), 30..60),
        forms in forms(),
        repeated in any::<bool>(),
        threads in 1usize..4,
    ) {
        for kind in KINDS {
            let records: Vec<String> = values.iter().map(|value| kind.record(*value)).collect();
            let options = Options { threads, ..kind.options() };
            let whole = named("whole", &format!("{}{}", kind.header(), records.concat()));
            let several = parts(&records, &forms, kind, repeated);
            prop_assert_eq!(model_of(&several, &options), model_of(&whole, &options), "{:?}", kind);
            prop_assert_eq!(
                online_model_of(&several, &options), online_model_of(&whole, &options), "{:?} as a stream", kind
            );
        }
    }

    /// A row that is bad in the whole is bad at its own line of its own part.
    #[test]
    fn a_bad_row_stands_at_its_own_line_of_its_own_file(
        counts in prop::collection::vec(1usize..40, 2..5),
        which in any::<prop::sample::Index>(),
        line in any::<prop::sample::Index>(),
        repeated in any::<bool>(),
        kind in prop::sample::select(vec![Kind::Svmlight, Kind::Vw, Kind::Text, Kind::Table]),
    ) {
        let (which, bad) = (which.index(counts.len()), match kind {
            Kind::Svmlight => "yes 3:x\n",
            Kind::Vw => "1 |x b:c\n",
            Kind::Text => "a line without a tab\n",
            _ => "1,2\n",
        });
        let line = line.index(counts[which]);
        let mut inputs = Vec::new();
        for (k, count) in counts.iter().enumerate() {
            let mut records: Vec<String> =
                (0..*count).map(|i| kind.record((i as i16, 1, i % 3, i % 2 == 0))).collect();
            if k == which {
                records.insert(line, bad.to_owned());
            }
            let header = if k == 0 || repeated { kind.header() } else { "" };
            inputs.push(named(&format!("part {k}"), &format!("{header}{}", records.concat())));
        }
        let has_header = !kind.header().is_empty() && (which == 0 || repeated);
        // Each third record has no newline but its own: the words of the others have none either.
        let expected = (format!("part {which}"), (line + 1 + usize::from(has_header)) as u64);
        let several = Input::Several(inputs);
        let place = |error: Error| error.place().map(|place| (place.file.clone(), place.line));
        for access in [Reader::open, Reader::open_stream] {
            let read = |options: &Options| -> Result<Dataset<'static>> {
                access(&several, options, &Purpose::Training)?.read(&mut Unwatched)
            };
            let options = Options {
                recipe: novikoff::features::text::TextRecipe::stream(), ..kind.options()
            };
            prop_assert_eq!(place(read(&options).unwrap_err()), Some(expected.clone()));
            let skipped = read(&Options { skip_bad_rows: true, ..options }).unwrap();
            prop_assert_eq!(skipped.report.bad_rows, 1);
            let start = format!("{}:{}:", expected.0, expected.1);
            prop_assert!(skipped.report.first_bad[0].starts_with(&start), "{}", skipped.report.first_bad[0]);
        }
    }
}

/// Many blocks, cut in the middle of some.
#[test]
fn large_parts_are_read_by_many_threads_like_the_whole() {
    for kind in [Kind::Svmlight, Kind::Table] {
        let record =
            |i: u32| kind.record(((i % 9_973) as i16, (i % 7) as u8, i as usize % 3, i.is_multiple_of(3)));
        let records: Vec<String> = (0..60_000).map(record).collect();
        let whole = named("whole", &format!("{}{}", kind.header(), records.concat()));
        let form = |records, is_compressed| Form {
            records,
            is_compressed,
            ends_in_a_newline: false,
            has_mark: true,
        };
        let forms = [form(10, false), form(29_000, true), form(17, false), form(0, false), form(0, true)];
        let several = parts(&records, &forms, kind, true);
        for threads in [1, 3] {
            let options = Options { threads, ..kind.options() };
            assert_eq!(model_of(&several, &options), model_of(&whole, &options), "{kind:?}");
            let layout = |input| {
                let data = Reader::open(input, &options, &Purpose::Training).unwrap().read(&mut Unwatched);
                let data = data.unwrap();
                (data.rows.is_dense(), data.rows.is_single(), data.rows.bytes())
            };
            assert_eq!(layout(&several), layout(&whole), "{kind:?}");
        }
    }
}

fn error_of(parts: &[(&str, &str)], options: &Options) -> Error {
    let inputs = parts.iter().map(|(name, text)| named(name, text)).collect();
    let read = |input: &Input| Reader::open(input, options, &Purpose::Training)?.read(&mut Unwatched);
    read(&Input::Several(inputs)).unwrap_err()
}

#[test]
fn parts_with_other_columns_are_refused_with_file_and_column() {
    let first = ("a.csv", "x,z,label\n1,2,p\n3,4,q\n");
    let default = Options::default();
    for (text, expected) in [
        ("x,label\n1,p\n", "b.csv:1:1: a.csv has the column \"z\", and this file has not"),
        ("x,z,more,label\n1,2,3,p\n", "b.csv:1:5: a.csv has no column \"more\""),
        ("\nx,label,z\n1,p,2\n", "b.csv:2:3: the columns stand in another order than in a.csv"),
        ("1,2,p\n1,2,3,p\n", "b.csv:2:7: this row has 4 fields, the table has 3 columns"),
        (
            "1,2,p\nu,2,p\n",
            "b.csv:2:1: 1 of 4 values of column \"x\" is not a number: \"u\" (line 2 of b.csv)",
        ),
    ] {
        let skewed = [first, ("b.csv", text)];
        assert_eq!(error_of(&skewed, &default).to_string(), expected);
    }
}

/// Otherwise the rows up to the next quote, in another file, would be one field.
#[test]
fn a_file_that_ends_within_quotes_is_an_error() {
    let rows = "1,u,p\n".repeat(90_000);
    let first = format!("x,z,label\n{rows}");
    let second = format!("{rows}1,\"a\n{rows}");
    let third = format!("{rows}1,\"a\",p\n");
    let table = [("a.csv", &*first), ("b.csv", &*second), ("c.csv", &*third)];
    let error = error_of(&table, &Options::default());
    assert_eq!(error.to_string(), "b.csv:180001:1: this file ends within a field in quotes");
    assert!(error_of(&[("a.csv", &first), ("c.csv", "1,\"a,p\n")], &Options::default()).place().is_some());
}

#[test]
fn parts_of_several_formats_are_refused() {
    let csv = ("a.csv", "x,z,label\n1,2,p\n3,4,q\n");
    let default = Options::default();
    for other in [("b.svm", "1 1:2\n"), ("b", "1 1:2\n"), ("b.jsonl", "{\"label\": 1, \"text\": \"a\"}\n")] {
        let error = error_of(&[csv, other], &default);
        assert!(error.what().ends_with("and a.csv is csv"), "{error}");
        assert_eq!(error.place().unwrap().file, other.0);
    }
    let error = error_of(&[("a.svm", "1 1:2\n"), csv], &default);
    assert_eq!(error.to_string(), "a.csv:1:1: this is csv, and a.svm is svmlight");
}

#[test]
fn an_error_of_all_rows_names_all_files_and_damage_the_damaged_one() {
    let no_rows = error_of(&[("a.svm", "# nothing\n"), ("b.svm", "# more of it\n")], &Options::default());
    assert_eq!(no_rows.to_string(), "a.svm, b.svm: there are no rows in it");
    let text = "1 1:2\n".repeat(100_000);
    let Input::Bytes { bytes, .. } = compressed("b.svm", &text) else { unreachable!() };
    let damaged = Input::Bytes { name: "b.svm".into(), bytes: bytes[..bytes.len() - 90].into() };
    let several = Input::Several(vec![named("a.svm", &text), damaged]);
    let reader = Reader::open(&several, &Options::default(), &Purpose::Training).unwrap();
    let error = reader.read(&mut Unwatched).unwrap_err();
    assert_eq!(error.place().unwrap().file, "b.svm");
    assert!(error.what().contains("gzip data ends too early"), "{error}");
}

#[test]
fn a_file_that_is_there_twice_is_warned_of_and_empty_ones_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.svm"), "1 1:2\n-1 1:3").unwrap();
    std::fs::write(path("none.svm"), "").unwrap();
    let twice = [path("none.svm"), path("a.svm"), folder.path().join("./a.svm")];
    let data = Dataset::read_all(&twice).unwrap();
    assert_eq!((data.len(), data.report.warnings.len()), (4, 2));
    assert!(data.report.warnings[0].contains("a.svm is there twice"), "{:?}", data.report.warnings);
    assert!(data.report.warnings[1].ends_with("none.svm is empty"), "{:?}", data.report.warnings);
    assert!(Dataset::read_all(&[path("none.svm"), path("none.svm")]).is_err());
    assert!(Dataset::read_all(Vec::<String>::new()).is_err());
}

#[test]
fn several_folders_of_documents_are_one_collection() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (k, part) in ["one", "two"].iter().enumerate() {
        write(&format!("{part}/ham/1"), &format!("see you at {k}"));
        write(&format!("{part}/spam/1"), &format!("win a prize {k}"));
    }
    let both = Dataset::read_all([folder.path().join("one"), folder.path().join("two")]).unwrap();
    assert_eq!((both.len(), both.names.len()), (4, 2));
    write("two/spam/1", "win a \u{fffd}prize");
    std::fs::write(folder.path().join("two/spam/1"), b"win\na \xff prize").unwrap();
    let error = Dataset::read_all([folder.path().join("one"), folder.path().join("two")]).unwrap_err();
    let place = error.place().unwrap();
    assert!(place.file.ends_with("two/spam/1") && (place.line, place.column) == (2, 3), "{error}");
}

#[test]
fn a_model_reads_tables_in_parts_by_their_names() {
    let table = "x,word,label\n1,u,p\n3,v,q\n2,u,p\n5,v,q\n";
    let data = Reader::open(&named("t", table), &Kind::Table.options(), &Purpose::Training).unwrap();
    let data = data.read(&mut Unwatched).unwrap();
    let model = train(&data, None, &LearnerName::Averaged.learner(), &mut Unwatched).unwrap().model;
    let read = |parts: &[(&str, &str)]| {
        let several = Input::Several(parts.iter().map(|(name, text)| named(name, text)).collect());
        Reader::open(&several, &Options::default(), &model.for_prediction())?.read(&mut Unwatched)
    };
    let whole = read(&[("a", "word,x\nu,1\nv,3\nu,4\n")]).unwrap();
    for second in ["word,x\nu,4\n", "u,4\n"] {
        let several = read(&[("a", "word,x\nu,1\nv,3\n"), ("b", second)]).unwrap();
        assert_eq!(several.fingerprint(), whole.fingerprint());
    }
    let error = read(&[("a", "word,x\nu,1\n"), ("b", "x,word\n1,u\n")]).unwrap_err();
    assert_eq!(error.to_string(), "b:1:1: the columns stand in another order than in a");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_files_of_columns_are_an_error_that_says_so() {
    let file = Input::Bytes { name: "t.parquet".into(), bytes: (*b"PAR1 and more").into() };
    let reader = Reader::open(&file, &Options::default(), &Purpose::Training);
    let error = reader.err().unwrap();
    assert_eq!(
        error.to_string(),
        "t.parquet: this is parquet, and novikoff was built without Parquet and Arrow"
    );
}
