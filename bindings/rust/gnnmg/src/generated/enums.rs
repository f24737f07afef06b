//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The enumerations.

use crate::raw::{choice, enumeration};

enumeration! {
    /// What went wrong: each stands for one way in which a caller may react.
    pub enum ErrorKind {
        /// An argument is wrong.
        InvalidArgument = GNNMG_ERR_INVALID_ARGUMENT,
        /// No live handle of this kind.
        Handle = GNNMG_ERR_HANDLE,
        /// Another call holds the object.
        Busy = GNNMG_ERR_BUSY,
        /// Other version of header, struct or file.
        Version = GNNMG_ERR_VERSION,
        /// No such name, key, file, index or number.
        NotFound = GNNMG_ERR_NOT_FOUND,
        /// Reading or writing failed; the text has errno.
        Io = GNNMG_ERR_IO,
        /// A file violates its format.
        Format = GNNMG_ERR_FORMAT,
        /// A file has changed since it was written.
        Checksum = GNNMG_ERR_CHECKSUM,
        /// An id or value is out of range.
        Range = GNNMG_ERR_RANGE,
        /// Data is NaN or infinite.
        Nan = GNNMG_ERR_NAN,
        /// The loss was not finite three times.
        Diverged = GNNMG_ERR_DIVERGED,
        /// Not enough memory; the object stays usable.
        NoMemory = GNNMG_ERR_NO_MEMORY,
        /// A library or driver is missing or of another version.
        Dependency = GNNMG_ERR_DEPENDENCY,
        /// Not supported.
        Unsupported = GNNMG_ERR_UNSUPPORTED,
        /// A device has failed.
        DeviceLost = GNNMG_ERR_DEVICE_LOST,
        /// A configured deadline passed.
        Timeout = GNNMG_ERR_TIMEOUT,
        /// Another rank or server is lost.
        PeerLost = GNNMG_ERR_PEER_LOST,
        /// Another rank failed or stopped.
        Aborted = GNNMG_ERR_ABORTED,
        /// Ranks, or settings and stored data, do not match.
        Mismatch = GNNMG_ERR_MISMATCH,
        /// A server, port or GPU is not available.
        Unavailable = GNNMG_ERR_UNAVAILABLE,
        /// A token or certificate is refused, or a message was
        /// changed in transit.
        Auth = GNNMG_ERR_AUTH,
        /// A peer sent an invalid message.
        Protocol = GNNMG_ERR_PROTOCOL,
        /// The caller canceled.
        Cancelled = GNNMG_ERR_CANCELLED,
        /// A callback returned non-zero.
        Callback = GNNMG_ERR_CALLBACK,
        /// The process is a forked child.
        Forked = GNNMG_ERR_FORKED,
        /// A fault of the library; please report it.
        Internal = GNNMG_ERR_INTERNAL,
    }
}

choice! {
    /// Severity of a message.
    pub enum LogLevel {
        /// Details.
        Debug = GNNMG_LOG_DEBUG "debug",
        /// Normal progress.
        Info = GNNMG_LOG_INFO "info",
        /// Possible mistake.
        Warning = GNNMG_LOG_WARNING "warning",
        /// Failure in the background.
        Error = GNNMG_LOG_ERROR "error",
    }
}

choice! {
    /// Kind of a device, as in DLPack.
    pub enum DeviceType {
        /// GPUs if there are enough, else CPU.
        Auto = GNNMG_DEVICE_AUTO "auto",
        /// CPU and main memory.
        Cpu = GNNMG_DEVICE_CPU "cpu",
        /// GPUs.
        Cuda = GNNMG_DEVICE_CUDA "cuda",
    }
}

choice! {
    /// Memory from which GPUs read the graph.
    pub enum GraphPlacement {
        /// DEVICE up to 40 % of free GPU memory, else PINNED or
        /// HOST.
        Auto = GNNMG_GRAPH_PLACEMENT_AUTO "auto",
        /// A copy in each GPU.
        Device = GNNMG_GRAPH_PLACEMENT_DEVICE "device",
        /// One copy in pinned main memory.
        Pinned = GNNMG_GRAPH_PLACEMENT_PINNED "pinned",
        /// Main memory; loader threads sample.
        Host = GNNMG_GRAPH_PLACEMENT_HOST "host",
    }
}

