//! The parts of the safe layer that follow from the header alone: an enumeration for each group of
//! constants, a builder for each `_config` whose settings have no names, a plain struct for each `_info`. They are written as
//! calls of the macros in `gnnmg/src/raw.rs`; `settings.rs` writes the builders of named settings.

use std::collections::BTreeMap;
use syn::{Attribute, Fields, Item, Type};

/// Fields that mean nothing to a program.
fn left_out(field: &str) -> bool {
    field == "struct_size" || field.starts_with("padding")
}

/// Structs whose settings have no names, with the name of the builder.
const CONFIGS: [(&str, &str); 5] = [
    ("gnnmg_context_config", "ContextConfig"),
    ("gnnmg_comm_config", "CommConfig"),
    ("gnnmg_served_config", "OpenPartsConfig"),
    ("gnnmg_checkpoint_config", "CheckpointConfig"),
    ("gnnmg_server_config", "ServerConfig"),
];

/// Structs that are no settings and no facts, or that are read by hand.
const BY_HAND: [&str; 7] = [
    "gnnmg_device_info",
    "gnnmg_error_info",
    "gnnmg_tensor_info",
    "gnnmg_log_info",
    "gnnmg_layer_info",
    "gnnmg_loss_batch",
    "gnnmg_setting_info",
];

/// The type of a field that is an array, whatever its elements are.
const ARRAY: &str = "[]";

struct Field {
    name: String,
    ty: String,
    doc: String,
}

struct Struct {
    name: String,
    doc: String,
    fields: Vec<Field>,
}

struct Constant {
    name: String,
    doc: String,
}

pub struct Items {
    structs: Vec<Struct>,
    /// Constants, with the C type of the enumeration as key.
    enums: Vec<(String, Vec<Constant>)>,
    docs: BTreeMap<String, String>,
    /// Name of each constant in the safe layer.
    variants: BTreeMap<String, String>,
}

impl Items {
    pub fn parse(raw: &str) -> Self {
        let file = syn::parse_file(raw).expect("bindgen writes Rust");
        let mut structs = Vec::new();
        let mut enums: Vec<(String, Vec<Constant>)> = Vec::new();
        let mut docs = BTreeMap::new();
        for item in &file.items {
            match item {
                Item::Struct(item) => structs.push(Struct {
                    name: item.ident.to_string(),
                    doc: doc(&item.attrs),
                    fields: fields(&item.fields),
                }),
                Item::Const(item) => {
                    let Type::Path(path) = &*item.ty else { continue };
                    let owner = path.path.segments.last().expect("a type has a name");
                    let owner = owner.ident.to_string();
                    if !owner.starts_with("gnnmg_") {
                        continue;
                    }
                    if enums.last().is_none_or(|(last, _)| *last != owner) {
                        enums.push((owner, Vec::new()));
                    }
                    let constant = Constant { name: item.ident.to_string(), doc: doc(&item.attrs) };
                    enums.last_mut().expect("one was added").1.push(constant);
                }
                Item::Type(item) => {
                    docs.insert(item.ident.to_string(), doc(&item.attrs));
                }
                _ => {}
            }
        }
        let mut variants = BTreeMap::new();
        for (owner, list) in &enums {
            let cut = prefix(owner, list);
            for constant in list.iter().filter(|c| c.name.starts_with(&cut)) {
                let name = format!("{}::{}", enum_name(owner), camel(&constant.name[cut.len()..]));
                variants.insert(constant.name.clone(), name);
            }
        }
        Items { structs, enums, docs, variants }
    }

    pub fn enums(&self) -> String {
        let mut out = opening("The enumerations.", "{choice, enumeration}");
        for (owner, list) in &self.enums {
            let name = enum_name(owner);
            let text = match name.as_str() {
                "ErrorKind" => {
                    "What went wrong: each stands for one way in which a caller may react."
                }
                _ => self.docs.get(owner).map_or("", String::as_str),
            };
            // Errors are no settings.
            let settable = name != "ErrorKind";
            let kind = if settable { "choice" } else { "enumeration" };
            out += &format!("\n{kind}! {{\n{}", self.comment(text, 4));
            out += &format!("    pub enum {name} {{\n");
            let cut = prefix(owner, list);
            for constant in list.iter().filter(|c| c.name.starts_with(&cut)) {
                // A comment that stands on the line after the name does not reach the name.
                let bare = format!("{} of C.", constant.name);
                out +=
                    &self.comment(if constant.doc.is_empty() { &bare } else { &constant.doc }, 8);
                let end = &constant.name[cut.len()..];
                let word = format!(" {:?}", end.to_lowercase());
                let word = if settable { word.as_str() } else { "" };
                out += &format!("        {} = {}{word},\n", camel(end), constant.name);
            }
            out += "    }\n}\n";
        }
        out
    }

    pub fn configs(&self) -> String {
        let mut out = opening("The settings, a builder each.", "config");
        for (c_name, name) in CONFIGS {
            let item =
                self.structs.iter().find(|item| item.name == c_name).expect("the header has it");
            out += &format!("\nconfig! {{\n{}", self.comment(&item.doc, 4));
            out += &format!("    pub struct {name}({c_name}) {{\n");
            for field in item.fields.iter().filter(|field| !left_out(&field.name)) {
                out += &self.comment(&field.doc, 8);
                let setter = field.name.strip_suffix("_ms").unwrap_or(&field.name);
                out += &format!("        {setter} => {}: {},\n", field.name, self.kind(field));
            }
            out += "    }\n}\n";
        }
        out
    }

