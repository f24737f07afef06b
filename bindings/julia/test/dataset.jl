context, graph = ring(12)
data = Dataset(graph, "x", "y"; task = :multiclass, num_classes = 2)
about = info(data)
@test about.task == :multiclass && about.num_nodes == 12 && about.feature_dim == 3
@test about.num_graphs == 1 && about.num_splits == 0 && about.num_classes == 2
@test names(data).features == "x" && names(data).labels == "y"
@test num_nodes(Graph(data)) == 12
@test labels(data) == collect(0:11) .% 2
failure_of(() -> Dataset(graph, "z"), :not_found, "z")
failure_of(() -> Graph(data, 3), :not_found)
failure_of(() -> graph_ptr(data), :not_found)

# Splits.
add_split!(data, "mine"; train = 0:3, validation = [4, 5], test = Int32[6, 7, 8])
add_random_split!(data, "drawn"; train_fraction = 0.5, validation_fraction = 0.25, seed = 3)
add_folds!(data, "folds"; num_folds = 3, held_out = :test)
@test [(split.name, split.index) for split in splits(data)] ==
      [("mine", 0), ("drawn", 0), ("folds", 0), ("folds", 1), ("folds", 2)]
@test splits(data)[1] == (name = "mine", index = 0, num_train = 4, num_validation = 2, num_test = 3)
mine, fold = select_split(data), select_split(data, "folds", 2)
@test split_ids(mine, :test) == [6, 7, 8] && length(split_ids(fold, :test)) == 4
add_split!(data, "later"; train = [0])
@test split_ids(select_split(fold, "mine"), :test) == [6, 7, 8]
@test split_ids(data, :train) == [0] && length(splits(fold)) == 5
failure_of(() -> select_split(fold, "later"), :not_found, "mine")
failure_of(() -> add_split!(data, "bad"; train = [99]), :range, "99")
@test_throws ArgumentError split_ids(data, :tests)
@test_throws ArgumentError("there is no file or folder \"planted\"; a generator is a Symbol, :planted") Dataset(context, "planted")

# Weights.
failure_of(() -> class_weights(data), :not_found)
set_class_weights!(data, [1, 3])
@test class_weights(data) == [1, 3]
data = mine
balance_classes!(data)
@test class_weights(data) ≈ [1, 1]
failure_of(() -> class_weights(fold), :not_found)
set_class_weights!(data, nothing)
failure_of(() -> class_weights(data), :not_found)
set_sample_weights!(data, fill(0.5, 12))
@test sample_weights(data) == fill(0.5, 12)
failure_of(() -> set_sample_weights!(data, fill(0.5, 3)), :invalid_argument)
set_sample_weights!(data, nothing)
failure_of(() -> sample_weights(data), :not_found)
failure_of(() -> set_class_weights!(data, [1.0, -1.0]), :invalid_argument)

# Many graphs in one; labels also as a matrix with one row per graph.
pair = Graph(context, 5, [0, 1, 2, 3], [1, 0, 3, 4])
set_node_tensor!(pair, "x", ones(Float32, 5, 2))
many = Dataset(pair, [0, 2, 5]; features = "x", labels = [1, 0], task = :multiclass)
@test info(many).num_graphs == 2 && graph_ptr(many) == [0, 2, 5] && labels(many) == [1, 0]
answers = Dataset(pair, Int32[0, 2, 5]; features = "x", labels = Float32[1 2 3; 4 5 6], task = :regression)
@test labels(answers) == Float32[1 2 3; 4 5 6]
@test info(Dataset(pair, [0, 2, 5])).task == :none
@test_throws DimensionMismatch Dataset(pair, Int[])
failure_of(() -> Dataset(pair, [0, 2, 5]; labels = [1]), :invalid_argument)

