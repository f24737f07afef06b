//! What follows from `gnnmg.h` and `settings.json` alone, written by `gnnmg-generate`.

pub mod configs;
pub mod enums;
pub mod infos;
pub mod settings;
