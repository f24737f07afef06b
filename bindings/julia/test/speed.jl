# What a call costs beyond C's own: the least of many rounds.
#   GNNMG_DIR=... julia --project=bindings/julia bindings/julia/test/speed.jl
using GNNMG, Printf

function nanoseconds(f, count = 100000)
    f()
    return minimum(1:20) do _
        begun = time_ns()
        for _ in 1:count
            f()
        end
        (time_ns() - begun) / count
    end
end

# The same call by address into memory that is there already.
function bare(token, out)
    address = GNNMG.Lib.entry(findfirst(==(:gnnmg_graph_num_nodes), GNNMG.Lib.FUNCTIONS))
    return () -> ccall(address, Int32, (Ptr{Cvoid}, Int32, Ptr{Int64}), token, 0, out)
end

function main()
    context = Context(; num_threads = 1)
    graph = erdos_renyi(context; num_nodes = 100, num_edges = 1000)
    of_c = nanoseconds(bare(Ptr{Cvoid}(graph.token), Ref{Int64}(0)))
    own = nanoseconds(() -> num_nodes(graph))
    @printf("num_nodes(graph): %.0f ns, %.0f ns beyond C's own %.0f ns\n", own, own - of_c, of_c)

    set_node_tensor!(graph, "x", rand(Float32, 100, 64))
    x = node_tensor(graph, "x")
    @printf("sum of a tensor: %.2f ns a number, of an Array %.2f ns\n",
            nanoseconds(() -> sum(x), 1000) / length(x), nanoseconds(() -> sum(Array(x)), 1000) / length(x))
    @printf("node_tensor(graph, name): %.0f ns\n", nanoseconds(() -> node_tensor(graph, "x"), 1000))
end

main()
