//! A certificate authority for one test or one demonstration.

use std::{io, net::SocketAddr, sync::Arc};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// A certificate authority that lives as long as this value: its key is made anew each time and
/// never written anywhere.
///
/// ```
/// let authority = teeline_script::Authority::new()?;
/// assert!(authority.pem().starts_with("-----BEGIN CERTIFICATE-----"));
/// # Ok::<(), teeline_script::AuthorityError>(())
/// ```
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A key or a certificate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The certificate could not be made or signed, for instance for a name that is none.
    #[error("the certificate could not be made")]
    Certificate(#[from] rcgen::Error),
    /// The TLS library refused it.
    #[error("the certificate cannot be used")]
    Tls(#[from] rustls::Error),
}

impl Authority {
    /// Makes a key and a certificate for it.
    ///
    /// # Errors
    ///
    /// Only where no random numbers can be had.
    pub fn new() -> Result<Self, AuthorityError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "teeline scripted upstream");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// The authority's certificate, for a client's list of roots.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// The same in DER.
    pub fn der(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }

    /// A certificate for `names` and its key, both as PEM.
    ///
    /// # Errors
    ///
    /// Where a name cannot stand in a certificate.
    pub fn certificate(&self, names: &[&str]) -> Result<(String, String), AuthorityError> {
        let (certificate, key) = self.sign(names)?;
        Ok((certificate.pem(), key.serialize_pem()))
    }

    /// A connection to `addr` as a client that trusts this authority and offers `protocols` (ALPN).
    ///
    /// # Errors
    ///
    /// Where the other side cannot be reached, or has no certificate of this authority for `name`.
    pub async fn connect(
        &self,
        addr: SocketAddr,
        name: &str,
        protocols: &[&[u8]],
    ) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der()).map_err(io::Error::other)?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        let stream = TcpStream::connect(addr).await?;
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// A server's TLS configuration with a certificate for `names` (host names or IP addresses)
    /// that speaks `protocols` (ALPN), the first one both sides know.
    ///
    /// # Errors
    ///
    /// Where a name cannot stand in a certificate.
    pub fn server_config(
        &self,
        names: &[&str],
        protocols: &[&str],
    ) -> Result<Arc<ServerConfig>, AuthorityError> {
        let (certificate, key) = self.sign(names)?;
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone(), self.der()], key)?;
        config.alpn_protocols =
            protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Ok(Arc::new(config))
    }

    fn sign(&self, names: &[&str]) -> Result<(Certificate, KeyPair), AuthorityError> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        Ok((params.signed_by(&key, &self.issuer)?, key))
    }
}
