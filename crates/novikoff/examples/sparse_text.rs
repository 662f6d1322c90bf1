//! Texts, and sparse rows that were made elsewhere.
//!
//! `cargo run --release --example sparse_text`

#![allow(clippy::print_stdout)]

use novikoff::{Dataset, LinearSvm};

fn main() -> novikoff::Result<()> {
    // A line for each document: label, tab, text. Words become columns, weighed by tf-idf.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tech.tsv");
    let data = Dataset::read(path)?;
    let fit = LinearSvm::squared().cost(1.0).fit(&data)?;
    println!("{} documents, {} terms, train error {:?}", data.len(), data.rows.columns(), fit.train_error);
    assert_eq!(fit.train_error, Some(0.0));

    // Compressed sparse rows, as SciPy and others have them.
    let (starts, columns, values) = ([0, 2, 3, 5, 6], [0, 3, 1, 0, 2, 3], [1.0, 2.0, 1.0, 3.0, 1.0, 1.0]);
    let rows = Dataset::from_csr(&starts, &columns, &values, 4)?
        .with_labels(&["spam", "ham", "spam", "ham"])?
        .with_row_weights(&[1.0, 2.0, 1.0, 1.0])?;
    let model = LinearSvm::new().lambda(0.01).fit(&rows)?.model;
    for (label, ranked) in model.predict(&rows)?.iter().zip(model.top(&rows, 2)?) {
        println!("{label}: {ranked:?}");
    }
    Ok(())
}
