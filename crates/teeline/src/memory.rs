//! The allocator of the programs that are shipped.
//!
//! Thousands of streams leave small buffers of many sizes behind on every thread. With jemalloc a stream takes about two
//! thirds of what it takes with the GNU system's allocator. A debug build keeps the system's, whose calls the tests can
//! count from outside.

#[cfg(all(not(debug_assertions), not(target_env = "msvc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
