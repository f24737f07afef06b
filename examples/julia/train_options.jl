# The command line of `train`: the setting of each option; the library's settings have their own
# names.

const FIRST_PAGE = """
    Usage: train.jl [OPTION]... DATASET

    Trains a model for classes (or numbers) of nodes, or of graphs with --readout, on every
    format that libgnnmg reads, evaluates it on the test part of the split, and prints where
    the time went.

    Examples
      train.jl planted                                  on a generated graph
      train.jl --ranks 2 --epochs 10 planted:20000      with two ranks that share each step
      train.jl --model gcn --save gcn.safetensors cora  on the data set in the folder cora

    DATASET is a folder or file, or a graph that is generated in memory:
      planted[:NODES]        ten classes, noisy features (50000 nodes)
      products[:NODES]       shaped like a co-purchase network, planted labels (244903 nodes)
    or served:HOST:PORT,...  by programs gnnmg-server, which have its parts

    The options that most trainings need, with their defaults
      --model M              sage, gcn, gat, gin and others (sage)
      --layers N, --hidden N layers, hidden width (2, 64)
      --fanouts A,B,...      neighbors per hop, nearest to the seeds first (10,10)
      --epochs N             epochs (20)
      --batch-size N         seeds a mini-batch (1024)
      --lr X                 learning rate (0.003)
      --ranks N              replicas, each in a thread of its own (one a GPU, or one)
      --save FILE            weights, .safetensors or .pth

    All others, by topic: train.jl --help=TOPIC
    """

