//! The rows of a file of columns as the lines of a text, and lines as rows again.

use super::batches::{Content, Opened};
use super::cells::{Cells, end_line, push_names};
use super::{DELIMITER, Names, Spec};
use crate::error::{Error, Result};
use crate::features::table::first_repeated;
use crate::read::records::{Records, newlines};
use arrow_array::RecordBatch;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where rows stand in the text that they became.
#[derive(Debug)]
pub(in crate::read) struct RowPlaces {
    name: String,
    content: Content,
    spec: Spec,
    /// Lines of the names before the first row.
    header: u64,
    /// Rows of more than one line, so far.
    long: Mutex<Vec<LongRow>>,
}

/// A row of more than one line.
#[derive(Clone, Copy, Debug)]
struct LongRow {
    /// Its first line, from 1.
    line: u64,
    /// The row, from 1.
    row: u64,
    /// Lines after the first.
    more: u64,
}

impl RowPlaces {
    fn lock(&self) -> MutexGuard<'_, Vec<LongRow>> {
        self.long.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row of a line, and how many lines of the row stand before it; `None` for the names of columns.
    fn row(&self, line: u64) -> Option<(u64, u64)> {
        let own = line.checked_sub(self.header).filter(|line| *line > 0)?;
        let long = self.lock();
        let before = long.partition_point(|it| it.line <= line);
        Some(match long[..before].last() {
            None => (own, 0),
            Some(last) if line <= last.line + last.more => (last.row, line - last.line),
            Some(last) => (last.row + line - last.line - last.more, 0),
        })
    }

    /// The error with the row and the column (both from 1) of a place in the text.
    pub(in crate::read) fn place(&self, error: Error, line: u64, column: u64) -> Error {
        match self.row(line) {
            None => error.at(&self.name, 0, 0),
            Some((row, lines)) => error.at(&self.name, row, self.column(row, lines, column).unwrap_or(1)),
        }
    }

    /// A line in words.
    pub(in crate::read) fn line_in_words(&self, line: u64) -> String {
        self.row(line).map_or("the names".to_owned(), |(row, _)| format!("row {row}"))
    }

    /// The column in which a byte of a row's text stands: it takes another look at the row.
    fn column(&self, row: u64, lines: u64, byte: u64) -> Option<u64> {
        let mut opened = Opened::open(&self.content, &self.spec, row - 1).ok()?;
        let batch = opened.batches.next()?.ok()?;
        let mut text = Vec::new();
        push_rows(&batch.slice(0, 1), &opened.wanted, &mut text, &mut Vec::new());
        let mut starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', &text).map(|at| at + 1));
        let at = starts.nth(lines as usize)? + byte.checked_sub(1)? as usize;
        let mut fields = Vec::new();
        Records::new(&text, DELIMITER).next_into(&mut fields)?.ok()?;
        Some(fields.iter().filter(|field| field.at <= at).count().max(1) as u64)
    }
}

/// A file of columns as the text of a table.
pub(in crate::read) struct TableText {
    opened: Opened,
    places: Arc<RowPlaces>,
    text: Vec<u8>,
    /// Bytes of the text that have been taken.
    at: usize,
    rows: u64,
    lines: u64,
    /// Bytes of the file that count as read.
    taken: Arc<AtomicU64>,
    counted: u64,
}

impl TableText {
    /// Opens a file; adds to `taken` as it is read.
    pub(in crate::read) fn open(
        name: &str,
        content: Content,
        spec: &Spec,
        taken: Arc<AtomicU64>,
    ) -> Result<Self> {
        let opened = Opened::open(&content, spec, 0).map_err(|error| error.at(name, 0, 0))?;
        if let Some(twice) = first_repeated(&opened.names) {
            let error = Error::input(format!("two columns are called {twice:?}")).at(name, 0, 0);
            return Err(error.hint("rename one of them"));
        }
        let mut text = Vec::new();
        if spec.names == Names::Written {
            push_names(&opened.names, &mut text);
        }
        let lines = newlines(&text);
        let (name, spec, long) = (name.to_owned(), spec.clone(), Mutex::default());
        let places = Arc::new(RowPlaces { name, content, spec, header: lines, long });
        Ok(Self { opened, places, text, at: 0, rows: 0, lines, taken, counted: 0 })
    }

    /// Where its rows stand.
    pub(in crate::read) fn places(&self) -> &Arc<RowPlaces> {
        &self.places
    }

