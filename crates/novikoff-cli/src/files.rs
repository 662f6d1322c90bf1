//! The files that commands read and write, all of them: nothing of a user's is overwritten by accident.
//!
//! [`Files::of`] lists what a command will read and write, and [`Files::check`] looks at all of it before
//! anything is read or learned. An output replaces a file of its own kind and nothing else; `--force` lets it
//! replace a file of any kind, but never what the command reads, nor another of its outputs. What is open
//! already, such as standard output, is added to, unless it is what the command reads. Pipes and devices are
//! written to as they are.

mod kind;
mod unwritten;

pub use kind::Kind;
pub use unwritten::Unwritten;

use crate::arguments::{Command, Compare, Inputs, Pictures, Reading, Train, Verify};
use crate::interrupt;
use novikoff::model::{self, Model, atomic};
use novikoff::read::{documents_in, labels_beside};
use novikoff::{Error, Result};
use std::fs::{self, File, Metadata};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Puts bytes into a file, whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same for what writes itself.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<()> {
    let fail = |error: std::io::Error| Error::io(path.display().to_string(), &error);
    match standard_stream(path).map_err(fail)? {
        Some(mut stream) => fill(&mut stream).map_err(fail),
        None => waiting_for_a_reader(path, || atomic::write_with(path, fill)),
    }
}

/// Writes a model to its file.
pub fn save(model: &Model, path: &Path) -> Result<()> {
    match atomic::number_of_open(path) {
        Some(_) => write(path, &model::to_bytes(model)?),
        None => waiting_for_a_reader(path, || model::save(model, path)),
    }
}

/// Standard output or error, if the path is one of them: a handle that shares its place with the original, so
/// that what is printed and what is written are not written over one another.
#[cfg(unix)]
fn standard_stream(path: &Path) -> std::io::Result<Option<File>> {
    use std::os::fd::AsFd;
    let file = match atomic::number_of_open(path) {
        Some(1) => std::io::stdout().as_fd().try_clone_to_owned()?,
        Some(2) => std::io::stderr().as_fd().try_clone_to_owned()?,
        _ => return Ok(None),
    };
    Ok(Some(File::from(file)))
}

#[cfg(not(unix))]
fn standard_stream(_path: &Path) -> std::io::Result<Option<File>> {
    Ok(None)
}

/// A pipe that nobody reads keeps its writer waiting: then an interrupt ends the program.
fn waiting_for_a_reader<T>(path: &Path, write: impl FnOnce() -> T) -> T {
    let may_wait = fs::metadata(path).is_ok_and(|found| !found.is_file());
    if may_wait { interrupt::while_waiting(write) } else { write() }
}

/// The rows that a certificate is checked against and, if the last of the files is one, the model.
pub fn rows_and_model(arguments: &Verify) -> (&[PathBuf], Option<&PathBuf>) {
    match (&arguments.model, &arguments.data_and_model[..]) {
        (None, [rows @ .., last]) if !rows.is_empty() && is_model(last) => (rows, Some(last)),
        (model, rows) => (rows, model.as_ref()),
    }
}

/// Whether a file that can be looked at without using it up is a model.
pub fn is_model(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file && Kind::Model.is_kind_of(path).unwrap_or(false)
}

/// What a command reads and writes.
#[derive(Debug, Default)]
pub struct Files {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Whether files of other kinds may be replaced.
    force: bool,
}

/// A file or folder that is read, and what it is to the command.
#[derive(Debug)]
struct Input {
    role: &'static str,
    path: PathBuf,
    /// The output that may replace it: it is read before that is written.
    replaced_by: Option<&'static str>,
}

/// A file that is written, and the option that names it.
#[derive(Debug)]
struct Output {
    option: String,
    path: PathBuf,
    kind: Kind,
}

