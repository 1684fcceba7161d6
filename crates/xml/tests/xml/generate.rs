//! Random documents and document types.

use hence_model::random::Random;

/// Names of elements.
pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// One of some texts.
pub fn one<'t>(random: &mut Random, texts: &[&'t str]) -> &'t str {
    texts[random.below(texts.len())]
}

/// A document with everything that XML has, most often well-formed.
pub fn document(random: &mut Random) -> String {
    let mut text = String::new();
    if random.chance(5) {
        text.push('\u{feff}');
    }
    if random.chance(40) {
        text.push_str(one(
            random,
            &[
                "<?xml version=\"1.0\"?>",
                "<?xml version='1.0' encoding='UTF-8'?>\n",
                "<?xml version=\"1.0\" encoding=\"utf-8\" standalone = \"no\" ?>",
                "<?xml version=\"1.1\" standalone='yes'?>\r\n",
            ],
        ));
    }
    beside(random, &mut text);
    if random.chance(50) {
        text.push_str("<!DOCTYPE r");
        if random.chance(80) {
            text.push_str(" [");
            for _ in 0..random.below(6) {
                text.push_str(one(random, &DECLARATIONS));
            }
            text.push(']');
        }
        text.push('>');
    }
    beside(random, &mut text);
    let mut size = 30;
    element(random, &mut text, 0, &mut size);
    beside(random, &mut text);
    text
}

const DECLARATIONS: [&str; 26] = [
    "<!ELEMENT r (a|b)*>",
    "<!ELEMENT a EMPTY>\n",
    "<!ELEMENT b ANY >",
    "<!ELEMENT c (#PCDATA)>",
    "<!ELEMENT d (#PCDATA|a|b)*>",
    "<!ELEMENT e ((a,b?)|(c+,d*))>",
    "<!ELEMENT f ( a , ( b | c ) , d )? >",
    "<!ATTLIST a i ID #IMPLIED>",
    "<!ATTLIST a k CDATA 'x' l (one|two) \"one\">",
    "<!ATTLIST b n NMTOKEN #REQUIRED m NMTOKENS #FIXED 'a b'>",
    "<!ATTLIST c>",
    "<!ENTITY t 'text'>",
    "<!ENTITY u \"&t; &#65;&#x42;\">",
    "<!ENTITY amp '&#38;#38;'>",
    "<!ENTITY % p '<!ELEMENT p EMPTY>'>",
    "<!ENTITY % q \"<!ELEMENT q (a)>\">",
    "<!ENTITY x SYSTEM 'x.xml'>",
    "<!ENTITY y PUBLIC '-//Y//' 'y.gif' NDATA gif>",
    "<!NOTATION gif SYSTEM 'gif'>",
    "<!NOTATION png PUBLIC 'png' >",
    "<!-- comment -->",
    "<?target data?>",
    " \n\t",
    "<!ATTLIST d j IDREF #IMPLIED js IDREFS #IMPLIED>",
    "<!ATTLIST e v NOTATION (gif | png) #IMPLIED>",
    "<!ELEMENT g (a,(b,c)*,(d|e)+)>",
];

fn beside(random: &mut Random, text: &mut String) {
    for _ in 0..random.below(3) {
        text.push_str(one(
            random,
            &[
                " ",
                "\n",
                "<!-- - -->",
                "<?pi?>",
                "<?pi more ? > ?>",
                "\r\n",
                "<!---->",
            ],
        ));
    }
}

fn element(random: &mut Random, text: &mut String, depth: usize, size: &mut usize) {
    let name = match depth {
        0 => "r",
        _ => *random.pick(&["a", "b", "é:x", "_d.-1", "e"]),
    };
    text.push('<');
    text.push_str(name);
    for (number, name) in ["k", "id", "x:y"].iter().enumerate() {
        if random.chance(25 - 5 * number) {
            let value = *random.pick(&[
                "",
                "1",
                "&amp;&lt;",
                "&#65;&#x2028;",
                "a\n\tb",
                "é \u{10000}",
                ">",
                "a]]>b",
                "&t;",
            ]);
            let quote = if random.chance(50) { '"' } else { '\'' };
            let spaces = *random.pick(&["", "", " ", "\n"]);
            text.push_str(&format!(" {name}{spaces}={spaces}{quote}{value}{quote}"));
        }
    }
    if random.chance(20) {
        text.push(' ');
    }
    if depth > 6 || *size == 0 || random.chance(20) {
        text.push_str("/>");
        return;
    }
    text.push('>');
    for _ in 0..random.below(5) {
        if *size == 0 {
            break;
        }
        *size -= 1;
        match random.below(8) {
            0..=3 => element(random, text, depth + 1, size),
            4 => text.push_str(one(
                random,
                &["text", "é", " ", "\n  ", "\r\n", "]]", ">", "a]] >", "'\""],
            )),
            5 => text.push_str(one(
                random,
                &[
                    "&lt;",
                    "&amp;",
                    "&quot;&apos;&gt;",
                    "&#x10FFFF;",
                    "&#9;",
                    "&t;",
                    "&u;",
                ],
            )),
            6 => text.push_str(one(
                random,
                &["<![CDATA[]]>", "<![CDATA[<&]] >]]>", "<![CDATA[]]]]>"],
            )),
            _ => beside(random, text),
        }
    }
    text.push_str("</");
    text.push_str(name);
    text.push_str(one(random, &["", "", "", " ", "\n"]));
    text.push('>');
}

