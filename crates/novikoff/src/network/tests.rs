//! Gradients against differences of a loss that is written down as it is defined, in double precision.

use super::mini_batch::MiniBatch;
use super::step::{ForwardPass, Layers};
use super::targets::{Objective, ScaledTargets, Targets};
use crate::data::Matrix;
use crate::data::matrix::{Builder, Layout};
use crate::loss::LossName;
use crate::model::{Activation, LANES, panels};
use crate::multiclass::Scheme;
use crate::penalty::Bias;
use crate::random::Random;
use proptest::prelude::*;

const COLUMNS: usize = 5;
const ROWS: usize = 7;

/// A small problem, whatever its loss.
struct Case {
    rows: Vec<Vec<f64>>,
    layers: Layers,
    objective: Objective,
}

impl Case {
    fn new(
        random: &mut Random,
        loss: LossName,
        scheme: Option<Scheme>,
        activation: Activation,
        hidden: usize,
    ) -> Self {
        let classes = if scheme == Some(Scheme::Two) { 2 } else { 3 };
        let outputs = scheme.map_or(1, |scheme| scheme.outputs(classes));
        let mut lanes = |groups: usize, units: usize| {
            let mut all = vec![[0.0; LANES]; groups * panels(units)];
            for group in all.chunks_exact_mut(panels(units)) {
                // Not so long that the exponential loss gets too steep to be told.
                group.as_flattened_mut()[..units].iter_mut().for_each(|w| *w = 0.4 * random.normal() as f32);
            }
            all
        };
        let (first, second, bias) = (lanes(COLUMNS + 1, hidden), lanes(outputs, hidden), lanes(1, outputs));
        let layers = Layers { activation, hidden, outputs, first, second, bias };
        let value =
            |random: &mut Random| if random.below(3) == 0 { 0.0 } else { f64::from(random.normal() as f32) };
        let rows = (0..ROWS).map(|_| (0..COLUMNS).map(|_| value(random)).collect()).collect();
        let weights: Vec<f64> = (0..ROWS).map(|_| 0.5 + random.unit()).collect();
        let targets = match scheme {
            Some(scheme) => {
                Targets::Classes((0..ROWS).map(|_| random.below(classes as u64) as u32).collect(), scheme)
            }
            None => {
                let targets: Vec<f64> = (0..ROWS).map(|_| 5.0 + 3.0 * random.normal()).collect();
                Targets::Numbers(ScaledTargets::new(&targets, &weights, Bias::Free))
            }
        };
        Self { rows, layers, objective: Objective { loss, targets, weights } }
    }

    /// The weighted mean loss, as it is defined.
    fn loss(&self, layers: &[Vec<f64>; 3]) -> f64 {
        let (hidden, outputs) = (self.layers.hidden, self.layers.outputs);
        let [first, second, bias] = layers;
        let of = |(i, row): (usize, &Vec<f64>)| {
            let units: Vec<f64> = (0..hidden)
                .map(|h| {
                    let z = first[COLUMNS * hidden + h]
                        + (0..COLUMNS).map(|j| row[j] * first[j * hidden + h]).sum::<f64>();
                    if self.layers.activation == Activation::Relu { z.max(0.0) } else { z.tanh() }
                })
                .collect();
            let score = |o: usize| {
                bias[o] + units.iter().enumerate().map(|(h, a)| a * second[o * hidden + h]).sum::<f64>()
            };
            self.objective.weights[i] * self.objective.value(i, &(0..outputs).map(score).collect::<Vec<_>>())
        };
        self.rows.iter().enumerate().map(of).sum::<f64>() / ROWS as f64
    }

    /// All weights without the units that fill up lanes.
    fn plain(&self) -> [Vec<f64>; 3] {
        let Layers { hidden, outputs, first, second, bias, .. } = &self.layers;
        [(first, *hidden), (second, *hidden), (bias, *outputs)].map(|(lanes, units)| unfilled(lanes, units))
    }

