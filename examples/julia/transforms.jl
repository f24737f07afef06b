# Usual transforms of a graph before training: edges in both directions, no repeats, a self-loop on
# each node, rows of features that sum to 1. Every step makes a new graph that shares the unchanged
# parts.
include("common.jl")

function show_edges(title, graph)
    sources, targets = coo(graph)
    println(title, ":", [" $u>$v" for (u, v) in zip(sources, targets)]...)
end

function main()
    context = open_context()
    # A repeated edge and a self-loop, as crawled data has them; compressed by target.
    graph = Graph(context)
    nodes = add_node_type!(graph, "node", 5)
    edges = add_edge_type!(graph, nodes, "edge", nodes)
    set_csc!(graph, edges, [0, 2, 3, 5, 6, 6], [1, 1, 1, 0, 3, 4])
    set_node_tensor!(graph, "x", Float32[1 3; 0 0; 2 2; 5 0; 1 4])
    show_edges("as given", graph)

    for step in (:remove_self_loops, :to_undirected, :add_remaining_self_loops)
        graph = transformed(graph, step)
    end
    show_edges("for training", graph)

    again = normalized(graph, "x")
    sums = sum(node_tensor(again, "x"); dims = 2)
    @assert vec(sums) ≈ [1, 0, 1, 1, 1] # a row of zeros stays
    start = columns(again).indptr # the edges into v: start[v] to start[v+1] - 1
    for v in 0:4
        println("node $v has $(start[v + 2] - start[v + 1]) incoming edges")
    end
end

main()
