//! IDX files, the format of MNIST: a header, then all values in one block of big-endian numbers.
//!
//! The header is `00 00 type dimensions`, then a `u32` for every dimension. Images have two dimensions or
//! more: the first counts the rows, the others together the features. Their labels stand in a file of their
//! own, with one dimension.

use super::parsed_rows::{Labelling, ParsedRows, RowError};
use super::pipeline::{Parser, Scratch};
use super::source::{Cut, Ended, Input, Source};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The type of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Kind {
    fn of(code: u8) -> Option<Self> {
        match code {
            0x08 => Some(Kind::U8),
            0x09 => Some(Kind::I8),
            0x0b => Some(Kind::I16),
            0x0c => Some(Kind::I32),
            0x0d => Some(Kind::F32),
            0x0e => Some(Kind::F64),
            _ => None,
        }
    }

    /// Bytes a value.
    fn size(self) -> usize {
        match self {
            Kind::U8 | Kind::I8 => 1,
            Kind::I16 => 2,
            Kind::I32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }
}

/// No row may have more features: an image of 8192 by 8192.
const MAX_FEATURES: u64 = 1 << 26;

/// Whether these are the first bytes of an IDX file.
pub(super) fn is_idx(start: &[u8]) -> bool {
    matches!(start, [0, 0, 0x08..=0x0e, 1..=8, ..])
}

/// What the header of a file of images says. There is at least one row, with at least one feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The file, as messages call it.
    name: String,
    kind: Kind,
    rows: u32,
    features: u32,
    /// Width and height, of rows with two dimensions.
    image: Option<(u32, u32)>,
}

impl Header {
    /// Number of features.
    pub(super) fn features(&self) -> u32 {
        self.features
    }

    /// Width and height of the images, if rows have two dimensions.
    pub(super) fn image(&self) -> Option<(u32, u32)> {
        self.image
    }

    /// Bytes a row.
    fn record(&self) -> usize {
        self.features as usize * self.kind.size()
    }
}

/// What to do about a file that is not what its header says.
const AGAIN: &str = "get the file again: it is not as long as its header says";

/// Reads the header of a file of images and leaves `source` at the first row.
pub(super) fn header(source: &mut Source) -> Result<Header> {
    let (kind, dimensions) = shape(source)?;
    let whole = |what: String| Error::input(what).at(source.name(), 1, 1);
    let [rows, others @ ..] = dimensions.as_slice() else {
        return Err(whole("the IDX file has no dimensions".into()));
    };
    if others.is_empty() {
        let error = whole("the IDX file has one dimension: these look like labels, not images".into());
        return Err(
            error.hint("give the images' file; its labels are found beside it, or by `labels = FILE`")
        );
    }
    let features = others
        .iter()
        .try_fold(1u64, |product, &size| product.checked_mul(u64::from(size)).filter(|p| *p <= MAX_FEATURES))
        .ok_or_else(|| whole(format!("the IDX header promises rows of more than {MAX_FEATURES} values")))?;
    if *rows == 0 || features == 0 {
        return Err(whole("the IDX file has no rows".into()));
    }
    let image = if let [height, width] = others { Some((*width, *height)) } else { None };
    Ok(Header { name: source.name().to_owned(), kind, rows: *rows, features: features as u32, image })
}

/// Reads type and dimensions.
fn shape(source: &mut Source) -> Result<(Kind, Vec<u32>)> {
    let magic = source.take_exact(4)?;
    let kind = match magic[..] {
        [0, 0, code, _] => Kind::of(code),
        _ => None,
    };
    let Some(kind) = kind else {
        let error = Error::input(format!("not an IDX file: it starts with the bytes {magic:02x?}")).at(
            source.name(),
            1,
            1,
        );
        return Err(error.hint("is this the right `format`?"));
    };
    let sizes = source.take_exact(4 * usize::from(magic[3]))?;
    Ok((kind, sizes.as_chunks::<4>().0.iter().map(|bytes| u32::from_be_bytes(*bytes)).collect()))
}

/// The labels of a file of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IdxLabels {
    name: String,
    values: Vec<i32>,
}