    /// Makes the text of the next batch; whether there was one.
    fn next_batch(&mut self) -> Result<bool> {
        let Some(batch) = self.opened.batches.next() else {
            self.count(self.places.content.size());
            return Ok(false);
        };
        let batch = batch.map_err(|error| self.place(error))?;
        (self.at, self.rows) = (0, self.rows + batch.num_rows() as u64);
        self.text.clear();
        let mut ends = Vec::with_capacity(batch.num_rows());
        push_rows(&batch, &self.opened.wanted, &mut self.text, &mut ends);
        self.note_long_rows(&ends);
        if let Some(rows) = self.opened.rows {
            let share = self.rows as f64 / rows.max(1) as f64;
            self.count((share * self.places.content.size() as f64) as u64);
        }
        Ok(true)
    }

    fn place(&self, error: Error) -> Error {
        let hint = error.advice().map(str::to_owned);
        let error = Error::input(format!("{} (after row {})", error.what(), self.rows));
        let error = error.at(&self.places.name, 0, 0);
        if let Some(hint) = hint { error.hint(hint) } else { error }
    }

    /// Keeps in mind which rows have more than one line.
    fn note_long_rows(&mut self, ends: &[usize]) {
        let first = self.rows - ends.len() as u64 + 1;
        let more = newlines(&self.text) - ends.len() as u64;
        if more > 0 {
            let (mut start, mut line) = (0, self.lines + 1);
            let mut long = self.places.lock();
            for (row, &end) in (first..).zip(ends) {
                let more = newlines(&self.text[start..end]) - 1;
                if more > 0 {
                    long.push(LongRow { line, row, more });
                }
                (start, line) = (end, line + 1 + more);
            }
        }
        self.lines += ends.len() as u64 + more;
    }

    fn count(&mut self, bytes: u64) {
        self.taken.fetch_add(bytes.saturating_sub(self.counted), Ordering::Relaxed);
        self.counted = self.counted.max(bytes);
    }
}

/// Adds the rows of a batch to a text, and where each ends.
fn push_rows(batch: &RecordBatch, wanted: &[bool], text: &mut Vec<u8>, ends: &mut Vec<usize>) {
    let mut own = batch.columns().iter().map(Cells::of);
    let columns: Vec<Option<Cells>> =
        wanted.iter().map(|wanted| own.by_ref().take(usize::from(*wanted)).next()).collect();
    for i in 0..batch.num_rows() {
        let start = text.len();
        for (j, column) in columns.iter().enumerate() {
            if j > 0 {
                text.push(DELIMITER);
            }
            if let Some(cells) = column {
                cells.push(i, text);
            }
        }
        end_line(start, text);
        ends.push(text.len());
    }
}

