//! The path of a gradient descent, over the contours of the objective.

use super::training::{Evidence, classes, leaves_a_path};
use super::{Section, line};
use crate::picture::PictureName;
use crate::render::{count, number};
use novikoff::Result;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Scale};
use novikoff::loss::LossName;
use novikoff::model::Task;
use novikoff::multiclass::Scheme;
use novikoff::penalty::Bias;
use novikoff::plot::{self, Descent};
use novikoff::risk::Point;
use novikoff::train::{ClassWeight, Details, Learner, Risk, RiskFit};

/// Contours are of as many rows at most: the objective is evaluated more than a thousand times.
const ROWS: usize = 20_000;

/// The plane that is drawn: a place, and two directions at right angles.
struct Plane {
    origin: Vec<f64>,
    directions: [Vec<f64>; 2],
    axes: [String; 2],
    how: String,
}

/// The objective over the plane: scores are linear in both coordinates.
struct Ground {
    /// Target, share of the mean, and score: at the origin, and by how much it rises along each direction.
    rows: Vec<(f64, f64, [f64; 3])>,
    loss: LossName,
    lambda: f64,
    /// What the penalty sees of the origin and the directions.
    penalised: [Vec<f64>; 3],
}

impl Ground {
    fn at(&self, x: f64, y: f64) -> f64 {
        let losses: f64 = self
            .rows
            .iter()
            .map(|(target, share, [s, u, v])| share * self.loss.value(*target, s + x * u + y * v))
            .sum();
        let [w, u, v] = &self.penalised;
        let squares: f64 = (0..w.len()).map(|j| (w[j] + x * u[j] + y * v[j]).powi(2)).sum();
        losses + 0.5 * self.lambda * squares
    }
}

/// The picture, for solvers that leave a path and problems small enough to have kept it.
pub fn section(evidence: &Evidence<'_>) -> Result<Option<Section>> {
    let fit = evidence.fit;
    let (Details::Risk(risk), Learner::Risk(own), Some(data)) =
        (&fit.details, &fit.learner, &evidence.rows.data)
    else {
        return Ok(None);
    };
    // With weighted classes, or all classes jointly, the objective is another than the one below.
    let plain = own.shared.class_weight == ClassWeight::Equal && fit.scheme != Scheme::Joint;
    let (Some(loss), true) = (risk.library_loss, leaves_a_path(own.solver) && plain) else {
        return Ok(None);
    };
    let has_bias = own.bias != Bias::None;
    let path: Vec<Vec<f64>> = first_path(risk, has_bias);
    if path.len() < 2 {
        return Ok(None);
    }
    let plane = plane(&path, data, has_bias, own.shared.seed);
    let targets = targets(evidence, data)?;
    let ground = ground(own, (loss, risk.lambda), data, &targets, &plane);
    let along = |point: &[f64], direction: &[f64]| {
        point.iter().zip(direction).zip(&plane.origin).map(|((p, d), o)| (p - o) * d).sum()
    };
    let places: Vec<(f64, f64)> =
        path.iter().map(|p| (along(p, &plane.directions[0]), along(p, &plane.directions[1]))).collect();
    let objective = |x: f64, y: f64| ground.at(x, y);
    let (first, last) = (risk.trace.iter().find(|(o, _)| *o == 0), risk.trace.iter().rfind(|(o, _)| *o == 0));
    let told = |step: Option<&(usize, novikoff::solver::Step)>| {
        step.map_or(String::new(), |(_, step)| number(step.objective))
    };
    let description =
        format!("{} steps, from an objective of {} to {}.", path.len() - 1, told(first), told(last));
    let title = "The descent";
    let axes = [&plane.axes[0][..], &plane.axes[1]];
    let picture =
        Descent { title, description: &description, axes, path: &places, objective: &objective }.draw();
    let sampled = if ground.rows.len() < data.len() {
        format!(" Contours are of {} rows, picked by the seed.", count(ground.rows.len() as u64))
    } else {
        String::new()
    };
    let which =
        if fit.scheme == Scheme::OneVsRest { " Of all weight vectors the first is drawn." } else { "" };
    let text = format!(
        "Where the {} solver went, over lines of equal objective. {}{which}{sampled} {description}",
        risk.solver, plane.how
    );
    let mut table = vec![line(["step", "objective", "gradient"])];
    let steps: Vec<_> = risk.trace.iter().filter(|(output, _)| *output == 0).collect();
    let stride = steps.len().div_ceil(100);
    for (_, step) in steps.iter().step_by(stride) {
        table.push(vec![
            step.step.to_string(),
            number(step.objective),
            step.gradient.map_or(String::new(), number),
        ]);
    }
    Ok(Some(Section { name: PictureName::Descent, heading: title.into(), text, picture, table }))
}

/// The points of the first weight vector's walk, the bias last.
fn first_path(risk: &RiskFit, has_bias: bool) -> Vec<Vec<f64>> {
    let whole = |point: &Point| point.weights.iter().copied().chain(has_bias.then_some(point.bias)).collect();
    risk.trace
        .iter()
        .filter(|(output, _)| *output == 0)
        .filter_map(|(_, step)| step.point.as_ref())
        .map(whole)
        .collect()
}

