//! Claims about a few rows with numbers from the whole range of doubles: the fast checker never accepts what
//! the exact one refuses.
#![no_main]

#[path = "../../crates/novikoff/tests/suite/differential.rs"]
mod differential;

use arbitrary::{Result, Unstructured};
use differential::{Case, LOSSES};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(case) = case(&mut Unstructured::new(bytes)) else { return Corpus::Reject };
    if let Some(found) = case.disagreement() {
        panic!("the exact checker refuses what the fast one accepts: {found}");
    }
    Corpus::Keep
});

/// Small integers often, any double at times, and the powers of ten in between.
fn number(from: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match from.int_in_range(0..=7)? {
        0..=3 => f64::from(from.int_in_range(-4..=4)?),
        4 => f64::from(from.arbitrary::<i16>()?) / 1024.0,
        5 => 10f64.powi(from.int_in_range(-320..=308)?),
        6 => -10f64.powi(from.int_in_range(-320..=308)?),
        _ => Some(f64::from_bits(from.arbitrary()?)).filter(|x| x.is_finite()).unwrap_or(f64::MAX),
    })
}

/// One of the usual values mostly, some number that is not negative at times.
fn often(from: &mut Unstructured<'_>, usual: &[f64]) -> Result<f64> {
    if from.ratio(1, 4)? { Ok(number(from)?.abs()) } else { from.choose(usual).copied() }
}

fn case(from: &mut Unstructured<'_>) -> Result<Case> {
    let count = from.int_in_range(1..=5)?;
    let row = |from: &mut Unstructured<'_>| {
        let (label, values) = (from.arbitrary()?, [number(from)?, number(from)?]);
        Ok((label, values, often(from, &[1.0, 2.0, 0.0])?))
    };
    Ok(Case {
        rows: (0..count).map(|_| row(from)).collect::<Result<_>>()?,
        weights: [number(from)?, number(from)?, number(from)?],
        duals: (0..count).map(|_| number(from)).collect::<Result<_>>()?,
        loss: from.choose(&LOSSES)?,
        lambda: often(from, &[0.0, 1.0, 0.01])?,
        l1: often(from, &[0.0, 0.1])?,
        bias: from.choose(&["free", "penalised", "none"])?,
        scale: *from.choose(&[None, Some("max-abs"), Some("unit-variance")])?,
        class_weights: [often(from, &[1.0])?, often(from, &[1.0])?],
        within: Some(often(from, &[1.0, 100.0])?),
        passes: from.arbitrary::<Option<u8>>()?.map(u64::from),
        own: if from.arbitrary()? { Some(often(from, &[1.0, 0.1])?) } else { None },
        normalised: from.arbitrary()?,
        margin: often(from, &[1.0, 0.1])?,
    })
}
