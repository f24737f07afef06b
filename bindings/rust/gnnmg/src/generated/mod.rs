//! What follows from `gnnmg.h` alone, written by `gnnmg-generate`.

pub mod configs;
pub mod enums;
pub mod infos;
