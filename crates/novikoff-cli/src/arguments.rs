//! The command line as the user writes it. Each option holds its name, its help and its possible values.

use crate::picture::PictureName;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Id, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use novikoff::bayes::Likelihood;
use novikoff::data::Scale;
use novikoff::evaluate::{CalibrationMethod, Metric};
use novikoff::features::Missing;
use novikoff::features::text::Counting;
use novikoff::loss::LossName;
use novikoff::model::{Activation, Task};
use novikoff::multiclass::Scheme;
use novikoff::online::Order;
use novikoff::online::rule::Tie;
use novikoff::penalty::Bias;
use novikoff::read::Format;
use novikoff::solver::Schedule;
use novikoff::train::{LearnerName, SolverName};
use novikoff::{Error, Result};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  novikoff train examples/iris.csv -o iris.model      learn a model
  novikoff predict iris.model new-flowers.csv         a label a line
  novikoff evaluate iris.model examples/iris.csv      error, interval, confusion
  novikoff inspect iris.model                         what it is, its largest weights
  novikoff compare examples/digits.csv                last, averaged, voted; kernels; others
  novikoff margin examples/iris.csv --certificate p   separable? by what margin?
  novikoff verify p examples/iris.csv                 does the proof hold?";

/// Linear learning with proofs.
#[derive(Debug, Parser)]
#[command(name = "novikoff", version, about, after_help = EXAMPLES, max_term_width = 110)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    /// Show neither progress nor warnings.
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Show progress as lines on standard error, whether or not that is a terminal: every epoch, and what is
    /// under way once a second.
    #[arg(long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn a model.
    Train(Box<Train>),
    /// Print a label (or, of a regression model, a number) for each row.
    Predict(Predict),
    /// Choose λ, or the smoothing of bayes, by cross-validation, and learn with it.
    Tune(Box<Tune>),
    /// Set the perceptron's variants side by side, epoch by epoch and kernel by kernel, and other learners
    /// with them.
    Compare(Box<Compare>),
    /// Measure a model on labelled rows, or a learner by cross-validation.
    Evaluate(Box<Evaluate>),
    /// Show what a model is, and its largest weights.
    Inspect(Inspect),
    /// Decide whether rows can be separated, and bracket their margin, with a proof.
    Margin(MarginCommand),
    /// Check a certificate against its data.
    Verify(Verify),
    /// Write the rows as they are read, in the form that certificates are about.
    Rows(Rows),
    /// Write a model for another program: LIBLINEAR, or a runtime of ONNX.
    Export(Export),
    /// Make a model of one that LIBLINEAR or Vowpal Wabbit has learned.
    Import(Import),
    /// Print bounds of learning theory: VC dimension, sample size, error.
    Bounds(Bounds),
    /// Print a script by which a shell completes commands and options.
    Completions(Completions),
    /// Print the manual's page of the program, or of a command.
    Man(Man),
}

impl Command {
    /// Whether results, and errors, are wanted as JSON.
    pub fn json(&self) -> bool {
        match self {
            Command::Train(it) => it.output_form.json,
            Command::Predict(it) => it.json,
            Command::Tune(it) => it.train.output_form.json,
            Command::Compare(it) => it.output_form.json,
            Command::Evaluate(it) => it.train.output_form.json,
            Command::Inspect(it) => it.output_form.json,
            Command::Margin(it) => it.output_form.json,
            Command::Verify(it) => it.output_form.json,
            Command::Rows(it) => it.output_form.json,
            Command::Export(it) => it.output_form.json,
            Command::Import(it) => it.output_form.json,
            Command::Bounds(it) => it.output_form.json,
            Command::Completions(_) | Command::Man(_) => false,
        }
    }
}

const TRAIN_EXAMPLES: &str = "\
Examples:
  novikoff train a9a.svm --test a9a.t.svm -o a9a.model
  novikoff train clicks-*.csv.gz -o clicks.model      (several files are one data set)
  novikoff train bank.csv --label y --drop duration --validation 0.2
  novikoff train adult.csv --no-header --label 15 --learner passive-aggressive
  novikoff train train-images-idx3-ubyte.gz --learner averaged --multiclass one-vs-rest --epochs 5
  novikoff train mail.tsv -o mail.model               (label, tab, text)
  novikoff train reviews.csv --text review --label stars --words 1-2
  zcat clicks.vw.gz | novikoff train - --online --format vw -o clicks.model
  novikoff train words.svm --learner bayes --likelihood complement --smoothing 0.1
  novikoff train train-images-idx3-ubyte.gz --learner network --hidden 100 --epochs 10
  novikoff train today.svm --online --from clicks.model -o clicks.model
  novikoff train rings.csv --learner logistic --map poly:2
  novikoff train prices.csv --learner quantile --quantile 0.9
  novikoff train rings.csv --learner voted --kernel rbf:2 --epochs 10
  novikoff train petals.csv --learner perceptron --scale none --order given --trace steps.csv --trace-weights
  novikoff train iris.csv --report iris.html --picture points=iris.svg --columns petal_length,petal_width";

#[derive(Clone, Debug, Args)]
#[command(after_help = TRAIN_EXAMPLES)]
pub struct Train {
    /// The rows: a path, or - for standard input; compressed or not. Several files are one data set, in the
    /// order given; parts of a table may each have its header.
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub documents: Documents,
    /// Rows to measure the model on when it is done; given several times, one data set.
    #[arg(long, value_name = "FILE")]
    pub test: Vec<PathBuf>,
    /// Where to write the model (replaced as a whole, or not at all).
    #[arg(short, long, value_name = "MODEL")]
    pub output: Option<PathBuf>,

