use super::*;

#[test]
fn a_prefix_masks_the_bits_behind_its_length() {
    let prefix: Prefix = "192.0.2.77/24".parse().unwrap();
    let (family, words, mask) = prefix.words();
    assert_eq!(family, 2);
    assert_eq!((words[0].to_ne_bytes(), mask[0].to_ne_bytes()), ([192, 0, 2, 0], [255, 255, 255, 0]));
}
