//! Whether values are what they should be.
//!
//! `is_…` says so, `validate_…` fails if not. Most are older than types, and lenient where texts look like
//! something else.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};

use super::{ANY, Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome, fail};
use crate::value::{Datum, Value};

/// A class or defined type is used from another module, and may not be.
pub const PRIVATE: Code = Code::new("puppet.private");
/// A value is not what it should be.
pub const INVALID: Code = Code::new("puppet.invalid");

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "assert_private",
        (0, 1),
        "assert_private(String $message = ''): fails if the class or defined type around is used from another module",
        assert_private,
    ),
    plain(
        "is_array",
        (1, ANY),
        "is_array(Any $value) >> Boolean: whether it is an array",
        |evaluator, call| says(evaluator, call, |datum| matches!(datum, Datum::Array(_))),
    ),
    plain(
        "is_hash",
        (1, 1),
        "is_hash(Any $value) >> Boolean: whether it is a hash",
        |evaluator, call| says(evaluator, call, |datum| matches!(datum, Datum::Hash(_))),
    ),
    plain(
        "is_bool",
        (1, 1),
        "is_bool(Any $value) >> Boolean: whether it is true or false",
        |evaluator, call| says(evaluator, call, |datum| matches!(datum, Datum::Bool(_))),
    ),
    plain(
        "is_string",
        (1, ANY),
        "is_string(Any $value) >> Boolean: whether it is text that is no number",
        |evaluator, call| says(evaluator, call, is_string),
    ),
    plain(
        "is_integer",
        (1, 1),
        "is_integer(Any $value) >> Boolean: whether it is a whole number, or text that is one",
        |evaluator, call| {
            says(evaluator, call, |datum| match datum {
                Datum::Integer(_) => true,
                Datum::Text(text) => is_integer(text),
                _ => false,
            })
        },
    ),
    plain(
        "is_float",
        (1, 1),
        "is_float(Any $value) >> Boolean: whether it is a number with a point, or text that is one",
        |evaluator, call| {
            says(evaluator, call, |datum| match datum {
                Datum::Float(_) => true,
                Datum::Text(text) => is_shown_as(text, Datum::Float(ruby::leading_float(text))),
                _ => false,
            })
        },
    ),
    plain(
        "is_numeric",
        (1, 1),
        "is_numeric(Any $value) >> Boolean: whether it is a number, or text that is one",
        |evaluator, call| {
            says(evaluator, call, |datum| match datum {
                Datum::Integer(_) | Datum::Float(_) => true,
                Datum::Text(text) => text.split_terminator('\n').any(is_numeric),
                _ => false,
            })
        },
    ),
    plain(
        "is_absolute_path",
        (1, 1),
        "is_absolute_path(String $path) >> Boolean: whether it is an absolute path, of Unix or of Windows",
        |evaluator, call| {
            says(evaluator, call, |datum| match datum {
                Datum::Text(text) => is_absolute(text),
                _ => false,
            })
        },
    ),
    plain(
        "is_domain_name",
        (1, 1),
        "is_domain_name(Any $name) >> Boolean: whether it is a domain name",
        |evaluator, call| {
            says(evaluator, call, |datum| match datum {
                Datum::Text(text) => is_domain_name(text),
                _ => false,
            })
        },
    ),
    plain(
        "is_email_address",
        (1, 1),
        "is_email_address(Any $address) >> Boolean: whether it is an address of mail",
        |evaluator, call| {
            says(evaluator, call, |datum| match datum {
                Datum::Text(text) => is_email_address(text),
                _ => false,
            })
        },
    ),
    plain(
        "is_mac_address",
        (1, 1),
        "is_mac_address(String $address) >> Boolean: whether it is the address of a network card",
        |evaluator, call| {
            let call = call.older()?;
            let is_address = match &call.arguments[0].datum {
                Datum::Text(text) => text.split_terminator('\n').any(is_mac_address),
                Datum::Default => false,
                _ => return call.unexpected(evaluator, 0, "text"),
            };
            Ok(call.result(evaluator, is_address))
        },
    ),
    plain(
        "is_ip_address",
        (1, 1),
        "is_ip_address(String $address) >> Boolean: whether it is an IP address or network",
        |evaluator, call| of_address(evaluator, call, |_| true),
    ),
    plain(
        "is_ipv4_address",
        (1, 1),
        "is_ipv4_address(String $address) >> Boolean: whether it is an IPv4 address or network",
        |evaluator, call| of_address(evaluator, call, |network| network.address.is_ipv4()),
    ),
    plain(
        "is_ipv6_address",
        (1, 1),
        "is_ipv6_address(String $address) >> Boolean: whether it is an IPv6 address or network",
        |evaluator, call| of_address(evaluator, call, |network| network.address.is_ipv6()),
    ),
    plain(
        "stdlib::ip_in_range",
        (2, 2),
        "stdlib::ip_in_range(String $address, Variant[String, Array] $networks) >> Boolean: whether an address is in a network, or in one of several",
        |evaluator, call| {
            let read = |datum: &Datum, number: usize| match datum {
                Datum::Text(text) => match Network::read(text) {
                    Some(network) => Ok(network),
                    None => call.wrong(number, format!("'{text}' is no IP address")),
                },
                _ => call.wrong(number, "expected an IP address"),
            };
            let address = read(&call.arguments[0].datum, 0)?;
            let networks = match &call.arguments[1].datum {
                Datum::Array(networks) => networks.as_slice(),
                _ => std::slice::from_ref(&call.arguments[1]),
            };
            let mut found = false;
            for network in networks {
                let network = read(&network.datum, 1)?;
                found |= network.contains(&address);
            }
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "enclose_ipv6",
        (1, 1),
        "enclose_ipv6(Variant[String, Array] $addresses) >> Array: addresses, those of IPv6 in brackets",
        |evaluator, call| {
            let call = call.older()?;
            if !matches!(call.arguments[0].datum, Datum::Text(_) | Datum::Array(_)) {
                return call.unexpected(evaluator, 0, "text or an array");
            }
            let mut flat = Vec::new();
            ruby::flatten([&call.arguments[0]], &mut flat);
            let mut enclosed = Vec::new();
            for value in flat.into_iter().filter(|value| !value.is_undef()) {
                let network = match &value.datum {
                    Datum::Text(text) if text == "*" => None,
                    Datum::Text(text) => match Network::read(text) {
                        Some(network) => Some(network),
                        None => return call.wrong(0, format!("'{text}' is no IP address")),
                    },
                    _ => return call.wrong(0, "expected IP addresses"),
                };
                enclosed.push(match network {
                    Some(network) if network.address.is_ipv6() => {
                        let origin = evaluator.trace.operation(call.at, [value.clone()]);
                        Value::new(format!("[{}]", network.first()), origin)
                    }
                    _ => value,
                });
            }
            let enclosed = super::arrays::distinct(enclosed);
            Ok(call.result(evaluator, crate::value::Array::from(enclosed)))
        },
    ),
    plain(
        "is_function_available",
        (1, 1),
        "is_function_available(Any $name) >> Boolean: whether there is a function of that name",
        |evaluator, call| {
            let call = call.older()?;
            let found = match &call.arguments[0].datum {
                Datum::Text(name) => {
                    let name = name.clone();
                    super::find(&name).is_some() || evaluator.find_function(&name)?.is_some()
                }
                _ => false,
            };
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "has_interface_with",
        (1, 2),
        "has_interface_with(String $kind, String $value) >> Boolean: whether a network card of the node has that value, by facts such as `ipaddress_eth0`",
        |evaluator, call| {
            let call = call.older()?;
            let found = match call.arguments.get(1).map(|value| value.datum.clone()) {
                Some(value) => has_interface(evaluator, call.text(evaluator, 0)?, &value),
                None => interfaces(evaluator).contains(call.text(evaluator, 0)?),
            };
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "has_ip_address",
        (1, 1),
        "has_ip_address(String $address) >> Boolean: whether a network card of the node has that address",
        |evaluator, call| {
            let call = call.older()?;
            let found = has_interface(evaluator, "ipaddress", &call.arguments[0].datum);
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "has_ip_network",
        (1, 1),
        "has_ip_network(String $network) >> Boolean: whether a network card of the node is in that network",
        |evaluator, call| {
            let call = call.older()?;
            let found = has_interface(evaluator, "network", &call.arguments[0].datum);
            Ok(call.result(evaluator, found))
        },
    ),
    plain(
        "validate_array",
        (1, ANY),
        "validate_array(Any *$values): fails unless all are arrays",
        |evaluator, call| {
            each_is(evaluator, call, "an array", |it| {
                matches!(it, Datum::Array(_))
            })
        },
    ),
    plain(
        "validate_hash",
        (1, ANY),
        "validate_hash(Any *$values): fails unless all are hashes",
        |evaluator, call| each_is(evaluator, call, "a hash", |it| matches!(it, Datum::Hash(_))),
    ),
    plain(
        "validate_bool",
        (1, ANY),
        "validate_bool(Any *$values): fails unless all are true or false",
        |evaluator, call| {
            each_is(evaluator, call, "true or false", |it| {
                matches!(it, Datum::Bool(_))
            })
        },
    ),
    plain(
        "validate_string",
        (1, ANY),
        "validate_string(Any *$values): fails unless all are texts",
        |evaluator, call| {
            each_is(evaluator, call, "text", |it| {
                matches!(it, Datum::Text(_) | Datum::Undef)
            })
        },
    ),
    plain(
        "validate_absolute_path",
        (1, ANY),
        "validate_absolute_path(Any *$paths): fails unless all are absolute paths",
        |evaluator, call| {
            each_is(evaluator, call, "an absolute path", |datum| {
                let is_path = |datum: &Datum| match datum {
                    Datum::Text(text) => is_absolute(text),
                    _ => false,
                };
                match datum {
                    Datum::Array(paths) => paths.iter().all(|path| is_path(&path.datum)),
                    other => is_path(other),
                }
            })
        },
    ),
    plain(
        "validate_domain_name",
        (1, ANY),
        "validate_domain_name(String *$names): fails unless all are domain names",
        |evaluator, call| {
            each_is(evaluator, call, "a domain name", |datum| match datum {
                Datum::Text(text) => is_domain_name(text),
                _ => false,
            })
        },
    ),
    plain(
        "validate_email_address",
        (1, ANY),
        "validate_email_address(String *$addresses): fails unless all are addresses of mail",
        |evaluator, call| {
            each_is(evaluator, call, "an address of mail", |datum| match datum {
                Datum::Text(text) => is_email_address(text),
                _ => false,
            })
        },
    ),
    plain(
        "validate_ip_address",
        (1, ANY),
        "validate_ip_address(String *$addresses): fails unless all are IP addresses",
        |evaluator, call| {
            each_is(evaluator, call, "an IP address", |datum| match datum {
                Datum::Text(text) => Network::read(text).is_some(),
                _ => false,
            })
        },
    ),
    plain(
        "validate_ipv4_address",
        (1, ANY),
        "validate_ipv4_address(String *$addresses): fails unless all are IPv4 addresses",
        |evaluator, call| {
            each_is(evaluator, call, "an IPv4 address", |datum| match datum {
                Datum::Text(text) => Network::read(text).is_some_and(|it| it.address.is_ipv4()),
                _ => false,
            })
        },
    ),
    plain(
        "validate_ipv6_address",
        (1, ANY),
        "validate_ipv6_address(String *$addresses): fails unless all are IPv6 addresses",
        |evaluator, call| {
            each_is(evaluator, call, "an IPv6 address", |datum| match datum {
                Datum::Text(text) => Network::read(text).is_some_and(|it| it.address.is_ipv6()),
                _ => false,
            })
        },
    ),
    plain(
        "validate_re",
        (2, 3),
        "validate_re(String $text, Variant[String, Array] $patterns, String $message): fails unless the text matches one of the regular expressions",
        |evaluator, call| {
            let text = call.text(evaluator, 0)?.clone();
            let mut patterns = Vec::new();
            ruby::flatten([&call.arguments[1]], &mut patterns);
            for pattern in &patterns {
                let pattern = match &pattern.datum {
                    Datum::Text(source) => super::patterns::compiled(&call, 1, source, "")?,
                    Datum::Pattern(pattern) => pattern.clone(),
                    _ => return call.unexpected(evaluator, 1, "regular expressions"),
                };
                if pattern.is_match(&text) {
                    return Ok(evaluator.written(Datum::Undef, call.at.span));
                }
            }
            let usual = || {
                let patterns = ruby::inspect(&call.arguments[1].datum);
                format!("'{text}' does not match {patterns}")
            };
            let message = match call.arguments.get(2).map(|message| &message.datum) {
                Some(Datum::Text(message)) => message.to_string(),
                _ => usual(),
            };
            fail(INVALID, message, call.span(0))
        },
    ),
    plain(
        "validate_integer",
        (1, 3),
        "validate_integer(Any $value, Any $most, Any $least): fails unless it is a whole number, or an array of them, within the bounds",
        |evaluator, call| {
            validate_number(evaluator, call, "a whole number", |text| {
                ruby::integer(text).map(|integer| integer as f64)
            })
        },
    ),
    plain(
        "validate_numeric",
        (1, 3),
        "validate_numeric(Any $value, Any $most, Any $least): fails unless it is a number, or an array of them, within the bounds",
        |evaluator, call| validate_number(evaluator, call, "a number", ruby::float),
    ),
    plain(
        "validate_slength",
        (2, 3),
        "validate_slength(Variant[String, Array[String]] $texts, Integer $most, Integer $least): fails unless each text is that long",
        validate_length,
    ),
    plain(
        "validate_legacy",
        (3, ANY),
        "validate_legacy(Variant[Type, String] $type, String $function, Any $value, Any *$more): fails unless the value is of the type, or an older function such as validate_re accepts it",
        |evaluator, call| {
            let kind = super::convert::type_argument(evaluator, &call, 0)?;
            let name = call.text(evaluator, 1)?;
            let Some(function) = super::find(name) else {
                return call.wrong(1, format!("there is no function `{name}`"));
            };
            let value = call.arguments[2].clone();
            if kind.instance(&value.datum) {
                return Ok(evaluator.written(Datum::Undef, call.at.span));
            }
            let arguments = call.arguments[2..].to_vec();
            let accepted = evaluator.call_by_name(call.at, function.name, arguments, None);
            if accepted.is_ok() {
                return Ok(evaluator.written(Datum::Undef, call.at.span));
            }
            let actual = crate::types::Type::of(&value.datum);
            let message = format!("expected {kind}, got {actual}");
            let trouble = Diagnostic::error(INVALID, message).at(call.span(2));
            Err(evaluator.blaming(trouble, &value))
        },
    ),
];

fn assert_private<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let module = |evaluator: &Evaluator<'_>, name: &str| {
        let definition = evaluator.visible(name, call.at.span).ok()??;
        Some(evaluator.trace.definition(definition).value.datum.clone())
    };
    let own = module(evaluator, "module_name");
    let caller = module(evaluator, "caller_module_name");
    if own == caller {
        return Ok(evaluator.written(Datum::Undef, call.at.span));
    }
    let message = match call.arguments.first().map(|message| &message.datum) {
        Some(Datum::Text(message)) => message.to_string(),
        _ => {
            let id = evaluator.scopes[evaluator.scope.index()].resource;
            let reference = evaluator.resources[id.index()].reference();
            format!("{reference} is private to its module")
        }
    };
    let trouble = Diagnostic::error(PRIVATE, message).at(call.at.span);
    Err(evaluator.with_chain(trouble))
}

/// Whether something holds of the first argument.
fn says<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    holds: fn(&Datum) -> bool,
) -> Outcome {
    let holds = holds(&call.arguments[0].datum);
    Ok(call.result(evaluator, holds))
}