impl IdxLabels {
    /// Reads a file of labels, which are whole numbers.
    pub(super) fn read(input: &Input) -> Result<Self> {
        let mut source = Source::open(input)?;
        let name = source.name().to_owned();
        let whole = |what: &str| Error::input(what).at(&name, 1, 1);
        let (kind, dimensions) = shape(&mut source)?;
        let [count] = dimensions[..] else {
            let error = whole("the IDX file has not one dimension: these look like images, not labels");
            return Err(error.hint("give the labels' file to `labels`"));
        };
        if matches!(kind, Kind::F32 | Kind::F64) {
            return Err(whole("the labels are not whole numbers"));
        }
        let expected = count as usize * kind.size();
        let bytes = at_most(source, expected + 1)?;
        if bytes.len() < expected {
            let row = bytes.len() / kind.size() + 1;
            return Err(Error::input(format!("the file ends before label {row} of {count}"))
                .at(name, row as u64, 1)
                .hint(AGAIN));
        }
        if bytes.len() > expected {
            return Err(whole(&format!("there are bytes after the {count} labels that the header promises"))
                .hint(AGAIN));
        }
        Ok(Self { values: integers(&bytes, kind), name })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

/// What is left of the source, but not more than `limit` bytes. Memory grows with what is there, not with
/// what a header says.
fn at_most(mut source: Source, limit: usize) -> Result<Vec<u8>> {
    const STEP: usize = 1 << 16;
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        let next = limit.min(bytes.len() + STEP);
        if source.fill(&mut bytes, next)? == Ended::Yes {
            break;
        }
    }
    Ok(bytes)
}

fn integers(bytes: &[u8], kind: Kind) -> Vec<i32> {
    match kind {
        Kind::U8 => bytes.iter().map(|&b| i32::from(b)).collect(),
        Kind::I8 => bytes.iter().map(|&b| i32::from(b as i8)).collect(),
        Kind::I16 => bytes.as_chunks::<2>().0.iter().map(|b| i32::from(i16::from_be_bytes(*b))).collect(),
        _ => bytes.as_chunks::<4>().0.iter().map(|b| i32::from_be_bytes(*b)).collect(),
    }
}

/// The endings of compressed files.
const COMPRESSED: [&str; 4] = [".gz", ".bz2", ".xz", ".zst"];

/// The file of labels that stands beside a file of images, if there is one: `train-labels-idx1-ubyte` beside
/// `train-images-idx3-ubyte`, compressed or not.
pub fn labels_beside(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let own_ending = COMPRESSED.into_iter().find(|ending| name.ends_with(ending)).unwrap_or("");
    let stem = name.strip_suffix(own_ending)?;
    let labels = stem.replace("images", "labels").replace("idx3", "idx1");
    let endings = [own_ending, ""].into_iter().chain(COMPRESSED);
    let mut candidates = endings.map(|ending| images.with_file_name(format!("{labels}{ending}")));
    if labels == stem { None } else { candidates.find(|path| path.is_file()) }
}

/// A parser of the rows of an IDX file.
#[derive(Clone, Debug)]
pub(super) struct Idx {
    header: Header,
    labels: Option<IdxLabels>,
    labelling: Labelling,
}

impl Idx {
    /// A parser of the rows after `header`. There must be a label for every row, unless labels are ignored.
    pub(super) fn new(header: Header, labels: Option<IdxLabels>, labelling: Labelling) -> Result<Self> {
        if matches!(labelling, Labelling::Ignored) {
            return Ok(Self { header, labels: None, labelling });
        }
        let Some(labels) = labels else {
            let error = Error::input("there is no file of labels beside these images").at(header.name, 1, 1);
            return Err(error.hint("name it: `labels = FILE`"));
        };
        if labels.len() != header.rows as usize {
            let what = format!("{} labels for the {} rows of {}", labels.len(), header.rows, header.name);
            let error = Error::input(what).at(labels.name, 1, 1);
            return Err(error.hint("images and labels must be of one set; `labels = FILE` names the labels"));
        }
        Ok(Self { header, labels: Some(labels), labelling })
    }

