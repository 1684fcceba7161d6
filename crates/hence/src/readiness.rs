//! Tells whoever started this process that it is ready, if they asked for that: systemd's protocol, one datagram.

use std::os::unix::net::UnixDatagram;

/// Tells it to the socket that `$NOTIFY_SOCKET` names. Nobody there to hear it is no trouble.
pub fn tell(socket: Option<String>) {
    let Some(name) = socket else {
        return;
    };
    let Ok(sender) = UnixDatagram::unbound() else {
        return;
    };
    const READY: &[u8] = b"READY=1";
    // A name that begins so is of no file.
    let _ = match name.strip_prefix('@') {
        Some(name) => abstractly(&sender, name, READY),
        None => sender.send_to(READY, &name),
    };
}

#[cfg(target_os = "linux")]
fn abstractly(sender: &UnixDatagram, name: &str, words: &[u8]) -> std::io::Result<usize> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;
    sender.send_to_addr(words, &SocketAddr::from_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn abstractly(_: &UnixDatagram, _: &str, _: &[u8]) -> std::io::Result<usize> {
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_heard_at_a_file_and_at_a_name_of_none() {
        let name = format!("hence-readiness-{}", std::process::id());
        let path = std::env::temp_dir().join(&name).display().to_string();
        let hear = |listener: UnixDatagram, socket: String| {
            tell(Some(socket));
            let mut words = [0; 16];
            let length = listener.recv(&mut words).unwrap();
            assert_eq!(&words[..length], b"READY=1");
        };
        hear(UnixDatagram::bind(&path).unwrap(), path.clone());
        std::fs::remove_file(&path).unwrap();
        #[cfg(target_os = "linux")]
        {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
            hear(
                UnixDatagram::bind_addr(&address).unwrap(),
                format!("@{name}"),
            );
        }
        // Nobody listens, or nobody asked.
        tell(Some(path));
        tell(None);
    }
}
