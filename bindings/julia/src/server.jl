# Servers of parts of a graph.

mutable struct Server <: Object{gnnmg_server}
    token::Ptr{gnnmg_server}
    context::Union{Context, Nothing} # the context that cancels calls of the server, if known
    Server(token::Ptr{gnnmg_server}) = finalizer(collected, new(token, nothing))
end
free(token::Ptr{gnnmg_server}) = gnnmg_server_free(token)

"""
    Server(context, folder, address; parts, token_file, timeout, settings...)

Has parts of a graph for trainers on other machines, which [`open_served`](@ref) connects. It only reads:
it keeps nothing of a question, any server of a part may answer it, and trainers come and go. The program
gnnmg-server is made of the same code. Answers are given by threads of the library's own.

Opens `parts` of a folder that [`save_parts`](@ref) has written, a vector of numbers counted from 0; all
without it. Features are mapped and read as they are asked for; edges are read into memory. It listens
from `start!(server)` on. `address` is a host and a port, as in "10.0.0.7:7300" or "[::]:7300"; port 0 is
a free one. `token_file` is the secret that clients must know, 32 to 1024 bytes in a file of mode 0600;
there is none on an address of this machine alone. Settings, of which 0 is the default:

$(fields_of(gnnmg_server_config))

Errors have the codes `:range`, for a part that there is not; `:format` and `:checksum`, naming a file.
With a `timeout` in seconds it may answer [`pending`](@ref).

```julia
server = start!(Server(context, "products-parts", "127.0.0.1:7300"))
```

C: `gnnmg_server_create`
"""
function Server(context::Context, folder::AbstractString, address::AbstractString; parts = nothing,
                token_file = nothing, timeout = nothing, settings...)
    config = configure(gnnmg_server_config, settings)
    numbers = parts === nothing ? C_NULL : convert(Vector{Int32}, parts)
    count = parts === nothing ? 0 : length(numbers)
    call = (out, timeout_ms) -> gnnmg_server_create(context, folder, numbers, count, address,
                                                    or_null(token_file), config, out, timeout_ms)
    server = awaited(Server, call, () -> cancel(context), timeout)
    server === pending || (server.context = context)
    return server
end

"""
    set_tls!(server, certificate, key, authority)

Encrypts all traffic and makes the server and its clients prove their identity by certificates:
paths of the PEM files of the server's certificate, its key, and the certificate that signs those of
the clients. `start!` reads them; afterwards this is an error with the code `:busy`.
C: `gnnmg_server_set_tls`
"""
function set_tls!(server::Server, certificate::AbstractString, key::AbstractString,
                  authority::AbstractString)
    check(gnnmg_server_set_tls(server, certificate, key, authority))
    return server
end

"""
    start!(server)

Begins to listen. Errors have the codes `:dependency`, without gRPC; `:invalid_argument`, for an address
that other machines reach, without a token file or with neither TLS nor `insecure`; `:unavailable`, for
an address that cannot be had; `:auth`, for a token file that others can read; `:busy`, where it has
started. C: `gnnmg_server_start`
"""
function start!(server::Server)
    check(gnnmg_server_start(server))
    return server
end

"""
    info(server)

The state of a server, and its counts since it started:

$(fields_of(gnnmg_server_info))

C: `gnnmg_server_get_info`
"""
info(server::Server) = ask(gnnmg_server_get_info, gnnmg_server_info, server)

"""
    shutdown(server; timeout)

The orderly end: takes no new questions and answers those that have come. Clients go on with other
servers of the same parts. It cannot be started again. An error with the code `:timeout` when questions
were given up after `drain_ms`. C: `gnnmg_server_shutdown`
"""
function shutdown(server::Server; timeout = nothing)
    stop_it = () -> server.context === nothing || cancel(server.context)
    return awaited(timeout_ms -> gnnmg_server_shutdown(server, timeout_ms), stop_it, timeout)
end
