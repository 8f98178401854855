//! The commands that messages name, as they can be typed where the run was started.

use std::path::Path;

use crate::settings::RunSettings;

/// The command `words` of this program, about the runs in `output`.
pub fn command(words: &str, output: &Path) -> String {
    if output == RunSettings::default().output {
        return format!("convfinqa {words}");
    }
    let output = output.to_string_lossy();
    // A path has no null byte, which a shell could not take.
    let output = shlex::try_quote(&output).unwrap_or_default();
    format!("convfinqa {words} -o {output}")
}

/// The command that lists the runs in the folder `runs` of an output folder.
pub(super) fn list_command(runs: &Path) -> String {
    command("runs", runs.parent().unwrap_or(runs))
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
        assert_eq!(at("it's"), r#"convfinqa --resume 01a -o "it's""#);
    }
}
