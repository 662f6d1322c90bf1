//! The certificate of a fit: what is claimed of the model returned, with what shows it.
//!
//! Every number in it is the checker's, not the solver's or the learner's: it is computed by the code that
//! will verify it.

use super::classes::{Classes, class_weights};
use super::fit::{Details, Fit, RunDetails};
use super::learner::{Criterion, Learner, Risk};
use super::mistakes::Theorem;
use super::risk::RiskFit;
use crate::certificate::file::{Certificate, Claim, DataIdentity, directions};
use crate::certificate::mistakes::MistakeProof;
use crate::certificate::objective::{Objective, Target};
use crate::certificate::proof::{Combination, Direction, Sides, SignedRows};
use crate::certificate::range::Unproved;
use crate::data::{Dataset, Labels, Scale};
use crate::error::{Error, Result};
use crate::loss::{Loss, LossName, with_loss};
use crate::model::{self, Model, Scorer, Weights};
use crate::multiclass::Scheme;
use crate::online::rule::Length;
use crate::penalty::Bias;
use crate::solver::REACH;

/// What a claim is looser by than what was computed, of its size: another machine's logarithm may differ in
/// its last digit.
const SLACK: f64 = 1e-12;

impl Fit {
    /// The certificate of this fit: what is proved of the model returned. The rows must be those learned
    /// from.
    ///
    /// ```
    /// use novikoff::{LogisticRegression, data::generate::Recipe};
    /// let data = Recipe { rows: 200, noise: 0.1, ..Recipe::default() }.generate();
    /// let certificate = LogisticRegression::new().fit(&data)?.certificate(&data)?;
    /// certificate.verify(&data)?;
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn certificate(&self, data: &Dataset) -> Result<Certificate> {
        data.validate()?;
        if data.fingerprint() != self.model.about.data_hash {
            let what = "these are not the rows that the model was learned from: nothing is proved of others";
            return Err(Error::input(what));
        }
        let mapped = match &self.model.scorer {
            Scorer::Mapped(own) => Some(data.mapped(&own.mapper)?),
            _ => None,
        };
        let rows = mapped.as_ref().unwrap_or(data);
        let claims = match (&self.learner, &self.details) {
            (Learner::Risk(own), Details::Risk(found)) if own.criterion == Criterion::MaxMargin => {
                self.margin_claims(found, rows, own.bias)?
            }
            (Learner::Risk(own), Details::Risk(found)) => {
                self.objective_claims(found, rows, (own, &self.model))?
            }
            (learner, Details::Run(run)) => self.run_claims(run, rows, learner)?,
            (Learner::Bayes(_), _) => {
                let what = "bayes counts, and minimises nothing: there is nothing to be proved of it";
                return Err(Error::usage(what).hint("leave out `certificate`"));
            }
            (Learner::Network(_), _) => {
                let what = "a network's loss is not convex in its weights: nothing can be proved of what was \
                            learned";
                return Err(Error::usage(what).hint("leave out `certificate`"));
            }
            _ => {
                let what = "the rows of a stream are not stored: there is nothing to be proved of them";
                return Err(Error::usage(what).hint("leave out `certificate` or `online`"));
            }
        };
        if claims.is_empty() {
            return Err(self.nothing_proved());
        }
        let certificate = match (&mapped, self.model.scorer.map()) {
            (Some(mapped), Some(map)) => Certificate::of_mapped(data, mapped, map, claims),
            _ => {
                let hash = self.model.about.data_hash.clone();
                let (rows, columns) = (data.len() as u64, data.rows.columns() as u64);
                Certificate::of_rows(DataIdentity { hash, rows, columns }, claims)
            }
        };
        Ok(Certificate { model: Some(model::checksum_of(&self.model)?), ..certificate })
    }

