//! Graphs: their construction. `graph_read.rs` reads their contents.

use crate::array::{AsArray, Id, Lent};
use crate::error::Result;
use crate::handle::Handle;
use crate::raw::{call, check, equal_lengths, index, length, text, Field, Settings};
use crate::tensor::Tensor;
use crate::{
    ffi, Context, ErdosRenyiConfig, LogNormalConfig, PlantedConfig, RmatConfig, Transform,
};
use std::ffi::CStr;
use std::ptr::null_mut;

/// Node types, edge types, the edges of each, and named tensors on both. Edges run from a source to
/// a target, messages flow along them, and a node's neighborhood is its incoming edges.
///
/// Types count from 0; a graph of one node and one edge type, as [`Graph::from_coo`] makes it, has
/// `0` and `0`. From the moment that a graph is given to a sampler, a data set or a transform it
/// never changes again: the methods that take `&mut self` are then refused.
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// use gnnmg::{Context, Graph};
/// use ndarray::{array, ArrayView2};
///
/// let context = Context::new()?;
/// let mut graph = Graph::from_coo(&context, 3, &[0i64, 1, 2], &[1, 2, 0])?;
/// graph.set_node_tensor(0, "x", &array![[0.0f32, 1.0], [2.0, 3.0], [4.0, 5.0]])?;
///
/// let features = graph.node_tensor(0, "x")?;
/// let rows: ArrayView2<f32> = features.view()?; // in the graph's memory
/// assert_eq!(rows[(2, 1)], 5.0);
/// assert_eq!(graph.in_edges(0, 1)?.sources, [0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Graph {
    pub(crate) handle: Handle<ffi::gnnmg_graph>,
}

impl Graph {
    pub(crate) fn made(
        make: impl FnOnce(*mut *mut ffi::gnnmg_graph) -> ffi::gnnmg_status,
    ) -> Result<Self> {
        let mut token = null_mut();
        check(make(&mut token))?;
        Ok(Graph { handle: Handle::new(token) })
    }

    /// A graph without any type, to be built up.
    #[doc(alias = "gnnmg_graph_create")]
    pub fn new(context: &Context) -> Result<Self> {
        Self::made(|out| call!(gnnmg_graph_create(context.handle.get(), out)))
    }

    /// A graph with one node type "node" and one edge type "edge" from a list of edges, copied.
    #[doc(alias = "gnnmg_graph_create_from_coo")]
    pub fn from_coo<I: Id>(
        context: &Context,
        num_nodes: usize,
        sources: &[I],
        targets: &[I],
    ) -> Result<Self> {
        equal_lengths(&[("sources", sources.len()), ("targets", targets.len())])?;
        Self::made(|out| {
            call!(gnnmg_graph_create_from_coo(
                context.handle.get(),
                num_nodes.into_raw(),
                sources.as_ptr().cast(),
                targets.as_ptr().cast(),
                I::DATA_TYPE.into_raw(),
                length(sources),
                out
            ))
        })
    }

    /// An undirected graph of nodes in classes, with node tensors "x" f32 (a class center plus
    /// noise) and "y" i64.
    #[doc(alias = "gnnmg_graph_generate")]
    pub fn planted(context: &Context, config: &PlantedConfig) -> Result<Self> {
        Self::generated(context, c"planted", &config.settings)
    }

    /// A graph with log-normal in-degrees and communities, with node tensors "x" f32 and "y" i64
    /// when asked for.
    #[doc(alias = "gnnmg_graph_generate")]
    pub fn log_normal(context: &Context, config: &LogNormalConfig) -> Result<Self> {
        Self::generated(context, c"log_normal", &config.settings)
    }

    /// An R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004), without tensors.
    #[doc(alias = "gnnmg_graph_generate")]
    pub fn rmat(context: &Context, config: &RmatConfig) -> Result<Self> {
        Self::generated(context, c"rmat", &config.settings)
    }

    /// A graph whose edges are drawn uniformly, self-loops and duplicates included, without
    /// tensors.
    #[doc(alias = "gnnmg_graph_generate")]
    pub fn erdos_renyi(context: &Context, config: &ErdosRenyiConfig) -> Result<Self> {
        Self::generated(context, c"erdos_renyi", &config.settings)
    }

    fn generated(context: &Context, generator: &CStr, settings: &Settings) -> Result<Self> {
        let (context, settings) = (context.handle.get(), settings.text()?);
        let (generator, settings) = (generator.as_ptr(), settings.as_ptr());
        Self::made(|out| call!(gnnmg_graph_generate(context, generator, settings, out)))
    }