# Files, with and without a time limit.
in_folder() do folder
    @test save(data, "saved") === nothing
    again = Dataset(context, "saved")
    @test info(again).num_edges == 12 && length(splits(again)) == 5
    @test split_ids(select_split(again, "mine"), :train) == 0:3
    failure_of(() -> save(data, "saved"), :invalid_argument, "saved")
    answer = pending
    while answer === pending
        answer = Dataset(context, "saved"; timeout = 0)
    end
    @test info(answer) == info(again)
    answer = pending
    while answer === pending
        answer = save(again, "once more"; timeout = 0.001)
    end
    write("edges.csv", "a,b\n1,2\n2,3\n")
    listed = Dataset(context, "edges.csv"; format = :edges, undirected = true)
    @test info(listed).num_edges == 4
    write("bad.npz", "nothing of the kind")
    failure_of(() -> Dataset(context, "bad.npz"), :format)
end

# Parts.
world = small_world(300)
in_folder() do folder
    settings = (num_parts = 2, seed = 3, fanouts = [5, 3], batch_size = 32)
    @test save_parts(world.data, "parts"; settings...) === nothing
    answer = pending
    while answer === pending # complete, so it stays
        answer = save_parts(world.data, "parts"; timeout = 0.001, settings...)
    end
    @test answer === nothing
    failure_of(() -> save_parts(world.data, "parts"), :mismatch, "parts")
    whole = Dataset(world.context, "parts"; format = :parts)
    @test info(whole) == info(world.data) && labels(whole) == labels(world.data)
    facts = parts_info(whole)
    @test facts.num_parts == 2 && facts.num_nodes == 300 && facts.num_edges == info(whole).num_edges
    @test 0 < facts.cut < 0.6 && 1 <= facts.node_balance < 1.06
    @test eltype(book(whole)) == Int32 && length(book(whole)) == 300
    parts = [part_info(whole, p; cache_rows = 300) for p in 0:1]
    @test [part.num_nodes for part in parts] == [count(==(p), book(whole)) for p in 0:1]
    @test sum(part.cut_edges for part in parts) == facts.cut_edges
    @test sum(part.num_train for part in parts) == 180
    @test all(part -> part.hotness === true && part.batch_rows > 32 && part.hit_rate > 0.999, parts)
    @test part_info(whole, 1).hit_rate == 0 && part_info(whole, 2) === nothing
    failure_of(() -> part_info(whole, -1), :not_found, "part")

    given = collect(0:299) .% 3
    save_parts(world.data, "given"; given = given, num_parts = 3, fanouts = nothing)
    thirds = Dataset(world.context, "given")
    @test book(thirds) == given && part_info(thirds, 0).hotness === false
    save_parts(world.data, "hashed"; method = :hash, edge_ids = 1, fanouts = (-1,))
    @test info(Dataset(world.context, "hashed")) == info(world.data)
    failure_of(() -> save_parts(world.data, "x"; method = :hash, node_slack = 2), :invalid_argument, "has an effect only")
    failure_of(() -> save_parts(world.data, "given"; given = given), :range, "expected 0 to 1")
    failure_of(() -> save_parts(world.data, "given"; given = [0, 1]), :invalid_argument, "expected 300")
    failure_of(() -> save_parts(world.data, "given"; given = Int[]), :invalid_argument, "expected 300")
    failure_of(() -> save_parts(world.data, "x"; slack = 2), :invalid_argument, "node_slack")
    failure_of(() -> save_parts(world.data, "x"; node_slack = 0.5), :invalid_argument, "node_slack=0.5")
    failure_of(() -> save_parts(world.data, "x"; num_parts = "two"), :invalid_argument, "num_parts=two")
    @test_throws InexactError save_parts(world.data, "x"; given = fill(typemax(Int), 300))
    failure_of(() -> parts_info(world.data), :not_found, "parts")
    failure_of(() -> part_info(world.data, 0), :not_found, "parts")
    failure_of(() -> book(world.data), :not_found, "parts")
end
@test sprint(show, pending) == "pending"
