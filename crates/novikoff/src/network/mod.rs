//! 5e — A multilayer perceptron: one hidden layer, learned by mini-batches with the losses of the linear
//! learners.
//!
//! The loss is no longer convex in the weights, and there is nothing to be proved of what is learned.

mod adam;
mod aim;
mod batch;
mod step;
#[cfg(test)]
mod tests;

pub use aim::{Aim, Targets, Truth};

use crate::control::{Epoch, Flow, Observer, Progress};
use crate::data::Matrix;
use crate::model::{Activation, LANES, Network, Scorer, entries_of, panels};
use crate::online::{Order, Stopped};
use crate::penalty::Bias;
use crate::random::Random;
use adam::Moments;
use batch::Batch;
use std::time::Instant;
use step::{Layers, Pass, Pull, step};

/// How to train: everything but the rows.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Hidden units.
    pub hidden: usize,
    /// What they make of their sums.
    pub activation: Activation,
    /// Scores per row.
    pub outputs: usize,
    /// Whether hidden units and outputs have biases.
    pub bias: Bias,
    /// Rows of a step.
    pub batch: usize,
    /// The length of steps in the first epoch.
    pub step: f64,
    /// The factor of `½‖w‖²`.
    pub lambda: f64,
    /// The order of rows in an epoch.
    pub order: Order,
    /// The seed of that order and of the weights to begin with.
    pub seed: u64,
    /// Training ends after so many epochs.
    pub epochs: usize,
    /// It ends after so many epochs without a new best validation error.
    pub patience: usize,
}

/// Steps of an epoch are so much as long as those of the epoch before. The number of epochs has no say in it:
/// fewer epochs are the first ones of more.
const SHORTER: f64 = 0.95;

/// What training came to.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What scores rows: a network.
    pub scorer: Scorer,
    /// Why it ended.
    pub stopped: Stopped,
    /// What each epoch came to.
    pub trace: Vec<Epoch>,
    /// The epoch whose model this is.
    pub epoch: usize,
}

/// Trains on rows whose columns are multiplied by `scales` first; there must be a scale for each, and no row
/// may be of weight zero alone. `validate` tells the error of a scorer on validation rows, if there are any.
pub fn train(
    plan: &Plan,
    rows: &Matrix,
    scales: &[f64],
    aim: &Aim,
    validate: Option<&dyn Fn(&Scorer) -> f64>,
    observer: &mut dyn Observer,
) -> Trained {
    let started = Instant::now();
    let mut random = Random::new(plan.seed);
    let mut counted: Vec<u32> = (0..rows.rows() as u32).filter(|&i| aim.weight(i as usize) > 0.0).collect();
    let mut learning = Learning::new(plan, rows, scales, aim, &counted, &mut random);
    let mut trace = Vec::<Epoch>::new();
    let mut best = None::<(f64, usize, Scorer)>;
    let mut stopped = Stopped::OutOfEpochs;
    for epoch in 1..=plan.epochs {
        if plan.order == Order::Shuffled {
            random.shuffle(&mut counted);
        }
        let (mut sums, flow) = learning.pass(&counted, epoch, observer);
        if let Some(validate) = validate {
            let scorer = learning.scorer();
            let error = validate(&scorer);
            sums.validation_error = Some(error);
            if best.as_ref().is_none_or(|(least, ..)| error < *least) {
                best = Some((error, epoch, scorer));
            }
        }
        sums.seconds = started.elapsed().as_secs_f64();
        trace.push(sums);
        if observer.observe(Progress::Epoch(sums)) == Flow::Stop || flow == Flow::Stop {
            stopped = Stopped::Interrupted;
            break;
        }
        if best.as_ref().is_some_and(|(_, at, _)| epoch - at >= plan.patience) {
            stopped = Stopped::ValidationError;
            break;
        }
    }
    let (epoch, scorer) = match best {
        Some((_, epoch, scorer)) => (epoch, scorer),
        None => (trace.len(), learning.scorer()),
    };
    Trained { scorer, stopped, trace, epoch }
}

/// A network that is being learned.
struct Learning<'a> {
    plan: &'a Plan,
    rows: &'a Matrix,
    scales: &'a [f64],
    aim: &'a Aim,
    layers: Layers,
    moments: [Moments; 3],
    /// Of a row that counts, on average.
    mean_weight: f64,
}

