# Models and mini-batches on GPUs give the CPU's results. GNNMG_TEST_GPUS is the number of GPUs that
# must exist; without any the CPU is compared with itself.
world = small_world()
gpus = length(devices(world.context))
@test get(ENV, "GNNMG_TEST_GPUS", string(gpus)) == string(gpus)

"An epoch of a copy of the model, the results in main memory."
function epoch_on(world, on, index)
    where_it_lies = on === :cuda ? index : nothing
    model = copy(world.model)
    set_device!(model, on, index)
    place = info(model)
    @test (Symbol(place.device), place.device_index) == (on, index)
    loader = Loader(world.data, world.sampler; batch_size = 64, device = on, device_index = index)
    optimizer = Optimizer(model)
    failure_of(() -> set_device!(model, :cpu), :busy, "an optimizer")
    losses, ids = Float64[], Int64[]
    for batch in loader
        nodes, rows = node_ids(batch), features(batch)
        @test gpu(nodes) == where_it_lies && gpu(rows) == where_it_lies
        append!(ids, host(world.context, nodes))
        @test host(world.context, rows) == node_tensor(world.graph, "x")[host(world.context, nodes) .+ 1, :]
        if on === :cuda
            @test nodes isa GpuTensor{Int64, 1} && !(nodes isa AbstractArray)
            @test size(rows) == (length(nodes), 8) && eltype(rows) == Float32 && ndims(rows) == 2
            @test occursin("GpuTensor{Float32} on GPU $index", string(rows))
            failure_of(() -> infer(world.model, batch), :invalid_argument, "the mini-batch on GPU $index")
            close(rows)
            @test !isopen(rows)
            failure_of(() -> host(world.context, rows), :handle, "closed")
        end
        scores = forward!(model, batch)
        @test gpu(scores) == where_it_lies
        push!(losses, backward!(model))
        step!(optimizer)
    end
    weights = host(world.context, parameters(model))
    copy_tensor!(world.context, parameters(model), weights)
    return (losses = losses, ids = ids, weights = weights)
end

here = epoch_on(world, :cpu, 0)
for index in 0:max(gpus - 1, 0)
    local there = epoch_on(world, gpus > 0 ? :cuda : :cpu, index)
    @test there.ids == here.ids
    @test isapprox(there.losses, here.losses; atol = 1e-4, norm = x -> maximum(abs, x))
    @test isapprox(there.weights, here.weights; atol = 1e-3, norm = x -> maximum(abs, x))
end
failure_of(() -> set_device!(world.model, :cuda, gpus), gpus > 0 ? :not_found : :dependency, "argument 'index'")

gpus > 0 && failure_of(() -> set_device!(world.model, :cuda, 0; stream = 2), :unsupported, "argument 'stream' is 2")

# A program that ends with GPUs at work and live objects has the exit code that it chose, and prints
# nothing.
programs = joinpath(@__DIR__, "child.jl")
for how in (gpus > 0 ? ("trainer", "loop") : ())
    local said = IOBuffer()
    local program = `$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project()) $programs ending $how`
    local ended = run(pipeline(ignorestatus(program); stdout = said, stderr = said))
    @test (how, ended.exitcode, String(take!(said))) == (how, 7, "")
end

# A trainer takes all of them.
function last_loss(world, on)
    loss = 0.0
    trainer = Trainer(copy(world.model), world.data, world.sampler; batch_size = 64, num_epochs = 3,
                      num_ranks = 0, batches_per_step = 2, device = on)
    train!(epoch -> (loss = epoch.train_loss; nothing), trainer)
    return loss
end
trained = last_loss(world, :cpu)
gpus > 0 && @test isapprox(last_loss(world, :cuda), trained; atol = 1e-3)

# Two GPUs by number, with captured steps, products in bf16 and a feature cache on each, or one that
# both share: planned in advance, and reported for each rank afterwards.
for placement in (gpus >= 2 ? (:cached, :split) : ())
    local trainer = Trainer(copy(world.model), world.data, world.sampler; batch_size = 64, num_epochs = 3,
                            devices = [1, 0], batches_per_step = 2, graph_placement = :device,
                            feature_placement = placement, cache_bytes = 4096, precision = :bf16, capture = :on)
    local plan = memory_info(trainer)
    @test plan.fits && plan.capture_bytes > 0 && plan.num_cached > 0 && plan.feature_placement == placement
    train!(trainer)
    local ranks = rank_info(trainer)
    @test [(rank.rank, rank.device) for rank in ranks] == [(0, 1), (1, 0)]
    @test all(rank -> 0 < rank.num_rows_there < rank.num_rows && rank.times.compute > 0, ranks)
end
