//! The client in Python does on a real server what it promises.

use std::path::Path;
use std::process::Command;

#[test]
fn the_client_in_python_does_what_it_promises() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python");
    // Nothing that was compiled stays beside the sources.
    let tried = Command::new("python3")
        .args(["-B", "test_hence.py"])
        .current_dir(folder)
        .env("HENCE", env!("CARGO_BIN_EXE_hence"))
        .output();
    let tried = tried.unwrap_or_else(|error| {
        panic!(
            "python3 is needed to try the client, and cannot be run: {error}; `./test` installs it"
        )
    });
    let told = String::from_utf8_lossy(&tried.stderr);
    assert!(tried.status.success(), "{told}");
    assert!(told.contains("\nOK\n"), "{told}");
}
