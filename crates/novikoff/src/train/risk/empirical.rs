//! Empirical risk minimisation with any loss, any penalty and any solver: those of novikoff, or one's own.

use super::super::fit::Fit;
use super::super::learner::{Criterion, CustomLoss, Risk, Shared};
use super::super::tune::Tried;
use super::super::validation::HeldOut;
use super::super::{check_memory, check_task, refuse_other_columns};
use super::choice::check_tolerance;
use super::goal::Goal;
use super::guarded::Guarded;
use super::report::Minimised;
use super::solve::{self, Columns, Method, Solved, Task};
use super::{Training, finish, predictions, refuse_overflow, scores_by_row};
use crate::control::{Observer, Termination, Unwatched, Watch};
use crate::data::{Dataset, Scale};
use crate::error::{Error, Result};
use crate::evaluate::{Folds, Metric, Strata};
use crate::loss::{Loss, Targets, contradiction};
use crate::multiclass::Scheme;
use crate::penalty::{Bias, ElasticNet, Penalty, contradiction as contradiction_of_penalty};
use crate::solver::Solver;

/// Minimises `(1/n) Σ loss + penalty` over all rows: a loss, a penalty and a solver that works for both, as
/// types. Any of them may be one's own: a pair that no solver works for does not compile.
///
/// More than two classes are learned one against the rest.
///
/// ```
/// use novikoff::loss::SquaredHinge;
/// use novikoff::penalty::L2;
/// use novikoff::solver::Newton;
/// use novikoff::{Dataset, EmpiricalRisk};
///
/// let data = Dataset::from_dense(&[-2.0, -1.0, 1.0, 3.0], 1)?.with_labels(&["a", "a", "b", "b"])?;
/// let fit = EmpiricalRisk::new(SquaredHinge, L2(0.1), Newton).tolerance(1e-8).fit(&data)?;
/// assert!(fit.risk().unwrap().relative_gap.unwrap() <= 1e-8);
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EmpiricalRisk<L, P, S> {
    loss: L,
    penalty: P,
    solver: S,
    settings: Risk,
}

/// What cross-validation chose among some penalties.
#[derive(Clone, Debug)]
pub struct TunedRisk<P> {
    /// The penalties, and what each came to.
    pub path: Vec<(P, Tried)>,
    /// The number of the one with the least error; of several, the first.
    pub best: usize,
    /// Learned from all rows with the best.
    pub fit: Fit,
}

/// Most steps of a solver, by default.
const STEPS: usize = 10_000;
/// Rows, or weights, at which a loss, or a penalty, is compared with what it says of itself.
const SAMPLED: usize = 32;

impl<L: Loss, P: Penalty, S: Solver<L, P> + Sync> EmpiricalRisk<L, P, S> {
    /// A problem, and how it is solved.
    pub fn new(loss: L, penalty: P, solver: S) -> Self {
        let criterion = match loss.library_loss() {
            Some(known) => Criterion::Loss(known),
            None => Criterion::Custom(CustomLoss { name: loss.name(), targets: loss.targets() }),
        };
        let shared = Shared { multiclass: Some(Scheme::OneVsRest), ..Shared::default() };
        // The penalty is one of the weights themselves.
        let scale = Scale::None;
        Self { loss, penalty, solver, settings: Risk { shared, scale, ..Risk::new(criterion) } }
    }

    /// The relative duality gap to reach; 1e-4 by default.
    #[must_use]
    pub fn tolerance(mut self, gap: f64) -> Self {
        self.settings.tolerance = gap;
        self
    }

    /// Most steps of the solver; 10,000 by default.
    #[must_use]
    pub fn steps(mut self, most: usize) -> Self {
        self.settings.steps = Some(most);
        self
    }

    /// Whether the score has a constant term, and whether the penalty applies to it; free by default.
    #[must_use]
    pub fn bias(mut self, bias: Bias) -> Self {
        self.settings.bias = bias;
        self
    }

