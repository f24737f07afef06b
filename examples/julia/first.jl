# GraphSAGE on the nodes of a data set, by two ranks: julia --project=bindings/julia first.jl <folder or file>
using GNNMG, Printf

context = Context()
data = Dataset(context, get(ARGS, 1, "cora"))                    # Planetoid, OGB, .npz, edge lists, ...
sampler = Sampler(Graph(data))                                   # 10 and 10 neighbours
model = Model(context, data; hidden_dim = 64, dropout = 0.5)     # GraphSAGE, widths from the data

trainer = Trainer(model, data, sampler;
                  num_ranks = 2, batch_size = 64, num_epochs = 30) # replicas that share each step
train!(trainer)

test = evaluate(trainer, :test)
@printf("test accuracy %.3f on %d nodes\n", test.accuracy, test.count)
save(model, "sage.safetensors")                                  # PyG's keys; or .pth
foreach(said -> said.level == :warning && println(stderr, "warning: ", said.text), messages(context))
