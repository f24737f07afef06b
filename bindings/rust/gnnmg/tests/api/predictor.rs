use crate::support::*;
use gnnmg::*;
use std::thread;

#[test]
fn a_predictor_answers_threads_and_keeps_its_weights() {
    let (context, graph, data) = planted(400);
    let model = small_model(&context, &data);
    let drawn = PredictorConfig::new().fanouts(&[4, 4]).seed(3);
    let predictor = Predictor::new(&model, &data, &drawn).unwrap();
    let ids = [7, 42, 7, 399];
    let logits: Vec<f32> = predictor.run(&ids, Output::Logits).unwrap();
    let shares: Vec<f32> = predictor.run(&ids, Output::Probabilities).unwrap();
    let classes: Vec<i64> = predictor.run(&ids, Output::Classes).unwrap();
    let rows: Vec<f32> = predictor.run(&ids, Output::Embeddings).unwrap();
    assert_eq!((logits.len(), shares.len(), classes.len(), rows.len()), (16, 16, 4, 32));
    assert!((shares[..4].iter().sum::<f32>() - 1.0).abs() < 1e-5);
    assert_eq!(logits[..4], logits[8..12]);
    assert!(predictor.run::<f32>(&[], Output::Logits).unwrap().is_empty());

    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[4, 4])).unwrap();
    let mut trainer = Trainer::new(model, &data, &sampler, &training()).unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(predictor.run::<f32>(&ids, Output::Logits).unwrap(), logits);
                }
            });
        }
        let remote = trainer.remote();
        let mut snapshots = Vec::new();
        trainer.run(|_| snapshots.push(remote.snapshot().unwrap())).unwrap();
        assert_eq!(snapshots.len(), 3);
        let newest = Predictor::new(&snapshots[0], &data, &drawn).unwrap();
        assert_ne!(newest.run::<f32>(&ids, Output::Logits).unwrap(), logits);
    });
    let after = trainer.snapshot().unwrap();
    let (of_snapshot, of_model) =
        (after.parameters().unwrap(), trainer.model().parameters().unwrap());
    assert_eq!(of_snapshot.as_slice::<f32>().unwrap(), of_model.as_slice::<f32>().unwrap());
    let info = predictor.info().unwrap();
    assert_eq!((info.num_ids, info.output_dim, info.embedding_dim, info.exact), (400, 4, 8, false));
    assert_eq!(info.num_calls, 4 + 1 + 60);
}

#[test]
fn mistakes_are_named() {
    let (context, _graph, data) = planted(100);
    let model = small_model(&context, &data);
    let new = |name, value| Predictor::new(&model, &data, &PredictorConfig::new().set(name, value));
    expect(new("fanuots", "4,4"), ErrorKind::InvalidArgument, "'fanouts'");
    expect(new("seed", "\0"), ErrorKind::InvalidArgument, "NUL");
    let predictor = Predictor::new(&model, &data, &PredictorConfig::new()).unwrap();
    expect(predictor.run::<f32>(&[100], Output::Logits), ErrorKind::Range, "ids[0] is 100");
    expect(predictor.run::<f64>(&[1], Output::Logits), ErrorKind::InvalidArgument, "F64");
    expect(predictor.run::<f32>(&[1], Output::Classes), ErrorKind::InvalidArgument, "I64");
}
