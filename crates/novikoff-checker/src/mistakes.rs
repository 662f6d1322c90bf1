//! Bounds on the mistakes of perceptrons.

use crate::certificate::{Bias, MistakesAtMost, Target};
use crate::number::{Dyadic, Round, Sum};
use crate::rows::Rows;
use crate::weights::{Weights, classes, square_length};

/// `m ≤ B` for every whole number `m` that is at most `B` means `B < mistakes + 1`, for the bound `B` of a
/// theorem.
///
/// A perceptron starts at zero and adds `z = y·x` (for classes: `x` in the block of the true class, `−x` in
/// that of its best rival) when `<v, z> ≤ 0`. After `k` mistakes `‖v‖² ≤ k·R²`, and `<v, u> ≥ kγ − Σ dᵢ` over
/// the mistakes, for a unit vector `u` and `dᵢ = max(0, γ − <u, zᵢ>)`.
/// - Novikoff: without any `d`, `k ≤ (R/γ)²`.
/// - Freund and Schapire: row `i` is met `T` times at most, so `Σ dᵢ ≤ √k·√T·D` with `D² = Σ dᵢ²`, and `√k·γ
///   ≤ R + √T·D`.
/// - A feature `Δ` of each row's own: let `kᵢ` be the mistakes on row `i`. Then `‖v‖² ≥ <v, u>² + Δ²Σkᵢ²` and
///   `‖v‖² ≤ k(R² + Δ²)`. For classes the own features take `Δ²Σ(kᵢ² + Σ_r kᵢᵣ²) ≥ Δ²Σ(kᵢ² + kᵢ)` on the left
///   and `2kΔ²` on the right: the same. By Cauchy and Schwarz `kγ ≤ <v, u> + Σ kᵢdᵢ ≤ √(<v, u>² + Δ²Σkᵢ²)·√(1
///   + D²/Δ²)`, so `k ≤ (R² + Δ²)(1 + D²/Δ²)/γ²`.
///
/// With weights `w = ‖w‖·u`, `N = ‖w‖²`, and `S = N·D²`, what is checked is, in this order, `R² < γ²(M + 1)`;
/// `(R + √(T·S/N))² < γ²(M + 1)`; and `(R² + Δ²)(Δ²N + S) < γ²Δ²N(M + 1)`. Whether a row has `d = 0` is
/// decided exactly; `S` and roots are rounded up.
pub fn check(claim: &MistakesAtMost, rows: &Rows) -> Result<String, String> {
    let proof = &claim.proof;
    let margin = Dyadic::of(proof.margin);
    if !margin.is_positive() {
        return Err("the margin is not positive".into());
    }
    if proof.bias == Bias::Free {
        return Err("to a perceptron a bias is a coordinate of the rows: penalised, or none".into());
    }
    if proof.own_feature.is_some_and(|own| own <= 0.0) {
        return Err("the feature of each row's own is not positive".into());
    }
    if proof.passes == Some(0) {
        return Err("no pass at all is nothing to speak of".into());
    }
    if proof.own_feature.is_some() && proof.passes.is_some() {
        return Err("with a feature of each row's own, the bound is for any number of passes".into());
    }
    if (0..rows.len()).any(|row| rows.weight(row) != 0.0 && rows.weight(row) != 1.0) {
        return Err("the theorem is about rows of weight 0 or 1".into());
    }
    let length = square_length(&proof.weights, proof.bias, rows)?;
    let met = Met::new(claim, rows, &margin, &length)?;
    let next = Dyadic::whole(u128::from(claim.mistakes) + 1);
    let limit = margin.square() * &next;
    let (left, right) = match (proof.own_feature.map(Dyadic::of), proof.passes) {
        (Some(own), _) => {
            let own = own.square();
            ((&met.radius + &own) * (&own * &length + &met.shortfall), limit * own * length)
        }
        (None, None) if !met.shortfall.is_zero() => {
            return Err("a row is nearer than the margin, and may be mistaken in every pass".into());
        }
        _ if met.shortfall.is_zero() => (met.radius, limit),
        (None, passes) => {
            let shortfall = (met.shortfall * Dyadic::whole(passes.unwrap_or(1))).divided(&length, Round::Up);
            ((met.radius.root(Round::Up) + shortfall.root(Round::Up)).square(), limit)
        }
    };
    let bound = |to: Round| left.divided(&right, to) * &next;
    let found = bound(Round::Up).to_f64(Round::Up);
    if left < right {
        Ok(format!("the bound is {found:e}, with a margin of {:e}", proof.margin))
    } else {
        Err(format!("all that follows is a bound of {found:e}"))
    }
}

