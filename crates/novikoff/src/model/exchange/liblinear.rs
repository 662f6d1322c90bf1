//! LIBLINEAR's text models.
//!
//! A header of keys and values ends with a line `w`; then comes a line for each feature with its weight for
//! every output, and a line for the bias if there is one.
//!
//! Of two labels LIBLINEAR predicts the first where `<w, x> > 0`, and here it is the second where the score
//! is at least 0: with the labels in the same order and weights of the opposite sign, both decide alike, also
//! where the score is 0. Of more labels LIBLINEAR predicts the first of the best, and here it is the last:
//! they come in the reverse order.

use super::imported::{Imported, weights};
use super::lines::{Line, Lines, shown};
use crate::data::{Labels, as_number};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::model::{Calibration, Model, Scorer, Task, Weights};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the models of a solver are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Logistic regression: scores are log-odds.
    Logistic,
    /// Other classification.
    Scores,
    /// A weight vector for each of two classes.
    Joint,
    Regression,
    OneClass,
}

const SOLVERS: [(&str, Kind); 12] = [
    ("L2R_LR", Kind::Logistic),
    ("L2R_LR_DUAL", Kind::Logistic),
    ("L1R_LR", Kind::Logistic),
    ("L2R_L2LOSS_SVC_DUAL", Kind::Scores),
    ("L2R_L2LOSS_SVC", Kind::Scores),
    ("L2R_L1LOSS_SVC_DUAL", Kind::Scores),
    ("L1R_L2LOSS_SVC", Kind::Scores),
    ("MCSVM_CS", Kind::Joint),
    ("L2R_L2LOSS_SVR", Kind::Regression),
    ("L2R_L2LOSS_SVR_DUAL", Kind::Regression),
    ("L2R_L1LOSS_SVR_DUAL", Kind::Regression),
    ("ONECLASS_SVM", Kind::OneClass),
];

const MOST_CLASSES: u32 = 1 << 20;

/// What stands before the weights.
#[derive(Default)]
struct Header<'a> {
    solver: Option<(&'a str, Kind)>,
    classes: Option<u32>,
    features: Option<u32>,
    bias: Option<f64>,
    labels: Option<Vec<&'a str>>,
}

impl<'a> Header<'a> {
    fn read(lines: &mut Lines<'a>) -> Result<Self> {
        let mut header = Self::default();
        for line in lines.by_ref() {
            let mut words = line.words();
            let key = words.next().unwrap_or("");
            if key == "w" {
                return Ok(header);
            }
            header.entry(line, key, &words.collect::<Vec<_>>())?;
        }
        Err(lines.error("the header does not end with a line w"))
    }

    fn entry(&mut self, line: Line<'a>, key: &'a str, values: &[&'a str]) -> Result<()> {
        if key == "label" {
            for label in values {
                line.number(label)?;
            }
            self.labels = Some(values.to_vec());
            return Ok(());
        }
        let [value] = *values else {
            return Err(line.error(key, format!("{} has {} values, not one", shown(key), values.len())));
        };
        match key {
            "solver_type" => self.solver = Some(solver(line, value)?),
            "nr_class" => self.classes = Some(line.count(value)?),
            "nr_feature" => self.features = Some(line.count(value)?),
            "bias" => self.bias = Some(line.number(value)?),
            "rho" => {
                line.number(value)?;
            }
            _ => return Err(line.error(key, format!("the header has no {}", shown(key)))),
        }
        Ok(())
    }
}

fn solver<'a>(line: Line<'a>, value: &'a str) -> Result<(&'a str, Kind)> {
    let known = SOLVERS.iter().find(|(name, _)| *name == value);
    let &(_, kind) =
        known.ok_or_else(|| line.error(value, format!("there is no solver {}", shown(value))))?;
    if kind == Kind::OneClass {
        let error = line.error(value, "a model of one class tells outliers, and has no labels to predict");
        return Err(error.hint("models of classification and regression can be imported"));
    }
    Ok((value, kind))
}

