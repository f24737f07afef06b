use crate::support::*;
use gnnmg::*;
use std::time::Duration;

fn everywhere<T: Send + Sync + 'static>() {}

#[test]
fn objects_may_go_to_other_threads() {
    everywhere::<Context>();
    everywhere::<Graph>();
    everywhere::<Dataset>();
    everywhere::<Sampler>();
    everywhere::<Loader>();
    everywhere::<Batch>();
    everywhere::<Tensor>();
    everywhere::<Model>();
    everywhere::<Optimizer>();
    everywhere::<Comm>();
    everywhere::<Trainer>();
    everywhere::<TrainerHandle>();
    everywhere::<LoaderHandle>();
    everywhere::<CommHandle>();
    everywhere::<ContextHandle>();
    everywhere::<Error>();
}

#[test]
fn settings_reach_the_library() {
    let config = ContextConfig::new().num_threads(1).memory_limit(1 << 30);
    let info = Context::with_config(&config).unwrap().info().unwrap();
    assert_eq!((info.num_threads, info.memory_limit, info.memory_used), (1, 1 << 30, 0));
    assert!(info.num_cores >= 1);
}

#[test]
fn devices_are_listed_or_it_is_said_why_there_are_none() {
    let context = Context::new().unwrap();
    let devices = context.devices().unwrap();
    assert_eq!(devices.is_empty(), context.why_no_device().unwrap().is_some());
    for device in &devices {
        assert_eq!(device.device_type, DeviceType::Cuda);
        assert!(device.total_memory >= device.free_memory && !device.name.is_empty());
        assert!(device.bus_id.ends_with(".0"), "{device:?}");
    }
    expect(context.device(devices.len()), ErrorKind::NotFound, "argument 'index'");
}

#[test]
fn settings_show_their_values() {
    let text = format!("{:?}", TrainerConfig::new().num_epochs(7).deadline(Duration::from_secs(2)));
    assert!(text.contains("num_epochs=7 deadline_ms=2000"), "{text}");
    let text = format!("{:?}", CommConfig::new().port(7).deadline(Duration::from_secs(2)));
    assert!(text.contains("port: 7") && text.contains("deadline: 2000"), "{text}");
}

#[test]
fn memory_limit_is_an_error_behind_which_all_goes_on() {
    let context = Context::with_config(&ContextConfig::new().memory_limit(1 << 20)).unwrap();
    let large = ErdosRenyiConfig::new().num_edges(10_000_000);
    expect(Graph::erdos_renyi(&context, &large), ErrorKind::NoMemory, "limit");
    ring(&context, 10);
    assert!(context.info().unwrap().memory_used < 1 << 20);
}

#[test]
fn errors_have_kind_text_and_nothing_else() {
    let context = Context::new().unwrap();
    let error = Graph::from_coo(&context, 2, &[0i64, 5], &[1, 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Range);
    assert!(error.message().contains('5'), "{error}");
    assert_eq!((error.rank(), error.raw_os_error()), (None, None));
    assert_eq!(error.to_string(), error.message());
    assert!(format!("{error:?}").contains("Range"));
    assert_eq!(ErrorKind::Range.to_string(), "ERR_RANGE");
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn errors_of_the_system_have_its_number() {
    let folder = Folder::new();
    std::fs::write(folder.join("file"), "").unwrap();
    let (_context, _graph, data) = planted(50);
    let error = data.save(folder.join("file/below")).unwrap_err();
    assert_eq!((error.kind(), error.raw_os_error()), (ErrorKind::Io, Some(20)), "{error:?}");
    let error = Dataset::open(&Context::new().unwrap(), folder.join("none")).unwrap_err();
    assert_eq!((error.kind(), error.raw_os_error()), (ErrorKind::NotFound, Some(2)), "{error:?}");
}

#[test]
fn errors_fit_into_boxes() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Context::new()?;
    assert_eq!(std::mem::size_of::<Result<()>>(), std::mem::size_of::<usize>());
    Ok(())
}

#[test]
fn options_can_be_listed_read_and_set() {
    let context = Context::new().unwrap();
    let list = settings("context").unwrap();
    assert!(!list.is_empty());
    for option in &list {
        assert!(!option.help.is_empty(), "{}", option.name);
        let value = context.option(option.name).unwrap();
        context.set_option(option.name, &value).unwrap();
        assert_eq!(context.option(option.name).unwrap(), value);
    }
    expect(context.option("no such"), ErrorKind::NotFound, "no such");
    expect(context.set_option("no such", "1"), ErrorKind::NotFound, "no such");
    expect(context.set_option("a\0b", "1"), ErrorKind::InvalidArgument, "NUL");
}

#[test]
fn messages_are_taken_out_one_by_one() {
    let context = Context::new().unwrap();
    context.set_option("log_level", "debug").unwrap();
    let folder = Folder::new();
    let (_other, _graph, data) = planted(50);
    data.save(folder.join("data")).unwrap();
    Dataset::open(&context, folder.join("data")).unwrap();
    let messages: Vec<Message> = context.messages().collect();
    for message in &messages {
        assert!(!message.text.is_empty());
        assert!(message.time > std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 30));
    }
    assert_eq!(context.messages().count(), 0);
}

#[test]
fn a_lent_thread_comes_back() {
    let context = Context::new().unwrap();
    context.lend_for(SOON).unwrap();
    let remote = context.remote();
    let lend = || std::thread::spawn(move || remote.lend());
    let lent = lend();
    while !lent.is_finished() {
        std::thread::sleep(SOON);
        remote.cancel();
    }
    expect(lent.join().unwrap(), ErrorKind::Cancelled, "");
    let lent = lend();
    std::thread::sleep(SOON * 5);
    drop(context);
    if let Err(error) = lent.join().unwrap() {
        assert_eq!(error.kind(), ErrorKind::Handle, "{error}"); // a busy machine may be late
    }
    remote.cancel(); // stale: of no effect
    expect(remote.lend_for(SOON), ErrorKind::Handle, "context");
}
