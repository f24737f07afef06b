# Predictors: a trained model in use.

mutable struct Predictor <: Object{gnnmg_predictor}
    token::Ptr{gnnmg_predictor}
    Predictor(token::Ptr{gnnmg_predictor}) = finalizer(collected, new(token))
end
free(token::Ptr{gnnmg_predictor}) = gnnmg_predictor_free(token)

"""
    Predictor(model, data; settings...)

A trained model in use: results for the nodes or graphs of a data set, for any number of tasks at once. It
has a copy of the weights, so training the model further does not change its answers. Settings:

$(fields_of(:predictor))

```julia
predictor = Predictor(model, data; fanouts = (10, 10))
predict(predictor, [7, 42], :probabilities)
```

C: `gnnmg_predictor_create`
"""
function Predictor(model::Model, data::Dataset; settings...)
    text = settings_text(settings)
    return make(out -> gnnmg_predictor_create(model, data, text, out), Predictor)
end

"""
    predict(predictor, ids, output = :logits)

Results for these nodes or graphs, counted from 0: a matrix with a row for each id, and for classes of
which a node has one a vector. `output` is `:logits`, `:probabilities`, `:classes` or `:embeddings`.
Errors have the codes `:range`, for an id that there is not; `:unsupported`, for an output that the model
or the task does not have. C: `gnnmg_predictor_run`
"""
function predict(predictor::Predictor, ids::AbstractVector{<:Integer}, output = :logits)
    facts = info(predictor)
    list = convert(Vector{Int64}, ids)
    number = Ref{Csize_t}(0)
    kind = convert(gnnmg_output, output)
    check(gnnmg_predictor_run(predictor, list, length(list), kind, C_NULL, 0, number))
    T = Symbol(kind) === :classes ? Int64 : facts.dtype === :f64 ? Float64 : Float32
    rows = Vector{T}(undef, number[] ÷ sizeof(T))
    check(gnnmg_predictor_run(predictor, list, length(list), kind, rows, number[], number))
    T === Int64 && facts.task === :multiclass && return rows
    columns = T === Int64 ? facts.classes_dim :
              Symbol(kind) === :embeddings ? facts.embedding_dim : facts.output_dim
    return permutedims(reshape(rows, Int(columns), length(list)))
end

"""
    info(predictor)

Facts about a predictor, and the times of its calls:

$(fields_of(gnnmg_predictor_info))

C: `gnnmg_predictor_get_info`
"""
info(predictor::Predictor) = ask(gnnmg_predictor_get_info, gnnmg_predictor_info, predictor)

"""
    snapshot(trainer)

A copy of the model as of the last step that is done, also while training runs and in its closure; running
statistics of batch norms belong to it. Of a training on GPUs it is the last state in main memory: of
the end of an epoch, before the closure, or of a checkpoint. C: `gnnmg_trainer_snapshot`
"""
snapshot(trainer::Trainer) = make(out -> gnnmg_trainer_snapshot(trainer, out), Model)
