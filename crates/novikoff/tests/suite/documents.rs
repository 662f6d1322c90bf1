//! Documents to rows: against a naive oracle, in every format, by every way of numbering; and text that means
//! harm.

use novikoff::control::Unwatched;
use novikoff::data::{Dataset, Labels};
use novikoff::features::Schema;
use novikoff::features::text::{Counting, Lengths, TextRecipe};
use novikoff::model::{self, About, Model, Scorer, Scratch, Weights, explain};
use novikoff::multiclass::decide;
use novikoff::read::{Format, Input, Options, Purpose, Reader, TableOptions};
use novikoff::train::{LearnerName, train, train_online};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use unicode_segmentation::UnicodeSegmentation;

fn input(text: impl Into<Vec<u8>>) -> Input {
    Input::Bytes { name: "mail".into(), bytes: text.into().into() }
}

fn options(format: Format, recipe: &TextRecipe) -> Options {
    Options { format: Some(format), recipe: recipe.clone(), threads: 2, ..Options::default() }
}

fn read(text: &str, recipe: &TextRecipe) -> Dataset<'static> {
    Reader::open(&input(text), &options(Format::Text, recipe), &Purpose::Training)
        .unwrap()
        .read(&mut Unwatched)
        .unwrap()
}

/// The rows by name.
fn named(data: &Dataset) -> Vec<(String, BTreeMap<String, f64>)> {
    let row = |i: usize| {
        let mut row = BTreeMap::new();
        data.rows.row(i).for_each_nonzero(|j, x| {
            row.insert(data.schema.name(j), x);
        });
        (data.names.names()[data.labels[i] as usize].clone(), row)
    };
    (0..data.len()).map(row).collect()
}

/// Terms and values of documents by the textbook.
fn oracle(documents: &[&str], recipe: &TextRecipe) -> Vec<BTreeMap<String, f64>> {
    let lengths = recipe.words.unwrap();
    let counts: Vec<BTreeMap<String, f64>> = documents
        .iter()
        .map(|document| {
            let lower = |word: &str| if recipe.keep_case { word.to_owned() } else { word.to_lowercase() };
            let words: Vec<String> =
                document.unicode_words().map(lower).filter(|w| !recipe.stop_words.contains(w)).collect();
            let mut counts = BTreeMap::new();
            for length in lengths.from..=lengths.to {
                for run in words.windows(length.into()) {
                    *counts.entry(run.join(" ")).or_insert(0.0) += 1.0;
                }
            }
            counts
        })
        .collect();
    let with = |term: &str| counts.iter().filter(|row| row.contains_key(term)).count() as f64;
    let all = documents.len() as f64;
    let value = |row: &BTreeMap<String, f64>| {
        let mut row: BTreeMap<String, f64> = row
            .iter()
            .filter(|(term, _)| {
                with(term) >= recipe.min_documents as f64 && with(term) <= recipe.max_share * all
            })
            .map(|(term, count)| {
                let value = match recipe.counting {
                    Counting::Counts => *count,
                    Counting::Binary => 1.0,
                    Counting::Sublinear => 1.0 + count.ln(),
                };
                (
                    term.clone(),
                    if recipe.idf { value * (1.0 + ((1.0 + all) / (1.0 + with(term))).ln()) } else { value },
                )
            })
            .collect();
        let length = row.values().map(|x| x * x).sum::<f64>().sqrt();
        if recipe.unit_length {
            row.values_mut().for_each(|x| *x /= length);
        }
        row
    };
    counts.iter().map(value).collect()
}

fn recipe() -> impl Strategy<Value = TextRecipe> {
    let counting = prop::sample::select(vec![Counting::Counts, Counting::Binary, Counting::Sublinear]);
    let words = prop::sample::select(vec![(1, 1), (1, 2), (2, 3)]);
    let parts =
        (words, any::<bool>(), any::<bool>(), counting, any::<bool>(), any::<bool>(), 1u64..3, any::<bool>());
    parts.prop_map(|((from, to), keep_case, stop, counting, idf, unit_length, min_documents, frequent)| {
        TextRecipe {
            words: Some(Lengths { from, to }),
            characters: None,
            keep_case,
            stop_words: if stop { vec!["a".into()] } else { Vec::new() },
            counting,
            idf,
            unit_length,
            min_documents,
            max_share: if frequent { 1.0 } else { 0.6 },
        }
    })
}

