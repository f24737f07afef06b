//! Sparse features, as texts have them: the words of each page and how often. They stay sparse in
//! the graph and in a sample, whose first aggregation is then done by hand over the sample's edges.

mod common;

use gnnmg::*;

const PAGES: usize = 6;

fn main() -> Result<()> {
    let context = Context::new()?;
    let _warnings = common::Warnings::of(&context);
    let (from, to) = ([1i64, 2, 3, 0, 4, 5, 5], [0, 0, 0, 1, 1, 2, 4]);
    let mut graph = Graph::from_coo(&context, PAGES, &from, &to)?;
    // Page v has the entries start[v] .. start[v + 1], each a word and how often.
    let start = [0, 1, 3, 5, 6, 7, 9];
    let (word, times) = (
        [7, 7, 42, 42, 999, 7, 0, 1, 2],
        [1., 2., 5., 1., 1., 4., 1., 1., 1.],
    );
    graph.set_node_csr(0, "words", 1000, &start, &word, &times)?;
    let words = graph.node_csr(0, "words")?;
    println!(
        "{} entries are stored of {PAGES} x {}",
        words.values.len(),
        words.num_columns
    );

    let data = Dataset::from_graph(&graph, "words", None, Task::None, 0)?;
    let config = SamplerConfig::new().fanouts(&[-1]).edge_ids(true); // all neighbors
    let sampler = Sampler::new(&graph, &config)?;
    let seeds = [0, 4];
    let batch = sampler.sample(Some(&data), &seeds, 1, 0, 0)?;

    let (rows, edges) = (batch.sparse_features()?, batch.block(0)?); // a row a node
    let (row_start, edge_start) = (
        rows.indptr.as_slice::<i64>()?,
        edges.indptr.as_slice::<i32>()?,
    );
    let (words, counts) = (
        rows.indices.as_slice::<i32>()?,
        rows.values.as_slice::<f32>()?,
    );
    let sources = edges.indices.as_slice::<i32>()?;
    for (page, ends) in seeds.iter().zip(edge_start.windows(2)) {
        let pages = &sources[ends[0] as usize..ends[1] as usize];
        let (mut sum, mut of_word_7) = (0.0, 0.0);
        for &source in pages {
            let row = row_start[source as usize] as usize..row_start[source as usize + 1] as usize;
            for entry in row {
                sum += counts[entry];
                if words[entry] == 7 {
                    of_word_7 += counts[entry];
                }
            }
        }
        let links = pages.len();
        println!(
            "pages that link to page {page}: {links}, with {sum:.0} words, {of_word_7:.0} times word 7"
        );
    }
    Ok(())
}
