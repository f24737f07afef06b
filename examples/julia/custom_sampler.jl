# A custom sampler: the closure chooses a node's fan-out by its layer and the library draws. Two
# ranks train with it.
include("common.jl")

function main()
    context = open_context()
    graph, data = planted_data(context, 5000)

    # [callback]
    fanouts = (8, 4)
    sampler = Sampler(graph; fanouts = fanouts) do layer, targets, sink
        # add_edges! would add edges of any other choice.
        sample_neighbors!(sink, graph, targets, fanouts[layer.layer + 1], layer.key)
    end
    # [callback]

    model = Model(context, data; num_layers = 2, hidden_dim = 64)
    trainer = Trainer(model, data, sampler; num_ranks = 2, batch_size = 256, num_epochs = 5)
    train!(trainer) # the closure runs on this thread, while it waits here; lend(context) lends more
    @printf("test accuracy %.4f\n", evaluate(trainer, :test).accuracy)
end

main()
