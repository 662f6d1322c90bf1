//! Models of other programs, and models for them.
//!
//! `liblinear.rs` and `vowpal_wabbit.rs` read text models, line by line (`lines.rs`); `liblinear.rs` and
//! `onnx.rs` write. What the other side cannot express is refused, never approximated.

mod imported;
mod liblinear;
mod lines;
mod onnx;
mod vowpal_wabbit;

pub use onnx::is_onnx;

use self::lines::Lines;
use super::{Model, Task, atomic};
use crate::error::{Error, Result};
use crate::read::{Input, read_text};
use std::io::Write as _;
use std::path::Path;

/// What a model is exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The text model of LIBLINEAR.
    Liblinear,
    /// ONNX, for many runtimes.
    Onnx,
}

impl Target {
    /// The one that the ending of a file's name says.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("onnx") => Ok(Target::Onnx),
            Some("liblinear") => Ok(Target::Liblinear),
            _ => {
                let error =
                    Error::usage("the ending of this name says no format that models are exported as");
                let name = path.display().to_string();
                Err(error.at(name, 0, 0).hint("call it FILE.onnx or FILE.liblinear"))
            }
        }
    }
}

/// Whether a file that starts like this is a text model of LIBLINEAR.
pub fn is_liblinear(start: &[u8]) -> bool {
    start.starts_with(b"solver_type ")
}

impl Model {
    /// Reads a model of LIBLINEAR, or a readable one of Vowpal Wabbit (`--readable_model`, `--invert_hash`).
    ///
    /// A model of Vowpal Wabbit does not say whether it is for labels −1 and 1 or for numbers: it is taken to
    /// be for labels if it has the logistic link, predicts binary labels, or has the range of scores of the
    /// logistic and the hinge loss; `task` says otherwise.
    ///
    /// ```
    /// use novikoff::Model;
    /// # let folder = std::env::temp_dir().join("novikoff-doc-import");
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("two.model");
    /// # let head = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n";
    /// # std::fs::write(&path, format!("{head}0.5 \n-0.25 \n0.125 \n")).unwrap();
    /// let model = Model::import(&path, None)?;
    /// assert_eq!(model.labels.names(), ["1", "-1"]);
    /// assert_eq!(model.predict_row(&[1.0, 0.0])?, "1");
    /// // LIBLINEAR's weights speak for its first label, novikoff's for the second.
    /// assert_eq!(model.scores_of(&[1.0, 0.0])?, [-0.625]);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn import(path: impl AsRef<Path>, task: Option<Task>) -> Result<Self> {
        let input = Input::named(path.as_ref());
        import_text(&read_text(&input)?, &input.name(), task)
    }

    /// Writes the model for another program: for LIBLINEAR's `predict` (`FILE.liblinear`) or as ONNX
    /// (`FILE.onnx`). The file is replaced as a whole, or not at all.
    ///
    /// ```
    /// use novikoff::{Dataset, LogisticRegression};
    ///
    /// let data = Dataset::from_dense(&[-2.0, -1.0, 1.0, 2.0], 1)?.with_labels(&[-1, -1, 1, 1])?;
    /// let model = LogisticRegression::new().fit(&data)?.model;
    /// # let folder = std::env::temp_dir().join("novikoff-doc-export");
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let (text, graph) = (folder.join("model.liblinear"), folder.join("model.onnx"));
    /// model.export(&graph)?;
    /// model.export(&text)?;
    /// let again = novikoff::Model::import(&text, None)?;
    /// assert_eq!(again.scores(&data)?, model.scores(&data)?);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn export(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let bytes = self.exported(Target::of(path)?)?;
        atomic::write_with(path, |file| file.write_all(&bytes))
    }

    /// The bytes of the model for another program.
    pub fn exported(&self, target: Target) -> Result<Vec<u8>> {
        match target {
            Target::Liblinear => liblinear::write(self).map(String::into_bytes),
            Target::Onnx => onnx::write(self),
        }
    }
}

/// The model that a text of another program is; `name` is what errors call the text.
pub fn import_text(text: &str, name: &str, task: Option<Task>) -> Result<Model> {
    let lines = Lines::new(text, name);
    if text.starts_with("solver_type ") {
        if task.is_some() {
            let error = Error::usage("`task` is for models of Vowpal Wabbit: this one of LIBLINEAR says it");
            return Err(error.at(name, 0, 0).hint("leave out `task`"));
        }
        return liblinear::read(lines);
    }
    if text.starts_with("Version ") {
        return vowpal_wabbit::read(lines, task);
    }
    let error = Error::input("this is neither a text model of LIBLINEAR nor a readable one of Vowpal Wabbit");
    let hint = "LIBLINEAR's start with solver_type; Vowpal Wabbit writes one by its options readable_model \
                or invert_hash";
    Err(error.at(name, 1, 1).hint(hint))
}
