//! The columns of a table and the features that they become.

/// Placeholder.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSchema {}

impl TableSchema {
    /// Name of feature `j`.
    pub fn feature_name(&self, _j: u32) -> String {
        String::new()
    }
    /// Number of features.
    pub fn features(&self) -> usize {
        0
    }
}
