//! The settings that have names: a builder for each subject of `bindings/settings.json`, and an
//! enumeration for each choice whose words are no constants of `gnnmg.h`.

use crate::header::escape;
use crate::safe::{camel, opening, Items};
use serde_json::Value;
use std::collections::BTreeMap;

/// The subjects with a builder, and the comment of the builder.
const SUBJECTS: [(&str, &str); 17] = [
    ("planted", "Settings of [`Graph::planted`](crate::Graph::planted)."),
    ("log_normal", "Settings of [`Graph::log_normal`](crate::Graph::log_normal)."),
    ("rmat", "Settings of [`Graph::rmat`](crate::Graph::rmat)."),
    ("erdos_renyi", "Settings of [`Graph::erdos_renyi`](crate::Graph::erdos_renyi)."),
    ("dataset", "Settings of [`Dataset::open_with`](crate::Dataset::open_with)."),
    ("split", "Settings of [`Dataset::add_random_split`](crate::Dataset::add_random_split)."),
    ("folds", "Settings of [`Dataset::add_folds`](crate::Dataset::add_folds)."),
    ("parts", "Settings of [`Dataset::save_parts`](crate::Dataset::save_parts)."),
    ("served", "Settings of [`Dataset::open_served`](crate::Dataset::open_served)."),
    ("sampler", "Settings of a sampler."),
    ("loader", "Settings of a loader."),
    (
        "model",
        "Settings of a model. A setting that names architectures, a norm or a readout applies only\nto these; for others it must not be set.",
    ),
    ("norm", "Settings of [`Model::add_norm`](crate::Model::add_norm)."),
    ("model_file", "Settings of files of weights and of optimizers."),
    ("optimizer", "Settings of an optimizer."),
    ("trainer", "Settings of a trainer."),
    ("predictor", "Settings of a predictor."),
];

/// Enumerations of choices whose setting has another name.
fn enumeration(subject: &str, setting: &str) -> String {
    match (subject, setting) {
        (_, "held_out") => "part",
        (_, "device") => "device_type",
        (_, "optimizer") => "optimizer_kind",
        ("parts", "method") => "parts_method",
        (_, "reading") => "parts_reading",
        ("model_file", "format") => "model_format",
        (_, "best_by") => "metric",
        (_, "affine") => "norm_affine",
        (_, "reductions") => "pna_reduction",
        (_, "scalers") => "pna_scaler",
        _ => setting,
    }
    .to_string()
}

fn text<'a>(setting: &'a Value, key: &str) -> &'a str {
    setting[key].as_str().unwrap_or_else(|| panic!("a setting has no {key}: {setting}"))
}

/// The words of a choice.
fn words(setting: &Value) -> Vec<String> {
    text(setting, "values").split(',').map(|word| word.trim().to_string()).collect()
}

/// The meaning of a word, which has a line of its own in the help.
fn meaning<'a>(setting: &'a Value, word: &str) -> Option<&'a str> {
    let mut lines = text(setting, "help").lines();
    lines.find_map(|line| line.strip_prefix(word)?.strip_prefix(": "))
}

/// Text of the help in a comment.
fn plain(help: &str) -> String {
    escape(help).trim().replace('<', "\\<")
}

fn sentence(meaning: &str) -> String {
    let mut letters = meaning.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    plain(&first.chain(letters).collect::<String>())
}

