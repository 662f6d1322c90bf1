//! Going on from a model: a stream in two parts is a stream in one, epochs in two runs are epochs in one, and
//! minima are the same from wherever they are looked for.

use novikoff::bayes::Likelihood;
use novikoff::control::{Flow, Observer, Progress, Termination, Unwatched};
use novikoff::data::generate::Recipe;
use novikoff::evaluate::CalibrationMethod;
use novikoff::features::map::Map;
use novikoff::kernel::Kernel;
use novikoff::model::{Model, Scorer, from_bytes, to_bytes};
use novikoff::online::rule::Aggressiveness;
use novikoff::penalty::Bias;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use novikoff::train::{
    ClassWeight, Continued, Fit, Learner, LearnerName, train, train_from, train_online, train_online_from,
};
use novikoff::{
    Dataset, HuberRegression, LeastAbsoluteDeviations, LeastSquares, LinearSvm, LogisticRegression,
    MultilayerPerceptron, NaiveBayes, PassiveAggressive, Perceptron, QuantileRegression,
};
use proptest::prelude::*;

/// Every learner of streams, some with settings that change what is stored.
fn online_learners() -> Vec<Learner> {
    let given = ClassWeight::Given(vec![("a".into(), 2.5)]);
    vec![
        Perceptron::new().into(),
        Perceptron::averaged().into(),
        Perceptron::averaged().normalise().step(0.3).bias(Bias::None).into(),
        Perceptron::averaged().class_weight(given).into(),
        PassiveAggressive::new().into(),
        PassiveAggressive::new().aggressiveness(Aggressiveness::Damped(0.1)).into(),
        Perceptron::new().kernel(Kernel::Polynomial(2)).budget(5).into(),
        PassiveAggressive::new().kernel(Kernel::Rbf(0.1)).budget(7).into(),
        NaiveBayes::new().into(),
        NaiveBayes::new().likelihood(Likelihood::Bernoulli).smoothing(0.1).into(),
        NaiveBayes::new().likelihood(Likelihood::Complement).into(),
        Perceptron::averaged().map(Map::Poly { degree: 2 }).into(),
        PassiveAggressive::new().map(Map::Fourier { count: 20, gamma: 0.1, seed: 3 }).into(),
    ]
}

fn input(text: &str) -> Input {
    Input::Bytes { name: "rows".into(), bytes: text.as_bytes().to_vec().into() }
}

fn stream(text: &str, options: &Options, learner: &Learner) -> novikoff::Result<Fit> {
    let reader = Reader::open_stream(&input(text), options, &Purpose::Training)?;
    train_online(reader, learner, &mut Unwatched)
}

/// The same from a model, as the bytes of its file have it.
fn stream_from(text: &str, options: &Options, learner: &Learner, model: &Model) -> novikoff::Result<Fit> {
    let model = from_bytes(&to_bytes(model)?, "model")?;
    let labels = model.labels_by_appearance()?;
    let (schema, features) = (&model.schema, model.features());
    let purpose = Purpose::Continuing { labels: Some(&labels), schema, features };
    // Words and hashes are the model's.
    let options = Options { hash_bits: None, keep_names: false, ..options.clone() };
    train_online_from(Reader::open_stream(&input(text), &options, &purpose)?, learner, &model, &mut Unwatched)
}

/// A stream of lines in one part and in two.
fn assert_parts_are_the_whole(
    head: &str,
    lines: &[String],
    at: usize,
    options: &Options,
    learners: &[Learner],
) {
    let text = |lines: &[String]| format!("{head}{}", lines.concat());
    if at >= lines.len() {
        return;
    }
    for learner in learners {
        let whole = stream(&text(lines), options, learner);
        let Ok(first) = stream(&text(&lines[..at]), options, learner) else { continue };
        let both = stream_from(&text(&lines[at..]), options, learner, &first.model);
        let (whole, both) = match (whole, both) {
            (Ok(whole), Ok(both)) => (whole, both),
            (whole, both) => panic!("{}: {:?} and {:?}", learner.name(), whole.err(), both.err()),
        };
        let resumed = both.resumed.unwrap();
        assert_eq!((resumed.continued, resumed.before), (Continued::Exactly, at as u64));
        assert_eq!(both.model, whole.model, "{} at {at}", learner.name());
        assert_eq!(to_bytes(&both.model).unwrap(), to_bytes(&whole.model).unwrap());
        assert_eq!(both.stream().unwrap().progressive_error, whole.stream().unwrap().progressive_error);
        assert_eq!(&Learner::of(&first.model).unwrap().name(), &learner.name());
    }
}