    /// Training algorithm [default: logistic; for documents squared-svm; for numbers to predict
    /// least-squares; with --online averaged]. No other option changes it but --loss, and --text, which makes
    /// documents of a column.
    #[arg(long, value_enum, help_heading = "Learning")]
    pub learner: Option<LearnerName>,
    /// What labels are: classes, or numbers to predict [default: as they look: many different numbers are
    /// numbers to predict].
    #[arg(long, value_enum, help_heading = "Learning")]
    pub task: Option<Task>,
    /// Perceptrons, passive-aggressive and networks: most passes over the rows; a pass without a mistake ends
    /// the training earlier [default: 30]. Learners that minimise a loss, also the default: most steps of the
    /// solver; a gap within the tolerance ends it earlier [default: as many as solvers usually need and some].
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Learning")]
    pub epochs: Option<usize>,
    /// Go on from a model, by its learner and with its settings where no others are named. A stream, and epochs
    /// over the same rows (--epochs counts from the first one), go on as if they had never stopped; over other
    /// rows learning starts from the model's weights. Learners that minimise a loss find the same minimum in
    /// fewer steps.
    #[arg(long, value_name = "MODEL", help_heading = "Learning")]
    pub from: Option<PathBuf>,
    /// Leave out of the model what only --from needs: a smaller file, which predicts the same.
    #[arg(long, requires = "output", help_heading = "Learning")]
    pub no_state: bool,
    /// Which of these options are given, where that makes a difference: with --from.
    #[arg(skip)]
    pub given: Given,
    /// Learn from each row once, as it comes, and store none: memory stays constant.
    #[arg(long, help_heading = "Learning", conflicts_with_all = ["validation", "epochs", "order"])]
    pub online: bool,
    /// Rows to hold back and measure the model on: a fraction of the rows, or a file. Learners with epochs stop
    /// when the error on them no longer falls, and return the model of the best epoch. Files given one by one
    /// are one data set.
    #[arg(long, value_name = "F|FILE", help_heading = "Learning")]
    pub validation: Vec<String>,
    /// Learners with epochs: how many without a better validation error before training stops [default: 3].
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Learning")]
    pub patience: Option<usize>,
    /// The order of rows in an epoch.
    #[arg(long, value_enum, default_value_t = Order::Shuffled, help_heading = "Learning")]
    pub order: Order,
    /// Random seed. The same data, settings and seed give the same model.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Learning")]
    pub seed: u64,
    /// Make features of features first: poly:D (all products of up to D of them) or fourier:COUNT:GAMMA
    /// (random cosines and sines, for the kernel exp(−γ‖x − z‖²)).
    #[arg(long, value_name = "MAP", help_heading = "Learning")]
    pub map: Option<String>,
    /// A constant term in the score; penalised: as the weight of a feature that is 1 in every row
    /// (perceptrons make no difference between free and penalised).
    #[arg(long, value_enum, default_value_t = Bias::Free, help_heading = "Learning")]
    pub bias: Bias,

