//! What is written is read.

use super::forged::{PREFIX, reseal, taken_apart};
use super::models::*;
use novikoff::data::{Labels, Row};
use novikoff::features::Schema;
use novikoff::features::table::TableSchema;
use novikoff::kernel::Kernel;
use novikoff::model::{FORMAT_VERSION, Model, Weights, from_bytes, to_bytes};
use proptest::prelude::*;
use safetensors::SafeTensors;
use serde_json::{Value, json};
use std::sync::Arc;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_model_comes_back_as_it_was_and_always_in_the_same_bytes(seed in any::<u64>()) {
        let model = random_model(seed);
        let bytes = to_bytes(&model).unwrap();
        prop_assert_eq!(&to_bytes(&model.clone()).unwrap(), &bytes);
        let again = from_bytes(&bytes, "model").unwrap();
        prop_assert_eq!(&again, &model);
        prop_assert_eq!(to_bytes(&again).unwrap(), bytes, "bits too: negative zeros, settings, names");
    }

    /// The checksum is right, the contents are anything: refused, or else a model that scores and can be
    /// saved again.
    #[test]
    fn resealed_damage_never_panics(
        seed in any::<u64>(),
        damages in prop::collection::vec((any::<u32>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = to_bytes(&random_model(seed)).unwrap();
        for (at, byte) in damages {
            let at = 8 + PREFIX.len() + 65 + at as usize % (bytes.len() - 8 - PREFIX.len() - 65);
            bytes[at] = byte;
        }
        reseal(&mut bytes);
        if let Ok(model) = from_bytes(&bytes, "model") {
            scores(&model, Row::Sparse64(&[0, 5, 70], &[1.0, 2.0, 3.0]));
            let saved = to_bytes(&model).unwrap();
            prop_assert_eq!(from_bytes(&saved, "model").unwrap(), model);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), header in 0u8..3) {
        prop_assert!(from_bytes(&bytes, "noise").is_err());
        let mut file = match header {
            0 => u64::to_le_bytes(bytes.len() as u64).to_vec(),
            1 => u64::to_le_bytes(bytes.len() as u64 + PREFIX.len() as u64).to_vec(),
            _ => u64::to_le_bytes(u64::MAX).to_vec(),
        };
        file.extend_from_slice(if header == 0 { b"" } else { PREFIX.as_bytes() });
        file.extend_from_slice(&bytes);
        prop_assert!(from_bytes(&file, "noise").is_err());
        if file.len() >= 8 + PREFIX.len() + 64 {
            reseal(&mut file);
            prop_assert!(from_bytes(&file, "noise").is_err());
        }
    }
}

#[test]
fn a_table_schema_comes_back_as_it_was() {
    let size = json!({"feature": 2, "categories": ["s", "m\n"], "indicator": false});
    let table: TableSchema = serde_json::from_value(json!({
        "delimiter": 44, "header": true, "missing": "indicator", "columns": [
            {"name": "y", "role": "label"},
            {"name": "age", "role": {"numeric": {"feature": 0, "mean": 0.1, "indicator": true}}},
            {"name": "größe", "role": {"categorical": size}},
        ],
    }))
    .unwrap();
    let features = table.features();
    let model = linear(&["no", "yes"], Schema::Table(Arc::new(table)), Weights::zero(features, 1));
    assert_eq!(from_bytes(&to_bytes(&model).unwrap(), "model").unwrap(), model);
}

#[test]
fn any_safetensors_reader_can_read_a_model() {
    let bytes = to_bytes(&two_classes()).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let weights = tensors.tensor("weights").unwrap();
    assert_eq!((weights.dtype(), weights.shape()), (safetensors::Dtype::F64, &[4, 1][..]));
    assert_eq!(weights.data()[8..16], (-1.25f64).to_le_bytes());
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().clone().unwrap();
    assert_eq!(metadata["format"], "novikoff-model");
    assert_eq!(metadata["format_version"], FORMAT_VERSION.to_string());
    assert_eq!((metadata["learner"].as_str(), metadata["rows"].as_str()), ("perceptron", "7"));
    assert_eq!(metadata["labels"], r#"["ham","spam"]"#);
}

#[test]
fn tensors_start_at_multiples_of_their_width() {
    for seed in 0..50 {
        let bytes = to_bytes(&random_model(seed)).unwrap();
        let (header, data) = taken_apart(&bytes);
        assert_eq!((bytes.len() - data.len()) % 8, 0);
        for (name, info) in header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__") {
            let width = match info["dtype"].as_str().unwrap() {
                "F64" | "U64" => 8,
                "F32" | "U32" => 4,
                _ => 1,
            };
            assert_eq!(info["data_offsets"][0].as_u64().unwrap() % width, 0, "{name}");
        }
    }
}

#[test]
fn equal_settings_in_another_order_give_the_same_bytes() {
    let (mut one, mut two) = (two_classes(), two_classes());
    one.about.settings.insert("map".into(), serde_json::from_str(r#"{"a": 1, "b": 2}"#).unwrap());
    two.about.settings.insert("map".into(), serde_json::from_str(r#"{"b": 2, "a": 1}"#).unwrap());
    assert_eq!(to_bytes(&one).unwrap(), to_bytes(&two).unwrap());
}

#[test]
fn a_large_sparse_model_does_not_write_its_zeros() {
    let mut weights = Weights::zero(1 << 24, 1);
    weights.values[12_345_678] = 1.0;
    let model = linear(&["0", "1"], Schema::Hashed { bits: 24 }, weights);
    let bytes = to_bytes(&model).unwrap();
    assert!(bytes.len() < 2000, "{}", bytes.len());
    assert_eq!(from_bytes(&bytes, "model").unwrap(), model);
}

#[test]
fn a_model_that_could_not_be_read_again_is_not_written() {
    let refused = |change: fn(&mut Model), model: Model, part: &str| {
        let mut model = model;
        change(&mut model);
        let error = to_bytes(&model).unwrap_err();
        assert!(error.what().contains(part), "{error}");
    };
    refused(|m| linear_of(m).values[1] = f64::NAN, two_classes(), "weight 1 is not finite");
    refused(|m| linear_of(m).bias[0] = f64::INFINITY, two_classes(), "bias 0 is not finite");
    refused(|m| m.about.features = 5, two_classes(), "says 5");
    refused(|m| m.labels = Labels::new(["one"]), two_classes(), "two labels");
    refused(|m| m.labels = Labels::new(["1", "2", "3"]), two_classes(), "outputs do not fit");
    refused(|m| m.schema = Schema::Hashed { bits: 1 }, two_classes(), "schema knows 2");
    refused(|m| m.labels = Labels::default(), three_classes(), "outputs are not one number");
    refused(|m| m.labels = Labels::default(), voted(), "votes are for labels");
    refused(|m| m.probabilities = platt().probabilities, regression(), "has no probabilities");
    refused(
        |m| m.probabilities = platt().probabilities,
        three_classes(),
        "1 calibrations do not fit 3 outputs",
    );
    refused(
        |m| m.probabilities = isotonic().probabilities,
        two_classes(),
        "3 calibrations do not fit 1 outputs",
    );
    refused(|m| voted_of(m).mistakes[1].round = 5.0, voted(), "mistake 1");
    refused(|m| voted_of(m).rounds = f64::NAN, voted(), "rounds");
    refused(|m| kernel_of(m).coefficients[1] = f64::INFINITY, kernel(), "coefficient 1");
    refused(|m| kernel_of(m).coefficients.push(1.0), kernel(), "coefficients");
    refused(|m| kernel_of(m).kernel = Kernel::Rbf(f64::NAN), kernel(), "rbf");
    refused(|m| kernel_of(m).bias = f64::NAN, kernel(), "bias");
    refused(|m| clipped_of(m).most = -2.0, imported(), "no number in it");
    refused(|m| clipped_of(m).least = f64::NAN, imported(), "range of scores, 0 is not finite");
    refused(|m| clipped_of(m).weights.values[0] = f64::NAN, imported(), "weight 0");
    let deep = |m: &mut Model| {
        let nested = (0..200).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        m.about.settings.insert("deep".into(), nested);
    };
    refused(deep, two_classes(), "recursion limit");
}
