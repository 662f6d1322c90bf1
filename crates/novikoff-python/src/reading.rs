//! Tables and documents in memory as rows: by the engine's own reading, as if they stood in a file.

use crate::convert::PyLabels;
use crate::errors::exception;
use crate::files::arrays;
use crate::learner::Settings;
use crate::model::PyModel;
use crate::table::PyTable;
use crate::watch::Watcher;
use novikoff::Dataset;
use novikoff::control::Observer;
use novikoff::features::text::{Counting, ENGLISH_STOP_WORDS, Lengths, TextRecipe};
use novikoff::features::{Missing, Schema};
use novikoff::model::{Model, Task};
use novikoff::read::{Contents, Format, Input, Options, Purpose, Reader};
use novikoff::train::LearnerName;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;

/// Rows that were read, with their labels and weights.
#[pyclass(frozen, name = "Dataset", module = "novikoff._novikoff")]
pub(crate) struct PyDataset(pub(crate) Arc<Dataset<'static>>);

#[pymethods]
impl PyDataset {
    /// The number of rows.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// What may not be expected of the reading.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.report.warnings.iter().map(|text| crate::errors::settings_of_python(text)).collect()
    }

    /// How the columns were understood.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.0.report.remarks.clone()
    }

    /// Values that were missing.
    #[getter]
    fn missing(&self) -> u64 {
        self.0.report.missing
    }

    /// Entries of features that the model does not know.
    #[getter]
    fn unseen(&self) -> u64 {
        self.0.report.unseen_features
    }

    /// Whether some of the features are terms of documents.
    #[getter]
    fn has_documents(&self) -> bool {
        matches!(self.0.schema, Schema::Text(_))
    }

    /// The learner that the program uses for such rows.
    fn usual_learner(&self, regression: bool) -> &'static str {
        let contents = if self.has_documents() { Contents::Documents } else { Contents::Rows };
        LearnerName::usual(contents, if regression { Task::Regression } else { Task::Classes }).name()
    }

    /// What all rows count together.
    #[getter]
    fn total_weight(&self) -> f64 {
        self.0.total_weight()
    }

    /// The rows as arrays, in a dictionary.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arrays(py, &self.0)
    }
}

/// Labels, weights and how to read, as Python gives them.
#[derive(FromPyObject)]
pub(crate) struct Given<'py> {
    /// Settings by the engine's names.
    #[pyo3(item)]
    settings: Bound<'py, PyDict>,
    /// The model whose recipe applies; none: for training.
    #[pyo3(item)]
    model: Option<Bound<'py, PyModel>>,
    /// The classes of training rows.
    #[pyo3(item)]
    labels: PyLabels<'py>,
    #[pyo3(item)]
    weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(item)]
    threads: Option<usize>,
}

/// Reads the rows of a table. For training, `label` names the column of the labels, and `targets` are its
/// numbers, if these are to be predicted.
#[pyfunction]
pub(crate) fn read_table(
    py: Python<'_>,
    table: &PyTable,
    label: Option<&str>,
    targets: Option<&Bound<'_, PyAny>>,
    given: Given<'_>,
) -> PyResult<PyDataset> {
    let (mut options, missing) = table_options(&given.settings)?;
    options.table.label = label.map(str::to_owned);
    let input = table.input(label, targets)?;
    let labelled = if targets.is_some() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let model = given.model.as_ref().map(|model| model.get().0.clone());
    if let (Some(model), Policy::Automatic) = (&model, missing) {
        options.table.missing = usual_missing(model);
    }
    given.read(
        py,
        model,
        labelled,
        |options, purpose, observer| {
            let read = |options: &Options, observer: &mut dyn Observer| {
                Reader::open_observed(&input, options, purpose, observer)?.read(observer)
            };
            match (read(options, observer), missing, purpose) {
                // Where values are missing, a feature of their own says so.
                (Err(error), Policy::Automatic, Purpose::Training | Purpose::TrainingOnTargets)
                    if error.kind() == novikoff::ErrorKind::Input =>
                {
                    let mut options = options.clone();
                    options.table.missing = Missing::Indicator;
                    read(&options, observer)
                }
                (read, ..) => read,
            }
        },
        options,
    )
}

/// Reads documents.
#[pyfunction]
pub(crate) fn read_documents(
    py: Python<'_>,
    texts: Vec<Bound<'_, PyAny>>,
    given: Given<'_>,
) -> PyResult<PyDataset> {
    let settings = Settings::of(&given.settings)?;
    let mut options = Options { format: Some(Format::Jsonl), ..Options::default() };
    set_recipe(&settings, &mut options)?;
    settings.finish()?;
    let input = Input::Bytes { name: "X".into(), bytes: lines(&texts)?.into() };
    let model = given.model.as_ref().map(|model| model.get().0.clone());
    given.read(
        py,
        model,
        Purpose::Training,
        |options, purpose, observer| {
            Reader::open_observed(&input, options, purpose, observer)?.read(observer)
        },
        options,
    )
}