# The topics of HELP, in its order.
const TOPICS = ("data", "model", "sampling", "training", "devices", "processes", "parts", "output")
const HELP = """
    Data
      --split NAME[:INDEX]   split to use (default: the first of the data set)
      --random-split T,V     draw a split instead: fractions for training and validation
      --normalize-rows       divide each node's features by their sum
      --no-edges             drop all edges, to measure the graph's benefit
      --balance-classes      every class counts the same in the loss, however rare it is
    Model
      --model M              sage, gcn, gat, gatv2, gin, gine, rgcn, transformer, pna, graphconv,
                             edge (sage)
      --heads N              of gat, gatv2, transformer, dividing the hidden width (1)
      --edge-features        gat, gatv2, transformer, pna read the edges' features; gine always does
      --edge-weights         gcn, graphconv read the edges' weights
      --node-categories N,.. features are numbers of categories, so many a column: learned rows
      --edge-categories N,.. the same of the edges' features
      --input I              features, embedding (a learned row a node), nodes (rgcn: a row of
                             weights for each node and relation) (features, if there are any,
                             else nodes for rgcn and embedding for all others)
      --relations N          of rgcn: types of edges (those of the data set)
      --bases N, --blocks N  of rgcn: how the relations' matrices are made (0: each whole)
      --readout R            results for graphs: sum, mean, max, attention, set2set, sort (none)
      --sort-rows N          of the readout sort (30)
      --jumping J            none, last, cat, max, lstm, scores (none; last with --readout)
      --layers N             layers (2)
      --hidden N             hidden width (64)
      --aggregation A        of sage, gin, gine, graphconv, rgcn, edge: mean, max, sum,
                             default (default: sum for gin, gine, graphconv, max for edge,
                             else mean)
      --activation A         relu, elu, leaky, gelu, tanh, prelu, silu, sigmoid,
                             none (relu)
      --norm N               none, batch, layer, graph (none)
      --skip S               none, linear, residual (none)
      --init I               pyg, glorot, dgl: law of the initial weights (pyg)
      --dropout P            on hidden rows (0.5)
      --input-dropout P      on features (0)
      --output-dropout P     on the input of the last linear layer, or on each score (0)
      --edge-dropout P       leave out edges, in training, of each layer (0)
      --node-dropout P       leave out nodes, in training, with all their edges (0)
      --normalize            scale each layer's rows to unit length
      --project              a linear layer on the sources first
      --no-root              leave out a node's own row
      --train-eps            of gin, gine: learn how much a node's own row counts
      --double               double precision
    Sampling
      --fanouts A,B,...      neighbors per hop, nearest to the seeds first; or full (10,10)
      --expansion E          once, every-layer (once)
      --draw D               draw of neighbors: uniform, labor, labor-once (uniform)
      --replace              draw with replacement
    Training
      --epochs N             epochs (20); 0: evaluate the weights of --load
      --batch-size N         seeds a mini-batch; all: one mini-batch an epoch (1024)
      --drop-last            leave out a last mini-batch that is short
      --batch-nodes N        of graphs: nodes a mini-batch at most; 0: any number (0)
      --batches-per-step N   mini-batches a step, all ranks together (number of ranks)
      --optimizer O          adam, adamw, sgd (adam)
      --lr X                 learning rate (0.003)
      --weight-decay X       (0)
      --weight-decay-layers N  of the first N layers alone (0: of all)
      --schedule S           constant, cosine, step, plateau (constant)
      --schedule-epochs N    epochs until step halves the rate (50)
      --clip X               limit of the gradient's norm; 0: none (0)
      --patience N           stop after N evaluations without a better one; 0: never (0)
      --metric M             accuracy, auc, loss, f1_macro, f1_micro, average_precision, rmse, mae:
                             choice of the best epoch (accuracy)
      --evaluation E         full, sampled (full)
      --evaluate-every N     epochs between validations (1)
      --ranks N              replicas, each in a thread of its own (one a GPU, or one)
      --loader-threads N     threads a rank that sample and gather (1)
      --torch-threads N      threads a rank for dense products; 0: its share of the cores (0)
      --precision P          of products: float32, tf32 (on GPUs), bf16 (float32)
      --sync-batch-norm      batch norm over all ranks' mini-batches of a step together
      --deterministic        the same bits for any number of ranks and threads
      --seed N               of weights, order, samples, dropout and random split (1)
      --runs N               train N times with seeds counting up; prints mean and error (1)
      --vary-split           count the split's index up as well; where splits have no test part, as
                             folds have none, the runs' validations are averaged epoch by epoch
    Devices
      --device D             auto, cpu, cuda, or the GPUs of the ranks: cuda:0,1 (auto)
      --graph-placement P    where GPUs read the graph: auto, device, pinned, host (auto)
      --feature-placement P  and features: auto, device, pinned, cached, split, host (auto)
      --feature-form F       how they are kept for GPUs: as-given, f16, bf16, int8 (as-given)
      --cache-mib N          memory of each GPU for cached features; 0: 30 % of the free memory (0)
      --hotness H            choice of cached rows: probability, degree, counting (probability)
      --gather-multiprocessors N  of a GPU, for features in main memory; 0: an eighth (0)
      --capture C            steps on GPUs as CUDA graphs: auto, off, on, unpadded (auto)
    Several processes: started by torchrun, srun or mpirun they find each other, or by hand with
      --processes N          how many
      --process R            which of them this one is, from 0
      --host H               where process 0 is (127.0.0.1)
      --port P               where it listens
      --token-file FILE      secret of the job and of servers, needed beyond this machine
                             (GNNMG_TOKEN_FILE)
      --interface I          network interface to be reached at
      --deadline S           seconds that ranks wait for a late one (30)
    A folder of parts, in several processes: that all share, or with some parts in each
      --partition P          seeds of a mini-batch: global, parts (of one part) (global)
      --reading R            of others' parts: auto, shared (from the folder), asked (auto)
      --server-patience S    seconds to wait for parts whose servers are all away (0)
      --insecure             processes and servers are asked without TLS beyond this machine
      --tls-cert FILE, --tls-key FILE, --tls-ca FILE  or by certificates, PEM
    Output: of process 0 alone
      --save FILE            weights, .safetensors or .pth
      --load FILE            weights to start from
      --checkpoints DIR      checkpoints after each epoch, and on an interrupt; a folder
                             is of one training, which --resume goes on with
      --checkpoint-steps N   after so many steps instead
      --checkpoint-keep N    how many of the last stay, beside the best (3)
      --resume               go on from the newest whole checkpoint in there, if there is one
      --log FILE             one JSON object an epoch
      --tensorboard DIR      event files
      --confusion            precision, recall and F1 of each class
      --times                where the time of the last epoch went, for each rank
      --plan                 print the use of a GPU's memory, and train nothing
      --gpu-memory SIZE      of a GPU that need not be there, as 80G or 40GiB (that of the first
                             GPU, as far as it is free)
      --quiet                only the closing table
      --help, --version
    """

