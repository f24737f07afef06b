# Closures and arrays that the library keeps. It calls back only on threads of this process that are
# inside one of its calls, so every thread is known to Julia.

"What the library holds: kept from being collected until it is given back."
mutable struct Root
    value::Any
    release::Any # called when it is freed, or nothing
    given_back::Bool
end

const ROOTS = Root[]
const ROOTS_LOCK = Threads.SpinLock()

# A root stays in the list until the next keep(): a release may run in a finalizer, which must not
# wait for a lock.
function keep(value, release = nothing)
    root = Root(value, release, false)
    lock(ROOTS_LOCK)
    try
        filter!(root -> !root.given_back, ROOTS)
        push!(ROOTS, root)
    finally
        unlock(ROOTS_LOCK)
    end
    return root
end

"How many arrays and closures the library holds at the moment."
function lent()
    lock(ROOTS_LOCK)
    try
        return count(root -> !root.given_back, ROOTS)
    finally
        unlock(ROOTS_LOCK)
    end
end

function on_release(user_data::Ptr{Cvoid})
    root = unsafe_pointer_to_objref(user_data)::Root
    release = root.release
    root.value = root.release = nothing
    root.given_back = true
    if release !== nothing
        try
            release()
        catch failure
            # No caller can get the exception.
        end
    end
    return nothing
end

"A closure, and what it has thrown, which cannot pass through C."
mutable struct Closure
    f::Any
    failure::Union{CapturedException, Nothing}
end
Closure(f) = Closure(f, nothing)

# The task whose closure runs, by thread: other tasks of the thread must not wait in the library in
# the meantime. A thread reads and writes only its own entry; a longer list replaces this one when a
# thread appears that did not exist at the start.
const Called = Base.RefValue{Union{Task, Nothing}}
const CALLED = Ref(Called[])
const CALLED_LOCK = Threads.SpinLock()

function called()
    thread, entries = Threads.threadid(), CALLED[]
    return thread <= length(entries) ? entries[thread] : one_more_thread(thread)
end

@noinline function one_more_thread(thread)
    lock(CALLED_LOCK)
    try
        entries = CALLED[]
        missed = [Called(nothing) for _ in (length(entries) + 1):thread]
        CALLED[] = vcat(entries, missed)
        return CALLED[][thread]
    finally
        unlock(CALLED_LOCK)
    end
end

function guarded(work, closure::Closure)::Int32
    here = called()
    outer = here[]
    here[] = current_task()
    try
        Base.reenable_sigint(work)
        return 0
    catch failure
        closure.failure = CapturedException(failure, catch_backtrace())
        return 1
    finally
        here[] = outer
    end
end

closure_of(user_data) = (unsafe_pointer_to_objref(user_data)::Root).value::Closure

function on_layer(layer::Ptr{gnnmg_layer_info}, targets::Ptr{Int64}, num_targets::Int64,
                  sink::Ptr{gnnmg_sink}, user_data::Ptr{Cvoid})::Int32
    closure = closure_of(user_data)
    return guarded(closure) do
        asked = unsafe_load(layer)
        about = (layer = Int(asked.layer), epoch = Int(asked.epoch), batch = Int(asked.batch),
                 key = asked.key)
        ids = copy(unsafe_wrap(Array, targets, num_targets)) # a copy, valid after the call
        closure.f(about, ids, Sink(sink))
    end
end

function on_epoch(epoch::Ptr{gnnmg_epoch_info}, user_data::Ptr{Cvoid})::Int32
    closure = closure_of(user_data)
    return guarded(() -> closure.f(facts(unsafe_load(epoch))), closure)
end

function on_loss(batch::Ptr{gnnmg_loss_batch}, user_data::Ptr{Cvoid})::Int32
    closure = closure_of(user_data)
    return guarded(closure) do
        given = unsafe_load(batch)
        type = fact(given.dtype) == :f64 ? Float64 : Float32
        rows, columns = Int(given.num_rows), Int(given.num_columns)
        matrix(T, data) = PermutedDimsArray(unsafe_wrap(Array, Ptr{T}(data), (columns, rows)), (2, 1))
        list(T, data) = unsafe_wrap(Array, Ptr{T}(data), rows)
        classes = given.classes != C_NULL
        result = closure.f((seeds = list(Int64, given.seeds), logits = matrix(type, given.logits),
                            classes = classes ? list(Int64, given.classes) : nothing,
                            targets = classes ? nothing : matrix(type, given.targets),
                            weights = (classes ? list : matrix)(Float64, given.weights),
                            gradient = matrix(type, given.gradient), weight = given.weight))
        loss, weight = result isa Tuple ? result : (result, given.weight)
        set_field!(batch, :loss, Float64(loss))
        set_field!(batch, :weight, Float64(weight))
    end
end

function set_field!(address::Ptr{T}, name::Symbol, value) where {T}
    at = fieldoffset(T, findfirst(==(name), fieldnames(T)))
    unsafe_store!(Ptr{typeof(value)}(address + at), value)
    return nothing
end

const ON_RELEASE = Ref{Ptr{Cvoid}}(C_NULL)
const ON_LOSS = Ref{Ptr{Cvoid}}(C_NULL)
const ON_LAYER = Ref{Ptr{Cvoid}}(C_NULL)
const ON_EPOCH = Ref{Ptr{Cvoid}}(C_NULL)

function make_trampolines()
    ON_RELEASE[] = @cfunction(on_release, Cvoid, (Ptr{Cvoid},))
    ON_LAYER[] = @cfunction(on_layer, Int32, (Ptr{gnnmg_layer_info}, Ptr{Int64}, Int64,
                                              Ptr{gnnmg_sink}, Ptr{Cvoid}))
    ON_EPOCH[] = @cfunction(on_epoch, Int32, (Ptr{gnnmg_epoch_info}, Ptr{Cvoid}))
    ON_LOSS[] = @cfunction(on_loss, Int32, (Ptr{gnnmg_loss_batch}, Ptr{Cvoid}))
    CALLED[] = Called[]
    one_more_thread(Threads.nthreads())
    return nothing
end

"""
Throws `failure`, with the exception of a closure as its cause, if there is one. An interrupt in a
closure is thrown as an interrupt.
"""
function blame(failure::GNNMGError, closures)
    failure.status == GNNMG_ERR_CALLBACK || return failure
    for closure in closures
        closure === nothing && continue
        cause = closure.failure
        cause === nothing && continue
        closure.failure = nothing
        cause.ex isa InterruptException && return cause.ex
        return GNNMGError(failure.code, failure.text, failure.rank, failure.errno, failure.status,
                          cause)
    end
    return failure
end
