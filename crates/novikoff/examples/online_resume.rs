//! One row at a time: predict, learn, save, and go on later as if nothing had happened.
//!
//! `cargo run --release --example online_resume`

#![allow(clippy::print_stdout)]

use novikoff::{Online, Perceptron};

/// Two measurements, and what they mean.
fn row(i: u32) -> ([f64; 2], &'static str) {
    let (x, y) = (f64::from(i % 17) - 8.0, f64::from(i % 5) - 2.0);
    ([x, y], if x + 2.0 * y > 0.0 { "alarm" } else { "fine" })
}

fn main() -> novikoff::Result<()> {
    let file = std::env::temp_dir().join(format!("novikoff-example-online-{}.model", std::process::id()));
    let mut online = Perceptron::averaged().online()?;
    for i in 0..500 {
        let (values, label) = row(i);
        online.learn(&values, label)?;
    }
    online.save(&file)?;
    println!("{} rows, progressive error {:.1} %", online.rows(), 100.0 * online.progressive_error());

    // Later, perhaps in another process.
    let mut resumed = Online::resume(&file)?;
    for i in 500..1000 {
        let (values, label) = row(i);
        resumed.learn(&values, label)?;
        online.learn(&values, label)?;
    }
    assert_eq!(resumed.model()?, online.model()?);
    println!("{} rows, progressive error {:.1} %", resumed.rows(), 100.0 * resumed.progressive_error());

    let model = resumed.model()?;
    println!("the score of [3, 1] is {:?}: {:?}", model.scores_of(&[3.0, 1.0])?, model.labels.names());
    let _ = std::fs::remove_file(file);
    Ok(())
}