choice! {
    /// Memory from which GPUs read rows of features.
    pub enum FeaturePlacement {
        /// DEVICE up to 60 % of free GPU memory, else CACHED,
        /// PINNED or HOST.
        Auto = GNNMG_FEATURE_PLACEMENT_AUTO "auto",
        /// A copy in each GPU.
        Device = GNNMG_FEATURE_PLACEMENT_DEVICE "device",
        /// One copy in pinned main memory.
        Pinned = GNNMG_FEATURE_PLACEMENT_PINNED "pinned",
        /// PINNED, with the hottest rows also in each GPU.
        Cached = GNNMG_FEATURE_PLACEMENT_CACHED "cached",
        /// Main memory; loader threads gather.
        Host = GNNMG_FEATURE_PLACEMENT_HOST "host",
        /// CACHED, with different rows on each GPU of a trainer;
        /// GPUs read each other.
        Split = GNNMG_FEATURE_PLACEMENT_SPLIT "split",
    }
}

choice! {
    /// Type of the elements of an array.
    pub enum DataType {
        /// float
        F32 = GNNMG_DTYPE_F32 "f32",
        /// double
        F64 = GNNMG_DTYPE_F64 "f64",
        /// IEEE half
        F16 = GNNMG_DTYPE_F16 "f16",
        /// bfloat16
        Bf16 = GNNMG_DTYPE_BF16 "bf16",
        /// int64_t
        I64 = GNNMG_DTYPE_I64 "i64",
        /// int32_t
        I32 = GNNMG_DTYPE_I32 "i32",
        /// uint8_t
        U8 = GNNMG_DTYPE_U8 "u8",
        /// one byte, 0 or 1
        Bool = GNNMG_DTYPE_BOOL "bool",
    }
}

choice! {
    /// Operation on edges. A reverse edge copies the tensor rows of its edge, an added self-loop has
    /// zeros; of equal edges the first keeps its rows.
    pub enum Transform {
        /// Appends (v, u) for each (u, v) with u != v,
        /// in edge order.
        AddReverseEdges = GNNMG_TRANSFORM_ADD_REVERSE_EDGES "add_reverse_edges",
        /// ADD_REVERSE_EDGES, then one of equal edges
        /// stays.
        ToUndirected = GNNMG_TRANSFORM_TO_UNDIRECTED "to_undirected",
        /// Keeps the first of equal edges; sorts by
        /// target, then source.
        Coalesce = GNNMG_TRANSFORM_COALESCE "coalesce",
        /// Removes (v, v).
        RemoveSelfLoops = GNNMG_TRANSFORM_REMOVE_SELF_LOOPS "remove_self_loops",
        /// Appends one (v, v) for each node.
        AddSelfLoops = GNNMG_TRANSFORM_ADD_SELF_LOOPS "add_self_loops",
        /// Appends (v, v) to nodes without one.
        AddRemainingSelfLoops = GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS "add_remaining_self_loops",
        /// Keeps only the nodes.
        RemoveEdges = GNNMG_TRANSFORM_REMOVE_EDGES "remove_edges",
        /// Replaces (u, v) by (v, u), in the same
        /// order.
        ReverseEdges = GNNMG_TRANSFORM_REVERSE_EDGES "reverse_edges",
    }
}

choice! {
    /// Meaning of the labels, for N nodes or graphs and T targets.
    pub enum Task {
        /// No labels.
        None = GNNMG_TASK_NONE "none",
        /// One class: i64 \[N\], -1 for none.
        Multiclass = GNNMG_TASK_MULTICLASS "multiclass",
        /// Yes or no: f32 \[N, T\], NaN for none.
        Binary = GNNMG_TASK_BINARY "binary",
        /// Numbers: f32 \[N, T\], NaN for none.
        Regression = GNNMG_TASK_REGRESSION "regression",
    }
}

choice! {
    /// Part of a split.
    pub enum Part {
        /// Training.
        Train = GNNMG_PART_TRAIN "train",
        /// Selection of the best epoch.
        Validation = GNNMG_PART_VALIDATION "validation",
        /// Measuring the result.
        Test = GNNMG_PART_TEST "test",
    }
}

