//! Reads the contents of a graph.

use crate::error::Result;
use crate::graph::Graph;
use crate::raw::{borrowed, call, check, index, length, more, text, Field};
use crate::sampler::Sink;
use crate::tensor::Tensor;
use std::ptr::{null, null_mut};

/// Name and ends of an edge type; see [`Graph::edge_type`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeType<'graph> {
    /// Node type that its edges start from.
    pub source: usize,
    /// Name of the edge type.
    pub name: &'graph str,
    /// Node type that its edges lead to.
    pub target: usize,
}

/// Name of a tensor on nodes; see [`Graph::node_tensor_names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorName<'graph> {
    /// Name of the tensor.
    pub name: &'graph str,
    /// True for a sparse tensor.
    pub sparse: bool,
}

/// A sparse matrix: row r holds the entries `indptr[r]..indptr[r + 1]`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Csr {
    /// Width of the dense form; 0 where it is not told.
    pub num_columns: usize,
    /// i64, a row each and one more.
    pub indptr: Tensor,
    /// Column of each entry, i32.
    pub indices: Tensor,
    /// f32, one an entry.
    pub values: Tensor,
}

/// Edges by target: those of target t are the entries `indptr[t]..indptr[t + 1]`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Csc {
    /// A target each and one more; i64 of a graph, i32 of a block.
    pub indptr: Tensor,
    /// Source of each entry; i32, or i64 in graphs where 31 bits do not do.
    pub indices: Tensor,
    /// Edge of each entry. Of a graph, none: entry e is edge e; of a block: none are kept.
    pub edge_ids: Option<Tensor>,
}

/// The incoming edges of one node; see [`Graph::in_edges`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InEdges {
    /// Source of each edge.
    pub sources: Vec<i64>,
    /// Id of each edge.
    pub edge_ids: Vec<i64>,
}

impl Graph {
    /// Number of node types.
    #[doc(alias = "gnnmg_graph_num_node_types")]
    pub fn num_node_types(&self) -> Result<usize> {
        let mut count = 0;
        check(call!(gnnmg_graph_num_node_types(self.handle.get(), &mut count)))?;
        Ok(Field::from_raw(count))
    }

    /// Number of edge types.
    #[doc(alias = "gnnmg_graph_num_edge_types")]
    pub fn num_edge_types(&self) -> Result<usize> {
        let mut count = 0;
        check(call!(gnnmg_graph_num_edge_types(self.handle.get(), &mut count)))?;
        Ok(Field::from_raw(count))
    }

    /// Name of a node type.
    #[doc(alias = "gnnmg_graph_node_type_name")]
    pub fn node_type(&self, node_type: usize) -> Result<&str> {
        let mut name = null();
        check(call!(gnnmg_graph_node_type_name(self.handle.get(), index(node_type), &mut name)))?;
        borrowed(self, name)
    }

