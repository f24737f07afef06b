//! Written by gnnmg-generate from gnnmg.h; not to be edited.
//!
//! The settings, a builder each.

use crate::raw::config;

config! {
    /// Settings of a context.
    pub struct ContextConfig(gnnmg_context_config, gnnmg_context_config_init) {
        /// Threads for reading, sampling kernels and evaluation, the calling one
        /// included; 0: one a core that this process may use.
        num_threads => num_threads: usize,
        /// Messages kept until they are pulled; the oldest gives way. 1024.
        log_capacity => log_capacity: i64,
        /// Bytes that the context's graphs, samples, mini-batches and rows of
        /// results may take together; what LibTorch takes for parameters and
        /// products is not counted. 0: no limit. 0.
        memory_limit => memory_limit: usize,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_planted_partition()`.
    pub struct PlantedPartitionConfig(gnnmg_planted_partition_config, gnnmg_planted_partition_config_init) {
        /// Classes of equal size. 10.
        num_classes => num_classes: usize,
        /// Nodes. 50 000.
        num_nodes => num_nodes: usize,
        /// Directed edges a node; each edge lies in both directions. 16.
        mean_degree => mean_degree: f64,
        /// That an edge joins two nodes of one class. 0.5.
        intra_probability => intra_probability: f64,
        /// Standard deviation of a class centre's coordinates. 0.15.
        centre_scale => centre_scale: f64,
        /// Standard deviation of a feature around its centre. 1.
        noise => noise: f64,
        /// Share of labels that are replaced by another class. 0.05.
        label_noise => label_noise: f64,
        /// The graph is a pure function of seed and settings. 1.
        seed => seed: u64,
        /// Columns of the features. 64.
        num_features => num_features: usize,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_log_normal()`.
    pub struct LogNormalConfig(gnnmg_log_normal_config, gnnmg_log_normal_config_init) {
        /// Columns of the features; 0: none. 100.
        num_features => num_features: usize,
        /// Classes; 0: no labels and no communities. 47.
        num_classes => num_classes: usize,
        /// Nodes. 2 449 029.
        num_nodes => num_nodes: usize,
        /// Mean number of incoming edges; no node has more than num_nodes / 20.
        /// 50.5.
        mean_degree => mean_degree: f64,
        /// Spread of the logarithm of the degrees. 1.45.
        sigma => sigma: f64,
        /// Exponent of the communities' sizes. 0.8.
        zipf => zipf: f64,
        /// That an edge comes from its target's community. 0.5.
        homophily => homophily: f64,
        /// Scale of a class centre; features are centre plus N(0, 1). 0.1.
        centre_scale => centre_scale: f64,
        /// Share of labels that are replaced at random. 0.05.
        label_noise => label_noise: f64,
        /// The graph is a pure function of seed and settings. 1.
        seed => seed: u64,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_rmat()`.
    pub struct RmatConfig(gnnmg_rmat_config, gnnmg_rmat_config_init) {
        /// 2^scale nodes. 16.
        scale => scale: i32,
        /// Directed edges. 2^20.
        num_edges => num_edges: usize,
        /// Probability of the quadrant (0, 0). 0.57.
        a => a: f64,
        /// Of (0, 1). 0.19.
        b => b: f64,
        /// Of (1, 0); the rest is (1, 1). 0.19.
        c => c: f64,
        /// The graph is a pure function of seed and settings. 1.
        seed => seed: u64,
    }
}

config! {
    /// Settings of `gnnmg_graph_create_erdos_renyi()`.
    pub struct ErdosRenyiConfig(gnnmg_erdos_renyi_config, gnnmg_erdos_renyi_config_init) {
        /// Nodes. 10 000.
        num_nodes => num_nodes: usize,
        /// Directed edges. 100 000.
        num_edges => num_edges: usize,
        /// The graph is a pure function of seed and settings. 1.
        seed => seed: u64,
    }
}

config! {
    /// How a data set is opened.
    pub struct DatasetConfig(gnnmg_dataset_config, gnnmg_dataset_config_init) {
        /// [`Format::Auto`](crate::Format::Auto).
        format => format: crate::Format,
        /// 1: add the reverse of every edge and drop repeated ones, for
        /// Planetoid and Shchur also self-loops, but of a knowledge graph as a
        /// relation of its own, with nothing dropped; 0: edges as listed; -1: as
        /// the format means it. -1.
        undirected => undirected: bool,
        /// 1: add up repeated entries of sparse features. 0.
        sum_duplicates => sum_duplicates: bool,
        /// 1: map the files of the library's own format, else read. 1.
        map_files => map_files: bool,
        /// 1: refuse features of nodes, and features and weights of edges, that
        /// are NaN, infinite or beyond f32. 1.
        check_finite => check_finite: bool,
        /// Edge lists: the character between columns; 0: guessed. 0.
        separator => separator: i32,
        /// Edge lists: lines to skip, whatever is in them; -1: a first line that
        /// names the columns is used, and one that counts nodes and edges is
        /// taken for that. -1.
        header_lines => header_lines: i32,
        /// Edge lists: counting from 0. With source_column 0 and target_column 1
        /// a header that names the ends says where they are. 0.
        source_column => source_column: i32,
        /// Edge lists: counting from 0. 1.
        target_column => target_column: i32,
        /// Edge lists: 1: ids of any size and names, numbered in order of
        /// appearance. The node tensor "original_id", i64 \[N\], has them, or where
        /// there are names "original_name", u8 \[N, W\], each followed by zeros, at
        /// least one. 0.
        relabel => relabel: bool,
        /// 1: round integers as features to the nearest f32; 0: refuse those that
        /// are not exact. Sparse features of f64 are always rounded. 0.
        round_values => round_values: bool,
        /// Edge lists: number of nodes; -1: the largest id + 1. -1.
        num_nodes => num_nodes: usize,
        /// Texts of many graphs: 1: features are one-hot of the nodes' degrees;
        /// -1: of their tags; 0: the nodes' attributes, in TU Dortmund's form
        /// with the tags beside them; without attributes of the tags, unless
        /// all are equal. 0.
        degree_features => degree_features: i32,
        /// What the labels mean; [`Task::None`](crate::Task::None): what the format and their
        /// looks say: one column of 0 and 1 is two classes, of which a model has
        /// two logits. With [`Task::Binary`](crate::Task::Binary) it is one target, one logit, as
        /// in OGB's examples. The library's own format says it itself. 0.
        task => task: crate::Task,
    }
}

config! {
    /// How a data set is divided. 0 is the default in every field.
    pub struct PartsConfig(gnnmg_parts_config) {
        /// 1 to 65535. Default 2.
        num_parts => num_parts: usize,
        /// Default [`PartsMethod::Cluster`](crate::PartsMethod::Cluster).
        method => method: crate::PartsMethod,
        /// 1: keep the id of each edge also where ids are places. Default 0.
        edge_ids => edge_ids: bool,
        /// The parts are a pure function of it, of the data and the settings.
        /// Default 0.
        seed => seed: u64,
        /// Bytes that dividing may take beside the data set; with less room
        /// [`PartsMethod::Cluster`](crate::PartsMethod::Cluster) keeps fewer edges between clusters.
        /// Default 0: as many as the method needs.
        memory_limit => memory_limit: usize,
    }
}

config! {
    /// How a random split is drawn.
    pub struct SplitConfig(gnnmg_split_config, gnnmg_split_config_init) {
        /// 1: in the order of NumPy's `RandomState(seed).permutation`, so
        /// that a split made with it is reproduced. 0.
        numpy_legacy => numpy_legacy: bool,
        /// Share of the labelled nodes, rounded down. 0.6.
        train_fraction => train_fraction: f64,
        /// Share of the labelled nodes, rounded down; the rest is test.
        /// 0.2.
        validation_fraction => validation_fraction: f64,
        /// Above 0: so many nodes of each class instead. 0.
        train_per_class => train_per_class: i64,
        /// With `train_per_class`: so many of each class. 0.
        validation_per_class => validation_per_class: i64,
        /// The split is a pure function of seed, labels, settings. 0.
        seed => seed: u64,
    }
}

config! {
    /// How a data set is cut into folds.
    pub struct FoldsConfig(gnnmg_folds_config, gnnmg_folds_config_init) {
        /// 2 to 100. 10.
        num_folds => num_folds: usize,
        /// The part that fold k is in the k-th split, which trains on the others:
        /// [`Split::Validation`](crate::Split::Validation) or [`Split::Test`](crate::Split::Test).
        /// [`Split::Validation`](crate::Split::Validation).
        held_out => held_out: crate::Split,
        /// 1: the folds of scikit-learn's `StratifiedKFold(num_folds,
        /// shuffle=True, random_state=seed)`. 0.
        numpy_legacy => numpy_legacy: bool,
        /// The folds are a pure function of seed, labels, settings. 0.
        seed => seed: u64,
    }
}

config! {
    /// Settings of a sampler.
    pub struct SamplerConfig(gnnmg_sampler_config, gnnmg_sampler_config_init) {
        /// [`Expansion::Once`](crate::Expansion::Once).
        expansion => expansion: crate::Expansion,
        /// 1: the list starts at the far end, as DGL's does. 0.
        fanouts_reversed => fanouts_reversed: bool,
        /// 1: draw with replacement. 0.
        replace => replace: bool,
        /// 1: follow edges from source to target instead, for loops of one's
        /// own: degrees that a model takes from the graph stay those of
        /// incoming edges. A trainer refuses it, as it evaluates along
        /// incoming edges; [`Transform::ReverseEdges`](crate::Transform::ReverseEdges) turns the graph
        /// round. 0.
        outgoing => outgoing: bool,
        /// 1: blocks carry edge ids; 0: only where edges have tensors, which
        /// models may read, and never from a custom sampler. 0.
        edge_ids => edge_ids: bool,
        /// 1: blocks carry what backward passes need. 1.
        transpose => transpose: bool,
        /// Which edge type is followed. 0.
        edge_type => edge_type: i32,
        /// [`Draw::Uniform`](crate::Draw::Uniform). LABOR does not go with `replace`; a GPU measures
        /// its hops, and steps of it are not captured.
        draw => draw: crate::Draw,
    }
}

config! {
    /// Settings of a loader.
    pub struct LoaderConfig(gnnmg_loader_config, gnnmg_loader_config_init) {
        /// Which part of the data set's split. [`Split::Train`](crate::Split::Train).
        part => part: crate::Split,
        /// Seeds a mini-batch. 1024.
        batch_size => batch_size: usize,
        /// Mini-batches a step, all ranks together; 0: `world_size`. 0.
        batches_per_step => batches_per_step: usize,
        /// Whose mini-batches this loader makes. 0.
        rank => rank: i32,
        /// Number of ranks. 1.
        world_size => world_size: usize,
        /// [`Partition::Global`](crate::Partition::Global).
        partition => partition: crate::Partition,
        /// 1: a new order each epoch. 1.
        shuffle => shuffle: bool,
        /// 1: leave out a last mini-batch that is short. 0.
        drop_last => drop_last: bool,
        /// Threads that make mini-batches; 0: gnnmg_loader_next() does. 1.
        num_threads => num_threads: usize,
        /// Mini-batches made ahead. 2.
        prefetch => prefetch: i32,
        /// 1: with features, if the data set has any. 1.
        gather => gather: bool,
        /// Of order, draws and dropout. 0.
        seed => seed: u64,
        /// Seeds that are graphs, above 0: a mini-batch takes the next graphs
        /// for as long as they have at most this many nodes together, and are at
        /// most `batch_size`; a graph of more nodes is one of its own. Epochs
        /// then differ in the number of mini-batches. With
        /// [`Partition::Global`](crate::Partition::Global), without `drop_last`. 0: no limit. 0.
        batch_nodes => batch_nodes: usize,
        /// Where mini-batches lie: [`DeviceType::Cuda`](crate::DeviceType::Cuda), on a GPU, else in main
        /// memory. [`DeviceType::Auto`](crate::DeviceType::Auto), main memory.
        device => device: crate::DeviceType,
        /// Number of the GPU. 0.
        device_index => device_index: i32,
        /// Of a GPU. [`GraphPlacement::Auto`](crate::GraphPlacement::Auto).
        graph_placement => graph_placement: crate::GraphPlacement,
        /// Of a GPU. [`FeaturePlacement::Auto`](crate::FeaturePlacement::Auto).
        feature_placement => feature_placement: crate::FeaturePlacement,
        /// Of a GPU. [`FeatureForm::AsGiven`](crate::FeatureForm::AsGiven).
        feature_form => feature_form: crate::FeatureForm,
        /// Of a GPU. [`Hotness::Probability`](crate::Hotness::Probability).
        hotness => hotness: crate::Hotness,
        /// Of the GPU's memory, for cached rows; 0: 30 % of what the graph
        /// leaves free. 0.
        cache_bytes => cache_bytes: usize,
        /// How many multiprocessors of the GPU may read rows in main
        /// memory at a time; 0: an eighth of them. 0.
        gather_multiprocessors => gather_multiprocessors: i32,
    }
}

config! {
    /// What a model is made of. A field that names architectures, a norm or a readout is theirs: with
    /// others it stays at its default, which stands last, or the config is refused.
    pub struct ModelConfig(gnnmg_model_config, gnnmg_model_config_init) {
        /// Kind of model. [`Architecture::Sage`](crate::Architecture::Sage).
        architecture => architecture: crate::Architecture,
        /// Columns of the features, or, where `input` is another, the
        /// number of nodes; 0: the data set's. 0.
        input_dim => input_dim: usize,
        /// Columns between layers. 256.
        hidden_dim => hidden_dim: usize,
        /// Columns of the result; 0: the data set's classes; -1: the
        /// last layer is one like the others, hidden_dim wide, as in
        /// PyG's model classes without `out_channels`. 0.
        output_dim => output_dim: i64,
        /// 1 to 10, as many as the sampler has. 2.
        num_layers => num_layers: usize,
        /// GraphSAGE, GIN, GINE, GraphConv, R-GCN, EdgeConv.
        /// [`Aggregation::Default`](crate::Aggregation::Default).
        aggregation => aggregation: crate::Aggregation,
        /// [`Activation::Relu`](crate::Activation::Relu).
        activation => activation: crate::Activation,
        /// [`Norm::None`](crate::Norm::None).
        norm => norm: crate::Norm,
        /// [`Skip::None`](crate::Skip::None).
        skip => skip: crate::Skip,
        /// [`WeightInit::Pyg`](crate::WeightInit::Pyg).
        weight_init => weight_init: crate::WeightInit,
        /// 1: layers add a bias. 1.
        bias => bias: bool,
        /// GraphSAGE, R-GCN, transformer: 1: a layer maps the node's own row
        /// too. 1.
        root_weight => root_weight: bool,
        /// GraphSAGE: 1: rows of each layer's output to unit length. 0.
        normalize => normalize: bool,
        /// GraphSAGE: 1: a linear map and ReLU on the sources first. 0.
        project => project: bool,
        /// 1: activation before norm. 0.
        act_first => act_first: bool,
        /// [`DataType::F32`](crate::DataType::F32) or [`DataType::F64`](crate::DataType::F64). F32.
        dtype => dtype: crate::DataType,
        /// Share of hidden entries, and of attention weights, set to 0 in training,
        /// in \[0, 1). 0.
        dropout => dropout: f64,
        /// The same on the features. 0.
        input_dropout => input_dropout: f64,
        /// Of the initial weights. 0.
        seed => seed: u64,
        /// [`Jumping::None`](crate::Jumping::None).
        jumping => jumping: crate::Jumping,
        /// GAT, GATv2, transformer: 1 to 64; 0: 1. They divide hidden_dim with
        /// `concat`. 1.
        heads => heads: i32,
        /// GAT, GATv2, transformer: 1: heads beside each other; 0: their mean. The layer
        /// that yields the result takes the mean. 1.
        concat => concat: bool,
        /// GCN, GAT, GATv2: 1: one loop a node in place of the graph's. 1.
        self_loops => self_loops: bool,
        /// GAT, GATv2: 1: a linear map of the node's own row is added. 0.
        residual => residual: bool,
        /// GCN: 0: degrees of the whole graph, edges that were drawn stand for
        /// all; 1: degrees of the block, as PyG has them on a sampled graph. 0.
        block_degrees => block_degrees: bool,
        /// GIN, GINE: 1: the weight of the own row is learned. 0.
        train_eps => train_eps: bool,
        /// GAT, GATv2: of the leaky function below 0. 0.2.
        negative_slope => negative_slope: f64,
        /// GIN, GINE: the own row counts 1 + eps times. 0.
        eps => eps: f64,
        /// [`Readout::None`](crate::Readout::None); another for batches of graphs.
        readout => readout: crate::Readout,
        /// [`Framework::Pyg`](crate::Framework::Pyg).
        framework => framework: crate::Framework,
        /// Share set to 0 in training of what the last linear layer reads, or,
        /// with [`Jumping::Scores`](crate::Jumping::Scores), of each score. 0.
        output_dropout => output_dropout: f64,
        /// [`Norm::Pair`](crate::Norm::Pair), [`Norm::PairRows`](crate::Norm::PairRows): above 0; -1: the columns of
        /// the rows, which PyG's model classes take, given no more than the name;
        /// 0: 1. 1.
        norm_scale => norm_scale: f64,
        /// GIN, GINE, EdgeConv: linear layers of their networks, 1 to 8; -1: DGL's
        /// GIN without `apply_func`, all rows equally wide; 0: 2. 2.
        mlp_layers => mlp_layers: i32,
        /// GINE, GAT, GATv2, transformer, PNA: columns of edge features; -1: the
        /// data set's; 0: none, but for GINE the data set's. They are the first edge
        /// tensor that there is of "edge_attr", "x" and "feat". 0.
        edge_dim => edge_dim: i64,
        /// R-GCN: types of edges; 0: the data set's. They are the first edge
        /// tensor that there is of "edge_type", "type" and "edge_label", of
        /// integers. 0.
        num_relations => num_relations: usize,
        /// R-GCN: matrices that those of all types are sums of; 0: one a type. 0.
        num_bases => num_bases: usize,
        /// R-GCN: blocks of block-diagonal matrices; 0: whole ones. 0.
        num_blocks => num_blocks: usize,
        /// GCN, GraphConv, and of DGL's layers GraphSAGE, GCN, GAT, GIN and
        /// R-GCN: 1: edges weigh what the edge tensor "edge_weight", or else
        /// "weight", says. 0.
        edge_weights => edge_weights: bool,
        /// PyG's GCN with edge weights: 1: added loops weigh 2. 0.
        improved => improved: bool,
        /// Transformer: 1: the node's own row is mixed in by a gate. 0.
        beta => beta: bool,
        /// PNA: networks beside each other, each for its share of the output; 0
        /// is 1. Default 1.
        towers => towers: i32,
        /// PNA: 1: each tower reads its share of the columns. 0.
        divide_input => divide_input: bool,
        /// [`Readout::Set2set`](crate::Readout::Set2set): 1 to 100; 0: 3. 3.
        readout_steps => readout_steps: i32,
        /// [`Readout::Sort`](crate::Readout::Sort): 1 to 10000; 0: 30. 30.
        sort_rows => sort_rows: i32,
        /// PNA: mean number of edges into a node; 0: the data set's. 0.
        average_degree => average_degree: f64,
        /// PNA: mean of log(that number + 1); 0: the data set's. 0.
        average_log_degree => average_log_degree: f64,
        /// [`Input::Features`](crate::Input::Features).
        input => input: crate::Input,
        /// In training, as if the sampler had drawn fewer: share of the edges of
        /// each layer that are left out, in \[0, 1). 0.
        edge_dropout => edge_dropout: f64,
        /// The same of nodes, with which all edges from them and to them go, in
        /// all layers. 0.
        node_dropout => node_dropout: f64,
        /// PNA: linear layers in front of the reductions, with ReLU between them,
        /// 1 to 8; 0: 1. 1.
        pre_layers => pre_layers: i32,
        /// PNA: the same behind them. 1.
        post_layers => post_layers: i32,
        /// GCN: [`DegreeNorm::Both`](crate::DegreeNorm::Both).
        degree_norm => degree_norm: crate::DegreeNorm,
        /// GATv2: 1: one linear map for both ends of an edge. 0.
        share_weights => share_weights: bool,
        /// [`LoopFill::Constant`](crate::LoopFill::Constant): that number. 0.
        loop_value => loop_value: f64,
        /// GAT, GATv2 of PyG's with edge features and `self_loops`.
        /// [`LoopFill::Mean`](crate::LoopFill::Mean).
        loop_fill => loop_fill: crate::LoopFill,
        /// GINE: 1: no linear map of edge features, which have as many
        /// columns as the rows of every layer. 0.
        plain_edges => plain_edges: bool,
        /// DGL's R-GCN: 1: each row of the sums is normalised; DGL's
        /// EdgeConv: 1: batch norm of the rows of edges. 0.
        inner_norm => inner_norm: bool,
        /// PNA: 1: average_degree and average_log_degree are learned. 0.
        train_norm => train_norm: bool,
        /// Norms: what keeps their roots from 0; 0: 1e-5. 1e-5.
        norm_epsilon => norm_epsilon: f64,
        /// [`Norm::Batch`](crate::Norm::Batch): what the newest statistics count in the
        /// running ones, above 0 and at most 1; -1: as much as each
        /// before them; 0: 0.1. 0.1.
        norm_momentum => norm_momentum: f64,
        /// Batch, layer and instance norms.
        /// [`NormAffine::Default`](crate::NormAffine::Default).
        norm_affine => norm_affine: crate::NormAffine,
        /// GAT, GATv2, transformer: heads of the layer that yields the
        /// result, which takes their mean, 1 to 64; 0: as `heads`. 0.
        output_heads => output_heads: i32,
    }
}

config! {
    /// Settings of a norm that is added to a model. One that the norm does not have stays at its
    /// default, which stands last, or the config is refused.
    pub struct NormConfig(gnnmg_norm_config, gnnmg_norm_config_init) {
        /// Batch, layer and instance norms. [`NormAffine::Default`](crate::NormAffine::Default).
        affine => affine: crate::NormAffine,
        /// [`Norm::Pair`](crate::Norm::Pair), [`Norm::PairRows`](crate::Norm::PairRows): above 0; -1: the columns of
        /// the rows; 0: 1. 1.
        scale => scale: f64,
        /// What keeps roots from 0; 0: 1e-5. 1e-5.
        epsilon => epsilon: f64,
        /// [`Norm::Batch`](crate::Norm::Batch): what the newest statistics count in the running
        /// ones, above 0 and at most 1; -1: as much as each before them; 0:
        /// 0.1. 0.1.
        momentum => momentum: f64,
    }
}

config! {
    /// Settings of `gnnmg_model_save() and gnnmg_model_load(), and of the files of optimizers that go
    /// with those: gnnmg_optimizer_save(), gnnmg_trainer_save_optimizer() and the two that load. These
    /// are `.pth` whatever their path ends in, number what they hold and read no `first_layer``.
    pub struct ModelFileConfig(gnnmg_model_file_config, gnnmg_model_file_config_init) {
        /// [`ModelFormat::Auto`](crate::ModelFormat::Auto).
        format => format: crate::ModelFormat,
        /// 1: the file has the layers of the framework that the model's are
        /// not of, PyG or DGL; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) names what has no
        /// counterpart there, and a warning in the log what has to be set for
        /// equal results. A file that a model of this framework wrote tells
        /// it by itself. 0.
        other_framework => other_framework: bool,
        /// Saving: 1: the networks inside of GIN's, GINE's and EdgeConv's as
        /// torch's Sequential has them, "convs.0.nn.0", "convs.0.nn.2", or as
        /// one Linear, "convs.0.nn", in place of PyG's MLP, and batch norms as
        /// torch's BatchNorm1d, without "module."; loading finds all of these
        /// by itself, but for an optimizer's, whose numbers follow the order of
        /// the modules. 0.
        torch_modules => torch_modules: bool,
        /// Saving: 1: the keys are those of the file that the weights were
        /// loaded from last, without what wrappers had put there, as
        /// "module." or "_orig_mod.", so that the class it
        /// came from reads it strictly, whatever mixture of modules it is made
        /// of; not with `torch_modules` or `first_layer`, with
        /// `other_framework` as they were loaded. Of an optimizer: the
        /// parameters are in the order of that file, if it is a `.pth`.
        /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) where none were loaded,
        /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) naming a tensor of the file that is none of
        /// the model's. 0.
        loaded_names => loaded_names: bool,
    }
}