/// The model of a text.
pub(super) fn read(mut lines: Lines<'_>) -> Result<Model> {
    let header = Header::read(&mut lines)?;
    let lack = |key: &str| lines.refuse(format!("the header has no {key}"));
    let (solver, kind) = header.solver.ok_or_else(|| lack("solver_type"))?;
    let classes = header.classes.ok_or_else(|| lack("nr_class"))?;
    let features = header.features.ok_or_else(|| lack("nr_feature"))?;
    let bias = header.bias.ok_or_else(|| lack("bias"))?;
    let labels = labels(&header, kind, classes, &lines)?;
    let columns = if classes == 2 && kind != Kind::Joint { 1 } else { classes as usize };
    let rows = u64::from(features) + u64::from(bias >= 0.0);
    // Each number takes a digit and what separates it from the next.
    if (lines.left() as u64) + 1 < rows.saturating_mul(2 * columns as u64) {
        let what =
            format!("{rows} lines of {columns} weights are announced, and the file is shorter than that");
        return Err(lines.error(what));
    }
    let outputs = if labels.len() > 2 { columns } else { 1 };
    let mut weights = weights(features.into(), outputs).map_err(|error| lines.refuse(error.what()))?;
    let mut values = Vec::with_capacity(columns);
    for number in 0..rows as usize {
        read_weights(&mut lines, columns, &mut values)?;
        arrange(&mut values, kind, outputs);
        match weights.values.get_mut(number * outputs..(number + 1) * outputs) {
            Some(own) => own.copy_from_slice(&values),
            None => weights.bias = values.iter().map(|w| w * bias + 0.0).collect(),
        }
    }
    if weights.bias.iter().any(|b| !b.is_finite()) {
        return Err(lines.refuse("a weight of the bias times the bias is not a finite number"));
    }
    if let Some(line) = lines.find(|line| line.words().next().is_some()) {
        return Err(line.error(line.text, "the file goes on behind its weights"));
    }
    let imported = Imported {
        learner: "LIBLINEAR",
        settings: BTreeMap::from([
            ("solver_type".to_owned(), solver.into()),
            ("bias".to_owned(), bias.into()),
        ]),
        labels,
        schema: Schema::one_based(),
        weights,
        range: None,
        probabilities: (kind == Kind::Logistic).then_some(Calibration::Logistic),
    };
    Ok(imported.model())
}

/// The labels in the order that they have here; none for regression.
fn labels(header: &Header<'_>, kind: Kind, classes: u32, lines: &Lines<'_>) -> Result<Labels> {
    let refuse = |what: String| Err(lines.refuse(what));
    let names = match (&header.labels, kind) {
        (None, Kind::Regression) if classes == 2 => return Ok(Labels::default()),
        (_, Kind::Regression) => return refuse("a model of regression has nr_class 2 and no labels".into()),
        (None, _) => return refuse("the header has no label".into()),
        (Some(names), _) => names,
    };
    if names.len() != classes as usize {
        return refuse(format!("nr_class is {classes}, and there are {} labels", names.len()));
    }
    if !(2..=MOST_CLASSES).contains(&classes) {
        return refuse(format!("a model of {classes} labels cannot be imported: 2 to {MOST_CLASSES} can"));
    }
    let reversed = names.len() > 2;
    let ordered: Vec<&str> = if reversed { names.iter().rev().copied().collect() } else { names.clone() };
    let labels = Labels::new(&ordered);
    match labels.len() == ordered.len() {
        true => Ok(labels),
        false => refuse("a label is there twice".into()),
    }
}

/// The weights of the next line.
fn read_weights(lines: &mut Lines<'_>, columns: usize, values: &mut Vec<f64>) -> Result<()> {
    let Some(line) = lines.next() else {
        return Err(lines.error("the file ends before its last weight"));
    };
    values.clear();
    for word in line.words() {
        if values.len() == columns {
            return Err(line.error(word, format!("this line has more than {columns} weights")));
        }
        values.push(line.number(word)?);
    }
    if values.len() < columns {
        let end = &line.text[line.text.len()..];
        return Err(line.error(end, format!("this line has {} weights, not {columns}", values.len())));
    }
    Ok(())
}

/// The weights of a feature as they are here.
fn arrange(values: &mut Vec<f64>, kind: Kind, outputs: usize) {
    if outputs > 1 {
        values.reverse();
        return;
    }
    // Of two classes LIBLINEAR looks at the first one's weights alone.
    values.truncate(1);
    if kind != Kind::Regression {
        // Plus zero: there is no −0 in a model.
        values.iter_mut().for_each(|w| *w = 0.0 - *w);
    }
}

