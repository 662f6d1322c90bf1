//! What a file that is there already is, by its first bytes.

use novikoff::certificate::FORMAT as CERTIFICATE;
use novikoff::compare::ComparisonState;
use novikoff::model::Target;
use novikoff::{Error, Result, model};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Model,
    Certificate,
    /// CSV of epochs or steps.
    Trace,
    Picture,
    /// A page of pictures.
    Report,
    /// Of a comparison.
    State,
    /// Rows in canonical form.
    Rows,
    /// A text model of LIBLINEAR.
    Liblinear,
    /// A model as ONNX.
    Onnx,
}

/// As many bytes as it takes to know a file of any kind.
const START: u64 = 2048;

/// How lines of headings of traces start.
const TRACES: [&str; 3] = ["epoch,mistakes,updates,", "output,step,objective,", "mistakes,epoch,row,"];

/// How pictures start: SVG of others is not theirs to replace.
const PICTURES: &str = "<svg class=\"novikoff\" ";

/// What canonical rows of any version start with.
const ROWS: &str = "novikoff rows ";

impl Kind {
    /// What a model is exported as, by the name of the file. Other endings are refused later.
    pub fn exported(path: &Path) -> Self {
        match Target::of(path) {
            Ok(Target::Liblinear) => Kind::Liblinear,
            _ => Kind::Onnx,
        }
    }

    /// What a message calls a file of this kind.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Model => "model",
            Kind::Certificate => "certificate",
            Kind::Trace => "trace of a training",
            Kind::Picture => "picture of this program",
            Kind::Report => "report of this program",
            Kind::State => "state of a comparison",
            Kind::Rows => "file of rows",
            Kind::Liblinear => "model of LIBLINEAR",
            Kind::Onnx => "ONNX model of this program",
        }
    }

    /// Whether an output of this kind takes nothing away where this file is: there is none, or one of its
    /// kind, or nothing in it.
    pub fn may_replace(self, path: &Path) -> Result<bool> {
        match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
            _ => start_of(path).map(|start| start.is_empty() || self.starts_like(&start)),
        }
    }

    /// Whether a file that is there is of this kind.
    pub fn is_kind_of(self, path: &Path) -> Result<bool> {
        Ok(self.starts_like(&start_of(path)?))
    }

    /// Whether files of this kind start like this.
    fn starts_like(self, start: &[u8]) -> bool {
        let text = String::from_utf8_lossy(start);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        match self {
            Kind::Model => model::is_model(start),
            Kind::Certificate => is_json_of(text, CERTIFICATE),
            Kind::Trace => TRACES.iter().any(|head| text.starts_with(head)),
            Kind::Picture => text.starts_with(PICTURES),
            Kind::Report => text.starts_with("<!doctype html>") && text.contains("<title>novikoff: "),
            Kind::State => is_json_of(text, ComparisonState::FORMAT),
            Kind::Rows => text.starts_with(ROWS),
            Kind::Liblinear => model::is_liblinear(start),
            Kind::Onnx => model::is_onnx(start),
        }
    }
}

fn start_of(path: &Path) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    read.map_err(|error| Error::io(path.display().to_string(), &error))?;
    Ok(start)
}

/// Whether it is an object whose first field says that it is of this format.
fn is_json_of(text: &str, format: &str) -> bool {
    let value = || {
        let key = text.strip_prefix('{')?.trim_start().strip_prefix("\"format\"")?;
        key.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split('"').next()
    };
    value() == Some(format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use novikoff::data::canonical::MAGIC;
    use novikoff::plot::Bars;

    const ALL: [Kind; 9] = [
        Kind::Model,
        Kind::Certificate,
        Kind::Trace,
        Kind::Picture,
        Kind::Report,
        Kind::State,
        Kind::Rows,
        Kind::Liblinear,
        Kind::Onnx,
    ];

    fn example(kind: Kind) -> Vec<u8> {
        match kind {
            Kind::Model => {
                [&900u64.to_le_bytes()[..], b"{\"__metadata__\":{\"checksum\":\"blake3:0000"].concat()
            }
            Kind::Certificate => b"{\"format\":\"novikoff certificate\",\"version\":3}".to_vec(),
            Kind::Trace => b"output,step,objective,relative_gap,more\n".to_vec(),
            Kind::Picture => {
                Bars { title: "errors", description: "", groups: &[] }.draw().file().into_bytes()
            }
            Kind::Report => b"<!doctype html>\n<html><title>novikoff: averaged on iris</title>".to_vec(),
            Kind::State => ComparisonState::default().to_text().into_bytes(),
            Kind::Rows => MAGIC.to_vec(),
            Kind::Liblinear => b"solver_type L2R_LR\nnr_class 2\n".to_vec(),
            Kind::Onnx => b"\x08\x07\x12\x08novikoff\x1a".to_vec(),
        }
    }

    #[test]
    fn a_file_is_known_as_its_own_kind_and_as_no_other() {
        for kind in ALL {
            for other in ALL {
                assert_eq!(other.starts_like(&example(kind)), kind == other, "{kind:?} as {other:?}");
            }
        }
    }

    #[test]
    fn what_users_have_is_of_no_kind() {
        let theirs: [&[u8]; 11] = [
            b"+1 1:0.5 3:1\n",
            b"sepal_length,species\n5.1,setosa\n",
            b"epoch,loss\n1,0.5\n",
            b"{\"label\": \"spam\", \"text\": \"novikoff certificate\"}\n",
            b"<!doctype html>\n<title>my page</title>",
            b"<!doctype html>\n<title>my page</title>\n<svg class=\"novikoff\" role=\"img\"></svg>",
            b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\"></svg>",
            b"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>",
            b"\x20\x00\x00\x00\x00\x00\x00\x00{\"__metadata__\":{\"format\":\"pt\"}}",
            b"\n",
            &[0xff; 64],
        ];
        for start in theirs {
            let known: Vec<Kind> = ALL.into_iter().filter(|kind| kind.starts_like(start)).collect();
            assert!(known.is_empty(), "{:?}: {known:?}", String::from_utf8_lossy(start));
        }
    }
}
