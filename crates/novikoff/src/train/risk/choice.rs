//! Which solver minimises a named loss, with which penalty, and why.

use super::super::learner::{Criterion, Risk, SolverName, Strength};
use super::goal::Goal;
use super::solve::Columns;
use crate::error::{Error, Result};
use crate::loss::{
    Absolute, Exponential, Hinge, HingeAtZero, Huber, Logistic, Loss, LossName, Quantile, Squared,
    SquaredHinge,
};
use crate::multiclass::Scheme;
use crate::penalty::{ElasticNet, L2};
use crate::solver::{
    AugmentedLagrangian, Boosting, CoordinateDescent, DualCoordinateDescent, LeastSquares, Newton, Simplex,
    Solver,
};

/// A solver for a loss and a penalty.
pub(super) type BoxedSolver<L, P> = Box<dyn Solver<L, P> + Sync>;

/// A loss with a name, and the solvers that work for it.
pub(super) trait Named: Loss {
    fn with_l2(solver: SolverName, settings: &Risk) -> Option<BoxedSolver<Self, L2>>;

    fn with_l1(solver: SolverName) -> Option<BoxedSolver<Self, ElasticNet>>;
}

/// [`Named`] for a loss: the solvers for ℓ2 and those for ℓ1, by name. Gradient solvers work for all.
macro_rules! solvers_of {
    ($loss:ident, l2: [$($two:ident => $make:expr),*], l1: [$($one:ident => $one_type:ident),*]) => {
        impl Named for $loss {
            fn with_l2(solver: SolverName, settings: &Risk) -> Option<BoxedSolver<Self, L2>> {
                match solver {
                    $(SolverName::$two => Some(Box::new($make)),)*
                    SolverName::Gradient => Some(Box::new(settings.gradient())),
                    SolverName::Stochastic => Some(Box::new(settings.stochastic())),
                    _ => None,
                }
            }

            fn with_l1(solver: SolverName) -> Option<BoxedSolver<Self, ElasticNet>> {
                match solver {
                    $(SolverName::$one => Some(Box::new($one_type)),)*
                    _ => None,
                }
            }
        }
    };
}

solvers_of!(Hinge, l2: [Augmented => AugmentedLagrangian, DualCd => DualCoordinateDescent], l1: []);
solvers_of!(HingeAtZero, l2: [Augmented => AugmentedLagrangian, DualCd => DualCoordinateDescent], l1: []);
solvers_of!(
    Absolute,
    l2: [Augmented => AugmentedLagrangian, DualCd => DualCoordinateDescent, Simplex => Simplex],
    l1: []
);
solvers_of!(
    Quantile,
    l2: [Augmented => AugmentedLagrangian, DualCd => DualCoordinateDescent, Simplex => Simplex],
    l1: []
);
solvers_of!(
    Huber,
    l2: [Newton => Newton, Augmented => AugmentedLagrangian, DualCd => DualCoordinateDescent],
    l1: [Coordinate => CoordinateDescent]
);
solvers_of!(
    SquaredHinge,
    l2: [Newton => Newton, Augmented => AugmentedLagrangian, DualCd => DualCoordinateDescent],
    l1: [Coordinate => CoordinateDescent]
);
solvers_of!(
    Logistic,
    l2: [Newton => Newton, Augmented => AugmentedLagrangian, DualCd => DualCoordinateDescent],
    l1: [Coordinate => CoordinateDescent]
);
solvers_of!(
    Squared,
    l2: [
        LeastSquares => LeastSquares,
        Newton => Newton,
        Augmented => AugmentedLagrangian,
        DualCd => DualCoordinateDescent
    ],
    l1: [Coordinate => CoordinateDescent]
);
solvers_of!(Exponential, l2: [Newton => Newton, Boosting => Boosting], l1: [Coordinate => CoordinateDescent]);

/// A solver, and why if it was not asked for.
pub(super) struct Choice {
    pub(super) solver: SolverName,
    pub(super) why: Option<String>,
}

/// More columns than this, and the simplex method takes longer for a pivot than for a pass over the rows.
const FEW_AT_A_VERTEX: usize = 500;

/// More columns than this, and Newton's method has no factor to be preconditioned by.
const FEW_COLUMNS: usize = 2048;

/// The factor of `½‖w‖²`: as asked for, or the learner's default.
pub(super) fn lambda(settings: &Risk, goal: &Goal, columns: usize) -> Result<f64> {
    let total = goal.total;
    not_negative("`l1`", settings.l1)?;
    check_tolerance(settings.tolerance)?;
    match settings.solver {
        SolverName::Gradient => settings.gradient().check_steps()?,
        SolverName::Stochastic => settings.stochastic().check_steps()?,
        _ => {}
    }
    match settings.strength {
        Some(Strength::Lambda(lambda)) => not_negative("`lambda`", lambda),
        Some(Strength::Cost(cost)) if cost.is_finite() && cost > 0.0 => Ok(1.0 / (cost * total)),
        Some(Strength::Cost(cost)) => {
            Err(Error::usage(format!("`cost` must be a positive number, not {cost}")))
        }
        None if settings.l1 > 0.0 => Ok(0.0),
        None => Ok(default_lambda(settings.criterion, goal, columns)),
    }
}

