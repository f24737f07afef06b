# Several tasks and threads, and Ctrl-C.

# A wait lets other tasks of the thread run.
world = small_world()
trainer = small_trainer(world; num_epochs = 100000)
ticks = Ref(0)
ticker = @async (for _ in 1:5; sleep(0.02); ticks[] += 1 end; stop(trainer))
train!(trainer)
@test ticks[] == 5

# The same while closures switch tasks, and others wait on the same thread.
context, graph = ring(40)
slow = Sampler(graph; fanouts = (-1,)) do layer, targets, sink
    yield()
    sample_neighbors!(sink, graph, targets, 1, layer.key)
    yield()
end
counts = asyncmap(1:4) do r
    sum(batch -> info(batch).num_seeds, Loader(slow, 0:39; batch_size = 5, rank = r - 1, world_size = 4))
end
@test counts == fill(10, 4)

# A waiting thread never blocks the collector for long.
if Threads.nthreads() > 1
    trainer = small_trainer(small_world(); num_epochs = 100000)
    waiting = Threads.@spawn (try train!(trainer) catch problem; problem end)
    comes_true(() -> progress(trainer).state == :running)
    foreach(_ -> GC.gc(), 1:5) # would wait for ever if a thread waited in one call
    cancel(trainer)
    @test fetch(waiting).code == :cancelled
end

# One object used by several threads at once: an error, and never a race.
world = small_world()
outcomes = fetch.([Threads.@spawn(try
    for _ in 1:20
        infer(world.model, sample(world.sampler, [1, 2]; dataset = world.data))
    end
    :fine
catch error
    error.code
end) for _ in 1:4])
@test all(outcome -> outcome in (:fine, :busy), outcomes)

# Another task closes an object while a call waits.
comms = comm_group(world.context, 2)
closer = @async (sleep(0.05); close(comms[1]))
outcome = try
    barrier(comms[1])
catch problem
    problem.code
end
@test outcome in (:handle, :aborted, :cancelled)
fetch(closer)

# Another task closes a tensor while a waiting call uses it; several tasks close one at once.
comms = comm_group(world.context, 2)
own_weights = parameters(small_world().model)
unsummed = Array(own_weights)
summing = @async all_reduce!(comms[1], own_weights)
yield()
foreach(wait, [Threads.@spawn(close(own_weights)) for _ in 1:4])
all_reduce!(comms[2], copy(unsummed))
fetch(summing)
failure_of(() -> own_weights[1], :handle, "closed")

# One thread reads tensors element by element while another closes them; objects are asked for texts
# in the meantime.
function read_until_closed(x)
    total = 0.0
    try
        while true
            total += sum(x)
            yield()
        end
    catch problem
        problem isa GNNMGError && problem.code == :handle || rethrow()
    end
    return total
end
for round in 1:10
    local x = node_tensor(generate(world.context, :planted; num_nodes = 5000), "x") # more than a page, so it would be unmapped
    local reader = Threads.@spawn read_until_closed(x)
    sleep(0.001round)
    close(x)
    @test isfinite(fetch(reader))
end
function names_until_closed(graph)
    try
        while true
            node_tensor_names(graph)[1].name == "x" && node_type_name(graph, 0) == "node" || return :other
            yield()
        end
    catch problem
        return problem.code
    end
end
for round in 1:30
    local graph = generate(world.context, :planted; num_nodes = 50)
    local readers = [Threads.@spawn(names_until_closed(graph)) for _ in 1:2]
    sleep(0.0002round)
    close(graph)
    @test fetch.(readers) == [:handle, :handle]
end

# An interrupt of a wait cancels the work, waits for its end, and frees a result that nobody takes.
# Tests with processes cover the delivery of Ctrl-C.
calls, cancelled, undone = Ref(0), Ref(0), Ref(0)
function until_cancelled(timeout_ms)
    calls[] += 1
    return cancelled[] > 0 && calls[] > 4 ? GNNMG.GNNMG_OK : GNNMG.GNNMG_PENDING
end
waiting = @async GNNMG.await(until_cancelled, () -> cancelled[] += 1, nothing, (), () -> undone[] += 1)
yield()
@test calls[] == 1
schedule(waiting, InterruptException(); error = true)
@test comes_true(() -> istaskdone(waiting))
@test waiting.result isa InterruptException
@test (cancelled[], undone[], calls[]) == (1, 1, 5)

# A wrong argument cancels nothing.
@test_throws ArgumentError GNNMG.await(_ -> throw(ArgumentError("no")), () -> cancelled[] += 1)
@test cancelled[] == 1

# A time limit is met, and a call without one waits in slices.
begun = time()
@test GNNMG.await(timeout_ms -> (sleep(0.001timeout_ms); GNNMG.GNNMG_PENDING), () -> nothing, 0.035) ==
      GNNMG.GNNMG_PENDING
@test time() - begun >= 0.03

# Threads with loaders of their own on one data set, while the collector runs: each sees each seed once.
world = small_world()
seen = zeros(Int, 8)
Threads.@threads for r in 1:8
    for batch in Loader(world.data, world.sampler; batch_size = 30, num_threads = r % 3)
        r == 1 && GC.gc(false)
        seen[r] += length(seeds(batch))
        isodd(r) && close(batch) # the others are left to the collector
    end
end
@test all(==(length(split_ids(world.data, :train))), seen)

# A loader and a trainer that several tasks, on all threads, work with, cancel, close and replace as they like: every
# call is done, or refused with one of the codes that are for this.
function many_hands(seconds)
    world = small_world(200)
    new_loader() = Loader(world.data, world.sampler; batch_size = 10)
    new_trainer() = Trainer(Model(world.context, world.data), world.data, world.sampler; num_epochs = 1000000)
    loader, trainer = Ref(new_loader()), Ref(new_trainer())
    over, codes, codes_lock = time() + seconds, Set{Any}(), ReentrantLock()
    function hand(work)
        return Threads.@spawn while time() < over
            try
                work()
            catch failure
                lock(() -> push!(codes, failure isa GNNMGError ? failure.code : failure), codes_lock)
            end
            yield()
        end
    end
    hands = [
        hand() do
            batch = next!(loader[])
            batch === nothing || (sum(features(batch)); rand(Bool) && close(batch))
        end,
        hand(() -> (start!(loader[]); foreach(close, loader[]))),
        hand(() -> train!(trainer[])),
        hand(() -> step!(trainer[])),
        hand(() -> progress(trainer[])),
        hand(() -> (sleep(0.002); rand((() -> cancel(loader[]), () -> cancel(trainer[]), () -> stop(trainer[]), GC.gc))())),
        hand() do
            sleep(0.02)
            rand(Bool) && close(loader[]) # else the collector closes it
            close(trainer[])
            loader[], trainer[] = new_loader(), new_trainer()
        end,
    ]
    sleep(seconds)
    while !all(istaskdone, hands) # the last training has nobody else to end it
        foreach(close, (loader[], trainer[]))
        sleep(0.01)
    end
    return codes
end
many_hands(0.2) # mostly compilation
@test setdiff(many_hands(1.5), (:busy, :handle, :cancelled, :aborted)) == Set()
