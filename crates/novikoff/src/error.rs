//! One error type: what is wrong, where it stands, and what to do about it.

use std::fmt;

/// Where in an input something stands. Lines and columns count from 1; a line of 0 means "the file as a
/// whole".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it (`-` is standard input).
    pub file: String,
    /// Line, or for binary formats the number of the row.
    pub line: u64,
    /// Byte in the line.
    pub column: u64,
}

/// What sort of failure this is: callers choose an exit code by it, never by the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Settings that contradict one another or cannot work.
    Usage,
    /// Bytes from outside that are not what they should be.
    Input,
    /// The operating system said no.
    Io,
    /// The user asked to stop before there was anything to keep.
    Interrupted,
}

/// The error of every fallible operation in this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    place: Option<Place>,
    what: String,
    hint: Option<String>,
}

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, place: None, what: what.into(), hint: None }
    }

    /// Settings that cannot work.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, what)
    }

    /// Input that is not what it should be.
    pub fn input(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, what)
    }

    /// A failure of the operating system on `file`.
    pub fn io(file: impl Into<String>, error: &std::io::Error) -> Self {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        Self::new(ErrorKind::Io, what).at(file, 0, 0)
    }

    /// A file that cannot be written.
    pub fn output(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, what).at(file, 0, 0)
    }

    /// The user asked to stop.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    /// The same error with its place.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: u64, column: u64) -> Self {
        self.place = Some(Place { file: file.into(), line, column });
        self
    }

    /// The same error with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What sort of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where it stands, when that is known.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// What is wrong, without place and advice.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What to do about it, where something helps.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(p) if p.line > 0 => write!(f, "{}:{}:{}: {}", p.file, p.line, p.column, self.what),
            Some(p) => write!(f, "{}: {}", p.file, self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for Error {}
