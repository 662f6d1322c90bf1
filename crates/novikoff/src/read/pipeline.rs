//! Blocks in, batches out: read by one thread at a time, parsed by many, handed over in the order of the
//! file.
//!
//! A worker first takes an empty batch, then the next block, so the earliest block always has a batch to go
//! to and the number of batches bounds the memory. The consumer runs on the caller's thread and sees the same
//! batches in the same order whatever the number of threads: training on a stream overlaps with its reading,
//! and nothing depends on timing. While there is nothing to consume, the caller's thread is a worker, too:
//! there are as many threads as cores, and none of them sleeps for longer than it takes to hand something
//! over. (With one more, they were woken on each other's cores.)
//!
//! A consumer that keeps the rows need not copy them: it says where their entries go, and the worker that
//! gets the batch next puts them there first. Most of that copying is the system's clearing of fresh memory,
//! for which one thread alone would take as long as two take for the parsing.

use super::batch::{Batch, RowError};
use super::source::{Blocks, Cut, Origin, Source};
use crate::control::{Flow, Observer, Progress};
use crate::data::Report;
use crate::data::assembly::Room;
use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Turns the bytes of one block into rows.
pub trait Parser: Send + Sync {
    /// Where blocks may end.
    fn cut(&self) -> Cut;

    /// Parses a block into an empty batch. `offset` is the number of bytes before it; a parser of fixed-size
    /// records can tell from it which records these are. Only the last block may lack its final newline.
    fn parse(&self, block: &[u8], offset: u64, batch: &mut Batch);

    /// Told once the input has ended after `bytes` bytes, all of them parsed: the place to notice that some
    /// are missing.
    fn finish(&self, bytes: u64) -> Result<()> {
        let _ = bytes;
        Ok(())
    }
}

/// How to run the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Parsing threads; with 1, everything but waiting for a stream happens on the caller's.
    pub threads: usize,
    /// Go on after bad rows.
    pub skip_bad_rows: bool,
}

/// What became of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was read to its end.
    Ended,
    /// The observer or the consumer asked to stop.
    Stopped,
}

/// The number of a block, and what became of it; with an error, the bytes of the block before it.
type Parsed = (u64, std::result::Result<Batch, (Error, Vec<u8>)>);

/// A batch that is free for another block, once its entries are where they go.
type Free<'a> = (Batch, Option<Room<'a>>);

/// The free batches. The one that came last goes first: its memory is in the cache.
#[derive(Default)]
struct Pool<'a> {
    /// And whether no more will come.
    batches: Mutex<(Vec<Free<'a>>, bool)>,
    changed: Condvar,
}

impl<'a> Pool<'a> {
    /// Of this many new ones.
    fn new(count: usize, setup: Setup) -> Self {
        let batches = (0..count).map(|_| (Batch::new(!setup.skip_bad_rows), None)).collect();
        Self { batches: Mutex::new((batches, false)), changed: Condvar::new() }
    }

    fn give(&self, batch: Free<'a>) {
        lock(&self.batches).0.push(batch);
        self.changed.notify_one();
    }

    /// A batch, if there is one now.
    fn try_take(&self) -> Option<Free<'a>> {
        lock(&self.batches).0.pop()
    }

    /// A batch, as soon as there is one; `None` if none will come.
    fn take(&self) -> Option<Free<'a>> {
        let batches =
            self.changed.wait_while(lock(&self.batches), |(batches, closed)| batches.is_empty() && !*closed);
        batches.unwrap_or_else(PoisonError::into_inner).0.pop()
    }
}

/// Says that no more batches will come, whatever happens.
struct Closing<'p, 'a>(&'p Pool<'a>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.batches).1 = true;
        self.0.changed.notify_all();
    }
}

struct Feed {
    blocks: Blocks,
    /// Blocks handed out so far.
    handed: u64,
    /// Bytes in them.
    offset: u64,
}

