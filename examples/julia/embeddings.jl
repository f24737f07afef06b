# The model's result for every node, with full neighborhoods: by the model alone, by all ranks of a
# trainer, and straight into files for NumPy. Then which nodes are most alike.
include("common.jl")

const NODES, QUERIES = 3000, 200

function cosine(rows, v, u) # a node's numbers are a column
    ab = aa = bb = 0.0
    for i in axes(rows, 1)
        a, b = rows[i, v], rows[i, u]
        ab += a * b
        aa += a * a
        bb += b * b
    end
    return ab / sqrt(aa * bb)
end

function main()
    context = open_context()
    graph, data = planted_data(context, NODES)
    model = Model(context, data)
    trainer = Trainer(model, data, Sampler(graph); num_ranks = 2, num_epochs = 5, batch_size = 256)
    train!(trainer)

    # [trainer]
    by_ranks = embed(trainer) # each rank computes its share
    embed(trainer, "by_ranks.npy")
    # [trainer]
    close(trainer)
    # [model]
    rows = embed(model, data) # works for any model, trained here or loaded
    embed(model, data, "rows.npy") # never all in memory
    # [model]

    @printf("largest difference between the two: %.2g\n", maximum(abs.(Float64.(rows) .- by_ranks)))
    @printf("rows.npy has %d bytes, by_ranks.npy %d\n", filesize("rows.npy"), filesize("by_ranks.npy"))

    classes, columns = node_tensor(graph, "y"), reversedims(rows)
    alike = 0
    for v in 1:QUERIES
        likeness = [u == v ? -2.0 : cosine(columns, v, u) for u in 1:NODES]
        alike += classes[argmax(likeness)] == classes[v]
    end
    println("$alike of $QUERIES nodes are most like a node of their own class")

    late = embed(model, data; timeout = 0) # no time at all
    ended = "OK"
    if late === pending
        cancel(context) # allowed on any thread
        try
            embed(model, data) # the result of the cancellation
        catch error
            ended = GNNMG.status_name(error)
        end
    end
    println("in no time: $ended")
end

main()
