//! The environment variables from which SDKs and tools take their base URL.

use std::net::SocketAddr;

/// A variable, the upstream that it is for, and what its value has behind the upstream's base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) upstream: &'static str,
    /// What the variable's own default has behind the host: SDKs append their routes to it.
    suffix: &'static str,
    /// Who reads it.
    pub(crate) readers: &'static str,
}

/// As the SDKs' sources and documents name them.
pub(crate) const VARIABLES: [Variable; 6] = [
    Variable {
        name: "OPENAI_BASE_URL",
        upstream: "openai",
        suffix: "/v1",
        readers: "openai-python, openai-node, LangChain, LiteLLM",
    },
    Variable {
        name: "OPENAI_API_BASE",
        upstream: "openai",
        suffix: "/v1",
        readers: "LangChain, LiteLLM, aider",
    },
    Variable {
        name: "ANTHROPIC_BASE_URL",
        upstream: "anthropic",
        suffix: "",
        readers: "the Anthropic SDKs, Claude Code",
    },
    Variable {
        name: "GOOGLE_GEMINI_BASE_URL",
        upstream: "gemini",
        suffix: "",
        readers: "the google-genai SDKs, gemini-cli",
    },
    Variable { name: "CO_API_URL", upstream: "cohere", suffix: "", readers: "the Cohere SDKs" },
    Variable {
        name: "OLLAMA_HOST",
        upstream: "ollama",
        suffix: "",
        readers: "ollama-python, the ollama command",
    },
];

impl Variable {
    /// Its value that leads through the proxy.
    pub(crate) fn through(&self, proxy: SocketAddr) -> String {
        format!("http://{proxy}/{}{}", self.upstream, self.suffix)
    }

    /// The URL of its upstream, if it is to go where `value` points now.
    pub(crate) fn upstream_url<'a>(&self, value: &'a str) -> &'a str {
        let value = value.trim_end_matches('/');
        value.strip_suffix(self.suffix).unwrap_or(value).trim_end_matches('/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_and_its_upstream_fit() {
        let proxy = "127.0.0.1:4780".parse().unwrap();
        let openai = VARIABLES[0];
        assert_eq!(openai.through(proxy), "http://127.0.0.1:4780/openai/v1");
        for (value, url) in [
            ("http://my-server:8000/v1/", "http://my-server:8000"),
            ("https://gateway.example/llm/v1", "https://gateway.example/llm"),
        ] {
            assert_eq!(openai.upstream_url(value), url);
        }
        assert_eq!(
            VARIABLES[2].upstream_url("https://api.anthropic.com"),
            "https://api.anthropic.com"
        );
    }
}
