context = Context(; num_threads = 1)
data = Dataset(context, :planted; num_nodes = 300)
graph, facts = Graph(data), info(data)
model = Model(context, data; hidden_dim = 8)
sampler = Sampler(graph; fanouts = [3, 2])
trainer = Trainer(model, data, sampler; num_epochs = 2)

@test repr(context) == "Context(libgnnmg $(GNNMG.version()))"
@test repr(data) == "Dataset(300 nodes, $(facts.num_edges) edges, 64 features, 10 classes)"
@test repr(graph) == "Graph(300 nodes, $(facts.num_edges) edges)"
@test repr(model) == "Model(:sage, 2 layers, $(info(model).num_parameters) parameters)"
@test repr(sampler) == "Sampler(2 layers)"
@test repr(trainer) == "Trainer(0 of 2 epochs, :idle)"
@test startswith(repr(sample(sampler, [0])), "Batch(1 seed, ")
train!(trainer)
@test repr(trainer) == "Trainer(2 of 2 epochs, :finished)"
close(trainer)
@test repr(trainer) == "Trainer(closed)"

# Words may be strings; an error says that they are symbols.
@test split_ids(data, "test") == split_ids(data, :test)
said = try split_ids(data, :tests); "" catch error; sprint(showerror, error) end
@test occursin("part: expected one of the Symbols :train, :validation, :test", said)

# Markdown does not take the underlines of names for emphasis.
@test GNNMG.quoted("no hidden_dim, `:sort_rows` or gnnmg_model_get()") == "no `hidden_dim`, `:sort_rows` or `gnnmg_model_get()`"
