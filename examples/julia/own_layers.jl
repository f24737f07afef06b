# A custom model, layer by layer under the names of its modules in Python: a linear encoder, two
# convolutions of different kinds with a norm between, a linear head. It is trained, saved as a
# state dict, and loaded into an equal stack. A second one ends in a readout.
include("common.jl")

function make_stack(context, data, seed)
    # [layers]
    model = Model(context, data; architecture = :layers, seed = seed) # input_dim is the data set's
    add_linear!(model, "encoder", 48)
    add_activation!(model, :relu)
    # Four heads of eight columns, concatenated.
    add_conv!(model, "conv1"; architecture = :gatv2, output_dim = 32, heads = 4)
    add_norm!(model, "bn1", :batch; epsilon = 1e-3)
    add_activation!(model, "act1", :prelu)
    add_dropout!(model, 0.2)
    add_conv!(model, "conv2"; architecture = :sage, output_dim = 32)
    add_activation!(model, :elu)
    return add_linear!(model, "head", 10)
    # [layers]
end

# A head for graphs, of which only the shape is looked at here.
function make_graph_stack(context)
    model = Model(context; architecture = :layers, input_dim = 7)
    add_conv!(model, "conv"; architecture = :gin, output_dim = 16)
    add_readout!(model, "pool", :set2set; size = 3) # 32 columns
    return add_linear!(model, "head", 2)
end

function main()
    context = open_context()
    graph, data = planted_data(context, 2000)
    sampler = Sampler(graph) # two hops, as the stack has convolutions
    model = make_stack(context, data, 1)
    trainer = Trainer(model, data, sampler; num_epochs = 8, batch_size = 256)
    train!(trainer)
    save(model, "stack.pth")
    println("keys: ", join(keys(model), ", "))

    other = make_stack(context, data, 2)
    load!(other, "stack.pth")
    @printf("test accuracy %.4f, of the one that was read %.4f\n", evaluate(model, data, :test).accuracy,
            evaluate(other, data, :test).accuracy)

    graphs = make_graph_stack(context)
    @printf("of graphs: %d convolution, %d results\n", info(graphs).num_layers, info(graphs).output_dim)
    # A layer that does not match is named, and nothing is added.
    try
        add_conv!(graphs, "late"; output_dim = 8)
    catch error
        println(error.text)
    end
end

main()
