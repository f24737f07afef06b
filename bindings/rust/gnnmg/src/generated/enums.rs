//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The enumerations.

use crate::raw::enumeration;

enumeration! {
    /// What went wrong: each stands for one way in which a caller may react.
    pub enum ErrorKind {
        /// An argument is wrong; the text says which.
        InvalidArgument = GNNMG_ERR_INVALID_ARGUMENT,
        /// NULL, freed, of another kind, or no handle at all.
        Handle = GNNMG_ERR_HANDLE,
        /// Another call holds the object.
        Busy = GNNMG_ERR_BUSY,
        /// Header or struct newer than the library.
        Version = GNNMG_ERR_VERSION,
        /// No such file, name, key or index.
        NotFound = GNNMG_ERR_NOT_FOUND,
        /// The system failed to read or write; errno is given.
        Io = GNNMG_ERR_IO,
        /// A file is not what it should be.
        Format = GNNMG_ERR_FORMAT,
        /// A file has changed since it was written.
        Checksum = GNNMG_ERR_CHECKSUM,
        /// An id or number outside its range.
        Range = GNNMG_ERR_RANGE,
        /// Data that should be finite is not.
        Nan = GNNMG_ERR_NAN,
        /// The loss was not finite three times.
        Diverged = GNNMG_ERR_DIVERGED,
        /// No memory; the object stays usable.
        NoMemory = GNNMG_ERR_NO_MEMORY,
        /// LibTorch or a driver is missing or of a wrong version.
        Dependency = GNNMG_ERR_DEPENDENCY,
        /// Understood, but not offered.
        Unsupported = GNNMG_ERR_UNSUPPORTED,
        /// A device has failed and stays failed.
        DeviceLost = GNNMG_ERR_DEVICE_LOST,
        /// A deadline of the configuration passed.
        Timeout = GNNMG_ERR_TIMEOUT,
        /// Another rank is gone; the text names it.
        PeerLost = GNNMG_ERR_PEER_LOST,
        /// Another rank failed or gave up; the text has the cause.
        Aborted = GNNMG_ERR_ABORTED,
        /// Ranks disagree on what they do.
        Mismatch = GNNMG_ERR_MISMATCH,
        /// A server did not answer or refused; a GPU is taken.
        Unavailable = GNNMG_ERR_UNAVAILABLE,
        /// A token is missing, was not accepted or can be read by
        /// others; or what processes of a job sent each other was changed
        /// on its way.
        Auth = GNNMG_ERR_AUTH,
        /// A peer sent what it should not.
        Protocol = GNNMG_ERR_PROTOCOL,
        /// Cancelled by the caller.
        Cancelled = GNNMG_ERR_CANCELLED,
        /// A callback answered non-zero.
        Callback = GNNMG_ERR_CALLBACK,
        /// This process is a fork of the one that used the library.
        Forked = GNNMG_ERR_FORKED,
        /// A fault of the library's own; please report the text.
        Internal = GNNMG_ERR_INTERNAL,
    }
}

enumeration! {
    /// Weight of a message.
    pub enum LogLevel {
        /// For those who look for a fault.
        Debug = GNNMG_LOG_DEBUG,
        /// What was done.
        Info = GNNMG_LOG_INFO,
        /// Something may not be what you meant.
        Warning = GNNMG_LOG_WARNING,
        /// Something failed in the background.
        Error = GNNMG_LOG_ERROR,
    }
}

enumeration! {
    /// Kind of a device, numbered as DLPack does.
    pub enum DeviceType {
        /// GPUs where there are enough of them, else the CPU.
        Auto = GNNMG_DEVICE_AUTO,
        /// The processor, and main memory.
        Cpu = GNNMG_DEVICE_CPU,
        /// GPUs, each with memory of its own.
        Cuda = GNNMG_DEVICE_CUDA,
    }
}

