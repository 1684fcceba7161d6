//! The identity of a state, and the state as objects by their hashes.
//!
//! Keys are spread by their hashes over a tree, sixteen ways at each branch; a branch with few keys below it is a leaf
//! instead. So the tree's shape is decided by what is in it, equal states have equal identities however they came about,
//! and a change makes only the objects on the way to it anew.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Key;
use crate::state::{Assertion, Damaged};
use crate::value::Value;

/// So many keys fit into a leaf.
const ROOM: usize = 32;
const WAYS: usize = 16;

/// A BLAKE3 hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The hash with these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash that is written so, in 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let hash = blake3::Hash::from_hex(text).ok()?;
        Some(Self(*hash.as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Hash::from_hex(&text).ok_or_else(|| D::Error::custom("64 hexadecimal digits are expected"))
    }
}

type Assertions = BTreeMap<Key, Assertion>;

/// The keys of a state, spread by their hashes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    root: Node,
}

#[derive(Clone, Debug)]
struct Node {
    shape: Shape,
    /// What is the same for equal content, if nothing changed below since it was computed.
    identity: Option<Hash>,
    /// Where the node was written, if nothing changed below since.
    address: Option<Hash>,
}

#[derive(Clone, Debug)]
enum Shape {
    /// Keys by their spread, in this order.
    Leaf(Vec<(u64, Key)>),
    /// Sixteen ways, and how many keys there are on all of them.
    Branch(Box<[Node; WAYS]>, usize),
}

/// A node as it is written.
#[derive(Serialize, Deserialize)]
enum Object {
    Leaf(Vec<(Key, Assertion)>),
    Branch(Vec<Hash>),
}

impl Default for Node {
    fn default() -> Self {
        Self::new(Shape::Leaf(Vec::new()))
    }
}

impl Tree {
    /// Takes note that a key was asserted anew, or is no longer asserted.
    pub fn touch(&mut self, key: &Key, is_there: bool) {
        self.root.touch(spread(key), 0, key, is_there);
    }

    pub fn identity(&mut self, assertions: &Assertions) -> Hash {
        self.root.identify(assertions)
    }

    pub fn objects(&mut self, assertions: &Assertions) -> (Hash, Vec<(Hash, Vec<u8>)>) {
        let mut written = Vec::new();
        let address = self.root.write(assertions, &mut written);
        (address, written)
    }

    /// Reads level by level, so that a store behind a network is asked few times.
    pub fn read<E>(
        address: Hash,
        objects: &mut Objects<'_, E>,
        assertions: &mut Assertions,
    ) -> Result<Result<Self, Damaged>, E> {
        // Keys come in the order of their hashes: to sort them once is faster than to insert each.
        let mut read = Vec::new();
        let mut levels = Vec::new();
        let mut addresses = vec![address];
        while !addresses.is_empty() {
            let depth = levels.len();
            let mut level = Vec::with_capacity(addresses.len());
            let mut below = Vec::new();
            for some in addresses.chunks(TOGETHER) {
                for (&address, bytes) in some.iter().zip(objects(some)?) {
                    match Read::from_bytes(address, &bytes, depth, &mut read, &mut below) {
                        Some(node) => level.push(node),
                        None => return Ok(Err(Damaged(address))),
                    }
                }
            }
            levels.push(level);
            if let Some(twice) = twice(&below) {
                return Ok(Err(Damaged(twice)));
            }
            addresses = below;
        }
        read.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        assertions.extend(read);
        let mut nodes: Vec<Node> = Vec::new();
        for level in levels.into_iter().rev() {
            let mut below = nodes.into_iter();
            nodes = level
                .into_iter()
                .map(|read| read.over(&mut below))
                .collect();
        }
        let root = nodes.pop().expect("the first level is the root");
        Ok(Ok(Self { root }))
    }
}

/// The objects with some hashes, in their order.
pub type Objects<'o, E> = dyn FnMut(&[Hash]) -> Result<Vec<Vec<u8>>, E> + 'o;

/// So many objects are asked for at once: few enough to be in memory twice.
const TOGETHER: usize = 1024;

