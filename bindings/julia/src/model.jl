# Models: layers and parameters.

mutable struct Model <: Object{gnnmg_model}
    token::Ptr{gnnmg_model}
    context::Union{Context, Nothing} # the context that cancels calls of the model, if known
    Model(token::Ptr{gnnmg_model}) = finalizer(collected, new(token, nothing))
end
free(token::Ptr{gnnmg_model}) = gnnmg_model_free(token)
has_texts(::Model) = true

"""
    Model(context[, dataset]; settings...)
    Model(trainer)

Makes a model with initial weights; a data set gives the widths that the settings leave to it:

$(fields_of(:model))

With `architecture = :layers` it begins empty and is built up by `add_conv!` and the functions next to it.
The second form is another handle to the model that a trainer trains.

A model reads like a dictionary of its parameters and buffers: `keys(model)`,
`model["convs.0.lin_l.weight"]`, which is a [`Tensor`](@ref) that shares memory with it (read or write
it only while nothing works on the model), and `model[key] = values`, which copies.

C: `gnnmg_model_create`, `gnnmg_trainer_get_model`
"""
function Model(context::Context, data::Union{Dataset, Nothing} = nothing; settings...)
    text = settings_text(settings)
    model = make(out -> gnnmg_model_create(context, or_null(data), C_NULL, text, out), Model)
    model.context = context
    return model
end

"""
    open_model(context, path)

Makes a model from a file or folder of [`save`](@ref) alone: architecture, widths and all other settings
come from the file. Also opens the folder of a checkpoint. C: `gnnmg_model_open`
"""
function open_model(context::Context, path::AbstractString)
    model = make(out -> gnnmg_model_open(context, path, out), Model)
    model.context = context
    return model
end

"""
    copy(model)

A model of its own with equal weights. C: `gnnmg_model_create_copy`
"""
function Base.copy(model::Model)
    replica = make(out -> gnnmg_model_create_copy(model, out), Model)
    replica.context = model.context
    return replica
end

"""
    set_device!(model, device, index = 0; stream = 0)

Puts a model on a GPU, `:cuda` and its number, or back into main memory, `:cpu`. Weights and gradients
move, and passes, evaluation and updates then work there, with mini-batches of a loader for the same
GPU. Not while an optimizer or a trainer of the model is there. `stream` is a CUDA stream of the
caller's on that GPU, a `cudaStream_t` as a number, which outlives the model: calls return when their
work is in it. 0 is one of the library's own: calls return when their work is done.

C: `gnnmg_model_set_device`
"""
function set_device!(model::Model, device, index::Integer = 0; stream::Integer = 0)
    check(gnnmg_model_set_device(model, device, index, stream))
    return model
end

"""
    model_config(model)

The main settings of a model as a named tuple; `model_settings` has all:

$(fields_of(gnnmg_model_config))

C: `gnnmg_model_get_config`
"""
model_config(model::Model) = ask(gnnmg_model_get_config, gnnmg_model_config, model)

"""
    model_settings(model)

All settings of a model as JSON, as `save` writes them, with listed layers and the task of its data
set.

C: `gnnmg_model_get_settings`
"""
model_settings(model::Model) = copied_text(out -> gnnmg_model_get_settings(model, out))

info(model::Model) = ask(gnnmg_model_get_info, gnnmg_model_info, model)

# ---- custom layers

"""
    add_conv!(model, name; settings...)
    add_linear!(model, name, output_dim; bias = true)
    add_norm!(model, name, norm; settings...)
    add_activation!(model, name, activation)
    add_dropout!(model, rate)
    add_readout!(model, name, readout; size = 0)

Add a layer to a model of `architecture = :layers` that was not used yet; `name` stands in front of the
keys of its tensors, and is `nothing` for layers without any. A convolution has the settings of
[`Model`](@ref) that concern one layer. A norm has these:

$(fields_of(:norm))

C: `gnnmg_model_add_conv` and so on
"""
function add_conv!(model::Model, name::AbstractString; settings...)
    check(gnnmg_model_add_conv(model, name, C_NULL, settings_text(settings)))
    return model
end
"See [`add_conv!`](@ref). C: `gnnmg_model_add_linear`"
function add_linear!(model::Model, name::AbstractString, output_dim::Integer; bias = true)
    check(gnnmg_model_add_linear(model, name, output_dim, bias))
    return model
