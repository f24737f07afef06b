//! Writes all code that follows from `gnnmg.h` and `bindings/settings.json`: the raw layer of
//! `gnnmg-sys`, and the enumerations, settings and facts of `gnnmg`. With `--check` it writes nothing
//! and fails where a file would differ.
//!
//! `cargo run -p gnnmg-generate [-- --check]`
//!
//! `--reached <file>` lists the functions of the header that are missing in the file: tests built
//! with `--cfg gnnmg_reach` write it, one name per line. A path alone is the folder of the crates, if it
//! is another than this one.

mod header;
mod safe;
mod settings;

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.iter().any(|argument| argument == "--check");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = here.parent().expect("the crate lies in a folder");
    if let [option, file] = arguments.as_slice() {
        if option == "--reached" {
            let raw = read(&here.join("gnnmg-sys/src/bindings.rs"));
            return reached(&raw, Path::new(file));
        }
    }
    let folder = arguments.iter().find(|argument| *argument != "--check");
    let crates = folder.map_or(here, Path::new);
    let header = crates.join("../../include/gnnmg.h");
    let list = crates.join("../settings.json");
    let raw = header::bindings(&header);
    let items = safe::Items::parse(&raw);
    let files = [
        ("gnnmg-sys/src/bindings.rs", raw),
        ("gnnmg/src/generated/enums.rs", items.enums()),
        ("gnnmg/src/generated/configs.rs", items.configs()),
        ("gnnmg/src/generated/infos.rs", items.infos()),
        ("gnnmg/src/generated/settings.rs", settings::settings(&items, &read(&list))),
    ];

    let mut stale = false;
    for (name, text) in files {
        let path = crates.join(name);
        let current = std::fs::read_to_string(&path).unwrap_or_default();
        if current == text {
            continue;
        }
        if check {
            eprintln!("{name} does not follow from gnnmg.h and settings.json: cargo run -p gnnmg-generate");
            stale = true;
        } else {
            std::fs::create_dir_all(path.parent().expect("a file lies in a folder"))
                .and_then(|()| std::fs::write(&path, text))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            println!("{name} written");
        }
    }
    if stale {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn reached(raw: &str, file: &Path) -> ExitCode {
    let list = read(file);
    let called: HashSet<&str> = list.lines().collect();
    // Objects free themselves, each when nothing borrows from it any more.
    let all: Vec<&str> =
        header::functions(raw).into_iter().filter(|&name| name != "gnnmg_context_close").collect();
    let missing: Vec<&str> = all.iter().filter(|name| !called.contains(*name)).copied().collect();
    println!("{} of {} functions are reached by tests", all.len() - missing.len(), all.len());
    if missing.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("not reached: {}", missing.join(", "));
    ExitCode::FAILURE
}