    pub fn infos(&self) -> String {
        let mut out = opening("The facts that come out, a plain struct each.", "{facts, info}");
        let is_info =
            |name: &str| name.ends_with("_info") || matches!(name, "gnnmg_metrics" | "gnnmg_times");
        for item in self.structs.iter().filter(|item| is_info(&item.name)) {
            if BY_HAND.contains(&item.name.as_str()) {
                continue;
            }
            let name = struct_name(&item.name);
            let sized = item.fields.iter().any(|field| field.name == "struct_size");
            let kind = if sized { "info" } else { "facts" };
            out += &format!("\n{kind}! {{\n{}", self.comment(&item.doc, 4));
            out += &format!("    pub struct {name}({}) {{\n", item.name);
            for field in item.fields.iter().filter(|field| !left_out(&field.name)) {
                out += &self.comment(&field.doc, 8);
                out += &format!("        {}: {},\n", field.name, self.kind(field));
            }
            out += "    }\n}\n";
        }
        out
    }

    /// The type that a field has in the safe layer.
    fn kind(&self, field: &Field) -> String {
        assert!(
            field.ty != ARRAY,
            "{} is an array: read its struct by hand, and add it to BY_HAND",
            field.name
        );
        let integer = matches!(field.ty.as_str(), "i32" | "i64");
        let doc = field.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let flag = (doc.contains("1: ") && !doc.contains("-1: "))
            || doc.contains(": 1 keeps")
            || doc.contains(": 1 looks")
            || field.name == "undirected";
        let count = field.name.starts_with("num_")
            || (field.name.ends_with("_dim") && !field.doc.contains("-1: "))
            || field.name.ends_with("_size")
            || matches!(
                field.name.as_str(),
                "count"
                    | "correct"
                    | "cut_edges"
                    | "own_parts"
                    | "kept_rows"
                    | "own_rows"
                    | "hit_rows"
                    | "asked_rows"
                    | "questions"
                    | "batch_nodes"
                    | "batches_per_step"
                    | "step_seeds"
            );
        if let Some(pointed) = field.ty.strip_prefix('*') {
            format!("Option<crate::{}>", struct_name(pointed))
        } else if field.ty.starts_with("gnnmg_") {
            format!("crate::{}", enum_name(&field.ty))
        } else if field.name.ends_with("_ms") {
            "std::time::Duration".to_string()
        } else if integer && count {
            "usize".to_string()
        } else if field.ty == "i32" && flag {
            "bool".to_string()
        } else {
            field.ty.clone()
        }
    }

    /// The words of an enumeration of C, and its name in the safe layer.
    pub fn words(&self, c_type: &str) -> Option<(String, Vec<String>)> {
        let (owner, list) = self.enums.iter().find(|(owner, _)| owner == c_type)?;
        let cut = prefix(owner, list);
        Some((enum_name(owner), list.iter().map(|c| c.name[cut.len()..].to_lowercase()).collect()))
    }

    /// A comment with the constants under the names that they have here.
    pub fn comment(&self, text: &str, indent: usize) -> String {
        let mut out = String::new();
        let mut parts = text.split('`');
        out += parts.next().unwrap_or("");
        for (i, part) in parts.enumerate() {
            match self.variants.get(part) {
                Some(variant) if i % 2 == 0 => out += &format!("[`{variant}`](crate::{variant})"),
                _ if i % 2 == 0 => out += &format!("`{part}`"),
                _ => out += part,
            }
        }
        let margin = " ".repeat(indent);
        out.lines()
            .map(|line| format!("{margin}/// {}", line.trim()).trim_end().to_string() + "\n")
            .collect()
    }
}

pub fn opening(what: &str, name: &str) -> String {
    format!(
        "// Written by gnnmg-generate from gnnmg.h; not to be edited.\n//! {what}\n\nuse crate::raw::{name};\n"
    )
    .replacen("// Written", "//! Written", 1)
    .replacen("edited.\n//! ", "edited.\n//!\n//! ", 1)
}

fn fields(fields: &Fields) -> Vec<Field> {
    let mut list = Vec::new();
    for field in fields {
        let ty = match &field.ty {
            Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
            Type::Array(_) => Some(ARRAY.to_string()),
            Type::Ptr(pointer) => match &*pointer.elem {
                Type::Path(path) => path.path.segments.last().map(|s| format!("*{}", s.ident)),
                _ => None,
            },
            _ => None,
        };
        if let (Some(name), Some(ty)) = (&field.ident, ty) {
            list.push(Field { name: name.to_string(), ty, doc: doc(&field.attrs) });
        }
    }
    list
}

fn doc(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let syn::Meta::NameValue(pair) = &attribute.meta {
            if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value {
                lines.push(text.value());
            }
        }
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: Vec<String> = lines.join("\n").lines().map(words).collect();
    text.join("\n").trim().to_string()
}

/// Common prefix of all constants of a group, up to an underscore.
fn prefix(owner: &str, list: &[Constant]) -> String {
    if owner == "gnnmg_status" {
        return "GNNMG_ERR_".to_string();
    }
    let first = &list[0].name;
    let mut length = first.len();
    for constant in list {
        let same = first.bytes().zip(constant.name.bytes()).take_while(|(a, b)| a == b).count();
        length = length.min(same);
    }
    let cut = first[..length].rfind('_').map_or(0, |at| at + 1);
    first[..cut].to_string()
}

fn enum_name(c_type: &str) -> String {
    match c_type {
        "gnnmg_status" => "ErrorKind".to_string(),
        "gnnmg_dtype" => "DataType".to_string(),
        _ => camel(c_type.trim_start_matches("gnnmg_")),
    }
}

fn struct_name(c_type: &str) -> String {
    camel(c_type.trim_start_matches("gnnmg_"))
}

/// `LEAKY_RELU` and `leaky_relu` as `LeakyRelu`.
pub fn camel(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let word = word.to_lowercase();
            let mut letters = word.chars();
            letters
                .next()
                .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}
