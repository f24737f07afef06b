//! The library's settings as options of `train`: `gnnmg::settings` lists them, so that each is an
//! option under its own name, with hyphens: hidden_dim is --hidden-dim.

use gnnmg::*;

pub struct Setting {
    pub subject: &'static str,
    pub info: SettingInfo,
    pub option: String,
    value: Option<String>,
}

impl Setting {
    /// The value that was given, or the library's default.
    pub fn value(&self) -> &str {
        self.value.as_deref().unwrap_or(self.info.default)
    }

    /// Takes the value of an option. The shorter words of the program count too: `labor-once`,
    /// `leaky`, `auc`. The library checks it.
    pub fn take(&mut self, value: &str) {
        let text = match self.info.kind {
            "choice" | "choices" => value.replace('-', "_"),
            _ => value.to_string(),
        };
        self.value = Some(match (self.info.name, text.as_str()) {
            ("activation", "leaky") => "leaky_relu".to_string(),
            ("best_by", "auc") => "roc_auc".to_string(),
            ("batch_size", "all") => i64::MAX.to_string(),
            _ => text,
        });
    }
}

pub struct Settings(pub Vec<Setting>);

impl Settings {
    /// Reads the lists of all subjects.
    pub fn load() -> Result<Self> {
        let mut list = Vec::new();
        for subject in ["dataset", "model", "sampler", "trainer"] {
            for info in settings(subject)? {
                let option = info.name.replace('_', "-");
                list.push(Setting {
                    subject,
                    info,
                    option,
                    value: None,
                });
            }
        }
        Ok(Settings(list))
    }

    fn find(&self, subject: &str, name: &str) -> &Setting {
        let mut all = self.0.iter();
        all.find(|known| known.subject == subject && known.info.name == name)
            .unwrap_or_else(|| panic!("libgnnmg has no setting {name} of the subject {subject}"))
    }

    pub fn get(&self, subject: &str, name: &str) -> &str {
        self.find(subject, name).value()
    }

    pub fn given(&self, subject: &str, name: &str) -> bool {
        self.find(subject, name).value.is_some()
    }

    pub fn set(&mut self, subject: &str, name: &str, value: &str) {
        let mut all = self.0.iter_mut();
        let known = all.find(|known| known.subject == subject && known.info.name == name);
        known.expect("the setting is known").take(value);
    }

    /// Names and values that were given.
    pub fn of<'a>(&'a self, subject: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let of_subject = self.0.iter().filter(move |known| known.subject == subject);
        of_subject.filter_map(|known| Some((known.info.name, known.value.as_deref()?)))
    }
}
