//! How input becomes numbered features: by index, by name, by hash, by column, by word.

mod interaction;
pub mod map;
pub mod namespaces;
mod schema;
pub mod table;
pub mod text;
mod words;

pub use schema::{Dictionary, Missing, Schema};
pub(crate) use schema::{fold, hash_feature, hash_namespace, hash_number, whole_hash};
