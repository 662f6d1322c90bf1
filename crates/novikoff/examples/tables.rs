//! A table of numbers and names: read, train with a held-out part, evaluate, explain, save.
//!
//! `cargo run --release --example tables`

#![allow(clippy::print_stdout)]

use novikoff::evaluate::evaluate;
use novikoff::{Dataset, LogisticRegression, Model};

fn main() -> novikoff::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/breast_cancer.csv");
    let (train, test) = Dataset::read(path)?.split(0.3, 1)?;
    let fit = LogisticRegression::new().fit(&train)?;
    println!("{} rows, {} columns: {:?}", train.len(), train.rows.columns(), fit.termination);

    let error = evaluate(&fit.model, &test)?.error().unwrap_or(1.0);
    println!("test error: {:.1} %", 100.0 * error);
    assert!(error < 0.1);

    let probabilities = fit.model.probabilities(&test)?;
    println!(
        "the first test row is {} with probabilities {:?}",
        fit.model.predict(&test)?[0],
        probabilities[0]
    );
    for part in fit.model.explain(&test, 0)?.parts.iter().take(3) {
        println!("  {} adds {:+.3}", fit.model.feature_name(part.feature), part.added);
    }

    let file = std::env::temp_dir().join(format!("novikoff-example-tables-{}.model", std::process::id()));
    fit.model.save(&file)?;
    let loaded = Model::load(&file)?;
    assert_eq!(loaded.predict(&loaded.read(path)?)?.len(), 569);
    let _ = std::fs::remove_file(file);
    Ok(())
}
