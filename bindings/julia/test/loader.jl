world = small_world(300)
loader = Loader(world.data, world.sampler; batch_size = 64, shuffle = false)
plan = info(loader)
@test plan.num_seeds == 180 && plan.num_batches == 3 && plan.num_steps == 3 && plan.epoch == 0
batches = collect(loader)
@test eltype(batches) == Batch && length(batches) == 3
@test sort(reduce(vcat, [Array(seeds(batch)) for batch in batches])) == split_ids(world.data, :train)
@test [info(batch).number for batch in batches] == 0:2
@test all(batch -> info(batch).last_of_step, batches)
@test all(batch -> size(features(batch)) == (info(batch).num_nodes, 8), batches)
@test sum(batch -> info(batch).num_seeds, loader) == 180 # the next epoch
@test info(loader).epoch == 2

# After a loop is left, iteration continues at the same place.
for batch in loader
    close(batch)
    break
end
@test length(collect(loader)) == 2
start!(loader; epoch = 0, step = 1)
@test info(next!(loader)).number == 1

# Tensors outlive mini-batches, loaders and all else.
kept = features(next!(loader))
@test next!(loader) === nothing
foreach(close, batches)
failure_of(() -> info(batches[1]), :handle)
@test isfinite(sum(kept))

# A time limit.
answer = pending
while answer === pending
    global answer = next!(loader; timeout = 0)
end
@test answer isa Batch

# Canceled, and continued.
cancel(loader)
failure_of(() -> next!(loader), :cancelled)
start!(loader)
@test length(collect(loader)) == 3
close(loader)
failure_of(() -> next!(loader), :handle)

# Explicit seeds, split over two ranks; empty lists are allowed.
parts = [Loader(world.sampler, 0:99; dataset = world.data, batch_size = 20, rank = r, world_size = 2)
         for r in 0:1]
@test [sum(batch -> info(batch).num_seeds, part) for part in parts] == [60, 40]
failure_of(() -> Loader(world.sampler, [1, 999]), :range, "999")

# Whole graphs, and sparse features.
graph = Graph(world.context, 5, [0, 1, 2, 3], [1, 0, 3, 4])
set_node_csr!(graph, "w", 7, [0, 1, 1, 3, 3, 4], [6, 0, 1, 2], [1, 2, 3, 4])
many = Dataset(graph, [0, 2, 5]; features = "w", labels = [1, 0])
add_split!(many, "all"; train = [0, 1])
batch = next!(Loader(many, Sampler(many; fanouts = (-1,)); shuffle = false))
@test graph_ptr(batch) == [0, 2, 5]
whole = Sampler(many; fanouts = (-1,))
@test sort([info(part).num_nodes for part in Loader(many, whole; batch_nodes = 3)]) == [2, 3]
failure_of(() -> Loader(many, whole; batch_nodes = -1), :invalid_argument, "batch_nodes")
rows = sparse_features(batch)
@test rows.indptr == [0, 1, 1, 3, 3, 4] && rows.indices == [6, 0, 1, 2] && rows.values == [1, 2, 3, 4]
