//! The best classes of several rows at once, kept up while scores change.
//!
//! A perceptron's mistake changes the scores of two classes. To look at all the others again, for every
//! mistake and every row, would make votes of a thousand classes infeasible. The classes are the leaves of a
//! binary tree instead, whose nodes know the best class below them: a change is passed on to the root, or as
//! far as it changes anything, and all rows climb together.

/// Scores of all classes for some rows, with the best class of each row: the last of several.
#[derive(Debug)]
pub(crate) struct Leaders {
    classes: usize,
    rows: usize,
    /// The number of leaves, a power of two.
    leaves: usize,
    /// The best scores of all nodes: node 1 is the root, 2n and 2n + 1 are below n, and the leaves come last.
    /// Of every node, all rows are side by side.
    scores: Vec<f64>,
    /// The classes of these scores.
    classes_of: Vec<u32>,
}

impl Leaders {
    /// Scores of zero.
    pub(crate) fn new(classes: usize, rows: usize) -> Self {
        let leaves = classes.next_power_of_two().max(2);
        let of_leaf = |node: usize| node.saturating_sub(leaves) as u32;
        let classes_of = (0..2 * leaves).flat_map(|node| std::iter::repeat_n(of_leaf(node), rows)).collect();
        let mut leaders = Self { classes, rows, leaves, scores: vec![0.0; 2 * leaves * rows], classes_of };
        for node in (1..leaves).rev() {
            leaders.decide(node);
        }
        leaders
    }

    /// Adds `factor·values` to the scores of a class, a value for each row.
    pub(crate) fn add(&mut self, class: usize, factor: f64, values: &[f64]) {
        let leaf = self.leaves + class;
        let own = &mut self.scores[leaf * self.rows..][..self.rows];
        own.iter_mut().zip(values).for_each(|(score, value)| *score += factor * value);
        let mut node = leaf / 2;
        while node > 0 && self.decide(node) {
            node /= 2;
        }
    }

    /// The best class of each row.
    pub(crate) fn best(&self) -> &[u32] {
        &self.classes_of[self.rows..2 * self.rows]
    }

    /// Decides between the two nodes below this one. Returns whether that changed anything.
    fn decide(&mut self, node: usize) -> bool {
        let rows = self.rows;
        let has_right = self.has_classes(2 * node + 1);
        let (above, below) = self.scores.split_at_mut(2 * node * rows);
        let (left, right) = below[..2 * rows].split_at(rows);
        let (classes_above, classes_below) = self.classes_of.split_at_mut(2 * node * rows);
        let (left_classes, right_classes) = classes_below[..2 * rows].split_at(rows);
        let own = above[node * rows..].iter_mut().zip(&mut classes_above[node * rows..]);
        let below = left.iter().zip(left_classes).zip(right.iter().zip(right_classes));
        let mut changed = false;
        for ((score, class), ((left, left_class), (right, right_class))) in own.zip(below) {
            let is_right = has_right && right >= left;
            let best = if is_right { *right } else { *left };
            let best_class = if is_right { *right_class } else { *left_class };
            changed |= *score != best || *class != best_class;
            (*score, *class) = (best, best_class);
        }
        changed
    }

    /// Whether there are classes below a node, and not just leaves that fill the tree up.
    fn has_classes(&self, node: usize) -> bool {
        let first = (node << (self.leaves.ilog2() - node.ilog2())) - self.leaves;
        first < self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::super::best_of;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn leaders_are_the_best_of_all_classes_looked_at_one_by_one(
            (classes, rows) in (1usize..20, 1usize..5),
            changes in prop::collection::vec(
                (0usize..20, -2i32..3, prop::collection::vec(-2i32..3, 5)), 0..40,
            ),
        ) {
            let mut leaders = Leaders::new(classes, rows);
            let mut naive = vec![vec![0.0; classes]; rows];
            for (class, factor, values) in changes {
                let class = class % classes;
                let values: Vec<f64> = values.into_iter().map(f64::from).collect();
                leaders.add(class, f64::from(factor), &values[..rows]);
                for (row, value) in naive.iter_mut().zip(&values) {
                    row[class] += f64::from(factor) * value;
                }
                let best: Vec<u32> = naive.iter().map(|row| best_of(row.iter().copied()) as u32).collect();
                prop_assert_eq!(leaders.best(), &best);
            }
            prop_assert_eq!(leaders.best().len(), rows);
        }
    }
}
