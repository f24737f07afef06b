# Fine-tuning: a model of ten classes is trained and saved; a second one, for other data of five
# classes, takes over all weights but those of its new head. Its first layer is frozen, its loss is
# the program's own, and a closure sets the learning rate.
include("common.jl")

const EPOCHS = 6

# Trains a model of ten classes, and saves its weights.
function pretrain(context)
    graph, data = planted_data(context, 4000)
    model = small_model(context, data)
    train!(Trainer(model, data, Sampler(graph); num_epochs = EPOCHS, batch_size = 256, optimizer = :rmsprop,
                   label_smoothing = 0.1))
    save(model, "pretrained.pth")
end

# Other data, of five classes.
function new_data(context)
    graph = generate(context, :planted; num_nodes = 2000, num_classes = 5, num_features = 64, seed = 1)
    data = Dataset(graph, "x", "y"; task = :multiclass, num_classes = 5)
    return graph, add_random_split!(data, "random")
end

# [loss]
# The focal loss with gamma 1, -(1 - p) log p: easy nodes count less.
function focal(batch)
    loss = 0.0
    for (row, label) in enumerate(batch.classes)
        label < 0 && continue
        share = exp.(Float64.(batch.logits[row, :]))
        share ./= sum(share)
        p, weight = share[label + 1], batch.weights[row]
        loss -= weight * (1 - p) * log(p)
        share[label + 1] -= 1
        batch.gradient[row, :] .= weight * (1 - p - p * log(p)) .* share
    end
    return loss
end
# [loss]

function main()
    context = open_context()
    pretrain(context)
    graph, data = new_data(context)
    model = small_model(context, data)
    # [load]
    load!(model, "pretrained.pth"; partial = true) # the log lists the tensors of the head, whose shapes differ
    # [load]
    # [freeze]
    set_trainable!(model, "convs.0.*", false)
    # [freeze]
    before = copy(model["convs.0.lin_l.weight"])

    trainer = Trainer(model, data, Sampler(graph); num_epochs = EPOCHS, batch_size = 256, keep_best = false,
                      device = :cpu) # a loss of the program's own
    # [set loss]
    set_loss!(focal, trainer)
    # [set loss]
    # [rate]
    train!(trainer) do epoch
        @printf("epoch %d  rate %.4f  loss %.4f\n", epoch.epoch + 1, epoch.learning_rate, epoch.train_loss)
        epoch.epoch + 1 == EPOCHS ÷ 2 && set_learning_rate!(trainer, 0.001)
    end
    # [rate]
    accuracy = evaluate(trainer, :test).accuracy
    same = model["convs.0.lin_l.weight"] == before
    @printf("test accuracy %.4f, first layer unchanged: %d\n", accuracy, same)
    return same && accuracy > 0.5
end

main() || exit(1)