    /// The loss to minimise, in place of a learner, or for --learner network.
    #[arg(long, value_enum, help_heading = "Minimising a loss")]
    pub loss: Option<LossName>,
    /// The quantile loss: the share of rows that are to be at or below the prediction, between 0 and 1
    /// [default: 0.5, the median].
    #[arg(long, value_name = "Q", allow_negative_numbers = true, help_heading = "Minimising a loss")]
    pub quantile: Option<f64>,
    /// Huber's loss: the largest residual that counts by its square, in the unit of the numbers to predict;
    /// beyond it the loss is linear [default: 1].
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Minimising a loss")]
    pub huber_width: Option<f64>,
    /// Regularization: l2 by --lambda or --cost, l1 by --l1, both, or none [default: inferred from those].
    #[arg(long, value_enum, help_heading = "Minimising a loss")]
    pub penalty: Option<PenaltyArgument>,
    /// Optimization method.
    #[arg(long, value_enum, default_value_t = SolverName::Auto, help_heading = "Minimising a loss")]
    pub solver: SolverName,
    /// λ of the objective (1/n) Σ loss + (λ/2)‖w‖².
    #[arg(
        long,
        value_name = "X",
        conflicts_with = "cost",
        allow_negative_numbers = true,
        help_heading = "Minimising a loss"
    )]
    pub lambda: Option<f64>,
    /// LIBLINEAR's and scikit-learn's C: λ = 1/(C·n) [default: 1; none for boosting, regression and
    /// networks].
    #[arg(long, value_name = "C", allow_negative_numbers = true, help_heading = "Minimising a loss")]
    pub cost: Option<f64>,
    /// Adds X·‖w‖₁ to the objective: weights of exactly zero.
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        help_heading = "Minimising a loss"
    )]
    pub l1: f64,
    /// Bring columns to one size first; the model applies to the rows as they are. With a bias, perceptrons,
    /// passive-aggressive and networks learn from centred columns, too, where --scale is standard [default:
    /// standard; none for max-margin, documents, kernels and streams].
    #[arg(long, value_enum, help_heading = "Learning")]
    pub scale: Option<Scale>,
    /// Gradient solvers: how long their steps are [default: backtracking; stochastic: inverse].
    #[arg(long, value_enum, help_heading = "Minimising a loss")]
    pub schedule: Option<Schedule>,
    /// The stochastic gradient and networks: rows of a step [default: 1; networks: 128, and fewer where rows
    /// are few].
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Minimising a loss")]
    pub batch: Option<usize>,
    /// The relative duality gap at which to stop: (objective − dual)/objective.
    #[arg(
        long,
        value_name = "E",
        default_value_t = 1e-4,
        allow_negative_numbers = true,
        help_heading = "Minimising a loss"
    )]
    pub tolerance: f64,

    /// Networks: hidden units [default: 128].
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Networks")]
    pub hidden: Option<usize>,
    /// Networks: what hidden units make of their sums [default: relu].
    #[arg(long, value_enum, help_heading = "Networks")]
    pub activation: Option<Activation>,

    /// Bayes: what is said of a row, given its class [default: multinomial].
    #[arg(long, value_enum, help_heading = "Bayes' rule")]
    pub likelihood: Option<Likelihood>,
    /// Bayes: what is added to every count; positive [default: 1].
    #[arg(long, value_name = "A", allow_negative_numbers = true, help_heading = "Bayes' rule")]
    pub smoothing: Option<f64>,
    /// Bayes: how probable classes are before a row is seen: learned (as frequent as their rows), uniform, or
    /// LABEL=P,… for all labels, which sum to 1 [default: learned].
    #[arg(long, value_name = "PRIORS", allow_hyphen_values = true, help_heading = "Bayes' rule")]
    pub priors: Option<String>,

    /// How more than two classes are learned [default: joint for perceptrons, bayes and the logistic loss
    /// without --l1; else one-vs-rest].
    #[arg(long, value_enum, help_heading = "Classes and weights")]
    pub multiclass: Option<Scheme>,
    /// The positive one of two labels [default: the larger number, or the later name].
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true, help_heading = "Classes and weights")]
    pub positive: Option<String>,
    /// Fit probabilities to the scores that models of four fifths of the rows give the other fifth.
    #[arg(long, value_enum, help_heading = "Classes and weights")]
    pub calibrate: Option<CalibrationMethod>,
    /// How much each class counts: balanced, or LABEL=WEIGHT,…
    #[arg(long, value_name = "WEIGHTS", allow_hyphen_values = true, help_heading = "Classes and weights")]
    pub class_weight: Option<String>,

    /// Perceptrons and passive-aggressive: what compares rows: linear, poly:D for (1 + <x, z>)^D, rbf:G for
    /// exp(−G‖x − z‖²).
    #[arg(long, value_name = "KERNEL", default_value = "linear", help_heading = "Details of the rules")]
    pub kernel: String,
    /// With --kernel and --online: most rows that are kept to compare others with; the row that counts least
    /// goes [default: 1000].
    #[arg(long, value_name = "ROWS", help_heading = "Details of the rules")]
    pub budget: Option<usize>,
    /// Perceptrons: add rows of length 1 (x/‖x‖) on a mistake.
    #[arg(long, help_heading = "Details of the rules")]
    pub normalise: bool,
    /// Perceptrons: give every row a feature of its own with this value while learning: any rows can be
    /// separated then, and mistakes come to an end.
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Details of the rules")]
    pub own_feature: Option<f64>,
    /// Perceptrons: what a score of exactly zero is while learning.
    #[arg(long, value_enum, default_value_t = Tie::Mistake, help_heading = "Details of the rules")]
    pub tie: Tie,
    /// Perceptrons: the constant step (any gives the same predictions) [default: 1]. Gradient solvers: what
    /// the schedule is a multiple of. Networks: the length of Adam's steps in the first epoch [default:
    /// 0.002].
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Details of the rules")]
    pub step: Option<f64>,
    /// Passive-aggressive: go all the way (pa), at most C (pa-i), or damped by C (pa-ii).
    #[arg(long, value_enum, default_value_t = VariantName::PaI, help_heading = "Details of the rules")]
    pub variant: VariantName,
    /// Passive-aggressive: C.
    #[arg(
        long,
        value_name = "C",
        default_value_t = 1.0,
        allow_negative_numbers = true,
        help_heading = "Details of the rules"
    )]
    pub aggressiveness: f64,

    #[command(flatten)]
    pub pictures: Pictures,

    /// Where to write the proof of what is said of the model; `verify` checks it.
    #[arg(long, value_name = "FILE", conflicts_with = "online")]
    pub certificate: Option<PathBuf>,
    /// Write how training went, as CSV: a row per epoch, or per step of a solver.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Perceptrons and passive-aggressive, also with --online: what a row of the trace is [default: epoch].
    /// The trace of mistakes is written as they are made: the epoch, the row's number among the rows learned
    /// from, its label, what was predicted, the margin y·s before, and how many times the row was added; of
    /// the columns as they are learned from, so that --scale none shows the columns of the file.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub trace_each: Option<TraceEach>,
    /// The trace of mistakes, with weights: all of them as they are then, w1, w2, … and bias, if they are 64
    /// at most; if they are more, and on streams, what was added to them (to those of the class that gains,
    /// and subtracted from those of the class that loses), as INDEX:VALUE.
    #[arg(long)]
    pub trace_weights: bool,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub output_form: OutputForm,
}

/// Options that the command line names.
#[derive(Clone, Debug, Default)]
pub struct Given(HashSet<String>);

impl Given {
    /// Those of a subcommand.
    pub fn of(matches: &ArgMatches) -> Self {
        let is_given = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Self(matches.ids().filter(is_given).map(|id| id.as_str().to_owned()).collect())
    }
}

impl Train {
    /// The share of rows to hold back, if that is what --validation asks for.
    pub fn held_out_share(&self) -> Option<f64> {
        match &self.validation[..] {
            [one] => one.parse().ok(),
            _ => None,
        }
    }

    /// The files of rows to watch the error on.
    pub fn validation_files(&self) -> &[String] {
        if self.held_out_share().is_some() { &[] } else { &self.validation }
    }

    /// The value of an option that has a default: with --from, that of the model if it is not given.
    pub fn or_own<T>(&self, id: &str, value: T, own: T) -> T {
        if self.from.is_some() && !self.given.0.contains(id) { own } else { value }
    }
}

const TUNE_EXAMPLES: &str = "\
Examples:
  novikoff tune a9a.svm --learner logistic -o a9a.model
  novikoff tune prices.csv --learner least-squares --scale unit-variance --folds 10
  novikoff tune prices.csv --learner quantile --quantile 0.9
  novikoff tune a9a.svm --lambdas 1e-6,1e-5,1e-4,1e-3
  novikoff tune census.svm --by auc --report census.html
  novikoff tune words.svm --learner bayes --smoothings 0.01,0.1,1";

