//! How much memory there is, and how much of it work will take: estimated before any is taken.

use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

/// Less than this is taken without asking how much there is.
const SMALL: u64 = 1 << 28;

/// What work will take, part by part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    parts: Vec<Part>,
}

/// So many numbers of so many bytes.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    what: &'static str,
    /// What the number of bytes is a product of, each with what it counts.
    factors: Vec<(u64, &'static str)>,
}

impl Part {
    fn bytes(&self) -> u64 {
        self.factors.iter().fold(1u64, |product, (factor, _)| product.saturating_mul(*factor))
    }

    /// `scores 20.0 GB (4 × 53940 rows × 11602 classes × 8 bytes)`.
    fn text(&self) -> String {
        let factor = |(count, of): &(u64, &str)| {
            if of.is_empty() { count.to_string() } else { format!("{count} {of}") }
        };
        let factors: Vec<String> = self.factors.iter().map(factor).collect();
        format!("{} {} ({})", self.what, size(self.bytes()), factors.join(" × "))
    }
}

impl Estimate {
    /// Adds a part: the product of these factors is its bytes.
    #[must_use]
    pub fn with(mut self, what: &'static str, factors: &[(usize, &'static str)]) -> Self {
        let factors = factors.iter().map(|&(count, of)| (count as u64, of)).collect();
        self.parts.push(Part { what, factors });
        self
    }

    /// The same of so many at once.
    #[must_use]
    pub fn times(mut self, count: usize, of: &'static str) -> Self {
        if count != 1 {
            self.parts.iter_mut().for_each(|part| part.factors.insert(0, (count as u64, of)));
        }
        self
    }

    /// Adds all parts of another.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes()))
    }

    /// An error that spells out the sum, if it is more than `budget` or, where that is `None`, than there is.
    ///
    /// ```
    /// use novikoff::memory::Estimate;
    ///
    /// let estimate = Estimate::default().with("scores", &[(1000, "rows"), (20, "classes"), (8, "bytes")]);
    /// assert_eq!(estimate.check("this training", Some(1 << 20)), Ok(()));
    /// let error = estimate.check("this training", Some(1 << 10)).unwrap_err();
    /// let sum = "scores 0.2 MB (1000 rows × 20 classes × 8 bytes)";
    /// let needed = "this training needs about 0.2 MB of memory, and 1.0 kB may be taken";
    /// assert_eq!(error.what(), format!("{needed}: {sum}"));
    /// ```
    pub fn check(&self, work: &str, budget: Option<u64>) -> Result<()> {
        let needed = self.bytes();
        let Some(most) = budget.or_else(|| if needed < SMALL { None } else { available() }) else {
            return Ok(());
        };
        if needed <= most {
            return Ok(());
        }
        let mut parts: Vec<&Part> = self.parts.iter().collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes()));
        // Whatever is less than a hundredth decides nothing.
        let shown: Vec<String> =
            parts.iter().filter(|part| part.bytes() >= needed / 100).map(|part| part.text()).collect();
        let may = if budget.is_some() { "may be taken" } else { "are available" };
        let what = format!(
            "{work} needs about {} of memory, and {} {may}: {}",
            size(needed),
            size(most),
            shown.join(" + ")
        );
        Err(Error::input(what))
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e5 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.1} kB", bytes / 1e3),
    }
}

/// The bytes that can be taken without others going short: what Linux calls available, or what the control
/// group of this process has left. `None` where that is not known.
pub fn available() -> Option<u64> {
    let whole = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_meminfo(&text));
    let group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|groups| of_groups(&groups, Path::new("/sys/fs/cgroup")));
    whole.into_iter().chain(group).min()
}

fn of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// What the control groups leave, by the text of `/proc/self/cgroup`: version 2 has one group, `0::/path`,
/// version 1 one for each resource, `4:memory:/path`. Within a container the path may be that of the host:
/// then its root counts.
fn of_groups(groups: &str, root: &Path) -> Option<u64> {
    let left = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (resources, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        match resources {
            "" => of_group(root, path, ["memory.max", "memory.current"]),
            _ if resources.split(',').any(|resource| resource == "memory") => {
                of_group(&root.join("memory"), path, ["memory.limit_in_bytes", "memory.usage_in_bytes"])
            }
            _ => None,
        }
    });
    left.min()
}

/// The least that a group or one above it leaves.
fn of_group(root: &Path, path: &str, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number = |file: &Path| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let left = |group: &Path| {
        let most = number(&group.join(limit))?;
        // Pages of files that nobody uses give way.
        let given_way = fs::read_to_string(group.join("memory.stat"))
            .ok()
            .and_then(|stat| inactive_file(&stat))
            .unwrap_or(0);
        Some(most.saturating_sub(number(&group.join(usage))?.saturating_sub(given_way)))
    };
    let own = root.join(path);
    own.ancestors().take_while(|group| group.starts_with(root)).filter_map(left).min()
}

fn inactive_file(stat: &str) -> Option<u64> {
    let line = stat
        .lines()
        .find_map(|line| line.strip_prefix("inactive_file ").or(line.strip_prefix("total_inactive_file ")))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sum_is_spelled_out_the_largest_part_first() {
        let estimate = Estimate::default()
            .with("weights", &[(3, ""), (26, "features"), (11_602, "classes"), (8, "bytes")])
            .with("scores", &[(4, ""), (53_940, "rows"), (11_602, "classes"), (8, "bytes")])
            .with("rows", &[(300_000_000, "bytes")]);
        let error = estimate.check("this training", Some(4_000_000_000)).unwrap_err();
        let what = "this training needs about 20.3 GB of memory, and 4.0 GB may be taken: \
                    scores 20.0 GB (4 × 53940 rows × 11602 classes × 8 bytes) + \
                    rows 300.0 MB (300000000 bytes)";
        assert_eq!(error.what(), what);
        assert_eq!(estimate.check("this training", Some(30_000_000_000)), Ok(()));
        let beyond =
            Estimate::default().with("weights", &[(usize::MAX, "features"), (usize::MAX, "classes")]);
        assert!(beyond.check("this training", None).is_err() || available().is_none());
    }

    #[test]
    fn what_is_available_is_read_from_linux() {
        assert_eq!(of_meminfo("MemTotal: 9 kB\nMemAvailable:   21644504 kB\n"), Some(21_644_504 << 10));
        assert_eq!(of_meminfo("MemTotal: 9 kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(available().is_some_and(|bytes| bytes > 1 << 20));
        }
    }

    #[test]
    fn control_groups_of_both_versions_leave_the_least_of_their_limits() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "9000\n");
        write("a/memory.current", "8500\n");
        write("a/memory.stat", "anon 1\ninactive_file 200\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "10\n");
        assert_eq!(of_groups("0::/a/b\n", root.path()), Some(700));
        assert_eq!(of_groups("0::/\n", root.path()), None);
        write("memory/memory.limit_in_bytes", "5000\n");
        write("memory/memory.usage_in_bytes", "1000\n");
        assert_eq!(of_groups("5:cpu:/x\n4:memory:/of/the/host\n0::/\n", root.path()), Some(4000));
        assert_eq!(of_groups("", root.path()), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(
            text in "(?s).{0,80}",
            line in "[0-9]{0,2}:[a-z,]{0,8}:/[a-z/.]{0,8}",
        ) {
            let _ = (of_meminfo(&text), inactive_file(&text), of_groups(&text, Path::new("/nowhere")));
            let _ = of_groups(&line, Path::new("/nowhere"));
        }
    }
}
