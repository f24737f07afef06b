//! The command line of `train`: options of the program itself as plain values, and the library's
//! settings, which train_settings.rs keeps.

use crate::train_settings::Settings;
use crate::{train_help, train_plan};
use gnnmg::*;
use std::fmt::Display;
use std::process::exit;
use std::str::FromStr;
use std::time::Duration;

/// Options of the program, and whether each has a value.
const OWN: &[(&str, bool)] = &[
    ("split", true),
    ("random-split", true),
    ("normalize-rows", false),
    ("no-edges", false),
    ("balance-classes", false),
    ("device", true),
    ("cache-mib", true),
    ("seed", true),
    ("runs", true),
    ("vary-split", false),
    ("processes", true),
    ("process", true),
    ("host", true),
    ("port", true),
    ("token-file", true),
    ("interface", true),
    ("deadline", true),
    ("reading", true),
    ("server-patience", true),
    ("insecure", false),
    ("tls-cert", true),
    ("tls-key", true),
    ("tls-ca", true),
    ("save", true),
    ("load", true),
    ("checkpoints", true),
    ("checkpoint-steps", true),
    ("checkpoint-keep", true),
    ("resume", false),
    ("log", true),
    ("tensorboard", true),
    ("confusion", false),
    ("times", false),
    ("plan", false),
    ("gpu-memory", true),
    ("quiet", false),
    ("version", false),
];

/// Further names of settings: name, subject, setting, and the value that a flag sets.
const ALIASES: &[(&str, &str, &str, Option<&str>)] = &[
    ("model", "model", "architecture", None),
    ("layers", "model", "num_layers", None),
    ("hidden", "model", "hidden_dim", None),
    ("relations", "model", "num_relations", None),
    ("bases", "model", "num_bases", None),
    ("blocks", "model", "num_blocks", None),
    ("init", "model", "weight_init", None),
    ("node-categories", "model", "node_vocabulary", None),
    ("edge-categories", "model", "edge_vocabulary", None),
    ("edge-features", "model", "edge_dim", Some("-1")),
    ("no-root", "model", "root_weight", Some("0")),
    ("double", "model", "dtype", Some("f64")),
    ("epochs", "trainer", "num_epochs", None),
    ("lr", "trainer", "learning_rate", None),
    ("clip", "trainer", "clip_norm", None),
    ("schedule-epochs", "trainer", "schedule_step_epochs", None),
    ("patience", "trainer", "early_stop_patience", None),
    ("metric", "trainer", "best_by", None),
    ("ranks", "trainer", "num_ranks", None),
    ("partition", "trainer", "plan", None),
];

/// True if an option of the program has this name, and another meaning than the setting.
pub fn is_own(option: &str) -> bool {
    OWN.iter().any(|(name, _)| *name == option)
}

/// The shorter name of a setting's option.
pub fn short_name(subject: &str, setting: &str) -> Option<&'static str> {
    let mut known = ALIASES.iter();
    let found = known.find(|(_, of, name, _)| (*of, *name) == (subject, setting));
    found.map(|(short, ..)| *short)
}

/// The command line.
pub struct Options {
    pub settings: Settings,
    pub dataset: String,
    pub split: Option<(String, usize)>,
    pub random_split: Option<(f64, f64)>,
    pub normalize_rows: bool,
    pub no_edges: bool,
    pub balance_classes: bool,
    pub seed: u64,
    pub runs: u64,
    pub vary_split: bool,
    pub comm: CommConfig,
    pub by_hand: bool,
    pub host: String,
    pub token_file: Option<String>,
    pub interface: Option<String>,
    /// For data in parts.
    pub reading: PartsReading,
    pub insecure: bool,
    pub server_patience: Duration,
    pub tls: [Option<String>; 3],
    pub save: Option<String>,
    pub load: Option<String>,
    pub checkpoints: Option<String>,
    pub checkpoint: CheckpointConfig,
    pub resume: bool,
    pub log: Option<String>,
    pub tensorboard: Option<String>,
    pub confusion: bool,
    pub times: bool,
    pub plan: bool,
    /// Bytes; `None`: that of the first GPU, as far as it is free.
    pub gpu_memory: Option<usize>,
    pub quiet: bool,
}

pub fn fail(text: &str) -> ! {
    eprintln!("train: {text} (try --help)");
    exit(2);
}

fn complain(name: &str, text: &str, expected: &str) -> ! {
    fail(&format!("--{name} {text}: expected {expected}"))
}

fn number<T: FromStr + PartialOrd + Display>(name: &str, text: &str, least: T) -> T {
    match text.parse() {
        Ok(value) if value >= least => value,
        _ => complain(name, text, &format!("a number of at least {least}")),
    }
}

fn seconds(name: &str, text: &str) -> Duration {
    Duration::try_from_secs_f64(number(name, text, 0.0)).unwrap_or(Duration::MAX)
}

