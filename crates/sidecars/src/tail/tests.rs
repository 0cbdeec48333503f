//! The decision as a table, and a real file that is rotated and cut while it is followed.

use std::io::Write as _;

use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};

use super::*;

#[test]
fn what_is_at_the_path_decides() {
    let identity = |inode| Identity { device: 1, inode };
    let seen = |inode, bytes| {
        Some(Seen {
            identity: identity(inode),
            bytes,
        })
    };
    let cases = [
        ("nothing new", 10, seen(1, 10), Next::Stay),
        ("more came since", 10, seen(1, 11), Next::Stay),
        ("cut", 10, seen(1, 9), Next::Restart),
        ("rotated", 10, seen(2, 0), Next::Switch),
        ("rotated, and longer already", 10, seen(2, 100), Next::Switch),
        ("between two files", 10, None, Next::Stay),
    ];
    for (name, position, seen, expected) in cases {
        assert_eq!(next(identity(1), position, seen), expected, "{name}");
    }
}

/// A log in a real directory, and what comes out.
struct Log {
    directory: tempfile::TempDir,
    output: DuplexStream,
}

impl Log {
    fn path(&self) -> PathBuf {
        self.directory.path().join("audit.log")
    }

    fn append(&self, text: &str) {
        let mut options = std::fs::File::options();
        let mut file = options.create(true).append(true).open(self.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    async fn expect(&mut self, text: &str) {
        let mut read = vec![0; text.len()];
        self.output.read_exact(&mut read).await.unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_real_log_is_followed_through_rotation_and_truncation() {
    let (output, mut input) = duplex(1 << 20);
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log { directory, output };
    let stop = CancellationToken::new();
    let following = {
        let (path, stop) = (log.path(), stop.clone());
        tokio::spawn(async move { run(&path, &mut input, &stop).await })
    };
    // It is waited for, and read from its beginning.
    tokio::time::sleep(PERIOD * 3).await;
    log.append("one\n");
    log.expect("one\n").await;
    log.append("two\n");
    log.expect("two\n").await;
    // What was written right before the rotation is not lost.
    log.append("three\n");
    std::fs::rename(log.path(), log.directory.path().join("audit-1.log")).unwrap();
    log.append("four\n");
    log.expect("three\nfour\n").await;
    std::fs::write(log.path(), "5\n").unwrap();
    log.expect("5\n").await;
    // What is there at the end is copied.
    log.append("six\n");
    stop.cancel();
    following.await.unwrap().unwrap();
    let mut rest = String::new();
    log.output.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "six\n");
}

#[tokio::test]
async fn a_real_directory_is_no_log() {
    let directory = tempfile::tempdir().unwrap();
    let refused = run(directory.path(), &mut tokio::io::sink(), &CancellationToken::new()).await;
    assert!(refused.unwrap_err().to_string().contains("cannot be read"));
}
