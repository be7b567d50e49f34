//! What varies although nothing was changed: between captures, clients, machines and days.

/// What two captures differ in, besides their content.
pub(crate) enum Between<'a> {
    /// Answers on one connection, some seconds apart.
    Answers(Option<u64>),
    Boots,
    Connections,
    Clients(&'a str, &'a str),
}

impl Between<'_> {
    fn phrase(&self) -> String {
        match self {
            Self::Answers(None) => "between two answers on one connection".to_owned(),
            Self::Answers(Some(seconds)) => {
                format!("between two answers on one connection, {seconds} s apart")
            }
            Self::Boots => "between two boots".to_owned(),
            Self::Connections => "between two connections".to_owned(),
            Self::Clients(one, other) => format!("between the clients `{one}` and `{other}`"),
        }
    }
}

/// What a place holds, one time and the other.
pub(crate) enum Values {
    Both(String, String),
    First,
    Second,
}

impl Values {
    fn phrase(&self) -> String {
        match self {
            Self::Both(one, other) => format!("`{one}`, then `{other}`"),
            Self::First => "present, then missing".to_owned(),
            Self::Second => "missing, then present".to_owned(),
        }
    }
}

/// What a varying place means for the comparison.
pub(crate) enum LeftOut {
    No,
    Place,
    Component,
}

pub(crate) fn order_varies(between: &Between<'_>, content_is_compared: bool) -> String {
    let rest = if content_is_compared {
        "; the content is compared, the order is not"
    } else {
        ""
    };
    format!(
        "the same content is listed in another order {}{rest}",
        between.phrase()
    )
}

/// A place within a component (none: the component itself) that varies.
pub(crate) fn place_varies(
    pointer: Option<&str>,
    between: &Between<'_>,
    values: &Values,
    left_out: &LeftOut,
) -> String {
    let what = pointer.map_or_else(String::new, |pointer| format!("`{pointer}` "));
    let rest = match left_out {
        LeftOut::No => "",
        LeftOut::Place => "; it is left out of the comparison",
        LeftOut::Component => "; the component is left out of the comparison",
    };
    format!(
        "{what}varies {}: {}{rest}",
        between.phrase(),
        values.phrase()
    )
}

pub(crate) fn more_places_vary(more: usize, between: &Between<'_>) -> String {
    format!("{more} more places vary {}", between.phrase())
}

/// Two captures that differ in a place and in others.
pub(crate) fn captures_differ(
    owner: &str,
    pointer: Option<&str>,
    between: &Between<'_>,
    values: &Values,
    more: usize,
) -> String {
    let what = match pointer {
        Some(pointer) => format!("`{pointer}` of {owner}"),
        None => owner.to_owned(),
    };
    let rest = match more {
        0 => String::new(),
        1 => ", and 1 more place".to_owned(),
        more => format!(", and {more} more places"),
    };
    format!(
        "two captures of the server differ: {what} varies {} ({}){rest}",
        between.phrase(),
        values.phrase()
    )
}

pub(crate) fn captures_differ_in_order(between: &Between<'_>) -> String {
    format!(
        "two captures of the server differ: the same content is listed in another order {}",
        between.phrase()
    )
}

pub(crate) fn fix_order() -> String {
    "only a stable contract can be compared: give the lists a fixed order".to_owned()
}

pub(crate) fn pin_profiles() -> String {
    "pin what each client sees with a profile: [server.NAME.profile.CLIENT], see docs/clients.md"
        .to_owned()
}

pub(crate) fn fix_connections() -> String {
    "the protocol requires the same list on every connection; pass what it depends on with --header, or pin one profile per connection"
        .to_owned()
}

pub(crate) fn fix_server() -> String {
    "only a stable contract can be compared: fix the server".to_owned()
}

/// Entries of `mask` that would help.
pub(crate) fn or_mask(help: &str, server: &str, masks: &[String]) -> String {
    format!(
        "{help}. To leave out only the varying text, under [server.{server}]: mask = [{}]",
        masks.join(", ")
    )
}

/// The rule that lets a run go on.
pub(crate) fn or_tolerate(help: &str, rule: &str) -> String {
    format!("{help}. To compare only what is stable: [policy.rules] \"{rule}\" = \"warn\"")
}

/// A fact about this machine or this day.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    WorkingFolder,
    HomeFolder,
    Machine,
    User,
    TimeZone,
    Today,
}

pub(crate) fn depends_on(pointer: &str, fact: Fact, text: &str, mask: Option<&str>) -> String {
    let fact = match fact {
        Fact::WorkingFolder => "the working folder",
        Fact::HomeFolder => "the home folder",
        Fact::Machine => "the name of this machine",
        Fact::User => "the user name",
        Fact::TimeZone => "the time zone",
        Fact::Today => "today's date",
    };
    let mask = mask.map_or_else(String::new, |mask| {
        format!("; to leave it out: mask = [{mask}]")
    });
    format!("`{pointer}` contains {fact} (`{text}`), so it will differ elsewhere{mask}")
}

pub(crate) fn more_depend(more: usize) -> String {
    format!("{more} more texts depend on this machine or on today's date")
}

pub(crate) fn profiles_differ(
    server: &str,
    profile: &str,
    reference: &str,
    pointers: &[String],
) -> String {
    format!(
        "{server}: differs between the profiles `{reference}` and `{profile}`: {}",
        pointers.join(", ")
    )
}

pub(crate) fn more_profiles_differ(server: &str, more: usize) -> String {
    format!("{server}: {more} more differences between profiles")
}

/// A mask that left nothing out, perhaps because it points at something that must not be left out.
pub(crate) fn mask_unused(component: &str, line: usize, refused: Option<&str>) -> String {
    let why = match refused {
        Some(at) => format!("points at {at}, which a mask must not cover"),
        None => "matches nothing".to_owned(),
    };
    format!("the mask of `{component}` (line {line}) {why}")
}
