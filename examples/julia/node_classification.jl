# Node classification from a folder or file, or, without an argument, on a generated graph:
#   julia --project=bindings/julia examples/julia/node_classification.jl [<path>]
using GNNMG, Printf

function main(path = nothing)
    context = Context()
    atexit() do # also if a call fails
        foreach(said -> said.level == :warning && println(stderr, "warning: ", said.text), messages(context))
    end
    # [open]
    data = path === nothing ? Dataset(context, :planted; num_nodes = 5000) : Dataset(context, path)
    # [open]
    # [sampler]
    sampler = Sampler(Graph(data); fanouts = [10, 5]) # next to the seeds first
    # [sampler]
    # [model]
    model = Model(context, data; architecture = :sage, num_layers = 2, hidden_dim = 64, dropout = 0.5)
    # [model]

    # Two replicas that share each step.
    # [train]
    trainer = Trainer(model, data, sampler; num_ranks = 2, batch_size = 256, num_epochs = 8)
    train!(trainer) do epoch
        @printf("epoch %2d  loss %.4f  validation accuracy %.4f%s\n", epoch.epoch + 1,
                epoch.train_loss, epoch.validation.accuracy, epoch.best ? " *" : "")
    end
    # [train]

    # [evaluate]
    metrics = evaluate(trainer, :test)
    @printf("test accuracy %.4f (%d of %d)\n", metrics.accuracy, metrics.correct, metrics.count)
    # [evaluate]
    save(model, "sage.safetensors")
end

main(ARGS...)