type Rows = Vec<(Vec<(u32, u32)>, usize, u32)>;

const LABELS: [&str; 4] = ["b", "a", "d", "c"];

/// Rows of few features, with labels and weights.
fn rows() -> impl Strategy<Value = Rows> {
    let entries = prop::collection::btree_map(0u32..40, 1u32..6, 0..6);
    let row = (entries, 0usize..4, 0u32..4)
        .prop_map(|(entries, label, weight)| (entries.into_iter().collect(), label, weight));
    prop::collection::vec(row, 2..60)
}

fn svmlight(rows: &Rows, labels: usize) -> Vec<String> {
    let line = |(entries, label, _): &(Vec<(u32, u32)>, usize, u32)| {
        let entries: String =
            entries.iter().map(|(j, x)| format!(" {}:{}", j + 1, f64::from(*x) / 4.0)).collect();
        format!("{}{entries}\n", LABELS[label % labels])
    };
    rows.iter().map(line).collect()
}

fn vw(rows: &Rows, labels: usize) -> Vec<String> {
    let line = |(entries, label, weight): &(Vec<(u32, u32)>, usize, u32)| {
        let entries: String = entries.iter().map(|(j, x)| format!(" f{j}:{x}")).collect();
        let weight = f64::from(*weight) / 2.0;
        format!("{} {weight} |n{entries}\n", LABELS[label % labels])
    };
    rows.iter().map(line).collect()
}

fn documents(rows: &Rows, labels: usize) -> Vec<String> {
    let line = |(entries, label, _): &(Vec<(u32, u32)>, usize, u32)| {
        let words: Vec<String> =
            entries.iter().map(|(j, x)| format!("w{j}").repeat(*x as usize % 2 + 1)).collect();
        format!("{}\tx {}\n", LABELS[label % labels], words.join(" "))
    };
    rows.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn a_stream_of_numbered_features_in_two_parts_is_the_stream_in_one(
        rows in rows(), at in 1usize..60, labels in 2usize..5,
    ) {
        let lines = svmlight(&rows, labels);
        let options = Options { format: Some(Format::Svmlight), threads: 2, ..Options::default() };
        assert_parts_are_the_whole("", &lines, at.min(lines.len()), &options, &online_learners());
    }

    #[test]
    fn a_stream_of_named_features_with_row_weights_in_two_parts_is_the_stream_in_one(
        rows in rows(),
        at in 1usize..60,
        labels in 2usize..5,
        bits in prop_oneof![Just(0u8), Just(6), Just(18)],
    ) {
        let lines = vw(&rows, labels);
        let options = Options { format: Some(Format::Vw), hash_bits: Some(bits), ..Options::default() };
        // A polynomial of hashes has too many products.
        let learners: Vec<Learner> =
            online_learners().into_iter().filter(|learner| learner.shared().map.is_none()).collect();
        assert_parts_are_the_whole("", &lines, at.min(lines.len()), &options, &learners);
    }

    #[test]
    fn a_stream_of_documents_in_two_parts_is_the_stream_in_one(
        rows in rows(),
        at in 1usize..60,
        labels in 2usize..5,
        bits in prop_oneof![Just(0u8), Just(8)],
        keep in any::<bool>(),
    ) {
        let lines = documents(&rows, labels);
        let options = Options {
            format: Some(Format::Text),
            hash_bits: Some(bits),
            keep_names: keep && bits > 0,
            recipe: novikoff::features::text::TextRecipe::stream(),
            ..Options::default()
        };
        let learners: Vec<Learner> =
            online_learners().into_iter().filter(|learner| learner.shared().map.is_none()).collect();
        assert_parts_are_the_whole("", &lines, at.min(lines.len()), &options, &learners);
    }

    #[test]
    fn a_stream_of_a_table_in_two_parts_is_the_stream_in_one(
        rows in rows(), at in 0usize..60, labels in 2usize..5,
    ) {
        // The first rows show every category, as the columns are what the start of the stream says.
        let colours = ["red", "green", "blue"];
        let line = |i: usize, (entries, label, weight): &(Vec<(u32, u32)>, usize, u32)| {
            let sum: u32 = entries.iter().map(|(_, x)| x).sum();
            let label = LABELS[(label + *weight as usize) % labels];
            format!("{},{sum}.5,{},{label}\n", colours[i % 3], entries.len())
        };
        let lines: Vec<String> = rows.iter().enumerate().map(|(i, row)| line(i, row)).collect();
        let start: Vec<String> =
            (0..12).map(|i| format!("{},{i}.5,{},{}\n", colours[i % 3], i % 5, LABELS[i % labels])).collect();
        let lines = [start, lines].concat();
        let options = Options { format: Some(Format::Csv), ..Options::default() };
        assert_parts_are_the_whole("colour,sum,count,label\n", &lines, at + 12, &options, &online_learners());
    }
}