#[derive(Debug, Args)]
#[command(after_help = TUNE_EXAMPLES)]
pub struct Tune {
    #[command(flatten)]
    pub train: Train,
    /// Folds of cross-validation, each held out once.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one, help_heading = "Tuning")]
    pub folds: usize,
    /// What λ is chosen by: the mean of this figure over folds, on held-out rows, which count as much as
    /// their weights say [default: error for classes, mse for numbers, mae for least-absolute, pinball for
    /// quantile, huber for huber].
    #[arg(long, value_name = "FIGURE", value_enum, help_heading = "Tuning")]
    pub by: Option<Metric>,
    /// The values of λ to try; 0 is no penalty, where the learner can do without [default: those of costs
    /// from 0.001 to 1000, two a decade, up to three decades more where the best is at an end; for numbers also
    /// 0].
    #[arg(
        long,
        value_name = "X,Y",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Tuning"
    )]
    pub lambdas: Option<Vec<f64>>,
    /// Bayes: the values of the smoothing to try [default: from 10 to 0.0001, two a decade, up to three
    /// decades more where the best is at an end].
    #[arg(
        long,
        value_name = "X,Y",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Tuning"
    )]
    pub smoothings: Option<Vec<f64>>,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  novikoff compare examples/digits.csv
  novikoff compare a9a.svm --test a9a.t.svm --kernels linear,rbf:0.05 --epochs 0.1,1,10
  novikoff compare train-images-idx3-ubyte --test t10k-images-idx3-ubyte \\
      --kernels linear,poly:2,poly:3@1,poly:4@1 --state mnist.state --report mnist.html
                                                      Ctrl-C, and the same command goes on later";

#[derive(Clone, Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct Compare {
    /// The rows: a path, or - for standard input; compressed or not. Several files are one data set.
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub documents: Documents,
    #[command(flatten)]
    pub output_form: OutputForm,
    /// Labelled rows to test on; given several times, one data set [default: a fifth of DATA, held out by the
    /// seed].
    #[arg(long, value_name = "FILE")]
    pub test: Vec<PathBuf>,
    /// What to compare: random, perceptron (its last weights), averaged, voted; and any learner of `train`
    /// that classifies [default: random,perceptron,averaged,voted,svm,logistic,bayes].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub learners: Vec<String>,
    /// After how many epochs to measure errors; fractions of one are fine [default: 0.1,1,2,3,4,10].
    #[arg(long, value_name = "N,M", value_delimiter = ',', allow_negative_numbers = true)]
    pub epochs: Option<Vec<f64>>,
    /// Kernels of the perceptron, as `train` has them; KERNEL@N ends after N epochs [default:
    /// linear,poly:2,poly:3].
    #[arg(long, visible_alias = "kernel", value_name = "KERNELS", value_delimiter = ',')]
    pub kernels: Option<Vec<String>>,
    #[command(flatten)]
    pub pictures: Pictures,
    /// Where to store what is done: if the file is there, the comparison resumes from it.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// How more than two classes are learned [default: one-vs-rest, as in the paper].
    #[arg(long, value_enum)]
    pub multiclass: Option<Scheme>,
    /// Whether there is a bias: an extra coordinate of 1.
    #[arg(long, value_enum, default_value_t = Bias::Free)]
    pub bias: Bias,
    /// Perceptrons: add rows of length 1 (x/‖x‖) on a mistake.
    #[arg(long)]
    pub normalise: bool,
    /// Perceptrons: what a score of exactly zero is while learning.
    #[arg(long, value_enum, default_value_t = Tie::Mistake)]
    pub tie: Tie,
    /// Rows shuffled anew every epoch, or in the order given.
    #[arg(long, value_enum, default_value_t = Order::Shuffled)]
    pub order: Order,
    /// How much each class counts: balanced, or LABEL=WEIGHT,…
    #[arg(long, value_name = "WEIGHTS", allow_hyphen_values = true)]
    pub class_weight: Option<String>,
    /// Take labels for classes, also where they look like numbers to predict.
    #[arg(long, value_enum)]
    pub task: Option<Task>,
    /// The seed of every random choice.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Compare {
    /// The first option that is given and says how the perceptron learns.
    pub fn perceptron_option(&self) -> Option<&'static str> {
        let options = [
            ("--epochs", self.epochs.is_some()),
            ("--kernels", self.kernels.is_some()),
            ("--normalise", self.normalise),
            ("--tie", self.tie != Tie::Mistake),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  novikoff predict spam.model mail.csv > labels.txt
  novikoff predict churn.model customers.csv --with id,name --probabilities > churn.tsv
  novikoff predict digits.model digits.csv --top 3 --probabilities
  echo 'Call now to claim your prize' | novikoff predict mail.model - --explain
  tail -f rows.svm | novikoff predict a9a.model - --format svmlight --scores

A line has fields between tabs: the columns of --with, then the label, then what else is asked for. \
Within a field \\t, \\n, \\r and \\\\ stand for a tab, a line feed, a carriage return and a backslash, and \
\\u{1b} for a character that a terminal might obey. \
With --skip-bad-rows the line of a bad row stays: ? stands in place of its prediction, and \\? is a label \
that is called ?. With --json a bad row has \"label\": null and \"bad\": true.";

#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub struct Predict {
    /// The model.
    pub model: PathBuf,
    /// The rows: a path, or - for standard input; several files one after the other. Labels, if there are any,
    /// are not looked at.
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    /// Columns of the table to put before each prediction, by names or numbers from 1: an id, for example.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub with: Vec<String>,
    /// After the label its score; for more than two classes the scores of all, in the order of `inspect`.
    #[arg(long, conflicts_with_all = ["probabilities", "top"])]
    pub scores: bool,
    /// After the label the probabilities of all, in the order of `inspect`, for models that have them.
    #[arg(long)]
    pub probabilities: bool,
    /// After the label the natural logarithms of the probabilities: small ones keep their digits.
    #[arg(long, conflicts_with_all = ["scores", "probabilities"])]
    pub log_probabilities: bool,
    /// The N best labels, each with its score; with --probabilities or --log-probabilities, each with that.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub top: Option<usize>,
    /// After the label the N features that decided most, each with what it added to the label's score (for
    /// more than two classes: more than to the score of the second best), then what all others and the bias
    /// added, and the sum [default of N: 5].
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "5",
        value_parser = at_least_one,
        conflicts_with_all = ["scores", "probabilities", "log_probabilities", "top"]
    )]
    pub explain: Option<usize>,
    /// Print a JSON object a row: its number (`row`, from 1), the columns of --with, the `label`, and what
    /// else is asked for. An error is an object on the last line of standard error.
    #[arg(long)]
    pub json: bool,
}

