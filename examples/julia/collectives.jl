# Collectives of ranks, one task each: broadcast, all-gather, all-to-all, barrier; and the error on
# the others when one of them finds bad data and gives up.
include("common.jl")

const RANKS = 3

# Works on two communicators, and answers how many results are wrong.
function work(comm, other)
    own = rank(comm)
    wrong = 0

    seed = [own == 0 ? 42 : 0]
    broadcast!(comm, seed, 0) # rank 0's to all
    wrong += seed[1] != 42

    theirs = [zeros(Int, r) for r in 1:RANKS] # any sizes
    all_gather!(comm, fill(own, own + 1), theirs)
    wrong += sum(count(theirs[r] .!= r - 1) for r in 1:RANKS)

    out = [[10 * own + r] for r in 0:(RANKS - 1)] # row of rank r
    got = [[0] for _ in 1:RANKS]
    all_to_all!(comm, out, got)
    wrong += sum(got[r + 1][1] != 10 * r + own for r in 0:(RANKS - 1))

    barrier(comm) # waits until all ranks are here
    shutdown(comm) # all leave together

    if own == 1
        cancel(other) # this rank cannot go on: nobody shall wait for it
        return wrong
    end
    try
        barrier(other)
        return wrong + 1
    catch error
        println("rank $own: $(GNNMG.status_name(error)): $(error.text)")
        return wrong + (error.code != :aborted)
    end
end

function main()
    context = open_context()
    # A later rank is named in an error.
    comms = comm_group(context, RANKS; deadline_ms = 60000)
    others = comm_group(context, RANKS)
    tasks = [@async(work(comm, other)) for (comm, other) in zip(comms, others)]
    wrong = sum(fetch, tasks)
    println("$wrong results are wrong")
    @assert wrong == 0
    foreach(close, [comms; others])
end

main()
