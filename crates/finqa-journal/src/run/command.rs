//! Spells the commands that messages suggest, so that they work where the run was started.

use std::path::Path;

use crate::settings::RunSettings;

/// The command line `convfinqa WORDS` for runs in `output`. The option `-o` is left out for the
/// default folder.
pub fn command(words: &str, output: &Path) -> String {
    if output == RunSettings::default().output {
        return format!("convfinqa {words}");
    }
    let output = output.to_string_lossy();
    // `try_quote` fails only for a null byte, which a path cannot contain.
    let output = shlex::try_quote(&output).unwrap_or_default();
    format!("convfinqa {words} -o {output}")
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
