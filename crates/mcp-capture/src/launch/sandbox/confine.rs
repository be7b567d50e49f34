//! The restrictions themselves: Landlock for files, signals and named sockets, seccomp for the
//! network.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use caps::{CapSet, Capability};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// The newest version that is requested. An older kernel enforces what it supports.
const NEWEST: ABI = ABI::V6;

/// From this version every way to change a file is covered, including truncation.
const COMPLETE: ABI = ABI::V3;

/// Whether this kernel keeps abstract sockets of outside processes out of reach.
pub(super) fn scopes_abstract_sockets() -> bool {
    use landlock::{CompatLevel, Compatible as _};
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::AbstractUnixSocket);
    ruleset.and_then(|it| it.create()).is_ok()
}

/// Restricts files, and in `strict` also sockets with names or ports. Returns what the kernel
/// lacks.
pub(super) fn files(
    read: &[PathBuf],
    write: &[PathBuf],
    list: &[PathBuf],
    network: bool,
) -> Result<Option<String>, io::Error> {
    let reading = AccessFs::from_read(NEWEST);
    // Root could create a device file and read the disk through it.
    let writing = AccessFs::from_all(NEWEST) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let other = |error: landlock::RulesetError| io::Error::other(error);
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|it| it.scope(Scope::from_all(NEWEST)))
        .map_err(other)?;
    if !network {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(NEWEST))
            .map_err(other)?;
    }
    let status = ruleset
        .create()
        .and_then(|it| it.add_rules(path_beneath_rules(read, reading)))
        .and_then(|it| it.add_rules(path_beneath_rules(write, writing)))
        .and_then(|it| it.add_rules(path_beneath_rules(list, AccessFs::ReadDir)))
        .and_then(|it| it.restrict_self())
        .map_err(other)?;
    let lacking = match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => {
            Some("files are not limited: Landlock is switched off in this kernel")
        }
        (RulesetStatus::NotEnforced, _) => {
            Some("files are not limited: this kernel has no Landlock (Linux 5.13 and later do)")
        }
        (_, LandlockStatus::Available { effective_abi, .. }) if effective_abi < COMPLETE => Some(
            "files are restricted, but can be truncated: this kernel's Landlock is older than that of Linux 6.2",
        ),
        _ => None,
    };
    Ok(lacking.map(str::to_owned))
}

/// The capabilities of root that ordinary programs need. Others would let root inspect outside
/// processes despite Landlock.
const KEPT: [Capability; 8] = [
    Capability::CAP_CHOWN,
    Capability::CAP_DAC_OVERRIDE,
    Capability::CAP_FOWNER,
    Capability::CAP_FSETID,
    Capability::CAP_KILL,
    Capability::CAP_NET_BIND_SERVICE,
    Capability::CAP_SETGID,
    Capability::CAP_SETUID,
];

/// Drops root's capabilities beyond its files. Without capabilities there is nothing to drop.
pub(super) fn rights() -> Result<(), io::Error> {
    let _ = caps::clear(None, CapSet::Ambient);
    let _ = caps::clear(None, CapSet::Inheritable);
    let held = caps::read(None, CapSet::Permitted).map_err(io::Error::other)?;
    let mut given_up: Vec<Capability> = held.difference(&KEPT.into()).copied().collect();
    // The capability to drop capabilities comes last.
    given_up.sort_by_key(|right| *right == Capability::CAP_SETPCAP);
    if nix::unistd::geteuid().is_root() {
        // What a program started by root would regain.
        for right in given_up {
            caps::drop(None, CapSet::Bounding, right).map_err(io::Error::other)?;
        }
    }
    let kept = held.intersection(&KEPT.into()).copied().collect();
    caps::set(None, CapSet::Effective, &kept).map_err(io::Error::other)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(io::Error::other)
}

/// Becomes another user, without any of root's groups. The server's pipes become that user's, so
/// that it can open `/dev/stdout`.
pub(super) fn user(user: u32, group: u32) -> Result<(), io::Error> {
    use std::os::fd::AsFd as _;
    let (user, group) = (user.into(), group.into());
    for pipe in [
        io::stdin().as_fd(),
        io::stdout().as_fd(),
        io::stderr().as_fd(),
    ] {
        // Only pipes, which are ours: `/dev/null` belongs to all.
        let kind = nix::sys::stat::fstat(pipe).map(|it| it.st_mode & libc::S_IFMT);
        if kind == Ok(libc::S_IFIFO) {
            let _ = nix::unistd::fchown(pipe, Some(user), Some(group));
        }
    }
    // What the programs of that user could regain.
    rights()?;
    nix::unistd::setgroups(&[])?;
    nix::unistd::setgid(group)?;
    nix::unistd::setuid(user)?;
    Ok(())
}

