#![doc = include_str!("../README.md")]
#![no_std]

#[allow(
    non_camel_case_types,
    missing_docs,
    clippy::all,
    rustdoc::invalid_html_tags,
    rustdoc::bare_urls
)]
#[rustfmt::skip]
mod bindings;

pub use bindings::*;
