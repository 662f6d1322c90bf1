//! Whether labels are classes to be told apart or numbers to be predicted, where nobody says it.
//!
//! Labels of which some are no numbers are classes. Of numbers, these rules decide, the first that applies:
//!
//! 1. Fewer than five different numbers are classes.
//!    Of more than ten, the column's [name](names) decides where it tells: what is called after a quantity (`age`,
//!    `house_price`) are targets, and whole numbers called after codes or groups (`zip`, `age_group`), with four rows
//!    each, are classes. What is called after something counted (`visits`) are targets if there are more than five.
//! 2. If every row has a number of its own, they are targets.
//! 3. Numbers of which some are not whole are targets if there are more than ten, or fewer than four rows for each.
//! 4. Up to ten whole numbers are classes, unless they have fewer than two rows each and lie far apart.
//! 5. More whole numbers are classes if they number classes: they start at 0 or 1, at least half of the numbers up to the
//!    largest occur, and either there are up to twenty, or they have four rows each and are [not a
//!    histogram](is_histogram). All others are targets: prices, years, counts.

mod names;

use super::learner::Shared;
use crate::data::{Dataset, Labels, as_number};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::model::Task;
use names::Named;

/// What the labels of a data set are, and what there is to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredTask {
    /// Whether labels are classes or numbers.
    pub task: Task,
    /// The label's column, where labels come from a table.
    pub column: Option<String>,
    /// How many different labels there are.
    pub different: usize,
    /// Whether all labels are numbers, and more than two, so that either task could be meant.
    pub are_many_numbers: bool,
}

/// Up to so many different numbers are no more than ratings or digits.
const MANY: usize = 10;
/// Up to so many different counts are no more than classes.
const FEW_COUNTS: usize = 5;
/// A row with a word for a label, to so many with numbers, is there by accident.
const STRAY: u64 = 200;

impl InferredTask {
    /// What the labels of these rows are. It is an error if they can be neither: if there are numbers to be
    /// predicted among them and others that are none, or if nearly every row has a name of its own.
    ///
    /// ```
    /// use novikoff::{Dataset, model::Task, train::InferredTask};
    ///
    /// let rows = [1.0; 8];
    /// let prices = ["310000", "245000", "199500", "310000", "420000", "387500", "150000", "275000"];
    /// let data = Dataset::from_dense(&rows, 1)?.with_labels(&prices)?;
    /// assert_eq!(InferredTask::of(&data)?.task, Task::Regression);
    /// let ratings = ["5", "4", "4", "1", "5", "3", "2", "5"];
    /// let data = Dataset::from_dense(&rows, 1)?.with_labels(&ratings)?;
    /// assert_eq!(InferredTask::of(&data)?.task, Task::Classes);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn of(data: &Dataset) -> Result<Self> {
        Self::of_parts(data, None)
    }

    /// The same of rows of which some are held out: a part of them could look otherwise. Those must have been
    /// read with the labels of the others.
    pub fn of_parts(data: &Dataset, held_out: Option<&Dataset>) -> Result<Self> {
        let counts = Counts::of(data, held_out);
        // The labels of images are bytes that number classes.
        let is_image = data.report.image.is_some();
        let are_targets = !is_image && counts.are_targets(data.schema.label_column());
        let inferred = Self {
            task: if are_targets && counts.words.is_empty() { Task::Regression } else { Task::Classes },
            column: data.schema.label_column().map(str::to_owned),
            different: counts.numbers.len() + counts.words.len(),
            are_many_numbers: !is_image && counts.words.is_empty() && counts.numbers.len() > 2,
        };
        if are_targets {
            inferred.refuse_words_among_numbers(data, &counts)?;
        } else {
            inferred.refuse_stray_words(data, &counts)?;
        }
        inferred.refuse_names_of_rows(rows_of(data, held_out), &counts)?;
        Ok(inferred)
    }

    /// What the labels are, as the beginning of a sentence.
    pub fn subject(&self) -> String {
        subject(self.column.as_deref())
    }

    fn refuse_words_among_numbers(&self, data: &Dataset, counts: &Counts) -> Result<()> {
        let in_numbers: u64 = counts.numbers.iter().map(|(_, rows)| rows).sum();
        let in_words: u64 = counts.words.iter().map(|(_, rows)| rows).sum();
        let Some(&(first, _)) = counts.words.first().filter(|_| in_numbers >= 3 * in_words) else {
            return Ok(());
        };
        let name = &data.names.names()[first as usize];
        let row = data.labels.iter().position(|label| *label == first);
        let row = row.map_or(String::new(), |row| format!(" in row {}", row + 1));
        let none =
            if in_words == 1 { "1 label that is none" } else { &format!("{in_words} labels that are none") };
        let what = format!("{} {in_numbers} numbers to predict and {none}: {name:?}{row}", self.subject());
        let hint = "`task = regression` shows where they stand, and with `skip_bad_rows` leaves such rows out; \
                    `task = classification` takes all labels for classes";
        Err(Error::input(what).hint(hint))
    }

    /// Of labels that are numbers in all rows but a few, those few are no classes but lines that have come in
    /// by accident.
    fn refuse_stray_words(&self, data: &Dataset, counts: &Counts) -> Result<()> {
        let in_numbers: u64 = counts.numbers.iter().map(|(_, rows)| rows).sum();
        let in_words: u64 = counts.words.iter().map(|(_, rows)| rows).sum();
        if in_words == 0 || in_numbers < STRAY * in_words {
            return Ok(());
        }
        let is_stray = |label: &u32| counts.words.iter().any(|(word, _)| word == label);
        let found = data.labels.iter().zip(1u64..).filter(|(label, _)| is_stray(label)).take(3);
        let mut found: Vec<String> = found
            .map(|(label, row)| format!("{:?} in row {row}", data.names.names()[*label as usize]))
            .collect();
        if in_words > found.len() as u64 {
            found.push("…".to_owned());
        }
        let what = format!(
            "{} numbers in {in_numbers} rows, and in {in_words} something else: {}",
            self.subject(),
            found.join(", ")
        );
        Err(Error::input(what)
            .hint("correct or delete such rows; `task = classification` takes all labels for classes"))
    }

    fn refuse_names_of_rows(&self, rows: usize, counts: &Counts) -> Result<()> {
        if counts.words.len() <= 2 * MANY || 2 * counts.words.len() <= rows {
            return Ok(());
        }
        let what = format!("{} {} different labels in {rows} rows", self.subject(), self.different);
        let hint =
            "is this the right label column? `task = classification` takes them for classes all the same";
        Err(Error::input(what).hint(hint))
    }
}

