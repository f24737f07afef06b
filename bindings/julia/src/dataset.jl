# Data sets: a graph with features, labels and splits, from files or around the caller's own graph.

mutable struct Dataset <: Object{gnnmg_dataset}
    token::Ptr{gnnmg_dataset}
    context::Union{Context, Nothing} # the context that cancels calls of the data set, if known
    Dataset(token::Ptr{gnnmg_dataset}) = finalizer(collected, new(token, nothing))
end
free(token::Ptr{gnnmg_dataset}) = gnnmg_dataset_free(token)
has_texts(::Dataset) = true

"""
    Dataset(context, path; timeout, settings...)

Opens a folder or file in any supported format. Settings:

$(fields_of(:dataset))

With a `timeout` in seconds it may answer [`pending`](@ref). C: `gnnmg_dataset_open`
"""
function Dataset(context::Context, path::AbstractString; timeout = nothing, settings...)
    path in ("planted", "log_normal") && !ispath(path) &&
        throw(ArgumentError("there is no file or folder \"$path\"; a generator is a Symbol, :$path"))
    text = settings_text(settings)
    call = (out, timeout_ms) -> gnnmg_dataset_open(context, path, text, out, timeout_ms)
    return opened(context, call, timeout)
end

"A data set that a call opens, which a cancel of the context ends."
function opened(context, call, timeout)
    data = awaited(Dataset, call, () -> cancel(context), timeout)
    data === pending || (data.context = context)
    return data
end

"""
    Dataset(context, generator::Symbol; settings...)

Generates a data set with features, labels and a random split, by `:planted` or `:log_normal`. Settings are
those of [`generate`](@ref) and of [`add_random_split!`](@ref); `seed` is for both.
C: `gnnmg_dataset_generate`
"""
function Dataset(context::Context, generator::Symbol; settings...)
    text = settings_text(settings)
    data = make(out -> gnnmg_dataset_generate(context, string(generator), text, out), Dataset)
    data.context = context
    return data
end

or_null(text::Nothing) = C_NULL
or_null(value) = value

"""
    Dataset(graph, features, labels; task = :none, num_classes = 0)

A data set around a graph: the names of the node tensors with features and labels, `nothing` for none.
`task` is the meaning of the labels, `:multiclass`, `:binary` or `:regression`; with `:none`
integers are classes and floats regression. It has no split yet. C: `gnnmg_dataset_create`
"""
function Dataset(graph::Graph, features, labels = nothing; task = :none, num_classes = 0)
    return make(Dataset) do out
        gnnmg_dataset_create(graph, or_null(features), or_null(labels), task, num_classes, out)
    end
end

"""
    Dataset(graph, graph_ptr; features, labels, task = :none, num_classes = 0)

A data set of many graphs, which stand side by side in one: graph `k` has the nodes `graph_ptr[k]` to
`graph_ptr[k + 1] - 1`, all counting from 0. `labels` is an array with one row per graph, or `nothing`.
C: `gnnmg_dataset_create_graphs`
"""
function Dataset(graph::Graph, graph_ptr::AbstractVector{<:Integer}; features = nothing,
                 labels = nothing, task = :none, num_classes = 0)
    starts = longs(graph_ptr)
    isempty(starts) && throw(DimensionMismatch("graph_ptr is empty, expected one entry more than graphs"))
    count = length(starts) - 1
    return reading(labels) do rows
        make(Dataset) do out
            gnnmg_dataset_create_graphs(graph, starts, count, or_null(features), rows, task,
                                        num_classes, out)
        end
    end
end

Graph(data::Dataset, index::Integer = 0) = make(out -> gnnmg_dataset_get_graph(data, index, out), Graph)

"""
    save(object, path; timeout, settings...)

Writes, whole or not at all: a data set as a new folder of `.npy` files; a model as a file with the
settings

$(fields_of(:model_file))

an optimizer as a `.pth`, with those settings too; a trainer as a checkpoint, a new folder. With a `timeout` in seconds it may
answer [`pending`](@ref).

C: `gnnmg_dataset_save`, `gnnmg_model_save`, `gnnmg_optimizer_save`, `gnnmg_trainer_save`
"""
function save(data::Dataset, path::AbstractString; timeout = nothing)
    stop_it = () -> data.context === nothing || cancel(data.context)
    return awaited(timeout_ms -> gnnmg_dataset_save(data, path, timeout_ms), stop_it, timeout)
