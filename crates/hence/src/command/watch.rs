//! `hence watch`: what happens behind a server, as it happens.

use std::time::Duration;

use clap::Args;
use hence_api::Failure;
use hence_model::diagnostic::Diagnostic;

use super::fleet::{Format, Ledger, NO_TOKEN, failed};
use crate::console::Console;
use crate::{Exit, Stop};

/// Show what happens behind a server, as it happens
#[derive(Args)]
pub struct Watch {
    /// Only activations that give this node another configuration
    node: Option<String>,
    /// Begin behind this version, instead of now
    #[arg(long, value_name = "VERSION")]
    after: Option<u64>,
    /// End after so many
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    ledger: Ledger,
}

/// So long is waited before a server that left is asked again.
const PAUSE: Duration = Duration::from_secs(1);

impl Watch {
    /// Shows it, until somebody ends it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Some(client) = self.ledger.client(console)? else {
            let message = "only a server tells what happens";
            let trouble = Diagnostic::error(NO_TOKEN, message);
            return Err(Stop::Refused(Box::new(trouble.help(
                "`--server URL` says which; `hence log` shows what happened",
            ))));
        };
        let mut left = self.limit.unwrap_or(usize::MAX);
        let mut heard = self.after;
        let mut reached = false;
        while left > 0 {
            let events = match client.events(self.node.as_deref(), heard) {
                Ok(events) => events,
                // One that was there will be there again, and nothing is missed.
                Err(Failure::Unreachable(_)) if reached => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(failure) => return Err(failed(failure)),
            };
            reached = true;
            for event in events {
                let Ok(event) = event else {
                    break;
                };
                heard = Some(event.version);
                match self.format {
                    Format::Json => writeln!(console.data(), "{}", event.data)?,
                    Format::Text => {
                        let said: serde_json::Value =
                            serde_json::from_str(&event.data).unwrap_or_default();
                        let author = said["author"].as_str().unwrap_or_default();
                        let message = said["message"].as_str().unwrap_or_default();
                        let line = format!(
                            "{:>5}  {:<10}  {author}  {message}",
                            event.version, event.kind
                        );
                        writeln!(console.data(), "{}", line.trim_end())?;
                    }
                }
                console.data().flush()?;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        Ok(Exit::Done)
    }
}