config! {
    /// Settings of an optimizer.
    pub struct OptimizerConfig(gnnmg_optimizer_config, gnnmg_optimizer_config_init) {
        /// [`OptimizerKind::Adam`](crate::OptimizerKind::Adam).
        kind => kind: crate::OptimizerKind,
        /// 0.01.
        learning_rate => learning_rate: f64,
        /// 0.
        weight_decay => weight_decay: f64,
        /// Adam: decay of the mean. 0.9.
        beta1 => beta1: f64,
        /// Adam: decay of the square. 0.999.
        beta2 => beta2: f64,
        /// Adam: added to the root. 1e-8.
        epsilon => epsilon: f64,
        /// SGD. 0.
        momentum => momentum: f64,
        /// SGD. 0.
        dampening => dampening: f64,
        /// Above 0: gradients are scaled so that their 2-norm, all together, is
        /// at most this. 0.
        clip_norm => clip_norm: f64,
        /// Adam: 1 keeps the largest square. 0.
        amsgrad => amsgrad: bool,
        /// SGD: 1 looks ahead. 0.
        nesterov => nesterov: bool,
        /// Above 0: weight_decay acts on the parameters of that many
        /// convolutions, the first ones, alone; 0: on all. 0.
        weight_decay_layers => weight_decay_layers: i32,
    }
}