/// Every learner with epochs.
fn epoch_learners(epochs: usize) -> Vec<Learner> {
    vec![
        Perceptron::new().epochs(epochs).into(),
        Perceptron::averaged().epochs(epochs).into(),
        Perceptron::averaged().epochs(epochs).order(novikoff::online::Order::Given).into(),
        Perceptron::new().own_feature(1.0).epochs(epochs).into(),
        Perceptron::voted().epochs(epochs).seed(7).into(),
        Perceptron::new().kernel(Kernel::Polynomial(2)).epochs(epochs).into(),
        Perceptron::averaged().kernel(Kernel::Rbf(0.3)).epochs(epochs).into(),
        Perceptron::voted().kernel(Kernel::Polynomial(2)).epochs(epochs).into(),
        PassiveAggressive::new().epochs(epochs).class_weight(ClassWeight::Balanced).into(),
        Perceptron::averaged().map(Map::Poly { degree: 2 }).epochs(epochs).into(),
        MultilayerPerceptron::new().units(5).epochs(epochs).into(),
        MultilayerPerceptron::new().units(40).batch(7).epochs(epochs).bias(Bias::None).into(),
    ]
}

/// Rows of several labels that no weights separate.
fn noisy(rows: usize, classes: usize, seed: u64) -> Dataset<'static> {
    let recipe = Recipe { rows, noise: 0.2, seed, ..Recipe::default() };
    let data = recipe.generate();
    if classes == 2 {
        return data;
    }
    let labels: Vec<String> = (0..data.len())
        .map(|i| format!("c{}", (data.labels[i] as usize + i % (classes - 1)) % classes))
        .collect();
    data.with_labels(&labels).unwrap()
}

fn reloaded(model: &Model) -> Model {
    from_bytes(&to_bytes(model).unwrap(), "model").unwrap()
}

/// Counts the epochs that are made, and stops after so many reports.
struct Stopping(usize);

impl Observer for Stopping {
    fn observe(&mut self, _: Progress) -> Flow {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Flow::Stop } else { Flow::Continue }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn epochs_in_two_runs_are_the_epochs_in_one(
        seed in 0u64..1000, classes in 2usize..4, first in 1usize..4, more in 1usize..4,
    ) {
        let data = noisy(150, classes, seed);
        for (short, long) in epoch_learners(first).iter().zip(epoch_learners(first + more)) {
            let begun = train(&data, None, short, &mut Unwatched).unwrap();
            let parts = train_from(&data, None, &long, &reloaded(&begun.model), &mut Unwatched).unwrap();
            let whole = train(&data, None, &long, &mut Unwatched).unwrap();
            prop_assert_eq!(parts.resumed.unwrap().continued, Continued::Exactly);
            prop_assert_eq!(&parts.model, &whole.model, "{}", long.name());
            prop_assert_eq!(to_bytes(&parts.model).unwrap(), to_bytes(&whole.model).unwrap());
            if let (Some(parts), Some(whole)) = (parts.run(), whole.run()) {
                prop_assert_eq!(&parts.promise, &whole.promise);
                prop_assert_eq!(parts.margin_upper, whole.margin_upper);
                prop_assert_eq!(parts.history.mistakes, whole.history.mistakes);
            }
        }
    }

