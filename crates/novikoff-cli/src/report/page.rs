//! One page with all pictures: a file that needs nothing else, and fetches nothing.

use super::Section;
use crate::arguments::Pictures;
use crate::files::{self, Unwritten};
use crate::picture::PictureName;
use crate::render::Lines;
use novikoff::plot::{stylesheet, tidy};
use novikoff::{Error, Result};
use std::fmt::Write as _;

/// What is on the page.
pub struct Page {
    pub title: String,
    pub lines: Lines,
    pub sections: Vec<Section>,
}

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1a1c20;--quiet:#5a6068;--paper:#fff;--rule:#dfe2e6}\
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--quiet:#a5abb3;--paper:#15181c;--rule:#363b42}}\
*{box-sizing:border-box}\
body{margin:0 auto;max-width:1080px;padding:20px 12px 60px;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}\
h1{font-size:1.5rem;line-height:1.25;margin:0 0 12px}h2{font-size:1.15rem;margin:0 0 6px}\
p{margin:0 0 10px;max-width:62ch}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:0;font-size:.9rem}\
dt{color:var(--quiet)}dd{margin:0}\
section{border-top:1px solid var(--rule);margin-top:28px;padding-top:20px;display:grid;gap:8px 28px}\
section svg{display:block;width:100%;height:auto;max-width:520px}figure{margin:0}\
details{font-size:.9rem;color:var(--quiet)}summary{cursor:pointer}\
.scroll{overflow-x:auto;max-width:100%}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:2px 12px 2px 0;text-align:right;white-space:nowrap;overflow-wrap:normal}\
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:6em}\
th{font-weight:600}\
@media (max-width:520px){dl{font-size:.82rem;gap:2px 10px}}\
@media (min-width:860px){section{grid-template-columns:minmax(0,500px) minmax(0,1fr)}\
section{grid-template-rows:auto 1fr}figure{grid-row:1/span 2;grid-column:1}\
h2{grid-column:2}section>div{grid-column:2}}";

impl Page {
    /// Writes the page and the single pictures that were asked for.
    pub fn write(&self, wanted: &Pictures, unwritten: &mut Unwritten) {
        for (name, path) in &wanted.picture {
            let section = self.section(*name);
            let file = section.map(|section| format!("{}\n", section.picture.file()));
            unwritten.note(path, file.and_then(|file| files::write(path, file.as_bytes())));
        }
        if let Some(path) = &wanted.report {
            unwritten.note(path, files::write(path, self.html().as_bytes()));
        }
    }

    fn section(&self, name: PictureName) -> Result<&Section> {
        self.sections.iter().find(|section| section.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.sections.iter().map(|section| section.name.name()).collect();
            let what = format!(
                "there is nothing to draw for the picture {}: it does not apply to {}",
                name.name(),
                self.title
            );
            Error::usage(what).hint(format!("pictures that do: {}", names.join(", ")))
        })
    }

    fn html(&self) -> String {
        let title = escaped(&format!("novikoff: {}", self.title), 200);
        // Even if something slipped through, nothing would be fetched and nothing would run.
        let policy = "default-src 'none'; style-src 'unsafe-inline'";
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <title>{title}</title>\n<style>{STYLE}\n{}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n<dl>\n",
            stylesheet()
        );
        for (at, (label, text)) in self.lines.pairs().iter().enumerate() {
            match (label.is_empty(), at) {
                // A line that goes on with the one before.
                (true, 1..) => html.push_str("<br>"),
                (_, 0) => {
                    let _ = write!(html, "<dt>{}</dt><dd>", escaped(label, 100));
                }
                _ => {
                    let _ = write!(html, "</dd>\n<dt>{}</dt><dd>", escaped(label, 100));
                }
            }
            // Long lists of labels stay on the terminal.
            html.push_str(&escaped(text, 600));
        }
        if !self.lines.pairs().is_empty() {
            html.push_str("</dd>\n");
        }
        html.push_str("</dl>\n");
        self.sections.iter().for_each(|section| push_section(&mut html, section));
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }
}

fn push_section(html: &mut String, section: &Section) {
    let (id, heading, text) =
        (section.name.name(), escaped(&section.heading, 200), escaped(&section.text, 2000));
    let picture = section.picture.inline();
    let _ = write!(
        html,
        "<section id=\"{id}\">\n<h2>{heading}</h2>\n<figure>\n{picture}\n</figure>\n<div>\n<p>{text}</p>\n"
    );
    if let Some((head, rows)) = section.table.split_first() {
        html.push_str(
            "<details><summary>The numbers</summary>\n<div class=\"scroll\" tabindex=\"0\"><table>\n",
        );
        push_row(html, head, "th");
        rows.iter().for_each(|row| push_row(html, row, "td"));
        html.push_str("</table></div></details>\n");
    }
    html.push_str("</div>\n</section>\n");
}

fn push_row(html: &mut String, cells: &[String], tag: &str) {
    let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell, 80))).collect();
    let _ = writeln!(html, "<tr>{cells}</tr>");
}

/// Text from outside, so that it is text and nothing else.
fn escaped(text: &str, most: usize) -> String {
    let tidied = tidy(text, most);
    tidied
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use novikoff::plot::{Bars, Group};

    #[test]
    fn whatever_names_say_the_page_stays_a_page() {
        let hostile = ["<script>alert(1)</script>", "\"><img src=//evil>", "'&#0;\u{202e}\u{0}", "]]>-->"];
        for name in hostile {
            let groups = [Group { title: name.into(), bars: vec![(name.into(), 1.0)] }];
            let picture = Bars { title: name, description: name, groups: &groups }.draw();
            let table = vec![vec![name.to_owned()], vec![name.repeat(1000)]];
            let section = Section {
                name: PictureName::Weights,
                heading: name.into(),
                text: name.into(),
                picture,
                table,
            };
            let mut lines = Lines::default();
            lines.add(name, name);
            let html = Page { title: name.into(), lines, sections: vec![section] }.html();
            let tags: Vec<&str> =
                html.split('<').skip(1).filter_map(|part| part.split(['>', ' ', '\n']).next()).collect();
            assert!(!tags.iter().any(|tag| ["script", "img"].contains(tag)), "{name}");
            assert_eq!(tags.iter().filter(|tag| **tag == "section").count(), 1);
            assert!(!html.contains(['\u{0}', '\u{202e}']));
            assert!(html.len() < 20_000);
        }
    }
}
