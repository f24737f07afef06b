//! Data sets of which a process has some parts, or asks servers for all of them.

use crate::processes::free_port;
use crate::support::*;
use gnnmg::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PARTS: usize = 3;

/// A data set of 300 nodes, and a folder with it in parts.
fn divided() -> (Context, Dataset, Folder, PathBuf) {
    let (context, _graph, data) = planted(300);
    let folder = Folder::new();
    let path = folder.join("parts");
    let config = PartsConfig::new().num_parts(PARTS).fanouts(&[5, 3]).batch_size(32);
    data.save_parts(&path, None, &config).unwrap();
    (context, data, folder, path)
}

fn sampler(data: &Dataset) -> Sampler {
    Sampler::new(&data.graph().unwrap(), &SamplerConfig::new().fanouts(&[5, 3])).unwrap()
}

/// Nodes and features of a mini-batch.
fn mini_batch(data: &Dataset) -> (Vec<i64>, Vec<f32>) {
    let batch = sampler(data).sample(Some(data), &[3, 17, 299], 1, 0, 0).unwrap();
    let (nodes, features) = (batch.node_ids().unwrap(), batch.features().unwrap());
    (nodes.as_slice().unwrap().to_vec(), features.as_slice().unwrap().to_vec())
}

/// Loss and accuracy on the test part after a training, by exact evaluation.
fn trained(context: &Context, data: &Dataset) -> (f64, f64) {
    let config = training().num_ranks(1).deterministic(true);
    let model = small_model(context, data);
    let mut trainer = Trainer::new(model, data, &sampler(data), &config).unwrap();
    trainer.run(|_| {}).unwrap();
    let metrics = trainer.evaluate(Part::Test).unwrap();
    (metrics.loss, metrics.accuracy)
}

#[test]
fn a_share_of_parts_is_the_whole() {
    let (context, data, folder, path) = divided();
    let config = OpenPartsConfig::new().cache_bytes(1 << 20);
    let share = Dataset::open_parts(&context, None, &path, &config).unwrap();
    assert_eq!(share.parts_info().unwrap().own_parts, PARTS);
    assert_eq!(mini_batch(&share), mini_batch(&data));
    let whole = Dataset::open(&context, &path).unwrap();
    assert_eq!(trained(&context, &share), trained(&context, &whole));

    let open = || Dataset::open_parts_timeout(&context, None, &path, &config, SOON);
    assert_eq!(finish(open).unwrap().info().unwrap(), share.info().unwrap());

    // Calls that need the whole graph in one process.
    let graph = share.graph().unwrap();
    expect(graph.node_tensor(0, "x"), ErrorKind::Unsupported, "a tensor of all nodes");
    expect(share.save(folder.join("again")), ErrorKind::Unsupported, "needs all of it");
}

#[test]
fn processes_share_parts() {
    let (_context, _data, _folder, path) = divided();
    let port = free_port().into();
    let own_parts = |process| {
        let context = Context::new().unwrap();
        let config = CommConfig::new().port(port).num_processes(2).process_rank(process);
        let comm = Comm::join(&context, &Meeting::new(), &config).unwrap();
        let share = Dataset::open_parts(&context, &comm, &path, &OpenPartsConfig::new()).unwrap();
        let own = share.parts_info().unwrap().own_parts;
        comm.shutdown().unwrap();
        own
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| own_parts(1));
        assert_eq!(own_parts(0), 2);
        assert_eq!(other.join().unwrap(), 1);
    });
}

#[test]
fn parts_that_cannot_be_opened() {
    let (context, _data, folder, path) = divided();
    let open = |path: &Path, config| Dataset::open_parts(&context, None, path, &config);
    let none = folder.join("none");
    expect(open(&none, OpenPartsConfig::new()), ErrorKind::NotFound, "no such folder");
    let many = OpenPartsConfig::new().max_in_flight(1025);
    expect(open(&path, many), ErrorKind::InvalidArgument, "config.max_in_flight");
    expect(open(Path::new("a\0"), OpenPartsConfig::new()), ErrorKind::InvalidArgument, "NUL");
}

