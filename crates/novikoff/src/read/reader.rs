//! An opened data set: the right parser on the right bytes, and its batches with final numbers.

use super::bag::{Bag, Terms};
use super::batch::{Batch, Labelling};
use super::detect::{Format, detect};
use super::idx;
use super::json::Json;
use super::pipeline::{self, Outcome, Parser, Setup};
use super::source::{BLOCK, Cut, Input, Source};
use super::svmlight::Svmlight;
use super::table::{self, Header, Table, TableOptions};
use super::text::Text;
use super::vw::{self, Features, Vw};
use crate::control::{Flow, Observer};
use crate::data::assembly::{Assembly, Room, Store};
use crate::data::matrix::Layout;
use crate::data::{Dataset, Labels, Report, documents};
use crate::error::{Error, Result};
use crate::features::table::TableSchema;
use crate::features::text::{KeptNames, TextRecipe, TextSchema, Vocabulary};
use crate::features::{Dictionary, Missing, Schema};
use std::path::PathBuf;
use std::sync::Arc;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; `None`: tell it by name and contents.
    pub format: Option<Format>,
    /// The first index of svmlight files, 0 or 1; `None`: as the model says, 1 without one.
    pub base: Option<u32>,
    /// The largest index (or number of features) allowed.
    pub max_index: u32,
    /// Number named features by so many bits of their names' hashes; 0: by a dictionary. `None`: by a
    /// dictionary, but for a stream by [`STREAM_HASH_BITS`], as a dictionary would grow with every new name.
    pub hash_bits: Option<u8>,
    /// The labels of IDX images; `None`: the file beside them.
    pub labels: Option<PathBuf>,
    /// How tables are read.
    pub table: TableOptions,
    /// How documents become features, for training.
    pub recipe: TextRecipe,
    /// Keep the names of terms that are numbered by their hash.
    pub keep_names: bool,
    /// Leave out bad rows instead of giving up.
    pub skip_bad_rows: bool,
    /// Parsing threads.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            format: None,
            base: None,
            max_index: 1 << 26,
            hash_bits: None,
            labels: None,
            table: TableOptions::default(),
            recipe: TextRecipe::default(),
            keep_names: false,
            skip_bad_rows: false,
            threads,
        }
    }
}

/// Bits of the hash by which a stream's features are numbered, if nothing else is asked for: four million
/// features.
pub const STREAM_HASH_BITS: u8 = 22;

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Rows of features.
    Rows,
    /// Documents alone.
    Documents,
    /// Rows of features, some of them documents.
    DocumentsInRows,
}

/// What the rows are for.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Learning: labels and features are what the file says.
    Training,
    /// Learning to predict numbers: every label must be one.
    TrainingOnTargets,
    /// Measuring a model of regression: features are the model's, and every row has a label that is a number,
    /// seen in training or not.
    EvaluationOnTargets {
        /// The model's features.
        schema: &'a Schema,
        /// How many there are.
        features: usize,
    },
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
        /// The model's labels, by which a line of text is seen to begin with one.
        labels: &'a Labels,
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
            Purpose::TrainingOnTargets | Purpose::EvaluationOnTargets { .. } => Labelling::Numbers,
            Purpose::Evaluation { labels, .. } => Labelling::Known(Arc::new((*labels).clone())),
            Purpose::Prediction { .. } => Labelling::Ignored,
        }
    }

    fn schema(&self) -> Option<(&Schema, usize)> {
        match self {
            Purpose::Training | Purpose::TrainingOnTargets => None,
            Purpose::Evaluation { schema, features, .. }
            | Purpose::EvaluationOnTargets { schema, features }
            | Purpose::Prediction { schema, features, .. } => Some((schema, *features)),
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
    /// How many there are, where the input says so itself.
    pub features: Option<usize>,
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
    growing: Option<Growing>,
    /// Documents are being read whose schema is not known yet.
    documents: Option<Documents>,
    max_features: u32,
    /// Columns, where every row has them all.
    columns: Option<usize>,
    report: Report,
}

/// Names on their way into the schema.
#[derive(Default)]
struct Growing {
    names: Dictionary,
    /// The first feature that has one of them.
    first: u32,
    /// Whether features are numbered by something else than these.
    aside: bool,
    /// Whether they will be numbered anew when all are there.
    provisional: bool,
}

/// What the schema of documents will be made of, besides their terms.
struct Documents {
    recipe: TextRecipe,
    table: Option<Arc<TableSchema>>,
    bits: Option<u8>,
    keep_names: bool,
    /// Whether rows are counts yet, to be weighed when all are there.
    counts: bool,
}

impl Documents {
    fn schema(self, names: Dictionary) -> TextSchema {
        let vocabulary = match self.bits {
            None => Vocabulary::Named(names),
            Some(bits) => {
                Vocabulary::Hashed { bits, names: self.keep_names.then(|| KeptNames::new(names, bits)) }
            }
        };
        TextSchema::new(self.recipe, self.table, vocabulary, 0, Vec::new())
    }
}

/// Whether an input may be read more than once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// It may; what cannot be is held in memory where that is needed.
    Whole,
    /// It may not, and is not stored.
    Stream,
}

