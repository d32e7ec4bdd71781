//! Live events. The newest state is sent, not every step to it: a viewer that is slow gets fewer.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::Path;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream, Sse};
use futures_util::{Stream, StreamExt as _};
use serde::Serialize;
use teeline_capture::{CaptureId, Change, LiveReading};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::wrappers::{BroadcastStream, ReceiverStream};

use crate::State;
use crate::api::{blocking, find};
use crate::error::ApiError;

/// The shortest time between two readings for a viewer.
const PACE: Duration = Duration::from_millis(100);

/// How many bytes of readings a viewer gets in a second, about.
const BYTES_PER_SECOND: f64 = (1 << 20) as f64;

/// How often a connection without events is kept alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

type Events<S> = Sse<KeepAliveStream<S>>;

fn sse<S: Stream<Item = Event> + Send + 'static>(
    events: S,
    state: &State,
) -> Events<impl Stream<Item = Result<Event, Infallible>> + use<S>> {
    let stopped = state.dashboard.shutdown.clone().cancelled_owned();
    let events = events.map(Ok).take_until(stopped);
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// `GET /api/live`: `capture` with a Summary, `deleted` with an id, `recording` when that is paused or goes on. `missed` (no data of use) says that some
/// events were lost, so that the list has to be asked for again.
pub(crate) async fn feed(state: State) -> impl IntoResponse {
    let events = BroadcastStream::new(state.dashboard.store.feed()).map(|change| match change {
        Ok(Change::Capture(summary)) => event("capture", summary.as_ref()),
        Ok(Change::Deleted(id)) => event("deleted", &serde_json::json!({ "id": id })),
        Ok(Change::Recording(recording)) => event("recording", &recording),
        Err(BroadcastStreamRecvError::Lagged(n)) => {
            event("missed", &serde_json::json!({ "count": n }))
        }
    });
    sse(events, &state)
}

/// JSON has no line end in it, so the data is one line.
fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default()
        .event(name)
        .data(serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned()))
}

/// `GET /api/captures/{id}/live`: `summary` with the Summary and `reading` with the Reading as they grow, then
/// `end` with the Summary.
pub(crate) async fn capture(
    state: State,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    let id = find(&state, id).await?;
    let (sender, receiver) = mpsc::channel(1);
    let following = state.clone();
    tokio::spawn(async move { follow(&following, id, &sender).await });
    Ok(sse(ReceiverStream::new(receiver), &state))
}

/// Sends readings until the capture ended or the viewer is gone.
async fn follow(state: &State, id: CaptureId, viewer: &mpsc::Sender<Event>) {
    let mut live = state.dashboard.store.watch(id);
    let mut wait = send_reading(state, id, viewer).await;
    while let (Some(pause), Some(readings)) = (wait, live.as_mut()) {
        wait = tokio::select! {
            () = viewer.closed() => return,
            more = grown(readings, pause) => if more { send_reading(state, id, viewer).await } else { break },
        };
    }
    // The final reading: the last one sent may be older.
    if live.is_some() && send_reading(state, id, viewer).await.is_none() {
        return;
    }
    if let Ok(summary) = blocking(state, move |store| Ok(store.summary(id)?)).await {
        let _ = viewer.send(event("end", &summary)).await;
    }
}

/// Waits the pause out, then for news; false at the end.
async fn grown(readings: &mut LiveReading, pause: Duration) -> bool {
    sleep(pause).await;
    readings.next().await.is_some()
}

/// Sends the reading as it stands and gives the pause that has to follow; `None` if nobody wants more.
async fn send_reading(
    state: &State,
    id: CaptureId,
    viewer: &mpsc::Sender<Event>,
) -> Option<Duration> {
    let (summary, reading) = blocking(state, move |store| {
        Ok((store.summary(id)?, serde_json::to_string(&*store.reading(id)?)?))
    })
    .await
    .ok()?;
    #[expect(clippy::cast_precision_loss, reason = "a pause need not be exact")]
    let cost = Duration::from_secs_f64(reading.len() as f64 / BYTES_PER_SECOND);
    viewer.send(event("summary", &summary)).await.ok()?;
    viewer.send(Event::default().event("reading").data(reading)).await.ok()?;
    Some(PACE.max(cost))
}
