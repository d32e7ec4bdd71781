#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use teeline_assembler::{Assembly, End, FORMATS, Options};

/// The first two bytes choose format, stamps and the size of the pieces; the rest is the body.
fuzz_target!(|input: &[u8]| {
    let [format, choice, body @ ..] = input else { return };
    let options = Options {
        format: FORMATS.get(usize::from(*format)),
        stamps: choice & 1 == 1,
        ..Options::default()
    };
    let read = |size: usize| {
        let mut assembly = Assembly::new(options.clone());
        for piece in body.chunks(size.max(1)) {
            assembly.push(Bytes::copy_from_slice(piece), None);
        }
        assembly.finish(End::Clean);
        serde_json::to_string(&assembly.reading()).expect("a reading is JSON")
    };
    assert_eq!(read(body.len()), read(usize::from(choice >> 1)));
});
