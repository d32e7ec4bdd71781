//! Errors that a stream carries, in the shapes that vendors give them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    format::Event,
    json::{Json, Object},
    reading::Failure,
    text::write_json_str,
};

/// An error out of a frame.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What the provider says; never empty.
    pub message: String,
    /// Its type.
    pub error_type: Option<String>,
    /// Its code.
    pub code: Option<String>,
    /// The error as it came, compacted.
    pub raw: Box<str>,
}

impl Fault {
    /// Reads the error that a frame is: its data, and of an AWS exception also its headers.
    pub fn of_event(event: &Event<'_>) -> Self {
        let mut fault = if event.is_exception() && event.object.is_none() {
            Self::of_headers(&event.frame.headers)
        } else {
            Self::of_frame(event.json)
        };
        if event.is_exception() && fault.error_type.is_none() {
            fault.error_type.clone_from(&event.frame.event);
        }
        fault
    }

    /// An AWS message of type `error` has no payload: its code and its message are headers.
    fn of_headers(headers: &[(String, String)]) -> Self {
        let get = |wanted: &str| headers.iter().rfind(|(name, _)| name == wanted);
        let message = get(":error-message").or(get(":error-code")).or(get(":exception-type"));
        let mut raw = String::new();
        for (name, value) in headers {
            raw.push(if raw.is_empty() { '{' } else { ',' });
            write_json_str(name, &mut raw);
            raw.push(':');
            write_json_str(value, &mut raw);
        }
        raw.push('}');
        Self {
            message: message.map_or("an exception", |(_, text)| text).to_owned(),
            error_type: None,
            code: None,
            raw: raw.into_boxed_str(),
        }
    }

    /// Reads the error of a frame: `{"error":{…}}`, `{"error":"…"}`, or the error's own fields at the top.
    pub fn of_frame(frame: Json<'_>) -> Self {
        let object = frame.object().unwrap_or_default();
        match object.get("error").filter(|error| error.is_truthy()) {
            Some(error) if error.is_object() => Self::of_object(error),
            Some(_) | None => Self::of_object(frame),
        }
    }

    /// Reads an error object.
    pub fn of_object(error: Json<'_>) -> Self {
        let object = error.object().unwrap_or_default();
        let message = ["message", "error", "errorText", "error_message", "detail", "details"]
            .into_iter()
            .find_map(|key| object.filled(key))
            .map_or_else(
                || error.str().map_or_else(|| error.shortened(), Cow::into_owned),
                Cow::into_owned,
            );
        // LangGraph names the class of the error in `error`, beside its message.
        let class = object.filled("error").filter(|_| object.filled("message").is_some());
        let error_type = ["type", "error_type", "status"]
            .into_iter()
            .find_map(|key| word(&object, key))
            .or_else(|| class.map(Cow::into_owned));
        let code = ["code", "http_status_code", "status_code"]
            .into_iter()
            .find_map(|key| word(&object, key));
        Self {
            message: if message.is_empty() { error.shortened() } else { message },
            error_type: error_type.filter(|name| name != "error"),
            code,
            raw: error.compact(),
        }
    }

    /// Its type or else its code, `""` if it has neither.
    pub fn label(&self) -> &str {
        self.error_type.as_deref().or(self.code.as_deref()).unwrap_or_default()
    }

    /// What its code or type means: the format's own table first, then the common one.
    pub fn meaning(&self, own: &[(&str, &str)]) -> Option<String> {
        let names = [self.code.as_deref(), self.error_type.as_deref()];
        let find = |table| names.iter().flatten().find_map(|name| meaning_in(table, name));
        find(own).or_else(|| find(COMMON))
    }
}

fn meaning_in(table: &[(&str, &str)], name: &str) -> Option<String> {
    let entry = table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    entry.map(|(_, meaning)| (*meaning).to_owned())
}

impl Failure {
    /// What an HTTP status of 400 and above says alone: for a body in which no format's error was found.
    ///
    /// ```
    /// let failure = teeline_assembler::Failure::of_status(404, None);
    /// assert_eq!(failure.message, "HTTP 404");
    /// assert!(failure.meaning.is_some_and(|meaning| meaning.contains("does not exist")));
    /// ```
    pub fn of_status(status: u16, reason: Option<&str>) -> Self {
        let code = status.to_string();
        Self {
            message: format!("HTTP {status} {}", reason.unwrap_or_default()).trim_end().to_owned(),
            error_type: None,
            meaning: meaning_in(COMMON, &code),
            code: Some(code),
            raw: RawValue::NULL.to_owned(),
        }
    }
}

/// A string that is not empty, or a number as text.
fn word(object: &Object<'_>, key: &str) -> Option<String> {
    let value = object.get(key)?;
    match value.str() {
        Some(text) => Some(text.into_owned()).filter(|text| !text.is_empty()),
        None => value.is_number().then(|| value.raw().to_owned()),
    }
}