    #[test]
    fn early_stopping_goes_on_where_it_was(
        seed in 0u64..1000, classes in 2usize..4, first in 1usize..4, more in 1usize..5,
    ) {
        let (data, held_out) = noisy(200, classes, seed).split(0.3, 1).unwrap();
        for (short, long) in epoch_learners(first).iter().zip(epoch_learners(first + more)) {
            let begun = train(&data, Some(&held_out), short, &mut Unwatched).unwrap();
            let parts =
                train_from(&data, Some(&held_out), &long, &reloaded(&begun.model), &mut Unwatched).unwrap();
            let whole = train(&data, Some(&held_out), &long, &mut Unwatched).unwrap();
            prop_assert_eq!(&parts.model, &whole.model, "{}", long.name());
            prop_assert_eq!(parts.termination, whole.termination);
            prop_assert!(!parts.resumed.unwrap().forgot_validation);
        }
    }

    #[test]
    fn an_interrupted_run_goes_on_within_its_epoch(
        seed in 0u64..100, classes in 2usize..4, after in 1usize..12, validate in any::<bool>(),
    ) {
        // Long enough that reports come within epochs.
        let data = noisy(2500, classes, seed);
        let (data, held_out) = data.split(0.1, 1).unwrap();
        let held_out = validate.then_some(&held_out);
        for learner in epoch_learners(3) {
            let begun = train(&data, held_out, &learner, &mut Stopping(after)).unwrap();
            if begun.termination != Termination::Interrupted || begun.history().unwrap().epochs.len() > 2 {
                continue;
            }
            let parts =
                train_from(&data, held_out, &learner, &reloaded(&begun.model), &mut Unwatched).unwrap();
            let whole = train(&data, held_out, &learner, &mut Unwatched).unwrap();
            prop_assert_eq!(&parts.model, &whole.model, "{} after {}", learner.name(), after);
        }
    }
}

#[test]
fn a_shuffled_copy_goes_on_within_its_epoch_on_any_number_of_threads() {
    let data = Recipe { rows: 20_000, noise: 0.1, ..Recipe::default() }.generate();
    let learner: Learner = Perceptron::averaged().epochs(3).into();
    let whole = train(&data, None, &learner, &mut Unwatched).unwrap().model;
    for (threads, after) in [(1, 5), (2, 25), (4, 23), (2, 20)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let begun = pool.install(|| train(&data, None, &learner, &mut Stopping(after)).unwrap());
        assert_eq!(begun.termination, Termination::Interrupted);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(5 - threads).build().unwrap();
        let parts = pool.install(|| train_from(&data, None, &learner, &begun.model, &mut Unwatched).unwrap());
        assert_eq!(parts.model, whole, "{threads} threads, {after} reports");
    }
}

#[test]
fn a_run_that_is_over_stays_what_it_is() {
    let data = Recipe { rows: 100, margin: 0.3, ..Recipe::default() }.generate();
    let begun = Perceptron::new().epochs(50).fit(&data).unwrap();
    assert_eq!(begun.termination, Termination::Separated);
    let again = Perceptron::new().epochs(60).fit_from(&data, &begun.model).unwrap();
    assert_eq!(again.model, Perceptron::new().epochs(60).fit(&data).unwrap().model);
    let noisy = noisy(100, 2, 1);
    let begun = Perceptron::new().epochs(3).fit(&noisy).unwrap();
    let error = Perceptron::new().epochs(3).fit_from(&noisy, &begun.model).unwrap_err();
    assert!(error.what().contains("in 3 epochs already"), "{error}");
    assert!(error.advice().unwrap().contains("`epochs = 6`"));
}

