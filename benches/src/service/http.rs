//! One who asks: HTTP/1.1 on a socket of its own, one request at a time, and as little work as that allows, so that what is
//! measured is the server.

use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection that is kept open.
pub struct Line {
    stream: TcpStream,
    received: Vec<u8>,
}

/// A request to read, with somebody's token.
pub fn get(path: &str, token: &str) -> Vec<u8> {
    let head = head("GET", path, token);
    format!("{head}\r\n").into_bytes()
}

/// A request that sends something.
pub fn post(path: &str, token: &str, body: &Value) -> Vec<u8> {
    let (head, body) = (head("POST", path, token), body.to_string());
    let length = body.len();
    format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn head(method: &str, path: &str, token: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n")
}

impl Line {
    /// A new connection.
    pub async fn open(server: SocketAddr) -> io::Result<Line> {
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Line {
            stream,
            received: Vec::new(),
        })
    }

    /// Sends a request and reads the answer, which must be a good one.
    pub async fn ask(&mut self, request: &[u8]) -> io::Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.received.clear();
        let body = loop {
            self.read().await?;
            if let Some(body) = body(&self.received) {
                break body;
            }
        };
        match self.received.starts_with(b"HTTP/1.1 200 ") {
            true => Ok(&self.received[body..]),
            false => Err(self.refused()),
        }
    }

    /// Begins to listen to what happens, and is heard.
    pub async fn watch(server: SocketAddr, node: &str, token: &str) -> io::Result<Line> {
        let mut line = Line::open(server).await?;
        let request = get(&format!("/api/v1/events?node={node}"), token);
        line.stream.write_all(&request).await?;
        while find(&line.received, b": watching\n\n").is_none() {
            line.read().await?;
            if line.received.len() > 12 && !line.received.starts_with(b"HTTP/1.1 200 ") {
                return Err(line.refused());
            }
        }
        line.received.clear();
        Ok(line)
    }

    /// Waits until an activation was told, to its last byte.
    pub async fn activation(&mut self) -> io::Result<()> {
        const NEWS: &[u8] = b"\nevent: activation\n";
        loop {
            if let Some(at) = find(&self.received, NEWS) {
                let told = at + NEWS.len();
                if let Some(end) = find(&self.received[told..], b"\n\n") {
                    self.received.drain(..told + end);
                    return Ok(());
                }
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::Error::other("the server hung up")),
            _ => Ok(()),
        }
    }

    fn refused(&self) -> io::Error {
        let answer = String::from_utf8_lossy(&self.received);
        io::Error::other(format!("the server answered: {answer}"))
    }
}

/// Where the body of an answer begins, once all of it is there.
fn body(received: &[u8]) -> Option<usize> {
    let head = find(received, b"\r\n\r\n")?;
    let length = find(&received[..head], LENGTH).map(|at| &received[at + LENGTH.len()..head])?;
    let digits = length.iter().take_while(|byte| byte.is_ascii_digit());
    let length = digits.fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
    let body = head + 4;
    (received.len() >= body + length).then_some(body)
}

const LENGTH: &[u8] = b"\r\ncontent-length: ";

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_where_it_says() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\netag: \"7\"\r\n\r\nab\ncd";
        let start = answer.len() - 5;
        for received in 0..answer.len() {
            assert_eq!(body(&answer[..received]), None);
        }
        assert_eq!(body(answer), Some(start));
    }
}