struct Shared {
    feed: Mutex<Feed>,
    parser: Arc<dyn Parser>,
    stop: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the next block and parses it; `None` at the end of the input. The number of the block is returned
/// with an error, too, so that the error is reported in its place.
fn next_batch(shared: &Shared, block: &mut Vec<u8>, mut batch: Batch) -> Option<Parsed> {
    let (number, offset) = {
        let mut feed = lock(&shared.feed);
        let place = (feed.handed, feed.offset);
        let more = feed.blocks.next_into(block);
        feed.handed += u64::from(!matches!(more, Ok(false)));
        feed.offset += block.len() as u64;
        match more {
            Ok(true) => place,
            Ok(false) => return None,
            Err(error) => {
                shared.stop.store(true, Ordering::Relaxed);
                return Some((place.0, Err((error, std::mem::take(block)))));
            }
        }
    };
    batch.clear();
    shared.parser.parse(block, offset, &mut batch);
    batch.bytes = block.len() as u64;
    if batch.lines == 0 {
        batch.lines = lines(block, shared.parser.cut());
    }
    Some((number, Ok(batch)))
}

/// How many lines a block has; what places in it are counted in. Binary records count as lines.
fn lines(block: &[u8], cut: Cut) -> u64 {
    match cut {
        Cut::Line | Cut::Record { .. } => memchr::memchr_iter(b'\n', block).count() as u64,
        Cut::Every(size) => block.len().div_ceil(size) as u64,
    }
}

/// What a worker tells the consumer.
#[expect(clippy::large_enum_variant, reason = "all but a few are batches")]
enum Word {
    Parsed(Parsed),
    /// There are no more blocks to hand out.
    Ended,
    /// The worker is gone, and with it its block.
    Failed,
}

struct Reporter(Sender<Word>);

impl Drop for Reporter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.send(Word::Failed);
        }
    }
}

/// Who takes free batches and fills them.
struct Worker<'s> {
    shared: &'s Shared,
    block: Vec<u8>,
    /// Whether there are no more blocks.
    ended: bool,
}

impl<'s> Worker<'s> {
    fn new(shared: &'s Shared) -> Self {
        Self { shared, block: Vec::new(), ended: false }
    }

    /// Puts the entries of a batch in place, then parses another block into it, if there is one.
    fn refill(&mut self, (batch, room): Free<'_>) -> Option<Word> {
        if let Some(room) = room {
            room.fill(batch.part());
        }
        if self.ended || self.shared.stop.load(Ordering::Relaxed) {
            return None;
        }
        let parsed = next_batch(self.shared, &mut self.block, batch);
        self.ended = parsed.is_none();
        Some(parsed.map_or(Word::Ended, Word::Parsed))
    }
}

/// Refills free batches until no more can come.
fn work(shared: &Shared, pool: &Pool<'_>, full: Sender<Word>) {
    let (full, mut worker) = (Reporter(full), Worker::new(shared));
    while let Some(batch) = pool.take() {
        if let Some(word) = worker.refill(batch) {
            let _ = full.0.send(word);
        }
    }
}