# The options of a topic, all of them, or the first page.
function print_help(topic)
    topic === nothing && return print(FIRST_PAGE, "  ", join(TOPICS, ", "), ", all\n")
    topic == "all" && return print(HELP)
    i = findfirst(==(topic), TOPICS)
    i === nothing && refuse("--help $topic: expected a topic of train --help")
    println(rstrip(split(HELP, r"\n(?=[A-Z])")[i]))
end

function refuse(text)
    println(stderr, "train: $text (try --help)")
    exit(2)
end

"What a reader of values answers for a text that is wrong."
struct Expected
    text::String
end

function integer(least)
    return function (text)
        value = tryparse(Int, text)
        value !== nothing && value >= least ? value : Expected("an integer of at least $least")
    end
end

function decimal(least, most)
    return function (text)
        value = tryparse(Float64, text)
        value !== nothing && least <= value <= most ? value : Expected("a number from $least to $most")
    end
end

# Words; if the library has another one, `leaky=leaky_relu`.
function one_of(list)
    words = [length(parts) == 2 ? parts[1] => Symbol(parts[2]) : parts[1] => Symbol(parts[1])
             for parts in split.(split(list), '=')]
    return function (text)
        found = findfirst(word -> word.first == text, words)
        found === nothing ? Expected("one of " * join(first.(words), ' ')) : words[found].second
    end
end

function list(least)
    return function (text)
        values = tryparse.(Int, split(text, ','))
        fine = length(values) <= 16 && all(value -> value !== nothing && value >= least, values)
        fine ? Int.(values) : Expected("up to 16 integers of at least $least with commas between")
    end
end

function fractions(text)
    parts = tryparse.(Float64, split(text, ','))
    fine = length(parts) == 2 && !(nothing in parts) && parts[1] > 0 && parts[2] >= 0 && sum(parts) <= 1
    fine ? parts : Expected("two fractions like 0.6,0.2 with a sum of at most 1")
end

function named_split(text)
    name, index = occursin(':', text) ? rsplit(text, ':'; limit = 2) : (text, "0")
    number = integer(0)(index)
    number isa Expected ? number : (name = isempty(name) ? nothing : name, index = number)
end

# A kind of device, or the GPUs of the ranks.
function device(text)
    startswith(text, "cuda:") || return one_of("auto cpu cuda")(text)
    return list(0)(text[6:end])
end

const MODELS = "sage gcn gat gatv2 gin gine rgcn transformer pna graphconv edge"

