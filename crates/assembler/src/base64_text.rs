//! Base64 that comes in pieces.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::text::{Str, Text};

/// Adds a piece. Pieces that were padded on their own do not join as text: the last group is taken apart
/// and encoded again with what follows.
pub(crate) fn append(text: &mut Text, piece: &Str<'_>) {
    if text.as_bytes().ends_with(b"=") && !piece.is_empty() {
        let start = text.len().saturating_sub(4);
        let tail = text.as_bytes().get(start..).unwrap_or_default();
        if let (Ok(mut bytes), Ok(more)) =
            (STANDARD.decode(tail), STANDARD.decode(piece.as_bytes()))
        {
            bytes.extend(more);
            text.truncate(start);
            text.append(&Str::from(STANDARD.encode(bytes)));
            return;
        }
    }
    text.append(piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_padded_on_their_own_are_encoded_again() {
        for pieces in [
            &["SGVsbG8h"][..],
            &["SGVs", "bG8h"],
            &["SGU=", "bGxvIQ=="],
            &["SA==", "ZQ==", "bGxvIQ=="],
        ] {
            let mut text = Text::default();
            for piece in pieces {
                append(&mut text, &Str::from(*piece));
            }
            assert_eq!(STANDARD.decode(text.as_bytes()).unwrap(), b"Hello!", "{pieces:?}");
        }
    }
}