/// Reads `source` to its end, giving every batch to `consume` in order; adds to `report`. Where `consume`
/// says so, the batch's entries are put in place after it.
pub fn run<'a>(
    source: Source,
    parser: Arc<dyn Parser>,
    setup: Setup,
    report: &mut Report,
    observer: &mut dyn Observer,
    consume: impl FnMut(&mut Batch, &mut dyn Observer) -> Result<(Flow, Option<Room<'a>>)>,
) -> Result<Outcome> {
    let (origin, taken, total) = (source.origin(), source.taken(), source.total());
    let feed = Mutex::new(Feed { blocks: Blocks::new(source, parser.cut()), handed: 0, offset: 0 });
    let shared = Arc::new(Shared { feed, parser, stop: AtomicBool::new(false) });
    let threads = setup.threads.max(1);
    let mut desk = Desk { origin, taken, total, line: 1, report, observer, consume };
    let batches = 2 * threads + 1;
    let outcome = match total {
        Some(_) if threads == 1 => alone(&shared, Batch::new(!setup.skip_bad_rows), &mut desk)?,
        Some(_) => {
            let (pool, (full_sender, full)) = (&Pool::new(batches, setup), channel());
            std::thread::scope(|scope| {
                let spawn = |_| {
                    let (shared, full) = (&*shared, full_sender.clone());
                    scope.spawn(move || work(shared, pool, full))
                };
                let closing = Closing(pool);
                let workers: Vec<_> = (1..threads).map(spawn).collect();
                let mut own = Worker::new(&shared);
                let help = || {
                    // A thread that fails is an error, whichever it is.
                    let batch = pool.try_take()?;
                    catch_unwind(AssertUnwindSafe(|| own.refill(batch))).unwrap_or(Some(Word::Failed))
                };
                let outcome = desk.serve(&shared, &full, help, |batch, room| pool.give((batch, room)));
                drop(closing);
                // Entries may still have to be put in place.
                while let Some(batch) = pool.take() {
                    own.refill(batch);
                }
                // One that failed has said so, and is an error by now.
                workers.into_iter().for_each(|worker| drop(worker.join()));
                outcome
            })?
        }
        // A stream is waited for by threads that nobody waits for: input may never come, and the user may ask
        // to stop.
        None => {
            let (pool, (full_sender, full)) = (Arc::new(Pool::new(batches, setup)), channel());
            for _ in 0..threads {
                let (shared, pool, full) = (shared.clone(), pool.clone(), full_sender.clone());
                std::thread::spawn(move || work(&shared, &pool, full));
            }
            let _closing = Closing(&pool);
            desk.serve(
                &shared,
                &full,
                || None,
                |batch, room| {
                    if let Some(room) = room {
                        room.fill(batch.part());
                    }
                    pool.give((batch, None));
                },
            )?
        }
    };
    if outcome == Outcome::Ended {
        let bytes = lock(&shared.feed).offset;
        shared.parser.finish(bytes)?;
    }
    Ok(outcome)
}

/// One thread does it all.
fn alone<'a, C>(shared: &Shared, mut batch: Batch, desk: &mut Desk<'_, C>) -> Result<Outcome>
where
    C: FnMut(&mut Batch, &mut dyn Observer) -> Result<(Flow, Option<Room<'a>>)>,
{
    let mut block = Vec::new();
    while let Some((_, parsed)) = next_batch(shared, &mut block, std::mem::take(&mut batch)) {
        let (flow, room);
        (batch, flow, room) = desk.settle(parsed)?;
        if let Some(room) = room {
            room.fill(batch.part());
        }
        if flow == Flow::Stop {
            return Ok(Outcome::Stopped);
        }
    }
    Ok(Outcome::Ended)
}

/// Where batches arrive in the order of the file.
struct Desk<'d, C> {
    origin: Origin,
    /// Bytes of the file that were taken, and of how many.
    taken: Arc<AtomicU64>,
    total: Option<u64>,
    /// The line where the next batch begins.
    line: u64,
    report: &'d mut Report,
    observer: &'d mut dyn Observer,
    consume: C,
}

