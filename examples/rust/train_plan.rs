//! A training's use of a GPU's memory, as `train --plan` prints it.

use gnnmg::*;

const UNITS: &[(&str, f64)] = &[
    ("", 1.0),
    ("K", 1e3),
    ("KB", 1e3),
    ("M", 1e6),
    ("MB", 1e6),
    ("G", 1e9),
    ("GB", 1e9),
    ("T", 1e12),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
];

/// Reads "80G", "512MB", "40GiB" or a number of bytes, G and GB being 10^9.
pub fn size(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c| "KMGTiB".contains(c));
    let (_, unit) = UNITS
        .iter()
        .find(|(name, _)| *name == &text[digits.len()..])?;
    let bytes = digits.parse::<f64>().ok()? * unit;
    (1.0..1e18).contains(&bytes).then_some(bytes as usize)
}

fn line(part: &str, bytes: usize, remark: &str) {
    let gap = if remark.is_empty() { "" } else { "  " };
    let gigabytes = bytes as f64 * 1e-9;
    println!("  {part:24} {gigabytes:10.3} GB{gap}{remark}");
}

/// Prints the parts.
pub fn print(plan: &MemoryInfo) {
    let graph = match plan.graph_placement {
        GraphPlacement::Pinned => "in main memory, read from there",
        GraphPlacement::Host => "in main memory, sampled there",
        _ => "",
    };
    let features = match plan.feature_placement {
        FeaturePlacement::Pinned => "in main memory, read from there".to_string(),
        FeaturePlacement::Host => "in main memory, gathered there".to_string(),
        FeaturePlacement::Cached | FeaturePlacement::Split => {
            format!("{} rows cached, all in main memory", plan.num_cached)
        }
        _ => String::new(),
    };
    let step = match plan.bounded {
        true => "",
        false => "unknown: mini-batches are the custom sampler's",
    };
    let fits = if plan.fits { "fits" } else { "does NOT fit" };
    let verdict = format!("{fits} {:.3} GB", plan.gpu_bytes as f64 * 1e-9);

    println!("memory of a GPU, at most");
    line("graph", plan.graph_bytes, graph);
    line("features", plan.feature_bytes, &features);
    line("samplers", plan.sampler_bytes, "");
    line("gathered rows", plan.row_bytes, "");
    line("a step", plan.step_bytes, step);
    let instead = "between steps, in their place";
    line("an evaluation", plan.evaluation_bytes, instead);
    line("weights and gradients", plan.parameter_bytes, "");
    line("optimizer", plan.optimizer_bytes, "");
    line("communication", plan.communication_bytes, "");
    line("padded steps", plan.capture_bytes, "");
    line("reserve", plan.reserve_bytes, "the driver, libraries");
    line("in all", plan.total_bytes, &verdict);
    line("main memory, pinned", plan.pinned_bytes, "once a process");
}