impl<'a> Learning<'a> {
    fn new(
        plan: &'a Plan,
        rows: &'a Matrix,
        scales: &'a [f64],
        aim: &'a Aim,
        counted: &[u32],
        random: &mut Random,
    ) -> Self {
        let (panels, columns) = (panels(plan.hidden), scales.len() + 1);
        let layers = beginning(plan, rows, scales, counted, random);
        let moments = [
            Moments::new(columns, panels),
            Moments::new(plan.outputs, panels),
            Moments::new(1, layers.bias.len()),
        ];
        let mean_weight =
            counted.iter().map(|&i| aim.weight(i as usize)).sum::<f64>() / counted.len().max(1) as f64;
        Self { plan, rows, scales, aim, layers, moments, mean_weight }
    }

    /// The number of the bias's column, if there is one.
    fn bias_column(&self) -> Option<u32> {
        (self.plan.bias != Bias::None).then_some(self.scales.len() as u32)
    }

    /// One epoch. While a batch is learned from, the next one is prepared.
    fn pass(&mut self, order: &[u32], epoch: usize, observer: &mut dyn Observer) -> (Epoch, Flow) {
        let pull = self.pull(epoch);
        let (rows, scales, bias) = (self.rows, self.scales, self.bias_column());
        let (mut now, mut next, mut pass) = (Batch::default(), Batch::default(), Pass::default());
        let (mut seen, mut missed, mut updates) = (0u64, 0.0, 0);
        let mut batches = order.chunks(self.plan.batch);
        now.fill(rows, batches.next().unwrap_or(&[]), scales, bias);
        let mut flow = Flow::Continue;
        while !now.rows.is_empty() && flow == Flow::Continue {
            let coming = batches.next().unwrap_or(&[]);
            rayon::join(|| self.learn(&now, &mut pass, pull), || next.fill(rows, coming, scales, bias));
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
        (Epoch { epoch, mistakes, updates, progressive_error, validation_error: None, seconds: 0.0 }, flow)
    }

    fn counts_errors(&self) -> bool {
        matches!(self.aim.truth, Truth::Classes(..))
    }

    fn pull(&self, epoch: usize) -> Pull {
        let step = (self.plan.step * SHORTER.powi(epoch.min(10_000) as i32 - 1)) as f32;
        let decay = self.plan.lambda as f32;
        Pull { step, decay, bias_decay: if self.plan.bias == Bias::Penalised { decay } else { 0.0 } }
    }

    fn learn(&mut self, batch: &Batch, pass: &mut Pass, pull: Pull) {
        let share = 1.0 / (batch.rows.len() as f64 * self.mean_weight);
        pass.forward(&self.layers, batch, self.aim, share);
        step(&mut self.layers, &mut self.moments, batch, pass, pull, self.plan.bias != Bias::None);
    }

    /// The network as it is now.
    fn scorer(&self) -> Scorer {
        let Layers { activation, hidden, outputs, first, second, bias } = &self.layers;
        let mut network = Network::zero(self.scales.len(), *hidden, *outputs, *activation);
        network.scales.copy_from_slice(self.scales);
        // Plus zero: −0 would be another byte in a file.
        network.first.clone_from(first);
        network.first.as_flattened_mut().iter_mut().for_each(|w| *w += 0.0);
        let second =
            second.chunks_exact(panels(*hidden)).flat_map(|output| &output.as_flattened()[..*hidden]);
        let (middle, spread) = match &self.aim.truth {
            Truth::Classes(..) => (0.0, 1.0),
            Truth::Numbers(targets) => (targets.middle, targets.spread),
        };
        network.second.iter_mut().zip(second).for_each(|(place, &w)| *place = f64::from(w) * spread + 0.0);
        let biases = network.bias.iter_mut().zip(bias.as_flattened());
        biases.for_each(|(place, &b)| *place = f64::from(b) * spread + middle + 0.0);
        Scorer::Network(network)
    }
}

/// The weights to begin with: uniform, the shorter the more columns and units there are (Glorot and Bengio,
/// 2010). Only columns that some row has count, and the others get no weights: nothing would be learned of
/// them. (Weights so long that a hidden unit's sum has a mean square of 2 on the rows themselves were tried:
/// documents, whose rows are short, took them for what they had learned, and erred twice as often.)
fn beginning(plan: &Plan, rows: &Matrix, scales: &[f64], counted: &[u32], random: &mut Random) -> Layers {
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