    /// A new graph from this one; tensors that do not change are shared. `edge_type` has to have
    /// equal source and target types; [`Transform::RemoveEdges`] ignores it.
    #[doc(alias = "gnnmg_graph_create_transformed")]
    pub fn transformed(&self, transform: Transform, edge_type: usize) -> Result<Self> {
        let (graph, transform, edge_type) =
            (self.handle.get(), transform.into_raw(), index(edge_type));
        Self::made(|out| call!(gnnmg_graph_create_transformed(graph, transform, edge_type, out)))
    }

    /// A new graph in which every row of a node tensor is divided by its sum; rows that sum to 0
    /// stay.
    #[doc(alias = "gnnmg_graph_create_normalized")]
    pub fn normalized(&self, name: &str) -> Result<Self> {
        let name = text("name", name)?;
        let graph = self.handle.get();
        Self::made(|out| call!(gnnmg_graph_create_normalized(graph, name.as_ptr(), out)))
    }

    /// Adds a node type and returns its index.
    #[doc(alias = "gnnmg_graph_add_node_type")]
    pub fn add_node_type(&mut self, name: &str, num_nodes: usize) -> Result<usize> {
        let name = text("name", name)?;
        let (graph, num_nodes, mut added) = (self.handle.get(), num_nodes.into_raw(), 0);
        check(call!(gnnmg_graph_add_node_type(graph, name.as_ptr(), num_nodes, &mut added)))?;
        Ok(Field::from_raw(added))
    }

    /// Adds an edge type, without edges yet, and returns its index.
    #[doc(alias = "gnnmg_graph_add_edge_type")]
    pub fn add_edge_type(
        &mut self,
        source_type: usize,
        name: &str,
        target_type: usize,
    ) -> Result<usize> {
        let name = text("name", name)?;
        let mut added = 0;
        check(call!(gnnmg_graph_add_edge_type(
            self.handle.get(),
            index(source_type),
            name.as_ptr(),
            index(target_type),
            &mut added
        )))?;
        Ok(Field::from_raw(added))
    }

    /// Sets the edges of a type from a list, copied; edge e of the list gets the edge id e.
    #[doc(alias = "gnnmg_graph_import_coo")]
    pub fn set_coo<I: Id>(&mut self, edge_type: usize, sources: &[I], targets: &[I]) -> Result<()> {
        equal_lengths(&[("sources", sources.len()), ("targets", targets.len())])?;
        let (graph, edge_type) = (self.handle.get(), index(edge_type));
        let (from, to) = (copied(sources)?, copied(targets)?);
        check(call!(gnnmg_graph_import_coo(graph, edge_type, from.get(), to.get())))
    }

    /// Sets the edges of a type from compressed sparse columns, copied. `edge_ids` is a permutation
    /// of their positions; without it, entry e is edge e.
    #[doc(alias = "gnnmg_graph_import_csc")]
    pub fn set_csc<I: Id>(
        &mut self,
        edge_type: usize,
        indptr: &[i64],
        indices: &[I],
        edge_ids: Option<&[I]>,
    ) -> Result<()> {
        let num_ids = edge_ids.map_or(indices.len(), <[I]>::len);
        equal_lengths(&[("indices", indices.len()), ("edge_ids", num_ids)])?;
        let (starts, sources) = (copied(indptr)?, copied(indices)?);
        let ids = edge_ids.map(copied).transpose()?;
        check(call!(gnnmg_graph_import_csc(
            self.handle.get(),
            index(edge_type),
            starts.get(),
            sources.get(),
            ids.as_ref().map_or(null_mut(), Lent::get)
        )))
    }

    /// [`Graph::set_coo`] with tensors.
    #[doc(alias = "gnnmg_graph_import_coo")]
    pub fn import_coo(&mut self, edge_type: usize, sources: Tensor, targets: Tensor) -> Result<()> {
        let (graph, edge_type) = (self.handle.get(), index(edge_type));
        check(call!(gnnmg_graph_import_coo(graph, edge_type, sources.raw(), targets.raw())))
    }

    /// [`Graph::set_csc`] with tensors, which the graph shares where it can: `indptr` of i64, the
    /// others of i32, or of i64 where 31 bits do not do.
    #[doc(alias = "gnnmg_graph_import_csc")]
    pub fn import_csc(
        &mut self,
        edge_type: usize,
        indptr: Tensor,
        indices: Tensor,
        edge_ids: Option<Tensor>,
    ) -> Result<()> {
        check(call!(gnnmg_graph_import_csc(
            self.handle.get(),
            index(edge_type),
            indptr.raw(),
            indices.raw(),
            edge_ids.as_ref().map_or(null_mut(), Tensor::raw)
        )))
    }