config! {
    /// Settings of a communicator.
    pub struct CommConfig(gnnmg_comm_config, gnnmg_comm_config_init) {
        /// How long an operation may take before it fails with
        /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout), milliseconds; where ranks have other ones, the
        /// first to pass counts. 30 000.
        deadline => deadline_ms: std::time::Duration,
        /// How long processes wait for each other, to join and to come to a call
        /// of their trainers, milliseconds. 300 000.
        join => join_ms: std::time::Duration,
        /// How often processes give a sign of life, milliseconds, 10 to 600 000.
        /// After three that did not come a process counts as not heard of.
        /// Process 0's holds for all. 500.
        heartbeat => heartbeat_ms: std::time::Duration,
        /// Of process 0, for gnnmg_comm_create() with several processes. 0.
        port => port: i32,
        /// Number of this process, for gnnmg_comm_create(). 0.
        process_rank => process_rank: i32,
        /// Number of processes, for gnnmg_comm_create(), 1 to 1024. 1.
        num_processes => num_processes: usize,
    }
}

config! {
    /// How the parts of a data set that this process does not have are asked for. 0 is the default in
    /// every field. The fields after `cache_bytes` are of
    /// gnnmg_dataset_open_parts() in a job of several processes.
    pub struct ServedConfig(gnnmg_served_config, gnnmg_served_config_init) {
        /// Requests for rows under way to each part. 1 to 1024. Default 8.
        max_in_flight => max_in_flight: i32,
        /// Milliseconds that one request may take. Default 10000.
        deadline => deadline_ms: std::time::Duration,
        /// Bytes of rows of features of other parts that are kept here: those that
        /// mini-batches read most, by the hotness that was kept with the parts.
        /// Default 0: a tenth of the rows of all nodes.
        cache_bytes => cache_bytes: usize,
        /// Source of the parts of others; the same on all.
        reading => reading: crate::PartsReading,
        /// 1: processes ask each other without TLS also beyond this machine, with a
        /// warning in the log. Default 0.
        insecure => insecure: bool,
        /// Port of this process's server. Default 0: a free one.
        port => port: i32,
    }
}

