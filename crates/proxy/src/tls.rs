//! TLS to upstreams, and the certificate for apps.

use std::sync::Arc;

use rustls::{
    ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use rustls_platform_verifier::Verifier;
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};

use crate::{
    Certificate,
    failure::{Failure, Kind},
};

const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";

/// Makes TLS connections, or knows why it cannot.
pub(crate) struct Tls(Result<Connectors, String>);

/// What TLS with one upstream needs beside what all do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Certificates to trust for it alone.
    pub extra_ca: Vec<CertificateDer<'static>>,
    /// By what it is told who asks.
    pub certificate: Option<Certificate>,
    /// Its certificate is not checked: whoever stands between can read and change everything.
    pub insecure: bool,
}

/// By what is offered (ALPN).
struct Connectors {
    http1: TlsConnector,
    both: TlsConnector,
}

impl Tls {
    /// Trusts what the operating system trusts, and `extra`.
    /// What `settings` has is for one upstream alone.
    pub(crate) fn new(extra: &[CertificateDer<'static>], settings: &TlsSettings) -> Self {
        Self(connectors(extra, settings).map_err(|err| {
            format!(
                "no certificate authority to trust ({err}); install the system's CA certificates \
                 (package `ca-certificates`), set SSL_CERT_FILE, or name a CA file in the configuration"
            )
        }))
    }

    /// Why no TLS connection can be made.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// Shakes hands over `stream`. Offered is what the app speaks: HTTP/1.1 alone, or HTTP/2 first.
    pub(crate) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
        http2: bool,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let connectors =
            self.0.as_ref().map_err(|fault| Failure::new(Kind::TlsFailed, fault.clone()))?;
        let connector = if http2 { &connectors.both } else { &connectors.http1 };
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            Failure::new(Kind::TlsFailed, format!("`{host}` cannot be the name in a certificate"))
        })?;
        connector.connect(name, stream).await.map_err(|err| {
            let advice = advice(&err);
            Failure::new(Kind::TlsFailed, format!("no TLS connection with {host}: {err}; {advice}"))
        })
    }
}

/// Whether both sides have agreed on HTTP/2.
pub(crate) fn agreed_on_http2(stream: &TlsStream<TcpStream>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP2)
}

/// Shakes hands with apps by `certificate`, in HTTP/2 or HTTP/1.1 as they like.
pub(crate) fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificate.chain.clone(), certificate.key.clone_key())?;
    config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn connectors(
    extra: &[CertificateDer<'static>],
    settings: &TlsSettings,
) -> Result<Connectors, rustls::Error> {
    let http1 = config(extra, settings)?;
    let mut both = http1.clone();
    both.alpn_protocols.insert(0, HTTP2.to_vec());
    let connector = |config| TlsConnector::from(Arc::new(config));
    Ok(Connectors { http1: connector(http1), both: connector(both) })
}

fn config(
    extra: &[CertificateDer<'static>],
    settings: &TlsSettings,
) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .dangerous();
    let builder = if settings.insecure {
        builder.with_custom_certificate_verifier(Arc::new(Unchecked(provider)))
    } else {
        let roots = extra.iter().chain(&settings.extra_ca).cloned();
        let verifier = Verifier::new_with_extra_roots(roots, provider)?;
        builder.with_custom_certificate_verifier(Arc::new(verifier))
    };
    let mut config = match &settings.certificate {
        None => builder.with_no_client_auth(),
        Some(own) => builder.with_client_auth_cert(own.chain.clone(), own.key.clone_key())?,
    };
    config.alpn_protocols = vec![HTTP1.to_vec()];
    Ok(config)
}

/// Takes any certificate: only where the configuration says `insecure`.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn advice(err: &std::io::Error) -> &'static str {
    let tls = err.get_ref().and_then(|err| err.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(_)) => {
            "if it has a certificate of your own or your company's, name its CA file in the configuration"
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            "it does not seem to speak TLS on this port: should its URL begin with http://?"
        }
        _ => "check the upstream's URL and what stands between",
    }
}
