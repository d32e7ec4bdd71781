//! What the proxy is told.

use std::{sync::Arc, time::Duration};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject as _};

use crate::{OutboundProxies, Upstreams};

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
    /// By what the proxy speaks TLS with apps that want to, beside plain connections on the same
    /// address. `None`: plain only.
    pub certificate: Option<Certificate>,
    /// Proxies on the way out.
    pub outbound: OutboundProxies,
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
            certificate: None,
            outbound: OutboundProxies::default(),
            dashboard_url: None,
        }
    }
}

/// A certificate and its key: the proxy's own, for apps that speak TLS, or one by which an upstream is told who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: Arc<PrivateKeyDer<'static>>,
}

impl Certificate {
    /// From PEM files: the chain, the proxy's own certificate first, and the key.
    ///
    /// # Errors
    ///
    /// One of them is no PEM, or has no certificate or no key in it.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, pem::Error> {
        let key = Arc::new(PrivateKeyDer::from_pem_slice(key)?);
        Ok(Self { chain: certificates(chain)?, key })
    }
}

impl std::fmt::Debug for Certificate {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificate")
            .field("certificates", &self.chain.len())
            .finish_non_exhaustive()
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
