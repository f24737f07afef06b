# Training from the command line: any kind of model on a data set or a generated graph, one or
# several ranks in one or several processes, a progress bar, and a closing table.
#   julia --project=bindings/julia examples/julia/train.jl --help
const ON_TERMINAL = stderr isa Base.TTY && stdout isa Base.TTY
ON_TERMINAL && print(stderr, "compiling ...") # takes some seconds, and the first time longer
include("common.jl")
include("train_plan.jl")
include("train_options.jl")
include("train_progress.jl")
include("train_signals.jl")

# The job that the options name or a launcher has started; `nothing`: this process trains alone. The
# other processes may take long to arrive: an interrupt ends the wait.
function join_job(context, o)
    by_hand = haskey(o.comm, :num_processes)
    try
        return hearing(interrupted) do
            by_hand ? Comm(context; timeout = 0.2, o.comm...) :
                      comm_from_env(context; timeout = 0.2, deadline_ms = o.comm[:deadline_ms])
        end
    catch failure
        !by_hand && failure isa GNNMGError && failure.code == :not_found || rethrow()
        return nothing
    end
end

# The graph that "planted:20000" names; `nothing` for anything else.
function generated(context, text)
    found = match(r"^(planted|products)(?::0*([1-9][0-9]*))?$", text)
    found === nothing && return nothing
    size = found[2] === nothing ? nothing : parse(Int, found[2])
    found[1] == "products" && return generate(context, :log_normal; num_nodes = something(size, 244903))
    return size === nothing ? generate(context, :planted) : generate(context, :planted; num_nodes = size)
end

# Returns an optional part of a data set, or `nothing`.
function given_or_nothing(property, data)
    try
        return property(data)
    catch failure
        failure isa GNNMGError && failure.code == :not_found || rethrow()
        return nothing
    end
end

# The data set with its graph changed as the options say, and its splits and weights around the new one.
function changed(data, o)
    graph, facts, (_, features, targets) = Graph(data), info(data), names(data)
    get(o.run, :normalize_rows, false) && (graph = normalized(graph, features))
    get(o.run, :no_edges, false) && (graph = transformed(graph, :remove_edges))
    feature_name = isempty(features) ? nothing : features
    meaning = (task = facts.task, num_classes = facts.num_classes)
    starts = given_or_nothing(graph_ptr, data) # data sets of many graphs
    result = if starts === nothing
        Dataset(graph, feature_name, isempty(targets) ? nothing : targets; meaning...)
    else
        Dataset(graph, starts; features = feature_name, labels = labels(data), meaning...)
    end
    for split in splits(data)
        selected = select_split(data, split.name, split.index)
        add_split!(result, split.name; train = split_ids(selected, :train),
                   validation = split_ids(selected, :validation), test = split_ids(selected, :test))
    end
    of_classes, of_rows = given_or_nothing.((class_weights, sample_weights), Ref(data))
    of_classes === nothing || set_class_weights!(result, of_classes)
    of_rows === nothing || set_sample_weights!(result, of_rows)
    return result
end

# This process's share of a graph in parts.
function open_share(context, comm, o)
    for (option, file) in o.tls
        set_option!(context, string(option), file)
    end
    return hearing(() -> open_parts(context, o.dataset; comm = comm, timeout = 0.2, o.parts...), interrupted)
end

# The data of graph servers.
function open_servers(context, addresses, o)
    patience_ms = trunc(Int, 1000 * get(o.run, :server_patience, 0))
    return hearing(interrupted) do
        open_served(context, addresses; token_file = o.comm[:token_file], timeout = 0.2,
                    patience_ms = patience_ms, o.parts..., o.tls...)
    end
end

function open_data(context, comm, o)
    graph = generated(context, o.dataset)
    data = if graph !== nothing
        Dataset(graph, "x", "y"; task = :multiclass)
    elseif startswith(o.dataset, "served:")
        open_servers(context, o.dataset[8:end], o)
    elseif comm !== nothing && isfile(joinpath(o.dataset, "manifest.json"))
        open_share(context, comm, o)
    else
        hearing(() -> Dataset(context, o.dataset; timeout = 0.2), interrupted)
    end
    wanted = haskey(o.run, :normalize_rows) || haskey(o.run, :no_edges)
    return wanted ? changed(data, o) : data
end

