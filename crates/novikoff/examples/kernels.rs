//! What no hyperplane separates: kernels, and feature maps for any learner.
//!
//! `cargo run --release --example kernels`

#![allow(clippy::print_stdout)]

use novikoff::features::map::Map;
use novikoff::kernel::Kernel;
use novikoff::{Dataset, LogisticRegression, Perceptron};

fn main() -> novikoff::Result<()> {
    // Points within a circle, and around it.
    let points: Vec<[f64; 2]> = (0..400)
        .map(|i| {
            let (angle, radius) = (f64::from(i) * 0.7, if i % 2 == 0 { 0.5 } else { 1.5 });
            [radius * angle.cos(), radius * angle.sin()]
        })
        .collect();
    let labels: Vec<&str> = (0..400).map(|i| if i % 2 == 0 { "inside" } else { "outside" }).collect();
    let data = Dataset::from_dense(points.as_flattened(), 2)?.with_labels(&labels)?;

    let linear = LogisticRegression::new().fit(&data)?;
    let kernel = Perceptron::voted().kernel(Kernel::Rbf(1.0)).epochs(10).fit(&data)?;
    let mapped = LogisticRegression::new().map(Map::Poly { degree: 2 }).fit(&data)?;
    println!("logistic regression {:?}", linear.train_error);
    println!("voted perceptron with an RBF kernel {:?}", kernel.train_error);
    println!("logistic regression on products of features {:?}", mapped.train_error);
    assert!(linear.train_error > Some(0.3));
    assert_eq!((kernel.train_error, mapped.train_error), (Some(0.0), Some(0.0)));
    Ok(())
}
