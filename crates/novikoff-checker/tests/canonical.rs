//! Rows are read strictly: one sequence of bytes for each sequence of rows.

mod common;

use common::{canonical, svm};
use novikoff_checker::Rows;
use proptest::prelude::*;

#[test]
fn text_and_canonical_form_are_the_same_rows() {
    let bytes = canonical(
        &[
            (0, 1.0, &[(0, 0.5), (2, 2.0)]),
            (1, 1.0, &[(1, 0.1), (2, 3.0)]),
            (0, 1.0, &[]),
            (0, 1.0, &[(0, 0.1)]),
        ],
        3,
        &["+1", "-1"],
    );
    let rows = svm("+1 1:0.5 3:2; -1 2:0.1 3:3; 1.0; 1 1:0.1 2:0 # a comment");
    assert_eq!(rows.hash(), format!("blake3:{}", blake3::hash(&bytes).to_hex()));
    assert_eq!(Rows::from_canonical(&bytes).unwrap().hash(), rows.hash());
}

/// The hash by Python's BLAKE3 and `struct.pack` would be the same: these bytes are written out by hand.
#[test]
fn the_bytes_of_a_table_are_as_documented() {
    let mut bytes = b"novikoff rows 1\n".to_vec();
    bytes.extend(b"\x01\0\0\0\0\0\0\0\0\0\0\xf0\x3f\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\x04\x40");
    bytes.extend(b"\xff\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0b\0\0\0\0\x02\0\0\0\0\0\0\0");
    bytes.extend(b"\x01\x01\0\0\0a\x01\0\0\0c");
    let reading = concat!(
        r#"{"columns":[["numeric","a"],["label","y"],["numeric","c"]],"#,
        r#""delimiter":",","header":true,"kind":"table","missing":"error"}"#
    );
    bytes.extend((reading.len() as u32).to_le_bytes());
    bytes.extend(reading.as_bytes());
    let rows = Rows::from_csv("a,y,c\n2.5,b,2.5\n", None).unwrap();
    assert_eq!(rows.hash(), format!("blake3:{}", blake3::hash(&bytes).to_hex()));
}

#[test]
fn every_changed_byte_is_refused_or_changes_the_hash() {
    let rows: &[common::Row<'_>] = &[
        (0, 1.0, &[(0, 1.5), (3, 1.5)]),
        (1, 2.0, &[(1, 0.1), (2, 0.2)]),
        (0, 0.0, &[(0, 1.0), (1, 2.0)]),
        (u32::MAX, 1.0, &[]),
    ];
    let bytes = canonical(rows, 4, &["a", "bc"]);
    let own = Rows::from_canonical(&bytes).unwrap().hash().to_owned();
    for at in 0..bytes.len() {
        for value in 0..=255u8 {
            let mut changed = bytes.clone();
            changed[at] = value;
            match Rows::from_canonical(&changed) {
                Ok(rows) => assert!((rows.hash() == own) == (changed == bytes)),
                Err(_) => assert_ne!(changed, bytes),
            }
        }
        assert!(Rows::from_canonical(&bytes[..at]).is_err(), "cut at {at}");
    }
    assert!(Rows::from_canonical(&[&bytes[..], b"\0"].concat()).is_err());
}

#[test]
fn what_the_writer_would_not_have_written_is_refused() {
    let good: &[common::Row<'_>] = &[(0, 1.0, &[(0, 1.0), (1, 2.0)]), (1, 1.0, &[(0, 3.0), (1, 2.0)])];
    assert!(Rows::from_canonical(&canonical(good, 2, &["a", "b"])).is_ok());
    let with = |row: common::Row<'_>, columns: u64, labels: &[&str]| {
        Rows::from_canonical(&canonical(&[good[0], row], columns, labels)).unwrap_err()
    };
    assert!(with((1, 1.0, &[(1, 3.0), (0, 2.0)]), 2, &["a", "b"]).contains("do not increase"));
    assert!(with((1, 1.0, &[(0, 3.0), (0, 2.0)]), 2, &["a", "b"]).contains("do not increase"));
    for wrong in [0.0, -0.0, f64::NAN, f64::INFINITY] {
        assert!(with((1, 1.0, &[(0, 3.0), (1, wrong)]), 2, &["a", "b"]).contains("zero, or not finite"));
    }
    for wrong in [-1.0, -0.0, f64::NAN, f64::INFINITY] {
        assert!(with((1, wrong, &[(0, 3.0)]), 2, &["a", "b"]).contains("its weight"));
    }
    assert!(with((2, 1.0, &[(0, 3.0)]), 2, &["a", "b"]).contains("order of first appearance"));
    assert!(with((0, 1.0, &[(0, 3.0)]), 2, &["a", "b"]).contains("labels"));
    assert!(with((1, 1.0, &[(0, 3.0)]), 2, &["1", "1.0"]).contains("twice"));
    assert!(with((1, 1.0, &[(2, 3.0)]), 2, &["a", "b"]).contains("number of columns"));
}