/// Whole sentences: the effect, the range, the default. The meanings of `described` words are
/// comments of their enumeration.
fn comment(setting: &Value, name: Option<&str>, described: &[String]) -> String {
    let (kind, values) = (text(setting, "type"), text(setting, "values"));
    let of_word = |line: &&str| {
        described
            .iter()
            .any(|word| line.strip_prefix(word.as_str()).is_some_and(|l| l.starts_with(": ")))
    };
    let help = text(setting, "help").lines().filter(|line| !of_word(line));
    let mut lines = plain(&help.collect::<Vec<_>>().join("\n"));
    let mut add = |sentence: String| {
        let joint = if lines.is_empty() { "" } else { "\n" };
        lines += &format!("{joint}{sentence}");
    };
    let what = match kind {
        _ if values.is_empty() => "",
        "integer" | "integers" | "number" => "Range",
        "text" => "Values",
        _ => "",
    };
    if !what.is_empty() {
        add(format!("{what}: {}.", escape(values).trim()));
    }
    let default = text(setting, "default");
    add(match (kind, default, name) {
        (_, "", _) => "Default: none.".to_string(),
        ("flag", _, _) => format!("Default: {}.", default == "1"),
        (_, _, Some(name)) if words(setting).iter().any(|word| word == default) => {
            let variant = format!("{name}::{}", camel(default));
            format!("Default: [`{variant}`](crate::{variant}).")
        }
        _ => format!("Default: {}.", escape(default).trim()),
    });
    lines
}

pub fn settings(items: &Items, list: &str) -> String {
    let list: Value = serde_json::from_str(list).expect("settings.json is JSON");
    let mut out = opening("The settings that have names, a builder each.", "{settings, words}");
    // Each enumeration that the header does not have: its first setting, and the setting's builder.
    let mut choices: BTreeMap<String, (&Value, String)> = BTreeMap::new();
    for (subject, what) in SUBJECTS {
        let builder = format!("{}Config", camel(subject));
        out += &format!("\nsettings! {{\n{}    pub struct {builder} {{\n", items.comment(what, 4));
        let rows = list[subject].as_array();
        for setting in rows.unwrap_or_else(|| panic!("settings.json has no {subject}")) {
            let (name, kind) = (text(setting, "name"), text(setting, "type"));
            if name == "stream" {
                continue; // the setter is unsafe and written by hand
            }
            let (mut choice, mut described) = (None, Vec::new());
            if kind.starts_with("choice") {
                let owner = enumeration(subject, name);
                choice = Some(match items.words(&format!("gnnmg_{owner}")) {
                    Some((owner, known)) => {
                        let odd = words(setting).into_iter().find(|word| !known.contains(word));
                        assert!(odd.is_none(), "{subject}: {name}: {owner} has no {odd:?}");
                        owner
                    }
                    None => {
                        let first = || (setting, format!("{builder}::{name}"));
                        let (known, _) = choices.entry(camel(&owner)).or_insert_with(first);
                        described = words(setting);
                        assert!(words(known) == described, "{owner} has different words");
                        camel(&owner)
                    }
                });
            }
            out += &items.comment(&comment(setting, choice.as_deref(), &described), 8);
            let below_0 = text(setting, "values").contains('-');
            let integer = if below_0 { "i64" } else { "usize" };
            let ty = match (kind, choice) {
                ("choice", Some(name)) => format!("crate::{name}"),
                ("choices", Some(name)) => format!("&[crate::{name}]"),
                ("flag", _) => "bool".to_string(),
                // A program that leaves the choice to the format, -1, does not give the setting.
                ("integer", _) if name == "undirected" => "bool".to_string(),
                ("number", _) => "f64".to_string(),
                ("integers", _) => format!("&[{integer}]"),
                ("integer", _) if name.ends_with("_ms") => "std::time::Duration".to_string(),
                ("integer", _) if name == "seed" => "u64".to_string(),
                ("integer", _) => integer.to_string(),
                ("text", _) => "&str".to_string(),
                _ => panic!("{subject}: {name} is of an unknown type, {kind}"),
            };
            let setter = name.strip_suffix("_ms").unwrap_or(name);
            out += &format!("        {setter}({ty}) = {name:?},\n");
        }
        out += "    }\n}\n";
    }
    for (name, (setting, setter)) in choices {
        let what = format!("Values of [`{setter}`](crate::{setter}).");
        out += &format!("\nwords! {{\n{}    pub enum {name} {{\n", items.comment(&what, 4));
        for word in words(setting) {
            let what = meaning(setting, &word).map_or(format!("`{word}`"), sentence);
            out += &items.comment(&what, 8);
            out += &format!("        {} = {word:?},\n", camel(&word));
        }
        out += "    }\n}\n";
    }
    out
}