fn documents() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("([abcAé]{1,2}[ ,.]{1,2}){0,8}", 1..12)
}

fn lines(documents: &[String]) -> String {
    documents
        .iter()
        .zip(["ham", "spam"].iter().cycle())
        .map(|(text, label)| format!("{label}\t{text}\n"))
        .collect()
}

fn assert_close(found: &BTreeMap<String, f64>, expected: &BTreeMap<String, f64>) {
    assert!(found.keys().eq(expected.keys()), "{found:?} {expected:?}");
    for (a, b) in found.values().zip(expected.values()) {
        assert!((a - b).abs() <= 1e-6 * b.abs(), "{a} {b}");
    }
}

proptest! {
    #[test]
    fn values_are_those_of_the_textbook(documents in documents(), recipe in recipe()) {
        let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
        let expected = oracle(&texts, &recipe);
        let input = input(lines(&documents));
        let found = Reader::open(&input, &options(Format::Text, &recipe), &Purpose::Training)
            .unwrap()
            .read(&mut Unwatched);
        if expected.iter().all(BTreeMap::is_empty) {
            prop_assert!(found.is_err());
            return Ok(());
        }
        let found = found.unwrap();
        for ((_, found), expected) in named(&found).iter().zip(&expected) {
            assert_close(found, expected);
        }
    }

    #[test]
    fn a_model_reads_what_training_read(
        documents in documents(),
        recipe in recipe(),
        bits in prop::option::of(8u8..12),
    ) {
        let recipe = match bits {
            Some(_) => TextRecipe { min_documents: 1, max_share: 1.0, ..recipe },
            None => recipe,
        };
        let options = Options { hash_bits: bits, ..options(Format::Text, &recipe) };
        let text = input(lines(&documents));
        let Ok(data) = Reader::open(&text, &options, &Purpose::Training).unwrap().read(&mut Unwatched) else {
            return Ok(());
        };
        let (schema, features) = (&data.schema, data.rows.columns());
        let purpose = Purpose::Evaluation { labels: &data.names, schema, features };
        let again = Reader::open(&text, &Options::default(), &purpose).unwrap().read(&mut Unwatched).unwrap();
        prop_assert_eq!(&data.rows, &again.rows);
        prop_assert_eq!(&data.labels, &again.labels);
        // Labels before the text, or none.
        let bare = input(documents.iter().map(|text| format!("{text}\n")).collect::<String>());
        for text in [text, bare] {
            let purpose = Purpose::Prediction { labels: &data.names, schema, features };
            let options = Options { format: Some(Format::Text), ..Options::default() };
            let again = Reader::open(&text, &options, &purpose).unwrap().read(&mut Unwatched).unwrap();
            prop_assert_eq!(&data.rows, &again.rows);
        }
    }

    #[test]
    fn every_format_says_the_same(documents in documents(), recipe in recipe()) {
        let expected =
            Reader::open(&input(lines(&documents)), &options(Format::Text, &recipe), &Purpose::Training)
                .unwrap();
        let Ok(expected) = expected.read(&mut Unwatched) else { return Ok(()) };
        let label = |i: usize| ["ham", "spam"][i % 2];
        let numbered = || documents.iter().enumerate();
        let json: String = numbered()
            .map(|(i, text)| format!("{}\n", serde_json::json!({"id": [i], "text": text, "label": label(i)})))
            .collect();
        let csv: String = numbered().map(|(i, text)| format!("{},\"{text}\"\n", label(i))).collect();
        let fast: String = numbered().map(|(i, text)| format!("__label__{} {text}\n", label(i))).collect();
        let table = TableOptions { text: vec!["words".into()], ..TableOptions::default() };
        for (text, options) in [
            (json, options(Format::Jsonl, &recipe)),
            (format!("class,words\n{csv}"), Options { table, ..options(Format::Csv, &recipe) }),
            (fast, options(Format::Text, &recipe)),
        ] {
            let found = Reader::open(&input(text), &options, &Purpose::Training)
                .unwrap()
                .read(&mut Unwatched)
                .unwrap();
            prop_assert_eq!(named(&found), named(&expected));
        }
    }

    #[test]
    fn a_stream_with_a_dictionary_is_the_collection(documents in documents(), recipe in recipe()) {
        let recipe = TextRecipe { idf: false, min_documents: 1, max_share: 1.0, ..recipe };
        let text = lines(&documents);
        let whole =
            Reader::open(&input(text.clone()), &options(Format::Text, &recipe), &Purpose::Training).unwrap();
        let Ok(whole) = whole.read(&mut Unwatched) else { return Ok(()) };
        let options = Options { hash_bits: Some(0), ..options(Format::Text, &recipe) };
        let stream = Reader::open_stream(&input(text), &options, &Purpose::Training)
            .unwrap()
            .read(&mut Unwatched)
            .unwrap();
        prop_assert_eq!(named(&stream), named(&whole));
    }

    #[test]
    fn what_is_held_back_has_no_say(
        documents in prop::collection::vec("([a-d]{1,2} ){0,8}", 4..20),
        recipe in recipe(),
        seed in any::<u64>(),
    ) {
        let text = lines(&documents);
        let open = || {
            Reader::open(&input(text.clone()), &options(Format::Text, &recipe), &Purpose::Training).unwrap()
        };
        let Ok((kept, held)) = open().read_split(0.3, seed, &mut Unwatched) else { return Ok(()) };
        prop_assert_eq!(kept.len() + held.len(), documents.len());
        // The same split of the rows as they are: the lines that are kept.
        let Ok(all) = open().read(&mut Unwatched) else { return Ok(()) };
        let numbers: Vec<f64> = (0..all.len()).map(|i| i as f64).collect();
        let (kept_numbers, _) = Dataset { row_weights: numbers, ..all }.split(0.3, seed).unwrap();
        let line: Vec<&str> = text.lines().collect();
        let kept_lines: String =
            kept_numbers.row_weights.iter().map(|&i| format!("{}\n", line[i as usize])).collect();
        prop_assert_eq!(named(&kept), named(&read(&kept_lines, &recipe)));
    }
}