const EVALUATE_EXAMPLES: &str = "\
Examples:
  novikoff evaluate a9a.model a9a.t.svm
  novikoff evaluate spam.model mail.csv --threshold 0.9 --report spam.html
  novikoff evaluate spam.model mail.csv --costs spam=1,ham=10
  novikoff evaluate --folds 5 adult.csv --label income --missing indicator
  novikoff evaluate --folds 10 words.svm --learner bayes --smoothing 0.1";

const EVALUATE_USAGE: &str = "\
novikoff evaluate [OPTIONS] <MODEL> <DATA>...
       novikoff evaluate [OPTIONS] --folds <N> <DATA>...";

#[derive(Debug, Args)]
#[command(after_help = EVALUATE_EXAMPLES, override_usage = EVALUATE_USAGE, mut_args = of_evaluation)]
pub struct Evaluate {
    #[command(flatten)]
    pub train: Train,
    /// Cross-validate instead of measuring a model: train on all folds but one, measure on that one, each in
    /// turn. All options below that say how to learn are for this, and are those of `train`.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub folds: Option<usize>,
    /// Two classes: take a row for the positive one if its probability, of a model that gives probabilities,
    /// or else its score is at least T [default: a score of 0].
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub threshold: Option<f64>,
    /// Two classes: what a wrong prediction costs for a row of each label, as LABEL=COST,…; prints the mean
    /// cost, and the threshold at which it is least [default of each: 1].
    #[arg(long, value_name = "COSTS", allow_hyphen_values = true)]
    pub costs: Option<String>,
}

/// Options of a training that an evaluation has no use for.
const NOT_OF_EVALUATIONS: [&str; 12] = [
    "test",
    "output",
    "from",
    "no_state",
    "online",
    "validation",
    "patience",
    "budget",
    "certificate",
    "trace",
    "trace_each",
    "trace_weights",
];

/// Options that are not about learning.
const OF_ROWS: [&str; 19] = [
    "folds",
    "threshold",
    "costs",
    "report",
    "picture",
    "force",
    "json",
    "format",
    "skip_bad_rows",
    "threads",
    "memory",
    "zero_based",
    "max_index",
    "labels",
    "label",
    "drop",
    "row_weights",
    "delimiter",
    "missing",
];

/// An argument of a training as one of an evaluation.
fn of_evaluation(argument: Arg) -> Arg {
    let id = argument.get_id().as_str();
    match id {
        "data" => argument.value_name("MODEL DATA").help(
            "The model, then labelled rows to measure it on; with --folds, rows alone. A path, or - for \
             standard input; several files are one data set",
        ),
        "text" | "hash_bits" | "header" | "no_header" | "columns" | "image" => argument,
        _ if OF_ROWS.contains(&id) => argument,
        _ if NOT_OF_EVALUATIONS.contains(&id) => argument.hide(true).requires("folds"),
        _ => argument.requires("folds"),
    }
}

impl Evaluate {
    /// The model and its rows, or the rows to cross-validate with.
    pub fn inputs(&self) -> Result<Inputs<'_>> {
        match (self.folds, &self.train.data[..]) {
            (Some(folds), _) => Ok(Inputs::Folds(folds)),
            (None, [model, rows @ ..]) if !rows.is_empty() => Ok(Inputs::Model(model, rows)),
            (None, _) => {
                Err(Error::usage("evaluate needs a model and the rows to measure it on: MODEL DATA")
                    .hint("--folds N cross-validates without a model: evaluate --folds 5 DATA"))
            }
        }
    }
}

/// What is evaluated.
#[derive(Clone, Copy, Debug)]
pub enum Inputs<'a> {
    /// A model, on these rows.
    Model(&'a Path, &'a [PathBuf]),
    /// A learner, in so many folds of the rows.
    Folds(usize),
}

#[derive(Debug, Args)]
pub struct Inspect {
    /// The model.
    pub model: PathBuf,
    /// How many weights to show for each class [default: 10].
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    #[command(flatten)]
    pub output_form: OutputForm,
}

const MARGIN_EXAMPLES: &str = "\
Examples:
  novikoff margin mushrooms.svm --certificate mushrooms.proof
  novikoff margin a9a.svm --bias none --decide
  novikoff margin iris.csv --multiclass pairs --tolerance 1e-6
  novikoff margin mushrooms.svm --report mushrooms.html";

#[derive(Clone, Debug, Args)]
#[command(after_help = MARGIN_EXAMPLES)]
pub struct MarginCommand {
    /// The rows: a path, or - for standard input. Several files are one data set.
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub documents: Documents,
    /// Where to write the proof.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// free: the distance of rows from a hyperplane anywhere; penalised: rows with a coordinate of 1 more, as
    /// a perceptron with a bias sees them; none: hyperplanes through the origin.
    #[arg(long, value_enum, default_value_t = Bias::Free)]
    pub bias: Bias,
    /// How much wider than the margin the interval may be, relatively.
    #[arg(long, value_name = "E", default_value_t = 1e-3, allow_negative_numbers = true)]
    pub tolerance: f64,
    /// Only say whether the rows can be separated, with the proof: do not close the interval of the margin.
    #[arg(long, conflicts_with = "tolerance")]
    pub decide: bool,
    /// Most rounds over all rows.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = at_least_one)]
    pub rounds: usize,
    /// More than two classes: each against the rest, or pair by pair.
    #[arg(long, value_enum, default_value_t = PairsName::OneVsRest)]
    pub multiclass: PairsName,
    /// The positive one of two labels [default: the larger number, or the later name].
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Take labels for classes, also where they look like numbers to predict.
    #[arg(long, value_enum)]
    pub task: Option<Task>,
    /// The seed of every random choice.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub pictures: Pictures,
    #[command(flatten)]
    pub output_form: OutputForm,
}

