# A training that changes its framework: it begins with PyTorch Geometric's layers and Adam,
# continues with a trainer of DGL's layers on two ranks, and returns. Weights and the optimizer's
# state go through files as torch.save() writes them, so that either end may be in Python.
include("common.jl")

const STEPS = 5

function train_on(trainer, name)
    loss = 0.0
    for _ in 1:STEPS
        loss = step!(trainer)
    end
    @printf("%s: loss %.4f\n", name, loss)
end

function main()
    context = open_context()
    graph, data = planted_data(context, 2000)
    sampler = Sampler(graph; fanouts = [-1, -1]) # all neighbors
    make_model(framework) = Model(context, data; framework = framework, hidden_dim = 32, dtype = :f64)
    # A trainer that uses all nodes in each step, so that the sampling does not matter.
    make_trainer(model, ranks) =
        Trainer(model, data, sampler; num_ranks = ranks, batch_size = 2000 ÷ ranks, num_epochs = 100)

    model = make_model(:pyg)
    trainer = make_trainer(model, 1)
    train_on(trainer, "begun")
    save(model, "model.pth")
    save(Optimizer(trainer), "optimizer.pth")

    # [move in]
    moved = make_model(:dgl)
    other = make_trainer(moved, 2)
    load!(moved, "model.pth"; other_framework = true) # the files have PyG's layers
    load!(Optimizer(other), "optimizer.pth"; other_framework = true)
    # [move in]
    train_on(trainer, "stayed")
    train_on(other, "moved")

    save(moved, "model.pth"; other_framework = true)
    save(Optimizer(other), "optimizer.pth"; other_framework = true)
    back = make_model(:pyg)
    third = make_trainer(back, 1)
    load!(back, "model.pth")
    load!(Optimizer(third), "optimizer.pth")
    train_on(trainer, "stayed")
    train_on(third, "back")
    same = maximum(abs.(parameters(model) .- parameters(back))) < 1e-9
    println(same ? "the same weights" : "other weights")
    @assert same
end

main()