    /// Reads one row; on failure says what is wrong with it.
    fn row(
        &self,
        record: &[u8],
        number: u64,
        rows: &mut ParsedRows,
    ) -> std::result::Result<(), (String, Option<String>)> {
        let read = match self.header.kind {
            Kind::U8 => entries(record, rows, |[byte]| f64::from(byte)),
            Kind::I8 => entries(record, rows, |[byte]| f64::from(byte as i8)),
            Kind::I16 => entries(record, rows, |bytes| f64::from(i16::from_be_bytes(bytes))),
            Kind::I32 => entries(record, rows, |bytes| f64::from(i32::from_be_bytes(bytes))),
            Kind::F32 => entries(record, rows, |bytes| f64::from(f32::from_be_bytes(bytes))),
            Kind::F64 => entries(record, rows, f64::from_be_bytes),
        };
        read.map_err(|j| (format!("value {} of the row is not a finite number", j + 1), None))?;
        if let Some(label) = self.labels.as_ref().and_then(|labels| labels.values.get(number as usize)) {
            rows.set_label(&self.labelling, label.to_string().as_bytes())?;
        }
        rows.end_row();
        Ok(())
    }
}

/// Adds the values of a record that are not zero; on failure says which is not finite.
#[inline]
fn entries<const SIZE: usize>(
    record: &[u8],
    rows: &mut ParsedRows,
    value: impl Fn([u8; SIZE]) -> f64,
) -> std::result::Result<(), usize> {
    for (j, bytes) in record.as_chunks::<SIZE>().0.iter().enumerate() {
        let value = value(*bytes);
        if value != 0.0 {
            if !value.is_finite() {
                return Err(j);
            }
            rows.entry(j as u32, value);
        }
    }
    Ok(())
}

impl Parser for Idx {
    fn cut(&self) -> Cut {
        Cut::Every(self.header.record())
    }

    fn parse(&self, block: &[u8], offset: u64, rows: &mut ParsedRows, _: &mut Scratch) {
        let size = self.header.record();
        let first = offset / size as u64;
        // What is missing from the last row, or too much after it, is for `finish` to say.
        let promised = u64::from(self.header.rows).saturating_sub(first) as usize;
        for (line, record) in block.chunks_exact(size).take(promised).enumerate() {
            let line = line as u64;
            if let Err((what, hint)) = self.row(record, first + line, rows)
                && !rows.reject(RowError { line, column: 1, what, hint })
            {
                return;
            }
        }
    }

    fn finish(&self, bytes: u64) -> Result<()> {
        let Header { name, rows, .. } = &self.header;
        let size = self.header.record() as u64;
        let row = bytes / size + 1;
        match bytes.cmp(&(u64::from(*rows) * size)) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => {
                let part = if bytes.is_multiple_of(size) { "before" } else { "within" };
                Err(Error::input(format!("the file ends {part} row {row} of {rows}"))
                    .at(name, row, 1)
                    .hint(AGAIN))
            }
            std::cmp::Ordering::Greater => {
                let error =
                    Error::input(format!("there are bytes after the {rows} rows that the header promises"));
                Err(error.at(name, u64::from(*rows) + 1, 1).hint(AGAIN))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Flow, Observer, Unwatched};
    use crate::data::Report;
    use crate::read::pipeline::{Setup, run};
    use proptest::prelude::*;
    use std::sync::Arc;

    const KINDS: [(u8, Kind); 6] =
        [(8, Kind::U8), (9, Kind::I8), (11, Kind::I16), (12, Kind::I32), (13, Kind::F32), (14, Kind::F64)];

    fn file(code: u8, dimensions: &[u32], values: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, code, dimensions.len() as u8];
        dimensions.iter().for_each(|size| bytes.extend_from_slice(&size.to_be_bytes()));
        bytes.extend_from_slice(values);
        bytes
    }

    fn input(name: &str, bytes: &[u8]) -> Input {
        Input::Bytes { name: name.into(), bytes: bytes.into() }
    }

    fn labels(values: &[u8]) -> IdxLabels {
        IdxLabels::read(&input("labels", &file(8, &[values.len() as u32], values))).unwrap()
    }

    /// What came of a file: its rows with the names of their labels, and the report.
    type Read = (Vec<(Vec<(u32, f64)>, Option<String>)>, Report);

