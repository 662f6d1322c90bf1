//! Files with the right checksum and the wrong contents.

use novikoff::model::{Model, from_bytes, to_bytes};
use novikoff::{Error, ErrorKind};
use serde_json::{Value, json};

pub const PREFIX: &str = r#"{"__metadata__":{"checksum":"blake3:"#;

pub fn reseal(bytes: &mut [u8]) {
    let digits = 8 + PREFIX.len()..8 + PREFIX.len() + 64;
    bytes[digits.clone()].fill(b'0');
    let hash = blake3::hash(bytes).to_hex();
    bytes[digits].copy_from_slice(hash.as_bytes());
}

pub fn taken_apart(bytes: &[u8]) -> (Value, Vec<u8>) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..8 + length]).unwrap(), bytes[8 + length..].to_vec())
}

/// A file with this text for a header (its first bytes are the prefix and 64 digits) and the right checksum.
pub fn sealed(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    reseal(&mut bytes);
    bytes
}

pub fn header_text(header: &Value) -> String {
    let mut text = format!("{PREFIX}{}\"", "0".repeat(64));
    for (key, value) in
        header["__metadata__"].as_object().unwrap().iter().filter(|(key, _)| *key != "checksum")
    {
        text += &format!(",{}:{value}", json!(key));
    }
    text.push('}');
    for (key, value) in header.as_object().unwrap().iter().filter(|(key, _)| *key != "__metadata__") {
        text += &format!(",{}:{value}", json!(key));
    }
    text + "}"
}

/// A model's file with its contents changed and the right checksum.
pub struct Forged {
    pub header: Value,
    pub data: Vec<u8>,
}

impl Forged {
    pub fn of(model: &Model) -> Self {
        let (header, data) = taken_apart(&to_bytes(model).unwrap());
        Self { header, data }
    }

    pub fn metadata(mut self, key: &str, value: &str) -> Self {
        self.header["__metadata__"][key] = json!(value);
        self
    }

    pub fn without(mut self, key: &str) -> Self {
        self.header["__metadata__"].as_object_mut().unwrap().remove(key);
        self
    }

    /// Changes `about` and, where it is told twice, the copy.
    pub fn about(self, key: &str, value: Value) -> Self {
        let mut about: Value =
            serde_json::from_str(self.header["__metadata__"]["about"].as_str().unwrap()).unwrap();
        about[key] = value.clone();
        let forged = self.metadata("about", &about.to_string());
        if forged.header["__metadata__"].get(key).is_some() {
            forged.metadata(key, &value.to_string())
        } else {
            forged
        }
    }

    pub fn tensor(mut self, name: &str, field: &str, value: Value) -> Self {
        self.header[name][field] = value;
        self
    }

    /// Overwrites number `at` of a tensor.
    pub fn number(mut self, name: &str, at: usize, bytes: &[u8]) -> Self {
        let start = self.header[name]["data_offsets"][0].as_u64().unwrap() as usize + at * bytes.len();
        self.data[start..start + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        sealed(&header_text(&self.header), &self.data)
    }

    /// Whether its numbers lie where numbers may lie in memory, as they do in a file that was written, or
    /// anywhere.
    #[track_caller]
    pub fn refused(self, part: &str) -> Error {
        let mut header = header_text(&self.header);
        let error = refused(&sealed(&header, &self.data), part);
        header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
        refused(&sealed(&header, &self.data), part);
        error
    }
}

#[track_caller]
pub fn refused(bytes: &[u8], part: &str) -> Error {
    let error = from_bytes(bytes, "some/model").unwrap_err();
    assert!(error.what().contains(part), "{error}");
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!(error.place().map(|place| (place.file.as_str(), place.line)), Some(("some/model", 0)));
    error
}
