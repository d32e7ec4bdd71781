//! `teeline serve`: the proxy, the store and the dashboard, wired together.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail};
use rustls::pki_types::CertificateDer;
use teeline_capture::{Redaction, Store, StoreOptions};
use teeline_dashboard::Dashboard;
use teeline_proxy::{Certificate, Proxy, TlsSettings, Upstream, Upstreams, certificates};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    args::ServeArgs,
    config::{Config, NamedUpstream},
    logging,
    output::say,
    stop, system,
};

/// Serves until it is told to stop.
///
/// # Errors
///
/// The configuration is wrong, a port is taken, or the store cannot be used.
pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode> {
    let config = Config::resolve(args)?;
    prepare();
    runtime()?.block_on(async {
        let running = Running::start(&config).await?;
        running.announce(&config);
        running.until_stopped().await
    })
}

/// What a serving process does once: logging, and as many file descriptors as the system lets it have.
pub(crate) fn prepare() {
    logging::start();
    system::raise_descriptor_limit();
}

/// The runtime that everything asynchronous runs on.
///
/// # Errors
///
/// The system gives no threads.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Proxy, store and dashboard at work.
pub(crate) struct Running {
    store: Store,
    proxy: JoinHandle<()>,
    dashboard: JoinHandle<std::io::Result<()>>,
    proxy_address: SocketAddr,
    dashboard_url: String,
    /// Name and URL of each upstream.
    upstreams: Vec<(String, String)>,
    stop_proxy: CancellationToken,
    stop_dashboard: CancellationToken,
}

impl Running {
    /// Starts all three.
    ///
    /// # Errors
    ///
    /// An upstream or certificate file is wrong, the store cannot be used, or a port is taken.
    pub(crate) async fn start(config: &Config) -> Result<Self> {
        let mut proxy_config = proxy_config(config)?;
        system::survive_file_size_limit();
        // Before the ports: a second teeline is told where the first one's dashboard is, and not that a port is taken.
        let store = open_store(config)?;
        let dashboard_listener = bind_dashboard(config.dashboard).await?;
        let dashboard_address = dashboard_listener.local_addr()?;
        let dashboard_url = format!("http://{dashboard_address}");
        store.announce(&dashboard_url);

        proxy_config.dashboard_url = Some(dashboard_url.clone());
        let upstreams = proxy_config.upstreams.iter();
        let shown: Vec<(String, String)> =
            upstreams.map(|upstream| (upstream.name().to_owned(), upstream.url())).collect();
        for upstream in proxy_config.upstreams.iter().filter(|upstream| upstream.is_insecure()) {
            say(&format!(
                "WARNING: the certificate of {upstream} is NOT checked (insecure = true): whoever stands between can read and change everything"
            ));
        }
        let proxy = Proxy::bind(config.listen, proxy_config, store.recorder()).await?;
        let proxy_address = proxy.local_addr();
        let (stop_proxy, stop_dashboard) = (CancellationToken::new(), CancellationToken::new());
        let dashboard = Dashboard {
            store: store.clone(),
            proxy_url: format!("http://{proxy_address}"),
            upstreams: shown.clone(),
            allowed_hosts: config.allowed_hosts.clone(),
            address: dashboard_address,
            shutdown: stop_dashboard.clone(),
        };
        let running = Self {
            proxy: tokio::spawn(proxy.serve(stop_proxy.clone())),
            dashboard: tokio::spawn(teeline_dashboard::serve(dashboard_listener, dashboard)),
            store,
            proxy_address,
            dashboard_url,
            upstreams: shown,
            stop_proxy,
            stop_dashboard,
        };
        if config.open {
            system::open_in_browser(&running.dashboard_url);
        }
        Ok(running)
    }

    /// Says where everything is, and at last that it is ready.
    pub(crate) fn announce(&self, config: &Config) {
        say_where(config, self.proxy_address, &self.dashboard_url, &self.upstreams);
    }

    /// The proxy's address.
    pub(crate) fn proxy(&self) -> SocketAddr {
        self.proxy_address
    }

    /// Where the dashboard is.
    pub(crate) fn dashboard_url(&self) -> &str {
        &self.dashboard_url
    }

    /// Serves until the first signal, then lets open streams go on for the time of grace and stops.
    ///
    /// # Errors
    ///
    /// The proxy or the dashboard failed.
    pub(crate) async fn until_stopped(mut self) -> Result<ExitCode> {
        let failed = tokio::select! {
            () = stop::requested() => None,
            ended = &mut self.proxy => Some(failure("the proxy", ended.map(Ok))),
            ended = &mut self.dashboard => Some(failure("the dashboard", ended)),
        };
        if failed.is_none() {
            say(
                "teeline is stopping; open streams may go on for a moment, once more stops at once",
            );
        }
        self.stop().await?;
        failed.map_or(Ok(ExitCode::SUCCESS), Err)
    }

