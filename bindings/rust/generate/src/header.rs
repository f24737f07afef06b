//! The raw layer: bindgen's translation of the header, with its comments turned into Markdown, and
//! the list of all functions.

use bindgen::callbacks::ParseCallbacks;
use std::path::Path;

#[derive(Debug)]
struct Comments;

impl ParseCallbacks for Comments {
    fn process_comment(&self, comment: &str) -> Option<String> {
        Some(markdown(comment))
    }
}

pub fn bindings(header: &Path) -> String {
    let text = std::fs::read_to_string(header).expect("the header can be read");
    let generated = bindgen::Builder::default()
        .header_contents("gnnmg.h", &owned_enums(&text))
        .clang_arg("-DGNNMG_API=")
        .clang_arg("-DGNNMG_MUST_USE=__attribute__((warn_unused_result))")
        .allowlist_item("(gnnmg|GNNMG)_.*")
        .allowlist_type("DLManagedTensorVersioned")
        .blocklist_item("GNNMG_API|GNNMG_MUST_USE|GNNMG_H")
        .rust_target("1.78".parse().expect("a version of Rust"))
        .use_core()
        .must_use_type("gnnmg_status")
        .enable_function_attribute_detection()
        .prepend_enum_name(false)
        .translate_enum_integer_types(true)
        .derive_default(false)
        .derive_copy(true)
        .merge_extern_blocks(true)
        .layout_tests(true)
        .formatter(bindgen::Formatter::Prettyplease)
        .parse_callbacks(Box::new(Comments))
        .generate()
        .unwrap_or_else(|error| panic!("{}: {error}", header.display()))
        .to_string();
    typed_constants(&generated)
}

/// Names in a comment the type of each enumeration, which is the one declared before it.
fn owned_enums(header: &str) -> String {
    let mut text = String::new();
    let mut before = "";
    for line in header.lines() {
        if line == "enum {" {
            let owner = before.split([' ', ';']).nth(2).expect("a type is declared before");
            text += &format!("/** Values of ::{owner}. */\n");
        }
        text += line;
        text.push('\n');
        before = line;
    }
    text
}

/// Gives constants the type that the header means: bindgen calls that of an enumeration without a
/// name `_bindgen_ty_1`, and its comment has the name.
fn typed_constants(generated: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut names = Vec::new();
    for line in generated.lines() {
        let Some(alias) = line.strip_prefix("pub type _bindgen_ty_") else {
            lines.push(line);
            continue;
        };
        let number = alias.split_whitespace().next().expect("a type has a name");
        let mut comment = lines.pop().expect("an enumeration has a comment").to_string();
        while comment.ends_with("*/") && !comment.contains("/**") {
            comment = format!("{}\n{comment}", lines.pop().expect("a comment has a beginning"));
        }
        let owner =
            comment.split('`').nth(1).expect("the comment of an enumeration names its type");
        names.push((format!(": _bindgen_ty_{number} ="), format!(": {owner} =")));
    }
    let mut text = lines.join("\n") + "\n";
    for (from, to) in names {
        text = text.replace(&from, &to);
    }
    text
}

/// The names of all functions, sorted.
pub fn functions(generated: &str) -> Vec<&str> {
    let mut names: Vec<&str> = generated
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub fn "))
        .filter_map(|rest| rest.split('(').next())
        .collect();
    names.sort_unstable();
    names
}

/// Doxygen's marks as Markdown.
fn markdown(comment: &str) -> String {
    let mut text = String::new();
    let mut listed = false;
    for line in comment.lines() {
        let line = line.trim_start_matches(['*', '<', '!']).trim();
        let word = line.split_whitespace().next().unwrap_or("");
        let rest = line[word.len()..].trim_start();
        let line = match word {
            _ if word.starts_with("@param") => {
                let (name, what) = rest.split_once(' ').unwrap_or((rest, ""));
                let line = format!("{}- `{name}`: {what}", if listed { "" } else { "\n" });
                listed = true;
                line
            }
            "@return" => format!("\nReturns {rest}"),
            "@threading" => format!("\nThreading: {rest}"),
            "@owns" => format!("\nOwnership: {rest}"),
            _ => line.to_string(),
        };
        text += &line;
        text.push('\n');
    }
    escape(&text)
}

/// Brackets are shapes here and no links; `::NAME` is how Doxygen links.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            code = !code;
        }
        if !code && rest.starts_with("::") {
            let name: &str = {
                let after = &rest[2..];
                let end = after
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(after.len());
                &after[..end]
            };
            if !name.is_empty() {
                out += &format!("`{name}`");
                rest = &rest[2 + name.len()..];
                continue;
            }
        }
        if !code && matches!(c, '[' | ']') {
            out.push('\\');
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    let mut lines = out.trim_end().replace("\n\n\n", "\n\n");
    lines.insert(0, ' ');
    lines
}