impl Files {
    /// The files of a command.
    pub fn of(command: &Command) -> Self {
        let none = Self::default();
        match command {
            Command::Train(train) => none.of_training(train),
            Command::Tune(tune) => none.of_training(&tune.train),
            Command::Compare(compare) => none.of_comparison(compare),
            Command::Predict(it) => none.reads("MODEL", &it.model).reads_rows(&it.data, &it.reading),
            Command::Evaluate(it) => match it.inputs() {
                Err(_) | Ok(Inputs::Folds(_)) => none.of_training(&it.train),
                Ok(Inputs::Model(model, rows)) => none
                    .reads("MODEL", model)
                    .reads_rows(rows, &it.train.reading)
                    .draws(&it.train.pictures)
                    .forced(it.train.writing.force),
            },
            Command::Inspect(it) => none.reads("MODEL", &it.model),
            Command::Margin(it) => none
                .reads_rows(&it.data, &it.reading)
                .reads_some("--stop-words", &it.documents.stop_words_file())
                .writes("--certificate", Kind::Certificate, &it.certificate)
                .draws(&it.pictures)
                .forced(it.writing.force),
            Command::Verify(it) => {
                let (rows, model) = rows_and_model(it);
                none.reads("CERTIFICATE", &it.certificate)
                    .reads_rows(rows, &it.reading)
                    .reads_some("--stop-words", &it.documents.stop_words_file())
                    .reads_all("MODEL", model)
            }
            Command::Rows(it) => none
                .reads_rows(&it.data, &it.reading)
                .reads_some("--stop-words", &it.documents.stop_words_file())
                .writes("FILE", Kind::Rows, &Some(it.file.clone()))
                .forced(it.writing.force),
            Command::Export(it) => none
                .reads("MODEL", &it.model)
                .writes("FILE", Kind::exported(&it.file), &Some(it.file.clone()))
                .forced(it.writing.force),
            Command::Import(it) => none
                .reads("FILE", &it.file)
                .writes("MODEL", Kind::Model, &Some(it.model.clone()))
                .forced(it.writing.force),
            Command::Bounds(_) | Command::Completions(_) | Command::Man(_) => none,
        }
    }

    fn of_training(self, train: &Train) -> Self {
        self.reads_rows(&train.data, &train.reading)
            .reads_some("--stop-words", &train.documents.stop_words_file())
            .goes_on_from(&train.from)
            .reads_with_labels("--test", &train.test)
            .reads_with_labels("--validation", train.validation_files())
            .writes("-o", Kind::Model, &train.output)
            .writes("--certificate", Kind::Certificate, &train.certificate)
            .writes("--trace", Kind::Trace, &train.trace)
            .draws(&train.pictures)
            .forced(train.writing.force)
    }

    fn of_comparison(self, compare: &Compare) -> Self {
        self.reads_rows(&compare.data, &compare.reading)
            .reads_some("--stop-words", &compare.documents.stop_words_file())
            .reads_with_labels("--test", &compare.test)
            // It is read, too, but by itself: what replaces it goes on from it.
            .writes("--state", Kind::State, &compare.state)
            .draws(&compare.pictures)
            .forced(compare.writing.force)
    }

    fn reads(mut self, role: &'static str, path: &Path) -> Self {
        self.inputs.push(Input { role, path: path.to_owned(), replaced_by: None });
        self
    }

    /// The model that another goes on from, which may take its place.
    fn goes_on_from(mut self, path: &Option<PathBuf>) -> Self {
        if let Some(path) = path {
            self.inputs.push(Input { role: "--from", path: path.clone(), replaced_by: Some("-o") });
        }
        self
    }

    fn reads_some(self, role: &'static str, path: &Option<PathBuf>) -> Self {
        match path {
            Some(path) => self.reads(role, path),
            None => self,
        }
    }

    fn reads_all(self, role: &'static str, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        paths.into_iter().fold(self, |files, path| files.reads(role, path.as_ref()))
    }

    /// Rows to learn from, and their labels where those stand in a file of their own.
    fn reads_rows(self, data: &[PathBuf], reading: &Reading) -> Self {
        let labels = data.iter().filter_map(|path| labels_beside(path));
        let labels = reading.labels.iter().cloned().chain(labels);
        self.reads_all("DATA", data).reads_all("--labels", labels)
    }

    /// Rows whose labels stand beside them, if not among them: --labels is about others.
    fn reads_with_labels(self, role: &'static str, rows: &[impl AsRef<Path>]) -> Self {
        let labels = rows.iter().filter_map(|path| labels_beside(path.as_ref()));
        self.reads_all(role, rows).reads_all(role, labels)
    }

    fn writes(mut self, option: &str, kind: Kind, path: &Option<PathBuf>) -> Self {
        if let Some(path) = path {
            self.outputs.push(Output { option: option.to_owned(), path: path.clone(), kind });
        }
        self
    }

    fn draws(self, pictures: &Pictures) -> Self {
        let report = self.writes("--report", Kind::Report, &pictures.report);
        pictures.picture.iter().fold(report, |files, (name, path)| {
            files.writes(&format!("--picture {}", name.name()), Kind::Picture, &Some(path.clone()))
        })
    }

    fn forced(self, force: bool) -> Self {
        Self { force, ..self }
    }

