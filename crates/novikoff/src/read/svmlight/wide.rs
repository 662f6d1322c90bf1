//! Lines of the common kind, many at a time, on processors with wide registers (AVX2).
//!
//! Reading entry by entry, each one waits for the end of the one before it, or for a wrong guess of where
//! that is. Here the ends of all entries of some kilobytes are found first, 64 bytes at a time, from bit
//! masks of colons and spaces ([`Marks::find`]). Then each entry is one look at the sixteen bytes before its
//! end: how long its parts are says which byte is which digit, one shuffle puts them in their places, and
//! three products make an index and a value of them ([`Marks::convert`]). There is no branch on what the text
//! says: what does not look as expected is noted and looked at again ([`Marks::read_odd`]). A line that is
//! not of the common kind, or not good, takes the general path, which also says what is wrong with it; it
//! would have read all the others alike, and tests hold that.

use super::{ParsedRows, Svmlight};
use crate::data::fits_f32;
use crate::read::number::{Number, POWERS, digits, number};
use bytemuck::{cast, pod_read_unaligned};
use pulp::NullaryFnOnce;
use pulp::x86::V3;
use std::arch::x86_64::{__m128i, __m256i};
use std::ops::Range;

/// Bytes that are looked at together, at least: they, and what is made of them, stay in the first-level
/// cache.
const LEAST: usize = 1 << 13;
/// At most: places in them are 16-bit numbers.
const MOST: usize = (1 << 16) - 64;
/// Largest index that has a form: seven digits.
pub(super) const LARGEST_INDEX: u32 = 9_999_999;
/// The longest span that is told from longer ones.
const CLAMP: u16 = 15;
/// From this span on a value is too long for a form.
const LONG: u8 = 11;

/// Where things are in some text, and what is made of it.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The colon and the end of every entry, by turns.
    places: Vec<u16>,
    /// From what is before an index to its colon, and from there to the end of the value, by turns; at most
    /// [`CLAMP`].
    spans: Vec<u8>,
    lines: Vec<Line>,
    /// An entry's index, above it the digits of its value as a whole number, and in the highest bit its sign.
    pairs: Vec<u64>,
    /// Entries, in order, that have no form, and their values.
    odd: Vec<(usize, f64)>,
    /// The last value that was read like that, and where: rows of long values are often rows of one value.
    last: Option<(Range<usize>, f64)>,
    /// Entries, in order, that only the general path can read, or say what is wrong with them.
    bad: Vec<usize>,
}

/// The end of a line, and what there was up to it since the text began.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    end: u16,
    colons: u16,
    /// Ends of entries.
    values: u16,
    /// Spaces and newlines.
    gaps: u16,
    /// Where this line's label ends.
    label: u16,
    /// Whether it is a label and entries with one space between them, as far as the gaps tell.
    common: bool,
}

/// How values with three characters or more are taken to be spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `0.25`: a digit, a point, decimals.
    Decimals,
    /// `255`.
    Whole,
}

/// What to make of the sixteen bytes before an entry's end, given the lengths of its parts.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Form {
    /// Which byte goes where: the point into the first place, digits of the index up to the eighth, those of
    /// the value behind.
    shuffle: [u8; 16],
    /// What is there of a good entry, but for the size of its digits; nothing is like this, if there is no
    /// form for such lengths.
    spelled: [u8; 16],
}

/// The form of an entry by its two spans, and whether there is a minus between colon and value.
const fn forms(style: Style) -> [Form; 512] {
    let mut all = [Form { shuffle: [0x80; 16], spelled: [0xff; 16] }; 512];
    let mut key = 0usize;
    while key < 512 {
        let (index, value, minus) = (key & 15, key >> 4 & 15, key >> 8);
        // Seven digits of index at most, and eight of value, in sixteen bytes with the colon and the point.
        let point = matches!(style, Style::Decimals) && value > 3;
        let digits = value.saturating_sub(1 + point as usize);
        if value >= LONG as usize {
            // Looked at again for being long.
            all[key].spelled = [0; 16];
        } else if index >= 2 && index <= 8 && index + value + minus <= 17 && digits >= 1 && digits <= 8 {
            let form = &mut all[key];
            form.spelled = [0; 16];
            let mut at = 0;
            while at + 1 < index {
                (form.shuffle[7 - at], form.spelled[7 - at]) = ((15 - value - minus - at) as u8, b'0');
                at += 1;
            }
            at = 0;
            while at < digits {
                let before_the_point = point && at == digits - 1;
                (form.shuffle[15 - at], form.spelled[15 - at]) =
                    ((15 - at - before_the_point as usize) as u8, b'0');
                at += 1;
            }
            if point {
                (form.shuffle[0], form.spelled[0]) = ((18 - value) as u8, b'.');
            }
        }
        key += 1;
    }
    all
}