end

"""
    save_parts(data, folder; given, timeout, settings...)

Divides the nodes into parts and writes a folder of them: of each part the rows of its nodes, as
`.npy` files, and which node is in which part. Nodes keep their ids. `Dataset(context, folder)` opens
the folder as the same data set.

The folder is new, or one that an earlier call has begun: a call with the same arguments goes on
there, also after a crash, and the result is the same to the last byte. A complete folder of the same
arguments stays as it is. `given` has the part of each node, from 0 to `num_parts - 1`, and takes the
place of a method. Settings, with their defaults:

$(fields_of(:parts))

Errors have the codes `:mismatch`, when the folder was begun with other arguments or data; `:busy`,
while another call writes it; `:unsupported`, for several types or many graphs; `:dependency`, without
METIS; `:no_memory`, when the memory limit is too low; `:range` and `:invalid_argument`, for a `given`
or a setting that cannot be. With a `timeout` in seconds it may answer [`pending`](@ref).

```julia
save_parts(data, "products-parts"; num_parts = 4, fanouts = [15, 10, 5], batch_size = 256)
```

C: `gnnmg_dataset_save_parts`
"""
function save_parts(data::Dataset, folder::AbstractString; given = nothing, timeout = nothing,
                    settings...)
    text = settings_text(settings)
    parts = given === nothing ? C_NULL : convert(Vector{Int32}, given)
    count = given === nothing ? 0 : length(parts)
    call = timeout_ms -> gnnmg_dataset_save_parts(data, folder, parts, count, C_NULL, text, timeout_ms)
    return awaited(call, () -> data.context === nothing || cancel(data.context), timeout)
end

"""
    parts_info(data)

Facts about all parts of a data set that was opened from a folder of parts:

$(fields_of(gnnmg_parts_info))

An error with the code `:not_found` where it was opened from anything else.
C: `gnnmg_dataset_get_parts_info`
"""
parts_info(data::Dataset) = ask(gnnmg_dataset_get_parts_info, gnnmg_parts_info, data)

"""
    part_info(data, part; cache_rows = 0)

Facts about one part, counted from 0, with the savings of a cache of the `cache_rows` most read rows
of other parts; `nothing` after the last part:

$(fields_of(gnnmg_part_info))

An error with the code `:not_found` where the data set was not opened from a folder of parts. All parts
are `[part_info(data, p) for p in 0:(parts_info(data).num_parts - 1)]`. C: `gnnmg_dataset_get_part_info`
"""
function part_info(data::Dataset, part::Integer; cache_rows::Integer = 0)
    about = blank(gnnmg_part_info)
    status = check(gnnmg_dataset_get_part_info(data, part, cache_rows, about))
    return status == GNNMG_END ? nothing : facts(about[])
end

"""
    book(data)

The part of each node, counted from 0: a read-only vector of `Int32` with one entry per node. An error
with the code `:not_found` where the data set was not opened from a folder of parts.
C: `gnnmg_dataset_export_book`
"""
book(data::Dataset) = tensor(out -> gnnmg_dataset_export_book(data, out))

info(data::Dataset) = ask(gnnmg_dataset_get_info, gnnmg_dataset_info, data)

"""
    names(data)

`(name, features, labels)`: of the data set and of the node tensors with features and labels, ""
where there are none. C: `gnnmg_dataset_get_names`
"""
function Base.names(data::Dataset)
    outs = [Ref{Cstring}(C_NULL) for _ in 1:3]
    name, features, labels = lock(TEXTS) do
        check(gnnmg_dataset_get_names(data, outs...))
        map(out -> unsafe_string(out[]), outs)
    end
    return (name = name, features = features, labels = labels)
end

# ---- splits

"""
    splits(data)

All splits: `[(name, index, num_train, num_validation, num_test), ...]`.
C: `gnnmg_dataset_get_split_info`
"""
function splits(data::Dataset)
    about = blank(gnnmg_split_info)
    found = listed((i, name) -> gnnmg_dataset_get_split_info(data, i, name, about),
                   () -> facts(about[]))
    return [merge((name = name,), sizes) for (name, sizes) in found]
end

