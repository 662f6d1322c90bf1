//! 3 — How what a file says becomes numbered features: by index, by name, by hash, by column.

mod schema;
pub mod table;

pub use schema::{Dictionary, Missing, Schema, hash_feature, hash_namespace, hash_number};
