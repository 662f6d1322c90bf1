//! An opened data set: the parser for its format, and rows with their final numbers.

use super::bag::{Bag, Terms};
use super::columnar::{self, Names, Spec, Wanted};
use super::detect::{Format, detect, detect_columnar};
use super::idx;
use super::json::Json;
use super::parsed_rows::{Labelling, ParsedRows};
use super::parts::{self, Headers, OtherHeaders};
use super::pipeline::{self, Accepted, Parser, Setup, Sink};
use super::source::{Again, BLOCK, Cut, Folders, Input, Opening, Origin, Source};
use super::svmlight::Svmlight;
use super::table::{self, Header, Table, TableOptions};
use super::text::{self, Text};
use super::vw::{self, Features, Vw};
use crate::control::{Flow, Observer, Unwatched};
use crate::data::assembly::{Assembler, Store};
use crate::data::matrix::Layout;
use crate::data::{Dataset, Filled, Labels, Refittable, Report, documents};
use crate::error::{Error, Result};
use crate::features::namespaces::{FeatureNumbering, Interactions, NamespaceSchema};
use crate::features::table::{Role, TableSchema};
use crate::features::text::{HashedNames, TextRecipe, TextSchema, Vocabulary};
use crate::features::{Dictionary, Missing, Schema};
use crate::memory::Estimate;
use std::path::PathBuf;
use std::sync::Arc;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; `None`: detect it from name and contents.
    pub format: Option<Format>,
    /// The first index of svmlight files, 0 or 1; `None`: as the model says, 1 without one.
    pub base: Option<u32>,
    /// The largest index (or number of features) allowed.
    pub max_index: u32,
    /// Number named features by so many bits of their names' hashes; 0: by a dictionary. `None`: by a
    /// dictionary, but for a stream by 22 bits, as a dictionary would grow with every new name.
    pub hash_bits: Option<u8>,
    /// Whose features are multiplied: namespaces of Vowpal Wabbit's format by their first letters (`ab`), or
    /// columns of a table by their names (`a*b`).
    pub interactions: Vec<String>,
    /// The labels of IDX images; `None`: the file beside them.
    pub labels: Option<PathBuf>,
    /// How tables are read.
    pub table: TableOptions,
    /// How documents become features, for training.
    pub recipe: TextRecipe,
    /// Keep the names of terms that are numbered by their hash.
    pub keep_names: bool,
    /// Columns of a table to keep beside its rows, by their names or numbers from 1, in rows that are read
    /// for a model.
    pub with: Vec<String>,
    /// Leave out bad rows instead of giving up.
    pub skip_bad_rows: bool,
    /// Parsing threads.
    pub threads: usize,
    /// Most bytes that the rows may take, by an estimate from the first of them; `None`: what is available.
    pub memory: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            format: None,
            base: None,
            max_index: MAX_INDEX,
            hash_bits: None,
            interactions: Vec::new(),
            labels: None,
            table: TableOptions::default(),
            recipe: TextRecipe::default(),
            keep_names: false,
            with: Vec::new(),
            skip_bad_rows: false,
            threads,
            memory: None,
        }
    }
}

/// The largest index allowed, and the largest number of named features, if nothing else is asked for.
pub(super) const MAX_INDEX: u32 = 1 << 26;

/// Bits of the hash by which a stream's features are numbered, if nothing else is asked for: four million
/// features.
pub(crate) const STREAM_HASH_BITS: u8 = 22;

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
    /// Learning that goes on from a model: features are the model's and, where names or indices can be new,
    /// those that are added; so are labels.
    Continuing {
        /// The labels so far, in the order in which they occurred; `None` for numbers to predict.
        labels: Option<&'a Labels>,
        /// The model's features.
        schema: &'a Schema,
        /// How many there are.
        features: usize,
    },
    /// Measuring a model of regression: features are the model's, and every row has a label that is a number,
    /// seen in training or not.
    EvaluationOnTargets {
        /// The model's features.
        schema: &'a Schema,
        /// How many there are.
        features: usize,
    },
    /// Measuring a model: features are the model's, and every row has a label; those that the model does not know
    /// are numbered behind its own.
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
            // The labels that a model knows come first.
            Purpose::Training | Purpose::Continuing { labels: Some(_), .. } | Purpose::Evaluation { .. } => {
                Labelling::Open
            }
            Purpose::TrainingOnTargets
            | Purpose::Continuing { labels: None, .. }
            | Purpose::EvaluationOnTargets { .. } => Labelling::Numbers,
            Purpose::Prediction { .. } => Labelling::Ignored,
        }
    }

    fn schema(&self) -> Option<(&Schema, usize)> {
        match self {
            Purpose::Training | Purpose::TrainingOnTargets => None,
            Purpose::Evaluation { schema, features, .. }
            | Purpose::EvaluationOnTargets { schema, features }
            | Purpose::Continuing { schema, features, .. }
            | Purpose::Prediction { schema, features, .. } => Some((schema, *features)),
        }
    }
}

/// Some consecutive rows of a data set.
pub struct Chunk<'a> {
    /// The rows; indices and labels have their final numbers.
    pub rows: &'a ParsedRows,
    /// The labels so far.
    pub labels: &'a Labels,
}

/// What is known of an input once it has been read.
pub struct Summary {
    /// [`Flow::Stop`] if the observer or the consumer stopped the reading before the end.
    pub flow: Flow,
    /// All labels.
    pub labels: Labels,
    /// How features are numbered.
    pub schema: Schema,
    /// How many there are, where the input says so itself.
    pub features: Option<usize>,
    /// What was counted.
    pub report: Report,
}

/// An opened data set.
pub struct Reader {
    input: OpenInput,
    numbering: Numbering,
    schema: Schema,
    /// Documents whose schema is not known yet.
    documents: Option<Documents>,
    /// Columns, where every row has them all.
    columns: Option<usize>,
    /// Whose features are multiplied, of namespaces.
    interactions: Arc<Interactions>,
    /// The names of the columns that are kept beside the rows.
    kept: Vec<String>,
    /// Most bytes that the rows may take.
    memory: Option<u64>,
    /// How many labels the model knows that is to be measured.
    known_labels: Option<usize>,
}

/// Names of features that are being collected for the schema.
#[derive(Default)]
struct NewNames {
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
    /// The number of documents that a model, which these go on from, knows of.
    before: u64,
}

