//! Numbers kept as literals, and the three ways to print them.

use std::fmt::Write as _;

use smol_str::SmolStr;

/// A JSON number, kept as the literal that was sent (`1`, `1.0` and `1e0` stay apart).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    literal: SmolStr,
}

/// The exact value of a literal: `±0.digits × 10^exponent`, without leading or trailing zeros.
///
/// Zero has no digits. Two literals are the same number exactly when their decimals are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Number {
    /// `literal` must be well-formed; the reader has checked it.
    pub(super) fn from_literal(literal: &str) -> Self {
        Self {
            literal: literal.into(),
        }
    }

    /// The literal as sent.
    pub fn literal(&self) -> &str {
        &self.literal
    }

    /// Whether it is written as an integer: no fraction, no exponent. Python keeps such a number exact.
    pub fn is_integer_literal(&self) -> bool {
        !self.literal.contains(['.', 'e', 'E']) && !self.is_python_constant()
    }

    /// Whether it is `NaN`, `Infinity` or `-Infinity`, which only [`super::reader::parse_python`] accepts.
    fn is_python_constant(&self) -> bool {
        self.literal.ends_with(['N', 'y'])
    }

    /// The nearest double; infinite if the literal is out of range.
    pub fn to_f64(&self) -> f64 {
        // JSON's number grammar is a subset of what `f64` parses, correctly rounded.
        self.literal.parse().unwrap_or(f64::NAN)
    }

    pub fn decimal(&self) -> Decimal {
        Decimal::of(&self.literal)
    }

    /// ECMAScript's `Number.prototype.toString`, as RFC 8785 requires; `None` beyond the range of a double.
    pub fn to_ecmascript(&self) -> Option<String> {
        let value = self.to_f64();
        value.is_finite().then(|| ecmascript(value))
    }

    /// RFC 8785's text where a double is exact, the exact decimal elsewhere.
    ///
    /// RFC 8785 rounds to a double, so 9007199254740993 and 9007199254740992 would share a digest, and 1e400
    /// would have none. Here two different numbers never share a text, because each text, read as a decimal,
    /// is the number itself.
    pub fn to_exact(&self) -> String {
        // An integer that every double can hold is its own text.
        let is_short = self.literal.len() <= 15 && self.is_integer_literal();
        if self.is_python_constant() || is_short && self.literal != "-0" {
            return self.literal.to_string();
        }
        let exact = self.decimal();
        match self.to_ecmascript() {
            Some(text) if Decimal::of(&text) == exact => text,
            _ => exact.to_text(),
        }
    }

    /// CPython's `repr`: integers exact, floats with the fewest digits that round-trip; `None` if the float
    /// is infinite.
    pub fn to_python(&self) -> Option<String> {
        if self.is_integer_literal() {
            let exact = if self.literal == "-0" {
                "0"
            } else {
                &self.literal
            };
            return Some(exact.to_owned());
        }
        let value = self.to_f64();
        value.is_finite().then(|| python_float(value))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::from_literal(&value.to_string())
    }
}

