//! What is damaged is refused.

use super::models::{isotonic, named, platt, regression, three_classes, two_classes, voted};
use novikoff::model::{from_bytes, to_bytes};

#[test]
fn a_file_with_any_byte_changed_is_refused() {
    for model in [two_classes(), three_classes(), voted(), named(), regression(), platt(), isotonic()] {
        let whole = to_bytes(&model).unwrap();
        let mut bytes = whole.clone();
        for at in 0..whole.len() {
            for mask in [1, 2, 4, 8, 16, 32, 64, 128, 0x0f, 0xff] {
                bytes[at] ^= mask;
                assert!(from_bytes(&bytes, "model").is_err(), "byte {at} xor {mask}");
                bytes[at] = whole[at];
            }
        }
    }
}

#[test]
fn a_file_cut_short_or_made_longer_is_refused() {
    for model in [two_classes(), voted()] {
        let mut bytes = to_bytes(&model).unwrap();
        for length in 0..bytes.len() {
            assert!(from_bytes(&bytes[..length], "model").is_err(), "{length} bytes");
        }
        bytes.push(0);
        assert!(from_bytes(&bytes, "model").is_err());
    }
}