impl Documents {
    fn schema(self, names: Dictionary) -> TextSchema {
        let vocabulary = match self.bits {
            None => Vocabulary::Named(names),
            Some(bits) => {
                Vocabulary::Hashed { bits, names: self.keep_names.then(|| HashedNames::new(names, bits)) }
            }
        };
        TextSchema::new(self.recipe, self.table, vocabulary, self.before, Vec::new())
    }
}

/// How an input may be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// More than once; an input that cannot be is held in memory where that is needed.
    Whole,
    /// Once, without storing it.
    Stream,
}

impl Reader {
    /// Opens an input and looks at its start. The columns of a table for training are inferred from a first
    /// pass over it.
    pub fn open(input: &Input, options: &Options, purpose: &Purpose<'_>) -> Result<Self> {
        Self::open_observed(input, options, purpose, &mut Unwatched)
    }

    /// The same, with an observer of the first pass.
    pub fn open_observed(
        input: &Input,
        options: &Options,
        purpose: &Purpose<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        Self::open_as(input, options, purpose, Access::Whole, observer)
    }

    /// Opens an input that is read once and never held. The columns of a table are inferred from its start.
    pub fn open_stream(input: &Input, options: &Options, purpose: &Purpose<'_>) -> Result<Self> {
        Self::open_as(input, options, purpose, Access::Stream, &mut Unwatched)
    }

    fn open_as(
        input: &Input,
        options: &Options,
        purpose: &Purpose<'_>,
        access: Access,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let folders = match purpose {
            Purpose::Prediction { .. } => Folders::Unlabelled,
            _ => Folders::Labelled,
        };
        let mut opening = Opening { folders, headers: Headers::Unknown, columnar: None };
        let mut source = Source::open_as(input, &opening)?;
        let name = source.first_name().to_owned();
        let start = source.peek()?.to_vec();
        if start.is_empty() {
            let error = source.origin().place_of_all(Error::input("the file is empty"));
            return Err(error.hint("is this the right file?"));
        }
        let format = match has_folder(input) {
            true => format_of_folder(&name, options)?,
            false => format_of_file(&name, &start, options, purpose)?,
        };
        check_options(&name, format, options, purpose)?;
        let held;
        let mut input = input;
        if format.is_columnar() {
            opening.columnar = Some(text_of_columns(input, format, options, purpose));
            held = held_if_a_stream(input, source, options)?;
            input = &held;
            source = Source::open_as(input, &opening)?;
        }
        let mut reader = Self::unset(source, options);
        reader.check_parts(input, format)?;
        if let Purpose::Evaluation { labels, .. } | Purpose::Continuing { labels: Some(labels), .. } = purpose
        {
            reader.numbering.labels = (*labels).clone();
            reader.known_labels = matches!(purpose, Purpose::Evaluation { .. }).then(|| labels.len());
        }
        match format {
            Format::Svmlight => reader.set_svmlight(options, purpose),
            Format::Vw => reader.set_vw(options, purpose, access)?,
            Format::Idx => reader.set_idx(input, options, purpose)?,
            Format::Csv => {
                reader.set_table(Again::Input(input, opening), options, purpose, access, observer)?
            }
            Format::Tsv => {
                let delimiter = options.table.delimiter.or(Some(b'\t'));
                let table = TableOptions { delimiter, ..options.table.clone() };
                let options = Options { table, ..options.clone() };
                reader.set_table(Again::Input(input, opening), &options, purpose, access, observer)?;
            }
            Format::Parquet | Format::Arrow => {
                let options = as_text_of_columns(input, options, purpose);
                reader.set_table(Again::Input(input, opening), &options, purpose, access, observer)?;
                reader.input.report.remarks.retain(|remark| remark != table::HEADER_FOUND);
            }
            Format::Text => {
                let has_header = text::names_columns(first_line(&start));
                reader.input.report.remarks.extend(has_header.then(|| "header found".to_owned()));
                reader.set_text(options, purpose, access)?;
            }
            Format::Jsonl => reader.set_json(options, purpose, access)?,
        }
        reader.check_limit(format, options, purpose)?;
        Ok(reader)
    }

    /// Whether several files can be one data set of this format.
    fn check_parts(&mut self, input: &Input, format: Format) -> Result<()> {
        let source = &self.input.source;
        let Some(parts) = source.parts() else { return Ok(()) };
        parts::check_formats(parts.surveys(), format)?;
        if format == Format::Idx {
            let error = Error::input("images of the format idx are read from one file");
            return Err(error.at(source.name(), 0, 0).hint("name one file of images"));
        }
        self.input.report.warnings = parts::warnings(input.parts(), parts.surveys())?;
        match format {
            // The header of a table is for later.
            _ if format.is_table() => {}
            Format::Text => parts.go_on(Headers::OfDocuments),
            _ => parts.go_on(Headers::None),
        }
        Ok(())
    }

    /// A reader whose schema and parser are still to be set, by the format.
    fn unset(source: Source, options: &Options) -> Self {
        let origin = source.origin();
        let nothing = Svmlight { base: 1, max_index: 0, labelling: Labelling::Ignored, known_features: None };
        Self {
            input: OpenInput {
                source,
                parser: Arc::new(nothing),
                setup: Setup { threads: options.threads, skip_bad_rows: options.skip_bad_rows },
                report: Report::default(),
            },
            numbering: Numbering { origin, max_features: options.max_index, ..Numbering::default() },
            schema: Schema::one_based(),
            documents: None,
            columns: None,
            interactions: Arc::default(),
            kept: Vec::new(),
            memory: options.memory,
            known_labels: None,
        }
    }

    fn set_text(&mut self, options: &Options, purpose: &Purpose<'_>, access: Access) -> Result<()> {
        let passed_over = match purpose {
            Purpose::Prediction { labels, .. } => Some(Arc::new((*labels).clone())),
            _ => None,
        };
        let bag = self.bag(options, purpose, access, None)?;
        self.input.parser = Arc::new(Text { bag, labelling: purpose.labelling(), passed_over });
        Ok(())
    }

    fn set_json(&mut self, options: &Options, purpose: &Purpose<'_>, access: Access) -> Result<()> {
        let bag = self.bag(options, purpose, access, None)?;
        let (label, texts) = (options.table.label.clone(), options.table.text.clone());
        self.input.parser = Arc::new(Json { bag, labelling: purpose.labelling(), label, texts });
        Ok(())
    }

