//! Digests of texts, base64, and numbers that look random and are always the same for a node.

use ecow::EcoString;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::{ANY, Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::trace::Origin;
use crate::value::{Array, Datum, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "md5",
        (1, 1),
        "md5(String $text) >> String: the MD5 digest, in hexadecimal",
        |evaluator, call| digest_of(evaluator, call, |text| hexadecimal(&Md5::digest(text))),
    ),
    plain(
        "sha1",
        (1, 1),
        "sha1(String $text) >> String: the SHA-1 digest, in hexadecimal",
        |evaluator, call| digest_of(evaluator, call, |text| hexadecimal(&Sha1::digest(text))),
    ),
    plain(
        "sha256",
        (1, 1),
        "sha256(String $text) >> String: the SHA-256 digest, in hexadecimal",
        |evaluator, call| digest_of(evaluator, call, |text| hexadecimal(&Sha256::digest(text))),
    ),
    plain(
        "stdlib::sha256",
        (1, 1),
        "stdlib::sha256(String $text) >> String: the SHA-256 digest, in hexadecimal",
        |evaluator, call| digest_of(evaluator, call, |text| hexadecimal(&Sha256::digest(text))),
    ),
    plain(
        "stdlib::sha512",
        (1, 1),
        "stdlib::sha512(String $text) >> String: the SHA-512 digest, in hexadecimal",
        |evaluator, call| digest_of(evaluator, call, |text| hexadecimal(&Sha512::digest(text))),
    ),
    plain(
        "digest",
        (1, 1),
        "digest(String $text) >> String: the usual digest, which is SHA-256, in hexadecimal",
        |evaluator, call| digest_of(evaluator, call, |text| hexadecimal(&Sha256::digest(text))),
    ),
    plain(
        "base64",
        (2, ANY),
        "base64(Enum[encode, decode] $way, String $text, Enum[default, strict, urlsafe] $kind = default) >> String: text as base64, or back",
        base64,
    ),
    plain(
        "fqdn_rand",
        (1, ANY),
        "fqdn_rand(Integer $below, Any $seed = '', Boolean $downcase = false) >> Integer: a number below another that is always the same for a node and a seed",
        |evaluator, call| {
            let call = call.older()?;
            let below = ruby_integer(evaluator, &call, 0)?;
            let downcase = call.arguments.get(2).is_some_and(|it| it.datum.is_true());
            let (name, fact) = node_name(evaluator, &call, downcase)?;
            let seed = call.arguments.get(1);
            let number = fqdn_rand(
                &call,
                &name,
                below,
                seed.map_or(&Datum::Undef, |it| &it.datum),
            )?;
            let operands: Vec<Value> = call.origins().chain([fact.into()]).collect();
            let origin = evaluator.trace.operation(call.at, operands);
            Ok(Value::new(number, origin))
        },
    ),
    plain(
        "fqdn_rand_string",
        (1, ANY),
        "fqdn_rand_string(Integer $length, String $characters = '', Any *$seeds) >> String: characters that are always the same for a node and a seed",
        |evaluator, call| {
            let call = call.older()?;
            let length = positive(evaluator, &call, 0)?;
            if length > LONGEST_RANDOM {
                return call.wrong(0, format!("a length is at most {LONGEST_RANDOM}"));
            }
            let characters = match call.arguments.get(1) {
                Some(_) => call.text(evaluator, 1)?.chars().collect(),
                None => Vec::new(),
            };
            let characters: Vec<char> = match characters.is_empty() {
                true => ('0'..='9').chain('A'..='Z').chain('a'..='z').collect(),
                false => characters,
            };
            let (name, fact) = node_name(evaluator, &call, false)?;
            let below = characters.len() as i64;
            let seeds: Vec<EcoString> = call
                .arguments
                .iter()
                .skip(2)
                .map(|it| joined(&it.datum))
                .collect();
            let mut text = EcoString::new();
            for number in 1..=length {
                let mut seeds = seeds.clone();
                seeds.push(ecow::eco_format!("{number}"));
                let seed = Datum::from(seeds.join(":"));
                let at = fqdn_rand(&call, &name, below, &seed)?;
                text.push(characters[usize::try_from(at).unwrap_or(0)]);
            }
            let operands: Vec<Value> = call.origins().chain([fact.into()]).collect();
            let origin = evaluator.trace.operation(call.at, operands);
            Ok(Value::new(text, origin))
        },
    ),
    plain(
        "fqdn_rotate",
        (1, ANY),
        "fqdn_rotate(Variant[String, Array] $what, Any *$seeds): the elements or characters from another one on, always the same for a node and a seed",
        |evaluator, call| {
            let call = call.older()?;
            let length = match &call.arguments[0].datum {
                Datum::Array(array) => array.len(),
                Datum::Text(text) => text.chars().count(),
                _ => return call.unexpected(evaluator, 0, "text or an array"),
            };
            if length <= 1 {
                return Ok(call.arguments[0].clone());
            }
            let (name, fact) = node_name(evaluator, &call, false)?;
            let seeds = call.arguments.iter().skip(1).map(|it| joined(&it.datum));
            let seeds = std::iter::once(name).chain(seeds).collect::<Vec<_>>();
            // No seed at all is an empty array, which is joined as if it were not there.
            let seed = match seeds.len() {
                1 => format!("{}:", seeds[0]),
                _ => seeds.join(":"),
            };
            let mut random = Random::seeded(&Md5::digest(seed));
            let offset = random.below(length as u64) as usize;
            let operands: Vec<Value> = call.origins().chain([fact.into()]).collect();
            let origin = evaluator.trace.operation(call.at, operands);
            Ok(match &call.arguments[0].datum {
                Datum::Array(array) => {
                    let mut values = array.as_slice().to_vec();
                    values.rotate_left(offset);
                    Value::new(Array::from(values), origin)
                }
                other => {
                    let mut chars: Vec<char> = ruby::text(other).chars().collect();
                    chars.rotate_left(offset);
                    Value::new(chars.into_iter().collect::<EcoString>(), origin)
                }
            })
        },
    ),
    plain(
        "fqdn_uuid",
        (1, 1),
        "fqdn_uuid(String $name) >> String: the UUID, of version 5, of a domain name",
        |evaluator, call| {
            let call = call.older()?;
            let name = call.text(evaluator, 0)?;
            let mut sha1 = Sha1::new();
            sha1.update(DOMAIN_NAMES);
            sha1.update(name.as_bytes());
            let mut bytes: [u8; 16] = [0; 16];
            bytes.copy_from_slice(&sha1.finalize()[..16]);
            bytes[6] = bytes[6] & 0x0f | 0x50;
            bytes[8] = bytes[8] & 0x3f | 0x80;
            let parts = [0..4, 4..6, 6..8, 8..10, 10..16];
            let parts = parts.map(|part| hexadecimal(&bytes[part]));
            let text = parts.join("-");
            Ok(call.result(evaluator, text))
        },
    ),
    plain(
        "seeded_rand",
        (2, 2),
        "seeded_rand(Integer $below, String $seed) >> Integer: a number below another that is always the same for a seed",
        |evaluator, call| {
            let call = call.older()?;
            let below = positive(evaluator, &call, 0)?;
            let seed = call.text(evaluator, 1)?;
            let number = Random::seeded(&Md5::digest(seed.as_bytes())).below(below as u64);
            Ok(call.result(evaluator, number as i64))
        },
    ),
    plain(
        "seeded_rand_string",
        (2, 3),
        "seeded_rand_string(Integer[1] $length, String $seed, String[2] $characters = '0…9a…zA…Z') >> String: characters that are always the same for a seed",
        |evaluator, call| {
            let length = call.integer(evaluator, 0)?;
            let Some(length) = usize::try_from(length).ok().filter(|length| *length > 0) else {
                return call.wrong(0, "a length is positive");
            };
            call.check_length(length)?;
            let characters: Vec<char> = match call.optional_text(evaluator, 2)? {
                Some(text) => text.chars().collect(),
                None => ('0'..='9').chain('a'..='z').chain('A'..='Z').collect(),
            };
            if characters.len() < 2 {
                return call.wrong(2, "there are two characters at least to choose from");
            }
            let seed = Sha256::digest(call.text(evaluator, 1)?.as_bytes());
            let mut random = Random::seeded(&seed);
            let count = characters.len() as u64;
            let text = (0..length).map(|_| characters[random.below(count) as usize]);
            let text: EcoString = text.collect();
            Ok(call.result(evaluator, text))
        },
    ),
];

