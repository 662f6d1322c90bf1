//! The program: what it prints, and how it exits.

mod common;

use common::{certificate, margin_at_least, mistakes_at_most, proof, svm, two, with};
use novikoff_checker::{Rows, check};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// A folder that is gone at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("novikoff-check-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_novikoff-check")).args(arguments).output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

const ROWS: &str = "+1 1:3\n-1 1:-2\n";

fn at_least(margin: f64) -> Value {
    margin_at_least("none", margin, json!({"weights": [0.5], "bias": 0}))
}

#[test]
fn it_prints_what_holds_and_exits_accordingly() {
    let folder = Folder::new("prints");
    let rows = svm(ROWS);
    let (data, hash) = (folder.write("rows.svm", ROWS), rows.hash());
    let good = folder.write("good.proof", certificate(&rows, &[at_least(2.0)]));
    let (code, out, _) = run(&[&good, &data]);
    let expected = format!(
        "holds  the certificate is about these rows\n       {hash}\n\
         holds  a hyperplane through the origin separates 1 from -1 with a margin of at least 2e0\n       \
         every row has a margin of at least 2e0\n\
         the certificate holds\n"
    );
    assert_eq!((code, out), (0, expected));
    let bad = folder.write("bad.proof", certificate(&rows, &[at_least(2.5), at_least(-1.0)]));
    let (code, out, _) = run(&[&bad, &data]);
    assert_eq!(code, 1);
    assert!(out.contains(
        "FAILS  a hyperplane through the origin separates 1 from -1 with a margin of at least 2.5e0\n       \
         the smallest margin is 2e0\n"
    ));
    assert!(out.contains(
        "holds  a hyperplane through the origin has a margin of at least -1e0 in separating 1 from -1\n"
    ));
    assert!(out.ends_with("the certificate does NOT hold\n"));
    let (code, out, _) = run(&["--json", &bad, &data]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &found["holds"], &found["claims"][1]["holds"]), (1, &json!(false), &json!(false)));
    assert_eq!(
        found["claims"][1]["question"],
        json!({"claim": "margin-at-least", "sides": two(), "bias": "none", "margin": 2.5})
    );
    let named = certificate(&rows, &[at_least(2.0)])
        .replace("\"version\":4", &format!("\"version\":4,\"model\":\"blake3:{}\"", "0".repeat(64)));
    let (code, out, _) = run(&[&folder.write("named.proof", named), &data]);
    let note = format!(
        "not checked: whether the weights are those of the model blake3:{}; give its file to see\n\
         the certificate holds\n",
        "0".repeat(64)
    );
    assert!(code == 0 && out.ends_with(&note), "{out}");
}

#[test]
fn what_cannot_be_read_is_exit_code_2() {
    let folder = Folder::new("unread");
    let rows = svm(ROWS);
    let (data, good) =
        (folder.write("rows.svm", ROWS), folder.write("good.proof", certificate(&rows, &[at_least(2.0)])));
    let old = folder
        .write("old.proof", certificate(&rows, &[at_least(2.0)]).replace("\"version\":4", "\"version\":3"));
    let damaged = folder.write("damaged.rows", b"novikoff rows 1\n\x07");
    let binary = folder.write("binary.svm", b"\xff\xfe");
    let odd = folder.write("odd.svm", "1 2:1 1:1\n");
    for arguments in [
        &[&good[..]][..],
        &[&good, "/nowhere"],
        &["/nowhere", &data],
        &[&old, &data],
        &[&data, &data],
        &[&good, &damaged],
        &[&good, &binary],
        &[&good, &odd],
        &[&good, &data, &data],
        &[&good, &data, "--quick"],
        &[&good, &data, "--label"],
        &[&good, &data, &data, &data],
    ] {
        let (code, out, err) = run(arguments);
        assert!(
            code == 2 && out.is_empty() && err.starts_with("novikoff-check: "),
            "{arguments:?}: {code} {out} {err}"
        );
    }
    assert!(run(&[&old, &data]).2.contains("hint: write the certificate again"));
    assert!(run(&[&good, &odd]).2.contains("hint: write the rows with `novikoff rows DATA FILE` first"));
    assert!(run(&["--help"]).1.contains("Exit codes"));
    assert_eq!(
        run(&["--version"]),
        (0, format!("novikoff-check {}\n", env!("CARGO_PKG_VERSION")), String::new())
    );
}

