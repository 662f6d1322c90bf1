//! Whole files of many blocks, put together by several threads: the same rows, to the bit, as one thread gets
//! from them line by line.

use novikoff::control::{Flow, Observer, Progress, Unwatched};
use novikoff::data::Dataset;
use novikoff::random::Random;
use novikoff::read::{Input, Options, Purpose, Reader};
use novikoff::{Error, Result};
use std::fmt::Write;

/// What rows look like, a tenth of the file at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Decimals that take a double each.
    Doubles,
    /// Far more of them to a byte of text than `Doubles` has: what comes is more than the first part makes
    /// expect.
    Short,
    /// One value a row.
    Even,
    /// Numbers that fit `f32`.
    Singles,
    /// No entries at all.
    Empty,
}

/// Some megabytes of svmlight, and the entries of every row.
fn file(kinds: &[Kind], seed: u64) -> (String, Vec<Vec<(u32, f64)>>) {
    const BYTES: usize = 3 << 20;
    let mut random = Random::new(seed);
    let (mut text, mut rows) = (String::new(), Vec::new());
    while text.len() < BYTES {
        let kind = kinds[text.len() * kinds.len() / BYTES];
        let entries: Vec<(u32, f64)> = match kind {
            Kind::Empty => Vec::new(),
            Kind::Short => (1..10).map(|j| (j, 0.1)).chain([(10, 0.7)]).collect(),
            _ => (0..1 + random.below(12))
                .map(|j| {
                    let value = match kind {
                        Kind::Doubles => random.below(1_000_000) as f64 / 1e6,
                        Kind::Even => 0.3,
                        _ => random.below(64) as f64 / 8.0,
                    };
                    (1 + 100_000 * j as u32 + random.below(99_999) as u32, value)
                })
                .collect(),
        };
        write!(text, "{}", if random.below(2) == 0 { "-1" } else { "+1" }).unwrap();
        entries.iter().for_each(|(j, x)| write!(text, " {j}:{x}").unwrap());
        text.push('\n');
        rows.push(entries);
    }
    (text, rows)
}

fn read(text: &str, threads: usize, observer: &mut dyn Observer) -> Result<Dataset<'static>> {
    let input = Input::Bytes { name: "rows".into(), bytes: text.as_bytes().into() };
    let options = Options { threads, ..Options::default() };
    Reader::open(&input, &options, &Purpose::Training)?.read(observer)
}

#[test]
fn every_entry_is_in_its_place_on_any_number_of_threads() {
    use Kind::{Doubles, Empty, Even, Short, Singles};
    let files: [&[Kind]; 6] = [
        &[Doubles],
        &[Doubles, Empty, Singles, Even, Doubles],
        // More than there is room for; then less again.
        &[Doubles, Short, Short, Short, Doubles],
        &[Short, Doubles],
        &[Even, Doubles],
        &[Singles, Doubles, Even],
    ];
    for (seed, kinds) in files.into_iter().enumerate() {
        let (text, expected) = file(kinds, seed as u64);
        for threads in [1, 2, 5] {
            let data = read(&text, threads, &mut Unwatched).unwrap();
            assert_eq!((data.len(), data.labels.len()), (expected.len(), expected.len()));
            assert!(!data.rows.is_single() && !data.rows.is_uniform() && !data.rows.is_dense());
            assert_eq!(data.rows.stored(), expected.iter().map(Vec::len).sum::<usize>());
            for (i, (row, line)) in expected.iter().zip(text.lines()).enumerate() {
                let mut found = Vec::new();
                data.rows.row(i).for_each_stored(|j, x| found.push((j + 1, x.to_bits())));
                let row: Vec<(u32, u64)> = row.iter().map(|(j, x)| (*j, x.to_bits())).collect();
                assert_eq!(found, row, "row {i} of {kinds:?} on {threads} threads");
                assert_eq!(data.names.names()[data.labels[i] as usize], line.split(' ').next().unwrap());
            }
            // No more memory is held than what the rows take.
            let starts = 8 * (expected.len() + 1);
            let bytes = starts + 12 * data.rows.stored();
            assert_eq!(data.rows.bytes(), bytes, "{kinds:?}");
        }
    }
}

#[test]
fn a_bad_row_among_many_ends_the_reading_at_its_place_or_is_left_out() {
    let (mut text, expected) = file(&[Kind::Doubles], 7);
    let line = expected.len() / 2;
    let at = text.match_indices('\n').nth(line - 1).unwrap().0 + 1;
    text.insert_str(at, "+1 3:x\n");
    for threads in [1, 2, 5] {
        let error: Error = read(&text, threads, &mut Unwatched).unwrap_err();
        assert_eq!(
            error.place().map(|place| (place.line, place.column)),
            Some((line as u64 + 1, 6)),
            "{error}"
        );
        let input = Input::Bytes { name: "rows".into(), bytes: text.as_bytes().into() };
        let options = Options { threads, skip_bad_rows: true, ..Options::default() };
        let data = Reader::open(&input, &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
        assert_eq!((data.len(), data.report.bad_rows), (expected.len(), 1));
        assert_eq!(data.rows.stored(), expected.iter().map(Vec::len).sum::<usize>());
    }
}

/// Stops when it has been told of some rows.
struct Impatient;

impl Observer for Impatient {
    fn observe(&mut self, progress: Progress) -> Flow {
        match progress {
            Progress::Reading { rows, .. } if rows > 0 => Flow::Stop,
            _ => Flow::Continue,
        }
    }
}

#[test]
fn whoever_stops_the_reading_need_not_wait_for_its_end() {
    let (text, _) = file(&[Kind::Doubles], 8);
    for threads in [1, 2, 5] {
        let error = read(&text, threads, &mut Impatient).unwrap_err();
        assert_eq!(error.kind(), novikoff::ErrorKind::Interrupted, "{error}");
    }
}
