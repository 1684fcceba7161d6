//! Templates: a text with `${PARAMETER}` or `${PARAMETER:-default}` in it, and `$$` for a dollar sign.

use std::fmt;

/// A text with parameters in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'t> {
    pieces: Vec<Piece<'t>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Parameter {
        name: &'t str,
        default: Option<&'t str>,
        line: usize,
    },
}

/// What is wrong with a template, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A text, and which parameters each of its lines is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    pub text: String,
    /// Lines from 1, in order, with names as the template writes them.
    pub parameters: Vec<(usize, String)>,
}

impl<'t> Template<'t> {
    /// Reads one; says all that is wrong with it.
    pub fn parse(text: &'t str) -> Result<Self, Vec<Mistake>> {
        let (mut pieces, mut mistakes) = (Vec::new(), Vec::new());
        let (mut rest, mut line) = (text, 1);
        while let Some(dollar) = rest.find('$') {
            let (before, from) = rest.split_at(dollar);
            line += lines_in(before);
            pieces.push(Piece::Text(before));
            let mut mistake = |message: String| mistakes.push(Mistake { line, message });
            let behind = &from[1..];
            if let Some(more) = behind.strip_prefix('$') {
                pieces.push(Piece::Text("$"));
                rest = more;
                continue;
            }
            let Some(opened) = behind.strip_prefix('{') else {
                mistake("`$` must be followed by `{PARAMETER}`, or by another `$`".to_owned());
                rest = behind;
                continue;
            };
            let Some(end) = opened.find('}') else {
                mistake("`${` is not closed by `}`".to_owned());
                rest = "";
                break;
            };
            let inside = &opened[..end];
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            if name.is_empty() || !name.chars().all(is_of_name) {
                mistake(format!("`{name}` is not the name of a parameter"));
            }
            pieces.push(Piece::Parameter {
                name,
                default,
                line,
            });
            line += lines_in(inside);
            rest = &opened[end + 1..];
        }
        pieces.push(Piece::Text(rest));
        match mistakes.is_empty() {
            true => Ok(Self { pieces }),
            false => Err(mistakes),
        }
    }

    /// The text with values. A parameter that nobody knows is a mistake, unless it has a default.
    pub fn fill<'v>(
        &self,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> Result<Filled, Vec<Mistake>> {
        let (mut filled, mut mistakes) = (Filled::default(), Vec::new());
        let mut written = 1;
        for piece in &self.pieces {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Parameter {
                    name,
                    default,
                    line,
                } => {
                    let Some(text) = value(name).or(*default) else {
                        let message = format!(
                            "there is no parameter `{name}`; `${{{name}:-}}` would be empty then"
                        );
                        mistakes.push(Mistake {
                            line: *line,
                            message,
                        });
                        continue;
                    };
                    for line in written..=written + lines_in(text) {
                        filled.parameters.push((line, (*name).to_owned()));
                    }
                    text
                }
            };
            written += lines_in(text);
            filled.text.push_str(text);
        }
        match mistakes.is_empty() {
            true => Ok(filled),
            false => Err(mistakes),
        }
    }
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '-')
}

fn lines_in(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> Option<&'static str> {
        match name {
            "PORT" => Some("80"),
            "LONG" => Some("a\nb"),
            _ => None,
        }
    }

    #[test]
    fn values_take_the_places_of_names_and_lines_know_them() {
        let text = "cost: 5$$\nlisten ${PORT};${MORE:-x}\n${LONG}\nend ${PORT}";
        let filled = Template::parse(text).unwrap().fill(value).unwrap();
        assert_eq!(filled.text, "cost: 5$\nlisten 80;x\na\nb\nend 80");
        let parameters: Vec<(usize, &str)> = filled
            .parameters
            .iter()
            .map(|(line, name)| (*line, name.as_str()))
            .collect();
        let expected = [
            (2, "PORT"),
            (2, "MORE"),
            (3, "LONG"),
            (4, "LONG"),
            (5, "PORT"),
        ];
        assert_eq!(parameters, expected);
    }

    #[test]
    fn all_mistakes_are_told_with_their_lines() {
        let mistakes = Template::parse("a $x\n${}\n${un closed").unwrap_err();
        let lines: Vec<usize> = mistakes.iter().map(|mistake| mistake.line).collect();
        assert_eq!(lines, [1, 2, 3]);
        let template = Template::parse("${A}\n${PORT}\n${B}").unwrap();
        let mistakes = template.fill(value).unwrap_err();
        assert_eq!(mistakes.len(), 2);
        assert_eq!(
            mistakes[1].to_string(),
            "line 3: there is no parameter `B`; `${B:-}` would be empty then"
        );
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = [
            "$", "{", "}", ":-", "a", "ä", "\n", "$$", "${", "PORT", " ", "\u{0}", "${PORT}", ":",
        ];
        let mut seed: u64 = 7;
        let mut random = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        let mut good = 0;
        for _ in 0..20_000 {
            let text: String = (0..random() % 12)
                .map(|_| pieces[random() % pieces.len()])
                .collect();
            let Ok(template) = Template::parse(&text) else {
                continue;
            };
            let Ok(filled) = template.fill(value) else {
                continue;
            };
            good += 1;
            let lines = filled.text.split('\n').count();
            assert!(
                filled.parameters.iter().all(|(line, _)| *line <= lines),
                "{text:?}"
            );
            if !text.contains('$') {
                assert_eq!(filled.text, text);
            }
        }
        assert!(good > 1000, "{good}");
    }
}
