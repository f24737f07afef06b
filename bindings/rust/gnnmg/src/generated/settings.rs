//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The settings that have names, a builder each.

use crate::raw::{settings, words};

settings! {
    /// Settings of [`Graph::planted`](crate::Graph::planted).
    pub struct PlantedConfig {
        /// Number of nodes, at least 2 of each class.
        /// Range: 2 to 2147483647.
        /// Default: 50000.
        num_nodes(usize) = "num_nodes",
        /// Number of classes, of equal size.
        /// Range: 1 to 1048576.
        /// Default: 10.
        num_classes(usize) = "num_classes",
        /// Directed edges per node; each edge exists in both directions.
        /// Range: 0 or more.
        /// Default: 16.
        mean_degree(f64) = "mean_degree",
        /// Probability that an edge joins two nodes of one class.
        /// Range: 0 to 1.
        /// Default: 0.5.
        intra_probability(f64) = "intra_probability",
        /// Columns of the features. 0: no features.
        /// Range: 0 to 1048576.
        /// Default: 64.
        num_features(usize) = "num_features",
        /// Standard deviation of the coordinates of a class center.
        /// Range: 0 to 1000000.
        /// Default: 0.15.
        center_scale(f64) = "center_scale",
        /// Standard deviation of a feature around its center.
        /// Range: 0 to 1000000.
        /// Default: 1.
        noise(f64) = "noise",
        /// Share of labels replaced by another class.
        /// Range: 0 to 1.
        /// Default: 0.05.
        label_noise(f64) = "label_noise",
        /// The graph depends only on seed and settings.
        /// Range: 0 or more.
        /// Default: 1.
        seed(u64) = "seed",
    }
}

settings! {
    /// Settings of [`Graph::log_normal`](crate::Graph::log_normal).
    pub struct LogNormalConfig {
        /// Number of nodes.
        /// Range: 0 to 2147483647.
        /// Default: 2449029.
        num_nodes(usize) = "num_nodes",
        /// Mean number of incoming edges; no node has more than num_nodes / 20.
        /// Range: 1e-6 to 1e9.
        /// Default: 50.5.
        mean_degree(f64) = "mean_degree",
        /// Standard deviation of the logarithm of the degrees.
        /// Range: 0 to 10.
        /// Default: 1.45.
        sigma(f64) = "sigma",
        /// Columns of the features. 0: no features.
        /// Range: 0 to 1048576.
        /// Default: 100.
        num_features(usize) = "num_features",
        /// Number of classes. 0: no labels and no communities.
        /// Range: 0 to 1048576.
        /// Default: 47.
        num_classes(usize) = "num_classes",
        /// Exponent of the community sizes.
        /// Range: 0 to 100.
        /// Default: 0.8.
        zipf(f64) = "zipf",
        /// Probability that an edge comes from the target's community.
        /// Range: 0 to 1.
        /// Default: 0.5.
        homophily(f64) = "homophily",
        /// Scale of a class center; features are center plus N(0, 1).
        /// Range: 0 to 1000000.
        /// Default: 0.1.
        center_scale(f64) = "center_scale",
        /// Share of labels replaced at random.
        /// Range: 0 to 1.
        /// Default: 0.05.
        label_noise(f64) = "label_noise",
        /// The graph depends only on seed and settings.
        /// Range: 0 or more.
        /// Default: 1.
        seed(u64) = "seed",
    }
}

settings! {
    /// Settings of [`Graph::rmat`](crate::Graph::rmat).
    pub struct RmatConfig {
        /// The graph has 2^scale nodes.
        /// Range: 0 to 30.
        /// Default: 16.
        scale(usize) = "scale",
        /// Number of directed edges.
        /// Range: 0 or more.
        /// Default: 1048576.
        num_edges(usize) = "num_edges",
        /// Probability of the quadrant (0, 0).
        /// Range: 0 to 1.
        /// Default: 0.57.
        a(f64) = "a",
        /// Probability of the quadrant (0, 1).
        /// Range: 0 to 1.
        /// Default: 0.19.
        b(f64) = "b",
        /// Probability of the quadrant (1, 0); (1, 1) has the rest.
        /// Range: 0 to 1.
        /// Default: 0.19.
        c(f64) = "c",
        /// The graph depends only on seed and settings.
        /// Range: 0 or more.
        /// Default: 1.
        seed(u64) = "seed",
    }
}

settings! {
    /// Settings of [`Graph::erdos_renyi`](crate::Graph::erdos_renyi).
    pub struct ErdosRenyiConfig {
        /// Number of nodes.
        /// Range: 0 to 2147483647.
        /// Default: 10000.
        num_nodes(usize) = "num_nodes",
        /// Number of directed edges.
        /// Range: 0 or more.
        /// Default: 100000.
        num_edges(usize) = "num_edges",
        /// The graph depends only on seed and settings.
        /// Range: 0 or more.
        /// Default: 1.
        seed(u64) = "seed",
    }
}

settings! {
    /// Settings of [`Dataset::open_with`](crate::Dataset::open_with).
    pub struct DatasetConfig {
        /// Format of the folder or file.
        /// Default: [`Format::Auto`](crate::Format::Auto).
        format(crate::Format) = "format",
        /// 1: add the reverse of every edge and drop duplicates, for Planetoid and Shchur also self-loops; for a knowledge graph add the reverse edges as separate relations and drop nothing. 0: edges as listed. -1: as the format defines.
        /// Range: -1 to 1.
        /// Default: -1.
        undirected(bool) = "undirected",
        /// 1: add up repeated entries of sparse features.
        /// Default: false.
        sum_duplicates(bool) = "sum_duplicates",
        /// 1: round integer features to the nearest f32; 0: refuse integers that are not exact. Sparse f64 features are always rounded.
        /// Default: false.
        round_values(bool) = "round_values",
        /// 1: map the files of the library's own format; 0: read them.
        /// Default: true.
        map_files(bool) = "map_files",
        /// 1: refuse node features, edge features and edge weights that are NaN, infinite or beyond f32.
        /// Default: true.
        check_finite(bool) = "check_finite",
        /// Edge lists: character between columns. auto: detected.
        /// Values: auto, tab, space, or one character.
        /// Default: auto.
        separator(&str) = "separator",
        /// Edge lists: number of lines to skip. -1: use a first line that names the columns, and read one that counts nodes and edges as counts.
        /// Range: -1 or more.
        /// Default: -1.
        header_lines(i64) = "header_lines",
        /// Edge lists: column of the sources, from 0. With source_column=0 and target_column=1, a header that names the ends overrides both.
        /// Range: 0 or more.
        /// Default: 0.
        source_column(usize) = "source_column",
        /// Edge lists: column of the targets, from 0.
        /// Range: 0 or more.
        /// Default: 1.
        target_column(usize) = "target_column",
        /// Edge lists. 1: accept names and ids of any size, and number them in order of appearance. The node tensor "original_id", i64 \[N\], has the ids; "original_name", u8 \[N, W\], has the names, each followed by at least one 0.
        /// Default: false.
        relabel(bool) = "relabel",
        /// Edge lists: number of nodes. -1: the largest id + 1.
        /// Range: -1 or more.
        /// Default: -1.
        num_nodes(i64) = "num_nodes",
        /// Texts of many graphs. 1: features are the one-hot degrees of nodes. -1: the one-hot tags. 0: the attributes, in TU Dortmund's format together with the tags, or without attributes the tags, unless all are equal.
        /// Range: -1 to 1.
        /// Default: 0.
        degree_features(i64) = "degree_features",
        /// Meaning of the labels; see gnnmg_task. none: inferred from format and values; one column of 0 and 1 becomes two classes (two logits), with binary one target (one logit), as in OGB's examples. The library's own format stores its task.
        /// Default: [`Task::None`](crate::Task::None).
        task(crate::Task) = "task",
    }
}

