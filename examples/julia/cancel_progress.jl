# Training observed from outside: one task waits for it, another one shows its progress and cancels
# it after a while. The model keeps the weights learned so far.
include("common.jl")

function watch(trainer)
    for _ in 1:5
        sleep(0.2)
        # [progress]
        at = progress(trainer)
        @printf("epoch %d, step %d of %d, loss %.4f, %.0f seeds/s\n", at.epoch, at.step, at.num_steps,
                at.loss, at.seeds_per_second)
        # [progress]
    end
    cancel(trainer) # stop(trainer) would end it between two steps
end

function main()
    context = open_context()
    data = Dataset(context, :planted)
    model = Model(context, data)
    trainer = Trainer(model, data; num_epochs = 1000000) # no deadline

    watcher = @async watch(trainer)
    start!(trainer)
    try
        while wait(trainer; timeout = 0.1) === pending
            # Here a program looks after its window, its other work.
        end
    catch error
        error isa GNNMGError && error.code == :cancelled || rethrow()
        println(GNNMG.status_name(error), ": ", error.text)
    end
    wait(watcher)
    @printf("test accuracy so far %.4f\n", evaluate(model, data, :test).accuracy)
end

main()