/// So many characters does a random text have at most, as each takes a new start.
const LONGEST_RANDOM: usize = 100_000;

/// The namespace of domain names in UUIDs (RFC 4122, appendix C).
const DOMAIN_NAMES: [u8; 16] = [
    0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8,
];

fn digest_of<'t>(
    evaluator: &mut Evaluator<'t>,
    call: Invocation<'t>,
    digest: fn(&[u8]) -> String,
) -> Outcome {
    let call = call.older()?;
    let digest = digest(call.text(evaluator, 0)?.as_bytes());
    Ok(call.result(evaluator, digest))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of the node as its facts have it, and where that comes from.
fn node_name<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    downcase: bool,
) -> Outcome<(EcoString, Origin)> {
    let networking = evaluator.node.facts.get_text("networking");
    let name = match networking.map(|networking| &networking.datum) {
        Some(Datum::Hash(networking)) => networking.get_text("fqdn"),
        _ => None,
    };
    match name {
        Some(Value {
            datum: Datum::Text(name),
            origin,
        }) => Ok(match downcase {
            true => (name.to_lowercase(), *origin),
            false => (name.clone(), *origin),
        }),
        _ => call.wrong(
            0,
            "the fact `networking.fqdn`, which this needs, is no text",
        ),
    }
}

/// An argument of which Ruby makes a whole number.
fn ruby_integer<'t>(
    evaluator: &Evaluator<'t>,
    call: &Invocation<'t>,
    number: usize,
) -> Outcome<i64> {
    match &call.arguments[number].datum {
        Datum::Integer(integer) => Ok(*integer),
        Datum::Float(float) => Ok(*float as i64),
        Datum::Text(text) => match ruby::leading_integer(text) {
            Some(integer) => Ok(integer),
            None => call.wrong(number, "this number is too large"),
        },
        _ => call.unexpected(evaluator, number, "a whole number"),
    }
}

