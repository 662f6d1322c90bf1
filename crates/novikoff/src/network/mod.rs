//! A multilayer perceptron with one hidden layer, trained by mini-batch gradient descent with Adam (Kingma
//! and Ba 2015) on the losses of the linear learners: `min over W, V  mean of c·ℓ(y, V·f(W·x + b) + d) +
//! ½λ‖(W, V)‖²`.
//!
//! The objective is not convex, so a fit has no certificate.

mod adam;
mod mini_batch;
mod resume;
mod step;
mod targets;
#[cfg(test)]
mod tests;

pub(crate) use resume::{TrainingState, sizes};
pub(crate) use targets::{Objective, ScaledTargets, Targets};

use crate::control::{Epoch, Flow, Observer, Progress, Termination, Watch};
use crate::data::Matrix;
use crate::model::{Activation, LANES, Network, Scorer, entries_of, panels};
use crate::online::{Begin, Order, Validate};
use crate::penalty::Bias;
use crate::random::Random;
use adam::Moments;
use mini_batch::MiniBatch;
use std::time::Instant;
use step::{AdamStep, ForwardPass, Layers, step};

/// How to train: everything but the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Hidden units.
    pub hidden: usize,
    /// The activation function.
    pub activation: Activation,
    /// The number of outputs.
    pub outputs: usize,
    /// Whether hidden units and outputs have biases.
    pub bias: Bias,
    /// Rows of a mini-batch.
    pub batch: usize,
    /// The step size in the first epoch.
    pub step: f64,
    /// The factor of `½‖w‖²`.
    pub lambda: f64,
    /// The order of rows in an epoch.
    pub order: Order,
    /// The seed of that order and of the initial weights.
    pub seed: u64,
    /// The maximum number of epochs.
    pub epochs: usize,
    /// Training stops after so many epochs without a new best validation error.
    pub patience: usize,
}

/// Adam's step size in epoch `t` is the first one over `√(1 + (t − 1)/30)`: the sizes of all epochs add up to
/// more than any number, so that late epochs still learn, and most of the noise of long steps goes. It does
/// not depend on the number of epochs, so a shorter run is a prefix of a longer one.
const LONG_STEPS: f64 = 30.0;

/// The result of training.
#[derive(Clone, Debug)]
pub(crate) struct Trained {
    /// The network.
    pub scorer: Scorer,
    /// Why training stopped.
    pub termination: Termination,
    /// A summary of each epoch.
    pub trace: Vec<Epoch>,
    /// The epoch whose model this is.
    pub epoch: usize,
    /// The smallest validation error of the epochs that are done, and its epoch.
    pub best: Option<(f64, usize)>,
    /// What is done of the last epoch, if it was broken off.
    pub partial: Option<Partial>,
    /// What going on takes.
    pub state: TrainingState,
}

/// What is done of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Partial {
    /// Rows.
    pub rows: usize,
    /// Wrong predictions, or the sum of squared errors.
    pub missed: f64,
    /// Steps.
    pub updates: u64,
}

/// Where training begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkBegin<'a> {
    /// The epochs that are done, with the best network.
    pub epochs: Begin<Scorer>,
    /// What is done of the next epoch.
    pub partial: Option<Partial>,
    /// The weights to begin with; by default they are random.
    pub weights: Option<Weights<'a>>,
}

/// Weights to begin with.
#[derive(Clone, Debug)]
pub(crate) enum Weights<'a> {
    /// Those of a training that goes on.
    Resumed(Box<TrainingState>),
    /// Those of a network: for each output the one that it is, with a factor.
    Network(&'a Network, Vec<Option<(usize, f64)>>),
}