/// No dual is below zero, so a relative gap of 1 is that of weights of which nothing is known.
pub(super) fn check_tolerance(tolerance: f64) -> Result<()> {
    match tolerance {
        x if x > 0.0 && x < 1.0 => Ok(()),
        x if x.is_finite() && x >= 1.0 => {
            let error = Error::usage(format!("`tolerance` must be below 1, not {tolerance}"));
            Err(error.hint("it is relative: 1e-4 is a ten-thousandth of the objective"))
        }
        _ => Err(Error::usage(format!("`tolerance` must be a positive number, not {tolerance}"))),
    }
}

fn not_negative(what: &str, x: f64) -> Result<f64> {
    match x.is_finite() && x >= 0.0 {
        true => Ok(x),
        false => Err(Error::usage(format!("{what} must be a number from 0, not {x}"))),
    }
}

fn default_lambda(criterion: Criterion, goal: &Goal, columns: usize) -> f64 {
    match criterion {
        Criterion::Boosting | Criterion::Loss(LossName::Squared | LossName::Huber(_)) => 0.0,
        // A linear program where its vertices are small enough to be factorised.
        Criterion::Loss(loss) if is_linear_program(loss) && columns <= FEW_AT_A_VERTEX => 0.0,
        // Else as little as the solver can do with: next to nothing beside losses as large as the targets.
        Criterion::Loss(loss) if is_linear_program(loss) => {
            let mean = goal.targets.iter().map(|y| y.abs()).sum::<f64>() / goal.targets.len() as f64;
            1e-6 / mean.clamp(1e-100, 1e100)
        }
        _ => 1.0 / goal.total,
    }
}

/// Whether the minimum of the loss alone is a linear program.
fn is_linear_program(loss: LossName) -> bool {
    matches!(loss, LossName::Absolute | LossName::Quantile(_))
}

/// The solver for this loss and these rows.
pub(super) fn choose<L: Named>(
    loss: L,
    goal: &Goal,
    columns: usize,
    lambda: f64,
    settings: &Risk,
) -> Result<Choice> {
    if goal.scheme == Scheme::Joint {
        return choose_jointly(settings);
    }
    let l1 = settings.l1 > 0.0;
    let works = |solver: &SolverName| match l1 {
        true => L::with_l1(*solver).is_some(),
        false => L::with_l2(*solver, settings).is_some(),
    };
    let offered: Vec<SolverName> = SolverName::ALL.into_iter().filter(works).collect();
    if offered.is_empty() {
        let what = format!("no solver here minimises the loss {} with an ℓ1 penalty", loss.name());
        return Err(Error::usage(what)
            .hint("leave out `l1`, or use `loss = squared-hinge`, logistic, squared or huber"));
    }
    match (settings.solver, settings.criterion) {
        (SolverName::Auto, Criterion::Boosting) => as_asked(SolverName::Boosting, &offered, lambda, loss, l1),
        (SolverName::Auto, _) => by_shape(&offered, columns, lambda, loss),
        (asked, _) => as_asked(asked, &offered, lambda, loss, l1),
    }
}

/// Whether a direct method minimises this loss, and nothing besides.
pub(in super::super) fn is_direct(loss: LossName, columns: usize, settings: &Risk) -> bool {
    let (direct, is_free) = match loss {
        LossName::Squared => (SolverName::LeastSquares, true),
        loss if is_linear_program(loss) => (SolverName::Simplex, columns <= FEW_AT_A_VERTEX),
        _ => return false,
    };
    let has_penalty = match settings.strength {
        None => !is_free,
        Some(Strength::Lambda(lambda)) => lambda != 0.0,
        Some(Strength::Cost(_)) => true,
    };
    !has_penalty && settings.l1 == 0.0 && [SolverName::Auto, direct].contains(&settings.solver)
}

/// The solver that [`choose`] will find for one weight vector, as far as that can be told without the rows;
/// none where it will say what is wrong.
pub(super) fn expected<L: Named>(loss: L, columns: usize, settings: &Risk) -> Option<SolverName> {
    if settings.solver != SolverName::Auto {
        return Some(settings.solver);
    }
    if settings.criterion == Criterion::Boosting {
        return Some(SolverName::Boosting);
    }
    let l1 = settings.l1 > 0.0;
    let works = |solver: &SolverName| match l1 {
        true => L::with_l1(*solver).is_some(),
        false => L::with_l2(*solver, settings).is_some(),
    };
    let offered: Vec<SolverName> = SolverName::ALL.into_iter().filter(works).collect();
    // All that matters here is whether it is zero.
    let lambda = match (settings.strength, settings.criterion) {
        (Some(Strength::Lambda(lambda)), _) => lambda,
        (None, _) if l1 => 0.0,
        (None, Criterion::Loss(LossName::Squared | LossName::Huber(_))) => 0.0,
        (None, Criterion::Loss(loss)) if is_linear_program(loss) && columns <= FEW_AT_A_VERTEX => 0.0,
        _ => 1.0,
    };
    by_shape(&offered, columns, lambda, loss).ok().map(|choice| choice.solver)
}

