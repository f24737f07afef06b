context = Context(; num_threads = 1, memory_limit = 64 << 20)
about = info(context)
@test about.num_threads == 1 && about.memory_limit == 64 << 20 && about.memory_used == 0
@test keys(about) == (:num_threads, :num_cores, :torch_version, :memory_limit, :memory_used)

# An error has a code, a text, a rank and an errno.
failed = failure_of(() -> generate(context, :log_normal), :no_memory, "limit")
@test failed.rank === nothing && failed.errno == 0 && failed.cause === nothing
@test in_folder(folder -> failure_of(() -> Dataset(Context(), joinpath(folder, "none")), :not_found, "none")).errno == Libc.ENOENT
@test GNNMG.status_name(failed) == "ERR_NO_MEMORY"
@test startswith(sprint(showerror, failed), "GNNMGError(:no_memory): ")
failure_of(() -> Dataset(context, "/nowhere/at/all"), :not_found, "/nowhere/at/all")
@test_throws ArgumentError Dataset(context, "with a \0 inside")

# GPUs, or the reason why there are none.
gpus = devices(context)
@test isempty(gpus) == !isempty(why_no_device(context))
@test all(gpu -> gpu.device_type === :cuda && !isempty(gpu.name) && gpu.free_memory <= gpu.total_memory, gpus)
failure_of(() -> device(context, length(gpus) + 1), :not_found, "argument 'index'")

# Options, and messages, also longer than any buffer at first.
known = settings_of(:context)
@test "log_level" in [entry.name for entry in known]
@test all(entry -> !isempty(entry.help), known)
set_option!(context, "log_level", "debug")
@test option(context, "log_level") == "debug"
failure_of(() -> option(context, "no such key"), :not_found, "no such key")
in_folder() do folder
    _, graph = ring(5; context = context)
    long = joinpath(folder, "x"^200)
    save(Dataset(graph, "x", "y"), long)
    data = Dataset(context, long)
    @test Symbol(lowercase("INFO")) in [message.level for message in messages(context)]
    close(data)
end
@test isempty(messages(context))

# A do block closes its object; calls on a closed object are ordinary errors, and a second close
# does nothing.
kept = Context(identity; num_threads = 1)
@test !isopen(kept)
failure_of(() -> info(kept), :handle)
failure_of(() -> generate(kept, :planted), :handle)
close(kept)
cancel(kept)
@test sprint(show, kept) == "Context(closed)"
@test_throws ErrorException closing(context -> error("as it was"), Context())

# Handles of different kinds cannot be confused, and an invalid one is an error of the library.
@test_throws MethodError num_nodes(context)
garbage = Graph(Ptr{GNNMG.gnnmg_graph}(UInt(0x1234)))
failure_of(() -> num_nodes(garbage), :handle)
garbage.token = C_NULL

# Lends the thread for a time, and until a cancel.
@test (@elapsed lend(context, 0.05)) >= 0.045
lent = @async lend(context)
sleep(0.05)
cancel(context)
@test comes_true(() -> istaskdone(lent))
@test lent.result isa GNNMGError && lent.result.code == :cancelled
other = Context()
lent = @async lend(other)
sleep(0.05)
close(other)
@test fetch(lent) === nothing

# Two contexts do not mix.
_, here = ring(4; context = context)
_, there = ring(4)
failure_of(() -> Loader(Sampler(here), [0]; dataset = Dataset(there, "x")), :invalid_argument)
