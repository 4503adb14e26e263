//! What a command answers to its words.

/// Gives `main` the words of a command line. Returns its exit code, and what it wrote to standard
/// output and to standard error.
pub fn answer(words: &[&str], main: impl FnOnce(&[String], &mut Vec<u8>, &mut Vec<u8>) -> u8) -> (u8, String, String) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = main(&words, &mut out, &mut err);
    let [out, err] = [out, err].map(|text| String::from_utf8(text).expect("commands write UTF-8"));
    (code, out, err)
}
