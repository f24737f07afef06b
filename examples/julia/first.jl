# GraphSAGE on the nodes of a data set, or else of a generated graph: julia --project=bindings/julia first.jl [<folder or file>]
using GNNMG, Printf

context = Context()
atexit() do                                                      # also if a call fails
    foreach(said -> said.level == :warning && println(stderr, "warning: ", said.text), messages(context))
end
data = isempty(ARGS) ? Dataset(context, :planted; num_nodes = 2000) :
       Dataset(context, ARGS[1])                                 # Planetoid, OGB, .npz, edge lists, ...
model = Model(context, data; hidden_dim = 64, dropout = 0.5)     # GraphSAGE, widths from the data

# Two ranks share each step; each node draws 10 neighbors a layer.
trainer = Trainer(model, data; num_ranks = 2, batch_size = 64, num_epochs = 30)
train!(trainer)

test = evaluate(trainer, :test)
@printf("test accuracy %.3f on %d nodes\n", test.accuracy, test.count)
save(model, "sage.safetensors")                                  # PyG's keys; or .pth