"""
For each option the call of the library that takes it (or `:run`, the program), the keyword of that call, and
the function that reads the value from the text, or the value itself if the option has none.
"""
const OPTIONS = Dict(
    # Data
    "split" => (:run, :split, named_split),
    "random-split" => (:run, :fractions, fractions),
    "normalize-rows" => (:run, :normalize_rows, true),
    "no-edges" => (:run, :no_edges, true),
    "balance-classes" => (:run, :balance_classes, true),
    # Model
    "model" => (:model, :architecture, one_of(MODELS)),
    "heads" => (:model, :heads, integer(1)),
    "edge-features" => (:model, :edge_dim, -1),
    "edge-weights" => (:model, :edge_weights, true),
    "node-categories" => (:model, :node_vocabulary, list(1)),
    "edge-categories" => (:model, :edge_vocabulary, list(1)),
    "input" => (:model, :input, one_of("features embedding nodes")),
    "relations" => (:model, :num_relations, integer(1)),
    "bases" => (:model, :num_bases, integer(0)),
    "blocks" => (:model, :num_blocks, integer(0)),
    "readout" => (:model, :readout, one_of("sum mean max attention set2set sort")),
    "sort-rows" => (:model, :sort_rows, integer(1)),
    "jumping" => (:model, :jumping, one_of("none last cat max lstm scores")),
    "layers" => (:model, :num_layers, integer(1)),
    "hidden" => (:model, :hidden_dim, integer(1)),
    "aggregation" => (:model, :aggregation, one_of("default mean max sum")),
    "activation" => (:model, :activation, one_of("relu elu leaky=leaky_relu gelu tanh prelu silu sigmoid none")),
    "norm" => (:model, :norm, one_of("none batch layer graph=layer_graph")),
    "skip" => (:model, :skip, one_of("none linear residual")),
    "init" => (:model, :weight_init, one_of("pyg glorot dgl")),
    "dropout" => (:model, :dropout, decimal(0, 1)),
    "input-dropout" => (:model, :input_dropout, decimal(0, 1)),
    "output-dropout" => (:model, :output_dropout, decimal(0, 1)),
    "edge-dropout" => (:model, :edge_dropout, decimal(0, 1)),
    "node-dropout" => (:model, :node_dropout, decimal(0, 1)),
    "normalize" => (:model, :normalize, true),
    "project" => (:model, :project, true),
    "no-root" => (:model, :root_weight, false),
    "train-eps" => (:model, :train_eps, true),
    "double" => (:model, :dtype, :f64),
    # Sampling
    "fanouts" => (:sampler, :fanouts, text -> text == "full" ? Int[] : list(-1)(text)),
    "expansion" => (:sampler, :expansion, one_of("once every-layer=every_layer")),
    "draw" => (:sampler, :draw, one_of("uniform labor labor-once=labor_once")),
    "replace" => (:sampler, :replace, true),
    # Training
    "epochs" => (:trainer, :num_epochs, integer(0)),
    "batch-size" => (:trainer, :batch_size, text -> text == "all" ? typemax(Int) : integer(1)(text)),
    "drop-last" => (:trainer, :drop_last, true),
    "batch-nodes" => (:trainer, :batch_nodes, integer(0)),
    "batches-per-step" => (:trainer, :batches_per_step, integer(1)),
    "optimizer" => (:trainer, :optimizer, one_of("adam adamw sgd")),
    "lr" => (:trainer, :learning_rate, decimal(0, 1e6)),
    "weight-decay" => (:trainer, :weight_decay, decimal(0, 1e6)),
    "weight-decay-layers" => (:trainer, :weight_decay_layers, integer(0)),
    "schedule" => (:trainer, :schedule, one_of("constant cosine step plateau")),
    "schedule-epochs" => (:trainer, :schedule_step_epochs, integer(1)),
    "clip" => (:trainer, :clip_norm, decimal(0, 1e30)),
    "patience" => (:trainer, :early_stop_patience, integer(0)),
    "metric" => (:trainer, :best_by, one_of("accuracy loss auc=roc_auc f1_macro f1_micro average_precision rmse mae")),
    "evaluation" => (:trainer, :evaluation, one_of("full sampled")),
    "evaluate-every" => (:trainer, :evaluate_every, integer(1)),
    "ranks" => (:trainer, :num_ranks, integer(1)),
    "loader-threads" => (:trainer, :loader_threads, integer(0)),
    "torch-threads" => (:trainer, :torch_threads, integer(0)),
    "precision" => (:trainer, :precision, one_of("float32 tf32 bf16")),
    "sync-batch-norm" => (:trainer, :sync_batch_norm, true),
    "deterministic" => (:trainer, :deterministic, true),
    "seed" => (:run, :seed, integer(0)),
    "runs" => (:run, :runs, integer(1)),
    "vary-split" => (:run, :vary_split, true),
    # Devices
    "device" => (:trainer, :device, device),
    "graph-placement" => (:trainer, :graph_placement, one_of("auto device pinned host")),
    "feature-placement" => (:trainer, :feature_placement, one_of("auto device pinned cached split host")),
    "feature-form" => (:trainer, :feature_form, one_of("as-given=as_given f16 bf16 int8")),
    "cache-mib" => (:run, :cache_mib, integer(0)),
    "hotness" => (:trainer, :hotness, one_of("probability degree counting")),
    "gather-multiprocessors" => (:trainer, :gather_multiprocessors, integer(0)),
    "capture" => (:trainer, :capture, one_of("auto off on unpadded")),
    # Several processes
    "processes" => (:comm, :num_processes, integer(1)),
    "process" => (:comm, :process_rank, integer(0)),
    "host" => (:comm, :host, identity),
    "port" => (:comm, :port, integer(1)),
    "token-file" => (:comm, :token_file, identity),
    "interface" => (:comm, :interface, identity),
    "deadline" => (:run, :deadline, decimal(0.001, 1e6)),
    # Data in parts
    "partition" => (:trainer, :plan, one_of("global parts")),
    "reading" => (:parts, :reading, one_of("auto shared asked")),
    "server-patience" => (:run, :server_patience, decimal(0, 1e6)),
    "insecure" => (:parts, :insecure, true),
    "tls-cert" => (:tls, :tls_certificate, identity),
    "tls-key" => (:tls, :tls_key, identity),
    "tls-ca" => (:tls, :tls_authority, identity),
    # Output
    "save" => (:run, :save, identity),
    "load" => (:run, :load, identity),
    "checkpoints" => (:run, :checkpoints, identity),
    "checkpoint-steps" => (:run, :checkpoint_steps, integer(1)),
    "checkpoint-keep" => (:run, :checkpoint_keep, integer(1)),
    "resume" => (:run, :resume, true),
    "log" => (:run, :log, identity),
    "tensorboard" => (:run, :tensorboard, identity),
    "confusion" => (:run, :confusion, true),
    "times" => (:run, :times, true),
    "plan" => (:run, :plan, true),
    "gpu-memory" => (:run, :gpu_memory, memory_size),
    "quiet" => (:run, :quiet, true))