#[test]
fn with_another_setting_learning_starts_from_the_weights() {
    let data = noisy(100, 2, 1);
    let begun = Perceptron::averaged().epochs(2).fit(&data).unwrap().model;
    let continued = |perceptron: Perceptron| {
        perceptron.epochs(4).fit_from(&data, &begun).unwrap().resumed.unwrap().continued
    };
    assert_eq!(continued(Perceptron::averaged()), Continued::Exactly);
    for other in [
        Perceptron::averaged().step(2.0),
        Perceptron::averaged().seed(1),
        Perceptron::averaged().own_feature(1.0),
        Perceptron::averaged().positive("-1"),
        Perceptron::averaged().class_weight(ClassWeight::Balanced),
        Perceptron::new(),
    ] {
        assert_eq!(continued(other), Continued::FromWeights);
    }
}

#[test]
fn on_other_rows_learning_starts_from_the_weights_and_promises_nothing() {
    let (first, second) = (noisy(200, 2, 1), noisy(200, 2, 2));
    for learner in epoch_learners(2) {
        let begun = train(&first, None, &learner, &mut Unwatched).unwrap();
        let on = train_from(&second, None, &learner, &begun.model, &mut Unwatched);
        if matches!(begun.model.scorer.behind_map(), Scorer::Voted(_) | Scorer::Kernel(_)) {
            assert!(on.unwrap_err().what().contains("rows of its mistakes"));
            continue;
        }
        let on = on.unwrap();
        assert_eq!(on.resumed.unwrap().continued, Continued::FromWeights);
        let from = on.model.about.results["from"].as_str().unwrap().to_owned();
        assert_eq!(from, novikoff::model::checksum_of(&begun.model).unwrap());
        assert_ne!(on.model.scorer, train(&second, None, &learner, &mut Unwatched).unwrap().model.scorer);
        if let Some(run) = on.run() {
            assert!(run.promise.is_none() && run.margin_upper.is_none());
            // Of weights that separate nothing, and of mistakes from another start, nothing is claimed.
            if let Ok(certificate) = on.certificate(&second) {
                certificate.verify(&second).unwrap();
            }
        }
        // What goes on exactly from there still promises nothing, and names the same start.
        let mut longer = epoch_learners(4).into_iter().find(|it| {
            matches!((it, &learner), (Learner::Perceptron(a), Learner::Perceptron(b)) if a.returned == b.returned)
        });
        if let (Some(longer), true) = (longer.take(), learner == epoch_learners(2)[0]) {
            let exact = train_from(&second, None, &longer, &on.model, &mut Unwatched).unwrap();
            assert_eq!(exact.resumed.unwrap().continued, Continued::Exactly);
            assert_eq!(exact.model.about.results["from"], from.as_str());
            assert!(exact.run().unwrap().promise.is_none());
        }
    }
}

#[test]
fn new_classes_and_features_are_added_to_a_model_in_memory() {
    let three = Dataset::from_dense(&[1.0, 0.0, 0.0, 1.0, -1.0, -1.0], 2)
        .unwrap()
        .with_labels(&["x", "y", "z"])
        .unwrap();
    let two = Dataset::from_dense(&[1.0, -1.0], 1).unwrap().with_labels(&["y", "z"]).unwrap();
    for learner in [
        Perceptron::new().into(),
        Perceptron::averaged().into(),
        PassiveAggressive::new().into(),
        MultilayerPerceptron::new().units(3).epochs(5).into(),
        Learner::from(NaiveBayes::new()),
    ] {
        let (two, three) = match learner {
            Learner::Bayes(_) => (
                Dataset::from_dense(&[1.0, 2.0], 1).unwrap().with_labels(&["y", "z"]).unwrap(),
                Dataset::from_dense(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], 2)
                    .unwrap()
                    .with_labels(&["x", "y", "z"])
                    .unwrap(),
            ),
            _ => (two.clone(), three.clone()),
        };
        let begun = train(&two, None, &learner, &mut Unwatched).unwrap();
        let more = train_from(&three, None, &learner, &begun.model, &mut Unwatched).unwrap();
        assert_eq!(more.model.labels.names(), ["x", "y", "z"]);
        assert_eq!(more.model.features(), 2);
        // And rows with less keep what the model knows.
        let less = train_from(&two, None, &learner, &more.model, &mut Unwatched).unwrap();
        assert_eq!((less.model.labels.len(), less.model.features()), (3, 2), "{}", learner.name());
        to_bytes(&less.model).unwrap();
    }
}