    /// A limit of what is not counted is a mistake.
    fn check_limit(&self, format: Format, options: &Options, purpose: &Purpose<'_>) -> Result<()> {
        let is_counted = format == Format::Svmlight || self.numbering.new_names.is_some();
        if options.max_index == MAX_INDEX || is_counted || purpose.schema().is_some() {
            return Ok(());
        }
        let what =
            "`max_index` limits indices of svmlight, and names of features that are kept: there are none";
        Err(Error::usage(what).hint("leave out `max_index`"))
    }

    fn set_svmlight(&mut self, options: &Options, purpose: &Purpose<'_>) {
        let (schema, known_features) = indexed(options, purpose);
        let Schema::Indexed { base } = schema else { return };
        let is_open = matches!(purpose, Purpose::Continuing { .. });
        let known_features = known_features.filter(|_| !is_open);
        self.schema = schema;
        self.input.parser = Arc::new(Svmlight {
            base,
            max_index: options.max_index,
            labelling: purpose.labelling(),
            known_features,
        });
    }

    fn set_vw(&mut self, options: &Options, purpose: &Purpose<'_>, access: Access) -> Result<()> {
        let hint = "for example `interactions = ab`, or `interactions = ::` for every two namespaces";
        let interactions = match purpose.schema() {
            Some((Schema::Namespaces(schema), _)) => schema.interactions.clone(),
            Some(_) => Interactions::default(),
            None => Interactions::new(&options.interactions).map_err(|what| Error::usage(what).hint(hint))?,
        };
        let names_so_far = names_to_extend(purpose);
        let features = match (purpose.schema(), options.hash_bits) {
            _ if names_so_far.is_some() => Features::Grow,
            (Some((Schema::Named(dictionary), _)), _) => Features::Fixed(dictionary.clone()),
            (Some((Schema::Hashed { bits }, _)), _) => Features::Hashed { bits: *bits },
            (Some((Schema::Namespaces(schema), _)), _) => Features::of(schema),
            (_, None) if access == Access::Stream => Features::Hashed { bits: STREAM_HASH_BITS },
            (_, None | Some(0)) => Features::Grow,
            (_, Some(bits)) => Features::Hashed { bits },
        };
        match &features {
            Features::Grow => {
                let names = names_so_far.cloned().unwrap_or_default();
                self.numbering.new_names = Some(NewNames { names, ..NewNames::default() });
            }
            Features::Hashed { bits } => {
                self.schema = of_namespaces(FeatureNumbering::Hashed { bits: *bits }, &interactions);
            }
            Features::Fixed(names) => {
                self.schema = of_namespaces(FeatureNumbering::Named(names.clone()), &interactions);
            }
            Features::Murmur(murmur) => {
                self.schema = of_namespaces(FeatureNumbering::Murmur(murmur.clone()), &interactions);
            }
        }
        let interactions = Arc::new(interactions);
        self.interactions = interactions.clone();
        self.input.parser = Arc::new(Vw { features, interactions, labelling: purpose.labelling() });
        Ok(())
    }

    fn set_idx(&mut self, input: &Input, options: &Options, purpose: &Purpose<'_>) -> Result<()> {
        let header = idx::header(&mut self.input.source)?;
        let (schema, known) = indexed(options, purpose);
        if let Some(features) = known.filter(|features| *features != header.features() as usize) {
            let what =
                format!("its images have {} pixels, the model was trained on {features}", header.features());
            return Err(Error::input(what).at(self.input.source.name(), 1, 1));
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
        self.input.report.image = header.image();
        self.input.parser = Arc::new(idx::Idx::new(header, labels, purpose.labelling())?);
        Ok(())
    }

    fn set_table(
        &mut self,
        input: Again<'_>,
        options: &Options,
        purpose: &Purpose<'_>,
        access: Access,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let origin = self.input.source.origin();
        let known = match purpose.schema() {
            Some((Schema::Table(schema), _)) => Some(schema),
            Some((Schema::Text(text), _)) => text.table(),
            _ => None,
        };
        match known {
            Some(schema) => {
                check_terms(Format::Csv, true, options)?;
                self.set_known_table(schema, options, purpose, access)
            }
            None => self.set_new_table(input, options, purpose, access, observer),
        }
        .map_err(|error| origin.place_again(error))
    }

    /// A table whose columns are to be inferred.
    fn set_new_table(
        &mut self,
        input: Again<'_>,
        options: &Options,
        purpose: &Purpose<'_>,
        access: Access,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (input, given) = self.join_tables(input, &options.table)?;
        let labelling = purpose.labelling();
        let columns = (&given, &options.interactions[..]);
        let schema = Arc::new(self.infer_columns(&input, columns, &labelling, access, observer)?);
        let start = self.input.source.look_ahead(Cut::Record { delimiter: schema.delimiter }, 0)?;
        check_terms(Format::Csv, schema.has_text(), options)?;
        let bag =
            if schema.has_text() { Some(self.bag(options, purpose, access, Some(&schema))?) } else { None };
        if bag.is_none() {
            self.columns = Some(schema.features());
            self.schema = Schema::Table(schema.clone());
        }
        let table =
            Table::bind(schema, labelling, bag, &options.table.drop, self.input.source.name(), &start)?;
        self.input.report.remarks.extend_from_slice(table.remarks());
        self.input.parser = Arc::new(table);
        Ok(())
    }

    /// Finds out whether later ones of several files may repeat the header of the first, and lets the reading
    /// go on behind that one. With it comes how the input is opened again, and how it is read.
    fn join_tables<'a>(
        &mut self,
        input: Again<'a>,
        given: &TableOptions,
    ) -> Result<(Again<'a>, TableOptions)> {
        let mut given = given.clone();
        let source = &mut self.input.source;
        let Again::Input(whole, mut opening) = input else { return Ok((input, given)) };
        opening.headers = Headers::None;
        if source.parts().is_some() {
            let delimiter = given.delimiter_for(source.peek()?)?;
            let start = source.look_ahead(Cut::Record { delimiter }, 0)?;
            if let Some(header) = table::repeatable_header(source.first_name(), &start, &given, delimiter) {
                let is_known = header.others == OtherHeaders::Refused;
                if is_known || header.is_repeated(whole.parts(), source.surveys())? {
                    given.header = Header::Present;
                    opening.headers = Headers::OfTable(Arc::new(header));
                }
            }
            source.go_on(opening.headers.clone());
        }
        Ok((Again::Input(whole, opening), given))
    }

