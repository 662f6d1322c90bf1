//! What observers are told of corrections: all of them, as the textbook makes them, at no cost to the result.

use novikoff::control::{Correction, Flow, Observer, Progress, Unwatched};
use novikoff::data::{Dataset, Scale};
use novikoff::kernel::Kernel;
use novikoff::model::to_bytes;
use novikoff::multiclass::Scheme;
use novikoff::online::Order;
use novikoff::random::Random;
use novikoff::read::{Input, Options, Purpose, Reader};
use novikoff::train::{Learner, LearnerName, train, train_online};
use novikoff::{PassiveAggressive, Perceptron};
use proptest::prelude::*;

/// A correction that outlives its telling.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    epoch: usize,
    row: u64,
    class: usize,
    predicted: usize,
    margin: f64,
    is_mistake: bool,
    gains: Option<usize>,
    loses: Option<usize>,
    step: f64,
    entries: Vec<(u32, f64)>,
    weights: Vec<f64>,
    biases: Vec<f64>,
}

#[derive(Default)]
struct Follower {
    told: Vec<Told>,
    classes: Vec<String>,
}

impl Observer for Follower {
    fn observe(&mut self, _: Progress) -> Flow {
        Flow::Continue
    }

    fn follows_corrections(&self) -> bool {
        true
    }

    fn classes(&mut self, names: &[String]) {
        self.classes = names.to_vec();
    }

    fn corrected(&mut self, it: &Correction<'_>) {
        self.told.push(Told {
            epoch: it.epoch,
            row: it.row,
            class: it.class,
            predicted: it.predicted,
            margin: it.margin,
            is_mistake: it.is_mistake,
            gains: it.gains,
            loses: it.loses,
            step: it.step,
            entries: it.entries.to_vec(),
            weights: it.weights.to_vec(),
            biases: it.biases.to_vec(),
        });
    }
}

fn generated(classes: usize, seed: u64) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let centres: Vec<f64> = (0..4 * classes).map(|_| random.normal()).collect();
    let labels: Vec<usize> = (0..90).map(|i| i % classes).collect();
    let value = |at: usize| centres[4 * labels[at / 4] + at % 4] + 0.7 * random.normal();
    let values: Vec<f64> = (0..4 * labels.len()).map(value).collect();
    Dataset::from_dense(values, 4).unwrap().with_labels(&labels).unwrap()
}

/// The perceptron of the textbook, with its bias, on the rows in their order: what it does at every mistake.
fn textbook(data: &Dataset, epochs: usize) -> Vec<(usize, u64, f64, Vec<f64>, f64)> {
    let (mut w, mut b, mut told) = (vec![0.0; data.rows.columns()], 0.0, Vec::new());
    // The second of two labels in their order is the positive one.
    let positive = data.names.sorted()[1];
    for epoch in 1..=epochs {
        for i in 0..data.len() {
            let y = if data.labels[i] == positive { 1.0 } else { -1.0 };
            let mut x = vec![0.0; w.len()];
            data.rows.row(i).for_each_nonzero(|j, value| x[j as usize] = value);
            let margin = y * (data.rows.row(i).dot(&w) + b);
            if margin <= 0.0 {
                w.iter_mut().zip(&x).for_each(|(w, x)| *w += y * x);
                b += y;
                told.push((epoch, i as u64, margin, w.clone(), b));
            }
        }
    }
    told
}

#[test]
fn every_mistake_is_told_as_the_textbook_makes_it() {
    let data = generated(2, 5);
    let learner: Learner = Perceptron::new().scale(Scale::None).order(Order::Given).epochs(4).into();
    let mut follower = Follower::default();
    let fit = train(&data, None, &learner, &mut follower).unwrap();
    let expected = textbook(&data, fit.history().unwrap().epochs.len());
    assert_eq!(follower.told.len(), expected.len());
    assert_eq!(fit.history().unwrap().mistakes, expected.len() as u64);
    for (told, (epoch, row, margin, w, b)) in follower.told.iter().zip(&expected) {
        assert_eq!((told.epoch, told.row, told.step), (*epoch, *row, 1.0));
        assert!((told.margin - margin).abs() < 1e-9 && told.is_mistake);
        assert!(told.weights.iter().zip(w).all(|(one, other)| (one - other).abs() < 1e-9));
        assert!((told.biases[0] - b).abs() < 1e-9);
        assert_eq!((told.gains, told.loses), (Some(told.class), Some(1 - told.class)));
        assert!(told.predicted != told.class || told.margin == 0.0);
    }
}

