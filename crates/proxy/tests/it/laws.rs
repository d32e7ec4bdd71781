//! What holds for every answer.

use proptest::{collection::vec, prelude::*};
use teeline_capture::{Piece, State, Summary};
use teeline_script::Script;
use tokio::runtime::Runtime;

use crate::support::{End, Rig, get};

#[derive(Clone, Copy, Debug)]
enum Framing {
    Chunked,
    Length,
    Close,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    /// The whole body, in an orderly way.
    End,
    /// A FIN before the end of the body.
    Fin,
    /// A reset before the end of the body.
    Reset,
}

/// An answer of these pieces. What is sent is cut again, by `cut` bytes, anywhere in head and framing.
fn answer(framing: Framing, then: Then, pieces: &[Vec<u8>], cut: usize) -> Script {
    let length: usize = pieces.iter().map(Vec::len).sum();
    let missing = usize::from(!matches!(then, Then::End));
    let mut bytes = match framing {
        Framing::Chunked => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
        Framing::Length => {
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", length + missing)
        }
        Framing::Close => "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
    }
    .into_bytes();
    for piece in pieces {
        if let Framing::Chunked = framing {
            bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
        }
        bytes.extend(piece);
        if let Framing::Chunked = framing {
            bytes.extend(b"\r\n");
        }
    }
    if let (Framing::Chunked, Then::End) = (framing, then) {
        bytes.extend(b"0\r\n\r\n");
    }
    let script = Script::new().bytes_by(bytes, cut);
    match (framing, then) {
        // What is not yet on its way when a connection is reset is never sent.
        (_, Then::Reset) => script.gate("all came").rst(),
        (Framing::Close, _) | (_, Then::Fin) => script.fin(),
        (_, Then::End) => script,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// The app and the capture have the upstream's bytes, and the end is the upstream's.
    #[test]
    fn bytes_and_end_are_the_upstreams(
        framing in prop_oneof![Just(Framing::Chunked), Just(Framing::Length), Just(Framing::Close)],
        then in prop_oneof![Just(Then::End), Just(Then::Fin), Just(Then::Reset)],
        pieces in vec(vec(any::<u8>(), 1..300), 0..20),
        cut in 1_usize..2000,
    ) {
        let script = answer(framing, then, &pieces, cut);
        let body = pieces.concat();
        // A FIN is the orderly end of a body that ends with its connection.
        let whole = matches!((framing, then), (_, Then::End) | (Framing::Close, Then::Fin));
        Runtime::new().unwrap().block_on(async {
            let rig = Rig::new(move |_| script.clone()).await;
            let mut app = rig.app().await;
            app.send(get("/up/x")).await;
            let length = body.len() as u64;
            rig.capture(0, |it| it.status.is_some() && it.bytes == length).await;
            rig.upstream.open_gate("all came");
            let got = app.answer().await;
            assert_eq!(got.end, if whole { End::Whole } else { End::Cut });
            assert!(got.body == body, "{} of {length} bytes", got.body.len());
            let state = if whole { State::Ended } else { State::UpstreamBroke };
            let all = |it: &Summary| it.state == state && it.bytes_to_app == length;
            let summary = rig.capture(0, all).await;
            let stored = rig.store.chunks(summary.id).unwrap().map(|piece| match piece.unwrap() {
                Piece::Chunk(chunk) => chunk.bytes.to_vec(),
                Piece::Gap { .. } => panic!("something is missing"),
            });
            assert!(stored.collect::<Vec<_>>().concat() == body, "the capture has other bytes");
        });
    }
}
