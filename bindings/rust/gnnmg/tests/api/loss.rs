use crate::support::*;
use gnnmg::*;
use std::sync::{Arc, Mutex};

fn entropy(batch: &mut LossBatch<'_, f32>) {
    for (i, &class) in batch.classes.unwrap().iter().enumerate() {
        let range = i * batch.columns..(i + 1) * batch.columns;
        let shares: Vec<f64> =
            batch.logits[range.clone()].iter().map(|&logit| f64::from(logit).exp()).collect();
        let sum: f64 = shares.iter().sum();
        batch.loss -= batch.weights[i] * (shares[class as usize] / sum).ln();
        for (c, gradient) in batch.gradient[range].iter_mut().enumerate() {
            let wanted = f64::from(u8::from(c as i64 == class));
            *gradient = (batch.weights[i] * (shares[c] / sum - wanted)) as f32;
        }
    }
}

fn plain() -> TrainerConfig {
    training().evaluate_every(0).keep_best(false)
}

#[test]
fn a_loss_of_ones_own_trains_as_the_librarys() {
    let mut trainer = small_trainer(&plain());
    trainer.run(|_| ()).unwrap();
    let expected =
        trainer.into_model().unwrap().parameters().unwrap().as_slice::<f32>().unwrap().to_vec();
    let mut trainer = small_trainer(&plain());
    let seeds = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&seeds);
    trainer
        .set_loss(move |batch: &mut LossBatch<'_, f32>| {
            *seen.lock().unwrap() += batch.seeds.len();
            entropy(batch)
        })
        .unwrap();
    trainer.run(|_| ()).unwrap();
    assert!(*seeds.lock().unwrap() > 0);
    expect(trainer.set_loss(entropy), ErrorKind::Busy, "has begun");
    let found =
        trainer.into_model().unwrap().parameters().unwrap().as_slice::<f32>().unwrap().to_vec();
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn an_error_of_a_loss_ends_training() {
    let mut trainer = small_trainer(&plain());
    trainer.set_loss(|_: &mut LossBatch<'_, f32>| Err::<(), _>("mine")).unwrap();
    let error = trainer.run(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Callback);
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "mine");
    let mut trainer = small_trainer(&plain());
    trainer.set_loss(|_: &mut LossBatch<'_, f64>| ()).unwrap();
    let error = trainer.step().unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("type"));
}

#[test]
fn the_rate_is_set_on_the_way() {
    let mut trainer = small_trainer(&plain());
    trainer.set_learning_rate(0.4).unwrap();
    let remote = trainer.remote();
    let mut rates = Vec::new();
    trainer
        .run(|epoch| {
            rates.push(epoch.learning_rate);
            remote.set_learning_rate(epoch.learning_rate / 2.0)
        })
        .unwrap();
    assert_eq!(rates, [0.4, 0.2, 0.1]);
    expect(trainer.set_learning_rate(-1.0), ErrorKind::InvalidArgument, "rate");
}

#[test]
fn frozen_parameters_stay() {
    let mut trainer = small_trainer(&plain());
    expect(trainer.model_mut().set_trainable("*", false), ErrorKind::Busy, "trainer");
    let mut model = trainer.into_model().unwrap();
    let key = "convs.0.lin_l.weight";
    model.set_trainable("convs.0.*", false).unwrap();
    expect(model.gradient(key), ErrorKind::NotFound, "frozen");
    expect(model.set_trainable("none.*", true), ErrorKind::NotFound, key);
}