settings! {
    /// Settings of [`Dataset::add_random_split`](crate::Dataset::add_random_split).
    pub struct SplitConfig {
        /// Training share of the labeled nodes, rounded down.
        /// Range: 0 to 1.
        /// Default: 0.6.
        train_fraction(f64) = "train_fraction",
        /// Validation share of the labeled nodes, rounded down; test gets the rest.
        /// Range: 0 to 1.
        /// Default: 0.2.
        validation_fraction(f64) = "validation_fraction",
        /// Above 0: training nodes of each class, in place of train_fraction.
        /// Range: 0 or more.
        /// Default: 0.
        train_per_class(usize) = "train_per_class",
        /// Validation nodes of each class, with train_per_class.
        /// Range: 0 or more.
        /// Default: 0.
        validation_per_class(usize) = "validation_per_class",
        /// 1: use the order of NumPy's `RandomState(seed).permutation`, to reproduce splits made with NumPy.
        /// Default: false.
        numpy_legacy(bool) = "numpy_legacy",
        /// The split depends only on seed, labels and settings.
        /// Range: 0 or more.
        /// Default: 0.
        seed(u64) = "seed",
    }
}

settings! {
    /// Settings of [`Dataset::add_folds`](crate::Dataset::add_folds).
    pub struct FoldsConfig {
        /// Number of folds.
        /// Range: 2 to 100.
        /// Default: 10.
        num_folds(usize) = "num_folds",
        /// Part that holds fold k in split k. The split trains on the other folds.
        /// Default: [`Part::Validation`](crate::Part::Validation).
        held_out(crate::Part) = "held_out",
        /// 1: make the folds of scikit-learn's `StratifiedKFold(num_folds, shuffle=True, random_state=seed)`.
        /// Default: false.
        numpy_legacy(bool) = "numpy_legacy",
        /// The folds depend only on seed, labels and settings.
        /// Range: 0 or more.
        /// Default: 0.
        seed(u64) = "seed",
    }
}

settings! {
    /// Settings of [`Dataset::save_parts`](crate::Dataset::save_parts).
    pub struct PartsConfig {
        /// Number of parts.
        /// Range: 1 to 65535.
        /// Default: 2.
        num_parts(usize) = "num_parts",
        /// Method that divides nodes into parts; see gnnmg_parts_method.
        /// Default: [`PartsMethod::Cluster`](crate::PartsMethod::Cluster).
        method(crate::PartsMethod) = "method",
        /// 1: store the id of each edge even if ids equal positions.
        /// Default: false.
        edge_ids(bool) = "edge_ids",
        /// The parts depend only on seed, data and settings.
        /// Range: 0 or more.
        /// Default: 0.
        seed(u64) = "seed",
        /// Bytes for dividing, in addition to the data set; with less memory method=cluster keeps fewer edges between clusters. 0: as many as the method needs.
        /// Range: 0 or more.
        /// Default: 0.
        memory_limit(usize) = "memory_limit",
        /// Nodes of the largest part, divided by the mean.
        /// Range: 1 to 1000.
        /// Default: 1.05.
        node_slack(f64) = "node_slack",
        /// Edges of the largest part, divided by the mean.
        /// Range: 1 to 1000.
        /// Default: 1.1.
        edge_slack(f64) = "edge_slack",
        /// Training ids of the largest part, divided by the mean.
        /// Range: 1 to 1000.
        /// Default: 1.05.
        train_slack(f64) = "train_slack",
        /// Maximum passes of clustering.
        /// Range: 1 to 1000.
        /// Default: 5.
        passes(usize) = "passes",
        /// Maximum passes of moves.
        /// Range: 0 to 1000.
        /// Default: 4.
        refine_passes(usize) = "refine_passes",
        /// Neighbors per hop of the mini-batches that define the hotness of nodes. -1: all; none: store no hotness. Each part stores the hotness of all nodes, 4 bytes per node. The default is none for more than 64 parts.
        /// Range: none, or up to 16 integers of -1 or more.
        /// Default: 10,10.
        fanouts(&[i64]) = "fanouts",
        /// Seeds per mini-batch, for the hotness of nodes.
        /// Range: 1 or more.
        /// Default: 1024.
        batch_size(usize) = "batch_size",
    }
}

settings! {
    /// Settings of [`Dataset::open_served`](crate::Dataset::open_served).
    pub struct ServedConfig {
        /// Concurrent requests for rows to each part.
        /// Range: 1 to 1024.
        /// Default: 8.
        max_in_flight(usize) = "max_in_flight",
        /// Time limit of one request, milliseconds.
        /// Range: 1 or more.
        /// Default: 10000.
        deadline(std::time::Duration) = "deadline_ms",
        /// Bytes of cached feature rows; the cache has the rows that mini-batches read most, by the hotness stored with the parts. 0: one tenth of the rows of all nodes.
        /// Range: 0 or more.
        /// Default: 0.
        cache_bytes(usize) = "cache_bytes",
        /// Time to wait for a part whose servers are all down, milliseconds. 0: three attempts, about one second.
        /// Range: 0 to 1099511627776.
        /// Default: 0.
        patience(std::time::Duration) = "patience_ms",
        /// Time after which another server of the part gets the request too, milliseconds. 0: never.
        /// Range: 0 to 1099511627776.
        /// Default: 0.
        hedge(std::time::Duration) = "hedge_ms",
        /// Time at the beginning for every part to have a server, milliseconds.
        /// Range: 0 to 1099511627776.
        /// Default: 60000.
        meet(std::time::Duration) = "meet_ms",
        /// 1: connect to other machines even without TLS, with a warning in the log.
        /// Default: false.
        insecure(bool) = "insecure",
        /// PEM file with the certificate of this client. Without it: no TLS.
        /// Values: path of a file.
        /// Default: none.
        tls_certificate(&str) = "tls_certificate",
        /// PEM file with the key of tls_certificate.
        /// Values: path of a file.
        /// Default: none.
        tls_key(&str) = "tls_key",
        /// PEM file with the certificate that signed the certificates of the servers.
        /// Values: path of a file.
        /// Default: none.
        tls_authority(&str) = "tls_authority",
    }
}

settings! {
    /// Settings of a sampler.
    pub struct SamplerConfig {
        /// Neighbors per node at each hop, beginning next to the seeds, one number per layer of the model, at most 16. -1: all, 0: none.
        /// Range: -1 or more.
        /// Default: 10,10.
        fanouts(&[i64]) = "fanouts",
        /// 1: draw with replacement.
        /// Default: false.
        replace(bool) = "replace",
        /// Method that draws the neighbors of a node; see gnnmg_draw. LABOR cannot be combined with replace. With LABOR a GPU measures the size of each hop, and its steps are not captured.
        /// Default: [`Draw::Uniform`](crate::Draw::Uniform).
        draw(crate::Draw) = "draw",
        /// Nodes whose neighbors are drawn at a hop.
        /// Default: [`Expansion::Once`](crate::Expansion::Once).
        expansion(crate::Expansion) = "expansion",
        /// 1: the list of fanouts begins at the far end, as in DGL.
        /// Default: false.
        fanouts_reversed(bool) = "fanouts_reversed",
        /// 1: follow edges from source to target. For custom loops; degrees that a model takes from the graph still count incoming edges. A trainer refuses it because it evaluates along incoming edges; use GNNMG_TRANSFORM_REVERSE_EDGES instead.
        /// Default: false.
        outgoing(bool) = "outgoing",
        /// 1: blocks have edge ids. 0: blocks have edge ids only if the edges have tensors that models may read, and never from a custom sampler.
        /// Default: false.
        edge_ids(bool) = "edge_ids",
        /// 1: blocks have the data that backward passes need.
        /// Default: true.
        transpose(bool) = "transpose",
        /// Index of the edge type to follow.
        /// Range: an edge type of the graph.
        /// Default: 0.
        edge_type(usize) = "edge_type",
    }
}

