//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The settings, a builder each.

use crate::raw::config;

config! {
    /// Settings of a context.
    pub struct ContextConfig(gnnmg_context_config, gnnmg_context_config_init) {
        /// Threads for reading, sampling and evaluation, including the calling
        /// thread. Default 0: one per core of this process.
        num_threads => num_threads: usize,
        /// Messages that the queue holds; a new message replaces the oldest.
        /// Default 1024.
        log_capacity => log_capacity: i64,
        /// Bytes for the context's graphs, samples, mini-batches and result rows
        /// together, without the parameters and products of LibTorch. Default 0:
        /// no limit.
        memory_limit => memory_limit: usize,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_planted_partition()`.
    pub struct PlantedPartitionConfig(gnnmg_planted_partition_config, gnnmg_planted_partition_config_init) {
        /// Number of classes, of equal size. Default 10.
        num_classes => num_classes: usize,
        /// Number of nodes. Default 50 000.
        num_nodes => num_nodes: usize,
        /// Directed edges per node; each edge exists in both directions.
        /// Default 16.
        mean_degree => mean_degree: f64,
        /// Probability that an edge joins two nodes of one class.
        /// Default 0.5.
        intra_probability => intra_probability: f64,
        /// Standard deviation of the coordinates of a class center.
        /// Default 0.15.
        centre_scale => centre_scale: f64,
        /// Standard deviation of a feature around its center. Default 1.
        noise => noise: f64,
        /// Share of labels replaced by another class. Default 0.05.
        label_noise => label_noise: f64,
        /// The graph depends only on seed and settings. Default 1.
        seed => seed: u64,
        /// Columns of the features. Default 64.
        num_features => num_features: usize,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_log_normal()`.
    pub struct LogNormalConfig(gnnmg_log_normal_config, gnnmg_log_normal_config_init) {
        /// Columns of the features; 0: no features. Default 100.
        num_features => num_features: usize,
        /// Number of classes; 0: no labels and no communities. Default 47.
        num_classes => num_classes: usize,
        /// Number of nodes. Default 2 449 029.
        num_nodes => num_nodes: usize,
        /// Mean number of incoming edges; no node has more than num_nodes / 20.
        /// Default 50.5.
        mean_degree => mean_degree: f64,
        /// Standard deviation of the logarithm of the degrees. Default 1.45.
        sigma => sigma: f64,
        /// Exponent of the community sizes. Default 0.8.
        zipf => zipf: f64,
        /// Probability that an edge comes from the target's community.
        /// Default 0.5.
        homophily => homophily: f64,
        /// Scale of a class center; features are center plus N(0, 1).
        /// Default 0.1.
        centre_scale => centre_scale: f64,
        /// Share of labels replaced at random. Default 0.05.
        label_noise => label_noise: f64,
        /// The graph depends only on seed and settings. Default 1.
        seed => seed: u64,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_rmat()`.
    pub struct RmatConfig(gnnmg_rmat_config, gnnmg_rmat_config_init) {
        /// The graph has 2^scale nodes. Default 16.
        scale => scale: i32,
        /// Number of directed edges. Default 2^20.
        num_edges => num_edges: usize,
        /// Probability of the quadrant (0, 0). Default 0.57.
        a => a: f64,
        /// Probability of the quadrant (0, 1). Default 0.19.
        b => b: f64,
        /// Probability of the quadrant (1, 0); (1, 1) has the rest.
        /// Default 0.19.
        c => c: f64,
        /// The graph depends only on seed and settings. Default 1.
        seed => seed: u64,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_erdos_renyi()`.
    pub struct ErdosRenyiConfig(gnnmg_erdos_renyi_config, gnnmg_erdos_renyi_config_init) {
        /// Number of nodes. Default 10 000.
        num_nodes => num_nodes: usize,
        /// Number of directed edges. Default 100 000.
        num_edges => num_edges: usize,
        /// The graph depends only on seed and settings. Default 1.
        seed => seed: u64,
    }
}

config! {
    /// Settings of `gnnmg_dataset_open()`.
    pub struct DatasetConfig(gnnmg_dataset_config, gnnmg_dataset_config_init) {
        /// Default [`Format::Auto`](crate::Format::Auto).
        format => format: crate::Format,
        /// 1: add the reverse of every edge and drop duplicates, for Planetoid
        /// and Shchur also self-loops; for a knowledge graph add the reverse
        /// edges as separate relations and drop nothing. 0: edges as listed. -1:
        /// as the format defines. Default -1.
        undirected => undirected: bool,
        /// 1: add up repeated entries of sparse features. Default 0.
        sum_duplicates => sum_duplicates: bool,
        /// 1: map the files of the library's own format; 0: read them.
        /// Default 1.
        map_files => map_files: bool,
        /// 1: refuse node features, edge features and edge weights that are NaN,
        /// infinite or beyond f32. Default 1.
        check_finite => check_finite: bool,
        /// Edge lists: character between columns. Default 0: detected.
        separator => separator: i32,
        /// Edge lists: number of lines to skip; -1: use a first line that names
        /// the columns, and read one that counts nodes and edges as counts.
        /// Default -1.
        header_lines => header_lines: i32,
        /// Edge lists: column of the sources, from 0. With source_column 0 and
        /// target_column 1, a header that names the ends overrides both.
        /// Default 0.
        source_column => source_column: i32,
        /// Edge lists: column of the targets, from 0. Default 1.
        target_column => target_column: i32,
        /// Edge lists. 1: accept names and ids of any size, and number them in
        /// order of appearance. The node tensor "original_id", i64 \[N\], has the
        /// ids; "original_name", u8 \[N, W\], has the names, each followed by at
        /// least one 0. Default 0.
        relabel => relabel: bool,
        /// 1: round integer features to the nearest f32; 0: refuse integers that
        /// are not exact. Sparse f64 features are always rounded. Default 0.
        round_values => round_values: bool,
        /// Edge lists: number of nodes; -1: the largest id + 1. Default -1.
        num_nodes => num_nodes: usize,
        /// Texts of many graphs. 1: features are the one-hot degrees of nodes;
        /// -1: the one-hot tags; 0: the attributes, in TU Dortmund's format
        /// together with the tags, or without attributes the tags, unless all
        /// are equal. Default 0.
        degree_features => degree_features: i32,
        /// Meaning of the labels. [`Task::None`](crate::Task::None): inferred from format
        /// and values; one column of 0 and 1 becomes two classes (two
        /// logits), with [`Task::Binary`](crate::Task::Binary) one target (one logit), as in
        /// OGB's examples. The library's own format stores its task.
        /// Default [`Task::None`](crate::Task::None).
        task => task: crate::Task,
    }
}

config! {
    /// Settings of `gnnmg_dataset_save_parts(). 0 is the default in every field: `{sizeof config}` is
    /// complete`.
    pub struct PartsConfig(gnnmg_parts_config) {
        /// Number of parts, 1 to 65535. Default 2.
        num_parts => num_parts: usize,
        /// Default [`PartsMethod::Cluster`](crate::PartsMethod::Cluster).
        method => method: crate::PartsMethod,
        /// 1: store the id of each edge even if ids equal positions. Default 0.
        edge_ids => edge_ids: bool,
        /// The parts depend only on seed, data and settings. Default 0.
        seed => seed: u64,
        /// Bytes for dividing, in addition to the data set; with less memory
        /// [`PartsMethod::Cluster`](crate::PartsMethod::Cluster) keeps fewer edges between clusters.
        /// Default 0: as many as the method needs.
        memory_limit => memory_limit: usize,
    }
}

config! {
    /// Settings of `gnnmg_dataset_add_random_split()`.
    pub struct SplitConfig(gnnmg_split_config, gnnmg_split_config_init) {
        /// 1: use the order of NumPy's `RandomState(seed).permutation`, to
        /// reproduce splits made with NumPy. Default 0.
        numpy_legacy => numpy_legacy: bool,
        /// Share of the labeled nodes, rounded down. Default 0.6.
        train_fraction => train_fraction: f64,
        /// Share of the labeled nodes, rounded down; test gets the rest.
        /// Default 0.2.
        validation_fraction => validation_fraction: f64,
        /// Above 0: training nodes of each class, in place of
        /// `train_fraction`. Default 0.
        train_per_class => train_per_class: i64,
        /// Validation nodes of each class, with `train_per_class`.
        /// Default 0.
        validation_per_class => validation_per_class: i64,
        /// The split depends only on seed, labels and settings.
        /// Default 0.
        seed => seed: u64,
    }
}

config! {
    /// Settings of `gnnmg_dataset_add_folds()`.
    pub struct FoldsConfig(gnnmg_folds_config, gnnmg_folds_config_init) {
        /// Number of folds, 2 to 100. Default 10.
        num_folds => num_folds: usize,
        /// Part that holds fold k in split k: [`Split::Validation`](crate::Split::Validation) or
        /// [`Split::Test`](crate::Split::Test). The split trains on the other folds.
        /// Default [`Split::Validation`](crate::Split::Validation).
        held_out => held_out: crate::Split,
        /// 1: make the folds of scikit-learn's `StratifiedKFold(num_folds,
        /// shuffle=True, random_state=seed)`. Default 0.
        numpy_legacy => numpy_legacy: bool,
        /// The folds depend only on seed, labels and settings. Default 0.
        seed => seed: u64,
    }
}

config! {
    /// Settings of a sampler.
    pub struct SamplerConfig(gnnmg_sampler_config, gnnmg_sampler_config_init) {
        /// Default [`Expansion::Once`](crate::Expansion::Once).
        expansion => expansion: crate::Expansion,
        /// 1: the list begins at the far end, as in DGL. Default 0.
        fanouts_reversed => fanouts_reversed: bool,
        /// 1: draw with replacement. Default 0.
        replace => replace: bool,
        /// 1: follow edges from source to target. For custom loops; degrees
        /// that a model takes from the graph still count incoming edges. A
        /// trainer refuses it because it evaluates along incoming edges; use
        /// [`Transform::ReverseEdges`](crate::Transform::ReverseEdges) instead. Default 0.
        outgoing => outgoing: bool,
        /// 1: blocks have edge ids; 0: blocks have edge ids only if the edges
        /// have tensors that models may read, and never from a custom
        /// sampler. Default 0.
        edge_ids => edge_ids: bool,
        /// 1: blocks have the data that backward passes need. Default 1.
        transpose => transpose: bool,
        /// Index of the edge type to follow. Default 0.
        edge_type => edge_type: i32,
        /// LABOR cannot be combined with `replace`. With LABOR a GPU measures the
        /// size of each hop, and its steps are not captured.
        /// Default [`Draw::Uniform`](crate::Draw::Uniform).
        draw => draw: crate::Draw,
    }
}

config! {
    /// Settings of a loader.
    pub struct LoaderConfig(gnnmg_loader_config, gnnmg_loader_config_init) {
        /// Part of the split. Default [`Split::Train`](crate::Split::Train).
        part => part: crate::Split,
        /// Seeds per mini-batch. Default 1024.
        batch_size => batch_size: usize,
        /// Mini-batches per step, all ranks together. Default 0:
        /// `world_size`.
        batches_per_step => batches_per_step: usize,
        /// Rank that this loader serves. Default 0.
        rank => rank: i32,
        /// Number of ranks. Default 1.
        world_size => world_size: usize,
        /// Default [`Partition::Global`](crate::Partition::Global).
        partition => partition: crate::Partition,
        /// 1: new order in each epoch. Default 1.
        shuffle => shuffle: bool,
        /// 1: drop the last mini-batch if it is short. Default 0.
        drop_last => drop_last: bool,
        /// Threads that make mini-batches; 0: gnnmg_loader_next() makes them.
        /// Default 1.
        num_threads => num_threads: usize,
        /// Mini-batches made in advance. Default 2.
        prefetch => prefetch: i32,
        /// 1: with features, if the data set has any. Default 1.
        gather => gather: bool,
        /// Seed of order, draws and dropout. Default 0.
        seed => seed: u64,
        /// Maximum nodes of a mini-batch whose seeds are graphs: it takes the
        /// next graphs up to this many nodes and at most `batch_size` graphs;
        /// a larger graph is a mini-batch alone. Epochs then differ in the
        /// number of mini-batches. Needs [`Partition::Global`](crate::Partition::Global) without
        /// `drop_last`. Default 0: no limit.
        batch_nodes => batch_nodes: usize,
        /// Memory of mini-batches: [`DeviceType::Cuda`](crate::DeviceType::Cuda) is a GPU, any other
        /// main memory. Default [`DeviceType::Auto`](crate::DeviceType::Auto).
        device => device: crate::DeviceType,
        /// Number of the GPU. Default 0.
        device_index => device_index: i32,
        /// GPU only. Default [`GraphPlacement::Auto`](crate::GraphPlacement::Auto).
        graph_placement => graph_placement: crate::GraphPlacement,
        /// GPU only.
        /// Default [`FeaturePlacement::Auto`](crate::FeaturePlacement::Auto).
        feature_placement => feature_placement: crate::FeaturePlacement,
        /// GPU only.
        /// Default [`FeatureForm::AsGiven`](crate::FeatureForm::AsGiven).
        feature_form => feature_form: crate::FeatureForm,
        /// GPU only. Default [`Hotness::Probability`](crate::Hotness::Probability).
        hotness => hotness: crate::Hotness,
        /// Bytes of GPU memory for cached rows. Default 0: 30 % of the memory that
        /// the graph leaves free.
        cache_bytes => cache_bytes: usize,
        /// Multiprocessors of the GPU that may read rows in main memory
        /// at a time. Default 0: one eighth of them.
        gather_multiprocessors => gather_multiprocessors: i32,
    }
}

config! {
    /// Settings of a model. A field that names architectures, a norm or a readout applies only to
    /// these; for others the field must have its default. If a range begins above 0, 0 also means the
    /// default, except for `num_layers` and `hidden_dim`.
    pub struct ModelConfig(gnnmg_model_config, gnnmg_model_config_init) {
        /// Default [`Architecture::Sage`](crate::Architecture::Sage).
        architecture => architecture: crate::Architecture,
        /// Columns of the features, or the number of nodes if `input`
        /// is not the features. Default 0: from the data set.
        input_dim => input_dim: usize,
        /// Columns between layers, above 0. Default 256.
        hidden_dim => hidden_dim: usize,
        /// Columns of the result; -1: the last layer is like the
        /// others, hidden_dim wide, as PyG's model classes without
        /// `out_channels`. Default 0: classes of the data set.
        output_dim => output_dim: i64,
        /// Number of layers, equal to the sampler's, 1 to 10.
        /// Default 2.
        num_layers => num_layers: usize,
        /// GraphSAGE, GIN, GINE, GraphConv, R-GCN, EdgeConv.
        /// Default [`Aggregation::Default`](crate::Aggregation::Default).
        aggregation => aggregation: crate::Aggregation,
        /// Default [`Activation::Relu`](crate::Activation::Relu).
        activation => activation: crate::Activation,
        /// Default [`Norm::None`](crate::Norm::None).
        norm => norm: crate::Norm,
        /// Default [`Skip::None`](crate::Skip::None).
        skip => skip: crate::Skip,
        /// Default [`WeightInit::Pyg`](crate::WeightInit::Pyg).
        weight_init => weight_init: crate::WeightInit,
        /// 1: layers add a bias. Default 1.
        bias => bias: bool,
        /// GraphSAGE, R-GCN, transformer. 1: a layer also maps the node's own row.
        /// Default 1.
        root_weight => root_weight: bool,
        /// GraphSAGE. 1: scale each output row of a layer to unit length.
        /// Default 0.
        normalize => normalize: bool,
        /// GraphSAGE. 1: first apply a linear map and ReLU to the sources.
        /// Default 0.
        project => project: bool,
        /// 1: activation before norm. Default 0.
        act_first => act_first: bool,
        /// [`DataType::F32`](crate::DataType::F32) or [`DataType::F64`](crate::DataType::F64). Default [`DataType::F32`](crate::DataType::F32).
        dtype => dtype: crate::DataType,
        /// Share of hidden entries and of attention weights that training sets to
        /// 0, in \[0, 1). Default 0.
        dropout => dropout: f64,
        /// Share of features that training sets to 0, in \[0, 1). Default 0.
        input_dropout => input_dropout: f64,
        /// Seed of the initial weights. Default 0.
        seed => seed: u64,
        /// Default [`Jumping::None`](crate::Jumping::None).
        jumping => jumping: crate::Jumping,
        /// GAT, GATv2, transformer: 1 to 64; must divide hidden_dim with
        /// `concat`. Default 1.
        heads => heads: i32,
        /// GAT, GATv2, transformer. 1: concatenate the heads; 0: take their mean. The
        /// layer that gives the result takes the mean. Default 1.
        concat => concat: bool,
        /// GCN, GAT, GATv2. 1: one self-loop per node replaces those of the
        /// graph. Default 1.
        self_loops => self_loops: bool,
        /// GAT, GATv2. 1: add a linear map of the node's own row. Default 0.
        residual => residual: bool,
        /// GCN. 0: degrees of the whole graph, so that the sampled edges stand
        /// for all; 1: degrees of the block, as PyG on a sampled graph.
        /// Default 0.
        block_degrees => block_degrees: bool,
        /// GIN, GINE. 1: learn the weight of the node's own row. Default 0.
        train_eps => train_eps: bool,
        /// GAT, GATv2: slope of the leaky function below 0. Default 0.2.
        negative_slope => negative_slope: f64,
        /// GIN, GINE: weight of the node's own row, minus 1. Default 0.
        eps => eps: f64,
        /// Batches of graphs only. Default [`Readout::None`](crate::Readout::None).
        readout => readout: crate::Readout,
        /// Default [`Framework::Pyg`](crate::Framework::Pyg).
        framework => framework: crate::Framework,
        /// Share of the final linear layer's input, or with
        /// [`Jumping::Scores`](crate::Jumping::Scores) of each score, that training sets to 0.
        /// Default 0.
        output_dropout => output_dropout: f64,
        /// [`Norm::Pair`](crate::Norm::Pair), [`Norm::PairRows`](crate::Norm::PairRows): above 0; -1: number of
        /// columns, as PyG's model classes use if given only the name.
        /// Default 1.
        norm_scale => norm_scale: f64,
        /// GIN, GINE, EdgeConv: linear layers of their networks, 1 to 8; -1: DGL's
        /// GIN without `apply_func`, with rows of equal width. Default 2.
        mlp_layers => mlp_layers: i32,
        /// GINE, GAT, GATv2, transformer, PNA: columns of edge features; -1: from
        /// the data set. Edge features are the first of the edge tensors
        /// "edge_attr", "x" and "feat". Default 0: none, but for GINE from the data
        /// set.
        edge_dim => edge_dim: i64,
        /// R-GCN: number of edge types. The types are the first integer tensor of
        /// the edge tensors "edge_type", "type" and "edge_label". Default 0: from
        /// the data set.
        num_relations => num_relations: usize,
        /// R-GCN: number of basis matrices, whose weighted sums are the matrices of
        /// the types. Default 0: one matrix per type.
        num_bases => num_bases: usize,
        /// R-GCN: blocks of block-diagonal matrices. Default 0: full matrices.
        num_blocks => num_blocks: usize,
        /// GCN, GraphConv, and DGL's GraphSAGE, GCN, GAT, GIN and R-GCN. 1:
        /// weight edges by the edge tensor "edge_weight", or else "weight".
        /// Default 0.
        edge_weights => edge_weights: bool,
        /// PyG's GCN with edge weights. 1: added self-loops have weight 2.
        /// Default 0.
        improved => improved: bool,
        /// Transformer. 1: a gate mixes in the node's own row. Default 0.
        beta => beta: bool,
        /// PNA: number of parallel networks, each for its share of the output, 1
        /// to 64. Default 1.
        towers => towers: i32,
        /// PNA. 1: each tower reads only its share of the columns. Default 0.
        divide_input => divide_input: bool,
        /// [`Readout::Set2set`](crate::Readout::Set2set): 1 to 100. Default 3.
        readout_steps => readout_steps: i32,
        /// [`Readout::Sort`](crate::Readout::Sort): 1 to 10000. Default 30.
        sort_rows => sort_rows: i32,
        /// PNA: mean number of edges into a node. Default 0: from the data
        /// set.
        average_degree => average_degree: f64,
        /// PNA: mean of log(number of edges into a node + 1). Default 0: from
        /// the data set.
        average_log_degree => average_log_degree: f64,
        /// Default [`Input::Features`](crate::Input::Features).
        input => input: crate::Input,
        /// Share of edges that training drops in each layer, as if not sampled, in
        /// \[0, 1). Default 0.
        edge_dropout => edge_dropout: f64,
        /// Share of nodes whose edges training drops in all layers, in \[0, 1).
        /// Default 0.
        node_dropout => node_dropout: f64,
        /// PNA: linear layers before the reductions, with ReLU between them, 1
        /// to 8. Default 1.
        pre_layers => pre_layers: i32,
        /// PNA: linear layers after the reductions, with ReLU between them, 1 to 8.
        /// Default 1.
        post_layers => post_layers: i32,
        /// GCN. Default [`DegreeNorm::Both`](crate::DegreeNorm::Both).
        degree_norm => degree_norm: crate::DegreeNorm,
        /// GATv2. 1: one linear map for both ends of an edge.
        /// Default 0.
        share_weights => share_weights: bool,
        /// Value for [`LoopFill::Constant`](crate::LoopFill::Constant). Default 0.
        loop_value => loop_value: f64,
        /// PyG's GAT and GATv2 with edge features and `self_loops`.
        /// Default [`LoopFill::Mean`](crate::LoopFill::Mean).
        loop_fill => loop_fill: crate::LoopFill,
        /// GINE. 1: no linear map of edge features, which must have as
        /// many columns as the rows of every layer. Default 0.
        plain_edges => plain_edges: bool,
        /// 1: DGL's R-GCN normalizes each row of its sums, and DGL's
        /// EdgeConv applies batch norm to the rows of edges.
        /// Default 0.
        inner_norm => inner_norm: bool,
        /// PNA. 1: learn average_degree and average_log_degree. Default 0.
        train_norm => train_norm: bool,
        /// Norms: added below the root, above 0. Default 1e-5.
        norm_epsilon => norm_epsilon: f64,
        /// [`Norm::Batch`](crate::Norm::Batch): weight of new statistics in the running ones, above
        /// 0 and at most 1; -1: plain mean over all. Default 0.1.
        norm_momentum => norm_momentum: f64,
        /// Batch, layer and instance norms.
        /// Default [`NormAffine::Default`](crate::NormAffine::Default).
        norm_affine => norm_affine: crate::NormAffine,
        /// GAT, GATv2, transformer: heads of the layer that gives the
        /// result, which takes their mean, 0 to 64. Default 0: as
        /// `heads`.
        output_heads => output_heads: i32,
    }
}

config! {
    /// Settings of `gnnmg_model_add_norm(). A field that does not apply to the norm must have its
    /// default. 0 also means the default`.
    pub struct NormConfig(gnnmg_norm_config, gnnmg_norm_config_init) {
        /// Batch, layer and instance norms.
        /// Default [`NormAffine::Default`](crate::NormAffine::Default).
        affine => affine: crate::NormAffine,
        /// [`Norm::Pair`](crate::Norm::Pair), [`Norm::PairRows`](crate::Norm::PairRows): above 0; -1: number of columns.
        /// Default 1.
        scale => scale: f64,
        /// Added below the root, above 0. Default 1e-5.
        epsilon => epsilon: f64,
        /// [`Norm::Batch`](crate::Norm::Batch): weight of new statistics in the running ones, above 0
        /// and at most 1; -1: plain mean over all. Default 0.1.
        momentum => momentum: f64,
    }
}

config! {
    /// Settings of `gnnmg_model_save(), gnnmg_model_load(), gnnmg_optimizer_save(),
    /// gnnmg_optimizer_load(), gnnmg_trainer_save_optimizer() and gnnmg_trainer_load_optimizer(). A file
    /// of an optimizer is always `.pth`, numbers its parameters and ignores `first_layer``.
    pub struct ModelFileConfig(gnnmg_model_file_config, gnnmg_model_file_config_init) {
        /// Default [`ModelFormat::Auto`](crate::ModelFormat::Auto).
        format => format: crate::ModelFormat,
        /// 1: the file has the layers of the other framework, PyG or DGL.
        /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) names a layer without a counterpart; a
        /// warning in the log names settings that equal results need. Loading
        /// recognizes files of gnnmg_model_save() by itself. Default 0.
        other_framework => other_framework: bool,
        /// Saving. 1: write the networks of GIN, GINE and EdgeConv as torch's
        /// Sequential ("convs.0.nn.0", "convs.0.nn.2") or as one Linear
        /// ("convs.0.nn"), in place of PyG's MLP, and batch norms as torch's
        /// BatchNorm1d, without "module.". Loading recognizes all of these,
        /// except for an optimizer, whose numbers follow the order of the
        /// modules. Default 0.
        torch_modules => torch_modules: bool,
        /// Saving. 1: use the keys of the file that the weights were last
        /// loaded from, without prefixes of wrappers such as "module." or
        /// "_orig_mod.", so that the original class can load the file
        /// strictly. Not with `torch_modules` or `first_layer`;
        /// `other_framework` must be as at loading. For an optimizer,
        /// parameters have the order of that file, if it is a `.pth`.
        /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if no weights were loaded;
        /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) naming a tensor of the file that the model
        /// does not have. Default 0.
        loaded_names => loaded_names: bool,
        /// Loading weights. 1: read the tensors whose keys and shapes fit, and
        /// leave the others of the model as they are. A warning in the log
        /// lists the keys that are missing, unexpected, or of another shape,
        /// and the settings that differ. [`ErrorKind::Format`](crate::ErrorKind::Format) if no tensor
        /// fits. Not with `other_framework`. Default 0.
        partial => partial: bool,
    }
}

