# Classification of whole graphs by GIN, over two ranks:
#   graph_classification.jl [<folder or file>] [--folds] [--epochs <number>] [--batch-nodes <number>]
# Without a path, on generated graphs. Trains on 80 % of the graphs and prints loss and validation
# accuracy of each epoch, and the accuracy on the last 10 % at the end. With --folds, trains ten models at
# once, each on nine of ten folds, and prints mean and deviation at the epoch with the best mean.
# With --batch-nodes a mini-batch has graphs up to this number of nodes, instead of 16 graphs.
include("common.jl")

const FOLDS = 10

# Two kinds of graphs of 8 to 20 nodes: a ring with a chord at every third node, or two stars whose
# centers are joined.
function generated(context)
    sources, targets, starts, classes = Int[], Int[], [0], Int[]
    for g in 0:299
        first, nodes, class = starts[end], 8 + g * 7 % 13, g % 2
        push!(classes, class)
        for i in 0:(nodes - 1)
            next = class == 1 ? (i < 2 ? 1 - i : i % 2) : (i + 1) % nodes
            ends = class == 0 && i % 3 == 0 ? (next, (i + nodes ÷ 2) % nodes) : (next,)
            for other in ends
                append!(sources, (first + i, first + other))
                append!(targets, (first + other, first + i))
            end
        end
        push!(starts, first + nodes)
    end
    graph = Graph(context, starts[end], sources, targets)
    set_node_tensor!(graph, "x", ones(Float32, starts[end], 1))
    return Dataset(graph, starts; features = "x", labels = classes, task = :multiclass, num_classes = 2)
end

# A trainer of a new model on the chosen split; `batch` says how large its mini-batches are.
function new_trainer(context, data, epochs, batch, seed)
    # [sampler]
    sampler = Sampler(data; fanouts = (-1, -1, -1, -1)) # the model's number of layers
    # [sampler]
    # [model]
    model = Model(context, data; architecture = :gin, num_layers = 4, hidden_dim = 64, norm = :batch,
                  readout = :sum,    # a row a graph from those of its nodes
                  jumping = :scores, # scores of the features and of every layer
                  output_dropout = 0.5, seed = seed)
    # [model]
    return Trainer(model, data, sampler; num_ranks = 2, batch..., num_epochs = epochs,
                   schedule = :step, # half the rate every 50 epochs
                   seed = seed)
end

function cross_validate(context, data, epochs, batch)
    curve = zeros(epochs, FOLDS) # accuracy on the held-out fold, after each epoch
    # [folds]
    # Those of scikit-learn, which GIN's authors measured with.
    add_folds!(data, "folds"; num_folds = FOLDS, numpy_legacy = true)
    trainers = map(1:FOLDS) do k
        fold = select_split(data, "folds", k - 1) # shares the data
        return start!(new_trainer(context, fold, epochs, batch, k - 1)) do epoch
            curve[epoch.epoch + 1, k] = epoch.validation.accuracy
        end
    end
    for (k, trainer) in enumerate(trainers)
        wait(trainer)
        @printf("fold %2d  accuracy after the last epoch %.4f\n", k, curve[epochs, k])
    end
    # [folds]
    mean = [sum(curve[e, k] / FOLDS for k in 1:FOLDS) for e in 1:epochs]
    best, tail = argmax(mean), min(epochs, 10)
    deviation = sqrt(sum((curve[best, k] - mean[best])^2 / FOLDS for k in 1:FOLDS))
    @printf("accuracy %.4f +- %.4f over folds at epoch %d, the best of the mean; last %d: %.4f\n",
            mean[best], deviation, best, tail, sum(mean[(epochs - tail + 1):epochs] ./ tail))
end

function main(arguments)
    path, by_folds, epochs = nothing, false, 30
    batch = (batch_size = 16,) # graphs, on each rank
    while !isempty(arguments)
        argument = popfirst!(arguments)
        if argument == "--folds"
            by_folds = true
        elseif argument == "--epochs"
            epochs = parse(Int, popfirst!(arguments))
        elseif argument == "--batch-nodes"
            batch = (batch_size = typemax(Int), batch_nodes = parse(Int, popfirst!(arguments)))
        else
            path = argument
        end
    end
    context = open_context()
    data = path === nothing ? generated(context) : Dataset(context, path)
    facts = info(data)
    @printf("%d graphs of %.1f nodes in the mean, %d features, %d classes\n", facts.num_graphs,
            facts.num_nodes / facts.num_graphs, facts.feature_dim, facts.num_classes)
    by_folds && return cross_validate(context, data, epochs, batch)

    add_random_split!(data, "random"; train_fraction = 0.8, validation_fraction = 0.1, seed = 1)
    trainer = train!(new_trainer(context, data, epochs, batch, 1)) do epoch
        @printf("epoch %2d  loss %.4f  validation accuracy %.4f%s\n", epoch.epoch + 1,
                epoch.train_loss, epoch.validation.accuracy, epoch.best ? " *" : "")
    end
    metrics = evaluate(trainer, :test)
    @printf("test accuracy %.4f (%d of %d graphs)\n", metrics.accuracy, metrics.correct, metrics.count)
end

main(copy(ARGS))