/// The text of a model.
pub(super) fn write(model: &Model) -> Result<String> {
    let Scorer::Linear(weights) = &model.scorer else {
        let what = "LIBLINEAR's models are linear in the features, without a range, and this one is not";
        let error = Error::usage(what);
        return Err(error.hint("ONNX has more kinds: FILE.onnx"));
    };
    if model.schema != Schema::one_based() {
        let what = match model.schema {
            Schema::Indexed { .. } => "LIBLINEAR counts features from 1, and this model from 0",
            _ => "LIBLINEAR knows features by their numbers alone, and this model was trained on others",
        };
        return Err(Error::usage(what).hint("train on a file of the format svmlight, or export FILE.onnx"));
    }
    let (columns, sign) = columns(model, weights);
    let mut text = String::new();
    let header = format!("solver_type {}\nnr_class {}\n", solver_for(model), model.labels.len().max(2));
    text.push_str(&header);
    if model.task() == Task::Classes {
        writeln!(text, "label {}", labels_for(model)?.join(" ")).map_err(|_| no_memory())?;
    }
    let bias = columns.iter().any(|column| column.value(&weights.bias) != 0.0);
    let bias_value = if bias { 1 } else { -1 };
    writeln!(text, "nr_feature {}\nbias {bias_value}\nw", weights.features()).map_err(|_| no_memory())?;
    let blocks = weights.values.chunks_exact(weights.outputs());
    for block in blocks.chain(bias.then_some(weights.bias.as_slice())) {
        for column in &columns {
            let value = sign * column.value(block) + 0.0;
            if !value.is_finite() {
                return Err(Error::usage("a difference of two weights of this model is not finite"));
            }
            write!(text, "{value:?} ").map_err(|_| no_memory())?;
        }
        text.push('\n');
    }
    Ok(text)
}

fn no_memory() -> Error {
    Error::usage("there is no memory for the text of this model")
}

/// A weight of LIBLINEAR's: that of an output, or the difference of two.
struct Column {
    output: usize,
    less: Option<usize>,
}

impl Column {
    fn value(&self, block: &[f64]) -> f64 {
        block[self.output] - self.less.map_or(0.0, |less| block[less])
    }
}

/// The columns of weights in LIBLINEAR's order, and their sign.
fn columns(model: &Model, weights: &Weights) -> (Vec<Column>, f64) {
    let only = |output, less| vec![Column { output, less }];
    match (model.labels.len(), weights.outputs()) {
        (0, _) => (only(0, None), 1.0),
        (2, 1) => (only(0, None), -1.0),
        (2, _) => (only(1, Some(0)), -1.0),
        (_, outputs) => ((0..outputs).rev().map(|output| Column { output, less: None }).collect(), 1.0),
    }
}

/// LIBLINEAR's solver whose models predict as this one does.
fn solver_for(model: &Model) -> &'static str {
    let outputs = model.scorer.outputs();
    match (&model.probabilities, model.task()) {
        (_, Task::Regression) => "L2R_L2LOSS_SVR",
        // A sigmoid of each score; of two labels with a score each, the softmax is one of the difference.
        (Some(Calibration::Logistic), _) if outputs != 2 => "L2R_LR",
        (Some(Calibration::Softmax), _) if outputs == 2 => "L2R_LR",
        _ => "L2R_L2LOSS_SVC",
    }
}

/// The labels in LIBLINEAR's order. They must be whole numbers.
fn labels_for(model: &Model) -> Result<Vec<String>> {
    let number = |name: &String| {
        let whole =
            as_number(name).filter(|value| value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX));
        whole.map(|value| format!("{}", value as i32)).ok_or_else(|| {
            let what = format!("LIBLINEAR's labels are whole numbers, and this model has {name:?}");
            Error::usage(what).hint("export FILE.onnx, or train on labels that are numbers")
        })
    };
    let mut labels = model.labels.names().iter().map(number).collect::<Result<Vec<String>>>()?;
    if labels.len() > 2 {
        labels.reverse();
    }
    Ok(labels)
}
