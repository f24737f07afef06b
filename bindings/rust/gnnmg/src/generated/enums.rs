//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The enumerations.

use crate::raw::enumeration;

enumeration! {
    /// What went wrong: each stands for one way in which a caller may react.
    pub enum ErrorKind {
        /// An argument is wrong; the text says which.
        InvalidArgument = GNNMG_ERR_INVALID_ARGUMENT,
        /// NULL, freed, of another kind, or not a handle.
        Handle = GNNMG_ERR_HANDLE,
        /// Another call holds the object.
        Busy = GNNMG_ERR_BUSY,
        /// Header or struct newer than the library.
        Version = GNNMG_ERR_VERSION,
        /// No such file, name, key or index.
        NotFound = GNNMG_ERR_NOT_FOUND,
        /// The system failed to read or write; the text has errno.
        Io = GNNMG_ERR_IO,
        /// A file does not have the expected format.
        Format = GNNMG_ERR_FORMAT,
        /// A file has changed since it was written.
        Checksum = GNNMG_ERR_CHECKSUM,
        /// An id or number is out of range.
        Range = GNNMG_ERR_RANGE,
        /// Data is NaN or infinite.
        Nan = GNNMG_ERR_NAN,
        /// The loss was not finite three times.
        Diverged = GNNMG_ERR_DIVERGED,
        /// Not enough memory; the object stays usable.
        NoMemory = GNNMG_ERR_NO_MEMORY,
        /// LibTorch or a driver is missing or has a wrong version.
        Dependency = GNNMG_ERR_DEPENDENCY,
        /// The library does not support this.
        Unsupported = GNNMG_ERR_UNSUPPORTED,
        /// A device has failed and stays failed.
        DeviceLost = GNNMG_ERR_DEVICE_LOST,
        /// A deadline of the configuration passed.
        Timeout = GNNMG_ERR_TIMEOUT,
        /// Another rank is lost; the text names it.
        PeerLost = GNNMG_ERR_PEER_LOST,
        /// Another rank failed or stopped; the text has the cause.
        Aborted = GNNMG_ERR_ABORTED,
        /// Ranks, or settings and stored data, do not match.
        Mismatch = GNNMG_ERR_MISMATCH,
        /// A server did not answer or refused; a GPU is in use.
        Unavailable = GNNMG_ERR_UNAVAILABLE,
        /// A token is missing, wrong, or readable by others; or a
        /// message between processes of a job was changed in
        /// transit.
        Auth = GNNMG_ERR_AUTH,
        /// A peer sent an invalid message.
        Protocol = GNNMG_ERR_PROTOCOL,
        /// The caller canceled the work.
        Cancelled = GNNMG_ERR_CANCELLED,
        /// A callback returned non-zero.
        Callback = GNNMG_ERR_CALLBACK,
        /// This process is a fork of the one that used the library.
        Forked = GNNMG_ERR_FORKED,
        /// Internal error of the library; please report the text.
        Internal = GNNMG_ERR_INTERNAL,
    }
}

enumeration! {
    /// Severity of a message.
    pub enum LogLevel {
        /// Details for finding a fault.
        Debug = GNNMG_LOG_DEBUG,
        /// Normal progress.
        Info = GNNMG_LOG_INFO,
        /// Possible mistake.
        Warning = GNNMG_LOG_WARNING,
        /// Failure in the background.
        Error = GNNMG_LOG_ERROR,
    }
}

enumeration! {
    /// Kind of a device, with DLPack's numbers.
    pub enum DeviceType {
        /// GPUs if there are enough of them, else the CPU.
        Auto = GNNMG_DEVICE_AUTO,
        /// CPU and main memory.
        Cpu = GNNMG_DEVICE_CPU,
        /// GPUs, each with its own memory.
        Cuda = GNNMG_DEVICE_CUDA,
    }
}

enumeration! {
    /// Memory from which GPUs read the graph.
    pub enum GraphPlacement {
        /// DEVICE if the graph takes at most 40 % of the free GPU
        /// memory, else PINNED, else HOST.
        Auto = GNNMG_GRAPH_PLACEMENT_AUTO,
        /// A copy in the memory of each GPU.
        Device = GNNMG_GRAPH_PLACEMENT_DEVICE,
        /// One copy in pinned main memory; GPUs sample from it.
        Pinned = GNNMG_GRAPH_PLACEMENT_PINNED,
        /// Main memory; the loader's threads sample. Custom samplers
        /// and whole graphs need this.
        Host = GNNMG_GRAPH_PLACEMENT_HOST,
    }
}