end
"See [`add_conv!`](@ref). C: `gnnmg_model_add_norm`"
function add_norm!(model::Model, name, norm; settings...)
    check(gnnmg_model_add_norm(model, or_null(name), norm, settings_text(settings)))
    return model
end
"See [`add_conv!`](@ref). C: `gnnmg_model_add_activation`"
function add_activation!(model::Model, name, activation)
    check(gnnmg_model_add_activation(model, or_null(name), activation))
    return model
end
add_activation!(model::Model, activation) = add_activation!(model, nothing, activation)
"See [`add_conv!`](@ref). C: `gnnmg_model_add_dropout`"
function add_dropout!(model::Model, rate::Real)
    check(gnnmg_model_add_dropout(model, rate))
    return model
end
"See [`add_conv!`](@ref). C: `gnnmg_model_add_readout`"
function add_readout!(model::Model, name, readout; size = 0)
    check(gnnmg_model_add_readout(model, or_null(name), readout, size))
    return model
end

# ---- tensors

function tensor_keys(model::Model)
    trained = Ref{Int32}(0)
    return listed((i, key) -> gnnmg_model_tensor_key(model, i, key, trained), () -> trained[] != 0)
end

"""
    keys(model; trained)

The keys of parameters and buffers, parameters first; with `trained = true` those of parameters, with
`false` those of buffers. C: `gnnmg_model_tensor_key`
"""
function Base.keys(model::Model; trained = nothing)
    return String[key for (key, learned) in tensor_keys(model) if trained === nothing || trained == learned]
end

"C: `gnnmg_model_export_tensor`"
Base.getindex(model::Model, key::AbstractString) = tensor(out -> gnnmg_model_export_tensor(model, key, out))

"C: `gnnmg_model_set_tensor`"
function Base.setindex!(model::Model, values::Union{AbstractArray, GpuTensor}, key::AbstractString)
    reading(rows -> check(gnnmg_model_set_tensor(model, key, rows)), values)
    return model
end

"""
    set_trainable!(model, pattern, trainable)

Freezes the parameters whose keys match a pattern such as `"convs.0.*"`, or lets them be trained again.
Frozen parameters have no gradient, and no update changes them. Arrays that were taken from the model
before no longer share its memory. Not while the model has an optimizer or a trainer.
C: `gnnmg_model_set_trainable`
"""
function set_trainable!(model::Model, pattern::AbstractString, trainable::Bool)
    check(gnnmg_model_set_trainable(model, pattern, trainable))
    return model
end

"""
    gradient(model, key)

The gradient of one parameter, sharing memory with the model. C: `gnnmg_model_export_gradient`
"""
gradient(model::Model, key::AbstractString) = tensor(out -> gnnmg_model_export_gradient(model, key, out))

"""
    parameters(model)
    gradients(model)

All parameters, or all gradients, as one vector that shares memory with the model, for collectives.
C: `gnnmg_model_export_parameters`, `gnnmg_model_export_gradients`
"""
parameters(model::Model) = tensor(out -> gnnmg_model_export_parameters(model, out))
"See [`parameters`](@ref)."
gradients(model::Model) = tensor(out -> gnnmg_model_export_gradients(model, out))

# ---- forward and backward

"""
    infer(model, batch)

The model's result for the seeds of a mini-batch, `[seeds, columns]`, a copy. Any number of tasks may
call it at once. C: `gnnmg_model_infer`
"""
infer(model::Model, batch::Batch) = tensor(out -> gnnmg_model_infer(model, batch, out))

"""
    forward!(model, batch; logits = true)

A training pass: dropout is on, and the pass is kept for `backward!`. Gives the result, as
[`infer`](@ref) does; `nothing` with `logits = false`. C: `gnnmg_model_forward`
"""
function forward!(model::Model, batch::Batch; logits = true)
    logits && return tensor(out -> gnnmg_model_forward(model, batch, out))
    check(gnnmg_model_forward(model, batch, C_NULL))
    return nothing
end

