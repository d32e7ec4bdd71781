//! teeline.
fn main() {}