enumeration! {
    /// Memory from which GPUs read rows of features.
    pub enum FeaturePlacement {
        /// DEVICE if the features take at most 60 % of the free GPU
        /// memory, else CACHED, PINNED or HOST.
        Auto = GNNMG_FEATURE_PLACEMENT_AUTO,
        /// A copy in the memory of each GPU.
        Device = GNNMG_FEATURE_PLACEMENT_DEVICE,
        /// One copy in pinned main memory; GPUs read it.
        Pinned = GNNMG_FEATURE_PLACEMENT_PINNED,
        /// PINNED, with the hottest rows also in the memory of each
        /// GPU; not for custom samplers or whole graphs.
        Cached = GNNMG_FEATURE_PLACEMENT_CACHED,
        /// Main memory; the loader's threads gather. Sparse rows and
        /// rows of a mapped file need this.
        Host = GNNMG_FEATURE_PLACEMENT_HOST,
        /// CACHED, with different rows on each GPU of a trainer in
        /// this process. The GPUs read each other's memory, so two
        /// GPUs cache twice as many rows. [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported)
        /// for one GPU, or if two of the GPUs cannot read each
        /// other's memory.
        Split = GNNMG_FEATURE_PLACEMENT_SPLIT,
    }
}

enumeration! {
    /// Storage type of feature rows for GPUs; reads convert them back.
    pub enum FeatureForm {
        /// Type of the data set.
        AsGiven = GNNMG_FEATURE_FORM_AS_GIVEN,
        /// IEEE half, rounded to nearest even.
        F16 = GNNMG_FEATURE_FORM_F16,
        /// bfloat16, rounded to nearest even.
        Bf16 = GNNMG_FEATURE_FORM_BF16,
        /// One byte per element and one scale per row.
        Int8 = GNNMG_FEATURE_FORM_INT8,
    }
}

enumeration! {
    /// Criterion by which a cache selects rows.
    pub enum Hotness {
        /// Probability of being in a mini-batch, computed from training
        /// ids and fan-outs.
        Probability = GNNMG_HOTNESS_PROBABILITY,
        /// Number of edges that leave the node.
        Degree = GNNMG_HOTNESS_DEGREE,
        /// Count in the first mini-batches, sampled when training begins
        /// or a loader is made.
        Counting = GNNMG_HOTNESS_COUNTING,
    }
}

enumeration! {
    /// Type of the elements of an array.
    pub enum DataType {
        /// float
        F32 = GNNMG_DTYPE_F32,
        /// double
        F64 = GNNMG_DTYPE_F64,
        /// IEEE half
        F16 = GNNMG_DTYPE_F16,
        /// bfloat16
        Bf16 = GNNMG_DTYPE_BF16,
        /// int64_t
        I64 = GNNMG_DTYPE_I64,
        /// int32_t
        I32 = GNNMG_DTYPE_I32,
        /// uint8_t
        U8 = GNNMG_DTYPE_U8,
        /// one byte, 0 or 1
        Bool = GNNMG_DTYPE_BOOL,
    }
}

enumeration! {
    /// Operation of gnnmg_graph_create_transformed().
    pub enum Transform {
        /// Appends (v, u) for each (u, v) with u != v, in edge
        /// order; keeps duplicates.
        AddReverseEdges = GNNMG_TRANSFORM_ADD_REVERSE_EDGES,
        /// Adds reverse edges, then keeps one of equal edges.
        ToUndirected = GNNMG_TRANSFORM_TO_UNDIRECTED,
        /// Keeps the first of equal edges, sorted by target, then
        /// source.
        Coalesce = GNNMG_TRANSFORM_COALESCE,
        /// Removes (v, v).
        RemoveSelfLoops = GNNMG_TRANSFORM_REMOVE_SELF_LOOPS,
        /// Appends one (v, v) for each node.
        AddSelfLoops = GNNMG_TRANSFORM_ADD_SELF_LOOPS,
        /// Appends (v, v) to nodes that have none.
        AddRemainingSelfLoops = GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS,
        /// Keeps the nodes and no edges: a model then learns from
        /// features only.
        RemoveEdges = GNNMG_TRANSFORM_REMOVE_EDGES,
        /// Replaces (u, v) by (v, u), in the same order: messages flow
        /// the other way.
        ReverseEdges = GNNMG_TRANSFORM_REVERSE_EDGES,
    }
}

enumeration! {
    /// Meaning of the labels.
    pub enum Task {
        /// No labels.
        None = GNNMG_TASK_NONE,
        /// One class per node or graph: i64 \[N\], -1 for no label.
        Multiclass = GNNMG_TASK_MULTICLASS,
        /// Yes or no, for one or more targets: f32 \[N, T\], NaN for no
        /// label.
        Binary = GNNMG_TASK_BINARY,
        /// Numbers: f32 \[N, T\], NaN for no label.
        Regression = GNNMG_TASK_REGRESSION,
    }
}