settings! {
    /// Settings of a loader.
    pub struct LoaderConfig {
        /// Part of the split; not for gnnmg_loader_create_from_seeds().
        /// Default: [`Part::Train`](crate::Part::Train).
        part(crate::Part) = "part",
        /// Seeds per mini-batch.
        /// Range: 1 or more.
        /// Default: 1024.
        batch_size(usize) = "batch_size",
        /// Maximum nodes of a mini-batch whose seeds are graphs: it takes the next graphs up to this many nodes and at most batch_size graphs; a larger graph is a mini-batch alone. Epochs then differ in the number of mini-batches. Needs plan=global without drop_last. 0: no limit.
        /// Range: 0 or more.
        /// Default: 0.
        batch_nodes(usize) = "batch_nodes",
        /// Mini-batches per step, all ranks together. 0: world_size.
        /// Range: 0 or more.
        /// Default: 0.
        batches_per_step(usize) = "batches_per_step",
        /// Rank that this loader serves.
        /// Range: a rank below world_size.
        /// Default: 0.
        rank(usize) = "rank",
        /// Number of ranks.
        /// Range: 1 or more.
        /// Default: 1.
        world_size(usize) = "world_size",
        /// Seed of order, draws and dropout.
        /// Range: 0 or more.
        /// Default: 0.
        seed(u64) = "seed",
        /// Division of the ids among ranks; see gnnmg_plan.
        /// Default: [`Plan::Global`](crate::Plan::Global).
        plan(crate::Plan) = "plan",
        /// 1: new order in each epoch.
        /// Default: true.
        shuffle(bool) = "shuffle",
        /// 1: drop the last mini-batch if it is short.
        /// Default: false.
        drop_last(bool) = "drop_last",
        /// Threads that make mini-batches. 0: gnnmg_loader_next() makes them.
        /// Range: 0 to 1024.
        /// Default: 1.
        num_threads(usize) = "num_threads",
        /// Mini-batches made in advance.
        /// Range: 0 to 4096.
        /// Default: 2.
        prefetch(usize) = "prefetch",
        /// 1: with features, if the data set has any.
        /// Default: true.
        gather(bool) = "gather",
        /// Memory of mini-batches: cuda is a GPU, any other main memory.
        /// Default: [`DeviceType::Auto`](crate::DeviceType::Auto).
        device(crate::DeviceType) = "device",
        /// Number of the GPU.
        /// Range: 0 or more.
        /// Default: 0.
        device_index(usize) = "device_index",
        /// GPUs only: memory from which they read the graph.
        /// auto: device if the graph takes at most 40 % of the free GPU memory, else pinned, else host.
        /// device: a copy in the memory of each GPU.
        /// pinned: one copy in pinned main memory; GPUs sample from it.
        /// host: main memory; the loader's threads sample. Custom samplers and whole graphs need this.
        /// Default: [`GraphPlacement::Auto`](crate::GraphPlacement::Auto).
        graph_placement(crate::GraphPlacement) = "graph_placement",
        /// GPUs only: memory from which they read rows of features.
        /// auto: device if the features take at most 60 % of the free GPU memory, else cached, pinned or host.
        /// device: a copy in the memory of each GPU.
        /// pinned: one copy in pinned main memory; GPUs read it.
        /// cached: as pinned, with the hottest rows also in the memory of each GPU; not for custom samplers or whole graphs.
        /// host: main memory; the loader's threads gather. Sparse rows and rows of a mapped file need this.
        /// split: as cached, with different rows on each GPU of a trainer in this process. The GPUs read each other's memory, so two GPUs cache twice as many rows; an error for one GPU, or if two of them cannot read each other's memory.
        /// Default: [`FeaturePlacement::Auto`](crate::FeaturePlacement::Auto).
        feature_placement(crate::FeaturePlacement) = "feature_placement",
        /// GPUs only: storage type of feature rows; reads convert them back.
        /// Default: [`FeatureForm::AsGiven`](crate::FeatureForm::AsGiven).
        feature_form(crate::FeatureForm) = "feature_form",
        /// GPUs only: criterion by which a cache selects rows.
        /// Default: [`Hotness::Probability`](crate::Hotness::Probability).
        hotness(crate::Hotness) = "hotness",
        /// GPUs only: bytes of each GPU's memory for cached rows. 0: 30 % of the memory that the graph leaves free.
        /// Range: 0 or more.
        /// Default: 0.
        cache_bytes(usize) = "cache_bytes",
        /// GPUs only: multiprocessors of a GPU that may read rows in main memory while the others compute. 0: one eighth of them.
        /// Range: 0 to 65536.
        /// Default: 0.
        gather_multiprocessors(usize) = "gather_multiprocessors",
    }
}