"""
    select_split(data, name = nothing, index = 0)

A data set of the same data with another split chosen; without a name, of those with the first one's.
Both share graph, features and labels; splits and weights that one gets later do not change the other.
C: `gnnmg_dataset_select_split`
"""
function select_split(data::Dataset, name = nothing, index::Integer = 0)
    selected = make(out -> gnnmg_dataset_select_split(data, or_null(name), index, out), Dataset)
    selected.context = data.context
    return selected
end

"""
    add_split!(data, name; train, validation = [], test = [])

Adds a split of given ids and chooses it. C: `gnnmg_dataset_add_split`
"""
function add_split!(data::Dataset, name::AbstractString; train, validation = Int64[], test = Int64[])
    parts = (longs(train), longs(validation), longs(test))
    check(gnnmg_dataset_add_split(data, name, parts[1], length(parts[1]), parts[2], length(parts[2]),
                                  parts[3], length(parts[3])))
    return data
end

"""
    add_random_split!(data, name; settings...)

Draws a split of the labeled nodes, adds it and chooses it:

$(fields_of(:split))

C: `gnnmg_dataset_add_random_split`
"""
function add_random_split!(data::Dataset, name::AbstractString; settings...)
    check(gnnmg_dataset_add_random_split(data, name, settings_text(settings)))
    return data
end

"""
    add_folds!(data, name; settings...)

Cuts the labeled nodes or graphs into folds and adds a split for each:

$(fields_of(:folds))

C: `gnnmg_dataset_add_folds`
"""
function add_folds!(data::Dataset, name::AbstractString; settings...)
    check(gnnmg_dataset_add_folds(data, name, settings_text(settings)))
    return data
end

"""
    split_ids(data, part)

The ids of a part, `:train`, `:validation` or `:test`, of the chosen split, ascending.
C: `gnnmg_dataset_export_split`
"""
split_ids(data::Dataset, part) = tensor(out -> gnnmg_dataset_export_split(data, part, out))

# ---- labels and weights

"""
    labels(data)
    labels(batch)

Classes, -1 for none, or `[rows, targets]` of numbers, NaN for none; of a mini-batch those of its
seeds. C: `gnnmg_dataset_export_labels`, `gnnmg_batch_export_labels`
"""
labels(data::Dataset) = tensor(out -> gnnmg_dataset_export_labels(data, out))

"""
    graph_ptr(data)
    graph_ptr(batch)

Where the nodes of each graph begin in a data set or mini-batch of many.
C: `gnnmg_dataset_export_graph_ptr`, `gnnmg_batch_export_graph_ptr`
"""
graph_ptr(data::Dataset) = tensor(out -> gnnmg_dataset_export_graph_ptr(data, out))

"""
    set_class_weights!(data, weights)

Sets the weight of each class in a loss; `nothing`: equal weights.
C: `gnnmg_dataset_set_class_weights`
"""
function set_class_weights!(data::Dataset, weights::AbstractVector{<:Real})
    numbers = convert(Vector{Float64}, weights)
    check(gnnmg_dataset_set_class_weights(data, numbers, length(numbers)))
    return data
end
function set_class_weights!(data::Dataset, ::Nothing)
    check(gnnmg_dataset_set_class_weights(data, C_NULL, 0))
    return data
end

"""
    balance_classes!(data)

Sets class weights by which every class counts the same over the training part of the chosen
split. C: `gnnmg_dataset_balance_classes`
"""
balance_classes!(data::Dataset) = (check(gnnmg_dataset_balance_classes(data)); data)

"""
    set_sample_weights!(data, weights)

Sets the weight of each node in a loss; `nothing`: equal weights.
C: `gnnmg_dataset_set_sample_weights`
"""
function set_sample_weights!(data::Dataset, weights::AbstractVector)
    reading(tensor -> check(gnnmg_dataset_set_sample_weights(data, tensor)), weights)
    return data
end
function set_sample_weights!(data::Dataset, ::Nothing)
    check(gnnmg_dataset_set_sample_weights(data, C_NULL))
    return data
end

"""
    class_weights(data)
    sample_weights(data)

The weights that were set. C: `gnnmg_dataset_export_class_weights`,
`gnnmg_dataset_export_sample_weights`
"""
class_weights(data::Dataset) = tensor(out -> gnnmg_dataset_export_class_weights(data, out))
"See [`class_weights`](@ref)."
sample_weights(data::Dataset) = tensor(out -> gnnmg_dataset_export_sample_weights(data, out))
