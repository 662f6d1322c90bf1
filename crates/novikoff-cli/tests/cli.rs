//! The command line, shown by example: every file under `tests/cmd`, and every page of the user guide, holds
//! commands with their exit code and what they print. `TRYCMD=overwrite cargo test --test cli` writes down
//! what they print now; then mind the times, which are `[..]`.

#[test]
fn commands_do_what_their_examples_show() {
    trycmd::TestCases::new().env("COLUMNS", "100").case("tests/cmd/*.md").case("tests/cmd/*.toml");
}

/// The pages' commands run at the root of the repository, as a reader runs them: each page in a folder of its
/// own with a copy of `examples`, so that the models it writes touch nothing else. Commands of
/// `novikoff-check` are skipped unless it is built.
#[cfg(unix)]
mod guide {
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    #[test]
    fn pages_show_what_their_commands_print() -> io::Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let cases = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("guide");
        if cases.exists() {
            fs::remove_dir_all(&cases)?;
        }
        for entry in fs::read_dir(root.join("docs/guide"))? {
            let page = entry?.path();
            if page.extension().is_some_and(|extension| extension == "md") {
                set_up_page(&root, &page, &cases)?;
            }
        }
        trycmd::TestCases::new().env("COLUMNS", "100").case(cases.join("*.md"));
        Ok(())
    }

    /// Makes of a page what trycmd takes for a case: a link to the page, which `TRYCMD=overwrite` follows, a
    /// folder `.in` to start in, and a folder `.out`, which says that commands write files.
    fn set_up_page(root: &Path, page: &Path, cases: &Path) -> io::Result<()> {
        let case = cases.join(page.file_name().unwrap_or_default());
        let start = case.with_extension("in");
        fs::create_dir_all(start.join("examples"))?;
        fs::create_dir_all(start.join("docs/guide/pictures"))?;
        fs::write(start.join("docs/guide/pictures/.keep"), "")?;
        fs::create_dir_all(case.with_extension("out"))?;
        for example in fs::read_dir(root.join("examples"))? {
            let example = example?;
            if example.file_type()?.is_file() {
                fs::copy(example.path(), start.join("examples").join(example.file_name()))?;
            }
        }
        std::os::unix::fs::symlink(fs::canonicalize(page)?, case)
    }
}