    /// Sets a named tensor on the nodes of a type, copied, in place of one of that name if there is
    /// one. Its rows are the nodes'. Data sets call features "x" and labels "y" unless told
    /// otherwise.
    #[doc(alias = "gnnmg_graph_import_node_tensor")]
    pub fn set_node_tensor<A: AsArray + ?Sized>(
        &mut self,
        node_type: usize,
        name: &str,
        values: &A,
    ) -> Result<()> {
        let (name, values) = (text("name", name)?, copied(values)?);
        let (graph, node_type) = (self.handle.get(), index(node_type));
        check(call!(gnnmg_graph_import_node_tensor(graph, node_type, name.as_ptr(), values.get())))
    }

    /// [`Graph::set_node_tensor`] without copying.
    #[doc(alias = "gnnmg_graph_import_node_tensor")]
    pub fn import_node_tensor(
        &mut self,
        node_type: usize,
        name: &str,
        tensor: Tensor,
    ) -> Result<()> {
        let name = text("name", name)?;
        let (graph, node_type) = (self.handle.get(), index(node_type));
        check(call!(gnnmg_graph_import_node_tensor(graph, node_type, name.as_ptr(), tensor.raw())))
    }

    /// Sets a sparse tensor on the nodes of a type, copied: row r holds the entries
    /// `indptr[r]..indptr[r + 1]`. It stays sparse all the way into the first layer of a model.
    #[doc(alias = "gnnmg_graph_import_node_csr")]
    pub fn set_node_csr(
        &mut self,
        node_type: usize,
        name: &str,
        num_columns: usize,
        indptr: &[i64],
        indices: &[i32],
        values: &[f32],
    ) -> Result<()> {
        equal_lengths(&[("indices", indices.len()), ("values", values.len())])?;
        let (starts, columns, entries) = (copied(indptr)?, copied(indices)?, copied(values)?);
        let name = text("name", name)?;
        check(call!(gnnmg_graph_import_node_csr(
            self.handle.get(),
            index(node_type),
            name.as_ptr(),
            num_columns.into_raw(),
            starts.get(),
            columns.get(),
            entries.get()
        )))
    }

    /// [`Graph::set_node_csr`] without copying, of i64, i32 and f32.
    #[doc(alias = "gnnmg_graph_import_node_csr")]
    pub fn import_node_csr(
        &mut self,
        node_type: usize,
        name: &str,
        num_columns: usize,
        indptr: Tensor,
        indices: Tensor,
        values: Tensor,
    ) -> Result<()> {
        let name = text("name", name)?;
        check(call!(gnnmg_graph_import_node_csr(
            self.handle.get(),
            index(node_type),
            name.as_ptr(),
            num_columns.into_raw(),
            indptr.raw(),
            indices.raw(),
            values.raw()
        )))
    }

    /// Sets a named tensor on the edges of a type, copied, rows by edge id. The edges have to be
    /// set.
    #[doc(alias = "gnnmg_graph_import_edge_tensor")]
    pub fn set_edge_tensor<A: AsArray + ?Sized>(
        &mut self,
        edge_type: usize,
        name: &str,
        values: &A,
    ) -> Result<()> {
        let (name, values) = (text("name", name)?, copied(values)?);
        let (graph, edge_type) = (self.handle.get(), index(edge_type));
        check(call!(gnnmg_graph_import_edge_tensor(graph, edge_type, name.as_ptr(), values.get())))
    }

    /// [`Graph::set_edge_tensor`] without copying.
    #[doc(alias = "gnnmg_graph_import_edge_tensor")]
    pub fn import_edge_tensor(
        &mut self,
        edge_type: usize,
        name: &str,
        tensor: Tensor,
    ) -> Result<()> {
        let name = text("name", name)?;
        let (graph, edge_type) = (self.handle.get(), index(edge_type));
        check(call!(gnnmg_graph_import_edge_tensor(graph, edge_type, name.as_ptr(), tensor.raw())))
    }
}

/// A tensor around an array in main memory, which the library copies.
fn copied<A: AsArray + ?Sized>(values: &A) -> Result<Lent> {
    let values = values.lend()?;
    values.host_data()?;
    values.tensor()
}
