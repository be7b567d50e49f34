//! stub
use super::Side;
pub struct RuleInfo { pub id: &'static str }
pub const RULES: &[RuleInfo] = &[];
pub(crate) fn id(side: Side, family: &'static str) -> &'static str {
    let _ = side;
    family
}
