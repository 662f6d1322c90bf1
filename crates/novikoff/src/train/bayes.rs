//! Learning by counting: Bayes' rule, on rows in memory, on a stream, and with the smoothing that serves
//! best.

use super::classes::{Classes, check_size, effective_weights, listed, scheme, weightless};
use super::describe_class_weight;
use super::fit::{Details, Fit};
use super::learner::{LearnerName, NaiveBayes};
use super::resume::{Continued, Prior, Resumed, known_labels, origin, stateless};
use super::stream::{Learned, Streaming};
use super::tune::Place;
use super::validation::{HeldOut, Validation};
use crate::bayes::{Counts, Likelihood, Negative, Priors, Stream, Vocabulary};
use crate::control::{Flow, Termination, Unwatched, Watch};
use crate::data::{Dataset, Labels, Parts, Row};
use crate::error::{Error, Result};
use crate::evaluate::{self, Predictions};
use crate::features::Schema;
use crate::model::{About, Calibration, Model, Scorer, State, StateKind, Weights, damaged};
use crate::multiclass::Scheme;
use crate::online::StreamCounts;
use crate::read::Reader;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How far given priors may be from a sum of 1: who writes thirds writes few digits.
const PRIORS_WITHIN: f64 = 1e-6;

pub(super) fn train_bayes(
    data: &Dataset,
    validation: Option<&Dataset>,
    (bayes, from): (&NaiveBayes, Option<&Model>),
) -> Result<Fit> {
    check(bayes)?;
    let counted = Counted::new(data, bayes, from)?;
    let held_out = HeldOut::new(validation, Some(&counted.classes), None)?;
    let scorer = counted.scorer(bayes.smoothing, bayes)?;
    let Counted { classes, ranked, scheme, counts } = counted;
    let measure = || evaluate::error(&scorer, data, &ranked);
    let (train_error, data_hash) = rayon::join(measure, || data.fingerprint());
    let validation = held_out.and_then(|held_out| held_out.measure(&scorer, &Watch::new(&mut Unwatched)));
    let mut results = BTreeMap::from([
        ("stopped".to_owned(), json!(Termination::Counted)),
        ("train_error".to_owned(), json!(train_error)),
    ]);
    results.extend(validation.iter().flat_map(Validation::results));
    if let Some(model) = from {
        results.extend(origin(model, Continued::FromWeights)?);
    }
    let mut state = State::new(StateKind::Counts);
    put_counts(&mut state, &counts);
    let resumed = from.map(|model| Resumed {
        continued: Continued::Exactly,
        before: model.about.rows,
        forgot_validation: false,
    });
    let about = About {
        learner: LearnerName::Bayes.name().to_owned(),
        settings: describe(bayes, scheme),
        seed: bayes.shared.seed,
        features: counts.features() as u64,
        rows: data.len() as u64,
        data_hash,
        results,
    };
    let probabilities = Some(posteriors(scheme));
    Ok(Fit {
        model: Model {
            about,
            labels: classes.labels,
            schema: data.schema.clone(),
            scorer,
            probabilities,
            state: Some(state),
        },
        learner: bayes.clone().into(),
        scheme,
        termination: Termination::Counted,
        train_error: Some(train_error),
        validation,
        details: Details::Counts,
        resumed,
    })
}

/// Gives `measure` what each smoothing says of the held-out rows, until it is stopped.
pub(super) fn predict_held_out(
    parts: &Parts,
    smoothings: &[f64],
    bayes: &NaiveBayes,
    place: &mut Place<'_, '_>,
    measure: &mut dyn FnMut(Predictions),
) -> Result<()> {
    let counted = Counted::new(&parts.training, bayes, None)?;
    let truths = counted.classes.rank_all(&parts.held_out.labels);
    let (count, probabilities) = (counted.classes.labels.len(), posteriors(counted.scheme));
    for &smoothing in smoothings {
        if place.begin(smoothing) == Flow::Stop {
            break;
        }
        let scorer = counted.scorer(smoothing, bayes)?;
        let truths = (count, truths.clone());
        measure(Predictions::of_classes(&scorer, Some(&probabilities), truths, &parts.held_out)?);
        if !place.end() {
            break;
        }
    }
    Ok(())
}