settings! {
    /// Settings of a model. A setting that names architectures, a norm or a readout applies only
    /// to these; for others it must not be set.
    pub struct ModelConfig {
        /// Layers of the model.
        /// sage: GraphSAGE.
        /// gcn: graph convolutional network.
        /// gat: graph attention network.
        /// gatv2: graph attention that depends on both ends of an edge.
        /// gin: graph isomorphism network.
        /// gine: GIN with edge features.
        /// rgcn: R-GCN, one linear map per edge type.
        /// transformer: graph transformer.
        /// pna: principal neighborhood aggregation.
        /// graphconv: one linear map for the neighbors and one for the node.
        /// layers: layers that gnnmg_model_add_conv() and similar functions add.
        /// edge: EdgeConv, a network over both ends of each edge.
        /// Default: [`Architecture::Sage`](crate::Architecture::Sage).
        architecture(crate::Architecture) = "architecture",
        /// Framework whose layer definitions and tensor keys the model follows.
        /// pyg: PyTorch Geometric.
        /// dgl: DGL, whose layers add no self-loops, use the degrees of the block, and give a tied maximum one winner.
        /// Default: [`Framework::Pyg`](crate::Framework::Pyg).
        framework(crate::Framework) = "framework",
        /// Input of the first layer. Without features, input_dim is the number of nodes, the data set needs no features, and the model accepts only graphs of that size.
        /// Default: [`Input::Features`](crate::Input::Features).
        input(crate::Input) = "input",
        /// Columns of the features, or the number of nodes if input is not features. 0: from the data set.
        /// Range: 0 to 16777216; of nodes to 2147483647.
        /// Default: 0.
        input_dim(usize) = "input_dim",
        /// Columns between layers.
        /// Range: 1 to 16777216.
        /// Default: 256.
        hidden_dim(usize) = "hidden_dim",
        /// Columns of the result. 0: classes of the data set; -1: the last layer is like the others, hidden_dim wide, as in PyG's model classes without out_channels.
        /// Range: -1 to 16777216.
        /// Default: 0.
        output_dim(i64) = "output_dim",
        /// Number of layers, equal to the sampler's.
        /// Range: 1 to 10.
        /// Default: 2.
        num_layers(usize) = "num_layers",
        /// Aggregation of a node's neighbors in GraphSAGE, GIN, GINE, GraphConv, R-GCN and EdgeConv.
        /// default: sum for GIN, GINE, GraphConv and DGL's R-GCN, max for EdgeConv, mean for GraphSAGE and R-GCN.
        /// mean: mean of each column.
        /// max: maximum of each column, not for DGL's GraphSAGE.
        /// sum: sum of each column, not for DGL's GraphSAGE.
        /// pool: DGL's maximum after a linear layer and ReLU.
        /// lstm: GraphSAGE's recurrent network over the neighbors in edge order.
        /// gcn: DGL's mean of the neighbors and the node itself.
        /// Default: [`Aggregation::Default`](crate::Aggregation::Default).
        aggregation(crate::Aggregation) = "aggregation",
        /// Function between layers.
        /// relu: max(x, 0).
        /// none: x.
        /// elu: x, or exp(x) - 1 below 0.
        /// leaky_relu: x, or 0.01 x below 0.
        /// gelu: x times the normal distribution function.
        /// tanh: tanh(x).
        /// prelu: x, or a learned multiple of x below 0.
        /// silu: x / (1 + exp(-x)).
        /// sigmoid: 1 / (1 + exp(-x)).
        /// Default: [`Activation::Relu`](crate::Activation::Relu).
        activation(crate::Activation) = "activation",
        /// Normalization between layers, and between the linear layers inside GIN, GINE and PyG's EdgeConv. A graph is each graph of a batch of graphs, otherwise all rows at hand.
        /// none: no normalization.
        /// batch: each column over the mini-batch.
        /// layer: each row.
        /// layer_graph: all entries of a graph together, as PyG's LayerNorm.
        /// graph: each column over a graph, minus a learned share of its mean.
        /// instance: each column over a graph.
        /// pair: columns centered over a graph, then all its rows scaled to a mean square length of norm_scale.
        /// pair_rows: columns centered over a graph, then each row scaled to the length norm_scale.
        /// Default: [`Norm::None`](crate::Norm::None).
        norm(crate::Norm) = "norm",
        /// norm=pair and norm=pair_rows: length of the rows. -1: the number of columns, as PyG's model classes use if given only the name.
        /// Range: above 0, or -1.
        /// Default: 1.
        norm_scale(f64) = "norm_scale",
        /// Norms: number that is added below the root.
        /// Range: above 0.
        /// Default: 1e-05.
        norm_epsilon(f64) = "norm_epsilon",
        /// norm=batch: weight of new statistics in the running ones. -1: plain mean over all.
        /// Range: above 0 to 1, or -1.
        /// Default: 0.1.
        norm_momentum(f64) = "norm_momentum",
        /// Batch, layer and instance norms: a learned weight and bias per column at the end.
        /// Default: [`NormAffine::Default`](crate::NormAffine::Default).
        norm_affine(crate::NormAffine) = "norm_affine",
        /// Connections around a layer.
        /// Default: [`Skip::None`](crate::Skip::None).
        skip(crate::Skip) = "skip",
        /// Distribution of the initial weights.
        /// Default: [`WeightInit::Pyg`](crate::WeightInit::Pyg).
        weight_init(crate::WeightInit) = "weight_init",
        /// Combination of the layers' outputs. Except for none, norm, activation and dropout follow every layer, and a linear layer gives the result.
        /// Default: [`Jumping::None`](crate::Jumping::None).
        jumping(crate::Jumping) = "jumping",
        /// 1: activation before norm.
        /// Default: false.
        act_first(bool) = "act_first",
        /// 1: layers add a bias.
        /// Default: true.
        bias(bool) = "bias",
        /// GraphSAGE, R-GCN, transformer. 1: a layer also maps the node's own row.
        /// Default: true.
        root_weight(bool) = "root_weight",
        /// GraphSAGE. 1: scale each output row of a layer to unit length.
        /// Default: false.
        normalize(bool) = "normalize",
        /// GraphSAGE. 1: first apply a linear map and ReLU to the sources.
        /// Default: false.
        project(bool) = "project",
        /// GCN, GAT, GATv2. 1: one self-loop per node replaces those of the graph. DGL's layers add none with either value.
        /// Default: true.
        self_loops(bool) = "self_loops",
        /// PyG's GCN. 0: degrees of the whole graph, so that the sampled edges stand for all; 1: degrees of the block, as PyG on a sampled graph.
        /// Default: false.
        block_degrees(bool) = "block_degrees",
        /// GCN: normalization of the sum over the neighbors.
        /// Default: [`DegreeNorm::Both`](crate::DegreeNorm::Both).
        degree_norm(crate::DegreeNorm) = "degree_norm",
        /// PyG's GCN with edge weights. 1: added self-loops have weight 2.
        /// Default: false.
        improved(bool) = "improved",
        /// GAT, GATv2, transformer: number of attention heads. It must divide hidden_dim unless concat=0.
        /// Range: 1 to 64.
        /// Default: 1.
        heads(usize) = "heads",
        /// GAT, GATv2, transformer: heads of the layer that gives the result, which takes their mean. 0: as heads.
        /// Range: 0 to 64.
        /// Default: 0.
        output_heads(usize) = "output_heads",
        /// GAT, GATv2, transformer. 1: concatenate the heads; 0: take their mean. The layer that gives the result takes the mean.
        /// Default: true.
        concat(bool) = "concat",
        /// GAT, GATv2. 1: add a linear map of the node's own row.
        /// Default: false.
        residual(bool) = "residual",
        /// GAT, GATv2: slope of the leaky function below 0.
        /// Default: 0.2.
        negative_slope(f64) = "negative_slope",
        /// GATv2. 1: one linear map for both ends of an edge.
        /// Default: false.
        share_weights(bool) = "share_weights",
        /// Transformer. 1: a gate mixes in the node's own row.
        /// Default: false.
        beta(bool) = "beta",
        /// GIN, GINE, EdgeConv: linear layers of their networks. 0: DGL's GIN without apply_func, with rows of equal width.
        /// Range: 0 to 8.
        /// Default: 2.
        mlp_layers(usize) = "mlp_layers",
        /// GIN, GINE. 1: learn the weight of the node's own row.
        /// Default: false.
        train_eps(bool) = "train_eps",
        /// GIN, GINE: weight of the node's own row, minus 1.
        /// Default: 0.
        eps(f64) = "eps",
        /// R-GCN: number of edge types. The types are the first integer tensor of the edge tensors edge_type, type and edge_label. 0: from the data set.
        /// Range: 0 to 1048576.
        /// Default: 0.
        num_relations(usize) = "num_relations",
        /// R-GCN: number of basis matrices, whose weighted sums are the matrices of the types. 0: one matrix per type.
        /// Range: 0 to 1048576.
        /// Default: 0.
        num_bases(usize) = "num_bases",
        /// R-GCN: blocks of block-diagonal matrices. 0: full matrices.
        /// Range: 0 to 1048576.
        /// Default: 0.
        num_blocks(usize) = "num_blocks",
        /// Edge features of the self-loops that PyG's GAT and GATv2 add (self_loops), computed from the other edges into the node; 0 without such edges.
        /// Default: [`LoopFill::Mean`](crate::LoopFill::Mean).
        loop_fill(crate::LoopFill) = "loop_fill",
        /// Value for loop_fill=constant.
        /// Default: 0.
        loop_value(f64) = "loop_value",
        /// GINE. 1: no linear map of edge features, which must have as many columns as the rows of every layer.
        /// Default: false.
        plain_edges(bool) = "plain_edges",
        /// 1: DGL's R-GCN normalizes each row of its sums, and DGL's EdgeConv applies batch norm to the rows of edges.
        /// Default: false.
        inner_norm(bool) = "inner_norm",
        /// PNA: reductions of the messages into a node; if none is given, mean, min, max and deviation. PyG's GraphSAGE: concatenates these reductions, in place of aggregation. deviation is the standard deviation.
        /// Default: none.
        reductions(&[crate::PnaReduction]) = "reductions",
        /// PNA. 1: learn average_degree and average_log_degree.
        /// Default: false.
        train_norm(bool) = "train_norm",
        /// PNA: factors of each reduction; d is the number of edges into the node.
        /// Default: identity,amplification,attenuation.
        scalers(&[crate::PnaScaler]) = "scalers",
        /// PNA: linear layers before the reductions, with ReLU between them.
        /// Range: 1 to 8.
        /// Default: 1.
        pre_layers(usize) = "pre_layers",
        /// PNA: linear layers after the reductions, with ReLU between them.
        /// Range: 1 to 8.
        /// Default: 1.
        post_layers(usize) = "post_layers",
        /// PNA: number of parallel networks, each for its share of the output.
        /// Range: 1 to 64.
        /// Default: 1.
        towers(usize) = "towers",
        /// PNA. 1: each tower reads only its share of the columns.
        /// Default: false.
        divide_input(bool) = "divide_input",
        /// PNA: mean number of edges into a node. 0: from the data set.
        /// Range: 0 or more.
        /// Default: 0.
        average_degree(f64) = "average_degree",
        /// PNA: mean of log(number of edges into a node + 1). 0: from the data set.
        /// Range: 0 or more.
        /// Default: 0.
        average_log_degree(f64) = "average_log_degree",
        /// GINE, GAT, GATv2, transformer, PNA: columns of edge features, which are the first of the edge tensors edge_attr, x and feat. 0: none, but for GINE from the data set; -1: from the data set.
        /// Range: -1 to 16777216.
        /// Default: 0.
        edge_dim(i64) = "edge_dim",
        /// GCN, GraphConv, and DGL's GraphSAGE, GCN, GAT, GIN and R-GCN. 1: weight edges by the edge tensor edge_weight, or else weight.
        /// Default: false.
        edge_weights(bool) = "edge_weights",
        /// Categories of each feature column: the features are integers, and the layers read the sum of the learned rows of all columns, hidden_dim wide.
        /// Range: 1 to 16777216.
        /// Default: none.
        node_vocabulary(&[usize]) = "node_vocabulary",
        /// Categories of each column of edge features, as node_vocabulary; the layers read edge_dim columns.
        /// Range: 1 to 16777216.
        /// Default: none.
        edge_vocabulary(&[usize]) = "edge_vocabulary",
        /// Combination of a graph's node rows into one row of the result, for batches of graphs.
        /// none: the result has one row per seed.
        /// sum: sum of each column.
        /// mean: mean of each column.
        /// max: maximum of each column.
        /// attention: sum weighted by a softmax over scores, which a linear layer computes.
        /// set2set: a recurrent network that reads the rows readout_steps times; the result is twice as wide.
        /// sort: the sort_rows rows that are largest in the last column, concatenated, with zeros if there are fewer.
        /// Default: [`Readout::None`](crate::Readout::None).
        readout(crate::Readout) = "readout",
        /// readout=set2set: number of steps.
        /// Range: 1 to 100.
        /// Default: 3.
        readout_steps(usize) = "readout_steps",
        /// readout=sort: number of rows.
        /// Range: 1 to 10000.
        /// Default: 30.
        sort_rows(usize) = "sort_rows",
        /// Share of hidden entries and of attention weights that training sets to 0.
        /// Range: 0 to below 1.
        /// Default: 0.
        dropout(f64) = "dropout",
        /// Share of features that training sets to 0.
        /// Range: 0 to below 1.
        /// Default: 0.
        input_dropout(f64) = "input_dropout",
        /// Share of the final linear layer's input, or with jumping=scores of each score, that training sets to 0.
        /// Range: 0 to below 1.
        /// Default: 0.
        output_dropout(f64) = "output_dropout",
        /// Share of edges that training drops in each layer, as if not sampled.
        /// Range: 0 to below 1.
        /// Default: 0.
        edge_dropout(f64) = "edge_dropout",
        /// Share of nodes whose edges training drops in all layers.
        /// Range: 0 to below 1.
        /// Default: 0.
        node_dropout(f64) = "node_dropout",
        /// Type of the parameters.
        /// Default: [`DataType::F32`](crate::DataType::F32).
        dtype(crate::DataType) = "dtype",
        /// Seed of the initial weights.
        /// Range: 0 or more.
        /// Default: 0.
        seed(u64) = "seed",
    }
}