#[test]
fn all_kinds_of_rows_are_read() {
    let folder = Folder::new("kinds");
    let zero = Rows::from_svmlight("1 0:3\n-1 0:-2\n", true).unwrap();
    let proof = folder.write("zero.proof", certificate(&zero, &[at_least(2.0)]));
    let data = folder.write("zero.svm", "1 0:3\n-1 0:-2\n");
    assert_eq!(run(&[&proof, &data, "--zero-based"]).0, 0);
    assert_eq!(run(&[&proof, &data]).0, 2);
    let table = Rows::from_csv("kind,x\n1,3\n-1,-2\n", Some("kind")).unwrap();
    let proof = folder.write("table.proof", certificate(&table, &[at_least(2.0)]));
    let data = folder.write("table.csv", "kind,x\n1,3\n-1,-2\n");
    assert_eq!(run(&[&proof, &data, "--label", "kind"]).0, 0);
    let bytes = common::canonical(&[(0, 1.0, &[(0, 3.0)]), (1, 1.0, &[(0, -2.0)])], 1, &["+1", "-1"]);
    let rows = svm(ROWS);
    let proof = folder.write("rows.proof", certificate(&rows, &[at_least(2.0)]));
    assert_eq!(run(&[&proof, &folder.write("rows", bytes)]).0, 0);
}

/// Rows of four labels, and the sentence that the checker has for a claim about them.
fn sentence(claim: Value) -> String {
    let rows = Rows::from_csv("y,u,v\na,1,2\nb,1,2\nc,1,2\nd,1,2\n", None).unwrap();
    check(&certificate(&rows, &[claim]), &rows, None).unwrap().remove(1).claim
}

fn a_from_the_others() -> Value {
    json!({"sides": {"positive": ["a"], "negative": ["b", "c", "d"]}})
}

/// A value with more fields, or others.
fn extended(mut value: Value, more: &Value) -> Value {
    for (key, field) in more.as_object().into_iter().flatten() {
        value[key] = field.clone();
    }
    value
}

#[test]
fn sentences_of_objectives_have_every_part_of_the_question() {
    let near = |target: Value, more: Value| {
        let objective = json!({
            "target": target, "loss": "squared-hinge", "lambda": 0.5, "l1": 0, "bias": "free",
        });
        let weights = json!([{"columns": [], "weights": [], "bias": 0}]);
        let claim = json!({
            "objective": extended(objective, &more["objective"]), "value": 1.5, "weights": weights,
        });
        sentence(json!({"near-optimal": extended(claim, &more["claim"])}))
    };
    assert_eq!(
        near(a_from_the_others(), json!({})),
        "the weights make the objective at most 1.5e0; objective: mean squared hinge loss, to tell a from b, \
         c, d, a free bias, λ = 5e-1, l1 = 0e0"
    );
    let every = json!({"class_weights": [["a", 2], ["x y", 0.5]], "scale": "unit-variance",
        "scaled_columns": 1, "bias": "none"});
    assert_eq!(
        near(
            json!({"classes": ["a", "b\n"]}),
            json!({"objective": every, "claim": {"lower_bound": 1, "within": 3}})
        ),
        "the weights make the objective at most 1.5e0, and no weights with ‖v‖ ≤ 3e0 make it less than 1e0; \
         objective: mean squared hinge loss, to tell a, \"b\\n\" apart jointly, no bias, λ = 5e-1, l1 = 0e0, \
         class weights a = 2e0, \"x y\" = 5e-1, columns scaled by their standard deviation (the first 1)"
    );
    assert_eq!(
        near(
            json!("numbers"),
            json!({"objective": {"scale": "max-abs", "bias": "penalised"}, "claim": {"lower_bound": -1}})
        ),
        "the weights make the objective at most 1.5e0, and no weights make it less than -1e0; objective: \
         mean squared hinge loss, to predict numbers, a penalised bias, λ = 5e-1, l1 = 0e0, columns scaled \
         by their largest absolute value"
    );
}

