//! From blocks of bytes to rows: one thread at a time reads, many parse, and a [`Sink`] gets the rows in the
//! order of the input.
//!
//! ```text
//! Blocks ─next_into→ bytes ─Parser::parse→ ParsedRows ─Sink::accept→ Slot ─Slot::write→ free ParsedRows
//!        any worker          any worker              the caller, in order   any worker
//! ```
//!
//! A worker takes free [`ParsedRows`] first and the next block then, so the earliest block always has rows to
//! be parsed into, and their number bounds the memory. The sink runs on the caller's thread and gets the same
//! rows in the same order whatever the number of threads: training on a stream overlaps with its reading, and
//! nothing depends on timing. While no rows have arrived, the caller's thread is a worker, too: there are as
//! many threads as cores, and none of them sleeps for longer than it takes to hand something over. (With one
//! more thread, they were woken on each other's cores.)
//!
//! A sink that stores the rows need not copy their entries: it returns the slot that they belong to, and the
//! worker that gets these rows next writes the entries there before it parses another block. Most of that
//! copying is the system's clearing of fresh memory, for which one thread alone would take as long as two
//! take for the parsing.

use super::parsed_rows::{EXAMPLES, ParsedRows, RowError};
use super::source::{Blocks, Cut, Origin, Source};
use crate::control::{Flow, Observer, Progress};
use crate::data::Report;
use crate::data::assembly::Slot;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Turns the bytes of one block into rows.
pub(crate) trait Parser: Send + Sync {
    /// Where blocks may end.
    fn cut(&self) -> Cut;

    /// Parses a block into empty rows. `offset` is the number of bytes before it; from that, a parser of
    /// fixed-size records knows which records these are. Only the last block may lack its final newline.
    fn parse(&self, block: &[u8], offset: u64, rows: &mut ParsedRows, scratch: &mut Scratch);

    /// Called once the input has ended after `bytes` bytes, all of them parsed: the place to notice that some
    /// are missing.
    fn finish(&self, bytes: u64) -> Result<()> {
        let _ = bytes;
        Ok(())
    }
}

/// Memory that parsers reuse from block to block. Each worker has its own.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Counts of the terms of a document; zero between rows.
    pub(super) term_counts: Vec<u32>,
    /// Places of the entries of many lines.
    #[cfg(target_arch = "x86_64")]
    pub(super) marks: super::svmlight::wide::Marks,
}

/// What parsed rows are written to.
pub(crate) trait Sink<'s> {
    /// Takes the rows of the next block of the input, on the caller's thread.
    fn accept(&mut self, rows: &mut ParsedRows, observer: &mut dyn Observer) -> Result<Accepted<'s>>;
}

/// What a sink has made of rows.
pub(crate) enum Accepted<'s> {
    /// The sink has no more use for them.
    Done,
    /// Their entries have to be written here.
    WriteTo(Slot<'s>),
    /// It wants no more rows.
    Stop,
}

impl<F: FnMut(&mut ParsedRows, &mut dyn Observer) -> Result<Flow>> Sink<'_> for F {
    fn accept(&mut self, rows: &mut ParsedRows, observer: &mut dyn Observer) -> Result<Accepted<'static>> {
        Ok(match self(rows, observer)? {
            Flow::Continue => Accepted::Done,
            Flow::Stop => Accepted::Stop,
        })
    }
}

/// How to run the pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Parsing threads; with 1, everything but waiting for a stream happens on the caller's.
    pub(crate) threads: usize,
    /// Go on after bad rows.
    pub(crate) skip_bad_rows: bool,
}

/// Reads `source` to its end and gives the rows of every block to `sink`, in order; adds to `report`. Returns
/// [`Flow::Stop`] if the observer or the sink stopped the reading before the end.
pub(crate) fn run<'s>(
    source: Source,
    parser: Arc<dyn Parser>,
    setup: Setup,
    report: &mut Report,
    observer: &mut dyn Observer,
    sink: impl Sink<'s>,
) -> Result<Flow> {
    let mut consumer = Consumer {
        origin: source.origin(),
        taken: source.taken(),
        total: source.total(),
        line: 1,
        report,
        observer,
        sink,
    };
    let (total, setup) = (source.total(), Setup { threads: setup.threads.max(1), ..setup });
    let feed = Mutex::new(Feed { blocks: Blocks::new(source, parser.cut()), handed: 0, offset: 0 });
    let shared = Arc::new(Shared { feed, parser, stop: AtomicBool::new(false) });
    let flow = match total {
        None => read_stream(&shared, setup, &mut consumer)?,
        Some(_) if setup.threads == 1 => read_alone(&shared, setup, &mut consumer)?,
        Some(_) => read_file(&shared, setup, &mut consumer)?,
    };
    if flow == Flow::Continue {
        let bytes = lock(&shared.feed).offset;
        shared.parser.finish(bytes)?;
    }
    Ok(flow)
}