#[test]
fn counts_go_on_as_if_all_rows_had_been_counted_at_once() {
    let data = Recipe { rows: 300, ..Recipe::default() }.generate();
    let values: Vec<f64> = (0..300).flat_map(|i| [(i % 5) as f64, (i % 3) as f64 / 4.0, 0.3]).collect();
    let labels: Vec<String> = data.labels.iter().map(|label| format!("l{label}")).collect();
    let whole = Dataset::from_dense(&values, 3).unwrap().with_labels(&labels).unwrap();
    let part = |from: usize, to: usize| {
        Dataset::from_dense(&values[3 * from..3 * to], 3).unwrap().with_labels(&labels[from..to]).unwrap()
    };
    for bayes in [NaiveBayes::new(), NaiveBayes::new().likelihood(Likelihood::Bernoulli)] {
        let begun = bayes.fit(&part(0, 120)).unwrap();
        let parts = bayes.fit_from(&part(120, 300), &reloaded(&begun.model)).unwrap();
        let whole = bayes.fit(&whole).unwrap();
        assert_eq!(parts.model.scorer, whole.model.scorer);
        assert_eq!(parts.model.state, whole.model.state);
    }
}

/// Learners that minimise a loss, by every solver that is chosen by itself.
fn solvers() -> Vec<(Learner, Dataset<'static>)> {
    let (two, three) = (noisy(400, 2, 3), noisy(400, 3, 3));
    let targets: Vec<f64> = (0..400).map(|i| two.rows.row(i).norm_sq() + (i % 7) as f64).collect();
    let numbers = two.clone().with_targets(&targets).unwrap();
    let named = |name: LearnerName| name.learner();
    vec![
        (LogisticRegression::new().tolerance(1e-8).into(), two.clone()),
        (LogisticRegression::new().tolerance(1e-6).into(), three.clone()),
        (LogisticRegression::new().l1(0.01).tolerance(1e-6).into(), two.clone()),
        (LinearSvm::new().tolerance(1e-5).into(), two.clone()),
        (LinearSvm::squared().tolerance(1e-8).into(), three),
        (
            LinearSvm::squared().solver(novikoff::train::SolverName::DualCd).tolerance(1e-6).into(),
            two.clone(),
        ),
        (LeastSquares::new().lambda(0.1).into(), numbers.clone()),
        (LeastSquares::new().l1(0.1).tolerance(1e-8).into(), numbers.clone()),
        (named(LearnerName::LeastAbsolute), numbers.clone()),
        (HuberRegression::new().width(0.5).lambda(0.1).tolerance(1e-8).into(), numbers.clone()),
        (QuantileRegression::new().quantile(0.8).lambda(0.1).into(), numbers),
        (named(LearnerName::Exponential), two),
    ]
}

#[test]
fn a_warm_start_finds_the_same_minimum_in_fewer_steps() {
    let mut fewer = 0;
    for (learner, data) in solvers() {
        let cold = train(&data, None, &learner, &mut Unwatched).unwrap();
        let warm = train_from(&data, None, &learner, &reloaded(&cold.model), &mut Unwatched).unwrap();
        let (cold, risk) = (cold.risk().unwrap().clone(), warm.risk().unwrap());
        let Learner::Risk(settings) = &learner else { panic!() };
        assert_eq!(warm.termination, Termination::Converged, "{}", learner.name());
        let within = 2.0 * settings.tolerance.max(1e-12) * cold.objective;
        assert!((risk.objective - cold.objective).abs() <= within, "{}", learner.name());
        assert!(
            risk.steps <= cold.steps.max(1),
            "{} {}: {} after {}",
            learner.name(),
            cold.solver,
            risk.steps,
            cold.steps
        );
        fewer += usize::from(risk.steps < cold.steps);
        warm.certificate(&data).unwrap().verify(&data).unwrap();
    }
    assert!(fewer >= 5, "{fewer}");
}