enumeration! {
    /// Part of a split.
    pub enum Split {
        /// Ids to train on.
        Train = GNNMG_SPLIT_TRAIN,
        /// Ids that select the best epoch.
        Validation = GNNMG_SPLIT_VALIDATION,
        /// Ids that measure the result.
        Test = GNNMG_SPLIT_TEST,
    }
}

enumeration! {
    /// Format of a data set on disk.
    pub enum Format {
        /// Detected from the files.
        Auto = GNNMG_FORMAT_AUTO,
        /// Folder that gnnmg_dataset_save() writes.
        Gnnmg = GNNMG_FORMAT_GNNMG,
        /// Folder of `ind.NAME.*` (Cora, CiteSeer, PubMed).
        Planetoid = GNNMG_FORMAT_PLANETOID,
        /// Folder of `edges.npy`, or `triples.npy` for a knowledge
        /// graph, and `labels.npy`, `split_*.npy`, ...
        Plain = GNNMG_FORMAT_PLAIN,
        /// One `.npz` with `adj_*` and `attr_*` (Amazon, Coauthor).
        Shchur = GNNMG_FORMAT_SHCHUR,
        /// One `.npz` with `node_features`, `edges`, masks.
        Heterophilous = GNNMG_FORMAT_HETEROPHILOUS,
        /// Folder of an OGB node property data set.
        Ogb = GNNMG_FORMAT_OGB,
        /// Text with one edge per line, also gzipped.
        Edges = GNNMG_FORMAT_EDGES,
        /// Many graphs in one text, in the format of GIN and DGCNN.
        Gin = GNNMG_FORMAT_GIN,
        /// Many graphs: `NAME_A.txt`, `NAME_graph_indicator.txt`, ...
        Tu = GNNMG_FORMAT_TU,
        /// Many graphs: one `.npz` with `node_ptr`, `edge_ptr`, `edges`.
        Packed = GNNMG_FORMAT_PACKED,
        /// Text that begins with `%%MatrixMarket`, also gzipped.
        MatrixMarket = GNNMG_FORMAT_MATRIX_MARKET,
        /// Text of a METIS graph, also gzipped.
        Metis = GNNMG_FORMAT_METIS,
        /// Folder of parts that gnnmg_dataset_save_parts() writes.
        Parts = GNNMG_FORMAT_PARTS,
        /// Folder of Geom-GCN's two texts `out1_*.txt`.
        GeomGcn = GNNMG_FORMAT_GEOM_GCN,
    }
}

enumeration! {
    /// Method that divides nodes into parts.
    pub enum PartsMethod {
        /// Few edges between parts: finds clusters, divides the graph
        /// of clusters, moves nodes. Memory: 26 bytes per node and
        /// 0.3 GB.
        Cluster = GNNMG_PARTS_METHOD_CLUSTER,
        /// METIS on the whole graph; METIS must be installed. About 120
        /// bytes per edge. METIS handles SIGABRT and SIGTERM itself
        /// while it runs, and uses rand().
        Metis = GNNMG_PARTS_METHOD_METIS,
        /// Equal ranges of ids.
        Range = GNNMG_PARTS_METHOD_RANGE,
        /// Hash of id and seed.
        Hash = GNNMG_PARTS_METHOD_HASH,
    }
}

enumeration! {
    /// Nodes that are expanded at a hop.
    pub enum Expansion {
        /// Nodes first met at the previous hop. All layers share one set
        /// of edges, trimmed to the needs of each layer. PyG's rule.
        Once = GNNMG_EXPANSION_ONCE,
        /// All nodes met so far, drawn anew for each layer. DGL's
        /// rule.
        EveryLayer = GNNMG_EXPANSION_EVERY_LAYER,
    }
}

enumeration! {
    /// Method that draws the neighbors of a node.
    pub enum Draw {
        /// Each node draws independently, exactly as many as the fan-out.
        Uniform = GNNMG_DRAW_UNIFORM,
        /// LABOR-0 (Balin and Catalyurek, NeurIPS 2023): each neighbor has one
        /// random number for all nodes of a hop and is kept if that is below
        /// fan-out / degree. Each neighbor has the same probability as with
        /// [`Draw::Uniform`](crate::Draw::Uniform), and the fan-out is the mean number per node.
        /// A mini-batch has fewer distinct nodes, so there is less to read and
        /// compute.
        Labor = GNNMG_DRAW_LABOR,
        /// LABOR with one random number for all hops of a mini-batch: still
        /// fewer nodes, but the hops depend on each other.
        LaborOnce = GNNMG_DRAW_LABOR_ONCE,
    }
}