    /// Lets open streams go on for the time of grace and stops. Gives the store, in which everything that was
    /// recorded is on disk and can still be read.
    ///
    /// # Errors
    ///
    /// The store's last writes could not be waited for.
    pub(crate) async fn stop(mut self) -> Result<Store> {
        self.stop_proxy.cancel();
        if !self.proxy.is_finished() {
            // A second signal ends the wait; what is open is found as interrupted at the next start.
            tokio::select! {
                _ = &mut self.proxy => {}
                () = stop::requested() => {}
            }
        }
        self.stop_dashboard.cancel();
        if !self.dashboard.is_finished() {
            let _ = (&mut self.dashboard).await;
        }
        let store = self.store.clone();
        tokio::task::spawn_blocking(move || store.shutdown()).await?;
        Ok(self.store)
    }
}

fn failure(
    what: &str,
    ended: Result<std::io::Result<()>, tokio::task::JoinError>,
) -> anyhow::Error {
    match ended {
        Ok(Ok(())) => anyhow!("{what} ended by itself"),
        Ok(Err(error)) => anyhow::Error::new(error).context(format!("{what} failed")),
        Err(error) => anyhow::Error::new(error).context(format!("{what} failed")),
    }
}

/// What the proxy is told. Where the dashboard is, is not known yet.
///
/// # Errors
///
/// An upstream or a certificate file is wrong.
pub(crate) fn proxy_config(config: &Config) -> Result<teeline_proxy::Config> {
    Ok(teeline_proxy::Config {
        upstreams: upstreams(config)?,
        allowed_hosts: config.allowed_hosts.clone(),
        connect_timeout: config.connect_timeout,
        grace: config.shutdown_grace,
        extra_ca: certificates_in(&config.ca_files)?,
        certificate: config
            .certificate
            .as_ref()
            .map(|(certificate, key)| certificate_of(certificate, key))
            .transpose()?,
        outbound: config.outbound.clone(),
        dashboard_url: None,
    })
}

fn upstreams(config: &Config) -> Result<Upstreams> {
    let mut upstreams = Upstreams::default();
    for named in &config.upstreams {
        let upstream = upstream(named)
            .with_context(|| format!("upstream {}={} cannot be used", named.name, named.url))?;
        upstreams.insert(upstream);
    }
    Ok(upstreams)
}

fn upstream(named: &NamedUpstream) -> Result<Upstream> {
    let settings = &named.settings;
    let certificate = match (&settings.client_certificate, &settings.client_key) {
        (Some(certificate), Some(key)) => Some(certificate_of(certificate, key)?),
        (None, None) => None,
        _ => bail!("client_certificate and client_key go together"),
    };
    let tls = TlsSettings {
        extra_ca: certificates_in(&settings.ca_files)?,
        certificate,
        insecure: settings.insecure,
    };
    let headers = settings.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let upstream = Upstream::new(&named.name, &named.url)?.with_tls(tls).with_headers(headers)?;
    Ok(match settings.connect_seconds {
        Some(seconds) => upstream.with_connect_timeout(Duration::from_secs(seconds)),
        None => upstream,
    })
}

fn certificates_in(files: &[PathBuf]) -> Result<Vec<CertificateDer<'static>>> {
    let mut all = Vec::new();
    for path in files {
        let found = certificates(&read(path)?).with_context(|| {
            format!("the certificate file {} holds no PEM certificate", path.display())
        })?;
        all.extend(found);
    }
    Ok(all)
}

fn certificate_of(certificate: &Path, key: &Path) -> Result<Certificate> {
    Certificate::from_pem(&read(certificate)?, &read(key)?).with_context(|| {
        format!(
            "{} and {} must hold a PEM certificate and its PEM key",
            certificate.display(),
            key.display()
        )
    })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("the file {} cannot be read", path.display()))
}

fn open_store(config: &Config) -> Result<Store> {
    let options = StoreOptions {
        retention_days: config.retention_days,
        retention_bytes: config.retention_bytes,
        redact: Redaction {
            headers: config.redact_headers.clone(),
            query: config.redact_query.clone(),
        },
        ..StoreOptions::default()
    };
    if config.store {
        Ok(Store::open(&config.data_dir, options)?)
    } else {
        Ok(Store::in_memory(options)?)
    }
}

async fn bind_dashboard(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address} for the dashboard; choose another address with --dashboard, port 0 takes a free one")
    })
}

fn say_where(config: &Config, proxy: SocketAddr, dashboard: &str, upstreams: &[(String, String)]) {
    say("Base URLs (what comes after them is passed on byte for byte):");
    for (name, url) in upstreams {
        let base = if name == "default" {
            format!("http://{proxy}")
        } else {
            format!("http://{proxy}/{name}")
        };
        say(&format!("  {base:<40} → {url}"));
    }
    if config.certificate.is_some() {
        say("The same with https:// for apps that trust the proxy's certificate.");
    }
    say(&format!("Captures: {}", kept_in(config)));
    say(&format!("Dashboard: {dashboard}"));
    say(&format!("teeline ready proxy=http://{proxy} dashboard={dashboard}"));
}

fn kept_in(config: &Config) -> String {
    if config.store {
        Path::display(&config.data_dir).to_string()
    } else {
        "in memory only".to_owned()
    }
}
