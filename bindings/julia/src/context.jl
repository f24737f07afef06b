# Contexts: threads, memory limit, options, messages.

mutable struct Context <: Object{gnnmg_context}
    token::Ptr{gnnmg_context}
    cancels::Threads.Atomic{Int} # number of cancels so far
    Context(token::Ptr{gnnmg_context}) = finalizer(collected, new(token, Threads.Atomic{Int}(0)))
end
free(token::Ptr{gnnmg_context}) = gnnmg_context_free(token)

"""
    Context(; settings...)
    Context(f; settings...)

Where everything else comes from. Contexts share nothing, and objects of two do not mix. The second
form calls `f(context)` and closes the context. Settings, of which 0 is the default:

$(fields_of(gnnmg_context_config))

C: `gnnmg_context_create`
"""
function Context(; settings...)
    config = configure(gnnmg_context_config, settings)
    version = Lib.version_number(HEADER_VERSION)
    return make(out -> gnnmg_context_create(version, config, out), Context)
end
Context(f; settings...) = closing(f, Context(; settings...))

"""
    info(object)

Facts about a context, data set, loader, mini-batch or model, as a named tuple.

A context:

$(fields_of(gnnmg_context_info))

A data set:

$(fields_of(gnnmg_dataset_info))

A loader:

$(fields_of(gnnmg_loader_info))

A mini-batch:

$(fields_of(gnnmg_batch_info))

A model:

$(fields_of(gnnmg_model_info))
"""
info(context::Context) = ask(gnnmg_context_get_info, gnnmg_context_info, context)

"""
    devices(context)

The GPUs that this process sees, with their free memory as it is now. None is no error: see
`why_no_device`. Of each, as a named tuple:

$(fields_of(gnnmg_device_info))

C: `gnnmg_context_num_devices`, `gnnmg_context_get_device_info`
"""
devices(context::Context) = [device(context, i) for i in 1:count_devices(context).count]

"""
    device(context, index)

One of `devices(context)`, counted from 1. C: `gnnmg_context_get_device_info`
"""
function device(context::Context, index::Integer)
    about = ask(gnnmg_context_get_device_info, gnnmg_device_info, context, index - 1)
    return merge(about, (name = text_in(about.name), bus_id = text_in(about.bus_id)))
end
text_in(field) = String(UInt8[reinterpret(UInt8, c) for c in Iterators.takewhile(!iszero, field)])

"""
    why_no_device(context)

The reason why there is no GPU, such as a missing driver, plug-in or device, and a remedy; "" if
there is one.
C: `gnnmg_context_num_devices`
"""
why_no_device(context::Context) = count_devices(context).why

function count_devices(context::Context)
    count, why = Ref{Int64}(0), Ref{Cstring}(C_NULL)
    check(gnnmg_context_num_devices(context, count, why))
    return (count = Int(count[]), why = unsafe_string(why[]))
end

"""
    set_option!(context, key, value)

Sets one of the rare knobs that [`settings_of`](@ref)`(:context)` lists. C: `gnnmg_context_set_option`
"""
function set_option!(context::Context, key::AbstractString, value)
    check(gnnmg_context_set_option(context, key, string(value)))
    return context
end

"""
    option(context, key)

The value of an option, as text. C: `gnnmg_context_get_option`
"""
function option(context::Context, key::AbstractString)
    return text_of((text, capacity, needed) -> gnnmg_context_get_option(context, key, text, capacity, needed))
end

"""
    settings_of(subject)

The settings of a subject: `[(name, type, default, values, help), ...]`. Those of `:context` are
for [`set_option!`](@ref); those of `:model`, `:trainer` and so on are keywords, which docstrings list. C: `gnnmg_setting_get_info`
"""
function settings_of(subject)
    found, about = NamedTuple[], blank(gnnmg_setting_info)
    while check(gnnmg_setting_get_info(string(subject), length(found), about)) == GNNMG_OK
        of = about[]
        push!(found, (name = unsafe_string(of.name), type = Symbol(unsafe_string(of.type)),
                      default = unsafe_string(of.default_value), values = unsafe_string(of.values),
                      help = unsafe_string(of.help)))
    end
    return found
end

"""
    lend(context[, seconds])

Lends this thread for custom samplers, so that they run on more than one: for some seconds, or until
the context is closed or `cancel`led, which is an error with the code `:cancelled`. To be called in
a task of its own by `Threads.@spawn`. C: `gnnmg_context_lend`
"""
function lend(context::Context, seconds = nothing)
    deadline = seconds === nothing ? Inf : time() + seconds
    status, before, round = Ref(GNNMG_OK), context.cancels[], 0
    while isopen(context) && time() < deadline
        # Each slice is a separate call, and a cancel may come between two.
        context.cancels[] == before || throw(cancelled())
        try
            slice(timeout_ms -> gnnmg_context_lend(context, timeout_ms), SLICE_MS, status)
        catch
            isopen(context) ? rethrow() : return nothing
        end
        status[] == GNNMG_END && return nothing
        let_others_run(round += 1)
    end
end

function cancelled()
    return GNNMGError(:cancelled, "the context was canceled", nothing, 0, GNNMG_ERR_CANCELLED, nothing)
end

"""
    cancel(object)

Cancels the work of an object, from any task or thread; the waiting call throws an error with the
code `:cancelled`. For a context that is opening and saving data sets, `evaluate` and `embed` of
models, joining of jobs, and lent threads; for a loader its mini-batches until `start!`. A
communicator is spent afterwards, and other ranks get `:aborted`. For a trainer another `train!`
continues from the last step. On closed objects it does nothing.
"""
function cancel(context::Context)
    Threads.atomic_add!(context.cancels, 1)
    return gnnmg_context_cancel(context)
end

"""
    messages(context)

Takes all messages from the queue: a vector of `(level, unix_time_ns, dropped_before, text)`. The
library itself never prints. C: `gnnmg_log_next`
"""
function messages(context::Context)
    found = []
    about, needed, buffer = blank(gnnmg_log_info), Ref{Csize_t}(0), UInt8[]
    while check(gnnmg_log_next(context, about, buffer, length(buffer), needed)) == GNNMG_OK
        if needed[] > length(buffer) # the message has stayed in the queue
            resize!(buffer, needed[])
        else
            push!(found, merge(facts(about[]), (text = String(buffer[1:(needed[] - 1)]),)))
        end
    end
    return found
end

"""
    copy_tensor!(context, into, from)

Fills an array or a tensor with the elements of another one of the same type and sizes. Each lies in
main memory or on a GPU of the context's; an `Array` of more than one dimension has those of a tensor
in reverse. C: `gnnmg_tensor_copy`
"""
function copy_tensor!(context::Context, into, from)
    source = from isa Array ? filling : reading # `into` has Julia's order too
    source(from) do have
        filling(want -> check(gnnmg_tensor_copy(context, have, want)), into)
    end
    return into
end

"""
    host(context, tensor)

A copy in main memory: an ordinary array of the same sizes. C: `gnnmg_tensor_copy`
"""
function host(context::Context, x::GpuTensor{T, N}) where {T, N}
    turned = copy_tensor!(context, Array{T, N}(undef, reverse(x.size)), x)
    return N > 1 ? permutedims(turned, ntuple(i -> N + 1 - i, N)) : turned
end
host(::Context, x::AbstractArray) = Array(x)