enumeration! {
    /// Where GPUs read the graph.
    pub enum GraphPlacement {
        /// On the GPU where it takes at most 40 % of what is free, else
        /// pinned, else with the host.
        Auto = GNNMG_GRAPH_PLACEMENT_AUTO,
        /// A copy in the memory of each GPU.
        Device = GNNMG_GRAPH_PLACEMENT_DEVICE,
        /// Main memory, once for all, where GPUs sample from it.
        Pinned = GNNMG_GRAPH_PLACEMENT_PINNED,
        /// Main memory, and the loader's threads sample; the one way
        /// for custom samplers and whole graphs.
        Host = GNNMG_GRAPH_PLACEMENT_HOST,
    }
}

enumeration! {
    /// Where GPUs read rows of features.
    pub enum FeaturePlacement {
        /// On the GPU where they take at most 60 % of what is free,
        /// else cached, pinned, or with the host.
        Auto = GNNMG_FEATURE_PLACEMENT_AUTO,
        /// A copy in the memory of each GPU.
        Device = GNNMG_FEATURE_PLACEMENT_DEVICE,
        /// Main memory, once for all, where GPUs read them.
        Pinned = GNNMG_FEATURE_PLACEMENT_PINNED,
        /// The same, and the hottest rows in each GPU's memory; not
        /// with custom samplers or whole graphs.
        Cached = GNNMG_FEATURE_PLACEMENT_CACHED,
        /// Main memory, and the loader's threads gather; the one way
        /// for sparse rows and rows of a mapped file.
        Host = GNNMG_FEATURE_PLACEMENT_HOST,
        /// As cached, with other rows on each GPU of a trainer's in
        /// the process, which read each other's memory: two GPUs
        /// cache twice as many. [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for one GPU,
        /// and where two of them cannot.
        Split = GNNMG_FEATURE_PLACEMENT_SPLIT,
    }
}

enumeration! {
    /// How GPUs, or main memory for them, keep rows of features; they are widened when they are read.
    pub enum FeatureForm {
        /// In the type of the data set.
        AsGiven = GNNMG_FEATURE_FORM_AS_GIVEN,
        /// IEEE half, rounded to nearest even.
        F16 = GNNMG_FEATURE_FORM_F16,
        /// bfloat16, rounded to nearest even.
        Bf16 = GNNMG_FEATURE_FORM_BF16,
        /// A byte an element, and a scale a row.
        Int8 = GNNMG_FEATURE_FORM_INT8,
    }
}