fn positive<'t>(evaluator: &Evaluator<'t>, call: &Invocation<'t>, number: usize) -> Outcome<usize> {
    let is_integer = match &call.arguments[number].datum {
        Datum::Integer(_) => true,
        Datum::Text(text) => super::check::is_integer(text),
        _ => false,
    };
    if is_integer
        && let Ok(positive) = usize::try_from(ruby_integer(evaluator, call, number)?)
        && positive > 0
    {
        return Ok(positive);
    }
    call.wrong(number, "expected a whole number that is positive")
}

/// A value as Ruby joins it to others with colons.
fn joined(datum: &Datum) -> EcoString {
    match datum {
        Datum::Array(array) => {
            let parts: Vec<_> = array.iter().map(|value| joined(&value.datum)).collect();
            parts.join(":").into()
        }
        other => ruby::text(other),
    }
}

fn fqdn_rand(call: &Invocation<'_>, name: &str, below: i64, seed: &Datum) -> Outcome<i64> {
    let Some(limit) = u64::try_from(below).ok().filter(|below| *below > 0) else {
        return call.wrong(0, "expected a whole number that is positive");
    };
    let seed = format!("{name}:{below}:{}", joined(seed));
    let number = Random::seeded(&Md5::digest(seed)).below(limit);
    Ok(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The random numbers of Ruby: a Mersenne twister (Matsumoto and Nishimura, 1998).
struct Random {
    state: [u32; Self::LENGTH],
    used: usize,
}

impl Random {
    const LENGTH: usize = 624;
    const SHIFT: usize = 397;

    /// Begins with a seed that is a large number, written as bytes.
    fn seeded(seed: &[u8]) -> Self {
        let word = |chunk: &[u8]| {
            chunk
                .iter()
                .fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        let mut words: Vec<u32> = seed.rchunks(4).map(word).collect();
        while words.len() > 1 && words.last() == Some(&0) {
            words.pop();
        }
        // Ruby takes a highest word of 1 for a mark that it has set itself.
        if words.len() > 1 && words.last() == Some(&1) {
            words.pop();
        }
        match words.as_slice() {
            [] => Self::begun(0),
            [word] => Self::begun(*word),
            words => Self::begun_with_all(words),
        }
    }

    fn begun(seed: u32) -> Self {
        let mut state = [seed; Self::LENGTH];
        for at in 1..Self::LENGTH {
            let before = state[at - 1];
            let mixed = 1_812_433_253_u32.wrapping_mul(before ^ before >> 30);
            state[at] = mixed.wrapping_add(at as u32);
        }
        Self {
            state,
            used: Self::LENGTH,
        }
    }

    fn begun_with_all(words: &[u32]) -> Self {
        let mut random = Self::begun(19_650_218);
        let state = &mut random.state;
        let (mut at, mut word) = (1, 0);
        let forward = |state: &mut [u32; Self::LENGTH], at: &mut usize| {
            *at += 1;
            if *at >= Self::LENGTH {
                state[0] = state[Self::LENGTH - 1];
                *at = 1;
            }
        };
        for _ in 0..Self::LENGTH.max(words.len()) {
            let before = state[at - 1];
            let mixed = state[at] ^ (before ^ before >> 30).wrapping_mul(1_664_525);
            state[at] = mixed.wrapping_add(words[word]).wrapping_add(word as u32);
            forward(state, &mut at);
            word = (word + 1) % words.len();
        }
        for _ in 1..Self::LENGTH {
            let before = state[at - 1];
            let mixed = state[at] ^ (before ^ before >> 30).wrapping_mul(1_566_083_941);
            state[at] = mixed.wrapping_sub(at as u32);
            forward(state, &mut at);
        }
        state[0] = 0x8000_0000;
        random
    }

    fn next(&mut self) -> u32 {
        if self.used >= Self::LENGTH {
            for at in 0..Self::LENGTH {
                let (this, behind) = (self.state[at], self.state[(at + 1) % Self::LENGTH]);
                let mixed = this & 0x8000_0000 | behind & 0x7fff_ffff;
                let twist = if mixed & 1 == 0 { 0 } else { 0x9908_b0df };
                let far = self.state[(at + Self::SHIFT) % Self::LENGTH];
                self.state[at] = far ^ mixed >> 1 ^ twist;
            }
            self.used = 0;
        }
        let mut word = self.state[self.used];
        self.used += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    /// A number below another, all equally likely: numbers that are too large are thrown away.
    fn below(&mut self, limit: u64) -> u64 {
        let most = limit.saturating_sub(1);
        if most == 0 {
            return 0;
        }
        let mask = u64::MAX >> most.leading_zeros();
        loop {
            let mut number = 0;
            let mut fits = true;
            for shift in [32, 0] {
                if mask >> shift & 0xffff_ffff != 0 {
                    number |= u64::from(self.next()) << shift;
                    number &= mask;
                    if number > most {
                        fits = false;
                        break;
                    }
                }
            }
            if fits {
                return number;
            }
        }
    }
}

fn base64<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let call = call.older()?;
    let way = call.text(evaluator, 0)?.clone();
    let text = call.text(evaluator, 1)?.clone();
    let kind = match call.optional_text(evaluator, 2)? {
        Some(kind) => kind.clone(),
        None => "default".into(),
    };
    let bytes = text.as_bytes();
    let result = match (way.as_str(), kind.as_str()) {
        ("encode", "default") => {
            let mut lines = EcoString::new();
            for line in bytes.chunks(45) {
                lines.push_str(&crate::types::base64::encode(line));
                lines.push('\n');
            }
            lines
        }
        ("encode", "strict") => crate::types::base64::encode(bytes),
        ("encode", "urlsafe") => crate::types::base64::encode_for_urls(bytes),
        ("decode", "default" | "strict" | "urlsafe") => {
            let Some(decoded) = decoded(bytes, &kind) else {
                return call.wrong(1, "this is no base64");
            };
            match String::from_utf8(decoded) {
                Ok(decoded) => decoded.into(),
                Err(_) => return call.wrong(1, "what this stands for is no text"),
            }
        }
        ("encode" | "decode", _) => {
            return call.wrong(
                2,
                "the kinds of base64 are `default`, `strict` and `urlsafe`",
            );
        }
        _ => return call.wrong(0, "expected `encode` or `decode`"),
    };
    call.text_result(evaluator, result)
}

/// The bytes that base64 stands for. The usual kind leaves out what does not belong there, the others refuse it.
fn decoded(text: &[u8], kind: &str) -> Option<Vec<u8>> {
    let is_usual = kind == "default";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    let mut at = 0;
    while at < text.len() {
        let value = match text[at] {
            letter @ b'A'..=b'Z' => letter - b'A',
            letter @ b'a'..=b'z' => letter - b'a' + 26,
            digit @ b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'/' if kind == "urlsafe" => return None,
            b'+' => 62,
            b'/' => 63,
            b'-' if kind == "urlsafe" => 62,
            b'_' if kind == "urlsafe" => 63,
            b'=' if !is_usual || count > 1 => break,
            _ if is_usual => {
                at += 1;
                continue;
            }
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            bytes.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            (bits, count) = (0, 0);
        }
        at += 1;
    }
    let padding = text.len() - at;
    if !is_usual {
        let whole = padding == (4 - count) % 4;
        let bare = kind == "urlsafe" && padding == 0;
        let beyond = match count {
            2 => bits & 0xf,
            3 => bits & 0x3,
            _ => 0,
        };
        let is_padding = text[at..].iter().all(|byte| *byte == b'=');
        if !(whole || bare) || !is_padding || count == 1 || beyond != 0 {
            return None;
        }
    }
    match count {
        2 => bytes.push((bits >> 4) as u8),
        3 => bytes.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => {}
    }
    Some(bytes)
}
