# Communicators: collective operations of ranks.

mutable struct Comm <: Object{gnnmg_comm}
    token::Ptr{gnnmg_comm}
    Comm(token::Ptr{gnnmg_comm}) = finalizer(collected, new(token))
end
free(token::Ptr{gnnmg_comm}) = gnnmg_comm_free(token)

joining(settings) = configure(gnnmg_comm_config, settings)

"""
    comm_group(context, world_size; settings...)

A communicator among tasks of this process, for custom loops: a vector with the end of each rank.
Ranks wait for each other, so each has a thread (`Threads.@spawn`, with as many threads) or at least a
task of its own. C: `gnnmg_comm_create_group`
"""
function comm_group(context::Context, world_size::Integer; settings...)
    config = joining(settings)
    1 <= world_size <= 256 || throw(ArgumentError("world_size: expected 1 to 256, found $world_size"))
    ends = fill(Ptr{gnnmg_comm}(C_NULL), world_size)
    check(gnnmg_comm_create_group(context, world_size, config, ends))
    return map(Comm, ends)
end

"""
    Comm(context; host, interface, token_file, timeout, settings...)

Joins a job of many processes: meets the others at process 0's host and port. Settings:

$(fields_of(gnnmg_comm_config))

`host` is 127.0.0.1, `interface` the one that leads there, and there is no `token_file`, unless they are
given. With a `timeout` in seconds it may answer [`pending`](@ref). `shutdown` it at the end, else the
other processes are aborted. C: `gnnmg_comm_create`
"""
function Comm(context::Context; host = nothing, interface = nothing, token_file = nothing,
              timeout = nothing, settings...)
    config = joining(settings)
    call = (out, timeout_ms) -> gnnmg_comm_create(context, or_null(host), or_null(interface),
                                                  or_null(token_file), config, out, timeout_ms)
    return awaited(Comm, call, () -> cancel(context), timeout)
end

"""
    comm_from_env(context; timeout, settings...)

Joins the job that a launcher has started, as the environment says. C: `gnnmg_comm_create_from_env`
"""
function comm_from_env(context::Context; timeout = nothing, settings...)
    config = joining(settings)
    call = (out, timeout_ms) -> gnnmg_comm_create_from_env(context, config, out, timeout_ms)
    return awaited(Comm, call, () -> cancel(context), timeout)
end

"""
    rank(comm)
    world_size(comm)

C: `gnnmg_comm_rank`, `gnnmg_comm_world_size`
"""
rank(comm::Comm) = Int(number(Int32, gnnmg_comm_rank, comm))
"See [`rank`](@ref)."
world_size(comm::Comm) = Int(number(Int32, gnnmg_comm_world_size, comm))

together(comm, call, timeout) = awaited(call, () -> cancel(comm), timeout)

"""
    all_reduce!(comm, array, operation = :sum; timeout)
    all_reduce(comm, number, operation = :sum)

Puts the ranks' arrays, of one size and type, together element by element: `:sum`, `:mean`, `:min` or
`:max`. Every rank gets the same result, in place. An `Array` of Julia counts as one with its dimensions
reversed where ranks of other languages take part. As all collectives, with a `timeout` in seconds it
may answer [`pending`](@ref), and it may be an error that names the ranks that did not come.
C: `gnnmg_comm_all_reduce`
"""
function all_reduce!(comm::Comm, array, operation = :sum; timeout = nothing)
    return filling(array) do whole
        together(comm, ms -> gnnmg_comm_all_reduce(comm, whole, operation, ms), timeout)
    end
end
"See [`all_reduce!`](@ref)."
function all_reduce(comm::Comm, number::Number, operation = :sum)
    one = [number]
    all_reduce!(comm, one, operation)
    return one[1]
end

"""
    broadcast!(comm, array, root = 0; timeout)

Copies one rank's array to all. C: `gnnmg_comm_broadcast`
"""
function Base.broadcast!(comm::Comm, array::AbstractArray, root::Integer = 0; timeout = nothing)
    return filling(array) do whole
        together(comm, ms -> gnnmg_comm_broadcast(comm, whole, root, ms), timeout)
    end
end

# Calls `f(pointers)` for a list of arrays, one per rank.
function filling_all(f, arrays, pointers = Ptr{gnnmg_tensor}[])
    length(pointers) == length(arrays) && return f(pointers)
    return filling(arrays[length(pointers) + 1]) do pointer
        filling_all(f, arrays, push!(pointers, pointer))
    end
end

function of_each_rank(arrays, comm, what)
    length(arrays) == world_size(comm) && return collect(Any, arrays)
    throw(DimensionMismatch("$(length(arrays)) $what, expected one of each of $(world_size(comm)) ranks"))
end

"""
    all_gather!(comm, input, outputs; timeout)

Gives every rank the arrays of all: `outputs` has an array of the size and type of each rank's input.
C: `gnnmg_comm_all_gather`
"""
function all_gather!(comm::Comm, input, outputs; timeout = nothing)
    theirs = of_each_rank(outputs, comm, "outputs")
    return filling(input) do own
        filling_all(theirs) do all
            together(comm, ms -> gnnmg_comm_all_gather(comm, own, all, ms), timeout)
        end
    end
end

"""
    all_to_all!(comm, inputs, outputs; timeout)

Sends each rank an array and gets one from each. C: `gnnmg_comm_all_to_all`
"""
function all_to_all!(comm::Comm, inputs, outputs; timeout = nothing)
    ours, theirs = of_each_rank(inputs, comm, "inputs"), of_each_rank(outputs, comm, "outputs")
    return filling_all(ours) do sent
        filling_all(theirs) do got
            together(comm, ms -> gnnmg_comm_all_to_all(comm, sent, got, ms), timeout)
        end
    end
end

"""
    barrier(comm; timeout)

Returns when all ranks have called it. C: `gnnmg_comm_barrier`
"""
barrier(comm::Comm; timeout = nothing) = together(comm, ms -> gnnmg_comm_barrier(comm, ms), timeout)

"""
    shutdown(comm; timeout)

The orderly end: waits until all ranks have called it. C: `gnnmg_comm_shutdown`
"""
shutdown(comm::Comm; timeout = nothing) = together(comm, ms -> gnnmg_comm_shutdown(comm, ms), timeout)

cancel(comm::Comm) = gnnmg_comm_cancel(comm)