enumeration! {
    /// What makes a row hot, so that it lies in a cache.
    pub enum Hotness {
        /// That of being in a mini-batch, by a formula of training ids
        /// and fan-outs.
        Probability = GNNMG_HOTNESS_PROBABILITY,
        /// Edges that leave the node.
        Degree = GNNMG_HOTNESS_DEGREE,
        /// How many of the first mini-batches have it; these are sampled
        /// when training begins, or a loader is made.
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
    /// What gnnmg_graph_create_transformed() does.
    pub enum Transform {
        /// Appends (v, u) for each (u, v) with u != v, in edge
        /// order; duplicates stay.
        AddReverseEdges = GNNMG_TRANSFORM_ADD_REVERSE_EDGES,
        /// Adds reverse edges, then keeps one of equal edges.
        ToUndirected = GNNMG_TRANSFORM_TO_UNDIRECTED,
        /// Keeps the first of equal edges, sorted by target, then
        /// source.
        Coalesce = GNNMG_TRANSFORM_COALESCE,
        /// Drops (v, v).
        RemoveSelfLoops = GNNMG_TRANSFORM_REMOVE_SELF_LOOPS,
        /// Appends one (v, v) for each node.
        AddSelfLoops = GNNMG_TRANSFORM_ADD_SELF_LOOPS,
        /// Appends (v, v) where there is none.
        AddRemainingSelfLoops = GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS,
        /// Keeps the nodes and no edge: what a model learns from
        /// features alone.
        RemoveEdges = GNNMG_TRANSFORM_REMOVE_EDGES,
        /// (u, v) becomes (v, u), in the same order: messages go the
        /// other way.
        ReverseEdges = GNNMG_TRANSFORM_REVERSE_EDGES,
    }
}

enumeration! {
    /// What the labels mean.
    pub enum Task {
        /// No labels.
        None = GNNMG_TASK_NONE,
        /// One class a node or graph: i64 \[N\], -1 where there is none.
        Multiclass = GNNMG_TASK_MULTICLASS,
        /// Yes or no, for one or more targets: f32 \[N, T\], NaN for none.
        Binary = GNNMG_TASK_BINARY,
        /// Numbers: f32 \[N, T\], NaN for none.
        Regression = GNNMG_TASK_REGRESSION,
    }
}

enumeration! {
    /// Part of a split.
    pub enum Split {
        /// What is trained on.
        Train = GNNMG_SPLIT_TRAIN,
        /// What the best epoch is chosen by.
        Validation = GNNMG_SPLIT_VALIDATION,
        /// What the result is measured on.
        Test = GNNMG_SPLIT_TEST,
    }
}

enumeration! {
    /// How a data set lies on disk.
    pub enum Format {
        /// Recognised by what lies there.
        Auto = GNNMG_FORMAT_AUTO,
        /// What gnnmg_dataset_save() writes.
        Gnnmg = GNNMG_FORMAT_GNNMG,
        /// Folder of `ind.NAME.*` (Cora, CiteSeer, PubMed).
        Planetoid = GNNMG_FORMAT_PLANETOID,
        /// Folder of `edges.npy` or, of a knowledge graph,
        /// `triples.npy`, and `labels.npy`, `split_*.npy`, ...
        Plain = GNNMG_FORMAT_PLAIN,
        /// One `.npz` with `adj_*` and `attr_*` (Amazon, Coauthor).
        Shchur = GNNMG_FORMAT_SHCHUR,
        /// One `.npz` with `node_features`, `edges`, masks.
        Heterophilous = GNNMG_FORMAT_HETEROPHILOUS,
        /// Folder of an OGB node property data set.
        Ogb = GNNMG_FORMAT_OGB,
        /// Text, one edge a line, also gzipped.
        Edges = GNNMG_FORMAT_EDGES,
        /// Many graphs in one text, as GIN and DGCNN take them.
        Gin = GNNMG_FORMAT_GIN,
        /// Many graphs: `NAME_A.txt`, `NAME_graph_indicator.txt`, ...
        Tu = GNNMG_FORMAT_TU,
        /// Many graphs: one `.npz` with `node_ptr`, `edge_ptr`, `edges`.
        Packed = GNNMG_FORMAT_PACKED,
        /// Text that begins with `%%MatrixMarket`, also gzipped.
        MatrixMarket = GNNMG_FORMAT_MATRIX_MARKET,
        /// Text of a METIS graph, also gzipped.
        Metis = GNNMG_FORMAT_METIS,
        /// Folder of parts, as gnnmg_dataset_save_parts() writes it.
        Parts = GNNMG_FORMAT_PARTS,
        /// Folder of the two texts `out1_*.txt` of Geom-GCN.
        GeomGcn = GNNMG_FORMAT_GEOM_GCN,
    }
}

enumeration! {
    /// How nodes are divided into parts.
    pub enum PartsMethod {
        /// Few edges between parts: clusters, parts of the graph of
        /// clusters, moves. Memory: 26 bytes a node and 0.3 GB.
        Cluster = GNNMG_PARTS_METHOD_CLUSTER,
        /// METIS on the whole graph, which must be installed: about 120
        /// bytes an edge. While it runs it handles SIGABRT and SIGTERM
        /// itself and uses rand().
        Metis = GNNMG_PARTS_METHOD_METIS,
        /// Equal ranges of ids.
        Range = GNNMG_PARTS_METHOD_RANGE,
        /// A hash of id and seed.
        Hash = GNNMG_PARTS_METHOD_HASH,
    }
}

enumeration! {
    /// Which nodes are expanded at a hop.
    pub enum Expansion {
        /// Those first met at the hop before; all layers share one set
        /// of edges, trimmed to what each needs. What PyG does.
        Once = GNNMG_EXPANSION_ONCE,
        /// All nodes so far, each layer anew. What DGL does.
        EveryLayer = GNNMG_EXPANSION_EVERY_LAYER,
    }
}

enumeration! {
    /// How the neighbors of a node are drawn.
    pub enum Draw {
        /// Each node draws for itself, exactly as many as the fan-out.
        Uniform = GNNMG_DRAW_UNIFORM,
        /// LABOR-0 (Balin and Catalyurek, NeurIPS 2023): each neighbor has one
        /// random number for all nodes of a hop and is kept where that is below
        /// fan-out / degree. A neighbor is as likely as with
        /// [`Draw::Uniform`](crate::Draw::Uniform), and the fan-out is the mean number a node; a
        /// mini-batch has fewer distinct nodes, so less to read and compute.
        Labor = GNNMG_DRAW_LABOR,
        /// The same with one number for all hops of a mini-batch: fewer nodes
        /// still, and hops that depend on each other.
        LaborOnce = GNNMG_DRAW_LABOR_ONCE,
    }
}

enumeration! {
    /// How an epoch's ids are divided among ranks.
    pub enum Partition {
        /// One permutation; every id exactly once.
        Global = GNNMG_PARTITION_GLOBAL,
        /// As PyTorch's DistributedSampler, for comparison.
        DistributedSampler = GNNMG_PARTITION_DISTRIBUTED_SAMPLER,
        /// As DGL's slices, for comparison.
        Contiguous = GNNMG_PARTITION_CONTIGUOUS,
        /// For data sets in parts: every id exactly once, and all ids of a
        /// mini-batch from one part, whose ids are permuted and cut by
        /// themselves and whose mini-batches are spread evenly over the epoch.
        /// The same mini-batches for any number of ranks and processes; ranks
        /// take those of their process's parts first. Let a step have as many
        /// mini-batches as there are parts.
        Parts = GNNMG_PARTITION_PARTS,
    }
}

enumeration! {
    /// What is compared to tell the best epoch.
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
    /// Kind of model.
    pub enum Architecture {
        /// GraphSAGE (Hamilton, Ying, Leskovec 2017), as PyG builds it.
        Sage = GNNMG_MODEL_SAGE,
        /// Graph convolutional network (Kipf, Welling 2017).
        Gcn = GNNMG_MODEL_GCN,
        /// Graph attention network (Velickovic and others 2018).
        Gat = GNNMG_MODEL_GAT,
        /// The same with attention that depends on both ends (Brody and others
        /// 2022).
        Gatv2 = GNNMG_MODEL_GATV2,
        /// Graph isomorphism network (Xu and others 2019).
        Gin = GNNMG_MODEL_GIN,
        /// The same with edge features (Hu and others 2020).
        Gine = GNNMG_MODEL_GINE,
        /// A linear map for every type of edges (Schlichtkrull and others
        /// 2018).
        Rgcn = GNNMG_MODEL_RGCN,
        /// Graph transformer (Shi and others 2021), edge features too.
        Transformer = GNNMG_MODEL_TRANSFORMER,
        /// Principal neighbourhood aggregation (Corso and others 2020), edge
        /// features too.
        Pna = GNNMG_MODEL_PNA,
        /// Neighbours and the node itself through a linear map each (Morris
        /// and others 2019).
        Graphconv = GNNMG_MODEL_GRAPHCONV,
        /// Layers of one's own, added one by one: gnnmg_model_add_conv() and
        /// those beside it.
        Layers = GNNMG_MODEL_LAYERS,
        /// EdgeConv: a network over both ends of each edge (Wang and others
        /// 2019). DGL's has no other aggregation than the maximum.
        Edge = GNNMG_MODEL_EDGE,
    }
}

enumeration! {
    /// What PNA reduces the messages into a node by.
    pub enum PnaReduction {
        /// Mean.
        Mean = GNNMG_PNA_REDUCTION_MEAN,
        /// Smallest, column by column.
        Min = GNNMG_PNA_REDUCTION_MIN,
        /// Largest.
        Max = GNNMG_PNA_REDUCTION_MAX,
        /// Sum.
        Sum = GNNMG_PNA_REDUCTION_SUM,
        /// Variance.
        Variance = GNNMG_PNA_REDUCTION_VARIANCE,
        /// Its root.
        Deviation = GNNMG_PNA_REDUCTION_DEVIATION,
    }
}

enumeration! {
    /// What each reduction of PNA is multiplied by; d is the number of edges into the node, mean d and
    /// mean log those of the training graph.
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
    /// Whose definitions the layers follow, and whose keys their tensors have.
    pub enum Framework {
        /// PyTorch Geometric's: keys "convs.0.lin_l.weight", ...
        Pyg = GNNMG_FRAMEWORK_PYG,
        /// DGL's: keys "layers.0.fc_neigh.weight", ... No loops are added,
        /// degrees are those of the block, a tied maximum has one winner.
        Dgl = GNNMG_FRAMEWORK_DGL,
    }
}

enumeration! {
    /// What the first layer reads. Where that is not the features, which a data set then need not have,
    /// `input_dim` is the number of nodes, and the model goes with graphs of that many.
    pub enum Input {
        /// The features.
        Features = GNNMG_INPUT_FEATURES,
        /// A learned row for each node, `hidden_dim` wide, also in front of
        /// layers of one's own: "embedding.weight".
        Embedding = GNNMG_INPUT_EMBEDDING,
        /// R-GCN of PyG's: the node itself, as if the features were the unit
        /// matrix. The first layer has a row of weights for each node in every
        /// relation's matrix.
        Nodes = GNNMG_INPUT_NODES,
    }
}

enumeration! {
    /// What GCN divides the sum over the neighbours by. PyG's GCN has the first, and, without
    /// `self_loops`, the last.
    pub enum DegreeNorm {
        /// Each row by the roots of the degrees of both ends.
        Both = GNNMG_DEGREE_NORM_BOTH,
        /// By the target's degree: the mean. DGL.
        Right = GNNMG_DEGREE_NORM_RIGHT,
        /// Each row by its source's degree. DGL.
        Left = GNNMG_DEGREE_NORM_LEFT,
        /// By nothing: the sum.
        None = GNNMG_DEGREE_NORM_NONE,
    }
}

enumeration! {
    /// How a node's neighbours are put together.
    pub enum Aggregation {
        /// That of the framework's layer: sum for GIN, GINE, GraphConv
        /// and DGL's R-GCN, max for EdgeConv, mean for GraphSAGE and
        /// R-GCN. Not 0, which is the mean.
        Default = GNNMG_AGGREGATION_DEFAULT,
        /// Mean.
        Mean = GNNMG_AGGREGATION_MEAN,
        /// GNNMG_AGGREGATION_MAX of C.
        Max = GNNMG_AGGREGATION_MAX,
        /// Sum.
        Sum = GNNMG_AGGREGATION_SUM,
        /// DGL: largest of the rows behind a linear layer and ReLU.
        Pool = GNNMG_AGGREGATION_POOL,
        /// GNNMG_AGGREGATION_LSTM of C.
        Lstm = GNNMG_AGGREGATION_LSTM,
        /// DGL: mean of them and the node itself.
        Gcn = GNNMG_AGGREGATION_GCN,
    }
}

enumeration! {
    /// Function between layers.
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
        /// x, or a learned multiple below 0
        Prelu = GNNMG_ACTIVATION_PRELU,
        /// x / (1 + exp(-x))
        Silu = GNNMG_ACTIVATION_SILU,
        /// 1 / (1 + exp(-x))
        Sigmoid = GNNMG_ACTIVATION_SIGMOID,
    }
}

