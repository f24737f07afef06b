# A custom loss: cross-entropy with smoothed labels, whose gradient with respect to the logits is
# passed to the model. The optimizer is the library's, with a decreasing learning rate.
include("common.jl")

const CLASSES = 10

# Cross-entropy of `row` against 0.9 for the class and the rest for all; writes the gradient.
function smoothed!(gradient, row, class, weight)
    largest = Float64(maximum(row))
    sum_of_it = sum(exp(x - largest) for x in row)
    loss = 0.0
    for c in 1:CLASSES
        wanted = 0.1 / CLASSES + (c == class + 1 ? 0.9 : 0)
        log_share = row[c] - largest - log(sum_of_it)
        loss -= wanted * log_share
        gradient[c] = weight * (exp(log_share) - wanted)
    end
    return loss
end

# Forward, loss, backward: the mini-batch's mean loss.
function backward_smoothed!(model, batch)
    # [own loss]
    logits = forward!(model, batch) # [seeds, classes]
    classes = labels(batch)
    gradient = zeros(Float32, size(logits))
    loss = 0.0
    for i in axes(logits, 1)
        loss += smoothed!(view(gradient, i, :), view(logits, i, :), classes[i], 1 / length(classes))
    end
    backward!(model, gradient)
    # [own loss]
    return loss / length(classes)
end

function main()
    context = open_context()
    graph, data = planted_data(context, 4000)
    model = Model(context, data; hidden_dim = 64)
    loader = Loader(data, Sampler(graph); batch_size = 256)
    optimizer = Optimizer(model; optimizer = :adamw, learning_rate = 0.01, weight_decay = 1e-4)

    for epoch in 1:6
        loss = norm = steps = 0.0
        for batch in loader
            loss += backward_smoothed!(model, batch)
            norm = sqrt(sum(x -> Float64(x * x), gradient(model, "convs.0.lin_l.weight")))
            step!(optimizer) # the gradients are 0 again
            steps += 1
        end
        rate = learning_rate(optimizer)
        set_learning_rate!(optimizer, 0.7 * rate)
        @printf("epoch %d  rate %.4f  loss %.4f  |gradient| %.4f\n", epoch, rate, loss / steps, norm)
    end
    save(optimizer, "optimizer.pth") # a dict of PyTorch's AdamW
    load!(optimizer, "optimizer.pth")
    @printf("test accuracy %.4f\n", evaluate(model, data, :test).accuracy)
end

main()
