# A data set from a text with an edge a line: opened with settings, read, written in the library's own
# format, and opened again from there, which is the fast way from then on.
#   edge_list.jl [<text> [<new folder>]]       without arguments a small text is made
include("common.jl")

# Seven people by their account numbers, as an export of a database has them.
function small_text()
    write("follows.csv", """
        who;whom;since
        9000017;123;2019
        123;4410;2020
        4410;9000017;2020
        55;123;2021
        86;55;2022
        7;86;2023
        31;7;2023
        31;123;2024
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

function main(text = small_text(), folder = "follows")
    context = open_context()
    data = pending
    while data === pending
        data = Dataset(context, text; timeout = 0.2, format = :edges, undirected = true,
                       relabel = true) # account numbers become 0, 1, 2, ...
        data === pending && println("still reading $text")
    end
    describe(data)
    println("node 0 is $(node_tensor(Graph(data), "original_id")[1]) in the text")

    save(data, folder) # whole or not at all
    again = Dataset(context, folder) # mapped, not parsed
    describe(again)
    @assert info(again).num_edges == info(data).num_edges
end

main(ARGS...)
