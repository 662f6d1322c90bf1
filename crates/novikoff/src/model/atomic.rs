//! Files that are written whole or not at all: a crash, a full disk or a pulled plug leaves the old file as
//! it was.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Puts `bytes` into the file `path`, at once: readers see the old file or the new one, never a part of it.
///
/// The bytes go to a temporary file in the same folder, reach the disk, and then take the old file's name. A
/// link stays a link: the file it points to is replaced. Permissions of an old file are kept. What is no file
/// (`/dev/null`, a pipe) cannot be replaced and is written to as it is; to what this process has open already
/// (`/dev/stdout`) the bytes are added, even where that is a file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same for what writes itself.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let name = path.display().to_string();
    let target = Target::find(path).map_err(|error| explain(&name, path, &error))?;
    let done = match &target {
        Target::File { path, permissions } => replace(path, permissions.clone(), fill),
        Target::Stream(path) => {
            OpenOptions::new().write(true).open(path).and_then(|mut file| fill(&mut file))
        }
        Target::Open { path, .. } => {
            OpenOptions::new().append(true).open(path).and_then(|mut file| fill(&mut file))
        }
    };
    done.map_err(|error| explain(&name, target.path(), &error))
}

/// Says now what would keep [`write()`] from writing this file later: that it is a folder, that there is no
/// folder for it, or no permission. Writes nothing.
///
/// Returns the file that would be made or replaced, behind all links; none for what is written to as it is.
pub fn check(path: &Path) -> Result<Option<PathBuf>> {
    let name = path.display().to_string();
    match Target::find(path).map_err(|error| explain(&name, path, &error))? {
        Target::File { path, .. } => {
            // Nothing tells as surely whether a file can be made as making one.
            drop(Temporary::new(folder_of(&path)).map_err(|error| explain(&name, &path, &error))?);
            Ok(Some(path))
        }
        Target::Stream(_) | Target::Open { .. } => Ok(None),
    }
}

/// The number that a path has among the open files of this process: 1 for `/dev/stdout`.
pub fn number_of_open(path: &Path) -> Option<u32> {
    match Target::find(path) {
        Ok(Target::Open { number, .. }) => Some(number),
        _ => None,
    }
}

/// Temporary files that are being written, and the number of the next.
static TEMPORARIES: Mutex<(Vec<PathBuf>, u64)> = Mutex::new((Vec::new(), 0));

fn temporaries() -> MutexGuard<'static, (Vec<PathBuf>, u64)> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives up every write that is under way, for a process that is about to end: their temporary files are
/// removed, the files of these names stay as they are, and what is being written, or is to be, waits for
/// ever.
pub fn abandon() {
    let temporaries = temporaries();
    temporaries.0.iter().for_each(|path| drop(fs::remove_file(path)));
    std::mem::forget(temporaries);
}

/// What a path stands for.
enum Target {
    /// A file to be replaced, with its permissions, or one that is not there yet.
    File { path: PathBuf, permissions: Option<fs::Permissions> },
    /// A pipe or a device.
    Stream(PathBuf),
    /// What this process has open already, by its number.
    Open { path: PathBuf, number: u32 },
}

impl Target {
    fn find(path: &Path) -> io::Result<Self> {
        let path = follow_links(path)?;
        // Other functions pass over a slash at the end, and would find out last.
        match path.as_os_str().as_encoded_bytes().last() {
            None => return Err(io::Error::new(ErrorKind::InvalidInput, "an empty name is that of no file")),
            Some(end) if std::path::is_separator(char::from(*end)) => {
                return Err(ErrorKind::IsADirectory.into());
            }
            Some(_) => {}
        }
        if let Some(number) = open_number(&path) {
            return Ok(Target::Open { path, number });
        }
        match fs::metadata(&path) {
            Ok(old) if old.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(old) if !old.is_file() => Ok(Target::Stream(path)),
            Ok(old) if old.permissions().readonly() => Err(ErrorKind::PermissionDenied.into()),
            Ok(old) => Ok(Target::File { path, permissions: Some(old.permissions()) }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Target::File { path, permissions: None }),
            Err(error) => Err(error),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Target::File { path, .. } | Target::Stream(path) | Target::Open { path, .. } => path,
        }
    }
}

/// The number of an open file of this process, if the path is one: `/dev/stdout` is a link to such a path.
#[cfg(unix)]
fn open_number(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let own = ["/proc/self/fd", "/dev/fd"].into_iter().filter_map(|own| fs::canonicalize(own).ok());
    own.into_iter().any(|own| own == folder).then_some(number)
}

#[cfg(not(unix))]
fn open_number(_path: &Path) -> Option<u32> {
    None
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn replace(
    target: &Path,
    permissions: Option<fs::Permissions>,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(target);
    let mut temporary = Temporary::new(folder)?;
    if let Some(permissions) = permissions {
        temporary.file.set_permissions(permissions)?;
    }
    fill(&mut temporary.file)?;
    temporary.file.sync_all()?;
    temporary.rename(target)?;
    sync_folder(folder)
}

/// A file that is gone when it is dropped, unless it was renamed.
struct Temporary {
    file: File,
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    fn new(folder: &Path) -> io::Result<Self> {
        let mut temporaries = temporaries();
        let (paths, count) = &mut *temporaries;
        loop {
            // The name does not build on the target's, which may be as long as names can be.
            let path = folder.join(format!(".novikoff-{}-{count}.tmp", std::process::id()));
            *count += 1;
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    paths.push(path.clone());
                    return Ok(Self { file, path, renamed: false });
                }
                // Left behind by a process that was killed and had the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives the file its name.
    fn rename(&mut self, target: &Path) -> io::Result<()> {
        let mut temporaries = temporaries();
        fs::rename(&self.path, target)?;
        temporaries.0.retain(|path| *path != self.path);
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let mut temporaries = temporaries();
            // Nothing more can be done if this fails, and the first failure is the one to tell.
            drop(fs::remove_file(&self.path));
            temporaries.0.retain(|path| *path != self.path);
        }
    }
}

/// The file that a path stands for, or what is open already; it need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        if open_number(&path).is_some() || !fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink()) {
            return Ok(path);
        }
        // What is behind a link of /proc/1234/fd need not have a name.
        let next = fs::read_link(&path)?;
        let next = path.parent().map_or(next.clone(), |parent| parent.join(next));
        if fs::metadata(&path).is_ok() && fs::symlink_metadata(&next).is_err() {
            return Ok(path);
        }
        path = next;
    }
    Err(io::Error::other("too many links that point to one another"))
}

