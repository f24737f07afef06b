# The kinds of models side by side on one data set: GraphSAGE, GCN, GAT, GATv2 and GIN, with the same
# sampler, split and seed. Prints parameters, accuracy and the seconds of an epoch.
include("common.jl")

function main()
    kinds = [("GraphSAGE", :sage, 1), ("GCN", :gcn, 1), ("GAT", :gat, 4), ("GATv2", :gatv2, 4),
             ("GIN", :gin, 1)]
    context = open_context()
    graph, data = planted_data(context, 4000)
    sampler = Sampler(graph)
    for (name, architecture, heads) in kinds # heads divide hidden_dim
        # [architecture]
        model = Model(context, data; architecture = architecture, hidden_dim = 32, heads = heads)
        # [architecture]
        trainer = Trainer(model, data, sampler; num_epochs = 5, batch_size = 256)
        seconds = Ref(0.0)
        train!(trainer) do epoch
            seconds[] += epoch.times.total / epoch.num_epochs
        end
        accuracy = evaluate(trainer, :test).accuracy
        @printf("%-9s %6d parameters, test accuracy %.4f, %.2f s an epoch\n", name,
                info(model).num_parameters, accuracy, seconds[])
        @assert accuracy > 0.3 # one in ten would be by chance
    end
end

main()
