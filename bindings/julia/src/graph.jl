# Graphs: building, importing, transforming, generating.

mutable struct Graph <: Object{gnnmg_graph}
    token::Ptr{gnnmg_graph}
    Graph(token::Ptr{gnnmg_graph}) = finalizer(collected, new(token))
end
free(token::Ptr{gnnmg_graph}) = gnnmg_graph_free(token)
has_texts(::Graph) = true

"""
    Graph(context)
    Graph(context, num_nodes, sources, targets)
    Graph(dataset)

A graph. The first form has no type yet and is built up by `add_node_type!` and the functions next to it.
The second has one node type "node" and one edge type "edge", from a list of edges. The last is that of a
data set. From the moment that it is
first given to another object a graph never changes again.

C: `gnnmg_graph_create`, `gnnmg_graph_create_from_coo`, `gnnmg_dataset_get_graph`
"""
Graph(context::Context) = make(out -> gnnmg_graph_create(context, out), Graph)

function Graph(context::Context, num_nodes::Integer, sources::AbstractVector, targets::AbstractVector)
    from, to = same_ids(sources, targets)
    return make(Graph) do out
        GC.@preserve from to gnnmg_graph_create_from_coo(
            context, num_nodes, data_of(from), data_of(to), dtype(eltype(from)), length(from), out)
    end
end

# Ids in the library's types: 32 bits unchanged, all others as 64 bits.
ids(x::Vector{Int32}) = x
ids(x::AbstractVector{Int32}) = collect(x)
ids(x::AbstractVector{<:Integer}) = convert(Vector{Int64}, x)
ids(x::AbstractVector) = throw(ArgumentError("ids: expected integers, found $(eltype(x))"))
longs(x::AbstractVector{<:Integer}) = convert(Vector{Int64}, x)
longs(x::AbstractVector) = throw(ArgumentError("ids: expected integers, found $(eltype(x))"))

function same_ids(sources, targets)
    length(sources) == length(targets) ||
        throw(DimensionMismatch("$(length(sources)) sources and $(length(targets)) targets"))
    from, to = ids(sources), ids(targets)
    return eltype(from) == eltype(to) ? (from, to) : (longs(from), longs(to))
end

# The library reads one entry per node, and one more.
function column_starts(indptr, num_targets, num_edges)
    starts = longs(indptr)
    length(starts) == num_targets + 1 || throw(DimensionMismatch(
        "indptr has $(length(starts)) entries, expected $(num_targets + 1) for $num_targets targets"))
    starts[end] == num_edges || throw(DimensionMismatch(
        "indptr ends with $(starts[end]), expected the number of indices, $num_edges"))
    return starts
end

# ---- building

"""
    add_node_type!(graph, name, num_nodes)

Adds a node type and answers its index. C: `gnnmg_graph_add_node_type`
"""
function add_node_type!(graph::Graph, name::AbstractString, num_nodes::Integer)
    index = Ref{Int32}(0)
    check(gnnmg_graph_add_node_type(graph, name, num_nodes, index))
    return Int(index[])
end

"""
    add_edge_type!(graph, source_type, name, target_type)

Adds an edge type between two node types, without edges yet, and answers its index.
C: `gnnmg_graph_add_edge_type`
"""
function add_edge_type!(graph::Graph, source_type::Integer, name::AbstractString, target_type::Integer)
    index = Ref{Int32}(0)
    check(gnnmg_graph_add_edge_type(graph, source_type, name, target_type, index))
    return Int(index[])
end

"""
    set_coo!(graph, edge_type, sources, targets)

Sets the edges of a type from a list; edge `e` of the list, counting from 0, gets the id `e`.
C: `gnnmg_graph_import_coo`
"""
function set_coo!(graph::Graph, edge_type::Integer, sources::AbstractVector, targets::AbstractVector)
    from, to = same_ids(sources, targets)
    copied((a, b) -> gnnmg_graph_import_coo(graph, edge_type, a, b), (from, to))
    return graph
end

"""
    set_csc!(graph, edge_type, indptr, indices[, edge_ids])

Sets the edges of a type from compressed columns: `indices[indptr[v]]` to `indices[indptr[v + 1] - 1]`,
counting from 0, are the sources of the edges into node `v`. Without `edge_ids` entry `e` is edge `e`.
C: `gnnmg_graph_import_csc`
"""
function set_csc!(graph::Graph, edge_type::Integer, indptr::AbstractVector, indices::AbstractVector,
                  edge_ids::Union{AbstractVector, Nothing} = nothing)
    target_type = edge_type_name(graph, edge_type).target_type
    starts = column_starts(indptr, num_nodes(graph, target_type), length(indices))
    from, own = edge_ids === nothing ? (ids(indices), nothing) : same_ids(indices, edge_ids)
    copied((a, b, c) -> gnnmg_graph_import_csc(graph, edge_type, a, b, c), (starts, from, own))
    return graph
end

"""
    import_coo!(graph, edge_type, sources, targets; release)
    import_csc!(graph, edge_type, indptr, indices[, edge_ids]; release)

`set_coo!` and `set_csc!` with arrays that the library takes over, without a copy where it can: they
must not change any more. `release()` is called once for each array when the library needs it no
more, in the middle of another call or of a collection: it must be short and must not wait or print.

C: `gnnmg_graph_import_coo`, `gnnmg_graph_import_csc`
"""
function import_coo!(graph::Graph, edge_type::Integer, sources, targets; release = nothing)
    given((from, to) -> gnnmg_graph_import_coo(graph, edge_type, from, to), (sources, targets), release)
    return graph