#[test]
fn values_are_stored_in_one_way() {
    let row = |kind: u8, values: &[u8]| {
        let mut bytes = canonical(&[], 2, &["a"]);
        let mut row = [
            &[kind][..],
            &0u32.to_le_bytes(),
            &1f64.to_le_bytes(),
            &2u32.to_le_bytes(),
            &0u32.to_le_bytes(),
            &1u32.to_le_bytes(),
        ]
        .concat();
        row.extend(values);
        bytes[17] = 1;
        bytes.splice(16..16, row);
        Rows::from_canonical(&bytes)
    };
    let doubles = |x: f64, y: f64| [x.to_le_bytes(), y.to_le_bytes()].concat();
    let singles = |x: f32, y: f32| [x.to_le_bytes(), y.to_le_bytes()].concat();
    assert!(
        row(0, &doubles(0.1, 0.2)).is_ok()
            && row(2, &singles(1.0, 2.0)).is_ok()
            && row(1, &0.1f64.to_le_bytes()).is_ok()
    );
    for wrong in [row(0, &doubles(1.0, 2.0)), row(0, &doubles(0.1, 0.1)), row(2, &singles(1.0, 1.0))] {
        assert!(wrong.unwrap_err().contains("canonical way"));
    }
    assert!(row(3, &doubles(0.1, 0.2)).unwrap_err().contains("no way 3"));
}

/// A few bytes that announce much: nothing is allocated for what is not there.
#[test]
fn announced_sizes_are_not_believed() {
    let mut bytes = b"novikoff rows 1\n\x00".to_vec();
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(1f64.to_le_bytes());
    bytes.extend(u32::MAX.to_le_bytes());
    assert!(Rows::from_canonical(&bytes).unwrap_err().contains("ends too early"));
    // Four billion columns, of which one occurs.
    let wide =
        Rows::from_canonical(&canonical(&[(0, 1.0, &[(u32::MAX - 1, 1.0)])], 1 << 32, &["1"])).unwrap();
    assert_eq!(wide.width(), 1 << 32);
    assert!(Rows::from_canonical(&canonical(&[(0, 1.0, &[])], (1 << 32) + 1, &["1"])).is_err());
}

#[test]
fn text_that_is_more_than_plain_is_refused() {
    for wrong in [
        "1 2:1 1:1",
        "1 1:1 1:2",
        "1 0:1",
        "1 1:nan",
        "1 1:inf",
        "1 1:1e999",
        "1 qid:3 1:1",
        "1 1",
        "1 x:1",
        "1 1:",
        "1 1:0x10",
        "1:2",
        "nan 1:1",
        "1 1:1\r1",
    ] {
        assert!(Rows::from_svmlight(wrong, false).is_err(), "{wrong:?}");
    }
    for wrong in [
        "",
        "a,y\n",
        "a,y\n1\n",
        "a,y\n\"1\",2\n",
        "a,y\n?,2\n",
        "a,y\nx,2\n",
        "a,a\n1,2\n",
        "1,2\n3,4\n",
        "a,b\n1,2\n",
        "label,y\n1,2\n",
        "a,y\n1e999,2\n",
    ] {
        assert!(Rows::from_csv(wrong, None).is_err(), "{wrong:?}");
    }
    assert_eq!(
        Rows::from_csv("a,b\n1,2\n", Some("b")).unwrap().hash(),
        Rows::from_csv("a,b\r\n 1 , 2 \r\n\n", Some("2")).unwrap().hash()
    );
}

proptest! {
    /// Any bytes are read or refused, and never anything else.
    #[test]
    fn no_bytes_make_it_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        magic in any::<bool>(),
    ) {
        if magic {
            bytes.splice(0..0, *b"novikoff rows 1\n");
        }
        let _ = Rows::from_canonical(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = (Rows::from_svmlight(&text, true), Rows::from_csv(&text, None));
    }
}