#[test]
fn sentences_of_mistakes_have_every_part_of_the_question() {
    let mistakes = |target: Value, more: Value| {
        let zero = json!([{"columns": [], "weights": [], "bias": 0}]);
        let proof = with(proof(target, 1.0, zero), "bias", json!("penalised"));
        sentence(mistakes_at_most(7, extended(proof, &more)))
    };
    assert_eq!(
        mistakes(a_from_the_others(), json!({"passes": 1, "normalised": true})),
        "a normalised perceptron with a bias that is a coordinate of 1 in every row makes at most 7 mistakes \
         in 1 pass over the rows, in any order, in telling a from b, c, d"
    );
    assert_eq!(
        mistakes(json!({"classes": ["a", "b"]}), json!({"own_feature": 0.5, "bias": "none"})),
        "a perceptron through the origin and a feature of 5e-1 of each row's own makes at most 7 mistakes in \
         any number of passes over the rows, in any order, in telling a, b apart jointly"
    );
}

#[test]
fn sentences_of_margins_count_the_other_labels() {
    let five = Rows::from_csv("y,u\na,1\nb,1\nc,1\nd,1\ne,1\n", None).unwrap();
    let at_most = |negative: &[&str]| {
        let claim = json!({"margin-at-most": {
            "sides": {"positive": ["a"], "negative": negative}, "bias": "penalised", "margin": 2,
            "combination": {"rows": [], "multipliers": []},
        }});
        check(&certificate(&five, &[claim]), &five, None).unwrap().remove(1).claim
    };
    let plane = "no hyperplane with a bias that is a coordinate of 1 in every row separates a from";
    assert_eq!(at_most(&["b", "c", "d", "e"]), format!("{plane} the 4 other labels with a margin above 2e0"));
    assert_eq!(at_most(&["b", "c", "d", "x"]), format!("{plane} b, c, d, x with a margin above 2e0"));
}

/// A model's file with these metadata and tensors, as `docs/model-format.md` describes it.
fn model(
    metadata: &BTreeMap<&str, String>,
    tensors: &[(&str, &str, Vec<u64>, Vec<u8>)],
) -> (Vec<u8>, String) {
    let mut header = format!("{{\"__metadata__\":{{\"checksum\":\"blake3:{}\"", "0".repeat(64));
    metadata.iter().for_each(|(key, value)| header += &format!(",{}:{}", json!(key), json!(value)));
    header += "}";
    let mut numbers: Vec<u8> = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let start = numbers.len();
        numbers.extend(bytes);
        header += &format!(
            ",{}:{}",
            json!(name),
            json!({"dtype": dtype, "shape": shape, "data_offsets": [start, numbers.len()]})
        );
    }
    header += "}";
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(numbers);
    let digits = blake3::hash(&file).to_hex().to_string();
    let at = 8 + "{\"__metadata__\":{\"checksum\":\"blake3:".len();
    file[at..at + 64].copy_from_slice(digits.as_bytes());
    (file, format!("blake3:{digits}"))
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn metadata(settings: &Value) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("format", "novikoff-model".to_owned()),
        ("format_version", "1".to_owned()),
        ("about", json!({"settings": settings}).to_string()),
        ("features", "2".to_owned()),
        ("labels", json!(["-1", "1"]).to_string()),
        ("schema", json!({"kind": "indexed", "base": 1}).to_string()),
        ("scorer", "linear".to_owned()),
    ])
}