enumeration! {
    /// Normalisation between layers, and between the linear layers inside of GIN's, GINE's and PyG's
    /// EdgeConv, whose rows are those of edges. "A graph" is each one of a batch of graphs; else, and
    /// inside of layers always, the rows at hand: those of the mini-batch in training, all in results
    /// for all nodes. EdgeConv has norms over graphs with a readout only.
    pub enum Norm {
        /// None.
        None = GNNMG_NORM_NONE,
        /// Each column over the mini-batch, which needs two rows or more when
        /// training: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) says how to get there.
        Batch = GNNMG_NORM_BATCH,
        /// Each row by itself.
        Layer = GNNMG_NORM_LAYER,
        /// All entries of a graph together, PyG's default LayerNorm.
        LayerGraph = GNNMG_NORM_LAYER_GRAPH,
        /// Each column over a graph, less a learned share of its mean (Cai and
        /// others 2021).
        Graph = GNNMG_NORM_GRAPH,
        /// Each column over a graph, without parameters.
        Instance = GNNMG_NORM_INSTANCE,
        /// Columns centred over a graph, then all its rows scaled to a mean
        /// square length of `norm_scale` (Zhao, Akoglu 2020).
        Pair = GNNMG_NORM_PAIR,
        /// Columns centred over a graph, then each row to the length
        /// `norm_scale`.
        PairRows = GNNMG_NORM_PAIR_ROWS,
    }
}

