//! The library speaks of settings, as `hash_bits = 20`; who reads the program's messages knows options, as
//! `--hash-bits 20`.

use crate::arguments::Arguments;
use clap::CommandFactory;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Settings whose option has another name.
const RENAMED: [(&str, &str); 2] = [("steps", "epochs"), ("units", "hidden")];

/// The long options of all commands.
static OPTIONS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let program = Arguments::command();
    let own = program.get_subcommands().flat_map(|command| command.get_arguments());
    own.filter_map(|argument| argument.get_long()).map(str::to_owned).collect()
});

/// The same text with options in place of settings between backticks.
pub fn with_options(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((setting, after)) = behind.split_once('`') else { break };
        result.push_str(before);
        result.push_str(&option(setting).unwrap_or_else(|| format!("`{setting}`")));
        rest = after;
    }
    result + rest
}

/// The option that a setting is, if it is one: `name` or `name = value`.
fn option(setting: &str) -> Option<String> {
    let (name, value) = match setting.split_once(" = ") {
        Some((name, value)) => (name, Some(value)),
        None => (setting, None),
    };
    let renamed = RENAMED.iter().find(|(own, _)| *own == name).map_or(name, |(_, option)| option);
    let long = renamed.replace('_', "-");
    if !OPTIONS.contains(&long) {
        return None;
    }
    Some(value.map_or_else(|| format!("--{long}"), |value| format!("--{long} {}", quoted(value))))
}

/// A value as a shell takes it for one word.
fn quoted(value: &str) -> String {
    let is_plain =
        value != "|" && !value.contains(|c: char| c.is_whitespace() || "'\"\\$&;()<>*#!`".contains(c));
    if is_plain { value.to_owned() } else { format!("'{}'", value.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_options_and_everything_else_stays() {
        let text =
            "fewer features, by `hash_bits = 20` or a smaller `max_index`; `fold` and `EmpiricalRisk` stay";
        let expected =
            "fewer features, by --hash-bits 20 or a smaller --max-index; `fold` and `EmpiricalRisk` stay";
        assert_eq!(with_options(text), expected);
        assert_eq!(with_options("keep it by `drop = ocean (km)`"), "keep it by --drop 'ocean (km)'");
        assert_eq!(with_options("`missing = zero|mean`, `drop = a,b`"), "--missing zero|mean, --drop a,b");
        assert_eq!(with_options("try more `steps`, a ` alone"), "try more --epochs, a ` alone");
    }
}
