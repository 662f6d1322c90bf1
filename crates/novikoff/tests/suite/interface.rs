//! The library as its users meet it: data in memory in, labels and a checked proof out.

use novikoff::certificate::Certificate;
use novikoff::data::matrix::Matrix;
use novikoff::{Dataset, Error, Fit, LinearSvm, Model, Online, Perceptron, Result};

/// What can be sent to another thread, shared between threads, and kept.
fn is_free<T: Send + Sync + 'static>() {}

#[test]
fn everything_that_training_returns_can_be_sent_and_shared() {
    is_free::<Dataset<'static>>();
    is_free::<Matrix<'static>>();
    is_free::<Fit>();
    is_free::<Model>();
    is_free::<Online>();
    is_free::<Certificate>();
    is_free::<Error>();
    is_free::<LinearSvm>();
    is_free::<Perceptron>();
}

#[test]
fn a_model_of_borrowed_rows_is_that_of_rows_of_its_own() -> Result<()> {
    let values: Vec<f64> = (0..600).map(|i| f64::from(i * i % 97) / 7.0).collect();
    let labels: Vec<&str> =
        values.chunks(3).map(|x| if x[0] + x[1] > x[2] + 6.0 { "up" } else { "down" }).collect();
    let borrowed = Dataset::from_dense(&values, 3)?.with_labels(&labels)?;
    let owned = Dataset::from_dense(values.clone(), 3)?.with_labels(&labels)?;
    let learner = LinearSvm::new().cost(1.0).tolerance(1e-6);
    let fits = [learner.fit(&borrowed)?, learner.fit(&owned)?];
    let [borrowing, owning] = fits.map(|fit| novikoff::model::to_bytes(&fit.model));
    assert_eq!(borrowing?, owning?);
    Ok(())
}

#[test]
fn what_was_learned_row_by_row_is_resumed_from_its_file() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("online.model");
    let rows = [([1.0, 2.0], "up"), ([2.0, -1.0], "down"), ([0.5, 1.5], "up"), ([1.0, -3.0], "down")];
    let mut whole = Perceptron::averaged().online();
    let mut first = Perceptron::averaged().online();
    for (x, label) in &rows[..2] {
        whole.learn(x, label)?;
        first.learn(x, label)?;
    }
    first.save(&path)?;
    let mut second = Online::resume(&path)?;
    for (x, label) in &rows[2..] {
        whole.learn(x, label)?;
        second.learn(x, label)?;
    }
    let bytes = |online: &Online| online.model().and_then(|model| novikoff::model::to_bytes(&model));
    assert_eq!(bytes(&whole)?, bytes(&second)?);
    Ok(())
}
