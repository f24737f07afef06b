# Loaders: the mini-batches of an epoch, their seeds and order.

mutable struct Loader <: Object{gnnmg_loader}
    token::Ptr{gnnmg_loader}
    closure::Union{Closure, Nothing} # the closure of a custom sampler
    Loader(token::Ptr{gnnmg_loader}) = finalizer(collected, new(token, nothing))
end
free(token::Ptr{gnnmg_loader}) = gnnmg_loader_free(token)

function with_closure(object, sampler)
    object.closure = sampler.closure
    return object
end

"""
    Loader(dataset, sampler; settings...)
    Loader(sampler, seeds; dataset = nothing, settings...)

The mini-batches of an epoch, of a part of the data set's split or of given seeds, made ahead on
threads of its own:

$(fields_of(:loader))

Iterating gives the [`Batch`](@ref)es of the rest of the epoch; the next loop is the next epoch.

```julia
for batch in loader
    x, y = features(batch), labels(batch)
end
```

C: `gnnmg_loader_create`, `gnnmg_loader_create_from_seeds`
"""
function Loader(data::Dataset, sampler::Sampler; settings...)
    text = settings_text(settings)
    loader = make(out -> gnnmg_loader_create(data, sampler, C_NULL, text, out), Loader)
    return with_closure(loader, sampler)
end
function Loader(sampler::Sampler, seeds::AbstractVector; dataset = nothing, settings...)
    text, nodes = settings_text(settings), longs(seeds)
    loader = make(Loader) do out
        gnnmg_loader_create_from_seeds(or_null(dataset), sampler, 0, nodes, length(nodes), C_NULL,
                                       C_NULL, text, out)
    end
    return with_closure(loader, sampler)
end

info(loader::Loader) = ask(gnnmg_loader_get_info, gnnmg_loader_info, loader)

"""
    start!(loader; epoch = 0, step = 0)

Goes to a step of an epoch; also the way on after an error or a `cancel`. C: `gnnmg_loader_start`
"""
function start!(loader::Loader; epoch::Integer = 0, step::Integer = 0)
    check(gnnmg_loader_start(loader, epoch, step))
    return loader
end

"""
    next!(loader; timeout)

The next mini-batch of this rank; `nothing`, once, at the end of an epoch; or [`pending`](@ref) when a
`timeout` in seconds is over. C: `gnnmg_loader_next`
"""
function next!(loader::Loader; timeout = nothing)
    out = Ref{Ptr{gnnmg_batch}}(C_NULL)
    status = await(timeout_ms -> gnnmg_loader_next(loader, out, timeout_ms), () -> cancel(loader),
                   timeout, (loader.closure,), () -> close(Batch(out[])))
    status == GNNMG_OK && return Batch(out[])
    return status == GNNMG_PENDING ? pending : nothing
end

function Base.iterate(loader::Loader, _ = nothing)
    batch = next!(loader)
    return batch === nothing ? nothing : (batch, nothing)
end
Base.IteratorSize(::Type{Loader}) = Base.SizeUnknown()
Base.eltype(::Type{Loader}) = Batch

cancel(loader::Loader) = gnnmg_loader_cancel(loader)