fn plane(path: &[Vec<f64>], data: &Dataset, has_bias: bool, seed: u64) -> Plane {
    let (start, end) = (&path[0], &path[path.len() - 1]);
    if start.len() == 2 {
        let name = |j: usize| {
            if has_bias && j == 1 {
                "bias".to_owned()
            } else {
                format!("weight of {}", data.schema.name(j as u32))
            }
        };
        let how = "Both weights are drawn as they are.".to_owned();
        return Plane {
            origin: vec![0.0; 2],
            directions: [vec![1.0, 0.0], vec![0.0, 1.0]],
            axes: [name(0), name(1)],
            how,
        };
    }
    let mut forward: Vec<f64> = end.iter().zip(start).map(|(e, s)| e - s).collect();
    let length = forward.iter().map(|d| d * d).sum::<f64>().sqrt();
    forward.iter_mut().for_each(|d| *d /= if length > 0.0 { length } else { 1.0 });
    let mut rows = Builder::new(Layout::Dense { columns: start.len() });
    let columns: Vec<u32> = (0..start.len() as u32).collect();
    path.iter().for_each(|point| rows.push(&columns, point));
    let aside = plot::across(&rows.finish(), &forward, seed);
    let how = format!(
        "Of {} weights a plane is drawn: to the right from where it began to where it ended, upwards the \
         direction at right angles in which the path strays most.",
        start.len()
    );
    Plane {
        origin: start.clone(),
        directions: [forward, aside],
        axes: ["from start to end".into(), "aside".into()],
        how,
    }
}

/// Numbers, or +1 for the class of the first weight vector and −1 for the others.
fn targets(evidence: &Evidence<'_>, data: &Dataset) -> Result<Vec<f64>> {
    let model = &evidence.fit.model;
    if model.task() == Task::Regression {
        return data.targets();
    }
    let positive = if evidence.fit.scheme == Scheme::Two { 1 } else { 0 };
    Ok(classes(model, data)
        .into_iter()
        .map(|class| if class == Some(positive) { 1.0 } else { -1.0 })
        .collect())
}

fn ground(
    own: &Risk,
    (loss, lambda): (LossName, f64),
    data: &Dataset,
    targets: &[f64],
    plane: &Plane,
) -> Ground {
    let picked = plot::sample(data.len(), ROWS, own.shared.seed);
    let factors = if own.scale == Scale::None { Vec::new() } else { data.factors(own.scale) };
    let chosen = data.rows.select(picked.iter().copied());
    let rows = if factors.is_empty() { chosen } else { chosen.scaled(&factors) };
    let total: f64 = picked.iter().map(|&i| data.weight(i)).sum();
    let columns = data.rows.columns();
    let along = |i: usize, w: &[f64]| rows.row(i).dot(&w[..columns]) + w.get(columns).copied().unwrap_or(0.0);
    let [forward, aside] = &plane.directions;
    let each = |(at, &i): (usize, &usize)| {
        let scores = [along(at, &plane.origin), along(at, forward), along(at, aside)];
        (targets[i], data.weight(i) / total, scores)
    };
    let rows_of = picked.iter().enumerate().map(each).collect();
    // A free bias is not penalised.
    let seen = if own.bias == Bias::Penalised { columns + 1 } else { columns };
    let penalised = [&plane.origin, forward, aside].map(|w| w[..seen.min(w.len())].to_vec());
    Ground { rows: rows_of, loss, lambda, penalised }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::with_fit;
    use novikoff::LogisticRegression;
    use novikoff::train::SolverName;

    #[test]
    fn contours_are_of_what_the_solver_descends() {
        for (scale, bias) in
            [(Scale::None, Bias::Free), (Scale::UnitVariance, Bias::Penalised), (Scale::MaxAbs, Bias::None)]
        {
            let logistic = LogisticRegression::new().solver(SolverName::Gradient).steps(25);
            with_fit(&logistic.scale(scale).bias(bias).trace().into(), |evidence| {
                let (risk, data) = (evidence.fit.risk().unwrap(), evidence.rows.data.as_ref().unwrap());
                let Learner::Risk(own) = &evidence.fit.learner else { panic!("a batch learner") };
                let path = first_path(risk, bias != Bias::None);
                let plane = plane(&path, data, bias != Bias::None, 0);
                let ground = ground(
                    own,
                    (LossName::Logistic, risk.lambda),
                    data,
                    &targets(evidence, data).unwrap(),
                    &plane,
                );
                let length: f64 = path[path.len() - 1]
                    .iter()
                    .zip(&path[0])
                    .map(|(e, s)| (e - s).powi(2))
                    .sum::<f64>()
                    .sqrt();
                let (start, end) = (&risk.trace[0].1, &risk.trace[risk.trace.len() - 1].1);
                for (x, step) in [(0.0, start), (length, end)] {
                    assert!(
                        (ground.at(x, 0.0) - step.objective).abs() < 1e-9,
                        "{} {}",
                        ground.at(x, 0.0),
                        step.objective
                    );
                }
                assert!(end.objective < start.objective);
                assert!(section(evidence).unwrap().is_some());
            });
        }
    }
}
