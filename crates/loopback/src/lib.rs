//! Endpoints on this machine that stay free for a server that is started later.
//!
//! Who lets the system choose a port, gives it back and then starts a server has raced everybody else: a client on the
//! same machine gets its own port from the same range, and then the server cannot listen. So the port is kept, by a socket
//! that is bound and never listens. The system gives such a port to nobody who asks for just any one, and a server that
//! asks for this one by number gets it, as servers do that may be started again at once (`SO_REUSEADDR`).

use std::io;
use std::mem;
use std::net::{Ipv4Addr, SocketAddr};

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::net::{bind, getsockname, socket_with, sockopt};

/// An endpoint on loopback at which nobody listens, and which nobody gets by chance until this process ends.
pub fn reserve() -> io::Result<SocketAddr> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let endpoint = SocketAddr::try_from(getsockname(&socket)?)?;
    // Elsewhere a server could not listen beside it, and there is the race.
    if cfg!(target_os = "linux") {
        mem::forget(socket);
    }
    Ok(endpoint)
}
