//! Pages with pictures, in a real browser: they are whole at every width, and fetch nothing.

// A skip says why.
#![expect(clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn examples(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).display().to_string()
}

fn report(folder: &TempDir, arguments: &[&str]) -> String {
    let page = folder.path().join("page.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_novikoff"));
    let output = command.args(arguments).arg("--report").arg(&page).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(page).unwrap()
}

/// Debian's chromium, or another by its usual names.
fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

/// Looks at the page from inside and writes down what is wrong with it.
const LOOK: &str = r#"<script>
window.addEventListener('load', () => {
  const wrong = [], pictures = document.querySelectorAll('figure > svg');
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than the window');
  if (performance.getEntriesByType('resource').length) wrong.push('something was fetched');
  for (const svg of pictures) {
    const name = svg.closest('section').id, box = svg.getBoundingClientRect();
    if (!(box.width > 100 && box.height > 20)) wrong.push(name + ' has no size');
    const words_of = name => svg.querySelector(name).textContent;
    if (svg.getAttribute('role') !== 'img' || !words_of('title') || !words_of('desc'))
      wrong.push(name + ' has no text alternative');
    const scale = box.width / svg.viewBox.baseVal.width;
    const words = [...svg.querySelectorAll('text')].map(text => [text, text.getBoundingClientRect()]);
    for (const [text, r] of words) {
      if (parseFloat(getComputedStyle(text).fontSize) * scale < 11)
        wrong.push(name + ' has too small words: ' + text.textContent);
      if (r.left < box.left - 1 || r.right > box.right + 1 ||
          r.top < box.top - 1 || r.bottom > box.bottom + 1)
        wrong.push(name + ' has words outside: ' + text.textContent);
    }
    for (let i = 0; i < words.length; i++) for (let j = 0; j < i; j++) {
      const [a, b] = [words[i][1], words[j][1]];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const [one, other] = [words[i][0].textContent, words[j][0].textContent];
      if (wide > 1.5 && high > 5) wrong.push(name + ' has words over words: ' + one + ' / ' + other);
    }
  }
  const result = document.createElement('pre');
  result.id = 'seen';
  result.textContent = JSON.stringify({ pictures: pictures.length, wrong });
  document.body.append(result);
});
</script>"#;

/// What the browser makes of an address. It is given a minute.
fn show(browser: &Path, folder: &TempDir, option: &str, address: &str) -> Output {
    let flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
    ];
    Command::new("timeout")
        .arg("60")
        .arg(browser)
        .args(flags)
        .args(["--hide-scrollbars", "--dump-dom", option])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(address)
        .output()
        .unwrap()
}

/// Whether it shows anything at all here: a browser that cannot start says nothing about pages.
fn works(browser: &Path) -> bool {
    let folder = TempDir::new().unwrap();
    let plain = folder.path().join("plain.html");
    fs::write(&plain, "<!doctype html><p>seen</p>").unwrap();
    let output = show(browser, &folder, "--window-size=400,400", &format!("file://{}", plain.display()));
    String::from_utf8_lossy(&output.stdout).contains("<p>seen</p>")
}