    /// The same for tables whose columns a model knows.
    fn join_known_tables(&mut self, schema: &TableSchema) -> Result<()> {
        let source = &mut self.input.source;
        if source.parts().is_none() {
            return Ok(());
        }
        let given = TableOptions { header: Header::Present, ..TableOptions::default() };
        let start = source.look_ahead(Cut::Record { delimiter: schema.delimiter }, 0)?;
        let header = table::repeatable_header(source.first_name(), &start, &given, schema.delimiter);
        source.go_on(match header.filter(|_| schema.header) {
            Some(header) => Headers::OfTable(Arc::new(header)),
            None => Headers::None,
        });
        Ok(())
    }

    /// A table whose columns a model knows.
    fn set_known_table(
        &mut self,
        known: &Arc<TableSchema>,
        options: &Options,
        purpose: &Purpose<'_>,
        access: Access,
    ) -> Result<()> {
        let (labelling, mut given) = (purpose.labelling(), options.table.clone());
        if options.format == Some(Format::Csv) && known.delimiter == b'\t' && given.delimiter.is_none() {
            given.delimiter = Some(given.delimiter_for(self.input.source.peek()?)?);
        }
        if let Some(other) = table::other_delimiter(known, &given, self.input.source.peek()?) {
            self.input.report.remarks.push(format!("delimiter {:?}", char::from(other).to_string()));
            given.delimiter = Some(other);
        }
        let schema = table::applied(known, &given)?;
        self.join_known_tables(&schema)?;
        let bag =
            if schema.has_text() { Some(self.bag(options, purpose, access, Some(&schema))?) } else { None };
        if bag.is_none() {
            self.columns = Some(schema.features());
            self.schema = Schema::Table(known.clone());
        }
        let start = self.input.source.look_ahead(Cut::Record { delimiter: schema.delimiter }, 0)?;
        let name = self.input.source.name().to_owned();
        let columns = table::Columns::of(&schema, &name, &start)?;
        // The column is there, whatever the model knows of it.
        columns.kept(given.row_weights.as_slice(), &name)?;
        let fields = columns.kept(&options.with, &name)?;
        let passed_over = columns.passed_over(&schema, &labelling, &given.drop, &fields, &name)?;
        self.kept = columns.names(&fields);
        let (delimiter, header, width) = (schema.delimiter, schema.header, columns.width());
        let table = Table::bind(schema, labelling, bag, &passed_over, &name, &start)?;
        self.input.report.remarks.extend_from_slice(table.remarks());
        let table: Arc<dyn Parser> = Arc::new(table);
        self.input.parser = if fields.is_empty() {
            table
        } else {
            Arc::new(table::Keeping { table, fields, width, delimiter, header })
        };
        Ok(())
    }

    /// The names of the columns that are kept beside the rows, in the order of `Options::with`.
    pub fn kept_columns(&self) -> &[String] {
        &self.kept
    }

    /// What documents go through on their way into rows, behind the features of a table's other columns.
    fn bag(
        &mut self,
        options: &Options,
        purpose: &Purpose<'_>,
        access: Access,
        table: Option<&Arc<TableSchema>>,
    ) -> Result<Bag> {
        if let Purpose::Continuing { schema: Schema::Text(schema), .. } = purpose
            && schema.recipe().needs_all_documents().is_none()
        {
            return Ok(self.growing_bag(schema, table));
        }
        if let Some((Schema::Text(schema), _)) = purpose.schema() {
            self.schema = Schema::Text(schema.clone());
            return Ok(Bag::of(schema));
        }
        let recipe = options.recipe.clone();
        recipe.validate().map_err(Error::usage)?;
        let bits = match options.hash_bits {
            None if access == Access::Stream => Some(STREAM_HASH_BITS),
            None | Some(0) => None,
            bits => bits,
        };
        if let (Access::Stream, Some(what)) = (access, recipe.needs_all_documents()) {
            let error = Error::usage(format!(
                "{what} needs all documents at once, and a stream shows them one by one"
            ));
            return Err(error.hint(
                "leave that out with `online`: `idf = no`, `min_documents = 1`, `max_documents = 1.0`",
            ));
        }
        if bits.is_some() && (recipe.min_documents > 1 || recipe.max_share < 1.0) {
            let error = Error::usage(
                "with `hash_bits` terms are not told apart, so that none can be left out for being rare or \
                 frequent",
            );
            return Err(error.hint("leave out `hash_bits`, or `min_documents` and `max_documents`"));
        }
        let first = table.map_or(0, |table| table.features() as u32);
        let counts = access == Access::Whole;
        if bits.is_none() || options.keep_names {
            self.numbering.new_names =
                Some(NewNames { first, aside: bits.is_some(), provisional: counts, ..NewNames::default() });
        }
        if let Some(most) =
            bits.map(|bits| (1u64 << bits) + u64::from(first)).filter(|most| *most > u64::from(u32::MAX))
        {
            return Err(Error::usage(format!("{most} features are more than can be numbered"))
                .hint("fewer `hash_bits`"));
        }
        let terms = match bits {
            None => Terms::Grow,
            Some(bits) => Terms::Hashed { bits, names: options.keep_names },
        };
        self.numbering.max_features = self.numbering.max_features.min(MOST_TERMS);
        let keep_names = options.keep_names;
        self.documents = Some(Documents {
            recipe: recipe.clone(),
            table: table.cloned(),
            bits,
            keep_names,
            counts,
            before: 0,
        });
        Ok(Bag { recipe: Arc::new(recipe), terms, first, weighed: !counts })
    }

