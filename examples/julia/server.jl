# Serves all parts of a graph to trainers on other machines until its input ends, like the program
# gnnmg-server.
#   server.jl [<folder of parts> [<address> [<token file> [<certificate> <key> <authority>]]]]
# Without arguments it generates a graph, divides it into four parts, and trains in this process
# with all data from the server.
include("common.jl")

# A trainer on any machine: it needs the addresses of the servers and no file of the graph.
function train_beside(context, port)
    addresses = "127.0.0.1:$port"
    # [served]
    data = open_served(context, addresses; patience_ms = 60000)
    # [served]
    trainer = Trainer(small_model(context, data), data, Sampler(Graph(data)); evaluation = :sampled,
                      num_epochs = 20)
    train!(trainer)
    @printf("test accuracy over the server %.3f\n", evaluate(trainer, :test).accuracy)
end

function main(folder = "parts", address = "127.0.0.1:0", token_file = nothing, certificates...) # port 0: a free one
    context = open_context()
    alone = isempty(ARGS)
    if alone
        data = planted_data(context, 2000)[2]
        save_parts(data, folder; num_parts = 4, fanouts = nothing)
    end

    # [create]
    server = Server(context, folder, address; token_file = token_file)
    # [create]
    # [tls]
    isempty(certificates) || set_tls!(server, certificates...)
    # [tls]
    # [start]
    start!(server)
    # [start]

    # [info]
    @printf("serving %d of %d parts\n", info(server).num_served, info(server).num_parts)
    length(ARGS) > 1 && println("at port ", info(server).port) # else it is another each time
    # [info]
    alone ? train_beside(context, info(server).port) : read(stdin)

    # [shutdown]
    shutdown(server)
    println("answered ", info(server).num_reads, " questions")
    # [shutdown]
end

main(ARGS...)
