# A data set from a text with one edge per line: opens it with settings, reads it, writes a result
# with the nodes' names, saves all of it in the library's own format, and opens that, which is
# faster.
#   edge_list.jl [<text> [<new folder>]]       writes a small text without arguments
include("common.jl")

# Seven people by their names, as an export of a database has them.
function small_text()
    write("follows.csv", """
        who;whom;since
        ada;bob;2019
        bob;cleo;2020
        cleo;ada;2020
        dan;bob;2021
        eve;dan;2022
        fay;eve;2023
        gus;fay;2023
        gus;bob;2024
        """)
    return "follows.csv"
end

function describe(data)
    name, features, labels = names(data)
    about = info(data)
    @printf("%s: %d nodes, %d edges, features %s (%d), labels %s, %d splits\n", name, about.num_nodes,
            about.num_edges, isempty(features) ? "none" : features, about.feature_dim,
            isempty(labels) ? "none" : labels, about.num_splits)
end

# The nodes' names in the text: one zero-terminated row each, or numbers.
function names_in_text(graph)
    if any(tensor.name == "original_name" for tensor in node_tensor_names(graph))
        return [rstrip(String(UInt8[row...]), '\0') for row in eachrow(node_tensor(graph, "original_name"))]
    end
    return string.(node_tensor(graph, "original_id")) # all were integers
end

# One line per node: its name in the text, and its number of edges.
function write_results(graph, names, path)
    open(path, "w") do file
        for (node, name) in enumerate(names)
            println(file, name, '\t', in_degree(graph, node - 1))
        end
    end
    println("edges of $(length(names)) nodes written to $path")
end

function main(text = small_text(), folder = "follows")
    context = open_context()
    # [open]
    data = pending
    while data === pending
        data = Dataset(context, text; timeout = 0.2, format = :edges, undirected = true,
                       relabel = true) # names, or numbers of any size, become 0, 1, 2, ...
        data === pending && println("still reading $text")
    end
    # [open]
    describe(data)
    graph = Graph(data)
    in_text = names_in_text(graph)
    println("node 0 is $(in_text[1]) in the text")
    write_results(graph, in_text, "results.tsv")

    # [save]
    save(data, folder) # whole or not at all
    again = Dataset(context, folder) # mapped, not parsed
    # [save]
    describe(again)
    @assert info(again).num_edges == info(data).num_edges
end

main(ARGS...)
