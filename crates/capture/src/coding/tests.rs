//! What is encoded here is encoded by others: flate2, libzstd, and for brotli Node's `zlib`.

use std::io::Write;

use base64::Engine as _;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::*;

const FRAMES: [&str; 3] = [
    "data: {\"n\":1,\"text\":\"the first frame\"}\n\n",
    "data: {\"n\":2,\"text\":\"the second frame\"}\n\n",
    "data: [DONE]\n\n",
];

/// The frames as a server sends them that flushes after each: the bytes, and where each flush ends.
fn flushed<W: Write>(mut encoder: W, written: fn(&W) -> &Vec<u8>) -> (W, Vec<usize>) {
    let mut marks = Vec::new();
    for frame in FRAMES {
        encoder.write_all(frame.as_bytes()).unwrap();
        encoder.flush().unwrap();
        marks.push(written(&encoder).len());
    }
    (encoder, marks)
}

fn gzip() -> (Vec<u8>, Vec<usize>) {
    let (encoder, marks) =
        flushed(GzEncoder::new(Vec::new(), Compression::default()), GzEncoder::get_ref);
    (encoder.finish().unwrap(), marks)
}

fn encoded() -> Vec<(&'static str, Vec<u8>, Vec<usize>)> {
    let (gzip, gzip_marks) = gzip();
    let (zlib, zlib_marks) =
        flushed(ZlibEncoder::new(Vec::new(), Compression::default()), ZlibEncoder::get_ref);
    let (bare, bare_marks) =
        flushed(DeflateEncoder::new(Vec::new(), Compression::default()), DeflateEncoder::get_ref);
    let (zstd, zstd_marks) = flushed(
        zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap(),
        zstd::stream::write::Encoder::get_ref,
    );
    let brotli = base64::engine::general_purpose::STANDARD
        .decode("ixOAZGF0YTogeyJuIjoxLCJ0ZXh0IjoidGhlIGZpcnN0IGZyYW1lIn0KCkABgF9KhiyBeQCZLOCGVbZwYQBoAIBfUmGrKwlQRJNoSVH4MQAD")
        .unwrap();
    vec![
        ("gzip", gzip.clone(), gzip_marks.clone()),
        ("x-gzip", gzip, gzip_marks),
        ("deflate", zlib.finish().unwrap(), zlib_marks),
        ("Deflate", bare.finish().unwrap(), bare_marks),
        ("zstd", zstd.finish().unwrap(), zstd_marks),
        ("br", brotli, vec![43, 62, 80]),
    ]
}

fn decode(coding: &str, chunks: &[&[u8]]) -> (Vec<u8>, Result<(), String>) {
    let mut decoding = Decoding::new(coding).unwrap().unwrap();
    let mut out = Vec::new();
    for chunk in chunks {
        if let Err(why) = decoding.push(chunk, &mut |bytes| out.extend_from_slice(&bytes)) {
            return (out, Err(why));
        }
    }
    (out, Ok(()))
}

#[test]
fn every_coding_gives_the_bytes_back_however_they_are_cut() {
    for (coding, body, _) in encoded() {
        for size in [1, 2, 7, 64, body.len()] {
            let chunks: Vec<&[u8]> = body.chunks(size).collect();
            let (out, result) = decode(coding, &chunks);
            assert_eq!(result, Ok(()), "{coding} by {size}");
            assert_eq!(out, FRAMES.concat().as_bytes(), "{coding} by {size}");
        }
    }
}

#[test]
fn what_a_server_flushed_is_there_at_once() {
    for (coding, body, marks) in encoded() {
        for (index, mark) in marks.into_iter().enumerate() {
            let (out, result) = decode(coding, &[&body[..mark]]);
            assert_eq!(result, Ok(()), "{coding}");
            let sent = FRAMES[..=index].concat();
            assert_eq!(String::from_utf8(out).unwrap(), sent, "{coding} at flush {index}");
        }
    }
}

#[test]
fn a_cut_stream_keeps_its_prefix() {
    let whole = FRAMES.concat();
    for (coding, body, _) in encoded() {
        for cut in 0..body.len() {
            let (out, result) = decode(coding, &[&body[..cut]]);
            assert_eq!(result, Ok(()), "{coding} cut at {cut}");
            assert!(whole.as_bytes().starts_with(&out), "{coding} cut at {cut}");
        }
    }
}

#[test]
fn broken_data_ends_the_decoding_and_keeps_what_came_before() {
    for (coding, mut body, marks) in encoded() {
        let from = marks[1];
        for byte in &mut body[from..] {
            *byte = 0xff;
        }
        body.extend([0xff; 64]);
        let (out, result) = decode(coding, &[&body[..from], &body[from..]]);
        assert!(out.starts_with(FRAMES[..2].concat().as_bytes()), "{coding}");
        let why = result.expect_err(coding);
        assert!(why.contains("is broken"), "{why}");
    }
}

#[test]
fn members_and_codings_may_follow_each_other() {
    let (member, _) = gzip();
    let twice = [member.clone(), member.clone()].concat();
    let (out, result) = decode("gzip", &[&twice]);
    assert_eq!((out, result), (FRAMES.concat().repeat(2).into_bytes(), Ok(())));
    // RFC 9110, 8.4: in the order in which they were applied.
    let both = zstd::stream::encode_all(member.as_slice(), 3).unwrap();
    let (out, result) = decode("gzip, zstd", &[&both]);
    assert_eq!((out, result), (FRAMES.concat().into_bytes(), Ok(())));
}

#[test]
fn identity_needs_nothing_and_unknown_codings_are_named() {
    assert!(Decoding::new("").unwrap().is_none());
    assert!(Decoding::new("identity, Identity").unwrap().is_none());
    assert!(Decoding::new("gzip, compress").err().unwrap().contains("`compress`"));
    assert!(Decoding::new("br,br,br,br,br").is_err());
}

#[test]
fn a_bomb_ends_at_the_cap() {
    let zeros = vec![0; 4 << 20];
    for (coding, body) in [
        ("gzip", {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&zeros).unwrap();
            encoder.finish().unwrap()
        }),
        ("zstd", zstd::stream::encode_all(zeros.as_slice(), 19).unwrap()),
    ] {
        let mut decoding = Decoding::new(coding).unwrap().unwrap();
        decoding.max = 1 << 20;
        let (mut total, mut largest) = (0, 0);
        let result = decoding.push(&body, &mut |bytes| {
            total += bytes.len();
            largest = largest.max(bytes.len());
        });
        assert!(result.expect_err(coding).contains("unpacks to more than 1 MiB"));
        assert_eq!(total, 1 << 20, "{coding}");
        assert!(largest <= 1 << 20, "{coding}: pieces are bounded");
    }
}
