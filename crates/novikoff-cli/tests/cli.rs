//! The command line, shown by example: every file under `tests/cmd` holds commands with their exit code and
//! what they print. `TRYCMD=overwrite cargo test --test cli` writes down what they print now; then mind the
//! times, which are `[..]`.

#[test]
fn commands_do_what_their_examples_show() {
    trycmd::TestCases::new().env("COLUMNS", "100").case("tests/cmd/*.md").case("tests/cmd/*.toml");
}
