//! Numbers in the texts of PHP and its two extensions. It knows no flags and no type marks.

/// A double as php-memcached writes it (`php_memcached_g_fmt`, g_fmt.c): the fewest digits that read back to
/// the same double, no zero before the point, two digits of exponent at least.
///
/// `.1`, `1`, `-2.25`, `1e-05`, `1e+15`, `Infinity`, `NaN`.
pub(super) fn g_fmt(value: f64) -> String {
    if !value.is_finite() {
        return named(value, "Infinity", "NaN");
    }
    let decimal = Decimal::shortest(value);
    // g_fmt.c: `decpt <= -4 || decpt > digits + 5`.
    if decimal.point <= -4 || decimal.point > decimal.digits.len() as i32 + 5 {
        let (first, rest) = decimal.digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let (sign, exponent) = decimal.exponent();
        return format!("{}{first}{dot}{rest}e{sign}{exponent:02}", decimal.sign());
    }
    decimal.positional("")
}

/// A double as pecl memcache writes it: `%.14g` of PHP's own printf, so with at most 14 digits.
///
/// `0.1`, `1`, `3.1415926535898`, `1.0e-5`, `1.0e+15`, `INF`, `NAN`.
pub(super) fn percent_14g(value: f64) -> String {
    /// `"%.14g"` in `mmc_pack_value` (memcache_pool.c).
    const DIGITS: i32 = 14;
    php_gcvt(value, DIGITS, 'e', |value| Decimal::rounded(value, DIGITS))
}

/// A double as PHP's `serialize` writes it with its default `serialize_precision` of -1.
///
/// `0.1`, `1`, `1.0E-5`, `1.0E+25`, `INF`, `NAN`.
#[cfg(feature = "php")]
pub(super) fn serialized(value: f64) -> String {
    /// The most digits before the point: `smart_str_append_double` (Zend/zend_smart_str.c).
    const DIGITS: i32 = 17;
    php_gcvt(value, DIGITS, 'E', Decimal::shortest)
}

/// C's `strtol` in base ten: blanks, a sign, digits up to the first other byte; 0 without one, the nearest bound when too large.
pub(super) fn strtol(text: &[u8]) -> i64 {
    let text = without_blanks(text);
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let mut value: i64 = 0;
    for digit in digits.iter().take_while(|byte| byte.is_ascii_digit()) {
        let digit = i64::from(digit - b'0');
        value = value.saturating_mul(10);
        value = if negative {
            value.saturating_sub(digit)
        } else {
            value.saturating_add(digit)
        };
    }
    value
}

/// `zend_strtod`: the longest decimal number at the start, 0 without one. It takes no blanks and no names.
pub(super) fn strtod(text: &[u8]) -> f64 {
    prefix(text).map_or(0.0, |(value, _)| value)
}

/// C's `%lg`, in decimal: blanks before, `inf` and `nan` in any case.
pub(super) fn scan_double(text: &[u8]) -> f64 {
    let text = without_blanks(text);
    let (sign, rest) = match text {
        [b'-', rest @ ..] => (-1.0, rest),
        [b'+', rest @ ..] => (1.0, rest),
        rest => (1.0, rest),
    };
    match rest.get(..3) {
        Some(name) if name.eq_ignore_ascii_case(b"inf") => sign * f64::INFINITY,
        Some(name) if name.eq_ignore_ascii_case(b"nan") => f64::NAN,
        _ => strtod(text),
    }
}

/// The double that the whole of `text` is.
pub(super) fn double(text: &[u8]) -> Option<f64> {
    prefix(text).and_then(|(value, len)| (len == text.len()).then_some(value))
}

/// C's `isspace`, to which a vertical tab belongs.
fn without_blanks(text: &[u8]) -> &[u8] {
    let blanks = text
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r'));
    &text[blanks.count()..]
}

/// The decimal number at the start of `text`, and its length.
fn prefix(text: &[u8]) -> Option<(f64, usize)> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut len = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let whole = digits(len);
    len += whole;
    let mut fraction = 0;
    if text.get(len) == Some(&b'.') {
        fraction = digits(len + 1);
        len += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(text.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(len + 1), Some(b'-' | b'+')));
        match digits(len + 1 + sign) {
            0 => {}
            exponent => len += 1 + sign + exponent,
        }
    }
    let number = std::str::from_utf8(text.get(..len)?).ok()?;
    Some((number.parse().ok()?, len))
}

fn named(value: f64, infinity: &str, nan: &str) -> String {
    match value {
        _ if value.is_nan() => nan.to_owned(),
        _ if value < 0.0 => format!("-{infinity}"),
        _ => infinity.to_owned(),
    }
}

/// `php_gcvt` (main/snprintf.c): positional from four zeros behind the point to `places` digits before it.
fn php_gcvt(value: f64, places: i32, e: char, decimal: impl Fn(f64) -> Decimal) -> String {
    if !value.is_finite() {
        return named(value, "INF", "NAN");
    }
    let decimal = decimal(value);
    if decimal.point < -3 || decimal.point > places {
        let (first, rest) = decimal.digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let (sign, exponent) = decimal.exponent();
        return format!("{}{first}.{rest}{e}{sign}{exponent}", decimal.sign());
    }
    decimal.positional("0")
}

/// A finite double as `0.DIGITS` times ten to the power of `point`, as C's `dtoa` gives it: 0.05 is `5` with -1.
struct Decimal {
    negative: bool,
    digits: String,
    point: i32,
}