    /// Name and ends of an edge type.
    #[doc(alias = "gnnmg_graph_edge_type_name")]
    pub fn edge_type(&self, edge_type: usize) -> Result<EdgeType<'_>> {
        let (mut source, mut name, mut target) = (0, null(), 0);
        check(call!(gnnmg_graph_edge_type_name(
            self.handle.get(),
            index(edge_type),
            &mut source,
            &mut name,
            &mut target
        )))?;
        let (source, target) = (Field::from_raw(source), Field::from_raw(target));
        Ok(EdgeType { source, name: borrowed(self, name)?, target })
    }

    /// Number of nodes of a type; 0 is the type of a graph with one.
    #[doc(alias = "gnnmg_graph_num_nodes")]
    pub fn num_nodes(&self, node_type: usize) -> Result<usize> {
        let mut count = 0i64;
        check(call!(gnnmg_graph_num_nodes(self.handle.get(), index(node_type), &mut count)))?;
        Ok(Field::from_raw(count))
    }

    /// Number of edges of a type; 0 is the type of a graph with one.
    #[doc(alias = "gnnmg_graph_num_edges")]
    pub fn num_edges(&self, edge_type: usize) -> Result<usize> {
        let mut count = 0i64;
        check(call!(gnnmg_graph_num_edges(self.handle.get(), index(edge_type), &mut count)))?;
        Ok(Field::from_raw(count))
    }

    /// The tensors on a node type.
    #[doc(alias = "gnnmg_graph_node_tensor_name")]
    pub fn node_tensor_names(&self, node_type: usize) -> Result<Vec<TensorName<'_>>> {
        let (graph, node_type) = (self.handle.get(), index(node_type));
        let mut list = Vec::new();
        loop {
            let (at, mut name, mut sparse) = (length(&list), null(), 0);
            let status =
                call!(gnnmg_graph_node_tensor_name(graph, node_type, at, &mut name, &mut sparse));
            if !more(status)? {
                return Ok(list);
            }
            let sparse = Field::from_raw(sparse);
            list.push(TensorName { name: borrowed(self, name)?, sparse });
        }
    }

    /// The names of the tensors on an edge type.
    #[doc(alias = "gnnmg_graph_edge_tensor_name")]
    pub fn edge_tensor_names(&self, edge_type: usize) -> Result<Vec<&str>> {
        let (graph, edge_type) = (self.handle.get(), index(edge_type));
        let mut list = Vec::new();
        loop {
            let (at, mut name) = (length(&list), null());
            if !more(call!(gnnmg_graph_edge_tensor_name(graph, edge_type, at, &mut name)))? {
                return Ok(list);
            }
            list.push(borrowed(self, name)?);
        }
    }

    /// A dense tensor on nodes, in the graph's memory.
    #[doc(alias = "gnnmg_graph_export_node_tensor")]
    pub fn node_tensor(&self, node_type: usize, name: &str) -> Result<Tensor> {
        let name = text("name", name)?;
        let (graph, node_type, mut out) = (self.handle.get(), index(node_type), null_mut());
        let status =
            call!(gnnmg_graph_export_node_tensor(graph, node_type, name.as_ptr(), &mut out));
        check(status)?;
        Tensor::take(out)
    }

    /// A sparse tensor on nodes, in the graph's memory.
    #[doc(alias = "gnnmg_graph_export_node_csr")]
    pub fn node_csr(&self, node_type: usize, name: &str) -> Result<Csr> {
        let name = text("name", name)?;
        let (mut num_columns, mut indptr, mut indices, mut values) =
            (0i64, null_mut(), null_mut(), null_mut());
        check(call!(gnnmg_graph_export_node_csr(
            self.handle.get(),
            index(node_type),
            name.as_ptr(),
            &mut num_columns,
            &mut indptr,
            &mut indices,
            &mut values
        )))?;
        let taken = (Tensor::take(indptr), Tensor::take(indices), Tensor::take(values));
        Ok(Csr {
            num_columns: Field::from_raw(num_columns),
            indptr: taken.0?,
            indices: taken.1?,
            values: taken.2?,
        })
    }

    /// A tensor on edges, rows by edge id, in the graph's memory.
    #[doc(alias = "gnnmg_graph_export_edge_tensor")]
    pub fn edge_tensor(&self, edge_type: usize, name: &str) -> Result<Tensor> {
        let name = text("name", name)?;
        let (graph, edge_type, mut out) = (self.handle.get(), index(edge_type), null_mut());
        let status =
            call!(gnnmg_graph_export_edge_tensor(graph, edge_type, name.as_ptr(), &mut out));
        check(status)?;
        Tensor::take(out)
    }

    /// Sources and targets of the edges of a type in the order of their ids, i64; copies.
    #[doc(alias = "gnnmg_graph_export_coo")]
    pub fn coo(&self, edge_type: usize) -> Result<(Tensor, Tensor)> {
        let (mut sources, mut targets) = (null_mut(), null_mut());
        let (graph, edge_type) = (self.handle.get(), index(edge_type));
        check(call!(gnnmg_graph_export_coo(graph, edge_type, &mut sources, &mut targets)))?;
        let taken = (Tensor::take(sources), Tensor::take(targets));
        Ok((taken.0?, taken.1?))
    }

    /// The edges of a type as they are kept, in the graph's memory.
    #[doc(alias = "gnnmg_graph_export_csc")]
    pub fn csc(&self, edge_type: usize) -> Result<Csc> {
        let (mut indptr, mut indices, mut edge_ids) = (null_mut(), null_mut(), null_mut());
        check(call!(gnnmg_graph_export_csc(
            self.handle.get(),
            index(edge_type),
            &mut indptr,
            &mut indices,
            &mut edge_ids
        )))?;
        Csc::take(indptr, indices, edge_ids)
    }

    /// The incoming edges of one node, in their stored order.
    #[doc(alias = "gnnmg_graph_get_in_edges")]
    pub fn in_edges(&self, edge_type: usize, target: i64) -> Result<InEdges> {
        let mut list = InEdges { sources: vec![0; 32], edge_ids: vec![0; 32] };
        loop {
            let (capacity, mut needed) = (length(&list.sources), 0i64);
            check(call!(gnnmg_graph_get_in_edges(
                self.handle.get(),
                index(edge_type),
                target,
                list.sources.as_mut_ptr(),
                list.edge_ids.as_mut_ptr(),
                capacity,
                &mut needed
            )))?;
            let count = Field::from_raw(needed);
            list.sources.resize(count, 0);
            list.edge_ids.resize(count, 0);
            if needed <= capacity {
                return Ok(list);
            }
        }
    }

    /// Draws in-neighbors of each target into the sink of a custom sampler: the same ones in the
    /// same order as the built-in sampler draws with this key. A `fanout` of -1 takes all.
    #[doc(alias = "gnnmg_graph_sample_neighbors")]
    pub fn sample_neighbors(
        &self,
        edge_type: usize,
        targets: &[i64],
        fanout: i64,
        replace: bool,
        key: u64,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        check(call!(gnnmg_graph_sample_neighbors(
            self.handle.get(),
            index(edge_type),
            targets.as_ptr(),
            length(targets),
            fanout,
            replace.into_raw(),
            key,
            sink.get()
        )))
    }
}

impl Csc {
    pub(crate) fn take(
        indptr: *mut crate::ffi::gnnmg_tensor,
        indices: *mut crate::ffi::gnnmg_tensor,
        edge_ids: *mut crate::ffi::gnnmg_tensor,
    ) -> Result<Self> {
        // All are taken over before the first failure is told.
        let taken = (Tensor::take(indptr), Tensor::take(indices), Tensor::take_some(edge_ids));
        Ok(Csc { indptr: taken.0?, indices: taken.1?, edge_ids: taken.2? })
    }
}
