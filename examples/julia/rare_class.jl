# A rare class, one node in ten: without weights a model seldom predicts it, so classes are
# weighted. Uncertain labels can have lower weights too, and a mini-batch exports the weight of each
# of its labels.
include("common.jl")

const NODES, EPOCHS = 4000, 6

function main()
    context = open_context()
    graph = generate(context, :planted; num_nodes = NODES, intra_probability = 0.35)
    rare = Int.(node_tensor(graph, "y") .== 0)
    set_node_tensor!(graph, "rare", rare)
    data = Dataset(graph, "x", "rare"; task = :multiclass, num_classes = 2)
    add_random_split!(data, "random")
    sampler = Sampler(graph)

    plain = train_small_model(context, data, sampler, EPOCHS)
    # [balance]
    balance_classes!(data) # balanced over the training part of the current split
    @printf("a node of the rare class counts %.2f, another one %.2f\n", class_weights(data)[2],
            class_weights(data)[1])
    # [balance]
    balanced = train_small_model(context, data, sampler, EPOCHS)
    @printf("every node counts 1:  accuracy %.3f, F1 of both classes %.3f\n", plain.accuracy,
            plain.f1_macro)
    @printf("every class the same: accuracy %.3f, F1 of both classes %.3f\n", balanced.accuracy,
            balanced.f1_macro)

    # [weights]
    set_class_weights!(data, [1, 3]) # milder, by hand
    # The second half was labeled by a machine.
    set_sample_weights!(data, [v <= NODES ÷ 2 ? 1.0f0 : 0.5f0 for v in 1:NODES])
    # [weights]
    seeds = 511 .* (0:7)
    batch = sample(sampler, seeds; dataset = data, seed = 1)
    counts, own = weights(batch), sample_weights(data) # factors for a custom loss
    for (seed, count) in zip(seeds, counts)
        @printf("node %d counts %.1f\n", seed, count)
        @assert count == (1, 3)[rare[seed + 1] + 1] * own[seed + 1]
    end
end

main()
