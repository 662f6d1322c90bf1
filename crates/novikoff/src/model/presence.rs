//! Which features a row has, whatever their counts: what models of presence score.

use crate::data::Row;

/// The entries of a row above 0, each with the value 1. Their indices are written into `present`.
pub(crate) fn presence<'p>(row: Row<'_>, present: &'p mut Vec<u32>) -> Row<'p> {
    present.clear();
    row.for_each_stored(|j, x| {
        if x > 0.0 {
            present.push(j);
        }
    });
    Row::Uniform(present, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_above_zero_are_present() {
        let mut present = Vec::new();
        let row = presence(Row::Dense64(&[0.0, 2.5, -1.0, 7.0]), &mut present);
        assert_eq!((row.indices(), row.norm_sq()), (Some(&[1, 3][..]), 2.0));
    }
}