enumeration! {
    /// Whether a norm ends with a learned weight and bias for each column.
    pub enum NormAffine {
        /// Batch and layer norms do, instance norm does not.
        Default = GNNMG_NORM_AFFINE_DEFAULT,
        /// It does.
        On = GNNMG_NORM_AFFINE_ON,
        /// It does not.
        Off = GNNMG_NORM_AFFINE_OFF,
    }
}

enumeration! {
    /// What edge features a loop has that attention adds.
    pub enum LoopFill {
        /// The mean of the other edges into its node, column by column; as
        /// in the next three, 0 where there is none.
        Mean = GNNMG_LOOP_FILL_MEAN,
        /// Their sum.
        Sum = GNNMG_LOOP_FILL_SUM,
        /// The largest.
        Max = GNNMG_LOOP_FILL_MAX,
        /// The smallest.
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
        /// A linear map of each layer's input is added to its output, and a
        /// linear layer yields the result.
        Linear = GNNMG_SKIP_LINEAR,
        /// Residual blocks with the norm first, between linear layers.
        Residual = GNNMG_SKIP_RESIDUAL,
    }
}

enumeration! {
    /// What becomes of the layers' outputs. Other than none: norm, activation and dropout stand behind
    /// every layer, and a linear layer yields the result.
    pub enum Jumping {
        /// The last layer yields the result.
        None = GNNMG_JUMPING_NONE,
        /// From the last layer's output.
        Last = GNNMG_JUMPING_LAST,
        /// From all outputs beside each other.
        Cat = GNNMG_JUMPING_CAT,
        /// From the largest of all outputs, entry by entry.
        Max = GNNMG_JUMPING_MAX,
        /// From their sum weighted by attention, whose scores come from a
        /// recurrent network over the layers in both directions.
        Lstm = GNNMG_JUMPING_LSTM,
        /// GIN's: readouts of the features and of every layer's output, each
        /// through a linear layer of its own, are added. Needs a readout.
        Scores = GNNMG_JUMPING_SCORES,
    }
}