    /// Refuses what would overwrite something by accident, and what could not be written in the end.
    pub fn check(&self) -> Result<()> {
        let standard_output = Destination::standard_output();
        if standard_output.is_none() && self.outputs.is_empty() {
            return Ok(());
        }
        let sources: Vec<Source> = self.inputs.iter().map(Source::of).collect();
        let mut before: Vec<(&str, Destination)> = Vec::new();
        if let Some(destination) = standard_output {
            refuse_inputs(STANDARD_OUTPUT, &destination, &sources)
                .map_err(|error| error.at(destination.path.display().to_string(), 0, 0))?;
            before.push((STANDARD_OUTPUT, destination));
        }
        for output in &self.outputs {
            let Some(destination) = Destination::of(&output.path)? else { continue };
            self.refuse(output, &destination, &sources, &before)
                .map_err(|error| error.at(output.path.display().to_string(), 0, 0))?;
            before.push((&output.option, destination));
        }
        Ok(())
    }

    fn refuse(
        &self,
        output: &Output,
        destination: &Destination,
        sources: &[Source],
        before: &[(&str, Destination)],
    ) -> Result<()> {
        refuse_inputs(&output.option, destination, sources)?;
        if let Some((other, _)) = before.iter().find(|(_, other)| other.is_lost_by(destination)) {
            let what = format!("{other} and {} would write the same file", output.option);
            return Err(Error::usage(what).hint("give each a name of its own"));
        }
        let replaces = destination.manner == Manner::Replaces;
        if replaces && !self.force && !output.kind.may_replace(&destination.path)? {
            let what = format!("this file is there already, and it is no {}", output.kind.name());
            return Err(Error::usage(what).hint("choose another name, or say --force to replace it"));
        }
        Ok(())
    }
}

/// What messages call what is printed.
const STANDARD_OUTPUT: &str = "standard output";

/// Refuses an output that would change what is read, or become a part of it.
fn refuse_inputs(option: &str, destination: &Destination, sources: &[Source]) -> Result<()> {
    if let Some(source) = sources.iter().find(|source| source.is_changed_by(option, destination)) {
        let (done, never) = match destination.manner {
            Manner::Replaces => ("replace", "replaced"),
            Manner::Adds => ("be added to", "added to"),
        };
        let what = format!("{option} would {done} what {} reads", source.role);
        let hint = format!("choose another name: what is read is never {never}, also with --force");
        return Err(Error::usage(what).hint(hint));
    }
    if let Some(source) = sources.iter().find(|source| source.contains(&destination.path)) {
        let what = format!("{option} would be a file of the folder that {} reads", source.role);
        let hint = "choose a name outside of the folder: in it, this is a document when it is read again";
        return Err(Error::usage(what).hint(hint));
    }
    Ok(())
}

/// What happens to the file that an output goes to, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Replaces,
    /// It is open already.
    Adds,
}

/// The file that an output goes to.
#[derive(Debug)]
struct Destination {
    path: PathBuf,
    identity: Identity,
    manner: Manner,
}

impl Destination {
    /// Where an output of this name goes, if that is a file: pipes and devices are nobody's.
    fn of(path: &Path) -> Result<Option<Self>> {
        if let Some(real) = atomic::check(path)? {
            let identity = Identity::of(&real);
            return Ok(Some(Self { path: real, identity, manner: Manner::Replaces }));
        }
        let is_open = atomic::number_of_open(path).is_some();
        let found = fs::metadata(path).ok().filter(|_| is_open);
        Ok(found.and_then(|found| Self::open(path, &found)))
    }

    /// What is open already under this name, if it is a file.
    fn open(path: &Path, found: &Metadata) -> Option<Self> {
        let identity = Identity::of_metadata(found).filter(|_| found.is_file())?;
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Some(Self { path, identity, manner: Manner::Adds })
    }

    /// The file that the shell has put in place of standard output.
    #[cfg(unix)]
    fn standard_output() -> Option<Self> {
        use std::os::fd::AsFd;
        let output = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
        Self::open(Path::new("/dev/stdout"), &File::from(output).metadata().ok()?)
    }

    #[cfg(not(unix))]
    fn standard_output() -> Option<Self> {
        None
    }

    /// Whether one of the two would be lost: of a file that is replaced nothing is left, and what is open
    /// already takes what several outputs add to it.
    fn is_lost_by(&self, other: &Self) -> bool {
        let is_replaced = [self.manner, other.manner].contains(&Manner::Replaces);
        is_replaced && self.identity == other.identity
    }
}

/// What is read by the name of an input.
struct Source {
    role: &'static str,
    replaced_by: Option<&'static str>,
    /// The folder behind the name, if it is one.
    folder: Option<PathBuf>,
    /// The file, or all documents of the folder: links in it may lead anywhere.
    files: Vec<Identity>,
}