#[test]
fn a_folder_of_files_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("ham/1.txt", b"See you\nat five");
    write("ham/more/2.txt", b"Thanks,\tsee you");
    write("spam/1", b"You won\r\na prize");
    write("README", b"no document");
    write("ham/.hidden", b"no document");
    let recipe = TextRecipe::default();
    let open = |purpose: &Purpose<'_>| {
        Reader::open(
            &Input::named(folder.path()),
            &Options { recipe: recipe.clone(), ..Options::default() },
            purpose,
        )
    };
    let found = open(&Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
    let expected = read("ham\tSee you at five\nham\tThanks, see you\nspam\tYou won a prize\n", &recipe);
    assert_eq!(named(&found), named(&expected));
    // To predict, it does not matter where the files are: README, then those in folders.
    let purpose =
        Purpose::Prediction { labels: &found.names, schema: &found.schema, features: found.rows.columns() };
    let again = open(&purpose).unwrap().read(&mut Unwatched).unwrap();
    assert_eq!(again.len(), 4);
    assert_eq!(again.rows.select([1, 2, 3]), found.rows);
    // A file in another encoding is named, with the line in it.
    write("spam/2", b"You won\nDM \xa31000");
    let error = open(&Purpose::Training).unwrap().read(&mut Unwatched).unwrap_err();
    let place = error.place().unwrap();
    assert!(place.file.ends_with("spam/2"), "{error}");
    assert_eq!((place.line, place.column), (2, 4), "{error}");
}

