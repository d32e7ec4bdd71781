#![no_main]

mod law;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| law::pieces_change_nothing(input, None));