/// What the browser saw at this width: how many pictures, and what is wrong.
fn look(browser: &Path, html: &str, width: u32) -> (usize, String) {
    let folder = TempDir::new().unwrap();
    // The page lets no script run; what looks at it is one.
    let start = html.find("<meta http-equiv=\"Content-Security-Policy\"").expect("a policy");
    let end = start + html[start..].find('\n').unwrap();
    let page = folder.path().join("looked-at.html");
    fs::write(&page, format!("{}{LOOK}{}", &html[..start], &html[end..])).unwrap();
    let output =
        show(browser, &folder, &format!("--window-size={width},900"), &format!("file://{}", page.display()));
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = dom.split("<pre id=\"seen\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let seen =
        seen.unwrap_or_else(|| panic!("nothing was seen: {}", String::from_utf8_lossy(&output.stderr)));
    let seen: serde_json::Value =
        serde_json::from_str(&seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).unwrap();
    (
        seen["pictures"].as_u64().unwrap() as usize,
        seen["wrong"].as_array().unwrap().iter().map(|w| format!("{w}\n")).collect(),
    )
}

/// Two classes and three features, whose names mean harm.
fn hostile(folder: &TempDir) -> String {
    let mut rows = format!(
        "\"<script>alert(1)</script>\",\"\u{202e}x\"\"'><img src=//a>\",{},class\n",
        "long".repeat(2500)
    );
    for i in 0..40 {
        let label = if i % 2 == 0 { "</title><script>" } else { "&amp;\u{7}\"'" };
        rows.push_str(&format!(
            "{},{},{},\"{}\"\n",
            i % 7,
            (i * 5) % 11,
            i % 2 * 3 + i % 3,
            label.replace('"', "\"\"")
        ));
    }
    let path = folder.path().join("hostile.csv");
    fs::write(&path, rows).unwrap();
    path.display().to_string()
}

#[test]
fn pages_are_whole_in_a_browser_at_every_width_and_fetch_nothing() {
    let Some(browser) = browser().filter(|browser| works(browser)) else {
        println!("skipped: there is no chromium to look at pages with, or it does not start");
        return;
    };
    let folder = TempDir::new().unwrap();
    let (iris, digits, cancer, hostile) =
        (examples("iris.csv"), examples("digits.csv"), examples("breast_cancer.csv"), hostile(&folder));
    let rings = examples("rings.csv");
    let pages: [(&[&str], usize); 9] = [
        (&["train", &iris, "--learner", "averaged", "--validation", "0.3"], 7),
        (&["train", &digits, "--learner", "averaged", "--epochs", "5", "--image", "8x8"], 8),
        (&["train", &cancer, "--learner", "max-margin", "--columns", "1,2"], 7),
        (&["train", &rings, "--learner", "averaged", "--kernel", "rbf:1"], 6),
        (&["train", &iris, "--learner", "logistic", "--columns", "petal_length,petal_width"], 7),
        (&["train", &hostile, "--loss", "logistic", "--solver", "gradient", "--epochs", "30"], 7),
        (&["margin", &iris, "--bias", "penalised"], 2),
        (
            &[
                "compare",
                &digits,
                "--kernels",
                "linear,poly:2,rbf:0.001@1,poly:4@2,poly:5@1",
                "--epochs",
                "0.1,1,2,4",
            ],
            2,
        ),
        (&["compare", &hostile, "--kernels", "linear", "--epochs", "1", "--learners", "voted"], 2),
    ];
    for (arguments, expected) in pages {
        let html = report(&folder, arguments);
        for width in [360, 1280] {
            let (pictures, wrong) = look(&browser, &html, width);
            assert_eq!((pictures, &wrong[..]), (expected, ""), "{arguments:?} at {width}");
        }
    }
}

#[test]
fn a_page_names_nothing_that_would_have_to_be_fetched() {
    let folder = TempDir::new().unwrap();
    let html = report(&folder, &["train", &hostile(&folder), "--learner", "averaged"]);
    assert!(html.contains("default-src 'none'"));
    for tag in html.split('<').skip(1).filter_map(|part| part.split('>').next()) {
        let fetching = ["src=", "href=", "url(", "@import", "onload", "http-equiv=\"refresh"];
        assert!(!fetching.iter().any(|word| tag.contains(word)) && !tag.starts_with("script"), "{tag}");
    }
}

#[test]
fn the_same_run_gives_the_same_page_but_for_the_seconds() {
    let folder = TempDir::new().unwrap();
    let page = |learner: &str, threads: &str| {
        let columns = ["--columns", "petal_length,petal_width"];
        let learning = ["train", &examples("iris.csv"), "--learner", learner, "--threads", threads];
        let html = report(&folder, &[&learning[..], &columns].concat());
        let timed = |line: &&str| !(line.contains("read in") || line.contains("<dt>stopped"));
        html.lines().filter(timed).map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(page("averaged", "1"), page("averaged", "2"));
    // Three weight vectors at once, each with an interval that closes.
    let first = page("max-margin", "2");
    assert!(first.contains("the one with the least margin is drawn") && first.contains("Decision regions"));
    assert_eq!([page("max-margin", "2"), page("max-margin", "1")], [first.clone(), first]);
}
