# Mini-batches. Their arrays are read-only `Tensor`s that keep their memory.

# The collector does not see the library's memory: after every MANY_BATCHES open mini-batches it is
# asked to run.
const OPEN_BATCHES = Threads.Atomic{Int}(0)
const MANY_BATCHES = 32

"""
    Batch

One mini-batch: a list of nodes, seeds first, their features, the seeds' labels, and a block of edges
for each layer. Its tensors keep the memory of the mini-batch and may outlive it. `close` the
mini-batch and its tensors to free memory at once; otherwise the collector does so.
"""
mutable struct Batch <: Object{gnnmg_batch}
    token::Ptr{gnnmg_batch}
    function Batch(token::Ptr{gnnmg_batch})
        count = Threads.atomic_add!(OPEN_BATCHES, 1)
        count > 0 && count % MANY_BATCHES == 0 && GC.gc(false)
        return finalizer(collected, new(token))
    end
end
function free(token::Ptr{gnnmg_batch})
    Threads.atomic_sub!(OPEN_BATCHES, 1)
    gnnmg_batch_free(token)
end

info(batch::Batch) = ask(gnnmg_batch_get_info, gnnmg_batch_info, batch)

"""
    block_info(batch, layer)

Sizes of the edges of one layer: `(num_targets, num_sources, num_edges)`.
C: `gnnmg_batch_get_block_info`
"""
block_info(batch::Batch, layer::Integer) = ask(gnnmg_batch_get_block_info, gnnmg_block_info, batch, layer, 0)

"""
    seeds(batch)
    node_ids(batch)

The seeds; all nodes, seeds first. C: `gnnmg_batch_export_seeds`, `gnnmg_batch_export_node_ids`
"""
seeds(batch::Batch) = tensor(out -> gnnmg_batch_export_seeds(batch, out))
"See [`seeds`](@ref)."
node_ids(batch::Batch) = tensor(out -> gnnmg_batch_export_node_ids(batch, 0, out))

graph_ptr(batch::Batch) = tensor(out -> gnnmg_batch_export_graph_ptr(batch, out))

"""
    features(batch)

The nodes' features, `[nodes, columns]`. C: `gnnmg_batch_export_features`
"""
features(batch::Batch) = tensor(out -> gnnmg_batch_export_features(batch, 0, out))

"""
    sparse_features(batch)

The nodes' sparse features: `(indptr, indices, values)`, see `set_node_csr!`.
C: `gnnmg_batch_export_sparse_features`
"""
function sparse_features(batch::Batch)
    found = tensors((a, b, c) -> gnnmg_batch_export_sparse_features(batch, 0, a, b, c), 3)
    return (indptr = found[1], indices = found[2], values = found[3])
end

labels(batch::Batch) = tensor(out -> gnnmg_batch_export_labels(batch, out))

"""
    weights(batch)

How much each of the seeds' labels counts in a loss. C: `gnnmg_batch_export_weights`
"""
weights(batch::Batch) = tensor(out -> gnnmg_batch_export_weights(batch, out))

"""
    block(batch, layer)

The edges of one layer: target `t` has the sources `indices[indptr[t]]` to
`indices[indptr[t + 1] - 1]`, as positions in the list of nodes, all counting from 0; `edge_ids` is
`nothing` when the sampler keeps none. Block 0 reads the features. C: `gnnmg_batch_export_block`
"""
function block(batch::Batch, layer::Integer)
    found = tensors((a, b, c) -> gnnmg_batch_export_block(batch, layer, 0, a, b, c), 3)
    return (indptr = found[1], indices = found[2], edge_ids = found[3])
end
