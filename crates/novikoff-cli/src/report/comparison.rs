//! Which pictures apply to a comparison.

use super::{Section, line};
use crate::picture::PictureName;
use crate::render::{count, percent};
use crate::summary::comparison::{epochs_of, form_text, kernel_table, of_kernel};
use novikoff::compare::{Compared, Comparison, Entry, Form};
use novikoff::plot::{Chart, Look, Panel, Scale, Series};

/// The pictures that apply, in the order of the page.
pub fn sections(comparison: &Comparison, forms: &[Form], compared: &Compared) -> Vec<Section> {
    let kernels: Vec<(String, Vec<&Entry>)> = comparison
        .kernels
        .iter()
        .map(|(kernel, _)| (kernel.to_string(), of_kernel(compared, *kernel)))
        .filter(|(_, entries)| !entries.is_empty())
        .collect();
    if kernels.is_empty() {
        return Vec::new();
    }
    vec![errors(&kernels, forms, compared), mistakes(&kernels)]
}

fn errors(kernels: &[(String, Vec<&Entry>)], forms: &[Form], compared: &Compared) -> Section {
    let series = |entries: &[&Entry], form: Form| {
        let own = entries.iter().filter(|entry| entry.learner == form.name() && !entry.normalised);
        let points = own.filter_map(|entry| Some((entry.epochs?, 100.0 * entry.test_error))).collect();
        Series { name: form_text(form).to_owned(), points, look: Look::Line }
    };
    let panel = |(kernel, entries): &(String, Vec<&Entry>)| Panel {
        title: kernel.clone(),
        series: forms.iter().map(|form| series(entries, *form)).collect(),
    };
    let all = kernels.iter().flat_map(|(_, entries)| entries);
    let best = all.min_by(|a, b| a.test_error.total_cmp(&b.test_error));
    let description = best.map_or(String::new(), |best| {
        let (kernel, epochs) = (best.kernel.as_deref().unwrap_or_default(), best.epochs.unwrap_or_default());
        format!(
            "The least error, {}, is that of {} with the kernel {kernel} after {epochs} epochs.",
            percent(best.test_error),
            name(best)
        )
    });
    let text = format!(
        "Errors on test rows of what can be made of one run of the perceptron: its last weights, the average \
         of all, their votes, and weights of a round chosen at random. {description}{}",
        other_learners(compared)
    );
    let mut table = Vec::new();
    for (kernel, entries) in kernels {
        let mut own = kernel_table(entries, forms);
        if let Some(corner) = own.first_mut().and_then(|head| head.first_mut()) {
            *corner = format!("{kernel}, epochs");
        }
        table.extend(own);
    }
    // By factors, so that small errors can be told apart; none at all is no factor of any other.
    let none = kernels.iter().flat_map(|(_, entries)| entries).any(|entry| entry.test_error == 0.0);
    let y = if none {
        Scale::even("test error, %").reaching(&[0.0])
    } else {
        Scale::logarithmic("test error, %")
    };
    let chart = Chart {
        title: "Test error against epochs",
        description: &description,
        x: Scale::logarithmic("epochs"),
        y,
        panels: kernels.iter().map(panel).collect(),
    };
    Section {
        name: PictureName::Errors,
        heading: "Test error against epochs".into(),
        text,
        picture: chart.draw(),
        table,
    }
}

/// A sentence on learners without a kernel, if there are any.
fn other_learners(compared: &Compared) -> String {
    let others: Vec<String> = compared
        .entries
        .iter()
        .filter(|entry| entry.kernel.is_none())
        .map(|entry| format!("{} {}", entry.learner, percent(entry.test_error)))
        .collect();
    if others.is_empty() { String::new() } else { format!(" Other learners: {}.", others.join(", ")) }
}

fn mistakes(kernels: &[(String, Vec<&Entry>)]) -> Section {
    let of = |entries: &[&Entry], what: fn(&Entry) -> Option<u64>| -> Vec<(f64, f64)> {
        let at = |epochs: f64| {
            entries.iter().find(|entry| entry.epochs == Some(epochs)).and_then(|entry| what(entry))
        };
        epochs_of(entries).into_iter().filter_map(|epochs| Some((epochs, at(epochs)? as f64))).collect()
    };
    let series = |(kernel, entries): &(String, Vec<&Entry>)| Series {
        name: kernel.clone(),
        points: of(entries, |entry| entry.mistakes),
        look: Look::Line,
    };
    let description =
        "With every kernel, mistakes become fewer from epoch to epoch, or there are none any more.";
    let chart = Chart {
        title: "Mistakes against epochs",
        description,
        x: Scale::logarithmic("epochs"),
        y: Scale::logarithmic("mistakes so far"),
        panels: vec![Panel { title: String::new(), series: kernels.iter().map(series).collect() }],
    };
    let mut table = vec![line(["kernel", "epochs", "mistakes", "support rows"])];
    for (kernel, entries) in kernels {
        let (mistakes, support) = (of(entries, |entry| entry.mistakes), of(entries, |entry| entry.support));
        for ((epochs, mistakes), (_, support)) in mistakes.into_iter().zip(support) {
            table.push(vec![
                kernel.clone(),
                epochs.to_string(),
                count(mistakes as u64),
                count(support as u64),
            ]);
        }
    }
    let text = "Mistakes while learning, of all classes together. Weights in a kernel's space are a sum of \
                the rows that they were made on: the fewer there are, the faster is the model.";
    let heading = "Mistakes against epochs".into();
    Section { name: PictureName::Mistakes, heading, text: text.into(), picture: chart.draw(), table }
}

fn name(entry: &Entry) -> String {
    let form = Form::ALL.into_iter().find(|form| form.name() == entry.learner);
    let name = form.map_or(entry.learner.clone(), |form| form_text(form).to_owned());
    format!("{name}{}", if entry.normalised { ", normalised" } else { "" })
}
