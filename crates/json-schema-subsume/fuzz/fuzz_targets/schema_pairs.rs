#![no_main]

#[path = "../../tests/it/pairs.rs"]
mod pairs;
#[path = "../../tests/it/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::schema_pairs(input));
