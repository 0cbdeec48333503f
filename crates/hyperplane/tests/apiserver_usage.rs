//! `hyperplane apiserver` where it must refuse, without a server: flags, directories and files of this machine.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

fn hyperplane(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .arg("apiserver")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The exit code and standard error of a refusal, which says nothing on standard output.
fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = hyperplane(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The code of a wrong use: whoever typed the command can mend it.
const WRONG_USE: i32 = 2;

/// Flags of the wrong form, which the parser of the command line refuses in its own words.
fn check(arguments: &[&str], expected: &str) {
    let (code, error) = refusal(arguments);
    assert_eq!(code, WRONG_USE, "{arguments:?}: {error}");
    assert!(error.contains(expected), "{arguments:?}: {error}");
}

/// A wrong use, which ends with what to do.
fn check_end(arguments: &[&str], end: &str) {
    let (code, error) = refusal(arguments);
    assert_eq!(code, WRONG_USE, "{arguments:?}: {error}");
    assert!(error.ends_with(&format!("{end}\n")), "{arguments:?}: {error}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn wrong_flags_are_wrong_use() {
    check(&[], "--data-dir <DIR>");
    check(&["--in-memory"], "--kubeconfig-out <FILE>");
    check(&["--data-dir", "d", "--listen", "6443"], "invalid socket address");
    check(
        &["--data-dir", "d", "--service-cluster-ip-range", "10.0.0.0"],
        "write one such as 10.96.0.0/16",
    );
    check(&["--data-dir", "d", "-o", "yaml"], "[possible values: text, json]");
    check(&["fsck"], "--data-dir <DIR>");
    check(&["--data-dir", "d", "fsck", "--data-dir", "d"], "cannot be used with");
}

#[test]
fn a_name_that_is_none_is_refused_before_anything_is_made() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    check_end(
        &["--data-dir", text(&data), "--tls-san", "no name"],
        "--tls-san: \"no name\" is no name of a server: use an IP address, or a DNS name such as api.example.com \
         or *.example.com",
    );
    assert!(!data.exists());
}

#[test]
fn a_directory_of_somebody_else_is_left_alone_on_disk() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("thesis.tex"), "").unwrap();
    check_end(
        &["--data-dir", text(data.path())],
        "is not empty and holds no data of an API server (thesis.tex is not ours); use an empty directory",
    );
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 1);
}

#[test]
fn a_file_is_no_directory_on_disk() {
    let file = tempfile::NamedTempFile::new().unwrap();
    check_end(
        &["--data-dir", text(file.path())],
        "cannot be used as a data directory: Not a directory (os error 20); look at the owner and mode of --data-dir, or \
         use another directory",
    );
}

#[test]
fn a_kubeconfig_of_somebody_is_not_written_over_on_disk() {
    let parent = tempfile::tempdir().unwrap();
    let (data, config) = (parent.path().join("data"), parent.path().join("config"));
    fs::write(&config, "apiVersion: v1\n").unwrap();
    check_end(
        &["--data-dir", text(&data), "--kubeconfig-out", text(&config)],
        "was not written by this command; choose another --kubeconfig-out, or remove it",
    );
    assert_eq!(fs::read_to_string(&config).unwrap(), "apiVersion: v1\n");
    assert!(!data.exists());
}

#[test]
fn tasks_need_data_on_disk() {
    let empty = tempfile::tempdir().unwrap();
    for task in ["fsck", "dump"] {
        check_end(
            &[task, "--data-dir", text(empty.path())],
            "holds no data of an API server; look at --data-dir",
        );
    }
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
    check_end(
        &["restore", "--data-dir", text(empty.path())],
        "the dump is cut off: make it again",
    );
}

#[test]
fn help_fits_in_eighty_columns() {
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["fsck", "--help"],
        &["dump", "--help"],
        &["restore", "--help"],
    ] {
        let help = hyperplane(arguments);
        assert!(help.status.success());
        for line in String::from_utf8(help.stdout).unwrap().lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}