static FORMS: [[Form; 512]; 2] = [forms(Style::Decimals), forms(Style::Whole)];

/// What the digits of a value are divided by, by its span.
const fn scales() -> [f64; 16] {
    let mut scales = [1.0; 16];
    let mut span = 4;
    while span < LONG as usize {
        scales[span] = POWERS[span - 3];
        span += 1;
    }
    scales
}

static SCALES: [[f64; 16]; 2] = [scales(), [1.0; 16]];

/// The places of the bits of a byte.
static PLACES: [[u16; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                all[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
};

/// Which of 64 bytes are what, a bit each.
struct Masks {
    colon: u64,
    minus: u64,
    newline: u64,
    /// Spaces and newlines.
    gap: u64,
    /// Other bytes below the space.
    rare: u64,
}

impl Masks {
    #[inline(always)]
    fn of(simd: V3, bytes: &[u8; 64]) -> Self {
        let (avx, avx2) = (simd.avx, simd.avx2);
        let halves: [__m256i; 2] = pod_read_unaligned(bytes);
        let bits = |half: __m256i| u64::from(avx2._mm256_movemask_epi8(half) as u32);
        let mask = |[low, high]: [__m256i; 2]| bits(low) | bits(high) << 32;
        let all = |byte: u8| avx._mm256_set1_epi8(byte as i8);
        let equal = |byte| mask(halves.map(|half| avx2._mm256_cmpeq_epi8(half, all(byte))));
        let low =
            mask(halves.map(|half| avx2._mm256_cmpeq_epi8(avx2._mm256_min_epu8(half, all(b' ')), half)));
        let newline = equal(b'\n');
        let gap = equal(b' ') | newline;
        Self { colon: equal(b':'), minus: equal(b'-'), newline, gap, rare: low & !gap }
    }
}

/// The results of a scan besides the marks.
struct Scan {
    lines: usize,
    /// After the last byte that is none of the common ones.
    rare: usize,
    /// Whether a value begins with a minus.
    signed: bool,
}

/// A block to be read.
pub(super) struct Wide<'a> {
    pub simd: V3,
    pub parser: &'a Svmlight,
    pub block: &'a [u8],
    pub rows: &'a mut ParsedRows,
    pub marks: &'a mut Marks,
}

impl NullaryFnOnce for Wide<'_> {
    /// Where the general path is to go on, and the number of that line; `None` if reading ends.
    type Output = Option<(usize, u64)>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { simd, parser, block, rows, marks } = self;
        marks.allocate();
        marks.last = None;
        let (mut at, mut line, mut length, mut style) = (0, 0, LEAST, Style::Decimals);
        while at < block.len() {
            let text = &block[at..block.len().min(at + length)];
            let scan = marks.find(simd, text, block.get(at + text.len()).copied());
            let Some(last) = scan.lines.checked_sub(1).map(|last| marks.lines[last]) else {
                if length < MOST && at + text.len() < block.len() {
                    length = (4 * length).min(MOST);
                } else {
                    at = parser.line(block, at, line, rows)?;
                    line += 1;
                }
                continue;
            };
            if last.colons != last.values {
                // Some entry has two colons: places do not take turns.
                break;
            }
            marks.classify_lines(text, &scan);
            let entries = usize::from(last.colons);
            match scan.signed {
                true => marks.convert::<true>(simd, block, at, entries, style),
                false => marks.convert::<false>(simd, block, at, entries, style),
            }
            let odd = marks.odd.len() + marks.bad.len();
            let general =
                marks.hand_over(&Place { simd, parser, block, at, line, style }, scan.lines, rows)?;
            let end = usize::from(last.end) + 1;
            let other = if 8 * odd > entries { marks.style_of_odd(&block[at..]) } else { style };
            let hopeless = 2 * odd > entries && other == style;
            at += end;
            line += scan.lines as u64;
            if hopeless || 2 * general > scan.lines {
                // What follows is hardly better.
                break;
            }
            style = other;
            length = (8 * end / scan.lines).clamp(LEAST, MOST);
        }
        Some((at, line))
    }
}