config! {
    /// Settings of an optimizer.
    pub struct OptimizerConfig(gnnmg_optimizer_config, gnnmg_optimizer_config_init) {
        /// Default [`OptimizerKind::Adam`](crate::OptimizerKind::Adam).
        kind => kind: crate::OptimizerKind,
        /// At least 0. Default 0.01.
        learning_rate => learning_rate: f64,
        /// Default 0.
        weight_decay => weight_decay: f64,
        /// Adam: decay of the mean. Default 0.9.
        beta1 => beta1: f64,
        /// Adam: decay of the square. Default 0.999.
        beta2 => beta2: f64,
        /// Not SGD: added to the root. Default 1e-8.
        epsilon => epsilon: f64,
        /// SGD, RMSprop. Default 0.
        momentum => momentum: f64,
        /// SGD. Default 0.
        dampening => dampening: f64,
        /// Maximum 2-norm of all gradients together; larger gradients are scaled down.
        /// Default 0: no limit.
        clip_norm => clip_norm: f64,
        /// Adam. 1: keep the largest square. Default 0.
        amsgrad => amsgrad: bool,
        /// SGD. 1: Nesterov momentum. Default 0.
        nesterov => nesterov: bool,
        /// Number of first convolutions to whose parameters weight_decay
        /// applies. Default 0: all parameters.
        weight_decay_layers => weight_decay_layers: i32,
        /// RMSprop. 1: divide by the deviation of the gradient, in place of the root
        /// of its mean square. Default 0.
        centered => centered: bool,
        /// RMSprop: decay of the square, 0 to 1. Default 0.99.
        alpha => alpha: f64,
    }
}