choice! {
    /// Division of the nodes into parts.
    pub enum PartsMethod {
        /// Few edges between parts.
        Cluster = GNNMG_PARTS_METHOD_CLUSTER "cluster",
        /// METIS, if installed. While it runs, it handles SIGABRT and
        /// SIGTERM, and uses rand().
        Metis = GNNMG_PARTS_METHOD_METIS "metis",
        /// Equal ranges of ids.
        Range = GNNMG_PARTS_METHOD_RANGE "range",
        /// Hash of id and seed.
        Hash = GNNMG_PARTS_METHOD_HASH "hash",
    }
}

choice! {
    /// Draws of a node's neighbors.
    pub enum Draw {
        /// Each node draws exactly the fan-out.
        Uniform = GNNMG_DRAW_UNIFORM "uniform",
        /// LABOR-0 (Balin 2023): a neighbor has one random number for all
        /// nodes of a hop, and is drawn if it is below fan-out / degree.
        /// Fewer distinct nodes; the fan-out is a mean.
        Labor = GNNMG_DRAW_LABOR "labor",
        /// LABOR with one random number for all hops: fewer nodes still,
        /// but dependent hops.
        LaborOnce = GNNMG_DRAW_LABOR_ONCE "labor_once",
    }
}

choice! {
    /// Division of an epoch's ids among ranks.
    pub enum Plan {
        /// One permutation; every id exactly once.
        Global = GNNMG_PLAN_GLOBAL "global",
        /// PyTorch's DistributedSampler, for comparison.
        DistributedSampler = GNNMG_PLAN_DISTRIBUTED_SAMPLER "distributed_sampler",
        /// Slices as in DGL, for comparison.
        Contiguous = GNNMG_PLAN_CONTIGUOUS "contiguous",
        /// Data sets in parts: ids of one part in each
        /// mini-batch, every id once. Set `batches_per_step` to
        /// the number of parts.
        Parts = GNNMG_PLAN_PARTS "parts",
    }
}

choice! {
    /// Architecture of a model.
    pub enum Architecture {
        /// GraphSAGE (Hamilton 2017).
        Sage = GNNMG_ARCHITECTURE_SAGE "sage",
        /// Graph convolutional network (Kipf 2017).
        Gcn = GNNMG_ARCHITECTURE_GCN "gcn",
        /// Graph attention network (Velickovic 2018).
        Gat = GNNMG_ARCHITECTURE_GAT "gat",
        /// Attention that depends on both ends (Brody 2022).
        Gatv2 = GNNMG_ARCHITECTURE_GATV2 "gatv2",
        /// Graph isomorphism network (Xu 2019).
        Gin = GNNMG_ARCHITECTURE_GIN "gin",
        /// GIN with edge features (Hu 2020).
        Gine = GNNMG_ARCHITECTURE_GINE "gine",
        /// R-GCN: a linear map per edge type (Schlichtkrull
        /// 2018).
        Rgcn = GNNMG_ARCHITECTURE_RGCN "rgcn",
        /// Graph transformer (Shi 2021).
        Transformer = GNNMG_ARCHITECTURE_TRANSFORMER "transformer",
        /// Principal neighborhood aggregation (Corso 2020).
        Pna = GNNMG_ARCHITECTURE_PNA "pna",
        /// A linear map for neighbors and one for the node
        /// (Morris 2019).
        Graphconv = GNNMG_ARCHITECTURE_GRAPHCONV "graphconv",
        /// Layers of gnnmg_model_add_conv() and others.
        Layers = GNNMG_ARCHITECTURE_LAYERS "layers",
        /// EdgeConv: a network over both ends of each edge (Wang
        /// 2019); in DGL only with the maximum.
        Edge = GNNMG_ARCHITECTURE_EDGE "edge",
    }
}

choice! {
    /// Source of layer definitions and tensor keys.
    pub enum Framework {
        /// PyTorch Geometric: keys "convs.0.lin_l.weight", ...
        Pyg = GNNMG_FRAMEWORK_PYG "pyg",
        /// DGL: keys "layers.0.fc_neigh.weight", ...
        Dgl = GNNMG_FRAMEWORK_DGL "dgl",
    }
}

