# A trained model in use: the classes of a few nodes, with their probabilities. In a folder without a
# file of weights the program trains a model, saves it, and starts itself again, so that a fresh process
# predicts.
include("common.jl")

const WEIGHTS = "sage.safetensors"

function train_and_save(model, graph, data)
    trainer = Trainer(model, data, Sampler(graph); num_epochs = 8, batch_size = 256)
    train!(trainer)
    save(model, WEIGHTS)
    close(trainer)
end

function answers(model, data)
    # [predict]
    # A copy of the weights; it answers any number of tasks.
    predictor = Predictor(model, data; fanouts = (10, 10), seed = 7)
    ids = [7, 42, 1001]
    probability = predict(predictor, ids, :probabilities)
    most_likely = predict(predictor, ids, :classes)
    # [predict]
    for (i, id) in enumerate(ids)
        class = most_likely[i]
        @printf("node %d: class %d, probability %.2f\n", id, class, probability[i, class + 1])
    end

    # [info]
    facts = info(predictor)
    println(facts.num_calls, " calls over ", facts.num_ids, " nodes, ", facts.output_dim, " classes, rows of ",
            facts.embedding_dim, " numbers before the last layer")
    # [info]
    # [free]
    close(predictor)
    # [free]
end

function main()
    context = open_context()
    graph, data = planted_data(context, 3000)
    isfile(WEIGHTS) && return answers(open_model(context, WEIGHTS), data) # the file has settings and weights
    train_and_save(small_model(context, data), graph, data)
    println("trained, and saved ", WEIGHTS)
    flush(stdout)
    run(`$(Base.julia_cmd()) --project=$(Base.active_project()) $(PROGRAM_FILE)`)
end

main()
