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