impl Train {
    /// The file that mistakes are to be written to one by one.
    pub fn trace_of_mistakes(&self) -> Option<&Path> {
        let each = self.trace_weights || self.trace_each == Some(TraceEach::Mistake);
        self.trace.as_deref().filter(|_| each)
    }
}

/// What is drawn of a result.
#[derive(Clone, Debug, Default, Args)]
#[command(group = clap::ArgGroup::new("drawing").multiple(true))]
pub struct Pictures {
    /// Write a page with every picture that applies: one file, which fetches nothing.
    #[arg(long, value_name = "FILE.html", group = "drawing", help_heading = "Pictures")]
    pub report: Option<PathBuf>,
    /// Write one picture as a file of its own; may be given several times. NAME is one of tuning, points,
    /// regions, losses, errors, mistakes, interval, descent, confusion, roc, calibration, predictions,
    /// weights, image.
    #[arg(
        long,
        value_name = "NAME=FILE.svg",
        value_parser = named_picture,
        group = "drawing",
        help_heading = "Pictures"
    )]
    pub picture: Vec<(PictureName, PathBuf)>,
    /// Draw the rows, and the regions of the model's classes, by these two columns, names or numbers from 1:
    /// the others are held at their means or most frequent values [default: rows along the normal vector and
    /// the direction at right angles to it in which they differ most; regions only where there are two
    /// columns].
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "drawing", help_heading = "Pictures")]
    pub columns: Vec<String>,
    /// Rows are images of W by H pixels: draw the weights as such [default: as an IDX file says].
    #[arg(
        long,
        value_name = "WxH",
        value_parser = image_size,
        requires = "drawing",
        help_heading = "Pictures"
    )]
    pub image: Option<(u32, u32)>,
}

impl Pictures {
    /// Refuses options that say how to draw a picture that is not asked for.
    pub fn check(&self) -> Result<()> {
        let idle = [
            ("--columns", !self.columns.is_empty(), &[PictureName::Points, PictureName::Regions][..]),
            ("--image", self.image.is_some(), &[PictureName::Image]),
        ];
        let is_idle = |of: &[PictureName]| !of.iter().any(|name| self.draw(*name));
        match idle.into_iter().find(|(_, given, of)| *given && is_idle(of)) {
            Some((option, _, of)) => {
                let names: Vec<&str> = of.iter().map(|of| of.name()).collect();
                let what =
                    format!("{option} is for the picture {}, which is not asked for", names.join(" or "));
                Err(Error::usage(what).hint(format!(
                    "leave out {option}, or add --report FILE.html or --picture {}=FILE.svg",
                    names[0]
                )))
            }
            None => Ok(()),
        }
    }

    /// Whether anything is to be drawn.
    pub fn wanted(&self) -> bool {
        self.report.is_some() || !self.picture.is_empty()
    }

    /// Whether this picture is to be drawn, alone or on a page.
    pub fn draw(&self, name: PictureName) -> bool {
        self.report.is_some() || self.picture.iter().any(|(wanted, _)| *wanted == name)
    }
}

