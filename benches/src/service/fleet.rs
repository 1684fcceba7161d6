//! What is served: a fleet of the published shape, each node with a token of its own.

use super::http;
use hence_api::words::{Activated, Activation, Commands, Commit, Doing, Done};
use hence_api::{Address, Client, Failure};
use hence_fleet::generate::{Shape, valid};
use hence_fleet::token::TOKEN;
use hence_fleet::{Kind, Words};
use hence_ledger::{Command, Key, Value};
use hence_model::random::Random;
use serde_json::json;
use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;

/// A fleet on a server.
pub struct Fleet {
    /// The server.
    pub server: SocketAddr,
    /// The nodes, in the order of their names.
    pub nodes: Vec<Node>,
    /// The administrator's token.
    pub admin: String,
    client: Client,
    changes: usize,
}

/// A node.
#[derive(Clone)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its token.
    pub token: String,
}

const OWNER: &str = "bench";

impl Fleet {
    /// Makes a fleet on a server that has none, and activates it.
    pub fn make(server: SocketAddr, admin: &str, nodes: usize) -> io::Result<Fleet> {
        let shape = Shape {
            nodes,
            ..Shape::published()
        };
        let mut assertions = valid(&shape, &mut Random::new(1));
        let names = assertions.iter().filter_map(|(key, _)| {
            let mut names = key.names();
            let kind = names.next()?;
            let name = names.next()?;
            (kind == Kind::Node.word()).then(|| name.into_owned())
        });
        let names: BTreeSet<String> = names.collect();
        let nodes: Vec<Node> = names.into_iter().map(Node::new).collect();
        for Node { name, token } in &nodes {
            let key = Key::new([TOKEN, &format!("node-{name}")]);
            let sum = blake3::hash(token.as_bytes()).to_hex();
            assertions.push((key.child("node"), Value::text(name.as_str())));
            assertions.push((key, Value::text(sum.as_str())));
        }
        let client = Client::new(Address {
            server: format!("http://{server}"),
            token: admin.to_owned(),
            certificates: None,
        });
        let fleet = Fleet {
            client: client.map_err(|why| io::Error::other(format!("{why:?}")))?,
            admin: admin.to_owned(),
            server,
            nodes,
            changes: 0,
        };
        fleet.commit(Command::apply(OWNER, assertions, &Words))?;
        let all: Activated = told(fleet.client.post("activations", &Activation::default()))?;
        match all.changed.len() >= fleet.nodes.len() {
            true => Ok(fleet),
            false => Err(io::Error::other("not all nodes have a configuration")),
        }
    }

    /// Asserts something that makes another configuration of every node.
    pub fn change(&mut self) -> io::Result<()> {
        self.changes += 1;
        let group = Kind::Group.key("+++default");
        self.commit(Command::Assert {
            owner: OWNER.into(),
            key: group.child("param").child("param_7"),
            value: Value::text(self.changes.to_string()),
        })
    }

    /// The request that activates it.
    pub fn activation(&self) -> Vec<u8> {
        http::post("/api/v1/activations", &self.admin, &json!({}))
    }

    fn commit(&self, command: Command) -> io::Result<()> {
        let commit = Commit {
            commands: Commands::List(vec![command]),
            doing: Doing {
                owner: OWNER.to_owned(),
                ..Doing::default()
            },
            ..Commit::default()
        };
        told(self.client.post::<Done>("commits", &commit)).map(drop)
    }
}

impl Node {
    fn new(name: String) -> Node {
        let token = format!("hence_{}", blake3::hash(name.as_bytes()).to_hex());
        Node { name, token }
    }
}

fn told<T>(answer: Result<T, Failure>) -> io::Result<T> {
    answer.map_err(|failure| io::Error::other(format!("the server says no: {failure:?}")))
}
