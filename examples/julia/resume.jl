# A training that may be interrupted: stopped in the middle of an epoch, saved, and continued by
# another trainer, which gets the same weights, bit for bit, as an uninterrupted one.
include("common.jl")

function make_trainer(context, data, sampler)
    model = Model(context, data; hidden_dim = 32, dropout = 0.5)
    # The trainer keeps the model.
    return Trainer(model, data, sampler; num_ranks = 2, num_epochs = 4, batch_size = 128)
end

function main()
    context = open_context()
    graph, data = planted_data(context, 4000)
    sampler = Sampler(graph)

    straight = make_trainer(context, data, sampler)
    train!(straight)

    # The same in pieces: one epoch and three steps, one step at a time ...
    first = make_trainer(context, data, sampler)
    # [checkpoints]
    set_checkpoints!(first, "run"; every_steps = 5, keep = 2)
    # [checkpoints]
    set_record!(first, :json_lines, "run.jsonl")
    while true
        loss = step!(first)
        loss === nothing && break
        at = progress(first)
        @printf("epoch %d step %d of %d: loss %.4f\n", at.epoch, at.step, at.num_steps, loss)
        (at.epoch, at.step) == (1, 3) && break # whenever the program likes
    end
    save(first, "pause") # a folder, whole or not at all
    close(first)

    # ... and the rest in another trainer, as in a process that was started later.
    second = make_trainer(context, data, sampler)
    # [load]
    load!(second, "pause") # or "run": the newest one that is whole
    # [load]
    # [stop]
    start!(second)
    stop(second) # all ranks end after one step
    wait(second)
    train!(second) # continues the training
    # [stop]

    wanted, found = parameters(Model(straight)), parameters(Model(second))
    same = reinterpret.(UInt32, wanted) == reinterpret.(UInt32, found)
    println("$(length(wanted)) weights, ", same ? "the same bits" : "which differ")
    @assert same
end

main()