impl<'a, C> Desk<'_, C>
where
    C: FnMut(&mut Batch, &mut dyn Observer) -> Result<(Flow, Option<Room<'a>>)>,
{
    /// Takes what workers bring until there is no more, and sends every batch back; helps while there is
    /// nothing to take.
    fn serve(
        &mut self,
        shared: &Shared,
        full: &Receiver<Word>,
        mut help: impl FnMut() -> Option<Word>,
        mut send_back: impl FnMut(Batch, Option<Room<'a>>),
    ) -> Result<Outcome> {
        let _stop_workers = StopOnDrop(&shared.stop);
        let (mut waiting, mut next, mut ended) = (BTreeMap::new(), 0, false);
        while !ended || lock(&shared.feed).handed > next {
            let word = match full.try_recv() {
                Ok(word) => Ok(word),
                Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {
                    help().map_or_else(|| full.recv_timeout(Duration::from_millis(100)), Ok)
                }
            };
            match word {
                Ok(Word::Parsed((number, parsed))) => drop(waiting.insert(number, parsed)),
                Ok(Word::Ended) => ended = true,
                Ok(Word::Failed) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::input("a reading thread failed").at(self.origin.name(), 0, 0));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.tell() == Flow::Stop {
                        return Ok(Outcome::Stopped);
                    }
                }
            }
            while let Some(parsed) = waiting.remove(&next) {
                next += 1;
                let (batch, flow, room) = self.settle(parsed)?;
                send_back(batch, room);
                if flow == Flow::Stop {
                    return Ok(Outcome::Stopped);
                }
            }
        }
        Ok(Outcome::Ended)
    }

    fn settle(
        &mut self,
        parsed: std::result::Result<Batch, (Error, Vec<u8>)>,
    ) -> Result<(Batch, Flow, Option<Room<'a>>)> {
        let mut batch =
            parsed.map_err(|(error, before)| locate_end(error, self.origin.name(), self.line, &before))?;
        note(&batch, &self.origin, self.line, self.report)?;
        self.line += batch.lines;
        let (flow, room) = (self.consume)(&mut batch, self.observer)?;
        let flow = if self.tell() == Flow::Stop { Flow::Stop } else { flow };
        Ok((batch, flow, room))
    }

    /// Tells the observer how far the reading is.
    fn tell(&mut self) -> Flow {
        let bytes = self.taken.load(Ordering::Relaxed);
        self.observer.observe(Progress::Reading { bytes, total: self.total, rows: self.report.rows })
    }
}

/// Gives an error of the bytes themselves the place up to which they were good.
pub(super) fn locate_end(error: Error, name: &str, first_line: u64, before: &[u8]) -> Error {
    if error.kind() != ErrorKind::Input || error.place().is_some_and(|place| place.line > 0) {
        return error;
    }
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let line = first_line + memchr::memchr_iter(b'\n', before).count() as u64;
    error.at(name, line, (before.len() - line_start) as u64 + 1)
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts what the parser noticed; a bad row ends the reading unless bad rows are skipped.
fn note(batch: &Batch, origin: &Origin, first_line: u64, report: &mut Report) -> Result<()> {
    let locate = |e: &RowError| {
        let error = origin.place(Error::input(&e.what), first_line + e.line, e.column as u64);
        if let Some(hint) = &e.hint { error.hint(hint) } else { error }
    };
    if let Some(failure) = batch.failure() {
        return Err(locate(failure));
    }
    for error in &batch.bad {
        if report.first_bad.len() < super::batch::EXAMPLES {
            report.first_bad.push(locate(error).to_string());
        }
    }
    report.bad_rows += batch.bad_rows;
    report.rows += batch.rows() as u64;
    report.bytes += batch.bytes;
    report.query_ids += batch.query_ids;
    report.unseen_features += batch.unseen_features;
    report.missing += batch.missing;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unwatched;
    use crate::read::Input;

    struct Failing;

    impl Parser for Failing {
        fn cut(&self) -> Cut {
            Cut::Line
        }

        fn parse(&self, _: &[u8], offset: u64, _: &mut Batch) {
            assert!(offset == 0, "on purpose");
        }
    }

    #[test]
    fn a_worker_that_fails_is_an_error() {
        let bytes: Vec<u8> = b"a line\n".repeat(1 << 18);
        let source = Source::open(&Input::Bytes { name: "rows".into(), bytes: bytes.into() }).unwrap();
        let setup = Setup { threads: 2, skip_bad_rows: false };
        let consume = |_: &mut Batch, _: &mut dyn Observer| Ok((Flow::Continue, None));
        let error = run(source, Arc::new(Failing), setup, &mut Report::default(), &mut Unwatched, consume)
            .unwrap_err();
        assert!(error.what().contains("a reading thread failed"), "{error}");
    }
}