end

"See [`import_coo!`](@ref)."
function import_csc!(graph::Graph, edge_type::Integer, indptr, indices, edge_ids = nothing;
                     release = nothing)
    given((indptr, indices, edge_ids), release) do starts, from, own
        gnnmg_graph_import_csc(graph, edge_type, starts, from, own)
    end
    return graph
end

"""
    set_node_tensor!(graph, name, array; node_type = 0)
    set_edge_tensor!(graph, name, array; edge_type = 0)

Sets a named tensor on the nodes or edges of a type, a row `array[i, :]` each; edges by id. Data sets
call features "x" and labels "y" unless told otherwise. The array is copied.

C: `gnnmg_graph_import_node_tensor`, `gnnmg_graph_import_edge_tensor`
"""
function set_node_tensor!(graph::Graph, name::AbstractString, array::AbstractArray; node_type = 0)
    copied(t -> gnnmg_graph_import_node_tensor(graph, node_type, name, t), (array,))
    return graph
end

"See [`set_node_tensor!`](@ref)."
function set_edge_tensor!(graph::Graph, name::AbstractString, array::AbstractArray; edge_type = 0)
    copied(t -> gnnmg_graph_import_edge_tensor(graph, edge_type, name, t), (array,))
    return graph
end

"""
    import_node_tensor!(graph, name, array; node_type = 0, release)
    import_edge_tensor!(graph, name, array; edge_type = 0, release)

The same without a copy: the array must not change any more. It is a `Vector`, a `Tensor`, or a
`PermutedDimsArray(columns, (2, 1))` of a matrix whose columns are the rows; any other would have to be
transposed, and is an error. On `release` see `import_coo!`.

C: `gnnmg_graph_import_node_tensor`, `gnnmg_graph_import_edge_tensor`
"""
function import_node_tensor!(graph::Graph, name::AbstractString, array; node_type = 0, release = nothing)
    given(t -> gnnmg_graph_import_node_tensor(graph, node_type, name, t), (array,), release)
    return graph
end

"See [`import_node_tensor!`](@ref)."
function import_edge_tensor!(graph::Graph, name::AbstractString, array; edge_type = 0, release = nothing)
    given(t -> gnnmg_graph_import_edge_tensor(graph, edge_type, name, t), (array,), release)
    return graph
end

"""
    set_node_csr!(graph, name, num_columns, indptr, indices, values; node_type = 0)
    import_node_csr!(graph, name, num_columns, indptr, indices, values; node_type = 0, release)

Sets a sparse tensor on the nodes of a type: row `r` has the entries `indptr[r]` to
`indptr[r + 1] - 1`, all counting from 0. It stays sparse into the first layer of a model. The second
takes the arrays, of `Int64`, `Int32` and `Float32`, over without a copy; see `import_coo!`.

C: `gnnmg_graph_import_node_csr`
"""
function set_node_csr!(graph::Graph, name::AbstractString, num_columns::Integer, indptr, indices,
                       values; node_type = 0)
    starts = column_starts(indptr, num_nodes(graph, node_type), length(indices))
    length(indices) == length(values) ||
        throw(DimensionMismatch("$(length(indices)) indices and $(length(values)) values"))
    arrays = (starts, convert(Vector{Int32}, indices), convert(Vector{Float32}, values))
    copied((a, b, c) -> gnnmg_graph_import_node_csr(graph, node_type, name, num_columns, a, b, c), arrays)
    return graph
end

"See [`set_node_csr!`](@ref)."
function import_node_csr!(graph::Graph, name::AbstractString, num_columns::Integer, indptr, indices,
                          values; node_type = 0, release = nothing)
    given((indptr, indices, values), release) do starts, columns, entries
        gnnmg_graph_import_node_csr(graph, node_type, name, num_columns, starts, columns, entries)
    end
    return graph
end

# ---- new graphs from others, and from nothing

"""
    transformed(graph, transform; edge_type = 0)

Makes a new graph that shares the unchanged data of another one: `:add_reverse_edges`,
`:to_undirected`,
`:coalesce`, `:remove_self_loops`, `:add_self_loops`, `:add_remaining_self_loops`, `:remove_edges` or
`:reverse_edges`. C: `gnnmg_graph_create_transformed`
"""
function transformed(graph::Graph, transform; edge_type = 0)
    return make(out -> gnnmg_graph_create_transformed(graph, transform, edge_type, out), Graph)
end

"""
    normalized(graph, name)

A new graph in which every row of a node tensor is divided by its sum.
C: `gnnmg_graph_create_normalized`
"""
function normalized(graph::Graph, name::AbstractString)
    return make(out -> gnnmg_graph_create_normalized(graph, name, out), Graph)
end

"""
    generate(context, generator::Symbol; settings...)

Generates a graph; equal settings give equal graphs.

`:planted`, an undirected graph whose nodes fall into classes, with node tensors "x" and "y":

$(fields_of(:planted))

`:log_normal`, a graph with log-normal in-degrees and communities, with node tensors "x" and "y":

$(fields_of(:log_normal))

`:rmat`, an R-MAT graph without tensors:

$(fields_of(:rmat))

`:erdos_renyi`, a graph whose edges are drawn uniformly, without tensors:

$(fields_of(:erdos_renyi))

C: `gnnmg_graph_generate`
"""
function generate(context::Context, generator::Symbol; settings...)
    text = settings_text(settings)
    return make(out -> gnnmg_graph_generate(context, string(generator), text, out), Graph)
end