impl Reader {
    /// Opens an input and looks at its start. The columns of a table for training are told by a first pass
    /// over it.
    pub fn open(input: &Input, options: &Options, purpose: &Purpose<'_>) -> Result<Self> {
        Self::open_as(input, options, purpose, Manner::Whole)
    }

    /// Opens an input that is read once and never held. The columns of a table are told by its start.
    pub fn open_stream(input: &Input, options: &Options, purpose: &Purpose<'_>) -> Result<Self> {
        Self::open_as(input, options, purpose, Manner::Stream)
    }

    fn open_as(input: &Input, options: &Options, purpose: &Purpose<'_>, manner: Manner) -> Result<Self> {
        let folder = match input {
            Input::Path(path) if path.is_dir() => Some(path),
            _ => None,
        };
        let labelled = !matches!(purpose, Purpose::Prediction { .. });
        let mut source =
            folder.map_or_else(|| Source::open(input), |path| Source::open_folder(path, labelled))?;
        let name = source.name().to_owned();
        let start = source.peek()?;
        if start.is_empty() {
            return Err(Error::input("the file is empty").at(name, 1, 1).hint("is this the right file?"));
        }
        let format = match (options.format, purpose.schema()) {
            (None | Some(Format::Text), _) if folder.is_some() => Format::Text,
            (Some(format), _) if folder.is_some() => {
                let error =
                    Error::input(format!("this is a folder, not a file of the format {}", format.name()));
                return Err(error
                    .at(name, 0, 0)
                    .hint("name a file in it; a folder of documents has --format text"));
            }
            (Some(format), _) => format,
            (None, Some((Schema::Text(text), _))) => match (text.table(), detect(&name, start)) {
                (Some(_), _) => Format::Csv,
                (None, Ok(Format::Jsonl)) => Format::Jsonl,
                (None, _) => Format::Text,
            },
            (None, Some((Schema::Named(_) | Schema::Hashed { .. }, _))) => Format::Vw,
            (None, Some((Schema::Table(_), _))) => Format::Csv,
            // A file that is told to be something else must not pass for rows of labels without features.
            (None, Some((Schema::Indexed { .. }, _))) => detect(&name, start).unwrap_or(Format::Svmlight),
            // Who speaks of columns means a table, even if a column of it is prose.
            (None, _) => match detect(&name, start)? {
                Format::Text if options.table != TableOptions::default() => Format::Tsv,
                format => format,
            },
        };
        check_options(&name, format, options, purpose)?;
        let mut reader = Self {
            source,
            parser: Arc::new(Svmlight {
                base: 1,
                max_index: 0,
                labelling: Labelling::Ignored,
                known_features: None,
            }),
            setup: Setup { threads: options.threads, skip_bad_rows: options.skip_bad_rows },
            labels: Labels::default(),
            schema: Schema::one_based(),
            growing: None,
            documents: None,
            max_features: options.max_index,
            columns: None,
            report: Report::default(),
        };
        if let Purpose::Evaluation { labels, .. } = purpose {
            reader.labels = (*labels).clone();
        }
        match format {
            Format::Svmlight => reader.set_svmlight(options, purpose),
            Format::Vw => reader.set_vw(options, purpose, manner),
            Format::Idx => reader.set_idx(input, options, purpose)?,
            Format::Csv => reader.set_table(input, options, purpose, manner)?,
            Format::Tsv => {
                let delimiter = options.table.delimiter.or(Some(b'\t'));
                let table = TableOptions { delimiter, ..options.table.clone() };
                reader.set_table(input, &Options { table, ..options.clone() }, purpose, manner)?;
            }
            Format::Text => {
                let passed_over = match purpose {
                    Purpose::Prediction { labels, .. } => Some(Arc::new((*labels).clone())),
                    _ => None,
                };
                let bag = reader.bag(options, purpose, manner, None)?;
                reader.parser = Arc::new(Text { bag, labelling: purpose.labelling(), passed_over });
            }
            Format::Jsonl => {
                let bag = reader.bag(options, purpose, manner, None)?;
                let (label, texts) = (options.table.label.clone(), options.table.text.clone());
                reader.parser = Arc::new(Json { bag, labelling: purpose.labelling(), label, texts });
            }
        }
        Ok(reader)
    }

