//! What a run is asked to do, by flags or by inputs of the action. Unset values are left to the
//! configuration, and then to the defaults.
//!
//! Settings that are used in several places have a field here. A setting that is used in one place
//! is read there, from [`ServerRequest::given`].

use std::path::PathBuf;

use crate::capture::Eras;
use crate::capture::http::HttpTransport;
use crate::config::foreign;
use crate::judgement::Exposure;
use crate::launch::sandbox::{Level, Sandbox};
use crate::policy::{Enforcement, FailOn, Policy, Preset, Unknown};
use crate::settings::{self, Given, Origin};
use crate::source::Surfaces;

/// The name of an unnamed server.
pub(super) const UNNAMED: &str = "default";

/// The default timings file.
pub(super) const TIMINGS: &str = "mcp-keel-timings.json";

/// Which servers, and how they are started or reached.
#[derive(Default)]
pub(crate) struct ServerRequest {
    /// All settings as given.
    pub(crate) given: Given,
    /// Names of servers, or with a command or an address the name to use for it.
    pub(crate) servers: Vec<String>,
    /// Names of servers to leave out.
    pub(crate) skip: Vec<String>,
    pub(crate) command: Vec<String>,
    /// Whether a typed server without a name is called as it calls itself.
    pub(crate) named_by_itself: bool,
    pub(crate) config: Option<PathBuf>,
    /// Client and registry files to take the servers from.
    pub(crate) from: Vec<PathBuf>,
    pub(crate) from_format: Option<foreign::Format>,
    /// What a client would ask its user for.
    pub(crate) inputs: Vec<(String, String)>,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) pass_env: Vec<String>,
    pub(crate) url: Option<String>,
    pub(crate) headers: Vec<String>,
    /// The command that starts the server at `url`, in shell syntax.
    pub(crate) start: Option<String>,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) proxy: Option<String>,
    pub(crate) transport: Option<HttpTransport>,
    /// In seconds.
    pub(crate) timeout: Option<u64>,
    pub(crate) era: Option<Eras>,
    pub(crate) repeat: Option<u64>,
    /// In seconds.
    pub(crate) settle: Option<u64>,
    pub(crate) read_resources: bool,
    pub(crate) client: Option<String>,
    pub(crate) capabilities: Option<Vec<String>>,
    pub(crate) sandbox: SandboxRequest,
    /// What `--capture` names, once it is read: no server is started.
    pub(crate) capture: Option<Surfaces>,
}

impl ServerRequest {
    pub(crate) fn new(given: &Given) -> Self {
        Self {
            servers: given.texts(settings::SERVERS),
            skip: given.texts(settings::SKIP),
            command: given.texts(settings::COMMAND),
            named_by_itself: false,
            config: given.path(settings::CONFIG),
            from: given.paths(settings::FROM),
            from_format: given.word(settings::FROM_FORMAT),
            inputs: given.pairs(settings::ANSWERS),
            baseline: given.path(settings::BASELINE),
            env: given.pairs(settings::ENV),
            pass_env: given.texts(settings::PASS_ENV),
            url: given.text(settings::URL),
            headers: given.texts(settings::HEADER),
            start: given.text(settings::START),
            ca: given.path(settings::CA),
            proxy: given.text(settings::PROXY),
            transport: given.word(settings::TRANSPORT),
            timeout: given.number(settings::TIMEOUT),
            era: given.word(settings::ERA),
            repeat: given.number(settings::REPEAT),
            settle: given.number(settings::SETTLE),
            read_resources: given.switch(settings::READ_RESOURCES),
            client: given.text(settings::CLIENT),
            capabilities: given.list(settings::CAPABILITIES),
            sandbox: SandboxRequest::new(given),
            capture: None,
            given: given.clone(),
        }
    }
}

#[derive(Default)]
pub(crate) struct SandboxRequest {
    pub(crate) level: Option<Level>,
    pub(crate) required: bool,
    /// The level that the workflow requires, which a configuration in a pull request can raise but
    /// not lower.
    pub(crate) at_least: Level,
}

impl SandboxRequest {
    pub(crate) fn new(given: &Given) -> Self {
        let level = given.word(settings::SANDBOX);
        let required = given.switch(settings::SANDBOX_REQUIRED);
        match given.origin() {
            Origin::Flag => Self {
                level,
                required,
                at_least: Level::default(),
            },
            // The workflow is reviewed; the configuration may be the pull request's own.
            Origin::Input => Self {
                level: None,
                required,
                at_least: level.unwrap_or_default(),
            },
        }
    }

    /// The sandbox of a server, with its configuration.
    pub(crate) fn with(&self, configured: Option<Level>, required: bool) -> Sandbox {
        Sandbox {
            level: self
                .level
                .or(configured)
                .unwrap_or_default()
                .max(self.at_least),
            required: self.required || required,
        }
    }
}

#[derive(Default)]
pub(crate) struct PolicyRequest {
    pub(crate) preset: Option<Preset>,
    pub(crate) fail_on: Option<FailOn>,
    pub(crate) fail_on_exposure: Option<Exposure>,
    pub(crate) enforcement: Option<Enforcement>,
    pub(crate) unknown: Option<Unknown>,
    pub(crate) context_limit: Option<usize>,
    pub(crate) context_growth: Option<usize>,
}

impl PolicyRequest {
    pub(crate) fn new(given: &Given) -> Self {
        Self {
            preset: given.word(settings::POLICY),
            fail_on: given.word(settings::FAIL_ON),
            fail_on_exposure: given.word(settings::FAIL_ON_EXPOSURE),
            enforcement: given.word(settings::ENFORCEMENT),
            unknown: given.word(settings::UNKNOWN),
            context_limit: given.word(settings::CONTEXT_LIMIT),
            context_growth: given.word(settings::CONTEXT_GROWTH),
        }
    }

    /// Applies the request to the policy of the configuration.
    pub(crate) fn apply(&self, policy: &mut Policy) {
        if let Some(enforcement) = self.enforcement {
            policy.enforcement = enforcement;
            // An audit requested by a flag covers everything.
            policy.unknown = None;
        }
        if self.unknown.is_some() {
            policy.unknown = self.unknown;
        }
        if let Some(preset) = self.preset {
            policy.preset = preset;
            // A preset requested by a flag sets the thresholds of the configuration aside.
            policy.fail_on = None;
            policy.fail_on_exposure = None;
        }
        if self.fail_on.is_some() {
            policy.fail_on = self.fail_on;
        }
        if self.fail_on_exposure.is_some() {
            policy.fail_on_exposure = self.fail_on_exposure;
        }
        policy.context_limit = self.context_limit.or(policy.context_limit);
        policy.context_growth = self.context_growth.or(policy.context_growth);
    }
}

#[derive(Default)]
pub(crate) struct ShardRequest {
    pub(crate) part: Option<Part>,
    /// A file with how long servers took.
    pub(crate) timings: Option<PathBuf>,
}

impl ShardRequest {
    pub(crate) fn new(given: &Given) -> Self {
        Self {
            part: given.word(settings::SHARD),
            timings: given.path(settings::TIMINGS),
        }
    }
}

/// `2/4`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) index: usize,
    pub(crate) of: usize,
}

impl std::str::FromStr for Part {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (index, of) = settings::part(text).map_err(drop)?;
        Ok(Self { index, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_an_index_and_a_count() {
        assert_eq!("2/4".parse(), Ok(Part { index: 2, of: 4 }));
        for wrong in ["0/4", "5/4", "1", "a/b", "1/257", "1/4/2", "-1/4"] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }
}