/// Whether the certificate, with the model's checksum in it, is about the model.
fn is_about(certificate: &str, rows: &Rows, (file, checksum): &(Vec<u8>, String)) -> Result<(), String> {
    let named = certificate.replace("\"version\":4", &format!("\"version\":4,\"model\":\"{checksum}\""));
    let verdict = check(&named, rows, Some(file)).unwrap().remove(1);
    assert_eq!(verdict.claim, "the certificate is about this model");
    if verdict.holds { Ok(()) } else { Err(verdict.detail) }
}

/// Tensors of a model's file: name, type, shape, bytes.
type Tensors = Vec<(&'static str, &'static str, Vec<u64>, Vec<u8>)>;

fn dense(bias: f64, weights: [f64; 2]) -> Tensors {
    vec![("bias", "F64", vec![1], bytes(&[bias])), ("weights", "F64", vec![2, 1], bytes(&weights))]
}

/// A model, and claims about its weights.
struct Claimed {
    rows: Rows,
    settings: Value,
    near_optimal: Value,
    text: String,
}

impl Claimed {
    const BIAS: f64 = 0.25;
    const WEIGHTS: [f64; 2] = [0.0, 1.5];

    fn new() -> Self {
        let rows = svm("1 1:1 2:2; -1 1:-1");
        let settings =
            json!({"loss": "hinge", "lambda": 0.5, "bias": "free", "tolerance": 0.1, "solver": "x"});
        let objective = json!({
            "target": {"sides": two()}, "loss": "hinge", "lambda": 0.5, "l1": 0, "bias": "free",
        });
        let weights = json!([{"columns": [1], "weights": [1.5], "bias": 0.25}]);
        let near_optimal = json!({"near-optimal": {"objective": objective, "value": 9, "weights": weights}});
        let margin = margin_at_least("free", -9.0, json!({"weights": Self::WEIGHTS, "bias": Self::BIAS}));
        let text = certificate(&rows, &[near_optimal.clone(), margin]);
        Self { rows, settings, near_optimal, text }
    }

    fn weights() -> Tensors {
        dense(Self::BIAS, Self::WEIGHTS)
    }

    fn model(&self) -> (Vec<u8>, String) {
        model(&metadata(&self.settings), &Self::weights())
    }

    fn are_about(&self, model: &(Vec<u8>, String)) -> Result<(), String> {
        is_about(&self.text, &self.rows, model)
    }
}

#[test]
fn claims_about_a_models_weights_are_about_the_model() {
    let claimed = Claimed::new();
    assert_eq!(claimed.are_about(&claimed.model()), Ok(()));
    let sparse = vec![
        ("bias", "F64", vec![1], bytes(&[0.25])),
        ("weight_values", "F64", vec![1, 1], bytes(&[1.5])),
        ("weight_indices", "U32", vec![1], 1u32.to_le_bytes().to_vec()),
    ];
    assert_eq!(claimed.are_about(&model(&metadata(&claimed.settings), &sparse)), Ok(()));
    // Class weights that agree, by any spelling.
    let settings = with(claimed.settings, "class_weight", json!([["1.0", 2.0]]));
    let mut claim = claimed.near_optimal;
    claim["near-optimal"]["objective"]["class_weights"] = json!([["-1", 1], ["+1", 2]]);
    let weighted = model(&metadata(&settings), &Claimed::weights());
    assert_eq!(is_about(&certificate(&claimed.rows, &[claim]), &claimed.rows, &weighted), Ok(()));
}