fn named_picture(text: &str) -> std::result::Result<(PictureName, PathBuf), String> {
    let all = PictureName::ALL.map(PictureName::name).join(", ");
    let Some((name, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err(format!("this is not NAME=FILE.svg, where NAME is one of {all}"));
    };
    match PictureName::ALL.into_iter().find(|known| known.name() == name) {
        Some(name) => Ok((name, PathBuf::from(path))),
        None => Err(format!("there is no picture {name:?}; there are {all}")),
    }
}

fn image_size(text: &str) -> std::result::Result<(u32, u32), String> {
    let size = text.split_once(['x', '×']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    size.filter(|(w, h)| *w > 0 && *h > 0).ok_or_else(|| "this is not WxH, as 28x28 is".to_owned())
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  novikoff verify mushrooms.proof mushrooms.svm
  novikoff verify a9a.proof a9a.svm a9a.model";

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct Verify {
    /// The certificate.
    pub certificate: PathBuf,
    /// The rows that it speaks of: a path, or - for standard input; several files are one data set. The last
    /// one may be the model, for a certificate of train.
    #[arg(required = true, value_name = "DATA")]
    pub data_and_model: Vec<PathBuf>,
    /// The model that it speaks of, if it does not stand behind the rows.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub documents: Documents,
    #[command(flatten)]
    pub output_form: OutputForm,
}

impl Verify {
    /// The options for reading as those of a training, whose rows the certificate is about.
    pub fn as_training(&self) -> Result<Train> {
        let parsed = Arguments::try_parse_from(["novikoff", "train", "-"]);
        let Ok(Arguments { command: Command::Train(train), .. }) = parsed else {
            return Err(Error::usage("train takes no rows"));
        };
        Ok(Train { reading: self.reading.clone(), documents: self.documents.clone(), ..*train })
    }
}

const ROWS_EXAMPLES: &str = "\
Examples:
  novikoff rows mail.tsv mail.rows
  novikoff rows titanic.csv titanic.rows --label survived && novikoff-check titanic.proof titanic.rows";

#[derive(Debug, Args)]
#[command(after_help = ROWS_EXAMPLES)]
pub struct Rows {
    /// The rows: a path, or - for standard input; compressed or not. Several files are one data set.
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Where to write them (replaced as a whole, or not at all).
    #[arg(required = true)]
    pub file: PathBuf,
    /// Make features of features first, as train does: poly:D or fourier:COUNT:GAMMA.
    #[arg(long, value_name = "MAP")]
    pub map: Option<String>,
    /// The seed of a fourier map.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "map")]
    pub seed: u64,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub documents: Documents,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub output_form: OutputForm,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  novikoff export a9a.model a9a.liblinear && predict a9a.t.svm a9a.liblinear labels.txt
  novikoff export iris.model iris.onnx

ONNX: the input `features` has a column for each feature, in single precision; the outputs are `label`, \
`scores` and, where the model has them, `probabilities`, or of numbers `prediction`. Linear models, kernels \
and networks can be exported.";

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct Export {
    /// The model.
    pub model: PathBuf,
    /// Where to write it (replaced as a whole, or not at all): FILE.liblinear or FILE.onnx.
    pub file: PathBuf,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub output_form: OutputForm,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  novikoff import heart_scale.model heart.model       by LIBLINEAR's train
  vw rows.vw --invert_hash rows.txt && novikoff import rows.txt rows.model";

#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct Import {
    /// The model of LIBLINEAR, or a readable one of Vowpal Wabbit (--readable_model, --invert_hash); - for
    /// standard input.
    pub file: PathBuf,
    /// Where to write the model (replaced as a whole, or not at all).
    pub model: PathBuf,
    /// What a model of Vowpal Wabbit predicts: labels -1 and 1, or numbers [default: labels with --link
    /// logistic, --binary or scores from -50 to 50, as logistic and hinge loss have; else numbers].
    #[arg(long, value_enum)]
    pub task: Option<Task>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub output_form: OutputForm,
}

const BOUNDS_EXAMPLES: &str = "\
Examples:
  novikoff bounds --features 20
  novikoff bounds --features 123 --rows 32561 --epsilon 0.01 --delta 0.001";

#[derive(Debug, Args)]
#[command(after_help = BOUNDS_EXAMPLES)]
pub struct Bounds {
    /// How many features the rows have.
    #[arg(long, value_name = "D")]
    pub features: u64,
    /// Print the error bound for this number of rows.
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    /// The error that is allowed.
    #[arg(long, value_name = "E", default_value_t = 0.05, allow_negative_numbers = true)]
    pub epsilon: f64,
    /// How probable a failure may be.
    #[arg(long, value_name = "P", default_value_t = 0.05, allow_negative_numbers = true)]
    pub delta: f64,
    /// Whether halfspaces have a bias.
    #[arg(long, value_enum, default_value_t = Bias::Free)]
    pub bias: Bias,
    #[command(flatten)]
    pub output_form: OutputForm,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  novikoff completions bash > ~/.local/share/bash-completion/completions/novikoff
  novikoff completions zsh > ~/.zfunc/_novikoff
  novikoff completions fish > ~/.config/fish/completions/novikoff.fish";

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  novikoff man | man -l -
  novikoff man train > ~/.local/share/man/man1/novikoff-train.1";

#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct Man {
    /// The command that the page is about [default: the program].
    pub command: Option<String>,
}

/// Which files may be replaced.
#[derive(Clone, Debug, Args)]
pub struct Writing {
    /// Replace a file of any kind that is there already. Without this an output replaces an empty file or one
    /// of its own kind: a model replaces a model, a certificate a certificate, and so on. What the command
    /// reads is never replaced, nor one output by another; pipes and devices are written to as they are.
    #[arg(long)]
    pub force: bool,
}

#[derive(Clone, Debug, Args)]
pub struct OutputForm {
    /// Print one JSON object on standard output, and nothing else there. An error is one on the last line of
    /// standard error.
    #[arg(long)]
    pub json: bool,
}

/// How DATA is read; the same for every command.
#[derive(Clone, Debug, Args)]
pub struct Reading {
    /// The format [default: detected by name and contents].
    #[arg(long, value_enum, help_heading = "Reading")]
    pub format: Option<Format>,
    /// Leave out bad rows, and say how many, instead of giving up at the first; predict prints a ? for each.
    #[arg(long, help_heading = "Reading")]
    pub skip_bad_rows: bool,
    /// Threads [default: one a core]. They change the speed, never the result.
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Reading")]
    pub threads: Option<usize>,
    /// Most memory to take, as 4G or 500M: what is estimated to need more is an error before it is taken
    /// [default: what is available].
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Reading")]
    pub memory: Option<u64>,
    /// svmlight: indices count from 0.
    #[arg(long, help_heading = "Reading")]
    pub zero_based: bool,
    /// svmlight: the largest index allowed; vw and documents: the largest number of features [default:
    /// 67108864].
    #[arg(long, value_name = "N", help_heading = "Reading")]
    pub max_index: Option<u32>,
    /// vw and documents: number features by N bits of their names' hashes; 0: by a dictionary, which keeps
    /// the names [default: 0, with --online 22, so that memory stays constant].
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u8).range(0..=30),
        help_heading = "Reading"
    )]
    pub hash_bits: Option<u8>,
    /// Multiply features: vw: of namespaces, by the first letters of their names (ab: every feature of a… with
    /// every one of b…; a space is the namespace without a name, a colon any, so :: is every two); tables:
    /// of columns, by name or number (A*B: the combinations of their categories, times their numbers).
    #[arg(long, value_name = "AB|A*B", value_delimiter = ',', help_heading = "Reading")]
    pub interactions: Vec<String>,
    /// idx: the labels' file [default: found beside the images].
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub labels: Option<PathBuf>,
    /// Tables: the label's column, by name or number from 1; JSON lines: its key [default: label, target,
    /// class or y].
    #[arg(long, value_name = "COLUMN", help_heading = "Reading tables")]
    pub label: Option<String>,
    /// Tables: columns that hold documents, beside the others [default: those that read like prose]; JSON
    /// lines: their keys [default: text].
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Reading tables")]
    pub text: Vec<String>,
    /// Tables: columns whose values are categories, whatever they look like.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Reading tables")]
    pub categories: Vec<String>,
    /// Tables: columns whose values are numbers, also where they look like numbers of rows.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Reading tables")]
    pub numbers: Vec<String>,
    /// Tables: columns to leave out.
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Reading tables")]
    pub drop: Vec<String>,
    /// Tables: the column that says how much a row counts.
    #[arg(long, value_name = "COLUMN", help_heading = "Reading tables")]
    pub row_weights: Option<String>,
    /// Tables: the first line is a row.
    #[arg(long, conflicts_with = "header", help_heading = "Reading tables")]
    pub no_header: bool,
    /// Tables: the first line names the columns.
    #[arg(long, help_heading = "Reading tables")]
    pub header: bool,
    /// Tables: what separates fields, or `tab` [default: detected by the first line].
    #[arg(long, value_name = "C", value_parser = delimiter, help_heading = "Reading tables")]
    pub delimiter: Option<char>,
    /// Tables: what a missing value ("", NA, N/A, NaN, NULL, None, ?, - or .) is [default: error; a model
    /// knows what it was trained with].
    #[arg(long, value_enum, help_heading = "Reading tables")]
    pub missing: Option<Missing>,
}

/// The character that separates fields; a tab by its name, or as shells and programs spell it.
fn delimiter(text: &str) -> std::result::Result<char, String> {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        _ if text.eq_ignore_ascii_case("tab") || text == "\\t" => Ok('\t'),
        (Some(letter), None) => Ok(letter),
        _ => Err("it takes one character, or the word tab".to_owned()),
    }
}

