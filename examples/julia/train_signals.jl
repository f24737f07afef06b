# Ctrl-C and SIGTERM, which schedulers send before they end a job, for `train`.
#
# Julia turns Ctrl-C into an exception. A thread of Julia waits for SIGTERM and ends the process.
# But a signal is first delivered to the main thread, if that thread accepts it, and libuv, which
# does Julia's input and output, handles it there.

const INTERRUPTS = Ref(0) # 1: stop in an orderly way, 2: at once
interrupted() = INTERRUPTS[] > 0
twice() = INTERRUPTS[] > 1

on_signal(handle::Ptr{Cvoid}, number::Cint) = (INTERRUPTS[] += 1; nothing)

# Call it on the main thread. Afterwards `INTERRUPTS` counts each SIGTERM; `hearing` counts Ctrl-C.
function hear_sigterm()
    kind, sigterm, unblock = 16, 15, 1 # UV_SIGNAL, SIGTERM, SIG_UNBLOCK
    handle = Libc.calloc(1, ccall(:uv_handle_size, Csize_t, (Cint,), kind)) # Julia frees it at its end
    ccall(:uv_signal_init, Cint, (Ptr{Cvoid}, Ptr{Cvoid}), Base.eventloop(), handle)
    ccall(:uv_signal_start, Cint, (Ptr{Cvoid}, Ptr{Cvoid}, Cint), handle,
          @cfunction(on_signal, Cvoid, (Ptr{Cvoid}, Cint)), sigterm)
    ccall(:uv_unref, Cvoid, (Ptr{Cvoid},), handle) # nobody waits for it
    set = zeros(UInt8, 128)
    ccall(:sigaddset, Cint, (Ptr{UInt8}, Cint), set, sigterm)
    ccall(:pthread_sigmask, Cint, (Cint, Ptr{UInt8}, Ptr{Cvoid}), unblock, set, C_NULL)
    Base.exit_on_sigint(false)
end

# Calls `f` until it answers something else than `pending`, and counts the exceptions of Ctrl-C. `each` is called in
# between and answers whether to give up, which is an InterruptException.
function hearing(f, each)
    while true
        try
            while true
                result = disable_sigint(f)
                result === pending || return result
                disable_sigint(each) && break
            end
        catch failure
            failure isa InterruptException || rethrow()
            INTERRUPTS[] += 1
            continue
        end
        throw(InterruptException())
    end
end
