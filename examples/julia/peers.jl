# One model trained by several processes that name each other themselves, without a launcher:
#   peers.jl <host> <port> <processes> <number of this one> [<token file>]
# Another address than this machine's own needs the token: 32 secret bytes in a file of mode 0600.
include("common.jl")

function main(host, port, processes, number, token_file = nothing)
    context = open_context()
    # [join]
    comm = pending
    while comm === pending
        comm = Comm(context; host = host, token_file = token_file, timeout = 1,
                    port = parse(Int, port), # address of process 0
                    num_processes = parse(Int, processes), process_rank = parse(Int, number))
        comm === pending && println("waiting for the others")
    end
    # [join]

    graph, data = planted_data(context, 4000) # the same on each
    model = small_model(context, data)
    trainer = Trainer(model, data, Sampler(graph); comm = comm, num_epochs = 5, batch_size = 256)
    train!(trainer) # steps are shared by all
    metrics = evaluate(trainer, :test) # equal on all
    # In one piece, as others print to the same place.
    print(@sprintf("process %s of %s: test accuracy %.4f\n", number, processes, metrics.accuracy))

    close(trainer)
    shutdown(comm) # else the first to leave would abort the others
    @assert metrics.accuracy > 0.5
end

main(ARGS...)