enumeration! {
    /// Method that divides an epoch's ids among ranks.
    pub enum Partition {
        /// One permutation; every id exactly once.
        Global = GNNMG_PARTITION_GLOBAL,
        /// Rule of PyTorch's DistributedSampler, for
        /// comparison.
        DistributedSampler = GNNMG_PARTITION_DISTRIBUTED_SAMPLER,
        /// Slices as in DGL, for comparison.
        Contiguous = GNNMG_PARTITION_CONTIGUOUS,
        /// Ids divided by parts, for data sets in parts: every id exactly
        /// once, and all ids of a mini-batch from one part. Each part permutes
        /// and divides its own ids, and the mini-batches of all parts are
        /// spread evenly over the epoch. The mini-batches are the same for any
        /// number of ranks and processes; ranks first take those of their
        /// process's parts. Set `batches_per_step` to the number of parts.
        Parts = GNNMG_PARTITION_PARTS,
    }
}

enumeration! {
    /// Metric that selects the best epoch.
    pub enum Metric {
        /// Higher is better.
        Accuracy = GNNMG_METRIC_ACCURACY,
        /// Lower is better.
        Loss = GNNMG_METRIC_LOSS,
        /// Higher is better.
        RocAuc = GNNMG_METRIC_ROC_AUC,
        /// Higher is better.
        F1Macro = GNNMG_METRIC_F1_MACRO,
        /// Higher is better.
        F1Micro = GNNMG_METRIC_F1_MICRO,
        /// Higher is better.
        AveragePrecision = GNNMG_METRIC_AVERAGE_PRECISION,
        /// Lower is better.
        Rmse = GNNMG_METRIC_RMSE,
        /// Lower is better.
        Mae = GNNMG_METRIC_MAE,
    }
}

enumeration! {
    /// Architecture of a model.
    pub enum Architecture {
        /// GraphSAGE (Hamilton, Ying, Leskovec 2017), as in PyG.
        Sage = GNNMG_MODEL_SAGE,
        /// Graph convolutional network (Kipf, Welling 2017).
        Gcn = GNNMG_MODEL_GCN,
        /// Graph attention network (Velickovic and others 2018).
        Gat = GNNMG_MODEL_GAT,
        /// Graph attention that depends on both ends (Brody and others 2022).
        Gatv2 = GNNMG_MODEL_GATV2,
        /// Graph isomorphism network (Xu and others 2019).
        Gin = GNNMG_MODEL_GIN,
        /// GIN with edge features (Hu and others 2020).
        Gine = GNNMG_MODEL_GINE,
        /// R-GCN: one linear map per edge type (Schlichtkrull and others
        /// 2018).
        Rgcn = GNNMG_MODEL_RGCN,
        /// Graph transformer (Shi and others 2021), with edge features.
        Transformer = GNNMG_MODEL_TRANSFORMER,
        /// Principal neighborhood aggregation (Corso and others 2020), with
        /// edge features.
        Pna = GNNMG_MODEL_PNA,
        /// One linear map for the neighbors and one for the node (Morris and
        /// others 2019).
        Graphconv = GNNMG_MODEL_GRAPHCONV,
        /// Custom layers, added one by one with gnnmg_model_add_conv() and
        /// similar functions.
        Layers = GNNMG_MODEL_LAYERS,
        /// EdgeConv: a network over both ends of each edge (Wang and others
        /// 2019). With [`Framework::Dgl`](crate::Framework::Dgl) only the maximum as
        /// aggregation.
        Edge = GNNMG_MODEL_EDGE,
    }
}

enumeration! {
    /// Reduction of the messages into a node, for PNA.
    pub enum PnaReduction {
        /// Mean.
        Mean = GNNMG_PNA_REDUCTION_MEAN,
        /// Minimum of each column.
        Min = GNNMG_PNA_REDUCTION_MIN,
        /// Maximum of each column.
        Max = GNNMG_PNA_REDUCTION_MAX,
        /// Sum.
        Sum = GNNMG_PNA_REDUCTION_SUM,
        /// Variance.
        Variance = GNNMG_PNA_REDUCTION_VARIANCE,
        /// Standard deviation.
        Deviation = GNNMG_PNA_REDUCTION_DEVIATION,
    }
}

