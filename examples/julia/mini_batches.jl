# Mini-batches for a framework of one's own: seeds, nodes, features, labels and the edges of each layer
# come out as arrays without copying. Counts what an epoch holds.
include("common.jl")

# Where a framework would take over.
function look_into(batch)
    about = info(batch)
    ids, rows = node_ids(batch), features(batch) # the seeds, then their neighbors; a row for each
    classes = labels(batch) # of the seeds
    @printf("batch %d of step %d: %d seeds, %d nodes; node %d is of class %d, x[0] %.3f\n", about.number,
            about.step, length(seeds(batch)), about.num_nodes, ids[1], classes[1], rows[1, 1])
    for layer in 0:(about.num_layers - 1)
        sizes = block_info(batch, layer)
        @printf("  layer %d: %d sources, %d targets, %d edges\n", layer, sizes.num_sources,
                sizes.num_targets, sizes.num_edges)
    end
end

function main()
    context = open_context()
    graph, data = planted_data(context, 3000)
    sampler = Sampler(graph)

    nodes = 5 .* (0:599) # any nodes; Loader(data, sampler) takes those of the split
    loader = Loader(sampler, nodes; dataset = data, batch_size = 256,
                    num_threads = 2) # make mini-batches ahead
    plan = info(loader)
    @printf("epoch %d: %d mini-batches in %d steps, %d layers\n", plan.epoch, plan.num_batches,
            plan.num_steps, num_layers(sampler)) # as many as a model for it needs
    foreach(look_into, loader)

    start!(loader; epoch = 0, step = 1) # epoch 0 once more, from its second step
    @assert count(_ -> true, loader) == 2
    cancel(loader) # from any task or thread: no more of them
    try
        next!(loader)
    catch error
        println("after the cancel: ", GNNMG.status_name(error))
    end
end

main()
