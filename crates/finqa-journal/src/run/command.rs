//! The commands that messages name, as they can be typed where the run was started.

use std::path::Path;

use crate::settings::RunSettings;

/// The command `words` of this program, about the runs in `output`.
pub fn command(words: &str, output: &Path) -> String {
    if output == RunSettings::default().output {
        return format!("convfinqa {words}");
    }
    format!("convfinqa {words} -o {}", quoted(&output.to_string_lossy()))
}

/// The command that lists the runs in the folder `runs` of an output folder.
pub(super) fn list_command(runs: &Path) -> String {
    command("runs", runs.parent().unwrap_or(runs))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+:,=@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_output_folder_quoted_unless_it_is_the_default() {
        let at = |output: &str| command("--resume 01a", Path::new(output));
        assert_eq!(at("output"), "convfinqa --resume 01a");
        assert_eq!(at("c3"), "convfinqa --resume 01a -o c3");
        assert_eq!(at("my runs"), "convfinqa --resume 01a -o 'my runs'");
        assert_eq!(at("it's"), r"convfinqa --resume 01a -o 'it'\''s'");
    }
}
