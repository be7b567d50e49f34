//! From flags to what `run` understands. The only file that knows both.

use super::args::{
    CheckArgs, Format, JobsArgs, PinArgs, PolicyArgs, SandboxArgs, ServerArgs, ShardArgs,
};
use crate::run::check::CheckRequest;
use crate::run::fleet;
use crate::run::pin::PinRequest;
use crate::run::request::{PolicyRequest, SandboxRequest, ServerRequest, ShardRequest};
use crate::run::sign_lock::SignRequest;

impl CheckArgs {
    pub(super) fn request(&self) -> CheckRequest {
        CheckRequest {
            server: self.server.request(),
            policy: self.policy.request(),
            shard: self.shard.request(),
            jobs: self.jobs.count(),
        }
    }
}

impl PinArgs {
    pub(super) fn request(&self) -> PinRequest {
        PinRequest {
            server: self.server.request(),
            jobs: self.jobs.count(),
            lock: self.report.format == Format::ToolPin,
            sign: SignRequest {
                key: self.sign_key.clone(),
                signature: self.signature.clone(),
                policy: self.toolpin_policy.clone(),
            },
        }
    }
}

impl ServerArgs {
    pub(super) fn request(&self) -> ServerRequest {
        ServerRequest {
            servers: self.servers.clone(),
            command: self.command.clone(),
            config: self.config.clone(),
            from: self.from.from.clone(),
            from_format: self.from.from_format,
            inputs: self.from.inputs.clone(),
            baseline: self.baseline.clone(),
            env: self.env.clone(),
            pass_env: self.pass_env.clone(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            start: self.start.clone(),
            ca: self.ca.clone(),
            proxy: self.proxy.clone(),
            transport: self.transport,
            timeout: self.timeout,
            era: self.era,
            repeat: self.repeat,
            settle: self.settle,
            client: self.client.clone(),
            capabilities: self.capabilities.clone(),
            sandbox: self.sandbox.request(),
        }
    }
}

impl SandboxArgs {
    pub(super) fn request(&self) -> SandboxRequest {
        SandboxRequest {
            level: self.sandbox,
            required: self.sandbox_required,
            at_least: self.at_least,
        }
    }
}

impl PolicyArgs {
    pub(super) fn request(&self) -> PolicyRequest {
        PolicyRequest {
            fail_on: self.fail_on,
            fail_on_exposure: self.fail_on_exposure,
            enforcement: self.enforcement,
            unknown: self.unknown,
        }
    }
}

impl ShardArgs {
    pub(super) fn request(&self) -> ShardRequest {
        ShardRequest {
            part: self.shard,
            timings: self.timings.clone(),
        }
    }
}

impl JobsArgs {
    pub(super) fn count(&self) -> usize {
        fleet::jobs(self.jobs)
    }
}
