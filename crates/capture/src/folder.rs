//! The data folder.

use std::fs::DirBuilder;
use std::path::Path;

use crate::StoreError;

/// Makes the folder, if it is not there, for its owner alone. One that holds nothing but a store is closed
/// to others, too; one that was there and holds other things is left as it is.
pub(crate) fn make(dir: &Path) -> Result<(), StoreError> {
    let not_writable = |source| StoreError::NotWritable { path: dir.to_owned(), source };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(dir).map_err(not_writable)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let ours = |name: &str| {
            [crate::lock::FILE, crate::scrub::LOCK].contains(&name)
                || name.starts_with(crate::database::FILE)
        };
        let entries = dir.read_dir().map_err(not_writable)?;
        if entries.flatten().all(|entry| entry.file_name().to_str().is_some_and(ours)) {
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))
                .map_err(not_writable)?;
        }
    }
    Ok(())
}
