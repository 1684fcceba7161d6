//! The XML inside a database: groups, entries and their fields as they are written.
//!
//! Protected values are encrypted by one stream, in the order of the document. So every one of them
//! is decrypted, also where nobody asks for it: in the history of an entry, among attachments.

use base64ct::{Base64, Encoding};
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use zeroize::Zeroizing;

use crate::Trouble;
use crate::bytes::exactly;
use crate::cipher::Stream;

const MOST_NESTING: usize = 250;

/// What a configuration can want of a database.
#[derive(Default)]
pub struct Document {
    pub root: Option<Group>,
    pub header_hash: Option<[u8; 32]>,
    recycle_bin: String,
    recycle_bin_disabled: bool,
}

impl Document {
    /// Whether a group is the recycle bin.
    pub fn is_recycle_bin(&self, uuid: &str) -> bool {
        // All zeros, or nothing at all, is the name of no group.
        let named = uuid.bytes().any(|byte| !matches!(byte, b'A' | b'='));
        named && self.recycle_bin == uuid && !self.recycle_bin_disabled
    }
}

/// A group: its own names and what it holds, in the order of the document.
#[derive(Default)]
pub struct Group {
    pub uuid: String,
    pub name: String,
    pub members: Vec<Member>,
}

/// What a group holds.
pub enum Member {
    Group(Group),
    Entry(Vec<Field>),
}

/// A string field of an entry.
#[derive(Default)]
pub struct Field {
    pub name: String,
    pub value: Zeroizing<String>,
}

impl Field {
    /// A field that an entry lacks.
    pub fn empty(name: &str) -> Field {
        Field {
            name: name.to_owned(),
            ..Field::default()
        }
    }
}