    /// The certificate of other weights for the problem that this fit has solved, such as those of another
    /// program's model: how far they are from the minimum, by what this fit knows of it. A fit of a small gap
    /// knows much. The rows must be those learned from.
    ///
    /// ```
    /// use novikoff::{LogisticRegression, data::generate::Recipe, model::Weights};
    /// let data = Recipe { rows: 200, noise: 0.1, ..Recipe::default() }.generate();
    /// let fit = LogisticRegression::new().tolerance(1e-8).fit(&data)?;
    /// let zero = Weights::zero(data.rows.columns(), 1);
    /// let certificate = fit.certificate_of(&data, &zero)?;
    /// certificate.verify(&data)?;
    /// assert!(certificate.relative_gap().is_some_and(|gap| gap > 0.1));
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn certificate_of(&self, data: &Dataset, weights: &Weights) -> Result<Certificate> {
        data.validate()?;
        let own = &self.model;
        if data.fingerprint() != own.about.data_hash {
            let what = "these are not the rows that the fit was made of: nothing is known of others";
            return Err(Error::input(what));
        }
        let (Details::Risk(risk), Learner::Risk(learner)) = (&self.details, &self.learner) else {
            let what = format!("{} minimises no loss that weights could be measured by", self.learner.name());
            return Err(Error::usage(what));
        };
        if learner.criterion == Criterion::MaxMargin || own.scorer.map().is_some() {
            return Err(Error::usage("weights are measured by a loss, of rows that no map was applied to"));
        }
        if (weights.features(), weights.outputs()) != (own.features(), own.scorer.outputs()) {
            let (features, outputs) = (own.features(), own.scorer.outputs());
            let what = format!("the weights are not {outputs} of {features} features each");
            return Err(Error::input(what));
        }
        let other = Model { scorer: Scorer::Linear(weights.clone()), ..own.clone() };
        let mut claims = self.objective_claims(risk, data, (learner, &other))?;
        if self.scheme == Scheme::Joint {
            // Classes that share a loss have no duals: the fit's own weights show what the minimum is not below.
            claims.extend(self.objective_claims(risk, data, (learner, own))?);
        }
        Ok(Certificate::new(data, claims))
    }

    /// That there is nothing to write into a certificate.
    fn nothing_proved(&self) -> Error {
        if self.run().is_some_and(|run| run.scale != Scale::None) {
            let what = "nothing could be proved of this model: its bounds are about scaled rows, and \
                        certificates about rows as they are";
            return Error::input(what).hint("use `scale = none`, or leave out `certificate`");
        }
        let what = "nothing could be proved of this model: there is no certificate to write";
        Error::input(what).hint("leave out `certificate`")
    }

    /// What each weight vector tells apart.
    fn targets(&self) -> Vec<Target> {
        targets(&self.model.labels, self.scheme)
    }

    /// That weights of a model are near the minimum of what was minimised, by the duals that the fit ended with.
    fn objective_claims(
        &self,
        risk: &RiskFit,
        data: &Dataset,
        (own, model): (&Risk, &Model),
    ) -> Result<Vec<Claim>> {
        let scales = data.factors(own.scale);
        let mut claims = Vec::new();
        let Some(loss) = risk.library_loss else {
            let what = format!("certificates do not know the loss {}, or its penalty", risk.loss);
            return Err(Error::usage(what));
        };
        let minimised = (loss, risk.lambda);
        for (at, objective) in
            objectives(&self.model.labels, self.scheme, minimised, data, own)?.into_iter().enumerate()
        {
            let weights = weights_of(model, &objective.target)?;
            let free = risk.lambda == 0.0 && risk.l1 == 0.0;
            let within = free.then(|| REACH * length(&weights, &scales, own.bias).max(1e-3));
            let duals = risk.duals.get(at).filter(|duals| duals.len() == data.len()).cloned();
            // Of other weights, the slopes at the fit's own are better duals than those at theirs.
            let is_own = std::ptr::eq(model, &self.model);
            let duals =
                if is_own { duals } else { duals.or(self.slopes(loss, &objective.target, at, data)?) };
            let ends = objective
                .ends_with(data, &weights, duals.as_deref(), within, Some(&scales))
                .map_err(no_certificate)?;
            let slack = SLACK * ends.value.abs();
            let (value, lower_bound) = (ends.value + slack, ends.lower_bound.map(|bound| bound - slack));
            claims.push(Claim::NearOptimal { objective, value, lower_bound, within, weights, duals });
        }
        Ok(claims)
    }

    /// The slopes of the loss at the scores of one of the fit's own weight vectors; none where classes share a
    /// loss.
    fn slopes(&self, loss: LossName, target: &Target, at: usize, data: &Dataset) -> Result<Option<Vec<f64>>> {
        let targets = match target {
            Target::Classes(_) => return Ok(None),
            Target::Numbers => data.targets()?,
            Target::Sides(sides) => sides.signs(data).map_err(Error::input)?,
        };
        let scores = self.model.scores(data)?;
        let outputs = self.model.scorer.outputs();
        let slope = |(i, &y): (usize, &f64)| {
            let s = scores[i * outputs + at];
            if y == 0.0 && matches!(target, Target::Sides(_)) {
                0.0
            } else {
                with_loss!(loss, loss => loss.slope(y, s))
            }
        };
        Ok(Some(targets.iter().enumerate().map(slope).collect()))
    }