choice! {
    /// Aggregation of a node's neighbors.
    pub enum Aggregation {
        /// Sum for GIN, GINE, GraphConv, DGL's R-GCN; max for
        /// EdgeConv; mean for GraphSAGE, PyG's R-GCN.
        Default = GNNMG_AGGREGATION_DEFAULT "default",
        /// Mean.
        Mean = GNNMG_AGGREGATION_MEAN "mean",
        /// Maximum of each column; not in DGL's GraphSAGE.
        Max = GNNMG_AGGREGATION_MAX "max",
        /// Not in DGL's GraphSAGE.
        Sum = GNNMG_AGGREGATION_SUM "sum",
        /// DGL: maximum after a linear layer and ReLU.
        Pool = GNNMG_AGGREGATION_POOL "pool",
        /// GraphSAGE: a recurrent network over the neighbors in edge
        /// order.
        Lstm = GNNMG_AGGREGATION_LSTM "lstm",
        /// DGL: mean of the neighbors and the node itself.
        Gcn = GNNMG_AGGREGATION_GCN "gcn",
    }
}

choice! {
    /// Function between layers.
    pub enum Activation {
        /// max(x, 0)
        Relu = GNNMG_ACTIVATION_RELU "relu",
        /// x
        None = GNNMG_ACTIVATION_NONE "none",
        /// x, or exp(x) - 1 below 0
        Elu = GNNMG_ACTIVATION_ELU "elu",
        /// x, or 0.01 x below 0
        LeakyRelu = GNNMG_ACTIVATION_LEAKY_RELU "leaky_relu",
        /// x times the normal distribution function
        Gelu = GNNMG_ACTIVATION_GELU "gelu",
        /// tanh(x)
        Tanh = GNNMG_ACTIVATION_TANH "tanh",
        /// x, or a learned multiple of x below 0
        Prelu = GNNMG_ACTIVATION_PRELU "prelu",
        /// x / (1 + exp(-x))
        Silu = GNNMG_ACTIVATION_SILU "silu",
        /// 1 / (1 + exp(-x))
        Sigmoid = GNNMG_ACTIVATION_SIGMOID "sigmoid",
    }
}

choice! {
    /// Normalization between layers, and inside GIN, GINE and PyG's EdgeConv. "A graph" means each
    /// graph of a mini-batch of graphs; in other mini-batches, and inside layers, all rows; in results
    /// for all nodes, all nodes.
    pub enum Norm {
        /// None.
        None = GNNMG_NORM_NONE "none",
        /// Each column over the mini-batch. Training needs two rows.
        Batch = GNNMG_NORM_BATCH "batch",
        /// Each row by itself.
        Layer = GNNMG_NORM_LAYER "layer",
        /// All entries of a graph together; default of PyG's LayerNorm.
        LayerGraph = GNNMG_NORM_LAYER_GRAPH "layer_graph",
        /// Each column over a graph, minus a learned share of its mean
        /// (Cai 2021).
        Graph = GNNMG_NORM_GRAPH "graph",
        /// Each column over a graph, without parameters.
        Instance = GNNMG_NORM_INSTANCE "instance",
        /// Columns centered over a graph, then its rows scaled to a mean
        /// square length of `norm_scale` (Zhao 2020).
        Pair = GNNMG_NORM_PAIR "pair",
        /// Columns centered over a graph, then each row scaled to the
        /// length `norm_scale`.
        PairRows = GNNMG_NORM_PAIR_ROWS "pair_rows",
    }
}

choice! {
    /// Combines a graph's rows into one, before a final linear layer; 0 without nodes.
    pub enum Readout {
        /// One row per seed.
        None = GNNMG_READOUT_NONE "none",
        /// Sum.
        Sum = GNNMG_READOUT_SUM "sum",
        /// Mean.
        Mean = GNNMG_READOUT_MEAN "mean",
        /// Maximum of each column.
        Max = GNNMG_READOUT_MAX "max",
        /// Sum weighted by a softmax over learned scores.
        Attention = GNNMG_READOUT_ATTENTION "attention",
        /// A recurrent network that reads the rows `readout_steps`
        /// times, twice as wide (Vinyals 2016).
        Set2set = GNNMG_READOUT_SET2SET "set2set",
        /// The `sort_rows` rows largest in the last column, concatenated
        /// and filled with zeros (Zhang 2018).
        Sort = GNNMG_READOUT_SORT "sort",
    }
}