/// Fails unless something holds of all arguments.
fn each_is<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    expected: &str,
    holds: fn(&Datum) -> bool,
) -> Outcome {
    for (number, argument) in call.arguments.iter().enumerate() {
        if !holds(&argument.datum) {
            let shown = ruby::inspect(&argument.datum);
            let message = format!("expected {expected}, found {shown}");
            let trouble = Diagnostic::error(INVALID, message).at(call.span(number));
            return Err(evaluator.blaming(trouble, argument));
        }
    }
    Ok(evaluator.written(Datum::Undef, call.at.span))
}

fn is_string(datum: &Datum) -> bool {
    match datum {
        Datum::Text(text) => {
            let float = Datum::Float(ruby::leading_float(text));
            let integer = ruby::leading_integer(text).map_or(Datum::Undef, Datum::Integer);
            !is_shown_as(text, float) && !is_shown_as(text, integer)
        }
        Datum::Undef => true,
        _ => false,
    }
}

fn is_shown_as(text: &str, datum: Datum) -> bool {
    !text.is_empty() && ruby::text(&datum) == text
}

/// Whether a line of a text is a whole number, without zeros before it.
pub(super) fn is_integer(text: &str) -> bool {
    let is_number = |line: &str| {
        let digits = line.strip_prefix('-').unwrap_or(line);
        digits == "0" || is_digits(digits) && !digits.starts_with('0')
    };
    text.split_terminator('\n').any(is_number)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `-1.5e-3`
fn is_numeric(line: &str) -> bool {
    let (mantissa, exponent) = match line.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (line, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent = exponent.map(|exponent| exponent.strip_prefix('-').unwrap_or(exponent));
    is_integer(whole) && fraction.is_none_or(is_digits) && exponent.is_none_or(is_digits)
}

/// `/a`, `C:\a`, `\\server\share`
fn is_absolute(path: &str) -> bool {
    let slash = |char: char| matches!(char, '/' | '\\');
    let of_unix = path
        .split_terminator('\n')
        .any(|line| line.starts_with('/'));
    let of_windows = |line: &str| {
        let mut chars = line.chars();
        let drive = chars
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic());
        if drive && chars.next() == Some(':') && chars.next().is_some_and(slash) {
            return true;
        }
        let Some(rest) = line
            .strip_prefix(slash)
            .and_then(|rest| rest.strip_prefix(slash))
        else {
            return false;
        };
        let mut parts = rest.splitn(2, slash);
        let (host, share) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        !host.is_empty() && share.starts_with(|char| !slash(char))
    };
    of_unix || path.split_terminator('\n').any(of_windows)
}

fn is_domain_name(name: &str) -> bool {
    if name == "." {
        return true;
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() || name.chars().count() > 255 {
        return false;
    }
    if let Some((_, last)) = name.rsplit_once('.')
        && (last.is_empty() || !last.chars().all(|char| char.is_ascii_alphabetic()))
    {
        return false;
    }
    name.split('.').all(|label| {
        let is_letter = |char: char| char.is_ascii_alphanumeric() || char == '-';
        let length = label.chars().count();
        (1..=63).contains(&length)
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(is_letter)
    })
}

/// Letters, then `@`, then names with points between them of which the last is all letters.
fn is_email_address(text: &str) -> bool {
    let Some((user, host)) = text.rsplit_once('@') else {
        return false;
    };
    // Each character that is no letter stands behind one that is.
    let is_letter = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '+' | '-');
    let mut behind_letter = false;
    for char in user.chars() {
        if is_letter(char) {
            behind_letter = true;
        } else if behind_letter && char != '\n' {
            behind_letter = false;
        } else {
            return false;
        }
    }
    let mut labels = host.split('.');
    let first = labels.next().unwrap_or("");
    let is_first = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    let others: Vec<&str> = labels.collect();
    !user.is_empty()
        && !first.is_empty()
        && first.chars().all(is_first)
        && !others.is_empty()
        && others
            .iter()
            .all(|it| !it.is_empty() && it.chars().all(|char| char.is_ascii_lowercase()))
}

fn is_mac_address(line: &str) -> bool {
    let parts: Vec<&str> = line.split(':').collect();
    let is_part = |part: &&str| {
        matches!(part.len(), 1 | 2) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    matches!(parts.len(), 6 | 20) && parts.iter().all(is_part)
}

/// An address and how much of it counts.
pub(super) struct Network {
    pub(super) address: std::net::IpAddr,
    length: u32,
}

impl Network {
    /// Reads `10.0.0.1`, `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, `fe80::1`, `[fe80::1]` and `fe80::/10`.
    fn read(text: &str) -> Option<Self> {
        let (address, mask) = match text.split_once('/') {
            Some((address, mask)) => (address, Some(mask)),
            None => (text, None),
        };
        let bare = address
            .strip_prefix('[')
            .and_then(|it| it.strip_suffix(']'));
        let address: std::net::IpAddr = match bare {
            Some(bare) => std::net::IpAddr::V6(bare.parse().ok()?),
            None => {
                let zone = address.split_once('%').filter(|(it, _)| it.contains(':'));
                zone.map_or(address, |(address, _)| address).parse().ok()?
            }
        };
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = match mask {
            None => most,
            Some(mask) if is_digits(mask) => mask.parse().ok().filter(|length| *length <= most)?,
            Some(mask) => match (mask.parse().ok()?, address) {
                (std::net::IpAddr::V4(mask), std::net::IpAddr::V4(_)) => {
                    let bits = u32::from(mask);
                    let length = bits.leading_ones();
                    (bits.checked_shl(length).unwrap_or(0) == 0).then_some(length)?
                }
                (std::net::IpAddr::V6(mask), std::net::IpAddr::V6(_)) => {
                    let bits = u128::from(mask);
                    let length = bits.leading_ones();
                    (bits.checked_shl(length).unwrap_or(0) == 0).then_some(length)?
                }
                _ => return None,
            },
        };
        Some(Self { address, length })
    }

    /// The first address of the network.
    fn first(&self) -> std::net::IpAddr {
        match self.address {
            std::net::IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - self.length).unwrap_or(0);
                std::net::IpAddr::V4((u32::from(address) & mask).into())
            }
            std::net::IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - self.length).unwrap_or(0);
                std::net::IpAddr::V6((u128::from(address) & mask).into())
            }
        }
    }

    fn contains(&self, other: &Network) -> bool {
        let narrowed = Network {
            address: other.first(),
            length: self.length,
        };
        self.address.is_ipv4() == other.address.is_ipv4()
            && self.length <= other.length
            && self.first() == narrowed.first()
    }
}