/// One thread does it all.
fn read_alone<'s>(shared: &Shared, setup: Setup, consumer: &mut Consumer<'_, impl Sink<'s>>) -> Result<Flow> {
    let (mut worker, mut free) = (Worker::new(shared), FreeRows::new(setup));
    while let Some((_, parsed)) = worker.parse_next(free.write_to_slot()) {
        let flow;
        (free, flow) = consumer.consume(parsed)?;
        if flow == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}

/// The threads of the pool and the caller's read a file together.
fn read_file<'s>(shared: &Shared, setup: Setup, consumer: &mut Consumer<'_, impl Sink<'s>>) -> Result<Flow> {
    let (pool, (sender, messages)) = (&Pool::new(setup), channel());
    std::thread::scope(|scope| {
        let closing = ClosePoolOnDrop(pool);
        let spawn = |_| {
            let sender = sender.clone();
            scope.spawn(move || work(shared, pool, sender))
        };
        let workers: Vec<_> = (1..setup.threads).map(spawn).collect();
        let mut own = Worker::new(shared);
        let help = || {
            // A thread that panics is an error, whichever it is.
            let free = pool.try_take()?;
            catch_unwind(AssertUnwindSafe(|| own.work_on(free))).unwrap_or(Some(Message::Failed))
        };
        let flow = consumer.consume_all(shared, &messages, help, |free| pool.give(free));
        drop(closing);
        // Entries may still have to be written to their slots.
        while let Some(free) = pool.take() {
            own.work_on(free);
        }
        // A worker that failed has sent a message, and is an error by now.
        workers.into_iter().for_each(|worker| drop(worker.join()));
        flow
    })
}

/// Detached threads read a stream: its input may never come, and the caller must be able to stop.
fn read_stream<'s>(
    shared: &Arc<Shared>,
    setup: Setup,
    consumer: &mut Consumer<'_, impl Sink<'s>>,
) -> Result<Flow> {
    let (pool, (sender, messages)) = (Arc::new(Pool::new(setup)), channel());
    for _ in 0..setup.threads {
        let (shared, pool, sender) = (shared.clone(), pool.clone(), sender.clone());
        std::thread::spawn(move || work(&shared, &pool, sender));
    }
    let _closing = ClosePoolOnDrop(&pool);
    // These threads may outlive the slots, so the caller's thread writes to them.
    let give_back = |free: FreeRows<'_>| pool.give(FreeRows { rows: free.write_to_slot(), slot: None });
    consumer.consume_all(shared, &messages, || None, give_back)
}

/// Rows that are free for another block, once their entries are written to the slot.
struct FreeRows<'s> {
    rows: ParsedRows,
    slot: Option<Slot<'s>>,
}

impl FreeRows<'_> {
    fn new(setup: Setup) -> Self {
        Self { rows: ParsedRows::new(!setup.skip_bad_rows), slot: None }
    }

    fn write_to_slot(self) -> ParsedRows {
        if let Some(slot) = self.slot {
            slot.write(self.rows.compressed());
        }
        self.rows
    }
}

/// The free rows. Those that came last go first: their memory is in the cache.
struct Pool<'s> {
    state: Mutex<PoolState<'s>>,
    changed: Condvar,
}

struct PoolState<'s> {
    free: Vec<FreeRows<'s>>,
    /// Whether no more will come.
    closed: bool,
}

impl<'s> Pool<'s> {
    fn new(setup: Setup) -> Self {
        let free = (0..2 * setup.threads + 1).map(|_| FreeRows::new(setup)).collect();
        Self { state: Mutex::new(PoolState { free, closed: false }), changed: Condvar::new() }
    }

    fn give(&self, free: FreeRows<'s>) {
        lock(&self.state).free.push(free);
        self.changed.notify_one();
    }

