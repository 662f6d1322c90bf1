//! An opened data set: the right parser on the right bytes, and its batches with final numbers.

use super::batch::{Batch, Labelling};
use super::detect::{Format, detect};
use super::pipeline::{self, Outcome, Parser, Setup};
use super::source::{Input, Source};
use super::svmlight::Svmlight;
use crate::control::{Flow, Observer};
use crate::data::matrix::{Builder, Layout};
use crate::data::{Dataset, Labels, Report};
use crate::error::{Error, Result};
use crate::features::{Dictionary, Schema};
use std::path::PathBuf;
use std::sync::Arc;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; `None`: tell it by name and contents.
    pub format: Option<Format>,
    /// The first index of svmlight files, 0 or 1.
    pub base: u32,
    /// The largest index (or number of features) allowed.
    pub max_index: u32,
    /// Number features by `hash_bits` bits of their names' hashes instead of by a dictionary.
    pub hash_bits: Option<u8>,
    /// The labels of IDX images; `None`: the file beside them.
    pub labels: Option<PathBuf>,
    /// Leave out bad rows instead of giving up.
    pub skip_bad_rows: bool,
    /// Parsing threads.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { format: None, base: 1, max_index: 1 << 26, hash_bits: None, labels: None, skip_bad_rows: false, threads }
    }
}

/// What the rows are for.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Learning: labels and features are what the file says.
    Training,
    /// Measuring a model: labels and features are the model's, and every row has a label.
    Evaluation {
        /// The model's labels.
        labels: &'a Labels,
        /// The model's features.
        schema: &'a Schema,
        /// How many there are.
        features: usize,
    },
    /// Applying a model: labels are not looked at.
    Prediction {
        /// The model's features.
        schema: &'a Schema,
        /// How many there are.
        features: usize,
    },
}

impl Purpose<'_> {
    fn labelling(&self) -> Labelling {
        match self {
            Purpose::Training => Labelling::Open,
            Purpose::Evaluation { labels, .. } => Labelling::Known(Arc::new((*labels).clone())),
            Purpose::Prediction { .. } => Labelling::Ignored,
        }
    }

    fn schema(&self) -> Option<(&Schema, usize)> {
        match self {
            Purpose::Training => None,
            Purpose::Evaluation { schema, features, .. } | Purpose::Prediction { schema, features } => Some((schema, *features)),
        }
    }
}

/// Part of a data set, on its way to who wants it.
pub struct Chunk<'a> {
    /// The rows; indices and labels have their final numbers.
    pub batch: &'a mut Batch,
    /// The labels so far.
    pub labels: &'a Labels,
}

/// What the end of the input brought to light.
pub struct End {
    /// Whether it was reached.
    pub outcome: Outcome,
    /// All labels.
    pub labels: Labels,
    /// How features are numbered.
    pub schema: Schema,
    /// What was noticed.
    pub report: Report,
}

/// An opened data set.
pub struct Reader {
    source: Source,
    parser: Arc<dyn Parser>,
    setup: Setup,
    labels: Labels,
    schema: Schema,
    /// Names are being collected.
    growing: Option<Dictionary>,
    max_features: u32,
    /// Columns, where every row has them all.
    columns: Option<usize>,
    report: Report,
}

impl Reader {
    /// Opens an input and looks at its start.
    pub fn open(input: &Input, options: &Options, purpose: &Purpose<'_>) -> Result<Self> {
        let mut source = Source::open(input)?;
        let name = source.name().to_owned();
        let start = source.peek()?;
        if start.is_empty() {
            return Err(Error::input("the file is empty").at(name, 0, 0));
        }
        let format = match options.format {
            Some(format) => format,
            None => detect(&name, start)?,
        };
        let _ = format;
        let (schema, known_features) = match purpose.schema() {
            Some((schema, features)) => (schema.clone(), Some(features)),
            None => (Schema::Indexed { base: options.base }, None),
        };
        let Schema::Indexed { base } = schema else {
            return Err(Error::input("the model was not trained on svmlight data"));
        };
        let parser = Svmlight { base, max_index: options.max_index, labelling: purpose.labelling(), known_features };
        let labels = if let Purpose::Evaluation { labels, .. } = purpose { (*labels).clone() } else { Labels::default() };
        let setup = Setup { threads: options.threads, skip_bad_rows: options.skip_bad_rows };
        Ok(Self {
            source,
            parser: Arc::new(parser),
            setup,
            labels,
            schema,
            growing: None,
            max_features: options.max_index,
            columns: None,
            report: Report::default(),
        })
    }