settings! {
    /// Settings of [`Model::add_norm`](crate::Model::add_norm).
    pub struct NormConfig {
        /// Pair norms: length of the rows. -1: the number of columns.
        /// Range: above 0, or -1.
        /// Default: 1.
        scale(f64) = "scale",
        /// Number that is added below the root.
        /// Range: above 0.
        /// Default: 1e-05.
        epsilon(f64) = "epsilon",
        /// Batch norm: weight of new statistics in the running ones. -1: plain mean over all.
        /// Range: above 0 to 1, or -1.
        /// Default: 0.1.
        momentum(f64) = "momentum",
        /// Batch, layer and instance norms: a learned weight and bias per column at the end. default: on for batch and layer norms, off for instance norm.
        /// Default: [`NormAffine::Default`](crate::NormAffine::Default).
        affine(crate::NormAffine) = "affine",
    }
}

settings! {
    /// Settings of files of weights and of optimizers.
    pub struct ModelFileConfig {
        /// File format of weights. A file of an optimizer is always pth.
        /// Default: [`ModelFormat::Auto`](crate::ModelFormat::Auto).
        format(crate::ModelFormat) = "format",
        /// 1: the file has the layers of the other framework, PyG or DGL. A layer without a counterpart is an error, and a warning in the log names settings that equal results need. Loading recognizes files of gnnmg_model_save() by itself.
        /// Default: false.
        other_framework(bool) = "other_framework",
        /// Saving weights: name of the first layer, such as conv1, in place of convs.0 or layers.0; later layers count up. Loading recognizes such names.
        /// Default: none.
        first_layer(&str) = "first_layer",
        /// Loading: path of the tensors to read, in place of the whole file or its only dict: the dict of a .pth with several dicts, model or averages.model; the first part of the keys of any file, student for student.weight; the state of an optimizer.
        /// Default: none.
        dict(&str) = "dict",
        /// Saving. 1: write the networks of GIN, GINE and EdgeConv as torch's Sequential (convs.0.nn.0, convs.0.nn.2) or as one Linear (convs.0.nn), in place of PyG's MLP, and batch norms as torch's BatchNorm1d, without module. in their keys. Loading recognizes all of these, except for an optimizer, whose numbers follow the order of the modules.
        /// Default: false.
        torch_modules(bool) = "torch_modules",
        /// Saving. 1: use the keys of the file that the weights were last loaded from, without prefixes of wrappers such as module. or _orig_mod., so that the original class can load the file strictly; an error if no weights were loaded, or for a tensor of that file that the model does not have. Not with torch_modules or first_layer; other_framework must be as at loading. For an optimizer, parameters have the order of that file, if it is a .pth.
        /// Default: false.
        loaded_names(bool) = "loaded_names",
        /// Loading weights. 1: read the tensors whose keys and shapes fit, and leave the others of the model as they are. A warning in the log lists the keys that are missing, unexpected, or of another shape, and the settings that differ. Not with other_framework.
        /// Default: false.
        partial(bool) = "partial",
    }
}

settings! {
    /// Settings of an optimizer.
    pub struct OptimizerConfig {
        /// Kind of the optimizer.
        /// adam: Adam.
        /// adamw: Adam with decoupled weight decay.
        /// sgd: stochastic gradient descent.
        /// rmsprop: RMSprop.
        /// adagrad: Adagrad.
        /// Default: [`OptimizerKind::Adam`](crate::OptimizerKind::Adam).
        optimizer(crate::OptimizerKind) = "optimizer",
        /// Learning rate.
        /// Range: 0 or more.
        /// Default: 0.01.
        learning_rate(f64) = "learning_rate",
        /// Weight decay, or L2 penalty.
        /// Range: 0 or more.
        /// Default: 0.
        weight_decay(f64) = "weight_decay",
        /// Number of first convolutions to whose parameters weight_decay applies. 0: all parameters.
        /// Range: 0 or more.
        /// Default: 0.
        weight_decay_layers(usize) = "weight_decay_layers",
        /// Adam: decay of the mean.
        /// Range: 0 to below 1.
        /// Default: 0.9.
        beta1(f64) = "beta1",
        /// Adam: decay of the square.
        /// Range: 0 to below 1.
        /// Default: 0.999.
        beta2(f64) = "beta2",
        /// Not SGD: number that is added to the root.
        /// Range: 0 or more.
        /// Default: 1e-08.
        epsilon(f64) = "epsilon",
        /// Adam. 1: keep the largest square.
        /// Default: false.
        amsgrad(bool) = "amsgrad",
        /// SGD, RMSprop: momentum.
        /// Range: 0 or more.
        /// Default: 0.
        momentum(f64) = "momentum",
        /// SGD: dampening of the momentum.
        /// Range: 0 to 1.
        /// Default: 0.
        dampening(f64) = "dampening",
        /// SGD. 1: Nesterov momentum.
        /// Default: false.
        nesterov(bool) = "nesterov",
        /// RMSprop: decay of the square.
        /// Range: 0 to 1.
        /// Default: 0.99.
        alpha(f64) = "alpha",
        /// RMSprop. 1: divide by the deviation of the gradient, in place of the root of its mean square.
        /// Default: false.
        centered(bool) = "centered",
        /// Maximum 2-norm of all gradients together; larger gradients are scaled down. 0: no limit.
        /// Range: 0 or more.
        /// Default: 0.
        clip_norm(f64) = "clip_norm",
    }
}

