//! Jobs of several processes: this program starts itself again.

use crate::support::*;
use gnnmg::*;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

const NUMBER: &str = "GNNMG_TEST_NUMBER";

fn members(test: &str, port: u16) -> Vec<Child> {
    let start = |number: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env(NUMBER, number.to_string())
            .env("RANK", number.to_string())
            .env("WORLD_SIZE", "2")
            .env("MASTER_ADDR", "127.0.0.1")
            .env("MASTER_PORT", port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    (0..2).map(start).collect()
}

/// An unused port below the range that the system assigns itself.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = std::process::id() as u16;
    loop {
        let port = 20_000 + first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn expect_success(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("running 1 test"), "{text}{said}");
    }
}

#[test]
fn a_launcher_starts_a_job() {
    expect_success(members("processes::member_by_environment", free_port()));
}

#[test]
fn processes_name_each_other_and_train_one_model() {
    expect_success(members("processes::member_by_address", free_port()));
}

#[test]
#[ignore = "one process of a job that another test starts"]
fn member_by_environment() {
    let context = Context::new().unwrap();
    let config = CommConfig::new();
    let mut comm = finish(|| Comm::from_env_timeout(&context, &config, SOON)).unwrap();
    let mut sum = comm.rank().unwrap() as f32 + 1.0;
    comm.all_reduce(&mut sum, Reduce::Sum).unwrap();
    assert_eq!(sum, 3.0);
    comm.shutdown().unwrap();
}

#[test]
#[ignore = "one process of a job that another test starts"]
fn member_by_address() {
    let number: i32 = std::env::var(NUMBER).unwrap().parse().unwrap();
    let port: i32 = std::env::var("MASTER_PORT").unwrap().parse().unwrap();
    let folder = Folder::new();
    let secret = folder.join("secret");
    std::fs::write(&secret, "0123456789abcdef0123456789abcdef").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();

    let (context, graph, data) = planted(300);
    let config = CommConfig::new().port(port).process_rank(number).num_processes(2);
    let meeting = Meeting::new().host("127.0.0.1").token_file(&secret);
    let comm = finish(|| Comm::join_timeout(&context, &meeting, &config, SOON)).unwrap();
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[4, 4])).unwrap();
    let model = small_model(&context, &data);
    let mut trainer = Trainer::with_comm(model, &data, &sampler, &comm, &training()).unwrap();
    trainer.run(|_| ()).unwrap();
    assert_eq!(trainer.evaluate(Part::Test).unwrap().count, 60);
    drop(trainer);
    comm.shutdown().unwrap();
}

#[test]
fn without_a_launcher_there_is_no_job() {
    let context = Context::new().unwrap();
    expect(Comm::from_env(&context, &CommConfig::new()), ErrorKind::NotFound, "RANK");
}

#[test]
fn a_job_of_one_process_and_wrong_addresses() {
    let context = Context::new().unwrap();
    let mut comm = Comm::join(&context, &Meeting::new(), &CommConfig::new()).unwrap();
    assert_eq!((comm.rank().unwrap(), comm.world_size().unwrap()), (0, 1));
    comm.barrier().unwrap();
    comm.shutdown().unwrap();
    let config = CommConfig::new().num_processes(2).port(free_port().into());
    let nowhere = Meeting::new().interface("no such interface");
    let error = Comm::join(&context, &nowhere, &config).unwrap_err();
    assert!(error.message().contains("no such interface"), "{error:?}");
}

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

#[test]
fn a_fork_gets_errors_and_no_crash() {
    // In a process of its own, in which no other test holds a lock at the moment of the fork.
    expect_leaves("processes::forks");
}

#[test]
#[ignore = "a process that another test starts"]
fn forks() {
    let (context, graph, _data) = planted(50);
    // The child calls only the library, and leaves.
    let child = unsafe { fork() };
    if child == 0 {
        let forked = |error: Option<Error>| error.map(|e| e.kind()) == Some(ErrorKind::Forked);
        let all = forked(Context::new().err())
            && forked(graph.num_nodes(0).err())
            && forked(Graph::rmat(&context, &RmatConfig::new()).err())
            && context.messages().next().is_none();
        drop((context, graph));
        unsafe { _exit(if all { 0 } else { 1 }) };
    }
    let mut status = -1;
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(graph.num_nodes(0).unwrap(), 50);
}

/// Starts a test as a process that has to end with 0. Live objects at its end are no leak.
#[track_caller]
pub fn expect_leaves(test: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env("LSAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{test}: {text}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("running 1 test"), "{test}: {said}"); // a name of no test ends with 0 too
}

#[test]
fn what_is_forgotten_is_no_harm_to_what_is_left() {
    expect_leaves("processes::forgets");
}

#[test]
#[ignore = "a process that another test starts"]
fn forgets() {
    use std::mem::forget;
    let (_context, graph, data) = planted(200);
    let sampler = Sampler::new(&graph, &SamplerConfig::new().fanouts(&[3, 3])).unwrap();
    let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new().batch_size(16)).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    forget(batch.features().unwrap());
    forget(batch);
    assert_eq!(loader.epoch().count(), 7); // the rest of it
    let mut trainer = small_trainer(&training());
    forget(trainer.model_mut().parameters_mut().unwrap());
    forget(trainer.model().gradients());
    trainer.run(|_| ()).unwrap();
    let _ = trainer.evaluate_timeout(Part::Test, std::time::Duration::ZERO).unwrap();
    forget(trainer); // an evaluation is running
}

#[test]
fn a_process_may_end_in_the_middle_of_training() {
    expect_leaves("processes::leaves_by_exit");
    expect_leaves("processes::leaves_by_the_end_of_main");
    expect_leaves("processes::leaves_inside_the_closure_of_an_epoch");
    expect_leaves("processes::leaves_inside_a_sampler");
}

fn running_trainer() -> Trainer {
    let mut trainer = small_trainer(&training().num_ranks(2).num_epochs(1_000_000));
    trainer.start(|_| ()).unwrap();
    // Without a waiting thread, ranks would wait at the end of an epoch for the closure.
    while trainer.progress().unwrap().epoch == 0 {
        assert!(trainer.wait_timeout(SOON).unwrap().is_pending());
    }
    trainer
}

#[test]
#[ignore = "a process that another test starts"]
fn leaves_by_exit() {
    let _trainer = running_trainer();
    std::process::exit(0);
}

#[test]
#[ignore = "a process that another test starts"]
fn leaves_by_the_end_of_main() {
    std::mem::forget(running_trainer());
}

#[test]
#[ignore = "a process that another test starts"]
fn leaves_inside_the_closure_of_an_epoch() {
    let mut trainer = small_trainer(&training().num_ranks(2).num_epochs(1_000_000));
    let left = trainer.run(|epoch| {
        if epoch.epoch == 1 {
            std::process::exit(0);
        }
    });
    panic!("{left:?}");
}

#[test]
#[ignore = "a process that another test starts"]
fn leaves_inside_a_sampler() {
    let (context, graph, data) = planted(400);
    let config = SamplerConfig::new().num_layers(2);
    let leave = |layer: &Layer<'_>, _: &mut Sink<'_>| {
        if layer.batch == 2 {
            std::process::exit(0);
        }
    };
    let sampler = Sampler::custom(&graph, &config, leave).unwrap();
    let config = training().num_ranks(2).evaluate_every(0);
    let mut trainer = Trainer::new(small_model(&context, &data), &data, &sampler, &config).unwrap();
    panic!("{:?}", trainer.run(|_| ()));
}