    fn set_svmlight(&mut self, options: &Options, purpose: &Purpose<'_>) {
        let (schema, known_features) = indexed(options, purpose);
        let Schema::Indexed { base } = schema else { return };
        self.schema = schema;
        self.parser = Arc::new(Svmlight {
            base,
            max_index: options.max_index,
            labelling: purpose.labelling(),
            known_features,
        });
    }

    fn set_vw(&mut self, options: &Options, purpose: &Purpose<'_>, manner: Manner) {
        let features = match (purpose.schema(), options.hash_bits) {
            (Some((Schema::Named(dictionary), _)), _) => Features::Known(dictionary.clone()),
            (Some((Schema::Hashed { bits }, _)), _) => Features::Hashed { bits: *bits },
            (_, None) if manner == Manner::Stream => Features::Hashed { bits: STREAM_HASH_BITS },
            (_, None | Some(0)) => Features::Grow,
            (_, Some(bits)) => Features::Hashed { bits },
        };
        match &features {
            Features::Known(dictionary) => self.schema = Schema::Named(dictionary.clone()),
            Features::Hashed { bits } => self.schema = Schema::Hashed { bits: *bits },
            Features::Grow => self.growing = Some(Growing::default()),
        }
        self.parser = Arc::new(Vw { features, labelling: purpose.labelling() });
    }

    fn set_idx(&mut self, input: &Input, options: &Options, purpose: &Purpose<'_>) -> Result<()> {
        let header = idx::header(&mut self.source)?;
        let (schema, known) = indexed(options, purpose);
        if let Some(features) = known.filter(|features| *features != header.features() as usize) {
            let what =
                format!("its images have {} pixels, the model was trained on {features}", header.features());
            return Err(Error::input(what).at(self.source.name(), 1, 1));
        }
        let beside = match input {
            Input::Path(path) => idx::labels_beside(path),
            _ => None,
        };
        let labels = match (&options.labels, purpose) {
            (_, Purpose::Prediction { .. }) => None,
            (Some(path), _) => Some(idx::IdxLabels::read(&Input::named(path))?),
            (None, _) => beside.map(|path| idx::IdxLabels::read(&Input::Path(path))).transpose()?,
        };
        self.schema = schema;
        self.columns = Some(header.features() as usize);
        self.report.image = header.image();
        self.parser = Arc::new(idx::Idx::new(header, labels, purpose.labelling())?);
        Ok(())
    }

