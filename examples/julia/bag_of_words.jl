# Sparse features, as texts have them: the words of each page and how often. They stay sparse in the
# graph and in a sample, whose first aggregation is then done by hand over the sample's edges.
include("common.jl")

function main()
    from, to = [1, 2, 3, 0, 4, 5, 5], [0, 0, 0, 1, 1, 2, 4]
    start = [0, 1, 3, 5, 6, 7, 9]
    word, times = [7, 7, 42, 42, 999, 7, 0, 1, 2], [1, 2, 5, 1, 1, 4, 1, 1, 1]
    context = open_context()
    graph = Graph(context, 6, from, to)
    # Page v has the entries start[v] to start[v+1] - 1, each a word and how often.
    set_node_csr!(graph, "words", 1000, start, word, times)
    stored = node_csr(graph, "words")
    @printf("%d entries are stored of %d x %d\n", length(stored.values), num_nodes(graph),
            stored.num_columns)
    data = Dataset(graph, "words")

    sampler = Sampler(graph; fanouts = [-1], edge_ids = true) # all neighbors
    seeds = [0, 4]
    batch = sample(sampler, seeds; dataset = data, seed = 1)
    rows = sparse_features(batch) # a row a node
    edges = block(batch, 0)
    for target in 0:1
        sum = of_word_7 = 0.0
        for e in edges.indptr[target + 1]:(edges.indptr[target + 2] - 1)
            source = edges.indices[e + 1]
            for i in rows.indptr[source + 1]:(rows.indptr[source + 2] - 1)
                sum += rows.values[i + 1]
                rows.indices[i + 1] == 7 && (of_word_7 += rows.values[i + 1])
            end
        end
        @printf("pages that link to page %d: %d, with %.0f words, %.0f times word 7\n", seeds[target + 1],
                edges.indptr[target + 2] - edges.indptr[target + 1], sum, of_word_7)
    end
end

main()