enumeration! {
    /// Factor of PNA's reductions. d is the number of edges into the node; mean d and mean log are
    /// means over the training graph.
    pub enum PnaScaler {
        /// 1
        Identity = GNNMG_PNA_SCALER_IDENTITY,
        /// log(d + 1) / mean log
        Amplification = GNNMG_PNA_SCALER_AMPLIFICATION,
        /// mean log / log(d + 1), d at least 1
        Attenuation = GNNMG_PNA_SCALER_ATTENUATION,
        /// d / mean d
        Linear = GNNMG_PNA_SCALER_LINEAR,
        /// mean d / d, d at least 1
        InverseLinear = GNNMG_PNA_SCALER_INVERSE_LINEAR,
    }
}

enumeration! {
    /// Framework whose layer definitions and tensor keys the model follows.
    pub enum Framework {
        /// PyTorch Geometric: keys "convs.0.lin_l.weight", ...
        Pyg = GNNMG_FRAMEWORK_PYG,
        /// DGL: keys "layers.0.fc_neigh.weight", ... Layers add no
        /// self-loops, degrees are those of the block, and a tied maximum
        /// has one winner.
        Dgl = GNNMG_FRAMEWORK_DGL,
    }
}

enumeration! {
    /// Input of the first layer. Without features, `input_dim` is the number of nodes, the data set
    /// needs no features, and the model accepts only graphs of that size.
    pub enum Input {
        /// Features of the nodes.
        Features = GNNMG_INPUT_FEATURES,
        /// A learned row of `hidden_dim` columns for each node:
        /// "embedding.weight". Also for [`Architecture::Layers`](crate::Architecture::Layers).
        Embedding = GNNMG_INPUT_EMBEDDING,
        /// PyG's R-GCN: the node itself, as if the features were the unit
        /// matrix. Each relation's matrix has one row of weights per node.
        Nodes = GNNMG_INPUT_NODES,
    }
}

enumeration! {
    /// Normalization of GCN's sum over the neighbors. PyG's GCN has BOTH, and without `self_loops` also
    /// NONE.
    pub enum DegreeNorm {
        /// Divides each row by the roots of the degrees of both ends.
        Both = GNNMG_DEGREE_NORM_BOTH,
        /// DGL: divides by the target's degree: the mean.
        Right = GNNMG_DEGREE_NORM_RIGHT,
        /// DGL: divides each row by its source's degree.
        Left = GNNMG_DEGREE_NORM_LEFT,
        /// Plain sum.
        None = GNNMG_DEGREE_NORM_NONE,
    }
}

enumeration! {
    /// Aggregation of a node's neighbors.
    pub enum Aggregation {
        /// Default of the layer: sum for GIN, GINE, GraphConv and DGL's
        /// R-GCN, max for EdgeConv, mean for GraphSAGE and R-GCN. Not 0,
        /// which is the mean.
        Default = GNNMG_AGGREGATION_DEFAULT,
        /// Mean.
        Mean = GNNMG_AGGREGATION_MEAN,
        /// Maximum of each column; not for DGL's GraphSAGE.
        Max = GNNMG_AGGREGATION_MAX,
        /// Sum; not for DGL's GraphSAGE.
        Sum = GNNMG_AGGREGATION_SUM,
        /// DGL: maximum after a linear layer and ReLU.
        Pool = GNNMG_AGGREGATION_POOL,
        /// GraphSAGE: a recurrent network over the neighbors in edge order.
        /// PyG's continues with rows of zeros up to the largest in-degree of
        /// the mini-batch, or of the graph for results of all nodes.
        Lstm = GNNMG_AGGREGATION_LSTM,
        /// DGL: mean of the neighbors and the node itself.
        Gcn = GNNMG_AGGREGATION_GCN,
    }
}

enumeration! {
    /// Activation function between layers.
    pub enum Activation {
        /// max(x, 0)
        Relu = GNNMG_ACTIVATION_RELU,
        /// x
        None = GNNMG_ACTIVATION_NONE,
        /// x, or exp(x) - 1 below 0
        Elu = GNNMG_ACTIVATION_ELU,
        /// x, or 0.01 x below 0
        LeakyRelu = GNNMG_ACTIVATION_LEAKY_RELU,
        /// x times the normal distribution function
        Gelu = GNNMG_ACTIVATION_GELU,
        /// tanh(x)
        Tanh = GNNMG_ACTIVATION_TANH,
        /// x, or a learned multiple of x below 0
        Prelu = GNNMG_ACTIVATION_PRELU,
        /// x / (1 + exp(-x))
        Silu = GNNMG_ACTIVATION_SILU,
        /// 1 / (1 + exp(-x))
        Sigmoid = GNNMG_ACTIVATION_SIGMOID,
    }
}