const WITH_HEADS = (:gat, :gatv2, :transformer)
const WITH_EDGES = (WITH_HEADS..., :pna, :gine)

"Options that mean something to some models only."
const LIMITED = Dict("heads" => WITH_HEADS, "edge-features" => WITH_EDGES, "edge-categories" => WITH_EDGES,
                     "edge-weights" => (:gcn, :graphconv), "relations" => (:rgcn,), "bases" => (:rgcn,),
                     "blocks" => (:rgcn,), "aggregation" => (:sage, :gin, :gine, :graphconv, :rgcn, :edge),
                     "normalize" => (:sage,), "project" => (:sage,),
                     "no-root" => (:sage, :rgcn, :transformer), "train-eps" => (:gin, :gine))

# The program's own defaults; all others are the library's.
defaults() = (
    run = Dict{Symbol, Any}(:seed => 1, :runs => 1, :deadline => 30.0, :checkpoint_steps => 0,
                            :checkpoint_keep => 3),
    model = Dict{Symbol, Any}(:architecture => :sage, :num_layers => 2, :hidden_dim => 64,
                              :dropout => 0.5, :aggregation => :default, :readout => :none),
    sampler = Dict{Symbol, Any}(:fanouts => [10, 10]),
    trainer = Dict{Symbol, Any}(:num_ranks => 0, :device => :auto, :num_epochs => 20, :batch_size => 1024,
                                :learning_rate => 0.003, :schedule => :constant, :best_by => :accuracy),
    comm = Dict{Symbol, Any}(),
    parts = Dict{Symbol, Any}(),
    tls = Dict{Symbol, Any}())

