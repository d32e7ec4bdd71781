#![no_main]

mod law;

use libfuzzer_sys::fuzz_target;
use teeline_decoder::Framing;

fuzz_target!(|input: &[u8]| law::pieces_change_nothing(input, Some(Framing::AwsEventstream)));