#[test]
fn a_warm_start_finds_features_by_their_names_and_classes_by_their_labels() {
    let read = |text: &str| {
        let options = Options { format: Some(Format::Vw), ..Options::default() };
        Reader::open(&input(text), &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap()
    };
    let first: String =
        (0..60).map(|i| format!("{} | a:{} b:{} c:1\n", ["x", "y", "z"][i % 3], i % 3, i % 5)).collect();
    let second: String = (0..60)
        .rev()
        .map(|i| format!("{} | d:1 b:{} a:{}\n", ["x", "y", "z"][i % 3], i % 5, i % 3))
        .collect();
    let learner = LogisticRegression::new().lambda(0.1).tolerance(1e-9);
    let begun = learner.fit(&read(&first)).unwrap();
    let data = read(&second);
    let (cold, warm) = (learner.fit(&data).unwrap(), learner.fit_from(&data, &begun.model).unwrap());
    assert_eq!(warm.model.schema, cold.model.schema);
    assert!((warm.risk().unwrap().objective - cold.risk().unwrap().objective).abs() < 1e-9);
    assert!(warm.risk().unwrap().steps < cold.risk().unwrap().steps);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_hint() {
    let data = noisy(60, 2, 1);
    let targets: Vec<f64> = (0..60).map(f64::from).collect();
    let numbers = data.clone().with_targets(&targets).unwrap();
    let regression = LeastSquares::new().fit(&numbers).unwrap().model;
    let logistic = LogisticRegression::new().fit(&data).unwrap().model;
    let kernel = Perceptron::new().kernel(Kernel::Polynomial(2)).fit(&data).unwrap().model;
    let mapped = LogisticRegression::new().map(Map::Poly { degree: 2 }).fit(&data).unwrap().model;
    let mut averaged = Perceptron::averaged().fit(&data).unwrap().model;
    averaged.state = None;
    let mut bayes = NaiveBayes::new()
        .fit(&Dataset::from_dense(&[1.0, 2.0], 1).unwrap().with_labels(&["a", "b"]).unwrap())
        .unwrap()
        .model;
    bayes.state = None;
    let refused = |result: novikoff::Result<Fit>, what: &str| {
        let error = result.unwrap_err();
        assert!(error.what().contains(what), "{error}");
        assert!(error.advice().is_some(), "{error}");
    };
    refused(LogisticRegression::new().fit_from(&data, &regression), "the model predicts numbers");
    refused(LeastSquares::new().fit_from(&numbers, &logistic), "the model predicts labels");
    refused(LogisticRegression::new().bias(Bias::None).fit_from(&data, &logistic), "`bias = free`");
    refused(
        Perceptron::new().kernel(Kernel::Polynomial(3)).fit_from(&data, &kernel),
        "`kernel = poly:2`, and this would be `kernel = poly:3`",
    );
    refused(LogisticRegression::new().fit_from(&data, &kernel), "cannot go on from a model of perceptron");
    refused(LogisticRegression::new().fit_from(&data, &mapped), "`map = poly:2`");
    refused(
        LogisticRegression::new().map(Map::Poly { degree: 3 }).fit_from(&data, &mapped),
        "`map = poly:3`",
    );
    refused(Perceptron::averaged().fit_from(&data, &averaged), "no state to go on from: an average");
    refused(
        NaiveBayes::new().fit_from(
            &Dataset::from_dense(&[1.0, 2.0], 1).unwrap().with_labels(&["a", "b"]).unwrap(),
            &bayes,
        ),
        "no state to go on from: Bayes",
    );
    // Weights are all that these need.
    Perceptron::new().fit_from(&data, &averaged).unwrap();
    Perceptron::averaged().fit_from(&data, &logistic).unwrap();
    LinearSvm::new().fit_from(&data, &averaged).unwrap();
}

/// A state with one thing changed makes an error when learning goes on, and never a panic.
#[test]
fn states_that_make_no_sense_are_refused_when_learning_goes_on() {
    let data = noisy(60, 3, 1);
    let lines: String = (0..30).map(|i| format!("{} 1:{} 3:1\n", LABELS[i % 3], i % 4 + 1)).collect();
    let options = Options { format: Some(Format::Svmlight), ..Options::default() };
    let mut checked = 0;
    let longer = epoch_learners(4);
    let models = online_learners()
        .into_iter()
        .map(|learner| (stream(&lines, &options, &learner).unwrap().model, learner, true))
        .chain(epoch_learners(2).into_iter().zip(longer).map(|(learner, longer)| {
            (train(&data, None, &learner, &mut Unwatched).unwrap().model, longer, false)
        }));
    for (model, learner, is_stream) in models.collect::<Vec<_>>() {
        let go_on = |model: &Model| match is_stream {
            true => stream_from(&lines, &options, &learner, model),
            false => train_from(&data, None, &learner, model, &mut Unwatched),
        };
        go_on(&model).unwrap();
        let state = model.state.clone().unwrap();
        for name in state.names() {
            let mut less = model.clone();
            less.state.as_mut().unwrap().remove(&name);
            // Some parts are there or not: without them something else is missing, or nothing is.
            let _ = go_on(&less);
            let mut longer = model.clone();
            let state = longer.state.as_mut().unwrap();
            if let Ok(numbers) = state.clone().take_all::<f64>(&name) {
                state.put(&name, [numbers, vec![1.0]].concat());
                assert!(go_on(&longer).is_err(), "{} {name}", learner.name());
                checked += 1;
                let mut another = model.clone();
                another.state.as_mut().unwrap().put(&name, vec![7u8; 3]);
                assert!(go_on(&another).is_err(), "{} {name}", learner.name());
            }
        }
        let mut more = model.clone();
        more.state.as_mut().unwrap().put("more", vec![1.0]);
        assert!(go_on(&more).is_err(), "{}", learner.name());
        let mut wrong = model.clone();
        wrong.state.as_mut().unwrap().put_count("wrong", 1 << 50);
        assert!(go_on(&wrong).is_err(), "{}", learner.name());
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn the_loss_of_a_model_is_one_of_its_learner() {
    let data = noisy(60, 2, 1);
    let mut model = LinearSvm::new().fit(&data).unwrap().model;
    model.about.settings.insert("loss".to_owned(), "logistic".into());
    let error = Learner::of(&model).unwrap_err();
    assert!(error.what().contains("of its setting `loss`"), "{error}");
}

#[test]
fn the_learner_of_a_model_has_the_settings_that_it_was_trained_with() {
    let data = noisy(150, 2, 1);
    let calibrated = Perceptron::averaged().calibrate(CalibrationMethod::Platt).epochs(2).positive("-1");
    let aggressive = PassiveAggressive::new().aggressiveness(Aggressiveness::Damped(0.5)).epochs(2);
    let svm = LinearSvm::squared().lambda(0.01).bias(Bias::Penalised).tolerance(1e-3).seed(4);
    let lasso = LogisticRegression::new().lambda(0.0).l1(0.01).class_weight(ClassWeight::Balanced);
    let more: [Learner; 4] = [calibrated.clone().into(), aggressive.into(), svm.into(), lasso.into()];
    let targets: Vec<f64> = (0..150).map(|i| data.rows.row(i).norm_sq() + f64::from(i as u32 % 7)).collect();
    let numbers = data.clone().with_targets(&targets).unwrap();
    let regressions: [Learner; 4] = [
        HuberRegression::new().width(0.3).lambda(0.1).into(),
        QuantileRegression::new().quantile(0.9).lambda(0.1).into(),
        LeastAbsoluteDeviations::new().lambda(0.1).into(),
        LeastSquares::new().lambda(0.1).into(),
    ];
    for learner in regressions {
        let model = reloaded(&train(&numbers, None, &learner, &mut Unwatched).unwrap().model);
        assert_eq!(Learner::of(&model).unwrap(), learner);
    }
    let networks = |learner: &Learner| matches!(learner, Learner::Network(_));
    for learner in epoch_learners(2).into_iter().filter(|it| !networks(it)).chain(more) {
        let model = train(&data, None, &learner, &mut Unwatched).unwrap().model;
        assert_eq!(Learner::of(&model).unwrap(), learner);
    }
    let begun = calibrated.fit(&data).unwrap().model;
    let longer = calibrated.epochs(4);
    assert_eq!(longer.fit_from(&data, &begun).unwrap().model, longer.fit(&data).unwrap().model);
}