impl Decimal {
    /// As few digits as read back to `value`. Of two such texts that are equally near `dtoa` takes the even one:
    /// 1658206780088562.25 is `…2.2`, where Rust writes `…2.3`.
    fn shortest(value: f64) -> Self {
        let shortest = format!("{value:e}");
        let digits = shortest.bytes().take_while(|byte| *byte != b'e');
        let digits = digits.filter(u8::is_ascii_digit).count();
        // With a number of digits given, Rust rounds to even as well.
        let even = format!("{value:.*e}", digits - 1);
        let reads_back = even.parse() == Ok(value);
        Self::parse(if reads_back { &even } else { &shortest }, false)
    }

    /// `zend_dtoa` leaves zeros at the end of an integer that lies halfway and is rounded down: of 100000000000005,
    /// 14 digits are `10000000000000` and not `1` (Zend/zend_strtod.c, the branch for small integers).
    fn rounded(value: f64, digits: i32) -> Self {
        let ten = 10_f64.powi(digits);
        let integer = (ten..ten * 10.0).contains(&value.abs()) && value.fract() == 0.0;
        let halfway_to_even = integer && value.abs() % 20.0 == 5.0;
        Self::parse(
            &format!("{value:.*e}", digits as usize - 1),
            halfway_to_even,
        )
    }

    /// `scientific` is what Rust writes: `-1.25e-7`.
    fn parse(scientific: &str, keep_zeros: bool) -> Self {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
        let mut digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        if !keep_zeros {
            let len = digits.trim_end_matches('0').len();
            // Of zero itself one digit is left.
            digits.truncate(len.max(1));
        }
        Self {
            negative: mantissa.starts_with('-'),
            digits,
            point: exponent.parse().unwrap_or(0) + 1,
        }
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    /// The exponent when one digit stands before the point.
    fn exponent(&self) -> (char, u32) {
        let exponent = self.point - 1;
        (
            if exponent < 0 { '-' } else { '+' },
            exponent.unsigned_abs(),
        )
    }

    /// `zero` stands before the point of a number below one.
    fn positional(&self, zero: &str) -> String {
        let (sign, digits) = (self.sign(), self.digits.as_str());
        let before = self.point.max(0) as usize;
        let zeros = "0".repeat((-self.point).max(0) as usize);
        match digits.split_at_checked(before) {
            _ if before == 0 => format!("{sign}{zero}.{zeros}{digits}"),
            None | Some((_, "")) => format!("{sign}{digits:0<before$}"),
            Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_as_each_writer_has_them() {
        let rows = [
            (0.0, "0", "0"),
            (-0.0, "-0", "-0"),
            (0.1, ".1", "0.1"),
            (-2.25, "-2.25", "-2.25"),
            (100_000.0, "100000", "100000"),
            (1_000_000.0, "1e+06", "1000000"),
            (1_230_000.0, "1230000", "1230000"),
            (1e14, "1e+14", "1.0e+14"),
            (
                123_456_789_012_345.0,
                "123456789012345",
                "1.2345678901234e+14",
            ),
            (0.0001, ".0001", "0.0001"),
            (0.00012, ".00012", "0.00012"),
            (0.00001, "1e-05", "1.0e-5"),
            (
                1_658_206_780_088_562.0 + 0.25,
                "1658206780088562.2",
                "1.6582067800886e+15",
            ),
            (1.5e300, "1.5e+300", "1.5e+300"),
            (5e-324, "5e-324", "4.9406564584125e-324"),
            (1.0 / 3.0, ".3333333333333333", "0.33333333333333"),
            (99_999_999_999_999.9, "99999999999999.9", "1.0e+14"),
            (
                100_000_000_000_005.0,
                "100000000000005",
                "1.0000000000000e+14",
            ),
            (
                -100_000_000_000_015.0,
                "-100000000000015",
                "-1.0000000000002e+14",
            ),
            (f64::INFINITY, "Infinity", "INF"),
            (f64::NEG_INFINITY, "-Infinity", "-INF"),
            (f64::NAN, "NaN", "NAN"),
        ];
        for (value, memcached, memcache) in rows {
            assert_eq!(g_fmt(value), memcached);
            assert_eq!(percent_14g(value), memcache);
        }
    }

    #[cfg(feature = "php")]
    #[test]
    fn serialized_doubles() {
        for (value, text) in [
            (-0.0, "-0"),
            (1e16, "10000000000000000"),
            (1e17, "1.0E+17"),
            (1.234_567_890_123_456_8e17, "1.2345678901234568E+17"),
            (1.5e-7, "1.5E-7"),
            (0.0001, "0.0001"),
            (f64::INFINITY, "INF"),
            (f64::NAN, "NAN"),
        ] {
            assert_eq!(serialized(value), text);
        }
    }

    #[test]
    fn longs_are_read_as_far_as_they_go() {
        for (text, value) in [
            ("42", 42),
            (" \t\x0b-7x", -7),
            ("+5", 5),
            ("", 0),
            ("-", 0),
            ("zzz", 0),
            ("9223372036854775807", i64::MAX),
            ("9223372036854775808", i64::MAX),
            ("-9223372036854775808", i64::MIN),
            ("-99999999999999999999999", i64::MIN),
        ] {
            assert_eq!(strtol(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn doubles_are_read_as_far_as_they_go() {
        for (text, value) in [
            (".1", 0.1),
            ("1.5xyz", 1.5),
            ("5.", 5.0),
            ("1e", 1.0),
            ("1e+", 1.0),
            ("-1.e2x", -100.0),
            ("", 0.0),
            (".", 0.0),
            ("-", 0.0),
            (" 1", 0.0),
            ("inf", 0.0),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(strtod(text.as_bytes()), value, "{text}");
        }
        assert_eq!(scan_double(b" -INFINITY"), f64::NEG_INFINITY);
        assert_eq!(scan_double(b" 1.5"), 1.5);
        assert!(scan_double(b"NAN").is_nan());
        assert_eq!((double(b"1.5"), double(b"1.5x")), (Some(1.5), None));
    }
}
