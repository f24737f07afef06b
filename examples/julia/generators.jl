# Graphs to measure on: four generators, and how uneven their degrees are. A graph is a pure function
# of its settings and seed, on every machine.
include("common.jl")

# Prints mean and largest in-degree.
function show_degrees(name, graph)
    most = maximum(in_degree(graph, v) for v in 0:(num_nodes(graph) - 1))
    @printf("%-18s %6d nodes, in-degree %5.1f on average, %5d at most\n", name, num_nodes(graph),
            num_edges(graph) / num_nodes(graph), most)
end

function main()
    context = open_context()
    # [planted partition]
    # Features alone do not determine the classes.
    show_degrees("planted partition", generate(context, :planted; num_nodes = 20000))
    # [planted partition]
    # Degrees and communities as in a graph of products.
    show_degrees("log-normal", generate(context, :log_normal; num_nodes = 20000))
    # Heavy-tailed, as Graph500 has it.
    show_degrees("R-MAT", generate(context, :rmat; scale = 14, num_edges = 16 << 14))
    # No structure at all.
    show_degrees("Erdos-Renyi", generate(context, :erdos_renyi; num_nodes = 20000, num_edges = 320000))
end

main()
