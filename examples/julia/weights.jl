# A model's weights: listed by key, changed one by one, written to files that PyTorch reads, and read
# back into another model, which then says the same.
include("common.jl")

# Prints the tensors of a model.
function summary_of(model)
    learned = keys(model; trained = true)
    for key in keys(model)
        sizes = join(size(model[key]), " x ")
        println(key, isempty(sizes) ? "" : ": $sizes", key in learned ? "" : " (not learned)")
    end
    println(info(model).num_parameters, " numbers are learned")
end

function main()
    context = open_context()
    # Else the data set's features and classes say the first and the last.
    make(; settings...) = Model(context; input_dim = 64, output_dim = 10, norm = :batch, settings...)
    model = make(; hidden_dim = 32)
    summary_of(model)

    bias = zeros(Float32, 10) # a prior: class 3 is the common one
    bias[4] = 1
    model["convs.1.lin_l.bias"] = bias

    # [save]
    save(model, "model.pth") # equals torch.save(model.state_dict())
    save(model, "model.weights"; format = :safetensors) # the path's ending does not matter
    # [save]

    # [open]
    opened = open_model(context, "model.pth") # architecture, widths and all other settings are in the file
    # [open]
    @assert parameters(opened) == parameters(model)

    other = make(; hidden_dim = 32, seed = 1) # other initial weights
    before = parameters(model) == parameters(other)
    # [load]
    load!(other, "model.pth")
    # [load]
    println("equal before loading: ", Int(before), ", after: ", Int(parameters(model) == parameters(other)))

    narrow = make(; hidden_dim = 16, seed = 1)
    try
        load!(narrow, "model.weights"; format = :safetensors)
    catch error
        println("into a narrower one: ", GNNMG.status_name(error), ": ", first(error.text, 60), "...")
    end
end

main()
