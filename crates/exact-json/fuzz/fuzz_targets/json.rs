#![no_main]

#[path = "../../tests/it/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::json(input));
