//! Blocks in, batches out: read by one thread at a time, parsed by many, handed over in the order of the file.
//!
//! A worker first takes an empty batch, then the next block, so the earliest block always has a batch to go to and the
//! number of batches bounds the memory. The consumer runs on the caller's thread and sees the same batches in the same
//! order whatever the number of threads: training on a stream overlaps with its reading, and nothing depends on timing.

use super::batch::{Batch, RowError};
use super::source::{Blocks, Cut, Origin, Source};
use crate::control::{Flow, Observer, Progress};
use crate::data::Report;
use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Turns the bytes of one block into rows.
pub trait Parser: Send + Sync {
    /// Where blocks may end.
    fn cut(&self) -> Cut;

    /// Parses a block into an empty batch. `offset` is the number of bytes before it; a parser of fixed-size records can
    /// tell from it which records these are. Only the last block may lack its final newline.
    fn parse(&self, block: &[u8], offset: u64, batch: &mut Batch);

    /// Told once the input has ended after `bytes` bytes, all of them parsed: the place to notice that some are missing.
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

/// Takes the next block and parses it; `None` at the end of the input. The number of the block is returned with an error,
/// too, so that the error is reported in its place.
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
    batch.lines = lines(block, shared.parser.cut());
    Some((number, Ok(batch)))
}

/// How many lines a block has; what places in it are counted in. Binary records count as lines.
fn lines(block: &[u8], cut: Cut) -> u64 {
    match cut {
        Cut::Line | Cut::Record { .. } => memchr::memchr_iter(b'\n', block).count() as u64,
        Cut::Every(size) => block.len().div_ceil(size) as u64,
    }
}

fn work(shared: &Shared, empty: &Mutex<Receiver<Batch>>, full: &Sender<Parsed>) {
    let mut block = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        let received = lock(empty).recv();
        let Ok(batch) = received else { return };
        match next_batch(shared, &mut block, batch) {
            Some(parsed) => {
                if full.send(parsed).is_err() {
                    return;
                }
            }
            None => return,
        }
    }
}

/// Reads `source` to its end, giving every batch to `consume` in order; adds to `report`.
pub fn run(
    source: Source,
    parser: Arc<dyn Parser>,
    setup: Setup,
    report: &mut Report,
    observer: &mut dyn Observer,
    mut consume: impl FnMut(&mut Batch, &mut dyn Observer) -> Result<Flow>,
) -> Result<Outcome> {
    let (name, origin) = (source.name().to_owned(), source.origin());
    let (taken, total) = (source.taken(), source.total());
    let feed = Mutex::new(Feed { blocks: Blocks::new(source, parser.cut()), handed: 0, offset: 0 });
    let shared = Arc::new(Shared { feed, parser, stop: AtomicBool::new(false) });
    let empty_batch = || Batch::new(!setup.skip_bad_rows);
    let mut line = 1u64;
    let mut settle = |batch: &mut Batch, line: &mut u64, report: &mut Report, observer: &mut dyn Observer| {
        note(batch, &origin, *line, report)?;
        *line += batch.lines;
        let flow = consume(batch, observer)?;
        let progress = Progress::Reading { bytes: taken.load(Ordering::Relaxed), total, rows: report.rows };
        Ok(if observer.observe(progress) == Flow::Stop { Flow::Stop } else { flow })
    };
    // A stream is waited for by another thread even then, so that the caller's can be asked to stop meanwhile.
    if setup.threads <= 1 && total.is_some() {
        let (mut block, mut batch) = (Vec::new(), empty_batch());
        while let Some((_, parsed)) = next_batch(&shared, &mut block, std::mem::take(&mut batch)) {
            batch = parsed.map_err(|(error, before)| locate_end(error, &name, line, &before))?;
            if settle(&mut batch, &mut line, report, observer)? == Flow::Stop {
                return Ok(Outcome::Stopped);
            }
        }
        return ended(&shared);
    }

    // Workers are not joined: one may be waiting for input that never comes when the user asks to stop.
    let (empty_sender, empty) = channel();
    let (full_sender, full) = channel::<Parsed>();
    let empty = Arc::new(Mutex::new(empty));
    for _ in 0..2 * setup.threads + 1 {
        let _ = empty_sender.send(empty_batch());
    }
    for _ in 0..setup.threads.max(1) {
        let (shared, empty, full) = (shared.clone(), empty.clone(), full_sender.clone());
        std::thread::spawn(move || work(&shared, &empty, &full));
    }
    drop(full_sender);
    let stop_workers = StopOnDrop(&shared.stop);
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        match full.recv_timeout(Duration::from_millis(100)) {
            Ok((number, parsed)) => drop(waiting.insert(number, parsed)),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let progress = Progress::Reading { bytes: taken.load(Ordering::Relaxed), total, rows: report.rows };
                if observer.observe(progress) == Flow::Stop {
                    return Ok(Outcome::Stopped);
                }
            }
        }
        while let Some(parsed) = waiting.remove(&next) {
            let mut batch = parsed.map_err(|(error, before)| locate_end(error, &name, line, &before))?;
            next += 1;
            if settle(&mut batch, &mut line, report, observer)? == Flow::Stop {
                return Ok(Outcome::Stopped);
            }
            let _ = empty_sender.send(batch);
        }
    }
    drop(stop_workers);
    if lock(&shared.feed).handed == next { ended(&shared) } else { Err(Error::input("a reading thread failed").at(name, 0, 0)) }
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

/// The outcome of an input that was read to its end, if the parser agrees that this is its end.
fn ended(shared: &Shared) -> Result<Outcome> {
    let bytes = lock(&shared.feed).offset;
    shared.parser.finish(bytes)?;
    Ok(Outcome::Ended)
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
