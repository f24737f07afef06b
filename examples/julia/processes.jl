# One process of a job that a launcher has started (torchrun, srun, mpirun, a loop of the shell): they
# meet, add up a number, and leave together.
#   torchrun --nproc-per-node 3 --no-python julia --project=bindings/julia processes.jl
include("common.jl")

function main()
    # [join]
    comm = comm_from_env(open_context())
    # [join]
    sum = all_reduce(comm, Float32(rank(comm) + 1))
    # In one piece, as others print to the same place.
    print(@sprintf("process %d of %d: the sum is %.0f\n", rank(comm), world_size(comm), sum))
    # Without it the first process to leave would abort the others.
    shutdown(comm)
end

main()
