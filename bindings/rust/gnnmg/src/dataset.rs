//! Data sets: a graph with features, labels and splits.

use crate::array::AsArray;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::raw::{
    block, borrowed, call, check, length, millis, more, path, pointer, ready, text, Field,
    Settings, FOREVER,
};
use crate::tensor::Tensor;
use crate::{
    ffi, Context, DatasetConfig, DatasetInfo, FoldsConfig, Graph, LogNormalConfig, Part, PartInfo,
    PartsConfig, PartsInfo, PlantedConfig, SplitConfig, SplitInfo, Task,
};
use std::ffi::CStr;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::task::Poll;
use std::time::Duration;

/// A graph with labels and splits: from files in any supported format, or around the caller's own
/// graph. It has any number of splits, by name and index. One is chosen: the first, until one is
/// added; [`Dataset::select_split`] makes a data set with another.
///
/// A data set of many small graphs is one graph too, in which they stand side by side; labels, the
/// ids of splits and sample weights are then of graphs where those of others are of nodes.
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// use gnnmg::{Context, Dataset, Graph, Part, Task};
///
/// let context = Context::new()?;
/// let mut graph = Graph::from_coo(&context, 4, &[0i32, 1, 2, 3], &[1, 2, 3, 0])?;
/// graph.set_node_tensor(0, "y", &[0i64, 1, 0, 1])?;
/// let mut data = Dataset::from_graph(&graph, None, "y", Task::Multiclass, 2)?;
/// data.add_split("mine", &[0, 1], &[2], &[3])?;
/// assert_eq!(data.split(Part::Train)?.as_slice::<i64>()?, [0, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Dataset {
    pub(crate) handle: Handle<ffi::gnnmg_dataset>,
}

impl PartsConfig {
    /// Stores no hotness of nodes, in place of the one by [`fanouts`](PartsConfig::fanouts).
    pub fn no_hotness(self) -> Self {
        self.set("fanouts", "none")
    }
}

/// The names of a data set; see [`Dataset::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetNames<'dataset> {
    /// Name of the data set.
    pub name: &'dataset str,
    /// Name of the node tensor with the features.
    pub features: Option<&'dataset str>,
    /// Name of the node tensor with the labels.
    pub labels: Option<&'dataset str>,
}

impl Dataset {
    /// Opens a folder or file in any supported format.
    #[doc(alias = "gnnmg_dataset_open")]
    pub fn open(context: &Context, path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(context, path, &DatasetConfig::new())
    }

    /// The same with settings.
    #[doc(alias = "gnnmg_dataset_open")]
    pub fn open_with(
        context: &Context,
        path: impl AsRef<Path>,
        config: &DatasetConfig,
    ) -> Result<Self> {
        block(|| Self::open_within(context, path.as_ref(), config, FOREVER))
    }

    /// The same with a time limit; another call with equal path and settings continues the wait.
    #[doc(alias = "gnnmg_dataset_open")]
    pub fn open_timeout(
        context: &Context,
        path: impl AsRef<Path>,
        config: &DatasetConfig,
        timeout: Duration,
    ) -> Result<Poll<Self>> {
        Self::open_within(context, path.as_ref(), config, millis(timeout))
    }

    fn open_within(
        context: &Context,
        from: &Path,
        config: &DatasetConfig,
        timeout_ms: i64,
    ) -> Result<Poll<Self>> {
        let (from, settings, mut token) = (path(from)?, config.settings.text()?, null_mut());
        let (context, from, settings) = (context.handle.get(), from.as_ptr(), settings.as_ptr());
        let status = call!(gnnmg_dataset_open(context, from, settings, &mut token, timeout_ms));
        ready(status, || Ok(Dataset { handle: Handle::new(token) }))
    }

    /// The graph of [`Graph::planted`] with a random split, as a data set. A seed is for both: give
    /// it once.
    #[doc(alias = "gnnmg_dataset_generate")]
    pub fn planted(context: &Context, graph: &PlantedConfig, split: &SplitConfig) -> Result<Self> {
        Self::generated(context, c"planted", &graph.settings, split)
    }

