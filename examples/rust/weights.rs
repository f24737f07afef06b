//! A model's weights: listed by key, changed one by one, written to files that PyTorch reads, and
//! read back into another model, which then says the same.

mod common;

use gnnmg::*;

/// Prints the tensors of a model.
fn summary(model: &Model) -> Result<()> {
    for TensorKey { key, trained, .. } in model.tensor_keys()? {
        let sizes: Vec<String> = model
            .tensor(key)?
            .shape()
            .iter()
            .map(usize::to_string)
            .collect();
        let colon = if sizes.is_empty() { "" } else { ": " };
        let note = if trained { "" } else { " (not learned)" };
        println!("{key}{colon}{}{note}", sizes.join(" x "));
    }
    println!("{} numbers are learned", model.info()?.num_parameters);
    Ok(())
}

/// Returns true if two models hold the same numbers: each in one array, shared with its model.
fn equal(a: &Model, b: &Model) -> Result<bool> {
    Ok(a.parameters()?.as_slice::<f32>()? == b.parameters()?.as_slice::<f32>()?)
}

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    // Else the data set's features and classes say the widths.
    let config = ModelConfig::new()
        .input_dim(64)
        .output_dim(10)
        .norm(Norm::Batch);
    let wide = config.clone().hidden_dim(32);
    let mut model = Model::new(&context, None, &wide)?;
    summary(&model)?;

    let mut bias = [0f32; 10]; // a prior: class 3 is the common one
    bias[3] = 1.0;
    model.set_tensor("convs.1.lin_l.bias", &bias)?;

    // [save]
    model.save("model.pth")?; // equals torch.save(model.state_dict())
    let file = ModelFileConfig::new().format(ModelFormat::Safetensors); // the path's ending does not matter
    model.save_with("model.weights", &file)?;
    // [save]

    // [open]
    // Architecture, widths and all other settings are in the file.
    let opened = Model::open(&context, "model.pth")?;
    // [open]
    assert!(equal(&model, &opened)?);

    let mut other = Model::new(&context, None, &wide.seed(1))?; // other initial weights
    let before = equal(&model, &other)?;
    // [load]
    other.load("model.pth")?;
    // [load]
    let after = equal(&model, &other)?;
    println!(
        "equal before loading: {}, after: {}",
        i32::from(before),
        i32::from(after)
    );

    let mut narrow = Model::new(&context, None, &config.hidden_dim(16).seed(1))?;
    let error = narrow
        .load_with("model.weights", &file)
        .expect_err("the settings differ");
    println!(
        "into a narrower one: {}: {:.60}...",
        error.kind(),
        error.message()
    );
    Ok(())
}
