use super::*;
use crate::btf::{Member, Types};

#[test]
fn a_prefix_masks_the_bits_behind_its_length() {
    let words = |text: &str| text.parse::<Prefix>().map(Prefix::words);
    let bytes = |words: [u32; 4]| words.map(u32::to_ne_bytes).concat();
    let (family, prefix, mask) = words("192.0.2.77/25").unwrap();
    assert_eq!(
        (family, &bytes(prefix)[..5], &bytes(mask)[..4]),
        (2, &[192, 0, 2, 0, 0][..], &[255, 255, 255, 128][..])
    );
    let (family, prefix, mask) = words("2001:db8:ffff::1/33").unwrap();
    assert_eq!(family, 10);
    assert_eq!(
        (&bytes(prefix)[..6], &bytes(mask)[..6]),
        (&[32, 1, 13, 184, 128, 0][..], &[255, 255, 255, 255, 128, 0][..])
    );
    // An address is a prefix with all its bits, and a prefix without bits is every address.
    assert_eq!(words("192.0.2.77"), words("192.0.2.77/32"));
    assert_eq!(words("0.0.0.0/0"), Ok((2, [0; 4], [0; 4])));
}

#[test]
fn a_text_that_is_no_prefix_is_refused() {
    for text in ["", "/8", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "host", "10.0.0.0/8/8"] {
        let expected = format!("{text}: expected an address or a prefix, as 192.0.2.0/24");
        assert_eq!(text.parse::<Prefix>(), Err(expected));
    }
}

#[test]
fn an_undo_is_read_column_by_column() {
    let bytes: Vec<u8> = [&7_u64.to_ne_bytes()[..], &1_u32.to_ne_bytes(), &u32::MAX.to_ne_bytes()].concat();
    assert_eq!(Undone::read(&bytes), Some(Undone { nanos: 7, values: vec![1, u32::MAX] }));
    assert_eq!(Undone::read(&bytes[..7]), None);
    // `struct undo` has a word for each column after the time.
    let source = include_str!("../../bpf/undo.bpf.c");
    let (_, fields) = source.split_once("struct undo {\n\tu64 nanos;\n").unwrap();
    let (fields, _) = fields.split_once("};").unwrap();
    let names: Vec<&str> = fields.lines().filter_map(|line| line.strip_prefix("\tu32 ")?.strip_suffix(';')).collect();
    assert_eq!(COLUMNS, format!("t,{}", names.join(",")));
}

/// Types with a structure of two members, of which the second is at the 96th bit, and a function.
fn types() -> Vec<u8> {
    let strings = b"\0pair\0one\0other\0begin\0";
    let words: [u32; 12] = [1, 4 << 24 | 2, 16, 6, 0, 0, 10, 0, 96, 16, 12 << 24, 0];
    let body: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let header = [0x1_eb9f, 24, 0, body.len() as u32, body.len() as u32, strings.len() as u32];
    [header.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>(), body, strings.to_vec()].concat()
}

#[test]
fn members_and_functions_are_found_by_their_names() {
    let types = Types::parse(types()).unwrap();
    assert_eq!(types.structure("pair").unwrap(), (1, 16));
    assert_eq!(types.member("pair", "other").unwrap(), Member { index: 1, offset: 12 });
    assert_eq!(types.function("begin").unwrap(), 2);
    for error in [types.function("pair").err(), types.function("beg").err(), types.member("pair", "two").err()] {
        assert!(error.unwrap().to_string().contains("the kernel lacks it"));
    }
}

#[test]
fn types_that_are_cut_short_are_no_types() {
    let whole = types();
    let body = whole.len() - 22;
    assert!((0..body).all(|length| Types::parse(whole[..length].to_vec()).is_none()));
    let mut other = whole;
    other[0] ^= 1;
    assert!(Types::parse(other).is_none());
}
