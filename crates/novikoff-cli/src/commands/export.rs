//! `novikoff export`: a model for another program.

use crate::arguments::Export;
use crate::files;
use crate::output::{Ending, print};
use crate::render::{Lines, counted};
use crate::summary::model::labels;
use novikoff::Result;
use novikoff::model::{self, Target, Task};
use serde_json::json;

/// Runs the command.
pub fn run(arguments: &Export) -> Result<Ending> {
    let target = Target::of(&arguments.file)?;
    let model = model::load(&arguments.model)?;
    files::write(&arguments.file, &model.exported(target)?)?;
    let form = match target {
        Target::Liblinear => "LIBLINEAR",
        Target::Onnx => "ONNX",
    };
    if arguments.output_form.json {
        let what = json!({
            "command": "export",
            "form": form,
            "features": model.features(),
            "labels": (model.task() == Task::Classes).then(|| model.labels.names()),
            "probabilities": model.probabilities.is_some(),
            "file": arguments.file,
        });
        print(&format!("{what}\n"))?;
    } else {
        let mut lines = Lines::default();
        lines.add("exported", format!("{form}, {}", counted(model.features() as u64, "feature")));
        lines.add("labels", labels(&model));
        lines.add("file", arguments.file.display().to_string());
        print(&lines.text())?;
    }
    Ok(Ending::Done)
}
