world = small_world()
trainer = small_trainer(world; num_ranks = 2)
seen = []
@test train!(epoch -> push!(seen, epoch), trainer) === trainer
@test [epoch.epoch for epoch in seen] == 0:2 && all(epoch -> epoch.validation !== nothing, seen)
@test seen[end].train_loss < seen[1].train_loss
@test all(epoch -> 0 <= epoch.times.peer_wait <= epoch.times.reduce, seen)
metrics = evaluate(trainer, :test)
@test metrics.count == 80
@test metrics.accuracy > 1 / 3
same, matrix = confusion(trainer, :test)
@test same.loss == metrics.loss && sum(matrix) == 80 && sum(matrix[c, c] for c in 1:3) == metrics.correct
at = progress(trainer)
@test at.state == :finished && at.num_epochs == 3 && at.has_validation && at.times.peer_wait >= 0
@test rank_info(trainer, 1).times.compute > 0 && rank_info(trainer, 1).device == -1
times = rank_info(trainer, 1)
@test times.idle_seconds >= 0
@test times.idle_seconds ≈ times.times.total - times.times.compute - times.times.reduce - times.times.optimizer
@test [facts.rank for facts in rank_info(trainer)] == [0, 1] && rank_info(trainer)[2] == rank_info(trainer, 2)
@test failure_of(() -> rank_info(trainer, 99), :not_found).code == :not_found
plan = memory_info(trainer, 80 * 10^9)
@test plan.fits && plan.bounded && plan.total_bytes > plan.step_bytes
@test failure_of(() -> memory_info(trainer), :not_found).code == :not_found
@test info(Model(trainer)) == info(world.model)
rows = embed(trainer)
@test size(rows) == (400, 3) && rows ≈ embed(world.model, world.data)
failure_of(() -> evaluate(trainer, 9), :invalid_argument)
failure_of(() -> Trainer(world.model, world.data, Sampler(world.graph; fanouts = [1])), :invalid_argument)
failure_of(() -> small_trainer(world; epochs = 3), :invalid_argument, "num_epochs")

# The same steps one by one, with a time limit, in one call, and from a task.
function losses(run)
    fresh = small_world()
    own = small_trainer(fresh)
    run(own)
    return Array(parameters(fresh.model))
end
by_train = losses(train!)
@test losses(own -> train!(_ -> nothing, own; slices = false)) == by_train
@test losses(own -> train!(own; slices = false)) == by_train
@test losses(own -> fetch(Threads.@spawn train!(own))) == by_train
@test losses(own -> while step!(own) !== nothing end) == by_train
@test losses(function (own)
    loss = pending
    while loss !== nothing
        loss = step!(own; timeout = 0.001)
    end
end) == by_train
@test losses(function (own)
    start!(own)
    while wait(own; timeout = 0.005) === pending
    end
end) == by_train

# An exception of the closure ends training, and training can continue afterwards.
struct Enough <: Exception end
trainer = small_trainer(small_world(); num_epochs = 5)
failed = failure_of(() -> train!(epoch -> epoch.epoch == 1 && throw(Enough()), trainer), :callback)
@test failed.cause.ex isa Enough
@test progress(trainer).state == :failed
failed = failure_of(() -> train!(epoch -> throw(Enough()), trainer; slices = false), :callback)
@test failed.cause.ex isa Enough
count_of_epochs = Ref(0)
train!(_ -> count_of_epochs[] += 1, trainer)
@test 1 <= count_of_epochs[] <= 4
@test_throws InterruptException train!(epoch -> throw(InterruptException()), small_trainer(small_world()))

# The call that waits for training reports an exception of a sampler's closure.
world = small_world()
throwing = Sampler((layer, targets, sink) -> throw(Enough()), world.graph; fanouts = (-1, -1))
trainer = Trainer(world.model, world.data, throwing; batch_size = 64)
@test failure_of(() -> train!(trainer), :callback).cause.ex isa Enough

# A closure may print, read the trainer's progress and stop it; its model is busy.
world = small_world()
trainer = small_trainer(world; num_epochs = 1000000)
codes = []
train!(trainer) do epoch
    push!(codes, progress(trainer).state, failure_of(() -> world.model["convs.0.lin_l.weight"], :busy).code)
    print(devnull, epoch)
    sleep(0.001)
    epoch.epoch == 2 && stop(trainer)
end
@test codes[1:2] == [:running, :busy] && length(codes) < 2000
@test progress(trainer).state == :idle

# Another task cancels it while it runs.
canceller = @async (sleep(0.1); cancel(trainer))
failure_of(() -> train!(trainer), :cancelled)
fetch(canceller)
failure_of(() -> wait(trainer), :invalid_argument)

# Records, checkpoints, files.
in_folder() do folder
    world = small_world()
    trainer = small_trainer(world)
    set_record!(trainer, :json_lines, "run.jsonl")
    set_checkpoints!(trainer, "run"; every_steps = 2, keep = 1)
    train!(trainer)
    @test countlines("run.jsonl") == 3 && isdir("run")
    set_record!(trainer, :json_lines, nothing)
    set_checkpoints!(trainer, nothing)
    @test save(trainer, "end") === nothing
    embed(trainer, "rows.npy")
    @test filesize("rows.npy") > 4 * 1200
    again = small_world()
    other = small_trainer(again)
    load!(other, "end")
    @test parameters(again.model) == parameters(world.model)
    failure_of(() -> load!(other, "nowhere"), :not_found)
    failure_of(() -> save(other, "end"), :invalid_argument, "end")
    @test save(Optimizer(trainer), "adam.pth") === nothing
    load!(Optimizer(other), "adam.pth")
    save(Optimizer(other), "again.pth")
    @test read("again.pth") == read("adam.pth")
    failure_of(() -> load!(Optimizer(other), "adam.pth"; other_framework = true), :format, "misshapen")
end
