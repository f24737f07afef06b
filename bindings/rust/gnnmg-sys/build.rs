//! Finds libgnnmg: `GNNMG_DIR`, else pkg-config, else one error that names the remedies.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() {
    println!("cargo:rerun-if-env-changed=GNNMG_DIR");
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return; // documentation needs no library
    }
    let folder = match env::var_os("GNNMG_DIR") {
        Some(dir) => in_dir(Path::new(&dir)),
        None => by_pkg_config(),
    };
    println!("cargo:libdir={}", folder.display());
    for name in for_running(&folder) {
        println!("cargo:rerun-if-changed={}", name.display());
    }
}

/// The folder of the library below an installed or built tree.
fn in_dir(dir: &Path) -> PathBuf {
    let places = ["lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "."];
    let Some(folder) =
        places.iter().map(|place| dir.join(place)).find(|f| f.join("libgnnmg.so").exists())
    else {
        fail(&format!("GNNMG_DIR is {}, where no libgnnmg.so lies in {places:?}", dir.display()));
    };
    if let Ok(header) = fs::read_to_string(dir.join("include/gnnmg.h")) {
        check_version(&header_version(&header), &dir.join("include/gnnmg.h").display().to_string());
    }
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib=gnnmg");
    folder
}

fn by_pkg_config() -> PathBuf {
    match pkg_config::Config::new().cargo_metadata(true).probe("gnnmg") {
        Ok(library) => {
            check_version(&library.version, "pkg-config's gnnmg");
            let found = library.link_paths.iter().find(|path| path.join("libgnnmg.so").exists());
            found.cloned().unwrap_or_else(|| PathBuf::from("/usr/lib"))
        }
        Err(error) => {
            fail(&format!("pkg-config does not know gnnmg ({})", first_line(&error.to_string())))
        }
    }
}

fn header_version(header: &str) -> String {
    let number = |part: &str| {
        let name = format!("#define GNNMG_VERSION_{part} ");
        let line = header.lines().find_map(|line| line.strip_prefix(&name));
        line.and_then(|rest| rest.split_whitespace().next()).unwrap_or("?").to_string()
    };
    format!("{}.{}.{}", number("MAJOR"), number("MINOR"), number("PATCH"))
}

/// Before 1.0 the ABI changes with the minor version.
fn check_version(found: &str, place: &str) {
    let parts = |version: &str| {
        let mut list = version.split('.').map(str::to_string);
        (list.next(), list.next())
    };
    let (wanted, has) = (parts(VERSION), parts(found));
    if wanted.0 != has.0 || (wanted.0.as_deref() == Some("0") && wanted.1 != has.1) {
        fail(&format!(
            "gnnmg-sys {VERSION} is for libgnnmg of the same version, but {place} is {found}"
        ));
    }
}

/// Cargo puts library paths below its own target folder, and no others, into the run-time search
/// path of programs that it starts; so the library is linked from there, next to links to its
/// plug-ins and to the folder of LibTorch, which it looks for in its own folder.
fn for_running(folder: &Path) -> Vec<PathBuf> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("lib");
    let _ = fs::remove_dir_all(&out);
    let mut linked = Vec::new();
    if fs::create_dir_all(&out).is_err() {
        return linked;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if text.starts_with("libgnnmg.so")
            || text == "libgnnmg_cuda.so"
            || text == "libgnnmg_grpc.so"
            || text == "gnnmg"
        {
            let path = fs::canonicalize(entry.path()).unwrap_or_else(|_| entry.path());
            #[cfg(unix)]
            let _ = std::os::unix::fs::symlink(&path, out.join(&name));
            linked.push(path);
        }
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    linked
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("")
}

fn fail(why: &str) -> ! {
    eprintln!(
        "libgnnmg {VERSION} was not found: {why}.\nEither set GNNMG_DIR to the folder that it is installed or \
         built in, or have its lib/pkgconfig in PKG_CONFIG_PATH, or install it where pkg-config looks by itself."
    );
    exit(1);
}
