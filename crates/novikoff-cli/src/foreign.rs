//! Options of other programs: who types one is told what does its work here.

/// An option that other programs have: the commands after which it is meant so, its spellings, and what does
/// its work here.
struct Foreign {
    commands: &'static [&'static str],
    spellings: &'static [&'static str],
    here: &'static str,
}

const LEARNING: &[&str] = &["train", "tune"];
const APPLYING: &[&str] = &["predict", "evaluate"];
const READING: &[&str] = &["train", "tune", "compare", "margin", "predict", "evaluate", "verify", "rows"];

const fn foreign(
    commands: &'static [&'static str],
    spellings: &'static [&'static str],
    here: &'static str,
) -> Foreign {
    Foreign { commands, spellings, here }
}

/// Options of LIBLINEAR, Vowpal Wabbit, LIBSVM and scikit-learn. The first that fits counts.
const ALL: [Foreign; 40] = [
    foreign(
        LEARNING,
        &["-s"],
        "LIBLINEAR's -s 0 is --learner logistic, -s 2 is --learner squared-svm, -s 3 is --learner svm",
    ),
    foreign(LEARNING, &["-c", "--C"], "LIBLINEAR's -c C is --cost C; Vowpal Wabbit's cache is not needed"),
    foreign(LEARNING, &["-e", "--tol"], "LIBLINEAR's -e E is --tolerance E, a relative gap"),
    foreign(LEARNING, &["-B"], "LIBLINEAR's -B 1 is --bias penalised"),
    foreign(LEARNING, &["-w"], "LIBLINEAR's -wL W is --class-weight L=W"),
    foreign(
        &["train"],
        &["-v"],
        "LIBLINEAR's -v N is evaluate --folds N, which cross-validates; tune chooses λ by that",
    ),
    foreign(&["train"], &["-C"], "LIBLINEAR's -C, the best C by cross-validation, is the command tune"),
    foreign(
        READING,
        &["-n", "-j", "--n-jobs", "--n_jobs", "--num_threads"],
        "the number of threads is --threads N",
    ),
    foreign(READING, &["-q"], "LIBLINEAR's -q is --quiet; Vowpal Wabbit's -q ab is --interactions ab"),
    foreign(APPLYING, &["-b"], "LIBLINEAR's -b 1 is --probabilities of predict"),
    foreign(
        LEARNING,
        &["-b", "--bit_precision"],
        "Vowpal Wabbit's -b N is --hash-bits N; LIBLINEAR's -b 1 is --probabilities of predict",
    ),
    foreign(READING, &["-d", "--data"], "the file of the data stands alone, without an option"),
    foreign(LEARNING, &["-f", "--final_regressor", "--model"], "the model's file is -o MODEL"),
    foreign(
        APPLYING,
        &["-i", "--initial_regressor", "-m", "--model"],
        "the model's file comes first: MODEL DATA",
    ),
    foreign(
        LEARNING,
        &["-i", "--initial_regressor", "--save_resume", "--warm_start"],
        "train --from MODEL goes on from a model",
    ),
    foreign(APPLYING, &["-t", "--testonly"], "a model that is applied does not learn: leave this out"),
    foreign(LEARNING, &["-t"], "Vowpal Wabbit's -t is the command predict; LIBSVM's -t 2 is --kernel rbf:G"),
    foreign(LEARNING, &["-g", "--gamma"], "LIBSVM's -g G is --kernel rbf:G"),
    foreign(APPLYING, &["-p", "--predictions"], "predictions go to standard output: > FILE"),
    foreign(
        LEARNING,
        &["-k", "--cache", "--cache_file"],
        "there is no cache: rows stay in memory, or --online",
    ),
    foreign(LEARNING, &["-l", "--learning_rate"], "the learning rate is --step X"),
    foreign(LEARNING, &["--passes", "--max-iter", "--max_iter"], "the number of passes is --epochs N"),
    foreign(
        LEARNING,
        &["--loss_function"],
        "the loss comes with the learner: --learner logistic, svm or least-squares, or --loss",
    ),
    foreign(LEARNING, &["--quantile_tau"], "the quantile is --quantile Q, with --learner quantile"),
    foreign(LEARNING, &["--l2", "--alpha"], "the strength of the ℓ2 penalty is --lambda X, or --cost C"),
    foreign(
        LEARNING,
        &["--quadratic", "--cubic"],
        "products of namespaces are --interactions ab or abc; --map poly:2 is all products of features",
    ),
    foreign(LEARNING, &["--noconstant"], "no bias is --bias none"),
    foreign(LEARNING, &["--oaa", "--ect"], "the number of classes is seen from the labels: leave it out"),
    foreign(LEARNING, &["--nn"], "a hidden layer of N units is --learner network --hidden N"),
    foreign(READING, &["--random_seed", "--random_state", "--random-state"], "the seed is --seed N of train"),
    foreign(LEARNING, &["--holdout_off"], "nothing is held out unless --validation or --test says so"),
    foreign(APPLYING, &["--link"], "probabilities are --probabilities of predict"),
    foreign(APPLYING, &["--audit", "-a"], "what a prediction came from is --explain of predict"),
    foreign(
        LEARNING,
        &["--audit", "--readable_model", "--invert_hash"],
        "the command inspect shows the weights",
    ),
    foreign(LEARNING, &["--ngram"], "terms of several words are --words 1-N"),
    foreign(LEARNING, &["--bfgs"], "the solver is chosen by itself, or by --solver"),
    foreign(LEARNING, &["--ksvm"], "a kernel machine is --learner passive-aggressive --kernel rbf:G"),
    foreign(LEARNING, &["--class_weight"], "the weights of classes are --class-weight L=W,… or balanced"),
    foreign(LEARNING, &["--early_stopping", "--early-stopping"], "early stopping is --validation F"),
    foreign(LEARNING, &["--fit_intercept", "--fit-intercept"], "the bias is --bias free, penalised or none"),
];

/// What does the work of an option of another program, if it is one.
pub fn here(command: &str, option: &str) -> Option<&'static str> {
    let spelled = option.split('=').next().unwrap_or(option);
    let fits = |it: &&Foreign| it.commands.contains(&command) && it.spellings.contains(&spelled);
    ALL.iter().find(fits).map(|it| it.here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    #[test]
    fn foreign_options_are_not_ours_and_what_they_lead_to_is() {
        let program = Arguments::command();
        let own = program.get_subcommands().flat_map(|it| it.get_arguments());
        let all_long: Vec<&str> = own.chain(program.get_arguments()).filter_map(|it| it.get_long()).collect();
        for Foreign { commands, spellings, here } in &ALL {
            for command in *commands {
                let command = program.find_subcommand(command).unwrap();
                for option in *spellings {
                    let name = option.trim_start_matches('-');
                    let is_own = command.get_arguments().any(|it| {
                        if option.starts_with("--") {
                            it.get_long() == Some(name)
                                || it.get_all_aliases().is_some_and(|all| all.contains(&name))
                        } else {
                            it.get_short() == name.chars().next()
                        }
                    });
                    assert!(!is_own, "{} has {option}", command.get_name());
                }
            }
            let words = here.split([' ', ',', ';', ':']).filter_map(|word| word.strip_prefix("--"));
            words.for_each(|word| assert!(all_long.contains(&word), "--{word} in {here:?}"));
        }
        assert!(here("train", "--passes=3").is_some_and(|here| here.contains("--epochs")));
        assert!(here("predict", "-b").is_some_and(|here| here.contains("--probabilities")));
        assert_eq!(here("inspect", "-c"), None);
    }
}
