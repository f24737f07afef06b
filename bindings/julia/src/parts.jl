# Data sets in parts: this process has some parts, or none and asks servers.

"""
    open_parts(context, folder; comm, timeout, settings...)

Opens this process's share of a folder that [`save_parts`](@ref) has written: of P processes number p
takes the parts p, p + P and so on. `comm` is the job of the processes that share the parts; without
one, or with a job of one, this process has all. Settings, of which 0 is the default:

$(fields_of(gnnmg_served_config))

Sampling from the data set, gathering its features and training on it work as with the whole: with
the same settings mini-batches are equal to the bit, and so are weights if the trainer is
deterministic, for any number of parts and processes. With `plan = :parts` each process works
on its own parts. Labels, splits and weights are in each process.

All processes read the folder, on a file system that they share. Dense features stay on disk; the edges
of all parts and sparse features are in memory.

Calls that need the whole graph throw an error with the code `:unsupported`: transforms, saving,
exported edges and outgoing edges; GCN with edge weights; exact results of models with norms over
the rows of all nodes or edges, LSTM aggregation, numbers of edges that leave a node, or weights of
single nodes (`evaluation = :sampled` works). The code `:not_found` names a missing folder;
`:format` and `:checksum` name a file in it, or other contents of the folder. With a `timeout` in
seconds it may return [`pending`](@ref).

```julia
share = open_parts(context, "products-parts"; cache_bytes = 64 << 20)
```

C: `gnnmg_dataset_open_parts`
"""
function open_parts(context::Context, folder::AbstractString; comm = nothing, timeout = nothing,
                    settings...)
    config = configure(gnnmg_served_config, settings)
    call = (out, timeout_ms) -> gnnmg_dataset_open_parts(context, or_null(comm), folder, config, out,
                                                         timeout_ms)
    return opened(context, call, timeout)
end

"""
    open_served(context, addresses; token_file, timeout, settings...)

Opens a data set that graph servers have (a [`Server`](@ref), or the program gnnmg-server), without a
folder here. Servers keep nothing of a client, so clients come and go, and a server may be restarted, or
another may stand in for it, in the middle of an epoch. The data set is as [`open_parts`](@ref) says,
with all rows elsewhere. It needs the plug-in `libgnnmg_grpc.so`.

`addresses` are hosts and ports as in "graph-0:7300,graph-1:7300", or a name that has many addresses.
`token_file` has the servers' token; without it they ask for none. Settings, with their defaults:

$(fields_of(:served))

Errors have the codes `:dependency`, without the plug-in or gRPC; `:unavailable` or `:timeout`, naming
the parts that nobody serves; `:mismatch`, where servers have different data; `:auth`, for another token;
`:invalid_argument`, for a server beyond this machine without TLS. With a `timeout` in seconds it may
answer [`pending`](@ref). C: `gnnmg_dataset_open_served`
"""
function open_served(context::Context, addresses::AbstractString; token_file = nothing,
                     timeout = nothing, settings...)
    text = settings_text(settings)
    call = (out, timeout_ms) -> gnnmg_dataset_open_served(context, addresses, or_null(token_file), C_NULL,
                                                          text, out, timeout_ms)
    return opened(context, call, timeout)
end