/// A node that was read, and not yet what is below it.
enum Read {
    Leaf(Node),
    /// A branch, and where it was written.
    Branch(Hash),
}

impl Read {
    /// The node that was written so; what is in it, or else the addresses of what is below it, is added.
    fn from_bytes(
        address: Hash,
        bytes: &[u8],
        depth: usize,
        assertions: &mut Vec<(Key, Assertion)>,
        below: &mut Vec<Hash>,
    ) -> Option<Self> {
        if Hash::of(bytes) != address {
            return None;
        }
        match serde_json::from_slice(bytes).ok()? {
            Object::Leaf(entries) => {
                let mut keys = Vec::with_capacity(entries.len());
                let mut hasher = leaf_hasher();
                for (key, assertion) in entries {
                    keys.push((spread(&key), key.clone()));
                    hash_assertion(&mut hasher, &key, &assertion);
                    assertions.push((key, assertion));
                }
                if !keys.is_sorted() {
                    return None;
                }
                let mut node = Node::new(Shape::Leaf(keys));
                node.identity = Some(Hash(*hasher.finalize().as_bytes()));
                node.address = Some(address);
                Some(Self::Leaf(node))
            }
            Object::Branch(ways) if ways.len() == WAYS && depth < 16 => {
                below.extend(ways);
                Some(Self::Branch(address))
            }
            Object::Branch(_) => None,
        }
    }

    /// The node over the next ones of the level below it.
    fn over(self, below: &mut impl Iterator<Item = Node>) -> Node {
        let address = match self {
            Self::Leaf(node) => return node,
            Self::Branch(address) => address,
        };
        let mut ways: Box<[Node; WAYS]> = Default::default();
        for (way, node) in ways.iter_mut().zip(below) {
            *way = node;
        }
        let count = ways.iter().map(Node::len).sum();
        let mut node = Node::new(Shape::Branch(ways, count));
        node.address = Some(address);
        node
    }
}

/// An address that is there twice: only empty leaves are alike, and branches that were would never end.
fn twice(addresses: &[Hash]) -> Option<Hash> {
    let empty = Node::default().write(&Assertions::new(), &mut Vec::new());
    let mut sorted: Vec<Hash> = addresses.to_vec();
    sorted.sort_unstable();
    let mut pairs = sorted.windows(2);
    let pair = pairs.find(|pair| pair[0] == pair[1] && pair[0] != empty)?;
    Some(pair[0])
}

/// What the state at an address asserts about a key, without reading the rest of it.
pub(crate) fn find<E>(
    mut address: Hash,
    key: &Key,
    object: &mut dyn FnMut(Hash) -> Result<Vec<u8>, E>,
) -> Result<Result<Option<Assertion>, Damaged>, E> {
    let spread = spread(key);
    for depth in 0..=16 {
        let bytes = object(address)?;
        if Hash::of(&bytes) != address {
            return Ok(Err(Damaged(address)));
        }
        match serde_json::from_slice(&bytes) {
            Ok(Object::Leaf(entries)) => {
                let found = entries.into_iter().find(|(other, _)| other == key);
                return Ok(Ok(found.map(|(_, assertion)| assertion)));
            }
            Ok(Object::Branch(ways)) if ways.len() == WAYS && depth < 16 => {
                address = ways[way(spread, depth)];
            }
            _ => break,
        }
    }
    Ok(Err(Damaged(address)))
}

fn spread(key: &Key) -> u64 {
    let hash = blake3::hash(key.as_str().as_bytes());
    let bytes = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    u64::from_be_bytes(*bytes)
}

/// Which way a key goes at a depth; below the last there are only leaves.
fn way(spread: u64, depth: u32) -> usize {
    (spread >> (60 - 4 * depth)) as usize % WAYS
}

impl Node {
    fn new(shape: Shape) -> Self {
        Self {
            shape,
            identity: None,
            address: None,
        }
    }

    fn len(&self) -> usize {
        match &self.shape {
            Shape::Leaf(keys) => keys.len(),
            Shape::Branch(_, count) => *count,
        }
    }

