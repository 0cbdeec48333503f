//! The programs that containers of control planes run are there, and say how they are called.

use std::process::Command;

use hyperplane_components::SUBCOMMANDS;

#[test]
fn every_subcommand_says_how_it_is_called() {
    for name in SUBCOMMANDS {
        let output = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
            .args([name, "--help"])
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(text.contains(&format!("Usage: hyperplane {name} ")), "{name}: {text}");
    }
}

#[test]
fn a_program_that_waits_is_not_done_when_it_is_told_to_end() {
    // It waits for a port that is never open, says so, and ends at a signal.
    let mut child = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(["wait-for", "--tcp=127.0.0.1:1"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut errors = std::io::BufReader::new(child.stderr.take().expect("it is a pipe"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut errors, &mut line).expect("it says what it waits for");
    assert!(line.contains("127.0.0.1:1"), "{line}");
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(told.expect("kill runs").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}
