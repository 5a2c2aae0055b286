//! What .NET Framework's `ToString()` gives, in the invariant culture, for the values that have a plain form. It knows no payload.

use super::dates::{self, Civil};
use super::value::Value;

/// Significant digits of `Single.ToString()` and `Double.ToString()`, the format `G`. .NET Core 3.0 and later write more.
const SINGLE_DIGITS: usize = 7;
const DOUBLE_DIGITS: usize = 15;

/// The smallest decimal exponent that the format `G` writes without an `E`.
const PLAIN_SINCE: i32 = -4;

/// The text of a number, truth value, character or date.
/// `None` for half of a surrogate pair, for dates out of .NET's range, and for everything else.
pub(super) fn of_scalar(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::U8(v) => v.to_string(),
        Value::I16(v) => v.to_string(),
        Value::I32(v) => v.to_string(),
        Value::I64(v) => v.to_string(),
        Value::F32(v) => of_float(f64::from(*v), SINGLE_DIGITS),
        Value::F64(v) => of_float(*v, DOUBLE_DIGITS),
        Value::Char(unit) => char::from_u32(u32::from(*unit))?.to_string(),
        Value::Date(millis) => of_ticks(dates::to_ticks(*millis)?),
        Value::Ticks(ticks) if dates::is_ticks(*ticks) => of_ticks(*ticks),
        _ => return None,
    })
}

/// `DateTime.ToString()`: `06/07/2007 12:34:56`.
fn of_ticks(ticks: i64) -> String {
    let Civil {
        year,
        month,
        day,
        hour,
        minute,
        second,
        ..
    } = dates::civil(dates::unix_seconds_of_ticks(ticks));
    let month = month + 1;
    format!("{month:02}/{day:02}/{year:04} {hour:02}:{minute:02}:{second:02}")
}

/// The format `G`: that many significant digits, zeros at the end cut off, an exponent of two digits where one is needed.
/// Negative zero has no sign.
fn of_float(value: f64, significant: usize) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let rounded = format!("{:.*e}", significant - 1, value.abs());
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    let sign = if value < 0.0 { "-" } else { "" };
    match usize::try_from(exponent) {
        Ok(exponent) if exponent < significant => {
            let padded = format!("{digits:0<width$}", width = exponent + 1);
            let (whole, fraction) = padded.split_at(exponent + 1);
            let point = if fraction.is_empty() { "" } else { "." };
            format!("{sign}{whole}{point}{fraction}")
        }
        Err(_) if exponent >= PLAIN_SINCE => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            format!("{sign}0.{zeros}{digits}")
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            let direction = if exponent < 0 { '-' } else { '+' };
            let exponent = exponent.unsigned_abs();
            format!("{sign}{first}{point}{rest}E{direction}{exponent:02}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_dotnet_framework_writes_them() {
        let cases = [
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (100.0, "100"),
            (0.1 + 0.2, "0.3"),
            (0.0001, "0.0001"),
            (0.00012, "0.00012"),
            (0.00001, "1E-05"),
            (1e14, "100000000000000"),
            (1e15, "1E+15"),
            (f64::MAX, "1.79769313486232E+308"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (float, text) in cases {
            assert_eq!(of_scalar(&Value::F64(float)).unwrap(), text);
        }
        for (float, text) in [(1e7_f32, "1E+07"), (1.1, "1.1"), (1_234_567.0, "1234567")] {
            assert_eq!(of_scalar(&Value::F32(float)).unwrap(), text);
        }
    }
}
