use proptest::prelude::*;

use super::*;
use crate::Data;

/// A frame as section 5.2 draws it.
#[derive(Clone, Debug)]
struct Wire {
    first: u8,
    mask: Option<[u8; 4]>,
    payload: Vec<u8>,
}

fn wire(first: u8, payload: &[u8]) -> Wire {
    Wire { first, mask: None, payload: payload.to_vec() }
}

impl Wire {
    fn bytes(&self) -> Vec<u8> {
        let masked = if self.mask.is_some() { 0x80 } else { 0 };
        let mut bytes = vec![self.first];
        match self.payload.len() {
            length @ 0..=125 => bytes.push(masked | u8::try_from(length).unwrap()),
            length @ 126..=0xffff => {
                bytes.push(masked | 0x7e);
                bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            length => {
                bytes.push(masked | 0x7f);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        let mask = self.mask.unwrap_or_default();
        bytes.extend(self.mask.into_iter().flatten());
        bytes.extend(self.payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
        bytes
    }
}

fn items(socket: &mut WebSocket, chunks: impl IntoIterator<Item = Vec<u8>>) -> Vec<Item> {
    let mut items = Vec::new();
    for chunk in chunks {
        socket.push(chunk.into(), None);
        items.extend(std::iter::from_fn(|| socket.next_item()));
    }
    socket.finish();
    items.extend(std::iter::from_fn(|| socket.next_item()));
    items
}

fn read(sender: Sender, bytes: &[u8]) -> Vec<Item> {
    items(&mut WebSocket::new(sender, false), [bytes.to_vec()])
}

fn messages(sender: Sender, bytes: &[u8]) -> Vec<Message> {
    let message = |item| match item {
        Item::Message(message) => message,
        Item::Fault { .. } => panic!("{item:?}"),
    };
    read(sender, bytes).into_iter().map(message).collect()
}

fn text(message: &Message) -> &str {
    message.text.as_ref().map_or("", Data::as_str)
}

/// Who sends what, and what it is.
type Example<'a> = (Sender, &'a [u8], Opcode, &'a [u8], u64);

/// The examples of section 5.7.
#[test]
fn the_examples_of_the_rfc_are_read() {
    use Opcode::{Binary, Ping, Pong, Text};
    let masked = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    let pong = [0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    let long = [&[0x82, 0x7e, 0x01, 0x00][..], &[7; 256]].concat();
    let large = vec![7; 65536];
    let longer = [&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0][..], &large].concat();
    let cases: &[Example<'_>] = &[
        (Sender::Server, b"\x81\x05Hello", Text, b"Hello", 1),
        (Sender::Client, &masked, Text, b"Hello", 1),
        (Sender::Server, b"\x01\x03Hel\x80\x02lo", Text, b"Hello", 2),
        (Sender::Server, b"\x89\x05Hello", Ping, b"Hello", 1),
        (Sender::Client, &pong, Pong, b"Hello", 1),
        (Sender::Server, &long, Binary, &[7; 256], 1),
        (Sender::Server, &longer, Binary, &large, 1),
    ];
    for (sender, bytes, opcode, payload, frames) in cases {
        let messages = messages(*sender, bytes);
        let [message] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!((message.opcode, &message.payload[..]), (*opcode, *payload));
        assert_eq!((message.offset, message.length), (0, bytes.len() as u64));
        assert_eq!((message.size, message.frames), (payload.len() as u64, *frames));
        assert!(message.complete && message.faults.is_empty(), "{message:?}");
    }
}

#[test]
fn control_frames_between_fragments_are_messages_of_their_own() {
    let bytes = b"\x01\x02He\x89\x01?\x00\x02ll\x8a\x00\x80\x01o\x88\x05\x03\xe8bye";
    let messages = messages(Sender::Server, bytes);
    let seen: Vec<_> =
        messages.iter().map(|message| (message.opcode.as_str(), message.offset)).collect();
    assert_eq!(seen, [("ping", 4), ("pong", 11), ("text", 0), ("close", 16)]);
    assert_eq!((text(&messages[2]), messages[2].length), ("Hello", 16));
    assert_eq!((messages[3].close, text(&messages[3])), (Some(1000), "bye"));
    assert!(messages.iter().all(|message| message.faults.is_empty()), "{messages:?}");
}

/// Each is what the RFC forbids, and named as that and nothing else.
#[test]
fn what_is_forbidden_is_named() {
    use Fault as F;
    let masked = |bytes: &[u8]| Wire { mask: Some([0; 4]), ..wire(0x81, bytes) }.bytes();
    let cases: &[(&str, Sender, Vec<u8>, &[F])] = &[
        ("RSV1 without an extension", Sender::Server, b"\xc1\x00".to_vec(), &[F::ReservedBits(4)]),
        ("RSV2 and RSV3", Sender::Server, b"\xb1\x00".to_vec(), &[F::ReservedBits(3)]),
        ("opcode 3", Sender::Server, b"\x83\x00".to_vec(), &[F::ReservedOpcode(3)]),
        ("opcode 11", Sender::Server, b"\x8b\x00".to_vec(), &[F::ReservedOpcode(11)]),
        ("a client without mask", Sender::Client, b"\x81\x00".to_vec(), &[F::NotMasked]),
        ("a server with mask", Sender::Server, masked(b"x"), &[F::Masked]),
        ("16 bits for 5", Sender::Server, b"\x81\x7e\x00\x05Hello".to_vec(), &[F::LongLength]),
        (
            "64 bits for 5",
            Sender::Server,
            b"\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x05Hello".to_vec(),
            &[F::LongLength],
        ),
        ("a ping without FIN", Sender::Server, b"\x09\x00".to_vec(), &[F::FragmentedControl]),
        ("a long ping", Sender::Server, wire(0x89, &[b'x'; 126]).bytes(), &[F::LongControl(126)]),
        ("nothing to continue", Sender::Server, b"\x80\x00".to_vec(), &[F::NothingToContinue]),
        ("not UTF-8", Sender::Server, b"\x81\x02\xc3(".to_vec(), &[F::BadUtf8]),
        ("half a character", Sender::Server, b"\x81\x01\xc3".to_vec(), &[F::BadUtf8]),
        (
            "a reason that is no UTF-8",
            Sender::Server,
            b"\x88\x03\x03\xe8\xff".to_vec(),
            &[F::BadUtf8],
        ),
        ("half a code", Sender::Server, b"\x88\x01\x03".to_vec(), &[F::HalfCloseCode]),
        ("1005", Sender::Server, b"\x88\x02\x03\xed".to_vec(), &[F::CloseCode(1005)]),
        ("5000", Sender::Server, b"\x88\x02\x13\x88".to_vec(), &[F::CloseCode(5000)]),
        (
            "2^63 bytes",
            Sender::Server,
            b"\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00Hello".to_vec(),
            &[F::ImpossibleLength, F::NotFinished],
        ),
        ("cut", Sender::Server, b"\x81\x05Hel".to_vec(), &[F::Cut]),
        ("between fragments", Sender::Server, b"\x01\x03Hel".to_vec(), &[F::NotFinished]),
        ("a ping is cut", Sender::Server, b"\x89\x05Hel".to_vec(), &[F::Cut]),
    ];
    for (name, sender, bytes, faults) in cases {
        let messages = messages(*sender, bytes);
        let [message] = &messages[..] else { panic!("{name}: {messages:?}") };
        assert_eq!(message.faults, *faults, "{name}");
    }
    let after = messages(Sender::Server, b"\x88\x00\x81\x00");
    assert_eq!((&after[0].faults[..], &after[1].faults[..]), (&[][..], &[F::AfterClose][..]));
    let within = messages(Sender::Server, b"\x01\x02He\x81\x02lo");
    assert_eq!((text(&within[0]), &within[0].faults[..]), ("He", &[F::NotFinished][..]));
    assert_eq!((text(&within[1]), within[1].complete, within[0].complete), ("lo", true, false));
    let head = read(Sender::Server, b"\x81\x00\x81\x7e\x00");
    assert_eq!(head[1], Item::Fault { offset: 2, fault: F::Cut });
}

#[test]
fn compressed_messages_are_counted_and_not_decoded() {
    let bytes = b"\x41\x02\xca\x48\x80\x03\xcd\xc9\x00\x81\x01x";
    let items = items(&mut WebSocket::new(Sender::Server, true), [bytes.to_vec()]);
    let [Item::Message(first), Item::Message(second)] = &items[..] else { panic!("{items:?}") };
    assert!(first.compressed && first.text.is_none() && first.payload.is_empty());
    assert_eq!((first.size, first.frames, first.faults.len()), (5, 2, 0));
    assert!(!second.compressed && text(second) == "x");
}

#[test]
fn a_message_over_the_bound_has_a_size_only() {
    let bytes = [wire(0x82, &[1; 3000]).bytes(), wire(0x81, b"small").bytes()].concat();
    let mut socket = WebSocket::new(Sender::Server, false).with_bound(2999);
    let items = items(&mut socket, bytes.chunks(7).map(<[u8]>::to_vec));
    let [Item::Message(large), Item::Message(small)] = &items[..] else { panic!("{items:?}") };
    assert!(large.too_large && large.payload.is_empty() && large.complete);
    assert_eq!((large.size, text(small)), (3000, "small"));
}

#[test]
fn a_message_has_the_time_of_its_first_byte() {
    let mut socket = WebSocket::new(Sender::Server, false);
    socket.push(Bytes::from_static(b"\x81\x00\x01"), Some(1));
    socket.push(Bytes::from_static(b"\x01a\x80"), Some(2));
    socket.push(Bytes::from_static(b"\x01b"), Some(3));
    let times: Vec<_> = std::iter::from_fn(|| socket.next_item())
        .map(|item| match item {
            Item::Message(message) => message.at_us,
            Item::Fault { .. } => panic!("{item:?}"),
        })
        .collect();
    assert_eq!(times, [Some(1), Some(1)]);
}

/// Frames with more structure than random bytes have.
fn some_frame() -> impl Strategy<Value = Wire> {
    let first = prop_oneof![
        4 => prop::sample::select(vec![0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8a, 0xc1]),
        1 => any::<u8>(),
    ];
    let payload = prop_oneof![
        8 => prop::collection::vec(any::<u8>(), 0..40),
        1 => prop::collection::vec(any::<u8>(), 120..300),
    ];
    (first, any::<Option<[u8; 4]>>(), payload).prop_map(|(first, mask, payload)| Wire {
        first,
        mask,
        payload,
    })
}

fn cut(bytes: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
    let mut sizes = sizes.iter().copied().cycle();
    let mut rest = bytes;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let (chunk, more) = rest.split_at(sizes.next().unwrap_or(1).clamp(1, rest.len()));
        chunks.push(chunk.to_vec());
        rest = more;
    }
    chunks
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same(
        frames in prop::collection::vec(some_frame(), 0..12),
        tail in prop::collection::vec(any::<u8>(), 0..12),
        sizes in prop::collection::vec(1_usize..50, 1..8),
        client in any::<bool>(),
        deflate in any::<bool>(),
    ) {
        let bytes = [frames.iter().flat_map(Wire::bytes).collect(), tail].concat();
        let sender = if client { Sender::Client } else { Sender::Server };
        let whole = items(&mut WebSocket::new(sender, deflate), [bytes.clone()]);
        let pieces = items(&mut WebSocket::new(sender, deflate), cut(&bytes, &sizes));
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn what_is_sent_comes_out(
        sent in prop::collection::vec((".{0,200}", any::<[u8; 4]>(), 1_usize..60, any::<bool>()), 1..8),
        sizes in prop::collection::vec(1_usize..50, 1..8),
    ) {
        let mut bytes = Vec::new();
        for (text, mask, size, ping) in &sent {
            let pieces = if text.is_empty() { vec![Vec::new()] } else { cut(text.as_bytes(), &[*size]) };
            for (n, payload) in pieces.iter().enumerate() {
                let fin = if n + 1 == pieces.len() { 0x80 } else { 0 };
                let first = fin | u8::from(n == 0);
                bytes.extend(Wire { first, mask: Some(*mask), payload: payload.clone() }.bytes());
                if *ping {
                    bytes.extend(Wire { first: 0x89, mask: Some(*mask), payload: Vec::new() }.bytes());
                }
            }
        }
        let read = items(&mut WebSocket::new(Sender::Client, false), cut(&bytes, &sizes));
        let mut texts = Vec::new();
        for item in read {
            let Item::Message(message) = item else { panic!("{item:?}") };
            prop_assert!(message.complete && message.faults.is_empty(), "{:?}", message);
            if message.opcode == Opcode::Text {
                texts.push(text(&message).to_owned());
            }
        }
        let expected: Vec<String> = sent.into_iter().map(|(text, ..)| text).collect();
        prop_assert_eq!(texts, expected);
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..400), client in any::<bool>()) {
        let sender = if client { Sender::Client } else { Sender::Server };
        for item in read(sender, &bytes) {
            if let Item::Message(message) = item {
                prop_assert!(message.offset + message.length <= bytes.len() as u64);
            }
        }
    }
}