    /// The same for documents that go on from a model's: new terms are added to its own.
    fn growing_bag(&mut self, known: &Arc<TextSchema>, table: Option<&Arc<TableSchema>>) -> Bag {
        let first = known.table().map_or(0, |table| table.features() as u32);
        let recipe = known.recipe().clone();
        let (bits, names) = match known.vocabulary() {
            Vocabulary::Named(names) => (None, Some(names.clone())),
            Vocabulary::Hashed { bits, names } => {
                (Some(*bits), names.as_ref().map(|names| names.dictionary().clone()))
            }
        };
        let keep_names = bits.is_some() && names.is_some();
        self.numbering.max_features = self.numbering.max_features.min(MOST_TERMS);
        self.numbering.new_names =
            names.map(|names| NewNames { names, first, aside: bits.is_some(), provisional: false });
        let table = known.table().or(table).cloned();
        self.documents = Some(Documents {
            recipe: recipe.clone(),
            table,
            bits,
            keep_names,
            counts: false,
            before: known.frequencies().0,
        });
        let terms = match bits {
            None => Terms::Grow,
            Some(bits) => Terms::Hashed { bits, names: keep_names },
        };
        Bag { recipe: Arc::new(recipe), terms, first, weighed: true }
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
        input: &Again<'_>,
        (options, interactions): (&TableOptions, &[String]),
        labelling: &Labelling,
        access: Access,
        observer: &mut dyn Observer,
    ) -> Result<TableSchema> {
        let inferred = if access == Access::Stream {
            let delimiter = options.delimiter_for(self.input.source.peek()?)?;
            let options = TableOptions { delimiter: Some(delimiter), ..options.clone() };
            let start = self.input.source.look_ahead(Cut::Record { delimiter }, BLOCK)?;
            let origin = self.input.source.origin();
            let inferred = table::infer_start(&origin, &start, &options, labelling, self.input.setup)?;
            let inferred = table::without_unused_means(inferred);
            table::with_products_at_start(inferred, interactions, labelling, origin.name(), &start)?
        } else {
            let held;
            let again = match input {
                Again::Input(named, _) if self.input.source.is_seekable(named) => input,
                // Cannot be read twice: held in memory instead.
                _ => {
                    let origin = self.input.source.origin();
                    let bytes = std::mem::replace(&mut self.input.source, Source::empty()).read_all()?;
                    held = Again::Held(bytes.into(), origin);
                    self.input.source = held.open()?;
                    &held
                }
            };
            let inferred = table::infer(again, options, labelling, self.input.setup, observer)?;
            table::with_products(inferred, interactions, labelling, again, self.input.setup)?
        };
        let report = &mut self.input.report;
        report.remarks.extend(inferred.remarks);
        report.warnings.extend(inferred.warnings);
        report.guessed_label = inferred.guessed_label;
        Ok(inferred.schema)
    }

    /// How features are numbered, as far as that is known: names that are yet to be collected are not.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether features are numbered by hashes: then most numbers may be those of no feature.
    pub(crate) fn is_hashed(&self) -> bool {
        self.documents.as_ref().map_or_else(|| self.schema.is_hashed(), |documents| documents.bits.is_some())
    }

    /// Gives the rows of the data set to `consume`, block by block in order, and stores none of them.
    pub fn for_each(
        mut self,
        observer: &mut dyn Observer,
        consume: impl FnMut(Chunk<'_>, &mut dyn Observer) -> Result<Flow>,
    ) -> Result<Summary> {
        let mut numbering = std::mem::take(&mut self.numbering);
        let sink = ChunkSink { numbering: &mut numbering, consume };
        let flow = self.input.run(observer, sink)?;
        self.summarize(flow, numbering)
    }

    /// What was learned about the input by the end of it.
    fn summarize(self, flow: Flow, numbering: Numbering) -> Result<Summary> {
        let Self { input, documents, columns, mut schema, interactions, .. } = self;
        if input.report.rows == 0 && flow == Flow::Continue {
            return Err(no_rows(&numbering.origin, &input.report));
        }
        match (documents, numbering.new_names) {
            (Some(documents), new_names) => {
                schema = Schema::Text(Arc::new(documents.schema(new_names.unwrap_or_default().names)));
            }
            (None, Some(new_names)) => {
                schema = of_namespaces(FeatureNumbering::Named(Arc::new(new_names.names)), &interactions);
            }
            (None, None) => {}
        }
        let features = columns.or(schema.features());
        Ok(Summary { flow, labels: numbering.labels, schema, features, report: input.report })
    }

    /// Reads the whole data set.
    pub fn read(self, observer: &mut dyn Observer) -> Result<Dataset<'static>> {
        let origin = self.input.source.origin();
        let fits = self.documents.as_ref().is_some_and(|documents| documents.counts);
        let (mut data, _) = self.read_rows(observer)?;
        if fits && let Schema::Text(schema) = std::mem::replace(&mut data.schema, Schema::one_based()) {
            let (weights, names) = documents::fit(&data.rows, Arc::unwrap_or_clone(schema))
                .map_err(|e| origin.place_of_all(e))?;
            let (rows, schema) = rayon::join(|| weights.weigh(&data.rows), || names.schema());
            (data.rows, data.schema) = (rows, Schema::Text(Arc::new(schema)));
        }
        Ok(data)
    }

    /// Reads the whole data set, with what it takes to fit its recipe to a part of it.
    pub fn read_refittable(self, observer: &mut dyn Observer) -> Result<Refittable> {
        let origin = self.input.source.origin();
        let fits = self.documents.as_ref().is_some_and(|documents| documents.counts);
        let (mut data, filled) = self.read_rows(observer)?;
        match std::mem::replace(&mut data.schema, Schema::one_based()) {
            Schema::Text(schema) if fits => {
                let counts_schema = Arc::unwrap_or_clone(schema);
                let (weights, names) =
                    documents::fit(&data.rows, counts_schema.clone()).map_err(|e| origin.place_of_all(e))?;
                let (rows, schema) = rayon::join(|| weights.weigh(&data.rows), || names.schema());
                data.schema = Schema::Text(Arc::new(schema));
                let counts = std::mem::replace(&mut data.rows, rows);
                Ok(Refittable::of_documents(data, (counts, counts_schema), filled))
            }
            schema => Ok(Refittable::new(Dataset { schema, ..data }, filled)),
        }
    }