    /// Free rows, if there are any now.
    fn try_take(&self) -> Option<FreeRows<'s>> {
        lock(&self.state).free.pop()
    }

    /// Free rows, as soon as there are any; `None` if none will come.
    fn take(&self) -> Option<FreeRows<'s>> {
        let wait = |state: &mut PoolState<'s>| state.free.is_empty() && !state.closed;
        let state = self.changed.wait_while(lock(&self.state), wait);
        state.unwrap_or_else(PoisonError::into_inner).free.pop()
    }
}

/// Closes the pool, also after an error or a panic.
struct ClosePoolOnDrop<'p, 's>(&'p Pool<'s>);

impl Drop for ClosePoolOnDrop<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.state).closed = true;
        self.0.changed.notify_all();
    }
}

/// The blocks of an input that are yet to be handed out.
struct Feed {
    blocks: Blocks,
    /// Blocks handed out so far.
    handed: u64,
    /// Bytes in them.
    offset: u64,
}

/// What all threads of a pipeline share.
struct Shared {
    feed: Mutex<Feed>,
    parser: Arc<dyn Parser>,
    stop: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rows of a block, or an error in reading it and the bytes of the block before the error.
type Parsed = std::result::Result<ParsedRows, (Error, Vec<u8>)>;

/// What a worker sends to the consumer.
#[expect(clippy::large_enum_variant, reason = "all but a few are rows")]
enum Message {
    /// The number of a block, and its rows.
    Parsed(u64, Parsed),
    /// There are no more blocks to hand out.
    Ended,
    /// The worker has panicked, and its block is lost.
    Failed,
}

/// Parses blocks, one after the other, into free rows.
struct Worker<'p> {
    shared: &'p Shared,
    block: Vec<u8>,
    scratch: Scratch,
    /// Whether there are no more blocks.
    ended: bool,
}

impl<'p> Worker<'p> {
    fn new(shared: &'p Shared) -> Self {
        Self { shared, block: Vec::new(), scratch: Scratch::default(), ended: false }
    }

    /// Writes the entries of rows to their slot, then parses another block into them, if there is one.
    fn work_on(&mut self, free: FreeRows<'_>) -> Option<Message> {
        let rows = free.write_to_slot();
        if self.ended || self.shared.stop.load(Ordering::Relaxed) {
            return None;
        }
        let parsed = self.parse_next(rows);
        self.ended = parsed.is_none();
        Some(parsed.map_or(Message::Ended, |(number, parsed)| Message::Parsed(number, parsed)))
    }

    /// Takes the next block and parses it; `None` at the end of the input. An error has the number of its
    /// block, too, so that it is reported after the rows before it.
    fn parse_next(&mut self, mut rows: ParsedRows) -> Option<(u64, Parsed)> {
        let Self { shared, block, scratch, .. } = self;
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
        rows.clear();
        shared.parser.parse(block, offset, &mut rows, scratch);
        rows.bytes = block.len() as u64;
        if rows.lines == 0 {
            rows.lines = count_lines(block, shared.parser.cut());
        }
        Some((number, Ok(rows)))
    }
}

/// Number of lines in a block, the unit of places in it. Binary records count as lines.
fn count_lines(block: &[u8], cut: Cut) -> u64 {
    match cut {
        Cut::Line | Cut::Record { .. } => memchr::memchr_iter(b'\n', block).count() as u64,
        Cut::Every(size) => block.len().div_ceil(size) as u64,
    }
}

/// Works on free rows until no more can come.
fn work(shared: &Shared, pool: &Pool<'_>, sender: Sender<Message>) {
    let (sender, mut worker) = (SendFailureOnPanic(sender), Worker::new(shared));
    while let Some(free) = pool.take() {
        if let Some(message) = worker.work_on(free) {
            let _ = sender.0.send(message);
        }
    }
}

struct SendFailureOnPanic(Sender<Message>);

impl Drop for SendFailureOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.send(Message::Failed);
        }
    }
}

/// Gives parsed rows to the sink in the order of the input.
struct Consumer<'c, S> {
    origin: Origin,
    /// Bytes of the file read so far.
    taken: Arc<AtomicU64>,
    /// Size of the file.
    total: Option<u64>,
    /// The line where the next block begins.
    line: u64,
    report: &'c mut Report,
    observer: &'c mut dyn Observer,
    sink: S,
}