    fn margin_claims(&self, risk: &RiskFit, data: &Dataset, bias: Bias) -> Result<Vec<Claim>> {
        let mut claims = Vec::new();
        for (at, target) in self.targets().into_iter().enumerate() {
            let Target::Sides(sides) = &target else { continue };
            let signs = sides.signs(data).map_err(Error::input)?;
            let signed = SignedRows { rows: &data.rows, signs: &signs, bias };
            claims.extend(self.at_least(&target, signed)?);
            let duals = risk.duals.get(at).map_or(&[][..], Vec::as_slice);
            let shares = (0u32..).zip(duals).filter(|(i, u)| u.abs() > 0.0 && signs[*i as usize] != 0.0);
            let (rows, multipliers) = shares.map(|(i, u)| (i, u.abs())).unzip();
            let combination = Combination { rows, multipliers };
            if let Ok(margin) = signed.margin_at_most(&combination)
                && margin.is_finite()
            {
                claims.push(Claim::MarginAtMost { sides: sides.clone(), bias, margin, combination });
            }
        }
        Ok(claims)
    }

    /// That the model's own weights have some margin, if they have one.
    fn at_least(&self, target: &Target, rows: SignedRows<'_>) -> Result<Option<Claim>> {
        let (Target::Sides(sides), Ok(weights)) = (target, self.weights_of(target)) else { return Ok(None) };
        let direction = weights[0].clone();
        let Ok(margin) = rows.margin_at_least(&direction) else { return Ok(None) };
        let claim = Claim::MarginAtLeast { sides: sides.clone(), bias: rows.bias, margin, direction };
        Ok((margin > 0.0 && margin.is_finite()).then_some(claim))
    }

    /// Of a perceptron's run: the margin of its weights, if they separate, and how many mistakes it can have
    /// made.
    fn run_claims(&self, run: &RunDetails, data: &Dataset, learner: &Learner) -> Result<Vec<Claim>> {
        let bias = if learner.bias() == Bias::None { Bias::None } else { Bias::Penalised };
        let mut claims = Vec::new();
        for (at, target) in self.targets().into_iter().enumerate() {
            if let Target::Sides(sides) = &target {
                let signs = sides.signs(data).map_err(Error::input)?;
                claims.extend(self.at_least(&target, SignedRows { rows: &data.rows, signs: &signs, bias })?);
            }
            claims.extend(self.mistake_claims(run, (at, &target), bias, data));
        }
        Ok(claims)
    }

    /// How many mistakes were possible in as many epochs as there were, and in any number.
    fn mistake_claims(
        &self,
        run: &RunDetails,
        (at, target): (usize, &Target),
        bias: Bias,
        data: &Dataset,
    ) -> Vec<Claim> {
        let (Some(promise), Learner::Perceptron(own)) = (&run.promise, &self.learner) else {
            return Vec::new();
        };
        // The bounds of a run on scaled rows are not about the rows that a certificate names.
        if run.scale != Scale::None {
            return Vec::new();
        }
        let weights = match &run.witness {
            Some(weights) => Some(directions_of(weights, at, self.scheme)),
            None => self.weights_of(target).ok(),
        };
        let weights = weights.map(|weights| with_direction(weights, data));
        let made = run.history.epochs.len().max(1) as u64;
        let mut wanted = match promise.theorem {
            Theorem::FreundSchapire => vec![(Some(made), promise.margins[at])],
            Theorem::Novikoff | Theorem::OwnFeature => vec![(None, promise.margins[at])],
            Theorem::PassiveAggressive => Vec::new(),
        };
        if promise.theorem == Theorem::FreundSchapire && promise.forever.is_some() {
            wanted.push((None, promise.least_margins[at]));
        }
        let claim = |(passes, margin): (Option<u64>, f64)| {
            let proof = MistakeProof {
                target: target.clone(),
                bias,
                normalised: own.rule.length == Length::Unit,
                own_feature: own.own_feature,
                passes,
                margin,
                weights: weights.clone()?,
            };
            mistake_claim(proof, data)
        };
        wanted.into_iter().filter_map(claim).collect()
    }

