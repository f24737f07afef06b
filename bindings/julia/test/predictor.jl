world = small_world()
predictor = Predictor(world.model, world.data; fanouts = (4, 3), seed = 2)
ids = [7, 42, 7, 399]
logits = predict(predictor, ids)
@test size(logits) == (4, 3) && eltype(logits) == Float32 && logits[1, :] == logits[3, :]
shares = predict(predictor, ids, :probabilities)
@test all(sum(shares; dims = 2) .≈ 1)
@test predict(predictor, ids, :classes) == [argmax(row) - 1 for row in eachrow(logits)]
@test size(predict(predictor, ids, :embeddings)) == (4, info(predictor).embedding_dim)
@test size(predict(predictor, Int64[])) == (0, 3)
@test size(predict(Predictor(world.model, world.data), [5])) == (1, 3)
@test predict(Predictor(world.model, world.data), 0:9) ≈ embed(world.model, world.data)[1:10, :]

# Tasks get the same while the model is trained.
trainer = small_trainer(world; keep_best = 0)
tasks = [Threads.@spawn all(_ -> predict(predictor, ids) == logits, 1:20) for _ in 1:3]
snapshots = []
train!(_ -> push!(snapshots, snapshot(trainer)), trainer)
@test all(fetch, tasks)
@test length(snapshots) == 3
@test Array(parameters(snapshots[end])) == Array(parameters(world.model))
@test predict(Predictor(snapshots[1], world.data; fanouts = [4, 3], seed = 2), ids) != logits
facts = info(predictor)
@test facts.num_ids == 400 && facts.num_calls == 65 && facts.exact == 0 && facts.task == :multiclass

failure_of(() -> Predictor(world.model, world.data; fanuots = 4), :invalid_argument, "did you mean 'fanouts'")
failure_of(() -> predict(predictor, [400]), :range, "ids[0] is 400")
@test_throws ArgumentError predict(predictor, [4], :scores)