#[test]
fn every_part_of_a_model_that_differs_is_noticed() {
    let claimed = Claimed::new();
    for (key, value) in [
        ("scorer", "presence".to_owned()),
        ("map", json!({"poly": {"degree": 2}}).to_string()),
        ("labels", json!(["1", "-1"]).to_string()),
        ("labels", json!(["-1", "1", "2"]).to_string()),
        ("schema", json!({"kind": "indexed", "base": 0}).to_string()),
        ("schema", json!({"kind": "hashed", "bits": 4}).to_string()),
        ("features", "3".to_owned()),
        ("about", json!({"settings": {}}).to_string()),
    ] {
        let mut other = metadata(&claimed.settings);
        other.insert(key, value);
        assert!(claimed.are_about(&model(&other, &Claimed::weights())).is_err(), "{key}");
    }
    for (key, value) in [
        ("loss", json!("logistic")),
        ("lambda", json!(0.25)),
        ("l1", json!(0.1)),
        ("bias", json!("none")),
        ("scale", json!("max-abs")),
        ("class_weight", json!("balanced")),
        ("class_weight", json!([["1", 2.0]])),
    ] {
        let other = with(claimed.settings.clone(), key, value);
        let why = claimed.are_about(&model(&metadata(&other), &Claimed::weights())).unwrap_err();
        assert!(why.contains("do not confirm"), "{key}: {why}");
    }
    for (bias, weights) in
        [(0.0, [0.0, 1.5]), (0.25, [1e-300, 1.5]), (0.25, [0.0, 1.5000000000000002]), (0.25, [1.5, 0.0])]
    {
        let other = model(&metadata(&claimed.settings), &dense(bias, weights));
        assert!(claimed.are_about(&other).unwrap_err().contains("not the model's"));
    }
}

#[test]
fn another_model_and_a_damaged_one_are_refused() {
    let Claimed { rows, text, .. } = Claimed::new();
    let (good, _) = Claimed::new().model();
    let verdict = check(&text, &rows, Some(&good)).unwrap().remove(1);
    assert!(!verdict.holds && verdict.detail.contains("about no model"));
    let named =
        text.replace("\"version\":4", &format!("\"version\":4,\"model\":\"blake3:{}\"", "0".repeat(64)));
    assert!(!check(&named, &rows, Some(&good)).unwrap()[1].holds);
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 1;
        assert!(check(&text, &rows, Some(&damaged)).is_err(), "byte {at}");
        assert!(check(&text, &rows, Some(&good[..at])).is_err());
    }
}

#[test]
fn names_of_columns_are_compared_with_the_model() {
    let rows = Rows::from_csv("y,u,v\n1,1,2\n-1,3,4\n", None).unwrap();
    let settings = json!({});
    let dense = dense(0.25, [0.0, 1.5]);
    let margin = margin_at_least("free", -9.0, json!({"weights": [0, 1.5], "bias": 0.25}));
    let text = certificate(&rows, &[margin]);
    let column = |name: &str| {
        let numeric = json!({"feature": 0, "indicator": false, "mean": 0});
        json!({"name": name, "role": {"numeric": numeric}})
    };
    let table = |columns: Value| {
        let mut metadata = metadata(&settings);
        metadata.insert("schema", json!({"kind": "table", "table": {"columns": columns}}).to_string());
        model(&metadata, &dense)
    };
    let label = json!({"name": "y", "role": "label"});
    assert_eq!(is_about(&text, &rows, &table(json!([label, column("u"), column("v")]))), Ok(()));
    assert!(
        is_about(&text, &rows, &table(json!([label, column("v"), column("u")])))
            .unwrap_err()
            .contains("other names")
    );
    let mut named = metadata(&settings);
    named.insert("schema", json!({"kind": "named"}).to_string());
    let with_names = |names: &[u8], ends: [u64; 2]| {
        let mut tensors = dense.clone();
        tensors.push(("feature_names", "U8", vec![names.len() as u64], names.to_vec()));
        tensors.push((
            "feature_name_ends",
            "U64",
            vec![2],
            ends.iter().flat_map(|end| end.to_le_bytes()).collect(),
        ));
        model(&named, &tensors)
    };
    assert_eq!(is_about(&text, &rows, &with_names(b"uv", [1, 2])), Ok(()));
    assert!(is_about(&text, &rows, &with_names(b"vu", [1, 2])).is_err());
    assert!(is_about(&text, &rows, &with_names(b"uv", [2, 1])).is_err());
    assert!(is_about(&text, &rows, &with_names(b"uv", [1, u64::MAX])).is_err());
}
