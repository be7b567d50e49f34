//! Single keys from a terminal.

/// The next key; `None` at the end of input. Without a terminal that can do it, the first letter of a line.
pub(super) fn read() -> Option<char> {
    let _raw = raw::enter();
    let mut key = None;
    loop {
        let mut byte = [0];
        use std::io::Read as _;
        match std::io::stdin().lock().read(&mut byte) {
            Ok(1) => {}
            _ => return key,
        }
        match byte[0] {
            // Ctrl-D
            4 => return None,
            it if raw::IS_POSSIBLE => return Some(char::from(it)),
            b'\n' => return Some(key.unwrap_or('\n')),
            it => key = key.or(Some(char::from(it))),
        }
    }
}

#[cfg(unix)]
mod raw {
    use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

    pub(super) const IS_POSSIBLE: bool = true;

    /// Restores the terminal when dropped.
    pub(super) struct Raw(Option<Termios>);

    /// Keys arrive one by one, and are not shown. Signals still work.
    pub(super) fn enter() -> Raw {
        let stdin = std::io::stdin();
        let Ok(before) = tcgetattr(&stdin) else {
            return Raw(None);
        };
        let mut now = before.clone();
        now.local_flags
            .remove(LocalFlags::ICANON | LocalFlags::ECHO);
        let _ = tcsetattr(&stdin, SetArg::TCSANOW, &now);
        Raw(Some(before))
    }

    impl Drop for Raw {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, before);
            }
        }
    }
}

#[cfg(not(unix))]
mod raw {
    pub(super) const IS_POSSIBLE: bool = false;

    pub(super) struct Raw;

    pub(super) fn enter() -> Raw {
        Raw
    }
}