/// Types and codes that several vendors use for the same thing, and HTTP status codes.
const COMMON: &[(&str, &str)] = &[
    (
        "invalid_request_error",
        "The request is malformed or asks for something the model cannot do.",
    ),
    ("authentication_error", "The API key is missing, wrong or revoked."),
    ("invalid_api_key", "The API key is wrong or revoked."),
    ("permission_error", "The key may not use this model or resource."),
    ("permission_denied", "The key may not use this model or resource."),
    ("not_found_error", "The model or resource does not exist, or the key cannot see it."),
    ("model_not_found", "The model does not exist, or the key cannot see it."),
    ("rate_limit_error", "Too many requests or tokens in a short time; wait and try again."),
    ("rate_limit_exceeded", "Too many requests or tokens in a short time; wait and try again."),
    ("tokens", "The limit on tokens in a time is used up; wait and try again."),
    ("requests", "The limit on requests in a time is used up; wait and try again."),
    ("insufficient_quota", "The account's quota or credit is used up; waiting does not help."),
    ("billing_error", "The account cannot pay; waiting does not help."),
    ("context_length_exceeded", "Prompt and answer together do not fit the model's context."),
    ("content_filter", "A filter withheld the prompt or the answer."),
    ("content_policy_violation", "The provider's policy forbids the prompt or the answer."),
    ("overloaded_error", "The provider is overloaded; try again later."),
    ("overloaded", "The provider is overloaded; try again later."),
    ("timeout_error", "The provider took too long and gave up."),
    ("timeout", "The provider took too long and gave up."),
    ("server_error", "The provider failed; the same request may work later."),
    ("internal_server_error", "The provider failed; the same request may work later."),
    ("internal_error", "The provider failed; the same request may work later."),
    ("api_error", "The provider failed; the same request may work later."),
    ("service_unavailable", "The provider cannot serve the request now; try again later."),
    ("400", "The request is malformed or asks for something the model cannot do."),
    ("401", "The API key is missing, wrong or revoked."),
    ("402", "The account's credit is used up; waiting does not help."),
    ("403", "The key may not use this model or resource, or the content was refused."),
    ("404", "The model or resource does not exist, or the key cannot see it."),
    ("408", "The request took too long."),
    ("413", "The request is too large."),
    ("429", "Too many requests or tokens in a short time; wait and try again."),
    ("500", "The provider failed; the same request may work later."),
    ("502", "The gateway got no usable answer from the provider behind it."),
    ("503", "The provider cannot serve the request now; try again later."),
    ("504", "The gateway waited too long for the provider behind it."),
    ("529", "The provider is overloaded; try again later."),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> (String, String, Option<String>) {
        let fault = Fault::of_frame(Json::parse(json).unwrap());
        (fault.message.clone(), fault.label().to_owned(), fault.code)
    }

    /// The shapes of `FORMATS.md` A.7, B.6, C.7, D.6, F.2 and H11.
    #[test]
    fn shapes_of_vendors() {
        for (json, message, label, code) in [
            (
                r#"{"error":{"message":"m","type":"server_error","code":"502"}}"#,
                "m",
                "server_error",
                Some("502"),
            ),
            (r#"{"error":{"message":"m","code":429}}"#, "m", "429", Some("429")),
            (r#"{"error":"m","error_type":"overloaded"}"#, "m", "overloaded", None),
            (r#"{"error":{"message":"m","http_status_code":500}}"#, "m", "500", Some("500")),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
                "m",
                "overloaded_error",
                None,
            ),
            (r#"{"type":"error","code":"c","message":"m"}"#, "m", "c", Some("c")),
            (
                r#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}"#,
                "m",
                "INVALID_ARGUMENT",
                Some("400"),
            ),
            (
                r#"{"code":"InvalidApiKey","message":"m","request_id":"r"}"#,
                "m",
                "InvalidApiKey",
                Some("InvalidApiKey"),
            ),
            (r#"{"error":"ValueError","message":"m"}"#, "m", "ValueError", None),
            (r#"{"error":{"what":1}}"#, r#"{"what":1}"#, "", None),
        ] {
            let want = (message.to_owned(), label.to_owned(), code.map(str::to_owned));
            assert_eq!(fault(json), want, "{json}");
        }
    }

    #[test]
    fn meanings_prefer_the_formats_own_table() {
        let fault =
            Fault::of_frame(Json::parse(r#"{"error":{"message":"m","code":"429"}}"#).unwrap());
        assert_eq!(fault.meaning(&[("429", "own")]).as_deref(), Some("own"));
        assert!(fault.meaning(&[]).unwrap().starts_with("Too many requests"));
    }
}