settings! {
    /// Settings of a trainer.
    pub struct TrainerConfig {
        /// Passes over the training part.
        /// Range: 0 or more.
        /// Default: 10.
        num_epochs(usize) = "num_epochs",
        /// Seeds per mini-batch.
        /// Range: 1 or more.
        /// Default: 1024.
        batch_size(usize) = "batch_size",
        /// Data sets of many graphs: maximum nodes of a mini-batch, in addition to batch_size. 0: no limit.
        /// Range: 0 or more.
        /// Default: 0.
        batch_nodes(usize) = "batch_nodes",
        /// Mini-batches per step, all ranks together. The same number gives the same steps for any number of ranks. 0: one per rank.
        /// Range: 0 or more.
        /// Default: 0.
        batches_per_step(usize) = "batches_per_step",
        /// Seed of order, draws and dropout.
        /// Range: 0 or more.
        /// Default: 0.
        seed(u64) = "seed",
        /// Division of an epoch's ids among ranks.
        /// global: one permutation, every id exactly once.
        /// distributed_sampler: rule of PyTorch's DistributedSampler, for comparison.
        /// contiguous: slices as in DGL, for comparison.
        /// parts: ids divided by parts, for data sets in parts: every id exactly once, and all ids of a mini-batch from one part. The mini-batches are the same for any number of ranks and processes. Set batches_per_step to the number of parts.
        /// Default: [`Plan::Global`](crate::Plan::Global).
        plan(crate::Plan) = "plan",
        /// Mean that is the loss of a step.
        /// Default: [`LossAverage::Exact`](crate::LossAverage::Exact).
        loss_average(crate::LossAverage) = "loss_average",
        /// 1: new order in each epoch.
        /// Default: true.
        shuffle(bool) = "shuffle",
        /// 1: drop the last mini-batch if it is short.
        /// Default: false.
        drop_last(bool) = "drop_last",
        /// Loss function.
        /// auto: loss of the task, one of cross_entropy, binary_cross_entropy and mean_squared_error.
        /// cross_entropy: classes.
        /// binary_cross_entropy: binary targets, from logits.
        /// mean_squared_error: regression.
        /// mean_absolute_error: regression, torch's L1Loss.
        /// huber: regression, squared, and linear above huber_delta.
        /// focal: classes or binary targets, cross-entropy times (1 - p)^focal_gamma, p the label's probability.
        /// Default: [`Loss::Auto`](crate::Loss::Auto).
        loss(crate::Loss) = "loss",
        /// loss=cross_entropy: share of each label that is spread over all classes.
        /// Range: 0 to below 1.
        /// Default: 0.
        label_smoothing(f64) = "label_smoothing",
        /// Huber loss: error above which it is linear.
        /// Range: above 0.
        /// Default: 1.
        huber_delta(f64) = "huber_delta",
        /// Focal loss: exponent.
        /// Range: 0 or more.
        /// Default: 2.
        focal_gamma(f64) = "focal_gamma",
        /// Kind of the optimizer.
        /// adam: Adam.
        /// adamw: Adam with decoupled weight decay.
        /// sgd: stochastic gradient descent.
        /// rmsprop: RMSprop.
        /// adagrad: Adagrad.
        /// Default: [`OptimizerKind::Adam`](crate::OptimizerKind::Adam).
        optimizer(crate::OptimizerKind) = "optimizer",
        /// Maximum 2-norm of all gradients together; larger gradients are scaled down. 0: no limit.
        /// Range: 0 or more.
        /// Default: 0.
        clip_norm(f64) = "clip_norm",
        /// Change of the learning rate from epoch to epoch.
        /// Default: [`Schedule::Constant`](crate::Schedule::Constant).
        schedule(crate::Schedule) = "schedule",
        /// Epochs in which the learning rate rises from 0.
        /// Range: 0 or more.
        /// Default: 0.
        warmup_epochs(usize) = "warmup_epochs",
        /// Minimum factor of the learning rate.
        /// Range: 0 to 1.
        /// Default: 0.
        schedule_minimum(f64) = "schedule_minimum",
        /// schedule=step and schedule=plateau: factor of the learning rate.
        /// Range: above 0 to 1.
        /// Default: 0.5.
        schedule_factor(f64) = "schedule_factor",
        /// schedule=step: epochs between changes of the rate.
        /// Range: 1 or more.
        /// Default: 50.
        schedule_step_epochs(usize) = "schedule_step_epochs",
        /// schedule=plateau: reduce the rate at this many epochs in a row without improvement (PyTorch's patience + 1).
        /// Range: 1 or more.
        /// Default: 10.
        schedule_patience(usize) = "schedule_patience",
        /// Average of the weights, and of batch norm's running statistics, as PyTorch's AveragedModel with use_buffers. Validations, keep_best, evaluations, embeddings and snapshots use it once it has begun, and the trained model ends with it.
        /// Default: [`Average::None`](crate::Average::None).
        average(crate::Average) = "average",
        /// average=ema: share of the average that each step leaves.
        /// Range: 0 to below 1.
        /// Default: 0.999.
        average_decay(f64) = "average_decay",
        /// Epochs before the average begins.
        /// Range: 0 or more.
        /// Default: 0.
        average_from(usize) = "average_from",
        /// Neighborhoods of a validation.
        /// Default: [`Evaluation::Full`](crate::Evaluation::Full).
        evaluation(crate::Evaluation) = "evaluation",
        /// Epochs between validations. 0: never.
        /// Range: 0 or more.
        /// Default: 1.
        evaluate_every(usize) = "evaluate_every",
        /// Nodes per chunk of an evaluation.
        /// Range: 1 or more.
        /// Default: 4096.
        eval_batch_size(usize) = "eval_batch_size",
        /// Classes with the largest results among which the label has to be, in top_k_accuracy.
        /// Range: 1 or more.
        /// Default: 5.
        top_k(usize) = "top_k",
        /// Metric that selects the best epoch. Lower is better for loss, rmse and mae, higher for the others. In a regression, accuracy stands for the loss.
        /// Default: [`Metric::Accuracy`](crate::Metric::Accuracy).
        best_by(crate::Metric) = "best_by",
        /// 1: the model ends with the weights of the best validation.
        /// Default: true.
        keep_best(bool) = "keep_best",
        /// Validations in a row without improvement before training ends. 0: no early stop.
        /// Range: 0 or more.
        /// Default: 0.
        early_stop_patience(usize) = "early_stop_patience",
        /// Precision of matrix products in forward and backward passes of f32 models. Weights, gradients, sums over neighbors and evaluations stay in the model's type.
        /// Default: [`Precision::Float32`](crate::Precision::Float32).
        precision(crate::Precision) = "precision",
        /// 1: strict mode. With equal batches_per_step, weights and metrics have the same bits for any number of ranks and threads, and after a resume on another number of ranks, on one kind of CPU or GPU. Ranks gather the gradients of all mini-batches of a step and add them in plan order, with memory for one gradient per rank. LibTorch's operators use one thread per rank; torch_threads then applies to the library's own loops. Not with loss_average=ranks.
        /// Default: false.
        deterministic(bool) = "deterministic",
        /// 1: batch norm takes its statistics from all mini-batches of a step on all ranks, and updates the running statistics once per step. A rank then keeps its mini-batches of a step in memory, and each batch norm adds two small all-reduces. Not with deterministic.
        /// Default: false.
        sync_batch_norm(bool) = "sync_batch_norm",
        /// Threads per rank that sample and gather mini-batches in advance. 0: none; the rank makes each mini-batch itself, before its pass.
        /// Range: 0 to 1024.
        /// Default: 1.
        loader_threads(usize) = "loader_threads",
        /// Mini-batches that the loader threads of a rank make in advance.
        /// Range: 0 to 4096.
        /// Default: 2.
        prefetch(usize) = "prefetch",
        /// LibTorch threads per rank. 0: the cores of the process (or OMP_NUM_THREADS, if lower) divided by the ranks on this machine.
        /// Range: 0 to 4096.
        /// Default: 0.
        torch_threads(usize) = "torch_threads",
        /// Time that ranks wait for each other, and each rank for its GPU, milliseconds.
        /// Range: 1 or more.
        /// Default: 30000.
        deadline(std::time::Duration) = "deadline_ms",
        /// Time that a callback may make the ranks wait, milliseconds.
        /// Range: 1 or more.
        /// Default: 600000.
        stall_limit(std::time::Duration) = "stall_limit_ms",
        /// GPUs only: capture of training steps as CUDA graphs, which are then replayed. If the steps can be captured and memory suffices, mini-batches are padded to a few shapes; with or without capture such steps have the same bits. Other steps are neither captured nor padded, and the log says why.
        /// Default: [`Capture::Auto`](crate::Capture::Auto).
        capture(crate::Capture) = "capture",
        /// Learning rate.
        /// Range: 0 or more.
        /// Default: 0.01.
        learning_rate(f64) = "learning_rate",
        /// Weight decay, or L2 penalty.
        /// Range: 0 or more.
        /// Default: 0.
        weight_decay(f64) = "weight_decay",
        /// Number of first convolutions to whose parameters weight_decay applies. 0: all parameters.
        /// Range: 0 or more.
        /// Default: 0.
        weight_decay_layers(usize) = "weight_decay_layers",
        /// Adam: decay of the mean.
        /// Range: 0 to below 1.
        /// Default: 0.9.
        beta1(f64) = "beta1",
        /// Adam: decay of the square.
        /// Range: 0 to below 1.
        /// Default: 0.999.
        beta2(f64) = "beta2",
        /// Not SGD: number that is added to the root.
        /// Range: 0 or more.
        /// Default: 1e-08.
        epsilon(f64) = "epsilon",
        /// Adam. 1: keep the largest square.
        /// Default: false.
        amsgrad(bool) = "amsgrad",
        /// SGD, RMSprop: momentum.
        /// Range: 0 or more.
        /// Default: 0.
        momentum(f64) = "momentum",
        /// SGD: dampening of the momentum.
        /// Range: 0 to 1.
        /// Default: 0.
        dampening(f64) = "dampening",
        /// SGD. 1: Nesterov momentum.
        /// Default: false.
        nesterov(bool) = "nesterov",
        /// RMSprop: decay of the square.
        /// Range: 0 to 1.
        /// Default: 0.99.
        alpha(f64) = "alpha",
        /// RMSprop. 1: divide by the deviation of the gradient, in place of the root of its mean square.
        /// Default: false.
        centered(bool) = "centered",
        /// Ranks in this process, one thread each. 0: one per entry of devices, else one per GPU of this process's share (its part of the GPUs that it sees, if other processes of the job see them too), else one on the CPU.
        /// Range: 0 to 256.
        /// Default: 0.
        num_ranks(usize) = "num_ranks",
        /// Device of the ranks.
        /// auto: one GPU per rank if the shares of all processes have enough GPUs, else the CPU, where settings of GPUs change nothing; the log says which and why.
        /// cpu: the CPU.
        /// cuda: one GPU per rank; too few GPUs are an error.
        /// Default: [`DeviceType::Auto`](crate::DeviceType::Auto).
        device(crate::DeviceType) = "device",
        /// Numbers of GPUs, each once: rank r uses the r-th. Without it, the GPUs of this process's share, from the first.
        /// Range: 0 or more.
        /// Default: none.
        devices(&[usize]) = "devices",
        /// GPUs only: memory from which they read the graph.
        /// auto: device if the graph takes at most 40 % of the free GPU memory, else pinned, else host.
        /// device: a copy in the memory of each GPU.
        /// pinned: one copy in pinned main memory; GPUs sample from it.
        /// host: main memory; the loader's threads sample. Custom samplers and whole graphs need this.
        /// Default: [`GraphPlacement::Auto`](crate::GraphPlacement::Auto).
        graph_placement(crate::GraphPlacement) = "graph_placement",
        /// GPUs only: memory from which they read rows of features.
        /// auto: device if the features take at most 60 % of the free GPU memory, else cached, pinned or host.
        /// device: a copy in the memory of each GPU.
        /// pinned: one copy in pinned main memory; GPUs read it.
        /// cached: as pinned, with the hottest rows also in the memory of each GPU; not for custom samplers or whole graphs.
        /// host: main memory; the loader's threads gather. Sparse rows and rows of a mapped file need this.
        /// split: as cached, with different rows on each GPU of a trainer in this process. The GPUs read each other's memory, so two GPUs cache twice as many rows; an error for one GPU, or if two of them cannot read each other's memory.
        /// Default: [`FeaturePlacement::Auto`](crate::FeaturePlacement::Auto).
        feature_placement(crate::FeaturePlacement) = "feature_placement",
        /// GPUs only: storage type of feature rows; reads convert them back.
        /// Default: [`FeatureForm::AsGiven`](crate::FeatureForm::AsGiven).
        feature_form(crate::FeatureForm) = "feature_form",
        /// GPUs only: criterion by which a cache selects rows.
        /// Default: [`Hotness::Probability`](crate::Hotness::Probability).
        hotness(crate::Hotness) = "hotness",
        /// GPUs only: bytes of each GPU's memory for cached rows. 0: 30 % of the memory that the graph leaves free.
        /// Range: 0 or more.
        /// Default: 0.
        cache_bytes(usize) = "cache_bytes",
        /// GPUs only: multiprocessors of a GPU that may read rows in main memory while the others compute. 0: one eighth of them.
        /// Range: 0 to 65536.
        /// Default: 0.
        gather_multiprocessors(usize) = "gather_multiprocessors",
    }
}