enumeration! {
    /// Normalization between layers, and between the linear layers inside GIN, GINE and PyG's EdgeConv
    /// (over rows of edges). "A graph" is each graph of a batch of graphs. Otherwise, and always inside
    /// layers, it is all rows at hand: those of the mini-batch in training, all rows in results for all
    /// nodes. EdgeConv has norms over graphs only with a readout.
    pub enum Norm {
        /// None.
        None = GNNMG_NORM_NONE,
        /// Each column over the mini-batch. Training needs at least two rows; the
        /// text of [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) says how to get them.
        Batch = GNNMG_NORM_BATCH,
        /// Each row independently.
        Layer = GNNMG_NORM_LAYER,
        /// All entries of a graph together; default of PyG's LayerNorm.
        LayerGraph = GNNMG_NORM_LAYER_GRAPH,
        /// Each column over a graph, minus a learned share of its mean (Cai and
        /// others 2021).
        Graph = GNNMG_NORM_GRAPH,
        /// Each column over a graph, without parameters.
        Instance = GNNMG_NORM_INSTANCE,
        /// Columns centered over a graph, then all rows of the graph scaled to
        /// a mean square length of `norm_scale` (Zhao, Akoglu 2020).
        Pair = GNNMG_NORM_PAIR,
        /// Columns centered over a graph, then each row scaled to the length
        /// `norm_scale`.
        PairRows = GNNMG_NORM_PAIR_ROWS,
    }
}

enumeration! {
    /// Selects whether a norm ends with a learned weight and bias per column.
    pub enum NormAffine {
        /// Yes for batch and layer norms, no for instance norm.
        Default = GNNMG_NORM_AFFINE_DEFAULT,
        /// Yes.
        On = GNNMG_NORM_AFFINE_ON,
        /// No.
        Off = GNNMG_NORM_AFFINE_OFF,
    }
}

enumeration! {
    /// Edge features of the self-loops that attention adds, computed from the other edges into the
    /// node; 0 without such edges.
    pub enum LoopFill {
        /// Mean of each column.
        Mean = GNNMG_LOOP_FILL_MEAN,
        /// Sum of each column.
        Sum = GNNMG_LOOP_FILL_SUM,
        /// Maximum of each column.
        Max = GNNMG_LOOP_FILL_MAX,
        /// Minimum of each column.
        Min = GNNMG_LOOP_FILL_MIN,
        /// `loop_value` in every column.
        Constant = GNNMG_LOOP_FILL_CONSTANT,
    }
}

enumeration! {
    /// Connections around a layer.
    pub enum Skip {
        /// None.
        None = GNNMG_SKIP_NONE,
        /// Adds a linear map of each layer's input to its output; a linear layer
        /// gives the result.
        Linear = GNNMG_SKIP_LINEAR,
        /// Residual blocks that begin with the norm, between linear layers.
        Residual = GNNMG_SKIP_RESIDUAL,
    }
}

enumeration! {
    /// Combination of the layers' outputs. Except for NONE, norm, activation and dropout follow every
    /// layer, and a linear layer gives the result.
    pub enum Jumping {
        /// The last layer gives the result.
        None = GNNMG_JUMPING_NONE,
        /// Output of the last layer.
        Last = GNNMG_JUMPING_LAST,
        /// Outputs of all layers, concatenated.
        Cat = GNNMG_JUMPING_CAT,
        /// Maximum over all layers, entry by entry.
        Max = GNNMG_JUMPING_MAX,
        /// Sum of the outputs, weighted by attention; a bidirectional recurrent
        /// network over the layers computes the scores.
        Lstm = GNNMG_JUMPING_LSTM,
        /// GIN: sum of readouts of the features and of every layer's output,
        /// each after its own linear layer. Needs a readout.
        Scores = GNNMG_JUMPING_SCORES,
    }
}

enumeration! {
    /// Combination of a graph's node rows into one row of the result. It reads the input of the final
    /// linear layer, or, without one, the output of the last layer. A graph without nodes gives 0.
    pub enum Readout {
        /// The result has one row per seed.
        None = GNNMG_READOUT_NONE,
        /// Sum.
        Sum = GNNMG_READOUT_SUM,
        /// Mean.
        Mean = GNNMG_READOUT_MEAN,
        /// Maximum of each column.
        Max = GNNMG_READOUT_MAX,
        /// Sum weighted by a softmax over scores; a linear layer computes
        /// the score of each row.
        Attention = GNNMG_READOUT_ATTENTION,
        /// A recurrent network that reads the rows `readout_steps` times
        /// (Vinyals and others 2016); the result is twice as wide.
        Set2set = GNNMG_READOUT_SET2SET,
        /// Concatenates the `sort_rows` rows that are largest in the last
        /// column, in that order, with zeros if there are fewer (Zhang and
        /// others 2018).
        Sort = GNNMG_READOUT_SORT,
    }
}