/// Makes a rename survive a crash.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems know no such thing.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn explain(name: &str, path: &Path, error: &io::Error) -> Error {
    let told = Error::io(name, error);
    let folder = folder_of(path).display();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            Error::output(name, format!("there is no folder {folder} to write it into"))
                .hint("make the folder first")
        }
        ErrorKind::PermissionDenied => {
            told.hint(format!("no permission to write this file or into the folder {folder}"))
        }
        ErrorKind::ReadOnlyFilesystem => {
            told.hint(format!("the folder {folder} can only be read: choose another"))
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            told.hint("the disk is full: make room and try again; an older file of this name is as it was")
        }
        ErrorKind::IsADirectory => told.hint("this is a folder: name a file in it"),
        _ => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failing_write_leaves_the_old_file_whole_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        write(&path, b"old").unwrap();
        let full = write_with(&path, |file| {
            file.write_all(b"half of the n")?;
            Err(ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!(full.place().unwrap().file, path.display().to_string());
        assert!(full.advice().unwrap().contains("disk is full"), "{:?}", full.advice());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[test]
    fn a_panic_while_writing_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let panicked = std::panic::catch_unwind(|| write_with(&path, |_| panic!("on purpose")));
        assert!(panicked.is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_missing_folder_and_a_folder_in_place_of_the_file_are_told_by_a_check_and_by_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/model");
        let error = write(&path, b"x").unwrap_err();
        assert!(error.what().contains("there is no folder") && error.advice().is_some());
        assert_eq!(check(&path), Err(error));
        let error = write(folder.path(), b"x").unwrap_err();
        assert!(error.advice().unwrap().contains("name a file in it"));
        assert_eq!(check(folder.path()), Err(error));
        let error = check(&folder.path().join("new/")).unwrap_err();
        assert!(error.advice().unwrap().contains("name a file in it"), "{error}");
        assert!(check(Path::new("")).is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_check_writes_nothing_and_finds_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        assert_eq!(check(&path), Ok(Some(path.clone())));
        assert!(names(folder.path()).is_empty());
        write(&path, b"old").unwrap();
        assert_eq!(check(&path), Ok(Some(path.clone())));
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"old".to_vec(), vec!["model".into()]));
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::os::unix::fs::{PermissionsExt, symlink};

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        #[test]
        fn permissions_are_kept_and_those_of_a_new_file_are_ordinary() {
            let folder = tempfile::tempdir().unwrap();
            let (path, ordinary) = (folder.path().join("model"), folder.path().join("ordinary"));
            fs::write(&ordinary, b"").unwrap();
            write(&path, b"1").unwrap();
            assert_eq!(mode(&path), mode(&ordinary));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            write(&path, b"2").unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o640, b"2".to_vec()));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
            let refused = write(&path, b"3").unwrap_err();
            assert!(refused.advice().unwrap().contains("no permission"));
            assert_eq!(check(&path), Err(refused));
            assert_eq!(fs::read(&path).unwrap(), b"2");
        }

        #[test]
        fn a_link_stays_a_link_and_its_file_is_replaced() {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("real")).unwrap();
            let (link, real) = (folder.path().join("link"), folder.path().join("real/model"));
            symlink("real/model", &link).unwrap();
            for bytes in [b"new", b"two"] {
                write(&link, bytes).unwrap();
                assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
                assert_eq!(fs::read(&real).unwrap(), bytes);
                assert_eq!(check(&link), Ok(Some(real.clone())));
            }
            assert_eq!(names(&folder.path().join("real")), ["model"]);
            symlink("round", folder.path().join("round")).unwrap();
            assert!(write(&folder.path().join("round"), b"x").unwrap_err().what().contains("links"));
        }

        #[test]
        #[cfg(target_os = "linux")]
        fn devices_are_written_to_and_never_replaced() {
            use std::os::unix::fs::FileTypeExt;
            let error = write(Path::new("/dev/full"), b"x").unwrap_err();
            assert!(error.advice().unwrap().contains("disk is full"));
            assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
            assert_eq!(check(Path::new("/dev/full")), Ok(None));
        }

        /// A file that is open already may have something in it, and get something more.
        #[test]
        #[cfg(target_os = "linux")]
        fn what_is_open_already_is_added_to_and_never_replaced() {
            use std::os::fd::AsRawFd;
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            fs::write(&path, b"old ").unwrap();
            let open = File::open(&path).unwrap();
            for name in ["/dev/fd", "/proc/self/fd"] {
                let again = Path::new(name).join(open.as_raw_fd().to_string());
                write(&again, b"new ").unwrap();
                assert_eq!(check(&again), Ok(None));
            }
            assert_eq!(fs::read(&path).unwrap(), b"old new new ");
            assert_eq!(names(folder.path()), ["log"]);
            assert_eq!(
                ["/dev/stdout", "/dev/stderr", "/dev/null"].map(|name| number_of_open(Path::new(name))),
                [Some(1), Some(2), None]
            );
        }
    }
}
