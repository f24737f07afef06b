# Measures Julia's overhead over C: a call that reads a property, an epoch of the caller's own loop,
# and reading a mini-batch's features. Prints each limit with the measured value; exits with 1 if
# one is missed.
#   GNNMG_DIR=... julia --project=bindings/julia bindings/julia/test/speed.jl [<rounds>]
# The other side is the program bench_calls of the library's tests, in the build folder with
# GNNMG_BENCH on, or at the path in GNNMG_BENCH_CALLS; the two take turns.
using GNNMG, Printf, Statistics

const NODES, CALLS = 20000, 200000 # same values as tests/bench/calls.c

"CPU time of this process, all threads together."
function cpu_time()
    time = zeros(Int64, 2)
    ccall(:clock_gettime, Cint, (Cint, Ptr{Int64}), 2, time)
    return time[1] + 1e-9time[2]
end

function cost(work)
    begun, before = time_ns(), cpu_time()
    work()
    return (wall = 1e-9 * (time_ns() - begun), cpu = cpu_time() - before)
end

function start_program_in_c()
    path = get(() -> joinpath(get(ENV, "GNNMG_DIR", ""), "tests", "bench", "bench_calls"), ENV, "GNNMG_BENCH_CALLS")
    isfile(path) || error("there is no $path: build the library with -DGNNMG_BENCH=ON, or say in " *
                          "GNNMG_BENCH_CALLS where bench_calls is")
    return open(`$path serve`, "r+")
end

function ask(program, question)
    println(program, question)
    wall, cpu = parse.(Float64, split(readline(program)))
    return (wall = wall, cpu = cpu)
end

"Rounds of C and Julia, one after the other. Who is first changes each time, so that neither has the better moments."
function in_turns(work, program, question, rounds)
    ask(program, question) # both first calls fill caches and arenas, and compile
    work()
    return map(1:rounds) do round
        isodd(round) && return (c = ask(program, question), julia = cost(work))
        ours = cost(work)
        return (c = ask(program, question), julia = ours)
    end
end

"Median, and the quartiles, between which half of the values lie."
spread(values) = quantile(values, (0.5, 0.25, 0.75))

const MISSED = Ref(false)
function verdict(holds, bar)
    holds || (MISSED[] = true)
    return holds ? "within $bar" : "MISSED: $bar"
end

function properties(graph, program, rounds)
    taken = in_turns(program, "property", rounds) do
        for _ in 1:CALLS
            num_nodes(graph) == NODES || error("other nodes")
        end
    end
    each = 1e9 / CALLS
    more, least, most = spread([each * (round.julia.cpu - round.c.cpu) for round in taken])
    @printf("property   C %.1f ns, here %.1f ns: %+.1f ns (%+.1f to %+.1f), %s\n",
            each * median(round.c.cpu for round in taken), each * median(round.julia.cpu for round in taken),
            more, least, most, verdict(more <= 100, "100 ns beyond C's own"))
end

function epoch(loader, model, optimizer)
    for batch in loader
        logits = forward!(model, batch)
        backward!(model)
        step!(optimizer)
        close(logits)
        close(batch)
    end
end

function epochs(data, sampler, model, program, rounds)
    loader, optimizer = Loader(data, sampler), Optimizer(model)
    taken = in_turns(() -> epoch(loader, model, optimizer), program, "epoch", rounds)
    for kind in (:wall, :cpu)
        more, least, most = spread([100 * (round.julia[kind] / round.c[kind] - 1) for round in taken])
        @printf("epoch %-4s C %.4f s, here %.4f s: %+.2f %% (%+.1f to %+.1f), %s\n", kind,
                median(round.c[kind] for round in taken), median(round.julia[kind] for round in taken),
                more, least, most, verdict(more <= 2, "2 % of the C program"))
    end
end

"Whether the features of an epoch's mini-batches lie where the library says that they do."
function features_in_place(loader)
    info = GNNMG.blank(GNNMG.gnnmg_tensor_info)
    same = true
    for batch in loader
        x = features(batch)
        GC.@preserve x begin
            GNNMG.check(GNNMG.gnnmg_tensor_get_info(x.memory.tensor, info))
            same &= Ptr{Cvoid}(pointer(x)) == info[].data && length(x) == info[].num_elements
        end
        close(batch)
    end
    println("features   an epoch's arrays are ", verdict(same, "the library's memory"))
end

nanoseconds(f, count) = minimum(_ -> 1e9 * cost(() -> foreach(_ -> f(), 1:count)).cpu / count, 1:20)

function tensors_as_arrays(graph)
    x = node_tensor(graph, "x")
    copied = Array(x)
    @printf("elements   sum(x) %.2f ns each, of an Array %.2f ns\n",
            nanoseconds(() -> sum(x), 20) / length(x), nanoseconds(() -> sum(copied), 20) / length(x))
    @printf("tensors    node_tensor(graph, name) %.0f ns\n", nanoseconds(() -> node_tensor(graph, "x"), 1000))
end

function main(rounds = "61")
    count = parse(Int, rounds)
    program = start_program_in_c()
    context = Context()
    graph = generate(context, :planted; num_nodes = NODES)
    data = add_random_split!(Dataset(graph, "x", "y"; task = :multiclass), "random")
    sampler = Sampler(graph)
    properties(graph, program, count)
    epochs(data, sampler, Model(context, data), program, count)
    features_in_place(Loader(data, sampler))
    tensors_as_arrays(graph)
    close(program)
    exit(MISSED[])
end

main(ARGS...)
