use crate::support::*;
use gnnmg::*;
use ndarray::{array, ArrayView2};

/// Users with ratings of films, and films that follow others.
fn typed(context: &Context) -> Graph {
    let mut graph = Graph::new(context).unwrap();
    let person = graph.add_node_type("person", 3).unwrap();
    let film = graph.add_node_type("film", 2).unwrap();
    let rates = graph.add_edge_type(person, "rates", film).unwrap();
    let follows = graph.add_edge_type(film, "follows", film).unwrap();
    graph.set_coo(rates, &[0i64, 1, 2, 2], &[0, 0, 0, 1]).unwrap();
    graph.set_csc(follows, &[0, 0, 1], &[0i32], None).unwrap();
    graph.set_edge_tensor(rates, "stars", &[5.0f32, 4.0, 4.0, 1.0]).unwrap();
    graph.set_node_tensor(film, "year", &[1999i64, 2003]).unwrap();
    graph
}

#[test]
fn types_and_tensors_have_names() {
    let context = Context::new().unwrap();
    let graph = typed(&context);
    assert_eq!((graph.num_node_types().unwrap(), graph.num_edge_types().unwrap()), (2, 2));
    assert_eq!(graph.node_type(1).unwrap(), "film");
    let rates = graph.edge_type(0).unwrap();
    assert_eq!((rates.source, rates.name, rates.target), (0, "rates", 1));
    assert_eq!((graph.num_nodes(0).unwrap(), graph.num_edges(0).unwrap()), (3, 4));
    let names = graph.node_tensor_names(1).unwrap();
    assert_eq!((names.len(), names[0].name, names[0].sparse), (1, "year", false));
    assert_eq!(graph.edge_tensor_names(0).unwrap(), ["stars"]);
    let stars = graph.edge_tensor(0, "stars").unwrap();
    assert_eq!(stars.as_slice::<f32>().unwrap()[3], 1.0);
    expect(graph.node_type(7), ErrorKind::NotFound, "7");
    expect(graph.num_nodes(usize::MAX), ErrorKind::NotFound, "2147483647");
    expect(graph.node_tensor(0, "year"), ErrorKind::NotFound, "year");
}

#[test]
fn edges_come_back_as_list_columns_and_node_by_node() {
    let context = Context::new().unwrap();
    let graph = typed(&context);
    let (sources, targets) = graph.coo(0).unwrap();
    assert_eq!(sources.as_slice::<i64>().unwrap(), [0, 1, 2, 2]);
    assert_eq!(targets.as_slice::<i64>().unwrap(), [0, 0, 0, 1]);
    let columns = graph.csc(0).unwrap();
    assert_eq!(columns.indptr.as_slice::<i64>().unwrap(), [0, 3, 4]);
    assert_eq!(columns.indices.as_slice::<i32>().unwrap(), [0, 1, 2, 2]);
    let film = graph.in_edges(0, 0).unwrap();
    assert_eq!((film.sources, film.edge_ids), (vec![0, 1, 2], vec![0, 1, 2]));
    expect(graph.in_edges(0, 2), ErrorKind::NotFound, "2");
}

#[test]
fn a_node_of_many_edges_is_read_whole() {
    let context = Context::new().unwrap();
    let sources: Vec<i32> = (0..100).collect();
    let graph = Graph::from_coo(&context, 100, &sources, &[7; 100]).unwrap();
    let edges = graph.in_edges(0, 7).unwrap();
    assert_eq!(edges.sources, (0..100).collect::<Vec<i64>>());
    assert_eq!(edges.edge_ids.len(), 100);
    assert!(graph.in_edges(0, 8).unwrap().sources.is_empty());
}