fn of_address<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    holds: fn(&Network) -> bool,
) -> Outcome {
    let is_address = match &call.arguments[0].datum {
        Datum::Text(text) => Network::read(text).is_some_and(|network| holds(&network)),
        _ => false,
    };
    Ok(call.result(evaluator, is_address))
}

/// The value of a variable at the top that is a fact.
fn top_fact(evaluator: &Evaluator<'_>, name: &str) -> Option<Datum> {
    let definition = evaluator.qualified(&format!("::{name}"))?;
    Some(evaluator.trace.definition(definition).value.datum.clone())
}

fn interfaces(evaluator: &Evaluator<'_>) -> Vec<EcoString> {
    match top_fact(evaluator, "interfaces") {
        Some(Datum::Text(names)) => names.split(',').map(EcoString::from).collect(),
        _ => Vec::new(),
    }
}

fn has_interface(evaluator: &Evaluator<'_>, kind: &str, value: &Datum) -> bool {
    let interfaces = interfaces(evaluator);
    let has = |name: &str| top_fact(evaluator, name).is_some_and(|fact| fact == *value);
    !interfaces.is_empty()
        && (has(kind)
            || interfaces
                .iter()
                .any(|name| has(&format!("{kind}_{}", name.to_lowercase()))))
}

fn validate_number<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    expected: &str,
    read: fn(&str) -> Option<f64>,
) -> Outcome {
    let bound = |number: usize| {
        let Some(argument) = call.arguments.get(number) else {
            return Ok(None);
        };
        let text = ruby::text(&argument.datum);
        if number == 1 && call.arguments.len() > 2 && text.is_empty() {
            return Ok(None);
        }
        match read(&text) {
            Some(bound) => Ok(Some(bound)),
            None => call.wrong(number, format!("expected {expected} as a bound")),
        }
    };
    let (most, least) = (bound(1)?, bound(2)?);
    if most.zip(least).is_some_and(|(most, least)| least > most) {
        return call.wrong(1, "the upper bound is below the lower one");
    }
    let values = match &call.arguments[0].datum {
        Datum::Array(values) => values.as_slice(),
        _ => std::slice::from_ref(&call.arguments[0]),
    };
    for value in values {
        let is_hash = matches!(value.datum, Datum::Hash(_));
        let number = read(&ruby::text(&value.datum)).filter(|_| !is_hash);
        let shown = ruby::inspect(&value.datum);
        let Some(number) = number else {
            let message = format!("expected {expected}, found {shown}");
            return fail(INVALID, message, call.span(0));
        };
        if most.is_some_and(|most| number > most) || least.is_some_and(|least| number < least) {
            let message = format!("{shown} is beyond the bounds");
            return fail(INVALID, message, call.span(0));
        }
    }
    Ok(evaluator.written(Datum::Undef, call.at.span))
}

