# Settings and information of a context: threads, a limit for its memory, options, errors, and
# messages, which the library keeps for its host because it never prints.
include("common.jl")

const LEVELS = (debug = 0, info = 1, warning = 2, error = 3)

function main()
    header = GNNMG.HEADER_VERSION
    @printf("libgnnmg %s, compiled with the header of %d\n", GNNMG.version(),
            10000 * header.major + 100 * header.minor + header.patch)

    # 64 MiB for graphs, mini-batches, rows of results.
    context = Context(; num_threads = 1, memory_limit = 64 << 20)
    for setting in settings_of(:context)
        println("$(setting.name) = $(option(context, setting.name)): $(setting.help)")
    end
    set_option!(context, "log_level", "info")

    # A graph that does not fit is an ordinary error: the program continues.
    try
        generate(context, :log_normal) # more than 1 GiB
    catch error
        println(GNNMG.status_name(error), ": ", error.text)
        error.rank === nothing || println("rank $(error.rank) has failed")
        error.errno == 0 || println("errno is $(error.errno)")
    end
    graph, data = planted_data(context, 5000) # this one fits
    close(graph)
    about = info(context)
    @printf("%d threads on %d cores, LibTorch %d, %.1f of %.0f MiB taken\n", about.num_threads,
            about.num_cores, about.torch_version, about.memory_used / (1 << 20),
            about.memory_limit / (1 << 20))

    save(data, "planted")
    again = Dataset(context, "planted") # says so in the log
    for message in messages(context)
        message.dropped_before > 0 && println("($(message.dropped_before) lost)")
        println("level ", LEVELS[message.level], ": ", message.text)
    end
    close(again)
end

main()
