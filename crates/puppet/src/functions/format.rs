//! `sprintf`: values put into a text, as Ruby does it.

use ecow::EcoString;

use super::{ANY, Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::resource::capitalised;
use crate::types::Type;
use crate::types::printf::Layout;
use crate::value::{Datum, Hash, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "sprintf",
        (1, ANY),
        "sprintf(String $format, Any *$values) >> String: values put into a text: %s %d %f %x and their like, with flags, width and precision; `%<name>d` and `%{name}` take them from a hash",
        |evaluator, call| {
            let call = call.older()?;
            let values = &call.arguments[1..];
            formatted(evaluator, &call, values)
        },
    ),
    plain(
        "sprintf_hash",
        (2, 2),
        "sprintf_hash(String $format, Hash $values) >> String: values of a hash put into a text: `%<name>d` and `%{name}`",
        |evaluator, call| {
            call.hash(evaluator, 1)?;
            let values = &call.arguments[1..];
            formatted(evaluator, &call, values)
        },
    ),
];

fn formatted<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    values: &[Value],
) -> Outcome {
    let format = call.text(evaluator, 0)?;
    let mut writer = Writer {
        values,
        next: 0,
        taken: Taken::Nothing,
        out: String::new(),
    };
    match writer.run(format) {
        Ok(()) => {
            let text = EcoString::from(writer.out);
            call.text_result(evaluator, text)
        }
        Err(Trouble::Format(why)) => call.wrong(0, why),
        Err(Trouble::Value(number, why)) => call.wrong(number + 1, why),
        Err(Trouble::TooLong) => call.too_long(),
    }
}

/// Why values cannot be put into a format.
enum Trouble {
    Format(String),
    Value(usize, String),
    TooLong,
}

/// How values were taken so far, as one format takes them one way only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Nothing,
    InOrder,
    ByNumber,
    ByName,
}

struct Writer<'a> {
    values: &'a [Value],
    next: usize,
    taken: Taken,
    out: String,
}

