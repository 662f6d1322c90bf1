//! What is said of a model, proved: a certificate is written, read again and verified against the rows.
//!
//! `cargo run --release --example proofs`

#![allow(clippy::print_stdout)]

use novikoff::certificate::Certificate;
use novikoff::{Dataset, LinearSvm, MaxMargin, Perceptron};

fn main() -> novikoff::Result<()> {
    let rows = [0.0, 0.0, 1.0, 0.5, 0.2, 1.0, 4.0, 4.0, 5.0, 3.0, 3.5, 5.0];
    let data = Dataset::from_dense(&rows, 2)?.with_labels(&["low", "low", "low", "high", "high", "high"])?;

    // The duals prove a lower bound on the objective: it is near the minimum.
    let svm = LinearSvm::new().cost(1.0).tolerance(1e-6).fit(&data)?.certificate(&data)?;
    for claim in svm.verify(&data)? {
        println!("{}", claim.claim);
    }
    assert!(svm.relative_gap().is_some_and(|gap| gap <= 1e-5));

    // No hyperplane has a larger margin than this one, but for the tolerance.
    let widest = MaxMargin::new().tolerance(1e-6).fit(&data)?;
    println!("the largest margin lies within {:?}", widest.risk().and_then(|risk| risk.margin));
    let text = widest.certificate(&data)?.to_text();

    // Certificates are text. Anybody who has the rows can check them.
    let certificate = Certificate::from_text(&text).map_err(novikoff::Error::input)?;
    certificate.verify(&data)?;
    let other =
        Dataset::from_dense(&rows, 2)?.with_labels(&["low", "low", "high", "high", "high", "high"])?;
    assert!(certificate.verify(&other).is_err(), "it is not about other rows");

    // Novikoff's theorem bounds the mistakes of the perceptron.
    let run = Perceptron::new().epochs(1000).fit(&data)?;
    let details = run.run().expect("the details of a perceptron's run");
    let promise = details.promise.as_ref().expect("the rows are separable");
    println!("{} mistakes of at most {}", details.history.mistakes, promise.bound);
    assert!(details.history.mistakes as f64 <= promise.bound);
    Ok(())
}