    fn weights_of(&self, target: &Target) -> Result<Vec<Direction>> {
        weights_of(&self.model, target)
    }
}

fn weights_of(model: &Model, target: &Target) -> Result<Vec<Direction>> {
    directions(model, target).ok_or_else(|| Error::input("this model has no weights to speak of"))
}

/// The claim with the proof's margin, or next to nothing less: the margin was computed with rounding.
fn mistake_claim(mut proof: MistakeProof, data: &Dataset) -> Option<Claim> {
    for _ in 0..8 {
        if let Ok(mistakes) = proof.bound(data) {
            return Some(Claim::MistakesAtMost { mistakes, proof });
        }
        proof.margin *= 1.0 - 1e-9;
    }
    None
}

/// What each weight vector of a model tells apart.
fn targets(labels: &Labels, scheme: Scheme) -> Vec<Target> {
    let names = labels.names();
    match scheme {
        _ if names.is_empty() => vec![Target::Numbers],
        Scheme::Joint => vec![Target::Classes(names.to_vec())],
        Scheme::Two => vec![Target::Sides(sides(labels, 1))],
        Scheme::OneVsRest => (0..names.len()).map(|class| Target::Sides(sides(labels, class))).collect(),
    }
}

/// What each weight vector of a model minimises: this loss and λ, and the rest by the settings.
pub(super) fn objectives(
    labels: &Labels,
    scheme: Scheme,
    (loss, lambda): (LossName, f64),
    data: &Dataset,
    own: &Risk,
) -> Result<Vec<Objective>> {
    let class_weights = match labels.is_empty() {
        true => Vec::new(),
        false => {
            let classes = Classes::new(&data.names, &data.schema, &own.shared)?;
            let by_class = class_weights(data, &classes.labels, &own.shared)?;
            classes.labels.names().iter().cloned().zip(by_class.unwrap_or_default()).collect()
        }
    };
    let objective = |target: Target| Objective {
        target,
        loss,
        lambda,
        l1: own.l1,
        bias: own.bias,
        class_weights: class_weights.clone(),
        scale: own.scale,
        scaled_columns: data.scaled_columns().filter(|_| own.scale != Scale::None),
    };
    Ok(targets(labels, scheme).into_iter().map(objective).collect())
}

/// What a certificate would say cannot be computed soundly.
fn no_certificate(why: Unproved) -> Error {
    let hint =
        "bring the columns to ordinary sizes, or leave out `certificate`; the model itself is not affected";
    Error::input(format!("no certificate can be written: {why}")).hint(hint)
}

/// One class against the others.
fn sides(labels: &Labels, class: usize) -> Sides {
    let names = labels.names();
    let negative =
        names.iter().enumerate().filter(|(c, _)| *c != class).map(|(_, name)| name.clone()).collect();
    Sides { positive: vec![names[class].clone()], negative }
}

/// Weights that are all zero have no direction. The theorems hold for any: the first column's is as good as
/// another.
fn with_direction(mut weights: Vec<Direction>, data: &Dataset) -> Vec<Direction> {
    let is_zero =
        |direction: &Direction| direction.bias == 0.0 && direction.weights.iter().all(|w| *w == 0.0);
    if weights.iter().all(is_zero) && data.rows.columns() > 0 {
        weights[0] = Direction { columns: Some(vec![0]), weights: vec![1.0], bias: 0.0 };
    }
    weights
}

fn directions_of(weights: &Weights, at: usize, scheme: Scheme) -> Vec<Direction> {
    let of = |output: usize| Direction::of_output(weights, output);
    if scheme == Scheme::Joint { (0..weights.outputs()).map(of).collect() } else { vec![of(at)] }
}

/// The length of all weights, each divided by its column's scale; a penalised bias is one of them.
pub(super) fn length(weights: &[Direction], scales: &[f64], bias: Bias) -> f64 {
    let square = |direction: &Direction| -> f64 {
        let own = if bias == Bias::Penalised { direction.bias.powi(2) } else { 0.0 };
        own + direction
            .entries()
            .map(|(j, w)| (w / scales.get(j).copied().unwrap_or(1.0)).powi(2))
            .sum::<f64>()
    };
    weights.iter().map(square).sum::<f64>().sqrt()
}