    /// Reads with one thread and with two, which must come to the same.
    fn read(
        images: &[u8],
        labels: Option<IdxLabels>,
        labelling: Labelling,
        skip_bad_rows: bool,
    ) -> Result<Read> {
        let one = read_with(Setup { threads: 1, skip_bad_rows }, images, labels.clone(), labelling.clone());
        let two = read_with(Setup { threads: 2, skip_bad_rows }, images, labels, labelling);
        assert_eq!(one, two);
        one
    }

    fn read_with(
        setup: Setup,
        images: &[u8],
        labels: Option<IdxLabels>,
        labelling: Labelling,
    ) -> Result<Read> {
        let mut source = Source::open(&input("images", images))?;
        let parser = Idx::new(header(&mut source)?, labels, labelling)?;
        let (mut all, mut report) = (Vec::new(), Report::default());
        let flow = run(
            source,
            Arc::new(parser),
            setup,
            &mut report,
            &mut Unwatched,
            |rows: &mut ParsedRows, _: &mut dyn Observer| {
                for r in 0..rows.len() {
                    let mut row = Vec::new();
                    rows.row(r).for_each_nonzero(|j, x| row.push((j, x)));
                    assert_eq!(row.len(), rows.row(r).len(), "no zeros are stored");
                    all.push((
                        row,
                        rows.labels.get(r).map(|&id| rows.local_labels.names()[id as usize].clone()),
                    ));
                }
                Ok(Flow::Continue)
            },
        )?;
        assert_eq!(flow, Flow::Continue);
        Ok((all, report))
    }

    fn value_bytes(value: i8, kind: Kind) -> Vec<u8> {
        match kind {
            Kind::U8 => vec![value as u8],
            Kind::I8 => vec![value as u8],
            Kind::I16 => (i16::from(value) * 200).to_be_bytes().into(),
            Kind::I32 => (i32::from(value) * 10_000_000).to_be_bytes().into(),
            Kind::F32 => (f32::from(value) / 3.0).to_be_bytes().into(),
            Kind::F64 => (f64::from(value) / 3.0).to_be_bytes().into(),
        }
    }

    fn value_number(value: i8, kind: Kind) -> f64 {
        match kind {
            Kind::U8 => f64::from(value as u8),
            Kind::I8 => f64::from(value),
            Kind::I16 => f64::from(value) * 200.0,
            Kind::I32 => f64::from(value) * 10_000_000.0,
            Kind::F32 => f64::from(f32::from(value) / 3.0),
            Kind::F64 => f64::from(value) / 3.0,
        }
    }

    proptest! {
        #[test]
        fn images_of_every_type_come_back(
            which in 0..KINDS.len(),
            width in 1u32..4,
            height in 1u32..4,
            values in prop::collection::vec(prop_oneof![Just(0i8), any::<i8>()], 9..90),
            flat in any::<bool>(),
        ) {
            let (code, kind) = KINDS[which];
            let features = (width * height) as usize;
            let values = &values[..values.len() / features * features];
            let rows = (values.len() / features) as u32;
            let bytes: Vec<u8> = values.iter().flat_map(|&v| value_bytes(v, kind)).collect();
            let dimensions = if flat { vec![rows, width * height] } else { vec![rows, width, height] };
            let names: Vec<u8> = (0..rows).map(|r| (r * 7 % 10) as u8).collect();
            let (found, report) =
                read(&file(code, &dimensions, &bytes), Some(labels(&names)), Labelling::Open, false).unwrap();
            prop_assert_eq!(report.rows, u64::from(rows));
            for (r, (row, label)) in found.iter().enumerate() {
                let expected: Vec<(u32, f64)> = values[r * features..][..features]
                    .iter()
                    .enumerate()
                    .map(|(j, &v)| (j as u32, value_number(v, kind)))
                    .filter(|(_, x)| *x != 0.0)
                    .collect();
                prop_assert_eq!(row, &expected);
                prop_assert_eq!(label.clone(), Some(names[r].to_string()));
            }
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = read(&bytes, None, Labelling::Ignored, true);
            let _ = IdxLabels::read(&input("labels", &bytes));
        }

        #[test]
        fn random_bytes_that_look_like_a_header_never_panic(
            code in 7u8..16, sizes in prop::collection::vec(prop_oneof![0u32..5, any::<u32>()], 0..4),
            rest in prop::collection::vec(any::<u8>(), 0..100), skip in any::<bool>(),
        ) {
            let bytes = file(code, &sizes, &rest);
            let _ = read(&bytes, None, Labelling::Ignored, skip);
            let _ = IdxLabels::read(&input("labels", &bytes));
        }
    }