impl Given<'_> {
    /// Reads rows, and gives them their classes and weights.
    fn read(
        &self,
        py: Python<'_>,
        model: Option<Arc<Model>>,
        labelled: Purpose<'static>,
        read: impl Fn(&Options, &Purpose<'_>, &mut dyn Observer) -> novikoff::Result<Dataset<'static>>
        + Send
        + Sync,
        options: Options,
    ) -> PyResult<PyDataset> {
        let labels = self.labels.slices()?;
        let order = |_| PyValueError::new_err("row weights are to be contiguous");
        let weights = self.weights.as_ref().map(|weights| weights.as_slice()).transpose().map_err(order)?;
        let data = Watcher { callback: None, threads: self.threads }.run(py, |observer| {
            let options = Options { threads: rayon::current_num_threads(), ..options };
            let purpose = match &model {
                Some(model) => model.for_prediction(),
                None => labelled,
            };
            let data = labels.label(read(&options, &purpose, observer)?)?;
            match weights {
                Some(weights) => data.with_row_weights(weights),
                None => Ok(data),
            }
        })?;
        Ok(PyDataset(Arc::new(data.map_err(|error| exception(&error))?)))
    }
}

/// What becomes of missing values.
#[derive(Clone, Copy)]
enum Policy {
    /// What the user says.
    Given,
    /// A feature of their own where there are some in training; the mean where there were none.
    Automatic,
}

/// A model that has seen no missing values does best to take them for the mean.
fn usual_missing(model: &Model) -> Missing {
    let own = match &model.schema {
        Schema::Table(table) => Some(table.missing),
        Schema::Text(text) => text.table().map(|table| table.missing),
        _ => None,
    };
    if own == Some(Missing::Error) { Missing::Mean } else { Missing::Error }
}

fn table_options(settings: &Bound<'_, PyDict>) -> PyResult<(Options, Policy)> {
    let settings = Settings::of(settings)?;
    let mut options = Options::default();
    let table = &mut options.table;
    settings.set("drop", &mut table.drop)?;
    settings.set("categories", &mut table.categories)?;
    settings.set("numbers", &mut table.numbers)?;
    settings.set("text", &mut table.text)?;
    table.row_weights = settings.take("row_weights")?;
    const MISSING: [(&str, Option<Missing>); 5] = [
        ("auto", None),
        ("error", Some(Missing::Error)),
        ("zero", Some(Missing::Zero)),
        ("mean", Some(Missing::Mean)),
        ("indicator", Some(Missing::Indicator)),
    ];
    let missing = settings.choose("missing", &MISSING)?.flatten();
    table.missing = missing.unwrap_or_default();
    settings.set("interactions", &mut options.interactions)?;
    set_recipe(&settings, &mut options)?;
    settings.finish()?;
    Ok((options, if missing.is_some() { Policy::Given } else { Policy::Automatic }))
}

/// How documents become features.
fn set_recipe(settings: &Settings<'_>, options: &mut Options) -> PyResult<()> {
    let is_counts = settings.take::<bool>("counts")?.unwrap_or(false);
    let mut recipe = if is_counts { TextRecipe::counts() } else { TextRecipe::default() };
    let lengths = |name: &str| -> PyResult<Option<Lengths>> {
        Ok(settings.take::<(u8, u8)>(name)?.map(|(from, to)| Lengths { from, to }))
    };
    let (words, characters) = (lengths("words")?, lengths("characters")?);
    if words.is_some() || characters.is_some() {
        (recipe.words, recipe.characters) = (words, characters);
    }
    settings.set("keep_case", &mut recipe.keep_case)?;
    settings.set("stop_words", &mut recipe.stop_words)?;
    if settings.take::<bool>("english_stop_words")? == Some(true) {
        recipe.stop_words = ENGLISH_STOP_WORDS.map(str::to_owned).to_vec();
    }
    const COUNTINGS: [(&str, Counting); 3] =
        [("counts", Counting::Counts), ("binary", Counting::Binary), ("sublinear", Counting::Sublinear)];
    recipe.counting = settings.choose("counting", &COUNTINGS)?.unwrap_or(recipe.counting);
    settings.set("idf", &mut recipe.idf)?;
    settings.set("unit_length", &mut recipe.unit_length)?;
    settings.set("min_documents", &mut recipe.min_documents)?;
    settings.set("max_share", &mut recipe.max_share)?;
    options.hash_bits = settings.take("hash_bits")?;
    options.recipe = recipe;
    Ok(())
}

/// Objects that are taken between two looks for signals.
pub(crate) const PAUSE: usize = 1 << 13;

/// Documents as JSON lines. Their labels come by a way of their own; this one says nothing.
fn lines(texts: &[Bound<'_, PyAny>]) -> PyResult<Vec<u8>> {
    let mut lines = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        if i.is_multiple_of(PAUSE) {
            text.py().check_signals()?;
        }
        let text = text.cast::<PyString>().map_err(|_| {
            let kind = text.get_type();
            PyValueError::new_err(format!("document {} is no string, but {kind}", i + 1))
        })?;
        lines.extend_from_slice(b"{\"label\":\"0\",\"text\":");
        serde_json::to_writer(&mut lines, text.to_str()?)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        lines.extend_from_slice(b"}\n");
    }
    Ok(lines)
}
