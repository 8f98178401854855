//! Writes the man pages of all commands into a folder, for a release.
//!
//!     cargo run --example man -- FOLDER

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "man".into());
    std::fs::create_dir_all(&folder)?;
    clap_mangen::generate_to(convfinqa::cli::command(), folder)
}
