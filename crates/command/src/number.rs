//! Numbers as people read them.

/// The most digits after the point. Smaller numbers are written with a power of ten.
const MOST_DIGITS: i32 = 9;
/// A half-width below this share of its value is a rounding error: the mean of equal values has one.
const ROUNDING: f64 = 1e-12;

/// Formats a number: four digits, or together with the half-width of its interval to that one's second
/// digit, in groups of three. `-` stands for none.
pub fn number(value: Option<f64>, half_width: Option<f64>) -> String {
    let Some(value) = value.filter(|value| !value.is_nan()) else { return "-".to_owned() };
    match half_width.filter(|width| *width != 0.0 && *width >= ROUNDING * value.abs()) {
        None => {
            let digits = if value == 0.0 { 0 } else { (3 - exponent(value)).max(0) };
            stripped(grouped(value, digits))
        }
        Some(width) => {
            let digits = (1 - exponent(width)).max(0);
            format!("{} ± {}", grouped(value, digits), grouped(width, digits))
        }
    }
}

/// Formats a number with `digits` significant digits, without zeros at the end, and with a power of ten if
/// it is large or small: C's `%g`.
pub fn significant(value: f64, digits: i32) -> String {
    let rounded = format!("{value:.*e}", (digits - 1).max(0) as usize);
    let (mantissa, power) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    match power.parse::<i32>() {
        Ok(power) if power < -4 || power >= digits => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", stripped(mantissa.to_owned()), power.abs())
        }
        Ok(power) => stripped(format!("{value:.*}", (digits - 1 - power).max(0) as usize)),
        // Infinity has no power.
        Err(_) => value.to_string(),
    }
}

/// Returns the power of ten of the first digit.
fn exponent(value: f64) -> i32 {
    format!("{value:e}").split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0)
}

fn grouped(value: f64, digits: i32) -> String {
    if digits > MOST_DIGITS {
        return significant(value, 3);
    }
    let text = format!("{value:.*}", digits as usize);
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, whole) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut made = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            made.push(' ');
        }
        made.push(digit);
    }
    made + rest
}

fn stripped(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_four_digits_in_groups_of_three() {
        for (value, said) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (-0.126_45, "-0.1265"),
            (999.96, "1 000"),
            (12_345.678, "12 346"),
            (-1_234_567.0, "-1 234 567"),
            (123.0, "123"),
            (0.000_001_234_56, "0.000001235"),
            (1.5e-8, "1.5e-08"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(number(Some(value), None), said);
        }
        assert_eq!(number(None, None), "-");
    }

    #[test]
    fn an_interval_ends_at_the_second_digit_of_its_half_width() {
        for (value, width, said) in [
            (1234.567, 12.0, "1 235 ± 12"),
            (1.5, 0.25, "1.50 ± 0.25"),
            (3.0, 0.0, "3"),
            (1e6, 1e-9, "1 000 000"),
            (0.1, 1e-10, "0.1 ± 1e-10"),
            (8.0, 100.0, "8 ± 100"),
        ] {
            assert_eq!(number(Some(value), Some(width)), said);
        }
    }

    #[test]
    fn significant_digits_are_those_of_c() {
        for (value, said) in [
            (2.345_678, "2.346"),
            (101.25, "101.2"),
            (4.0, "4"),
            (0.0, "0"),
            (12_345.0, "1.234e+04"),
            (9999.6, "1e+04"),
            (0.000_123_45, "0.0001234"),
            (0.000_012_3, "1.23e-05"),
            (-6.123_45, "-6.123"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(value, 4), said);
        }
    }
}