    fn set_table(
        &mut self,
        input: &Input,
        options: &Options,
        purpose: &Purpose<'_>,
        manner: Manner,
    ) -> Result<()> {
        let labelling = purpose.labelling();
        let known = match purpose.schema() {
            Some((Schema::Table(schema), _)) => Some(schema),
            Some((Schema::Text(text), _)) => text.table(),
            _ => None,
        };
        let schema = match known {
            Some(schema) => schema.clone(),
            None => Arc::new(self.infer_columns(input, &options.table, &labelling, manner)?),
        };
        let start = self.source.look_ahead(Cut::Record { delimiter: schema.delimiter }, 0)?;
        let bag =
            if schema.has_text() { Some(self.bag(options, purpose, manner, Some(&schema))?) } else { None };
        if bag.is_none() {
            self.columns = Some(schema.features());
            self.schema = Schema::Table(schema.clone());
        }
        let table = Table::bind(schema, labelling, bag, &options.table.drop, self.source.name(), &start)?;
        self.report.remarks.extend_from_slice(table.remarks());
        self.parser = Arc::new(table);
        Ok(())
    }

    /// What documents go through on their way into rows, behind the features of a table's other columns.
    fn bag(
        &mut self,
        options: &Options,
        purpose: &Purpose<'_>,
        manner: Manner,
        table: Option<&Arc<TableSchema>>,
    ) -> Result<Bag> {
        if let Some((Schema::Text(schema), _)) = purpose.schema() {
            self.schema = Schema::Text(schema.clone());
            return Ok(Bag::of(schema));
        }
        let recipe = options.recipe.clone();
        recipe.validate().map_err(Error::usage)?;
        let bits = match options.hash_bits {
            None if manner == Manner::Stream => Some(STREAM_HASH_BITS),
            None | Some(0) => None,
            bits => bits,
        };
        if let (Manner::Stream, Some(what)) = (manner, recipe.needs_all_documents()) {
            let error = Error::usage(format!(
                "{what} needs all documents at once, and a stream shows them one by one"
            ));
            return Err(
                error.hint("leave that out with --online: --idf no, --min-documents 1, --max-documents 1.0")
            );
        }
        if bits.is_some() && (recipe.min_documents > 1 || recipe.max_share < 1.0) {
            let error = Error::usage(
                "with --hash-bits terms are not told apart, so that none can be left out for being rare or frequent",
            );
            return Err(error.hint("leave out --hash-bits, or --min-documents and --max-documents"));
        }
        let first = table.map_or(0, |table| table.features() as u32);
        let counts = manner == Manner::Whole;
        if bits.is_none() || options.keep_names {
            self.growing =
                Some(Growing { first, aside: bits.is_some(), provisional: counts, ..Growing::default() });
        }
        if let Some(most) =
            bits.map(|bits| (1u64 << bits) + u64::from(first)).filter(|most| *most > u64::from(u32::MAX))
        {
            return Err(Error::usage(format!("{most} features are more than can be numbered"))
                .hint("fewer --hash-bits"));
        }
        let terms = match bits {
            None => Terms::Grow,
            Some(bits) => Terms::Hashed { bits, names: options.keep_names },
        };
        self.max_features = self.max_features.min(MOST_TERMS);
        let keep_names = options.keep_names;
        self.documents =
            Some(Documents { recipe: recipe.clone(), table: table.cloned(), bits, keep_names, counts });
        Ok(Bag { recipe: Arc::new(recipe), terms, first, weighed: !counts })
    }

    /// Whether what is read are documents, alone or beside the columns of a table.
    pub fn contents(&self) -> Contents {
        let table = match (&self.documents, &self.schema) {
            (Some(documents), _) => documents.table.as_ref(),
            (None, Schema::Text(text)) => text.table(),
            (None, _) => return Contents::Rows,
        };
        if table.is_some_and(|table| table.features() > 0) {
            Contents::DocumentsInRows
        } else {
            Contents::Documents
        }
    }

