# Predictions while training goes on: tasks answer the lines of standard input, each of which lists ids
# of nodes, and another one trains and hands over a snapshot after each epoch. A line that has begun
# keeps the predictor it began with.
include("common.jl")

mutable struct Service
    data::Dataset
    trainer::Trainer
    current::Union{Predictor, Nothing}
    guard::ReentrantLock # guards `current`
    snapshots::Int
    answers::Threads.Atomic{Int}
    failures::Threads.Atomic{Int}
end

# [publish]
# Runs after each epoch. Readers keep the old predictor until they are done; the collector closes it.
function publish!(service)
    now = snapshot(service.trainer)
    next = Predictor(now, service.data; fanouts = (10, 10))
    lock(() -> service.current = next, service.guard)
    close(now) # the predictor has a copy
    service.snapshots += 1
end
# [publish]

function answer(service, line)
    ids = [parse(Int64, word) for word in split(line)]
    predictor = lock(() -> service.current, service.guard)
    # [answer]
    classes = predict(predictor, ids, :classes) # an error names an id that is no node
    # [answer]
    return join(("$id: class $class" for (id, class) in zip(ids, classes)), ", ")
end

function work(service, lines)
    for line in lines
        text = try
            answer(service, line)
        catch error
            error isa GNNMGError || rethrow()
            Threads.atomic_add!(service.failures, 1)
            println("error: ", error.text)
            continue
        end
        Threads.atomic_add!(service.answers, 1)
        println(text)
    end
end

function main()
    context = open_context()
    graph, data = planted_data(context, 3000)
    trainer = Trainer(small_model(context, data), data, Sampler(graph); num_epochs = 5, batch_size = 256)
    service = Service(data, trainer, nothing, ReentrantLock(), 0, Threads.Atomic{Int}(0), Threads.Atomic{Int}(0))
    publish!(service) # the untrained model, until there is a better one

    lines = Channel{String}(0)
    tasks = [Threads.@spawn work(service, lines) for _ in 1:2]
    push!(tasks, Threads.@spawn train!(_ -> publish!(service), trainer))
    foreach(line -> put!(lines, line), eachline(stdin))
    close(lines)
    foreach(wait, tasks)
    println(service.answers[], " answers, ", service.failures[], " failures, ", service.snapshots, " snapshots")
end

main()
