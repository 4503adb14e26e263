#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| eifel_fuzzing::qlog(data));
