//! What is hostile is refused, whatever its checksum.

use super::forged::{Forged, header_text, refused, reseal, sealed, taken_apart};
use super::models::{
    fourier, imported, isotonic, kernel, multiplied_columns, multiplied_namespaces, named, network, platt,
    products, regression, stateful, three_classes, two_classes, voted,
};
use novikoff::model::{Model, NOBODY, Scorer, from_bytes, to_bytes};
use serde_json::json;

#[test]
fn the_forger_of_these_tests_makes_files_that_load_when_nothing_is_changed() {
    let simple =
        [two_classes(), three_classes(), voted(), kernel(), named(), regression(), platt(), isotonic()];
    for model in simple.into_iter().chain([
        network(),
        products(),
        fourier(),
        imported(),
        multiplied_columns(),
        multiplied_namespaces(),
        stateful(),
    ]) {
        assert_eq!(from_bytes(&Forged::of(&model).bytes(), "model").unwrap(), model);
    }
}

#[test]
fn products_of_features_that_could_not_have_been_made_are_refused() {
    let schema = |entry: serde_json::Value| {
        Forged::of(&multiplied_namespaces()).metadata("schema", &entry.to_string())
    };
    schema(json!({"kind": "named", "interactions": ["a"]})).refused("2 to 8 namespaces");
    schema(json!({"kind": "named", "interactions": ["ab", "ba"]})).refused("there twice");
    schema(json!({"kind": "indexed", "base": 1, "interactions": ["ab"]})).refused("no schema of the kind");
    let murmur = |entry: serde_json::Value| Forged::of(&imported()).metadata("schema", &entry.to_string());
    let hash = json!({"numbers": "hashed", "seed": 7});
    murmur(json!({"kind": "hashed", "bits": 0, "murmur": hash})).refused("schema");
    murmur(json!({"kind": "hashed", "bits": 60, "murmur": hash})).refused("60 bits");
    murmur(json!({"kind": "named", "murmur": hash})).refused("no schema of the kind");
    Forged::of(&imported()).metadata("least", "4.0").refused("no number in it");
    Forged::of(&imported()).without("most").refused("`most`");
    let interaction = |interaction: serde_json::Value| {
        let model = multiplied_columns();
        let columns = json!([
            {"name": "rooms", "role": {"numeric": {"feature": 0, "mean": 2.0, "indicator": false}}},
            {"name": "town",
             "role": {"categorical": {"feature": 1, "categories": ["Oslo", "Bergen"], "indicator": false}}},
        ]);
        let table = json!({
            "delimiter": 44, "header": true, "missing": "error", "columns": columns,
            "interactions": [interaction],
        });
        Forged::of(&model).metadata("schema", &json!({"kind": "table", "table": table}).to_string())
    };
    for (columns, cell, what) in [
        (json!(["rooms"]), json!([null]), "has not 2 to 8 columns"),
        (json!(["rooms", "rooms"]), json!([null, null]), "twice"),
        (json!(["rooms", "street"]), json!([null, "Bergen"]), "which is no feature"),
        (json!(["rooms", "town"]), json!(["2", "Bergen"]), "has a category of no column"),
        (json!(["rooms", "town"]), json!([null]), "has a category of no column"),
    ] {
        interaction(json!({"columns": columns, "feature": 3, "cells": [cell]})).refused(what);
    }
    let far = json!({"columns": ["rooms", "town"], "feature": 4, "cells": [[null, "Oslo"]]});
    interaction(far).refused("start at 4, not at 3");
    let twice =
        json!({"columns": ["rooms", "town"], "feature": 3, "cells": [[null, "Oslo"], [null, "Oslo"]]});
    interaction(twice).refused("twice");
}

