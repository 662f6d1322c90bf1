//! Learning from rows of features that are made of features, and models that make them.

use super::classes::{Classes, check_size};
use super::resume::Prior;
use super::stream::{Learned, Streaming};
use super::{Fit, train_as_given};
use crate::control::Observer;
use crate::data::{Dataset, Row};
use crate::error::Result;
use crate::features::map::{Entries, Map, Mapper};
use crate::model::{Mapped, Model, Scorer, Weights};
use crate::online::StreamCounts;
use serde_json::json;

pub(super) fn train_mapped(
    map: Map,
    data: &Dataset,
    validation: Option<&Dataset>,
    from: super::From<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let known = from.1.map_or(0, Model::features);
    let mapper = Mapper::new(map, data.rows.columns().max(known))?;
    let mapped = data.mapped(&mapper)?;
    let held_out = validation.map(|held_out| held_out.mapped(&mapper)).transpose()?;
    let data_hash = data.fingerprint();
    let mut fit = train_as_given(&mapped, held_out.as_ref(), from, observer)?;
    put_before(mapper, &mut fit.model, data, data_hash);
    Ok(fit)
}

/// Makes a model of mapped rows one of the rows as they were read.
fn put_before(mapper: Mapper, model: &mut Model, data: &Dataset, data_hash: String) {
    model.about.features = mapper.columns() as u64;
    model.about.data_hash = data_hash;
    model.about.settings.insert("map".to_owned(), json!(mapper.map().to_string()));
    model.schema = data.schema.clone();
    wrap(mapper, &mut model.scorer);
}

fn wrap(mapper: Mapper, scorer: &mut Scorer) {
    let inner = std::mem::replace(scorer, Scorer::Linear(Weights::zero(0, 1)));
    *scorer = Scorer::Mapped(Mapped { mapper, scorer: Box::new(inner) });
}

/// A stream whose rows are mapped as they come.
pub(super) struct MappedStream<L> {
    learner: L,
    mapper: Mapper,
    row: Vec<(u32, f64)>,
    mapped: Entries,
    /// What the next row has to report: features have become too many.
    trouble: Result<()>,
}

impl<L: Streaming> MappedStream<L> {
    pub(super) fn new(map: Map, learner: L) -> Result<Self> {
        let mapper = Mapper::new(map, 0)?;
        Ok(Self { learner, mapper, row: Vec::new(), mapped: Entries::default(), trouble: Ok(()) })
    }

    /// Maps the next row.
    fn map(&mut self, row: Row<'_>) -> Result<()> {
        std::mem::replace(&mut self.trouble, Ok(()))?;
        row.collect_into(&mut self.row);
        self.mapper.apply(&self.row, &mut self.mapped);
        Ok(())
    }
}

/// The row that a map has made.
fn mapped<'a>(mapper: &Mapper, Entries { indices, values, .. }: &'a Entries) -> Row<'a> {
    if mapper.map().is_dense() { Row::Dense64(values) } else { Row::Sparse64(indices, values) }
}

impl<L: Streaming> Streaming for MappedStream<L> {
    fn copies(&self) -> usize {
        self.learner.copies()
    }

    fn add_class(&mut self, label: &str) -> Result<()> {
        self.learner.add_class(label)
    }

    fn resume(&mut self, prior: &mut Prior<'_>) -> Result<()> {
        self.mapper.grow(prior.model.features())?;
        self.learner.resume(prior)
    }

    fn reserve(&mut self, features: usize, classes: usize) {
        if self.trouble.is_ok() {
            self.trouble =
                self.mapper.grow(features).and_then(|()| check_size(self.mapper.features(), classes));
        }
        if self.trouble.is_ok() {
            self.learner.reserve(self.mapper.features(), classes);
        }
    }

    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()> {
        self.map(row)?;
        self.learner.learn(mapped(&self.mapper, &self.mapped), class, weight)
    }

    fn learn_followed(
        &mut self,
        row: Row<'_>,
        class: u32,
        weight: f64,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.map(row)?;
        self.learner.learn_followed(mapped(&self.mapper, &self.mapped), class, weight, observer)
    }

    fn counts(&self) -> StreamCounts {
        self.learner.counts()
    }

    fn finish(mut self, classes: &Classes, features: usize) -> Result<Learned> {
        self.mapper.grow(features)?;
        let mut learned = self.learner.finish(classes, self.mapper.features())?;
        learned.settings.insert("map".to_owned(), json!(self.mapper.map().to_string()));
        wrap(self.mapper, &mut learned.scorer);
        Ok(learned)
    }
}