    /// Gives every part of the data set to `consume`, in order; holds none of it.
    pub fn for_each(
        self,
        observer: &mut dyn Observer,
        mut consume: impl FnMut(Chunk<'_>, &mut dyn Observer) -> Result<Flow>,
    ) -> Result<End> {
        let Self { source, parser, setup, mut labels, schema, growing, mut report, .. } = self;
        let name = source.name().to_owned();
        let mut numbers = Vec::new();
        let outcome = pipeline::run(source, parser, setup, &mut report, observer, |batch, observer| {
            if !batch.local_labels.is_empty() {
                numbers.clear();
                numbers.extend(batch.local_labels.names().iter().map(|name| labels.intern(name)));
                batch.labels.iter_mut().for_each(|label| *label = numbers[*label as usize]);
            }
            consume(Chunk { batch, labels: &labels }, observer)
        })?;
        if report.rows == 0 && outcome == Outcome::Ended {
            return Err(no_rows(&name, &report));
        }
        let _ = growing;
        Ok(End { outcome, labels, schema, report })
    }

    /// Reads the whole data set.
    pub fn read(self, observer: &mut dyn Observer) -> Result<Dataset> {
        let total = self.source.total();
        let columns = self.columns;
        let mut builder = None;
        let (mut labels, mut weights) = (Vec::new(), Vec::new());
        let end = self.for_each(observer, |chunk, _| {
            let batch = chunk.batch;
            let rows: &mut Builder = builder.get_or_insert_with(|| Builder::new(layout(columns, batch)));
            let first = rows.rows() == 0;
            if !batch.weights.is_empty() || !weights.is_empty() {
                weights.resize(rows.rows(), 1.0);
                weights.extend((0..batch.rows()).map(|r| batch.weight(r)));
            }
            rows.append(&batch.starts, &batch.indices, &batch.values, batch.single);
            labels.extend_from_slice(&batch.labels);
            if let (true, Some(total)) = (first, total) {
                // A tenth more than the first part makes expect, so that one guess is mostly enough.
                rows.expect(1.1 * total as f64 / batch.bytes.max(1) as f64);
            }
            Ok(Flow::Continue)
        })?;
        if end.outcome == Outcome::Stopped {
            return Err(Error::interrupted());
        }
        let mut rows = builder.unwrap_or_else(|| Builder::new(Layout::Sparse)).finish();
        rows.widen(end.schema.features().unwrap_or(0));
        labels.shrink_to_fit();
        let (names, schema, report) = (end.labels, end.schema, end.report);
        Ok(Dataset { rows, labels, names, row_weights: weights, schema, report })
    }
}

fn no_rows(name: &str, report: &Report) -> Error {
    let error = if report.bad_rows > 0 {
        Error::input(format!("all {} rows are bad; the first: {}", report.bad_rows, report.first_bad.join("; ")))
    } else {
        Error::input("there are no rows in it")
    };
    error.at(name, 0, 0)
}

/// Dense if every row has all columns and that takes less memory, going by the first part.
fn layout(columns: Option<usize>, batch: &Batch) -> Layout {
    let width = if batch.single { 4 } else { 8 };
    match columns {
        Some(columns) if columns * batch.rows() * width <= batch.indices.len() * (width + 4) => Layout::Dense { columns },
        _ => Layout::Sparse,
    }
}