    /// What the columns of a table are, from all of it or, of a stream, from its first part.
    fn infer_columns(
        &mut self,
        input: &Input,
        options: &TableOptions,
        labelling: &Labelling,
        manner: Manner,
    ) -> Result<TableSchema> {
        let inferred = if manner == Manner::Stream {
            let delimiter = options.delimiter_for(self.source.peek()?)?;
            let options = TableOptions { delimiter: Some(delimiter), ..options.clone() };
            let start = self.source.look_ahead(Cut::Record { delimiter }, BLOCK)?;
            table::infer_start(self.source.name(), &start, &options, labelling, self.setup)?
        } else {
            let held;
            let again = if self.source.total().is_some() && !matches!(input, Input::Stdin) {
                input
            } else {
                // Cannot be read twice: held in memory instead.
                let name = self.source.name().to_owned();
                let empty = Source::open(&Input::Bytes { name: name.clone(), bytes: Arc::new([]) })?;
                let bytes = std::mem::replace(&mut self.source, empty).read_all()?;
                held = Input::Bytes { name, bytes: bytes.into() };
                self.source = Source::open(&held)?;
                &held
            };
            table::infer(again, options, labelling, self.setup, &mut crate::control::Unwatched)?
        };
        self.report.remarks.extend(inferred.remarks);
        Ok(inferred.schema)
    }

    /// How features are numbered, as far as that is known: names that are yet to be collected are not.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether features are numbered by hashes: then most numbers may be those of no feature.
    pub fn is_hashed(&self) -> bool {
        self.documents.as_ref().map_or_else(|| self.schema.is_hashed(), |documents| documents.bits.is_some())
    }