/// Whether [`choose`] finds a solver for this loss where λ is 0.
pub(super) fn works_without_penalty<L: Named>(loss: L, columns: usize, settings: &Risk) -> bool {
    let l1 = settings.l1 > 0.0;
    if loss.library_loss().is_some_and(is_linear_program) && columns > FEW_AT_A_VERTEX {
        return false;
    }
    let works = |solver: &SolverName| match l1 {
        true => L::with_l1(*solver).is_some(),
        false => L::with_l2(*solver, settings).is_some(),
    };
    let is_chosen = |solver: &SolverName| settings.solver == SolverName::Auto || settings.solver == *solver;
    SolverName::ALL.iter().any(|solver| works(solver) && suits(*solver, 0.0) && is_chosen(solver))
}

/// Whether a solver can work with this strength of the ℓ2 penalty.
fn suits(solver: SolverName, lambda: f64) -> bool {
    match solver {
        SolverName::DualCd | SolverName::Augmented => lambda > 0.0,
        SolverName::Simplex => lambda == 0.0,
        _ => true,
    }
}

/// The solver that was asked for, if it works.
fn as_asked<L: Loss>(
    solver: SolverName,
    offered: &[SolverName],
    lambda: f64,
    loss: L,
    l1: bool,
) -> Result<Choice> {
    if !offered.contains(&solver) {
        let penalty = if l1 { " and an ℓ1 penalty" } else { "" };
        let what =
            format!("the solver {} does not work for the loss {}{penalty}", solver.name(), loss.name());
        let names: Vec<&str> = offered.iter().map(|solver| solver.name()).collect();
        return Err(Error::usage(what).hint(format!("solvers that do: {}", names.join(", "))));
    }
    match suits(solver, lambda) {
        true => Ok(Choice { solver, why: None }),
        false if solver == SolverName::Simplex => {
            let what = "the solver simplex minimises the loss alone, without a penalty";
            Err(Error::usage(what).hint("give `penalty = none`, or leave out `solver`"))
        }
        false => {
            let what = format!("the solver {} needs a penalty: λ > 0", solver.name());
            Err(Error::usage(what).hint("give `lambda` or `cost`"))
        }
    }
}

/// The solver that suits the number of columns.
fn by_shape<L: Loss>(offered: &[SolverName], columns: usize, lambda: f64, loss: L) -> Result<Choice> {
    use SolverName::{Augmented, Coordinate, DualCd, LeastSquares, Newton, Simplex};
    let order: &[SolverName] = match columns <= FEW_COLUMNS || lambda == 0.0 {
        true => &[Coordinate, LeastSquares, Newton, Augmented, Simplex],
        false => &[Coordinate, DualCd, LeastSquares, Newton],
    };
    let Some(&solver) = order.iter().find(|solver| offered.contains(solver) && suits(**solver, lambda))
    else {
        let what = format!("the loss {} needs a penalty: λ > 0", loss.name());
        return Err(Error::usage(what)
            .hint("give `lambda` or `cost`; for separable rows there is `learner = max-margin`"));
    };
    let allowing =
        if columns == 1 { "1 column allows".to_owned() } else { format!("{columns} columns allow") };
    let why = match solver {
        Coordinate => "an ℓ1 penalty leaves few weights to go through".to_owned(),
        LeastSquares => "the squared loss has a closed form".to_owned(),
        Simplex => format!("without a penalty the {} loss is a linear program", loss.name()),
        DualCd => format!("{columns} columns are too many for second-order steps"),
        Augmented => format!("the loss has a kink, and {allowing} second-order steps"),
        _ => format!("the loss is smooth, and {allowing} second-order steps"),
    };
    Ok(Choice { solver, why: Some(why) })
}

/// Classes are learned jointly by Newton's method alone.
fn choose_jointly(settings: &Risk) -> Result<Choice> {
    match settings.solver {
        SolverName::Auto => {
            Ok(Choice { solver: SolverName::Newton, why: Some("all classes at once".to_owned()) })
        }
        SolverName::Newton => Ok(Choice { solver: SolverName::Newton, why: None }),
        other => {
            let what = format!("the solver {} does not learn classes jointly", other.name());
            Err(Error::usage(what).hint("use `solver = newton`, or `multiclass = one-vs-rest`"))
        }
    }
}

/// More steps than solvers usually need.
pub(super) fn most_steps(solver: SolverName) -> usize {
    match solver {
        SolverName::DualCd | SolverName::Gradient => 10_000,
        SolverName::Simplex => 100_000,
        _ => 1000,
    }
}

/// Which columns a solver works on: steps of some depend on how columns are shifted.
pub(super) fn columns(solver: SolverName) -> Columns {
    match solver {
        SolverName::LeastSquares | SolverName::Gradient | SolverName::Stochastic | SolverName::Boosting => {
            Columns::AsGiven
        }
        _ => Columns::Conditioned,
    }
}
