#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| mcp_keel_fuzz::escape(input));