enumeration! {
    /// Distribution of the initial weights.
    pub enum WeightInit {
        /// Default of each layer in PyG, or in DGL for DGL's layers: uniform
        /// within 1 / sqrt(fan in); GCN and attention Glorot, biases 0.
        Pyg = GNNMG_WEIGHT_INIT_PYG,
        /// Glorot uniform, biases 0.
        Glorot = GNNMG_WEIGHT_INIT_GLOROT,
        /// Default of each layer in DGL: Glorot uniform with gain sqrt 2;
        /// attention Glorot normal; GCN with gain 1, biases 0.
        Dgl = GNNMG_WEIGHT_INIT_DGL,
    }
}

enumeration! {
    /// Loss function of a mini-batch.
    pub enum Loss {
        /// Loss of the task: one of the next three.
        Auto = GNNMG_LOSS_AUTO,
        /// Classes.
        CrossEntropy = GNNMG_LOSS_CROSS_ENTROPY,
        /// Binary targets, from logits.
        BinaryCrossEntropy = GNNMG_LOSS_BINARY_CROSS_ENTROPY,
        /// Regression.
        MeanSquaredError = GNNMG_LOSS_MEAN_SQUARED_ERROR,
        /// Regression: torch's L1Loss.
        MeanAbsoluteError = GNNMG_LOSS_MEAN_ABSOLUTE_ERROR,
        /// Regression: squared, and linear above `huber_delta`.
        Huber = GNNMG_LOSS_HUBER,
        /// Classes or binary targets: cross-entropy times
        /// (1 - p)^`focal_gamma`, p the label's probability.
        Focal = GNNMG_LOSS_FOCAL,
    }
}

enumeration! {
    /// File format of weights.
    pub enum ModelFormat {
        /// Loading: detected from the first bytes; saving: `.pth` or
        /// `.pt` at the end of the path mean PTH, any other end
        /// SAFETENSORS.
        Auto = GNNMG_MODEL_FORMAT_AUTO,
        /// safetensors.
        Safetensors = GNNMG_MODEL_FORMAT_SAFETENSORS,
        /// State dict as `torch.save` writes it.
        Pth = GNNMG_MODEL_FORMAT_PTH,
    }
}

enumeration! {
    /// Kind of optimizer.
    pub enum OptimizerKind {
        /// Adam.
        Adam = GNNMG_OPTIMIZER_ADAM,
        /// Adam with decoupled weight decay.
        Adamw = GNNMG_OPTIMIZER_ADAMW,
        /// Stochastic gradient descent.
        Sgd = GNNMG_OPTIMIZER_SGD,
        /// RMSprop.
        Rmsprop = GNNMG_OPTIMIZER_RMSPROP,
        /// Adagrad.
        Adagrad = GNNMG_OPTIMIZER_ADAGRAD,
    }
}

enumeration! {
    /// Reduction of the ranks' values.
    pub enum Reduce {
        /// Sum.
        Sum = GNNMG_REDUCE_SUM,
        /// Sum divided by the number of ranks; not for integers.
        Mean = GNNMG_REDUCE_MEAN,
        /// Minimum.
        Min = GNNMG_REDUCE_MIN,
        /// Maximum.
        Max = GNNMG_REDUCE_MAX,
    }
}

enumeration! {
    /// Source of the parts that other processes of a job have.
    pub enum PartsReading {
        /// Default: the folder, if every process finds all parts in its
        /// folder; else the processes that have them.
        Auto = GNNMG_PARTS_READING_AUTO,
        /// The folder. [`ErrorKind::Mismatch`](crate::ErrorKind::Mismatch) if a process does not find
        /// all parts.
        Shared = GNNMG_PARTS_READING_SHARED,
        /// The processes that have them. Processes that find the same
        /// parts, such as those of one machine, divide them, so the
        /// memory of a process has only the edges of its own parts.
        Asked = GNNMG_PARTS_READING_ASKED,
    }
}

enumeration! {
    /// Change of the learning rate from epoch to epoch.
    pub enum Schedule {
        /// No change.
        Constant = GNNMG_SCHEDULE_CONSTANT,
        /// Half a cosine, down to `schedule_minimum`.
        Cosine = GNNMG_SCHEDULE_COSINE,
        /// Multiply by `schedule_factor` every `schedule_step_epochs`.
        Step = GNNMG_SCHEDULE_STEP,
        /// Multiply by `schedule_factor` when validation stops
        /// improving.
        Plateau = GNNMG_SCHEDULE_PLATEAU,
    }
}

