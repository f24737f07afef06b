# GraphSAGE on the nodes of a data set, or else of a generated graph: julia --project=bindings/julia first.jl [<folder or file>]
using GNNMG, Printf

function generated(context)
    graph = planted_partition(context; num_nodes = 2000)
    return add_random_split!(Dataset(graph, "x", "y"; task = :multiclass), "random")
end

context = Context()
data = isempty(ARGS) ? generated(context) : Dataset(context, ARGS[1]) # Planetoid, OGB, .npz, edge lists, ...
sampler = Sampler(Graph(data))                                   # 10 and 10 neighbors
model = Model(context, data; hidden_dim = 64, dropout = 0.5)     # GraphSAGE, widths from the data

trainer = Trainer(model, data, sampler;
                  num_ranks = 2, batch_size = 64, num_epochs = 30) # replicas that share each step
train!(trainer)

test = evaluate(trainer, :test)
@printf("test accuracy %.3f on %d nodes\n", test.accuracy, test.count)
save(model, "sage.safetensors")                                  # PyG's keys; or .pth
foreach(said -> said.level == :warning && println(stderr, "warning: ", said.text), messages(context))
