//! `hence token`: who may do what over a network.

use clap::{Args, Subcommand};
use hence_api::words::{Grant, ListedToken, MadeToken, NewToken};
use hence_api::{Client, Join};
use hence_fleet::token;
use hence_service::access;

use super::fleet::{Changing, Format, failed, moment, print_json, stop};
use crate::console::Console;
use crate::{Exit, Stop};

/// Give tokens to those who speak to a server, and take them
#[derive(Args)]
pub struct Token {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make a token; it is shown this once
    Add {
        /// Its name
        name: String,
        /// What it may: `read`, `write`, `activate` or `administer`; with `=` and keys, only there: `write=group/web,node`
        #[arg(long, value_name = "ROLE[=KEY,…]")]
        may: Vec<String>,
        /// It writes for this owner only
        #[arg(long, value_name = "NAME")]
        only_owner: Option<String>,
        /// It is worth nothing after this time: `90s`, `15m`, `8h`, `30d`
        #[arg(long, value_name = "TIME", value_parser = duration)]
        lasts: Option<u64>,
        #[command(flatten)]
        changing: Changing,
    },
    /// Make an enrolment token: what a new node needs to join, as one word for `hence agent --join`
    Join {
        /// Only this node may use it
        #[arg(long, value_name = "NODE")]
        node: Option<String>,
        /// The address at which nodes find the server; without it, that of `--server`
        #[arg(long, value_name = "URL")]
        address: Option<String>,
        /// It is worth nothing after this time
        #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
        lasts: u64,
        #[command(flatten)]
        changing: Changing,
    },
    /// List tokens: their names, and what they may
    List {
        #[command(flatten)]
        changing: Changing,
    },
    /// Take a token: from now on it is worth nothing
    Revoke {
        /// Its name
        name: String,
        #[command(flatten)]
        changing: Changing,
    },
}

impl Token {
    /// Does it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match &self.what {
            What::Add {
                name,
                may,
                only_owner,
                lasts,
                changing,
            } => {
                let wanted = NewToken {
                    name: name.clone(),
                    may: may.iter().map(|text| grant(text)).collect(),
                    owner: only_owner.clone(),
                    lasts: *lasts,
                    ..NewToken::default()
                };
                let made = add(console, changing, &wanted)?;
                match changing.format {
                    Format::Json => print_json(console, &made)?,
                    Format::Text => {
                        console.say("this is shown once:");
                        writeln!(console.data(), "{}", made.token)?;
                    }
                }
            }
            What::Join {
                node,
                address,
                lasts,
                changing,
            } => {
                let number = console.now();
                let wanted = NewToken {
                    name: format!("join-{number}"),
                    join: true,
                    node: node.clone(),
                    lasts: Some(*lasts),
                    ..NewToken::default()
                };
                let client = changing.ledger.client(console)?;
                let found = client.as_ref().map(|client| client.server().to_owned());
                let Some(server) = address.clone().or(found) else {
                    let message = "it is not said where nodes find the server";
                    let trouble =
                        hence_model::diagnostic::Diagnostic::error(super::fleet::NO_TOKEN, message);
                    let help = "`--server URL`, or `--address URL` where the ledger is here";
                    return Err(Stop::Refused(Box::new(trouble.help(help))));
                };
                let made = add(console, changing, &wanted)?;
                let certificate =
                    client.and_then(|client| client.certificates().map(str::to_owned));
                let join = Join::new(server, made.token, certificate).for_node(node.clone());
                console.say("on the new node: `hence agent --join WORD`, with the word");
                writeln!(console.data(), "{}", join.to_word())?;
            }
            What::List { changing } => list(console, changing)?,
            What::Revoke { name, changing } => {
                let path = format!("tokens/{}", hence_api::client::escaped(name));
                match changing.ledger.client(console)? {
                    Some(client) => {
                        let done: Result<hence_api::words::Done, _> = client.delete(&path);
                        done.map_err(failed)?;
                    }
                    None => {
                        let request = changing.request(console, format!("token revoke {name}"));
                        let mut service = changing.ledger.open(console)?;
                        let result = service.revoke_token(&request, name, None);
                        result.map_err(|refused| stop(console, refused))?;
                    }
                }
                console.say(&format!("`{name}` is worth nothing any more"));
            }
        }
        Ok(Exit::Done)
    }
}

fn add(
    console: &mut Console<'_>,
    changing: &Changing,
    wanted: &NewToken,
) -> Result<MadeToken, Stop> {
    if let Some(client) = changing.ledger.client(console)? {
        return client.post("tokens", wanted).map_err(failed);
    }
    let token = hence_server::new_token(&random);
    let request = changing.request(console, format!("token add {}", wanted.name));
    let mut service = changing.ledger.make(console)?;
    let result = service.add_token(&request, wanted, &hence_server::sum(&token));
    result.map_err(|refused| stop(console, refused))?;
    Ok(MadeToken {
        name: wanted.name.clone(),
        token,
    })
}

fn list(console: &mut Console<'_>, changing: &Changing) -> Result<(), Stop> {
    let client: Option<Client> = changing.ledger.client(console)?;
    let tokens: Vec<ListedToken> = match client {
        Some(client) => client.get("tokens").map_err(failed)?,
        None => {
            let service = changing.ledger.open(console)?;
            let tokens = token::tokens(service.state());
            let mut tokens: Vec<_> = tokens.values().map(access::listed).collect();
            tokens.sort_by(|one, other| one.name.cmp(&other.name));
            tokens
        }
    };
    if changing.format == Format::Json {
        return print_json(console, &tokens);
    }
    for token in &tokens {
        let what = match (&token.kind[..], &token.node) {
            ("bearer", _) => token.may.join(", "),
            (kind, Some(node)) => format!("{kind} {node}"),
            (kind, None) => kind.to_owned(),
        };
        let until = token.expires.map(|end| format!(", until {}", moment(end)));
        let until = until.unwrap_or_default();
        writeln!(console.data(), "{}   {what}{until}", token.name)?;
    }
    Ok(())
}

/// Bytes that nobody can guess.
pub fn random(bytes: &mut [u8]) {
    getrandom::getrandom(bytes).expect("the system gives random bytes");
}

/// `write=group/web,node`
fn grant(text: &str) -> Grant {
    let (role, keys) = text.split_once('=').unwrap_or((text, ""));
    let keys = keys.split(',').filter(|key| !key.is_empty());
    Grant {
        role: role.to_owned(),
        keys: keys.map(str::to_owned).collect(),
    }
}

/// `15m`, in seconds.
pub fn duration(text: &str) -> Result<u64, &'static str> {
    const HELP: &str = "a time is a number and a unit: `90s`, `15m`, `8h`, `30d`";
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        _ => return Err(HELP),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| HELP)?;
    number.checked_mul(unit).ok_or(HELP)
}