#[test]
fn columns_may_have_ids_of_their_own() {
    let context = Context::new().unwrap();
    let mut graph = Graph::new(&context).unwrap();
    graph.add_node_type("node", 2).unwrap();
    graph.add_edge_type(0, "edge", 0).unwrap();
    graph.set_csc(0, &[0, 2, 3], &[0i64, 1, 0], Some(&[2, 0, 1])).unwrap();
    assert_eq!(graph.in_edges(0, 0).unwrap().edge_ids, [2, 0]);
    let short = graph.set_csc(0, &[0, 2], &[0i64, 1], None);
    expect(short, ErrorKind::InvalidArgument, "indptr is i64 [2], expected i64 [3]");
    let uneven = graph.set_csc(0, &[0, 2, 3], &[0i64, 1, 0], Some(&[1]));
    expect(uneven, ErrorKind::InvalidArgument, "edge_ids 1");
    expect(Graph::from_coo(&context, 2, &[0i64], &[]), ErrorKind::InvalidArgument, "targets 0");
}

#[test]
fn arrays_are_lent_and_given_back() {
    let context = Context::new().unwrap();
    let mut graph = Graph::new(&context).unwrap();
    graph.add_node_type("page", 3).unwrap();
    graph.add_edge_type(0, "links", 0).unwrap();
    graph.add_edge_type(0, "cites", 0).unwrap();
    let vec = |list: &[i32]| Tensor::from_vec(list.to_vec(), &[list.len()]).unwrap();
    let long = |list: &[i64]| Tensor::from_vec(list.to_vec(), &[list.len()]).unwrap();
    graph.import_coo(0, vec(&[0, 1]), vec(&[1, 2])).unwrap();
    let ids = Some(vec(&[1, 0]));
    graph.import_csc(1, long(&[0, 1, 1, 2]), vec(&[2, 0]), ids).unwrap();
    let x = Tensor::from_array(array![[1.0f32], [2.0], [3.0]]).unwrap();
    let address = x.as_slice::<f32>().unwrap().as_ptr();
    graph.import_node_tensor(0, "x", x).unwrap();
    let back = graph.node_tensor(0, "x").unwrap();
    assert_eq!(back.as_slice::<f32>().unwrap().as_ptr(), address);
    let weight = Tensor::from_vec(vec![1.0f64, 2.0], &[2]).unwrap();
    graph.import_edge_tensor(0, "weight", weight).unwrap();
    let values = Tensor::from_vec(vec![1.0f32, 3.0], &[2]).unwrap();
    graph.import_node_csr(0, "words", 9, long(&[0, 1, 1, 2]), vec(&[8, 0]), values).unwrap();
    let words = graph.node_csr(0, "words").unwrap();
    assert_eq!((words.num_columns, words.indices.as_slice::<i32>().unwrap()), (9, &[8, 0][..]));
    assert!(graph.node_tensor_names(0).unwrap().iter().any(|name| name.sparse));
    expect(graph.node_tensor(0, "words"), ErrorKind::Unsupported, "sparse");

    // A refused tensor is returned, too: the caller drops it.
    let wrong = Tensor::from_vec(vec![0.0f32; 2], &[2]).unwrap();
    expect(graph.import_node_tensor(0, "x", wrong), ErrorKind::InvalidArgument, "");
    let out = graph.import_coo(0, vec(&[0, 1]), vec(&[1, 9]));
    expect(out, ErrorKind::Range, "9");
}

#[test]
fn sparse_tensors_are_copied_in() {
    let context = Context::new().unwrap();
    let mut graph = ring(&context, 2);
    graph.set_node_csr(0, "w", 4, &[0, 2, 3], &[0, 3, 1], &[1.0, 1.0, 2.0]).unwrap();
    let w = graph.node_csr(0, "w").unwrap();
    assert_eq!(w.indptr.as_slice::<i64>().unwrap(), [0, 2, 3]);
    assert_eq!(w.values.as_slice::<f32>().unwrap(), [1.0, 1.0, 2.0]);
    let short = graph.set_node_csr(0, "w", 4, &[0, 2], &[0, 3], &[1.0, 1.0]);
    expect(short, ErrorKind::InvalidArgument, "indptr is i64 [2], expected i64 [3]");
    let uneven = graph.set_node_csr(0, "w", 4, &[0, 1, 2], &[0, 3], &[1.0]);
    expect(uneven, ErrorKind::InvalidArgument, "values 1");
}

