//! Long values, shortened for a sentence.

/// How many characters of a value a sentence shows.
pub const EXCERPT_CHARS: usize = 80;

/// The first [`EXCERPT_CHARS`] characters of `text`, with `…` where more follow.
///
/// ```
/// use teeline_finding::excerpt;
///
/// assert_eq!(excerpt("short"), "short");
/// assert_eq!(excerpt(&"x".repeat(100)), format!("{}…", "x".repeat(80)));
/// ```
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