config! {
    /// Settings of a communicator.
    pub struct CommConfig(gnnmg_comm_config, gnnmg_comm_config_init) {
        /// Time limit of an operation, milliseconds; after it the operation fails
        /// with [`ErrorKind::Timeout`](crate::ErrorKind::Timeout). If ranks have different limits, the shortest
        /// applies. Default 30 000.
        deadline => deadline_ms: std::time::Duration,
        /// Time that processes wait for each other to join and to begin a
        /// collective call of a trainer, milliseconds. Default 300 000.
        join => join_ms: std::time::Duration,
        /// Interval between signs of life of a process, milliseconds, 10 to
        /// 600 000. Timeout errors name processes with three missing signs first.
        /// All processes use the value of process 0. Default 500.
        heartbeat => heartbeat_ms: std::time::Duration,
        /// gnnmg_comm_create() with several processes: port of process 0.
        /// Default 0.
        port => port: i32,
        /// gnnmg_comm_create(): number of this process. Default 0.
        process_rank => process_rank: i32,
        /// gnnmg_comm_create(): number of processes, 1 to 1024. Default 1.
        num_processes => num_processes: usize,
    }
}

config! {
    /// Settings of requests for parts that this process does not have. 0 is the default in every field:
    /// `{sizeof config}` is complete. The fields after `cache_bytes` apply to gnnmg_dataset_open_parts()
    /// in a job of several processes.
    pub struct ServedConfig(gnnmg_served_config, gnnmg_served_config_init) {
        /// Concurrent requests for rows to each part, 1 to 1024. Default 8.
        max_in_flight => max_in_flight: i32,
        /// Time limit of one request, milliseconds. Default 10000.
        deadline => deadline_ms: std::time::Duration,
        /// Bytes of cached feature rows of other parts; the cache has the rows that
        /// mini-batches read most, by the hotness stored with the parts. Default 0:
        /// one tenth of the rows of all nodes.
        cache_bytes => cache_bytes: usize,
        /// Source of the parts of other processes; equal on all. Default
        /// [`PartsReading::Auto`](crate::PartsReading::Auto).
        reading => reading: crate::PartsReading,
        /// 1: processes connect to other machines without TLS, with a warning in the
        /// log. Default 0.
        insecure => insecure: bool,
        /// Port of this process's server. Default 0: a free one.
        port => port: i32,
    }
}

