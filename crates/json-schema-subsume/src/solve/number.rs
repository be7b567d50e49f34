//! Numbers between bounds, on some grids and off others: found, or shown not to exist. Exact
//! decimals throughout.

use super::text::Found;
use crate::kinds::JsonKind;
use exact_json::{Json, Number, parse_str};

/// `digits × 10^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    digits: i128,
    exponent: i32,
}

impl Exact {
    /// From a number, unless it is too long to compute with.
    pub(crate) fn of(number: &Number) -> Option<Self> {
        let literal = number.literal();
        let (mantissa, exponent) = match literal.find(['e', 'E']) {
            Some(at) => (&literal[..at], literal[at + 1..].parse::<i32>().ok()?),
            None => (literal, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let mut digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let mut exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        while digits != 0 && digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        if digits == 0 {
            exponent = 0;
        }
        (exponent.abs() <= 30).then_some(Self { digits, exponent })
    }

    /// In units of `10^exponent`.
    fn at(self, exponent: i32) -> Option<i128> {
        let shift = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(shift)?)
    }

    /// Whether it is a multiple of another.
    pub(crate) fn is_multiple_of(self, other: Self) -> Option<bool> {
        let unit = self.exponent.min(other.exponent);
        let (mine, theirs) = (self.at(unit)?, other.at(unit)?);
        (theirs != 0).then(|| mine.unsigned_abs().is_multiple_of(theirs.unsigned_abs()))
    }

    pub(crate) fn json(self) -> Json {
        scaled(self.digits, self.exponent)
    }
}

/// `value × 10^exponent` in the usual notation.
fn scaled(value: i128, exponent: i32) -> Json {
    let literal = if exponent >= 0 {
        let zeros = usize::try_from(exponent).unwrap_or(0);
        if value == 0 {
            "0".to_owned()
        } else {
            format!("{value}{}", "0".repeat(zeros))
        }
    } else {
        let places = usize::try_from(-exponent).unwrap_or(0);
        let digits = format!("{:0>width$}", value.unsigned_abs(), width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let fraction = fraction.trim_end_matches('0');
        let sign = if value < 0 { "-" } else { "" };
        if fraction.is_empty() {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{fraction}")
        }
    };
    parse_str(&literal).unwrap_or(Json::Null)
}

/// Constraints on a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// With whether the bound is exclusive.
    pub(crate) lower: Vec<(Exact, bool)>,
    pub(crate) upper: Vec<(Exact, bool)>,
    pub(crate) multiple: Vec<Exact>,
    pub(crate) not_multiple: Vec<Exact>,
    pub(crate) excluded: Vec<Exact>,
}

const MAX_TRIES: i128 = 4_000;

impl Numbers {
    fn unit(&self) -> i32 {
        let bounds = self.lower.iter().chain(&self.upper).map(|(bound, _)| bound);
        bounds
            .chain(&self.multiple)
            .chain(&self.not_multiple)
            .chain(&self.excluded)
            .map(|number| number.exponent)
            .min()
            .unwrap_or(0)
            .min(0)
    }

    /// Whether a number satisfies them.
    pub(crate) fn allow(&self, value: Exact, kind: JsonKind) -> Option<bool> {
        let unit = self.unit().min(value.exponent);
        Scaled::of(self, unit, kind)?.allow(value.at(unit)?)
    }

    /// Searches for a number; those of `liked` come first.
    pub(crate) fn find(&self, kind: JsonKind, liked: &[Exact]) -> Found<Json> {
        for value in liked {
            if self.allow(*value, kind) == Some(true) {
                return Found::One(value.json());
            }
        }
        // Room between the bounds for numbers off every grid.
        let unit = self.unit() - if kind == JsonKind::Fraction { 3 } else { 0 };
        let found = Scaled::of(self, unit, kind).and_then(|scaled| scaled.find());
        match found {
            Some(Found::One(value)) if kind == JsonKind::Integer => {
                let clear = self.clear_of_bounds(value, unit);
                Found::One(clear.unwrap_or_else(|| scaled(value, unit)))
            }
            Some(Found::One(value)) => Found::One(scaled(value, unit)),
            Some(Found::None) => Found::None,
            Some(Found::Unknown) | None => Found::Unknown,
        }
    }

