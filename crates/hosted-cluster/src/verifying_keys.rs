//! The public keys that tokens of service accounts are checked with: one after the other in PEM, the newest first.

/// How many keys are kept. Tokens live for a year at most, and whoever changes keys more often than this in a year has
/// old ones that nobody uses; a list without an end would one day not fit into a Secret.
pub(crate) const MOST: usize = 8;

/// What a key or a certificate with a key is called where Kubernetes reads it.
const LABELS: [&str; 3] = ["PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE"];

/// The keys of a text. Whatever else is in it, private keys above all, is left out.
pub(crate) fn read(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut found = Vec::new();
    let mut current: Option<(String, String)> = None;
    for line in text.lines().map(str::trim) {
        if let Some(label) = between(line, "-----BEGIN ") {
            current = Some((label.to_owned(), format!("{line}\n")));
        } else if let Some((label, block)) = &mut current {
            block.push_str(line);
            block.push('\n');
            if between(line, "-----END ") == Some(label.as_str()) {
                let is_key = LABELS.contains(&label.as_str());
                found.extend(current.take().map(|(_, block)| block).filter(|_| is_key));
            }
        }
    }
    found
}

fn between<'a>(line: &'a str, beginning: &str) -> Option<&'a str> {
    line.strip_prefix(beginning)?.strip_suffix("-----")
}

/// One list of all keys, each once, the first winning, and no more than are kept.
pub(crate) fn gather<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut all: Vec<String> = Vec::new();
    for key in texts.into_iter().flat_map(read) {
        if !all.contains(&key) {
            all.push(key);
        }
    }
    all.truncate(MOST);
    all.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> String {
        format!("-----BEGIN PUBLIC KEY-----\n{name}\n-----END PUBLIC KEY-----\n")
    }

    #[test]
    fn every_key_is_there_once_and_the_newest_first() {
        let texts = [key("new"), key("old") + &key("new"), key("older") + "\n" + &key("old")];
        let gathered = gather(texts.iter().map(String::as_bytes));
        assert_eq!(gathered, key("new") + &key("old") + &key("older"));
        assert_eq!(gather([gathered.as_bytes()]), gathered, "again, it is the same");
    }

    #[test]
    fn the_list_has_an_end_and_the_oldest_goes() {
        let all: Vec<String> = (0..20).map(|number| key(&number.to_string())).collect();
        let gathered = gather(all.iter().map(String::as_bytes));
        assert_eq!(read(gathered.as_bytes()), all[..MOST]);
    }

    #[test]
    fn private_keys_and_anything_else_are_left_out() {
        let text = format!(
            "hello\n-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n{}-----BEGIN PUBLIC KEY-----\ncut",
            key("good").replace('\n', "\r\n")
        );
        assert_eq!(gather([text.as_bytes(), b"\xff\xfe"]), key("good"));
    }
}