enumeration! {
    /// One row of the result for each graph of a batch, from the rows of its nodes: of what the last
    /// linear layer reads, or, where none comes last, of what the last layer yields. A graph without
    /// nodes gives 0.
    pub enum Readout {
        /// None: the result has a row for each seed.
        None = GNNMG_READOUT_NONE,
        /// Sum.
        Sum = GNNMG_READOUT_SUM,
        /// Mean.
        Mean = GNNMG_READOUT_MEAN,
        /// Largest, column by column.
        Max = GNNMG_READOUT_MAX,
        /// Sum weighted by a softmax over scores, which a linear layer
        /// gives each row.
        Attention = GNNMG_READOUT_ATTENTION,
        /// A recurrent network that asks the rows `readout_steps` times
        /// (Vinyals and others 2016); twice as wide.
        Set2set = GNNMG_READOUT_SET2SET,
        /// GNNMG_READOUT_SORT of C.
        Sort = GNNMG_READOUT_SORT,
    }
}

enumeration! {
    /// Law of the initial weights.
    pub enum WeightInit {
        /// GNNMG_WEIGHT_INIT_PYG of C.
        Pyg = GNNMG_WEIGHT_INIT_PYG,
        /// Glorot's uniform law, biases 0.
        Glorot = GNNMG_WEIGHT_INIT_GLOROT,
        /// DGL's of each layer: Glorot's uniform law with gain sqrt 2;
        /// attention by the normal one; GCN with gain 1, biases 0.
        Dgl = GNNMG_WEIGHT_INIT_DGL,
    }
}