    fn failure(images: &[u8], skip_bad_rows: bool) -> (String, Option<String>) {
        let error = read(images, None, Labelling::Ignored, skip_bad_rows).unwrap_err();
        (error.to_string(), error.advice().map(str::to_owned))
    }

    #[test]
    fn rows_that_are_missing_or_too_many_are_errors_even_where_bad_rows_are_skipped() {
        for skip in [false, true] {
            let of = |values: &[u8]| failure(&file(8, &[3, 2, 1], values), skip).0;
            assert_eq!(of(&[1, 2, 3, 4, 5]), "images:3:1: the file ends within row 3 of 3");
            assert_eq!(of(&[1, 2]), "images:2:1: the file ends before row 2 of 3");
            assert_eq!(of(&[]), "images:1:1: the file ends before row 1 of 3");
            assert_eq!(of(&[0; 7]), "images:4:1: there are bytes after the 3 rows that the header promises");
            assert_eq!(of(&[0; 70]), "images:4:1: there are bytes after the 3 rows that the header promises");
        }
    }

    #[test]
    fn headers_that_cannot_be_are_errors() {
        let of = |bytes: &[u8]| failure(bytes, false);
        assert_eq!(of(b"\0\0\x08").0, "images:1:1: the file ends where 1 more bytes were expected");
        assert_eq!(of(&[0, 0, 8, 2, 0, 0]).0, "images:1:1: the file ends where 6 more bytes were expected");
        assert_eq!(of(b"1 1:2").0, "images:1:1: not an IDX file: it starts with the bytes [31, 20, 31, 3a]");
        assert!(of(&file(10, &[1, 1], &[1])).1.is_some_and(|hint| hint.contains("`format`")));
        assert!(of(&file(8, &[], &[])).0.contains("no dimensions"));
        assert!(of(&file(8, &[3], &[1, 2, 3])).0.contains("look like labels"));
        assert!(of(&file(8, &[0, 2], &[])).0.contains("no rows"));
        assert!(of(&file(8, &[2, 0], &[])).0.contains("no rows"));
        assert!(of(&file(8, &[1, 1 << 14, 1 << 13], &[])).0.contains("more than 67108864 values"));
        assert!(
            of(&file(8, &[1, u32::MAX, u32::MAX, u32::MAX], &[])).0.contains("more than 67108864 values")
        );
    }

    #[test]
    fn values_that_are_not_finite_are_errors_of_their_row() {
        let values: Vec<u8> =
            [1.0f32, 2.0, 3.0, f32::NAN, 5.0, 6.0].iter().flat_map(|x| x.to_be_bytes()).collect();
        let bytes = file(13, &[3, 2], &values);
        assert_eq!(failure(&bytes, false).0, "images:2:1: value 2 of the row is not a finite number");
        let (rows, report) = read(&bytes, Some(labels(&[7, 8, 9])), Labelling::Open, true).unwrap();
        assert_eq!((rows.len(), rows[1].1.as_deref(), report.bad_rows), (2, Some("9"), 1));
    }

    #[test]
    fn places_and_labels_are_right_beyond_the_first_block() {
        let mut values = vec![0u8; 3000 * 800];
        values[2500 * 800..][..8].copy_from_slice(&f64::INFINITY.to_be_bytes());
        assert!(failure(&file(14, &[3000, 100], &values), false).0.starts_with("images:2501:1: value 1 "));
        let names: Vec<u8> = (0..3000u32).map(|r| (r % 251) as u8).collect();
        let (rows, _) =
            read(&file(14, &[3000, 100], &values), Some(labels(&names)), Labelling::Open, true).unwrap();
        assert_eq!((rows.len(), rows[2500].1.clone()), (2999, Some(names[2501].to_string())));
    }