/// The labels of this column, as the beginning of a sentence.
fn subject(column: Option<&str>) -> String {
    match column {
        None => "the labels have".to_owned(),
        Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => format!("column {number} has"),
        Some(name) => format!("{name} has"),
    }
}

fn rows_of(data: &Dataset, held_out: Option<&Dataset>) -> usize {
    data.len() + held_out.map_or(0, Dataset::len)
}

/// Refuses labels that are no classes, unless it is said that they are.
pub(crate) fn refuse_targets(data: &Dataset, held_out: Option<&Dataset>, shared: &Shared) -> Result<()> {
    match shared.task {
        Some(Task::Classes) => return Ok(()),
        Some(Task::Regression) => {
            let what = "`task = regression` needs a learner that predicts numbers";
            return Err(Error::usage(what).hint(REGRESSION_LEARNERS));
        }
        None => {}
    }
    let inferred = InferredTask::of_parts(data, held_out)?;
    if inferred.task == Task::Classes {
        return Ok(());
    }
    let what = format!(
        "{} {} different numbers in {} rows: these look like numbers to predict, not classes",
        inferred.subject(),
        inferred.different,
        rows_of(data, held_out)
    );
    Err(Error::input(what)
        .hint(format!("{REGRESSION_LEARNERS}; `task = classification` takes them for classes")))
}

/// Refuses labels of a stream that more rows will not make classes: fractions, or nearly as many labels as
/// rows. What else there is to be known of labels, all rows have to be read for.
pub(super) fn refuse_targets_of_stream(
    labels: &Labels,
    rows: u64,
    schema: &Schema,
    shared: &Shared,
) -> Result<()> {
    let different = labels.len();
    let Some(numbers) = labels.numbers().filter(|_| shared.task.is_none() && different > MANY) else {
        return Ok(());
    };
    let are_fractions = numbers.iter().any(|number| number.fract() != 0.0);
    if !are_fractions && (different < 1000 || 2 * different as u64 <= rows) {
        return Ok(());
    }
    let column = subject(schema.label_column());
    let what =
        format!("{column} {different} different numbers in {rows} rows: these look like numbers to predict");
    Err(Error::input(what).hint(
        "what learns from a stream tells classes apart; leave out `online` to learn numbers, or say that they are \
         classes: `task = classification`",
    ))
}

