# Objects closed and collected in any order, at any moment, on any thread; nothing is left
# afterwards.

memory_used(context) = info(context).memory_used

# A function, so that nothing stays reachable afterwards.
function work_and_forget(context)
    graph = generate(context, :planted; num_nodes = 300, num_features = 8)
    data = add_random_split!(Dataset(graph, "x", "y"; task = :multiclass), "random")
    sampler = Sampler(graph; fanouts = [3, 3])
    total = 0.0
    for round in 1:5
        loader = Loader(data, sampler; batch_size = 20, num_threads = round % 3)
        kept = nothing
        for (number, batch) in enumerate(loader)
            number == 2 && (kept = features(batch))
            number == 4 && break
        end
        loader = nothing
        GC.gc()
        total += sum(kept)
    end
    return total
end
context = Context(; num_threads = 1)
@test isfinite(work_and_forget(context))
@test comes_true(() -> memory_used(context) == 0)

# In any order.
function in_order(order)
    context, graph = ring(20)
    data = add_split!(Dataset(graph, "x", "y"; task = :multiclass), "all"; train = 0:19)
    sampler = Sampler(graph)
    loader = Loader(data, sampler)
    objects = Any[context, graph, data, sampler]
    while !isempty(objects)
        index = order % length(objects) + 1
        order ÷= length(objects)
        close(splice!(objects, index))
    end
    return info(next!(loader)).num_seeds
end
@test all(order -> in_order(order) == 20, 0:23)

# The collector at every moment of an iteration, and of training.
world = small_world(200)
for batch in Loader(world.data, world.sampler; batch_size = 30, num_threads = 2)
    GC.gc()
    local rows, ids = features(batch), node_ids(batch)
    batch = nothing
    GC.gc()
    @test rows[1, 1] == node_tensor(world.graph, "x")[ids[1] + 1, 1]
end
custom = Sampler(world.graph; fanouts = (-1, -1)) do layer, targets, sink
    GC.gc(false)
    sample_neighbors!(sink, world.graph, targets, 2, layer.key)
end
trainer = Trainer(world.model, world.data, custom; batch_size = 60, num_epochs = 2, num_ranks = 2)
train!(_ -> GC.gc(), trainer)
@test progress(trainer).state == :finished

# Trainers cancelled, stopped, closed and left at every moment.
function left_running(moment)
    trainer = small_trainer(small_world(120); num_epochs = 100000, num_ranks = 1 + moment % 2)
    start!(trainer)
    sleep(0.0007moment)
    moment % 4 == 0 && return close(trainer)
    moment % 4 == 1 && return stop(trainer)
    moment % 4 == 2 && return cancel(trainer)
    return nothing # left to the collector
end
foreach(left_running, 0:11)
GC.gc()

# Loaders cancelled at every moment, from another thread.
for moment in 0:15
    local loader = Loader(world.data, world.sampler; batch_size = 8, num_threads = moment % 3)
    local canceller = Threads.@spawn (sleep(0.0005moment); cancel(loader))
    try
        foreach(close, loader)
    catch problem
        @test problem.code == :cancelled
    end
    wait(canceller)
end

# After everything is closed, every function with a closed object is an error with the code :handle.
closed = small_world(50)
loader, optimizer = Loader(closed.data, closed.sampler), Optimizer(closed.model)
batch, trainer, comm = next!(loader), small_trainer(closed), comm_group(closed.context, 1)[1]
foreach(close, (loader, optimizer, batch, trainer, comm, closed...))
for call in (() -> info(closed.context), () -> set_option!(closed.context, "log_level", "info"),
             () -> messages(closed.context), () -> Graph(closed.context), () -> num_nodes(closed.graph),
             () -> coo(closed.graph), () -> Sampler(closed.graph), () -> add_node_type!(closed.graph, "n", 1),
             () -> info(closed.data), () -> names(closed.data), () -> splits(closed.data),
             () -> save(closed.data, "never"), () -> labels(closed.data), () -> num_layers(closed.sampler),
             () -> sample(closed.sampler, [1]), () -> Loader(closed.data, closed.sampler),
             () -> next!(loader), () -> info(loader), () -> start!(loader), () -> info(batch),
             () -> features(batch), () -> block(batch, 0), () -> keys(closed.model),
             () -> closed.model["x"], () -> evaluate(closed.model, closed.data, :test),
             () -> embed(closed.model, closed.data), () -> copy(closed.model), () -> step!(optimizer),
             () -> learning_rate(optimizer), () -> train!(trainer), () -> step!(trainer),
             () -> progress(trainer), () -> wait(trainer), () -> Model(trainer), () -> barrier(comm),
             () -> all_reduce(comm, 1), () -> rank(comm), () -> lend(closed.context) === nothing &&
                                                           info(closed.context))
    failure_of(call, :handle)
end
foreach(cancel, (closed.context, loader, trainer, comm))

# An optional object that is closed is an error too, and does not count as omitted.
open_ones = small_world(50)
for call in (() -> Model(open_ones.context, closed.data), () -> sample(open_ones.sampler, [1]; dataset = closed.data),
             () -> Loader(open_ones.sampler, [1]; dataset = closed.data),
             () -> Trainer(open_ones.model, open_ones.data, open_ones.sampler; comm = comm))
    failure_of(call, :handle, "no live handle")
end
stop(trainer)
