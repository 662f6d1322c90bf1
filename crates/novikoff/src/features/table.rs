//! The columns of a table and the features that they become.

use serde::{Deserialize, Serialize};

/// Placeholder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// What is wrong with it, if anything is.
    pub fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}
