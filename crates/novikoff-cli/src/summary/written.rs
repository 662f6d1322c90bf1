//! The pages and pictures that were written.

use crate::arguments::Pictures;
use crate::render::Lines;
use serde_json::{Value, json};

/// Adds a line for each.
pub fn add_drawn(lines: &mut Lines, pictures: &Pictures) {
    if let Some(path) = &pictures.report {
        lines.add("report", path.display().to_string());
    }
    for (name, path) in &pictures.picture {
        lines.add("picture", format!("{} ({})", path.display(), name.name()));
    }
}

/// The page, if one was written.
pub fn report(pictures: &Pictures) -> Option<String> {
    pictures.report.as_ref().map(|path| path.display().to_string())
}

/// The names of the single pictures, each with its file.
pub fn drawn(pictures: &Pictures) -> Vec<Value> {
    let all = pictures.picture.iter();
    all.map(|(name, path)| json!({"name": name.name(), "file": path.display().to_string()})).collect()
}