impl Read for TableText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if !self.next_batch().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Wanted;
    use super::*;
    use crate::read::detect::Format;
    use ::parquet::arrow::ArrowWriter;
    use arrow_array::types::{Decimal128Type, Int32Type};
    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int64Array,
        LargeStringArray, ListArray, NullArray, PrimitiveArray, StringArray, StringViewArray,
        Time64MicrosecondArray, TimestampMillisecondArray, UInt64Array,
    };
    use arrow_ipc::writer::{FileWriter, StreamWriter};

    /// Bytes of these columns in each of the formats.
    fn files(columns: Vec<(&str, ArrayRef)>) -> [(Format, Vec<u8>); 3] {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        );
        let batch = batch.unwrap();
        let mut parquet = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        parquet.write(&batch).unwrap();
        let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        file.write(&batch).unwrap();
        let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        stream.write(&batch).unwrap();
        [
            (Format::Parquet, parquet.into_inner().unwrap()),
            (Format::Arrow, file.into_inner().unwrap()),
            (Format::Arrow, stream.into_inner().unwrap()),
        ]
    }

    fn open(format: Format, bytes: &[u8], columns: Wanted) -> Result<TableText> {
        let spec = Spec { format, names: Names::Written, columns, memory: None };
        TableText::open("t", Content::Memory(bytes.to_vec().into()), &spec, Arc::default())
    }

    /// The text of these columns, which must be the same in each format.
    fn text_of(columns: Vec<(&str, ArrayRef)>) -> String {
        let texts = files(columns).map(|(format, bytes)| {
            let mut text = String::new();
            open(format, &bytes, Wanted::AllBut(Vec::new())).unwrap().read_to_string(&mut text).unwrap();
            text
        });
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
        texts[0].clone()
    }

    fn column<A: arrow_array::Array + 'static>(array: A) -> ArrayRef {
        Arc::new(array)
    }

    #[test]
    fn every_type_of_single_values_has_its_spelling_and_nulls_are_empty() {
        let decimals = PrimitiveArray::<Decimal128Type>::from(vec![Some(-1250), None, Some(7)]);
        let decimals = decimals.with_precision_and_scale(9, 2).unwrap();
        let words: DictionaryArray<Int32Type> = vec![Some("b"), None, Some("a")].into_iter().collect();
        let cases: Vec<(ArrayRef, [&str; 3])> = vec![
            (
                column(Int64Array::from(vec![Some(i64::MIN), None, Some(0)])),
                ["-9223372036854775808", "", "0"],
            ),
            (column(UInt64Array::from(vec![u64::MAX, 1, 2])), ["18446744073709551615", "1", "2"]),
            (column(Float64Array::from(vec![0.1, -1e300, f64::NAN])), ["0.1", "-1e+300", "nan"]),
            (
                column(Float32Array::from(vec![0.1, 1.0, f32::INFINITY])),
                ["0.10000000149011612", "1.0", "inf"],
            ),
            (column(decimals), ["-12.50", "", "0.07"]),
            (column(BooleanArray::from(vec![Some(true), None, Some(false)])), ["true", "", "false"]),
            (column(StringArray::from(vec!["a,b", " c ", "d\"e"])), ["\"a,b\"", " c ", "\"d\"\"e\""]),
            (column(LargeStringArray::from(vec![Some("x"), None, Some("")])), ["x", "", ""]),
            (
                column(StringViewArray::from(vec!["x", "two\nlines", "a much longer text"])),
                ["x", "\"two\nlines\"", "a much longer text"],
            ),
            (column(words), ["b", "", "a"]),
            (column(Date32Array::from(vec![0, 19_753, i32::MAX])), ["1970-01-01", "2024-01-31", ""]),
            (
                column(TimestampMillisecondArray::from(vec![0, 1_706_704_496_789, -1])),
                ["1970-01-01 00:00:00", "2024-01-31 12:34:56.789", "1969-12-31 23:59:59.999"],
            ),
            (
                column(Time64MicrosecondArray::from(vec![0, 45_296_000_000, 1])),
                ["00:00:00", "12:34:56", "00:00:00.000001"],
            ),
            (column(NullArray::new(3)), ["", "", ""]),
        ];
        for (array, cells) in cases {
            let kind = array.data_type().clone();
            let text = text_of(vec![("a", array), ("b", column(Int64Array::from(vec![1, 2, 3])))]);
            let rows: Vec<String> = (1..).zip(cells).map(|(row, cell)| format!("{cell},{row}\n")).collect();
            assert_eq!(text, format!("a,b\n{}", rows.concat()), "{kind}");
        }
    }

    #[test]
    fn a_lone_column_has_a_record_for_every_row() {
        let words = column(StringArray::from(vec![Some("a"), None, Some("  ")]));
        assert_eq!(text_of(vec![("x, y", words)]), "\"x, y\"\na\n\"\"\n\"\"\n");
    }

    #[test]
    fn nested_columns_are_refused_unless_they_are_left_out() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
        let own = || vec![("a", column(Int64Array::from(vec![1, 2]))), ("all of it", column(lists.clone()))];
        for (format, bytes) in files(own()) {
            let error = open(format, &bytes, Wanted::AllBut(Vec::new())).err().unwrap();
            let what = "t: column \"all of it\" holds lists, and a cell of a table is one value";
            assert_eq!(error.to_string(), what);
            let mut text = String::new();
            for columns in [Wanted::AllBut(vec!["2".into()]), Wanted::Only(vec!["a".into()])] {
                text.clear();
                open(format, &bytes, columns).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, "a,all of it\n1,\n2,\n");
            }
        }
    }

    #[test]
    fn lines_are_rows_again_also_where_texts_have_several() {
        let words = StringArray::from(vec!["a", "b\nc\n", "d", "\n", "e"]);
        for (format, bytes) in files(vec![("x", column(words)), ("n", column(Int64Array::from(vec![1; 5])))])
        {
            let mut table = open(format, &bytes, Wanted::AllBut(Vec::new())).unwrap();
            let mut text = String::new();
            table.read_to_string(&mut text).unwrap();
            let (mut expected, mut line) =
                (vec![(2, 1), (3, 2), (4, 2), (5, 2), (6, 3), (7, 4), (8, 4), (9, 5)], 1);
            for part in text.lines().skip(1) {
                line += 1;
                let (at, row) = expected.remove(0);
                assert_eq!((at, Some(row)), (line, table.places().row(line).map(|(row, _)| row)), "{part:?}");
            }
            let place = |line, column| {
                let error = table.places().place(Error::input("it"), line, column);
                error.place().map(|place| (place.line, place.column))
            };
            assert_eq!(place(2, 1), Some((1, 1)));
            assert_eq!(place(2, 3), Some((1, 2)));
            assert_eq!((place(3, 1), place(5, 1), place(5, 3)), (Some((2, 1)), Some((2, 1)), Some((2, 2))));
            assert_eq!(place(1, 1), Some((0, 0)));
        }
    }
}