impl<'a> Writer<'a> {
    fn run(&mut self, format: &str) -> Result<(), Trouble> {
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            self.out.push_str(&rest[..at]);
            rest = self.directive(&rest[at + 1..])?;
            if self.out.len() > super::arguments::LONGEST_TEXT {
                return Err(Trouble::TooLong);
            }
        }
        self.out.push_str(rest);
        Ok(())
    }

    /// What stands behind a `%`; what is behind that is given back.
    fn directive<'f>(&mut self, format: &'f str) -> Result<&'f str, Trouble> {
        let mut layout = Layout::default();
        let mut value: Option<(usize, &'a Datum)> = None;
        let mut plain = true;
        let mut rest = format;
        loop {
            let Some(next) = rest.chars().next() else {
                let why = "a `%` at the end is written as `%%`";
                return Err(Trouble::Format(why.to_owned()));
            };
            let behind = &rest[next.len_utf8()..];
            match next {
                ' ' => layout.space = true,
                '#' => layout.alternative = true,
                '+' => layout.plus = true,
                '-' => layout.left = true,
                '0' if layout.width.is_none() && layout.precision.is_none() => layout.zero = true,
                '1'..='9' => {
                    let (number, behind) = digits(rest)?;
                    rest = match behind.strip_prefix('$') {
                        Some(behind) => {
                            if value.is_some() {
                                return Err(twice());
                            }
                            value = Some(self.numbered(number)?);
                            behind
                        }
                        None if layout.width.is_some() || layout.precision.is_some() => {
                            return Err(Trouble::Format("a width is given twice".to_owned()));
                        }
                        None => {
                            layout.width = Some(bounded(number)?);
                            behind
                        }
                    };
                    plain = false;
                    continue;
                }
                '*' => {
                    if layout.width.is_some() {
                        return Err(Trouble::Format("a width is given twice".to_owned()));
                    }
                    let (width, behind) = self.starred(behind)?;
                    layout.left |= width < 0;
                    layout.width = Some(bounded(
                        usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX),
                    )?);
                    rest = behind;
                    plain = false;
                    continue;
                }
                '.' => {
                    if layout.precision.is_some() {
                        return Err(Trouble::Format("a precision is given twice".to_owned()));
                    }
                    let (precision, behind) = match behind.strip_prefix('*') {
                        Some(behind) => {
                            let (precision, behind) = self.starred(behind)?;
                            // A precision below zero is none.
                            (usize::try_from(precision).ok(), behind)
                        }
                        None if behind.starts_with(|char: char| char.is_ascii_digit()) => {
                            let (precision, behind) = digits(behind)?;
                            (Some(precision), behind)
                        }
                        None => (Some(0), behind),
                    };
                    layout.precision = precision.map(bounded).transpose()?;
                    rest = behind;
                    plain = false;
                    continue;
                }
                '<' | '{' => {
                    let end = if next == '<' { '>' } else { '}' };
                    let Some((name, behind)) = behind.split_once(end) else {
                        return Err(Trouble::Format(format!("there is no `{end}` to `{next}`")));
                    };
                    if value.is_some() {
                        return Err(twice());
                    }
                    let found = self.named(name)?;
                    if next == '{' {
                        let text = shown(found.1);
                        self.out.push_str(&layout.text(&text));
                        return Ok(behind);
                    }
                    value = Some(found);
                    rest = behind;
                    plain = false;
                    continue;
                }
                '%' if plain && rest.len() == format.len() => {
                    self.out.push('%');
                    return Ok(behind);
                }
                '\n' | '\0' if plain && rest.len() == format.len() => {
                    self.out.push('%');
                    return Ok(rest);
                }
                letter => {
                    let kinds = "sdiufeEgGaAxXobBcp";
                    if !kinds.contains(letter) {
                        let why = format!("`%{letter}` is no format");
                        return Err(Trouble::Format(why));
                    }
                    let (number, value) = match value {
                        Some(value) => value,
                        None => self.in_order()?,
                    };
                    self.put(layout, letter, number, value)?;
                    return Ok(behind);
                }
            }
            rest = behind;
        }
    }

    fn put(
        &mut self,
        layout: Layout,
        letter: char,
        number: usize,
        value: &Datum,
    ) -> Result<(), Trouble> {
        let wrong = |why: String| Trouble::Value(number, why);
        let text = match letter {
            's' => layout.text(&shown(value)),
            'p' => layout.text(&ruby::inspect(value)),
            'c' => {
                let character = match value {
                    Datum::Text(text) if text.chars().count() == 1 => text.clone(),
                    Datum::Integer(code) => {
                        let code = u32::try_from(*code).ok().and_then(char::from_u32);
                        let code =
                            code.ok_or_else(|| wrong("there is no such character".into()))?;
                        code.to_string().into()
                    }
                    _ => return Err(wrong("expected one character, or its number".into())),
                };
                // A character is not cut off.
                let layout = Layout {
                    precision: None,
                    ..layout
                };
                layout.text(&character)
            }
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'b' | 'B' => {
                let letter = if matches!(letter, 'i' | 'u') {
                    'd'
                } else {
                    letter
                };
                layout.integer(whole(value).map_err(wrong)?, letter)
            }
            _ => match value {
                // A whole number is written with all its digits, and without a point behind them.
                Datum::Integer(integer) if letter == 'f' => whole_as_float(layout, *integer),
                _ => layout.float(floating(value).map_err(wrong)?, letter),
            },
        };
        self.out.push_str(&text);
        Ok(())
    }

    fn take(&mut self, way: Taken) -> Result<(), Trouble> {
        if self.taken != Taken::Nothing && self.taken != way {
            let why = "values are taken in order, by number or by name, and not in two ways";
            return Err(Trouble::Format(why.to_owned()));
        }
        self.taken = way;
        Ok(())
    }

    fn in_order(&mut self) -> Result<(usize, &'a Datum), Trouble> {
        self.take(Taken::InOrder)?;
        let number = self.next;
        self.next += 1;
        self.at(number)
    }

    fn numbered(&mut self, number: usize) -> Result<(usize, &'a Datum), Trouble> {
        self.take(Taken::ByNumber)?;
        self.at(number - 1)
    }

    fn at(&self, number: usize) -> Result<(usize, &'a Datum), Trouble> {
        match self.values.get(number) {
            Some(value) => Ok((number, &value.datum)),
            None => Err(Trouble::Format(match self.values.len() {
                0 => "the format takes a value, and gets none".to_owned(),
                1 => "the format takes more than one value".to_owned(),
                given => format!("the format takes more than {given} values"),
            })),
        }
    }

    fn named(&mut self, name: &str) -> Result<(usize, &'a Datum), Trouble> {
        self.take(Taken::ByName)?;
        let hash: &Hash = match self.values {
            [
                Value {
                    datum: Datum::Hash(hash),
                    ..
                },
            ] => hash,
            _ => return Err(Trouble::Format("names need one hash of values".to_owned())),
        };
        match hash.get_text(name) {
            Some(value) => Ok((0, &value.datum)),
            None => Err(Trouble::Format(format!("there is no value for `{name}`"))),
        }
    }

    /// The value of a `*`, which may have a number: `*1$`.
    fn starred<'f>(&mut self, behind: &'f str) -> Result<(i64, &'f str), Trouble> {
        let numbered = match behind.starts_with(|char: char| char.is_ascii_digit()) {
            true => {
                let (number, rest) = digits(behind)?;
                rest.strip_prefix('$').map(|rest| (number, rest))
            }
            false => None,
        };
        let ((number, value), rest) = match numbered {
            Some((number, rest)) if number > 0 => (self.numbered(number)?, rest),
            _ => (self.in_order()?, behind),
        };
        let width = whole(value).map_err(|why| Trouble::Value(number, why))?;
        let width = i64::try_from(width).map_err(|_| Trouble::TooLong)?;
        Ok((width, rest))
    }
}