settings! {
    /// Settings of a predictor.
    pub struct PredictorConfig {
        /// Neighbors that each node draws, one number a layer, next to the ids first; -1: all. Without it, neighborhoods are whole.
        /// Range: -1 to 2147483647.
        /// Default: none.
        fanouts(&[i64]) = "fanouts",
        /// Seed of the draws.
        /// Range: 0 or more.
        /// Default: 0.
        seed(u64) = "seed",
        /// Meaning of the results. none: that of the data set's labels, or without labels that of the data the model was made for or trained on, which its file tells; without any there are neither probabilities nor classes.
        /// Default: [`Task::None`](crate::Task::None).
        task(crate::Task) = "task",
    }
}

words! {
    /// Values of [`TrainerConfig::average`](crate::TrainerConfig::average).
    pub enum Average {
        /// No average.
        None = "none",
        /// Exponential moving average over the steps; GPUs then capture no steps.
        Ema = "ema",
        /// Plain mean over the ends of epochs.
        Swa = "swa",
    }
}

words! {
    /// Values of [`TrainerConfig::capture`](crate::TrainerConfig::capture).
    pub enum Capture {
        /// Captures if possible.
        Auto = "auto",
        /// No capture, kernel after kernel over the same shapes.
        Off = "off",
        /// Captures, or fails with the reason.
        On = "on",
        /// No capture and no padding, with the least memory, and results equal up to rounding.
        Unpadded = "unpadded",
    }
}

words! {
    /// Values of [`ModelConfig::degree_norm`](crate::ModelConfig::degree_norm).
    pub enum DegreeNorm {
        /// Divides each row by the roots of the degrees of both ends.
        Both = "both",
        /// DGL's division by the target's degree, the mean.
        Right = "right",
        /// DGL's division of each row by its source's degree.
        Left = "left",
        /// Plain sum, in PyG only without self_loops.
        None = "none",
    }
}

words! {
    /// Values of [`TrainerConfig::evaluation`](crate::TrainerConfig::evaluation).
    pub enum Evaluation {
        /// All neighbors, layer by layer over the graph.
        Full = "full",
        /// Drawn by the training sampler.
        Sampled = "sampled",
    }
}

words! {
    /// Values of [`SamplerConfig::expansion`](crate::SamplerConfig::expansion).
    pub enum Expansion {
        /// Nodes first met at the previous hop. All layers share one set of edges, trimmed to the needs of each layer. PyG's rule.
        Once = "once",
        /// All nodes met so far, drawn anew for each layer. DGL's rule.
        EveryLayer = "every_layer",
    }
}

words! {
    /// Values of [`LoaderConfig::feature_form`](crate::LoaderConfig::feature_form).
    pub enum FeatureForm {
        /// Type of the data set.
        AsGiven = "as_given",
        /// IEEE half, rounded to nearest even.
        F16 = "f16",
        /// Bfloat16, rounded to nearest even.
        Bf16 = "bf16",
        /// One byte per element and one scale per row.
        Int8 = "int8",
    }
}