choice! {
    /// Loss of a mini-batch.
    pub enum Loss {
        /// The task's: one of the next three.
        Auto = GNNMG_LOSS_AUTO "auto",
        /// Classes.
        CrossEntropy = GNNMG_LOSS_CROSS_ENTROPY "cross_entropy",
        /// Binary targets, from logits.
        BinaryCrossEntropy = GNNMG_LOSS_BINARY_CROSS_ENTROPY "binary_cross_entropy",
        /// Regression.
        MeanSquaredError = GNNMG_LOSS_MEAN_SQUARED_ERROR "mean_squared_error",
        /// Regression: torch's L1Loss.
        MeanAbsoluteError = GNNMG_LOSS_MEAN_ABSOLUTE_ERROR "mean_absolute_error",
        /// Regression: squared, linear above `huber_delta`.
        Huber = GNNMG_LOSS_HUBER "huber",
        /// Classes or binary targets: cross-entropy times
        /// (1-p)^`focal_gamma`, p the label's probability.
        Focal = GNNMG_LOSS_FOCAL "focal",
    }
}

choice! {
    /// Kind of optimizer.
    pub enum OptimizerKind {
        /// Adam.
        Adam = GNNMG_OPTIMIZER_ADAM "adam",
        /// Adam with decoupled weight decay.
        Adamw = GNNMG_OPTIMIZER_ADAMW "adamw",
        /// SGD.
        Sgd = GNNMG_OPTIMIZER_SGD "sgd",
        /// RMSprop.
        Rmsprop = GNNMG_OPTIMIZER_RMSPROP "rmsprop",
        /// Adagrad.
        Adagrad = GNNMG_OPTIMIZER_ADAGRAD "adagrad",
    }
}

choice! {
    /// Reduction of the ranks' values.
    pub enum Reduce {
        /// Sum.
        Sum = GNNMG_REDUCE_SUM "sum",
        /// Sum divided by the number of ranks; not for integers.
        Mean = GNNMG_REDUCE_MEAN "mean",
        /// Minimum.
        Min = GNNMG_REDUCE_MIN "min",
        /// Maximum.
        Max = GNNMG_REDUCE_MAX "max",
    }
}

choice! {
    /// Source of the parts that other processes of a job have.
    pub enum PartsReading {
        /// SHARED if every process finds all parts, else ASKED.
        Auto = GNNMG_PARTS_READING_AUTO "auto",
        /// The folder, which every process must find whole.
        Shared = GNNMG_PARTS_READING_SHARED "shared",
        /// The processes that have them. Processes that find the same
        /// parts divide these.
        Asked = GNNMG_PARTS_READING_ASKED "asked",
    }
}

choice! {
    /// State of a trainer.
    pub enum TrainerState {
        /// Not started, or stopped.
        Idle = GNNMG_TRAINER_STATE_IDLE "idle",
        /// Running.
        Running = GNNMG_TRAINER_STATE_RUNNING "running",
        /// Stopping after the step.
        Stopping = GNNMG_TRAINER_STATE_STOPPING "stopping",
        /// Finished all epochs.
        Finished = GNNMG_TRAINER_STATE_FINISHED "finished",
        /// Ended with an error.
        Failed = GNNMG_TRAINER_STATE_FAILED "failed",
    }
}

choice! {
    /// Format of a trainer's record.
    pub enum Record {
        /// File with a JSON object per epoch.
        JsonLines = GNNMG_RECORD_JSON_LINES "json_lines",
        /// Folder for an event file of TensorBoard.
        Tensorboard = GNNMG_RECORD_TENSORBOARD "tensorboard",
    }
}

choice! {
    /// Kind of result, in the model's type unless said otherwise.
    pub enum Output {
        /// Result of the model, or numbers of a regression: \[num_ids,
        /// output_dim\].
        Logits = GNNMG_OUTPUT_LOGITS "logits",
        /// One a class, with sum 1, or one a target: \[num_ids,
        /// output_dim\].
        Probabilities = GNNMG_OUTPUT_PROBABILITIES "probabilities",
        /// Most likely class, i64 \[num_ids\]; for binary targets 0 or
        /// 1, i64 \[num_ids, output_dim\].
        Classes = GNNMG_OUTPUT_CLASSES "classes",
        /// Rows before the layer that gives the result: \[num_ids,
        /// embedding_dim\].
        Embeddings = GNNMG_OUTPUT_EMBEDDINGS "embeddings",
    }
}
