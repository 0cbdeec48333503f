//! Disks with their partitions, arrays of them, and file systems.

use super::{
    BAD_PATH, TWICE, is_path, keyed,
    walk::{Fields, Walk},
};

/// Bytes of the label of a partition.
const LONGEST_PARTITION_LABEL: usize = 36;

/// File systems that can be made, and bytes of their labels.
const FORMATS: &[(&str, usize)] = &[
    ("btrfs", 256),
    ("ext4", 16),
    ("none", usize::MAX),
    ("swap", 15),
    ("vfat", 11),
    ("xfs", 12),
];

/// The place in the list of versions of the first that can leave a device without a file system.
const FORMAT_NONE: usize = 3;

/// Levels of arrays without and with room for spare devices.
const PLAIN_LEVELS: &[&str] = &["0", "linear", "raid0", "stripe"];
const SPARE_LEVELS: &[&str] = &[
    "1", "10", "4", "5", "6", "mirror", "raid1", "raid10", "raid4", "raid5", "raid6",
];

pub(super) fn check(walk: &mut Walk, storage: &Fields<'_>) {
    for (list, key) in [("disks", "device"), ("filesystems", "device"), ("raid", "name")] {
        keyed(walk, &storage.objects(list), key);
    }
    for disk in storage.objects("disks") {
        device(walk, &disk);
        partitions(walk, &disk);
    }
    for array in storage.objects("raid") {
        self::array(walk, &array);
    }
    for system in storage.objects("filesystems") {
        device(walk, &system);
        file_system(walk, &system);
    }
}

/// The device of something, which must be given; that it is there is looked at elsewhere.
fn device(walk: &mut Walk, fields: &Fields<'_>) {
    if fields.filled("device").is_some_and(|device| !is_path(device)) {
        walk.wrong(&fields.path("device"), BAD_PATH);
    }
}

fn partitions(walk: &mut Walk, disk: &Fields<'_>) {
    let all = disk.objects("partitions");
    let (mut numbers, mut labels, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    for one in &all {
        partition(walk, one);
        let number = one.number("number").unwrap_or_default();
        if number != 0 {
            numbers.push((number.to_string(), one.path("number")));
        }
        labels.extend(one.text("label").map(|label| (label.to_owned(), one.path("label"))));
        if let (Some(start), Some(size)) = (one.number("startMiB"), one.number("sizeMiB"))
            && start != 0
        {
            // Without a size it takes what is left, of which only the beginning is known.
            spans.push((start, start.saturating_add(size.max(1) - 1), one.path("startMiB")));
        }
    }
    walk.unique(numbers, TWICE);
    walk.unique(labels, TWICE);
    spans.sort();
    for pair in spans.windows(2) {
        if let [(_, end, _), (start, _, path)] = pair
            && start <= end
        {
            walk.wrong(path, "lies in another partition");
        }
    }
    let has_gone = all.iter().any(|one| one.get("shouldExist") == Some(&false.into()));
    let has_any_number = all.iter().any(|one| one.number("number").unwrap_or_default() == 0);
    if has_gone && has_any_number {
        let problem = "must all have numbers where one of them should not exist";
        walk.wrong(&disk.path("partitions"), problem);
    }
}

fn partition(walk: &mut Walk, partition: &Fields<'_>) {
    let is_given = |key: &str| partition.get(key).is_some_and(|value| value != "");
    let is_gone = partition.get("shouldExist") == Some(&false.into());
    let has_more = partition.get("label").is_some()
        || ["guid", "sizeMiB", "startMiB", "typeGuid"]
            .iter()
            .any(|key| is_given(key));
    if is_gone && has_more {
        walk.wrong(partition.place(), "should not exist: say nothing but its number");
    }
    if partition.number("number").unwrap_or_default() == 0 && partition.get("label").is_none() {
        walk.wrong(partition.place(), "must have a number or a label");
    }
    for key in ["number", "sizeMiB", "startMiB"] {
        if partition.number(key).is_some_and(i64::is_negative) {
            walk.wrong(&partition.path(key), "must be 0 or more");
        }
    }
    let label = partition.text("label").unwrap_or_default();
    if label.len() > LONGEST_PARTITION_LABEL || label.contains(':') {
        let problem = format!("must have at most {LONGEST_PARTITION_LABEL} bytes, and no colon");
        walk.wrong(&partition.path("label"), problem);
    }
    for key in ["guid", "typeGuid"] {
        if partition.filled(key).is_some_and(|guid| !is_guid(guid)) {
            walk.wrong(&partition.path(key), "must be 8-4-4-4-12 hexadecimal digits");
        }
    }
}

fn is_guid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_hexadecimal = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    lengths == [8, 4, 4, 4, 12] && parts.iter().all(is_hexadecimal)
}

fn array(walk: &mut Walk, array: &Fields<'_>) {
    let level = array.text("level").unwrap_or_default();
    let is_plain = PLAIN_LEVELS.contains(&level);
    if !is_plain && !SPARE_LEVELS.contains(&level) {
        walk.wrong(&array.path("level"), "must be a level of arrays, such as raid1");
    }
    let spares = array.number("spares").unwrap_or_default();
    if spares < 0 || (is_plain && spares != 0) {
        walk.wrong(
            &array.path("spares"),
            "must be 0 or more, and 0 where nothing is stored twice",
        );
    }
    let devices = array.texts("devices");
    if devices.is_empty() {
        walk.wrong(&array.path("devices"), "must be given");
    }
    for (device, path) in &devices {
        if !is_path(device) {
            walk.wrong(path, BAD_PATH);
        }
    }
    walk.unique(devices, TWICE);
}

fn file_system(walk: &mut Walk, system: &Fields<'_>) {
    if system.filled("path").is_some_and(|path| !is_path(path) && path != "/") {
        walk.wrong(&system.path("path"), BAD_PATH);
    }
    let Some(format) = system.filled("format") else {
        let has_more = ["label", "path", "uuid"].iter().any(|key| system.filled(key).is_some())
            || system.is_true("wipeFilesystem")
            || ["mountOptions", "options"]
                .iter()
                .any(|key| !system.texts(key).is_empty());
        if has_more {
            walk.wrong(&system.path("format"), "must be given with everything else that is");
        }
        return;
    };
    let known = FORMATS.iter().find(|(known, _)| *known == format);
    let is_early = format == "none" && walk.version.is_some_and(|version| version < FORMAT_NONE);
    let Some((_, longest)) = known.filter(|_| !is_early) else {
        let problem = "must be ext4, btrfs, xfs, vfat or swap, or none from ignition.version 3.3.0 on";
        walk.wrong(&system.path("format"), problem);
        return;
    };
    if system.text("label").unwrap_or_default().len() > *longest {
        walk.wrong(&system.path("label"), format!("must have at most {longest} bytes"));
    }
}
