//! What the proxy is told.

use std::time::Duration;

use rustls::pki_types::{CertificateDer, pem, pem::PemObject as _};

use crate::Upstreams;

/// How the proxy is to work; every value resolved, nothing read from the environment.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where requests may go.
    pub upstreams: Upstreams,
    /// Host names, beside IP addresses and loopback names, under which a browser may use the proxy.
    pub allowed_hosts: Vec<String>,
    /// How long resolving, connecting and the TLS handshake may take together. Nothing after that
    /// has a limit: a model may think for minutes.
    pub connect_timeout: Duration,
    /// How long open streams may go on after a shutdown was asked for.
    pub grace: Duration,
    /// Certificates to trust beside those of the system.
    pub extra_ca: Vec<CertificateDer<'static>>,
    /// Where the dashboard is, for people who open the proxy in a browser.
    pub dashboard_url: Option<String>,
}

impl Default for Config {
    /// The built-in upstreams; 10 s to connect, 10 s of grace.
    fn default() -> Self {
        Self {
            upstreams: Upstreams::default(),
            allowed_hosts: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(10),
            extra_ca: Vec::new(),
            dashboard_url: None,
        }
    }
}

/// The certificates in a PEM file, for [`Config::extra_ca`].
///
/// # Errors
///
/// The file is no PEM, or has no certificate in it.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, pem::Error> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>()?;
    if certificates.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(certificates) }
}
