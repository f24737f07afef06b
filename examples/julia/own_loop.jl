# A custom training loop over two ranks, with one task each and, if there are two, one GPU each:
# batches, forward, backward, one all-reduce, one update. It gives the same numbers as train!. Start
# it with `julia -t 2`, one thread for each rank.
include("common.jl")

const RANKS, EPOCHS = 2, 5

function train(data, sampler, model, comm)
    # [loader]
    place = info(model)
    loader = Loader(data, sampler; batch_size = 256, rank = rank(comm), world_size = RANKS,
                    device = place.device, device_index = place.device_index) # same as the model
    # [loader]
    optimizer = Optimizer(model)
    all_gradients = gradients(model) # one array
    for epoch in 1:EPOCHS
        loss, steps = 0.0, 0
        # [loop]
        for batch in loader
            forward!(model, batch; logits = false)
            loss += backward!(model) # this rank's share of the step's
            last_of_step = info(batch).last_of_step
            close(batch)
            if last_of_step # every rank gets here once a step
                all_reduce!(comm, all_gradients)
                step!(optimizer)
                steps += 1
            end
        end
        # [loop]
        loss = all_reduce(comm, loss)
        rank(comm) == 0 && @printf("epoch %d  mean loss of a step %.4f\n", epoch, loss / steps)
    end
    shutdown(comm)
end

function main()
    context = open_context()
    graph, data = planted_data(context, 5000)
    sampler = Sampler(graph)
    on_gpus = length(devices(context)) >= RANKS
    println(RANKS, " ranks on ", on_gpus ? "GPUs" : "the CPU")
    model = Model(context, data)
    replicas = [r == 0 ? model : copy(model) for r in 0:(RANKS - 1)]
    # [device]
    on_gpus && foreach(r -> set_device!(replicas[r + 1], :cuda, r), 0:(RANKS - 1))
    # [device]
    @sync for (replica, comm) in zip(replicas, comm_group(context, RANKS))
        Threads.@spawn train(data, sampler, replica, comm)
    end
    @printf("test accuracy %.4f\n", evaluate(model, data, :test).accuracy)
end

main()
