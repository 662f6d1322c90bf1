//! Any text as a certificate about a few rows: neither checker panics, and the fast one accepts nothing that
//! the exact one refuses.
#![no_main]

#[path = "../../crates/novikoff/tests/suite/differential.rs"]
#[expect(dead_code, reason = "the other target uses the rest")]
mod differential;

use differential::{canonical, read};
use libfuzzer_sys::fuzz_target;
use novikoff::certificate::Certificate;
use novikoff::data::Dataset;
use novikoff_checker::Rows;
use std::sync::LazyLock;

const ROWS: &str = "1 1:1 2:0.5\n-1 1:-1\n1 2:3\n-1 1:0.25 2:-2\n";

static DATA: LazyLock<(Dataset, Rows)> = LazyLock::new(|| {
    let data = read(ROWS);
    let rows = Rows::from_canonical(&canonical(&data)).unwrap();
    (data, rows)
});

fuzz_target!(|text: &str| {
    let (data, rows) = &*DATA;
    // The hash of the rows is more than a fuzzer finds.
    let text = text.replacen("HASH", rows.hash(), 1);
    let exact = novikoff_checker::check(&text, rows, None);
    let Ok(certificate) = Certificate::from_text(&text) else { return };
    if !certificate.check(data)[0].holds {
        return;
    }
    let fast = certificate.check_in_doubles(data);
    match exact {
        Ok(verdicts) => {
            for (fast, exact) in fast.iter().zip(&verdicts[1..]) {
                assert!(fast.is_err() || exact.holds, "{text}\n{exact:?}");
            }
        }
        Err(why) => assert!(!fast.iter().any(|fast| fast.is_ok()), "{text}\n{why}"),
    }
});