/// What is known of rows in memory.
struct Counted {
    classes: Classes,
    ranked: Vec<u32>,
    scheme: Scheme,
    counts: Counts,
}

impl Counted {
    fn new(data: &Dataset, bayes: &NaiveBayes, from: Option<&Model>) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::input("there are no rows to learn from"));
        }
        let classes = Classes::new(&known_labels(data, from), &data.schema, &bayes.shared)?;
        let count = classes.labels.len();
        check_size(data.rows.columns(), count)?;
        let ranked = classes.rank_all(&data.labels);
        let weights = effective_weights(data, &ranked, &classes.labels, &bayes.shared)?;
        let kind = (bayes.likelihood, vocabulary(data.schema.is_hashed()));
        let mut counts = match from {
            Some(model) => counts_before(model, bayes, kind, (&classes, data.rows.columns()))?,
            None => Counts::new(kind.0, kind.1),
        };
        counts.reserve(data.rows.columns(), count);
        counts.add_all(&data.rows, &ranked, &weights).map_err(|found| refused(found, &data.schema))?;
        if counts.rows().iter().all(|rows| *rows == 0.0) {
            return Err(weightless());
        }
        Ok(Self { classes, ranked, scheme: scheme(count, &bayes.shared), counts })
    }

    fn scorer(&self, smoothing: f64, bayes: &NaiveBayes) -> Result<Scorer> {
        let priors = log_priors(&bayes.priors, &self.classes.labels, &self.counts)?;
        scorer(&self.counts, smoothing, &priors, self.scheme)
    }
}

/// A stream that is counted.
pub(super) struct CountedStream<'a> {
    stream: Stream,
    bayes: &'a NaiveBayes,
    schema: Schema,
}

impl<'a> CountedStream<'a> {
    pub(super) fn new(bayes: &'a NaiveBayes, reader: &Reader) -> Result<Self> {
        check(bayes)?;
        let stream = Stream::new(bayes.likelihood, vocabulary(reader.is_hashed()), bayes.smoothing);
        Ok(Self { stream, bayes, schema: reader.schema().clone() })
    }
}

impl Streaming for CountedStream<'_> {
    fn copies(&self) -> usize {
        // Counts, and what is stored of them, and the weights made of them in their order.
        4
    }

    fn add_class(&mut self, label: &str) -> Result<()> {
        match &self.bayes.priors {
            Priors::Learned => {}
            // All alike: which number it is does not matter before all classes are known.
            Priors::Uniform => self.stream.fix_prior(0.0),
            Priors::Given(given) => self.stream.fix_prior(prior(given, label)?.ln()),
        }
        Ok(())
    }

    fn reserve(&mut self, features: usize, classes: usize) {
        self.stream.reserve(features, classes);
    }

    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()> {
        let number = self.stream.tally().0 as usize;
        let negative = |(feature, value)| refused(Negative { row: number, feature, value }, &self.schema);
        self.stream.learn(row, class, weight).map_err(negative)
    }

    fn resume(&mut self, prior: &mut Prior<'_>) -> Result<()> {
        refuse_other_likelihood(prior.model, self.bayes)?;
        let kind = (self.bayes.likelihood, self.stream.counts().vocabulary());
        let (counts, sums) = take_counts(prior, kind)?;
        self.stream.resume(counts, sums, (prior.counts.rows, prior.counts.wrong));
        Ok(())
    }

    fn counts(&self) -> StreamCounts {
        let (rows, wrong) = self.stream.tally();
        StreamCounts { rows, wrong, mistakes: wrong, updates: 0 }
    }

    fn finish(self, classes: &Classes, features: usize) -> Result<Learned> {
        let mut state = State::new(StateKind::Stream);
        let (totals, all, met) = self.stream.sums();
        put_counts(&mut state, self.stream.counts());
        state.put("totals", totals.to_vec());
        state.put("all", all.to_vec());
        state.put_count("features_counted", met as u64);
        let counts = self.stream.counts().clone().arranged(&classes.order, features);
        let scheme = scheme(classes.labels.len(), &self.bayes.shared);
        let priors = log_priors(&self.bayes.priors, &classes.labels, &counts)?;
        Ok(Learned {
            scorer: scorer(&counts, self.bayes.smoothing, &priors, scheme)?,
            probabilities: Some(posteriors(scheme)),
            scheme,
            settings: describe(self.bayes, scheme),
            state,
        })
    }
}

