//! The library as its users meet it: data in memory in, labels and a checked proof out.

use novikoff::certificate::Certificate;
use novikoff::control::Unwatched;
use novikoff::data::matrix::Matrix;
use novikoff::evaluate::evaluate;
use novikoff::kernel::Kernel;
use novikoff::multiclass::Scheme;
use novikoff::train::{Learner, LearnerName, SolverName, train};
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
    let mut whole = Perceptron::averaged().online()?;
    let mut first = Perceptron::averaged().online()?;
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

/// Rows on a line, those below zero with the first label.
fn on_a_line(labels: [&str; 4]) -> Dataset<'static> {
    Dataset::from_dense(vec![-2.0, -1.0, 1.0, 2.0], 1).unwrap().with_labels(&labels).unwrap()
}

#[test]
fn validation_labels_are_compared_by_name() {
    let data = on_a_line(["cold", "cold", "hot", "hot"]);
    let turned = Dataset::from_dense(vec![2.0, 1.0, -1.0, -2.0], 1).unwrap();
    let turned = turned.with_labels(&["hot", "hot", "cold", "cold"]).unwrap();
    let unknown = on_a_line(["cold", "cold", "hot", "mild"]);
    let validated = |learner: Learner, held: &Dataset| train(&data, Some(held), &learner, &mut Unwatched);
    for name in [LearnerName::Averaged, LearnerName::Svm, LearnerName::Network] {
        let fit = validated(name.learner(), &turned).unwrap();
        assert_eq!(fit.validation_error(), Some(0.0), "{}", name.name());
        let fit = validated(name.learner(), &unknown).unwrap();
        assert_eq!(fit.validation_error(), Some(0.25), "a label never seen counts as wrong: {}", name.name());
        let error = validated(name.learner(), &on_a_line(["mild"; 4])).unwrap_err().to_string();
        assert!(error.contains("mild"), "{error}");
        let wide = Dataset::from_dense(vec![1.0, 2.0], 2).unwrap().with_labels(&["hot"]).unwrap();
        assert!(validated(name.learner(), &wide).unwrap_err().to_string().contains("columns"));
    }
}

#[test]
fn a_data_set_that_contradicts_itself_is_refused() {
    type Change = fn(&mut Dataset);
    let changes: [Change; 5] = [
        |data| data.labels[1] = 7,
        |data| data.labels.push(0),
        |data| data.labels.truncate(3),
        |data| data.row_weights = vec![1.0; 3],
        |data| data.row_weights = vec![1.0, f64::NAN, 1.0, 1.0],
    ];
    let learners =
        [LearnerName::Perceptron, LearnerName::Logistic, LearnerName::Network, LearnerName::MaxMargin];
    for (number, change) in changes.iter().enumerate() {
        let mut data = on_a_line(["cold", "cold", "hot", "hot"]);
        let model = LinearSvm::new().fit(&data).unwrap().model;
        change(&mut data);
        for name in learners {
            assert!(train(&data, None, &name.learner(), &mut Unwatched).is_err(), "{number} {}", name.name());
        }
        assert!(evaluate(&model, &data).is_err(), "{number}");
        assert!(LinearSvm::new().tune(&data, 2, None).is_err(), "{number}");
    }
}

#[test]
fn a_certificate_is_of_the_rows_that_were_learned_from() {
    let data = on_a_line(["cold", "cold", "hot", "hot"]);
    let fewer = data.select(&[0, 1, 3]);
    let other = on_a_line(["cold", "hot", "hot", "hot"]);
    for name in [LearnerName::MaxMargin, LearnerName::Svm, LearnerName::Perceptron] {
        let fit = train(&data, None, &name.learner(), &mut Unwatched).unwrap();
        assert!(fit.certificate(&data).is_ok(), "{}", name.name());
        for rows in [&fewer, &other] {
            let error = fit.certificate(rows).unwrap_err().to_string();
            assert!(error.contains("not the rows"), "{}: {error}", name.name());
        }
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let data = on_a_line(["cold", "cold", "hot", "hot"]);
    for kernel in [Kernel::Rbf(-1.0), Kernel::Rbf(f64::NAN), Kernel::Rbf(0.0), Kernel::Polynomial(0)] {
        assert!(Perceptron::new().kernel(kernel).fit(&data).is_err(), "{kernel}");
    }
    let three = on_a_line(["cold", "mild", "hot", "hot"]);
    assert!(Perceptron::new().multiclass(Scheme::Two).fit(&three).is_err());
    assert!(LinearSvm::new().multiclass(Scheme::Two).fit(&three).is_err());
    assert!(data.select(&[0]).split(0.5, 0).is_err());
}

#[test]
fn certificates_are_saved_and_loaded() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svm.proof");
    let data = on_a_line(["cold", "cold", "hot", "hot"]);
    let certificate = LinearSvm::new().tolerance(1e-6).fit(&data)?.certificate(&data)?;
    certificate.save(&path)?;
    assert_eq!(Certificate::load(&path)?, certificate);
    assert!(certificate.relative_gap().is_some_and(|gap| gap <= 1e-5));
    let rough = LinearSvm::new().solver(SolverName::Gradient).steps(1).fit(&data)?.certificate(&data)?;
    rough.verify(&data)?;
    assert!(rough.relative_gap().is_none_or(|gap| gap > 1e-3), "one step is not enough");
    Ok(())
}
