//! A graph and its tensors around arrays of this program, without copying, and out again. Each
//! array is given back exactly once.

mod common;

use gnnmg::*;
use ndarray::ArrayView2;
use std::sync::atomic::{AtomicUsize, Ordering};

static ARRAYS_OUT: AtomicUsize = AtomicUsize::new(0); // lent to the library at the moment

/// An array that is counted; programs have a `Vec`, an `Arc` or a mapped file here.
struct Lent<T>(Vec<T>);

impl<T> AsRef<[T]> for Lent<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        ARRAYS_OUT.fetch_sub(1, Ordering::SeqCst);
    }
}

fn wrap<T: Element>(numbers: &[T], shape: &[usize]) -> Result<Tensor> {
    ARRAYS_OUT.fetch_add(1, Ordering::SeqCst);
    Tensor::from_owner(Lent(numbers.to_vec()), shape)
}

fn main() -> Result<()> {
    let (sources, targets) = ([1i32, 3, 0, 1, 2], [0i32, 0, 1, 2, 3]);
    let x = [0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let (word, times) = (
        [0i32, 5, 2, 1, 2, 3, 4],
        [1f32, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0],
    );

    let context = Context::new()?;
    let warnings = common::Warnings::of(&context);
    let mut graph = Graph::new(&context)?;
    graph.add_node_type("page", 4)?;
    graph.add_edge_type(0, "links", 0)?;
    graph.add_edge_type(0, "cites", 0)?;

    // Compressed columns are shared with the graph.
    graph.import_csc(
        0,
        wrap(&[0i64, 2, 3, 4, 5], &[5])?,
        wrap(&sources, &[5])?,
        None,
    )?;
    // A list is sorted into columns, and its arrays are released at once.
    graph.import_coo(1, wrap(&sources, &[5])?, wrap(&targets, &[5])?)?;
    graph.import_node_tensor(0, "x", wrap(&x, &[4, 2])?)?;
    graph.import_edge_tensor(0, "weight", wrap(&[1f32, 2.0, 3.0, 4.0, 5.0], &[5])?)?;
    let (indptr, word) = (wrap(&[0i64, 2, 3, 5, 7], &[5])?, wrap(&word, &[7])?);
    graph.import_node_csr(0, "words", 6, indptr, word, wrap(&times, &[7])?)?;
    let out = || ARRAYS_OUT.load(Ordering::SeqCst);
    println!("the graph holds {} arrays of this program", out());

    let features = graph.node_tensor(0, "x")?;
    drop(graph); // the tensor keeps its memory alive
    let rows: ArrayView2<f32> = features.view()?;
    let note = if features.is_read_only() {
        ", read-only"
    } else {
        ""
    };
    let (height, width) = rows.dim();
    println!(
        "x is {height} x {width}{note}, its last number {:.0}",
        rows[(height - 1, width - 1)]
    );

    drop(features);
    drop(warnings);
    drop(context);
    println!("{} arrays have not come back", out());
    Ok(())
}