/// Puts in what counting needs to go on.
fn put_counts(state: &mut State, counts: &Counts) {
    state.put("cells", counts.to_sums());
    state.put("class_rows", counts.rows().to_vec());
}

/// What a row counts for depends on the likelihood: presence, or values.
fn refuse_other_likelihood(model: &Model, bayes: &NaiveBayes) -> Result<()> {
    let counts_presence = matches!(model.scorer.behind_map(), Scorer::Presence(_));
    if counts_presence == (bayes.likelihood == Likelihood::Bernoulli) {
        return Ok(());
    }
    let what = format!("the model has counts for another likelihood than {}", bayes.likelihood.name());
    Err(Error::usage(what).hint("leave out `likelihood`, or `from`"))
}

/// The counts of a model, for these classes and so many features.
fn counts_before(
    model: &Model,
    bayes: &NaiveBayes,
    kind: (Likelihood, Vocabulary),
    (classes, features): (&Classes, usize),
) -> Result<Counts> {
    refuse_other_likelihood(model, bayes)?;
    let learner = bayes.clone().into();
    let prior = &mut Prior::new(model, &learner)?;
    let (mut counts, _) = take_counts(prior, kind)?;
    if let Some(state) = prior.state.take() {
        state.finish()?;
    }
    let before = Labels::new(prior.labels());
    counts.reserve(features, classes.labels.len());
    let mut next = before.len() as u32;
    let order: Vec<u32> = classes
        .labels
        .names()
        .iter()
        .map(|label| {
            before.find(label).unwrap_or_else(|| {
                next += 1;
                next - 1
            })
        })
        .collect();
    Ok(counts.arranged(&order, features))
}

/// The sums of a stream's counts: of each class, of each feature, and how many features there are.
type Sums = (Vec<f64>, Vec<f64>, usize);

/// The counts of a model, with classes in the order in which they occurred, and their sums.
fn take_counts(prior: &mut Prior<'_>, kind: (Likelihood, Vocabulary)) -> Result<(Counts, Sums)> {
    let Some(state) = prior.state.as_mut() else {
        let why = "Bayes' rule goes on from the counts that its weights are computed from";
        return Err(stateless(why, "train again on all rows, and keep the state"));
    };
    let counts = take_cells(state, prior.ranks.len(), kind)?;
    let features = counts.features();
    if features > prior.model.scorer.weights().map_or(0, Weights::features) {
        return Err(damaged("it has counts of more features than the model has"));
    }
    if state.kind() != StateKind::Stream {
        let sums = counts.sums();
        return Ok((counts, sums));
    }
    let (totals, all) = (state.take("totals", prior.ranks.len())?, state.take("all", features)?);
    let met = state.take_count("features_counted")?;
    if met > features as u64 {
        return Err(damaged("it has counted more features than there are"));
    }
    Ok((counts, (totals, all, met as usize)))
}

/// The counts of a state, for so many classes.
fn take_cells(state: &mut State, classes: usize, kind: (Likelihood, Vocabulary)) -> Result<Counts> {
    let (cells, rows) = (state.take_all::<f64>("cells")?, state.take::<f64>("class_rows", classes)?);
    if cells.len() % classes.max(1) != 0 {
        return Err(damaged("its counts are not as many for every class"));
    }
    if cells.iter().chain(&rows).any(|n| *n < 0.0) {
        return Err(damaged("a count is negative"));
    }
    Ok(Counts::from_sums(kind, cells, rows))
}

