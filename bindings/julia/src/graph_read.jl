# Reads the contents of a graph.

"""
    num_node_types(graph)
    num_edge_types(graph)

C: `gnnmg_graph_num_node_types`, `gnnmg_graph_num_edge_types`
"""
num_node_types(graph::Graph) = Int(number(Int32, gnnmg_graph_num_node_types, graph))
"See [`num_node_types`](@ref)."
num_edge_types(graph::Graph) = Int(number(Int32, gnnmg_graph_num_edge_types, graph))

"""
    node_type_name(graph, node_type)

C: `gnnmg_graph_node_type_name`
"""
function node_type_name(graph::Graph, node_type::Integer)
    return copied_text(out -> gnnmg_graph_node_type_name(graph, node_type, out))
end

"""
    edge_type_name(graph, edge_type)

Name and ends of an edge type: `(source_type, name, target_type)`. C: `gnnmg_graph_edge_type_name`
"""
function edge_type_name(graph::Graph, edge_type::Integer)
    from, to = Ref{Int32}(0), Ref{Int32}(0)
    name = copied_text(out -> gnnmg_graph_edge_type_name(graph, edge_type, from, out, to))
    return (source_type = Int(from[]), name = name, target_type = Int(to[]))
end

"""
    num_nodes(graph, node_type = 0)
    num_edges(graph, edge_type = 0)

C: `gnnmg_graph_num_nodes`, `gnnmg_graph_num_edges`
"""
num_nodes(graph::Graph, node_type::Integer = 0) = number(Int64, gnnmg_graph_num_nodes, graph, node_type)
"See [`num_nodes`](@ref)."
num_edges(graph::Graph, edge_type::Integer = 0) = number(Int64, gnnmg_graph_num_edges, graph, edge_type)

"""
    node_tensor_names(graph, node_type = 0)
    edge_tensor_names(graph, edge_type = 0)

The names of the tensors on a type; of those on nodes also whether they are sparse:
`[(name, sparse), ...]`. C: `gnnmg_graph_node_tensor_name`, `gnnmg_graph_edge_tensor_name`
"""
function node_tensor_names(graph::Graph, node_type::Integer = 0)
    sparse = Ref{Int32}(0)
    found = listed((i, name) -> gnnmg_graph_node_tensor_name(graph, node_type, i, name, sparse),
                   () -> sparse[] != 0)
    return [(name = name, sparse = is_sparse) for (name, is_sparse) in found]
end

"See [`node_tensor_names`](@ref)."
function edge_tensor_names(graph::Graph, edge_type::Integer = 0)
    found = listed((i, name) -> gnnmg_graph_edge_tensor_name(graph, edge_type, i, name))
    return String[name for (name, _) in found]
end

"""
    node_tensor(graph, name; node_type = 0)
    edge_tensor(graph, name; edge_type = 0)

A dense tensor, one row per node or edge, as a read-only [`Tensor`](@ref) without a copy.
C: `gnnmg_graph_export_node_tensor`, `gnnmg_graph_export_edge_tensor`
"""
function node_tensor(graph::Graph, name::AbstractString; node_type = 0)
    return tensor(out -> gnnmg_graph_export_node_tensor(graph, node_type, name, out))
end
"See [`node_tensor`](@ref)."
function edge_tensor(graph::Graph, name::AbstractString; edge_type = 0)
    return tensor(out -> gnnmg_graph_export_edge_tensor(graph, edge_type, name, out))
end

"""
    node_csr(graph, name; node_type = 0)

A sparse tensor on nodes: `(num_columns, indptr, indices, values)`, see `set_node_csr!`.
C: `gnnmg_graph_export_node_csr`
"""
function node_csr(graph::Graph, name::AbstractString; node_type = 0)
    num_columns = Ref{Int64}(0)
    indptr, indices, values = tensors(3) do starts, entries, numbers
        gnnmg_graph_export_node_csr(graph, node_type, name, num_columns, starts, entries, numbers)
    end
    return (num_columns = num_columns[], indptr = indptr, indices = indices, values = values)
end

"""
    coo(graph, edge_type = 0)

The edges of a type as a list in the order of their ids: `(sources, targets)`.
C: `gnnmg_graph_export_coo`
"""
function coo(graph::Graph, edge_type::Integer = 0)
    sources, targets = tensors((from, to) -> gnnmg_graph_export_coo(graph, edge_type, from, to), 2)
    return (sources = sources, targets = targets)
end

"""
    columns(graph, edge_type = 0)

The edges of a type as they are kept, as columns compressed by target: `(indptr, indices, edge_ids)`, the last `nothing`
when entry `e` is edge `e`. C: `gnnmg_graph_export_csc`
"""
function columns(graph::Graph, edge_type::Integer = 0)
    indptr, indices, edge_ids = tensors(3) do starts, from, own
        gnnmg_graph_export_csc(graph, edge_type, starts, from, own)
    end
    return (indptr = indptr, indices = indices, edge_ids = edge_ids)
end

"""
    in_edges(graph, target; edge_type = 0)
    in_degree(graph, target; edge_type = 0)

The incoming edges of one node, `(sources, edge_ids)`, or how many they are.
C: `gnnmg_graph_get_in_edges`
"""
function in_edges(graph::Graph, target::Integer; edge_type = 0)
    count = in_degree(graph, target; edge_type = edge_type)
    sources, edge_ids = Vector{Int64}(undef, count), Vector{Int64}(undef, count)
    needed = Ref{Int64}(0)
    check(gnnmg_graph_get_in_edges(graph, edge_type, target, sources, edge_ids, count, needed))
    return (sources = sources, edge_ids = edge_ids)
end

"See [`in_edges`](@ref)."
function in_degree(graph::Graph, target::Integer; edge_type = 0)
    needed = Ref{Int64}(0)
    check(gnnmg_graph_get_in_edges(graph, edge_type, target, C_NULL, C_NULL, 0, needed))
    return needed[]
end
