//! What a text says to a model that a person should see first. What is quoted comes in as it was sent.

/// An instruction to the model.
#[derive(Clone, Copy)]
pub(crate) enum Instruction {
    Override,
    HiddenBehavior,
    ForcedOrder,
    Markup,
}

/// An instruction, and whether it is where people do not look.
pub(crate) fn instruction(kind: Instruction, quote: &str, hidden: bool) -> String {
    let what = match kind {
        Instruction::Override => "tells the model to set other instructions aside",
        Instruction::HiddenBehavior => "tells the model to keep something from the user",
        Instruction::ForcedOrder => "tells the model which tool to use when",
        Instruction::Markup => "marks text up as if a system had said it",
    };
    let place = if hidden {
        ", where few people look"
    } else {
        ""
    };
    format!("{what}{place}: \"{quote}\"")
}

pub(crate) fn other_tool(name: &str) -> String {
    format!("tells the model to use another tool, `{name}`")
}

pub(crate) fn tag_characters(decoded: &str) -> String {
    let what = "contains tag characters, which are invisible to people and read by models";
    match decoded {
        "" => what.to_owned(),
        decoded => format!("{what}: \"{decoded}\""),
    }
}

pub(crate) fn variation_selectors(count: usize) -> String {
    format!("contains {count} variation selectors that select nothing; they can hide bytes")
}

pub(crate) fn invisible_character(character: char) -> String {
    format!(
        "contains an invisible character, U+{:04X}",
        u32::from(character)
    )
}

pub(crate) fn secret_path(path: &str) -> String {
    format!("names a place where secrets are kept: \"{path}\"")
}

pub(crate) fn exfiltration(quote: &str) -> String {
    format!("asks for data to be sent somewhere: \"{quote}\"")
}

pub(crate) fn encoded(decoded: &str) -> String {
    format!("contains encoded text: \"{decoded}\"")
}

pub(crate) fn foreign_letter(character: char) -> String {
    format!(
        "its name mixes Latin letters with a look-alike from another script, U+{:04X}",
        u32::from(character)
    )
}

pub(crate) fn looks_like_other_name(other: &str) -> String {
    format!("its name looks like that of another tool, `{other}`")
}

pub(crate) fn listed_twice() -> String {
    "its name is listed more than once".to_owned()
}
