world = small_world()
model = world.model
about = info(model)
@test about.architecture == :sage && about.input_dim == 8 && about.output_dim == 3
@test about.num_tensors == length(keys(model)) && about.num_parameters == length(parameters(model))
@test keys(model; trained = true) == keys(model) && isempty(keys(model; trained = false))
@test length(keys(Model(world.context, world.data; norm = :batch); trained = false)) > 0
failure_of(() -> Model(world.context), :invalid_argument)
failure_of(() -> Model(world.context, world.data; num_layers = 99), :invalid_argument, "num_layers")

# Weights: rows first, in place and by copy.
key = "convs.0.lin_l.weight"
weight = model[key]
@test size(weight) == (16, 8) && strides(weight) == (8, 1) && iswritable(weight)
wanted = Float32[i + 100j for i in 1:16, j in 1:8]
model[key] = wanted
@test weight == wanted && model[key] == wanted
model[key] = wanted .* 2
@test weight == 2 .* wanted
weight .= 0.5
@test all(==(0.5f0), model[key])
failure_of(() -> model["no such"], :not_found, key)
failure_of(() -> model[key] = permutedims(wanted), :invalid_argument)
failure_of(() -> model[key] = Float64.(wanted), :invalid_argument)
replica = copy(model)
@test parameters(replica) == parameters(model)
replica[key] = wanted
@test parameters(replica) != parameters(model)

# Forward, backward, step.
batch = sample(world.sampler, 0:31; dataset = world.data)
logits = infer(model, batch)
@test size(logits) == (32, 3)
failure_of(() -> backward!(model), :not_found)
@test forward!(model, batch; logits = false) === nothing
@test backward!(model) > 0
summed = Array(gradients(model))
@test any(!=(0), summed) && size(gradient(model, key)) == (16, 8)
failure_of(() -> gradient(model, "no such"), :not_found)

# The gradient of cross-entropy, given by hand, is that of the library.
optimizer = Optimizer(model; optimizer = :sgd, learning_rate = 0)
step!(optimizer)
@test all(==(0), gradients(model))
logits = forward!(model, batch)
shares = exp.(logits) ./ sum(exp.(logits); dims = 2)
wanted = [c - 1 == class for class in labels(batch), c in 1:3]
backward!(model, Float32.((shares .- wanted) ./ 32))
@test gradients(model) ≈ summed
forward!(model, batch)
failure_of(() -> backward!(model, zeros(Float32, 3, 32)), :invalid_argument)
@test_throws ArgumentError backward!(model, :no_such_loss)

@test learning_rate(optimizer) == 0
set_learning_rate!(optimizer, 0.25)
@test learning_rate(optimizer) == 0.25
failure_of(() -> set_learning_rate!(optimizer, -1), :invalid_argument)

# Evaluation and results for all nodes, with and without a time limit.
metrics = evaluate(model, world.data, :test)
@test metrics.task == :multiclass && metrics.count == 80 && 0 <= metrics.accuracy <= 1
answer = pending
while answer === pending
    global answer = evaluate(model, world.data, :test; timeout = 0.001)
end
@test answer.correct == metrics.correct
@test evaluate(model, world.data, :test; top_k = 1).top_k_accuracy == metrics.accuracy
@test evaluate(model, world.data, :test; top_k = 3).top_k_accuracy == 1
same, matrix = confusion(model, world.data, :test)
@test same.loss == metrics.loss && size(matrix) == (3, 3) && sum(matrix) == 80
@test sum(matrix[c, c] for c in 1:3) == metrics.correct
rows = embed(model, world.data)
@test size(rows) == (400, 3) && count(i -> argmax(rows[i + 1, :]) - 1 == labels(world.data)[i + 1],
                                      split_ids(world.data, :test)) == metrics.correct

in_folder() do folder
    embed(model, world.data, "rows.npy")
    @test read("rows.npy")[(end - 4 * 1200 + 1):end] == reinterpret(UInt8, vec(permutedims(rows)))
    late = embed(model, world.data; timeout = 0)
    @test late === pending || late == rows
    late === pending && @test embed(model, world.data) == rows

    # Files.
    save(model, "model.pth")
    save(model, "weights"; format = :safetensors, first_layer = "conv1")
    other = Model(world.context, world.data; hidden_dim = 16, seed = 5)
    for (path, settings) in (("model.pth", NamedTuple()), ("weights", (format = :safetensors,)))
        set = copy(other)
        load!(set, path; settings...)
        @test parameters(set) == parameters(model)
    end
    opened = open_model(world.context, "model.pth")
    @test parameters(opened) == parameters(model) && model_settings(opened) == model_settings(model)
    @test model_config(opened).hidden_dim == 16 && model_config(opened).architecture == :sage
    failure_of(() -> open_model(world.context, "nowhere.pth"), :not_found, "nowhere.pth")
    narrow = Model(world.context, world.data; hidden_dim = 8)
    failure_of(() -> load!(narrow, "model.pth"), :mismatch, "hidden_dim is 8")
    failure_of(() -> load!(narrow, "nowhere.pth"), :not_found, "nowhere.pth")
    failure_of(() -> save(model, "weights"; first_layer = "my \"first\" layer"), :invalid_argument, "my \"first\" layer")
    save(optimizer, "state.pth")
    @test load!(optimizer, "state.pth") === nothing
    adam = Optimizer(model)
    forward!(model, batch)
    backward!(model)
    step!(adam)
    save(adam, "there.pth"; other_framework = true) # GraphSAGE's layers have another order there
    failure_of(() -> load!(adam, "there.pth"), :format, "misshapen")
    load!(adam, "there.pth"; other_framework = true)
end

# Without features: one row per node, or weights per node and relation; and layers over both ends of edges.
for settings in ((architecture = :rgcn, input = :nodes, num_relations = 1), (input = :embedding,))
    local rows = Model(world.context; input_dim = 400, output_dim = 3, hidden_dim = 16, settings...)
    @test info(rows).input_dim == 400
    @test ("embedding.weight" in keys(rows)) == (settings.input == :embedding)
end
failure_of(() -> Model(world.context, world.data; input = :nodes), :invalid_argument, "input")
failure_of(() -> Model(world.context, world.data; edge_dropout = 1), :invalid_argument, "edge_dropout")
thinned = Model(world.context, world.data; architecture = :edge, aggregation = :max, hidden_dim = 16,
                edge_dropout = 0.2, node_dropout = 0.1)
@test isfinite(sum(forward!(thinned, batch)))

# Custom layers.
stack = Model(world.context, world.data; architecture = :layers)
add_linear!(stack, "encoder", 12; bias = false)
add_norm!(stack, "norm", :batch; momentum = 0.5, affine = :off)
add_norm!(stack, nothing, :pair; scale = 2)
add_activation!(stack, :relu)
add_conv!(stack, "conv"; architecture = :gcn, output_dim = 6)
add_activation!(stack, "act", :prelu)
add_dropout!(stack, 0.1)
add_readout!(stack, nothing, :sum)
add_linear!(stack, "head", 3)
failure_of(() -> add_conv!(stack, "late"; output_dim = 3), :invalid_argument, "late")
failure_of(() -> add_norm!(stack, "late", :batch; momentum = 2), :invalid_argument, "momentum is 2")
@test_throws ArgumentError add_activation!(stack, :swish)
@test "encoder.weight" in keys(stack) && !("encoder.bias" in keys(stack)) && "head.bias" in keys(stack)
@test info(stack).output_dim == 3
failure_of(() -> add_linear!(stack, "late", 3), :busy)
failure_of(() -> add_linear!(model, "late", 3), :invalid_argument)
