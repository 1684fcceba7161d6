//! What is reserved is there for a server, and for nobody else.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream};

use hence_loopback::reserve;

/// More than the system has ports to give away, on most machines.
const CONNECTIONS: usize = 30_000;

#[test]
fn a_server_listens_at_it_again_and_again() {
    let endpoint = reserve().unwrap();
    assert!(TcpStream::connect(endpoint).is_err(), "nobody listens yet");
    for _ in 0..3 {
        let server = TcpListener::bind(endpoint).unwrap();
        let client = TcpStream::connect(endpoint).unwrap();
        // The server hangs up first, so that its end lingers at the port.
        drop(server.accept().unwrap());
        drop((client, server));
    }
}

#[test]
fn nobody_gets_it_by_chance() {
    let reserved: BTreeSet<SocketAddr> = (0..200).map(|_| reserve().unwrap()).collect();
    assert_eq!(reserved.len(), 200);
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    for _ in 0..CONNECTIONS {
        let client = TcpStream::connect(address).unwrap();
        assert!(!reserved.contains(&client.local_addr().unwrap()));
        // The server hangs up first, so that the client's port is free again at once.
        drop(server.accept().unwrap());
    }
    for _ in 0..2_000 {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!reserved.contains(&other.local_addr().unwrap()));
    }
}
