//! Models of old must load for ever.

use super::models::*;
use novikoff::data::Row;
use novikoff::model::{Model, load, save};
use serde_json::json;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
}

fn fixtures() -> [(&'static str, Model); 16] {
    [
        ("v1-two-classes.safetensors", two_classes()),
        ("v1-three-classes-sparse.safetensors", three_classes()),
        ("v1-voted.safetensors", voted()),
        ("v1-named.safetensors", named()),
        ("v1-regression.safetensors", regression()),
        ("v1-platt.safetensors", platt()),
        ("v1-isotonic.safetensors", isotonic()),
        ("v1-presence.safetensors", presence()),
        ("v1-network.safetensors", network()),
        ("v1-products.safetensors", products()),
        ("v1-fourier.safetensors", fourier()),
        ("v1-kernel.safetensors", kernel()),
        ("v1-multiplied-columns.safetensors", multiplied_columns()),
        ("v1-multiplied-namespaces.safetensors", multiplied_namespaces()),
        ("v1-imported.safetensors", imported()),
        ("v1-state.safetensors", stateful()),
    ]
}

/// Writes the models that are kept under the tests, where they are missing:
/// `cargo test -p novikoff --test model_file -- --ignored write_the_models_of_today`.
/// Those of a version that was released are never written again: they stand for the files that people have.
#[test]
#[ignore = "writes files into the repository"]
fn write_the_models_of_today() {
    for (name, model) in fixtures() {
        if !fixture(name).exists() {
            save(&model, &fixture(name)).unwrap();
        }
    }
}

#[test]
fn models_of_version_1_load_for_ever() {
    for (name, model) in fixtures() {
        let old = load(&fixture(name)).unwrap();
        assert_eq!(
            (&old.labels, &old.schema, &old.scorer),
            (&model.labels, &model.schema, &model.scorer),
            "{name}"
        );
        assert_eq!((&old.probabilities, &old.state), (&model.probabilities, &model.state), "{name}");
        assert_eq!(old.about.learner, model.about.learner);
        assert_eq!(old.about.settings["step"], json!(0.1));
        assert_eq!(old.about.results["error"], json!(1.0 / 3.0));
        assert_eq!((old.about.seed, old.about.rows), (u64::MAX - 1, 7));
    }
}

#[test]
fn models_of_version_1_score_as_they_did() {
    let of = |name, row| scores(&load(&fixture(name)).unwrap(), row);
    assert_eq!(of("v1-two-classes.safetensors", Row::Sparse64(&[0, 2, 3], &[1.0, 4.0, 0.5])), [1.75]);
    assert_eq!(
        of("v1-three-classes-sparse.safetensors", Row::Sparse64(&[3, 500, 998], &[1.0, 2.0, 9.0])),
        [1.5, 1.0, -1.5]
    );
    assert_eq!(of("v1-three-classes-sparse.safetensors", Row::Sparse64(&[999], &[0.5])), [0.0, 0.5, 3.5]);
    assert_eq!(of("v1-voted.safetensors", Row::Sparse64(&[0], &[1.0])), [1.0]);
    assert_eq!(of("v1-voted.safetensors", Row::Sparse64(&[1], &[1.0])), [-0.5]);
    assert_eq!(of("v1-named.safetensors", Row::Sparse64(&[1, 3], &[1.0, 1.0])), [9.0]);
    assert_eq!(of("v1-regression.safetensors", Row::Sparse64(&[0, 2], &[2.0, 1.0])), [188.75]);
    assert_eq!(of("v1-presence.safetensors", Row::Sparse64(&[0, 2, 3], &[0.1, 4.0, 0.5])), [2.75]);
    assert_eq!(of("v1-presence.safetensors", Row::Dense64(&[7.0, 0.0, 1.0, -3.0])), [0.75]);
    // Hidden units max(0, 2 + 2 − 4 + ½) and max(0, −2 + 4).
    assert_eq!(of("v1-network.safetensors", Row::Sparse64(&[0, 1, 2], &[2.0, 2.0, 4.0])), [0.5 - 6.0 - 0.25]);
    assert_eq!(of("v1-network.safetensors", Row::Dense64(&[1.0, 0.0, 0.0])), [1.25]);
    let root = 2f64.sqrt();
    let products = of("v1-products.safetensors", Row::Dense64(&[3.0, 5.0]));
    let expected = 1.0 + 3.0 * root + 2.0 * 9.0 + 4.0 * 5.0 * root + 8.0 * 15.0 * root + 16.0 * 25.0;
    assert!((products[0] - expected).abs() < 1e-12 * expected, "{products:?} {expected}");
    assert_eq!(of("v1-fourier.safetensors", Row::Sparse64(&[], &[])), [2.0]);
    // (1 + 1)² + 1 of the first row, less half of (1 + 0)² + 1 of the second.
    assert_eq!(of("v1-kernel.safetensors", Row::Sparse64(&[0], &[1.0])), [4.0]);
    assert_eq!(of("v1-kernel.safetensors", Row::Dense64(&[0.0, 1.0, 0.0])), [0.0]);
    let row = Row::Sparse64(&[0, 3], &[2.0, 1.0]);
    assert_eq!(of("v1-multiplied-columns.safetensors", row), [10.5]);
    assert_eq!(of("v1-multiplied-namespaces.safetensors", Row::Sparse64(&[1, 2], &[1.0, 1.0])), [6.25]);
    assert_eq!(of("v1-imported.safetensors", Row::Sparse64(&[3], &[1.0])), [3.0]);
    assert_eq!(of("v1-imported.safetensors", Row::Sparse64(&[1], &[-1.0])), [-1.0]);
    assert_eq!(of("v1-imported.safetensors", Row::Sparse64(&[1], &[0.5])), [1.25]);
    let chances = |name, row| probabilities(&load(&fixture(name)).unwrap(), row);
    assert_eq!(chances("v1-platt.safetensors", Row::Sparse64(&[], &[])), [0.5, 0.5]);
    assert_eq!(
        chances("v1-isotonic.safetensors", Row::Sparse64(&[3], &[0.5])),
        [0.75 / 1.25, 0.25 / 1.25, 0.25 / 1.25]
    );
}
