# A graph and its tensors around arrays of Julia's, without copying, and out again. Each array is given
# back exactly once.
include("common.jl")

const NODES = 4

function read_back(graph)
    features = node_tensor(graph, "x")
    close(graph) # the tensor keeps its memory alive
    @printf("x is %d x %d%s, its last number %.0f\n", size(features, 1), size(features, 2),
            iswritable(features) ? "" : ", read-only", features[end, end])
    close(features)
end

function main()
    indptr, sources, targets = [0, 2, 3, 4, 5], Int32[1, 3, 0, 1, 2], Int32[0, 0, 1, 2, 3]
    # Rows lie one after another: the columns of a matrix of Julia's.
    x = PermutedDimsArray(Float32[0 2 4 6; 1 3 5 7], (2, 1))
    starts, word, times = [0, 2, 3, 5, 7], Int32[0, 5, 2, 1, 2, 3, 4], Float32[1, 1, 3, 1, 2, 1, 1]

    arrays_out = Ref(9) # lent to the library
    release() = arrays_out[] -= 1

    context = open_context()
    graph = Graph(context)
    add_node_type!(graph, "page", NODES)
    add_edge_type!(graph, 0, "links", 0)
    add_edge_type!(graph, 0, "cites", 0)
    # Compressed columns are shared with the graph.
    import_csc!(graph, 0, indptr, sources; release = release)
    # A list is sorted into columns, and its arrays are released at once.
    import_coo!(graph, 1, sources, targets; release = release)
    import_node_tensor!(graph, "x", x; release = release)
    import_edge_tensor!(graph, "weight", Float32[1, 2, 3, 4, 5]; release = release)
    import_node_csr!(graph, "words", 6, starts, word, times; release = release)
    println("the graph holds $(arrays_out[]) arrays of this program")

    read_back(graph)
    close(context)
    GC.gc() # another thread of Julia may still read x: the collector releases it
    println("$(arrays_out[]) arrays have not come back")
    @assert arrays_out[] == 0
end

main()
