//! The iptables of this machine, as entries of an image: kube-proxy's has a copy of Debian's inside. It reads files and asks
//! the linker which libraries they need.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use super::content::Entry;

/// The program behind all names of iptables, on Debian.
const PROGRAM: &str = "/usr/sbin/xtables-nft-multi";

/// What it is called by.
const NAMES: [&str; 6] = [
    "iptables",
    "iptables-restore",
    "iptables-save",
    "ip6tables",
    "ip6tables-restore",
    "ip6tables-save",
];

/// Where Debian for this processor keeps its matches and targets.
const EXTENSIONS: &str = "/usr/lib/x86_64-linux-gnu/xtables";

/// The program, its names, its extensions and all libraries that they need.
pub(super) fn entries() -> io::Result<Vec<Entry<'static>>> {
    let mut entries = vec![program(Path::new(PROGRAM))?];
    for name in NAMES {
        entries.push(Entry::link(&format!("usr/sbin/{name}"), "xtables-nft-multi"));
    }
    let mut linked: Vec<PathBuf> = vec![PROGRAM.into()];
    for path in extensions()? {
        if let Ok(target) = fs::read_link(&path) {
            entries.push(Entry::link(&inside(&path), &target.to_string_lossy()));
        } else {
            entries.push(program(&path)?);
            linked.push(path);
        }
    }
    for library in libraries(&linked)? {
        entries.push(program(&library)?);
    }
    Ok(entries)
}

fn extensions() -> io::Result<Vec<PathBuf>> {
    let mut found = fs::read_dir(EXTENSIONS)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

fn libraries(linked: &[PathBuf]) -> io::Result<BTreeSet<PathBuf>> {
    let output = Command::new("ldd").args(linked).output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(complaint));
    }
    Ok(read_ldd(&String::from_utf8_lossy(&output.stdout)))
}

/// The files in what `ldd` prints: behind an arrow, or alone for the linker itself.
fn read_ldd(text: &str) -> BTreeSet<PathBuf> {
    // Lines without indentation name the files that were asked about.
    let indented = text.lines().filter(|line| line.starts_with(char::is_whitespace));
    let file = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.into_iter().find(|word| word.starts_with('/')).map(PathBuf::from)
    };
    indented.filter_map(file).collect()
}

fn program(path: &Path) -> io::Result<Entry<'static>> {
    let bytes = fs::read(path).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
    Ok(Entry::program(&inside(path), bytes))
}

/// A path of this machine as one of an image.
fn inside(path: &Path) -> String {
    path.display().to_string().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_what_the_linker_found() {
        let text = "/usr/sbin/xtables-nft-multi:\n\
            \tlinux-vdso.so.1 (0x00007ffd)\n\
            \tlibmnl.so.0 => /lib/x86_64-linux-gnu/libmnl.so.0 (0x00007f)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n\
            /usr/lib/x86_64-linux-gnu/xtables/libxt_a.so:\n\
            \tlibmnl.so.0 => /lib/x86_64-linux-gnu/libmnl.so.0 (0x00007f)\n\
            \tstatically linked\n";
        let expected = ["/lib/x86_64-linux-gnu/libmnl.so.0", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(read_ldd(text), expected.map(PathBuf::from).into());
    }
}
