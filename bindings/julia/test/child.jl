# The programs that processes.jl starts.
using GNNMG

function make_trainer(; settings...)
    context = Context(; num_threads = 1)
    graph = planted_partition(context; num_nodes = 400, num_classes = 3)
    data = add_random_split!(Dataset(graph, "x", "y"; task = :multiclass), "random")
    model = Model(context, data; hidden_dim = 16)
    return Trainer(model, data, Sampler(graph); batch_size = 64, settings...)
end

function interrupted()
    Base.exit_on_sigint(false)
    trainer = make_trainer(; num_epochs = 1000000)
    start!(trainer)
    while progress(trainer).step == 0
        wait(trainer; timeout = 0.01)
    end
    try
        println("training")
        flush(stdout)
        wait(trainer)
    catch failure
        println(failure isa InterruptException ? "interrupted" : failure)
    end
    step!(trainer) > 0 && println("gone on with")
    start!(_ -> GC.gc(), trainer)
    wait(trainer; timeout = 0.05)
    println("leaving")
    flush(stdout)
end

function member()
    context = Context(; num_threads = 1)
    comm = comm_from_env(context)
    graph = planted_partition(context; num_nodes = 400, num_classes = 3)
    data = add_random_split!(Dataset(graph, "x", "y"; task = :multiclass), "random")
    model = Model(context, data; hidden_dim = 16)
    trainer = Trainer(model, data, Sampler(graph); comm = comm, num_epochs = 3, batch_size = 64)
    epochs = Ref(0)
    train!(_ -> epochs[] += 1, trainer)
    println(epochs[], " ", evaluate(trainer, :test).accuracy)
    flush(stdout)
    close(trainer)
    shutdown(comm; timeout = 120)
end

ARGS[1] == "interrupted" ? interrupted() : member()
