//! From bytes to rows: svmlight, tables (also of Parquet and Arrow), Vowpal Wabbit's text, IDX images,
//! documents; compressed or not; strict, with positions.

mod bag;
mod columnar;
mod dataset;
mod detect;
mod folder;
mod idx;
mod json;
mod number;
mod parsed_rows;
mod parts;
mod pipeline;
mod reader;
mod records;
pub mod source;
mod svmlight;
mod table;
mod text;
mod vw;

pub use detect::Format;
pub use folder::documents_in;
pub use idx::labels_beside;
pub use parsed_rows::ParsedRows;
pub(crate) use reader::{Chunk, Summary};
pub use reader::{Contents, Options, Purpose, Reader};
pub use source::Input;
pub(crate) use source::read_text;
pub use table::{Header, TableOptions, Was};
