use crate::support::*;
use gnnmg::*;
use ndarray::{array, s, Array2, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut2, Axis};

#[test]
fn views_lie_in_the_vector() {
    let vec: Vec<f64> = (0..6).map(f64::from).collect();
    let address = vec.as_ptr();
    let mut tensor = Tensor::from_vec(vec, &[3, 2]).unwrap();
    assert_eq!(tensor.as_slice::<f64>().unwrap().as_ptr(), address);
    let mut rows: ArrayViewMut2<f64> = tensor.view_mut().unwrap();
    rows[(2, 1)] = 50.0;
    let rows: ArrayView2<f64> = tensor.view().unwrap();
    assert_eq!(rows.row(2).to_vec(), [4.0, 50.0]);
    let any: ArrayViewD<f64> = tensor.view().unwrap();
    assert_eq!(any.shape(), [3, 2]);
    assert_eq!((tensor.len(), tensor.shape(), tensor.data_type()), (6, &[3, 2][..], DataType::F64));
    assert_eq!(format!("{tensor:?}"), "Tensor(F64, [3, 2])");
}

#[test]
fn wrong_types_and_dimensions_are_errors() {
    let tensor = Tensor::from_vec(vec![1i32, 2, 3, 4], &[2, 2]).unwrap();
    expect(tensor.as_slice::<f32>(), ErrorKind::InvalidArgument, "I32, expected F32");
    let line: Result<ArrayView1<i32>> = tensor.view();
    expect(line, ErrorKind::InvalidArgument, "shape [2, 2], expected 1");
    expect(Tensor::from_vec(vec![1u8; 5], &[2, 2]), ErrorKind::InvalidArgument, "5 elements");
    expect(Tensor::from_vec(vec![1u8], &[1; 5]), ErrorKind::InvalidArgument, "dims");
    expect(Tensor::from_vec(vec![0u8], &[usize::MAX, 2]), ErrorKind::InvalidArgument, "1 elements");
}

#[test]
fn arrays_of_ndarray_go_in_without_a_copy_or_not_at_all() {
    let array: Array2<f32> = Array2::ones((4, 3));
    let address = array.as_ptr();
    let tensor = Tensor::from_array(array.clone()).unwrap();
    assert_eq!(tensor.shape(), [4, 3]);
    let moved = Tensor::from_array(array).unwrap();
    assert_eq!(moved.as_slice::<f32>().unwrap().as_ptr(), address);

    let turned = array![[1i64, 2], [3, 4]].reversed_axes();
    expect(Tensor::from_array(turned), ErrorKind::InvalidArgument, "standard layout");

    let mut rest = array![[1i64, 2], [3, 4], [5, 6]];
    rest.slice_collapse(s![1.., ..]); // begins in the middle of its memory
    let tensor = Tensor::from_array(rest).unwrap();
    assert_eq!(tensor.as_slice::<i64>().unwrap(), [3, 4, 5, 6]);
}

#[test]
fn empty_tensors_have_empty_views() {
    let mut tensor = Tensor::from_vec(Vec::<f32>::new(), &[0, 7]).unwrap();
    assert!(tensor.is_empty());
    assert!(tensor.as_slice::<f32>().unwrap().is_empty());
    assert!(tensor.as_mut_slice::<f32>().unwrap().is_empty());
    let rows: ArrayView2<f32> = tensor.view().unwrap();
    assert_eq!(rows.shape(), [0, 7]);
}

#[test]
fn shared_memory_cannot_be_written() {
    let context = Context::new().unwrap();
    let mut graph = ring(&context, 3);
    graph.set_node_tensor(0, "x", &[1.0f32, 2.0, 3.0]).unwrap();
    let mut tensor = graph.node_tensor(0, "x").unwrap();
    assert!(tensor.is_read_only());
    expect(tensor.as_mut_slice::<f32>(), ErrorKind::InvalidArgument, "read-only");
    let mut comm = Comm::group(&context, 1, &CommConfig::new()).unwrap().remove(0);
    expect(comm.all_reduce(&mut tensor, Reduce::Sum), ErrorKind::InvalidArgument, "read-only");
}