impl Options {
    fn defaults() -> Result<Self> {
        let mut settings = Settings::load()?;
        settings.set("model", "hidden_dim", "64");
        settings.set("model", "dropout", "0.5");
        settings.set("trainer", "num_epochs", "20");
        settings.set("trainer", "learning_rate", "0.003");
        Ok(Options {
            settings,
            dataset: String::new(),
            split: None,
            random_split: None,
            normalize_rows: false,
            no_edges: false,
            balance_classes: false,
            seed: 1,
            runs: 1,
            vary_split: false,
            comm: CommConfig::new(),
            by_hand: false,
            host: "127.0.0.1".to_string(),
            token_file: std::env::var("GNNMG_TOKEN_FILE").ok(),
            interface: None,
            reading: PartsReading::Auto,
            insecure: false,
            server_patience: Duration::ZERO,
            tls: [None, None, None],
            save: None,
            load: None,
            checkpoints: None,
            checkpoint: CheckpointConfig::new(),
            resume: false,
            log: None,
            tensorboard: None,
            confusion: false,
            times: false,
            plan: false,
            gpu_memory: None,
            quiet: false,
        })
    }

    /// Reads the command line. Prints help or an error and ends the program if the command line
    /// requires it.
    pub fn parse() -> Result<Self> {
        let mut options = Self::defaults()?;
        let mut arguments = std::env::args().skip(1);
        let mut given = Vec::new();
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                None if argument == "-h" => options.help(None, arguments.next()),
                None if options.dataset.is_empty() => options.dataset = argument,
                None => fail("one data set, please"),
                Some(option) => {
                    let (name, value) = match option.split_once('=') {
                        Some((name, value)) => (name, Some(value.to_string())),
                        None => (option, None),
                    };
                    if name == "help" {
                        options.help(value, arguments.next());
                    }
                    options.take(name, value, &mut arguments);
                    given.push(name.to_string());
                }
            }
        }
        if options.dataset.is_empty() {
            fail("which data set?");
        }
        let gave = |name: &str| given.iter().any(|given| given == name);
        options.check_together(gave);
        options.set_dependent();
        Ok(options)
    }

    /// Prints the help and ends the program. A data set may follow the option instead of a topic.
    fn help(&self, given: Option<String>, operand: Option<String>) -> ! {
        if let Some(topic) = given.as_deref().filter(|topic| !train_help::knows(topic)) {
            complain("help", topic, "a topic of train --help");
        }
        let topic = given.or(operand.filter(|topic| train_help::knows(topic)));
        train_help::print(topic.as_deref(), &self.settings);
        exit(0)
    }

    fn take(&mut self, name: &str, value: Option<String>, rest: &mut dyn Iterator<Item = String>) {
        let mut value_of = |value: Option<String>| {
            let value = value.or_else(|| rest.next());
            value.unwrap_or_else(|| fail(&format!("--{name} needs a value")))
        };
        let alias = ALIASES.iter().find(|(known, ..)| *known == name);
        if let Some((_, has_value)) = OWN.iter().find(|(known, _)| *known == name) {
            match (has_value, value) {
                (true, value) => self.take_own(name, value_of(value)),
                (false, None) => self.take_own(name, String::new()),
                (false, Some(_)) => fail(&format!("--{name} takes no value")),
            }
        } else if let Some((_, subject, setting, fixed)) = alias {
            match (fixed, value) {
                (None, value) => self.settings.set(subject, setting, &value_of(value)),
                (Some(fixed), None) => self.settings.set(subject, setting, fixed),
                (Some(_), Some(_)) => fail(&format!("--{name} takes no value")),
            }
        } else {
            let known = self
                .settings
                .0
                .iter_mut()
                .find(|known| known.option == name);
            match known {
                Some(flag) if flag.info.kind == "flag" => {
                    flag.take(value.as_deref().unwrap_or("1"))
                }
                Some(setting) => setting.take(&value_of(value)),
                None => fail(&format!("there is no option --{name}")),
            }
        }
    }

    fn take_own(&mut self, name: &str, text: String) {
        let (comm, checkpoint) = (self.comm.clone(), self.checkpoint.clone());
        match name {
            "split" => self.split = Some(split(&text)),
            "random-split" => self.random_split = Some(fractions(&text)),
            "normalize-rows" => self.normalize_rows = true,
            "no-edges" => self.no_edges = true,
            "balance-classes" => self.balance_classes = true,
            "device" => self.take_device(&text),
            "cache-mib" => {
                let bytes = number::<u64>(name, &text, 0) << 20;
                self.settings
                    .set("trainer", "cache_bytes", &bytes.to_string());
            }
            "seed" => self.seed = number(name, &text, 0),
            "runs" => self.runs = number(name, &text, 1),
            "vary-split" => self.vary_split = true,
            "processes" => {
                self.by_hand = true;
                self.comm = comm.num_processes(number(name, &text, 1));
            }
            "process" => self.comm = comm.process_rank(number(name, &text, 0)),
            "host" => self.host = text,
            "port" => self.comm = comm.port(number(name, &text, 1)),
            "token-file" => self.token_file = Some(text),
            "interface" => self.interface = Some(text),
            "deadline" => {
                let time = seconds(name, &text).max(Duration::from_millis(1));
                self.comm = comm.deadline(time);
                let time = time.as_millis().to_string();
                self.settings.set("trainer", "deadline_ms", &time);
            }
            "reading" => {
                self.reading = match text.as_str() {
                    "auto" => PartsReading::Auto,
                    "shared" => PartsReading::Shared,
                    "asked" => PartsReading::Asked,
                    _ => complain(name, &text, "one of auto, shared, asked"),
                }
            }
            "server-patience" => self.server_patience = seconds(name, &text),
            "insecure" => self.insecure = true,
            "tls-cert" => self.tls[0] = Some(text),
            "tls-key" => self.tls[1] = Some(text),
            "tls-ca" => self.tls[2] = Some(text),
            "save" => self.save = Some(text),
            "load" => self.load = Some(text),
            "checkpoints" => self.checkpoints = Some(text),
            "checkpoint-steps" => self.checkpoint = checkpoint.every_steps(number(name, &text, 1)),
            "checkpoint-keep" => self.checkpoint = checkpoint.keep(number(name, &text, 1)),
            "resume" => self.resume = true,
            "log" => self.log = Some(text),
            "tensorboard" => self.tensorboard = Some(text),
            "confusion" => self.confusion = true,
            "times" => self.times = true,
            "plan" => self.plan = true,
            "gpu-memory" => self.gpu_memory = Some(gpu_memory(&text)),
            "quiet" => self.quiet = true,
            _ => {
                let (major, minor, patch) = version();
                println!("train, libgnnmg {major}.{minor}.{patch}");
                exit(0);
            }
        }
    }

    /// A kind of device, or `cuda:` and the GPUs of the ranks.
    fn take_device(&mut self, text: &str) {
        let (kind, numbers) = match text.split_once(':') {
            Some((kind, numbers)) => (kind, numbers),
            None => (text, ""),
        };
        if !["auto", "cpu", "cuda"].contains(&kind) || (text.contains(':') && kind != "cuda") {
            complain("device", text, "auto, cpu, cuda, or GPUs like cuda:0,1");
        }
        self.settings.set("trainer", "device", kind);
        self.settings.set("trainer", "devices", numbers);
    }

    /// Options that need others.
    fn check_together(&self, gave: impl Fn(&str) -> bool) {
        let settings = &self.settings;
        if settings.given("model", "sort_rows") && settings.get("model", "readout") != "sort" {
            fail("--sort-rows needs --readout sort");
        }
        let steps = settings.given("trainer", "schedule_step_epochs");
        if steps && settings.get("trainer", "schedule") != "step" {
            fail("--schedule-epochs needs --schedule step");
        }
        for name in ["resume", "checkpoint-steps"] {
            if gave(name) && self.checkpoints.is_none() {
                fail(&format!("--{name} needs --checkpoints"));
            }
        }
        if self.checkpoints.is_some() && self.runs > 1 {
            fail("--checkpoints are of one run");
        }
        if ![0, 3].contains(&self.tls.iter().flatten().count()) {
            fail("--tls-cert, --tls-key and --tls-ca belong together");
        }
        if self.by_hand && !gave("port") {
            fail("--processes needs --port");
        }
    }

    /// Values that follow from others.
    fn set_dependent(&mut self) {
        let settings = &mut self.settings;
        let full = settings.get("sampler", "fanouts") == "full";
        if full || !settings.given("sampler", "fanouts") {
            let layers: usize = settings.get("model", "num_layers").parse().unwrap_or(0);
            let one = if full { "-1" } else { "10" };
            settings.set("sampler", "fanouts", &vec![one; layers.min(16)].join(","));
        }
        if settings.given("model", "edge_vocabulary") && !settings.given("model", "edge_dim") {
            let width = settings.get("model", "hidden_dim").to_string();
            settings.set("model", "edge_dim", &width);
        }
        if settings.get("model", "readout") != "none" && !settings.given("model", "jumping") {
            settings.set("model", "jumping", "last");
        }
    }
}

fn gpu_memory(text: &str) -> usize {
    let size = train_plan::size(text);
    size.unwrap_or_else(|| complain("gpu-memory", text, "a size such as 80G, 40GiB or 512MB"))
}

/// `NAME` or `NAME:INDEX`.
fn split(text: &str) -> (String, usize) {
    match text.rsplit_once(':') {
        Some((name, index)) => (
            name.to_string(),
            number("split NAME:INDEX with the index", index, 0),
        ),
        None => (text.to_string(), 0),
    }
}

fn fractions(text: &str) -> (f64, f64) {
    let parts: Vec<f64> = text
        .split(',')
        .map_while(|part| part.parse().ok())
        .collect();
    match parts.as_slice() {
        [train, validation] if *train > 0.0 && *validation >= 0.0 && train + validation <= 1.0 => {
            (*train, *validation)
        }
        _ => complain("random-split", text, "two fractions like 0.6,0.2"),
    }
}
