//! Lists of numbers in a certificate: as they are where they are few, packed where they are many.
//!
//! Reading a million numbers from decimal digits takes longer than reading the rows that they are about.
//! Packed, they are an object with one field, its name the type of the numbers, and in it the base64 of their
//! bytes, lowest byte first.

use crate::data::little_endian;
use base64_simd::{Out, STANDARD};
use rayon::prelude::*;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Longer lists are packed.
pub(crate) const FEW: usize = 256;

/// Bytes that one task unpacks: whole groups of base64's three, and whole numbers.
const PART: usize = 3 << 15;

/// A number that lists are made of.
pub(crate) trait Number: bytemuck::Pod + Send + Sync + Serialize + for<'de> Deserialize<'de> {
    /// The name of its type.
    const NAME: &'static str;
    /// Out of its bytes on this machine, if these are stored lowest first.
    fn out_of_le(self) -> Self;
    /// Whether it is a finite number.
    fn is_finite(self) -> bool;
}

impl Number for u32 {
    const NAME: &'static str = "u32";
    fn out_of_le(self) -> Self {
        Self::from_le(self)
    }
    fn is_finite(self) -> bool {
        true
    }
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    fn out_of_le(self) -> Self {
        Self::from_bits(u64::from_le(self.to_bits()))
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
}

/// Writes a list.
pub(crate) fn serialize<T: Number, S: Serializer>(numbers: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    if numbers.len() <= FEW {
        return numbers.serialize(serializer);
    }
    let mut packed = serializer.serialize_map(Some(1))?;
    packed.serialize_entry(T::NAME, &STANDARD.encode_to_string(&*little_endian(numbers)))?;
    packed.end()
}

/// Reads a list in either form.
pub(crate) fn deserialize<'de, T: Number, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(List(PhantomData))
}

/// The same for a list that may be left out.
pub(crate) mod optional {
    use super::{Deserializer, Number, Serialize, Serializer};

    /// Writes a list.
    pub(crate) fn serialize<T: Number, S: Serializer>(
        numbers: &Option<Vec<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match numbers {
            Some(numbers) => super::serialize(numbers, serializer),
            None => ().serialize(serializer),
        }
    }

    /// Reads a list that is there.
    pub(crate) fn deserialize<'de, T: Number, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<T>>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}

struct List<T>(PhantomData<T>);

impl<'de, T: Number> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of numbers, or {{\"{}\": their bytes in base64}}", T::NAME)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            // A decimal digit and a comma would become eight bytes: a file could ask for four times its own
            // size.
            if numbers.len() == FEW {
                return Err(A::Error::custom(format!("a list of more than {FEW} numbers must be packed")));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<T>, A::Error> {
        let wrong = |name: Option<String>| {
            A::Error::custom(format!("packed numbers of the type {name:?}, not {:?}", T::NAME))
        };
        match map.next_key::<String>()? {
            Some(name) if name == T::NAME => {}
            name => return Err(wrong(name)),
        }
        let Packed(numbers) = map.next_value()?;
        match map.next_key::<String>()? {
            None => Ok(numbers),
            name => Err(wrong(name)),
        }
    }
}

struct Packed<T>(Vec<T>);

impl<'de, T: Number> Deserialize<'de> for Packed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);
        impl<T: Number> Visitor<'_> for Text<T> {
            type Value = Packed<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes in base64")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Packed<T>, E> {
                unpacked(text).map(Packed).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text(PhantomData))
    }
}

/// The numbers whose bytes these are, or what is wrong with them.
fn unpacked<T: Number>(text: &str) -> Result<Vec<T>, String> {
    let padding = text.bytes().rev().take_while(|b| *b == b'=').count();
    // No text of base64 ends like this, and who decodes it does not expect it.
    if padding > 2 {
        return Err("the base64 of packed numbers is wrong".into());
    }
    let bytes = (text.len() / 4 * 3).saturating_sub(padding);
    if !text.len().is_multiple_of(4) || !bytes.is_multiple_of(size_of::<T>()) {
        return Err(format!("{} digits of base64 are no whole number of {}", text.len(), T::NAME));
    }
    let mut numbers = vec![T::zeroed(); bytes / size_of::<T>()];
    let parts = text.as_bytes().par_chunks(PART / 3 * 4).zip(numbers.par_chunks_mut(PART / size_of::<T>()));
    // The first complaint, whoever comes to it first.
    let complaints: Vec<String> =
        parts.enumerate().filter_map(|(at, (text, part))| unpack_part(at, text, part).err()).collect();
    complaints.into_iter().next().map_or(Ok(numbers), Err)
}

/// Unpacks part number `at`.
fn unpack_part<T: Number>(at: usize, text: &[u8], part: &mut [T]) -> Result<(), String> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(part);
    let length = bytes.len();
    // In the middle of a text there is no padding.
    match STANDARD.decode(text, Out::from_slice(bytes)) {
        Ok(written) if written.len() == length => {}
        _ => return Err("the base64 of packed numbers is wrong".to_owned()),
    }
    part.iter_mut().for_each(|x| *x = x.out_of_le());
    match first_not_finite(part) {
        Some(number) => {
            Err(format!("number {} of a packed list is not finite", at * PART / size_of::<T>() + number))
        }
        None => Ok(()),
    }
}

