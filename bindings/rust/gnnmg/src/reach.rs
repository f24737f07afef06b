//! For the tests of the package, built with `--cfg gnnmg_reach`: every C function that is called
//! leaves its name in the file that `GNNMG_REACH_FILE` names.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Mutex;

static SEEN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

pub fn record(function: &'static str) {
    let mut seen = SEEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if seen.get_or_insert_with(HashSet::new).insert(function) {
        if let Some(path) = std::env::var_os("GNNMG_REACH_FILE") {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            let _ = file.and_then(|mut file| file.write_all(format!("{function}\n").as_bytes()));
        }
    }
}