/// What the rows that count come to.
struct Met {
    /// `R²`.
    radius: Dyadic,
    /// `S = Σ max(0, γ‖w‖ − ‖w‖·m)²`, rounded up; zero if and only if no row falls short.
    shortfall: Dyadic,
}

impl Met {
    /// With `a` the lead `<w, z>` of a row and `X = ‖x‖²` (1 unless rows are normalised), a row does not fall
    /// short if `a·|a| ≥ γ²·N·X`. Otherwise its part is `γ√N − a/√X`, the root rounded up and the quotient
    /// down.
    fn new(claim: &MistakesAtMost, rows: &Rows, margin: &Dyadic, length: &Dyadic) -> Result<Self, String> {
        let proof = &claim.proof;
        let leads = Leads::new(&proof.target, rows)?;
        if proof.weights.len() != leads.vectors {
            return Err(format!("{} weight vectors where {} are needed", proof.weights.len(), leads.vectors));
        }
        let weights = Weights::new(&proof.weights, proof.bias, rows)?;
        let needed_square = margin.square() * length;
        let needed = margin * length.root(Round::Up);
        let (mut radius, mut shortfall) = (Dyadic::default(), Sum::default());
        let (mut sums, mut counted) = (Vec::new(), false);
        for row in 0..rows.len() {
            let Some(own) =
                rows.label(row).filter(|_| rows.weight(row) > 0.0).and_then(|label| leads.by_label[label])
            else {
                continue;
            };
            counted = true;
            let lead = leads.of(own, weights.scores(rows, row, &mut sums));
            let square = square_of_row(rows, row, proof.bias);
            let divided = proof.normalised && !square.is_zero();
            let here = if divided { Dyadic::whole(1) } else { square.clone() };
            radius = radius.max(here);
            let divisor = if divided { square } else { Dyadic::whole(1) };
            if lead.signed_square() < &needed_square * &divisor {
                let root = divisor.root(if lead.is_negative() { Round::Down } else { Round::Up });
                shortfall.add(&(&needed - lead.divided(&root, Round::Down)).square());
            }
        }
        if !counted {
            return Err("no row counts".into());
        }
        let radius = if leads.vectors > 1 { radius.shifted(1) } else { radius };
        Ok(Self { radius, shortfall: shortfall.value() })
    }
}

/// `‖x‖²` with the bias's coordinate.
fn square_of_row(rows: &Rows, row: usize, bias: Bias) -> Dyadic {
    let mut sum = Sum::default();
    rows.entries(row).for_each(|(_, x)| sum.add_stored(x, x));
    if bias == Bias::Penalised {
        sum.add_stored(1.0, 1.0);
    }
    sum.value()
}

/// How scores become the lead of the true class.
struct Leads {
    vectors: usize,
    /// Of two sides: 0 is the positive one.
    by_label: Vec<Option<usize>>,
}

impl Leads {
    fn new(target: &Target, rows: &Rows) -> Result<Self, String> {
        match target {
            Target::Sides(sides) => {
                let of = |side: i8| (side != 0).then_some(usize::from(side < 0));
                Ok(Self { vectors: 1, by_label: sides.by_label(rows)?.into_iter().map(of).collect() })
            }
            Target::Classes(names) => Ok(Self { vectors: names.len(), by_label: classes(names, rows)? }),
            Target::Numbers => Err("a perceptron does not predict numbers".into()),
        }
    }

    fn of(&self, own: usize, mut scores: Vec<Dyadic>) -> Dyadic {
        let score = scores.swap_remove(if self.vectors == 1 { 0 } else { own });
        match scores.into_iter().max() {
            Some(rival) => score - rival,
            None if own == 0 => score,
            None => -score,
        }
    }
}
