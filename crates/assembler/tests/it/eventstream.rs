//! AWS event streams, written: messages with headers and checksums (`FORMATS.md` H6.1).

/// A message with these text headers.
pub(crate) fn message(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, value) in headers {
        written.push(u8::try_from(name.len()).unwrap());
        written.extend(name.as_bytes());
        written.push(7);
        written.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        written.extend(value.as_bytes());
    }
    let total = u32::try_from(16 + written.len() + payload.len()).unwrap();
    let mut message = total.to_be_bytes().to_vec();
    message.extend(u32::try_from(written.len()).unwrap().to_be_bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(written);
    message.extend(payload.as_bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}

/// A message of type `event`.
pub(crate) fn event(name: &str, payload: &str) -> Vec<u8> {
    let headers =
        [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    message(&headers, payload)
}

/// A message of type `exception`.
pub(crate) fn exception(name: &str, payload: &str) -> Vec<u8> {
    message(&[(":message-type", "exception"), (":exception-type", name)], payload)
}

/// The vectors H6a and H6b of `FORMATS.md`.
#[test]
fn messages_are_those_of_the_specification() {
    let hex =
        |bytes: Vec<u8>| bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    assert_eq!(
        hex(event("messageStart", r#"{"p":"ab","role":"assistant"}"#)),
        "0000007f000000529bc598af0b3a6576656e742d7479706507000c6d65737361676553746172740d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b2270223a226162222c22726f6c65223a22617373697374616e74227d362c6c18"
    );
    assert_eq!(
        hex(exception("throttlingException", r#"{"message":"slow"}"#)),
        "0000006200000040f00cbad40d3a6d6573736167652d74797065070009657863657074696f6e0f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074696f6e7b226d657373616765223a22736c6f77227d54a773d3"
    );
}