    /// Gives every part of the data set to `consume`, in order; holds none of it.
    pub fn for_each(
        self,
        observer: &mut dyn Observer,
        mut consume: impl FnMut(Chunk<'_>, &mut dyn Observer) -> Result<Flow>,
    ) -> Result<End> {
        self.place_each(observer, |chunk, observer| consume(chunk, observer).map(|flow| (flow, None)))
    }

    /// The same, and where `consume` says so, the entries are put in place.
    fn place_each<'a>(
        self,
        observer: &mut dyn Observer,
        mut consume: impl FnMut(Chunk<'_>, &mut dyn Observer) -> Result<(Flow, Option<Room<'a>>)>,
    ) -> Result<End> {
        let Self {
            source,
            parser,
            setup,
            mut labels,
            mut schema,
            mut growing,
            documents,
            max_features,
            columns,
            mut report,
        } = self;
        let name = source.name().to_owned();
        let mut numbers = Vec::new();
        let outcome = pipeline::run(source, parser, setup, &mut report, observer, |batch, observer| {
            if let Some(growing) = &mut growing {
                growing.take_from(batch, max_features).map_err(|e| e.at(&name, 1, 1))?;
            }
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
        match (documents, growing) {
            (Some(documents), growing) => {
                schema = Schema::Text(Arc::new(documents.schema(growing.unwrap_or_default().names)));
            }
            (None, Some(growing)) => schema = Schema::Named(Arc::new(growing.names)),
            (None, None) => {}
        }
        let features = columns.or(schema.features());
        Ok(End { outcome, labels, schema, features, report })
    }

    /// Reads the whole data set.
    pub fn read(self, observer: &mut dyn Observer) -> Result<Dataset> {
        let name = self.source.name().to_owned();
        let fits = self.documents.as_ref().is_some_and(|documents| documents.counts);
        let mut data = self.read_rows(observer)?;
        if fits && let Schema::Text(schema) = std::mem::replace(&mut data.schema, Schema::one_based()) {
            let (weighing, naming) =
                documents::fit(&data.rows, Arc::unwrap_or_clone(schema)).map_err(|e| e.at(&name, 1, 1))?;
            let (rows, schema) = rayon::join(|| weighing.weigh(&data.rows), || naming.schema());
            (data.rows, data.schema) = (rows, Schema::Text(Arc::new(schema)));
        }
        Ok(data)
    }

    /// Reads the whole data set and splits it as [`Dataset::split`] does. The second part has no say in how
    /// documents become features: it is to the first as documents are that nobody has seen.
    pub fn read_split(
        self,
        fraction: f64,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(Dataset, Dataset)> {
        let name = self.source.name().to_owned();
        let fits = self.documents.as_ref().is_some_and(|documents| documents.counts);
        let data = self.read_rows(observer)?;
        if data.len() < 2 {
            return Err(Error::input("there are too few rows to hold some back").at(name, 1, 1));
        }
        let (mut kept, mut held) = data.split(fraction, seed);
        if fits && let Schema::Text(schema) = data.schema {
            let (weighing, naming) =
                documents::fit(&kept.rows, Arc::unwrap_or_clone(schema)).map_err(|e| e.at(&name, 1, 1))?;
            (kept.rows, held.rows) = (weighing.weigh(&kept.rows), weighing.weigh(&held.rows));
            let schema = Arc::new(naming.schema());
            (kept.schema, held.schema) = (Schema::Text(schema.clone()), Schema::Text(schema));
        }
        Ok((kept, held))
    }

    /// Reads the whole data set; documents for training as counts.
    fn read_rows(self, observer: &mut dyn Observer) -> Result<Dataset> {
        // How large a compressed file is says nothing of what comes out of it.
        let total = self.source.total().filter(|_| !self.source.is_compressed());
        let columns = self.columns;
        let mut store = Store::default();
        let mut rows = Assembly::new(&mut store);
        let (mut labels, mut weights) = (Vec::new(), Vec::new());
        let end = self.place_each(observer, |Chunk { batch, .. }, _| {
            if !batch.weights.is_empty() || !weights.is_empty() {
                weights.resize(rows.rows(), 1.0);
                weights.extend((0..batch.rows()).map(|r| batch.weight(r)));
            }
            labels.extend_from_slice(&batch.labels);
            let parts = total.map(|total| total as f64 / batch.bytes.max(1) as f64);
            Ok((Flow::Continue, rows.append(batch.part(), || layout(columns, batch), parts)))
        })?;
        if end.outcome == Outcome::Stopped {
            return Err(Error::interrupted());
        }
        let rows = rows.end();
        let mut rows = store.finish(rows);
        rows.widen(end.features.unwrap_or(0));
        labels.shrink_to_fit();
        let (names, schema, report) = (end.labels, end.schema, end.report);
        Ok(Dataset { rows, labels, names, row_weights: weights, schema, report })
    }
}

/// Most different terms: their names take some 2 GB.
const MOST_TERMS: u32 = 1 << 24;

impl Growing {
    /// Takes the names of a batch, and gives its features their numbers.
    fn take_from(&mut self, batch: &mut Batch, max_features: u32) -> Result<()> {
        if !self.aside {
            vw::globalise(batch, &mut self.names, self.first, max_features)?;
            if !self.provisional {
                batch.sort_rows();
            }
            return Ok(());
        }
        for name in batch.local_features.names() {
            self.names.intern(name);
        }
        if self.names.len() > max_features as usize {
            let error = Error::input(format!("there are more than {max_features} different names to keep"));
            return Err(error.hint("leave out --keep-names"));
        }
        Ok(())
    }
}

/// The schema of numbered features, and how many of them a model knows.
fn indexed(options: &Options, purpose: &Purpose<'_>) -> (Schema, Option<usize>) {
    match purpose.schema() {
        Some((Schema::Indexed { base }, features)) => {
            (Schema::Indexed { base: options.base.unwrap_or(*base) }, Some(features))
        }
        _ => (Schema::Indexed { base: options.base.unwrap_or(1) }, None),
    }
}

/// Options that say nothing of this format, or of what the model was trained on, are mistakes.
fn check_options(name: &str, format: Format, options: &Options, purpose: &Purpose<'_>) -> Result<()> {
    let is_table = matches!(format, Format::Csv | Format::Tsv);
    let is_text = matches!(format, Format::Text | Format::Jsonl);
    let fits = match purpose.schema() {
        None => true,
        Some((Schema::Indexed { .. }, _)) => matches!(format, Format::Svmlight | Format::Idx),
        Some((Schema::Named(_) | Schema::Hashed { .. }, _)) => format == Format::Vw,
        Some((Schema::Table(_), _)) => is_table,
        Some((Schema::Text(text), _)) if text.table().is_some() => is_table,
        Some((Schema::Text(_), _)) => is_text,
    };
    if !fits {
        let trained = match purpose.schema() {
            Some((Schema::Indexed { .. }, _)) => "svmlight or idx",
            Some((Schema::Table(_), _)) => "csv or tsv",
            Some((Schema::Text(text), _)) if text.table().is_some() => "csv or tsv",
            Some((Schema::Text(_), _)) => "text or jsonl",
            _ => "vw",
        };
        let error =
            Error::input(format!("this is {}, and the model was trained on {trained}", format.name()))
                .at(name, 1, 1);
        return Err(error.hint("give rows of that format, or say by --format what these really are"));
    }
    let has_terms = is_text || is_table && (!options.table.text.is_empty() || purpose.schema().is_some());
    if options.hash_bits.is_some() && format != Format::Vw && !has_terms {
        return Err(Error::usage("--hash-bits is for documents and the format vw")
            .hint("say --format vw if that is what this is"));
    }
    if options.keep_names && !(has_terms && options.hash_bits.is_some()) {
        return Err(Error::usage("--keep-names keeps the names of terms that are hashed")
            .hint("leave it out, or give --hash-bits"));
    }
    let keyed = is_table || format == Format::Jsonl;
    if (options.table.label.is_some() && !keyed) || (options.table.row_weights.is_some() && !is_table) {
        return Err(Error::usage("--label and --row-weights name columns of a table")
            .hint("say --format csv if this is one"));
    }
    if !options.table.text.is_empty() && !keyed {
        let error = Error::usage(
            "--text names the columns of a table, or the keys of JSON lines, that hold documents",
        );
        return Err(error.hint("leave it out, or say --format csv or jsonl"));
    }
    let TableOptions { drop, header, missing, delimiter, .. } = &options.table;
    let for_tables =
        !drop.is_empty() || *header != Header::Found || *missing != Missing::Error || delimiter.is_some();
    if for_tables && !is_table {
        let error = Error::usage("--drop, --missing, --delimiter, --header and --no-header are for tables");
        return Err(error.hint("leave them out, or say --format csv if this is one"));
    }
    if options.labels.is_some() && format != Format::Idx {
        return Err(Error::usage("--labels names the labels of IDX images")
            .hint("for the column of a table say --label"));
    }
    if options.base.is_some() && format != Format::Svmlight {
        return Err(Error::usage("--zero-based is for the format svmlight")
            .hint("say --format svmlight if that is what this is"));
    }
    Ok(())
}

fn no_rows(name: &str, report: &Report) -> Error {
    let error = if report.bad_rows > 0 {
        Error::input(format!(
            "all {} rows are bad; the first: {}",
            report.bad_rows,
            report.first_bad.join("; ")
        ))
    } else {
        Error::input("there are no rows in it").hint("is this the right file?")
    };
    error.at(name, 1, 1)
}

/// Dense if every row has all columns and that takes less memory, going by the first part.
fn layout(columns: Option<usize>, batch: &Batch) -> Layout {
    let width = if batch.single { 4 } else { 8 };
    match columns {
        Some(columns) if columns * batch.rows() * width <= batch.indices.len() * (width + 4) => {
            Layout::Dense { columns }
        }
        _ => Layout::Sparse,
    }
}
