//! What will happen: flags over environment over the configuration file over the defaults.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use teeline_proxy::OutboundProxies;

use crate::args::{ServeArgs, StoreArgs};

/// The documented file of the repository, which shows every key with its default.
#[cfg(test)]
pub(crate) const DOCUMENTED: &str = include_str!("../../../config/teeline.toml");

/// The configuration file. Every key is optional; an unknown one is an error with its line and column.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) dashboard: Option<SocketAddr>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) allow_remote: Option<bool>,
    pub(crate) allowed_hosts: Option<Vec<String>>,
    pub(crate) store: Option<bool>,
    pub(crate) open: Option<bool>,
    #[serde(default)]
    pub(crate) retention: RetentionFile,
    #[serde(default)]
    pub(crate) redact: RedactFile,
    #[serde(default)]
    pub(crate) tls: TlsFile,
    #[serde(default)]
    pub(crate) timeouts: TimeoutsFile,
    #[serde(default)]
    pub(crate) upstreams: BTreeMap<String, UpstreamEntry>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetentionFile {
    pub(crate) days: Option<u32>,
    pub(crate) mebibytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedactFile {
    pub(crate) headers: Option<Vec<String>>,
    pub(crate) query: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsFile {
    pub(crate) ca_files: Option<Vec<PathBuf>>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeoutsFile {
    pub(crate) connect_seconds: Option<u64>,
    pub(crate) shutdown_seconds: Option<u64>,
}

/// An upstream in the configuration file: its URL, or a table with it.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "an upstream must be a URL in quotes, or a table with `url` in it")]
pub(crate) enum UpstreamEntry {
    Url(String),
    Table(UpstreamFile),
}

/// An upstream as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedUpstream {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) settings: UpstreamFile,
}

impl NamedUpstream {
    /// Without anything of its own.
    pub(crate) fn plain(name: &str, url: &str) -> Self {
        let settings = UpstreamFile::default();
        Self { name: name.to_owned(), url: url.to_owned(), settings }
    }
}

/// An upstream that needs more than a URL, in the configuration file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamFile {
    #[serde(default)]
    url: String,
    /// Authorities to trust for it alone.
    #[serde(default)]
    pub(crate) ca_files: Vec<PathBuf>,
    /// By what it is told who asks.
    pub(crate) client_certificate: Option<PathBuf>,
    pub(crate) client_key: Option<PathBuf>,
    #[serde(default)]
    pub(crate) insecure: bool,
    pub(crate) connect_seconds: Option<u64>,
    /// Sent with every request, in place of the app's own of that name.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
}

/// Everything `serve` needs to know.
#[derive(Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) dashboard: SocketAddr,
    pub(crate) data_dir: PathBuf,
    pub(crate) store: bool,
    pub(crate) open: bool,
    pub(crate) allowed_hosts: Vec<String>,
    /// Those that were configured; the built-in ones are the proxy's affair.
    pub(crate) upstreams: Vec<NamedUpstream>,
    pub(crate) retention_days: u32,
    pub(crate) retention_bytes: u64,
    pub(crate) redact_headers: Vec<String>,
    pub(crate) redact_query: Vec<String>,
    pub(crate) ca_files: Vec<PathBuf>,
    /// The proxy's own certificate and its key.
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    pub(crate) outbound: OutboundProxies,
    pub(crate) connect_timeout: Duration,
    pub(crate) shutdown_grace: Duration,
}

const DEFAULT_LISTEN: &str = "127.0.0.1:4780";
const DEFAULT_DASHBOARD: &str = "127.0.0.1:4781";
const DEFAULT_RETENTION_DAYS: u32 = 14;
const DEFAULT_RETENTION_MEBIBYTES: u64 = 4096;
const DEFAULT_CONNECT_SECONDS: u64 = 10;
const DEFAULT_SHUTDOWN_SECONDS: u64 = 10;