/// Reads the document and decrypts its protected values.
pub fn read(xml: &[u8], mut stream: Stream) -> Result<Document, Trouble> {
    let xml = str::from_utf8(xml).map_err(|_| Trouble::Corrupt("its document is not UTF-8"))?;
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut document = Document::default();
    let mut open: Vec<Element> = Vec::new();
    loop {
        match reader.read_event().map_err(|_| BROKEN)? {
            Event::Start(tag) => {
                if open.len() == MOST_NESTING {
                    return Err(Trouble::Excessive(format!(
                        "its document is nested more than {MOST_NESTING} deep"
                    )));
                }
                let rest = xml.get(reader.buffer_position() as usize..);
                open.push(Element::start(open.last(), &tag, rest.unwrap_or_default())?);
            }
            Event::End(tag) => {
                let element = open.pop().ok_or(BROKEN)?;
                let parent = open.last_mut();
                element.end(tag.name().as_ref(), parent, &mut document, &mut stream)?;
            }
            Event::Text(text) => append(&mut open, &text.xml10_content()),
            Event::CData(text) => append(&mut open, &text.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref().map_err(|_| BROKEN)? {
                Some(char) => append(&mut open, char.encode_utf8(&mut [0; 4])),
                None => append(&mut open, resolve_xml_entity(&name).ok_or(BROKEN)?),
            },
            Event::Eof if open.is_empty() => return Ok(document),
            Event::Eof => return Err(BROKEN),
            Event::Empty(_) => unreachable!("empty elements come as a start and an end"),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

const BROKEN: Trouble = Trouble::Corrupt("its document is not XML");

/// An element that has begun.
enum Element {
    File,
    Meta,
    Root,
    Group(Group),
    Entry(Vec<Field>),
    Field(Field),
    Text(Text),
    Aside,
}

/// The text of an element, as far as it has been read.
struct Text {
    bytes: Zeroizing<Vec<u8>>,
    protected: bool,
}

impl Element {
    fn start(
        parent: Option<&Element>,
        tag: &BytesStart<'_>,
        rest: &str,
    ) -> Result<Element, Trouble> {
        let protected = tag.try_get_attribute("Protected").map_err(|_| BROKEN)?;
        let protected = protected.is_some_and(|it| it.value.eq_ignore_ascii_case("true"));
        Ok(match (parent, tag.name().as_ref()) {
            (None, "KeePassFile") => Element::File,
            (None, _) => return Err(Trouble::Corrupt("its document is not of KeePass")),
            (Some(Element::File), "Meta") => Element::Meta,
            (Some(Element::File), "Root") => Element::Root,
            (Some(Element::Root | Element::Group(_)), "Group") => Element::Group(Group::default()),
            (Some(Element::Group(_)), "Entry") => Element::Entry(Vec::new()),
            (Some(Element::Entry(_)), "String") => Element::Field(Field::default()),
            (Some(Element::Meta | Element::Group(_) | Element::Field(_)), _) => {
                Element::Text(Text::new(rest, protected))
            }
            _ if protected => Element::Text(Text::new(rest, protected)),
            _ => Element::Aside,
        })
    }

    fn end(
        self,
        name: &str,
        parent: Option<&mut Element>,
        document: &mut Document,
        stream: &mut Stream,
    ) -> Result<(), Trouble> {
        match (self, parent) {
            (Element::Group(group), Some(Element::Root)) => document.root = Some(group),
            (Element::Group(group), Some(Element::Group(parent))) => {
                parent.members.push(Member::Group(group));
            }
            (Element::Entry(fields), Some(Element::Group(parent))) => {
                parent.members.push(Member::Entry(fields));
            }
            (Element::Field(field), Some(Element::Entry(fields))) => fields.push(field),
            (Element::Text(text), Some(parent)) => {
                parent.told(name, &text.unprotected(stream)?, document)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Keeps what an element inside says, if anybody asks for it.
    fn told(&mut self, name: &str, text: &[u8], document: &mut Document) -> Result<(), Trouble> {
        match (self, name) {
            (Element::Meta, "RecycleBinUUID") => document.recycle_bin = string(text)?,
            (Element::Meta, "RecycleBinEnabled") => {
                document.recycle_bin_disabled = text.eq_ignore_ascii_case(b"false");
            }
            (Element::Meta, "HeaderHash") => {
                document.header_hash = Some(exactly(&decoded(text)?)?);
            }
            (Element::Group(group), "UUID") => group.uuid = string(text)?,
            (Element::Group(group), "Name") => group.name = string(text)?,
            (Element::Field(field), "Key") => field.name = string(text)?,
            (Element::Field(field), "Value") => field.value = Zeroizing::new(string(text)?),
            _ => {}
        }
        Ok(())
    }
}

impl Text {
    fn new(rest: &str, protected: bool) -> Text {
        // As long as the text can become: growing would leave copies that nobody wipes.
        let length = rest.find('<').unwrap_or(rest.len());
        let bytes = Zeroizing::new(Vec::with_capacity(length));
        Text { bytes, protected }
    }

    fn unprotected(self, stream: &mut Stream) -> Result<Zeroizing<Vec<u8>>, Trouble> {
        if !self.protected {
            return Ok(self.bytes);
        }
        let mut value = decoded(&self.bytes)?;
        stream.decrypt(&mut value)?;
        Ok(value)
    }
}

fn append(open: &mut [Element], more: &str) {
    if let Some(Element::Text(text)) = open.last_mut() {
        text.bytes.extend_from_slice(more.as_bytes());
    }
}

fn decoded(base64: &[u8]) -> Result<Zeroizing<Vec<u8>>, Trouble> {
    let text = str::from_utf8(base64.trim_ascii()).ok();
    let value = text.and_then(|text| Base64::decode_vec(text).ok());
    let value = value.ok_or(Trouble::Corrupt("a value is not base64"))?;
    Ok(Zeroizing::new(value))
}

fn string(text: &[u8]) -> Result<String, Trouble> {
    let text = str::from_utf8(text).map_err(|_| Trouble::Corrupt("a value is not text"))?;
    Ok(text.to_owned())
}