"""
The content of the command line: the data set, and a dictionary of settings for each call that takes some.
Ends the program with help or an error if the command line requires it.
"""
function read_options(arguments)
    o, given, names = defaults(), Set{String}(), String[]
    while !isempty(arguments)
        argument = popfirst!(arguments)
        if argument == "-h" || startswith(argument, r"--help(=|$)")
            print_help(occursin('=', argument) ? split(argument, '=')[2] : nothing)
            exit()
        elseif argument == "--version"
            println("train, libgnnmg ", GNNMG.version())
            exit()
        elseif startswith(argument, "--")
            push!(given, take_option!(o, argument[3:end], arguments))
        else
            push!(names, argument)
        end
    end
    length(names) == 1 || refuse(isempty(names) ? "which data set?" : "one data set, please")
    refuse_contradictions(o, given)
    complete(o)
    return merge(o, (dataset = names[1],))
end

# One option, whose value may be the next argument; answers its name.
function take_option!(o, text, arguments)
    name, value = occursin('=', text) ? split(text, '='; limit = 2) : (text, nothing)
    haskey(OPTIONS, name) || refuse("there is no option --$name")
    group, setting, read = OPTIONS[name]
    result = read
    if read isa Function
        value === nothing && isempty(arguments) && refuse("--$name: expected a value")
        value = String(value === nothing ? popfirst!(arguments) : value)
        result = read(value)
        result isa Expected && refuse("--$name $value: expected $(result.text)")
    elseif value !== nothing
        refuse("--$name has no value")
    end
    getfield(o, group)[setting] = result
    return name
end

# Refuses incompatible options.
function refuse_contradictions(o, given)
    architecture = o.model[:architecture]
    needs(option, other) = refuse("--$option needs $other")
    for name in given
        haskey(LIMITED, name) && !(architecture in LIMITED[name]) &&
            refuse("--$name is not an option of the model $architecture")
    end
    "sort-rows" in given && o.model[:readout] != :sort && needs("sort-rows", "--readout sort")
    "schedule-epochs" in given && o.trainer[:schedule] != :step &&
        needs("schedule-epochs", "--schedule step")
    for name in ("resume", "checkpoint-steps")
        name in given && !("checkpoints" in given) && needs(name, "--checkpoints")
    end
    "checkpoints" in given && o.run[:runs] > 1 &&
        refuse("--checkpoints are of one run, not of $(o.run[:runs])")
    length(o.tls) in (0, 3) || refuse("--tls-cert, --tls-key and --tls-ca belong together")
    get(o.comm, :num_processes, 1) > 1 && !haskey(o.comm, :port) && needs("processes", "--port")
end

# Fills in defaults that depend on other options.
function complete(o)
    o.model[:readout] == :none || get!(o.model, :jumping, :last)
    haskey(o.model, :edge_vocabulary) && (o.model[:edge_dim] = o.model[:hidden_dim])
    isempty(o.sampler[:fanouts]) && (o.sampler[:fanouts] = fill(-1, min(o.model[:num_layers], 16)))
    get!(() -> get(ENV, "GNNMG_TOKEN_FILE", nothing), o.comm, :token_file)
    if o.trainer[:device] isa Vector
        o.trainer[:devices], o.trainer[:device] = o.trainer[:device], :cuda
    end
    o.trainer[:cache_bytes] = get(o.run, :cache_mib, 0) << 20
    o.trainer[:deadline_ms] = o.comm[:deadline_ms] = trunc(Int, 1000 * o.run[:deadline])
end