    /// The seed of every random choice; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.shared.seed = seed;
        self
    }

    /// Whether labels are classes or numbers; by default that is inferred, and many different numbers are
    /// refused by a loss for classes.
    #[must_use]
    pub fn task(mut self, task: crate::model::Task) -> Self {
        self.settings.shared.task = Some(task);
        self
    }

    /// Trains on rows in memory.
    pub fn fit(&self, data: &Dataset) -> Result<Fit> {
        self.fit_observed(data, None, &mut Unwatched)
    }

    /// Trains on rows in memory. `validation` must have the labels of `data`; the observer is told of
    /// progress and may stop the training.
    pub fn fit_observed(
        &self,
        data: &Dataset,
        validation: Option<&Dataset>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        data.validate()?;
        if let Some(validation) = validation {
            validation.validate()?;
            refuse_other_columns(data, validation)?;
        }
        let settings = self.settings_for_model()?;
        self.check(self.penalty)?;
        check_task(data, validation, &settings.clone().into())?;
        check_memory(data, &settings.clone().into())?;
        let goal = Goal::new(data, &settings)?;
        let held_out = HeldOut::new(validation, goal.classes.as_ref(), self.loss.library_loss())?;
        let watch = Watch::new(observer);
        let solved = self.solve(self.penalty, data, &goal, &[], &watch)?;
        refuse_overflow(&solved, data, &watch)?;
        self.refuse_contradictions(data, &goal, &solved)?;
        let scores = scores_by_row(&solved.results, goal.outputs, data.len());
        let termination = watch.stopped().then_some(Termination::Interrupted);
        let minimised = Minimised {
            loss: self.loss.name(),
            library_loss: self.library_loss(),
            lambda: self.elastic_net().map_or(self.penalty.strong_convexity(), |penalty| penalty.l2),
            l1: settings.l1,
            solver: solver_name::<S>(),
            why: None,
        };
        let data_hash = data.fingerprint();
        let asked = settings.scale;
        finish(
            Training { minimised, solved, goal, held_out, scores, termination, data_hash, asked },
            data,
            &settings,
            &watch,
        )
    }

    /// Tries penalties by cross-validation, each fit warm-started from the last, and learns from all rows
    /// with the best: the one with the least error or, of numbers, the least mean squared error (of absolute,
    /// Huber's and pinball losses their mean).
    pub fn tune(&self, data: &Dataset, folds: usize, penalties: &[P]) -> Result<TunedRisk<P>>
    where
        S: Clone,
    {
        data.validate()?;
        if penalties.is_empty() {
            return Err(Error::usage("there are no penalties to choose among"));
        }
        penalties.iter().try_for_each(|penalty| self.check(*penalty))?;
        check_task(data, None, &self.settings.clone().into())?;
        let dealt = match self.loss.targets() {
            Targets::Numbers => {
                Folds::deal(Strata::Targets(&data.targets()?), folds, self.settings.shared.seed)?
            }
            Targets::Signs => Folds::deal(Strata::Classes(&data.labels), folds, self.settings.shared.seed)?,
        };
        let by = match (self.loss.targets(), self.loss.library_loss()) {
            (Targets::Signs, _) => Metric::Error,
            (Targets::Numbers, None) => Metric::Mse,
            (Targets::Numbers, known) => Metric::usual(known),
        };
        let mut errors: Vec<Vec<Option<f64>>> = vec![Vec::new(); penalties.len()];
        for fold in 0..folds {
            let (training, held_out) =
                (data.select(&dealt.training(fold)), data.select(&dealt.held_out(fold)));
            let goal = Goal::new(&training, &self.settings)?;
            let mut starts = Vec::new();
            for (errors, penalty) in errors.iter_mut().zip(penalties) {
                let mut unwatched = Unwatched;
                let watch = Watch::new(&mut unwatched);
                let solved = self.solve(*penalty, &training, &goal, &starts, &watch)?;
                let predictions =
                    predictions(solved.weights, (self.loss.library_loss(), None), &goal, &held_out)?;
                errors.push(by.of(&predictions.measure()));
                starts = solved.starts;
            }
        }
        let tried = |(penalty, errors): (&P, Vec<Option<f64>>)| {
            (*penalty, Tried::new(penalty.strong_convexity(), errors))
        };
        let path: Vec<(P, Tried)> = penalties.iter().zip(errors).map(tried).collect();
        let error = |at: &usize| path[*at].1.mean.unwrap_or(f64::INFINITY);
        let best = (0..path.len()).min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(0);
        let fit = Self { penalty: penalties[best], ..self.clone() }.fit(data)?;
        Ok(TunedRisk { path, best, fit })
    }

    fn solve<'w>(
        &self,
        penalty: P,
        data: &Dataset,
        goal: &Goal,
        starts: &[crate::solver::WarmStart],
        watch: &'w Watch<'w>,
    ) -> Result<Solved> {
        let solver = Guarded::new(&self.solver);
        let method = Method { loss: self.loss, penalty, solver: &solver, columns: Columns::Conditioned };
        let steps = self.settings.steps.unwrap_or(STEPS);
        let task = Task { rows: &data.rows, goal, settings: &self.settings, steps, watch };
        let solved = solve::separately(&method, task, starts);
        solver.fault().map_or(Ok(solved), Err)
    }

    /// Refuses parts that cannot work.
    fn check(&self, penalty: P) -> Result<()> {
        self.loss.check()?;
        penalty.check()?;
        self.solver.check()
    }

    /// Refuses a loss and a penalty that are not what they say: gaps computed from them would prove nothing.
    fn refuse_contradictions(&self, data: &Dataset, goal: &Goal, solved: &Solved) -> Result<()> {
        for output in 0..goal.outputs {
            let (weights, targets) = (&solved.weights, goal.targets_of(output));
            let own: Vec<f64> = weights.values.iter().skip(output).step_by(goal.outputs).copied().collect();
            let every = data.len().div_ceil(SAMPLED).max(1);
            let samples: Vec<(f64, f64)> = (0..data.len())
                .step_by(every)
                .map(|i| (targets[i], data.rows.row(i).dot(&own) + weights.bias[output]))
                .collect();
            let found = contradiction(self.loss, &samples)
                .or_else(|| contradiction_of_penalty(self.penalty, own.iter().copied().take(SAMPLED)));
            if let Some(what) = found {
                return Err(Error::usage(what).hint("nothing can be proved with it: see its documentation"));
            }
        }
        Ok(())
    }

    /// Certificates are about the library's losses with the penalties of the elastic net.
    fn library_loss(&self) -> Option<crate::loss::LossName> {
        self.loss.library_loss().filter(|_| self.elastic_net().is_some())
    }

    fn elastic_net(&self) -> Option<ElasticNet> {
        self.penalty.elastic_net()
    }

    fn settings_for_model(&self) -> Result<Risk> {
        check_tolerance(self.settings.tolerance)?;
        let l1 = self.elastic_net().map_or(0.0, |penalty| penalty.l1);
        Ok(Risk { l1, ..self.settings.clone() })
    }
}

/// The solver's type, without its path.
fn solver_name<S>() -> &'static str {
    let path = std::any::type_name::<S>();
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}
