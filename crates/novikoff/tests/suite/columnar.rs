//! Tables in files of Parquet and Arrow: the same as in CSV, and whatever is damaged is an error.

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use novikoff::control::Unwatched;
use novikoff::features::Missing;
use novikoff::model::to_bytes;
use novikoff::read::{Header, Input, Options, Purpose, Reader, TableOptions};
use novikoff::train::{LearnerName, train, train_online};
use novikoff::{Dataset, Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use std::sync::Arc;

/// A row: a number, a count, a word, a flag and the label.
type Line = (Option<f64>, Option<i32>, Option<usize>, Option<bool>, bool);

const WORDS: [&str; 7] = ["red", "green, or so", "a \"word\"", "two\nlines", "", "blue", "7"];
const NAMES: [&str; 5] = ["number", "count", "the word", "flag", "label"];

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let number = prop::option::weighted(0.9, -1e3..1e3f64);
    let count = prop::option::weighted(0.9, any::<i32>());
    let word = prop::option::weighted(0.9, 0..WORDS.len());
    prop::collection::vec(
        (number, count, word, prop::option::weighted(0.9, any::<bool>()), any::<bool>()),
        8..60,
    )
}

fn label(is_yes: bool) -> &'static str {
    if is_yes { "yes" } else { "no" }
}

fn batch(lines: &[Line]) -> RecordBatch {
    let columns: [ArrayRef; 5] = [
        Arc::new(lines.iter().map(|line| line.0).collect::<Float64Array>()),
        Arc::new(lines.iter().map(|line| line.1).collect::<Int32Array>()),
        Arc::new(lines.iter().map(|line| line.2.map(|word| WORDS[word])).collect::<StringArray>()),
        Arc::new(lines.iter().map(|line| line.3).collect::<BooleanArray>()),
        Arc::new(lines.iter().map(|line| Some(label(line.4))).collect::<StringArray>()),
    ];
    let named = NAMES.into_iter().zip(columns).map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(named).unwrap()
}

fn csv(lines: &[Line]) -> Vec<u8> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = NAMES.join(",") + "\n";
    for (number, count, word, flag, is_yes) in lines {
        let number = number.map_or(String::new(), |number| format!("{number:?}"));
        let count = count.map_or(String::new(), |count| count.to_string());
        let word = word.map_or(String::new(), |word| quoted(WORDS[word]));
        let flag = flag.map_or(String::new(), |flag| flag.to_string());
        text += &format!("{number},{count},{word},{flag},{}\n", label(*is_yes));
    }
    text.into_bytes()
}

fn parquet(batch: &RecordBatch, compression: Compression, rows_of_a_group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(rows_of_a_group))
        .set_data_page_row_count_limit(7)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow(batch: &RecordBatch, compression: Option<CompressionType>, is_file: bool) -> Vec<u8> {
    let options = || IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let half = batch.num_rows() / 2;
    let parts = [batch.slice(0, half), batch.slice(half, batch.num_rows() - half)];
    if is_file {
        let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options()).unwrap();
        parts.iter().for_each(|part| file.write(part).unwrap());
        return file.into_inner().unwrap();
    }
    let mut stream = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options()).unwrap();
    parts.iter().for_each(|part| stream.write(part).unwrap());
    stream.into_inner().unwrap()
}

/// The table in every format, with each compression.
fn files(lines: &[Line]) -> Vec<(String, Vec<u8>)> {
    let batch = batch(lines);
    let of_parquet = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(Default::default()),
    ];
    let of_arrow = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    let parquets = of_parquet.into_iter().map(|it| (format!("{it}.parquet"), parquet(&batch, it, 13)));
    let files = of_arrow.into_iter().map(|it| (format!("{it:?}.feather"), arrow(&batch, it, true)));
    let streams = of_arrow.into_iter().map(|it| (format!("{it:?}.arrows"), arrow(&batch, it, false)));
    parquets.chain(files).chain(streams).collect()
}

fn input(name: &str, bytes: &[u8]) -> Input {
    Input::Bytes { name: name.into(), bytes: bytes.into() }
}

/// The table in memory, in batches of these.
fn memory(batch: &RecordBatch, rows: usize, header: Header) -> Input {
    let starts = (0..batch.num_rows()).step_by(rows);
    let batches = starts.map(|at| batch.slice(at, rows.min(batch.num_rows() - at))).collect();
    Input::Columns { name: "memory".into(), schema: batch.schema(), batches, header }
}

