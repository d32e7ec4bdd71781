//! TLS to upstreams.

use std::sync::Arc;

use rustls::{
    ClientConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName},
};
use rustls_platform_verifier::Verifier;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::failure::{Failure, Kind};

/// Makes TLS connections, or knows why it cannot.
pub(crate) struct Tls(Result<TlsConnector, String>);

impl Tls {
    /// Trusts what the operating system trusts, and `extra`.
    pub(crate) fn new(extra: &[CertificateDer<'static>]) -> Self {
        Self(config(extra).map(|config| TlsConnector::from(Arc::new(config))).map_err(|err| {
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

    /// Shakes hands over `stream`, with HTTP/1.1 as the only protocol offered: the app speaks it.
    pub(crate) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let connector =
            self.0.as_ref().map_err(|fault| Failure::new(Kind::TlsFailed, fault.clone()))?;
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            Failure::new(Kind::TlsFailed, format!("`{host}` cannot be the name in a certificate"))
        })?;
        connector.connect(name, stream).await.map_err(|err| {
            let advice = advice(&err);
            Failure::new(Kind::TlsFailed, format!("no TLS connection with {host}: {err}; {advice}"))
        })
    }
}

fn config(extra: &[CertificateDer<'static>]) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra.iter().cloned(), Arc::clone(&provider))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
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
