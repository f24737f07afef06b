# Divides a data set into parts, for graphs that are too large for one machine: prints the cut, the
# balance of the parts, and the rows that a mini-batch of each part would read from the others.
#   partition.jl [<data set> [<new folder> [<parts>]]]       generates a graph without arguments
# After an interruption run the program again with the same arguments to continue.
include("common.jl")

print_log(context) = foreach(message -> println("  ", message.text), messages(context))

function main(path = nothing, folder = "parts", num_parts = "4")
    context = open_context()
    data = path === nothing ? planted_data(context, 5000)[2] : Dataset(context, path)

    # [save]
    settings = (num_parts = parse(Int, num_parts),
                fanouts = [15, 10, 5], batch_size = 256) # the planned training has these
    while save_parts(data, folder; timeout = 0.5, settings...) === pending
        print_log(context) # prints each step
    end
    # [save]
    print_log(context)

    # [facts]
    whole = Dataset(context, folder) # all parts in one process: the same data set as before
    all = parts_info(whole)
    @printf("%d parts, %.1f %% of %d edges cut\n", all.num_parts, 100 * all.cut, all.num_edges)
    @printf("largest part / mean: nodes %.3f, edges %.3f, training ids %.3f\n", all.node_balance,
            all.edge_balance, all.train_balance)
    # [facts]

    # [part]
    cache_rows = all.num_nodes ÷ 5
    for p in 0:(all.num_parts - 1)
        part = part_info(whole, p; cache_rows = cache_rows)
        @printf("part %d: %d nodes, %d edges, %d training ids", p, part.num_nodes, part.num_edges,
                part.num_train)
        part.hotness &&
            @printf("; a mini-batch reads %.0f rows, %.0f of other parts, a cache of %d rows has %.0f %%",
                    part.batch_rows, part.remote_rows, cache_rows, 100 * part.hit_rate)
        println()
    end
    # [part]

    # [book]
    part_of = book(whole)
    @printf("node 0 is in part %d, node %d in part %d\n", part_of[1], length(part_of) - 1, part_of[end])
    # [book]

    # [share]
    # Trains as `whole` does; without a job it has all parts. Rows of other parts are kept here.
    share = open_parts(context, folder; cache_bytes = 64 << 20)
    parts_info(share).own_parts == all.num_parts || error("parts are missing")
    # [share]
end

main(ARGS...)