/// The first that is not a finite number.
pub(super) fn first_not_finite<T: Number>(numbers: &[T]) -> Option<usize> {
    // Without a way out at the first, several are looked at at a time.
    match numbers.iter().fold(true, |all, x| all & x.is_finite()) {
        true => None,
        false => numbers.iter().position(|x| !x.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    // Another's, to see that they agree.
    use base64::{Engine, engine::general_purpose::STANDARD};
    use proptest::prelude::*;
    use serde_json::json;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Lists {
        #[serde(with = "super")]
        columns: Vec<u32>,
        #[serde(with = "super")]
        weights: Vec<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "optional")]
        duals: Option<Vec<f64>>,
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
    }

    proptest! {
        #[test]
        fn lists_come_back_as_they_were(
            columns in prop::collection::vec(any::<u32>(), 0..3 * FEW),
            weights in prop::collection::vec(finite(), 0..3 * FEW),
            duals in prop::option::of(prop::collection::vec(finite(), FEW - 2..FEW + 3)),
        ) {
            let lists = Lists { columns, weights, duals };
            let text = serde_json::to_string(&lists).unwrap();
            prop_assert_eq!(text.contains("\"u32\""), lists.columns.len() > FEW);
            let back: Lists = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &lists);
            // What a tagged claim is read through.
            prop_assert_eq!(
                serde_json::from_value::<Lists>(serde_json::from_str(&text).unwrap()).unwrap(),
                lists
            );
        }

        #[test]
        fn no_text_is_read_as_other_bytes_than_it_spells(text in "[A-Za-z0-9+/=]{0,40}|\\PC{0,40}") {
            if let Ok(numbers) = unpacked::<u32>(&text) {
                prop_assert_eq!(STANDARD.encode(little_endian(&numbers)), text.clone());
            }
            if let Ok(numbers) = unpacked::<f64>(&text) {
                prop_assert!(numbers.iter().all(|x| x.is_finite()));
                prop_assert_eq!(STANDARD.encode(little_endian(&numbers)), text);
            }
        }
    }

    /// Several parts: all come back, and what is wrong with one is told of its place in the whole.
    #[test]
    fn long_lists_are_unpacked_in_parts() {
        let numbers: Vec<f64> = (0..30_001).map(|i| f64::from(i).sqrt()).collect();
        let text = STANDARD.encode(little_endian(&numbers));
        assert_eq!(unpacked(&text), Ok(numbers.clone()));
        let digits = PART / 3 * 4;
        assert!(text.len() > 2 * digits);
        for at in [0, 7, digits - 1, digits, digits + 1, 2 * digits - 2, text.len() - 5] {
            for wrong in ['!', '='] {
                let mut text = text.clone();
                text.replace_range(at..=at, &wrong.to_string());
                let error = unpacked::<f64>(&text).unwrap_err();
                assert!(error.contains("base64"), "{wrong} at {at}: {error}");
            }
        }
        let mut wrong = numbers;
        (wrong[20_000], wrong[29_999]) = (f64::NAN, f64::INFINITY);
        assert!(
            unpacked::<f64>(&STANDARD.encode(little_endian(&wrong))).unwrap_err().contains("number 20000 ")
        );
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_reason() {
        let refused = |weights: serde_json::Value| {
            serde_json::from_value::<Lists>(json!({"columns": [], "weights": weights}))
                .unwrap_err()
                .to_string()
        };
        let packed = |x: f64| STANDARD.encode(x.to_le_bytes());
        assert!(
            refused(json!({"f64": packed(f64::NAN)})).contains("number 0 of a packed list is not finite")
        );
        assert!(refused(json!({"f64": packed(f64::INFINITY)})).contains("not finite"));
        assert!(refused(json!({"f64": "AAAA"})).contains("4 digits of base64 are no whole number of f64"));
        assert!(refused(json!({"f64": "AAAAAAAAAA!="})).contains("base64 of packed numbers is wrong"));
        assert!(refused(json!({"f64": "AAAAAAAAAAB="})).contains("base64 of packed numbers is wrong"));
        // More padding than there is in base64, of any length.
        for digits in 0..40 {
            for padding in 3..40 {
                let text = "A".repeat(digits) + &"=".repeat(padding);
                assert!(refused(json!({"f64": text})).contains("base64 of packed numbers is wrong"));
                assert!(unpacked::<u32>(&text).is_err());
            }
        }
        assert!(refused(json!({"u32": "AAAAAA=="})).contains("of the type Some(\"u32\"), not \"f64\""));
        assert!(refused(json!({})).contains("of the type None"));
        assert!(refused(json!({"f64": packed(1.0), "u32": ""})).contains("of the type Some(\"u32\")"));
        assert!(refused(json!({"f64": [1.0]})).contains("bytes in base64"));
        assert!(refused(json!("AAAA")).contains("a list of numbers"));
    }
}
