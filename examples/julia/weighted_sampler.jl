# Importance sampling with a custom sampler: a node's neighbors are drawn in proportion to the
# weights of their edges. The program lends more threads, of `julia -t 3`, to the library, which
# calls the sampler there.
include("common.jl")

const FANOUT = 5

# The next number in [0, 1) of a stream that key and node determine.
function draw!(state)
    z = state[] += 0x9e3779b97f4a7c15 # splitmix64
    z = xor(z, z >> 30) * 0xbf58476d1ce4e5b9
    z = xor(z, z >> 27) * 0x94d049bb133111eb
    return (xor(z, z >> 31) >> 11) / 9007199254740992.0
end

function sample_layer(graph, weights, layer, targets, sink)
    for target in targets
        sources, ids = in_edges(graph, target)
        total = sum(Float64.(weights[ids .+ 1]))
        state = Ref(xor(layer.key, UInt64(target) << 20)) # the same on any thread
        for _ in 1:min(FANOUT, length(ids))
            left, e = draw!(state) * total, 1
            while e < length(ids) && left >= weights[ids[e] + 1]
                left -= weights[ids[e] + 1]
                e += 1
            end
            add_edges!(sink, sources[e:e], [target], ids[e:e])
        end
    end
end

function main()
    context = open_context()
    graph, data = planted_data(context, 2000)
    # An edge counts twice when its ends are of one class, as a hint that real data might have.
    sources, targets = coo(graph)
    classes = node_tensor(graph, "y")
    weights = ifelse.(classes[sources .+ 1] .== classes[targets .+ 1], 2.0f0, 1.0f0)

    sampler = Sampler(graph) do layer, targets, sink
        sample_layer(graph, weights, layer, targets, sink)
    end
    model = Model(context, data)
    trainer = Trainer(model, data, sampler; num_epochs = 3, batch_size = 128)

    lent = [Threads.@spawn(lend(context)) for _ in 2:Threads.nthreads()] # until it is closed
    train!(trainer)
    close(context) # ends the lending; objects made from the context live on
    foreach(wait, lent)
    @printf("test accuracy %.4f\n", evaluate(trainer, :test).accuracy)
end

main()