    #[test]
    fn labels_are_whole_numbers_one_for_every_row() {
        let images = file(8, &[2, 1], &[1, 2]);
        let error = |labels| read(&images, labels, Labelling::Open, false).unwrap_err().to_string();
        assert_eq!(error(Some(labels(&[1]))), "labels:1:1: 1 labels for the 2 rows of images");
        assert_eq!(error(None), "images:1:1: there is no file of labels beside these images");
        let error = |bytes: &[u8]| IdxLabels::read(&input("labels", bytes)).unwrap_err().to_string();
        assert_eq!(error(&file(11, &[3], &[0, 1, 0])), "labels:2:1: the file ends before label 2 of 3");
        assert_eq!(
            error(&file(8, &[u32::MAX], &[1])),
            "labels:2:1: the file ends before label 2 of 4294967295"
        );
        assert_eq!(
            error(&file(8, &[1], &[1, 2])),
            "labels:1:1: there are bytes after the 1 labels that the header promises"
        );
        assert!(error(&file(13, &[1], &[0; 4])).contains("not whole numbers"));
        assert!(error(&images).contains("look like images"));
        for (code, kind) in &KINDS[..4] {
            let bytes: Vec<u8> = [3i8, -3].iter().flat_map(|&v| value_bytes(v, *kind)).collect();
            let found = IdxLabels::read(&input("labels", &file(*code, &[2], &bytes))).unwrap();
            assert_eq!(found.values, [3, -3].map(|v| value_number(v, *kind) as i32));
        }
    }

    #[test]
    fn a_header_says_how_wide_and_high_images_are() {
        let image = |dimensions: &[u32]| {
            header(&mut Source::open(&input("images", &file(8, dimensions, &[]))).unwrap()).unwrap().image()
        };
        assert_eq!(image(&[7, 2, 3]), Some((3, 2)), "rows of pixels come first");
        assert_eq!((image(&[7, 6]), image(&[7, 2, 3, 4])), (None, None));
    }

    #[test]
    fn labels_are_found_beside_their_images() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::write(folder.path().join(name), b"").unwrap();
        let found = |name: &str| {
            let path = labels_beside(&folder.path().join(name))?;
            Some(path.file_name()?.to_str()?.to_owned())
        };
        for name in [
            "a-labels-idx1-ubyte",
            "b-labels.idx1-ubyte.gz",
            "c-labels-idx1-ubyte.xz",
            "a-labels-idx1-ubyte.gz",
        ] {
            make(name);
        }
        assert_eq!(found("a-images-idx3-ubyte").as_deref(), Some("a-labels-idx1-ubyte"));
        assert_eq!(found("a-images-idx3-ubyte.gz").as_deref(), Some("a-labels-idx1-ubyte.gz"));
        assert_eq!(found("b-images.idx3-ubyte").as_deref(), Some("b-labels.idx1-ubyte.gz"));
        assert_eq!(found("c-images-idx3-ubyte.zst").as_deref(), Some("c-labels-idx1-ubyte.xz"));
        assert_eq!(found("d-images-idx3-ubyte"), None);
        make("pictures");
        assert_eq!(found("pictures"), None);
    }

    #[test]
    #[allow(clippy::print_stderr)]
    fn mnist_is_read_whole() {
        let Some(folder) = std::env::var_os("NOVIKOFF_DATA") else {
            return eprintln!("skipped: NOVIKOFF_DATA names no folder with mnist/train-images-idx3-ubyte");
        };
        let images = Path::new(&folder).join("mnist/train-images-idx3-ubyte");
        let path = if images.is_file() { images } else { images.with_extension("gz") };
        let labels = IdxLabels::read(&Input::Path(labels_beside(&path).unwrap())).unwrap();
        let mut source = Source::open(&Input::Path(path)).unwrap();
        let header = header(&mut source).unwrap();
        assert_eq!((header.rows, header.features()), (60_000, 784));
        let parser = Arc::new(Idx::new(header, Some(labels), Labelling::Open).unwrap());
        let (mut report, mut fives) = (Report::default(), 0);
        let setup = Setup { threads: 2, skip_bad_rows: false };
        run(
            source,
            parser,
            setup,
            &mut report,
            &mut Unwatched,
            |rows: &mut ParsedRows, _: &mut dyn Observer| {
                fives +=
                    rows.labels.iter().filter(|&&id| rows.local_labels.names()[id as usize] == "5").count();
                Ok(Flow::Continue)
            },
        )
        .unwrap();
        assert_eq!((report.rows, fives), (60_000, 5421));
    }
}
