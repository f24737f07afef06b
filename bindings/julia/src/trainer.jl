# Trainers: the whole loop over one or many ranks.

mutable struct Trainer <: Object{gnnmg_trainer}
    token::Ptr{gnnmg_trainer}
    sampling::Union{Closure, Nothing} # closure of the sampler
    epochs::Union{Closure, Nothing} # closure of the last started training
    loss::Union{Closure, Nothing} # closure of set_loss!()
    Trainer(token::Ptr{gnnmg_trainer}) = finalizer(collected, new(token, nothing, nothing, nothing))
end
free(token::Ptr{gnnmg_trainer}) = gnnmg_trainer_free(token)

closures(trainer::Trainer) = (trainer.sampling, trainer.epochs, trainer.loss)

"""
    Trainer(model, dataset[, sampler]; comm = nothing, settings...)

The whole loop: order, sampling, gradients, updates, evaluation, the best weights kept. Each rank has a
thread of the library's, a replica of the model and a loader of its own. With a `comm` among processes,
each of them makes a trainer, and these train one model together. Without a sampler each node draws 10
neighbors a layer, or graphs of a data set of many are taken whole. Settings:

$(fields_of(:trainer))

C: `gnnmg_trainer_create`
"""
function Trainer(model::Model, data::Dataset, sampler::Union{Sampler, Nothing} = nothing; comm = nothing,
                 settings...)
    text = settings_text(settings)
    trainer = make(Trainer) do out
        gnnmg_trainer_create(model, data, or_null(sampler), or_null(comm), C_NULL, text, out)
    end
    trainer.sampling = sampler === nothing ? nothing : sampler.closure
    return trainer
end

Model(trainer::Trainer) = make(out -> gnnmg_trainer_get_model(trainer, out), Model)

"""
    train!([f,] trainer; slices = true)

Trains the remaining epochs, and calls `f(epoch)` after each, with a named tuple of:

$(fields_of(gnnmg_epoch_info))

An exception of `f` ends training, and is the `cause` of the error. Ctrl-C cancels training; another
`train!` continues it.

```julia
train!(trainer) do epoch
    println("epoch \$(epoch.epoch + 1)  loss \$(epoch.train_loss)")
end
```

With `slices = false` the whole training is one call of the library: other tasks of the thread, the
collector on other threads, and Ctrl-C wait until it ends. That saves nothing but a wake-up in 10 ms.

C: `gnnmg_trainer_start` and `gnnmg_trainer_wait`, or `gnnmg_trainer_run`
"""
function train!(f, trainer::Trainer; slices = true)
    slices || return run_whole(f, trainer)
    start!(f, trainer)
    wait(trainer)
    return trainer
end
train!(trainer::Trainer; slices = true) = train!(nothing, trainer; slices = slices)

function run_whole(f, trainer)
    await(_ -> launch(f, trainer, gnnmg_trainer_run), () -> cancel(trainer), nothing, Causes(trainer))
    return trainer
end

"The closures of a trainer when they are asked for: starting it has made another one."
struct Causes
    trainer::Trainer
end
Base.iterate(causes::Causes, state...) = iterate(closures(causes.trainer), state...)

function launch(f, trainer, call)
    trainer.epochs = f === nothing ? nothing : Closure(f)
    f === nothing && return call(trainer, C_NULL, C_NULL, C_NULL)
    root = keep(trainer.epochs)
    return call(trainer, ON_EPOCH[], pointer_from_objref(root), ON_RELEASE[])
end

"""
    start!([f,] trainer)

Starts the ranks on the remaining epochs, and returns at once. Call `wait(trainer)` next, which
calls `f`. C: `gnnmg_trainer_start`
"""
function start!(f, trainer::Trainer)
    check(launch(f, trainer, gnnmg_trainer_start))
    return trainer
end
start!(trainer::Trainer) = start!(nothing, trainer)

