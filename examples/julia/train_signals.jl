# Ctrl-C and SIGTERM, which schedulers send before they end a job, for `train`.
#
# Julia turns Ctrl-C into an exception. A thread of Julia waits for SIGTERM and ends the process.
# But a signal is first delivered to the main thread, if that thread accepts it, and libuv, which
# does Julia's input and output, handles it there.

const INTERRUPTED = Ref(false)

on_signal(handle::Ptr{Cvoid}, number::Cint) = (INTERRUPTED[] = true; nothing)

# Call it on the main thread. Afterwards `INTERRUPTED[]` is true once there was a SIGTERM.
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