#[test]
fn dlpack_goes_out_and_comes_back() {
    let tensor = Tensor::from_vec(vec![true, false], &[2]).unwrap();
    let raw = tensor.into_dlpack().unwrap();
    let tensor = unsafe { Tensor::from_dlpack(raw) }.unwrap();
    assert_eq!(tensor.as_slice::<bool>().unwrap(), [true, false]);
    let none = unsafe { Tensor::from_dlpack(std::ptr::null_mut()) };
    expect(none, ErrorKind::InvalidArgument, "'dlpack' is NULL");
}

#[test]
fn bytes_that_are_no_bool_are_not_read_as_one() {
    for (bytes, valid) in [([0u8, 1, 1], true), ([1, 2, 0], false)] {
        let (mut raw, mut dlpack) = (std::ptr::null_mut(), std::ptr::null_mut());
        let data = bytes.as_ptr().cast_mut().cast();
        let bools: i32 = DataType::Bool.into();
        // The bytes outlive the tensor, which is read and not written.
        let mut tensor = unsafe {
            let none = std::ptr::null_mut();
            let made = ffi::gnnmg_tensor_create(data, bools, 1, &3, None, none, &mut raw);
            assert_eq!(made, ffi::GNNMG_OK);
            assert_eq!(ffi::gnnmg_tensor_to_dlpack(raw, &mut dlpack), ffi::GNNMG_OK);
            ffi::gnnmg_tensor_free(raw);
            Tensor::from_dlpack(dlpack)
        }
        .unwrap();
        assert_eq!(tensor.as_slice::<bool>().is_ok(), valid);
        assert_eq!(tensor.as_mut_slice::<bool>().is_ok(), valid);
    }
}

#[test]
fn a_tensor_outlives_all_that_it_came_from() {
    let (context, graph, data) = planted(60);
    let (features, labels) = (graph.node_tensor(0, "x").unwrap(), data.labels().unwrap());
    let first = features.as_slice::<f32>().unwrap()[0];
    drop((context, data, graph));
    let sum: f32 = features.as_slice::<f32>().unwrap().iter().sum();
    assert!(sum.is_finite());
    assert_eq!(features.as_slice::<f32>().unwrap()[0], first);
    assert_eq!(labels.as_slice::<i64>().unwrap().len(), 60);
    std::thread::spawn(move || drop(features)).join().unwrap();
}

#[test]
fn strided_views_are_refused_and_not_copied() {
    let context = Context::new().unwrap();
    let mut graph = ring(&context, 3);
    let columns = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let turned = graph.set_node_tensor(0, "x", &columns.t());
    expect(turned, ErrorKind::InvalidArgument, "as_standard_layout");
    graph.set_node_tensor(0, "x", &columns.t().as_standard_layout()).unwrap();
    graph.set_node_tensor(0, "y", &columns.index_axis(Axis(0), 1)).unwrap();
    assert_eq!(graph.node_tensor(0, "y").unwrap().as_slice::<f32>().unwrap(), [4.0, 5.0, 6.0]);
    let five = ndarray::ArrayD::<f32>::zeros(vec![3, 1, 1, 1, 1]);
    expect(graph.set_node_tensor(0, "x", &five), ErrorKind::InvalidArgument, "at most 4");
}

#[test]
fn owners_of_all_kinds_keep_the_memory() {
    use std::sync::Arc;
    let shared: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0, 4.0]);
    let mut tensor = Tensor::from_owner(Arc::clone(&shared), &[2, 2]).unwrap();
    assert_eq!(tensor.as_slice::<f32>().unwrap().as_ptr(), shared.as_ptr());
    assert!(tensor.is_read_only());
    expect(tensor.as_mut_slice::<f32>(), ErrorKind::InvalidArgument, "read-only");
    let context = Context::new().unwrap();
    let mut graph = ring(&context, 2);
    graph.import_node_tensor(0, "x", tensor).unwrap();
    assert_eq!(Arc::strong_count(&shared), 2);
    drop((graph, context));
    assert_eq!(Arc::strong_count(&shared), 1);
    let wrong = Tensor::from_owner(Arc::clone(&shared), &[3]);
    expect(wrong, ErrorKind::InvalidArgument, "4 elements");
    assert_eq!(Arc::strong_count(&shared), 1);
    let deep = Tensor::from_owner(Arc::clone(&shared), &[4, 1, 1, 1, 1]);
    expect(deep, ErrorKind::InvalidArgument, "dims");
    assert_eq!(Arc::strong_count(&shared), 1);
}