impl Marks {
    /// Allocates memory for any text. The system provides it as it is written to.
    fn allocate(&mut self) {
        if self.places.is_empty() {
            let most = MOST + 64;
            self.places = vec![0; most + 8];
            self.spans = vec![0; most];
            self.pairs = vec![0; most / 2];
        }
    }

    /// Finds colons, ends of entries and lines; `next` is what follows the text.
    #[inline(always)]
    fn find(&mut self, simd: V3, text: &[u8], next: Option<u8>) -> Scan {
        let Self { places, lines, .. } = self;
        let (mut count, mut seen, mut scan) = (0, Line::default(), Scan { lines: 0, rare: 0, signed: false });
        let (mut in_entry, mut after_colon, mut signs) = (0, 0, 0);
        let mut tail = [b'x'; 64];
        for at in (0..text.len()).step_by(64) {
            let bytes: &[u8; 64] = text[at..].first_chunk().unwrap_or_else(|| {
                tail[..text.len() - at].copy_from_slice(&text[at..]);
                &tail
            });
            let Masks { colon, minus, newline, mut gap, mut rare } = Masks::of(simd, bytes);
            while rare != 0 {
                let bit = rare.trailing_zeros() as usize;
                let after = text.get(at + bit + 1).copied().or(next);
                match bytes[bit] {
                    b'\t' => gap |= 1 << bit,
                    b'\r' if after.is_none_or(|byte| byte == b'\n') => gap |= 1 << bit,
                    _ => scan.rare = at + bit + 1,
                }
                rare &= rare - 1;
            }
            // A one added at a colon is carried on to the next gap: the end of that entry.
            let (sum, over) = (!gap).overflowing_add(colon);
            let (sum, over_again) = sum.overflowing_add(in_entry);
            in_entry = u64::from(over | over_again);
            let value = sum & gap;
            signs |= minus & (colon << 1 | after_colon);
            after_colon = colon >> 63;
            if lines.len() < scan.lines + 64 {
                lines.resize(2 * scan.lines + 128, Line::default());
            }
            let mut newlines = newline;
            loop {
                // Up to the first of them; if there is none, what is written here is written over.
                let upto = newlines ^ newlines.wrapping_sub(1);
                let count = |mask: u64| (mask & upto).count_ones() as u16;
                lines[scan.lines] = Line {
                    end: at as u16 + newlines.trailing_zeros() as u16,
                    colons: seen.colons + count(colon),
                    values: seen.values + count(value),
                    gaps: seen.gaps + count(gap),
                    ..Line::default()
                };
                scan.lines += usize::from(newlines != 0);
                newlines &= newlines.wrapping_sub(1);
                if newlines == 0 {
                    break;
                }
            }
            seen.colons += colon.count_ones() as u16;
            seen.values += value.count_ones() as u16;
            seen.gaps += gap.count_ones() as u16;
            count += list(simd, colon | value, at as u16, &mut places[count..]);
        }
        scan.signed = signs != 0;
        self.measure_spans(count);
        scan
    }

    /// How far each of the first `count` places is from the one before it.
    #[inline(always)]
    fn measure_spans(&mut self, count: usize) {
        let Self { places, spans, .. } = self;
        spans[0] = places[0].saturating_add(1).min(CLAMP) as u8;
        let spans = spans[1..].iter_mut().zip(&places[..count]);
        for ((span, from), to) in spans.zip(&places[1..]) {
            *span = to.wrapping_sub(*from).min(CLAMP) as u8;
        }
    }

