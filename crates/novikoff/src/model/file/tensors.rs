//! The inside of the file: named arrays of numbers.

use super::buffer::Buffer;
use crate::data::little_endian;
use crate::error::{Error, Result};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// A number as the file stores it: little endian.
pub(super) trait Element: Copy + Default {
    const DTYPE: Dtype;
    fn from_le(bytes: &[u8]) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! element {
    ($number:ty, $dtype:ident, $finite:expr) => {
        impl Element for $number {
            const DTYPE: Dtype = Dtype::$dtype;
            fn from_le(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$number>()];
                own.copy_from_slice(bytes);
                <$number>::from_le_bytes(own)
            }
            fn is_finite(self) -> bool {
                $finite(self)
            }
        }
    };
}

element!(f64, F64, f64::is_finite);
element!(f32, F32, f32::is_finite);
element!(u64, U64, |_| true);
element!(u32, U32, |_| true);
element!(u8, U8, |_| true);

/// The numbers of a tensor to be written.
pub(super) enum Numbers<'a> {
    F64(Cow<'a, [f64]>),
    F32(Vec<f32>),
    U64(Vec<u64>),
    U32(Vec<u32>),
    U8(Vec<u8>),
}

/// A tensor to be written.
pub(super) struct Tensor<'a> {
    pub(super) name: Cow<'static, str>,
    pub(super) shape: Vec<usize>,
    numbers: Numbers<'a>,
}

/// Runs `$body` with `$slice` bound to the numbers, of whatever type.
macro_rules! each_type {
    ($numbers:expr, $slice:ident => $body:expr) => {
        match $numbers {
            Numbers::F64($slice) => $body,
            Numbers::F32($slice) => $body,
            Numbers::U64($slice) => $body,
            Numbers::U32($slice) => $body,
            Numbers::U8($slice) => $body,
        }
    };
}

impl<'a> Tensor<'a> {
    /// A tensor of one dimension.
    pub(super) fn list(name: &'static str, numbers: Numbers<'a>) -> Self {
        Self::named(name, numbers)
    }

    /// The same with a name that is known only now.
    pub(super) fn named(name: impl Into<Cow<'static, str>>, numbers: Numbers<'a>) -> Self {
        let length = each_type!(&numbers, v => v.len());
        Self { name: name.into(), shape: vec![length], numbers }
    }

    /// A tensor of two dimensions, the second of which is `columns`.
    pub(super) fn grid(name: &'static str, columns: usize, numbers: Numbers<'a>) -> Self {
        let length = each_type!(&numbers, v => v.len());
        Self { name: name.into(), shape: vec![length / columns.max(1), columns], numbers }
    }

    pub(super) fn dtype(&self) -> Dtype {
        match self.numbers {
            Numbers::F64(_) => Dtype::F64,
            Numbers::F32(_) => Dtype::F32,
            Numbers::U64(_) => Dtype::U64,
            Numbers::U32(_) => Dtype::U32,
            Numbers::U8(_) => Dtype::U8,
        }
    }

    /// Bytes of one number.
    pub(super) fn width(&self) -> usize {
        self.dtype().bitsize() / 8
    }

    /// Bytes of all numbers.
    pub(super) fn bytes(&self) -> usize {
        each_type!(&self.numbers, v => v.len()) * self.width()
    }

    /// The bytes of all numbers, as the file has them.
    pub(super) fn as_bytes(&self) -> Cow<'_, [u8]> {
        each_type!(&self.numbers, v => little_endian(v))
    }
}

/// The tensors of a file that nobody has asked for yet.
pub(super) struct Tensors<'a> {
    bytes: &'a [u8],
    views: BTreeMap<String, TensorView<'a>>,
    /// Where the numbers are that are to be left as they lie.
    left: Option<Range<usize>>,
}

impl<'a> Tensors<'a> {
    /// The tensors of a file, which fill it without hole or overlap.
    pub(super) fn read(bytes: &'a [u8], header: &[u8]) -> Result<Self> {
        let parsed: Header<Info> = serde_json::from_slice(header)
            .map_err(|error| Error::input(format!("its header cannot be read: {error}")))?;
        check_layout(&parsed.tensors, (bytes.len() - header.len() - size_of::<u64>()) as u64)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| {
            Error::input(format!("its tensors are not laid out as safetensors asks: {error}"))
        })?;
        Ok(Self { bytes, views: tensors.tensors().into_iter().collect(), left: None })
    }

    fn take<T: Element>(&mut self, name: &str) -> Result<TensorView<'a>> {
        let view =
            self.views.remove(name).ok_or_else(|| Error::input(format!("the tensor `{name}` is missing")))?;
        if view.dtype() != T::DTYPE {
            return Err(Error::input(format!("the tensor `{name}` is {}, not {}", view.dtype(), T::DTYPE)));
        }
        Ok(view)
    }

    /// The names of those that nobody has asked for yet.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.views.keys().map(String::as_str)
    }

    pub(super) fn dtype(&self, name: &str) -> Option<Dtype> {
        self.views.get(name).map(TensorView::dtype)
    }

    /// All numbers of a tensor of one dimension.
    pub(super) fn list<T: Element>(&mut self, name: &str) -> Result<Vec<T>> {
        let view = self.take::<T>(name)?;
        match view.shape() {
            [_] => decode(name, &view),
            shape => {
                Err(Error::input(format!("the tensor `{name}` has the shape {shape:?}, not one dimension")))
            }
        }
    }

    /// All numbers of a tensor of this shape.
    pub(super) fn shaped<T: Element>(&mut self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let view = self.take_shaped::<T>(name, shape)?;
        decode(name, &view)
    }

    fn take_shaped<T: Element>(&mut self, name: &str, shape: &[usize]) -> Result<TensorView<'a>> {
        let view = self.take::<T>(name)?;
        match view.shape() == shape {
            true => Ok(view),
            false => Err(Error::input(format!(
                "the tensor `{name}` has the shape {:?}, not {shape:?}",
                view.shape()
            ))),
        }
    }

    /// The same, finite or not; but if the numbers can be left as they lie, which one tensor's can, then
    /// nothing.
    pub(super) fn shaped_unless_left(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        let view = self.take_shaped::<f64>(name, shape)?;
        let start = view.data().as_ptr() as usize - self.bytes.as_ptr() as usize;
        let place = start..start + view.data().len();
        if self.left.is_none() && Buffer::is_whole(&place) {
            self.left = Some(place);
            return Ok(Vec::new());
        }
        Ok(view.data().chunks_exact(size_of::<f64>()).map(f64::from_le).collect())
    }

    /// The second dimension of a tensor of two.
    pub(super) fn columns(&self, name: &str) -> Result<usize> {
        match self.views.get(name).map(TensorView::shape) {
            Some([_, columns]) => Ok(*columns),
            Some(shape) => {
                Err(Error::input(format!("the tensor `{name}` has the shape {shape:?}, not two dimensions")))
            }
            None => Err(Error::input(format!("there is no tensor `{name}`"))),
        }
    }

    /// All tensors must have been asked for. Says where the numbers are that were left as they lie.
    pub(super) fn finish(self) -> Result<Option<Range<usize>>> {
        match self.views.into_keys().next() {
            Some(name) => {
                Err(Error::input(format!("the tensor `{name}` does not belong into this kind of model")))
            }
            None => Ok(self.left),
        }
    }
}