/// Refuses to learn numbers where it is said that labels are classes.
pub(crate) fn refuse_classes(shared: &Shared) -> Result<()> {
    match shared.task {
        Some(Task::Classes) => {
            let what = "`task = classification` needs a learner that tells classes apart";
            Err(Error::usage(what).hint("leave out `task`, or use `learner = logistic`, svm or another"))
        }
        _ => Ok(()),
    }
}

const REGRESSION_LEARNERS: &str = "predicting numbers needs a regression learner: `learner = least-squares`, \
                                   least-absolute, huber or quantile";

/// How many rows have each label.
struct Counts {
    /// The labels that are numbers, by size.
    numbers: Vec<(f64, u64)>,
    /// The others, by their number among the names.
    words: Vec<(u32, u64)>,
}

impl Counts {
    fn of(data: &Dataset, held_out: Option<&Dataset>) -> Self {
        let mut rows = vec![0u64; data.names.len()];
        let held_out = held_out.into_iter().flat_map(|held_out| &held_out.labels);
        // What is held out may have labels that the other rows do not know.
        let known = held_out.chain(&data.labels).filter(|label| (**label as usize) < data.names.len());
        known.for_each(|&label| rows[label as usize] += 1);
        let mut counts = Self { numbers: Vec::new(), words: Vec::new() };
        for ((name, rows), label) in data.names.names().iter().zip(rows).zip(0..) {
            match as_number(name) {
                _ if rows == 0 => {}
                Some(value) => counts.numbers.push((value, rows)),
                None => counts.words.push((label, rows)),
            }
        }
        counts.numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        counts
    }

    /// Whether the numbers are to be predicted as such, by the name of their column or by themselves.
    fn are_targets(&self, column: Option<&str>) -> bool {
        let rows: u64 = self.numbers.iter().map(|(_, rows)| rows).sum();
        let have_rows = rows >= 4 * self.numbers.len() as u64;
        let are_whole = || self.numbers.iter().all(|(value, _)| value.fract() == 0.0);
        let are_many = self.numbers.len() > MANY;
        match column.and_then(names::named) {
            Some(Named::Count) if self.numbers.len() > FEW_COUNTS => true,
            Some(Named::Quantity) if are_many => true,
            Some(Named::Code) if are_many && have_rows && are_whole() => false,
            _ => are_targets(&self.numbers),
        }
    }
}

/// Whether these different numbers, by size and with the rows that have them, are to be predicted as such:
/// the rules above.
fn are_targets(numbers: &[(f64, u64)]) -> bool {
    let different = numbers.len() as u64;
    let rows: u64 = numbers.iter().map(|(_, rows)| rows).sum();
    let (Some((least, _)), Some((most, _))) = (numbers.first(), numbers.last()) else { return false };
    let span = most - least;
    let are_whole = numbers.iter().all(|(value, _)| value.fract() == 0.0);
    match () {
        _ if different < 5 => false,
        _ if rows == different => true,
        _ if !are_whole => different > MANY as u64 || rows < 4 * different,
        _ if different <= MANY as u64 => rows < 2 * different && span > 4.0 * different as f64,
        _ => {
            let number_classes = (*least == 0.0 || *least == 1.0) && span < 2.0 * different as f64;
            let may_be_counts = || {
                different > 2 * MANY as u64 && (rows < 4 * different || is_histogram(numbers, *least, span))
            };
            // Only numbers that lie closely are looked at as a histogram: it has a bar for each of its span.
            !number_classes || may_be_counts()
        }
    }
}