    /// The gradient that steps are made of.
    fn gradient(&self) -> [Vec<f64>; 3] {
        let Layers { hidden, outputs, .. } = self.layers;
        let mut builder = Builder::new(Layout::Dense { columns: COLUMNS });
        let indices: Vec<u32> = (0..COLUMNS as u32).collect();
        self.rows.iter().for_each(|row| builder.push(&indices, row));
        let matrix: Matrix = builder.finish();
        let (mut batch, mut pass) = (MiniBatch::default(), ForwardPass::default());
        batch.fill(&matrix, &(0..ROWS as u32).collect::<Vec<_>>(), &[1.0; COLUMNS], Some(COLUMNS as u32));
        pass.forward(&self.layers, &batch, &self.objective, 1.0 / ROWS as f64);
        let panels = panels(hidden);
        let mut first = vec![[0.0; LANES]; (COLUMNS + 1) * panels];
        for &column in &batch.columns {
            for panel in 0..panels {
                first[column.number as usize * panels + panel] =
                    pass.column_slopes(batch.column(column), panels, panel);
            }
        }
        let output = |at: usize| pass.output_slopes(at / panels, outputs, panels, at % panels);
        let second: Vec<_> = (0..outputs * panels).map(output).collect();
        let mut bias = vec![[0.0; LANES]; self.layers.bias.len()];
        pass.bias_slopes(outputs, &mut bias);
        [(first, hidden), (second, hidden), (bias, outputs)].map(|(lanes, units)| unfilled(&lanes, units))
    }
}

fn unfilled(lanes: &[[f32; LANES]], units: usize) -> Vec<f64> {
    lanes
        .chunks_exact(panels(units))
        .flat_map(|group| &group.as_flattened()[..units])
        .map(|&w| f64::from(w))
        .collect()
}

/// Every loss with every way in which it is used.
fn kinds() -> Vec<(LossName, Option<Scheme>)> {
    let mut kinds = vec![(LossName::Logistic, Some(Scheme::Joint))];
    for loss in LossName::ALL {
        match loss {
            LossName::Squared | LossName::Absolute => kinds.push((loss, None)),
            _ => kinds.extend([(loss, Some(Scheme::Two)), (loss, Some(Scheme::OneVsRest))]),
        }
    }
    kinds
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn gradients_are_the_limits_of_differences(seed in any::<u64>(), hidden in 1usize..40) {
        let random = &mut Random::new(seed);
        for (loss, scheme) in kinds() {
            for activation in Activation::ALL {
                let case = Case::new(random, loss, scheme, activation, hidden);
                let (layers, gradient) = (case.plain(), case.gradient());
                let (mut compared, mut passed_over) = (0, 0);
                for layer in 0..3 {
                    for at in (0..layers[layer].len()).step_by(1 + layers[layer].len() / 12) {
                        let moved = |by: f64| {
                            let mut layers = layers.clone();
                            layers[layer][at] += by;
                            case.loss(&layers)
                        };
                        const BY: f64 = 1e-5;
                        let (ahead, behind) = ((moved(BY) - moved(0.0)) / BY, (moved(0.0) - moved(-BY)) / BY);
                        let (expected, found) = (0.5 * (ahead + behind), gradient[layer][at]);
                        // Across a kink there is no one slope.
                        if (ahead - behind).abs() > 1e-3 * (1.0 + expected.abs()) {
                            passed_over += 1;
                            continue;
                        }
                        compared += 1;
                        let most = 2e-3 * (1.0 + expected.abs());
                        prop_assert!(
                            (found - expected).abs() < most,
                            "{loss:?} {scheme:?} {activation:?}, layer {layer}: {found} {expected}"
                        );
                    }
                }
                prop_assert!(compared > passed_over, "{loss:?} {compared} {passed_over}");
            }
        }
    }
}