    /// Decides which lines are common, and what is before the index of each line's first entry, where a label
    /// is.
    #[inline(always)]
    fn classify_lines(&mut self, text: &[u8], scan: &Scan) {
        let (mut start, mut before) = (0, Line::default());
        for line in &mut self.lines[..scan.lines] {
            let end = usize::from(line.end);
            let entries = line.colons - before.colons;
            let gaps = line.gaps - before.gaps;
            // One behind the label and one behind every entry; one more, if there is one before the end of
            // the line.
            let fits = gaps == entries + 1 || gaps == entries + 2 && text[end - 1] <= b' ';
            let label = start
                + text[start..=end].iter().position(|b| matches!(b, 0..=b' ' | b':' | b'#')).unwrap_or(0);
            line.label = label as u16;
            line.common = fits && start >= scan.rare && label > start && text[label] <= b' ';
            if line.common && entries > 0 {
                let first = 2 * usize::from(before.colons);
                self.spans[first] = (self.places[first] - label as u16).min(CLAMP) as u8;
            }
            (start, before) = (end + 1, *line);
        }
    }

    /// Makes indices and digits of the first so many entries, some at a time: if one of those has no form,
    /// all are looked at again.
    #[inline(always)]
    fn convert<const SIGNED: bool>(
        &mut self,
        simd: V3,
        block: &[u8],
        at: usize,
        entries: usize,
        style: Style,
    ) {
        const GROUP: usize = 32;
        let table = &FORMS[style as usize];
        let has_minus = |colon: u16| SIGNED && block.get(at + usize::from(colon) + 1) == Some(&b'-');
        self.odd.clear();
        self.bad.clear();
        for start in (0..entries).step_by(GROUP) {
            let group = start..entries.min(start + GROUP);
            let (mut wrong, mut longest) = (simd.sse2._mm_setzero_si128(), 0);
            let spans = self.spans[2 * group.start..2 * group.end].as_chunks_mut::<2>().0;
            let places = self.places[2 * group.start..2 * group.end].as_chunks::<2>().0;
            for ((pair, spans), [colon, end]) in self.pairs[group].iter_mut().zip(&mut *spans).zip(places) {
                let minus = has_minus(*colon);
                // From here on the span is of what is behind the minus.
                let [index, value] = [spans[0], spans[1] - u8::from(minus)];
                spans[1] = value;
                let digits = shuffled(simd, block, at + usize::from(*end), table, [index, value], minus);
                wrong = simd.sse2._mm_or_si128(wrong, above(simd, digits));
                longest = longest.max(value);
                *pair = numbers(simd, digits) | u64::from(minus) << 63;
            }
            let good = cast::<_, u128>(wrong) == 0;
            if !good || longest >= LONG {
                let (mut odd, mut count) = ([0; GROUP + 1], 0);
                for (entry, (spans, [colon, end])) in spans.iter().zip(places).enumerate() {
                    let digits =
                        || shuffled(simd, block, at + usize::from(*end), table, *spans, has_minus(*colon));
                    odd[count] = entry;
                    count +=
                        usize::from(spans[1] >= LONG || !good && cast::<_, u128>(above(simd, digits())) != 0);
                }
                odd[..count].iter().for_each(|entry| self.read_odd(block, at, start + entry));
            }
        }
    }

    /// Reads an entry that has no form.
    #[inline(never)]
    fn read_odd(&mut self, block: &[u8], at: usize, entry: usize) {
        let [colon, end] = [0, 1].map(|mark| at + usize::from(self.places[2 * entry + mark]));
        let span = self.spans[2 * entry];
        let start = colon + 1 - usize::from(span);
        let (index, stop) = digits(block, start, 0);
        let has_index =
            stop == colon && span > 1 && u16::from(span) < CLAMP && index <= u64::from(LARGEST_INDEX);
        let known = self.last.as_ref().filter(|(text, _)| block[text.clone()] == block[colon + 1..end]);
        let value = known.map(|(_, value)| *value).or_else(|| match number(block, colon + 1) {
            Number::Finite(value, stop) if stop == end => Some(value),
            _ => None,
        });
        if let (true, Some(value)) = (has_index, value) {
            self.odd.push((entry, value));
            self.pairs[entry] = index;
            self.last = Some((colon + 1..end, value));
        } else {
            self.bad.push(entry);
        }
    }

