//! The lines of a comparison.

use crate::render::{count, seconds};
use novikoff::compare::{Compared, Entry, Form};
use novikoff::kernel::Kernel;

/// The lines of a kernel.
pub fn of_kernel(compared: &Compared, kernel: Kernel) -> Vec<&Entry> {
    let name = kernel.to_string();
    compared.entries.iter().filter(|entry| entry.kernel.as_ref() == Some(&name)).collect()
}

/// After how many epochs these lines are, each once.
pub fn epochs_of(entries: &[&Entry]) -> Vec<f64> {
    let mut epochs: Vec<f64> = entries.iter().filter_map(|entry| entry.epochs).collect();
    epochs.dedup();
    epochs
}

/// A line for each form, a column for each number of epochs.
pub fn kernel_table(entries: &[&Entry], forms: &[Form]) -> Vec<Vec<String>> {
    let epochs = epochs_of(entries);
    // As wide as times become, so that columns stand where they stand whatever the time.
    let line = |label: &str, cell: &dyn Fn(f64) -> String| {
        [vec![label.to_owned()], epochs.iter().map(|epochs| format!("{:>7}", cell(*epochs))).collect()]
            .concat()
    };
    let mut rows = vec![line("epochs", &|epochs| epochs.to_string())];
    for form in forms {
        for normalised in [false, true] {
            let is_own = |entry: &&Entry| entry.learner == form.name() && entry.normalised == normalised;
            let own: Vec<&Entry> = entries.iter().copied().filter(is_own).collect();
            if own.is_empty() {
                continue;
            }
            let label = format!("{}{}", form_text(*form), if normalised { ", normalised" } else { "" });
            let error = |entry: &Entry| Some(format!("{:.2}", 100.0 * entry.test_error));
            rows.push(line(&label, &|epochs| cell(&own, epochs, error)));
        }
    }
    rows.push(line("mistakes", &|epochs| cell(entries, epochs, |entry| entry.mistakes.map(count))));
    rows.push(line("support rows", &|epochs| cell(entries, epochs, |entry| entry.support.map(count))));
    rows.push(line("time", &|epochs| cell(entries, epochs, |entry| Some(seconds(entry.seconds)))));
    rows
}

/// What the first entry after so many epochs says, if there is one.
fn cell(entries: &[&Entry], epochs: f64, text: impl Fn(&Entry) -> Option<String>) -> String {
    let entry = entries.iter().find(|entry| entry.epochs == Some(epochs));
    entry.and_then(|entry| text(entry)).unwrap_or_else(|| "–".to_owned())
}

/// What a form is called in tables.
pub fn form_text(form: Form) -> &'static str {
    match form {
        Form::Perceptron => "last",
        form => form.name(),
    }
}
