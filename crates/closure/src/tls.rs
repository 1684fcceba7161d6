//! Speaks TLS to a server, to see what it shows: whatever certificate that is, it is accepted, and told.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
};

use crate::host::Wanted;
use crate::server::UNKNOWN;

/// What a server showed and said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secured {
    /// Its own certificate, in DER.
    pub certificate: Vec<u8>,
    /// What it sent.
    pub bytes: Vec<u8>,
}

/// Sends bytes over a connection, and receives what is wanted. Whoever names nobody says so.
pub(crate) fn exchange(
    line: impl Read + Write,
    named: Option<&str>,
    bytes: &[u8],
    wanted: Wanted,
) -> io::Result<Secured> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(Anybody(Arc::clone(&provider)));
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = builder
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.enable_sni = named.is_some();
    let name =
        ServerName::try_from(named.unwrap_or(UNKNOWN).to_owned()).map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, line);
    stream.write_all(bytes)?;
    let received = wanted.receive(Ended(&mut stream))?;
    let shown = stream
        .conn
        .peer_certificates()
        .and_then(|chain| chain.first());
    let certificate = shown.ok_or_else(|| io::Error::other("no certificate was shown"))?;
    Ok(Secured {
        certificate: certificate.to_vec(),
        bytes: received,
    })
}

/// A stream of which the end of the connection is the end.
struct Ended<S>(S);

impl<S: Read> Read for Ended<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}

/// Believes everybody who has the key of what they show.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