# Waits of all calls of a trainer.
on_ranks(trainer, call, timeout) = awaited(call, () -> cancel(trainer), timeout, Causes(trainer))

"""
    wait(trainer; timeout)

Waits for the end of training that was started, and calls its closure meanwhile. With a `timeout` in
seconds it may answer [`pending`](@ref). C: `gnnmg_trainer_wait`
"""
function Base.wait(trainer::Trainer; timeout = nothing)
    return on_ranks(trainer, timeout_ms -> gnnmg_trainer_wait(trainer, timeout_ms), timeout)
end

"""
    stop(trainer)

Asks for an orderly end, from any task or thread: all ranks end after the same step, `train!` returns,
and another one goes on from there. C: `gnnmg_trainer_stop`
"""
stop(trainer::Trainer) = gnnmg_trainer_stop(trainer)
cancel(trainer::Trainer) = gnnmg_trainer_cancel(trainer)

"""
    progress(trainer)

Where training is, from any task or thread, as a named tuple:

$(fields_of(gnnmg_progress_info))

C: `gnnmg_trainer_progress`
"""
progress(trainer::Trainer) = ask(gnnmg_trainer_progress, gnnmg_progress_info, trainer)

"""
    rank_info(trainer, index)

Times of one of this process's ranks, counted from 1, and the bytes that its GPU has read over the
bus: in the current epoch, or, before its first step is done, in the previous one. As a named tuple:

$(fields_of(gnnmg_rank_info))

C: `gnnmg_trainer_get_rank_info`
"""
rank_info(trainer::Trainer, index::Integer) =
    ask(gnnmg_trainer_get_rank_info, gnnmg_rank_info, trainer, index - 1)

"""
    rank_info(trainer)

The same of all ranks of this process, a vector in their order.

C: `gnnmg_trainer_get_rank_info`
"""
function rank_info(trainer::Trainer)
    ranks = [rank_info(trainer, 1)]
    while true
        try
            push!(ranks, rank_info(trainer, length(ranks) + 1))
        catch failure
            failure isa GNNMGError && failure.code == :not_found || rethrow()
            return ranks
        end
    end
end

"""
    memory_info(trainer, gpu_bytes = 0)

The largest need of the training on a GPU with `gpu_bytes` of memory, which need not exist; 0: with
the free memory of the first rank's GPU. As a named tuple:

$(fields_of(gnnmg_memory_info))

C: `gnnmg_trainer_get_memory_info`
"""
memory_info(trainer::Trainer, gpu_bytes::Integer = 0) =
    ask(gnnmg_trainer_get_memory_info, gnnmg_memory_info, trainer, gpu_bytes)

"""
    set_loss!(f, trainer)

Replaces the loss of training by `f`, which runs once a mini-batch, one call at a time, while a call
waits for the trainer. `f(batch)` fills `batch.gradient` (0 before) with the gradient of the sum of the
weighted losses with respect to `batch.logits`, and returns that sum, or it and the number that divides
both, which is `batch.weight` otherwise. Rows of `logits`, `gradient` and `targets` are nodes or graphs,
`seeds` their ids; `classes` are counted from 0, -1 for none; `targets` are `nothing` for classes, and
NaN for none; `weights` are of the labels, in their shape. The arrays live as long as the call.

Evaluations use the loss of the settings. The trainer works on the CPU, and has not trained or evaluated
yet. With `nothing` for `f` the loss is that of the settings.

```julia
set_loss!(trainer) do batch # half the squared error
    batch.gradient .= batch.logits .- batch.targets
    return sum(abs2, batch.gradient) / 2
end
```

C: `gnnmg_trainer_set_loss`
"""
function set_loss!(f, trainer::Trainer)
    if f === nothing
        check(gnnmg_trainer_set_loss(trainer, C_NULL, C_NULL, C_NULL))
        trainer.loss = nothing
        return trainer
    end
    closure = Closure(f)
    root = keep(closure)
    check(gnnmg_trainer_set_loss(trainer, ON_LOSS[], pointer_from_objref(root), ON_RELEASE[]))
    trainer.loss = closure
    return trainer
