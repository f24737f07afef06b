//! Mini-batches.

use crate::error::Result;
use crate::graph_read::{Csc, Csr};
use crate::handle::Handle;
use crate::raw::{call, check, index, EDGES, NODES};
use crate::tensor::Tensor;
use crate::{ffi, BatchInfo, BlockInfo};
use std::ptr::null_mut;

/// One mini-batch: a list of nodes, seeds first, or, for seeds that are graphs, the nodes of one
/// graph after another; their features, the seeds' labels, and one block of edges a layer. All of
/// it lies in the batch's memory, which lives as long as a tensor of it does.
#[derive(Debug)]
pub struct Batch {
    pub(crate) handle: Handle<ffi::gnnmg_batch>,
}

impl Batch {
    pub(crate) fn new(token: *mut ffi::gnnmg_batch) -> Self {
        Batch { handle: Handle::new(token) }
    }

    /// Facts about it.
    #[doc(alias = "gnnmg_batch_get_info")]
    pub fn info(&self) -> Result<BatchInfo> {
        let mut raw = BatchInfo::empty();
        check(call!(gnnmg_batch_get_info(self.handle.get(), &mut raw)))?;
        Ok(BatchInfo::read(&raw))
    }

    /// Sizes of one block. Block 0 reads the features, the last yields the seeds.
    #[doc(alias = "gnnmg_batch_get_block_info")]
    pub fn block_info(&self, layer: usize) -> Result<BlockInfo> {
        let mut raw = BlockInfo::empty();
        check(call!(gnnmg_batch_get_block_info(self.handle.get(), index(layer), EDGES, &mut raw)))?;
        Ok(BlockInfo::read(&raw))
    }

    /// The seeds, i64.
    #[doc(alias = "gnnmg_batch_export_seeds")]
    pub fn seeds(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_batch_export_seeds(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// First node of each seed, for seeds that are graphs, i64 \[seeds + 1\].
    #[doc(alias = "gnnmg_batch_export_graph_ptr")]
    pub fn graph_ptr(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_batch_export_graph_ptr(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// The nodes, i64: the seeds, then those of each hop in order of first appearance.
    #[doc(alias = "gnnmg_batch_export_node_ids")]
    pub fn node_ids(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_batch_export_node_ids(self.handle.get(), NODES, &mut out)))?;
        Tensor::take(out)
    }

    /// The nodes' features, \[nodes, columns\] in the data set's type.
    #[doc(alias = "gnnmg_batch_export_features")]
    pub fn features(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_batch_export_features(self.handle.get(), NODES, &mut out)))?;
        Tensor::take(out)
    }

    /// The nodes' features where they are sparse.
    #[doc(alias = "gnnmg_batch_export_sparse_features")]
    pub fn sparse_features(&self) -> Result<Csr> {
        let (mut indptr, mut indices, mut values) = (null_mut(), null_mut(), null_mut());
        let batch = self.handle.get();
        let status = call!(gnnmg_batch_export_sparse_features(
            batch,
            NODES,
            &mut indptr,
            &mut indices,
            &mut values
        ));
        check(status)?;
        let taken = (Tensor::take(indptr), Tensor::take(indices), Tensor::take(values));
        let num_columns = self.info()?.feature_dim;
        Ok(Csr { num_columns, indptr: taken.0?, indices: taken.1?, values: taken.2? })
    }

    /// The seeds' labels: i64 of classes, or f32 \[seeds, targets\].
    #[doc(alias = "gnnmg_batch_export_labels")]
    pub fn labels(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_batch_export_labels(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// Weight of each of the seeds' labels in a loss, f64 in the labels' shape.
    #[doc(alias = "gnnmg_batch_export_weights")]
    pub fn weights(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_batch_export_weights(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// The edges of one layer, as positions in the list of nodes.
    #[doc(alias = "gnnmg_batch_export_block")]
    pub fn block(&self, layer: usize) -> Result<Csc> {
        let (mut indptr, mut indices, mut edge_ids) = (null_mut(), null_mut(), null_mut());
        check(call!(gnnmg_batch_export_block(
            self.handle.get(),
            index(layer),
            EDGES,
            &mut indptr,
            &mut indices,
            &mut edge_ids
        )))?;
        Csc::take(indptr, indices, edge_ids)
    }
}