/// Whether neighbouring numbers have similarly many rows, as those of a quantity have, and numbers of classes
/// have not: the ratio of von Neumann, which is 2 on average where the counts are in no order, is below 0.7.
/// Counts that differ no more than by chance, as those of classes of equal size, are no histogram.
fn is_histogram(numbers: &[(f64, u64)], least: f64, span: f64) -> bool {
    let mut counts = vec![0.0; span as usize + 1];
    for (value, rows) in numbers {
        counts[(value - least) as usize] = *rows as f64;
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let spread: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
    let steps: f64 = counts.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    // By chance, the variance of a count is its mean.
    spread > 2.0 * mean * counts.len() as f64 && steps < 0.7 * spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::read::{Input, Options, Purpose, Reader, TableOptions};

    /// Labels of rows without features.
    fn labelled(labels: &[String]) -> Dataset<'static> {
        Dataset::from_dense(vec![0.0; labels.len()], 1).unwrap().with_labels(labels).unwrap()
    }

    fn task_of(labels: impl Iterator<Item = f64>) -> Task {
        let labels: Vec<String> = labels.map(|label| label.to_string()).collect();
        InferredTask::of(&labelled(&labels)).unwrap().task
    }

    /// `rows` random numbers.
    fn random(seed: u64, rows: usize, mut draw: impl FnMut(&mut Random) -> f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..rows).map(|_| draw(&mut random)).collect()
    }

    #[test]
    fn quantities_are_targets() {
        for seed in 0..20 {
            let quantities: [(&str, Vec<f64>); 9] = [
                ("age", random(seed, 3000, |r| (18.0 + 70.0 * r.unit()).floor())),
                (
                    "age from birth",
                    random(seed, 5000, |r| (30.0 + 12.0 * r.normal()).clamp(0.0, 90.0).round()),
                ),
                ("price", random(seed, 2000, |r| (7.0 + r.normal()).exp().round())),
                ("rounded price", random(seed, 30, |r| 5000.0 * (20.0 + 40.0 * r.unit()).round())),
                ("a few prices", random(seed, 6, |r| 500.0 * (200.0 + 400.0 * r.unit()).round())),
                ("year", random(seed, 10_000, |r| (1990.0 + 35.0 * r.unit()).floor())),
                ("zip code", random(seed, 5000, |r| 10_000.0 + 300.0 * (r.unit() * 40.0).floor())),
                ("counts", random(seed, 4000, |r| (-25.0 * (1.0 - r.unit()).ln()).floor())),
                ("length", random(seed, 200, |r| (20.0 * r.unit()).round() / 10.0)),
            ];
            for (name, labels) in quantities {
                assert_eq!(task_of(labels.into_iter()), Task::Regression, "{name}, seed {seed}");
            }
        }
    }

    #[test]
    fn names_of_classes_are_classes_also_if_they_are_numbers() {
        for seed in 0..20 {
            let many =
                |classes: f64, rows: usize| random(seed, rows, move |r| (1.0 + classes * r.unit()).floor());
            // Classes of very different sizes, in no order.
            let sizes: Vec<f64> = random(seed, 100, |r| (2.0 * r.normal()).exp());
            let uneven = random(seed, 20_000, |r| {
                let mut at = r.unit() * sizes.iter().sum::<f64>();
                sizes
                    .iter()
                    .position(|size| {
                        at -= size;
                        at < 0.0
                    })
                    .unwrap_or(0) as f64
            });
            let classes: [(&str, Vec<f64>); 9] = [
                ("two", random(seed, 50, |r| (2.0 * r.unit()).floor())),
                ("signs", random(seed, 50, |r| 2.0 * (2.0 * r.unit()).floor() - 1.0)),
                ("ratings", many(5.0, 100)),
                ("half stars", random(seed, 100, |r| (1.0 + (9.0 * r.unit()).floor()) / 2.0)),
                ("digits", random(seed, 30, |r| (10.0 * r.unit()).floor())),
                ("wine", random(seed, 2000, |r| (6.0 + r.normal()).clamp(3.0, 9.0).round())),
                ("letters", many(26.0, 2000)),
                ("a thousand classes", many(1000.0, 30_000)),
                ("uneven classes", uneven),
            ];
            for (name, labels) in classes {
                assert_eq!(task_of(labels.into_iter()), Task::Classes, "{name}, seed {seed}");
            }
        }
        for classes in [100, 150] {
            assert_eq!(
                task_of((0..2000).map(|i| f64::from(i % classes))),
                Task::Classes,
                "classes of one size"
            );
        }
    }

    #[test]
    fn words_are_classes_unless_every_row_has_its_own() {
        let words = |rows: usize, different: usize| -> Vec<String> {
            (0..rows).map(|i| format!("w{}", i % different)).collect()
        };
        assert_eq!(InferredTask::of(&labelled(&words(100, 50))).unwrap().task, Task::Classes);
        assert_eq!(InferredTask::of(&labelled(&words(10, 10))).unwrap().task, Task::Classes);
        let error = InferredTask::of(&labelled(&words(100, 60))).unwrap_err();
        assert_eq!(error.what(), "the labels have 60 different labels in 100 rows");
    }

    #[test]
    fn a_word_among_targets_is_an_error_that_shows_it_and_among_classes_it_is_a_class() {
        let mut prices: Vec<String> = (0..50).map(|i| (17 * i).to_string()).collect();
        prices[30] = "1.2.3".into();
        let error = InferredTask::of(&labelled(&prices)).unwrap_err();
        let what = "the labels have 49 numbers to predict and 1 label that is none: \"1.2.3\" in row 31";
        assert_eq!(error.what(), what);
        let ratings: Vec<String> =
            (0..50).map(|i| if i == 7 { "none".into() } else { (i % 5).to_string() }).collect();
        assert_eq!(InferredTask::of(&labelled(&ratings)).unwrap().task, Task::Classes);
    }

    #[test]
    fn whole_numbers_of_any_span_are_looked_at_without_storing_the_span() {
        for largest in [1e9, 1e15, 1e300] {
            let prices = (0..240).map(|i| (f64::from(i % 30) / 29.0 * largest).floor());
            assert_eq!(task_of(prices), Task::Regression, "up to {largest}");
        }
    }

    #[test]
    fn the_name_of_the_column_decides_where_it_tells() {
        let ages = random(1, 20_000, |r| (91.0 * r.unit()).floor());
        let visits = random(1, 500, |r| (-3.0 * (1.0 - r.unit()).ln()).floor().min(14.0));
        let zips = random(1, 5000, |r| 10_000.0 + 300.0 * (r.unit() * 40.0).floor());
        let ratings = random(1, 500, |r| (1.0 + 5.0 * r.unit()).floor());
        for (column, labels, task) in [
            ("target", &ages, Task::Classes),
            ("age", &ages, Task::Regression),
            ("age_group", &ages, Task::Classes),
            ("label", &visits, Task::Classes),
            ("visits", &visits, Task::Regression),
            ("cost", &zips, Task::Regression),
            ("zip", &zips, Task::Classes),
            ("score", &ratings, Task::Classes),
        ] {
            let mut table = format!("x,{column}\n");
            labels.iter().enumerate().for_each(|(i, label)| table += &format!("{}.5,{label}\n", i % 7));
            let input = Input::Bytes { name: "t.csv".into(), bytes: table.as_bytes().into() };
            let given = TableOptions { label: Some(column.into()), ..TableOptions::default() };
            let options = Options { table: given, ..Options::default() };
            let reader = Reader::open(&input, &options, &Purpose::Training).unwrap();
            let data = reader.read(&mut crate::control::Unwatched).unwrap();
            assert_eq!(InferredTask::of(&data).unwrap().task, task, "{column}");
        }
    }

    #[test]
    fn a_few_words_among_the_numbers_of_many_rows_are_no_classes() {
        let mut labels: Vec<String> = (0..2000).map(|i| (i % 2).to_string()).collect();
        labels[1000] = "<html>".into();
        labels[1500] = "+l".into();
        let error = InferredTask::of(&labelled(&labels)).unwrap_err();
        let what = "the labels have numbers in 1998 rows, and in 2 something else: \"<html>\" in row 1001, \"+l\" in \
                    row 1501";
        assert_eq!(error.what(), what);
        let given = Shared { task: Some(Task::Classes), ..Shared::default() };
        assert_eq!(refuse_targets(&labelled(&labels), None, &given), Ok(()));
        (0..30).for_each(|i| labels[i] = "unknown".into());
        assert_eq!(InferredTask::of(&labelled(&labels)).unwrap().task, Task::Classes);
    }

    #[test]
    fn a_task_that_is_given_decides() {
        let prices = labelled(&(0..50).map(|i| (17 * i).to_string()).collect::<Vec<_>>());
        let with = |task: Option<Task>| refuse_targets(&prices, None, &Shared { task, ..Shared::default() });
        assert!(with(None).unwrap_err().what().contains("look like numbers"));
        assert_eq!(with(Some(Task::Classes)), Ok(()));
        assert!(with(Some(Task::Regression)).is_err());
    }
}
