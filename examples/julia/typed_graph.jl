# A graph with types: people follow people and rate films. Its edges come as lists and as compressed
# columns, with tensors on nodes and edges; then it is read back as a stranger would.
include("common.jl")

function build(context)
    graph = Graph(context)
    people = add_node_type!(graph, "person", 4)
    films = add_node_type!(graph, "film", 3)
    follows = add_edge_type!(graph, people, "follows", people)
    rates = add_edge_type!(graph, people, "rates", films)

    set_coo!(graph, follows, Int32[0, 1, 2, 3, 0], Int32[1, 2, 3, 0, 2])
    set_csc!(graph, rates, [0, 3, 5, 6],  # film 0 has the entries 0 to 2
             Int32[0, 1, 3, 1, 2, 0],     # the raters
             Int32[0, 2, 5, 3, 4, 1])     # the rating's row in edge tensors
    set_node_tensor!(graph, "age", Float32[31, 45, 27, 60]; node_type = people)
    set_edge_tensor!(graph, "stars", Float32[5, 3, 4, 2, 1, 4]; edge_type = rates)
    return graph
end

function describe(graph)
    for type in 0:(num_node_types(graph) - 1)
        print(node_type_name(graph, type), ": ", num_nodes(graph, type), " nodes")
        for (name, sparse) in node_tensor_names(graph, type)
            print(", ", name, sparse ? " (sparse)" : "")
        end
        println()
    end
    for type in 0:(num_edge_types(graph) - 1)
        from, name, to = edge_type_name(graph, type)
        print(node_type_name(graph, from), " ", name, " ", node_type_name(graph, to), ": ",
              num_edges(graph, type), " edges")
        foreach(tensor -> print(", ", tensor), edge_tensor_names(graph, type))
        println()
    end
end

function main()
    graph = build(open_context())
    describe(graph)

    stars = edge_tensor(graph, "stars"; edge_type = 1) # rows by edge id
    people, ratings = in_edges(graph, 0; edge_type = 1) # row of film 0
    for (person, rating) in zip(people, ratings)
        @printf("person %d gives film 0 %.0f stars\n", person, stars[rating + 1])
    end
    @printf("film 0: %.2f stars from %d people\n", sum(stars[ratings .+ 1]) / length(people),
            length(people))
end

main()