fn validate_length<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let bound = |number: usize, from: i64| {
        let bound = match &call.arguments[number].datum {
            Datum::Integer(bound) => Some(*bound),
            Datum::Float(bound) => Some(*bound as i64),
            Datum::Text(text) => ruby::integer(text),
            _ => None,
        };
        match bound.filter(|bound| *bound >= from) {
            Some(bound) => Ok(bound),
            None => call.wrong(number, "expected a whole number that is positive"),
        }
    };
    let most = bound(1, 1)?;
    let least = match call.arguments.get(2).map(|least| &least.datum) {
        None | Some(Datum::Undef | Datum::Bool(false)) => 0,
        Some(_) => bound(2, 0)?,
    };
    if most < least {
        return call.wrong(1, "the upper bound is below the lower one");
    }
    let texts = match &call.arguments[0].datum {
        Datum::Array(texts) => texts.as_slice(),
        _ => std::slice::from_ref(&call.arguments[0]),
    };
    for text in texts {
        let Datum::Text(text) = &text.datum else {
            return call.unexpected(evaluator, 0, "text or an array of texts");
        };
        let length = text.chars().count() as i64;
        if !(least..=most).contains(&length) {
            let message =
                format!("'{text}' has {length} characters, and should have {least} to {most}");
            return fail(INVALID, message, call.span(0));
        }
    }
    Ok(evaluator.written(Datum::Undef, call.at.span))
}