config! {
    /// Settings of a trainer. Rates and schedules are the same on all ranks.
    pub struct TrainerConfig(gnnmg_trainer_config, gnnmg_trainer_config_init) {
        /// Ranks in this process, one thread each. Default 0: one per
        /// entry of `devices`, else one per GPU of this process's share
        /// (its part of the GPUs that it sees, if other processes of
        /// the job see them too), else one on the CPU.
        num_ranks => num_ranks: usize,
        /// Passes over the training part. Default 10.
        num_epochs => num_epochs: usize,
        /// Seeds per mini-batch. Default 1024.
        batch_size => batch_size: usize,
        /// Mini-batches per step, all ranks together. The same number
        /// gives the same steps for any number of ranks. Default 0: one
        /// per rank.
        batches_per_step => batches_per_step: usize,
        /// Seed of order, draws and dropout. Default 0.
        seed => seed: u64,
        /// Default [`Partition::Global`](crate::Partition::Global).
        partition => partition: crate::Partition,
        /// Default [`LossAverage::Exact`](crate::LossAverage::Exact).
        loss_average => loss_average: crate::LossAverage,
        /// 1: new order in each epoch. Default 1.
        shuffle => shuffle: bool,
        /// 1: drop the last mini-batch if it is short. Default 0.
        drop_last => drop_last: bool,
        /// Default [`Loss::Auto`](crate::Loss::Auto).
        loss => loss: crate::Loss,
        /// Default [`OptimizerKind::Adam`](crate::OptimizerKind::Adam).
        optimizer => optimizer: crate::OptimizerKind,
        /// At least 0. Default 0.01.
        learning_rate => learning_rate: f64,
        /// Default 0.
        weight_decay => weight_decay: f64,
        /// Adam: decay of the mean. Default 0.9.
        beta1 => beta1: f64,
        /// Adam: decay of the square. Default 0.999.
        beta2 => beta2: f64,
        /// Not SGD: added to the root. Default 1e-8.
        epsilon => epsilon: f64,
        /// SGD, RMSprop. Default 0.
        momentum => momentum: f64,
        /// SGD. Default 0.
        dampening => dampening: f64,
        /// Maximum 2-norm of all gradients together. Default 0: no
        /// limit.
        clip_norm => clip_norm: f64,
        /// Adam. 1: keep the largest square. Default 0.
        amsgrad => amsgrad: bool,
        /// SGD. 1: Nesterov momentum. Default 0.
        nesterov => nesterov: bool,
        /// Default [`Schedule::Constant`](crate::Schedule::Constant).
        schedule => schedule: crate::Schedule,
        /// Default [`Evaluation::Full`](crate::Evaluation::Full).
        evaluation => evaluation: crate::Evaluation,
        /// Epochs in which the rate rises from 0. Default 0.
        warmup_epochs => warmup_epochs: i64,
        /// Minimum factor of the learning rate. Default 0.
        schedule_minimum => schedule_minimum: f64,
        /// Step and plateau: factor of the learning rate.
        /// Default 0.5.
        schedule_factor => schedule_factor: f64,
        /// Step: epochs between changes of the rate. Default 50.
        schedule_step_epochs => schedule_step_epochs: i64,
        /// Plateau: reduce the rate at this many epochs in a row
        /// without improvement (PyTorch's `patience` + 1).
        /// Default 10.
        schedule_patience => schedule_patience: i64,
        /// Epochs between validations; 0: never. Default 1.
        evaluate_every => evaluate_every: i64,
        /// Nodes per chunk of an evaluation. Default 4096.
        eval_batch_size => eval_batch_size: usize,
        /// Default [`Metric::Accuracy`](crate::Metric::Accuracy).
        best_by => best_by: crate::Metric,
        /// 1: the model ends with the weights of the best validation.
        /// Default 1.
        keep_best => keep_best: bool,
        /// Validations in a row without improvement before training ends.
        /// Default 0: no early stop.
        early_stop_patience => early_stop_patience: i64,
        /// Loader threads per rank; 0: the rank's own thread samples.
        /// Default 1.
        loader_threads => loader_threads: i32,
        /// Mini-batches made in advance per rank. Default 2.
        prefetch => prefetch: i32,
        /// LibTorch threads per rank. Default 0: the cores of the process
        /// (or OMP_NUM_THREADS, if lower) divided by the ranks on this
        /// machine.
        torch_threads => torch_threads: i32,
        /// Time that ranks wait for each other, and each rank for its GPU,
        /// milliseconds. Default 30 000.
        deadline => deadline_ms: std::time::Duration,
        /// Time that a callback may make the ranks wait, milliseconds.
        /// Default 600 000.
        stall_limit => stall_limit_ms: std::time::Duration,
        /// 1: strict mode. With equal `batches_per_step`, weights and
        /// metrics have the same bits for any number of ranks and threads,
        /// and after a resume on another number of ranks, on one kind of
        /// CPU or GPU. Ranks gather the gradients of all mini-batches of a
        /// step and add them in plan order: each rank needs memory for one
        /// gradient per rank, and receives one gradient per mini-batch
        /// instead of a sum. LibTorch's operators use one thread per rank;
        /// `torch_threads` then applies to the library's own loops. Not
        /// with [`LossAverage::Ranks`](crate::LossAverage::Ranks). Default 0.
        deterministic => deterministic: bool,
        /// 1: batch norm takes its statistics from all mini-batches of a
        /// step on all ranks, and updates the running statistics once per
        /// step. A rank then processes its mini-batches of a step together
        /// and keeps them in memory; each batch norm adds two small
        /// all-reduces. No effect on models without batch norm. Not with
        /// `deterministic`. Default 0.
        sync_batch_norm => sync_batch_norm: bool,
        /// Data sets of many graphs: maximum nodes of a mini-batch, in
        /// addition to `batch_size`; see `gnnmg_loader_config`. Default 0:
        /// no limit.
        batch_nodes => batch_nodes: usize,
        /// See `gnnmg_optimizer_config`. Default 0.
        weight_decay_layers => weight_decay_layers: i32,
        /// Device of the ranks. [`DeviceType::Auto`](crate::DeviceType::Auto): one GPU per rank if the
        /// shares of all processes have enough GPUs, else the CPU; the log
        /// says which and why. [`DeviceType::Cuda`](crate::DeviceType::Cuda): an error for too few GPUs.
        /// Default [`DeviceType::Auto`](crate::DeviceType::Auto).
        device => device: crate::DeviceType,
        /// GPU only. Default [`GraphPlacement::Auto`](crate::GraphPlacement::Auto).
        graph_placement => graph_placement: crate::GraphPlacement,
        /// GPU only.
        /// Default [`FeaturePlacement::Auto`](crate::FeaturePlacement::Auto).
        feature_placement => feature_placement: crate::FeaturePlacement,
        /// GPU only.
        /// Default [`FeatureForm::AsGiven`](crate::FeatureForm::AsGiven).
        feature_form => feature_form: crate::FeatureForm,
        /// GPU only. Default [`Hotness::Probability`](crate::Hotness::Probability).
        hotness => hotness: crate::Hotness,
        /// Bytes of each GPU's memory for cached rows.
        /// Default 0: 30 % of the memory that the graph
        /// leaves free.
        cache_bytes => cache_bytes: usize,
        /// Multiprocessors of a GPU that may read rows in main memory
        /// while the others compute. Default 0: one eighth of them.
        gather_multiprocessors => gather_multiprocessors: i32,
        /// GPU only. Except for [`Capture::Unpadded`](crate::Capture::Unpadded), steps need
        /// more memory: they use a few shapes, the largest bounded by
        /// the fan-outs. The host starts a pass after it knows the size
        /// of the mini-batch, and sees the results of a step during the
        /// next one. Default [`Capture::Auto`](crate::Capture::Auto).
        capture => capture: crate::Capture,
        /// Precision of matrix products.
        /// Default [`Precision::Float32`](crate::Precision::Float32).
        precision => precision: crate::Precision,
        /// RMSprop. 1: divide by the deviation of the gradient.
        /// Default 0.
        centered => centered: bool,
        /// RMSprop: decay of the square, 0 to 1. Default 0.99.
        alpha => alpha: f64,
        /// Cross-entropy: share of each label that is spread over all
        /// classes, below 1. Default 0.
        label_smoothing => label_smoothing: f64,
        /// Huber loss. Above 0. Default 1.
        huber_delta => huber_delta: f64,
        /// Focal loss. Default 2.
        focal_gamma => focal_gamma: f64,
    }
}

config! {
    /// Settings of `gnnmg_trainer_set_checkpoints()`.
    pub struct CheckpointConfig(gnnmg_checkpoint_config, gnnmg_checkpoint_config_init) {
        /// Latest checkpoints to keep, in addition to the best. Default 3.
        keep => keep: i32,
        /// Steps between checkpoints. Default 0: not by steps.
        every_steps => every_steps: i64,
        /// Seconds between checkpoints. Default 0: not by time.
        every_seconds => every_seconds: f64,
    }
}

config! {
    /// Settings of a server. 0 is the default in every field.
    pub struct ServerConfig(gnnmg_server_config) {
        /// Threads that answer requests. Default 0: one per core.
        threads => threads: i32,
        /// 1: listen without TLS at an address that other machines can reach, with
        /// a warning in the log. Default 0.
        insecure => insecure: bool,
        /// Time that gnnmg_server_shutdown() gives to running requests,
        /// milliseconds. Default 30 000.
        drain => drain_ms: std::time::Duration,
    }
}