    /// A number for one beyond 2^53 that is not next to a bound: a validator that computes with doubles
    /// cannot tell the neighbours apart.
    fn clear_of_bounds(&self, nearest: i128, unit: i32) -> Option<Json> {
        let whole = nearest / 10_i128.checked_pow(unit.unsigned_abs())?;
        if whole.unsigned_abs() <= 1 << 53 {
            return None;
        }
        let bounds: Vec<f64> = self
            .lower
            .iter()
            .chain(&self.upper)
            .filter_map(|(bound, _)| match bound.json() {
                Json::Number(bound) => Some(bound.to_f64()),
                _ => None,
            })
            .collect();
        (16..=30)
            .flat_map(|exponent| {
                [1, 2, 5, 3, 4, 6, 7, 8, 9].map(|digit| Exact {
                    digits: whole.signum() * digit,
                    exponent,
                })
            })
            .filter(|number| self.allow(*number, JsonKind::Integer) == Some(true))
            .map(Exact::json)
            .find(|number| match number {
                Json::Number(number) => !bounds.contains(&number.to_f64()),
                _ => false,
            })
    }
}

/// The same in integers of one unit.
struct Scaled {
    kind: JsonKind,
    one: i128,
    lower: Option<i128>,
    upper: Option<i128>,
    step: i128,
    forbidden: Vec<i128>,
    excluded: Vec<i128>,
    dense: bool,
    /// A conflict of grids on which doubles may disagree.
    shaky: bool,
}

fn gcd(mut one: i128, mut other: i128) -> i128 {
    while other != 0 {
        (one, other) = (other, one.wrapping_rem(other));
    }
    one.saturating_abs()
}

impl Scaled {
    fn of(wanted: &Numbers, unit: i32, kind: JsonKind) -> Option<Self> {
        let one = 10_i128.checked_pow(u32::try_from(-unit).ok()?)?;
        let lcm =
            |one: i128, other: i128| -> Option<i128> { (one / gcd(one, other)).checked_mul(other) };
        let mut step = if kind == JsonKind::Integer { one } else { 1 };
        for multiple in &wanted.multiple {
            let multiple = multiple.at(unit)?.checked_abs()?;
            if multiple == 0 {
                return None;
            }
            step = lcm(step, multiple)?;
        }
        let mut lower: Option<i128> = None;
        for (bound, exclusive) in &wanted.lower {
            let bound = bound.at(unit)?.checked_add(i128::from(*exclusive))?;
            lower = Some(lower.map_or(bound, |other| other.max(bound)));
        }
        let mut upper: Option<i128> = None;
        for (bound, exclusive) in &wanted.upper {
            let bound = bound.at(unit)?.checked_sub(i128::from(*exclusive))?;
            upper = Some(upper.map_or(bound, |other| other.min(bound)));
        }
        let mut forbidden = Vec::new();
        let mut shaky = false;
        for multiple in &wanted.not_multiple {
            let value = multiple.at(unit)?.checked_abs()?;
            if value == 0 {
                return None;
            }
            let dyadic = value
                .checked_mul(1 << 20)
                .is_some_and(|scaled| scaled % one == 0);
            let same = wanted.multiple.contains(multiple);
            shaky |= kind == JsonKind::Fraction && !dyadic && !same;
            forbidden.push(value);
        }
        if kind == JsonKind::Fraction {
            forbidden.push(one);
        }
        let excluded = wanted
            .excluded
            .iter()
            .filter_map(|number| number.at(unit))
            .collect();
        Some(Self {
            kind,
            one,
            lower,
            upper,
            step,
            forbidden,
            excluded,
            dense: kind == JsonKind::Fraction && wanted.multiple.is_empty(),
            shaky,
        })
    }

    fn allow(&self, value: i128) -> Option<bool> {
        let whole = value % self.one == 0;
        Some(
            whole == (self.kind == JsonKind::Integer)
                && self.lower.is_none_or(|bound| value >= bound)
                && self.upper.is_none_or(|bound| value <= bound)
                && value.checked_rem(self.step)? == 0
                && self.forbidden.iter().all(|step| value % step != 0)
                && !self.excluded.contains(&value),
        )
    }

    fn find(&self) -> Option<Found<i128>> {
        if let (Some(lower), Some(upper)) = (self.lower, self.upper)
            && lower > upper
        {
            return Some(Found::None);
        }
        if !self.dense && self.forbidden.iter().any(|step| self.step % step == 0) {
            let whole = self.kind == JsonKind::Fraction && self.step % self.one == 0;
            return Some(if self.shaky && !whole {
                Found::Unknown
            } else {
                Found::None
            });
        }
        if !self.dense {
            return self.nearest(self.step);
        }
        // As few decimal places as there is room for.
        let mut step = (self.one / 1_000).max(1);
        loop {
            match self.nearest(step)? {
                Found::None if step > 1 => step /= 10,
                Found::Unknown if step > 1 => step = 1,
                // Between two distinct bounds there is always a fraction, however small the room.
                Found::None if self.lower != self.upper => return Some(Found::Unknown),
                found => return Some(found),
            }
        }
    }