#[test]
fn transforms_make_new_graphs() {
    let context = Context::new().unwrap();
    let mut graph = ring(&context, 4);
    graph
        .set_node_tensor(0, "x", &array![[1.0f32, 3.0], [0.0, 0.0], [2.0, 2.0], [5.0, 0.0]])
        .unwrap();
    let both = graph.transformed(Transform::AddReverseEdges, 0).unwrap();
    assert_eq!((graph.num_edges(0).unwrap(), both.num_edges(0).unwrap()), (4, 8));
    let none = graph.transformed(Transform::RemoveEdges, 0).unwrap();
    assert_eq!(none.num_edges(0).unwrap(), 0);
    let normal = graph.normalized("x").unwrap().node_tensor(0, "x").unwrap();
    let rows: ArrayView2<f32> = normal.view().unwrap();
    assert_eq!(rows, array![[0.25f32, 0.75], [0.0, 0.0], [0.5, 0.5], [1.0, 0.0]]);
    expect(graph.normalized("z"), ErrorKind::NotFound, "z");
    let unknown = graph.transformed(Transform::Other(99), 0);
    expect(unknown, ErrorKind::InvalidArgument, "99");
    expect(graph.set_coo(0, &[0i64], &[1]), ErrorKind::InvalidArgument, "");
}

#[test]
fn generators_make_what_is_asked_for() {
    let context = Context::new().unwrap();
    let rmat = Graph::rmat(&context, &RmatConfig::new().scale(6).num_edges(100)).unwrap();
    assert_eq!((rmat.num_nodes(0).unwrap(), rmat.num_edges(0).unwrap()), (64, 100));
    let config = ErdosRenyiConfig::new().num_nodes(10).num_edges(20).seed(3);
    assert_eq!(Graph::erdos_renyi(&context, &config).unwrap().num_edges(0).unwrap(), 20);
    let config = LogNormalConfig::new().num_nodes(500).mean_degree(5.0).num_features(3);
    let shape = Graph::log_normal(&context, &config).unwrap().node_tensor(0, "x").unwrap();
    assert_eq!(shape.shape(), [500, 3]);
    let planted = PlantedConfig::new().num_nodes(100).seed(3);
    let graph = Graph::planted(&context, &planted).unwrap();
    let data =
        Dataset::planted(&context, &planted, &SplitConfig::new().train_fraction(0.5)).unwrap();
    let (one, other) = (graph.node_tensor(0, "x"), data.graph().unwrap().node_tensor(0, "x"));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.as_slice::<f32>().unwrap(), other.as_slice::<f32>().unwrap());
    assert_eq!(data.split(Part::Train).unwrap().len(), 50);
    let twice = Dataset::planted(&context, &planted, &SplitConfig::new().seed(4));
    expect(twice, ErrorKind::InvalidArgument, "seed");
    let data = Dataset::log_normal(&context, &config, &SplitConfig::new()).unwrap();
    assert_eq!(data.info().unwrap().num_nodes, 500);
    let negative = PlantedConfig::new().mean_degree(-1.0);
    expect(Graph::planted(&context, &negative), ErrorKind::InvalidArgument, "degree");
}

#[test]
fn objects_of_two_contexts_do_not_mix() {
    let (context, _, data) = planted(50);
    let other = Context::new().unwrap();
    let config = ModelConfig::new();
    expect(Model::new(&other, &data, &config), ErrorKind::InvalidArgument, "context");
    drop(context);
}

#[test]
fn readers_on_many_threads_at_once() {
    let (_context, graph, _data) = planted(200);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for node in 0..200 {
                    let edges = graph.in_edges(0, node).unwrap();
                    assert_eq!(edges.sources.len(), edges.edge_ids.len());
                    graph.node_tensor(0, "x").unwrap();
                }
            });
        }
    });
}
