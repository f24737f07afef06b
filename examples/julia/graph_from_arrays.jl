# A graph from arrays: two rings of eight nodes whose features contain little information about the
# ring, and a model that learns the ring of a node. Prints the accuracy on nodes that were not in
# the training part.
include("common.jl")

const RING = 8

function main()
    nodes = 0:(2 * RING - 1)
    # Each node is joined to the next one of its ring, in both directions.
    following(v) = v ÷ RING * RING + (v + 1) % RING
    sources = [u for v in nodes for u in (v, following(v))]
    targets = [u for v in nodes for u in (following(v), v)]
    labels = nodes .÷ RING
    # A node looks wrong itself half of the time; its neighbors give it away.
    features = Float32[(nodes .+ labels) .% 2  (labels .== 1) .& (nodes .% 2 .== 0)]

    context = open_context()
    # [graph from edges]
    graph = Graph(context, length(nodes), sources, targets)
    set_node_tensor!(graph, "x", features)
    set_node_tensor!(graph, "y", labels)
    # [graph from edges]
    # [data set]
    data = Dataset(graph, "x", "y"; task = :multiclass, num_classes = 2)
    add_split!(data, "mine"; train = [0, 1, 8, 9], validation = [2, 10],
               test = [3, 4, 5, 6, 7, 11, 12, 13])
    # [data set]

    sampler = Sampler(graph; fanouts = [-1, -1]) # all neighbors
    model = Model(context, data; hidden_dim = 16)
    trainer = Trainer(model, data, sampler; num_epochs = 60)
    train!(trainer)
    metrics = evaluate(trainer, :test)
    println("$(metrics.correct) of $(metrics.count) nodes are in the ring that the model says")

    # Optional, in any order: objects live as long as they are needed.
    foreach(close, (context, graph, data, sampler, model, trainer))
    @assert metrics.correct == metrics.count
end

main()