impl Source {
    fn of(input: &Input) -> Self {
        let Input { role, path, replaced_by } = input;
        let (role, replaced_by) = (*role, *replaced_by);
        let (folder, files) = match fs::metadata(path) {
            _ if path.as_os_str() == "-" => (None, Identity::of_standard_input().into_iter().collect()),
            Ok(found) if found.is_dir() => {
                let documents = documents_in(path);
                (fs::canonicalize(path).ok(), documents.iter().map(|path| Identity::of(path)).collect())
            }
            Ok(_) => (None, vec![Identity::of(path)]),
            Err(_) => (None, Vec::new()),
        };
        Self { role, replaced_by, folder, files }
    }

    /// Whether the output goes to what is read here, and must not.
    fn is_changed_by(&self, option: &str, destination: &Destination) -> bool {
        let may = destination.manner == Manner::Replaces && self.replaced_by == Some(option);
        !may && self.files.contains(&destination.identity)
    }

    /// Whether a file, which need not be there, lies in the folder, at any depth.
    fn contains(&self, file: &Path) -> bool {
        let (Some(folder), Some(name)) = (&self.folder, file.file_name()) else { return false };
        fs::canonicalize(folder_of(file)).is_ok_and(|own| own.join(name).starts_with(folder))
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Which file it is, by whatever name.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and number on it: links have those of the file.
    #[cfg(unix)]
    Node(u64, u64),
    /// The one name of a file that has no number, or is not there yet.
    Path(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Self {
        if let Some(node) = fs::metadata(path).ok().and_then(|found| Self::of_metadata(&found)) {
            return node;
        }
        let (folder, name) = (folder_of(path), path.file_name().unwrap_or_default());
        let behind_links = fs::canonicalize(path).or_else(|_| Ok(fs::canonicalize(folder)?.join(name)));
        Self::Path(behind_links.unwrap_or_else(|_: std::io::Error| path.to_owned()))
    }

    #[cfg(unix)]
    fn of_metadata(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self::Node(found.dev(), found.ino()))
    }

    #[cfg(not(unix))]
    fn of_metadata(_: &Metadata) -> Option<Self> {
        None
    }

    /// Of the file that the shell has put in place of standard input.
    #[cfg(unix)]
    fn of_standard_input() -> Option<Self> {
        use std::os::fd::AsFd;
        let input = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
        Self::of_metadata(&File::from(input).metadata().ok()?)
    }

    #[cfg(not(unix))]
    fn of_standard_input() -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::{Arg, CommandFactory, Parser};
    use std::any::TypeId;

    /// Options of other types that name files, each with a value that does.
    const OTHERS: [(&str, &str); 3] =
        [("validation", "given"), ("picture", "points=given"), ("stop_words", "given")];

    fn names_a_file(argument: &Arg) -> bool {
        argument.get_value_parser().type_id() == TypeId::of::<PathBuf>()
    }

    /// The command line with this argument, and with those that it cannot do without.
    fn with(command: &clap::Command, argument: &Arg, value: &str) -> Vec<String> {
        let mut words = vec!["novikoff".to_owned(), command.get_name().to_owned()];
        for positional in command.get_positionals().filter(|it| it.is_required_set() || *it == argument) {
            words.push(if positional == argument { value.to_owned() } else { "other".to_owned() });
        }
        if let Some(long) = argument.get_long() {
            words.extend([format!("--{long}"), value.to_owned()]);
            // Most of its options are for folds.
            words.extend((command.get_name() == "evaluate").then(|| "--folds=2".to_owned()));
        }
        words
    }

    #[test]
    fn every_argument_that_names_a_file_is_listed_as_read_or_written() {
        let program = Arguments::command();
        let mut seen = 0;
        for command in program.get_subcommands() {
            for argument in command.get_arguments() {
                let other = OTHERS.iter().find(|(id, _)| argument.get_id() == id).map(|(_, value)| *value);
                let Some(value) = other.or(names_a_file(argument).then_some("given")) else { continue };
                let words = with(command, argument, value);
                let parsed =
                    Arguments::try_parse_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
                let files = Files::of(&parsed.command);
                let listed = files.inputs.iter().map(|input| &input.path);
                let mut listed = listed.chain(files.outputs.iter().map(|output| &output.path));
                assert!(listed.any(|path| path == Path::new("given")), "{words:?}");
                seen += 1;
            }
        }
        assert!(seen > 40, "{seen}");
    }
}