/// How documents become features; a model knows how its own did.
#[derive(Clone, Debug, Args)]
pub struct Documents {
    /// How many neighbouring words make a term: 1, 1-2, none [default: 1].
    #[arg(long, value_name = "N-M", value_parser = lengths, help_heading = "Documents")]
    pub words: Option<Span>,
    /// How many neighbouring characters of a word make a term, as 3-5 [default: none].
    #[arg(long, value_name = "N-M", value_parser = lengths, help_heading = "Documents")]
    pub characters: Option<Span>,
    /// Do not make words lower case.
    #[arg(long, help_heading = "Documents")]
    pub keep_case: bool,
    /// Words to leave out: english, or a file with a word a line.
    #[arg(long, value_name = "english|FILE", help_heading = "Documents")]
    pub stop_words: Option<PathBuf>,
    /// What becomes of how often a term stands in a document [default: sublinear; bayes: counts].
    #[arg(long, value_enum, help_heading = "Documents")]
    pub counting: Option<Counting>,
    /// Whether terms weigh the more the fewer documents have them [default: yes; no with --online and bayes].
    #[arg(long, value_enum, help_heading = "Documents")]
    pub idf: Option<YesNo>,
    /// Whether every document is brought to length 1 [default: yes; bayes: no].
    #[arg(long, value_enum, help_heading = "Documents")]
    pub unit_length: Option<YesNo>,
    /// Leave out terms of fewer documents [default: 1].
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Documents"
    )]
    pub min_documents: Option<u64>,
    /// Leave out terms of more than this share of the documents [default: 1].
    #[arg(long, value_name = "F", help_heading = "Documents")]
    pub max_documents: Option<f64>,
    /// With --hash-bits: keep the terms' names for `inspect` and --explain.
    #[arg(long, help_heading = "Documents")]
    pub keep_names: bool,
}

impl Documents {
    /// The first of these options that is given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--words", self.words.is_some()),
            ("--characters", self.characters.is_some()),
            ("--keep-case", self.keep_case),
            ("--stop-words", self.stop_words.is_some()),
            ("--counting", self.counting.is_some()),
            ("--idf", self.idf.is_some()),
            ("--unit-length", self.unit_length.is_some()),
            ("--min-documents", self.min_documents.is_some()),
            ("--max-documents", self.max_documents.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// The file with the words to leave out, if it is not a list of the program's own.
    pub fn stop_words_file(&self) -> Option<PathBuf> {
        self.stop_words.clone().filter(|path| path.as_os_str() != ENGLISH)
    }
}

/// The list of stop words that the program has itself.
pub const ENGLISH: &str = "english";

/// Lengths of terms; none of them, if so wanted.
#[derive(Clone, Copy, Debug)]
pub struct Span(pub Option<(u8, u8)>);

fn lengths(text: &str) -> std::result::Result<Span, String> {
    if text == "none" {
        return Ok(Span(None));
    }
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if 1 <= from && from <= to => Ok(Span(Some((from, to)))),
        _ => Err("a length, two of them as in 1-2, or none is needed".into()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}

/// Bytes, or by a letter thousands of them, millions, billions or more.
fn memory_size(text: &str) -> std::result::Result<u64, String> {
    let wrong = || "a size such as 500M, 4G or 1.5T is needed".to_owned();
    let upper = text.trim().to_ascii_uppercase();
    let short = upper.strip_suffix('B').unwrap_or(&upper);
    let (digits, unit) = match short.char_indices().next_back() {
        Some((at, 'K')) => (&short[..at], 1e3),
        Some((at, 'M')) => (&short[..at], 1e6),
        Some((at, 'G')) => (&short[..at], 1e9),
        Some((at, 'T')) => (&short[..at], 1e12),
        _ => (short, 1.0),
    };
    let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
    let bytes = number * unit;
    if bytes.is_finite() && bytes >= 1.0 { Ok(bytes as u64) } else { Err(wrong()) }
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 is needed".into()),
        Ok(number) => Ok(number),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PenaltyArgument {
    None,
    L2,
    L1,
    ElasticNet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceEach {
    /// an epoch; of a stream its one pass
    Epoch,
    /// a mistake; of passive-aggressive learning any update
    Mistake,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PairsName {
    /// each class against all others
    OneVsRest,
    /// every two classes
    Pairs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum VariantName {
    Pa,
    PaI,
    PaIi,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_memory_are_read_with_their_units() {
        for (text, bytes) in [
            ("4G", 4_000_000_000),
            ("500M", 500_000_000),
            ("1.5t", 1_500_000_000_000),
            ("64 KB", 64_000),
            ("4096", 4096),
        ] {
            assert_eq!(memory_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "much", "-1G", "0", "nan", "infG", "4X"] {
            assert!(memory_size(text).is_err(), "{text}");
        }
    }
}