enumeration! {
    /// Loss of a mini-batch.
    pub enum Loss {
        /// What suits the task, in the order below.
        Auto = GNNMG_LOSS_AUTO,
        /// Classes.
        CrossEntropy = GNNMG_LOSS_CROSS_ENTROPY,
        /// Yes or no, from logits.
        BinaryCrossEntropy = GNNMG_LOSS_BINARY_CROSS_ENTROPY,
        /// Numbers.
        MeanSquaredError = GNNMG_LOSS_MEAN_SQUARED_ERROR,
    }
}

enumeration! {
    /// How weights lie in a file.
    pub enum ModelFormat {
        /// Loading: what the file's first bytes show; saving: by the
        /// end of the path, `.pth` or `.pt`, else the next.
        Auto = GNNMG_MODEL_FORMAT_AUTO,
        /// safetensors.
        Safetensors = GNNMG_MODEL_FORMAT_SAFETENSORS,
        /// A state dict as `torch.save` writes it.
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
    }
}

enumeration! {
    /// How values of ranks are put together.
    pub enum Reduce {
        /// Sum.
        Sum = GNNMG_REDUCE_SUM,
        /// Sum divided by the number of ranks; not for integers.
        Mean = GNNMG_REDUCE_MEAN,
        /// Smallest.
        Min = GNNMG_REDUCE_MIN,
        /// Largest.
        Max = GNNMG_REDUCE_MAX,
    }
}

enumeration! {
    /// The source of the parts that other processes of a job have.
    pub enum PartsReading {
        /// Default: the folder, if all processes find all parts in
        /// theirs; else the processes that have them.
        Auto = GNNMG_PARTS_READING_AUTO,
        /// The folder: [`ErrorKind::Mismatch`](crate::ErrorKind::Mismatch) if a process does not find
        /// all parts.
        Shared = GNNMG_PARTS_READING_SHARED,
        /// The processes that have them. Those that find the same parts,
        /// such as the processes of a machine, divide them: only a
        /// process's own edges are in its memory.
        Asked = GNNMG_PARTS_READING_ASKED,
    }
}

enumeration! {
    /// How the learning rate changes from epoch to epoch.
    pub enum Schedule {
        /// Not at all.
        Constant = GNNMG_SCHEDULE_CONSTANT,
        /// Along half a cosine, down to `schedule_minimum`.
        Cosine = GNNMG_SCHEDULE_COSINE,
        /// Times `schedule_factor` every `schedule_step_epochs`.
        Step = GNNMG_SCHEDULE_STEP,
        /// Times `schedule_factor` when validation stops getting better.
        Plateau = GNNMG_SCHEDULE_PLATEAU,
    }
}