fn learners() -> Vec<Learner> {
    let joint = Perceptron::averaged().multiclass(Scheme::Joint);
    vec![
        LearnerName::Perceptron.learner(),
        LearnerName::Averaged.learner(),
        LearnerName::Voted.learner(),
        PassiveAggressive::new().into(),
        joint.into(),
        Perceptron::new().multiclass(Scheme::OneVsRest).into(),
        Perceptron::new().normalise().into(),
        Perceptron::new().kernel(Kernel::Rbf(0.5)).into(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Following corrections changes no byte of the model, and they are as many as the fit counts.
    #[test]
    fn a_follower_changes_nothing_and_misses_nothing(
        seed in 0u64..500,
        classes in 2usize..5,
        which in 0usize..8,
    ) {
        let (data, learner) = (generated(classes, seed), &learners()[which]);
        let plain = train(&data, None, learner, &mut Unwatched).unwrap();
        let mut follower = Follower::default();
        let followed = train(&data, None, learner, &mut follower).unwrap();
        prop_assert_eq!(to_bytes(&plain.model).unwrap(), to_bytes(&followed.model).unwrap());
        prop_assert_eq!(&follower.classes[..], plain.model.labels.names());
        let history = plain.history().unwrap();
        let mistakes = follower.told.iter().filter(|told| told.is_mistake).count() as u64;
        let updates = follower.told.iter().filter(|told| told.step > 0.0).count() as u64;
        prop_assert_eq!((mistakes, updates), (history.mistakes, history.updates));
        for told in &follower.told {
            prop_assert_eq!(told.is_mistake, told.margin <= 0.0);
        }
    }

    /// After an update on (x, y) the margin is larger by ‖x‖² + 1: the row is less wrong.
    #[test]
    fn an_update_makes_its_row_less_wrong(seed in 0u64..500) {
        let data = generated(2, seed);
        let mut follower = Follower::default();
        train(&data, None, &LearnerName::Perceptron.learner(), &mut follower).unwrap();
        for told in &follower.told {
            let y = if told.class == 1 { 1.0 } else { -1.0 };
            let squares: f64 = told.entries.iter().map(|(_, x)| x * x).sum();
            let score: f64 = told.entries.iter().map(|(j, x)| x * told.weights[*j as usize]).sum();
            let after = y * (score + told.biases[0]);
            prop_assert!((after - (told.margin + squares + 1.0)).abs() < 1e-9);
        }
    }
}

#[test]
fn a_stream_tells_of_the_same_mistakes_as_one_epoch_in_the_order_given() {
    let text: String = (0..60u32)
        .map(|i| format!("{} 1:{} 2:{}\n", if i * 7 % 5 < 2 { "+1" } else { "-1" }, i % 7, (i * i) % 11))
        .collect();
    let input = || Input::Bytes { name: "rows.svm".into(), bytes: text.as_bytes().into() };
    let open = || Reader::open(&input(), &Options::default(), &Purpose::Training).unwrap();
    let learner: Learner = Perceptron::new().scale(Scale::None).order(Order::Given).epochs(1).into();
    let (mut stored, mut streamed) = (Follower::default(), Follower::default());
    let data = open().read(&mut Unwatched).unwrap();
    train(&data, None, &learner, &mut stored).unwrap();
    train_online(open(), &LearnerName::Perceptron.learner(), &mut streamed).unwrap();
    assert!(stored.told.len() > 10);
    // Classes are numbered as they come, and the sign of the one weight vector with them.
    let places = |follower: &Follower| -> Vec<(u64, String, f64)> {
        let name = |class: usize| follower.classes[class].clone();
        follower.told.iter().map(|told| (told.row, name(told.class), told.margin)).collect()
    };
    assert_eq!(places(&stored), places(&streamed));
}