fn decode<T: Element>(name: &str, view: &TensorView<'_>) -> Result<Vec<T>> {
    // Looked at as they come: they may be too many to be in the cache afterwards.
    let mut finite = true;
    let read = |bytes| {
        let x = T::from_le(bytes);
        finite &= x.is_finite();
        x
    };
    let numbers: Vec<T> = view.data().chunks_exact(size_of::<T>()).map(read).collect();
    if finite {
        return Ok(numbers);
    }
    let at = numbers.iter().position(|x| !x.is_finite()).unwrap_or_default();
    Err(Error::input(format!("number {at} of the tensor `{name}` is not finite")))
}

/// The tensors must lie in `data` bytes one behind the other, from the first byte to the last.
fn check_layout(tensors: &BTreeMap<String, Info>, data: u64) -> Result<()> {
    let mut spans: Vec<_> = tensors.iter().map(|(name, info)| (info.data_offsets, name)).collect();
    spans.sort();
    let mut expected = 0;
    for ((start, end), name) in spans {
        if end > data || start > end {
            return Err(Error::input(format!(
                "the tensor `{name}` claims the bytes {start} to {end} of {data}"
            )));
        }
        if start != expected {
            let what = if start < expected { "overlaps the one before it" } else { "comes behind a hole" };
            return Err(Error::input(format!(
                "the tensor `{name}` {what}: it starts at byte {start}, not {expected}"
            )));
        }
        expected = end;
    }
    if expected != data {
        return Err(Error::input(format!("there are {} bytes behind the last tensor", data - expected)));
    }
    Ok(())
}

/// More metadata keys or tensors are refused before they are kept.
const MOST_ENTRIES: usize = 1024;

/// A header whose tensors are described by `T`. [`IgnoredAny`] reads the metadata only, which a newer version
/// might share.
pub(super) struct Header<T> {
    pub(super) metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, T>,
}

/// A header of which only the metadata is wanted.
pub(super) type MetadataOnly = Header<IgnoredAny>;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Info {
    #[serde(rename = "dtype")]
    _dtype: Dtype,
    #[serde(rename = "shape")]
    _shape: Shape,
    data_offsets: (u64, u64),
}

/// At most two dimensions, so that a long list of them costs nothing.
struct Shape;

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Dimensions;
        impl<'de> Visitor<'de> for Dimensions {
            type Value = Shape;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one or two dimensions")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Shape, A::Error> {
                let mut count = 0;
                while list.next_element::<u64>()?.is_some() {
                    count += 1;
                    if count > 2 {
                        return Err(A::Error::custom("a tensor with more than two dimensions"));
                    }
                }
                Ok(Shape)
            }
        }
        deserializer.deserialize_seq(Dimensions)
    }
}

/// A map in which every key stands once.
struct Once<T>(BTreeMap<String, T>);

fn insert_once<T, E: serde::de::Error>(
    map: &mut BTreeMap<String, T>,
    key: String,
    value: T,
) -> std::result::Result<(), E> {
    if map.len() == MOST_ENTRIES {
        return Err(E::custom(format!("more than {MOST_ENTRIES} entries")));
    }
    if map.contains_key(&key) {
        return Err(E::custom(format!("`{key}` is there twice")));
    }
    map.insert(key, value);
    Ok(())
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Once<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Once<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("metadata")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Once<T>, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some((key, value)) = map.next_entry()? {
                    insert_once(&mut entries, key, value)?;
                }
                Ok(Once(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Header<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Header<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the header of a safetensors file")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header<T>, A::Error> {
                let (mut metadata, mut tensors) = (None, BTreeMap::new());
                while let Some(key) = map.next_key::<String>()? {
                    if key != "__metadata__" {
                        insert_once(&mut tensors, key, map.next_value()?)?;
                    } else if metadata.is_none() {
                        metadata = Some(map.next_value::<Once<String>>()?.0);
                    } else {
                        return Err(A::Error::custom("`__metadata__` is there twice"));
                    }
                }
                Ok(Header { metadata: metadata.unwrap_or_default(), tensors })
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}
