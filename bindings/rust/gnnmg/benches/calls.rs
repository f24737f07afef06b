//! What this crate costs beyond the C functions: a call that reads a property, and an epoch of a
//! loop of one's own. Each is done both ways, in turn, and the medians are printed.
//!
//! `cargo bench -p gnnmg`

use gnnmg::*;
use std::hint::black_box;
use std::ptr::{null, null_mut};
use std::time::Instant;

const ROUNDS: usize = 11;
const CALLS: u32 = 200_000;

/// Calls a C function, which has to succeed.
macro_rules! c {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let status = unsafe { ffi::$function($($argument),*) };
        assert!(status >= 0, "{} answers {status}", stringify!($function));
        status
    }};
}

/// Medians of what two pieces of work take, in seconds. They take turns, so that what else happens
/// on the machine meets both.
fn compare(mut a: impl FnMut(), mut b: impl FnMut()) -> (f64, f64) {
    let seconds = |work: &mut dyn FnMut()| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    };
    let (mut of_a, mut of_b): (Vec<f64>, Vec<f64>) =
        (0..ROUNDS).map(|_| (seconds(&mut a), seconds(&mut b))).unzip();
    of_a.sort_by(f64::total_cmp);
    of_b.sort_by(f64::total_cmp);
    (of_a[ROUNDS / 2], of_b[ROUNDS / 2])
}

/// The objects of a C program; they go with the process.
struct Raw {
    graph: *mut ffi::gnnmg_graph,
    loader: *mut ffi::gnnmg_loader,
    model: *mut ffi::gnnmg_model,
    optimizer: *mut ffi::gnnmg_optimizer,
}

fn raw(nodes: i64) -> Raw {
    let (mut context, mut graph, mut data) = (null_mut(), null_mut(), null_mut());
    let (mut sampler, mut loader) = (null_mut(), null_mut());
    let (mut model, mut optimizer) = (null_mut(), null_mut());
    let mut planted = unsafe { std::mem::zeroed::<ffi::gnnmg_planted_partition_config>() };
    c!(gnnmg_planted_partition_config_init(&mut planted, std::mem::size_of_val(&planted)));
    planted.num_nodes = nodes;
    c!(gnnmg_context_create(ffi::GNNMG_VERSION as i32, null(), &mut context));
    c!(gnnmg_graph_create_planted_partition(context, &planted, &mut graph));
    let task = ffi::GNNMG_TASK_MULTICLASS;
    c!(gnnmg_dataset_create(graph, c"x".as_ptr(), c"y".as_ptr(), task, 0, &mut data));
    c!(gnnmg_dataset_add_random_split(data, c"random".as_ptr(), null()));
    c!(gnnmg_sampler_create(graph, null(), &mut sampler));
    c!(gnnmg_loader_create(data, sampler, null(), &mut loader));
    c!(gnnmg_model_create(context, data, null(), &mut model));
    c!(gnnmg_optimizer_create(model, null(), &mut optimizer));
    Raw { graph, loader, model, optimizer }
}

impl Raw {
    fn epoch(&self) {
        let (mut batch, mut logits, mut loss) = (null_mut(), null_mut(), 0.0);
        while c!(gnnmg_loader_next(self.loader, &mut batch, -1)) != ffi::GNNMG_END {
            c!(gnnmg_model_forward(self.model, batch, 1, &mut logits));
            c!(gnnmg_model_backward(self.model, ffi::GNNMG_LOSS_AUTO, &mut loss));
            c!(gnnmg_optimizer_step(self.optimizer));
            unsafe {
                ffi::gnnmg_tensor_free(logits);
                ffi::gnnmg_batch_free(batch);
            }
        }
    }
}

fn main() -> Result<()> {
    let nodes = 20_000;
    let raw = raw(nodes as i64);
    let context = Context::new()?;
    let graph =
        Graph::planted_partition(&context, &PlantedPartitionConfig::new().num_nodes(nodes))?;
    let mut data = Dataset::from_graph(&graph, "x", "y", Task::Multiclass, 0)?;
    data.add_random_split("random", &SplitConfig::new())?;
    let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new())?;
    let mut model = Model::new(&context, &data, &ModelConfig::new())?;
    let mut optimizer = Optimizer::new(&mut model, &OptimizerConfig::new())?;

    let (in_c, here) = compare(
        || {
            for _ in 0..CALLS {
                let mut count = 0;
                c!(gnnmg_graph_num_nodes(black_box(raw.graph), 0, &mut count));
                black_box(count);
            }
        },
        || {
            for _ in 0..CALLS {
                black_box(black_box(&graph).num_nodes(0).unwrap());
            }
        },
    );
    let nanoseconds = |seconds: f64| 1e9 * seconds / f64::from(CALLS);
    let (in_c, here) = (nanoseconds(in_c), nanoseconds(here));
    println!("property   C {in_c:.1} ns, here {here:.1} ns, {:+.1} ns", here - in_c);

    let (in_c, here) = compare(
        || raw.epoch(),
        || {
            for batch in loader.epoch() {
                model.forward_training(&batch.unwrap()).unwrap();
                model.backward(Loss::Auto).unwrap();
                optimizer.step(&mut model).unwrap();
            }
        },
    );
    let percent = 100.0 * (here / in_c - 1.0);
    println!("epoch      C {in_c:.4} s, here {here:.4} s, {percent:+.2} %");
    Ok(())
}