impl<'s, S: Sink<'s>> Consumer<'_, S> {
    /// Consumes what workers send until there is no more, and gives all rows back to them. While there is no
    /// message, calls `help`.
    fn consume_all(
        &mut self,
        shared: &Shared,
        messages: &Receiver<Message>,
        mut help: impl FnMut() -> Option<Message>,
        mut give_back: impl FnMut(FreeRows<'s>),
    ) -> Result<Flow> {
        let _stop_workers = StopOnDrop(&shared.stop);
        let (mut waiting, mut next, mut ended) = (BTreeMap::new(), 0, false);
        while !ended || lock(&shared.feed).handed > next {
            match next_message(messages, &mut help) {
                Ok(Message::Parsed(number, parsed)) => drop(waiting.insert(number, parsed)),
                Ok(Message::Ended) => ended = true,
                Ok(Message::Failed) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::input("a reading thread failed").at(self.origin.name(), 0, 0));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.report_progress() == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            while let Some(parsed) = waiting.remove(&next) {
                next += 1;
                let (free, flow) = self.consume(parsed)?;
                give_back(free);
                if flow == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Gives the rows of the next block to the sink.
    fn consume(&mut self, parsed: Parsed) -> Result<(FreeRows<'s>, Flow)> {
        let mut rows = parsed.map_err(|(error, before)| self.origin.place_end(error, self.line, &before))?;
        add_to_report(&rows, &self.origin, self.line, self.report)?;
        self.line += rows.lines;
        let (flow, slot) = match self.sink.accept(&mut rows, self.observer)? {
            Accepted::Done => (Flow::Continue, None),
            Accepted::WriteTo(slot) => (Flow::Continue, Some(slot)),
            Accepted::Stop => (Flow::Stop, None),
        };
        let flow = if self.report_progress() == Flow::Stop { Flow::Stop } else { flow };
        Ok((FreeRows { rows, slot }, flow))
    }

    /// Reports to the observer how much has been read.
    fn report_progress(&mut self) -> Flow {
        let bytes = self.taken.load(Ordering::Relaxed);
        self.observer.observe(Progress::Reading { bytes, total: self.total, rows: self.report.rows })
    }
}

/// The next message of a worker, or what `help` makes where none has arrived.
fn next_message(
    messages: &Receiver<Message>,
    help: &mut impl FnMut() -> Option<Message>,
) -> std::result::Result<Message, RecvTimeoutError> {
    match messages.try_recv() {
        Ok(message) => Ok(message),
        Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
        Err(TryRecvError::Empty) => {
            help().map_or_else(|| messages.recv_timeout(Duration::from_millis(100)), Ok)
        }
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Adds what the parser noticed; a bad row is an error unless bad rows are skipped.
fn add_to_report(rows: &ParsedRows, origin: &Origin, first_line: u64, report: &mut Report) -> Result<()> {
    let locate = |e: &RowError| {
        let error = origin.place(Error::input(&e.what), first_line + e.line, e.column as u64);
        if let Some(hint) = &e.hint { error.hint(hint) } else { error }
    };
    if let Some(failure) = rows.failure() {
        return Err(locate(failure));
    }
    for error in &rows.bad {
        if report.first_bad.len() < EXAMPLES {
            report.first_bad.push(locate(error).to_string());
        }
    }
    report.bad_rows += rows.bad_rows;
    report.rows += rows.len() as u64;
    report.bytes += rows.bytes;
    report.query_ids += rows.query_ids;
    report.unseen_features += rows.unseen_features;
    report.missing += rows.missing;
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

        fn parse(&self, _: &[u8], offset: u64, _: &mut ParsedRows, _: &mut Scratch) {
            assert!(offset == 0, "on purpose");
        }
    }

    #[test]
    fn a_worker_that_fails_is_an_error() {
        let bytes: Vec<u8> = b"a line\n".repeat(1 << 18);
        let source = Source::open(&Input::Bytes { name: "rows".into(), bytes: bytes.into() }).unwrap();
        let setup = Setup { threads: 2, skip_bad_rows: false };
        let sink = |_: &mut ParsedRows, _: &mut dyn Observer| Ok(Flow::Continue);
        let error =
            run(source, Arc::new(Failing), setup, &mut Report::default(), &mut Unwatched, sink).unwrap_err();
        assert!(error.what().contains("a reading thread failed"), "{error}");
    }
}
