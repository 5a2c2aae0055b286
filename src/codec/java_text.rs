//! What Java's `toString()` gives for the values that have a plain form. It knows no payload.

use super::dates::{self, Civil};
use super::value::Value;

/// 1582-10-15: Java's dates follow the Julian calendar before it (`java.util.GregorianCalendar`).
const GREGORIAN_SINCE: i64 = -12_219_292_800_000;

/// Decimal exponents from which on Java writes `1.0E7` and `9.0E-4` (`Double.toString`).
const PLAIN: std::ops::Range<i32> = -3..7;

/// The text of a number, truth value, character or date; dates in UTC, where Java takes the zone of its system.
/// `None` for half of a surrogate pair, for dates before 1582, and for everything else.
pub(super) fn of_scalar(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Bool(v) => v.to_string(),
        Value::I8(v) => v.to_string(),
        Value::I16(v) => v.to_string(),
        Value::I32(v) => v.to_string(),
        Value::I64(v) => v.to_string(),
        Value::F32(v) => of_float(&format!("{v:e}"), &format!("{v:.1e}")),
        Value::F64(v) => of_float(&format!("{v:e}"), &format!("{v:.1e}")),
        Value::Char(unit) => char::from_u32(u32::from(*unit))?.to_string(),
        Value::Date(millis) if *millis >= GREGORIAN_SINCE => of_date(*millis),
        _ => return None,
    })
}

/// `Date.toString()`: `Thu Jan 01 00:00:00 UTC 1970`.
fn of_date(millis: i64) -> String {
    const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let Civil {
        year,
        month,
        day,
        weekday,
        hour,
        minute,
        second,
    } = dates::civil(millis.div_euclid(1_000));
    let (weekday, month) = (WEEKDAYS[weekday], MONTHS[month]);
    format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} UTC {year:04}")
}

/// `Double.toString` and `Float.toString` from Rust's shortest digits, as `1.25e-7`.
///
/// Java writes two digits at least and takes the nearest such number: `4.9E-324`, where one digit, 5, would do.
/// JDK 18 and older write a digit too many for some numbers; this is the text of later ones.
fn of_float(shortest: &str, two_digits: &str) -> String {
    let text = if shortest.contains('.') {
        shortest
    } else {
        two_digits
    };
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text.replace("inf", "Infinity");
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    if !PLAIN.contains(&exponent) {
        return format!("{sign}{mantissa}E{exponent}");
    }
    let digits = mantissa.replace('.', "");
    let (whole, fraction) = match usize::try_from(exponent) {
        Ok(exponent) => {
            let padded = format!("{digits:0<width$}", width = exponent + 2);
            let (whole, fraction) = padded.split_at(exponent + 1);
            (whole.to_owned(), fraction.to_owned())
        }
        Err(_) => {
            let zeros = exponent.unsigned_abs() as usize - 1;
            ("0".to_owned(), format!("{}{digits}", "0".repeat(zeros)))
        }
    };
    let fraction = match fraction.trim_end_matches('0') {
        "" => "0",
        fraction => fraction,
    };
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_java_writes_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (10.0, "10.0"),
            (100.5, "100.5"),
            (123_456.0, "123456.0"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (12_345_678.0, "1.2345678E7"),
            (0.001, "0.001"),
            (0.0012, "0.0012"),
            (0.1, "0.1"),
            (9.99e-4, "9.99E-4"),
            (-1e-5, "-1.0E-5"),
            (2e23, "2.0E23"),
            (4.9e-324, "4.9E-324"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (float, text) in cases {
            assert_eq!(of_scalar(&Value::F64(float)).unwrap(), text);
        }
        for (float, text) in [(1e-45_f32, "1.4E-45"), (1e10, "1.0E10"), (0.3, "0.3")] {
            assert_eq!(of_scalar(&Value::F32(float)).unwrap(), text);
        }
    }

    #[test]
    fn dates_as_java_writes_them() {
        let date = |millis| of_scalar(&Value::Date(millis));
        assert_eq!(date(-1).unwrap(), "Wed Dec 31 23:59:59 UTC 1969");
        assert_eq!(
            date(951_827_696_789).unwrap(),
            "Tue Feb 29 12:34:56 UTC 2000"
        );
        assert_eq!(
            date(GREGORIAN_SINCE).unwrap(),
            "Fri Oct 15 00:00:00 UTC 1582"
        );
        assert_eq!(date(GREGORIAN_SINCE - 1), None);
        assert!(date(i64::MAX).is_some());
    }
}