    /// Reads the whole data set and splits it as [`Dataset::split`] does. The held-out rows have no influence
    /// on how documents become features.
    pub fn read_split(
        self,
        fraction: f64,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(Dataset<'static>, Dataset<'static>)> {
        let origin = self.input.source.origin();
        let fits = self.documents.as_ref().is_some_and(|documents| documents.counts);
        let (data, _) = self.read_rows(observer)?;
        let (mut training, mut held_out) = data.split(fraction, seed).map_err(|e| origin.place_of_all(e))?;
        if fits && let Schema::Text(schema) = data.schema {
            let (weights, names) = documents::fit(&training.rows, Arc::unwrap_or_clone(schema))
                .map_err(|e| origin.place_of_all(e))?;
            (training.rows, held_out.rows) = (weights.weigh(&training.rows), weights.weigh(&held_out.rows));
            let schema = Arc::new(names.schema());
            (training.schema, held_out.schema) = (Schema::Text(schema.clone()), Schema::Text(schema));
        }
        Ok((training, held_out))
    }

    /// Reads the whole data set; documents for training as counts. With it come the entries that stand in
    /// place of missing numbers.
    fn read_rows(mut self, observer: &mut dyn Observer) -> Result<(Dataset<'static>, Vec<Filled>)> {
        let known_labels = self.known_labels;
        // The size of a compressed file does not tell the size of its contents.
        let total = self.input.source.total().filter(|_| !self.input.source.is_compressed());
        let mut numbering = std::mem::take(&mut self.numbering);
        let (mut store, mut labels, mut weights) = (Store::default(), Vec::new(), Vec::new());
        let mut filled = Vec::new();
        let mut assembler = Assembler::new(&mut store);
        let sink = DatasetSink {
            numbering: &mut numbering,
            columns: self.columns,
            total,
            memory: self.memory,
            assembler: &mut assembler,
            labels: &mut labels,
            weights: &mut weights,
            filled: &mut filled,
        };
        let flow = self.input.run(observer, sink)?;
        let summary = self.summarize(flow, numbering)?;
        if summary.flow == Flow::Stop {
            return Err(Error::interrupted());
        }
        let assembled = assembler.finish();
        let mut rows = store.finish(assembled);
        rows.widen(summary.features.unwrap_or(0));
        labels.shrink_to_fit();
        let Summary { labels: names, schema, mut report, .. } = summary;
        report.warnings.extend(known_labels.and_then(|known| labels_never_seen(&labels, &names, known)));
        Ok((Dataset { rows, labels, names, row_weights: weights, schema, report }, filled))
    }
}

/// An opened input and its parser.
struct OpenInput {
    source: Source,
    parser: Arc<dyn Parser>,
    setup: Setup,
    report: Report,
}

impl OpenInput {
    /// Reads the input to its end, into a sink.
    fn run<'s>(&mut self, observer: &mut dyn Observer, sink: impl Sink<'s>) -> Result<Flow> {
        let source = std::mem::replace(&mut self.source, Source::empty());
        pipeline::run(source, self.parser.clone(), self.setup, &mut self.report, observer, sink)
    }
}

/// The numbers of labels and named features, in the order of first appearance in the input.
#[derive(Default)]
struct Numbering {
    /// The input.
    origin: Origin,
    labels: Labels,
    /// Names of features, if they are being collected.
    new_names: Option<NewNames>,
    max_features: u32,
    /// The number of each label of a block.
    numbers: Vec<u32>,
}

impl Numbering {
    /// Replaces the numbers that hold within a block by those that hold in the whole input.
    fn apply(&mut self, rows: &mut ParsedRows) -> Result<()> {
        if let Some(new_names) = &mut self.new_names {
            new_names.add(rows, self.max_features).map_err(|e| self.origin.place_of_all(e))?;
        }
        if !rows.local_labels.is_empty() {
            let Self { labels, numbers, .. } = self;
            numbers.clear();
            numbers.extend(rows.local_labels.names().iter().map(|name| labels.intern(name)));
            rows.labels.iter_mut().for_each(|label| *label = numbers[*label as usize]);
        }
        Ok(())
    }
}

/// Gives rows to a function.
struct ChunkSink<'r, F> {
    numbering: &'r mut Numbering,
    consume: F,
}

impl<'s, F: FnMut(Chunk<'_>, &mut dyn Observer) -> Result<Flow>> Sink<'s> for ChunkSink<'_, F> {
    fn accept(&mut self, rows: &mut ParsedRows, observer: &mut dyn Observer) -> Result<Accepted<'s>> {
        self.numbering.apply(rows)?;
        match (self.consume)(Chunk { rows, labels: &self.numbering.labels }, observer)? {
            Flow::Continue => Ok(Accepted::Done),
            Flow::Stop => Ok(Accepted::Stop),
        }
    }
}

/// Stores rows, labels and weights.
struct DatasetSink<'r, 's> {
    numbering: &'r mut Numbering,
    /// Columns, where every row has them all.
    columns: Option<usize>,
    /// Bytes of the whole input, where that is known.
    total: Option<u64>,
    /// Most bytes that the rows may take.
    memory: Option<u64>,
    assembler: &'r mut Assembler<'s>,
    labels: &'r mut Vec<u32>,
    weights: &'r mut Vec<f64>,
    filled: &'r mut Vec<Filled>,
}

impl<'s> Sink<'s> for DatasetSink<'_, 's> {
    fn accept(&mut self, rows: &mut ParsedRows, _: &mut dyn Observer) -> Result<Accepted<'s>> {
        self.numbering.apply(rows)?;
        if !rows.weights.is_empty() || !self.weights.is_empty() {
            self.weights.resize(self.assembler.rows(), 1.0);
            self.weights.extend((0..rows.len()).map(|r| rows.weight(r)));
        }
        self.labels.extend_from_slice(&rows.labels);
        let before = self.assembler.rows();
        self.filled.extend(rows.filled.iter().map(|it| Filled { row: before + it.row, feature: it.feature }));
        let blocks = self.total.map(|total| total as f64 / rows.bytes.max(1) as f64);
        let layout = layout(self.columns, rows);
        if let (0, Some(blocks)) = (self.assembler.rows(), blocks) {
            check_memory(rows, layout, blocks, self.memory)
                .map_err(|error| self.numbering.origin.place_of_all(error))?;
        }
        let slot = self.assembler.append(rows.compressed(), layout, blocks);
        Ok(slot.map_or(Accepted::Done, Accepted::WriteTo))
    }
}

/// Most different terms: their names take some 2 GB.
const MOST_TERMS: u32 = 1 << 24;