words! {
    /// Values of [`DatasetConfig::format`](crate::DatasetConfig::format).
    pub enum Format {
        /// Detected from the files.
        Auto = "auto",
        /// Folder that gnnmg_dataset_save() writes.
        Gnnmg = "gnnmg",
        /// Folder of `ind.NAME.*` (Cora, CiteSeer, PubMed).
        Planetoid = "planetoid",
        /// Folder of `edges.npy`, or `triples.npy` for a knowledge graph, and `labels.npy`, `split_*.npy`, ...
        Plain = "plain",
        /// One `.npz` with `adj_*` and `attr_*` (Amazon, Coauthor).
        Shchur = "shchur",
        /// One `.npz` with `node_features`, `edges`, masks.
        Heterophilous = "heterophilous",
        /// Folder of an OGB node property data set.
        Ogb = "ogb",
        /// Text with one edge per line, also gzipped.
        Edges = "edges",
        /// Many graphs in one text, in the format of GIN and DGCNN.
        Gin = "gin",
        /// Many graphs: `NAME_A.txt`, `NAME_graph_indicator.txt`, ...
        Tu = "tu",
        /// Many graphs: one `.npz` with `node_ptr`, `edge_ptr`, `edges`.
        Packed = "packed",
        /// Text that begins with `%%MatrixMarket`, also gzipped.
        MatrixMarket = "matrix_market",
        /// Text of a METIS graph, also gzipped.
        Metis = "metis",
        /// Folder of parts that gnnmg_dataset_save_parts() writes.
        Parts = "parts",
        /// Folder of Geom-GCN's two texts `out1_*.txt`.
        GeomGcn = "geom_gcn",
    }
}

words! {
    /// Values of [`LoaderConfig::hotness`](crate::LoaderConfig::hotness).
    pub enum Hotness {
        /// Probability of being in a mini-batch, computed from training ids and fan-outs.
        Probability = "probability",
        /// Number of edges that leave the node.
        Degree = "degree",
        /// Count in the first mini-batches, sampled when training begins or a loader is made.
        Counting = "counting",
    }
}

words! {
    /// Values of [`ModelConfig::input`](crate::ModelConfig::input).
    pub enum Input {
        /// Features of the nodes.
        Features = "features",
        /// A learned row of hidden_dim columns for each node, also for architecture=layers.
        Embedding = "embedding",
        /// PyG's R-GCN, the node itself, as if the features were the unit matrix.
        Nodes = "nodes",
    }
}

words! {
    /// Values of [`ModelConfig::jumping`](crate::ModelConfig::jumping).
    pub enum Jumping {
        /// The last layer gives the result.
        None = "none",
        /// Output of the last layer.
        Last = "last",
        /// Outputs of all layers, concatenated.
        Cat = "cat",
        /// Maximum over all layers, entry by entry.
        Max = "max",
        /// Sum of the outputs, weighted by attention, whose scores a bidirectional recurrent network over the layers computes.
        Lstm = "lstm",
        /// GIN's sum of readouts of the features and of every layer's output, each after its own linear layer, which needs a readout.
        Scores = "scores",
    }
}

words! {
    /// Values of [`ModelConfig::loop_fill`](crate::ModelConfig::loop_fill).
    pub enum LoopFill {
        /// Mean of each column.
        Mean = "mean",
        /// Sum of each column.
        Sum = "sum",
        /// Maximum of each column.
        Max = "max",
        /// Minimum of each column.
        Min = "min",
        /// Loop_value in every column.
        Constant = "constant",
    }
}

words! {
    /// Values of [`TrainerConfig::loss_average`](crate::TrainerConfig::loss_average).
    pub enum LossAverage {
        /// Over all seeds of the step, independent of the number of ranks.
        Exact = "exact",
        /// Mean of the ranks' means, as PyTorch's DDP, for comparison.
        Ranks = "ranks",
    }
}

words! {
    /// Values of [`TrainerConfig::best_by`](crate::TrainerConfig::best_by).
    pub enum Metric {
        /// `accuracy`
        Accuracy = "accuracy",
        /// `loss`
        Loss = "loss",
        /// `roc_auc`
        RocAuc = "roc_auc",
        /// `f1_macro`
        F1Macro = "f1_macro",
        /// `f1_micro`
        F1Micro = "f1_micro",
        /// `average_precision`
        AveragePrecision = "average_precision",
        /// `rmse`
        Rmse = "rmse",
        /// `mae`
        Mae = "mae",
    }
}

words! {
    /// Values of [`ModelFileConfig::format`](crate::ModelFileConfig::format).
    pub enum ModelFormat {
        /// Loading detects it from the first bytes; saving writes pth if the path ends with .pth or .pt, else safetensors.
        Auto = "auto",
        /// Safetensors.
        Safetensors = "safetensors",
        /// A state dict as torch.save() writes it.
        Pth = "pth",
    }
}

words! {
    /// Values of [`ModelConfig::norm_affine`](crate::ModelConfig::norm_affine).
    pub enum NormAffine {
        /// On for batch and layer norms, off for instance norm.
        Default = "default",
        /// A weight and a bias.
        On = "on",
        /// Neither.
        Off = "off",
    }
}

words! {
    /// Values of [`ModelConfig::reductions`](crate::ModelConfig::reductions).
    pub enum PnaReduction {
        /// `mean`
        Mean = "mean",
        /// `min`
        Min = "min",
        /// `max`
        Max = "max",
        /// `sum`
        Sum = "sum",
        /// `variance`
        Variance = "variance",
        /// `deviation`
        Deviation = "deviation",
    }
}

words! {
    /// Values of [`ModelConfig::scalers`](crate::ModelConfig::scalers).
    pub enum PnaScaler {
        /// 1.
        Identity = "identity",
        /// Log(d + 1) / average_log_degree.
        Amplification = "amplification",
        /// Average_log_degree / log(d + 1), d at least 1.
        Attenuation = "attenuation",
        /// D / average_degree.
        Linear = "linear",
        /// Average_degree / d, d at least 1.
        InverseLinear = "inverse_linear",
    }
}

words! {
    /// Values of [`TrainerConfig::precision`](crate::TrainerConfig::precision).
    pub enum Precision {
        /// Type of the model.
        Float32 = "float32",
        /// Factors have 10 bits of mantissa in all products on GPUs; as float32 on the CPU. While such a trainer works, this holds for all products of LibTorch on GPUs in the process, and a step of another trainer on GPUs without tf32 is an error.
        Tf32 = "tf32",
        /// Factors of the larger products of SAGE, GCN, GIN, GAT and similar layers are rounded to bf16; sums within a product are f32. On CPUs this is faster only with AMX or AVX-512's bf16 instructions.
        Bf16 = "bf16",
    }
}

words! {
    /// Values of [`TrainerConfig::schedule`](crate::TrainerConfig::schedule).
    pub enum Schedule {
        /// No change.
        Constant = "constant",
        /// Half a cosine, down to schedule_minimum.
        Cosine = "cosine",
        /// Multiply by schedule_factor every schedule_step_epochs.
        Step = "step",
        /// Multiply by schedule_factor when validation stops improving.
        Plateau = "plateau",
    }
}

words! {
    /// Values of [`ModelConfig::skip`](crate::ModelConfig::skip).
    pub enum Skip {
        /// No connections.
        None = "none",
        /// Adds a linear map of each layer's input to its output, and a linear layer gives the result.
        Linear = "linear",
        /// Residual blocks that begin with the norm, between linear layers.
        Residual = "residual",
    }
}

words! {
    /// Values of [`ModelConfig::weight_init`](crate::ModelConfig::weight_init).
    pub enum WeightInit {
        /// Default of each layer in PyG, or in DGL for DGL's layers, uniform within 1 / sqrt(fan in), GCN and attention Glorot, biases 0.
        Pyg = "pyg",
        /// Glorot uniform, biases 0.
        Glorot = "glorot",
        /// Default of each layer in DGL, Glorot uniform with gain sqrt 2, attention Glorot normal, GCN with gain 1, biases 0.
        Dgl = "dgl",
    }
}
