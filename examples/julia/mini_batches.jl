# Mini-batches for another framework: seeds, nodes, features, labels and the edges of each layer
# are exported as arrays without copying. Counts the contents of an epoch.
include("common.jl")

# The place of the framework's code.
function look_into(batch)
    about = info(batch)
    # [batch]
    ids, rows = node_ids(batch), features(batch) # the seeds, then their neighbors; a row for each
    classes = labels(batch) # the seeds' labels
    # [batch]
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
            plan.num_steps, num_layers(sampler)) # the number that a model needs
    foreach(look_into, loader)

    start!(loader; epoch = 0, step = 1) # epoch 0 once more, from its second step
    @assert count(_ -> true, loader) == 2
    cancel(loader) # allowed on any task or thread: ends the loader
    try
        next!(loader)
    catch error
        println("after the cancel: ", GNNMG.status_name(error))
    end
end

main()
