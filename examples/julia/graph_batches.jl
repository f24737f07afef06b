# Many small graphs: a data set made of arrays, folds in which every class has its share, and
# mini-batches of whole graphs. The graphs are rings and stars of 3 to 12 nodes, one class each.
include("common.jl")

const GRAPHS, LARGEST = 200, 12

function main()
    context = open_context()
    # Side by side in one graph: nodes are numbered on from graph to graph.
    sources, targets, starts, classes = Int[], Int[], [0], Int[]
    for g in 0:(GRAPHS - 1)
        first, nodes, star = starts[end], 3 + g * 7 % (LARGEST - 2), g % 2 == 1
        push!(classes, star)
        for i in 1:(nodes - star)
            u, v = first + i % nodes, star ? first : first + i - 1
            append!(sources, (u, v))
            append!(targets, (v, u))
        end
        push!(starts, first + nodes)
    end
    graph = Graph(context, starts[end], sources, targets)
    set_node_tensor!(graph, "x", ones(Float32, starts[end], 1))
    # [data set]
    data = Dataset(graph, starts; features = "x", labels = classes, task = :multiclass)
    # [data set]

    add_folds!(data, "folds"; num_folds = 5, held_out = :test)
    data = select_split(data, "folds", 2) # holds the third fold out

    test, label_of, first_node = split_ids(data, :test), labels(data), graph_ptr(data)
    stars = sum(label_of[id + 1] for id in test)
    nodes = sum(first_node[id + 2] - first_node[id + 1] for id in test)
    @printf("held out: %d graphs of %d nodes, %d of them stars\n", length(test), nodes, stars)

    sampler = Sampler(data; fanouts = (-1, -1, -1, -1)) # layers; graphs are taken whole, whatever the fan-outs
    batches = seen = batch_nodes = 0
    for batch in Loader(data, sampler; batch_size = 32) # graphs
        start_of = graph_ptr(batch)
        batches += 1
        seen += length(start_of) - 1
        batch_nodes += start_of[end]
    end
    @printf("an epoch: %d mini-batches, %d graphs of %d nodes\n", batches, seen, batch_nodes)
end

main()
