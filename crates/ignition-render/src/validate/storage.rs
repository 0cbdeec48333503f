//! Files, directories and links: their paths, and how they stand to each other and to units.

use std::collections::BTreeSet;

use super::{
    BAD_PATH, disks, is_path, luks,
    resource::{self, Need},
    walk::{Fields, Walk},
};

/// Permissions with the bits beside them.
const MOST_MODE: i64 = 0o7777;

/// Where Ignition writes units.
const UNITS: &str = "/etc/systemd/system";

pub(super) fn check(walk: &mut Walk, config: &Fields<'_>) {
    let Some(storage) = config.object("storage") else {
        return;
    };
    let mut paths = Vec::new();
    for file in storage.objects("files") {
        paths.extend(node(walk, &file));
        self::file(walk, &file);
    }
    for link in storage.objects("links") {
        paths.extend(node(walk, &link));
        self::link(walk, &link, &storage);
    }
    // Nothing can be in a file, and what is in a link would be somewhere else.
    let closed: BTreeSet<String> = paths.iter().map(|(path, _)| path.clone()).collect();
    for directory in storage.objects("directories") {
        paths.extend(node(walk, &directory));
    }
    let units = unit_paths(config);
    for (path, place) in &paths {
        let mut above = path.match_indices('/').skip(1).map(|(end, _)| &path[..end]);
        if above.any(|above| closed.contains(above)) {
            walk.wrong(place, "lies in something that is a file or a link");
        }
        if units.contains(path) {
            walk.wrong(place, "is where a unit of this config is written: put its text there");
        }
    }
    walk.unique(paths, "is the path of something else, too: give each a path of its own");
    disks::check(walk, &storage);
    luks::check(walk, &storage);
}

fn file(walk: &mut Walk, file: &Fields<'_>) {
    let contents = file.object("contents");
    if let Some(contents) = &contents {
        resource::check(walk, contents, Need::Content);
    }
    let has_source = contents.is_some_and(|contents| contents.get("source").is_some());
    if file.is_true("overwrite") && !has_source {
        walk.wrong(&file.path("overwrite"), "needs contents with a source to put there");
    }
    for contents in file.objects("append") {
        resource::check(walk, &contents, Need::Content);
    }
}

fn link(walk: &mut Walk, link: &Fields<'_>, storage: &Fields<'_>) {
    let Some(target) = link.filled("target") else {
        walk.wrong(&link.path("target"), "must say where the link leads");
        return;
    };
    if link.is_true("hard") {
        let target = cleaned(link.text("path").unwrap_or_default(), target);
        let directories = storage.objects("directories");
        if directories.iter().any(|one| one.text("path") == Some(target.as_str())) {
            walk.wrong(&link.path("target"), "is a directory, to which no hard link leads");
        }
    }
}

/// Where a link leads, without detours. One that is relative is read from the link itself, as Ignition does.
fn cleaned(link: &str, target: &str) -> String {
    let whole = if target.starts_with('/') {
        target.to_owned()
    } else {
        format!("{link}/{target}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// What files, directories and links have in common. The path comes back with where it stands.
fn node(walk: &mut Walk, node: &Fields<'_>) -> Option<(String, String)> {
    if node.number("mode").is_some_and(|mode| !(0..=MOST_MODE).contains(&mode)) {
        walk.wrong(
            &node.path("mode"),
            "must be a number from 0 to 4095, which is 7777 in octal",
        );
    }
    for owner in ["user", "group"].into_iter().filter_map(|key| node.object(key)) {
        if owner.number("id").is_some() && owner.filled("name").is_some() {
            walk.wrong(owner.place(), "must have an id or a name, and not both");
        }
    }
    let path = node.text("path").filter(|path| is_path(path));
    if path.is_none() {
        walk.wrong(&node.path("path"), BAD_PATH);
    }
    path.map(|path| (path.to_owned(), node.path("path")))
}

/// The files that units and their additions become.
fn unit_paths(config: &Fields<'_>) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let units = config.object("systemd").map(|systemd| systemd.objects("units"));
    for unit in units.into_iter().flatten() {
        let name = unit.text("name").unwrap_or_default();
        if unit.filled("contents").is_some() {
            paths.insert(format!("{UNITS}/{name}"));
        }
        for addition in unit.objects("dropins") {
            if addition.filled("contents").is_some() {
                let file = addition.text("name").unwrap_or_default();
                paths.insert(format!("{UNITS}/{name}.d/{file}"));
            }
        }
    }
    paths
}