    /// The graph of [`Graph::log_normal`] with a random split, as a data set. A seed is for both:
    /// give it once.
    #[doc(alias = "gnnmg_dataset_generate")]
    pub fn log_normal(
        context: &Context,
        graph: &LogNormalConfig,
        split: &SplitConfig,
    ) -> Result<Self> {
        Self::generated(context, c"log_normal", &graph.settings, split)
    }

    fn generated(
        context: &Context,
        generator: &CStr,
        graph: &Settings,
        split: &SplitConfig,
    ) -> Result<Self> {
        let settings = text("settings", &format!("{graph} {}", split.settings))?;
        let (context, mut token) = (context.handle.get(), null_mut());
        let (generator, settings) = (generator.as_ptr(), settings.as_ptr());
        check(call!(gnnmg_dataset_generate(context, generator, settings, &mut token)))?;
        Ok(Dataset { handle: Handle::new(token) })
    }

    /// A data set around a graph, which can no longer be changed. It has no split yet.
    ///
    /// `features` and `labels` name node tensors. Without a task ([`Task::None`]), integers are
    /// classes and floats regression. `num_classes` 0 is the largest label + 1.
    #[doc(alias = "gnnmg_dataset_create")]
    pub fn from_graph<'a>(
        graph: &Graph,
        features: impl Into<Option<&'a str>>,
        labels: impl Into<Option<&'a str>>,
        task: Task,
        num_classes: usize,
    ) -> Result<Self> {
        let features = features.into().map(|name| text("features", name)).transpose()?;
        let labels = labels.into().map(|name| text("labels", name)).transpose()?;
        let mut token = null_mut();
        check(call!(gnnmg_dataset_create(
            graph.handle.get(),
            pointer(&features),
            pointer(&labels),
            task.into_raw(),
            num_classes.into_raw(),
            &mut token
        )))?;
        Ok(Dataset { handle: Handle::new(token) })
    }

    /// A data set of many graphs, which stand side by side in one: the nodes of graph g are
    /// `graph_ptr[g]..graph_ptr[g + 1]`, and row g of `labels` is its. It has no split yet.
    #[doc(alias = "gnnmg_dataset_create_graphs")]
    pub fn from_graphs<'a>(
        graph: &Graph,
        graph_ptr: &[i64],
        features: impl Into<Option<&'a str>>,
        labels: Option<&dyn AsArray>,
        task: Task,
        num_classes: usize,
    ) -> Result<Self> {
        if graph_ptr.is_empty() {
            return Err(Error::argument("graph_ptr is empty, expected one entry or more".into()));
        }
        let features = features.into().map(|name| text("features", name)).transpose()?;
        let labels = labels.map(|labels| labels.lend()?.tensor()).transpose()?;
        let mut token = null_mut();
        check(call!(gnnmg_dataset_create_graphs(
            graph.handle.get(),
            graph_ptr.as_ptr(),
            length(graph_ptr) - 1,
            pointer(&features),
            labels.as_ref().map_or(null(), |labels| labels.get().cast_const()),
            task.into_raw(),
            num_classes.into_raw(),
            &mut token
        )))?;
        Ok(Dataset { handle: Handle::new(token) })
    }

    /// Writes the data set as a folder, which must not exist yet, whole or not at all.
    #[doc(alias = "gnnmg_dataset_save")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        block(|| self.save_within(path.as_ref(), FOREVER))
    }

    /// The same with a time limit; another call with an equal path continues the wait.
    #[doc(alias = "gnnmg_dataset_save")]
    pub fn save_timeout(&self, path: impl AsRef<Path>, timeout: Duration) -> Result<Poll<()>> {
        self.save_within(path.as_ref(), millis(timeout))
    }

    fn save_within(&self, to: &Path, timeout_ms: i64) -> Result<Poll<()>> {
        let to = path(to)?;
        let status = call!(gnnmg_dataset_save(self.handle.get(), to.as_ptr(), timeout_ms));
        ready(status, || Ok(()))
    }

    /// Divides the nodes into parts and writes a folder of them: of each part the rows of its nodes,
    /// as `.npy` files, and which node is in which part. Nodes keep their ids. [`Dataset::open`]
    /// opens the folder as the same data set.
    ///
    /// The folder is new, or one that an earlier call has begun: a call with the same arguments goes
    /// on there, also after a crash, and the result is the same to the last byte. A complete folder
    /// of the same arguments stays as it is.
    ///
    /// `given` has the part of each node, \[nodes\], each below the number of parts, and takes the
    /// place of a method.
    ///
    /// ```
    /// # fn main() -> gnnmg::Result<()> {
    /// use gnnmg::{Context, Dataset, Graph, PartsConfig, Task};
    ///
    /// let context = Context::new()?;
    /// let graph = Graph::from_coo(&context, 4, &[0i32, 1, 2, 3], &[1, 2, 3, 0])?;
    /// let data = Dataset::from_graph(&graph, None, None, Task::None, 0)?;
    /// let folder = std::env::temp_dir().join(format!("gnnmg-parts-{}", std::process::id()));
    /// data.save_parts(&folder, None, &PartsConfig::new().num_parts(2).edge_slack(2.0))?;
    /// assert_eq!(Dataset::open(&context, &folder)?.parts_info()?.num_nodes, 4);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Mismatch`]: the folder was begun with other arguments or data.
    /// - [`ErrorKind::Busy`]: another call writes the folder.
    /// - [`ErrorKind::Unsupported`]: the data set has several types, or many graphs.
    /// - [`ErrorKind::Dependency`]: METIS is the method and not installed.
    /// - [`ErrorKind::NoMemory`]: the memory limit is too low.
    /// - [`ErrorKind::InvalidArgument`], [`ErrorKind::Range`]: `given` has another length than there
    ///   are nodes, or a number that is no part.
    ///
    /// [`ErrorKind::Mismatch`]: crate::ErrorKind::Mismatch
    /// [`ErrorKind::Busy`]: crate::ErrorKind::Busy
    /// [`ErrorKind::Unsupported`]: crate::ErrorKind::Unsupported
    /// [`ErrorKind::Dependency`]: crate::ErrorKind::Dependency
    /// [`ErrorKind::NoMemory`]: crate::ErrorKind::NoMemory
    /// [`ErrorKind::InvalidArgument`]: crate::ErrorKind::InvalidArgument
    /// [`ErrorKind::Range`]: crate::ErrorKind::Range
    #[doc(alias = "gnnmg_dataset_save_parts")]
    pub fn save_parts<'a>(
        &self,
        folder: impl AsRef<Path>,
        given: impl Into<Option<&'a [i32]>>,
        config: &PartsConfig,
    ) -> Result<()> {
        let given = given.into();
        block(|| self.save_parts_within(folder.as_ref(), given, config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_dataset_save_parts")]
    pub fn save_parts_timeout<'a>(
        &self,
        folder: impl AsRef<Path>,
        given: impl Into<Option<&'a [i32]>>,
        config: &PartsConfig,
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.save_parts_within(folder.as_ref(), given.into(), config, millis(timeout))
    }

    fn save_parts_within(
        &self,
        to: &Path,
        given: Option<&[i32]>,
        config: &PartsConfig,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (to, settings) = (path(to)?, config.settings.text()?);
        let (parts, count) = given.map_or((null(), 0), |list| (list.as_ptr(), length(list)));
        let status = call!(gnnmg_dataset_save_parts(
            self.handle.get(),
            to.as_ptr(),
            parts,
            count,
            null(),
            settings.as_ptr(),
            timeout_ms
        ));
        ready(status, || Ok(()))
    }

    /// Facts about the parts: how even they are, and how many edges lead from one to another.
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) where the data set was not opened from a
    /// folder of parts.
    #[doc(alias = "gnnmg_dataset_get_parts_info")]
    pub fn parts_info(&self) -> Result<PartsInfo> {
        let mut raw = PartsInfo::empty();
        check(call!(gnnmg_dataset_get_parts_info(self.handle.get(), &mut raw)))?;
        Ok(PartsInfo::read(&raw))
    }

    /// Facts about one part, counted from 0; `None` after the last. `hit_rate` is that of a cache of
    /// `cache_rows` rows of other parts, those read most.
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) where the data set was not opened from a
    /// folder of parts.
    #[doc(alias = "gnnmg_dataset_get_part_info")]
    pub fn part_info(&self, part: usize, cache_rows: usize) -> Result<Option<PartInfo>> {
        let (mut raw, part) = (PartInfo::empty(), crate::raw::index(part));
        let (dataset, rows) = (self.handle.get(), cache_rows.into_raw());
        let found = more(call!(gnnmg_dataset_get_part_info(dataset, part, rows, &mut raw)))?;
        Ok(found.then(|| PartInfo::read(&raw)))
    }

    /// Facts about each part, as [`Dataset::part_info`] returns them.
    #[doc(alias = "gnnmg_dataset_get_part_info")]
    pub fn parts(&self, cache_rows: usize) -> Result<Vec<PartInfo>> {
        let mut list = Vec::new();
        while let Some(info) = self.part_info(list.len(), cache_rows)? {
            list.push(info);
        }
        Ok(list)
    }

    /// The part of each node, i32 \[nodes\], read-only.
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) where the data set was not opened from a
    /// folder of parts.
    #[doc(alias = "gnnmg_dataset_export_book")]
    pub fn book(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_dataset_export_book(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// Facts about it.
    #[doc(alias = "gnnmg_dataset_get_info")]
    pub fn info(&self) -> Result<DatasetInfo> {
        let mut raw = DatasetInfo::empty();
        check(call!(gnnmg_dataset_get_info(self.handle.get(), &mut raw)))?;
        Ok(DatasetInfo::read(&raw))
    }

    /// Names of the data set, its features and its labels.
    #[doc(alias = "gnnmg_dataset_get_names")]
    pub fn names(&self) -> Result<DatasetNames<'_>> {
        let (mut name, mut features, mut labels) = (null(), null(), null());
        let dataset = self.handle.get();
        check(call!(gnnmg_dataset_get_names(dataset, &mut name, &mut features, &mut labels)))?;
        let some = |text| borrowed(self, text).map(|name| Some(name).filter(|n| !n.is_empty()));
        let (features, labels) = (some(features)?, some(labels)?);
        Ok(DatasetNames { name: borrowed(self, name)?, features, labels })
    }

    /// The graph; in a data set of many graphs, one that contains them side by side.
    #[doc(alias = "gnnmg_dataset_get_graph")]
    pub fn graph(&self) -> Result<Graph> {
        Graph::made(|out| call!(gnnmg_dataset_get_graph(self.handle.get(), 0, out)))
    }

    /// Names and sizes of its splits.
    #[doc(alias = "gnnmg_dataset_get_split_info")]
    pub fn splits(&self) -> Result<Vec<(&str, SplitInfo)>> {
        let mut list = Vec::new();
        loop {
            let (at, mut name, mut raw) = (length(&list), null(), SplitInfo::empty());
            let dataset = self.handle.get();
            if !more(call!(gnnmg_dataset_get_split_info(dataset, at, &mut name, &mut raw)))? {
                return Ok(list);
            }
            list.push((borrowed(self, name)?, SplitInfo::read(&raw)));
        }
    }

    /// A data set of the same data with another split chosen. Both share graph, features and
    /// labels; splits and weights that one gets later do not change the other. Without a name,
    /// `index` counts the splits with the first one's name.
    #[doc(alias = "gnnmg_dataset_select_split")]
    pub fn select_split<'a>(
        &self,
        name: impl Into<Option<&'a str>>,
        index: usize,
    ) -> Result<Dataset> {
        let name = name.into().map(|name| text("name", name)).transpose()?;
        let (index, mut token) = (crate::raw::index(index), null_mut());
        let dataset = self.handle.get();
        check(call!(gnnmg_dataset_select_split(dataset, pointer(&name), index, &mut token)))?;
        Ok(Dataset { handle: Handle::new(token) })
    }

    /// Adds a split of given ids and chooses it. Its index is the number of splits of that name so
    /// far.
    #[doc(alias = "gnnmg_dataset_add_split")]
    pub fn add_split(
        &mut self,
        name: &str,
        train: &[i64],
        validation: &[i64],
        test: &[i64],
    ) -> Result<()> {
        let name = text("name", name)?;
        check(call!(gnnmg_dataset_add_split(
            self.handle.get(),
            name.as_ptr(),
            train.as_ptr(),
            length(train),
            validation.as_ptr(),
            length(validation),
            test.as_ptr(),
            length(test)
        )))
    }

    /// Draws a split of the labeled nodes or graphs, adds it and chooses it.
    #[doc(alias = "gnnmg_dataset_add_random_split")]
    pub fn add_random_split(&mut self, name: &str, config: &SplitConfig) -> Result<()> {
        let (name, settings) = (text("name", name)?, config.settings.text()?);
        let (dataset, name, settings) = (self.handle.get(), name.as_ptr(), settings.as_ptr());
        check(call!(gnnmg_dataset_add_random_split(dataset, name, settings)))
    }

    /// Cuts the labeled nodes or graphs into folds and adds a split for each, with index 0, 1, ...:
    /// the k-th holds fold k out and trains on the others. The first of them is chosen.
    #[doc(alias = "gnnmg_dataset_add_folds")]
    pub fn add_folds(&mut self, name: &str, config: &FoldsConfig) -> Result<()> {
        let (name, settings) = (text("name", name)?, config.settings.text()?);
        let (dataset, name, settings) = (self.handle.get(), name.as_ptr(), settings.as_ptr());
        check(call!(gnnmg_dataset_add_folds(dataset, name, settings)))
    }

    /// The labels: classes i64 \[n\], -1 for none, or f32 \[n, targets\], NaN for none.
    #[doc(alias = "gnnmg_dataset_export_labels")]
    pub fn labels(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_dataset_export_labels(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// First node of each graph in a data set of many, i64 \[graphs + 1\].
    #[doc(alias = "gnnmg_dataset_export_graph_ptr")]
    pub fn graph_ptr(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_dataset_export_graph_ptr(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// The ids of a part of the chosen split, ascending, i64.
    #[doc(alias = "gnnmg_dataset_export_split")]
    pub fn split(&self, part: Part) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_dataset_export_split(self.handle.get(), part.into_raw(), &mut out)))?;
        Tensor::take(out)
    }

    /// Sets the weight of each class (or target) in a loss: 0, or 1e-12 to 1e12. A loss is the sum
    /// of each seed's, times its weight, divided by the sum of the weights; a seed's weight is that
    /// of its class times its own ([`Dataset::set_sample_weights`]). `None` restores equal weights.
    #[doc(alias = "gnnmg_dataset_set_class_weights")]
    pub fn set_class_weights<'a>(&mut self, weights: impl Into<Option<&'a [f64]>>) -> Result<()> {
        let weights = weights.into();
        let (data, count) = weights.map_or((null(), 0), |list| (list.as_ptr(), length(list)));
        check(call!(gnnmg_dataset_set_class_weights(self.handle.get(), data, count)))
    }

    /// Sets class weights by which every class counts the same over the training part of the chosen
    /// split.
    #[doc(alias = "gnnmg_dataset_balance_classes")]
    pub fn balance_classes(&mut self) -> Result<()> {
        check(call!(gnnmg_dataset_balance_classes(self.handle.get())))
    }

    /// Sets the weight of each node (or graph) in a loss, f32 or f64. `None` restores equal
    /// weights.
    #[doc(alias = "gnnmg_dataset_set_sample_weights")]
    pub fn set_sample_weights(&mut self, weights: Option<&dyn AsArray>) -> Result<()> {
        let weights = weights.map(|weights| weights.lend()?.tensor()).transpose()?;
        let tensor = weights.as_ref().map_or(null(), |weights| weights.get().cast_const());
        check(call!(gnnmg_dataset_set_sample_weights(self.handle.get(), tensor)))
    }

    /// The class weights, f64.
    #[doc(alias = "gnnmg_dataset_export_class_weights")]
    pub fn class_weights(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_dataset_export_class_weights(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// The nodes' (or graphs') weights, f64.
    #[doc(alias = "gnnmg_dataset_export_sample_weights")]
    pub fn sample_weights(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_dataset_export_sample_weights(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }
}
