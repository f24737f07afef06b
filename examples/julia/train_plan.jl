# A training's use of a GPU's memory, as `train --plan` prints it.

const UNITS = Dict("" => 1, "K" => 10^3, "KB" => 10^3, "M" => 10^6, "MB" => 10^6, "G" => 10^9, "GB" => 10^9,
                   "T" => 10^12, "TB" => 10^12, "KiB" => 2^10, "MiB" => 2^20, "GiB" => 2^30, "TiB" => 2^40)

# "80G", "512MB", "40GiB" or a number of bytes.
function memory_size(text)
    found = match(r"^([0-9.]+)([KMGTiB]*)$", text)
    number = found === nothing ? nothing : tryparse(Float64, found[1])
    bytes = number === nothing ? 0 : number * get(UNITS, found[2], 0)
    return 1 <= bytes < 1e18 ? floor(Int, bytes) : Expected("a size such as 80G, 40GiB or 512MB")
end

const GRAPHS = Dict(:pinned => "in main memory, read from there", :host => "in main memory, sampled there")
const FEATURES = Dict(:pinned => "in main memory, read from there", :host => "in main memory, gathered there")

function print_plan(plan)
    cached = plan.feature_placement in (:cached, :split) ? "$(plan.num_cached) rows cached, all in main memory" : ""
    verdict = @sprintf("%s %.3f GB", plan.fits ? "fits" : "does NOT fit", plan.gpu_bytes * 1e-9)
    println("memory of a GPU, at most")
    for (part, bytes, remark) in (
            ("graph", plan.graph_bytes, get(GRAPHS, plan.graph_placement, "")),
            ("features", plan.feature_bytes, get(FEATURES, plan.feature_placement, cached)),
            ("samplers", plan.sampler_bytes, ""),
            ("gathered rows", plan.row_bytes, ""),
            ("a step", plan.step_bytes, plan.bounded ? "" : "unknown: mini-batches are the custom sampler's"),
            ("an evaluation", plan.evaluation_bytes, "between steps, in their place"),
            ("weights and gradients", plan.parameter_bytes, ""),
            ("optimizer", plan.optimizer_bytes, ""),
            ("communication", plan.communication_bytes, ""),
            ("padded steps", plan.capture_bytes, ""),
            ("reserve", plan.reserve_bytes, "the driver, libraries"),
            ("in all", plan.total_bytes, verdict),
            ("main memory, pinned", plan.pinned_bytes, "once a process"))
        println(rstrip(@sprintf("  %-24s %10.3f GB  %s", part, bytes * 1e-9, remark)))
    end
end