enumeration! {
    /// Neighborhoods of an evaluation.
    pub enum Evaluation {
        /// All neighbors, layer by layer over the graph.
        Full = GNNMG_EVALUATION_FULL,
        /// Neighborhoods drawn by the training sampler.
        Sampled = GNNMG_EVALUATION_SAMPLED,
    }
}

enumeration! {
    /// Mean that is the loss of a step.
    pub enum LossAverage {
        /// Mean over all seeds of the step: independent of the number of
        /// ranks.
        Exact = GNNMG_LOSS_AVERAGE_EXACT,
        /// Mean of the ranks' means, as PyTorch's DDP, for comparison.
        Ranks = GNNMG_LOSS_AVERAGE_RANKS,
    }
}

enumeration! {
    /// Capture of training steps on GPUs as CUDA graphs, which are then replayed. If the steps can be
    /// captured and memory suffices, mini-batches are padded to a few shapes; with or without capture
    /// such steps have the same bits, and their times the same meaning. Other steps are neither captured
    /// nor padded, and the log says why.
    pub enum Capture {
        /// Captures if possible; as [`Capture::Off`](crate::Capture::Off) if the driver
        /// refuses.
        Auto = GNNMG_CAPTURE_AUTO,
        /// No capture: kernel after kernel over the same shapes, with the
        /// same bits.
        Off = GNNMG_CAPTURE_OFF,
        /// Captures, or fails: training on GPUs without capture is
        /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) with the reason.
        On = GNNMG_CAPTURE_ON,
        /// No capture and no padding: kernel after kernel with the least
        /// memory; results are equal up to rounding.
        Unpadded = GNNMG_CAPTURE_UNPADDED,
    }
}

enumeration! {
    /// Precision of matrix products in forward and backward passes of f32 models. TF32 applies to all
    /// products. BF16 applies to products of SAGE, GCN, GIN, GAT and similar layers; small products of
    /// R-GCN, PNA, LSTMs and readouts, and all weights, gradients, sums over neighbors and evaluations
    /// stay in the model's type.
    pub enum Precision {
        /// Type of the model. LibTorch's TF32 is off in the process while
        /// such a trainer uses GPUs, and restored afterwards.
        Float32 = GNNMG_PRECISION_FLOAT32,
        /// TF32: factors have 10 bits of mantissa on GPUs; as FLOAT32 on the
        /// CPU. While such a trainer works, TF32 applies to all products of
        /// LibTorch on GPUs in the process, and a step of another trainer
        /// without TF32 on GPUs is [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
        Tf32 = GNNMG_PRECISION_TF32,
        /// Factors are rounded to bf16; sums within a product are f32, a
        /// setting of LibTorch for the whole process while such a trainer
        /// uses GPUs. Results are f32 on CPUs and rounded to bf16 on GPUs.
        /// Faster only on CPUs with AMX or AVX-512's bf16 instructions.
        Bf16 = GNNMG_PRECISION_BF16,
    }
}

enumeration! {
    /// State of a trainer.
    pub enum TrainerState {
        /// Not started, or stopped.
        Idle = GNNMG_TRAINER_IDLE,
        /// Running.
        Running = GNNMG_TRAINER_RUNNING,
        /// Stopping after the current step.
        Stopping = GNNMG_TRAINER_STOPPING,
        /// Finished all epochs.
        Finished = GNNMG_TRAINER_FINISHED,
        /// Ended with an error.
        Failed = GNNMG_TRAINER_FAILED,
    }
}

enumeration! {
    /// Format of a trainer's record.
    pub enum Record {
        /// File to which each epoch appends one JSON object.
        JsonLines = GNNMG_RECORD_JSON_LINES,
        /// Folder that gets an event file of TensorBoard.
        Tensorboard = GNNMG_RECORD_TENSORBOARD,
    }
}

enumeration! {
    /// The kind of result.
    pub enum Output {
        /// The model's result: \[num_ids, output_dim\] in its type. The
        /// predicted numbers of a regression.
        Logits = GNNMG_OUTPUT_LOGITS,
        /// One a class, with a sum of 1 in a row, or one a target:
        /// \[num_ids, output_dim\] in the model's type.
        Probabilities = GNNMG_OUTPUT_PROBABILITIES,
        /// The most likely class, i64 \[num_ids\]; of yes-or-no targets 0
        /// or 1 for each, i64 \[num_ids, output_dim\].
        Classes = GNNMG_OUTPUT_CLASSES,
        /// The rows that the last layer makes the result from:
        /// \[num_ids, embedding_dim\] in the model's type; the result
        /// itself of a model without an output width.
        Embeddings = GNNMG_OUTPUT_EMBEDDINGS,
    }
}