impl NewNames {
    /// Adds the names of a block, and gives its features their numbers.
    fn add(&mut self, rows: &mut ParsedRows, max_features: u32) -> Result<()> {
        if !self.aside {
            vw::number_globally(rows, &mut self.names, self.first, max_features)?;
            if !self.provisional {
                rows.sort_rows();
            }
            return Ok(());
        }
        for name in rows.local_features.names() {
            self.names.intern(name);
        }
        if self.names.len() > max_features as usize {
            let error = Error::input(format!("there are more than {max_features} different names to keep"));
            return Err(error.hint("leave out `keep_names`"));
        }
        Ok(())
    }
}

/// How a file of columns becomes the text of a table: only what the model needs, or all that is not left out.
fn text_of_columns(input: &Input, format: Format, options: &Options, purpose: &Purpose<'_>) -> Spec {
    let known = match purpose.schema() {
        Some((Schema::Table(schema), _)) => Some(schema),
        Some((Schema::Text(text), _)) => text.table(),
        _ => None,
    };
    let (names, columns) = match known {
        None if has_names(input) => (Names::Written, Wanted::AllBut(options.table.drop.clone())),
        None => (Names::LeftOut, Wanted::AllBut(Vec::new())),
        Some(schema) if !schema.header => (Names::LeftOut, Wanted::AllBut(Vec::new())),
        Some(schema) => {
            let is_needed = |role: &Role| match role {
                Role::Dropped => false,
                Role::Label => !matches!(purpose, Purpose::Prediction { .. }),
                _ => true,
            };
            let own = schema.columns.iter().filter(|column| is_needed(&column.role));
            let own = own.map(|column| column.name.clone());
            let given = options.with.iter().chain(&options.table.row_weights).cloned();
            (Names::Written, Wanted::Only(own.chain(given).collect()))
        }
    };
    Spec { format, names, columns, memory: options.memory }
}

/// Whether columns have names. Those of files always do.
fn has_names(input: &Input) -> bool {
    match input {
        #[cfg(feature = "parquet")]
        Input::Columns { header, .. } => *header != Header::Absent,
        _ => true,
    }
}

/// How that text is read.
fn as_text_of_columns(input: &Input, options: &Options, purpose: &Purpose<'_>) -> Options {
    let header = match (purpose.schema(), has_names(input)) {
        (None, true) => Header::Present,
        (None, false) => Header::Absent,
        (Some(_), _) => Header::Detect,
    };
    let delimiter = Some(columnar::DELIMITER);
    Options { table: TableOptions { header, delimiter, ..options.table.clone() }, ..options.clone() }
}

/// An input that has to be read here and there: what is a stream is taken into memory.
fn held_if_a_stream(input: &Input, source: Source, options: &Options) -> Result<Input> {
    let mut parts = input.parts().to_vec();
    let at = source.surveys().iter().position(|survey| !survey.is_empty()).unwrap_or(0);
    let is_seekable = match source.surveys().get(at) {
        Some(survey) => survey.start.is_some(),
        None => source.is_seekable(input),
    };
    if !is_seekable {
        let name = parts[at].name();
        parts[at] = Input::Bytes { name, bytes: source.read_all_within(options.memory)?.into() };
    }
    Ok(match input {
        Input::Several(_) => Input::Several(parts),
        _ => parts.swap_remove(0),
    })
}

/// Whether some of it is a folder of documents.
fn has_folder(input: &Input) -> bool {
    input.parts().iter().any(|part| matches!(part, Input::Path(path) if path.is_dir()))
}

fn format_of_folder(name: &str, options: &Options) -> Result<Format> {
    match options.format {
        None | Some(Format::Text) => Ok(Format::Text),
        Some(format) => {
            let what = format!("this is a folder, not a file of the format {}", format.name());
            let hint = "name a file in it; a folder of documents has `format = text`";
            Err(Error::input(what).at(name, 0, 0).hint(hint))
        }
    }
}

/// The format given; if none is, the one that suits the model, or else the one detected.
fn format_of_file(name: &str, start: &[u8], options: &Options, purpose: &Purpose<'_>) -> Result<Format> {
    Ok(match (options.format, purpose.schema()) {
        (Some(format), _) => format,
        (None, Some(_)) if detect_columnar(name, start).is_some() => detect(name, start)?,
        (None, Some((Schema::Text(text), _))) => match (text.table(), detect(name, start)) {
            (Some(_), _) => Format::Csv,
            (None, Ok(Format::Jsonl)) => Format::Jsonl,
            (None, _) => Format::Text,
        },
        (None, Some((Schema::Named(_) | Schema::Hashed { .. } | Schema::Namespaces(_), _))) => Format::Vw,
        (None, Some((Schema::Table(_), _))) => Format::Csv,
        // A file that is detected as something else must not pass for rows of labels without features.
        (None, Some((Schema::Indexed { .. }, _))) => detect(name, start).unwrap_or(Format::Svmlight),
        // Who speaks of columns means a table, even if a column of it is prose.
        (None, None) => match detect(name, start)? {
            Format::Text if options.table != TableOptions::default() => Format::Tsv,
            format => format,
        },
    })
}

/// The names that learning goes on from, if new ones are added to them.
fn names_to_extend<'a>(purpose: &Purpose<'a>) -> Option<&'a Dictionary> {
    let Purpose::Continuing { schema, .. } = purpose else { return None };
    match schema {
        Schema::Named(names) => Some(names),
        Schema::Namespaces(schema) => match &schema.numbering {
            FeatureNumbering::Named(names) => Some(names),
            _ => None,
        },
        _ => None,
    }
}