config! {
    /// Settings of a trainer. Rates and schedules act alike on all ranks.
    pub struct TrainerConfig(gnnmg_trainer_config, gnnmg_trainer_config_init) {
        /// Ranks in this process, a thread each; 0: one for each of
        /// `devices`, or one for each GPU that the process sees, of
        /// those that other processes of a job on its machine see too
        /// only its part, or one on the CPU where there is none. 0.
        num_ranks => num_ranks: usize,
        /// Passes over the training part. Default 10.
        num_epochs => num_epochs: usize,
        /// Seeds a mini-batch. 1024.
        batch_size => batch_size: usize,
        /// Mini-batches a step, all ranks together; 0: one a rank. The
        /// same number gives the same steps for any number of ranks. 0.
        batches_per_step => batches_per_step: usize,
        /// Of order, draws and dropout. 0.
        seed => seed: u64,
        /// [`Partition::Global`](crate::Partition::Global).
        partition => partition: crate::Partition,
        /// [`LossAverage::Exact`](crate::LossAverage::Exact).
        loss_average => loss_average: crate::LossAverage,
        /// 1: a new order each epoch. 1.
        shuffle => shuffle: bool,
        /// 1: leave out a last mini-batch that is short. 0.
        drop_last => drop_last: bool,
        /// [`Loss::Auto`](crate::Loss::Auto).
        loss => loss: crate::Loss,
        /// [`OptimizerKind::Adam`](crate::OptimizerKind::Adam).
        optimizer => optimizer: crate::OptimizerKind,
        /// 0.01.
        learning_rate => learning_rate: f64,
        /// 0.
        weight_decay => weight_decay: f64,
        /// Adam: decay of the mean. 0.9.
        beta1 => beta1: f64,
        /// Adam: decay of the square. 0.999.
        beta2 => beta2: f64,
        /// Adam: added to the root. 1e-8.
        epsilon => epsilon: f64,
        /// SGD. 0.
        momentum => momentum: f64,
        /// SGD. 0.
        dampening => dampening: f64,
        /// Above 0: limit of the gradient's 2-norm. 0.
        clip_norm => clip_norm: f64,
        /// Adam: 1 keeps the largest square. 0.
        amsgrad => amsgrad: bool,
        /// SGD: 1 looks ahead. 0.
        nesterov => nesterov: bool,
        /// [`Schedule::Constant`](crate::Schedule::Constant).
        schedule => schedule: crate::Schedule,
        /// [`Evaluation::Full`](crate::Evaluation::Full).
        evaluation => evaluation: crate::Evaluation,
        /// Epochs in which the rate rises from 0. 0.
        warmup_epochs => warmup_epochs: i64,
        /// Least factor of the learning rate. 0.
        schedule_minimum => schedule_minimum: f64,
        /// Step and plateau. 0.5.
        schedule_factor => schedule_factor: f64,
        /// Step. 50.
        schedule_step_epochs => schedule_step_epochs: i64,
        /// Plateau: cut at that many epochs in a row that got no
        /// better (PyTorch's `patience` is one less). 10.
        schedule_patience => schedule_patience: i64,
        /// Epochs between validations; 0: never. 1.
        evaluate_every => evaluate_every: i64,
        /// Nodes at a time. 4096.
        eval_batch_size => eval_batch_size: usize,
        /// [`Metric::Accuracy`](crate::Metric::Accuracy).
        best_by => best_by: crate::Metric,
        /// 1: the model ends with the weights of the epoch that was best
        /// in validation. 1.
        keep_best => keep_best: bool,
        /// Validations without getting better before training ends; 0:
        /// all epochs. 0.
        early_stop_patience => early_stop_patience: i64,
        /// A rank; 0: its own thread samples. 1.
        loader_threads => loader_threads: i32,
        /// Mini-batches made ahead, a rank. 2.
        prefetch => prefetch: i32,
        /// threads of a rank; 0: the cores of the process, or fewer where
        /// the variable OMP_NUM_THREADS says so, divided by the ranks
        /// of this machine. 0.
        torch_threads => torch_threads: i32,
        /// How long ranks wait for each other, and each for its GPU,
        /// milliseconds. 30 000.
        deadline => deadline_ms: std::time::Duration,
        /// How long a callback may keep the ranks waiting, milliseconds.
        /// 600 000.
        stall_limit => stall_limit_ms: std::time::Duration,
        /// 1: strict mode. With the same `batches_per_step`, weights and
        /// metrics have the same bits for any number of ranks and threads,
        /// and after a resume on another number of ranks, on one kind of
        /// CPU or of GPU. The gradients of a step's mini-batches are gathered and
        /// added in the order of the plan: a rank needs memory for as many
        /// gradients as there are ranks, and receives one of each
        /// mini-batch in place of a sum. LibTorch's own operators run on
        /// one thread a rank; `torch_threads` is then the number of the
        /// library's own loops. Not with
        /// [`LossAverage::Ranks`](crate::LossAverage::Ranks). 0.
        deterministic => deterministic: bool,
        /// 1: batch norm takes its statistics from the rows of all
        /// mini-batches of a step, on all ranks, and the running ones
        /// move once a step. A rank then works on its mini-batches of a
        /// step at once and keeps them in memory; each batch norm adds two
        /// small all-reduces. Without effect on models that have none.
        /// Not with `deterministic`. 0.
        sync_batch_norm => sync_batch_norm: bool,
        /// Labels of graphs, above 0: nodes of a mini-batch at most, as in
        /// `gnnmg_loader_config`, beside `batch_size`. 0.
        batch_nodes => batch_nodes: usize,
        /// As in `gnnmg_optimizer_config`. 0.
        weight_decay_layers => weight_decay_layers: i32,
        /// What the ranks compute on. [`DeviceType::Auto`](crate::DeviceType::Auto) takes a GPU a rank
        /// where this process's share has as many, and with a communicator
        /// every other process's too, else the CPU, and a message in the log
        /// says which and why; [`DeviceType::Cuda`](crate::DeviceType::Cuda) is an error where there are
        /// too few. [`DeviceType::Auto`](crate::DeviceType::Auto).
        device => device: crate::DeviceType,
        /// [`GraphPlacement::Auto`](crate::GraphPlacement::Auto).
        graph_placement => graph_placement: crate::GraphPlacement,
        /// [`FeaturePlacement::Auto`](crate::FeaturePlacement::Auto).
        feature_placement => feature_placement: crate::FeaturePlacement,
        /// [`FeatureForm::AsGiven`](crate::FeatureForm::AsGiven).
        feature_form => feature_form: crate::FeatureForm,
        /// [`Hotness::Probability`](crate::Hotness::Probability).
        hotness => hotness: crate::Hotness,
        /// Of each GPU's memory, for cached rows; 0: 30 % of
        /// what the graph leaves free. 0.
        cache_bytes => cache_bytes: usize,
        /// How many multiprocessors of a GPU may read rows in main
        /// memory while the others compute; 0: an eighth of them. 0.
        gather_multiprocessors => gather_multiprocessors: i32,
        /// Of steps on GPUs: all but [`Capture::Unpadded`](crate::Capture::Unpadded) are over
        /// a few shapes, the largest of which the fan-outs bound, and
        /// need more memory; the host starts a pass when it knows how
        /// large the mini-batch is, and sees what a step came to when the
        /// next one is under way. [`Capture::Auto`](crate::Capture::Auto).
        capture => capture: crate::Capture,
        /// Of products. [`Precision::Float32`](crate::Precision::Float32).
        precision => precision: crate::Precision,
    }
}

config! {
    /// Settings of `gnnmg_trainer_set_checkpoints()`.
    pub struct CheckpointConfig(gnnmg_checkpoint_config, gnnmg_checkpoint_config_init) {
        /// How many of the last stay, beside the best. 3.
        keep => keep: i32,
        /// Steps between two; 0: not by steps. 0.
        every_steps => every_steps: i64,
        /// Seconds between two; 0: not by time. 0.
        every_seconds => every_seconds: f64,
    }
}

config! {
    /// Settings of a server. 0 is the default in every field.
    pub struct ServerConfig(gnnmg_server_config) {
        /// Threads that answer. Default: one a core.
        threads => threads: i32,
        /// 1: listen without TLS at an address that other machines reach, with a
        /// warning in the log. Default 0.
        insecure => insecure: bool,
        /// How long gnnmg_server_shutdown() lets questions under way go on,
        /// milliseconds. Default 30 000.
        drain => drain_ms: std::time::Duration,
    }
}