"""
    backward!(model, loss = :auto)
    backward!(model, gradient)

Adds the gradient of the last `forward!`'s loss to the model's gradients, and answers the
mini-batch's share of the step's loss; or, for a custom loss, takes the gradient of that loss by
the logits, `[seeds, columns]`. C: `gnnmg_model_backward`, `gnnmg_model_backward_from`
"""
backward!(model::Model, loss = :auto) = number(Float64, gnnmg_model_backward, model, loss)
function backward!(model::Model, gradient::Union{AbstractMatrix, GpuTensor})
    reading(rows -> check(gnnmg_model_backward_from(model, rows)), gradient)
    return nothing
end

# ---- evaluation

cancelling(object) = () -> object.context === nothing || cancel(object.context)

"""
    evaluate(model, dataset, part; top_k = 5, timeout)
    evaluate(trainer, part; timeout)
    confusion(model, dataset, part; timeout)
    confusion(trainer, part; timeout)

Exact metrics over `:train`, `:validation` or `:test` of the split, with full neighborhoods; a
trainer computes them on all its ranks:

$(fields_of(gnnmg_metrics))

`confusion` answers the metrics and the confusion matrix: `[classes, classes]`, labeled rows by class
and by predicted class, or for binary targets `[targets, 2, 2]`. With a `timeout` in seconds both may
answer [`pending`](@ref).

C: `gnnmg_model_evaluate`, `gnnmg_trainer_evaluate`
"""
function evaluate(model::Model, data::Dataset, part; top_k = 0, timeout = nothing)
    metrics = blank(gnnmg_metrics)
    call = timeout_ms -> gnnmg_model_evaluate(model, data, part, top_k, metrics, C_NULL, timeout_ms)
    return awaited(call, cancelling(model), timeout) === pending ? pending : facts(metrics[])
end

"See [`evaluate`](@ref)."
function confusion(model::Model, data::Dataset, part; timeout = nothing)
    metrics = blank(gnnmg_metrics)
    call = (out, timeout_ms) -> gnnmg_model_evaluate(model, data, part, 0, metrics, out, timeout_ms)
    matrix = awaited_tensor(call, cancelling(model), timeout)
    return matrix === pending ? pending : (facts(metrics[]), matrix)
end

function awaited_tensor(call, cancel, timeout, closures = ())
    out = Ref{Ptr{gnnmg_tensor}}(C_NULL)
    status = await(timeout_ms -> call(out, timeout_ms), cancel, timeout, closures,
                   () -> gnnmg_tensor_free(out[]))
    return status == GNNMG_PENDING ? pending : taken(out[])
end

"""
    embed(model, dataset; timeout)
    embed(model, dataset, path; timeout)
    embed(trainer; timeout)
    embed(trainer, path; timeout)

The model's result for every node, or, with a readout, for every graph, with full neighborhoods:
`[rows, columns]`; or straight into a `.npy` file, which appears whole or not at all. A trainer uses
all its ranks. With a `timeout` in seconds it may return [`pending`](@ref).

C: `gnnmg_model_embed`, `gnnmg_trainer_embed`
"""
function embed(model::Model, data::Dataset; timeout = nothing)
    call = (out, timeout_ms) -> gnnmg_model_embed(model, data, 0, C_NULL, out, timeout_ms)
    return awaited_tensor(call, cancelling(model), timeout)
end
function embed(model::Model, data::Dataset, path::AbstractString; timeout = nothing)
    call = timeout_ms -> gnnmg_model_embed(model, data, 0, path, C_NULL, timeout_ms)
    return awaited(call, cancelling(model), timeout)
end

# ---- files

function save(model::Model, path::AbstractString; timeout = nothing, settings...)
    text = settings_text(settings)
    call = timeout_ms -> gnnmg_model_save(model, path, text, timeout_ms)
    return awaited(call, () -> nothing, timeout)
end

"""
    load!(object, path; timeout, settings...)

Reads a file of `save`, all or nothing: a model its weights, with the same settings; an optimizer
also the state of PyTorch's of the same kind. A trainer continues from a checkpoint, or from the
newest complete one in a folder. With a `timeout` in seconds it may return [`pending`](@ref).

C: `gnnmg_model_load`, `gnnmg_optimizer_load`, `gnnmg_trainer_load`
"""
function load!(model::Model, path::AbstractString; timeout = nothing, settings...)
    text = settings_text(settings)
    call = timeout_ms -> gnnmg_model_load(model, path, text, timeout_ms)
    return awaited(call, () -> nothing, timeout)
end