#[cfg(not(all(target_arch = "aarch64", target_env = "musl")))]
const KEXEC_FILE_LOAD: libc::c_long = libc::SYS_kexec_file_load;
/// The `libc` crate has it for every Linux that we release for but this one.
#[cfg(all(target_arch = "aarch64", target_env = "musl"))]
const KEXEC_FILE_LOAD: libc::c_long = 294;

/// System calls that a server does not need and that could bypass the restrictions. They fail
/// silently.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    // Does the same as other system calls, unseen by seccomp.
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    KEXEC_FILE_LOAD,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Refuses what reaches outside processes in spite of Landlock, in every level: their limits and
/// priorities.
pub(super) fn calls() -> Result<(), io::Error> {
    let other = || rule(vec![condition(0, SeccompCmpOp::Ne, 0)]);
    let mut refused = Rules::new();
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        refused.insert(call, vec![other()?]);
    }
    // Of a process or a group: only its own. Of a user: also those outside.
    let of_others = [
        rule(vec![condition(1, SeccompCmpOp::Ne, 0)])?,
        rule(vec![condition(
            0,
            SeccompCmpOp::Eq,
            libc::PRIO_USER as libc::c_int,
        )])?,
    ];
    refused.insert(libc::SYS_setpriority, of_others.to_vec());
    const IOPRIO_WHO_USER: libc::c_int = 3;
    let of_others = [
        rule(vec![condition(1, SeccompCmpOp::Ne, 0)])?,
        rule(vec![condition(0, SeccompCmpOp::Eq, IOPRIO_WHO_USER)])?,
    ];
    refused.insert(libc::SYS_ioprio_set, of_others.to_vec());
    // They do the same as other system calls, unseen by seccomp.
    for call in [
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_io_uring_setup,
    ] {
        refused.insert(call, Vec::new());
    }
    install(refused, SeccompAction::Errno(libc::EPERM as u32))
}

/// Refuses local sockets where there is a network: the kernel cannot tell for us what listens behind
/// one. A pair of connected sockets is harmless.
pub(super) fn local_sockets() -> Result<(), io::Error> {
    let local = rule(vec![condition(0, SeccompCmpOp::Eq, libc::AF_UNIX)])?;
    let sockets = Rules::from([(libc::SYS_socket, vec![local])]);
    install(sockets, SeccompAction::Errno(libc::EACCES as u32))
}

/// Blocks the network.
pub(super) fn network() -> Result<(), io::Error> {
    let mut refused: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // Local sockets are harmless unless connected, which is refused: programs wake themselves up
    // through a pair of them. Any other kind could be sent to an address.
    let type_of = |kind: libc::c_int| condition(1, SeccompCmpOp::MaskedEq(0xf), kind);
    let elsewhere = [
        rule(vec![condition(0, SeccompCmpOp::Ne, libc::AF_UNIX)])?,
        rule(vec![type_of(libc::SOCK_DGRAM)])?,
        rule(vec![type_of(libc::SOCK_RAW)])?,
    ];
    refused.insert(libc::SYS_socketpair, elsewhere.to_vec());
    // Typing into this program's terminal.
    let typing = rule(vec![condition(
        1,
        SeccompCmpOp::MaskedEq(0xffff_ffff),
        libc::TIOCSTI as libc::c_int,
    )])?;
    refused.insert(libc::SYS_ioctl, vec![typing]);

    let mut sockets: Rules = Rules::new();
    sockets.insert(libc::SYS_socket, elsewhere.to_vec());
    sockets.insert(libc::SYS_connect, Vec::new());
    install(sockets, SeccompAction::Errno(libc::EACCES as u32))?;
    install(refused, SeccompAction::Errno(libc::EPERM as u32))
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn condition(
    argument: u8,
    compare: SeccompCmpOp,
    value: libc::c_int,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value as u64)
}

fn rule(
    conditions: Vec<Result<SeccompCondition, seccompiler::BackendError>>,
) -> Result<SeccompRule, io::Error> {
    let conditions = conditions.into_iter().collect::<Result<Vec<_>, _>>();
    conditions
        .and_then(SeccompRule::new)
        .map_err(io::Error::other)
}

fn install(mut rules: Rules, action: SeccompAction) -> Result<(), io::Error> {
    // The x32 variants of the same calls.
    if cfg!(target_arch = "x86_64") {
        let again: Rules = rules
            .iter()
            .map(|(number, rules)| (number | 0x4000_0000, rules.clone()))
            .collect();
        rules.extend(again);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch);
    let program: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(io::Error::other)?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}