/// Trains on rows whose columns are multiplied by `scales`, one for each column. Some row must have a
/// positive weight. `validate` computes the error of a scorer on validation rows, if there are any.
pub(crate) fn train(
    plan: &Plan,
    rows: &Matrix,
    scales: &[f64],
    objective: &Objective,
    begin: NetworkBegin<'_>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> Trained {
    let started = Instant::now();
    let mut random = Random::new(plan.seed);
    let mut counted: Vec<u32> =
        (0..rows.rows() as u32).filter(|&i| objective.weight(i as usize) > 0.0).collect();
    let mut training = Training::new(plan, rows, scales, objective, &counted, &mut random);
    match &begin.weights {
        Some(Weights::Resumed(state)) => training.resume(state),
        Some(Weights::Network(network, sources)) => training.begin_with(network, sources),
        None => {}
    }
    let Begin { mut trace, mut best, .. } = begin.epochs;
    // The order of an epoch follows from that of the one before it.
    (0..trace.len()).filter(|_| plan.order == Order::Shuffled).for_each(|_| random.shuffle(&mut counted));
    let mut begun = begin.partial;
    // An epoch may have been stopped while it was measured.
    if let (Some(last), None) = (trace.last_mut(), begun)
        && last.validation_error.is_none()
    {
        measure(&training, validate, &mut best, last, observer);
    }
    let mut partial = None;
    let mut termination = Termination::OutOfEpochs;
    for epoch in trace.len() + 1..=plan.epochs {
        if begun.is_none() && is_late(&best, trace.len(), plan.patience) {
            termination = Termination::ValidationError;
            break;
        }
        if plan.order == Order::Shuffled {
            random.shuffle(&mut counted);
        }
        let (mut sums, done, mut flow) =
            training.run_epoch(&counted, epoch, begun.take().unwrap_or_default(), observer);
        partial = Some(done).filter(|done| done.rows < counted.len());
        // An epoch that was broken off is not compared with whole ones.
        if (partial.is_none() || best.is_none())
            && measure(&training, validate, &mut best, &mut sums, observer) == Flow::Stop
        {
            flow = Flow::Stop;
        }
        sums.seconds = started.elapsed().as_secs_f64();
        trace.push(sums);
        if observer.observe(Progress::Epoch(sums)) == Flow::Stop || flow == Flow::Stop {
            termination = Termination::Interrupted;
            break;
        }
        if is_late(&best, epoch, plan.patience) {
            termination = Termination::ValidationError;
            break;
        }
    }
    let done = trace.len() - usize::from(partial.is_some());
    let known = best.as_ref().map(|(error, epoch, _)| (*error, *epoch)).filter(|(_, epoch)| *epoch <= done);
    let (epoch, scorer) = match best {
        Some((_, epoch, scorer)) => (epoch, scorer),
        None => (trace.len(), training.scorer()),
    };
    Trained { scorer, termination, trace, epoch, best: known, partial, state: training.state() }
}

/// Measures the network after an epoch on the validation rows, if there are any.
fn measure(
    training: &Training<'_>,
    validate: Validate<'_>,
    best: &mut Option<(f64, usize, Scorer)>,
    epoch: &mut Epoch,
    observer: &mut dyn Observer,
) -> Flow {
    let Some(validate) = validate else { return Flow::Continue };
    let scorer = training.scorer();
    epoch.validation_error = validate(&scorer, &Watch::new(observer));
    match epoch.validation_error {
        None => return Flow::Stop,
        Some(error) if best.as_ref().is_none_or(|(least, ..)| error < *least) => {
            *best = Some((error, epoch.epoch, scorer));
        }
        Some(_) => {}
    }
    Flow::Continue
}

/// Whether the validation error has not fallen for too long.
fn is_late(best: &Option<(f64, usize, Scorer)>, epoch: usize, patience: usize) -> bool {
    best.as_ref().is_some_and(|(_, at, _)| epoch - at >= patience)
}

/// A network during training.
struct Training<'a> {
    plan: &'a Plan,
    rows: &'a Matrix<'a>,
    scales: &'a [f64],
    objective: &'a Objective,
    layers: Layers,
    moments: [Moments; 3],
    /// The mean weight of rows with a positive weight.
    mean_weight: f64,
}

impl<'a> Training<'a> {
    fn new(
        plan: &'a Plan,
        rows: &'a Matrix<'a>,
        scales: &'a [f64],
        objective: &'a Objective,
        counted: &[u32],
        random: &mut Random,
    ) -> Self {
        let (panels, columns) = (panels(plan.hidden), scales.len() + 1);
        let layers = initial_layers(plan, rows, scales, counted, random);
        let moments = [
            Moments::new(columns, panels),
            Moments::new(plan.outputs, panels),
            Moments::new(1, layers.bias.len()),
        ];
        let mean_weight =
            counted.iter().map(|&i| objective.weight(i as usize)).sum::<f64>() / counted.len().max(1) as f64;
        Self { plan, rows, scales, objective, layers, moments, mean_weight }
    }

    /// The column of the bias, if there is one.
    fn bias_column(&self) -> Option<u32> {
        (self.plan.bias != Bias::None).then_some(self.scales.len() as u32)
    }