/// A value as text; a reference without quotes around the title.
fn shown(datum: &Datum) -> EcoString {
    match datum {
        Datum::Type(kind) => match kind.as_ref() {
            Type::Resource(Some(name), Some(title)) => {
                ecow::eco_format!("{}[{title}]", capitalised(name))
            }
            Type::Class(Some(name)) => ecow::eco_format!("Class[{}]", capitalised(name)),
            _ => ruby::text(datum),
        },
        _ => ruby::text(datum),
    }
}

fn whole_as_float(layout: Layout, number: i64) -> String {
    let unfilled = Layout {
        width: None,
        precision: None,
        zero: false,
        ..layout
    };
    let mut text = unfilled.integer(number, 'd');
    let precision = layout.precision.unwrap_or(6);
    if precision > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', precision));
    }
    let missing = layout.width.unwrap_or(0).saturating_sub(text.len());
    if layout.zero && !layout.left {
        let sign = usize::from(text.starts_with(['-', '+', ' ']));
        text.insert_str(sign, &"0".repeat(missing));
    }
    let filled = Layout {
        precision: None,
        ..layout
    };
    filled.text(&text)
}

fn twice() -> Trouble {
    Trouble::Format("a value is named twice".to_owned())
}

fn digits(text: &str) -> Result<(usize, &str), Trouble> {
    let end = text.find(|char: char| !char.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    let number = digits.parse().map_err(|_| Trouble::TooLong)?;
    Ok((number, rest))
}

/// A width or precision that can be had.
fn bounded(number: usize) -> Result<usize, Trouble> {
    match number <= super::arguments::LONGEST_TEXT {
        true => Ok(number),
        false => Err(Trouble::TooLong),
    }
}

fn whole(value: &Datum) -> Result<i128, String> {
    match value {
        Datum::Integer(integer) => Ok(i128::from(*integer)),
        Datum::Float(float) if float.is_finite() && float.abs() < 1e38 => Ok(float.trunc() as i128),
        Datum::Text(text) => match ruby::integer(text) {
            Some(integer) => Ok(i128::from(integer)),
            None => Err(format!("'{text}' is no whole number")),
        },
        other => Err(format!("{} is no number", ruby::inspect(other))),
    }
}

fn floating(value: &Datum) -> Result<f64, String> {
    match value {
        Datum::Integer(integer) => Ok(*integer as f64),
        Datum::Float(float) => Ok(*float),
        Datum::Text(text) => match ruby::float(text) {
            Some(float) => Ok(float),
            None => Err(format!("'{text}' is no number")),
        },
        other => Err(format!("{} is no number", ruby::inspect(other))),
    }
}
