# Samplers: they draw the neighborhood of a mini-batch's seeds.

mutable struct Sampler <: Object{gnnmg_sampler}
    token::Ptr{gnnmg_sampler}
    closure::Union{Closure, Nothing} # the closure of a custom sampler, with its exceptions
    Sampler(token::Ptr{gnnmg_sampler}) = finalizer(collected, new(token, nothing))
end
free(token::Ptr{gnnmg_sampler}) = gnnmg_sampler_free(token)

"Where a custom sampler puts its edges; of no use once its closure has returned."
struct Sink
    token::Ptr{gnnmg_sink}
end
Base.unsafe_convert(::Type{Ptr{gnnmg_sink}}, sink::Sink) = sink.token

"""
    Sampler(graph; settings...)
    Sampler(dataset; settings...)

Draws neighbors of a graph's nodes; or, from a data set of many graphs, takes whole graphs: only the
number of `fanouts`, one a layer, `edge_ids` and `transpose` apply then.

$(fields_of(:sampler))

C: `gnnmg_sampler_create`, `gnnmg_sampler_create_graphs`
"""
function Sampler(graph::Graph; settings...)
    text = settings_text(settings)
    return make(out -> gnnmg_sampler_create(graph, C_NULL, text, out), Sampler)
end
function Sampler(data::Dataset; settings...)
    text = settings_text(settings)
    return make(out -> gnnmg_sampler_create_graphs(data, C_NULL, text, out), Sampler)
end

"""
    Sampler(f, graph; settings...)

A custom sampler: `f(layer, targets, sink)` puts edges into the given targets into the sink.
`layer` is `(layer, epoch, batch, key)`, where layer 0 is next to the seeds, and `targets` a vector of
node ids. Settings that count are the number of `fanouts`, one a layer, `edge_ids` and `transpose`.

```julia
sampler = Sampler(graph; fanouts = (8, 4)) do layer, targets, sink
    sample_neighbors!(sink, graph, targets, (8, 4)[layer.layer + 1], layer.key)
end
```

The closure runs on threads that wait for mini-batches, or that are [`lend`](@ref)t, on several at
once if several do. An exception ends the work and becomes the `cause` of the error of the waiting
call. The closure may read objects; calls that wait are errors with the code `:busy` in it.

C: `gnnmg_sampler_create_custom`
"""
function Sampler(f, graph::Graph; settings...)
    text, closure = settings_text(settings), Closure(f)
    root = keep(closure)
    sampler = make(Sampler) do out
        gnnmg_sampler_create_custom(graph, C_NULL, text, ON_LAYER[], pointer_from_objref(root),
                                    ON_RELEASE[], out)
    end
    sampler.closure = closure
    return sampler
end

"""
    num_layers(sampler)

C: `gnnmg_sampler_num_layers`
"""
num_layers(sampler::Sampler) = Int(number(Int32, gnnmg_sampler_num_layers, sampler))

"""
    sample(sampler, seeds; dataset = nothing, seed = 0, epoch = 0, number = 0, timeout)

The neighborhood of given seeds as a [`Batch`](@ref), with features and labels of a data set. It
depends only on seed, epoch and number of the mini-batch. C: `gnnmg_sampler_sample`
"""
function sample(sampler::Sampler, seeds::AbstractVector; dataset = nothing, seed::Integer = 0,
                epoch::Integer = 0, number::Integer = 0, timeout = nothing)
    nodes = longs(seeds)
    call = (out, timeout_ms) -> gnnmg_sampler_sample(sampler, or_null(dataset), nodes, length(nodes),
                                                     C_NULL, seed, epoch, number, out, timeout_ms)
    return awaited(Batch, call, () -> nothing, timeout, (sampler.closure,))
end

"""
    add_edges!(sink, sources, targets[, edge_ids])

Adds edges, each into one of the closure's targets. C: `gnnmg_sink_add_edges`
"""
function add_edges!(sink::Sink, sources::AbstractVector, targets::AbstractVector, edge_ids = nothing)
    from, to = longs(sources), longs(targets)
    own = edge_ids === nothing ? nothing : longs(edge_ids)
    if length(from) != length(to) || (own !== nothing && length(own) != length(from))
        counts = "$(length(from)) sources, $(length(to)) targets"
        own === nothing || (counts *= ", $(length(own)) edge ids")
        throw(DimensionMismatch("$counts: expected as many of each"))
    end
    check(gnnmg_sink_add_edges(sink, from, to, or_null(own), length(from)))
    return sink
end

"""
    sample_neighbors!(sink, graph, targets, fanout, key; replace = false, edge_type = 0)

Draws in-neighbors of each target into a sink, as the built-in sampler does with this key; a fan-out
of -1: all. C: `gnnmg_graph_sample_neighbors`
"""
function sample_neighbors!(sink::Sink, graph::Graph, targets::AbstractVector, fanout::Integer,
                           key::Integer; replace = false, edge_type = 0)
    nodes = longs(targets)
    check(gnnmg_graph_sample_neighbors(graph, edge_type, nodes, length(nodes), fanout, replace, key,
                                       sink))
    return sink
end