#[test]
fn documents_stand_beside_other_columns() {
    let text = "label,age,title,body,sex\nham,3,See you,at five,f\nspam,4,You won,a prize,m\nspam,,Win,win a \
                prize,f\n";
    let table = TableOptions {
        text: vec!["title".into(), "body".into()],
        missing: novikoff::features::Missing::Zero,
        ..TableOptions::default()
    };
    let options = Options { table, ..options(Format::Csv, &TextRecipe::counts()) };
    let data =
        Reader::open(&input(text), &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
    let row = |entries: &[(&str, f64)]| {
        entries.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect::<BTreeMap<_, _>>()
    };
    let rows = named(&data);
    assert_eq!(
        rows[0].1,
        row(&[
            ("age", 3.0),
            ("sex=f", 1.0),
            ("title:see", 1.0),
            ("title:you", 1.0),
            ("body:at", 1.0),
            ("body:five", 1.0)
        ])
    );
    assert_eq!(
        rows[2].1,
        row(&[("sex=f", 1.0), ("title:win", 1.0), ("body:win", 1.0), ("body:a", 1.0), ("body:prize", 1.0)])
    );
    let purpose =
        Purpose::Prediction { labels: &data.names, schema: &data.schema, features: data.rows.columns() };
    let again = "sex,body,age,title\nf,win a prize,0,Win\n";
    let again = Reader::open(
        &input(again),
        &Options {
            table: TableOptions { missing: novikoff::features::Missing::Error, ..TableOptions::default() },
            ..Options::default()
        },
        &purpose,
    );
    let again = again.unwrap().read(&mut Unwatched).unwrap();
    assert_eq!(again.rows.row(0).norm_sq(), data.rows.row(2).norm_sq());
}

/// Lecture notes on the perceptron classify this document by counting its words and weighing them.
const ALERTS: &str = "Electronic alerts have been used to assist the authorities in moments of chaos and \
                      potential danger: after the Boston bombing in 2013, when the Boston suspects were \
                      still at large, and last month in Los Angeles, during an active shooter scare at the \
                      airport.";

#[test]
fn the_example_of_the_lecture_notes_is_as_printed() {
    let recipe = TextRecipe { keep_case: true, ..TextRecipe::counts() };
    let data = read(&format!("NOT TECH\t{ALERTS}\nTECH\tA faster chip\n"), &recipe);
    let row = &named(&data)[0].1;
    let printed =
        [("alerts", 1.0, 0.043), ("assist", 1.0, -0.25), ("bombing", 1.0, 0.8), ("Boston", 2.0, -0.00001)];
    for (word, count, _) in printed {
        assert_eq!(row[word], count, "{word}");
    }
    assert_eq!(row.values().sum::<f64>(), 44.0);
    let mut weights = Weights::zero(data.rows.columns(), 1);
    for j in 0..data.rows.columns() {
        let name = data.schema.name(j as u32);
        weights.values[j] =
            printed.iter().find(|(word, ..)| *word == name).map_or(0.0, |(_, _, weight)| *weight);
    }
    let about = About {
        learner: "perceptron".into(),
        features: data.rows.columns() as u64,
        rows: 2,
        ..About::default()
    };
    let (labels, schema) = (Labels::new(["NOT TECH", "TECH"]), data.schema.clone());
    let model =
        Model { about, labels, schema, scorer: Scorer::Linear(weights), probabilities: None, state: None };
    let mut scores = Vec::new();
    model.scorer.score(&[data.rows.row(0)], &mut Scratch::default(), &mut scores);
    assert!((scores[0] - (0.043 - 0.25 + 0.8 - 0.00002)).abs() < 1e-15);
    assert_eq!(model.labels.names()[decide(&scores)], "TECH");
    let explained = explain(&model, data.rows.row(0), &scores);
    let because: Vec<String> = explained.parts.iter().map(|part| model.schema.name(part.feature)).collect();
    assert_eq!(because, ["bombing", "assist", "alerts", "Boston"]);
    let sum: f64 = explained.bias + explained.parts.iter().map(|part| part.added).sum::<f64>();
    assert!((sum - explained.difference).abs() < 1e-15);
    // The model takes the raw text, also after a trip through a file.
    let model = model::from_bytes(&model::to_bytes(&model).unwrap(), "it").unwrap();
    let purpose =
        Purpose::Prediction { labels: &model.labels, schema: &model.schema, features: model.features() };
    let again = Reader::open(&input(ALERTS), &options(Format::Text, &recipe), &purpose)
        .unwrap()
        .read(&mut Unwatched)
        .unwrap();
    assert_eq!(again.rows.row(0).dot(&vec![1.0; model.features()]), 44.0);
}

#[test]
fn models_of_documents_come_back_as_they_were() {
    let text = "ham\tSee you at five, you\nspam\tYou won a prize\nham\tfive\n";
    let csv = "label,age,body\nham,3,see you\nspam,4,you won\n";
    let table = TableOptions { text: vec!["body".into()], ..TableOptions::default() };
    let usual = TextRecipe::default();
    let rich = TextRecipe {
        words: Some(Lengths { from: 1, to: 2 }),
        characters: Some(Lengths { from: 2, to: 3 }),
        stop_words: vec!["at".into()],
        ..TextRecipe::default()
    };
    for (text, options) in [
        (text, options(Format::Text, &usual)),
        (text, options(Format::Text, &rich)),
        (text, options(Format::Text, &TextRecipe::counts())),
        (text, Options { hash_bits: Some(8), ..options(Format::Text, &usual) }),
        (text, Options { hash_bits: Some(8), keep_names: true, ..options(Format::Text, &rich) }),
        (csv, Options { table: table.clone(), ..options(Format::Csv, &usual) }),
        (csv, Options { table, hash_bits: Some(6), keep_names: true, ..options(Format::Csv, &usual) }),
    ] {
        let data =
            Reader::open(&input(text), &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
        let settings = LearnerName::SquaredSvm.learner();
        let model = train(&data, None, &settings, &mut Unwatched).unwrap().model;
        let bytes = model::to_bytes(&model).unwrap();
        let again = model::from_bytes(&bytes, "it").unwrap();
        assert_eq!(model, again);
        let (Schema::Text(a), Schema::Text(b)) = (&model.schema, &again.schema) else { panic!() };
        assert_eq!(a.idf(), b.idf());
        let names =
            |model: &Model| (0..model.features() as u32).map(|j| model.schema.name(j)).collect::<Vec<_>>();
        assert_eq!(names(&model), names(&again));
    }
}

#[test]
fn words_and_classes_are_learned_as_they_come() {
    let mut text = String::new();
    for i in 0..300 {
        let (label, word) =
            [("sport", "goal"), ("war", "front"), ("food", "salt")][if i < 100 { i % 2 } else { i % 3 }];
        text += &format!("{label}\tthe {word} of day {i}\n");
    }
    for bits in [None, Some(0)] {
        let options = Options { hash_bits: bits, ..options(Format::Text, &TextRecipe::stream()) };
        let reader = Reader::open_stream(&input(text.clone()), &options, &Purpose::Training).unwrap();
        let fit = train_online(reader, &LearnerName::Averaged.learner(), &mut Unwatched).unwrap();
        assert!(
            fit.stream().map(|stream| stream.progressive_error).unwrap() < 0.1,
            "{:?}",
            fit.stream().map(|stream| stream.progressive_error)
        );
        let model = model::from_bytes(&model::to_bytes(&fit.model).unwrap(), "it").unwrap();
        let purpose =
            Purpose::Evaluation { labels: &model.labels, schema: &model.schema, features: model.features() };
        let new = input("food\tsalt and more salt\nwar\tthe front of day 301\n");
        let data = Reader::open(&new, &Options::default(), &purpose).unwrap().read(&mut Unwatched).unwrap();
        assert_eq!(novikoff::evaluate::error(&model.scorer, &data, &data.labels), 0.0);
    }
    let usual = options(Format::Text, &TextRecipe::default());
    let error = Reader::open_stream(&input(text), &usual, &Purpose::Training).err().unwrap();
    assert!(error.to_string().contains("all documents"), "{error}");
}

#[test]
fn text_that_means_harm_ends_in_an_error_or_in_rows() {
    let recipe = TextRecipe { words: Some(Lengths { from: 1, to: 2 }), ..TextRecipe::default() };
    let attempt = |text: Vec<u8>| {
        Reader::open(&input(text), &options(Format::Text, &recipe), &Purpose::Training)
            .unwrap()
            .read(&mut Unwatched)
    };
    // No label, no tab, no text, no words, no UTF-8.
    for (text, line, column, what) in [
        (&b"ham\tgood\n\tbad\n"[..], 2, 1, "no label"),
        (b"ham\tgood\njust a text\n", 2, 12, "no tab"),
        (b"ham\tgood\nspam\tfr\xffee\n", 2, 8, "UTF-8"),
        (b"ham\t...\nspam\t!?\n", 1, 1, "not a single word"),
        (b"ham\tgood\nnan\tx\n", 2, 1, "finite"),
    ] {
        let error = attempt(text.to_vec()).unwrap_err();
        let place = error.place().unwrap();
        assert_eq!((place.line, place.column), (line, column), "{error}");
        assert!(error.what().contains(what), "{error}");
    }
    // Rows without words are rows; so are those with odd characters.
    let data =
        attempt(b"ham\t\nspam\t\x00\x01\x1b[31mred\x7f\n\nham\t\xe2\x80\xae\xef\xbb\xbfword\r\n".to_vec())
            .unwrap();
    assert_eq!(data.len(), 3);
    assert_eq!(named(&data)[0].1.len(), 0);
    assert!(named(&data)[1].1.contains_key("31mred"), "{:?}", named(&data)[1]);
    // One very long line, one very long word, very many words.
    let mut long = b"ham\t".to_vec();
    (0..2_000_000u32).for_each(|i| long.extend_from_slice(format!("w{} ", i % 5000).as_bytes()));
    long.extend_from_slice(b"\nspam\t");
    long.resize(long.len() + (8 << 20), b'x');
    let data = attempt(long).unwrap();
    assert_eq!((data.len(), data.rows.row(1).nonzeros()), (2, 1));
    let many: String = (0..40_000)
        .map(|i| format!("{}\t{}\n", i % 2, (0..10).map(|j| format!("v{i}x{j} ")).collect::<String>()))
        .collect();
    let limited = Options { max_index: 100_000, ..options(Format::Text, &TextRecipe::default()) };
    let error = Reader::open(&input(many.clone()), &limited, &Purpose::Training)
        .unwrap()
        .read(&mut Unwatched)
        .unwrap_err();
    assert!(error.to_string().contains("more than 100000 different"), "{error}");
    // With hashes no names are kept, and there is nothing to limit.
    let hashed = Options { hash_bits: Some(16), ..limited };
    assert!(Reader::open(&input(many.clone()), &hashed, &Purpose::Training).is_err());
    let hashed = Options { max_index: Options::default().max_index, ..hashed };
    let data = Reader::open(&input(many), &hashed, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
    assert_eq!((data.len(), data.rows.columns()), (40_000, 1 << 16));
}

#[test]
fn json_that_is_not_what_it_should_be_is_refused_with_its_place() {
    let attempt = |text: &str, purpose: &Purpose<'_>| {
        let options = options(Format::Jsonl, &TextRecipe::default());
        Reader::open(&input(text), &options, purpose).unwrap().read(&mut Unwatched)
    };
    let good = "{\"label\": 1, \"text\": \"a \\u00e9\"}\n{\"text\": \"b\", \"label\": true}\n";
    let data = attempt(good, &Purpose::Training).unwrap();
    assert_eq!(data.names.names(), ["1", "true"]);
    assert!(named(&data)[0].1.contains_key("é"));
    for (line, what) in [
        ("{\"label\": 1, \"text\": \"a\"", "EOF"),
        ("{\"label\": 1}", "\"text\""),
        ("{\"text\": \"a\"}", "\"label\""),
        ("{\"label\": null, \"text\": \"a\"}", "null"),
        ("{\"label\": 1, \"text\": [\"a\"]}", "sequence"),
        ("[1]", "sequence"),
        ("{\"label\": 1, \"y\": 1, \"text\": \"a\"}", "two labels"),
        ("{\"label\": 1, \"text\": \"a\", \"text\": \"b\"}", "twice"),
        ("{\"label\": 1, \"text\": \"\\ud800\"}", "JSON"),
        (&format!("{{\"label\": 1, \"text\": \"a\", \"deep\": {}", "[".repeat(100_000)), "EOF"),
    ] {
        let error = attempt(&format!("{good}{line}\n"), &Purpose::Training).unwrap_err();
        assert_eq!(error.place().unwrap().line, 3, "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
}