    fn touch(&mut self, spread: u64, depth: u32, key: &Key, is_there: bool) {
        self.identity = None;
        self.address = None;
        match &mut self.shape {
            Shape::Leaf(keys) => {
                let place = keys.binary_search_by(|(at, other)| (*at, other).cmp(&(spread, key)));
                match (place, is_there) {
                    (Err(place), true) => keys.insert(place, (spread, key.clone())),
                    (Ok(place), false) => drop(keys.remove(place)),
                    _ => return,
                }
                if keys.len() > ROOM && depth < 16 {
                    self.shape = branch(std::mem::take(keys), depth);
                }
            }
            Shape::Branch(ways, count) => {
                let child = &mut ways[way(spread, depth)];
                *count -= child.len();
                child.touch(spread, depth + 1, key, is_there);
                *count += child.len();
                if *count <= ROOM {
                    let mut keys = Vec::with_capacity(*count);
                    self.gather(&mut keys);
                    self.shape = Shape::Leaf(keys);
                }
            }
        }
    }

    /// The keys below, in their order.
    fn gather(&self, into: &mut Vec<(u64, Key)>) {
        match &self.shape {
            Shape::Leaf(keys) => into.extend_from_slice(keys),
            Shape::Branch(ways, _) => ways.iter().for_each(|way| way.gather(into)),
        }
    }

    fn identify(&mut self, assertions: &Assertions) -> Hash {
        if let Some(identity) = self.identity {
            return identity;
        }
        let hasher = match &mut self.shape {
            Shape::Leaf(keys) => {
                let mut hasher = leaf_hasher();
                for (_, key) in keys {
                    hash_assertion(&mut hasher, key, &assertions[key]);
                }
                hasher
            }
            Shape::Branch(ways, _) => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(b"branch");
                for way in ways.iter_mut() {
                    hasher.update(way.identify(assertions).as_bytes());
                }
                hasher
            }
        };
        let identity = Hash(*hasher.finalize().as_bytes());
        self.identity = Some(identity);
        identity
    }

    fn write(&mut self, assertions: &Assertions, written: &mut Vec<(Hash, Vec<u8>)>) -> Hash {
        if let Some(address) = self.address {
            return address;
        }
        let object = match &mut self.shape {
            Shape::Leaf(keys) => {
                let entry = |(_, key): &(u64, Key)| (key.clone(), assertions[key].clone());
                Object::Leaf(keys.iter().map(entry).collect())
            }
            Shape::Branch(ways, _) => {
                let write = |way: &mut Node| way.write(assertions, written);
                Object::Branch(ways.iter_mut().map(write).collect())
            }
        };
        let bytes = serde_json::to_vec(&object).expect("keys and values can be written");
        let address = Hash::of(&bytes);
        written.push((address, bytes));
        self.address = Some(address);
        address
    }
}

fn leaf_hasher() -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"leaf");
    hasher
}

/// What an assertion adds to the identity of its leaf: all of it but its age.
fn hash_assertion(hasher: &mut blake3::Hasher, key: &Key, assertion: &Assertion) {
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    };
    part(key.as_str());
    part(&assertion.owner);
    match &assertion.value {
        Value::Nothing => part("nothing"),
        Value::Text(text) => {
            part("text");
            part(text);
        }
        Value::Sealed(sealed) => {
            part("sealed");
            part(&sealed.fingerprint);
            part(&sealed.content);
        }
    }
}

fn branch(keys: Vec<(u64, Key)>, depth: u32) -> Shape {
    let count = keys.len();
    let mut ways: Box<[Node; WAYS]> = Default::default();
    for (spread, key) in keys {
        let Shape::Leaf(keys) = &mut ways[way(spread, depth)].shape else {
            unreachable!("a new branch has leaves");
        };
        keys.push((spread, key));
    }
    for way in ways.iter_mut() {
        if let Shape::Leaf(keys) = &mut way.shape
            && keys.len() > ROOM
            && depth < 15
        {
            way.shape = branch(std::mem::take(keys), depth + 1);
        }
    }
    Shape::Branch(ways, count)
}