/// What cannot work, whatever the rows.
fn check(bayes: &NaiveBayes) -> Result<()> {
    let smoothing = bayes.smoothing;
    if smoothing == 0.0 {
        let what = "without smoothing, what a class has not shown yet is impossible for it: the logarithm of \
                    0 is no number";
        return Err(Error::usage(what).hint("a little is enough: `smoothing = 1e-10`"));
    }
    if !(smoothing.is_finite() && smoothing > 0.0) {
        return Err(Error::usage(format!("the smoothing must be a positive number, not {smoothing}")));
    }
    if bayes.shared.multiclass == Some(Scheme::OneVsRest) {
        let what = "Bayes' rule tells all classes apart at once, not one against the rest";
        return Err(Error::usage(what).hint("leave out `multiclass`"));
    }
    if let Priors::Given(given) = &bayes.priors {
        if bayes.likelihood == Likelihood::Complement {
            let what = "the complement's likelihood has no use for priors";
            return Err(Error::usage(what).hint("leave out `priors`, or use `likelihood = multinomial`"));
        }
        if let Some((label, wrong)) = given.iter().find(|(_, p)| !(p.is_finite() && *p > 0.0)) {
            return Err(Error::usage(format!(
                "the prior of {label:?} must be a positive number, not {wrong}"
            )));
        }
        let sum: f64 = given.iter().map(|(_, p)| p).sum();
        if (sum - 1.0).abs() > PRIORS_WITHIN {
            return Err(Error::usage(format!("the priors sum to {sum}, not to 1"))
                .hint("give one for each label: `priors = A=0.9,B=0.1`"));
        }
    }
    Ok(())
}

fn vocabulary(is_hashed: bool) -> Vocabulary {
    if is_hashed { Vocabulary::Met } else { Vocabulary::Columns }
}

fn refused(Negative { row, feature, value }: Negative, schema: &Schema) -> Error {
    let what = format!(
        "row {} has the value {value} of the feature {}: a count is not negative",
        row + 1,
        schema.name(feature)
    );
    Error::input(what).hint("bayes learns from counts; for other numbers use `learner = logistic`")
}

/// `ln p(y)` of all labels.
fn log_priors(priors: &Priors, labels: &Labels, counts: &Counts) -> Result<Vec<f64>> {
    let given = match priors {
        Priors::Learned => return Ok(counts.log_priors()),
        Priors::Uniform => return Ok(vec![-(labels.len() as f64).ln(); labels.len()]),
        Priors::Given(given) => given,
    };
    let mut named = vec![false; labels.len()];
    for (name, _) in given {
        let Some(label) = labels.find(name) else {
            let error = Error::usage(format!("there is no label {name:?} to have a prior"));
            return Err(error.hint(format!("the labels are {}", listed(labels))));
        };
        if std::mem::replace(&mut named[label as usize], true) {
            return Err(Error::usage(format!("the label {name:?} has two priors")));
        }
    }
    let sum: f64 = given.iter().map(|(_, p)| p).sum();
    labels.names().iter().map(|label| Ok((prior(given, label)? / sum).ln())).collect()
}

/// The prior that is given to a label under any of its spellings.
fn prior(given: &[(String, f64)], label: &str) -> Result<f64> {
    let own = Labels::new([label]);
    given.iter().find(|(name, _)| own.find(name).is_some()).map(|(_, prior)| *prior).ok_or_else(|| {
        Error::usage(format!("the label {label:?} has no prior"))
            .hint("give one for each label, or say `priors = learned` or uniform")
    })
}

fn scorer(counts: &Counts, smoothing: f64, log_priors: &[f64], scheme: Scheme) -> Result<Scorer> {
    let weights = counts.weights(smoothing, log_priors, scheme);
    if !weights.values.iter().chain(&weights.bias).all(|weight| weight.is_finite()) {
        let what = "the values, or the smoothing, are so large that their sums are no finite numbers";
        return Err(Error::input(what).hint("scale the columns down first"));
    }
    Ok(match counts.likelihood() {
        Likelihood::Bernoulli => Scorer::Presence(weights),
        Likelihood::Multinomial | Likelihood::Complement => Scorer::Linear(weights),
    })
}

/// What joint log likelihoods, or their difference, mean.
fn posteriors(scheme: Scheme) -> Calibration {
    if scheme == Scheme::Two { Calibration::Logistic } else { Calibration::Softmax }
}

fn describe(bayes: &NaiveBayes, scheme: Scheme) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::from([
        ("likelihood".to_owned(), json!(bayes.likelihood)),
        ("smoothing".to_owned(), json!(bayes.smoothing)),
        ("multiclass".to_owned(), json!(scheme)),
    ]);
    if bayes.likelihood != Likelihood::Complement {
        all.insert("priors".to_owned(), priors_json(&bayes.priors));
    }
    describe_class_weight(&bayes.shared.class_weight, &mut all);
    all
}

fn priors_json(priors: &Priors) -> Value {
    match priors {
        Priors::Learned => json!("learned"),
        Priors::Uniform => json!("uniform"),
        Priors::Given(given) => json!(given),
    }
}
