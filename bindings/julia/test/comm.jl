context = Context(; num_threads = 1)

"Runs `f(comm)` for each rank, on threads if there are enough, else in tasks, and answers what it gives."
function on_ranks(f, size; settings...)
    ends = comm_group(context, size; settings...)
    threads = size <= Threads.nthreads()
    tasks = [threads ? Threads.@spawn(f(comm)) : @async(f(comm)) for comm in ends]
    return map(fetch, tasks)
end

@test on_ranks(comm -> (rank(comm), world_size(comm)), 3) == [(0, 3), (1, 3), (2, 3)]
@test on_ranks(2) do comm
    array = Float32[1 2; 3 4; 5 6] .* (rank(comm) + 1)
    all_reduce!(comm, array)
    matrix = PermutedDimsArray(array, (2, 1))
    mean = all_reduce(comm, Float64(rank(comm)), :mean)
    most = all_reduce(comm, rank(comm), :max)
    shutdown(comm)
    (array, mean, most)
end == fill((Float32[3 6; 9 12; 15 18], 0.5, 1), 2)
@test on_ranks(2) do comm
    given = [10rank(comm), 7]
    broadcast!(comm, given, 1)
    outputs = [zeros(Int, 1), zeros(Int, 2)]
    all_gather!(comm, fill(rank(comm), rank(comm) + 1), outputs)
    got = [[0.0], [0.0]]
    all_to_all!(comm, [[10.0rank(comm)], [10.0rank(comm) + 1]], got)
    barrier(comm)
    shutdown(comm; timeout = 20)
    (given, outputs, got)
end == [([10, 7], [[0], [1, 1]], [[0.0], [10.0]]), ([10, 7], [[0], [1, 1]], [[1.0], [11.0]])]

# Unsuitable arguments are errors before any rank waits.
alone = comm_group(context, 1)[1]
@test_throws DimensionMismatch all_gather!(alone, [1], [[0], [0]])
@test_throws ArgumentError all_reduce!(alone, 1:3)
@test_throws ArgumentError all_reduce!(alone, ["a"])
@test_throws ArgumentError all_reduce!(alone, [1.0], :product)
@test_throws ArgumentError comm_group(context, 0)
failure_of(() -> all_reduce!(alone, [1], :mean), :invalid_argument)
read_only = node_tensor(ring(3)[2], "x")
failure_of(() -> all_reduce!(alone, read_only), :invalid_argument)
shutdown(alone)
ended = failure_of(() -> barrier(alone), :aborted)

# A rank gives up, and another one does not come.
codes = on_ranks(2) do comm
    rank(comm) == 1 && return cancel(comm)
    failure_of(() -> barrier(comm), :aborted).code
end
@test codes == [:aborted, nothing]
over = Threads.Atomic{Bool}(false)
codes = on_ranks(2; deadline_ms = 4000) do comm
    barrier(comm) # all ranks are connected now
    rank(comm) == 1 && return GC.@preserve comm comes_true(() -> over[])
    code = failure_of(() -> all_reduce!(comm, [1.0]), :timeout, "1").code
    over[] = true
    return code
end
@test codes[1] == :timeout

# A time limit; the same call continues the wait.
waited = Threads.Atomic{Int}(0)
@test all(on_ranks(2) do comm
    rank(comm) == 1 && comes_true(() -> waited[] > 2)
    sum = [1.0]
    while all_reduce!(comm, sum; timeout = 0.01) === pending
        Threads.atomic_add!(waited, 1)
    end
    shutdown(comm)
    sum == [2.0] && waited[] > 2
end)

# Processes, one of them here.
one = Comm(context; num_processes = 1)
@test (rank(one), world_size(one)) == (0, 1) && all_reduce(one, 5) == 5
shutdown(one)
withenv("RANK" => nothing, "WORLD_SIZE" => nothing, "SLURM_PROCID" => nothing,
        "OMPI_COMM_WORLD_RANK" => nothing) do
    failure_of(() -> comm_from_env(context), :not_found)
end
failure_of(() -> Comm(context; host = "127.0.0.1", port = 1, num_processes = 2, process_rank = 1,
                      join_ms = 200), :timeout)
failure_of(() -> Comm(context; num_processes = 2, process_rank = 7), :invalid_argument)
canceller = @async (sleep(0.05); cancel(context))
failure_of(() -> Comm(context; port = free_port(), num_processes = 2), :cancelled)
fetch(canceller)