    /// The number nearest to zero among the multiples of a step.
    fn nearest(&self, step: i128) -> Option<Found<i128>> {
        let first = self
            .lower
            .map(|bound| bound.div_euclid(step) + i128::from(bound.rem_euclid(step) != 0));
        let last = self.upper.map(|bound| bound.div_euclid(step));
        if let (Some(first), Some(last)) = (first, last)
            && first > last
        {
            return Some(Found::None);
        }
        let origin = match (first, last) {
            (Some(first), _) if first > 0 => first,
            (_, Some(last)) if last < 0 => last,
            _ => 0,
        };
        for offset in 0..MAX_TRIES {
            let mut any = false;
            for at in [origin.checked_add(offset)?, origin.checked_sub(offset)?] {
                if first.is_some_and(|bound| at < bound) || last.is_some_and(|bound| at > bound) {
                    continue;
                }
                any = true;
                let value = at.checked_mul(step)?;
                if self.allow(value)? {
                    return Some(Found::One(value));
                }
            }
            if !any {
                return Some(Found::None);
            }
        }
        Some(Found::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        match parse_str(text) {
            Ok(Json::Number(number)) => Exact::of(&number).expect("short"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn grids_and_bounds() {
        let wanted = Numbers {
            multiple: vec![exact("3")],
            upper: vec![(exact("10"), true)],
            lower: vec![(exact("8"), false)],
            ..Numbers::default()
        };
        assert_eq!(
            wanted.find(JsonKind::Integer, &[]),
            Found::One(Json::integer(9))
        );
        assert_eq!(wanted.find(JsonKind::Fraction, &[]), Found::None);
        let wanted = Numbers {
            not_multiple: vec![exact("0.01")],
            ..Numbers::default()
        };
        assert_eq!(wanted.find(JsonKind::Integer, &[]), Found::None);
        assert!(matches!(
            wanted.find(JsonKind::Fraction, &[]),
            Found::One(_)
        ));
    }

    #[test]
    fn there_is_a_fraction_in_the_smallest_room() {
        let between = |lower: (&str, bool), upper: (&str, bool)| {
            let wanted = Numbers {
                lower: vec![(exact(lower.0), lower.1)],
                upper: vec![(exact(upper.0), upper.1)],
                ..Numbers::default()
            };
            match wanted.find(JsonKind::Fraction, &[]) {
                Found::One(value) => Some(value.to_string()),
                Found::None => None,
                Found::Unknown => panic!("unknown"),
            }
        };
        let found = |text: &str| Some(text.to_owned());
        assert_eq!(
            between(("0.0001", false), ("0.0002", true)),
            found("0.0001")
        );
        assert_eq!(
            between(("0.0001", true), ("0.0002", true)),
            found("0.00011")
        );
        assert_eq!(between(("0", true), ("1e-7", true)), found("0.00000001"));
        assert_eq!(between(("-1e-7", true), ("0", true)), found("-0.00000001"));
        assert_eq!(
            between(("0.0001", false), ("0.0001", false)),
            found("0.0001")
        );
        assert_eq!(between(("0.0001", false), ("0.0001", true)), None);
    }

    #[test]
    fn a_large_number_is_not_next_to_a_bound() {
        let above = |bound: &str, upper: Option<&str>| {
            let wanted = Numbers {
                lower: vec![(exact(bound), true)],
                upper: upper
                    .map(|bound| (exact(bound), false))
                    .into_iter()
                    .collect(),
                ..Numbers::default()
            };
            match wanted.find(JsonKind::Integer, &[]) {
                Found::One(value) => value.to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            above("18446744073709551615", Some("36893488147419103230")),
            "20000000000000000000"
        );
        assert_eq!(above("9007199254740992", None), "10000000000000000");
        assert_eq!(
            above("9007199254740992", Some("9007199254740999")),
            "9007199254740993"
        );
        assert_eq!(above("9007199254740990", None), "9007199254740991");
    }

    #[test]
    fn the_smallest_integer_has_a_remainder() {
        assert_eq!(
            exact("-9223372036854775808").is_multiple_of(exact("-1")),
            Some(true)
        );
    }
}
