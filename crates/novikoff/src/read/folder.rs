//! A folder of documents: a folder in it for each label, a file in that for each document.
//!
//! To the parser of documents it is one file with a line for each of them: what ends a line within a document
//! becomes a space.

use crate::error::{Error, Result};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The documents of a folder, in the order of their names.
#[derive(Debug)]
pub(super) struct Folder {
    files: Vec<(String, PathBuf)>,
    bytes: u64,
}

/// A document may not be longer.
const LONGEST: u64 = 1 << 27;

impl Folder {
    /// Lists the files of a folder: those in folders of their label, or, if labels are nobody's business, all
    /// of them.
    pub(super) fn list(root: &Path, labelled: bool) -> Result<Self> {
        let mut folder = Self { files: Vec::new(), bytes: 0 };
        for (name, path, kind) in entries(root)? {
            match kind {
                Kind::Folder => folder.add_all(if labelled { &name } else { "" }, &path)?,
                Kind::File(bytes) if !labelled => folder.add("", path, bytes),
                // A README beside the labels' folders is no document.
                Kind::File(_) => {}
            }
        }
        if folder.files.is_empty() {
            let error =
                Error::input("there are no documents in this folder").at(root.display().to_string(), 0, 0);
            return Err(error
                .hint("a folder of documents has a folder for each label, with a file for each document"));
        }
        Ok(folder)
    }

    fn add(&mut self, label: &str, path: PathBuf, bytes: u64) {
        self.files.push((label.replace(['\t', '\n', '\r'], " "), path));
        self.bytes += bytes;
    }

    fn add_all(&mut self, label: &str, folder: &Path) -> Result<()> {
        for (_, path, kind) in entries(folder)? {
            match kind {
                Kind::Folder => self.add_all(label, &path)?,
                Kind::File(bytes) => self.add(label, path, bytes),
            }
        }
        Ok(())
    }

    /// Bytes of all documents.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// File, line and column of what stands in this column of this line (both from 1) of the one file that it
    /// is read as.
    pub(super) fn place(&self, line: u64, column: u64) -> Option<(String, u64, u64)> {
        let (label, path) = self.files.get(usize::try_from(line.checked_sub(1)?).ok()?)?;
        let name = path.display().to_string();
        let before_text = label.len() as u64 + 1;
        let Some(offset) = (column - 1).checked_sub(before_text) else { return Some((name, 0, 0)) };
        let before = fs::read(path).ok()?;
        let before = &before[..before.len().min(offset as usize)];
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let newlines = memchr::memchr_iter(b'\n', before).count() as u64;
        Some((name, newlines + 1, (before.len() - start) as u64 + 1))
    }
}

/// The files of a folder that are read as documents, with labels or without. None where they cannot be
/// listed: who reads them will say why.
pub fn documents_in(folder: &Path) -> Vec<PathBuf> {
    let listed = Folder::list(folder, false).map(|listed| listed.files);
    listed.unwrap_or_default().into_iter().map(|(_, path)| path).collect()
}

enum Kind {
    Folder,
    File(u64),
}

/// What is in a folder and not hidden, by name. Links to folders are not followed: they may lead back.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf, Kind)>> {
    let fail = |path: &Path, error: io::Error| Error::io(path.display().to_string(), &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| fail(folder, e))? {
        let entry = entry.map_err(|e| fail(folder, e))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if name.starts_with('.') {
            continue;
        }
        let about = fs::metadata(&path).map_err(|e| fail(&path, e))?;
        if about.is_file() {
            found.push((name, path, Kind::File(about.len())));
        } else if about.is_dir() && !path.is_symlink() {
            found.push((name, path, Kind::Folder));
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(found)
}

/// The bytes of a folder's documents as one file.
pub(super) struct Files {
    folder: Arc<Folder>,
    next: usize,
    line: Vec<u8>,
    at: usize,
}

impl Files {
    /// From the first document on.
    pub(super) fn new(folder: Arc<Folder>) -> Self {
        Self { folder, next: 0, line: Vec::new(), at: 0 }
    }

    fn next_line(&mut self) -> io::Result<()> {
        let Some((label, path)) = self.folder.files.get(self.next) else { return Ok(()) };
        let about = |error: io::Error| io::Error::other(format!("{}: {error}", path.display()));
        self.next += 1;
        self.line.extend_from_slice(label.as_bytes());
        self.line.push(b'\t');
        let start = self.line.len();
        fs::File::open(path)
            .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut self.line))
            .map_err(about)?;
        if (self.line.len() - start) as u64 > LONGEST {
            return Err(about(io::Error::other(format!(
                "this document is longer than {} MB",
                LONGEST >> 20
            ))));
        }
        self.line[start..].iter_mut().filter(|b| matches!(b, b'\n' | b'\r' | b'\t')).for_each(|b| *b = b' ');
        self.line.push(b'\n');
        Ok(())
    }
}

impl Read for Files {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            self.line.clear();
            self.at = 0;
            self.next_line()?;
        }
        let count = buffer.len().min(self.line.len() - self.at);
        buffer[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