/// The table in every form.
fn inputs(lines: &[Line]) -> Vec<(String, Input)> {
    let held = ("memory".to_owned(), memory(&batch(lines), 7, Header::Present));
    let files = files(lines).into_iter().map(|(name, bytes)| {
        let file = input(&name, &bytes);
        (name, file)
    });
    files.chain([held]).collect()
}

fn options() -> Options {
    let table = TableOptions {
        missing: Missing::Indicator,
        categories: vec!["the word".into()],
        numbers: vec!["number".into(), "count".into()],
        ..TableOptions::default()
    };
    Options { table, ..Options::default() }
}

fn read(input: &Input, options: &Options) -> Result<Dataset<'static>> {
    Reader::open(input, options, &Purpose::Training)?.read(&mut Unwatched)
}

fn model_of(data: &Dataset) -> Vec<u8> {
    let fit = train(data, None, &LearnerName::Averaged.learner(), &mut Unwatched).unwrap();
    to_bytes(&fit.model).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_table_is_the_same_in_every_format(mut lines in lines()) {
        (lines[0].4, lines[1].4) = (true, false);
        (lines[0].0, lines[0].1) = (Some(0.1), Some(3));
        let text = input("t.csv", &csv(&lines));
        let expected = read(&text, &options()).unwrap();
        let online = |input: &Input| {
            let reader = Reader::open_stream(input, &options(), &Purpose::Training)?;
            to_bytes(&train_online(reader, &LearnerName::Averaged.learner(), &mut Unwatched)?.model)
        };
        let model = train(&expected, None, &LearnerName::Averaged.learner(), &mut Unwatched).unwrap().model;
        let applied = |input: &Input| {
            let reader = Reader::open(input, &Options::default(), &model.for_evaluation())?;
            Ok::<_, Error>(reader.read(&mut Unwatched)?.fingerprint())
        };
        for (name, file) in inputs(&lines) {
            let data = read(&file, &options()).unwrap();
            prop_assert_eq!(&data.schema, &expected.schema, "{}", name);
            prop_assert_eq!(data.fingerprint(), expected.fingerprint(), "{}", name);
            prop_assert_eq!(model_of(&data), model_of(&expected), "{}", name);
            prop_assert_eq!(online(&file), online(&text), "{} as a stream", name);
            prop_assert_eq!(applied(&file), applied(&text), "{} applied", name);
        }
    }

    #[test]
    fn several_files_of_columns_are_one_table(mut lines in lines(), cut in any::<prop::sample::Index>()) {
        (lines[0].4, lines[1].4) = (true, false);
        (lines[0].0, lines[0].1) = (Some(0.1), Some(3));
        let expected = read(&input("t.csv", &csv(&lines)), &options()).unwrap();
        let (first, second) = lines.split_at(cut.index(lines.len()));
        for ((name, one), (_, other)) in files(first).into_iter().zip(files(second)) {
            let both = Input::Several(vec![input("a", &one), input("b", &other)]);
            let data = read(&both, &options()).unwrap();
            prop_assert_eq!(data.fingerprint(), expected.fingerprint(), "{}", name);
        }
    }

    /// A damaged file gives rows or an error: neither a panic nor an end of the process.
    #[test]
    fn damaged_files_are_rows_or_errors(
        lines in lines(),
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut files = files(&lines);
        let (name, mut bytes) = files.swap_remove(which.index(files.len()));
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        if let Err(error) = read(&input(&name, &bytes), &options()) {
            prop_assert!(error.place().is_some(), "{error}");
        }
    }
}

fn example() -> Vec<Line> {
    (0..40)
        .map(|i| (Some(f64::from(i) / 4.0), Some(i * i % 7), Some(i as usize % 3), None, i % 2 == 0))
        .collect()
}

#[test]
fn errors_name_the_row_and_the_number_of_the_column() {
    let mut lines = example();
    lines[5].2 = Some(3);
    lines[30].1 = None;
    for (name, file) in inputs(&lines) {
        let strict = TableOptions { drop: vec!["flag".into()], ..TableOptions::default() };
        let strict = Options { table: strict, ..Options::default() };
        let error = read(&file, &strict).unwrap_err();
        assert_eq!(error.to_string(), format!("{name}:31:2: the value of column \"count\" is missing"));
        let data = read(&file, &Options { skip_bad_rows: true, ..strict.clone() }).unwrap();
        assert_eq!((data.len(), data.report.bad_rows), (39, 1));
        assert!(
            data.report.first_bad[0].starts_with(&format!("{name}:31:2:")),
            "{:?}",
            data.report.first_bad
        );
        let both = Input::Several(vec![input("other", &files(&example())[0].1), file]);
        let Err(error) = read(&both, &strict) else { continue };
        if name.ends_with(".parquet") {
            assert_eq!(error.place().map(|place| (place.line, place.column)), Some((31, 2)), "{error}");
        } else {
            assert!(error.what().contains("and other is parquet"), "{error}");
        }
    }
}

