# Waiting in slices: Julia's collector stops all threads, and a thread inside a call of C cannot be
# stopped until the call returns. Between two slices other tasks run, and Ctrl-C is noticed.

struct Pending end

"""
    pending

Result of a call with a `timeout` (in seconds) when its time is over: the work goes on, and the same
call with equal arguments continues to wait for it. Until then other calls on the object are errors
with the code `:busy`.
"""
const pending = Pending()

Base.show(io::IO, ::Pending) = print(io, "pending")

const SLICE_MS = 10
const NOT_CALLED = typemin(Int32)

"""
Waits for `call(timeout_ms)` and answers its status, `GNNMG_PENDING` only after `timeout` seconds.
Any exception from outside, such as Ctrl-C, calls `cancel` and collects how the work has ended before
it goes on, or, where nothing can be cancelled, leaves it; `undo` frees a result that came too late.
"""
function await(call, cancel, timeout = nothing, closures = (), undo = () -> nothing)
    deadline = timeout === nothing ? Inf : time() + timeout
    status, round = Ref(GNNMG_PENDING), 0
    try
        while true
            left = deadline - time()
            slice(call, left > 0.001SLICE_MS ? SLICE_MS : max(0, ceil(Int64, 1000left)), status)
            (status[] != GNNMG_PENDING || left <= 0) && return status[]
            let_others_run(round += 1)
        end
    catch failure
        if failure isa GNNMGError
            blamed = blame(failure, closures)
            blamed === failure ? rethrow() : throw(blamed)
        end
        if status[] == GNNMG_PENDING && cancel !== nothing
            cancel()
            drain(call, status)
        end
        status[] == GNNMG_OK && undo()
        rethrow()
    end
end

# A thread whose tasks only yield to each other never starts new tasks that any thread may run: now
# and then a task sleeps.
function let_others_run(round)
    threads_share_tasks() && round % 10 == 0 ? sleep(0.001) : yield()
    return nothing
end

if isdefined(Threads, :threadpoolsize) # Julia 1.9
    threads_share_tasks() = max(Threads.threadpoolsize(:default), Threads.threadpoolsize(:interactive)) > 1
    several_threads() = Threads.threadpoolsize(:default) + Threads.threadpoolsize(:interactive) > 1
else
    threads_share_tasks() = Threads.nthreads() > 1
    several_threads() = Threads.nthreads() > 1
end

# One call, during which an interrupt waits, because it would otherwise be thrown through frames of
# C. The task stays on its thread, where the library knows it, although a closure may switch tasks.
function slice(call, timeout_ms, status)
    task = current_task()
    sticky = task.sticky
    task.sticky = true
    try
        await_turn(task)
        Base.sigatomic_begin()
        try
            status[] = NOT_CALLED # stays, if an argument is refused on the way
            status[] = call(timeout_ms)
            check(status[])
        finally
            Base.sigatomic_end()
        end
    finally
        task.sticky = sticky
    end
end

# A closure that prints lets other tasks run on its thread. They wait here until it has returned.
function await_turn(task)
    here, round = called(), 0
    while here[] !== nothing && here[] !== task
        let_others_run(round += 1)
    end
end

function drain(call, status)
    for round in 1:6000 # a minute
        Base.sigatomic_begin()
        status[] = call(10)
        Base.sigatomic_end()
        status[] == GNNMG_PENDING || return nothing
        let_others_run(round)
    end
end

"What a call that waited has made, or `pending`."
function awaited(::Type{O}, call, cancel, timeout, closures = ()) where {T, O <: Object{T}}
    out = Ref{Ptr{T}}(C_NULL)
    status = await(ms -> call(out, ms), cancel, timeout, closures, () -> close(O(out[])))
    return status == GNNMG_PENDING ? pending : O(out[])
end

"The same of a call that makes nothing."
function awaited(call, cancel, timeout, closures = ())
    return await(call, cancel, timeout, closures) == GNNMG_PENDING ? pending : nothing
end
