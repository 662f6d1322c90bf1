//! Ctrl-C, and the signals that ask a program to end: what they end at once, and what they ask to finish.
//!
//! Most of the time there is nothing to keep: while rows are read, or a certificate is checked. Then an
//! interrupt ends the program at once, whatever it does. Work that has something to keep (a model so far, a
//! table so far) is asked to finish with it instead; a second interrupt ends that, too. No file is left half
//! written, and no temporary file is left.

use crate::{messages, output};
use indicatif::ProgressBar;
use novikoff::model::atomic;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// The exit code of an interrupted program.
pub const EXIT_CODE: u8 = 130;

/// What is said when an interrupt leaves nothing to keep.
pub const NOTHING_WRITTEN: &str = "interrupted: nothing was written";

/// How long the program goes on after an interrupt, once there is nothing to keep any more: to print what is
/// known.
const GRACE: Duration = Duration::from_millis(300);

/// How long the end waits for a line to be printed whole.
const PATIENCE: Duration = Duration::from_millis(100);

/// What an interrupt finds.
enum State {
    /// Nothing to keep, or nothing that is not kept; and the last words.
    Free(LastWords),
    /// Work that has something to keep, and will hear that it is to finish.
    AtWork,
}

/// What is said at the end.
struct LastWords {
    /// On standard output.
    result: String,
    /// On standard error.
    words: Cow<'static, str>,
}

impl LastWords {
    const fn new(words: Cow<'static, str>) -> Self {
        Self { result: String::new(), words }
    }
}

static STATE: Mutex<State> = Mutex::new(State::Free(LastWords::new(Cow::Borrowed(NOTHING_WRITTEN))));
static IS_ASKED: AtomicBool = AtomicBool::new(false);
/// The bar on the screen, if there is one.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// From here on interrupts are heard.
pub fn listen() {
    // Without a handler Ctrl-C still ends the program.
    let _ = ctrlc::set_handler(heard);
}

fn heard() {
    if IS_ASKED.swap(true, Ordering::SeqCst) {
        end("interrupted");
    }
    end_if_free();
}

fn end_if_free() {
    if let State::Free(last) = &*lock(&STATE) {
        finish(last);
    }
}

/// Whether the program has been asked to finish.
pub fn is_asked() -> bool {
    IS_ASKED.load(Ordering::SeqCst)
}

/// From here on the work under way has something to keep, and hears when it is to finish.
pub fn keep() {
    *lock(&STATE) = State::AtWork;
}

/// From here on there is nothing to keep but what these words say. If the program has been asked to finish,
/// it ends soon.
pub fn nothing_to_keep(words: impl Into<Cow<'static, str>>) {
    keep_only(String::new(), words);
}

/// The same where this result is to be printed before the end, unless the program comes to print it itself.
pub fn keep_only(result: String, words: impl Into<Cow<'static, str>>) {
    *lock(&STATE) = State::Free(LastWords { result, words: words.into() });
    if is_asked() {
        thread::spawn(|| {
            thread::sleep(GRACE);
            end_if_free();
        });
    }
}

/// Does something that may wait for others without end: meanwhile an interrupt ends the program.
pub fn while_waiting<T>(work: impl FnOnce() -> T) -> T {
    let waiting = State::Free(LastWords::new(Cow::Borrowed("interrupted")));
    let before = std::mem::replace(&mut *lock(&STATE), waiting);
    let done = work();
    *lock(&STATE) = before;
    done
}

/// Takes this bar off the screen before the program ends.
pub fn take_off_at_the_end(bar: &ProgressBar) {
    *lock(&BAR) = Some(bar.clone());
}

/// Ends the program with these last words.
pub fn end(words: &'static str) -> ! {
    finish(&LastWords::new(Cow::Borrowed(words)))
}

fn finish(last: &LastWords) -> ! {
    /// Held for ever by the first who comes here.
    static END: Mutex<()> = Mutex::new(());
    let _only_one = lock(&END);
    atomic::abandon();
    print_last(last.result.clone());
    messages::say(&last.words);
    std::process::exit(i32::from(EXIT_CODE))
}

/// Takes the bar off the screen, lets the line be finished that is being printed, and prints the result.
/// Whoever reads that may have stopped reading, so this is not waited for without end.
fn print_last(result: String) {
    let (done, wait) = mpsc::channel();
    let tidy = move || {
        if let Some(bar) = lock(&BAR).take() {
            bar.finish_and_clear();
        }
        output::print_last(&result);
        let _ = done.send(());
    };
    if thread::Builder::new().spawn(tidy).is_ok() {
        let _ = wait.recv_timeout(PATIENCE);
    }
}

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