impl Decimal {
    fn of(literal: &str) -> Self {
        let (negative, unsigned) = match literal.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, literal),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            // The reader rejects exponents that do not fit, so nothing saturates here.
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse().unwrap_or(0)),
            None => (unsigned, 0_i64),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: String = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let leading = all.len() - significant.len();
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Self {
                negative: false,
                digits,
                exponent: 0,
            };
        }
        let shift = i64::try_from(whole.len()).unwrap_or(i64::MAX)
            - i64::try_from(leading).unwrap_or(i64::MAX);
        Self {
            negative,
            digits,
            exponent: exponent.saturating_add(shift),
        }
    }

    /// Whether it is a whole number (`1.0` is).
    pub fn is_integer(&self) -> bool {
        i64::try_from(self.digits.len()).is_ok_and(|length| length <= self.exponent)
            || self.digits.is_empty()
    }

    /// Text that reads back as this exact number: plain for integers of up to 400 digits, else scientific.
    fn to_text(&self) -> String {
        if self.digits.is_empty() {
            return "0".to_owned();
        }
        let sign = if self.negative { "-" } else { "" };
        match usize::try_from(self.exponent) {
            Ok(places) if places <= 400 && self.digits.len() <= places => {
                format!("{sign}{:0<places$}", self.digits)
            }
            _ => {
                let (first, rest) = self.digits.split_at(1);
                let point = if rest.is_empty() { "" } else { "." };
                format!("{sign}{first}{point}{rest}e{}", self.exponent - 1)
            }
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let sign = |d: &Self| match (d.digits.is_empty(), d.negative) {
            (true, _) => 0_i8,
            (false, true) => -1,
            (false, false) => 1,
        };
        match (sign(self), sign(other)) {
            (a, b) if a != b => a.cmp(&b),
            (0, _) => Equal,
            (direction, _) => {
                // With no leading zeros the exponent decides first; then the digits compare as fractions.
                let magnitude = self
                    .exponent
                    .cmp(&other.exponent)
                    .then_with(|| self.digits.cmp(&other.digits));
                match (direction, magnitude) {
                    (-1, Less) => Greater,
                    (-1, Greater) => Less,
                    (_, order) => order,
                }
            }
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The fewest digits that read back as `value`, and how many of them precede the decimal point. Rust's `{:e}`
/// prints exactly these digits, as JavaScript and Python do.
fn shortest(value: f64) -> (String, i32) {
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    (digits, exponent.parse::<i32>().unwrap_or(0) + 1)
}

fn ecmascript(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let (digits, point) = shortest(value);
    let mut out = String::new();
    if value < 0.0 {
        out.push('-');
    }
    place(&mut out, &digits, point, -5..=21, |out, exponent| {
        let _ = write!(out, "e{exponent:+}");
    });
    out
}

fn python_float(value: f64) -> String {
    let mut out = String::new();
    if value.is_sign_negative() {
        out.push('-');
    }
    if value == 0.0 {
        out.push_str("0.0");
        return out;
    }
    let (digits, point) = shortest(value);
    let integral = usize::try_from(point).is_ok_and(|point| digits.len() <= point);
    let plain = -3..=16;
    if integral && plain.contains(&point) {
        place(&mut out, &digits, point, plain, |_, _| {});
        out.push_str(".0");
    } else {
        place(&mut out, &digits, point, plain, |out, exponent| {
            let sign = if exponent < 0 { '-' } else { '+' };
            let _ = write!(out, "e{sign}{:02}", exponent.abs());
        });
    }
    out
}

/// Writes `digits` with the decimal point after the first `point` of them: plainly if `point` is in `plain`,
/// else in scientific form, with the exponent written by `exponent`.
fn place(
    out: &mut String,
    digits: &str,
    point: i32,
    plain: std::ops::RangeInclusive<i32>,
    exponent: impl FnOnce(&mut String, i32),
) {
    if !plain.contains(&point) {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        exponent(out, point - 1);
        return;
    }
    match usize::try_from(point) {
        Ok(0) | Err(_) => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
            out.push_str(digits);
        }
        Ok(point) if point >= digits.len() => {
            let _ = write!(out, "{digits:0<point$}");
        }
        Ok(point) => {
            out.push_str(&digits[..point]);
            out.push('.');
            out.push_str(&digits[point..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(literal: &str) -> Number {
        Number::from_literal(literal)
    }

    #[test]
    fn different_numbers_never_share_an_exact_text() {
        for (one, other) in [
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1e400", "1e401"),
            ("1e-400", "0"),
            ("-1e-400", "1e-400"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567891",
            ),
        ] {
            assert_ne!(number(one).to_exact(), number(other).to_exact());
        }
    }

    #[test]
    fn equal_numbers_share_a_text_regardless_of_spelling() {
        for (one, other) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("-0", "0.000"),
            ("1e400", "10e399"),
            ("9007199254740993", "9007199254740993.0"),
        ] {
            assert_eq!(number(one).to_exact(), number(other).to_exact());
        }
    }

    #[test]
    fn the_text_is_rfc_8785_where_a_double_is_exact() {
        assert_eq!(number("1e21").to_exact(), "1e+21");
        assert_eq!(number("0.000001").to_exact(), "0.000001");
        assert_eq!(number("1e-7").to_exact(), "1e-7");
        assert_eq!(number("333333333.3333333").to_exact(), "333333333.3333333");
        assert_eq!(number("9007199254740993").to_exact(), "9007199254740993");
    }

    #[test]
    fn decimals_are_ordered_by_value() {
        let order = [
            "-10", "-1.5", "-1", "0", "1e-400", "0.5", "1", "1.5", "9", "10", "1e400",
        ];
        for pair in order.windows(2) {
            assert!(
                number(pair[0]).decimal() < number(pair[1]).decimal(),
                "{pair:?}"
            );
        }
        assert!(number("10.0").decimal().is_integer());
        assert!(!number("0.5").decimal().is_integer());
    }
}
