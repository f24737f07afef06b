# Classes of the entities of a knowledge graph, which has no features: R-GCN, whose first layer has a row
# of weights for each entity in every relation's matrix.
#   knowledge_graph.jl [<folder with triples.npy, labels.npy and split_NAME.npy>]
# Without a folder it uses people, their papers, topics, and acquaintances; a class is a
# person's department.
include("common.jl")

const PEOPLE, PAPERS, TOPICS, DEPARTMENTS = 300, 1500, 30, 3
const ENTITIES = PEOPLE + PAPERS + TOPICS
const WROTE, ABOUT, KNOWS, RELATIONS = 0, 1, 2, 3

mutable struct Draws
    state::UInt64
end

function draw(random, below)
    random.state = random.state * 6364136223846793005 + 0x14057b7ef767814f
    return Int((random.state >> 33) % below)
end

function generated(context)
    random = Draws(1)
    sources, relations, targets = Int[], Int[], Int[]
    function add(source, relation, target)
        push!(sources, source)
        push!(relations, relation)
        push!(targets, target)
    end
    works_in = [draw(random, DEPARTMENTS) for _ in 1:PEOPLE]
    for paper in 0:(PAPERS - 1)
        author = draw(random, PEOPLE)
        # Mostly a topic of the department.
        field = draw(random, 10) < 7 ? works_in[author + 1] : draw(random, DEPARTMENTS)
        topic = DEPARTMENTS * draw(random, TOPICS ÷ DEPARTMENTS) + field
        add(author, WROTE, PEOPLE + paper)
        add(PEOPLE + paper, ABOUT, PEOPLE + PAPERS + topic)
    end
    foreach(person -> add(person, KNOWS, draw(random, PEOPLE)), 0:(PEOPLE - 1))

    # Adds the reverse of each triple as a separate relation, like the reader of folders.
    graph = Graph(context, ENTITIES, [sources; targets], [targets; sources])
    set_edge_tensor!(graph, "edge_type", [relations; relations .+ RELATIONS])
    set_node_tensor!(graph, "y", [works_in; fill(-1, ENTITIES - PEOPLE)])
    data = Dataset(graph, nothing, "y"; task = :multiclass, num_classes = DEPARTMENTS)
    return add_split!(data, "people"; train = 0:199, test = 200:(PEOPLE - 1))
end

function main(folder = nothing)
    context = open_context()
    data = folder === nothing ? generated(context) : Dataset(context, folder)

    # [model]
    # Other architectures take input = :embedding.
    model = Model(context, data; architecture = :rgcn, input = :nodes, num_layers = 2, hidden_dim = 16)
    # [model]
    facts = info(model)
    println("$(facts.input_dim) entities, $(facts.num_parameters) parameters")

    sampler = Sampler(Graph(data); fanouts = [-1, -1])
    trainer = Trainer(model, data, sampler; num_epochs = 50, learning_rate = 0.03,
                      weight_decay = 5e-3, # else the people's own rows learn their labels by heart
                      batch_size = typemax(Int)) # all nodes in one mini-batch
    train!(trainer)
    metrics = evaluate(trainer, :test)
    @printf("test accuracy %.4f (%d of %d)\n", metrics.accuracy, metrics.correct, metrics.count)
end

main(ARGS...)
