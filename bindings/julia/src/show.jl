# Objects are shown with their sizes, or with their type alone while a call works on them.

function Base.show(io::IO, object::Object)
    print(io, nameof(typeof(object)), '(')
    if isopen(object)
        said = try
            summary_of(object)
        catch failure
            failure isa GNNMGError || rethrow()
            "…" # busy
        end
        print(io, said)
    else
        print(io, "closed")
    end
    print(io, ')')
end

counted(count, name) = "$count $name$(count == 1 ? "" : "s")"
listing(pairs...) = join((counted(count, name) for (name, count) in pairs), ", ")

summary_of(::Object) = "…"
summary_of(::Context) = "libgnnmg $(version())"
summary_of(graph::Graph) =
    listing("node" => sum(num_nodes(graph, t) for t in 0:(num_node_types(graph) - 1)),
            "edge" => sum(num_edges(graph, t) for t in 0:(num_edge_types(graph) - 1)))
function summary_of(data::Dataset)
    facts = info(data)
    graphs = facts.num_graphs > 1 ? listing("graph" => facts.num_graphs) * ", " : ""
    return graphs * listing("node" => facts.num_nodes, "edge" => facts.num_edges, "feature" => facts.feature_dim) *
           (facts.num_classes > 0 ? ", $(facts.num_classes) classes" : "")
end
function summary_of(model::Model)
    facts = info(model)
    return ":$(facts.architecture), " * listing("layer" => facts.num_layers, "parameter" => facts.num_parameters)
end
summary_of(sampler::Sampler) = listing("layer" => num_layers(sampler))
function summary_of(batch::Batch)
    facts = info(batch)
    return listing("seed" => facts.num_seeds, "node" => facts.num_nodes)
end
summary_of(comm::Comm) = "rank $(rank(comm)) of $(world_size(comm))"
function summary_of(trainer::Trainer)
    at = progress(trainer)
    return "$(at.epoch) of $(counted(at.num_epochs, "epoch")), :$(at.state)"
end