impl Config {
    /// Settles every question that flags, environment (through clap), file and defaults answer.
    ///
    /// # Errors
    ///
    /// The file cannot be read or parsed, an upstream is not `NAME=URL`, or an address that other machines reach
    /// was asked for without `allow_remote`.
    pub(crate) fn resolve(args: &ServeArgs) -> Result<Self> {
        let file = File::load(args.config.as_deref())?;
        let listen = args.listen.or(file.listen).map_or_else(|| DEFAULT_LISTEN.parse(), Ok)?;
        let dashboard =
            args.dashboard.or(file.dashboard).map_or_else(|| DEFAULT_DASHBOARD.parse(), Ok)?;
        let allow_remote = args.allow_remote || file.allow_remote.unwrap_or(false);
        for (what, address) in [("listen", listen), ("dashboard", dashboard)] {
            if !address.ip().is_loopback() && !allow_remote {
                bail!(
                    "{what} address {address} can be reached from other machines, and whoever reaches it can use your upstreams \
                     and read captures; pass --allow-remote if that is what you want, or use 127.0.0.1"
                );
            }
        }
        let mut allowed_hosts = file.allowed_hosts.unwrap_or_default();
        allowed_hosts.extend(args.allowed_hosts.iter().cloned());
        let upstreams = merge_upstreams(file.upstreams, &args.upstreams)?;
        // What the user puts there to be sent is mostly a key.
        let mut redact_headers = file.redact.headers.unwrap_or_default();
        redact_headers.extend(
            upstreams.iter().flat_map(|upstream| upstream.settings.headers.keys().cloned()),
        );
        Ok(Self {
            listen,
            dashboard,
            data_dir: data_dir(args.data_dir.as_deref(), file.data_dir)?,
            store: !args.no_store && file.store.unwrap_or(true),
            open: args.open || file.open.unwrap_or(false),
            allowed_hosts,
            upstreams,
            retention_days: file.retention.days.unwrap_or(DEFAULT_RETENTION_DAYS),
            retention_bytes: file.retention.mebibytes.unwrap_or(DEFAULT_RETENTION_MEBIBYTES) << 20,
            redact_headers,
            redact_query: file.redact.query.unwrap_or_default(),
            ca_files: file.tls.ca_files.unwrap_or_default(),
            certificate: certificate(
                args.tls_certificate.clone().or(file.tls.certificate),
                args.tls_key.clone().or(file.tls.key),
            )?,
            outbound: outbound(),
            connect_timeout: Duration::from_secs(
                file.timeouts.connect_seconds.unwrap_or(DEFAULT_CONNECT_SECONDS),
            ),
            shutdown_grace: Duration::from_secs(
                file.timeouts.shutdown_seconds.unwrap_or(DEFAULT_SHUTDOWN_SECONDS),
            ),
        })
    }
}

/// The proxies on the way out, as everybody names them. curl's rule for `HTTP_PROXY`: only the lower-case name counts.
fn outbound() -> OutboundProxies {
    let value = |names: &[&str]| names.iter().find_map(|name| std::env::var(name).ok());
    OutboundProxies {
        https: value(&["https_proxy", "HTTPS_PROXY"]),
        http: value(&["http_proxy"]),
        all: value(&["all_proxy", "ALL_PROXY"]),
        no: value(&["no_proxy", "NO_PROXY"]),
    }
}

/// Both files or none.
fn certificate(
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
) -> Result<Option<(PathBuf, PathBuf)>> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
        (None, None) => Ok(None),
        _ => bail!(
            "a certificate for the proxy needs its key and the other way round; give both or none"
        ),
    }
}

/// The store's folder for a command that only looks at it.
///
/// # Errors
///
/// The configuration file cannot be read, or the platform names no data folder.
pub(crate) fn store_dir(args: &StoreArgs) -> Result<PathBuf> {
    data_dir(args.data_dir.as_deref(), File::load(args.config.as_deref())?.data_dir)
}

fn data_dir(flag: Option<&Path>, file: Option<PathBuf>) -> Result<PathBuf> {
    flag.map(Path::to_owned)
        .or(file)
        .or_else(|| dirs::data_dir().map(|dir| dir.join("teeline")))
        .context("this system names no data folder; pass --data-dir DIR")
}

impl File {
    /// Reads `path`; none: the empty configuration.
    fn load(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("the configuration file {} cannot be read", path.display()))?;
        Self::parse(&text)
            .with_context(|| format!("the configuration file {} cannot be used", path.display()))
    }

    /// Parses TOML. The error shows the line, the column and the text there.
    fn parse(text: &str) -> Result<Self> {
        Ok(toml::from_str(text)?)
    }
}