    /// The style that suits most entries without a form.
    #[cold]
    fn style_of_odd(&self, text: &[u8]) -> Style {
        let entries = || self.odd.iter().map(|(entry, _)| *entry).chain(self.bad.iter().copied());
        let value = |entry: usize| {
            &text[usize::from(self.places[2 * entry])..usize::from(self.places[2 * entry + 1])]
        };
        let points = entries().filter(|entry| value(*entry).contains(&b'.')).count();
        if 2 * points > entries().count() { Style::Decimals } else { Style::Whole }
    }

    /// Whether the indices of all lines rise: they fall as often as from one line to the next.
    #[inline(always)]
    fn all_rise(&self, lines: &[Line]) -> bool {
        let entries = lines.last().map_or(0, |line| usize::from(line.colons));
        let falls = |pairs: &[u64]| pairs[1] as u32 <= pairs[0] as u32;
        let all = self.pairs[..entries].windows(2).filter(|pairs| falls(pairs)).count();
        let ends =
            lines.iter().zip(&lines[1..]).filter(|(line, next)| line.colons > 0 && next.colons > line.colons);
        all == ends.filter(|(line, _)| falls(&self.pairs[usize::from(line.colons) - 1..])).count()
    }

    /// Gives the rows of so many lines to the rows, in their order; says how many of them went the general
    /// way, or nothing if reading ends.
    #[inline(always)]
    fn hand_over(&mut self, place: &Place<'_>, lines: usize, rows: &mut ParsedRows) -> Option<usize> {
        let Place { parser, block, at, line, .. } = *place;
        let all_rise = self.all_rise(&self.lines[..lines]);
        let (mut start, mut run, mut general) = (at, 0..0, 0);
        for number in 0..lines {
            let here = self.lines[number];
            let entries = run.end..usize::from(here.colons);
            let label = &block[start..at + usize::from(here.label)];
            let is_good = here.common
                && self.pairs[entries.clone()].first().is_none_or(|first| *first as u32 >= parser.base)
                && (all_rise || self.pairs[entries.clone()].is_sorted_by(|a, b| (*a as u32) < *b as u32))
                && (self.bad.is_empty() || !self.bad.iter().any(|bad| entries.contains(bad)));
            // A label with a comma may be several: the general path knows.
            if is_good && !label.contains(&b',') && rows.set_label(&parser.labelling, label).is_ok() {
                run.end = entries.end;
                rows.starts.push(rows.indices.len() + run.len());
            } else {
                self.flush(run, place, rows);
                run = entries.end..entries.end;
                parser.line(block, start, line + number as u64, rows)?;
                general += 1;
            }
            start = at + usize::from(here.end) + 1;
        }
        self.flush(run, place, rows);
        Some(general)
    }

    /// Puts entries into the rows.
    #[inline(always)]
    fn flush(&self, entries: Range<usize>, place: &Place<'_>, rows: &mut ParsedRows) {
        let Place { simd, parser, style, .. } = place;
        let (pairs, before) = (&self.pairs[entries.clone()], rows.values.len());
        rows.indices.extend(pairs.iter().map(|pair| (*pair as u32).wrapping_sub(parser.base)));
        let spans = self.spans[2 * entries.start..2 * entries.end].as_chunks::<2>().0;
        rows.values.resize(before + pairs.len(), 0.0);
        quotients(*simd, pairs, spans, &SCALES[*style as usize], &mut rows.values[before..]);
        let odd = self.odd.iter().skip_while(|(entry, _)| *entry < entries.start);
        for (entry, value) in odd.take_while(|(entry, _)| *entry < entries.end) {
            rows.values[before + entry - entries.start] = *value;
        }
        rows.single =
            rows.single && rows.values[before..].iter().fold(true, |all, value| all & fits_f32(*value));
        if let Some(features) = parser.known_features {
            rows.unseen_features +=
                rows.indices[before..].iter().filter(|index| **index as usize >= features).count() as u64;
        }
    }
}

