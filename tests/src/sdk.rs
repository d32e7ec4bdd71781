//! The official SDKs and the AI SDK as readers: a local server gives them streams, and what they made of each is compared
//! with our reading, field by field.

mod compare;
mod differences;
mod driver;
mod json;
mod places;
mod streams;

pub use compare::{Difference, Field, Rules, compare, fields, reading, response};
pub use differences::{digest, judge};
pub use driver::{Language, Outcome, Raised, Sdk};
pub use json::parse;
pub use streams::{Stream, cases, recordings};
