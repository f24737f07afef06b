context, graph = ring(30)
data = Dataset(graph, "x", "y"; task = :multiclass)

built_in = Sampler(graph; fanouts = [1], edge_ids = true)
@test num_layers(built_in) == 1
batch = sample(built_in, [5, 7]; dataset = data, seed = 1)
@test seeds(batch) == [5, 7] && node_ids(batch) == [5, 7, 4, 6]
@test features(batch) == Array(node_tensor(graph, "x"))[[6, 8, 5, 7], :]
@test labels(batch) == [1, 1] && weights(batch) == [1, 1]
@test block(batch, 0) == (indptr = [0, 1, 2], indices = [2, 3], edge_ids = [4, 6])
@test block_info(batch, 0) == (num_targets = 2, num_sources = 4, num_edges = 2)
@test info(batch).num_nodes == 4 && !info(batch).sparse_features
failure_of(() -> block(batch, 9), :not_found)
failure_of(() -> graph_ptr(batch), :not_found)
failure_of(() -> sparse_features(batch), :unsupported)
failure_of(() -> sample(built_in, [99]), :range, "99")
failure_of(() -> features(sample(built_in, 1:2)), :not_found)
@test block(sample(Sampler(graph; fanouts = (-1,)), 0:1), 0).edge_ids === nothing

# A closure that calls the library draws the same neighbors as the library's sampler.
asked = []
custom = Sampler(graph; fanouts = (-1,), edge_ids = true) do layer, targets, sink
    push!(asked, (layer.layer, layer.epoch, layer.batch, targets))
    sample_neighbors!(sink, graph, targets, 1, layer.key)
end
mine = sample(custom, [5, 6]; seed = 11, epoch = 2, number = 9)
theirs = sample(built_in, [5, 6]; seed = 11, epoch = 2, number = 9)
@test node_ids(mine) == node_ids(theirs) && block(mine, 0) == block(theirs, 0)
@test asked == [(0, 2, 9, [5, 6])]

# Custom edges.
far = Sampler(graph; fanouts = (-1,)) do layer, targets, sink
    add_edges!(sink, (targets .+ 10) .% 30, targets)
end
@test node_ids(sample(far, [1, 25])) == [1, 25, 11, 5]
known = Sampler(graph; fanouts = (-1,), edge_ids = true) do layer, targets, sink
    add_edges!(sink, targets .- 1, targets, targets .- 1)
end
@test block(sample(known, [3]), 0).edge_ids == [2]

# The exception of a closure is the cause of the error, complete with its backtrace.
struct MyError <: Exception
    layer::Int
end
throwing = Sampler((layer, targets, sink) -> throw(MyError(layer.layer)), graph; fanouts = (-1, -1))
failed = failure_of(() -> sample(throwing, [1]), :callback)
@test failed.cause.ex === MyError(0)
@test any(frame -> occursin("sampler.jl", string(frame[1].file)), failed.cause.processed_bt)
@test occursin("MyError(0)", sprint(showerror, failed))
failed = failure_of(() -> sample(throwing, [1]), :callback)
@test failed.cause.ex === MyError(0)
loader = Loader(throwing, 0:9; batch_size = 2)
@test failure_of(() -> next!(loader), :callback).cause.ex === MyError(0)
failure_of(() -> next!(loader), :callback) # the error stays until start!

# Wrong calls of the closure are errors too, and never crash.
uneven = Sampler((layer, targets, sink) -> add_edges!(sink, [1, 2], [1]), graph; fanouts = (-1,))
@test failure_of(() -> sample(uneven, [1]), :callback).cause.ex isa DimensionMismatch
unknown = Sampler((layer, targets, sink) -> add_edges!(sink, [77], [1]), graph; fanouts = (-1,))
@test failure_of(() -> sample(unknown, [1]), :callback, "77").cause === nothing
kept = Ref{Any}()
keeping = Sampler((layer, targets, sink) -> (kept[] = sink), graph; fanouts = (-1,))
sample(keeping, [1])
failure_of(() -> add_edges!(kept[], [1], [1]), :handle)

# A closure may read, collect, print and switch tasks; it may not wait.
inner = Sampler(graph)
answers = []
busy = Sampler(graph; fanouts = (-1,)) do layer, targets, sink
    push!(answers, num_nodes(graph), failure_of(() -> sample(inner, [1]), :busy).code)
    GC.gc()
    yield()
    sleep(0.001)
    add_edges!(sink, [0], [1])
end
other = @async [length(node_ids(sample(inner, [v]))) for v in 0:9]
@test length(node_ids(sample(busy, [1]))) == 2
@test answers == [30, :busy]
@test length(fetch(other)) == 10

# The closure is kept exactly as long as the library may call it.
function counted(freed)
    thing = finalizer(_ -> freed[] = true, Ref(0))
    return Sampler((layer, targets, sink) -> (thing[] += 1; nothing), graph; fanouts = (-1,))
end
freed = Ref(false)
only = Loader(counted(freed), [1, 2])
GC.gc()
@test length(collect(only)) == 1 && !freed[]
close(only)
only = nothing
@test comes_true(() -> (num_nodes(graph); freed[]))
failure_of(() -> Sampler((layer, targets, sink) -> nothing, graph; num_layers = 1), :invalid_argument, "fanouts")
failure_of(() -> Sampler((layer, targets, sink) -> nothing, graph; fanouts = ones(Int, 99)), :invalid_argument, "at most 16")
