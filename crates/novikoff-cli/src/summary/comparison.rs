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
    let at = |epochs: f64| entries.iter().find(move |entry| entry.epochs == Some(epochs));
    let mut rows = vec![line("epochs", &|epochs| epochs.to_string())];
    for form in forms {
        for normalised in [false, true] {
            let is_own = |entry: &&&Entry| entry.learner == form.name() && entry.normalised == normalised;
            if !entries.iter().any(|entry| is_own(&entry)) {
                continue;
            }
            let label = format!("{}{}", form_text(*form), if normalised { ", normalised" } else { "" });
            rows.push(line(&label, &|epochs| {
                let own = entries.iter().filter(is_own).find(|entry| entry.epochs == Some(epochs));
                own.map_or("–".to_owned(), |entry| format!("{:.2}", 100.0 * entry.test_error))
            }));
        }
    }
    let counts = |of: fn(&Entry) -> Option<u64>| {
        move |epochs| at(epochs).and_then(|entry| of(entry)).map_or("–".into(), count)
    };
    rows.push(line("mistakes", &counts(|entry| entry.mistakes)));
    rows.push(line("support rows", &counts(|entry| entry.support)));
    rows.push(line("time", &|epochs| at(epochs).map_or("–".into(), |entry| seconds(entry.seconds))));
    rows
}

/// What a form is called in tables.
pub fn form_text(form: Form) -> &'static str {
    match form {
        Form::Perceptron => "last",
        form => form.name(),
    }
}
