//! Faults of ours, for the tests alone: a format that panics, and a recorder that does.

use teeline_assembler::{Assembler, Draft, Event, Format, Json, Rules, Writer};

use crate::record::Record;

/// A body that begins with this is more than the recorder can bear.
pub(crate) const UNBEARABLE: &[u8] = b"unbearable";

/// Where the writer cuts what came into segments.
pub(crate) fn fail_in_the_recorder(chunk: &[u8]) {
    assert!(!chunk.starts_with(UNBEARABLE), "on purpose, in the recorder");
}

/// The format of what is sent to `/faulty`.
pub(crate) fn faulty_format(record: &Record) -> Option<&'static Format> {
    static FAULTY: Format = Format {
        name: "faulty",
        title: "Faulty",
        rules: Rules::NONE,
        reasons: &[],
        errors: &[],
        start: || Box::<Faulty>::default(),
    };
    (record.target == "/faulty").then_some(&FAULTY)
}

/// Panics where the stream tells it to.
#[derive(Default)]
struct Faulty {
    at: String,
}

impl Faulty {
    fn reach(&self, place: &str) {
        assert!(self.at != place, "on purpose, in the {place}");
    }
}

impl Assembler for Faulty {
    fn frame(&mut self, event: &Event<'_>, _: &mut Draft) {
        if let Some(place) = event.object.as_ref().and_then(|object| object.str("panic")) {
            self.at = place.into_owned();
        }
        self.reach("frame");
    }

    fn document(&mut self, _: Json<'_>, _: &mut Draft) {
        panic!("on purpose, in the document");
    }

    fn finish(&mut self, _: &mut Draft) {
        self.reach("finish");
    }

    fn response(&self, _: &mut Writer<'_>) {
        self.reach("response");
    }
}
