//! Settings of models, loaders and trainers, each tested by its effect.

use crate::support::*;
use gnnmg::*;

/// A ring of forty nodes in two classes, without features, with edges of three types.
fn knowledge(context: &Context) -> Result<Dataset> {
    let mut graph = ring(context, 40);
    let numbers = |below: i64| (0..40).map(|i| i % below).collect::<Vec<i64>>();
    graph.set_node_tensor(0, "y", &numbers(2))?;
    graph.set_edge_tensor(0, "edge_type", &numbers(3))?;
    let mut data = Dataset::from_graph(&graph, None, "y", Task::Multiclass, 2)?;
    data.add_random_split("random", &SplitConfig::new())?;
    Ok(data)
}

#[test]
fn without_features_a_model_has_rows_of_nodes() -> Result<()> {
    let context = Context::new()?;
    let data = knowledge(&context)?;
    let layers = ModelConfig::new().hidden_dim(6);
    let none = Model::new(&context, &data, &layers);
    expect(none, ErrorKind::InvalidArgument, "without any");
    let rows = layers.clone().input(Input::Embedding).architecture(Architecture::Edge);
    let model = Model::new(&context, &data, &rows)?;
    assert_eq!(model.info()?.input_dim, 40);
    assert_eq!(model.tensor("embedding.weight")?.shape(), [40, 6]);

    let nodes = layers.input(Input::Nodes);
    let other = Model::new(&context, &data, &nodes);
    expect(other, ErrorKind::InvalidArgument, "R-GCN");
    let nodes = nodes.architecture(Architecture::Rgcn).num_relations(5);
    let model = Model::new(&context, &data, &nodes)?;
    assert_eq!(model.tensor("convs.0.weight")?.shape(), [5, 40, 6]);
    let sampler = Sampler::new(&data.graph()?, &SamplerConfig::new())?;
    let config = training().num_epochs(20).learning_rate(0.05);
    let mut trainer = Trainer::new(model, &data, &sampler, &config)?;
    let mut losses = Vec::new();
    trainer.run(|epoch| losses.push(epoch.train_loss))?;
    assert!(losses[19] < losses[0], "{losses:?}");
    Ok(())
}

#[test]
fn settings_can_be_given_by_the_names_that_are_listed() -> Result<()> {
    let (context, _graph, data) = planted(100);
    let listed = settings("model")?;
    let heads = listed.iter().find(|setting| setting.name == "heads").unwrap();
    assert_eq!((heads.kind, heads.default), ("integer", "1"));
    expect(settings("none"), ErrorKind::NotFound, "none");
    let mut by_name = ModelConfig::new().hidden_dim(8);
    for setting in listed.iter().filter(|setting| setting.name != "hidden_dim") {
        by_name = by_name.set(setting.name, setting.default);
    }
    let same = |config: &ModelConfig| -> Result<Vec<f32>> {
        Ok(Model::new(&context, &data, config)?.parameters()?.as_slice::<f32>()?.to_vec())
    };
    assert_eq!(same(&by_name)?, same(&ModelConfig::new().hidden_dim(8))?);
    let gat = ModelConfig::new().architecture(Architecture::Gat).heads(4);
    assert_eq!(format!("{gat:?}"), "ModelConfig(architecture=gat heads=4)");
    assert_eq!(gat.clone().set("heads", "").heads(4), gat);
    Ok(())
}

#[test]
fn layers_follow_their_settings() -> Result<()> {
    let (context, _graph, data) = planted(100);
    let parameters = |config: ModelConfig| -> Result<usize> {
        Ok(Model::new(&context, &data, &config.hidden_dim(8))?.info()?.num_parameters)
    };
    let of = |architecture| ModelConfig::new().architecture(architecture);
    let pna = of(Architecture::Pna);
    let deep = [pna.clone().pre_layers(2), pna.clone().post_layers(2)];
    for deeper in deep {
        assert!(parameters(deeper)? > parameters(pna.clone())?);
    }
    let two = of(Architecture::Gatv2);
    assert!(parameters(two.clone().share_weights(true))? < parameters(two)?);

    let (gcn, mut shares) = (of(Architecture::Gcn).hidden_dim(8), Vec::new());
    for norm in [DegreeNorm::Both, DegreeNorm::None] {
        let config = gcn.clone().self_loops(false).degree_norm(norm);
        let rows = Model::new(&context, &data, &config)?.embed(&data)?;
        shares.push(rows.as_slice::<f32>()?.iter().map(|value| value.abs()).sum::<f32>());
    }
    assert!(shares[0] < shares[1], "{shares:?}"); // sums are larger than means

    let all = Model::new(&context, &data, &gcn.clone().edge_dropout(1.0));
    expect(all, ErrorKind::InvalidArgument, "edge_dropout=1");
    let more = Model::new(&context, &data, &gcn.node_dropout(2.0));
    expect(more, ErrorKind::InvalidArgument, "node_dropout=2");
    Ok(())
}

#[test]
fn edges_and_nodes_are_left_out_in_training_alone() -> Result<()> {
    let (context, graph, data) = planted(200);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[-1, -1]))?;
    let batch = sampler.sample(Some(&data), &[1, 2, 3], 0, 0, 0)?;
    let whole = ModelConfig::new().hidden_dim(8);
    for thin in [whole.clone().edge_dropout(0.6), whole.clone().node_dropout(0.6)] {
        let mut model = Model::new(&context, &data, &thin)?;
        let same = Model::new(&context, &data, &whole)?;
        let (used, known) = (model.infer(&batch)?, same.infer(&batch)?);
        assert_eq!(used.as_slice::<f32>()?, known.as_slice::<f32>()?);
        let trained = model.forward(&batch)?;
        assert_ne!(trained.as_slice::<f32>()?, known.as_slice::<f32>()?);
    }
    Ok(())
}

#[test]
fn batches_of_graphs_are_as_large_as_their_nodes_allow() -> Result<()> {
    let context = Context::new()?;
    let mut graph = ring(&context, 6);
    graph = graph.transformed(Transform::RemoveEdges, 0)?;
    let labels = [0i64, 1, 0];
    let mut data =
        Dataset::from_graphs(&graph, &[0, 3, 5, 6], None, Some(&labels), Task::Multiclass, 2)?;
    data.add_split("all", &[0, 1, 2], &[], &[])?;
    let sampler = Sampler::graphs(&data, &SamplerConfig::new())?;
    let config = LoaderConfig::new().shuffle(false).batch_nodes(3);
    let mut loader = Loader::new(&data, &sampler, &config)?;
    assert_eq!(loader.info()?.num_batches, 2);
    let mut sizes = Vec::new();
    for batch in loader.epoch() {
        let info = batch?.info()?;
        sizes.push((info.num_seeds, info.num_nodes));
    }
    assert_eq!(sizes, [(1, 3), (2, 3)]);
    let short = Loader::new(&data, &sampler, &config.drop_last(true));
    expect(short, ErrorKind::InvalidArgument, "drop_last");
    Ok(())
}

#[test]
fn waiting_for_slower_ranks_is_a_part_of_the_all_reduce() {
    let mut trainer = small_trainer(&training().num_ranks(2));
    let mut epochs = Vec::new();
    trainer.run(|epoch| epochs.push((epoch.times.peer_wait, epoch.times.reduce))).unwrap();
    let good = |(peers, all): &(f64, f64)| 0.0 <= *peers && peers <= all;
    assert!(epochs.iter().all(good) && epochs.iter().any(|epoch| epoch.1 > 0.0), "{epochs:?}");
    assert!(trainer.progress().unwrap().times.peer_wait >= 0.0);
}