#[test]
fn other_formats_and_versions_are_refused_with_advice() {
    Forged::of(&two_classes())
        .metadata("format", "pt")
        .refused("a safetensors file, but not a novikoff model");
    Forged::of(&two_classes()).without("format").refused("a safetensors file, but not a novikoff model");
    let error =
        Forged::of(&two_classes()).metadata("format_version", "2").refused("format version 2 is newer");
    assert!(error.advice().unwrap().contains("update novikoff"));
    // What a newer version adds must not hide that it is newer.
    let newer = Forged::of(&two_classes()).metadata("format_version", "2").metadata("new", "x");
    newer.tensor("bias", "shape", json!([1, 1, 1])).refused("newer");
    for version in ["0", "01", "+1", "", "one", "-1"] {
        Forged::of(&two_classes()).metadata("format_version", version).refused("no format version");
    }
    Forged::of(&two_classes()).without("format_version").refused("`format_version`");
}

#[test]
fn what_is_no_model_at_all_is_called_what_it_looks_like() {
    refused(b"", "empty");
    let gzip = refused(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc", "not even a safetensors file");
    assert!(gzip.advice().unwrap().contains("compressed"));
    let text = refused(b"+1 1:0.5 3:2\n-1 2:1\n", "not even a safetensors file");
    assert!(text.advice().unwrap().contains("text"));
    refused(&[0; 100], "not even a safetensors file");
    let empty: Vec<(&str, safetensors::tensor::TensorView<'_>)> = Vec::new();
    refused(&safetensors::serialize(empty, None).unwrap(), "a safetensors file, but not a novikoff model");
    let header = taken_apart(&to_bytes(&two_classes()).unwrap()).0["__metadata__"].clone();
    let metadata: std::collections::HashMap<String, String> = serde_json::from_value(header).unwrap();
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::U8, vec![1], &[7]).unwrap();
    let rewritten = safetensors::serialize([("x", view)], Some(metadata)).unwrap();
    // The order of its metadata is random, so it may even start as ours do.
    assert!(from_bytes(&rewritten, "model").is_err());
}

#[test]
fn header_lengths_beyond_the_limit_or_the_file_are_refused() {
    let with_length = |length: u64| {
        let mut bytes = to_bytes(&two_classes()).unwrap();
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        reseal(&mut bytes);
        bytes
    };
    refused(&with_length(u64::MAX), "claims 18446744073709551615 bytes");
    refused(&with_length((64 << 20) + 1), "allowed");
    refused(&with_length(64 << 20), "cut short");
    refused(&with_length(50), "too few");
    refused(&with_length(300), "header cannot be read");
}

#[test]
fn tensors_beyond_the_file_overlapping_or_with_holes_are_refused() {
    let forged = || Forged::of(&two_classes());
    forged()
        .tensor("weights", "data_offsets", json!([8, 1u64 << 40]))
        .refused("claims the bytes 8 to 1099511627776");
    forged().tensor("weights", "data_offsets", json!([8, u64::MAX])).refused("claims the bytes");
    forged().tensor("weights", "data_offsets", json!([40, 8])).refused("claims the bytes 40 to 8");
    forged().tensor("weights", "data_offsets", json!([0, 32])).refused("overlaps");
    forged().tensor("bias", "data_offsets", json!([0, 0])).refused("hole");
    let mut trailing = forged();
    trailing.data.extend_from_slice(&[0; 8]);
    trailing.refused("8 bytes behind the last tensor");
    forged().tensor("weights", "shape", json!([5, 1])).refused("not laid out");
    forged().tensor("weights", "shape", json!([u64::MAX, u64::MAX])).refused("not laid out");
    forged().tensor("weights", "shape", json!([2, 2])).refused("has the shape [2, 2], not [4, 1]");
    forged().tensor("weights", "shape", json!([4])).refused("has the shape [4]");
    forged().tensor("weights", "shape", json!([1, 4, 1])).refused("two dimensions");
    forged().tensor("weights", "dtype", json!("I64")).refused("is I64, not F64");
    forged().tensor("weights", "dtype", json!("X7")).refused("header cannot be read");
    forged().tensor("weights", "extra", json!(1)).refused("unknown field");
    forged()
        .tensor("more", "dtype", json!("U8"))
        .tensor("more", "shape", json!([0]))
        .tensor("more", "data_offsets", json!([40, 40]))
        .refused("`more` does not belong");
    let mut missing = forged();
    missing.header.as_object_mut().unwrap().remove("bias");
    missing.data.drain(..8);
    missing.tensor("weights", "data_offsets", json!([0, 32])).refused("`bias` is missing");
}

#[test]
fn metadata_that_is_missing_unknown_or_twice_is_refused() {
    for key in ["about", "labels", "schema", "scorer", "learner", "seed", "rows", "features", "data_hash"] {
        Forged::of(&two_classes()).without(key).refused(&format!("`{key}`"));
    }
    for key in ["scheme", "bias_coordinate", "row_layout"] {
        Forged::of(&voted()).without(key).refused(&format!("`{key}`"));
    }
    for key in ["kernel", "precision", "bias_coordinate", "row_layout"] {
        Forged::of(&kernel()).without(key).refused(&format!("`{key}`"));
    }
    Forged::of(&two_classes()).metadata("note", "hello").refused("`note` does not belong");
    Forged::of(&two_classes()).metadata("scheme", "two").refused("`scheme` does not belong");
    Forged::of(&two_classes()).metadata("scorer", "quadratic").refused("`scorer`");
    for key in ["learner", "seed", "rows", "features", "data_hash"] {
        Forged::of(&two_classes())
            .metadata(key, "8")
            .refused(&format!("`{key}` says \"8\", but `about` says"));
    }
    let forged = Forged::of(&two_classes());
    let text = header_text(&forged.header);
    let twice =
        text.replacen(r#""learner":"perceptron""#, r#""learner":"perceptron","learner":"perceptron""#, 1);
    refused(&sealed(&twice, &forged.data), "`learner` is there twice");
    let twice = text.replacen(r#"",""#, &format!(r#"","checksum":"blake3:{}",""#, "0".repeat(64)), 1);
    refused(&sealed(&twice, &forged.data), "`checksum` is there twice");
    let twice = format!(r#"{},"__metadata__":{{}}}}"#, &text[..text.len() - 1]);
    refused(&sealed(&twice, &forged.data), "`__metadata__` is there twice");
    let bias = forged.header["bias"].to_string();
    let twice = format!(r#"{},"bias":{bias}}}"#, &text[..text.len() - 1]);
    refused(&sealed(&twice, &forged.data), "`bias` is there twice");
}

#[test]
fn deep_json_is_refused() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let about = |settings: &str| {
        format!(
            r#"{{"learner":"p","settings":{{"x":{settings}}},"seed":0,"features":4,"rows":0,
                "data_hash":"","results":{{}}}}"#
        )
    };
    Forged::of(&two_classes())
        .metadata("about", &about(&deep(100_000)))
        .refused("`about` is nested too deep");
    Forged::of(&two_classes()).metadata("labels", &deep(100_000)).refused("`labels`");
    Forged::of(&two_classes()).metadata("schema", &deep(100_000)).refused("`schema`");
    let forged = Forged::of(&two_classes());
    let text = header_text(&forged.header);
    let header = format!(r#"{},"deep":{}}}"#, &text[..text.len() - 1], deep(1_000_000));
    refused(&sealed(&header, &forged.data), "header cannot be read");
    let header = format!(r#"{},"deep":{}}}"#, &text[..text.len() - 1], "[".repeat(1_000_000));
    refused(&sealed(&header, &forged.data), "header cannot be read");
}

#[test]
fn crowds_of_entries_are_refused_before_they_are_kept() {
    let mut forged = Forged::of(&two_classes());
    for i in 0..2000 {
        forged.header["__metadata__"][format!("key {i}")] = json!("");
    }
    forged.refused("more than 1024 entries");
    let long = format!("[{}0]", "0,".repeat(1 << 20));
    Forged::of(&two_classes())
        .tensor("bias", "shape", serde_json::from_str(&long).unwrap())
        .refused("two dimensions");
    let about = format!(r#"{{"learner":"{}"}}"#, "x".repeat(5 << 20));
    Forged::of(&two_classes()).metadata("about", &about).refused("`about` takes");
}

#[test]
fn about_that_is_not_what_it_should_be_is_refused() {
    Forged::of(&two_classes()).metadata("about", "{}").refused("`about` cannot be read");
    Forged::of(&two_classes()).about("more", json!(1)).refused("unknown field");
    Forged::of(&two_classes()).about("seed", json!(-1)).refused("`about` cannot be read");
    Forged::of(&two_classes()).about("seed", json!("7")).refused("`about` cannot be read");
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    Forged::of(&two_classes()).metadata("labels", r#"["ham"]"#).refused("two labels at least, not 1");
    Forged::of(&two_classes()).metadata("labels", "[]").refused("two labels at least");
    Forged::of(&two_classes()).metadata("labels", r#"["1","+1.0"]"#).refused("one and the same");
    Forged::of(&two_classes()).metadata("labels", r#"["a","a"]"#).refused("one and the same");
    Forged::of(&two_classes())
        .metadata("labels", r#"["a","b","c"]"#)
        .refused("1 outputs do not fit 3 labels");
    Forged::of(&two_classes()).metadata("labels", r#"["a",7]"#).refused("`labels` cannot be read");
    Forged::of(&three_classes()).metadata("labels", r#"["a","b"]"#).refused("3 outputs do not fit 2 labels");
    Forged::of(&voted()).metadata("labels", r#"["a","b","c"]"#).refused("there are 3 labels");
    let crowd: Vec<String> = (0..(1 << 20) + 1).map(|i| format!("{i}")).collect();
    Forged::of(&two_classes()).metadata("labels", &json!(crowd).to_string()).refused("more than 1048576");
}

#[test]
fn a_task_that_does_not_fit_is_refused() {
    Forged::of(&regression())
        .metadata("task", "classes")
        .refused("`task` is \"classes\", not \"regression\"");
    Forged::of(&regression()).without("task").refused("no `labels`");
    Forged::of(&regression()).metadata("labels", r#"["a","b"]"#).refused("`labels` does not belong");
    Forged::of(&two_classes()).metadata("task", "regression").refused("`labels` does not belong");
    Forged::of(&three_classes())
        .without("labels")
        .metadata("task", "regression")
        .refused("3 outputs are not one number");
    Forged::of(&voted()).without("labels").metadata("task", "regression").refused("votes are for labels");
    Forged::of(&platt()).without("labels").metadata("task", "regression").refused("has no probabilities");
    Forged::of(&regression()).metadata("probabilities", "logistic").refused("has no probabilities");
}

#[test]
fn probabilities_that_do_not_fit_are_refused() {
    let real = |x: f64| x.to_le_bytes();
    Forged::of(&two_classes()).metadata("probabilities", "guessed").refused("`probabilities`");
    Forged::of(&two_classes()).metadata("probabilities", "softmax").refused("an output per label");
    Forged::of(&two_classes()).metadata("probabilities", "platt").refused("`platt` is missing");
    Forged::of(&platt()).without("probabilities").refused("`platt` does not belong");
    Forged::of(&platt()).metadata("probabilities", "logistic").refused("`platt` does not belong");
    Forged::of(&platt()).number("platt", 1, &real(f64::NAN)).refused("`platt` is not finite");
    Forged::of(&platt()).tensor("platt", "shape", json!([2, 1])).refused("has the shape [2, 1], not [1, 2]");
    let forged = || Forged::of(&isotonic());
    forged().number("isotonic_scores", 1, &real(-1.0)).refused("output 0: its scores do not increase");
    forged().number("isotonic_scores", 3, &real(3.0)).refused("output 2: its scores do not increase");
    forged()
        .number("isotonic_scores", 0, &real(f64::NEG_INFINITY))
        .refused("`isotonic_scores` is not finite");
    forged().number("isotonic_values", 2, &real(-0.5)).refused("output 1: its probabilities do not rise");
    forged().number("isotonic_values", 1, &real(1.5)).refused("output 0: its probabilities do not rise");
    forged().number("isotonic_values", 5, &real(0.25)).refused("output 2: its probabilities do not rise");
    forged().number("isotonic_values", 0, &real(f64::NAN)).refused("`isotonic_values` is not finite");
    for ends in [[2, 3, 5], [2, 3, 7], [3, 2, 6], [7, 3, 6]] {
        let moved = ends
            .iter()
            .enumerate()
            .fold(forged(), |file, (at, end)| file.number("isotonic_ends", at, &u64::to_le_bytes(*end)));
        moved.refused("`isotonic_ends`");
    }
    forged().number("isotonic_ends", 0, &u64::MAX.to_le_bytes()).refused("`isotonic_ends`");
    forged().number("isotonic_ends", 0, &0u64.to_le_bytes()).refused("output 0: 0 scores");
}

#[test]
fn schemas_that_do_not_fit_are_refused() {
    for schema in [
        r#"{"kind":"indexed"}"#,
        r#"{"kind":"indexed","base":1,"bits":3}"#,
        r#"{"kind":"hashed","base":1}"#,
        r#"{"kind":"table"}"#,
        r#"{"kind":"other"}"#,
    ] {
        Forged::of(&two_classes()).metadata("schema", schema).refused("is no schema of the kind");
    }
    Forged::of(&two_classes()).metadata("schema", r#"{"kind":"indexed","base":2}"#).refused("from 0 or 1");
    Forged::of(&two_classes()).metadata("schema", r#"{"kind":"hashed","bits":33}"#).refused("longer than 32");
    Forged::of(&two_classes())
        .metadata("schema", r#"{"kind":"hashed","bits":255}"#)
        .refused("longer than 32");
    Forged::of(&two_classes()).metadata("schema", r#"{"kind":"hashed","bits":1}"#).refused("schema knows 2");
    Forged::of(&two_classes())
        .metadata("schema", r#"{"kind":"named"}"#)
        .refused("`feature_names` is missing");
    Forged::of(&two_classes())
        .metadata("schema", r#"{"kind":"indexed","base":1,"x":1}"#)
        .refused("unknown field");
}

#[test]
fn feature_names_that_do_not_fit_are_refused() {
    Forged::of(&named()).number("feature_names", 6, &[0xff]).refused("are not UTF-8");
    // The second name starts with "Gr" and a character of two bytes.
    Forged::of(&named())
        .number("feature_name_ends", 0, &8u64.to_le_bytes())
        .refused("do not end where they should");
    Forged::of(&named())
        .number("feature_name_ends", 0, &900u64.to_le_bytes())
        .refused("do not end where they should");
    Forged::of(&named())
        .number("feature_name_ends", 4, &3u64.to_le_bytes())
        .refused("do not end where they should");
    Forged::of(&named())
        .number("feature_name_ends", 0, &u64::MAX.to_le_bytes())
        .refused("do not end where they should");
    let empty_twice = Forged::of(&named()).number("feature_name_ends", 1, &5u64.to_le_bytes());
    empty_twice
        .number("feature_name_ends", 2, &5u64.to_le_bytes())
        .refused("feature name \"\" is there twice");
}

#[test]
fn weights_that_are_not_finite_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        Forged::of(&two_classes()).number("weights", 2, &bad.to_le_bytes()).refused("weight 2 is not finite");
        Forged::of(&two_classes()).number("bias", 0, &bad.to_le_bytes()).refused("`bias` is not finite");
        Forged::of(&three_classes())
            .number("weight_values", 8, &bad.to_le_bytes())
            .refused("`weight_values` is not finite");
        Forged::of(&voted())
            .number("mistake_step", 1, &bad.to_le_bytes())
            .refused("`mistake_step` is not finite");
        Forged::of(&voted()).number("rounds", 0, &bad.to_le_bytes()).refused("`rounds` is not finite");
    }
    Forged::of(&voted())
        .number("row_values", 0, &f32::NAN.to_le_bytes())
        .refused("`row_values` is not finite");
}

#[test]
fn sparse_weights_that_do_not_fit_are_refused() {
    let forged = || Forged::of(&three_classes());
    forged().number("weight_indices", 1, &3u32.to_le_bytes()).refused("does not increase strictly");
    forged().number("weight_indices", 0, &501u32.to_le_bytes()).refused("does not increase strictly");
    forged().number("weight_indices", 2, &1000u32.to_le_bytes()).refused("beyond the 1000 features");
    forged().tensor("weight_values", "shape", json!([9, 1])).refused("`weight_values` has the shape");
    forged().about("features", json!((1u64 << 32) + 1)).refused("more than 4294967296");
    forged().about("features", json!(u64::MAX)).refused("more than 4294967296");
}

#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    let huge = |model: &Model| {
        let schema = r#"{"kind":"hashed","bits":32}"#;
        Forged::of(model).about("features", json!(1u64 << 32)).metadata("schema", schema)
    };
    huge(&three_classes()).refused("its weights would take 4294967296×3×8 bytes of memory");
    huge(&voted()).refused("scoring a row would take");
    let dense = huge(&voted()).metadata("row_layout", "dense").about("features", json!(1u64 << 29));
    dense.refused("its rows would take 2×536870912×4 bytes of memory");
}

#[test]
fn votes_that_do_not_fit_are_refused() {
    let forged = || Forged::of(&voted());
    let n32 = |x: u32| x.to_le_bytes();
    let n64 = |x: u64| x.to_le_bytes();
    let real = |x: f64| x.to_le_bytes();
    forged().number("mistake_row", 0, &n32(2)).refused("mistake 0 is of a row that is not there");
    forged().number("mistake_gains", 1, &n32(1)).refused("mistake 1 is of an output that is not there");
    forged().number("mistake_gains", 1, &n32(NOBODY)).refused("mistake 1 is of an output that is not there");
    forged().number("mistake_loses", 0, &n32(1)).refused("mistake 0 is of an output that is not there");
    forged().number("mistake_round", 0, &real(2.0)).refused("mistake 1 is not between");
    forged().number("mistake_round", 0, &real(-1.0)).refused("mistake 0 is not between");
    forged().number("mistake_round", 1, &real(4.5)).refused("mistake 1 is not between");
    forged().number("rounds", 0, &real(-1.0)).refused("not between");
    forged().number("row_starts", 0, &n64(1)).refused("the starts of the rows");
    forged().number("row_starts", 1, &n64(4)).refused("the starts of the rows");
    forged().number("row_starts", 2, &n64(u64::MAX)).refused("the starts of the rows");
    forged().number("row_indices", 0, &n32(1)).refused("row 0 do not increase strictly");
    forged().number("row_indices", 2, &n32(3)).refused("row 1 has an index beyond the 3 columns");
    forged().tensor("row_values", "dtype", json!("I32")).refused("`row_values` is I32");
    forged().metadata("scheme", "all").refused("`scheme`");
    forged().metadata("row_layout", "round").refused("`row_layout`");
    forged().metadata("bias_coordinate", "one").refused("`bias_coordinate`");
    forged().metadata("bias_coordinate", "1e999").refused("`bias_coordinate`");
}

#[test]
fn kernels_that_are_none_are_refused() {
    for text in [
        "poly", "poly:0", "poly:65", "poly:02", "poly:2.0", "poly:-1", "rbf:0", "rbf:-1", "rbf:NaN",
        "rbf:inf", "rbf:1e0", "", "cosine",
    ] {
        Forged::of(&kernel()).metadata("kernel", text).refused("no kernel");
    }
    Forged::of(&kernel()).metadata("precision", "half").refused("`precision`");
    Forged::of(&two_classes()).metadata("kernel", "poly:2").refused("`kernel` does not belong");
    Forged::of(&kernel()).metadata("scheme", "two").refused("`scheme` does not belong");
    Forged::of(&kernel()).tensor("coefficients", "shape", json!([1, 2])).refused("coefficients");
    Forged::of(&kernel()).tensor("coefficients", "shape", json!([2])).refused("two dimensions");
}

#[test]
fn networks_that_do_not_fit_are_refused() {
    let forged = || Forged::of(&network());
    for (tensor, bad) in [("hidden_weights", f32::NAN), ("hidden_bias", f32::INFINITY)] {
        forged().number(tensor, 1, &bad.to_le_bytes()).refused(&format!("`{tensor}` is not finite"));
    }
    for tensor in ["input_scales", "output_weights", "output_bias"] {
        forged().number(tensor, 0, &f64::NAN.to_le_bytes()).refused(&format!("`{tensor}` is not finite"));
    }
    forged().metadata("activation", "sine").refused("`activation`");
    forged().without("activation").refused("`activation`");
    forged().tensor("hidden_weights", "shape", json!([2, 3])).refused("`hidden_weights` has the shape");
    forged().tensor("output_weights", "shape", json!([2, 1])).refused("`output_weights` has the shape");
    forged().about("features", json!(4)).refused("`hidden_weights` has the shape [3, 2], not [4, 2]");
    forged().metadata("scorer", "linear").refused("`bias` is missing");
    // Labels for which there are no scores.
    forged().metadata("labels", r#"["a","b","c"]"#).refused("1 outputs do not fit 3 labels");
    let mut model = network();
    let Scorer::Network(unfit) = &mut model.scorer else { panic!("a network") };
    unfit.first[0][31] = 1.0;
    assert!(to_bytes(&model).unwrap_err().what().contains("a hidden unit that is not there"));
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let forged = |map: &str| Forged::of(&products()).metadata("map", map);
    forged(r#"{"poly":{"degree":1}}"#).refused("the degree of a polynomial map");
    forged(r#"{"poly":{"degree":4000000000}}"#).refused("the degree of a polynomial map");
    forged(r#"{"poly":{"degree":2,"more":1}}"#).refused("`map`");
    forged(r#"{"spline":{"degree":2}}"#).refused("`map`");
    forged(r#"{"fourier":{"count":3,"gamma":1.0,"seed":0}}"#).refused("as many cosines as sines");
    forged(r#"{"fourier":{"count":2,"gamma":-1.0,"seed":0}}"#).refused("a positive number");
    forged(r#"{"poly":{"degree":3}}"#).refused("`weights` has the shape [5, 1], not [9, 1]");
    forged(r#"{"fourier":{"count":4,"gamma":1.0,"seed":0}}"#)
        .refused("`weights` has the shape [5, 1], not [4, 1]");
    Forged::of(&products()).without("map").refused("`weights` has the shape [5, 1], not [2, 1]");
    // What the map would make is counted before it is made.
    Forged::of(&products())
        .about("features", json!(1u64 << 32))
        .refused("more products of 4294967296 features");
    Forged::of(&fourier())
        .about("features", json!(1u64 << 32))
        .refused("its map would take 4294967296×1×8 bytes");
    let mut model = products();
    model.about.features = 3;
    assert!(to_bytes(&model).unwrap_err().what().contains("of 2 features, but says 3"));
}

#[test]
fn states_that_do_not_fit_together_are_refused() {
    let forged = || Forged::of(&stateful());
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut state: serde_json::Value =
            serde_json::from_str(forged().header["__metadata__"]["state"].as_str().unwrap()).unwrap();
        change(&mut state);
        forged().metadata("state", &state.to_string())
    };
    forged().without("state").refused("`state.bytes` does not belong");
    with(&|state| state["kind"] = json!("dream")).refused("`state`");
    with(&|state| state["more"] = json!(1)).refused("`state`");
    with(&|state| state["counts"]["rows"] = json!(-1)).refused("`state`");
    with(&|state| state["counts"]["rows"] = json!(u64::MAX)).refused("more than can be counted on from");
    with(&|state| state["lengths"]["sparse"] = json!(1000)).refused("increase, or lie outside");
    with(&|state| state["lengths"]["sparse"] = json!(1u64 << 40)).refused("too much for a file");
    with(&|state| state["lengths"]["sparse"] = json!(u64::MAX)).refused("too much for a file");
    with(&|state| state["lengths"] = json!({})).refused("`state.sparse.indices`");
    with(&|state| state["lengths"]["nowhere"] = json!(3)).refused("`nowhere` are missing");
    with(&|state| state["lengths"]["means"] = json!(3)).refused("`state.means.indices`");
    forged().tensor("state.delayed", "dtype", json!("I64")).refused("is I64, not F64");
    forged().tensor("state.delayed", "shape", json!([3, 1])).refused("not one dimension");
    let mut infinite = forged();
    let at = infinite.header["state.delayed"]["data_offsets"][0].as_u64().unwrap() as usize;
    infinite.data[at..at + 8].copy_from_slice(&f64::INFINITY.to_le_bytes());
    infinite.refused("`state.delayed` is not finite");
}