/// Where some text is, and how it is read.
struct Place<'a> {
    simd: V3,
    parser: &'a Svmlight,
    block: &'a [u8],
    /// Where the text begins in the block.
    at: usize,
    /// The number of its first line.
    line: u64,
    style: Style,
}

/// The digits of the entry that ends at `end`, by the form for these spans.
#[inline(always)]
fn shuffled(
    simd: V3,
    block: &[u8],
    end: usize,
    table: &[Form; 512],
    [index, value]: [u8; 2],
    minus: bool,
) -> __m128i {
    // Bytes that are not there are no digits.
    let window =
        block.get(end.wrapping_sub(16)..end).and_then(|bytes| bytes.first_chunk::<16>()).unwrap_or(&[0; 16]);
    let form = &table[usize::from(index | value << 4) | usize::from(minus) << 8];
    let digits = simd.ssse3._mm_shuffle_epi8(pod_read_unaligned(window), cast(form.shuffle));
    simd.sse2._mm_xor_si128(digits, cast(form.spelled))
}

/// How much bytes are above what they may be: a point by nothing, digits by nine.
#[inline(always)]
fn above(simd: V3, digits: __m128i) -> __m128i {
    const MOST: [u8; 16] = [0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9];
    simd.sse2._mm_subs_epu8(digits, cast(MOST))
}

/// Two numbers of eight digits, the first one in the lower half.
#[inline(always)]
fn numbers(simd: V3, digits: __m128i) -> u64 {
    let sse2 = simd.sse2;
    let twos = simd.ssse3._mm_maddubs_epi16(digits, sse2._mm_set1_epi16(0x010a));
    let fours = sse2._mm_madd_epi16(twos, sse2._mm_set1_epi32(0x0001_0064));
    let packed = simd.sse4_1._mm_packus_epi32(fours, fours);
    cast::<_, [u64; 2]>(sse2._mm_madd_epi16(packed, sse2._mm_set1_epi32(0x0001_2710)))[0]
}

/// Every pair's digits of a value, divided as its span says.
#[inline(always)]
fn quotients(simd: V3, pairs: &[u64], spans: &[[u8; 2]], scales: &[f64; 16], to: &mut [f64]) {
    let scale = |[_, span]: [u8; 2]| scales[usize::from(span & 15)];
    const SIGN: u64 = 1 << 63;
    let digits = |pair: u64| ((pair & !SIGN) >> 32) as i32;
    let ((pairs, last_pairs), (spans, last_spans)) = (pairs.as_chunks::<4>(), spans.as_chunks::<4>());
    let (to, last) = to.as_chunks_mut::<4>();
    for ((to, pairs), spans) in to.iter_mut().zip(pairs).zip(spans) {
        let digits = simd.avx._mm256_cvtepi32_pd(cast(pairs.map(digits)));
        let quotients = simd.avx._mm256_div_pd(digits, cast(spans.map(scale)));
        *to = cast(simd.avx._mm256_xor_pd(quotients, cast(pairs.map(|pair| pair & SIGN))));
    }
    for ((to, pair), span) in last.iter_mut().zip(last_pairs).zip(last_spans) {
        let quotient = f64::from(digits(*pair)) / scale(*span);
        *to = f64::from_bits(quotient.to_bits() ^ (pair & SIGN));
    }
}

/// Lists the places of the bits of a mask, counted from `base`, and says how many there are.
#[inline(always)]
fn list(simd: V3, mask: u64, base: u16, to: &mut [u16]) -> usize {
    let Some(to) = to.first_chunk_mut::<72>() else { return 0 };
    let (mut count, mut base) = (0, simd.sse2._mm_set1_epi16(base as i16));
    for bits in mask.to_le_bytes() {
        // At most 56 before the last byte.
        let from = count & 63;
        let places = simd.sse2._mm_add_epi16(cast(PLACES[usize::from(bits)]), base);
        to[from..from + 8].copy_from_slice(&cast::<_, [u16; 8]>(places));
        base = simd.sse2._mm_add_epi16(base, simd.sse2._mm_set1_epi16(8));
        count += bits.count_ones() as usize;
    }
    count
}
