# The programs that processes.jl starts.
using GNNMG

function make_trainer(; settings...)
    context = Context(; num_threads = 1)
    graph = generate(context, :planted; num_nodes = 400, num_classes = 3)
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
    graph = generate(context, :planted; num_nodes = 400, num_classes = 3)
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

"Ends with GPUs at work: the ranks of a trainer, or a custom loop between forward and backward."
function ending()
    if ARGS[2] == "trainer"
        trainer = make_trainer(; num_epochs = 1000000, device = :cuda, num_ranks = 0)
        start!(trainer)
        while progress(trainer).epoch == 0
            wait(trainer; timeout = 0.01)
        end
        exit(7)
    end
    context = Context(; num_threads = 1)
    graph = generate(context, :planted; num_nodes = 400, num_classes = 3)
    data = add_random_split!(Dataset(graph, "x", "y"; task = :multiclass), "random")
    model = set_device!(Model(context, data; hidden_dim = 16), :cuda)
    optimizer = Optimizer(model)
    for batch in Loader(data, Sampler(graph); batch_size = 8, prefetch = 16, device = :cuda)
        forward!(model, batch)
        exit(learning_rate(optimizer) > 0 ? 7 : 1)
    end
end

# ---- every call that waits, interrupted

"Says what comes, and hears the interrupt in it or soon after; a call that ends by itself works before and afterwards."
function interrupt_in(name, call; ends = true)
    ends && call()
    for _ in 1:6
        heard = try
            println(name)
            flush(stdout)
            call()
            sleep(60)
            "nothing"
        catch failure
            failure isa InterruptException ? "interrupted" : string(failure)
        end
        println(heard)
    end
    ends && call()
end

function slow_sampler(graph)
    return Sampler(graph; fanouts = (-1, -1)) do layer, targets, sink
        sleep(0.002)
        sample_neighbors!(sink, graph, targets, 2, layer.key)
    end
end

function waits()
    Base.exit_on_sigint(false)
    context = Context(; num_threads = 1)
    graph = generate(context, :planted; num_nodes = 400, num_classes = 3)
    data = add_random_split!(Dataset(graph, "x", "y"; task = :multiclass), "random")
    model = Model(context, data; hidden_dim = 16)
    optimizer, slow = Optimizer(model), slow_sampler(graph)
    trainer = Trainer(model, data, Sampler(graph); batch_size = 64, num_epochs = 1000000)
    loader = Loader(data, slow; batch_size = 64)
    folder, files = mktempdir(), Ref(0)
    fresh(ending = "") = joinpath(folder, string(files[] += 1, ending))
    stored = (data = fresh(), model = fresh(".safetensors"), optimizer = fresh(".pth"), trainer = fresh())
    save(data, stored.data); save(model, stored.model); save(optimizer, stored.optimizer); save(trainer, stored.trainer)

    interrupt_in("Dataset", () -> Dataset(context, stored.data))
    interrupt_in("save dataset", () -> save(data, fresh()))
    interrupt_in("sample", () -> sample(slow, 0:9))
    interrupt_in("loader", () -> foreach(close, start!(loader)))
    interrupt_in("evaluate model", () -> evaluate(model, data, :test))
    interrupt_in("embed", () -> embed(model, data))
    interrupt_in("embed to file", () -> embed(model, data, fresh(".npy")))
    interrupt_in("save model", () -> save(model, fresh(".safetensors")))
    interrupt_in("load! model", () -> load!(model, stored.model))
    interrupt_in("save optimizer", () -> save(optimizer, fresh(".pth")))
    interrupt_in("load! optimizer", () -> load!(optimizer, stored.optimizer))
    interrupt_in("train!", () -> train!(trainer); ends = false)
    interrupt_in("train! with a closure", () -> train!(epoch -> sleep(0.001), trainer); ends = false)
    interrupt_in("step!", () -> step!(trainer))
    interrupt_in("evaluate trainer", () -> evaluate(trainer, :test))
    interrupt_in("embed trainer", () -> embed(trainer))
    interrupt_in("embed trainer to file", () -> embed(trainer, fresh(".npy")))
    interrupt_in("save trainer", () -> save(trainer, fresh()))
    interrupt_in("load! trainer", () -> load!(trainer, stored.trainer))
    interrupt_in("lend", () -> lend(context); ends = false)
    alone() = comm_group(context, 2)[1] # no other rank comes
    interrupt_in("all_reduce!", () -> all_reduce!(alone(), [1.0]); ends = false)
    interrupt_in("broadcast!", () -> broadcast!(alone(), [1.0], 1); ends = false)
    interrupt_in("all_gather!", () -> all_gather!(alone(), [1.0], [[0.0], [0.0]]); ends = false)
    interrupt_in("all_to_all!", () -> all_to_all!(alone(), [[1.0], [1.0]], [[0.0], [0.0]]); ends = false)
    interrupt_in("barrier", () -> barrier(alone()); ends = false)
    interrupt_in("shutdown", () -> shutdown(alone()); ends = false)
    job = (num_processes = 2, process_rank = 0, port = parse(Int, ARGS[2]))
    interrupt_in("Comm", () -> Comm(context; job...); ends = false)
    println("end")
end

Dict("interrupted" => interrupted, "member" => member, "waits" => waits, "ending" => ending)[ARGS[1]]()
