context = Context(; num_threads = 1)

# Lists and columns of any integer type.
for T in (Int64, Int32, UInt16)
    local graph = Graph(context, 3, T[0, 1, 2, 2], T[1, 2, 0, 1])
    @test num_nodes(graph) == 3 && num_edges(graph) == 4
    @test coo(graph).sources == [0, 1, 2, 2] && coo(graph).targets == [1, 2, 0, 1]
    @test in_edges(graph, 1) == (sources = [0, 2], edge_ids = [0, 3]) && in_degree(graph, 1) == 2
end
function of_columns(num_nodes, indptr, indices)
    graph = Graph(context)
    nodes = add_node_type!(graph, "node", num_nodes)
    return set_csc!(graph, add_edge_type!(graph, nodes, "edge", nodes), indptr, indices)
end
graph = of_columns(3, 0:3, Int32[2, 0, 1])
@test columns(graph).indptr == 0:3 && columns(graph).indices == [2, 0, 1] && columns(graph).edge_ids === nothing
@test_throws DimensionMismatch Graph(context, 3, [0, 1], [1])
@test_throws DimensionMismatch of_columns(3, [0, 1], [1])
@test_throws DimensionMismatch of_columns(2, [0, 1, 5], [1])
@test_throws ArgumentError Graph(context, 3, [0.5], [1])
failure_of(() -> Graph(context, 3, [0, 9], [1, 2]), :range, "9")
failure_of(() -> in_edges(graph, 17), :not_found, "17")

# With types.
graph = Graph(context)
@test add_node_type!(graph, "person", 3) == 0 && add_node_type!(graph, "film", 2) == 1
@test add_edge_type!(graph, 0, "rates", 1) == 0 && add_edge_type!(graph, 0, "follows", 0) == 1
set_csc!(graph, 0, [0, 2, 3], [0, 1, 2], [2, 0, 1])
set_coo!(graph, 1, Int32[0, 1], [1, 2])
set_edge_tensor!(graph, "stars", Float32[1, 2, 3])
set_node_tensor!(graph, "year", [1999, 2001]; node_type = 1)
@test (num_node_types(graph), num_edge_types(graph)) == (2, 2)
@test node_type_name(graph, 1) == "film"
@test edge_type_name(graph, 0) == (source_type = 0, name = "rates", target_type = 1)
@test node_tensor_names(graph, 1) == [(name = "year", sparse = false)]
@test edge_tensor_names(graph) == ["stars"] && isempty(edge_tensor_names(graph, 1))
@test edge_tensor(graph, "stars") == [1, 2, 3]
@test columns(graph).edge_ids == [2, 0, 1] && num_edges(graph, 1) == 2 && num_nodes(graph, 1) == 2
set_csc!(graph, 1, [0, 0, 1, 2], [0, 1])
@test coo(graph, 1).sources == [0, 1]
failure_of(() -> node_type_name(graph, 5), :not_found)
failure_of(() -> node_tensor(graph, "no such"), :not_found, "no such")
@test_throws DimensionMismatch set_csc!(graph, 0, [0, 2], [0, 1])

# Sparse rows.
set_node_csr!(graph, "words", 10, [0, 1, 1, 3], [4, 0, 9], [1, 2, 3])
words = node_csr(graph, "words")
@test words.num_columns == 10 && words.indptr == [0, 1, 1, 3] && words.indices == [4, 0, 9]
@test words.values isa Tensor{Float32, 1} && words.values == [1, 2, 3]
@test node_tensor_names(graph)[1] == (name = "words", sparse = true)
failure_of(() -> node_tensor(graph, "words"), :unsupported)
@test_throws DimensionMismatch set_node_csr!(graph, "words", 10, [0, 1], [4], [1])
@test_throws DimensionMismatch set_node_csr!(graph, "words", 10, [0, 0, 0, 1], [4], [1, 2])

# Imports.
graph = Graph(context)
add_node_type!(graph, "node", 3)
add_edge_type!(graph, 0, "a", 0)
add_edge_type!(graph, 0, "b", 0)
back = Ref(0)
release() = back[] += 1
import_coo!(graph, 0, [0, 1], [1, 2]; release = release)
@test back[] == 2
import_csc!(graph, 1, [0, 1, 2, 2], Int32[2, 0], Int32[1, 0]; release = release)
import_edge_tensor!(graph, "w", Float32[0.5, 1.5]; release = release)
import_node_csr!(graph, "words", 4, [0, 1, 2, 2], Int32[3, 0], Float32[1, 2]; release = release)
@test edge_tensor(graph, "w") == [0.5, 1.5] && columns(graph, 1).edge_ids == [1, 0]
@test node_csr(graph, "words").indices == [3, 0]
failure_of(() -> import_coo!(graph, 0, [0, 7], [1, 2]; release = release), :range, "7")
@test back[] == 4
GC.gc()
@test coo(graph, 1).targets == [1, 0]

# Transforms and generators.
_, graph = ring(5; context = context)
@test num_edges(transformed(graph, :to_undirected)) == 10
@test num_edges(transformed(graph, :add_self_loops)) == 10
@test_throws ArgumentError transformed(graph, :sideways)
@test all(sum(node_tensor(normalized(graph, "x"), "x"); dims = 2) .≈ 1)
made = generate(context, :planted; num_nodes = 100, num_features = 5)
@test size(node_tensor(made, "x")) == (100, 5) && node_tensor(made, "y") isa Tensor{Int64, 1}
@test num_nodes(generate(context, :log_normal; num_nodes = 500, num_features = 3)) == 500
@test num_nodes(generate(context, :rmat; scale = 6, num_edges = 100)) == 64
@test num_edges(generate(context, :erdos_renyi; num_nodes = 50, num_edges = 70)) == 70
# A graph in use never changes.
data = Dataset(graph, "x", "y")
failure_of(() -> set_node_tensor!(graph, "x", ones(5)), :invalid_argument)
