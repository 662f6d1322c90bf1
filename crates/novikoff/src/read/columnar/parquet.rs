//! Batches of Parquet files.

use super::Spec;
use super::batches::{Content, Opened, columns, damaged, places};
use crate::error::{Error, Result};
use crate::memory::Estimate;
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::file::metadata::ParquetMetaData;
use arrow_array::RecordBatch;

/// Bytes of a batch, if all its rows take as much as the mean.
const BATCH: u64 = 1 << 21;
/// Most rows of a batch.
const ROWS: u64 = 1 << 13;

/// Opens a file, from a row on.
pub(super) fn open(content: &Content, spec: &Spec, from: u64) -> Result<Opened> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(content, options).map_err(|error| damaged(spec, error))?;
    let (names, wanted) = columns(metadata.schema(), spec)?;
    check_memory(metadata.metadata(), &wanted, spec)?;
    let rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(content.clone(), metadata.clone());
    let reader = builder
        .with_projection(ProjectionMask::roots(metadata.parquet_schema(), places(&wanted)))
        .with_batch_size(batch_size(metadata.metadata()))
        .with_offset(usize::try_from(from).unwrap_or(usize::MAX))
        .build()
        .map_err(|error| damaged(spec, error))?;
    let batches = ParquetBatches {
        reader,
        content: content.clone(),
        metadata,
        spec: spec.clone(),
        wanted: places(&wanted),
        rows: from,
    };
    Ok(Opened { names, wanted, rows: Some(rows), batches: Box::new(batches) })
}

fn batch_size(metadata: &ParquetMetaData) -> usize {
    let bytes: u64 = metadata.row_groups().iter().map(|group| group.total_byte_size().unsigned_abs()).sum();
    let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0).max(1);
    (BATCH / (bytes / rows).max(1)).clamp(16, ROWS) as usize
}

/// No page of a column is larger than what the column has in a row group.
fn check_memory(metadata: &ParquetMetaData, wanted: &[bool], spec: &Spec) -> Result<()> {
    let schema = metadata.file_metadata().schema_descr();
    for group in metadata.row_groups() {
        let chunks = group.columns().iter().enumerate();
        let own = chunks.filter(|(leaf, _)| {
            *leaf < schema.num_columns() && wanted.get(schema.get_column_root_idx(*leaf)) == Some(&true)
        });
        let bytes = own.map(|(_, chunk)| chunk.uncompressed_size().unsigned_abs()).max().unwrap_or(0);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Estimate::default()
            .with("the largest column of a row group", &[(bytes, "bytes")])
            .check("this file", spec.memory)
            .map_err(|error| error.hint("write it with smaller row groups; `memory = SIZE` allows more"))?;
    }
    Ok(())
}

struct ParquetBatches {
    reader: ParquetRecordBatchReader,
    content: Content,
    metadata: ArrowReaderMetadata,
    spec: Spec,
    wanted: Vec<usize>,
    /// Rows so far.
    rows: u64,
}

impl Iterator for ParquetBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?;
        Some(match batch {
            Ok(batch) => {
                self.rows += batch.num_rows() as u64;
                Ok(batch)
            }
            Err(error) => Err(self.blame().unwrap_or_else(|| damaged(&self.spec, error))),
        })
    }
}

impl ParquetBatches {
    /// The error of the first column of a row group, from the one that was read last, that cannot be read.
    fn blame(&self) -> Option<Error> {
        let mut before = 0u64;
        for (number, group) in self.metadata.metadata().row_groups().iter().enumerate() {
            before = before.saturating_add(group.num_rows().unsigned_abs());
            if before <= self.rows {
                continue;
            }
            for column in &self.wanted {
                if let Err(error) = self.read_alone(number, *column) {
                    let name = self.metadata.schema().field(*column).name();
                    let what = format!("column {name:?} of row group {} ({error})", number + 1);
                    return Some(damaged(&self.spec, what));
                }
            }
        }
        None
    }

    fn read_alone(&self, group: usize, column: usize) -> std::result::Result<(), String> {
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.content.clone(), self.metadata.clone());
        let reader = builder
            .with_projection(ProjectionMask::roots(self.metadata.parquet_schema(), [column]))
            .with_row_groups(vec![group])
            .build()
            .map_err(|error| error.to_string())?;
        for batch in reader {
            batch.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