enumeration! {
    /// How evaluation sees neighbourhoods.
    pub enum Evaluation {
        /// All neighbours, layer by layer over the graph.
        Full = GNNMG_EVALUATION_FULL,
        /// By the training sampler.
        Sampled = GNNMG_EVALUATION_SAMPLED,
    }
}

enumeration! {
    /// What a step's loss is the mean of.
    pub enum LossAverage {
        /// All seeds of the step: independent of the number of ranks.
        Exact = GNNMG_LOSS_AVERAGE_EXACT,
        /// The ranks' means, as PyTorch's DDP, for comparison.
        Ranks = GNNMG_LOSS_AVERAGE_RANKS,
    }
}

enumeration! {
    /// Whether the steps of a training on GPUs are captured as CUDA graphs, and repeated. Steps that
    /// can be, where memory suffices, are over a few shapes which mini-batches are padded to; started
    /// kernel after kernel they come to the same bits, and what is said of the times of captured steps
    /// holds for them as well. Other steps are started kernel after kernel over mini-batches as they
    /// are, and a message in the log says why.
    pub enum Capture {
        /// Where they can be; where the driver refuses, as with
        /// [`Capture::Off`](crate::Capture::Off).
        Auto = GNNMG_CAPTURE_AUTO,
        /// They are not: kernel after kernel over the same shapes, and to the
        /// same bits.
        Off = GNNMG_CAPTURE_OFF,
        /// Where they cannot be, and ranks work on GPUs, training is
        /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) with the reason.
        On = GNNMG_CAPTURE_ON,
        /// They are not, and no mini-batch is padded: kernel after kernel in
        /// the least memory, and equal to the others up to rounding.
        Unpadded = GNNMG_CAPTURE_UNPADDED,
    }
}

enumeration! {
    /// In what the matrices of a training's passes are multiplied, by layers of SAGE, GCN, GIN, GAT and
    /// the like; TF32 is for all others as well. With BF16 small products of R-GCN, PNA, LSTMs and
    /// readouts, and always weights, gradients, sums over neighbours and evaluations stay in the model's
    /// type. Of models of f32.
    pub enum Precision {
        /// In the model's type. LibTorch's TF32 is off in the process while
        /// such a trainer works on GPUs, and put back behind it.
        Float32 = GNNMG_PRECISION_FLOAT32,
        /// On GPUs with factors of 10 bits of mantissa; on the CPU as FLOAT32.
        /// While such a trainer works, all that LibTorch multiplies on GPUs of
        /// the process is so, and another trainer's step without it there is
        /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
        Tf32 = GNNMG_PRECISION_TF32,
        /// Factors and results rounded to bf16, sums within a product in f32,
        /// which LibTorch is told for all of the process while such a trainer
        /// works on GPUs. On the CPU too, where it pays with AVX-512's bf16
        /// instructions.
        Bf16 = GNNMG_PRECISION_BF16,
    }
}

enumeration! {
    /// State of a trainer.
    pub enum TrainerState {
        /// Not started, or stopped.
        Idle = GNNMG_TRAINER_IDLE,
        /// At work.
        Running = GNNMG_TRAINER_RUNNING,
        /// Asked to stop, in its last step.
        Stopping = GNNMG_TRAINER_STOPPING,
        /// All epochs done.
        Finished = GNNMG_TRAINER_FINISHED,
        /// Ended by an error.
        Failed = GNNMG_TRAINER_FAILED,
    }
}

enumeration! {
    /// Kind of record that a trainer writes.
    pub enum Record {
        /// A file to which one JSON object an epoch is appended.
        JsonLines = GNNMG_RECORD_JSON_LINES,
        /// A folder that gets an event file of TensorBoard's.
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