# Chooses the split of a run: the requested one, a random one, or the first.
function choose_split(data, o, run)
    offset = haskey(o.run, :vary_split) ? run : 0
    seed = o.run[:seed] + offset
    o.run[:drawn] = haskey(o.run, :fractions) || (info(data).num_splits == 0 && !haskey(o.run, :split))
    if haskey(o.run, :fractions)
        train, validation = o.run[:fractions]
        add_random_split!(data, "random"; train_fraction = train, validation_fraction = validation,
                          seed = seed)
    elseif o.run[:drawn]
        add_random_split!(data, "random"; seed = seed)
    else
        split = get(o.run, :split, (name = nothing, index = 0))
        data = select_split(data, split.name, split.index + offset)
    end
    haskey(o.run, :balance_classes) && balance_classes!(data)
    return data
end

function make_model(context, data, o, run)
    settings = copy(o.model)
    if !haskey(settings, :input) && info(data).feature_dim == 0
        by_node = settings[:architecture] == :rgcn && !haskey(settings, :num_blocks)
        settings[:input] = by_node ? :nodes : :embedding
    end
    model = Model(context, data; settings..., seed = o.run[:seed] + run)
    haskey(o.run, :load) && load!(model, o.run[:load])
    return model
end

function make_trainer(model, data, comm, o, run)
    if o.model[:readout] == :none
        sampler = Sampler(Graph(data); o.sampler...)
    else # graphs are taken whole
        sampler = Sampler(data; o.sampler..., fanouts = fill(-1, o.model[:num_layers]))
    end
    trainer = Trainer(model, data, sampler; comm = comm, o.trainer..., seed = o.run[:seed] + run)
    haskey(o.run, :log) && set_record!(trainer, :json_lines, o.run[:log])
    haskey(o.run, :tensorboard) && set_record!(trainer, :tensorboard, o.run[:tensorboard])
    return trainer
end

# Makes the trainer write checkpoints, and continues from the newest on request.
function use_checkpoints(context, trainer, o, speaks)
    folder = o.run[:checkpoints]
    set_checkpoints!(trainer, folder; every_steps = o.run[:checkpoint_steps], keep = o.run[:checkpoint_keep])
    haskey(o.run, :resume) || return
    try
        load!(trainer, folder)
    catch failure
        failure isa GNNMGError && failure.code == :not_found || rethrow()
        return # first start
    finally
        print_warnings(context) # names a skipped checkpoint
    end
    at = progress(trainer)
    speaks && println("resumed $(at.epoch) epochs and $(at.step) steps into training")
end

# Trains to the end, or until the user interrupts: then all ranks stop after the same step, with the
# weights of that step. A second interrupt cancels the step, and the program ends.
function train(trainer, watch)
    busy(watch.bar, "compiling")
    start!(watch, trainer)
    stopping = false
    function look()
        if interrupted() && !stopping
            stopping = true
            say(watch.bar, "stopping after this step; again: at once")
            stop(trainer)
        end
        draw(watch, trainer)
        return twice()
    end
    try
        hearing(() -> wait(trainer; timeout = 0.1), look)
    finally
        clear(watch.bar)
        twice() && cancel(trainer)
    end
end

# A second interrupt ends the program here as well.
function evaluated(trainer, part, bar)
    busy(bar, "evaluating")
    metrics = hearing(() -> evaluate(trainer, part; timeout = 0.2), twice)
    clear(bar)
    return metrics
end

# The metric of the result of a run: the loss is printed as well.
tested(metric, metrics) = metric == :loss && metrics.task != :regression ? :accuracy : metric

function print_head(context, data, model, o, processes)
    facts, m, settings = info(data), info(model), o.model
    println("data    $(o.dataset): $(facts.num_nodes) nodes, $(facts.num_edges) edges, ",
            "$(facts.feature_dim) features, $(facts.num_classes) classes")
    sizes = ("$(length(split_ids(data, part))) $part" for part in (:train, :validation, :test))
    println("split   ", join(sizes, ", "), o.run[:drawn] ? ", drawn at random" : "")
    kind = settings[:architecture] == :sage ? "GraphSAGE $(replace(string(settings[:aggregation]), "default" => "mean"))" : settings[:architecture]
    println("model   $kind, $(m.num_layers) layers, hidden width $(m.hidden_dim), ",
            "$(m.num_parameters) parameters")
    place = processes > 1 ? "each of $processes processes" : "this process"
    reach = settings[:readout] == :none ? ", fan-outs $(join(o.sampler[:fanouts], ' '))" : ""
    println("ranks   $(ranks_of(context, o.trainer, processes)) in $place$reach\n")
end

# The number of ranks, and their devices if given.
function ranks_of(context, settings, processes)
    gpus, ranks = get(settings, :devices, ()), settings[:num_ranks]
    isempty(gpus) || return "$(length(gpus)) on GPU $(join(gpus, ", "))"
    ranks == 0 && settings[:device] != :cpu && !isempty(devices(context)) &&
        return processes > 1 ? "one a GPU of its share" : "one a GPU"
    return max(ranks, 1)
end