/// Starts a server and tells its address; `None` where the library was built without gRPC, which
/// under continuous integration is an error.
fn start(server: &Server) -> Option<String> {
    match server.start() {
        Err(error) if error.kind() == ErrorKind::Dependency => {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{error}");
            None
        }
        result => {
            result.unwrap();
            Some(format!("127.0.0.1:{}", server.info().unwrap().port))
        }
    }
}

#[test]
fn servers_of_parts() {
    let (context, data, folder, path) = divided();
    let (here, config) = ("127.0.0.1:0", ServerConfig::new());
    let some = Server::open(&context, &path, &[2, 0][..], here, None, &config).unwrap();
    let open = || Server::open_timeout(&context, &path, None, here, None, &config, SOON);
    let all = finish(open).unwrap();
    let facts = some.info().unwrap();
    assert_eq!((facts.port, facts.num_parts, facts.num_served), (0, PARTS, 2));
    assert_eq!(all.info().unwrap().num_served, PARTS);
    let (Some(first), Some(second)) = (start(&some), start(&all)) else { return };

    let both = format!("{first},{second}");
    let asking = ServedConfig::new().max_in_flight(4).patience(Duration::from_secs(10));
    let served = Dataset::open_served(&context, &both, None, &asking).unwrap();
    assert_eq!(served.parts_info().unwrap().own_parts, 0);
    assert_eq!(mini_batch(&served), mini_batch(&data));
    let open = || Dataset::open_served_timeout(&context, &both, None, &asking, SOON);
    assert_eq!(finish(open).unwrap().info().unwrap(), served.info().unwrap());
    expect(served.save(folder.join("again")), ErrorKind::Unsupported, "needs all of it");

    expect(all.start(), ErrorKind::Busy, "started already");
    expect(all.set_tls("a", "b", "c"), ErrorKind::Busy, "set TLS before");
    finish(|| some.shutdown_timeout(SOON)).unwrap(); // the other one stands in
    assert_eq!(mini_batch(&served), mini_batch(&data));
    let whole = Dataset::open(&context, &path).unwrap();
    assert_eq!(trained(&context, &served), trained(&context, &whole));
    let facts = all.info().unwrap();
    assert!(facts.num_reads > 0 && facts.sent_bytes > 0, "{facts:?}");
    all.shutdown().unwrap();
}

#[test]
fn servers_that_cannot_be() {
    let (context, _data, folder, path) = divided();
    let here = "127.0.0.1:0";
    let open = |path: &Path, parts: Option<&[i32]>, address: &str, token: Option<&Path>| {
        Server::open(&context, path, parts, address, token, &ServerConfig::new())
    };
    expect(open(&path, Some(&[3]), here, None), ErrorKind::NotFound, "expected 0 to 2");
    expect(open(&path, Some(&[1, 1]), here, None), ErrorKind::InvalidArgument, "twice");
    expect(open(&path, None, "graph-1", None), ErrorKind::InvalidArgument, "a host and a port");
    expect(open(&path, None, "a\0", None), ErrorKind::InvalidArgument, "NUL");
    expect(open(&folder.join("none"), None, here, None), ErrorKind::NotFound, "no such folder");

    // An address that other machines reach needs a token and TLS.
    let server = open(&path, None, "0.0.0.0:0", None).unwrap();
    expect(server.start(), ErrorKind::InvalidArgument, "a token file is needed");
    let token = folder.join("token");
    std::fs::write(&token, [b't'; 40]).unwrap();
    let server = open(&path, None, "0.0.0.0:0", Some(&token)).unwrap();
    expect(server.start(), ErrorKind::InvalidArgument, "certificates for TLS");
    server.set_tls(&token, &token, &path).unwrap();
    server.shutdown().unwrap();

    let served = |addresses, asking| {
        Dataset::open_served(&context, addresses, None, &asking).unwrap_err().kind()
    };
    assert_eq!(served("a\0", ServedConfig::new()), ErrorKind::InvalidArgument);
    let kind = served("192.0.2.1:7300", ServedConfig::new().set("patience", "3"));
    assert!(matches!(kind, ErrorKind::InvalidArgument | ErrorKind::Dependency), "{kind:?}");
}
