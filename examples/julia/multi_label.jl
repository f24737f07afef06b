# Several yes-or-no questions about each node, some without an answer, and the metrics of such a task on
# every part of the split. Training ends early, and keeps the epoch with the best ROC-AUC.
include("common.jl")

function main()
    context = open_context()
    graph = generate(context, :planted; num_nodes = 2500)
    # Is the class below 5? even? 7? One node in five has no answer to the last.
    class = node_tensor(graph, "y")
    last_one = [v % 5 == 4 ? NaN : class[v] == 7 for v in eachindex(class)]
    answers = Float32[(class .< 5) (class .% 2 .== 0) last_one]
    set_node_tensor!(graph, "answers", answers)
    data = Dataset(graph, "x", "answers"; task = :binary)
    add_random_split!(data, "random")

    trainer = Trainer(small_model(context, data), data, Sampler(graph); num_epochs = 40,
                      batch_size = 256, best_by = :roc_auc,
                      early_stop_patience = 2) # validations without getting better
    train!(trainer) do epoch # the best weights stay
        @printf("epoch %2d  loss %.4f  validation ROC-AUC %.4f%s\n", epoch.epoch + 1, epoch.train_loss,
                epoch.validation.roc_auc, epoch.best ? " *" : "")
    end
    for part in (:train, :validation, :test)
        metrics = evaluate(trainer, part)
        @printf("%-10s  %d answers, accuracy %.4f, ROC-AUC %.4f, average precision %.4f, F1 %.4f\n", part,
                metrics.count, metrics.accuracy, metrics.roc_auc, metrics.average_precision,
                metrics.f1_macro)
    end
end

main()