# The best possible accuracy on the generated graphs: the share of test labels that the generator's
# own likelihoods predict correctly.
const REACHABLE = Dict("planted" => "0.391 from own features, 0.740 with one hop, 0.909 with two",
                       "products" => "0.229 from own features, 0.608 with one hop, 0.882 with two")

function print_test(trainer, part, name, value, metrics, o)
    at = progress(trainer)
    haskey(o.run, :quiet) || println()
    @printf("%s %s %.4f, loss %.4f", part == :test ? "test   " : "held out", name, value, metrics.loss)
    at.has_validation && at.best_epoch >= 0 && at.state == :finished &&
        @printf(" (weights of epoch %d, validation %.4f)", at.best_epoch + 1, at.best_validation)
    println()
    haskey(REACHABLE, o.dataset) && println("        reachable: ", REACHABLE[o.dataset])
end

# Better before the training than after it: a file or folder that can be replaced, or a new one where its folder can be
# written to. A link to nothing, a FIFO or a device is neither.
function check_place(option, path)
    complain(fault) = refuse("--$option $path: $fault")
    writable(place) = ccall(:access, Cint, (Cstring, Cint), place, 2) == 0 || complain(Libc.strerror())
    option == :save && writable(dirname(abspath(path))) # the library tries the other places itself
    islink(path) && !ispath(path) && complain("is a link to nothing")
    ispath(path) || return
    isfile(path) || isdir(path) || complain("is neither a file nor a folder")
    writable(path)
end

function main(arguments)
    clear(ON_TERMINAL)
    o = read_options(arguments)
    for option in (:save, :log, :tensorboard, :checkpoints)
        haskey(o.run, option) && check_place(option, o.run[option])
    end
    hear_sigterm()
    begun = time()
    context = open_context()
    comm = join_job(context, o)
    process, processes = comm === nothing ? (0, 1) : (rank(comm), world_size(comm))
    speaks = process == 0 # one process of a job prints and saves
    quiet = haskey(o.run, :quiet) || !speaks
    bar = !quiet && ON_TERMINAL
    busy(bar, "loading $(o.dataset)")
    data = open_data(context, comm, o)
    clear(bar)
    print_warnings(context)
    metric = o.trainer[:best_by]
    info(data).task == :regression && metric != :mae && (metric = :rmse)

    part, name, scores, curves = :test, "", Float64[], []
    for run in 0:(o.run[:runs] - 1)
        interrupted() && break
        data = choose_split(data, o, run)
        part = isempty(split_ids(data, :test)) ? :validation : :test # folds hold one part out
        model = make_model(context, data, o, run)
        trainer = make_trainer(model, data, comm, o, run)
        watch = Watch(bar, quiet, metric)
        run == 0 && speaks && print_head(context, data, model, o, processes)
        if haskey(o.run, :plan)
            # [memory]
            speaks && print_plan(memory_info(trainer, get(o.run, :gpu_memory, 0)))
            # [memory]
            foreach(close, (trainer, model))
            break
        end
        haskey(o.run, :checkpoints) && use_checkpoints(context, trainer, o, speaks)
        train(trainer, watch)
        isempty(watch.curve) || push!(curves, watch.curve)
        speaks && haskey(o.run, :save) && run == 0 && save(model, o.run[:save])
        if !isempty(split_ids(data, part)) # all may be for training
            metrics = evaluated(trainer, part, bar)
            of_test = tested(metric, metrics)
            name = CALLED[of_test]
            push!(scores, metrics[of_test])
            speaks && print_test(trainer, part, name, metrics[of_test], metrics, o)
            matrix = haskey(o.run, :confusion) ? last(confusion(trainer, part)) : nothing # every process
            speaks && matrix !== nothing && print_classes(matrix)
        end
        if speaks
            print_times(watch, time() - begun)
            # [ranks]
            haskey(o.run, :times) && watch.epochs > 0 && print_ranks(rank_info(trainer))
            # [ranks]
        end
        foreach(close, (trainer, model))
    end
    if speaks && length(scores) > 1
        println()
        part == :test || isempty(curves) ? print_mean("result", name, scores) : print_curves(curves, metric)
    end
    comm === nothing || shutdown(comm) # all processes leave together
    interrupted() && exit(130)
end

try
    main(copy(ARGS))
catch failure
    # exit() would end LibTorch's objects in the middle of a step.
    failure isa InterruptException && ccall(:_exit, Cvoid, (Cint,), 130)
    failure isa GNNMGError || rethrow()
    text = replace(failure.text, "gnnmg_trainer_load()" => "--resume") # the option of this program
    println(stderr, "train: ", GNNMG.status_name(failure), ": ", text)
    exit(1)
end