/// A text with a few places of it changed.
pub fn mutated(random: &mut Random, text: &str) -> String {
    const PIECES: [&str; 48] = [
        "<",
        ">",
        "&",
        ";",
        "/",
        "\"",
        "'",
        "=",
        " ",
        "\n",
        "--",
        "-->",
        "<!--",
        "]]>",
        "<![CDATA[",
        "<?",
        "?>",
        "<?xml",
        "&#0;",
        "&#xD800;",
        "&#x;",
        "&lt;",
        "&none;",
        "%p;",
        "%q;",
        "[",
        "]",
        "(",
        ")",
        "|",
        ",",
        "*",
        "+",
        "#PCDATA",
        "EMPTY",
        "\u{1}",
        "\u{fffe}",
        "é",
        "a",
        "1",
        "-",
        "<!DOCTYPE r>",
        "<a>",
        "</a>",
        "<!ELEMENT r ANY>",
        "SYSTEM",
        "%",
        "!",
    ];
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(3) {
        let place = random.below(text.len() + 1);
        match random.below(4) {
            0 => {
                let end = (place + 1 + random.below(4)).min(text.len());
                text.drain(place..end);
            }
            1 => {
                let end = (place + 1 + random.below(8)).min(text.len());
                let piece: Vec<char> = text[place..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            _ => {
                let piece = random.pick(&PIECES).chars();
                text.splice(place..place, piece);
            }
        }
    }
    text.into_iter().collect()
}

/// What a type says of an element.
#[derive(Clone)]
enum Allowed {
    Empty,
    Any,
    Mixed(Vec<&'static str>),
    Elements(Particle),
}

#[derive(Clone)]
struct Particle {
    what: What,
    /// One of ``, `?`, `*`, `+`.
    often: &'static str,
}

#[derive(Clone)]
enum What {
    Name(&'static str),
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
}

impl Particle {
    fn random(random: &mut Random, depth: usize) -> Self {
        let often = one(random, &["", "", "", "?", "*", "+"]);
        let count = 1 + random.below(3);
        let what = match random.below(if depth == 0 { 1 } else { 3 }) {
            0 => What::Name(one(random, &NAMES)),
            1 => What::Sequence(
                (0..count)
                    .map(|_| Self::random(random, depth - 1))
                    .collect(),
            ),
            _ => What::Choice(
                (0..count)
                    .map(|_| Self::random(random, depth - 1))
                    .collect(),
            ),
        };
        Self { what, often }
    }

    fn print(&self, is_outermost: bool) -> String {
        let inner = |parts: &[Particle], mark: &str| {
            let parts: Vec<String> = parts.iter().map(|part| part.print(false)).collect();
            format!("({})", parts.join(mark))
        };
        let text = match &self.what {
            What::Name(name) if is_outermost => format!("({name})"),
            What::Name(name) => (*name).to_owned(),
            What::Sequence(parts) => inner(parts, ", "),
            What::Choice(parts) => inner(parts, "|"),
        };
        format!("{text}{}", self.often)
    }

    /// Children that fit.
    fn children(&self, random: &mut Random, into: &mut Vec<&'static str>) {
        let times = match self.often {
            "" => 1,
            "?" => random.below(2),
            "*" => random.below(3),
            _ => 1 + random.below(2),
        };
        for _ in 0..times {
            match &self.what {
                What::Name(name) => into.push(name),
                What::Sequence(parts) => parts.iter().for_each(|part| part.children(random, into)),
                What::Choice(parts) => parts[random.below(parts.len())].children(random, into),
            }
        }
    }
}

/// A document type, and what it declares.
pub struct Type {
    elements: Vec<(&'static str, Allowed)>,
    attributes: Vec<(&'static str, Vec<&'static str>)>,
}

/// Attributes as they are declared, by their names.
const ATTRIBUTES: [(&str, &str); 8] = [
    ("i", "i ID #IMPLIED"),
    ("k", "k CDATA #REQUIRED"),
    ("l", "l (one|two) 'one'"),
    ("f", "f CDATA #FIXED 'v'"),
    ("n", "n NMTOKEN #IMPLIED"),
    ("j", "j IDREF #IMPLIED"),
    ("js", "js IDREFS #IMPLIED"),
    ("m", "m NMTOKENS #IMPLIED"),
];

impl Type {
    /// Any type, with the root `r`.
    pub fn random(random: &mut Random) -> Self {
        let mut elements = vec![("r", Allowed::Elements(Particle::random(random, 3)))];
        let mut attributes = Vec::new();
        for name in NAMES {
            if random.chance(3) {
                continue;
            }
            let allowed = match random.below(8) {
                0 | 1 => Allowed::Empty,
                2 => Allowed::Any,
                3 => Allowed::Mixed(Vec::new()),
                4 => Allowed::Mixed(NAMES[..1 + random.below(3)].to_vec()),
                _ => Allowed::Elements(Particle::random(random, 2)),
            };
            elements.push((name, allowed));
            let mut own: Vec<&str> = Vec::new();
            for (name, _) in ATTRIBUTES {
                if random.chance(15) {
                    own.push(name);
                }
            }
            attributes.push((name, own));
        }
        Self {
            elements,
            attributes,
        }
    }

    /// As declarations.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for (name, allowed) in &self.elements {
            let allowed = match allowed {
                Allowed::Empty => "EMPTY".to_owned(),
                Allowed::Any => "ANY".to_owned(),
                Allowed::Mixed(names) if names.is_empty() => "(#PCDATA)".to_owned(),
                Allowed::Mixed(names) => format!("(#PCDATA | {})*", names.join(" | ")),
                Allowed::Elements(particle) => particle.print(true),
            };
            text.push_str(&format!("<!ELEMENT {name} {allowed}>\n"));
        }
        for (element, names) in &self.attributes {
            for name in names {
                let declared = ATTRIBUTES.iter().find(|(known, _)| known == name);
                let declared = declared.map_or("", |(_, declared)| declared);
                text.push_str(&format!("<!ATTLIST {element} {declared}>\n"));
            }
        }
        text
    }

    /// A document that is often of this type.
    pub fn document(&self, random: &mut Random) -> String {
        let mut text = format!("<!DOCTYPE r [\n{}]>\n", self.print());
        let mut size = 40;
        // Most documents are right; in the others, a few things are not.
        let wrong = if random.chance(55) { 0 } else { 6 };
        let root = if random.chance(wrong) { "a" } else { "r" };
        self.element(random, root, 0, &mut size, wrong, &mut text);
        text
    }

    /// An element that is often of this type.
    pub fn element(
        &self,
        random: &mut Random,
        name: &str,
        depth: usize,
        size: &mut usize,
        wrong: usize,
        text: &mut String,
    ) {
        text.push('<');
        text.push_str(name);
        self.write_attributes(random, name, wrong, text);
        let allowed = self.elements.iter().find(|(known, _)| *known == name);
        let mut children: Vec<&str> = Vec::new();
        let mut words = false;
        match allowed.map(|(_, allowed)| allowed) {
            None | Some(Allowed::Empty) => {}
            Some(Allowed::Any) => {
                words = random.chance(50);
                children.extend((0..random.below(3)).map(|_| one(random, &NAMES)));
            }
            Some(Allowed::Mixed(names)) => {
                words = random.chance(60);
                if !names.is_empty() {
                    children.extend((0..random.below(3)).map(|_| one(random, names)));
                }
            }
            Some(Allowed::Elements(particle)) => particle.children(random, &mut children),
        }
        if depth > 5 || *size == 0 {
            children.clear();
        }
        if random.chance(wrong) {
            children.insert(random.below(children.len() + 1), one(random, &NAMES));
        }
        if random.chance(wrong) {
            children.pop();
        }
        if random.chance(wrong) {
            words = true;
        }
        if children.is_empty() && !words {
            text.push_str("/>");
            return;
        }
        text.push('>');
        let is_spaced =
            random.chance(30) && !words && matches!(allowed, Some((_, Allowed::Elements(_))));
        for child in children {
            *size = size.saturating_sub(1);
            if is_spaced {
                text.push_str(one(random, &["\n ", "<!-- c -->", "<?p?>"]));
            }
            if words && random.chance(50) {
                text.push_str(one(random, &["word", "<![CDATA[x]]>", "&amp;"]));
            }
            self.element(random, child, depth + 1, size, wrong, text);
        }
        if words {
            text.push_str("words");
        }
        text.push_str(&format!("</{name}>"));
    }

    fn write_attributes(
        &self,
        random: &mut Random,
        element: &str,
        wrong: usize,
        text: &mut String,
    ) {
        let own = self.attributes.iter().find(|(known, _)| *known == element);
        let own = own.map_or(&[][..], |(_, own)| own);
        for (name, _) in ATTRIBUTES {
            let is_known = own.contains(&name);
            let is_written = match is_known {
                true => name == "k" && !random.chance(wrong) || random.chance(50),
                false => random.chance(wrong / 3),
            };
            if !is_written {
                continue;
            }
            let number = random.below(500);
            let value = match name {
                _ if random.chance(wrong) => {
                    one(random, &["", "1 2", "one", "&#32;", "x"]).to_owned()
                }
                "i" => format!("n{number}"),
                "j" | "js" if random.chance(70) => continue,
                "j" => format!("n{number}"),
                "js" => format!(" n{number}  n{} ", random.below(500)),
                "l" => one(random, &["one", "two", " two "]).to_owned(),
                "f" => "v".to_owned(),
                "n" => "1-x".to_owned(),
                "m" => " a  1 ".to_owned(),
                _ => one(random, &["", "any &lt; text"]).to_owned(),
            };
            text.push_str(&format!(" {name}=\"{value}\""));
        }
    }
}
