# Models that read edge data, compared with one that does not: GINE, R-GCN, a graph transformer and
# PNA. A node's class depends on which type of edges brings more input, so a model needs the types
# to predict it.
include("common.jl")

const NODES, DEGREE = 1000, 7

next_random(random::UInt64) = random * 6364136223846793005 + 0x14057b7ef767814f

function make_data(context)
    edges = NODES * DEGREE
    sources, targets, kinds = zeros(Int, edges), zeros(Int, edges), zeros(Int, edges)
    features, classes, rows = zeros(Float32, NODES, 1), zeros(Int, NODES), zeros(Float32, edges, 2)
    random = UInt64(1)
    for i in 1:NODES
        random = next_random(random)
        features[i] = 0.5 + (random >> 40) / (1 << 24) # uniform in 0.5 to 1.5
    end
    e = 0
    for i in 1:NODES
        sum = 0.0
        for _ in 1:DEGREE
            e += 1
            random = next_random(random)
            sources[e], targets[e] = (random >> 33) % NODES, i - 1
            kinds[e] = (random >> 32) & 1
            rows[e, kinds[e] + 1] = 1
            sum += kinds[e] == 1 ? features[sources[e] + 1] : -features[sources[e] + 1]
        end
        classes[i] = sum > 0
    end
    # [edge tensors]
    graph = Graph(context, NODES, sources, targets)
    set_node_tensor!(graph, "x", features)
    set_node_tensor!(graph, "y", classes)
    set_edge_tensor!(graph, "edge_attr", rows)
    set_edge_tensor!(graph, "edge_type", kinds)
    # [edge tensors]
    data = Dataset(graph, "x", "y"; task = :multiclass, num_classes = 2)
    return graph, add_random_split!(data, "random")
end

function train(context, data, sampler, architecture)
    # The edges' number of columns; R-GCN counts their types.
    without = architecture in (:rgcn, :sage)
    edge_dim = without ? 0 : -1
    aggregation = without ? :sum : :default # GINE's is the sum already
    model = Model(context, data; architecture = architecture, num_layers = 1, hidden_dim = 32,
                  aggregation = aggregation, jumping = :last, # a linear layer after the convolution
                  edge_dim = edge_dim)
    trainer = Trainer(model, data, sampler; num_epochs = 15, evaluate_every = 15, batch_size = 64,
                      learning_rate = 0.01)
    train!(trainer)
    return evaluate(trainer, :test).accuracy
end

function main()
    kinds = ["GraphSAGE" => :sage, "GINE" => :gine, "R-GCN" => :rgcn, "transformer" => :transformer,
             "PNA" => :pna]
    context = open_context()
    graph, data = make_data(context)
    sampler = Sampler(graph; fanouts = [-1])
    seeing = 0
    for (name, architecture) in kinds
        accuracy = train(context, data, sampler, architecture)
        @printf("%-11s test accuracy %.4f\n", name, accuracy)
        seeing += accuracy > 0.75
    end
    println("$seeing of $(length(kinds)) models see the edges")
end

main()