end

"""
    set_learning_rate!(trainer, rate)

Sets the learning rate, in place of that of the settings and their schedule, from the next epoch or the
next [`step!`](@ref) on; also in the closure of `train!`. All ranks use it; several processes that set
different rates end with a mismatch. Checkpoints keep it, those at the end of an epoch as it was before
the closure. C: `gnnmg_trainer_set_learning_rate`
"""
function set_learning_rate!(trainer::Trainer, rate::Real)
    check(gnnmg_trainer_set_learning_rate(trainer, rate))
    return trainer
end

"""
    set_record!(trainer, kind, path)

Has the trainer write its figures, epoch by epoch, from its next start on: `:json_lines` to a file,
`:tensorboard` to a folder; `nothing`: no longer. C: `gnnmg_trainer_set_record`
"""
function set_record!(trainer::Trainer, kind, path)
    check(gnnmg_trainer_set_record(trainer, kind, or_null(path)))
    return trainer
end

"""
    set_checkpoints!(trainer, folder; settings...)

Has the trainer write checkpoints, from its next start on; `nothing`: no more of them.

$(fields_of(gnnmg_checkpoint_config))

C: `gnnmg_trainer_set_checkpoints`
"""
function set_checkpoints!(trainer::Trainer, folder; settings...)
    config = configure(gnnmg_checkpoint_config, settings)
    check(gnnmg_trainer_set_checkpoints(trainer, or_null(folder), config))
    return trainer
end

function save(trainer::Trainer, path::AbstractString; timeout = nothing)
    return on_ranks(trainer, timeout_ms -> gnnmg_trainer_save(trainer, path, timeout_ms), timeout)
end
function load!(trainer::Trainer, path::AbstractString; timeout = nothing)
    return on_ranks(trainer, timeout_ms -> gnnmg_trainer_load(trainer, path, timeout_ms), timeout)
end

function Optimizer(trainer::Trainer)
    optimizer = make(out -> gnnmg_trainer_get_optimizer(trainer, out), Optimizer)
    optimizer.trainer = trainer
    return optimizer
end

function step!(trainer::Trainer; timeout = nothing)
    loss = Ref(0.0)
    status = await(timeout_ms -> gnnmg_trainer_step(trainer, loss, timeout_ms), () -> cancel(trainer),
                   timeout, Causes(trainer))
    status == GNNMG_PENDING && return pending
    return status == GNNMG_END ? nothing : loss[]
end

function evaluate(trainer::Trainer, part; timeout = nothing)
    metrics = blank(gnnmg_metrics)
    call = timeout_ms -> gnnmg_trainer_evaluate(trainer, part, metrics, C_NULL, timeout_ms)
    return on_ranks(trainer, call, timeout) === pending ? pending : facts(metrics[])
end

function confusion(trainer::Trainer, part; timeout = nothing)
    metrics = blank(gnnmg_metrics)
    call = (out, timeout_ms) -> gnnmg_trainer_evaluate(trainer, part, metrics, out, timeout_ms)
    matrix = awaited_tensor(call, () -> cancel(trainer), timeout, Causes(trainer))
    return matrix === pending ? pending : (facts(metrics[]), matrix)
end

function embed(trainer::Trainer; timeout = nothing)
    call = (out, timeout_ms) -> gnnmg_trainer_embed(trainer, 0, C_NULL, out, timeout_ms)
    return awaited_tensor(call, () -> cancel(trainer), timeout, Causes(trainer))
end
function embed(trainer::Trainer, path::AbstractString; timeout = nothing)
    call = timeout_ms -> gnnmg_trainer_embed(trainer, 0, path, C_NULL, timeout_ms)
    return on_ranks(trainer, call, timeout)
end
