# Optimizers, for custom loops.

mutable struct Optimizer <: Object{gnnmg_optimizer}
    token::Ptr{gnnmg_optimizer}
    trainer::Any # owner, or nothing
    Optimizer(token::Ptr{gnnmg_optimizer}) = finalizer(collected, new(token, nothing))
end
free(token::Ptr{gnnmg_optimizer}) = gnnmg_optimizer_free(token)

"""
    Optimizer(model; settings...)
    Optimizer(trainer)

The optimizer of a custom loop; or that of a trainer, of which [`save`](@ref) and [`load!`](@ref) write
and read the state between two calls of the trainer's. In a job of several processes all call them,
and the first one writes and reads.

$(fields_of(:optimizer))

C: `gnnmg_optimizer_create`, `gnnmg_trainer_get_optimizer`
"""
function Optimizer(model::Model; settings...)
    text = settings_text(settings)
    return make(out -> gnnmg_optimizer_create(model, text, out), Optimizer)
end

"""
    step!(optimizer)
    step!(trainer; timeout)

One update from the gradients as they stand; afterwards they are 0 again. Of a trainer: one step on all
ranks, which answers its exact loss, `nothing` after the last step of the last epoch, or
[`pending`](@ref) when a `timeout` in seconds is over.

C: `gnnmg_optimizer_step`, `gnnmg_trainer_step`
"""
step!(optimizer::Optimizer) = (check(gnnmg_optimizer_step(optimizer)); optimizer)

"""
    learning_rate(optimizer)
    set_learning_rate!(optimizer, rate)

C: `gnnmg_optimizer_learning_rate`, `gnnmg_optimizer_set_learning_rate`
"""
learning_rate(optimizer::Optimizer) = number(Float64, gnnmg_optimizer_learning_rate, optimizer)
"See [`learning_rate`](@ref)."
function set_learning_rate!(optimizer::Optimizer, rate::Real)
    check(gnnmg_optimizer_set_learning_rate(optimizer, rate))
    return optimizer
end

function save(optimizer::Optimizer, path::AbstractString; timeout = nothing, settings...)
    text = settings_text(settings)
    call = timeout_ms -> gnnmg_optimizer_save(optimizer, path, text, timeout_ms)
    return awaited(call, cancelling(optimizer), timeout)
end
function load!(optimizer::Optimizer, path::AbstractString; timeout = nothing, settings...)
    text = settings_text(settings)
    call = timeout_ms -> gnnmg_optimizer_load(optimizer, path, text, timeout_ms)
    return awaited(call, cancelling(optimizer), timeout)
end
cancelling(optimizer::Optimizer) = () -> optimizer.trainer === nothing || cancel(optimizer.trainer)