/// The file's upstreams, with the flags' over them; both keep their order.
fn merge_upstreams(
    file: BTreeMap<String, UpstreamEntry>,
    flags: &[String],
) -> Result<Vec<NamedUpstream>> {
    let mut upstreams: Vec<NamedUpstream> = Vec::new();
    let mut put = |upstream: NamedUpstream| match upstreams
        .iter_mut()
        .find(|known| known.name == upstream.name)
    {
        Some(known) => *known = upstream,
        None => upstreams.push(upstream),
    };
    for (name, entry) in file {
        put(match entry {
            UpstreamEntry::Url(url) => NamedUpstream::plain(&name, &url),
            UpstreamEntry::Table(settings) if settings.url.is_empty() => {
                bail!("upstream `{name}` in the configuration file has no `url`")
            }
            UpstreamEntry::Table(settings) => {
                NamedUpstream { name, url: settings.url.clone(), settings }
            }
        });
    }
    for flag in flags {
        let Some((name, url)) = flag.split_once('=') else {
            bail!(
                "--upstream {flag} is not NAME=URL, as in --upstream myserver=http://127.0.0.1:8080"
            );
        };
        put(NamedUpstream::plain(name, url));
    }
    Ok(upstreams)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(file: &str, args: &ServeArgs) -> Result<Config> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("teeline.toml");
        std::fs::write(&path, file)?;
        Config::resolve(&ServeArgs {
            config: Some(path),
            data_dir: Some("/d".into()),
            ..args.clone()
        })
    }

    #[test]
    fn the_documented_file_holds_every_default() {
        let with_nothing = resolved("", &ServeArgs::default()).unwrap();
        assert_eq!(resolved(DOCUMENTED, &ServeArgs::default()).unwrap(), with_nothing);
        // With every key put in force it still says the same: the comments show the defaults.
        let in_force: String = DOCUMENTED
            .lines()
            .filter_map(|line| {
                line.strip_prefix("#: ").or_else(|| (!line.starts_with('#')).then_some(line))
            })
            .flat_map(|line| [line, "\n"])
            .collect();
        assert_eq!(resolved(&in_force, &ServeArgs::default()).unwrap(), with_nothing);
        let keys = toml::from_str::<toml::Table>(&in_force).unwrap();
        let mut names: Vec<String> = Vec::new();
        for (key, value) in &keys {
            match value.as_table() {
                Some(table) if key != "upstreams" => {
                    names.extend(table.keys().map(|inner| format!("{key}.{inner}")));
                }
                _ => names.push(key.clone()),
            }
        }
        names.sort();
        // `data_dir` has no fixed default, so it is described and not put in force.
        assert_eq!(
            names.join(" "),
            "allow_remote allowed_hosts dashboard listen open redact.headers redact.query retention.days \
             retention.mebibytes store timeouts.connect_seconds timeouts.shutdown_seconds tls.ca_files upstreams"
        );
        assert!(DOCUMENTED.contains("# data_dir ="));
    }

    #[test]
    fn a_flag_wins_over_the_file() {
        let args = ServeArgs {
            listen: Some("127.0.0.1:1".parse().unwrap()),
            upstreams: vec!["b=http://flag".into()],
            ..ServeArgs::default()
        };
        let config = resolved(
            "listen = '127.0.0.1:2'\n[upstreams]\na = 'http://a'\nb = 'http://b'\n",
            &args,
        )
        .unwrap();
        assert_eq!(config.listen.port(), 1);
        let named: Vec<(&str, &str)> =
            config.upstreams.iter().map(|u| (u.name.as_str(), u.url.as_str())).collect();
        assert_eq!(named, [("a", "http://a"), ("b", "http://flag")]);
    }

    #[test]
    fn a_certificate_comes_with_its_key() {
        let both = resolved("[tls]\ncertificate = '/c'\nkey = '/k'\n", &ServeArgs::default());
        assert_eq!(both.unwrap().certificate, Some(("/c".into(), "/k".into())));
        for half in ["[tls]\ncertificate = '/c'\n", "[tls]\nkey = '/k'\n"] {
            let error = resolved(half, &ServeArgs::default()).unwrap_err().to_string();
            assert!(error.contains("both or none"), "{error}");
        }
    }

    #[test]
    fn bad_files_are_refused_with_line_and_column() {
        for (file, place, word) in [
            ("listen = '127.0.0.1:1'\nlisten_on = 3\n", "line 2, column 1", "listen_on"),
            ("\n\nlisten = 'nowhere'\n", "line 3, column 10", "socket address"),
            ("[retention]\ndays = 'x'\n", "line 2, column 8", "u32"),
            ("allowed_hosts = [\n", "line 1", "array"),
        ] {
            let error = format!("{:#}", resolved(file, &ServeArgs::default()).unwrap_err());
            assert!(error.contains(place) && error.contains(word), "{file:?} gave {error}");
        }
    }

    #[test]
    fn other_machines_need_a_flag() {
        let open = ServeArgs { listen: Some("0.0.0.0:0".parse().unwrap()), ..ServeArgs::default() };
        assert!(format!("{:#}", resolved("", &open).unwrap_err()).contains("--allow-remote"));
        assert!(resolved("allow_remote = true", &open).is_ok());
    }

    #[test]
    fn an_upstream_may_have_settings_of_its_own() {
        let file = "[upstreams]\na = 'http://a'\n[upstreams.b]\nurl = 'https://b'\ninsecure = true\nconnect_seconds = 3\n";
        let config = resolved(file, &ServeArgs::default()).unwrap();
        let [a, b] = &config.upstreams[..] else { panic!("{:?}", config.upstreams) };
        assert_eq!(*a, NamedUpstream::plain("a", "http://a"));
        assert_eq!((b.url.as_str(), b.settings.insecure), ("https://b", true));
        assert_eq!(b.settings.connect_seconds, Some(3));
        for bad in
            ["[upstreams.b]\ninsecure = true\n", "[upstreams.b]\nurl = 'https://b'\nsecure = 1\n"]
        {
            assert!(resolved(bad, &ServeArgs::default()).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_upstream_needs_a_name_and_a_url() {
        let args = ServeArgs { upstreams: vec!["nonsense".into()], ..ServeArgs::default() };
        assert!(format!("{:#}", resolved("", &args).unwrap_err()).contains("NAME=URL"));
        assert!(resolved("[upstreams]\na = 3\n", &ServeArgs::default()).is_err());
    }
}