    /// Runs an epoch. The next mini-batch is prepared during the step of the current one.
    fn run_epoch(
        &mut self,
        order: &[u32],
        epoch: usize,
        done: Partial,
        observer: &mut dyn Observer,
    ) -> (Epoch, Partial, Flow) {
        let settings = self.step_settings(epoch);
        let (rows, scales, bias) = (self.rows, self.scales, self.bias_column());
        let (mut now, mut next, mut pass) =
            (MiniBatch::default(), MiniBatch::default(), ForwardPass::default());
        let Partial { rows: begun, mut missed, mut updates } = done;
        let mut seen = begun as u64;
        let mut batches = order[begun..].chunks(self.plan.batch);
        now.fill(rows, batches.next().unwrap_or(&[]), scales, bias);
        let mut flow = Flow::Continue;
        while !now.rows.is_empty() && flow == Flow::Continue {
            let coming = batches.next().unwrap_or(&[]);
            rayon::join(|| self.learn(&now, &mut pass, settings), || next.fill(rows, coming, scales, bias));
            seen += now.rows.len() as u64;
            missed += pass.missed.iter().sum::<f64>();
            updates += 1;
            let (epochs, of) = (self.plan.epochs, order.len() as u64);
            let errors = if self.counts_errors() { missed as u64 } else { 0 };
            flow = observer.observe(Progress::Learning { epoch, epochs, rows: seen, of, errors });
            std::mem::swap(&mut now, &mut next);
        }
        let mistakes = if self.counts_errors() { missed as u64 } else { 0 };
        let progressive_error = missed / seen.max(1) as f64;
        let done = Partial { rows: seen as usize, missed, updates };
        let sums =
            Epoch { epoch, mistakes, updates, progressive_error, validation_error: None, seconds: 0.0 };
        (sums, done, flow)
    }

    fn counts_errors(&self) -> bool {
        matches!(self.objective.targets, Targets::Classes(..))
    }

    fn step_settings(&self, epoch: usize) -> AdamStep {
        let factor = 1.0 / (1.0 + (epoch - 1) as f64 / LONG_STEPS).sqrt();
        let step = (self.plan.step * factor) as f32;
        let decay = self.plan.lambda as f32;
        AdamStep { step, decay, bias_decay: if self.plan.bias == Bias::Penalised { decay } else { 0.0 } }
    }

    fn learn(&mut self, batch: &MiniBatch, pass: &mut ForwardPass, settings: AdamStep) {
        let share = 1.0 / (batch.rows.len() as f64 * self.mean_weight);
        pass.forward(&self.layers, batch, self.objective, share);
        step(&mut self.layers, &mut self.moments, batch, pass, settings, self.plan.bias != Bias::None);
    }

    /// The current network.
    fn scorer(&self) -> Scorer {
        let Layers { activation, hidden, outputs, first, second, bias } = &self.layers;
        let mut network = Network::zero(self.scales.len(), *hidden, *outputs, *activation);
        network.scales.copy_from_slice(self.scales);
        // Adding zero turns −0 into 0, which has other bytes in a file.
        network.first.clone_from(first);
        network.first.as_flattened_mut().iter_mut().for_each(|w| *w += 0.0);
        let second =
            second.chunks_exact(panels(*hidden)).flat_map(|output| &output.as_flattened()[..*hidden]);
        let (middle, spread) = match &self.objective.targets {
            Targets::Classes(..) => (0.0, 1.0),
            Targets::Numbers(targets) => (targets.middle, targets.spread),
        };
        network.second.iter_mut().zip(second).for_each(|(place, &w)| *place = f64::from(w) * spread + 0.0);
        let biases = network.bias.iter_mut().zip(bias.as_flattened());
        biases.for_each(|(place, &b)| *place = f64::from(b) * spread + middle + 0.0);
        Scorer::Network(network)
    }
}

/// The initial weights: uniform with variance 2/(inputs + outputs) (Glorot and Bengio 2010). Only columns
/// that occur in some row count as inputs; the others have weight zero. (Scaling the weights so that a hidden
/// unit's sum has a mean square of 2 on the rows was tried: on documents it doubled the error.)
fn initial_layers(
    plan: &Plan,
    rows: &Matrix,
    scales: &[f64],
    counted: &[u32],
    random: &mut Random,
) -> Layers {
    let mut is_met = vec![false; scales.len()];
    for &i in counted {
        entries_of(rows.row(i as usize), scales, |j, _| is_met[j as usize] = true);
    }
    let longest = |from: usize, to: usize| (6.0 / (from + to) as f64).sqrt();
    let mut uniform = |most: f64| (most * (2.0 * random.unit() - 1.0)) as f32;
    let (outputs, panels) = (panels(plan.outputs), panels(plan.hidden));
    let mut first = vec![[0.0; LANES]; (scales.len() + 1) * panels];
    let most = longest(is_met.iter().filter(|met| **met).count(), plan.hidden);
    for (column, _) in first.chunks_exact_mut(panels).zip(&is_met).filter(|(_, met)| **met) {
        column.as_flattened_mut()[..plan.hidden].iter_mut().for_each(|w| *w = uniform(most));
    }
    let mut second = vec![[0.0; LANES]; plan.outputs * panels];
    let most = longest(plan.hidden, plan.outputs);
    for output in second.chunks_exact_mut(panels) {
        output.as_flattened_mut()[..plan.hidden].iter_mut().for_each(|w| *w = uniform(most));
    }
    let bias = vec![[0.0; LANES]; outputs];
    Layers { activation: plan.activation, hidden: plan.hidden, outputs: plan.outputs, first, second, bias }
}