#[test]
fn columns_in_memory_without_names_go_by_their_numbers() {
    let batch = batch(&example());
    let own = TableOptions {
        label: Some("5".into()),
        categories: vec!["3".into()],
        missing: Missing::Indicator,
        ..TableOptions::default()
    };
    let options = Options { table: own.clone(), ..Options::default() };
    let data = read(&memory(&batch, 11, Header::Absent), &options).unwrap();
    let text = csv(&example());
    let rows = &text[text.iter().position(|byte| *byte == b'\n').unwrap() + 1..];
    let headless = Options { table: TableOptions { header: Header::Absent, ..own }, ..Options::default() };
    let expected = read(&input("t.csv", rows), &headless).unwrap();
    assert_eq!((&data.schema, data.fingerprint()), (&expected.schema, expected.fingerprint()));
    let model = train(&data, None, &LearnerName::Averaged.learner(), &mut Unwatched).unwrap().model;
    let reader =
        |header| Reader::open(&memory(&batch, 40, header), &Options::default(), &model.for_evaluation());
    for header in [Header::Absent, Header::Present] {
        assert_eq!(reader(header).unwrap().read(&mut Unwatched).unwrap().len(), batch.num_rows());
    }
}

#[test]
fn a_value_that_is_no_number_is_told_with_its_row() {
    let words: Vec<Option<&str>> = (0..40).map(|i| if i == 9 { Some("1.2.3") } else { Some("5") }).collect();
    let columns: [(&str, ArrayRef, bool); 2] = [
        ("a", Arc::new(StringArray::from(words)), true),
        ("label", Arc::new((0..40).map(|i| Some(i % 2)).collect::<Int32Array>()), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = input("t.parquet", &parquet(&batch, Compression::SNAPPY, 100));
    let error = read(&file, &Options::default()).unwrap_err();
    let what = "t.parquet:10:1: 1 of 40 values of column \"a\" is not a number: \"1.2.3\" (row 10)";
    assert_eq!(error.to_string(), what);
}

#[test]
fn a_damaged_page_is_told_with_its_column_and_row_group() {
    let mut bytes = parquet(&batch(&example()), Compression::UNCOMPRESSED, 20);
    // The second row group's words.
    let at = bytes.windows(12).rposition(|part| part == b"green, or so").unwrap();
    bytes[at] = 0xff;
    let error = read(&input("t.parquet", &bytes), &options()).unwrap_err();
    assert!(error.what().contains("column \"the word\" of row group 2"), "{error}");
    assert_eq!(error.place().unwrap().file, "t.parquet");
}

#[test]
fn a_buffer_that_claims_to_be_huge_is_refused_before_memory_is_taken() {
    let bytes = arrow(&batch(&example()), Some(CompressionType::ZSTD), false);
    // Twenty doubles of a batch.
    let size = 160u64.to_le_bytes();
    let claims: Vec<usize> = (0..bytes.len() - 8).filter(|at| bytes[*at..].starts_with(&size)).collect();
    let mut refused = 0;
    for at in claims {
        let mut forged = bytes.clone();
        forged[at + 6] = 0x10;
        let Err(error) = read(&input("t.arrow", &forged), &options()) else { continue };
        refused += usize::from(error.what().contains("of memory"));
        assert!(error.what().contains("of memory") || error.what().contains("damaged"), "{error}");
    }
    assert!(refused > 0);
}

#[test]
fn options_for_text_and_files_without_columns_are_refused() {
    let file = input("t.parquet", &files(&example())[1].1);
    for table in [
        TableOptions { delimiter: Some(b';'), ..TableOptions::default() },
        TableOptions { header: Header::Absent, ..TableOptions::default() },
    ] {
        let error = read(&file, &Options { table, ..Options::default() }).unwrap_err();
        assert!(error.what().ends_with("are for tables that are text"), "{error}");
    }
    let feather = read(&input("t.feather", b"FEA1 and so on"), &Options::default()).unwrap_err();
    assert!(feather.what().contains("version 1 of Feather"), "{feather}");
    for name in ["t.parquet", "t.arrow"] {
        let error = read(&input(name, b"a,b\n1,2\n"), &Options::default()).unwrap_err();
        assert!(error.what().contains("data is damaged"), "{error}");
    }
}
