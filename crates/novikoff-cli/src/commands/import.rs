//! `novikoff import`: a model that another program has learned.

use crate::arguments::Import;
use crate::files;
use crate::output::{Ending, print};
use crate::render::{Lines, counted};
use crate::summary::model::{labels, settings_text};
use novikoff::model::{Model, Task};
use novikoff::{Result, model};
use serde_json::json;

/// Runs the command.
pub fn run(arguments: &Import) -> Result<Ending> {
    let model = Model::import(&arguments.file, arguments.task)?;
    files::save(&model, &arguments.model)?;
    if arguments.output_form.json {
        let what = json!({
            "command": "import",
            "learner": model.about.learner,
            "settings": model.about.settings,
            "features": model.features(),
            "labels": (model.task() == Task::Classes).then(|| model.labels.names()),
            "probabilities": model.probabilities.is_some(),
            "model": arguments.model,
            "checksum": model::checksum_of(&model)?,
        });
        print(&format!("{what}\n"))?;
    } else {
        let mut lines = Lines::default();
        lines.add("learned by", format!("{}, {}", model.about.learner, settings_text(&model)));
        lines.add("labels", labels(&model));
        lines.add("features", counted(model.features() as u64, "feature"));
        lines.add("model", arguments.model.display().to_string());
        print(&lines.text())?;
    }
    Ok(Ending::Done)
}