/// The schema of features of namespaces; the plain one, where nothing is multiplied.
fn of_namespaces(numbering: FeatureNumbering, interactions: &Interactions) -> Schema {
    match numbering {
        FeatureNumbering::Named(names) if interactions.is_empty() => Schema::Named(names),
        FeatureNumbering::Hashed { bits } if interactions.is_empty() => Schema::Hashed { bits },
        numbering => {
            let interactions = interactions.clone();
            Schema::Namespaces(Arc::new(NamespaceSchema { numbering, interactions }))
        }
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

fn first_line(start: &[u8]) -> &[u8] {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Options that say nothing of this format, or of what the model was trained on, are mistakes.
fn check_options(name: &str, format: Format, options: &Options, purpose: &Purpose<'_>) -> Result<()> {
    if let Some((schema, _)) = purpose.schema() {
        check_schema(name, format, schema)?;
    }
    let is_table = format.is_table();
    let is_text = matches!(format, Format::Text | Format::Jsonl);
    // Whether a table has documents, its columns will show.
    if !is_table {
        check_terms(format, is_text, options)?;
    }
    if !options.interactions.is_empty() && !is_table && format != Format::Vw {
        let what = "`interactions` multiplies features of namespaces (vw) or columns of a table";
        return Err(Error::usage(what).hint("leave it out; `map = poly:2` makes all products of features"));
    }
    let keyed = is_table || format == Format::Jsonl;
    if (options.table.label.is_some() && !keyed) || (options.table.row_weights.is_some() && !is_table) {
        return Err(Error::usage("`label` and `row_weights` name columns of a table")
            .hint("say `format = csv` if this is one"));
    }
    if !options.with.is_empty() && (!is_table || purpose.schema().is_none()) {
        return Err(Error::usage("`with` names columns of a table to show beside its predictions")
            .hint("leave it out, or say `format = csv` if this is one"));
    }
    if !options.table.text.is_empty() && !keyed {
        let error = Error::usage(
            "`text` names the columns of a table, or the keys of JSON lines, that hold documents",
        );
        return Err(error.hint("leave it out, or say `format = csv` or jsonl"));
    }
    let TableOptions { drop, header, missing, delimiter, categories, numbers, .. } = &options.table;
    let names_columns = [drop, categories, numbers].into_iter().any(|columns| !columns.is_empty());
    let for_tables =
        names_columns || *header != Header::Detect || *missing != Missing::Error || delimiter.is_some();
    if for_tables && !is_table {
        let error = Error::usage(
            "`drop`, `categories`, `numbers`, `missing`, `delimiter`, `header` and `no_header` are for \
                 tables",
        );
        return Err(error.hint("leave them out, or say `format = csv` if this is one"));
    }
    if format.is_columnar() && (*header != Header::Detect || delimiter.is_some()) {
        let what = "`delimiter`, `header` and `no_header` are for tables that are text";
        return Err(Error::usage(what).hint(format!("leave them out: this is {}", format.name())));
    }
    if options.labels.is_some() && format != Format::Idx {
        return Err(Error::usage("`labels` names the labels of IDX images")
            .hint("for the column of a table say `label`"));
    }
    if options.base.is_some() && format != Format::Svmlight {
        return Err(Error::usage("`zero_based` is for the format svmlight")
            .hint("say `format = svmlight` if that is what this is"));
    }
    Ok(())
}

const TABLES: [Format; 4] = [Format::Csv, Format::Tsv, Format::Parquet, Format::Arrow];

/// A model reads formats of the kind that it was trained on.
fn check_schema(name: &str, format: Format, schema: &Schema) -> Result<()> {
    let (formats, trained): (&[Format], _) = match schema {
        Schema::Indexed { .. } => (&[Format::Svmlight, Format::Idx], "svmlight or idx"),
        Schema::Named(_) | Schema::Hashed { .. } | Schema::Namespaces(_) => (&[Format::Vw], "vw"),
        Schema::Table(_) => (&TABLES, "a table"),
        Schema::Text(text) if text.table().is_some() => (&TABLES, "a table"),
        Schema::Text(_) => (&[Format::Text, Format::Jsonl], "text or jsonl"),
    };
    if formats.contains(&format) {
        return Ok(());
    }
    let what = format!("this is {}, and the model was trained on {trained}", format.name());
    let hint = "give rows of that format, or say by `format` what these really are";
    Err(Error::input(what).at(name, 1, 1).hint(hint))
}

/// Options about terms are mistakes where there are no documents.
fn check_terms(format: Format, has_terms: bool, options: &Options) -> Result<()> {
    if options.hash_bits.is_some() && format != Format::Vw && !has_terms {
        return Err(Error::usage("`hash_bits` is for documents and the format vw")
            .hint("say `format = vw` if that is what this is"));
    }
    if options.keep_names && !(has_terms && options.hash_bits.is_some()) {
        return Err(Error::usage("`keep_names` keeps the names of terms that are hashed")
            .hint("leave it out, or give `hash_bits`"));
    }
    Ok(())
}

/// A warning of labels that the model does not know.
fn labels_never_seen(labels: &[u32], names: &Labels, known: usize) -> Option<String> {
    let rows = labels.iter().filter(|label| **label as usize >= known).count();
    let shown: Vec<String> =
        names.names().iter().skip(known).take(3).map(|name| format!("{name:?}")).collect();
    let more = if names.len() > known + shown.len() { ", …" } else { "" };
    let (them, verb) =
        if rows == 1 { ("1 row has a label", "it counts") } else { ("rows have labels", "they count") };
    let count = if rows == 1 { String::new() } else { format!("{rows} ") };
    (rows > 0).then(|| {
        format!("{count}{them} that the model has never seen ({}{more}): {verb} as wrong", shown.join(", "))
    })
}

fn no_rows(origin: &Origin, report: &Report) -> Error {
    let error = if report.bad_rows > 0 {
        Error::input(format!(
            "all {} rows are bad; the first: {}",
            report.bad_rows,
            report.first_bad.join("; ")
        ))
    } else {
        Error::input("there are no rows in it").hint("is this the right file?")
    };
    origin.place_of_all(error)
}

/// Refuses rows that will take more memory than there is, going by the first of so many blocks.
fn check_memory(rows: &ParsedRows, layout: Layout, blocks: f64, budget: Option<u64>) -> Result<()> {
    let width = if rows.single { 4 } else { 8 };
    let count = |own: usize| (own as f64 * blocks) as usize;
    let factors = match layout {
        Layout::Dense { columns } => {
            vec![(count(rows.len()), "rows"), (columns, "features"), (width, "bytes")]
        }
        Layout::Sparse => vec![(count(rows.indices.len()), "entries"), (width + 4, "bytes")],
    };
    Estimate::default().with("rows", &factors).check("this input", budget).map_err(|error| {
        error.hint("`online` stores no rows; fewer columns take less (`drop`); `memory = SIZE` allows more")
    })
}

/// Dense if every row has all columns and that takes less memory, going by the first part.
fn layout(columns: Option<usize>, rows: &ParsedRows) -> Layout {
    let width = if rows.single { 4 } else { 8 };
    match columns {
        Some(columns) if columns * rows.len() * width <= rows.indices.len() * (width + 4) => {
            Layout::Dense { columns }
        }
        _ => Layout::Sparse,
    }
}
